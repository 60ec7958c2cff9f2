"""Certificates of models of other packages, against CVXPY on the problems of their docs."""

import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LassoCV,
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from cgboost import certify, polish
from cgboost.exceptions import CertificateError
from cgboost.proofs import nearer
from cgboost.proofs.certificate import _certificate
from cgboost.proofs.machines import MachineProblem
from cgboost.proofs.pair_steps import take_pair_steps
from cgboost.proofs.readers import data_of

RNG = np.random.default_rng(7)
N, P = 40, 5
X = RNG.normal(size=(N, P)) * [1, 2, 1, 0.5, 1]
LINE = X @ [1.5, 0, -1, 2, 0] + 0.5
NUMBERS = LINE + RNG.standard_t(2, N)
LABELS = np.where(LINE + RNG.normal(size=N) > 0, "yes", "no")
COUNTS = RNG.poisson(np.exp(0.3 * LINE))
THREE = np.digitize(LINE + RNG.normal(size=N), [-1.5, 1.5])
WEIGHTS = RNG.integers(1, 4, N).astype(float)
SIGNS = np.where(LABELS == "yes", 1.0, -1.0)


@dataclass(frozen=True)
class Case:
    """An estimator, its target, and its objective at coefficients w and intercept b in CVXPY."""

    model: Any
    y: Any
    objective: Callable[[Any, Any, Any], Any]


def hinge(w: Any, b: Any, v: Any) -> Any:
    """Σ v max(0, 1 − y f)."""
    return v @ cp.pos(1 - cp.multiply(SIGNS, X @ w + b))


def log_loss(w: Any, b: Any, v: Any) -> Any:
    """Σ v log(1 + e^{−y f})."""
    return v @ cp.logistic(-cp.multiply(SIGNS, X @ w + b))


def tube(w: Any, b: Any, v: Any, epsilon: float, power: int = 1) -> Any:
    """Σ v max(0, |y − f| − ε) to a power."""
    return v @ cp.power(cp.pos(cp.abs(NUMBERS - X @ w - b) - epsilon), power)


def squares(w: Any, b: Any, v: Any) -> Any:
    """Σ v (y − f)²."""
    return v @ cp.square(NUMBERS - X @ w - b)


def half(w: Any, b: Any = 0) -> Any:
    """½‖w‖² + ½b²."""
    return 0.5 * cp.sum_squares(w) + 0.5 * cp.square(b)


def one(w: Any) -> Any:
    """‖w‖₁."""
    return cp.norm1(w)


def scaled_huber(w: Any, b: Any, v: Any) -> Any:
    """HuberRegressor's loss with its scale."""
    scale = cp.Variable(nonneg=True)
    inner, outer = cp.Variable(N), cp.Variable(N)  # Huber's loss as an infimal convolution
    parts = [
        cp.quad_over_lin(cp.multiply(np.sqrt(v), inner), scale),
        2 * 1.35 * (v @ cp.abs(outer)),
    ]
    return v.sum() * scale + sum(parts), [inner + outer == NUMBERS - X @ w - b]


def three(w: Any, b: Any, v: Any) -> Any:
    """The multinomial loss of three classes."""
    output = X @ w + np.ones((N, 1)) @ cp.reshape(b, (1, 3), order="C")
    return v @ (
        cp.log_sum_exp(output, axis=1) - cp.sum(cp.multiply(np.eye(3)[THREE], output), axis=1)
    )


