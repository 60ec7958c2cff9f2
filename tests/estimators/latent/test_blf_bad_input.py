"""Boosted Latent Factors with data that end early, and with input that is refused."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from cgboost import (
    RBF,
    BLFClassifier,
    BLFRegressor,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    LPBoostRegressor,
    Precomputed,
)
from tests.estimators.latent.latent_data import (
    CLASSES,
    LOSSES,
    REGRESSION,
    data_of,
    exact,
    model_of,
    noisy_line,
    outputs,
    overlapping,
)


@pytest.mark.parametrize("kernel", [None, Linear()], ids=["features", "kernel"])
@pytest.mark.parametrize("loss", LOSSES)
def test_more_factors_than_the_rank_end_early(loss: str, kernel: Any) -> None:
    """At the rank: optimal with full refits; exhausted after single steps, and with kernels."""
    X, y = data_of(loss)
    X = np.hstack([X[:, :3], X[:, :3] @ np.ones((3, 2)), np.full((len(y), 1), 0.1)])
    full = exact(loss, 20, kernel=kernel).fit(X, y)
    best = "optimal" if kernel is None else "exhausted"
    assert (full.n_components_, full.stop_reason_) == (3, best)
    steps = model_of(loss, 20, kernel=kernel).fit(X, y)
    stepwise = loss in CLASSES  # one damped Newton step is the default
    assert (steps.n_components_, steps.stop_reason_) == (3, "exhausted" if stepwise else best)
    assert (steps.objective_ > full.objective_ * (1 + 1e-6)) == stepwise


def test_a_line_search_takes_the_intercept_along() -> None:
    """One feature, one factor: with the constant a single step reaches the full model."""
    X, y = overlapping()
    alone = BLFClassifier(3, refit=False).fit(X[:, :1], y)
    refitted = BLFClassifier(3, newton_steps=None, newton_damping=0.0).fit(X[:, :1], y)
    assert alone.n_components_ == refitted.n_components_ == 1
    assert alone.objective_ == pytest.approx(refitted.objective_, rel=1e-9)


def test_wide_data_end_with_the_rows() -> None:
    """With more features than rows the last residual is 0: optimal, interpolating."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 200)), rng.normal(size=15)
    model = BLFRegressor(50).fit(X, y)
    assert model.stop_reason_ == "optimal"
    assert model.n_components_ <= 14
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


