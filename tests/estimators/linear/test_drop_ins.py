"""Linear models with scikit-learn's parameters: beside scikit-learn's, and their own equations."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.estimators.linear.composed import LinearDecision
from cgboost.linear import (
    L1LinearSVC,
    L1LinearSVR,
    LADRegressor,
    QuantileRegressor,
    SparseLinearClassifierCV,
    SparseLinearRegressorCV,
)
from cgboost.losses import Loss
from tests.estimators.linear.test_sparse_linear import rows
from tests.estimators.test_bad_input import BAD_VALUES

REGRESSORS = [QuantileRegressor(alpha=0.05), LADRegressor(), L1LinearSVR(epsilon=0.1)]
ALL = [*REGRESSORS, L1LinearSVC()]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.filterwarnings("ignore:SparseLinear:UserWarning")
def test_quantile_regression_is_that_of_scikit_learn(seed: int) -> None:
    """Coefficients, intercept and predictions to 1e-8, whatever shape, quantile, α and weights."""
    rng = np.random.default_rng(seed)
    X, y = rows(seed, int(rng.integers(15, 150)), int(rng.integers(4, 60)))
    X = sparse.csr_matrix(X) if seed % 3 == 0 else X
    weights = rng.uniform(0.0, 2.0, len(y)) * (rng.random(len(y)) < 0.9)
    own = {
        "quantile": rng.uniform(0.05, 0.95),
        "alpha": 10 ** rng.uniform(-3, -0.5),
        "fit_intercept": bool(seed % 2),
        "solver": "highs-ds",
    }
    mine = QuantileRegressor(**own).fit(X, y, weights)
    theirs = linear_model.QuantileRegressor(**own).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-8)
    assert mine.intercept_ == pytest.approx(theirs.intercept_, abs=1e-8)
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), atol=1e-8)
    assert mine.gap_ <= 1e-9
    assert isinstance(mine.n_iter_, int)


@pytest.mark.parametrize("seed", range(6))
def test_without_a_penalty_the_optimum_is_that_of_scikit_learn(seed: int) -> None:
    """alpha=0 has scikit-learn's objective to 1e-8 and a bound below it, dense and sparse."""
    rng = np.random.default_rng(seed)
    X, y = rows(seed, int(rng.integers(20, 200)), int(rng.integers(4, 10)))
    weights = rng.uniform(0.5, 2.0, len(y))
    own = {"quantile": rng.uniform(0.1, 0.9), "alpha": 0, "fit_intercept": bool(seed % 2)}
    mine = QuantileRegressor(**own).fit(sparse.csr_matrix(X) if seed % 3 else X, y, weights)
    theirs = linear_model.QuantileRegressor(**own).fit(X, y, sample_weight=weights)
    error = y - theirs.predict(X)
    loss = np.maximum(own["quantile"] * error, (own["quantile"] - 1.0) * error)
    assert mine.objective_ == pytest.approx(np.average(loss, weights=weights), rel=1e-8)
    assert mine.dual_bound_ <= mine.objective_
    assert mine.gap_ <= 1e-8


@pytest.mark.parametrize(
    ("mine", "theirs", "differ"),
    [
        (QuantileRegressor, linear_model.QuantileRegressor, set()),
        (L1LinearSVC, svm.LinearSVC, {"penalty", "loss", "tol"}),
        (L1LinearSVR, svm.LinearSVR, {"tol"}),
    ],
)
def test_parameters_are_those_of_scikit_learn(mine: Any, theirs: Any, differ: set[str]) -> None:
    """Every parameter is there, in its place, and has the same default unless it differs."""
    own, other = (dict(inspect.signature(kind).parameters) for kind in (mine, theirs))
    assert set(other) <= set(own)
    for name, parameter in other.items():
        assert own[name].kind is parameter.kind
        assert (own[name].default == parameter.default) is (name not in differ), name
    positional = [name for name in other if other[name].kind is not inspect.Parameter.KEYWORD_ONLY]
    assert list(own)[: len(positional)] == positional


def test_strengths_that_others_count_in_other_units() -> None:
    """A model here is optimal for ‖r‖₂ + α‖β‖₁, or for the mean of log losses with 1/(nC).

    Slopes of the losses are at most the strength in the guide, and equal to it where a coefficient
    is not 0.
    """
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(60, 5)), 60
    y = X @ [2.0, -1.0, 0.0, 0.0, 0.0] + rng.normal(size=n)
    squared = SparseLinearRegressor(alpha=0.2, loss="squared_error", tol=1e-10).fit(X, y)
    r = y - squared.predict(X)
    labels = np.sign(y)
    logistic = SparseLinearClassifier(C=0.2, loss="log_loss", tol=1e-10).fit(X, labels)
    shares = labels / (1.0 + np.exp(labels * logistic.decision_function(X)))
    for model, slopes, strength in (
        (squared, X.T @ r / np.linalg.norm(r), 0.2 * n / np.linalg.norm(r)),
        (logistic, X.T @ shares / n, 1.0 / (n * 0.2)),
    ):
        coef = np.ravel(model.coef_)
        used = coef != 0.0
        assert 0 < used.sum() < 5
        np.testing.assert_allclose(slopes[used], strength * np.sign(coef[used]), rtol=1e-4)
        assert (np.abs(slopes) <= strength * (1.0 + 1e-6)).all()