CASES = {
    "LinearSVC": Case(
        LinearSVC(loss="hinge", C=0.7), LABELS, lambda w, b, v: 0.7 * hinge(w, b, v) + half(w, b)
    ),
    "LinearSVC scaled": Case(
        LinearSVC(intercept_scaling=3.0),
        LABELS,
        lambda w, b, v: v @ cp.square(cp.pos(1 - cp.multiply(SIGNS, X @ w + b))) + half(w, b / 3.0),
    ),
    "LinearSVC l1": Case(
        LinearSVC(penalty="l1", dual=False, fit_intercept=False),
        LABELS,
        lambda w, b, v: v @ cp.square(cp.pos(1 - cp.multiply(SIGNS, X @ w))) + one(w),
    ),
    "LinearSVR": Case(
        LinearSVR(epsilon=0.5), NUMBERS, lambda w, b, v: tube(w, b, v, 0.5) + half(w, b)
    ),
    "LinearSVR squared": Case(
        LinearSVR(epsilon=0.5, loss="squared_epsilon_insensitive"),
        NUMBERS,
        lambda w, b, v: tube(w, b, v, 0.5, 2) + half(w, b),
    ),
    "LogisticRegression": Case(
        LogisticRegression(C=2.0), LABELS, lambda w, b, v: 2.0 * log_loss(w, b, v) + half(w)
    ),
    "LogisticRegression elastic": Case(
        LogisticRegression(solver="saga", l1_ratio=0.3),
        LABELS,
        lambda w, b, v: log_loss(w, b, v) + 0.3 * one(w) + 0.7 * half(w),
    ),
    "LogisticRegression three": Case(
        LogisticRegression(), THREE, lambda w, b, v: three(w, b, v) + 0.5 * cp.sum_squares(w)
    ),
    "SGDClassifier": Case(
        SGDClassifier(alpha=0.02, tol=None),
        LABELS,
        lambda w, b, v: hinge(w, b, v) / N + 0.02 * half(w),
    ),
    "SGDClassifier modified": Case(
        SGDClassifier(loss="modified_huber", alpha=0.02, penalty="elasticnet", tol=None),
        LABELS,
        lambda w, b, v: (
            v @ cp.huber(cp.pos(1 - cp.multiply(SIGNS, X @ w + b)), 2.0) / N
            + 0.02 * (0.15 * one(w) + 0.85 * half(w))
        ),
    ),
    "SGDRegressor": Case(
        SGDRegressor(loss="huber", epsilon=0.4, alpha=0.02, tol=None),
        NUMBERS,
        lambda w, b, v: v @ (0.5 * cp.huber(NUMBERS - X @ w - b, 0.4)) / N + 0.02 * half(w),
    ),
    "Lasso": Case(
        Lasso(alpha=0.1), NUMBERS, lambda w, b, v: squares(w, b, v) / (2 * v.sum()) + 0.1 * one(w)
    ),
    "ElasticNet": Case(
        ElasticNet(alpha=0.1),
        NUMBERS,
        lambda w, b, v: squares(w, b, v) / (2 * v.sum()) + 0.05 * one(w) + 0.05 * half(w),
    ),
    "Ridge": Case(Ridge(), NUMBERS, lambda w, b, v: squares(w, b, v) + cp.sum_squares(w)),
    "PoissonRegressor": Case(
        PoissonRegressor(alpha=0.1),
        COUNTS,
        lambda w, b, v: (
            v @ (cp.exp(X @ w + b) - cp.multiply(COUNTS, X @ w + b) + DEVIANCE) / v.sum()
            + 0.1 * half(w)
        ),
    ),
    "QuantileRegressor": Case(
        QuantileRegressor(quantile=0.3, alpha=0.05),
        NUMBERS,
        lambda w, b, v: (
            v @ cp.maximum(0.3 * (NUMBERS - X @ w - b), -0.7 * (NUMBERS - X @ w - b)) / v.sum()
            + 0.05 * one(w)
        ),
    ),
    "HuberRegressor": Case(
        HuberRegressor(alpha=0.1), NUMBERS, lambda w, b, v: scaled_huber(w, b, v)
    ),
}

DEVIANCE = np.where(COUNTS > 0, COUNTS * np.log(np.maximum(COUNTS, 1)) - COUNTS, 0.0)


def optimum(case: Case, weights: Any, at: Any = None) -> float:
    """CVXPY's optimum; at given coefficients and intercept their objective."""
    several = np.ndim(case.y) == 1 and case.y is THREE
    w = cp.Variable((P, 3)) if several else cp.Variable(P)
    b = cp.Variable(3) if several else cp.Variable()
    made = case.objective(w, b, weights)
    value, rules = made if isinstance(made, tuple) else (made, [])
    if isinstance(case.model, HuberRegressor):
        value = value + 0.1 * cp.sum_squares(w)
    if at is not None:
        rules = [*rules, w == at[0], b == at[1]]
    problem = cp.Problem(cp.Minimize(value), rules)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value)


