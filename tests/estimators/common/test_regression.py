"""Estimators with every loss: by name, as an object, as a callable."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor

from cgboost import (
    RBF,
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFClassifier,
    BLFRegressor,
    CGBoostRegressor,
    ConstrainedBoostRegressor,
    GradientBoostingRegressor,
    LPBoostRegressor,
    MultiQuantileRegressor,
    SparseLinearRegressor,
    StagewiseRegressor,
)
from cgboost.constraints import MeanCalibration
from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Huber,
    Loss,
    Poisson,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
    get_loss,
)
from cgboost.losses.registry import CLASSIFICATION, REGRESSION

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
COUNTS = RNG.poisson(np.exp(0.5 + 0.7 * X[:, 0] - 0.4 * X[:, 1])).astype(float)
LABELS = np.where(X[:, 0] + 0.8 * RNG.normal(size=120) > 0, "up", "down")
WEIGHTS = RNG.uniform(0.5, 2.0, 120)

REGRESSORS = {
    "any": AnyBoostRegressor(n_estimators=8, random_state=0),
    "corrective": AnyBoostRegressor(n_estimators=8, corrective=True, random_state=0),
    "trees": GradientBoostingRegressor(n_estimators=8, random_state=0),
    "stages": StagewiseRegressor(learning_rate=1.0, n_estimators=8, random_state=0),
    "refitted": StagewiseRegressor(n_estimators=8, orthogonalize=True, random_state=0),
    "factors": BLFRegressor(2),
}
CLASSIFIERS = {
    "any": AnyBoostClassifier(n_estimators=8, random_state=0),
    "corrective": AnyBoostClassifier(n_estimators=8, corrective=True, random_state=0),
    "factors": BLFClassifier(2),
}


def agree(model: Any, y: np.ndarray, loss: Loss, target: np.ndarray) -> None:
    """Name, object and callable give one model, whose objective is its loss, lower than before."""
    model = clone(model).set_params(loss=loss.name).fit(X, y, WEIGHTS)
    bound = loss.on(target, WEIGHTS)
    output = list(model.staged_decision_function(X))[-1]
    assert model.objective_ == pytest.approx(bound.value(output), rel=1e-9)
    assert np.all(np.diff(model.history_["objective"]) <= 1e-9 * model.objective_)
    assert model.objective_ < 0.97 * model.history_["objective"][0]
    for same in (loss, type(loss), lambda y, w: loss.on(y, w)):
        other = clone(model).set_params(loss=same).fit(X, y, WEIGHTS)
        again = list(other.staged_decision_function(X))[-1]
        np.testing.assert_array_equal(again, output)
        if same is loss or isinstance(same, type):
            np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("name", REGRESSION)
@pytest.mark.parametrize("kind", REGRESSORS)
def test_every_regressor_takes_every_loss(kind: str, name: str) -> None:
    """With the loss's own parameters as they are by default."""
    agree(REGRESSORS[kind], COUNTS, get_loss(name), COUNTS)


@pytest.mark.parametrize("name", CLASSIFICATION)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_every_classifier_takes_every_loss(kind: str, name: str) -> None:
    """Outputs decide better than the larger class does."""
    agree(CLASSIFIERS[kind], LABELS, get_loss(name), np.where(LABELS == "up", 1.0, -1.0))
    model = clone(CLASSIFIERS[kind]).set_params(loss=name).fit(X, LABELS)
    assert model.score(X, LABELS) > 0.7


@pytest.mark.parametrize("kind", REGRESSORS)
def test_counts_are_predicted_by_their_mean(kind: str) -> None:
    """For the Poisson loss predictions are e^f, positive, and of the right mean."""
    model = clone(REGRESSORS[kind]).set_params(loss="poisson").fit(X, COUNTS)
    outputs = list(model.staged_decision_function(X))
    np.testing.assert_allclose(model.predict(X), np.exp(outputs[-1]))
    np.testing.assert_allclose(list(model.staged_predict(X)), np.exp(outputs))
    assert np.mean(model.predict(X)) == pytest.approx(np.mean(COUNTS), rel=0.2)
    with pytest.raises(ValueError, match="y must not be negative for the Poisson loss"):
        clone(model).fit(X, COUNTS - 1.0)


def test_poisson_trees_are_as_good_as_those_of_scikit_learn() -> None:
    """The deviance of histogram boosting with the same trees is within a tenth."""
    ours = GradientBoostingRegressor(loss="poisson", n_estimators=20, random_state=0)
    theirs = HistGradientBoostingRegressor(
        loss="poisson", max_iter=20, max_depth=3, min_samples_leaf=1, max_leaf_nodes=None
    )
    deviances = []
    for model in (ours, theirs):
        mean = model.fit(X, COUNTS).predict(X)
        deviances.append(Poisson().on(COUNTS, np.ones(120)).value(np.log(mean)))
    assert deviances[0] <= 1.1 * deviances[1]


