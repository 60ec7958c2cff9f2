"""The data, LogitBoost over lines by round, the algorithm of the notes, and other models.

Dorothea has 100000 binary features. Those that are 0 in all training rows are left out: no line on
them can be fitted. For the random splits so are those that are 1 in fewer than 2 % of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor
from study_data import Case, read_dorothea
from study_jobs import Record

from cgboost import LogitBoostClassifier
from cgboost.inspection.learning_curves import error_table
from cgboost.studies.datasets import load_mnist, odd_even_labels
from cgboost.studies.scripts import timed

MNIST, DOROTHEA = "MNIST", "Dorothea"
OFFICIAL, DRAWN = "as it comes", "drawn"
DRAWN_IMAGES = 10_000
TRAIN_COMPOUNDS, TEST_COMPOUNDS = 800, 350
COMMON = 0.02


class Source:
    """Both data sets, read when they are first wanted.

    Parameters
    ----------
    folder : Path
        With mnist/ and dorothea/.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: dict[str, Any] = {}

    def case(self, data: str, kind: str, seed: int) -> Case:
        """The split that the data come with, or the one of a seed."""
        part = self.part(data)
        if data == MNIST:
            return images(*part, kind, seed)
        return compounds(*part, kind, seed)

    def part(self, data: str) -> Any:
        """The arrays of one data set."""
        if data not in self._parts:
            self._parts = {}  # one of them in memory
            self._parts[data] = (
                load_mnist(self._folder)
                if data == MNIST
                else read_dorothea(self._folder, "train", "valid")
            )
        return self._parts[data]


def images(X: Any, digits: Any, X_test: Any, test_digits: Any, kind: str, seed: int) -> Case:
    """All 60000 training images, or some of them; the 10000 test images."""
    rows: Any = slice(None)
    if kind == DRAWN:
        rows = np.random.default_rng(seed).permutation(len(X))[:DRAWN_IMAGES]
    return Case(X[rows], odd_even_labels(digits[rows]), X_test, odd_even_labels(test_digits))


def compounds(X: Any, y: Any, kind: str, seed: int) -> Case:
    """800 rows to train and 350 to test, as they come or drawn with the shares of both classes."""
    train, test = np.arange(TRAIN_COMPOUNDS), np.arange(TRAIN_COMPOUNDS, len(y))
    least = 1.0
    if kind == DRAWN:
        train, test = train_test_split(
            np.arange(len(y)), test_size=TEST_COMPOUNDS, random_state=seed, stratify=y
        )
        least = COMMON * len(train)
    common = np.flatnonzero(np.asarray(X[train].sum(axis=0)).ravel() >= least)
    parts = (X[rows][:, common].astype(np.float32).toarray() for rows in (train, test))
    learned, tested = parts
    return Case(learned, y[train], tested, y[test])


def batches(seeds: list[int]) -> Iterator[tuple[str, str, int]]:
    """Data, kind of split and seed of everything that is measured."""
    for data in (MNIST, DOROTHEA):
        yield data, OFFICIAL, 0
        for seed in seeds:
            yield data, DRAWN, seed


Vector = NDArray[np.float64]


def to_the_letter(X: Vector, y: Vector, rounds: int) -> tuple[Vector, Vector]:
    """Coefficients (the intercept first), and the loss after every round.

    A line is fitted on every feature and its loss is evaluated, every round; the lowest is taken.
    """
    coef, losses, H = np.zeros(1 + X.shape[1]), [], np.zeros(len(y))
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-2 * H))
        w = p * (1 - p)
        z = np.divide((y + 1) / 2 - p, w, out=np.zeros_like(w), where=w != 0)
        tried = [line(column, w, z) for column in X.T]
        steps = [0.5 * (b0 + b1 * column) for (b0, b1), column in zip(tried, X.T, strict=True)]
        found = [float(np.log1p(np.exp(-2 * y * (H + step))).sum()) for step in steps]
        j = int(np.argmin(found))
        coef[0] += 0.5 * tried[j][0]
        coef[1 + j] += 0.5 * tried[j][1]
        H = H + steps[j]
        losses.append(found[j])
    return coef, np.array(losses)


def line(x: Vector, w: Vector, z: Vector) -> tuple[float, float]:
    """Weighted least squares by the five sums of the notes."""
    sums: list[Any] = [w.sum(), w @ x, w @ x**2, w @ z, w @ (x * z)]
    a, b, c, d, e = map(float, sums)
    divisor = a * c - b**2
    if abs(divisor) <= 1e-12 * a * c:
        return d / a, 0.0
    return (c * d - b * e) / divisor, (a * e - b * d) / divisor


SHOWN = (10, 30, 100, 300)
ROUNDS = tuple(sorted({*np.geomspace(1, 300, 40).round().astype(int).tolist(), *SHOWN}))
LETTER_ROUNDS, LETTER_ROWS = 30, 2000
LINES = "LogitBoost, 300 lines"
TREES = "LogitBoost, trees of depth 3, learning rate 0.3"
FULL_TREES = "LogitBoost, trees of depth 3, full steps"
LOGISTIC = "logistic regression"
XGBOOST = "XGBoost, trees of depth 3, learning rate 0.3"
COMMONER = "always the commoner class"
MODELS = (LINES, FULL_TREES, TREES, XGBOOST, LOGISTIC, COMMONER)