def fitted(model: Any, X: Any, y: Any, **options: Any) -> Any:
    """A fit that may end too early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "random_state" in model.get_params():
            model = clone(model).set_params(random_state=0)
        return clone(model).fit(X, y, **options)


def coefficients(model: Any) -> tuple[Any, Any]:
    """As the objective takes them."""
    w, b = np.asarray(model.coef_), np.asarray(model.intercept_)
    return (w.T, b) if w.shape[0] == 3 and w.ndim == 2 else (w.ravel(), float(b.ravel()[0]))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_bound_optimum_objective(name: str, weighted: bool) -> None:
    """Objectives are those of the docs, bounds lie below the optimum, and polishing reaches it."""
    case = CASES[name]
    weights = WEIGHTS if weighted else np.ones(N)
    options = {"sample_weight": WEIGHTS} if weighted else {}
    best = optimum(case, weights)
    limits = [2, 10] if "max_iter" in case.model.get_params() else [None]
    for limit in limits if name not in ("Ridge", "QuantileRegressor") else [None]:
        model = case.model if limit is None else clone(case.model).set_params(max_iter=limit)
        model = fitted(model, X, case.y, **options)
        certificate = certify(model, X, case.y, **options)
        own = optimum(case, weights, coefficients(model))
        assert certificate.objective == pytest.approx(own, rel=1e-7)
        assert certificate.bound <= best * (1 + 1e-8) + 1e-10
        assert certificate.best >= best * (1 - 1e-8) - 1e-10
        gap = certificate.objective - certificate.bound
        assert gap <= 2.0 * (certificate.objective - best) + 1e-8 * abs(best)
        assert certificate.of_rows.sum() + certificate.of_features.sum() <= gap * (1 + 1e-6) + 1e-7
        better = polish(model, X, case.y, **options)
        assert type(better) is type(model)
        assert better.certificate_.gap <= 1e-7
        assert optimum(case, weights, coefficients(better)) == pytest.approx(best, rel=1e-7)
        np.testing.assert_array_equal(
            pickle.loads(pickle.dumps(better)).predict(X), better.predict(X)
        )


MACHINES = {
    "SVC": (SVC(), LABELS),
    "SVC three": (SVC(kernel="poly", degree=2, class_weight="balanced"), THREE),
    "NuSVC": (NuSVC(nu=0.4), LABELS),
    "SVR": (SVR(C=3.0, kernel="linear"), NUMBERS),
    "NuSVR": (NuSVR(C=3.0), NUMBERS),
    "OneClassSVM": (OneClassSVM(nu=0.2), None),
}


@pytest.mark.parametrize("name", MACHINES)
def test_machines(name: str) -> None:
    """Machines that stop early have bounds below, and objectives above, what libsvm ends at."""
    model, y = MACHINES[name]
    best = certify(fitted(clone(model).set_params(tol=1e-8), X, y), X, y)
    assert 0 <= best.objective - best.bound <= 1e-6 * abs(best.objective)
    for limit in (3, 30):
        early = fitted(clone(model).set_params(max_iter=limit), X, y)
        certificate = certify(early, X, y)
        assert certificate.bound <= best.objective * (1 + 1e-9 * np.sign(best.objective))
        assert certificate.objective >= best.bound - 1e-9 * abs(best.bound)
        assert polish(early, X, y).certificate_.objective == pytest.approx(best.objective, rel=1e-6)


@pytest.mark.parametrize("name", MACHINES)
def test_bounds_of_machines_that_stop_early(name: str) -> None:
    """At most half of the gap is the bound's fault, which the machine's own dual point exceeds."""
    model, y = MACHINES[name]
    model = clone(model).set_params(kernel="rbf")
    best = certify(fitted(clone(model).set_params(tol=1e-8), X, y), X, y)
    early = fitted(clone(model).set_params(max_iter=10), X, y)
    certificate = certify(early, X, y)
    assert certificate.objective - certificate.bound <= 2.0 * (certificate.objective - best.bound)
    answer = certificate._proved[0]
    assert certificate.bound > answer.problem.dual_at(answer.given.coef).bound
    assert certificate.bound <= best.objective * (1 + 1e-9 * np.sign(best.objective))


def test_pair_steps_of_a_machine() -> None:
    """Steps keep a dual point in its box and balanced, and end at the optimum of libsvm."""
    for model in (SVC(C=2.0), SVR(C=2.0), NuSVR(C=2.0)):
        y = LABELS if isinstance(model, SVC) else NUMBERS
        given = certify(fitted(clone(model).set_params(max_iter=3), X, y), X, y)._proved[0]
        problem, point = given.problem, given.given
        assert isinstance(problem, MachineProblem)
        loss, every = problem.rows.loss, np.arange(N)
        gram, response = problem.matrix(every), problem.dual_at(point.coef).response
        for _ in range(40):
            response = take_pair_steps(loss, every, gram, gram @ response, response)
        assert response == pytest.approx(loss.feasible(response, balanced=True), abs=1e-12)
        value = problem.rows.gains(response).sum() - 0.5 * response @ gram @ response
        best = certify(fitted(clone(model).set_params(tol=1e-8), X, y), X, y)
        assert value == pytest.approx(best.objective, rel=1e-3)
        assert value <= best.objective * (1 + 1e-9)


def test_weights_of_classes_in_liblinear() -> None:
    """With three classes, liblinear weighs the rows of the class itself alone."""
    model = fitted(
        LinearSVC(class_weight={0: 1.0, 1: 4.0, 2: 2.0}, tol=1e-10, max_iter=10**6), X, THREE
    )
    assert certify(model, X, THREE).gap < 1e-7


def test_models_of_celer_solve_what_is_certified() -> None:
    """Prices are scikit-learn's, and a logistic regression has no intercept."""
    celer = pytest.importorskip("celer")
    for model, y in (
        (celer.Lasso(alpha=0.1, tol=1e-10), NUMBERS),
        (celer.ElasticNet(alpha=0.1, l1_ratio=0.5, tol=1e-10), NUMBERS),
        (celer.LogisticRegression(C=1.0, tol=1e-10), LABELS),
    ):
        own = fitted(model, X, y)
        assert certify(own, X, y).gap < 1e-8, model
    assert not np.any(own.intercept_)