@pytest.mark.parametrize("level", [0.1, 0.9])
@pytest.mark.parametrize("kind", ["any", "trees", "stages"])
def test_quantiles_have_their_share_of_rows_below(kind: str, level: float) -> None:
    """About the share of the training rows lies below the model's quantile."""
    y = X[:, 0] + RNG.normal(size=120)
    model = clone(REGRESSORS[kind]).set_params(loss=Quantile(level), n_estimators=30)
    below = np.mean(y <= model.fit(X, y).predict(X) + 1e-9)
    assert below == pytest.approx(level, abs=0.15)


@pytest.mark.parametrize(("loss", "first"), [(Quantile(0.9), "loss"), (Huber(), "mae")])
def test_early_stopping_watches_what_is_fitted(loss: Loss, first: str) -> None:
    """The mean loss of held-out rows for quantiles and counts, the absolute error otherwise."""
    model = GradientBoostingRegressor(
        loss=loss, n_estimators=20, early_stopping=True, random_state=0
    )
    model.fit(X[:80], COUNTS[:80], eval_set=(X[80:], COUNTS[80:]))
    scores = [name for name in model.history_ if name.startswith("validation_")]
    assert scores[0] == f"validation_{first}"
    best = model.history_[scores[0]][model.best_round_]
    assert best == np.min(model.history_[scores[0]])
    if first == "loss":
        assert best == pytest.approx(np.mean(loss.value(COUNTS[80:], model.predict(X[80:]))))
    counts = GradientBoostingRegressor(
        loss=Poisson(), n_estimators=20, early_stopping=True, random_state=0
    ).fit(X[:80], COUNTS[:80], eval_set=(X[80:], COUNTS[80:]))
    errors = np.abs(COUNTS[80:] - counts.predict(X[80:]))
    best = counts.history_["validation_mae"][counts.best_round_]
    assert best == pytest.approx(np.mean(errors))


def test_factors_of_counts_are_chosen_by_their_deviance() -> None:
    """Cross-validation counts the Poisson loss of the predicted means."""
    model = BLFRegressor("cv", loss="poisson", cv=3, random_state=0).fit(X, COUNTS)
    start = Poisson().on(COUNTS, np.ones(120))
    alone = start.value(np.full(120, start.constant())) / 120
    assert np.all(model.cv_errors_ > 0)
    assert model.cv_errors_.min() < alone


EQUIVARIANT: dict[str, Callable[[float], Any]] = {
    "absolute, 1-norm": lambda t: CGBoostRegressor(RBF(0.3), loss="absolute_error"),
    "squared, 1-norm": lambda t: CGBoostRegressor(RBF(0.3), loss="squared_error", C=1.0 / t),
    "absolute, 2-norm": lambda t: CGBoostRegressor(
        RBF(0.3), loss="absolute_error", C=t, penalty="l2", tol=1e-8
    ),
    "squared, functions": lambda t: CGBoostRegressor(
        RBF(0.3), loss="squared_error", penalty="rkhs", tol=1e-8
    ),
    "stumps, squared": lambda t: LPBoostRegressor(loss="squared_error", tol=1e-8),
    "stumps": lambda t: LPBoostRegressor(epsilon=0.1 * t, C=1.0),
    "trees": lambda t: GradientBoostingRegressor(n_estimators=10, random_state=0),
    "steps": lambda t: StagewiseRegressor(n_estimators=10, random_state=0),
    "latent factors": lambda t: BLFRegressor(n_components=2),
}
"""Models of targets in units of t, their parameters in the same units."""


@pytest.mark.parametrize("size", [1e-8, 1e8])
@pytest.mark.parametrize("name", EQUIVARIANT)
def test_targets_in_other_units_make_the_same_model(name: str, size: float) -> None:
    """Predictions of y·t are t times those of y, or objectives where there are several optima."""
    y = COUNTS + 0.1 * X[:, 1]
    plain = EQUIVARIANT[name](1.0).fit(X, y)
    other = EQUIVARIANT[name](size).fit(X, y * size)
    if hasattr(plain, "converged_") and np.isfinite(plain.gap_):
        assert other.converged_
    if name == "stumps":  # several optima
        assert other.objective_ / size == pytest.approx(plain.objective_, rel=1e-6)
        return
    expected, found = plain.predict(X), other.predict(X) / size
    assert np.abs(found - expected).max() <= 1e-3 * np.ptp(expected)


