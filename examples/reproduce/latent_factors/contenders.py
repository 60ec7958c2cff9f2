"""The models that are compared on one split: each gives predictions and its size.

All choose their size (number of factors, C) on the same inner folds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import numpy as np
from benchmark_data import Matrix, Problem
from scipy.linalg import eigh
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from cgboost import BLFClassifier, BLFRegressor, Precomputed
from cgboost.estimators.latent.latent_factors import smoothed
from cgboost.generation import Column
from cgboost.losses import SquaredError, get_loss
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster

Outcome = tuple[Matrix, Matrix, float]
"""Predictions on training and on test rows, and the number of factors or C."""

ClassLoss = Literal["squared_error", "exponential", "log_loss"]
CLASS_LOSSES: tuple[ClassLoss, ...] = ("squared_error", "exponential", "log_loss")
NUMBER_LOSSES = ("squared_error", "absolute_error")
DAMPING = 0.1
MOST, MOST_FOR_NUMBERS, MOST_PRINCIPAL = 15, 50, 60
"""Factors that are tried at most, and never more than features in the linear case."""
COSTS = {"linear": 2.0 ** np.arange(-6, 4), "rbf": 2.0 ** np.arange(-3, 7)}
"""C of support vector machines; for numbers, 8 times as much."""


def latent_factors(problem: Problem, loss: str) -> Outcome:
    """Boosted Latent Factors as in the paper: one Newton step a refit, λ = 0.1."""
    linear = problem.kernel == "linear"
    train, held = (problem.train, problem.held) if linear else (problem.gram, problem.held_gram)
    settings: dict[str, Any] = {
        "loss": loss,
        "kernel": None if linear else Precomputed(),
        "cv": problem.folds,
        "max_components": MOST_FOR_NUMBERS if problem.is_regression else MOST,
        "newton_steps": 1,
        "newton_damping": DAMPING,
    }
    maker = BLFRegressor if problem.is_regression else BLFClassifier
    model = maker("cv", **settings).fit(train, problem.y)
    return model.predict(train), model.predict(held), model.n_components_


def support_vectors(problem: Problem) -> Outcome:
    """scikit-learn's SVC or SVR on the same kernel, C chosen among ten values."""
    machine = SVR(kernel="precomputed") if problem.is_regression else SVC(kernel="precomputed")
    costs = COSTS[problem.kernel] * (8 if problem.is_regression else 1)
    measure = "neg_mean_squared_error" if problem.is_regression else "accuracy"
    search = GridSearchCV(machine, {"C": costs}, scoring=measure, cv=problem.folds)
    search.fit(problem.gram, problem.y)
    return search.predict(problem.gram), search.predict(problem.held_gram), search.best_params_["C"]


class PrincipalComponents:
    """The same losses, refitted with one kernel principal component more at a time.

    The components are found once for all losses.

    Parameters
    ----------
    problem : Problem
    most : int
        Components that are tried at most.
    """

    def __init__(self, problem: Problem, most: int = MOST_PRINCIPAL) -> None:
        self._problem, self._most = problem, most

    @cached_property
    def _found(self) -> list[tuple[Matrix, Matrix]]:
        """Components of each inner fold, and of all training rows, with those of the rows held."""
        gram, most = self._problem.gram, self._most
        parts = [
            components(gram[np.ix_(train, train)], gram[np.ix_(test, train)], most)
            for train, test in self._problem.folds
        ]
        return [*parts, components(gram, self._problem.held_gram, most)]

    def outcome(self, loss: str) -> Outcome:
        """Predictions with as many components as the inner folds prefer."""
        y, curve = self._problem.y, np.zeros(self._most)
        for (train, test), (factors, held) in zip(self._problem.folds, self._found, strict=False):
            stages = staged_outputs(factors, held, y[train], loss)
            errors = [float(np.sum(np.sign(output) != y[test])) for _, output in stages]
            curve += np.pad(errors, (0, len(curve) - len(errors)), mode="edge")
        count = 1 + int(np.argmin(smoothed(curve)))
        factors, held = self._found[-1]
        outputs = list(staged_outputs(factors[:, :count], held, y, loss))
        own, output = outputs[-1]
        return np.sign(own), np.sign(output), len(outputs)


def staged_outputs(
    factors: Matrix, held: Matrix, y: Matrix, loss: str
) -> Iterator[tuple[Matrix, Matrix]]:
    """Outputs on training and on other rows with 1, 2, … of the factors."""
    weights = np.ones(len(y))
    master: Any = (
        StagewiseMaster(SquaredError().on(y, weights), start="constant")
        if loss == "squared_error"
        else CorrectiveMaster(
            get_loss(loss).on(y, weights), offset="free", newton_steps=1, newton_damping=DAMPING
        )
    )
    master.solve()
    for count, factor in enumerate(factors.T, start=1):
        master.add([Column(factor, ("component", count), None)])
        state = master.solve()
        yield state.output, held[:, :count] @ state.coef + state.intercept


def components(gram: Matrix, held: Matrix, most: int) -> tuple[Matrix, Matrix]:
    """Kernel principal components, of length 1 on the training rows, and what they are on others.

    Returns
    -------
    train : ndarray of shape (n_train, n_components)
    held : ndarray of shape (n_held, n_components)
    """
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    last = len(gram) - 1
    values, vectors = eigh(centred, subset_by_index=[max(0, last - most + 1), last])
    order = np.flatnonzero(values > 1e-10 * values[-1])[::-1]
    values, vectors = values[order], vectors[:, order]
    centred = held - held.mean(axis=1)[:, None] - means + means.mean()
    return vectors, centred @ (vectors / values)
