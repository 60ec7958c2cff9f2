"""The data, the models, and what is measured of each on every split.

Features are shifted and scaled to mean 0 and variance 1 on the training rows. Missing values (16 of
Cancer's) become the mean there, and a feature that is constant there becomes 0. All models choose
their size (number of factors, C) on the same inner folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.svm import SVC, SVR
from study_data import read_uci
from study_jobs import Store

from cgboost import BLFClassifier, BLFRegressor, Precomputed
from cgboost.estimators.latent.latent_factors import smoothed
from cgboost.generation import Column
from cgboost.inspection.model_pictures import component_errors
from cgboost.losses import SquaredError, get_loss
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.studies.scripts import timed

Matrix = NDArray[Any]

FOLDS = 10


@dataclass(frozen=True)
class Data:
    """One data set.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_rows, n_features)
        As in the file, nan where a value is missing.
    y : ndarray of shape (n_rows,)
        Labels ±1, or numbers.
    width : float
        σ of the kernel exp(−‖x − z‖²/σ²).
    """

    name: str
    X: Matrix
    y: Matrix
    width: float

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return len(np.unique(self.y)) > 2


FILES: dict[str, tuple[str, str | None, float]] = {
    "Boston": ("boston_housing", None, 4.24),
    "Cancer": ("breast_cancer_wisconsin_original", "4", 5.0),
    "Diabetes": ("pima_diabetes", "1", 5.0),
    "Ionosphere": ("ionosphere", "g", 3.0),
    "Liver": ("bupa_liver", "2", 6.0),
    "WBC": ("wdbc", "M", 9.0),
}
"""File in uci/, its positive class (none: a number is to be found), and the paper's σ."""


def read_data(folder: Path) -> dict[str, Data]:
    """All six."""
    return {name: read_file(name, folder) for name in FILES}


def read_file(name: str, folder: Path) -> Data:
    """One of them; its last column is the target."""
    file, positive, width = FILES[name]
    X, y = read_uci(folder, file)
    if positive is not None:
        y = np.where(y.astype(str) == positive, 1.0, -1.0)
    return Data(name, X, y, width)


@dataclass(frozen=True)
class Problem:
    """Training and test rows of one split, either as features or as kernel values.

    Attributes
    ----------
    train, held : ndarray of shape (n_train, n_features) and (n_test, n_features)
    gram, held_gram : ndarray of shape (n_train, n_train) and (n_test, n_train)
    y, held_y : ndarray
    folds : list of pairs of row numbers
        The inner folds, alike for all models.
    kernel : {"linear", "rbf"}
    """

    train: Matrix
    held: Matrix
    gram: Matrix
    held_gram: Matrix
    y: Matrix
    held_y: Matrix
    folds: list[tuple[Matrix, Matrix]]
    kernel: str

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return len(np.unique(self.y)) > 2


def problem(data: Data, split: int, kernel: str) -> Problem:
    """Split ``split``: a tenth of the rows drawn at random, or for regression the split-th fold."""
    train, held = rows_of(data, split)
    X, Z = standardised(data.X[train], data.X[held])
    values = products if kernel == "linear" else rbf(data.width)
    y = data.y[train]
    kind = KFold if data.is_regression else StratifiedKFold
    folds = list(kind(FOLDS, shuffle=True, random_state=split).split(X, y))
    return Problem(X, Z, values(X, X), values(Z, X), y, data.y[held], folds, kernel)


def rows_of(data: Data, split: int) -> tuple[Matrix, Matrix]:
    """Training and test rows."""
    if data.is_regression:
        return list(KFold(FOLDS, shuffle=True, random_state=0).split(data.X))[split]
    order = np.random.default_rng(split).permutation(len(data.X))
    count = round(len(order) / 10)
    return order[count:], order[:count]


def standardised(X: Matrix, *others: Matrix) -> list[Matrix]:
    """X and more rows, with mean 0 and variance 1 in X; what is missing becomes 0."""
    means, spreads = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    spreads[spreads == 0] = 1.0
    return [np.nan_to_num((rows - means) / spreads) for rows in (X, *others)]


def products(X: Matrix, Z: Matrix) -> Matrix:
    """The linear kernel."""
    values: Matrix = X @ Z.T
    return values


def rbf(width: float) -> Any:
    """The kernel exp(−‖x − z‖²/σ²)."""

    def values(X: Matrix, Z: Matrix) -> Matrix:
        squares = np.square(X).sum(axis=1)[:, None] + np.square(Z).sum(axis=1)
        kernel: Matrix = np.exp(-np.maximum(squares - 2 * X @ Z.T, 0.0) / width**2)
        return kernel

    return values


@dataclass(frozen=True)
class Record:
    """One model on one split.

    Attributes
    ----------
    data, kernel, model : str
        The model is a loss, "svm", or "pca" and a loss.
    split : int
    train, test : float
        Accuracy in per cent, or mean squared error.
    size : float
        Number of factors; C of a support vector machine.
    seconds : float
        CPU time of the choice of the size, and the fit.
    """

    data: str
    kernel: str
    model: str
    split: int
    train: float
    test: float
    size: float
    seconds: float


@dataclass(frozen=True)
class Curve:
    """A row of numbers from one split.

    Attributes
    ----------
    data, model : str
    split : int
    values : tuple of float
        Errors or areas under the curve, by number of factors or by C.
    """

    data: str
    model: str
    split: int
    values: tuple[float, ...]


def known(store: Store[Any]) -> set[tuple[str, int]]:
    """Data set and split of what there is."""
    return {(row.data, row.split) for row in store.rows}


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


CURVE_LOSSES: tuple[ClassLoss, ...] = ("log_loss", "squared_error")
CURVE_LENGTH = 30