OF_RESIDUALS: dict[str, tuple[int, Callable[[float], Loss]]] = {
    "absolute_error": (1, lambda t: AbsoluteError()),
    "quantile": (1, lambda t: Quantile(0.8)),
    "epsilon_insensitive": (1, lambda t: EpsilonInsensitive(0.1 * t)),
    "squared_error": (2, lambda t: SquaredError()),
    "squared_epsilon_insensitive": (2, lambda t: SquaredEpsilonInsensitive(0.1 * t)),
    "huber": (2, lambda t: Huber(t)),
}
"""Losses of y − f, in units of t, and the power of t that they grow as."""

CERTIFIED: dict[str, Callable[[float, int, Loss], tuple[Any, float]]] = {
    "stumps": lambda t, d, loss: (LPBoostRegressor(loss=loss, C=0.1 * t ** (1 - d)), t),
    "kernels": lambda t, d, loss: (CGBoostRegressor(RBF(0.3), loss=loss, C=t ** (1 - d)), t),
    "functions": lambda t, d, loss: (
        CGBoostRegressor(RBF(0.3), loss=loss, C=t ** (2 - d), penalty="rkhs"),
        t**2,
    ),
    "limits": lambda t, d, loss: (
        ConstrainedBoostRegressor([MeanCalibration(0, 0.1 * t)], loss=loss, C=0.1 * t ** (1 - d)),
        t,
    ),
    "features": lambda t, d, loss: (
        SparseLinearRegressor(loss=loss, alpha=0.05 * t ** (d - 1)),
        t**d,
    ),
    "joint": lambda t, d, loss: (
        MultiQuantileRegressor([0.2, 0.8], alpha=0.05, noncrossing="rows"),
        t,
    ),
    "box": lambda t, d, loss: (
        MultiQuantileRegressor([0.2, 0.8], alpha=0.05, noncrossing="box"),
        t,
    ),
}
"""Models of targets in units of t with such a loss, and the unit of their objectives."""

FAR = [(1.0, -1e8), (1e-7, 1e6), (1e6, 1e12), (1e-12, 5.0)]
"""Units of residuals, and what is added to them."""


@pytest.mark.parametrize("kind", CERTIFIED)
@pytest.mark.parametrize("name", OF_RESIDUALS)
def test_a_number_added_to_y_is_added_to_the_model(name: str, kind: str) -> None:
    """Objective and bound stay what they are, as far as y itself has the digits to say so."""
    degree, loss_of = OF_RESIDUALS[name]
    if (kind in ("joint", "box") and name != "quantile") or (kind == "limits" and degree == 2):
        return
    z, rows = X[:40, 0] + RNG.normal(size=40), np.column_stack([np.arange(40) % 2, X[:40]])
    plain = CERTIFIED[kind](1.0, degree, loss_of(1.0))[0].fit(rows, z)
    for t, shift in FAR[1:2] if kind == "functions" else FAR:
        model, unit = CERTIFIED[kind](t, degree, loss_of(t))
        model.fit(rows, t * z + shift)
        digits = 1e-3 + 100.0 * np.spacing(abs(shift)) / t
        for found in (model.objective_, model.dual_bound_):
            assert found / unit == pytest.approx(plain.objective_, rel=digits)
        assert model.gap_ <= 1e-4
        expected = (model.predict(rows) - shift) / t
        assert np.abs(expected - plain.predict(rows)).max() <= 0.5 * np.ptp(z) + digits


OWN = {
    CGBoostRegressor(): {"epsilon": 0.7, "nu": 0.4},
    LPBoostRegressor(C=1.0): {"epsilon": 0.7, "nu": 0.4},
    ConstrainedBoostRegressor(C=1.0): {"epsilon": 0.7},
    SparseLinearRegressor(alpha=0.01): {"epsilon": 0.7, "quantile": 0.8},
    BLFRegressor(): {"epsilon": 0.7, "delta": 0.2, "alpha": 0.8},
}
"""Parameters of losses that an estimator has, at other values than the default."""


@pytest.mark.parametrize("model", OWN, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("loss", sorted(REGRESSION))
def test_a_parameter_of_a_loss_counts_or_is_refused(model: Any, loss: str) -> None:
    """Every parameter changes the fit with every loss that has it, and is an error elsewhere."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.round(np.abs(X[:, 0] + 0.6 * rng.normal(size=30)), 1)
    plain = clone(model).set_params(loss=loss).fit(X, y).predict(X)
    for name, value in OWN[model].items():
        other = clone(model).set_params(loss=loss, **{name: value})
        has = {"alpha": "quantile"}.get(name, name) in vars(get_loss(loss))
        if has or (name == "nu" and loss == "epsilon_insensitive"):
            assert not np.allclose(other.fit(X, y).predict(X), plain, atol=1e-6)
        elif name != "alpha":  # scikit-learn's checks set it, whatever the loss
            with pytest.raises(ValueError, match=f"{name}={value} belongs to loss="):
                other.fit(X, y)