@pytest.mark.parametrize("kernel", [None, RBF(0.1), Linear()], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_features_leave_the_constant(loss: str, kernel: Any, value: float) -> None:
    """No factor: the model is the best constant, transforms to nothing and has no importance."""
    _, y = data_of(loss)
    X = np.full((len(y), 3), value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = model_of(loss, 2, kernel=kernel).fit(X, y)
        assert np.ptp(outputs(model, X)) == 0.0
        assert len(list(model.staged_predict(X))) == 1
    assert (model.n_components_, model.transform(X).shape) == (0, (len(y), 0))
    assert len(model.get_feature_names_out()) == 0
    assert kernel is not None or not model.vip_.any()


def test_a_constant_response_needs_no_factor() -> None:
    """The residual is 0 at once: optimal."""
    X, _ = noisy_line()
    for loss in REGRESSION:
        model = BLFRegressor(2, loss=loss).fit(X - X.mean(axis=0), np.full(len(X), 0.3))
        assert (model.n_components_, model.stop_reason_) == (0, "optimal")
        np.testing.assert_allclose(model.predict(X), 0.3, atol=0.1)


def separable() -> tuple[np.ndarray, np.ndarray]:
    """Two classes far apart."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 3)) + 8.0 * y[:, None], y


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("kernel", [None, RBF(0.01)], ids=["features", "kernel"])
@pytest.mark.parametrize("loss", CLASSES)
def test_separable_classes_are_called_unbounded(loss: str, kernel: Any, count: int) -> None:
    """Full refits have no optimum: the run says so, in finite numbers and without a warning."""
    X, y = separable()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = exact(loss, count, kernel=kernel).fit(X, y)
        assert np.isfinite(model.predict_proba(1e3 * X)).all()
    assert model.stop_reason_ == "unbounded"
    assert model.n_components_ == 1
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("loss", CLASSES)
def test_separable_classes_are_fitted_by_single_steps(loss: str, refit: bool) -> None:
    """One damped Newton step a factor, or one line search, stays finite and classifies."""
    X, y = separable()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BLFClassifier(10, loss=loss, refit=refit).fit(X, y)
    assert np.abs(model.coef_).max() < 1e4
    assert model.score(X, y) == 1.0
    assert model.n_components_ <= 3


@pytest.mark.parametrize("loss", CLASSES)
def test_classes_of_one_row(loss: str) -> None:
    """They are fitted; only cross-validation has nothing to hold out."""
    X, _ = noisy_line(10)
    y = np.repeat([0, 1], [9, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BLFClassifier(2, loss=loss).fit(X, y).n_components_ == 2
    with pytest.raises(ValueError, match="n_components='cv' needs 2 rows, of each class"):
        BLFClassifier("cv", loss=loss).fit(X, y)


@pytest.mark.parametrize("loss", CLASSES)
def test_a_class_without_weight(loss: str) -> None:
    """Rows of weight 0 are not there: with one class left it is an error."""
    X, y = overlapping()
    with pytest.raises(ValueError, match="only one class: 1; rows of weight 0 do not count"):
        BLFClassifier(2, loss=loss).fit(X, y, sample_weight=y.astype(float))


def test_kernels_that_will_not_do_are_named() -> None:
    """Not positive semi-definite, not symmetric, not one, or no kernel at all."""
    X, y = noisy_line()

    def negative(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return -RBF(0.1)(A, B)

    with pytest.raises(ValueError, match="is not positive semi-definite: rKr = -"):
        BLFRegressor(2, kernel=negative).fit(X, y)
    with pytest.raises(ValueError, match="is not symmetric"):
        BLFRegressor(2, kernel=Precomputed()).fit(np.random.default_rng(0).normal(size=(60, 60)), y)
    library = KernelLibrary({"a": Linear(), "b": RBF()})
    with pytest.raises(ValueError, match="kernel must be one kernel, got a library of 2"):
        BLFRegressor(2, kernel=library).fit(X, y)
    with pytest.raises(ValueError, match="must be a kernel such as RBF.*got 'rbf'"):
        BLFRegressor(2, kernel="rbf").fit(X, y)


@pytest.mark.parametrize("estimator", [BLFRegressor, BLFClassifier])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_components", 0, "a whole number ≥ 1 or 'cv', got 0"),
        ("n_components", "all", "a whole number ≥ 1 or 'cv', got 'all'"),
        ("n_components", 2.5, "a whole number ≥ 1 or 'cv', got 2.5"),
        ("loss", "hinged", "must be one of .*got 'hinged'"),
        ("newton_steps", 0, "a whole number ≥ 1, got 0"),
        ("newton_damping", 1.0, "≥ 0 and < 1, got 1.0"),
        ("newton_damping", float("nan"), "got nan"),
        ("refit", 1, "True or False, got 1"),
        ("deflate", "no", "True or False, got 'no'"),
        ("max_components", -1, "a whole number ≥ 1, got -1"),
        ("cv", 1, "cv must be a finite number ≥ 2, got 1"),
        ("solver", 3, "solver must be 'auto' or the name of a solver, got 3"),
        ("solver", "abacus", "'abacus'"),
        ("solver_options", {"presolve": "on"}, "presolve.* got solver='auto'"),
    ],
)
def test_bad_parameters_are_named(estimator: Any, name: str, value: Any, message: str) -> None:
    """The error has the parameter, its value and what to give."""
    X, y = overlapping()
    with pytest.raises(ValueError, match=message) as caught:
        estimator(**{name: value}).fit(X, y)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", -0.1), ("delta", 0.0), ("alpha", 1.0), ("subgradient", "any")]
)
def test_bad_parameters_of_the_regressor_are_named(name: str, value: Any) -> None:
    """Whatever the loss, the parameter is checked."""
    X, y = noisy_line()
    with pytest.raises(ValueError, match=f"{name} must be .*got {value!r}"):
        BLFRegressor(**{name: value}).fit(X, y)


def test_what_does_not_go_together_is_refused() -> None:
    """Two ways to choose the number; rows held out of a matrix; a loss that is none."""
    X, y = noisy_line()
    with pytest.raises(ValueError, match="both choose the number of factors"):
        BLFRegressor("cv", early_stopping=True).fit(X, y)
    K = X @ X.T
    with pytest.raises(ValueError, match="cannot hold out rows of a Precomputed kernel: give an"):
        BLFRegressor(2, kernel=Precomputed(), early_stopping=True).fit(K, y)
    watched = BLFRegressor(2, kernel=Precomputed(), early_stopping=True)
    assert watched.fit(K, y, eval_set=(K[:9], y[:9])).n_components_ <= 2
    with pytest.raises(TypeError, match="must return a DifferentiableLoss, got None"):
        BLFRegressor(2, loss=lambda target, weights: None).fit(X, y)


def test_a_fit_that_fails_leaves_the_model_as_it_was() -> None:
    """Whether the check, the kernel or a callback fails."""
    X, y = noisy_line()
    model = BLFRegressor(2).fit(X, y)
    before, attributes = model.predict(X), dict(vars(model))

    def broken(turn: Any) -> None:
        raise RuntimeError("no")

    for parameters, error in (
        ({"n_components": 0}, ValueError),
        ({"kernel": lambda A, B: -(A @ B.T)}, ValueError),
        ({"callbacks": [broken]}, RuntimeError),
    ):
        saved = {name: getattr(model, name) for name in parameters}
        with pytest.raises(error):
            model.set_params(**parameters).fit(X, y)
        model.set_params(**saved)
        np.testing.assert_array_equal(model.predict(X), before)
        assert vars(model).keys() == attributes.keys()


def test_responses_of_any_size() -> None:
    """10⁻¹² or 10¹² times y give as many times the coefficients, for losses without a scale."""
    X, y = noisy_line()
    for loss in ("squared_error", "absolute_error"):
        expected = BLFRegressor(6, loss=loss).fit(X, y).coef_
        for size in (1e-12, 1e12):
            model = BLFRegressor(6, loss=loss).fit(X, size * y)
            np.testing.assert_allclose(model.coef_, size * expected, rtol=1e-6)
            assert model.n_components_ == 6
    reference = LinearRegression().fit(X, y).coef_
    np.testing.assert_allclose(BLFRegressor(6).fit(X, y).coef_, reference, atol=1e-9)


@pytest.mark.parametrize("frame", [False, True])
def test_a_missing_value_of_a_response_is_told_with_its_place(frame: bool) -> None:
    """By the number of the response, or its name in a data frame, and the row."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    Y = X[:, :2].copy()
    Y[7, 1] = np.nan
    given = pd.DataFrame(Y, columns=["fat", "protein"]) if frame else Y
    name = "'protein'" if frame else "1"
    with pytest.raises(ValueError, match=f"response {name} has no value in 1 of 30 .* row 7"):
        BLFRegressor(2).fit(X, given)


@pytest.mark.parametrize("model", [CGBoostRegressor(), LPBoostRegressor(), BLFClassifier()])
def test_models_of_one_response_say_who_has_several(model: Any) -> None:
    """In scikit-learn's words, and with what to do."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match=r"1d array.*MultiOutputRegressor.*BLFRegressor"):
        model.fit(X, (X[:, :2] > 0).astype(int))
