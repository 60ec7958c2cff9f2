"""Estimators whose loss chooses its own margin, tube or level, against those of scikit-learn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC, NuSVC, NuSVR, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    LPBoostClassifier,
)
from cgboost.exceptions import TrivialModelWarning
from cgboost.penalties import L1
from tests.estimators.data import curve, three_classes, two_classes

KERNELS = {"linear": Linear(), "rbf": RBF(0.5)}
LIBRARY = KernelLibrary(KERNELS)
NUS = [0.3, 0.6]
WEIGHTS = np.random.default_rng(3).uniform(0.5, 2.0, size=60)


def columns(X: np.ndarray) -> np.ndarray:
    """All columns of LIBRARY on the rows of X, side by side."""
    return np.hstack([kernel(X, X) for kernel in KERNELS.values()])


def gram(X: np.ndarray) -> np.ndarray:
    """The kernel whose machine is our 2-norm model: inner products of the columns."""
    H = columns(X)
    return H @ H.T


@pytest.mark.parametrize("nu", NUS)
def test_nu_classification_is_nu_svc(nu: float) -> None:
    """With the 2-norm, f/ρ is what NuSVC finds over the kernel HHᵀ, and SVC for C = 1/ρ."""
    X, y = two_classes(60)
    ours = CGBoostClassifier(LIBRARY, nu=nu, penalty="l2", tol=1e-9).fit(X, y)
    scaled = ours.decision_function(X) / ours.margin_
    for machine in (NuSVC(nu=nu), SVC(C=1.0 / ours.margin_)):
        theirs = machine.set_params(kernel="precomputed", tol=1e-9).fit(gram(X), y)
        np.testing.assert_allclose(scaled, theirs.decision_function(gram(X)), atol=1e-3)


@pytest.mark.parametrize("nu", NUS)
def test_nu_regression_is_nu_svr(nu: float) -> None:
    """With the 2-norm, predictions are those of NuSVR over HHᵀ, and ε is what it chose."""
    X, y = curve(60)
    ours = CGBoostRegressor(LIBRARY, nu=nu, penalty="l2", C=0.5, tol=1e-9).fit(X, y)
    theirs = NuSVR(nu=nu, C=0.5, kernel="precomputed", tol=1e-9).fit(gram(X), y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(gram(X)), atol=1e-4)
    same = CGBoostRegressor(LIBRARY, epsilon=ours.epsilon_, penalty="l2", C=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(same.predict(X), ours.predict(X), atol=1e-4)


@pytest.mark.parametrize("nu", [0.11, 0.47])  # at a whole number of rows ρ is not unique
@pytest.mark.parametrize("weighted", [False, True])
def test_novelty_detection_is_the_one_class_svm(nu: float, weighted: bool) -> None:
    """With the 2-norm, decision function and level are those of OneClassSVM over HHᵀ."""
    X, _ = two_classes(60)
    weights = WEIGHTS if weighted else None
    library = KernelLibrary({"rbf": RBF(0.5)})
    ours = CGBoostOutlierDetector(library, nu=nu, tol=1e-10).fit(X, sample_weight=weights)
    H = RBF(0.5)(X, X)
    theirs = OneClassSVM(nu=nu, kernel="precomputed", tol=1e-10).fit(H @ H.T, sample_weight=weights)
    level = float(np.abs(ours.offset_))
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(H @ H.T), atol=1e-4 * level
    )
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-5)
    np.testing.assert_allclose(
        ours.score_samples(X) - ours.offset_, ours.decision_function(X), atol=1e-9 * level
    )


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("nu", [0.1, 0.4, 0.8])
def test_nu_bounds_the_share_of_errors(nu: float, penalty: str) -> None:
    """At most a share ν of the rows is beyond the margin, tube or level, at least ν not inside."""
    X, y = two_classes(60)
    t = curve(60)[1]
    options = {"penalty": penalty, "nu": nu, "tol": 1e-8}
    classifier = CGBoostClassifier(LIBRARY, **options).fit(X, y)
    regressor = CGBoostRegressor(LIBRARY, **options).fit(X, t)
    detector = CGBoostOutlierDetector(**options).fit(X)
    short = classifier.margin_ - (2 * y - 1) * classifier.decision_function(X)
    outside = np.abs(t - regressor.predict(X)) - regressor.epsilon_
    for excess in (short, outside, -detector.decision_function(X)):
        accuracy = 1e-4 * max(1.0, float(np.abs(excess).max()))
        assert np.mean(excess > accuracy) <= nu
        assert np.mean(excess >= -accuracy) >= nu


def test_one_norm_models_spend_their_budget() -> None:
    """LPBoost with ν is a convex combination, and its objective is −νnρ plus the errors."""
    X, y = two_classes(60)
    model = LPBoostClassifier(nu=0.3, tol=1e-8).fit(X, y)
    margins = (2 * y - 1) * model.decision_function(X)
    assert np.abs(model.column_weights_).sum() == pytest.approx(1.0, abs=1e-9)
    errors = np.maximum(0.0, model.margin_ - margins).sum()
    assert model.objective_ == pytest.approx(errors - 0.3 * 60 * model.margin_, rel=1e-9)
    assert model.converged_
    assert LPBoostClassifier(nu=0.3).fit(*three_classes()).margin_.shape == (3,)


@dataclass(frozen=True)
class DoubleL1(L1):
    """2Σ|α|."""

    threshold = 2.0  # type: ignore[assignment]


def test_a_multiple_of_the_one_norm_is_the_budget_of_nu() -> None:
    """With ν, λΣ|α| ≤ 1: twice the penalty gives half the model, and half the margin."""
    X, y = two_classes()
    one, two = (
        CGBoostClassifier(LIBRARY, nu=0.4, penalty=penalty).fit(X, y)
        for penalty in (L1(), DoubleL1())
    )
    assert np.abs(one.dual_coef_).sum() == pytest.approx(1.0)
    assert np.abs(two.dual_coef_).sum() == pytest.approx(0.5)
    assert 2.0 * two.margin_ == pytest.approx(one.margin_)


def test_the_all_zero_model_is_reported() -> None:
    """Where no column is worth its price the fit says so, and names the parameter."""
    X, y = two_classes()
    with pytest.warns(TrivialModelWarning, match=r"optimal for C=0\.0001"):
        model = LPBoostClassifier(C=1e-4).fit(X, y)
    assert model.n_columns_ == 0
    assert model.converged_
    rows, labels = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    with pytest.warns(TrivialModelWarning, match=r"nu=0\.5"):
        same = LPBoostClassifier(nu=0.5).fit(rows, labels)
    assert same.margin_ == 0.0


def test_early_stopping_of_novelty_detection_keeps_the_best_round() -> None:
    """The one with the fewest errors on held-out rows and outliers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    held = np.vstack([rng.normal(size=(50, 2)), rng.uniform(-6, 6, size=(50, 2))])
    y = np.repeat([1, -1], 50)
    model = CGBoostOutlierDetector(nu=0.1, early_stopping=True).fit(X, eval_set=(held, y))
    errors = model.history_["validation_error"]
    assert errors[model.best_round_] == errors.min()
    assert np.mean(model.predict(held) != y) == pytest.approx(errors.min())
    last = list(model.staged_decision_function(held))[-1]
    np.testing.assert_allclose(last, model.decision_function(held))