def test_absolute_deviations_are_twice_the_median_s_loss() -> None:
    """LADRegressor has the coefficients of the median, its objective is twice as large."""
    X, y = rows(2)
    lad = LADRegressor(alpha=0.1).fit(X, y)
    median = QuantileRegressor(alpha=0.05).fit(X, y)
    np.testing.assert_allclose(lad.coef_, median.coef_, atol=1e-8)
    assert lad.objective_ == pytest.approx(2.0 * median.objective_)
    assert lad.objective_ == pytest.approx(
        np.abs(y - lad.predict(X)).mean() + 0.1 * np.abs(lad.coef_).sum()
    )
    assert lad.dual_bound_ <= lad.objective_
    default, inside = LADRegressor().fit(X, y), SparseLinearRegressor(loss="absolute_error")
    assert default.alpha_ == inside.fit(X, y).alpha_ < default.alpha_max_


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_classification_has_the_objective_of_linear_svc(loss: Any) -> None:
    """‖β‖₁ + C Σ w loss, of its own coefficients; b is free where LinearSVC's scaling grows."""
    X, y = rows(3)
    labels, weights = np.where(y > 4.0, "up", "down"), np.arange(len(y)) % 3.0
    model = L1LinearSVC(loss=loss, C=0.3).fit(X, labels, weights)
    margin = np.where(labels == "up", 1.0, -1.0) * model.decision_function(X)
    missing = np.maximum(0.0, 1.0 - margin) ** (1 if loss == "hinge" else 2)
    value = np.abs(model.coef_).sum() + 0.3 * weights @ missing
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    assert model.gap_ <= 1e-6
    if loss == "squared_hinge":
        theirs = svm.LinearSVC(
            penalty="l1", C=0.3, intercept_scaling=1e4, tol=1e-8, max_iter=200_000, random_state=0
        ).fit(X, labels, weights)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("power", [1, 2])
def test_regression_has_the_objective_of_linear_svr(power: int) -> None:
    """‖β‖₁ + C Σ w loss, and its bound, of its own coefficients."""
    X, y = rows(4)
    weights = np.arange(len(y)) % 3.0
    loss: Any = ["epsilon_insensitive", "squared_epsilon_insensitive"][power - 1]
    model = L1LinearSVR(loss=loss, C=0.2, epsilon=0.3).fit(X, y, weights)
    missing = np.maximum(0.0, np.abs(y - model.predict(X)) - 0.3) ** power
    value = np.abs(model.coef_).sum() + 0.2 * weights @ missing
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    assert 0.0 <= model.objective_ - model.dual_bound_ <= 1e-6 * model.objective_


def test_each_parameter_of_the_drop_ins_counts() -> None:
    """Weights of classes and features, signs, offsets, limits of rounds and time, progress."""
    X, y = rows(5)
    labels = y > 4.0

    def svc(**own: Any) -> Any:
        return L1LinearSVC(**{"C": 0.3} | own).fit(X, labels).coef_

    assert not np.allclose(svc(), svc(class_weight={True: 3.0}))
    assert not np.allclose(svc(), svc(fit_intercept=False))
    for same in ({"dual": False}, {"intercept_scaling": 2.0}, {"random_state": 3}):
        np.testing.assert_array_equal(svc(), svc(**same))
    lad = LADRegressor(alpha=0.05, positive=True).fit(X, y)
    assert lad.coef_.min() >= 0.0
    weighted = LADRegressor(alpha=0.05, penalty_weights=np.arange(1.0, 91.0)).fit(X, y)
    assert not np.allclose(lad.coef_, weighted.coef_)
    scaled = LADRegressor(alpha=0.05, standardize=True, fit_intercept=False).fit(X, y)
    assert not np.allclose(scaled.coef_, weighted.coef_)


def wide_rows() -> tuple[np.ndarray, np.ndarray]:
    """Too many features for one round."""
    X, y = rows(6)
    noise = np.random.default_rng(0).normal(size=(len(X), 200))
    return np.hstack([X, noise]), y


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (QuantileRegressor(alpha=0.01, solver_options={"maxiter": 2}), r"\['maxiter'\]=2 rounds"),
        (L1LinearSVR(max_iter=2), "max_iter=2 rounds"),
        (L1LinearSVC(max_iter=2), "max_iter=2 rounds"),
    ],
)
def test_a_limit_of_rounds_is_obeyed_and_said(model: Any, words: str) -> None:
    """The fit ends after so many rounds, with the gap that is proven, and a warning."""
    X, y = wide_rows()
    with pytest.warns(ConvergenceWarning, match=f"{words} with a relative gap"):
        model.fit(X, y > 4.0 if isinstance(model, L1LinearSVC) else y)
    assert model.n_iter_ == 2
    assert model.gap_ > model.tol
    assert not model.converged_