@pytest.mark.slow
def test_models_of_skglm_solve_what_is_certified() -> None:
    """Prices are of means; a LinearSVC has no intercept, though it says that it fits one."""
    skglm = pytest.importorskip("skglm")
    for model, y in (
        (skglm.SparseLogisticRegression(alpha=0.02, tol=1e-10), LABELS),
        (skglm.LinearSVC(C=1.0, tol=1e-10), LABELS),
    ):
        own = fitted(model, X, y)
        certificate = certify(own, X, y)
        assert certificate.gap < 1e-8, model
    assert own.fit_intercept
    assert not np.any(own.intercept_)
    assert "no intercept" in str(certificate)


def test_rows_in_any_form() -> None:
    """Sparse rows, copies for weights, and a pipeline with names say the same."""
    model = fitted(LogisticRegression(max_iter=4), X, LABELS, sample_weight=WEIGHTS)
    dense = certify(model, X, LABELS, WEIGHTS)
    copies = np.repeat(np.arange(N), WEIGHTS.astype(int))
    others = [
        certify(model, sparse.csr_matrix(X), LABELS, WEIGHTS),
        certify(model, X[copies], LABELS[copies]),
    ]
    for other in others:
        assert other.objective == pytest.approx(dense.objective, rel=1e-12)
        assert other.bound == pytest.approx(dense.bound, rel=1e-9)
    frame = pd.DataFrame(X, columns=list("abcde"))
    line = fitted(make_pipeline(StandardScaler(), LinearSVC(max_iter=2)), frame, LABELS)
    certificate = certify(line, frame, LABELS)
    assert list(certificate.names) == [*"abcde", "intercept"]
    better = polish(line, frame, LABELS)
    assert better.certificate_.objective < certificate.objective
    assert str(certificate).count("\n") == 2