@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize(
    "make",
    [
        lambda: CGBoostClassifier(LIBRARY, nu=0.3, penalty="l1"),
        lambda: CGBoostClassifier(LIBRARY, nu=0.3, penalty="l2"),
        lambda: CGBoostOutlierDetector(LIBRARY, nu=0.3, penalty="l1"),
        lambda: LPBoostClassifier(nu=0.3),
        lambda: LPBoostClassifier(nu=0.3, formulation="qrlp", eta=5.0),
        lambda: LPBoostClassifier(nu=0.3, formulation="erlp", eta=5.0),
    ],
    ids=["l1", "l2", "detector", "lp", "qrlp", "erlp"],
)
def test_small_weights_do_not_pass_for_convergence(make: Any, weight: float) -> None:
    """ν is a share: whatever the size of the weights, the same problem is solved, certified."""
    X, y = two_classes(60)
    model = make().set_params(tol=1e-6).fit(X, y, sample_weight=np.full(60, weight))
    plain = make().set_params(tol=1e-6).fit(X, y)
    assert model.converged_
    assert model.n_columns_ > 0
    f, g = model.decision_function(X), plain.decision_function(X)
    factor = weight if getattr(model, "penalty", "l1") == "l2" else 1.0
    assert model.objective_ == pytest.approx(weight * factor * plain.objective_, rel=1e-5)
    assert np.corrcoef(f, g)[0, 1] > 0.95  # the optimum of a linear program need not be unique


def test_rounds_without_a_model_do_not_end_early_stopping() -> None:
    """The objective stays at 0 for many rounds; patience starts with the first model."""
    digits, digit = load_digits(return_X_y=True)
    model = LPBoostClassifier(
        DecisionTreeClassifier(max_depth=2), nu=0.02, early_stopping=True, random_state=0
    )
    model.fit(digits[:600] / 16, digit[:600] % 2)
    assert model.n_columns_ > 0
    assert model.score(digits[600:900] / 16, digit[600:900] % 2) > 0.8


def test_an_objective_that_stays_at_zero_is_no_failure() -> None:
    """Some dozens of columns are needed before anything can be told apart."""
    X = np.random.default_rng(0).normal(size=(50, 64))
    model = CGBoostOutlierDetector(KernelLibrary({"rbf": RBF(2.0)}), nu=0.1).fit(X)
    assert model.stop_reason_ in ("optimal", "gap")
    assert model.objective_ < -0.2


@pytest.mark.parametrize("max_columns", [1, 8])
def test_a_model_that_ends_before_its_first_useful_column_says_so(max_columns: int) -> None:
    """Few stumps have no positive margin on all but a few rows: that is no silent constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    y = X.sum(axis=1) > 0
    with pytest.warns(TrivialModelWarning, match=f"max_columns: {max_columns} col.*allow more"):
        model = LPBoostClassifier(nu=0.02, columns_per_round=1, max_columns=max_columns).fit(X, y)
    assert (model.objective_, model.n_columns_) == (0.0, 0)
    assert model.gap_ > model.tol


def test_the_model_without_columns_may_win_the_validation_and_says_so() -> None:
    """Labels that the features know nothing of: the best round is the first."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    held = rng.normal(size=(40, 2)), np.zeros(40, dtype=int)
    with pytest.warns(TrivialModelWarning, match="no round had a better validation score"):
        model = LPBoostClassifier(nu=0.3, early_stopping=True).fit(X, y, eval_set=held)
    assert model.n_columns_ == 0