def test_options_of_the_linear_program(capsys: pytest.CaptureFixture[str]) -> None:
    """Progress is shown, a time limit ends the fit; other options change nothing."""
    X, y = rows(6)
    QuantileRegressor(alpha=0.01, solver_options={"disp": True, "presolve": True}).fit(X, y)
    assert "gap" in "".join(capsys.readouterr())
    QuantileRegressor(alpha=0.01, solver_options={"presolve": True}).fit(X, y)
    assert not "".join(capsys.readouterr())
    X, y = wide_rows()
    with pytest.warns(ConvergenceWarning, match=r"solver_options\['time_limit'\]=1e-09"):
        QuantileRegressor(alpha=0.01, solver_options={"time_limit": 1e-9}).fit(X, y)


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_models_are_those_of_the_estimator_inside(model: Any) -> None:
    """model_ predicts the same; coef_ may be kept sparse."""
    X, y = rows(7)
    target = y if model in REGRESSORS else np.digitize(y, [2.0, 5.0])
    fitted = clone(model).fit(X, target)
    inside = SparseLinearRegressor if model in REGRESSORS else SparseLinearClassifier
    assert isinstance(fitted.model_, inside)
    np.testing.assert_array_equal(fitted.predict(X), fitted.model_.predict(X))
    before, coef = fitted.predict(X), fitted.coef_.copy()
    assert sparse.issparse(fitted.sparsify().coef_)
    np.testing.assert_array_equal(fitted.predict(X), before)
    np.testing.assert_array_equal(fitted.densify().coef_, coef)


class NoConjugate(Loss):
    """A loss that lacks what a certificate needs."""

    name = "no_conjugate"

    def value(self, y: Any, f: Any) -> Any:
        """(y − f)²."""
        return (y - f) ** 2

    def gradient(self, y: Any, f: Any) -> Any:
        """2(f − y)."""
        return 2 * (f - y)


SEVERAL = np.digitize(rows(6)[1], [2.0, 5.0])

LINEAR = [QuantileRegressor, LADRegressor, L1LinearSVR, L1LinearSVC, SparseLinearRegressorCV]
LINEAR.append(SparseLinearClassifierCV)


ODD: dict[str, list[Any]] = {
    "alpha": [1e3],
    "C": [1e-6],
    "loss": [NoConjugate()],
    "penalty_weights": [[1.0, 2.0]],
    "time_limit": [1e-9],
    "solver_options": [{"time_limit": -1}, {"time_limit": 1e-9, "maxiter": -1}],
    "max_iter": [1],
    "alphas": [[1e3]],
    "Cs": [[1e-6]],
}
UNUSUAL = {
    name: [bad[0] if isinstance(bad, tuple) else bad, *ODD.get(name, [])]
    for name, bad in BAD_VALUES.items()
}
"""Values of parameters that are an error or a warning."""


@pytest.mark.parametrize("kind", LINEAR, ids=lambda kind: kind.__name__)
def test_messages_name_the_class_and_the_parameters_that_were_used(kind: Any) -> None:
    """No error or warning speaks of an estimator that was not called, or of its parameters."""
    X, y = rows(6)
    model = kind()
    if isinstance(model, LinearDecision):
        y = SEVERAL
    own = set(model.get_params())
    said = []
    cases: list[dict[str, Any]] = [{name: value} for name in own for value in UNUSUAL[name]]
    if {"positive", "penalty_weights"} <= own:
        cases.append({"positive": True, "penalty_weights": np.arange(X.shape[1])})
    if kind is QuantileRegressor:
        cases.append({"alpha": 0.01, "solver_options": {"time_limit": 1e-9}})
    for parameters in cases:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                small = {"n_alphas": 3, "n_Cs": 3, "cv": 2}
                kind(**{k: v for k, v in small.items() if k in own} | parameters).fit(X, y)
            except ValueError as error:
                said.append(str(error))
        said += [str(warning.message) for warning in caught]
    with pytest.raises(ValueError, match="y") as raised:
        model.fit(X)
    said.append(str(raised.value))
    assert len(said) > len(cases) / 2
    others = {"SparseLinearRegressor", "SparseLinearClassifier", "BaseLinear"}
    inner = {*SparseLinearRegressor().get_params(), *SparseLinearClassifier().get_params()} - own
    for message in said:
        assert not set(re.findall(r"\w+", message)) & others, message
        assert not {name for name in inner if re.search(rf"(?<![\w'.])({name})(=| must)", message)}


@pytest.mark.parametrize("model", [LADRegressor(alpha=0.05), L1LinearSVR(C=1.0)])
def test_feature_selection_keeps_what_the_model_has(model: Any) -> None:
    """SelectFromModel takes these for ℓ1 models: every feature of the model stays."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = 2.0 * X[:, 1] - 0.2 * X[:, 3] + 0.1 * rng.standard_t(3, size=80)
    selection = SelectFromModel(model).fit(X, y)
    kept = selection.estimator_.coef_ != 0
    assert 2 <= kept.sum() < 30
    np.testing.assert_array_equal(selection.get_support(), kept)
    assert "penalty" not in model.get_params()