@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(loss="huber", alpha=1.0, tol=None, max_iter=5),
        SGDClassifier(loss="modified_huber", alpha=0.1, tol=None, max_iter=5),
        SGDClassifier(loss="squared_hinge", penalty="elasticnet"),
        Ridge(positive=True),
    ],
)
def test_hard_starts(model: Any) -> None:
    """Where no row bends, and where coefficients keep a sign, polishing ends at the optimum."""
    if isinstance(model, Ridge):
        better = polish(fitted(model, X, NUMBERS), X, NUMBERS)
        assert better.coef_.min() >= 0.0
    else:
        rare = np.r_[np.ones(2), np.zeros(N - 2)]
        better = polish(fitted(model, X, rare), X, rare)
    assert better.certificate_.gap <= 1e-7


@pytest.mark.parametrize(
    ("model", "scales", "unit"),
    [
        (LinearSVR(), 1.0, 1e-8),
        (LinearSVR(), 1e8, 1.0),
        (LinearSVC(loss="hinge"), 1e8, 1.0),
        (LinearSVC(loss="hinge"), 10.0 ** np.linspace(-8, 6, P), 1.0),
    ],
)
def test_scales_of_data(model: Any, scales: Any, unit: float) -> None:
    """Where features or targets are in other units than 1, polishing ends at the optimum."""
    Z, y = X * scales, LABELS if isinstance(model, LinearSVC) else unit * NUMBERS
    assert polish(fitted(model, Z, y), Z, y).certificate_.gap <= 1e-7


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(penalty="l1", max_iter=20),
        LogisticRegression(solver="liblinear", l1_ratio=1.0, max_iter=2),
    ],
)
def test_newtons_method_will_do_for_sparse_coefficients(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a round of column generation the bound is nearly as good as one can be."""
    rng = np.random.default_rng(0)
    wide = sparse.random(300, 600, density=0.03, random_state=0, format="csr")
    labels = (wide @ rng.normal(size=600) + 0.1 * rng.normal(size=300) > 0).astype(int)
    stopped = fitted(model, wide, labels)
    best = polish(stopped, wide, labels).certificate_
    assert best.gap <= 1e-8
    monkeypatch.setattr(nearer, "_by_columns", pytest.fail)
    found = certify(stopped, wide, labels)
    assert found.bound <= best.objective <= found.objective
    assert found.objective - found.bound <= 1.6 * (found.objective - best.objective)


def test_rows_of_machines() -> None:
    """Rows of weight 0 count for nothing; rows in another order, or columns, are refused."""
    weights = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
    kept = weights > 0
    model = fitted(SVC(gamma=0.2), X, LABELS, sample_weight=weights)
    alone = certify(fitted(SVC(gamma=0.2), X[kept], LABELS[kept]), X[kept], LABELS[kept])
    whole = certify(model, X, LABELS, weights)
    assert whole.objective == pytest.approx(alone.objective, rel=1e-9)
    assert whole.bound == pytest.approx(alone.bound, rel=1e-9)
    with pytest.raises(CertificateError, match="rows of the fit"):
        certify(fitted(SVC(), X, LABELS), X[::-1], LABELS[::-1])
    frame = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(CertificateError, match="in their order"):
        certify(fitted(LinearSVC(), frame, LABELS), frame[list("edcba")], LABELS)
    with pytest.raises(CertificateError, match="semidefinite"):
        certify(fitted(SVC(kernel="precomputed"), -X @ X.T, LABELS), -X @ X.T, LABELS)


def test_attributes_keep_their_form() -> None:
    """Shapes, names and parameters of a polished model stay; one that is far off warns."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    for model in (RidgeClassifier(), SVC(), Lasso(), LinearSVC(), LogisticRegressionCV(cv=3)):
        own = fitted(model, frame, NUMBERS if isinstance(model, Lasso) else LABELS)
        better = polish(own, frame, NUMBERS if isinstance(model, Lasso) else LABELS)
        assert list(better.feature_names_in_) == list("abcde")
        assert np.shape(better.intercept_) == np.shape(own.intercept_)
        if hasattr(own, "coef_") and not isinstance(own, SVC):
            assert np.shape(better.coef_) == np.shape(own.coef_)
        assert better.get_params() == own.get_params()
    with pytest.warns(ConvergenceWarning, match="polish ended"):
        polish(fitted(HuberRegressor(epsilon=1.0), X, NUMBERS), X, NUMBERS)
    hostile = polish(fitted(LinearSVC(loss="hinge", C=100.0), 1e4 * X, LABELS), 1e4 * X, LABELS)
    assert hostile.certificate_.gap <= 1e-7


def test_cross_validated() -> None:
    """Models that chose their price are certified at it."""
    assert certify(fitted(LassoCV(cv=3), X, NUMBERS), X, NUMBERS).gap < 1e-3
    assert certify(fitted(RidgeClassifier(), X, THREE), X, THREE).gap < 1e-9


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (DecisionTreeClassifier(), LABELS, "does not know"),
        (Lasso(alpha=0.0), NUMBERS, "without a penalty"),
        (SVC(kernel="sigmoid"), LABELS, "not convex"),
        (SGDClassifier(early_stopping=True), LABELS, "early_stopping"),
        (LinearSVC(multi_class="crammer_singer"), THREE, "crammer_singer"),
    ],
)
def test_refusals(model: Any, y: Any, words: str) -> None:
    """Problems that are not convex, not bounded or not known are refused with the reason."""
    with pytest.raises(CertificateError, match=words):
        certify(fitted(model, X, y), X, y)


