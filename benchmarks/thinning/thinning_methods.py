"""How the study thins: ours, and what else is done; all keep at most as many members.

colboost thins by the linear program of LPBoost over the members' hard votes on the training rows.
Its solver's free licence takes 2000 rows at most, so that the program is solved here.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lasso_path
from sklearn.metrics import roc_auc_score
from thinning_data import Rows

from cgboost import ThinnedEnsemble
from cgboost.estimators.thinning.fitting import members_of
from cgboost.estimators.thinning.problem import ThinningProblem, joint_margins, path
from cgboost.losses import Hinge

Cube = NDArray[np.float32]
OURS, WHOLE, CUT, VOTES, L1 = "ThinnedEnsemble", "whole", "truncated", "LP over votes", "l1"
PRICES = 1e-5, 1e2
HALVINGS = 12
"""Of the logarithm of C between these: it is found up to 0.4 %."""

REPEATS = 3


@dataclass(frozen=True)
class Outcome:
    """Test error of one thinned ensemble.

    Attributes
    ----------
    score : float
        Accuracy in percent, or the root of the mean squared error.
    auc : float
        In percent; nan where there are not two classes.
    members : int
    seconds : float
        CPU seconds to choose.
    predicting : float
        CPU seconds to predict the test rows; nan where that was not measured.
    """

    score: float
    auc: float
    members: int
    seconds: float
    predicting: float


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted ensemble and its rows."""

    ensemble: Any
    rows: Rows
    size: int
    regression: bool
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, ensemble: Any, rows: Rows, share: float, *, regression: bool) -> Case:
        """The case of an ensemble, and how many of its members are kept."""
        members = members_of(ensemble)
        return cls(ensemble, rows, int(share * len(members)), regression, members.weights)

    @cached_property
    def outputs(self) -> Cube:
        """What all members say of the training rows."""
        return members_of(self.ensemble).outputs(self.rows.X)

    @cached_property
    def test(self) -> Cube:
        """What all members say of the test rows."""
        return members_of(self.ensemble).outputs(self.rows.X_test)

    def scored(self, output: NDArray[np.float64]) -> tuple[float, float]:
        """Accuracy and area under the curve, or RMSE, of outputs of shape (n_rows, n_outputs)."""
        y = self.rows.y_test
        if self.regression:
            return float(np.sqrt(np.mean((output[:, 0] - y) ** 2))), np.nan
        if output.shape[1] == 1:
            said, ranking = (output[:, 0] > 0).astype(int), output[:, 0]
        else:
            said, ranking = output.argmax(axis=1), output[:, -1] - output[:, 0]
        two = len(np.unique(y)) == 2
        return 100.0 * float(np.mean(said == y)), (
            100.0 * float(roc_auc_score(y, ranking)) if two else np.nan
        )

    @property
    def is_sum(self) -> bool:
        """Whether the ensemble adds its members up."""
        return bool(np.all(self.weights == 1.0))

    def weighted(self, weights: NDArray[np.float64], intercept: Any = 0.0) -> NDArray[np.float64]:
        """Outputs on the test rows."""
        return np.einsum("nmk,m->nk", self.test, weights) + intercept


def least_seconds(call: Callable[[], Any]) -> float:
    """The shortest of some calls."""
    found = []
    for _ in range(REPEATS):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return min(found)


def whole(case: Case) -> Outcome:
    """The ensemble as it is."""
    X, y, model = case.rows.X_test, case.rows.y_test, case.ensemble
    seconds = least_seconds(lambda: model.predict(X))
    if case.regression:
        score, auc = case.scored(np.asarray(model.predict(X))[:, None])
    else:
        score = 100.0 * float(np.mean(model.predict(X) == y))
        two = len(np.unique(y)) == 2
        auc = 100.0 * float(roc_auc_score(y, model.predict_proba(X)[:, 1])) if two else np.nan
    return Outcome(score, auc, len(case.weights), 0.0, seconds)


