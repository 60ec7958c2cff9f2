"""What is measured: AdaBoost, gradient boosting, greedy rules, and which features matter.

[N] are the lecture notes.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier as TheirBoosting
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoLarsCV, LassoLarsIC
from sklearn.model_selection import train_test_split
from study_data import Case
from study_jobs import Record

from cgboost import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    L2BoostRegressor,
    OrthogonalGreedyRegressor,
)
from cgboost.inspection.learning_curves import error_table
from cgboost.studies.datasets import load_digits, load_mnist, odd_even_labels
from cgboost.studies.scripts import timed

MNIST, SMALL = "MNIST 28×28", "digits 8×8"
TRAIN_IMAGES = 3000


def draw(data: str, folder: Path | None, seed: int) -> Case:
    """Pixels in [0, 1] and digits, training rows drawn at random.

    Of the small digits 30 % are held out, class by class.
    """
    if data == SMALL:
        X, digit = load_digits()
        parts = train_test_split(X, digit, test_size=0.3, random_state=seed, stratify=digit)
        return Case(parts[0], parts[2], parts[1], parts[3])
    X, digit, X_test, digit_test = _mnist(folder)
    rows = np.random.default_rng(seed).permutation(len(X))[:TRAIN_IMAGES]
    return Case(X[rows], digit[rows], X_test, digit_test)


_mnist = lru_cache(maxsize=1)(load_mnist)

Vector = NDArray[np.float64]

ROUNDS = tuple(np.unique(np.geomspace(1, 400, 45).round().astype(int)).tolist())
SHARES = (0.01, 0.1)
"""Of the rows, those that weigh most."""

QUANTILES = np.linspace(0, 1, 41)
LORENZ = (1, 10, 100, 400)


def adaboost(data: Case, seed: int) -> list[Record]:
    """Errors, bound and concentration of the weights after some rounds; deviations from [N]."""
    y, y_test = odd_even_labels(data.y), odd_even_labels(data.y_test)
    seconds, model = timed(AdaBoostClassifier(n_estimators=ROUNDS[-1]).fit, data.X, y)
    sets = {"training error": (data.X, y), "test error": (data.X_test, y_test)}
    errors = error_table(model, sets, ROUNDS)
    err = model.estimator_errors_
    bounds = np.cumprod(2 * np.sqrt(err * (1 - err)))
    outputs = np.array(list(model.staged_decision_function(data.X)))
    weights = normalised(np.exp(-y * outputs))
    at = np.array([number for number in ROUNDS if number <= len(outputs)]) - 1
    heavy = -np.sort(-weights[at], axis=1).cumsum(axis=1)
    curves = {name: 100 * errors[name] for name in sets} | {"bound": 100 * bounds[at]}
    curves["effective rows"] = 100 / np.square(weights[at]).sum(axis=1) / len(y)
    for share in SHARES:
        curves[f"heaviest {share:.0%}"] = 100 * heavy[:, round(share * len(y)) - 1]
    records = [
        Record("adaboost", MNIST, name, seed, tuple(map(float, row)))
        for name, row in curves.items()
    ]
    for number in LORENZ:
        line = np.interp(QUANTILES, np.arange(len(y) + 1) / len(y), lorenz(weights[number - 1]))
        records.append(Record("adaboost", MNIST, f"lorenz {number}", seed, tuple(100 * line)))
    loss = np.exp(-y * outputs).mean(axis=1)
    pairs = (
        (recursive_weights(y, outputs, model.estimator_weights_), weights),
        (loss, bounds),
    )
    off = tuple(float(np.log10(np.abs(a / b - 1).max())) for a, b in pairs)
    return [*records, Record("adaboost", MNIST, "deviations", seed, off, seconds)]


def normalised(weights: Vector) -> Vector:
    """Rows of weights that add up to 1."""
    shares: Vector = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def lorenz(weights: Vector) -> Vector:
    """Share of the weight on the heaviest 0, 1, 2, … rows."""
    return np.concatenate([[0.0], -np.sort(-weights).cumsum()])


def recursive_weights(y: Vector, outputs: Vector, alphas: Vector) -> Vector:
    """Weights by step 2(d) of [N]: w ← w·e^α on the rows that the newest classifier gets wrong.

    A classifier with a negative α is used turned round, with −α, as [N] asks for.
    """
    votes = np.diff(outputs, axis=0, prepend=np.zeros((1, len(y))))
    w, rows = np.full(len(y), 1 / len(y)), []
    for vote, alpha in zip(votes, alphas, strict=True):
        w = normalised(w * np.exp(np.abs(alpha) * (vote * y < 0)))
        rows.append(w)
    return np.array(rows)


TREE_ROUNDS = 100
NOTES, SHRUNK, THEIRS = "full steps, as in the notes", "learning rate 0.1", "scikit-learn, 0.1"
LARGE = "learning rate 0.3, 28 pixels a split"


def models(data: str, seed: int) -> dict[str, Any]:
    """What is fitted: on the large images a split looks at √784 = 28 pixels, drawn anew."""
    if data == MNIST:
        large = GradientBoostingClassifier(
            n_estimators=TREE_ROUNDS, learning_rate=0.3, max_features="sqrt", random_state=seed
        )
        return {LARGE: large}
    ours = {
        name: GradientBoostingClassifier(
            n_estimators=TREE_ROUNDS, learning_rate=rate, start="zero", random_state=seed
        )
        for name, rate in ((NOTES, 1.0), (SHRUNK, 0.1))
    }
    return ours | {THEIRS: TheirBoosting(n_estimators=TREE_ROUNDS, random_state=seed)}


def digits(name: str, data: Case, seed: int) -> list[Record]:
    """Test errors in per cent after every round; importances in thousandths."""
    records = []
    for model_name, model in models(name, seed).items():
        seconds, _ = timed(model.fit, data.X, data.y)
        staged = model.staged_predict(data.X_test)
        errors = [100 * float(np.mean(found != data.y_test)) for found in staged]
        records.append(Record("digits", name, model_name, seed, filled(errors), seconds))
        if model_name in (SHRUNK, LARGE):
            records += relevance(model, name, seed)
        if model_name == SHRUNK:
            records.append(Record("digits", name, "deviations", seed, sums(model, data)))
    return records


def filled(errors: list[float]) -> tuple[float, ...]:
    """A model that ended before the last round stays what it was."""
    return (*errors, *[errors[-1]] * (TREE_ROUNDS - len(errors)))


def relevance(model: GradientBoostingClassifier, name: str, seed: int) -> list[Record]:
    """I²_l of every pixel, and I²_lk of every class (of seed 0 for large images)."""
    parts = {"pixels": model.feature_importances_}
    if name == SMALL or seed == 0:
        for k, squared in enumerate(np.square(model.class_importances_)):
            parts[f"pixels of {k}"] = squared / squared.sum()
    return [
        Record("digits", name, part, seed, tuple(map(float, 1000 * values)))
        for part, values in parts.items()
    ]


def sums(model: GradientBoostingClassifier, data: Case) -> tuple[float, float]:
    """log₁₀ of the largest |Σ_k f_k|: as the model gives f, and of the trees as they are."""
    scores = model.decision_function(data.X_test)
    trees = np.zeros_like(scores)
    coef, classes = model.columns_["coefficient"], model.columns_["class"]
    for tree, weight, label in zip(model.estimators_, coef, classes, strict=True):
        trees[:, int(label)] += weight * tree.predict(data.X_test)
    centred = trees - trees.mean(axis=1, keepdims=True)
    assert np.allclose(centred, scores, atol=1e-5), "the scores are not the sums of the trees"
    of_model, of_trees = (float(np.abs(part.sum(axis=1)).max()) for part in (scores, trees))
    return float(np.log10(max(of_model, 1e-16))), float(np.log10(max(of_trees, 1e-16)))


ROWS, FEATURES = (100, 200, 400), (50, 200, 1000)
DESIGNS = ("independent", "alike", "decoys")
N_TRUE = 10
COMMON, DECOY = 0.8, 0.75
TRIMMED, UNTRIMMED = "OGA + HDBIC + trimming", "OGA + HDBIC"
HDIC = "OGA + HDIC + trimming"
BOOSTING = "L2-Boosting, HDBIC"
LASSO_CV, LASSO_IC = "lasso, cross-validation", "lasso, BIC, noise known"
METHODS = (TRIMMED, UNTRIMMED, HDIC, BOOSTING, LASSO_CV, LASSO_IC)


def cells() -> list[str]:
    """Names of all designs with all sizes."""
    return [cell(design, n, p) for design in DESIGNS for n in ROWS for p in FEATURES]


def cell(design: str, n: int, p: int) -> str:
    """The name of a design with n rows and p features."""
    return f"{design}, n {n}, p {p}"


def support(name: str, seed: int) -> list[Record]:
    """True features missed and others chosen, by every method, on one draw."""
    design, n, p = (part.split()[-1] for part in name.split(", "))
    X, y, true = draw_model(design, int(n), int(p), seed)
    records = []
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            seconds, model = timed(make(method).fit, X, y)
        found, wanted = set(np.flatnonzero(model.coef_)), set(true)
        counts = (float(len(wanted - found)), float(len(found - wanted)))
        records.append(Record("support", name, method, seed, counts, seconds))
    return records


def draw_model(design: str, n: int, p: int, seed: int) -> tuple[Vector, Vector, NDArray[np.intp]]:
    """Features, response, and which features are true."""
    rng = np.random.default_rng([seed, n, p, DESIGNS.index(design)])
    X = rng.normal(size=(n, p))
    true = np.sort(rng.choice(p, N_TRUE, replace=False))
    beta = rng.choice([-1.0, 1.0], N_TRUE)
    if design == "alike":
        X = np.sqrt(1 - COMMON) * X + np.sqrt(COMMON) * rng.normal(size=(n, 1))
    if design == "decoys":
        beta = 3 + 0.75 * np.arange(N_TRUE)
        sums = X[:, true].sum(axis=1, keepdims=True)
        mixed = np.sqrt(1 - DECOY) * X + np.sqrt(DECOY / N_TRUE) * sums
        mixed[:, true] = X[:, true]
        X = mixed
    return X, X[:, true] @ beta + rng.normal(size=n), true


def make(method: str) -> Any:
    """A model; the lasso's information criterion is told the true variance of the noise."""
    return {
        TRIMMED: OrthogonalGreedyRegressor(),
        UNTRIMMED: OrthogonalGreedyRegressor(trim=False),
        HDIC: OrthogonalGreedyRegressor(criterion="hdic"),
        BOOSTING: L2BoostRegressor(n_estimators=1000, criterion="hdbic"),
        LASSO_CV: LassoLarsCV(cv=5),
        LASSO_IC: LassoLarsIC("bic", noise_variance=1.0),
    }[method]


