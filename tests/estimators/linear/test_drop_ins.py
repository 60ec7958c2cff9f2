"""Linear models with scikit-learn's parameters: beside scikit-learn's, and their own equations."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.estimators.linear.composed import LinearDecision
from cgboost.exceptions import DataWarning
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
from tests.estimators.scikit_learn_checks import scikit_learn_checks

REGRESSORS = [QuantileRegressor(alpha=0.05), LADRegressor(), L1LinearSVR(epsilon=0.1)]
ALL = [*REGRESSORS, L1LinearSVC()]


@scikit_learn_checks(
    [QuantileRegressor(), LADRegressor(alpha=0.1), L1LinearSVC(), L1LinearSVR()],
    variants=[
        QuantileRegressor(quantile=0.8, alpha=0.01),
        LADRegressor(alpha=0.05, positive=True, standardize=True),
        L1LinearSVC(class_weight="balanced", fit_intercept=False),
        L1LinearSVC(loss="squared_hinge"),
        L1LinearSVR(loss="squared_epsilon_insensitive", fit_intercept=False),
    ],
)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    """Every check of scikit-learn passes."""
    check(estimator)


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


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (QuantileRegressor, {"quantile": 0}, "quantile must be .* got 0"),
    (QuantileRegressor, {"quantile": 1.0}, "quantile must be .* got 1.0"),
    (QuantileRegressor, {"quantile": "0.5"}, "quantile must be .* got '0.5'"),
    (QuantileRegressor, {"alpha": -1}, "alpha must be a finite number ≥ 0, got -1"),
    (QuantileRegressor, {"alpha": np.nan}, "alpha must be .* got nan"),
    (QuantileRegressor, {"alpha": "a"}, "alpha must be .* got 'a'"),
    (QuantileRegressor, {"fit_intercept": "yes"}, "fit_intercept must be .* got 'yes'"),
    (QuantileRegressor, {"solver": "simplex"}, "solver must be one of .* got 'simplex'"),
    (QuantileRegressor, {"solver_options": "blub"}, "solver_options must be a dict .* got 'blub'"),
    (QuantileRegressor, {"solver_options": {"maxiter": 0}}, "maxiter.* must be .* got 0"),
    (QuantileRegressor, {"solver_options": {"time_limit": 0}}, r"time_limit'\] must be .* got 0"),
    (LADRegressor, {"alpha": -0.1}, "alpha must be .* got -0.1"),
    (LADRegressor, {"positive": 1}, "positive must be True or False, got 1"),
    (L1LinearSVC, {"penalty": "l2"}, r"penalty must be one of \['l1'\], got 'l2'"),
    (L1LinearSVC, {"loss": "log_loss"}, "loss must be one of .* got 'log_loss'"),
    (L1LinearSVC, {"multi_class": "crammer_singer"}, "multi_class must be .* got 'crammer_singer'"),
    (L1LinearSVC, {"dual": "never"}, "dual must be True, False or 'auto', got 'never'"),
    (L1LinearSVC, {"intercept_scaling": 0}, "intercept_scaling must be .* got 0"),
    (L1LinearSVC, {"C": 0}, "C must be a finite number > 0, got 0"),
    (L1LinearSVC, {"class_weight": "equal"}, "class_weight must be .* got 'equal'"),
    (L1LinearSVC, {"random_state": "a"}, "random_state must be .* got 'a'"),
    (L1LinearSVC, {"verbose": -1}, "verbose must be .* got -1"),
    (L1LinearSVC, {"max_iter": 0}, "max_iter must be a whole number ≥ 1, got 0"),
    (L1LinearSVC, {"tol": -1}, "tol must be .* got -1"),
    (L1LinearSVR, {"C": np.inf}, "C must be .* got inf"),
    (L1LinearSVR, {"epsilon": -1}, "epsilon must be .* got -1"),
    (L1LinearSVR, {"loss": "hinge"}, "loss must be one of .* got 'hinge'"),
]


@pytest.mark.parametrize(("kind", "parameters", "words"), BAD)
def test_bad_parameters_are_refused(kind: Any, parameters: dict[str, Any], words: str) -> None:
    """A ValueError, as scikit-learn's, that names parameter and value; nothing is half-fitted."""
    X, y = rows(1)
    model = kind(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y > 4.0 if kind is L1LinearSVC else y)
    assert set(vars(model)) == set(model.get_params())
    with pytest.raises(NotFittedError):
        model.predict(X)


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
    X, y = rows(6)
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
    with pytest.warns(ConvergenceWarning, match=r"solver_options\['time_limit'\]=1e-09"):
        QuantileRegressor(alpha=0.01, solver_options={"time_limit": 1e-9}).fit(X, y)


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_models_are_those_of_the_estimator_inside(model: Any) -> None:
    """model_ predicts the same; pickled and cloned models too; coef_ may be kept sparse."""
    X, y = rows(7)
    target = y if model in REGRESSORS else np.digitize(y, [2.0, 5.0])
    fitted = clone(model).fit(X, target)
    inside = SparseLinearRegressor if model in REGRESSORS else SparseLinearClassifier
    assert isinstance(fitted.model_, inside)
    np.testing.assert_array_equal(fitted.predict(X), fitted.model_.predict(X))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert sparse.issparse(again.sparsify().coef_)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.densify().coef_, fitted.coef_)
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_models_stand_in_the_tools_of_scikit_learn(model: Any) -> None:
    """Selection of features, pipelines, searches, importances and data frames."""
    X, y = rows(8, n_features=12)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    target = y if model in REGRESSORS else y > 4.0
    select = SelectFromModel(clone(model)).set_output(transform="pandas").fit(frame, target)
    chosen = select.transform(frame)
    assert list(chosen.columns) == list(select.get_feature_names_out())
    assert 0 < chosen.shape[1] < 12
    assert list(select.estimator_.feature_names_in_) == list(frame.columns)
    chain = make_pipeline(StandardScaler().set_output(transform="pandas"), clone(model))
    last = list(chain.named_steps)[-1]
    price = "C" if hasattr(model, "C") else "alpha"
    search = GridSearchCV(chain, {f"{last}__{price}": [0.05, 0.2]}, cv=3).fit(frame, target)
    assert search.best_score_ > 0.2
    importance = permutation_importance(search, frame, target, n_repeats=3, random_state=0)
    assert importance.importances_mean.argmax() < 4