def thinned(case: Case) -> Outcome:
    """ThinnedEnsemble with its defaults, on the training rows of the ensemble."""
    started = time.process_time()
    model = ThinnedEnsemble(case.ensemble, size=case.size, training_rows=True, random_state=0)
    model.fit(case.rows.X, case.rows.y)
    seconds = time.process_time() - started
    X, y = case.rows.X_test, case.rows.y_test
    predicting = least_seconds(lambda: model.predict(X))
    if case.regression:
        score, auc = case.scored(model.predict(X)[:, None])
    else:
        score, auc = 100.0 * model.score(X, y), np.nan
        if len(np.unique(y)) == 2:
            auc = 100.0 * float(roc_auc_score(y, model.decision_function(X)))
    return Outcome(score, auc, model.n_members_, seconds, predicting)


def truncated(case: Case) -> Outcome:
    """The first members, with their weights."""
    weights = np.zeros(len(case.weights))
    weights[: case.size] = case.weights[: case.size]
    if not case.is_sum:
        weights /= weights.sum()
    return Outcome(*case.scored(case.weighted(weights)), case.size, 0.0, np.nan)


def votes_of(outputs: Cube) -> Cube:
    """Hard votes: 1 for the class that a member is for, else 0."""
    if outputs.shape[2] == 1:
        second = (outputs > 0).astype(np.float32)
        return np.concatenate([1.0 - second, second], axis=2)
    said = outputs.argmax(axis=2)
    return (said[:, :, None] == np.arange(outputs.shape[2])).astype(np.float32)


def over_votes(case: Case) -> Outcome | None:
    """The linear program over hard votes on the training rows."""
    if case.regression:
        return None
    started = time.process_time()
    entries, _ = joint_margins(votes_of(case.outputs), case.rows.y)
    ones = np.ones(len(entries))
    problem = ThinningProblem(entries, ones, ones, Hinge(), "none")
    weights = path(problem, case.size, tol=1e-6, solver="auto")[-1].weights
    weights[np.argsort(-weights)[case.size :]] = 0.0
    seconds = time.process_time() - started
    output = np.einsum("nmk,m->nk", votes_of(case.test), weights)
    return Outcome(*case.scored(output), int(np.count_nonzero(weights)), seconds, np.nan)


def l1(case: Case) -> Outcome:
    """scikit-learn's ℓ1-logistic regression, or lasso, on the members' outputs."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        output, members = _lasso(case) if case.regression else _logistic(case)
    seconds = time.process_time() - started
    return Outcome(*case.scored(output), members, seconds, np.nan)


def _lasso(case: Case) -> tuple[NDArray[np.float64], int]:
    X, y = case.outputs[:, :, 0].astype(float), case.rows.y
    means, centre = X.mean(axis=0), y.mean()
    _, coefs, _ = lasso_path(X - means, y - centre)
    sizes = (coefs != 0).sum(axis=0)
    place = int(np.flatnonzero(sizes <= case.size)[-1])
    coef = coefs[:, place]
    return ((case.test[:, :, 0] - means) @ coef + centre)[:, None], int(sizes[place])


def _logistic(case: Case) -> tuple[NDArray[np.float64], int]:
    """One class against the rest over the members' outputs for it; members of any class count."""
    kept: tuple[NDArray[np.float64], int] | None = None
    low, high = np.log(PRICES[0]), np.log(PRICES[-1])
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        found = _logistic_at(case, float(np.exp(middle)))
        if found[1] > case.size:
            high = middle
        else:
            low, kept = middle, found
    return kept or _logistic_at(case, PRICES[0])


def _logistic_at(case: Case, C: float) -> tuple[NDArray[np.float64], int]:
    y, outputs, test = case.rows.y, case.outputs, case.test
    columns = [outputs.shape[2] - 1] if outputs.shape[2] <= 2 else range(outputs.shape[2])
    output, used = np.zeros((len(test), len(columns))), np.zeros(outputs.shape[1], dtype=bool)
    for place, k in enumerate(columns):
        model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=C, random_state=0)
        label = 1 if len(columns) == 1 else k
        model.fit(outputs[:, :, k], y == label)
        output[:, place] = model.decision_function(test[:, :, k])
        used |= model.coef_[0] != 0
    return output, int(used.sum())


METHODS: dict[str, Callable[[Case], Outcome | None]] = {
    WHOLE: whole,
    OURS: thinned,
    CUT: truncated,
    VOTES: over_votes,
    L1: l1,
}