LETTER_ROWS, LETTER_FEATURES = 200, 500
LETTER = f"scaled features, n {LETTER_ROWS}, p {LETTER_FEATURES}"


def greedy(X: Vector, y: Vector, steps: int, power: int) -> list[int]:
    """OGA of [N] p. 10 with arg max |x_j·u| / ‖x_j‖^power: the features in their order."""
    norms = np.linalg.norm(X, axis=0) ** power
    Q, residual, path = np.zeros((len(y), 0)), y.copy(), []
    for _ in range(steps):
        scores = np.abs(X.T @ residual) / norms
        scores[path] = -1.0
        path.append(int(np.argmax(scores)))
        q = X[:, path[-1]] - Q @ (Q.T @ X[:, path[-1]])
        q = q - Q @ (Q.T @ q)
        Q = np.column_stack([Q, q / np.linalg.norm(q)])
        residual = residual - Q[:, -1] * (Q[:, -1] @ residual)
    return path


def statements(seed: int) -> list[Record]:
    """True features among the first ten by either rule, agreement with ours, and orthogonality."""
    X, y, true = draw_model("independent", LETTER_ROWS, LETTER_FEATURES, seed)
    X = X * np.exp(np.random.default_rng(seed).uniform(-2, 2, LETTER_FEATURES))
    by_norm, by_square = (greedy(X, y, N_TRUE, power) for power in (1, 2))
    ours = OrthogonalGreedyRegressor(fit_intercept=False).fit(X, y).path_[:N_TRUE].tolist()
    counts = [len(set(path) & set(true.tolist())) for path in (by_norm, by_square)]
    Q, _ = np.linalg.qr(X[:, :50])
    model = L2BoostRegressor(n_estimators=50, learning_rate=1.0, fit_intercept=False).fit(Q, y)
    off = np.abs(model.coef_ - Q.T @ y).max() / np.abs(y).max()
    repeats = len(model.selected_) - len(set(model.selected_.tolist()))
    values = (*map(float, counts), float(ours == by_norm), float(repeats))
    return [
        Record("letter", LETTER, "greedy rules", seed, values),
        Record("letter", LETTER, "deviations", seed, (float(np.log10(max(off, 1e-16))),)),
    ]