def test_wrong_rows() -> None:
    """Rows that the model was not fitted to are refused where that can be seen."""
    with pytest.raises(CertificateError, match="features"):
        certify(fitted(Lasso(), X, NUMBERS), X[:, :3], NUMBERS)
    with pytest.raises(CertificateError, match="class"):
        certify(fitted(LinearSVC(), X, LABELS), X, np.where(LABELS == "yes", "oui", "no"))
    with pytest.raises(CertificateError, match="support vector"):
        certify(fitted(SVC(), X, LABELS), X[:10], LABELS[:10])


def test_the_gap_of_an_objective_of_zero_is_absolute() -> None:
    """And is printed as that: nothing is large relative to 0."""
    model = QuantileRegressor(alpha=0.1).fit(X, np.zeros(len(X)))
    found = certify(model, X, np.zeros(len(X)))
    assert (found.objective, found.gap) == (0.0, 0.0)
    (answer,) = found._proved
    lower = replace(answer, dual=replace(answer.dual, bound=-1e-3))
    data = data_of(X, np.zeros(len(X)), None)
    far = _certificate(model, data, (), [lower])
    assert far.gap == 1e-3
    assert "at most 0.001 (absolute) above the optimum" in str(far)


@pytest.mark.parametrize("model", [Ridge(), Lasso(), ElasticNet()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("constant", [0.1, 7.3, 1e6 / 3.0])
def test_a_perfect_fit_has_no_gap(model, constant):
    """Its objective is rounding, of which nothing is a share."""
    X = np.random.default_rng(0).normal(size=(200, 6))
    y = np.full(200, constant)
    certificate = certify(clone(model).fit(X, y), X, y)
    assert certificate.bound <= certificate.objective
    assert certificate.gap < 1e-6


@pytest.mark.parametrize("middle", [0.0, 1e5])
def test_the_gap_is_relative_to_the_objective_wherever_y_is(middle):
    """A large mean of y does not make it smaller."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] + rng.normal(size=200) + middle
    model = Lasso(alpha=0.1).fit(X, y)
    model.coef_ = 0.5 * model.coef_
    certificate = certify(model, X, y)
    assert certificate.gap == pytest.approx(
        (certificate.objective - certificate.bound) / certificate.objective, rel=1e-12
    )
    assert certificate.gap > 1e-2


def test_what_is_not_finite_is_told():
    """Without a count log E y is −∞."""
    X = np.random.default_rng(2).normal(size=(50, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PoissonRegressor().fit(X, np.zeros(50))
    with pytest.raises(CertificateError, match="intercept_ of the model has the value -inf"):
        certify(model, X, np.zeros(50))


def test_a_negative_margin_is_told():
    """The signs of a NuSVC that libsvm left at one are those of the other class, all of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = (X[:, 1] + X[:, 0] > 0).astype(int)
    X[:, 0] *= 1e6
    model = NuSVC(nu=0.02).fit(X, y)
    assert model.score(X, y) < 0.5
    with pytest.raises(CertificateError, match="negative margin"):
        certify(model, X, y)
