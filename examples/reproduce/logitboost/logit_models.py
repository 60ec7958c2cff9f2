"""The models: LogitBoost over lines by round, and what else one would take, on the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from logit_data import DRAWN, MNIST, Case
from logit_letter import to_the_letter
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor
from transform_regression.measured import Record

from cgboost import LogitBoostClassifier
from cgboost.inspection.learning_curves import error_table

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
    clock = time.process_time()
    model = LogitBoostClassifier(n_estimators=ROUNDS[-1]).fit(case.X, case.y)
    seconds = time.process_time() - clock
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
        records.append(Record("lines", name, "coefficients", seed, tuple(model.coef_), 0.0))
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
        clock = time.process_time()
        model = MAKERS[name](seed).fit(rows[0], (case.y > 0).astype(int))
        seconds = time.process_time() - clock
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
    return LogitBoostClassifier(tree, learning_rate=rate, random_state=seed)


class Commoner:
    """Predicts the class with the most training rows."""

    def fit(self, X: Any, y: NDArray[Any]) -> Commoner:
        """Count."""
        self.label = int(np.mean(y) > 0.5)
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The same label for all."""
        return np.full(X.shape[0], self.label)


MAKERS: dict[str, Callable[[int], Any]] = {
    FULL_TREES: lambda seed: logit_trees(seed, 1.0),
    TREES: lambda seed: logit_trees(seed, 0.3),
    LOGISTIC: lambda seed: LogisticRegression(max_iter=300),
    XGBOOST: boosted_trees,
    COMMONER: lambda seed: Commoner(),
}


def against_the_letter(case: Case, seed: int) -> list[Record]:
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
    return [Record("letter", MNIST, "difference", seed, off, 0.0)]