def available() -> list[str]:
    """XGBoost may be missing."""
    return [name for name in MODELS if name != XGBOOST or find_spec("xgboost")]


def lines_by_round(case: Case, data: str, kind: str, seed: int) -> list[Record]:
    """Errors in per cent and loss of a row, after the rounds; coefficients of the pixels."""
    seconds, model = timed(LogitBoostClassifier(n_estimators=ROUNDS[-1]).fit, case.X, case.y)
    sets = {"train": (case.X, case.y), "test": (case.X_test, case.y_test)}
    errors = error_table(model, sets, ROUNDS)
    losses = model.history_["objective"][errors["round"]] / len(case.y)
    used = [len(set(model.columns_["feature"][:count])) for count in errors["round"]]
    values = {name: 100 * errors[name] for name in sets} | {"loss": losses, "features": used}
    name = f"{data}, {kind}"
    records = [
        Record("lines", name, key, seed, tuple(map(float, row)), seconds if key == "loss" else 0.0)
        for key, row in values.items()
    ]
    if data == MNIST and kind != DRAWN:
        records.append(Record("lines", name, "coefficients", seed, tuple(model.coef_)))
    outcome = outcomes(model, case, case.X, case.X_test)
    return [*records, Record("lines", name, LINES, seed, outcome, seconds)]


def others(case: Case, data: str, kind: str, seed: int) -> list[Record]:
    """The other models on a drawn split; of the whole of MNIST, logistic regression alone."""
    names = [LOGISTIC, COMMONER] if kind != DRAWN else available()[1:]
    X, X_test = (
        (case.X, case.X_test) if data == MNIST else (csr_matrix(case.X), csr_matrix(case.X_test))
    )
    records = []
    for name in names:
        rows = (case.X, case.X_test) if name in (TREES, FULL_TREES) else (X, X_test)
        seconds, model = timed(MAKERS[name](seed).fit, rows[0], (case.y > 0).astype(int))
        outcome = (*outcomes(model, case, *rows), *size(model))
        records.append(Record("others", f"{data}, {kind}", name, seed, outcome, seconds))
    return records


def outcomes(model: Any, case: Case, X: Any, X_test: Any) -> tuple[float, ...]:
    """Training error, test error and the mean of the test errors of both classes, in per cent."""
    wrong = (model.predict(X) > 0) != (case.y > 0)
    wrong_test = (model.predict(X_test) > 0) != (case.y_test > 0)
    balanced = np.mean([wrong_test[case.y_test == label].mean() for label in (-1, 1)])
    return tuple(100 * float(share) for share in (wrong.mean(), wrong_test.mean(), balanced))


def size(model: Any) -> tuple[float, ...]:
    """How many trees LogitBoost has: it ends where no tree lowers the loss."""
    return (float(model.n_iter_),) if isinstance(model, LogitBoostClassifier) else ()


def boosted_trees(seed: int) -> Any:
    """XGBoost with its own learning rate, 0.3."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=300, max_depth=3, n_jobs=1, random_state=seed)


def logit_trees(seed: int, rate: float) -> LogitBoostClassifier:
    """LogitBoost over trees, whose splits look at √p of the features, drawn anew."""
    tree = DecisionTreeRegressor(max_depth=3, max_features="sqrt")
    return LogitBoostClassifier(
        tree, n_estimators=ROUNDS[-1], learning_rate=rate, random_state=seed
    )


MAKERS: dict[str, Callable[[int], Any]] = {
    FULL_TREES: lambda seed: logit_trees(seed, 1.0),
    TREES: lambda seed: logit_trees(seed, 0.3),
    LOGISTIC: lambda seed: LogisticRegression(max_iter=300),
    XGBOOST: boosted_trees,
    COMMONER: lambda seed: DummyClassifier(strategy="most_frequent"),
}


def against_the_letter(case: Case, data: str, kind: str, seed: int) -> list[Record]:
    """log₁₀ of the largest relative differences of losses and coefficients, on few rows."""
    X, y = case.X[:LETTER_ROWS].astype(float), case.y[:LETTER_ROWS]
    coef, losses = to_the_letter(X, y.astype(float), LETTER_ROUNDS)
    model = LogitBoostClassifier(n_estimators=LETTER_ROUNDS).fit(X, y)
    pairs = (
        (losses, model.history_["objective"][1 : LETTER_ROUNDS + 1]),
        (coef, np.array([float(model.intercept_), *model.coef_])),
    )
    off = tuple(
        float(np.log10(max(1e-16, np.abs(a - b).max() / np.abs(a).max()))) for a, b in pairs
    )
    return [Record("letter", MNIST, "difference", seed, off)]