def test_a_wrong_width_is_refused() -> None:
    """The error of predict says how many features there should be, and names the estimator."""
    X, y = rows(9)
    model = QuantileRegressor(alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but QuantileRegressor is expecting 90"):
        model.predict(X[:, :3])


@pytest.mark.parametrize("kind", ["coo", "dia", "bsr", "lil", "dok"])
def test_sparse_formats_that_cannot_be_sliced_are_converted(kind: str) -> None:
    """The model is that of a CSC matrix, and a warning names the format."""
    X, y = rows(10)
    given = sparse.csc_matrix(X).asformat(kind)
    expected = QuantileRegressor(alpha=0.1).fit(sparse.csc_matrix(X), y)
    for model in (QuantileRegressor(alpha=0.1), SparseLinearRegressor(alpha=0.1)):
        with pytest.warns(DataWarning, match=f"X is sparse in the format '{kind}'"):
            model.fit(given, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
        np.testing.assert_allclose(model.predict(given), expected.predict(X))


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

UNUSUAL: dict[str, list[Any]] = {
    "quantile": [3],
    "alpha": [-1, 1e3],
    "C": [-1, 1e-6],
    "epsilon": [-1],
    "tol": [-1],
    "penalty": ["l7"],
    "loss": ["bad", NoConjugate()],
    "l1_ratio": [0],
    "penalty_weights": [[1.0, 2.0]],
    "positive": ["x"],
    "standardize": [3],
    "fit_intercept": ["no"],
    "time_limit": [-1, 1e-9],
    "solver_options": [3, {"time_limit": -1}, {"time_limit": 1e-9, "maxiter": -1}],
    "max_iter": [0, 1],
    "class_weight": ["x"],
    "verbose": [-3],
    "solver": ["abc"],
    "columns_per_round": [-1],
    "max_columns": [-1],
    "scoring": [["r2", "max_error"]],
    "alphas": [[-1], [1e3]],
    "Cs": [[-1], [1e-6]],
    "n_alphas": [0],
    "n_Cs": [0],
    "eps": [3],
    "rule": ["x"],
}


@pytest.mark.parametrize("kind", LINEAR, ids=lambda kind: kind.__name__)
def test_messages_name_the_class_and_the_parameters_that_were_used(kind: Any) -> None:
    """No error or warning speaks of an estimator that was not called, or of its parameters."""
    X, y = rows(6)
    model = kind()
    if isinstance(model, LinearDecision):
        y = SEVERAL
    own = set(model.get_params())
    said = []
    cases: list[dict[str, Any]] = [
        {name: value} for name, values in UNUSUAL.items() if name in own for value in values
    ]
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


@pytest.mark.parametrize("kind", LINEAR, ids=lambda kind: kind.__name__)
def test_a_source_of_blocks_is_refused(kind: Any) -> None:
    """The error says which estimator reads such a source."""
    X, y = rows(6)
    inner = "SparseLinearClassifier" if hasattr(kind, "decision_function") else "SparseLinearReg"
    with pytest.raises(ValueError, match=f"{kind.__name__} needs all rows .* blocks: {inner}"):
        kind().fit([(X, y)])