def table_records(
    data: dict[str, Data], splits: int, known: set[tuple[str, int]]
) -> Iterator[list[Record]]:
    """The records of one split of one data set after the other; known ones are left out."""
    for split in range(splits):
        for name, rows in data.items():
            if (name, split) not in known and not (rows.is_regression and split >= FOLDS):
                yield [
                    record
                    for kernel in ("linear", "rbf")
                    for record in measured(name, problem(rows, split, kernel), split)
                ]


def measured(name: str, given: Problem, split: int) -> Iterator[Record]:
    """Every model on one split with one kernel."""
    for model, contender in contenders(given).items():
        seconds, (own, held, size) = timed(contender)
        train = score(own, given.y, given.is_regression)
        test = score(held, given.held_y, given.is_regression)
        yield Record(name, given.kernel, model, split, train, test, float(size), seconds)


def contenders(given: Problem) -> dict[str, Callable[[], Outcome]]:
    """What is compared: the losses, a support vector machine, and principal components."""
    losses = NUMBER_LOSSES if given.is_regression else CLASS_LOSSES
    found: dict[str, Callable[[], Outcome]] = {
        loss: partial(latent_factors, given, loss) for loss in losses
    }
    found["svm"] = partial(support_vectors, given)
    if given.kernel == "rbf" and not given.is_regression:
        principal = PrincipalComponents(given)
        for loss in losses:
            found[f"pca {loss}"] = partial(principal.outcome, loss)
    return found


def score(outputs: Matrix, y: Matrix, is_regression: bool) -> float:
    """Mean squared error, or accuracy in per cent."""
    if is_regression:
        return float(np.mean(np.square(outputs - y)))
    return float(100 * np.mean(outputs == y))


def error_curves(data: Data, splits: int, known: set[tuple[str, int]]) -> Iterator[list[Curve]]:
    """Errors in per cent with 1, 2, … linear factors, on training and test rows."""
    for split in range(splits):
        if (data.name, split) in known:
            continue
        given = problem(data, split, "linear")
        sets = {"train": (given.train, given.y), "test": (given.held, given.held_y)}
        found = []
        for loss in CURVE_LOSSES:
            count = min(CURVE_LENGTH, given.train.shape[1])
            model = BLFClassifier(count, loss=loss, newton_damping=DAMPING)
            errors = component_errors(model.fit(given.train, given.y), sets)
            for part in sets:
                values = tuple(float(100 * error) for error in errors[part])
                found.append(Curve(data.name, f"{loss} {part}", split, values))
        yield found


NAME = "Dorothea"
N_FEATURES = 100_000
HELD_ACTIVE, HELD_INACTIVE = 100 / 192, 330 / 2351
LOSSES: tuple[ClassLoss, ...] = ("log_loss", "squared_error")
COUNTS = (5, 15)
AREA_LENGTH = 25
MACHINE_COSTS = tuple(10.0 ** np.arange(-5, 4))


def auc_curves(
    data: tuple[Any, Matrix], splits: int, known: set[tuple[str, int]]
) -> Iterator[list[Curve]]:
    """Areas under the ROC curve, split by split."""
    X, y = data
    gram = (X @ X.T).toarray()
    for split in range(splits):
        if (NAME, split) not in known:
            train, held = rows_held(y, split)
            yield [*factor_curves(X, y, train, held, split), svm_curve(gram, y, train, held, split)]


def rows_held(y: Matrix, split: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test rows."""
    rng = np.random.default_rng(split)
    held = []
    for label, share in ((1, HELD_ACTIVE), (-1, HELD_INACTIVE)):
        rows = rng.permutation(np.flatnonzero(y == label))
        held.append(rows[: round(share * len(rows))])
    chosen = np.concatenate(held)
    return np.setdiff1d(np.arange(len(y)), chosen), chosen


def balance(y: Matrix) -> Matrix:
    """Weights 1/|C⁺| and 1/|C⁻|: both classes count alike."""
    weights: Matrix = np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0))
    return weights


def factor_curves(X: Any, y: Matrix, train: Matrix, held: Matrix, split: int) -> Iterator[Curve]:
    """By number of factors, and by C for a linear machine on a few scaled factors."""
    for loss in LOSSES:
        for count in (AREA_LENGTH, *COUNTS):
            model = BLFClassifier(count, loss=loss, newton_damping=DAMPING)
            model.fit(X[train], y[train], balance(y[train]))
            if count == AREA_LENGTH:
                outputs = model.staged_decision_function(X[held])
                values = [roc_auc_score(y[held], output) for output in outputs]
                yield Curve(NAME, loss, split, tuple(values))
            else:
                T, H = (model.transform(X[rows], scaled=True) for rows in (train, held))
                curve = machine_curve(T @ T.T, H @ T.T, y[train], y[held])
                yield Curve(NAME, f"svm on {count} factors of {loss}", split, curve)


def svm_curve(gram: Matrix, y: Matrix, train: Matrix, held: Matrix, split: int) -> Curve:
    """By C, for a linear machine on all features."""
    values = machine_curve(gram[np.ix_(train, train)], gram[np.ix_(held, train)], y[train], y[held])
    return Curve(NAME, "svm on all features", split, values)


def machine_curve(gram: Matrix, held_gram: Matrix, y: Matrix, held_y: Matrix) -> tuple[float, ...]:
    """Areas under the curve of machines with this kernel, one for each C."""
    areas = []
    for cost in MACHINE_COSTS:
        machine = SVC(C=cost, kernel="precomputed").fit(gram, y)
        areas.append(float(roc_auc_score(held_y, machine.decision_function(held_gram))))
    return tuple(areas)
