"""Estimators with penalty="rkhs" are the support vector machines of the summed kernels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    Polynomial,
    Precomputed,
)
from cgboost.exceptions import IndefiniteKernelError
from cgboost.kernels.base import Kernel
from cgboost.parallel import ThreadExecutor
from cgboost.penalties import RKHS

EXACT = {"kernel": "precomputed", "tol": 1e-10, "cache_size": 1000}


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features of scale 1, and labels 0 and 1 or a y of scale 1."""
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return scale(X), y
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:500] / 16.0, (y[:500] % 2).astype(int)
    X, y = load_diabetes(return_X_y=True)
    return scale(X), scale(y)


def assert_certified(model: Any, optimum: float) -> None:
    """The optimum is reached to 1e-6, and bound ≤ optimum ≤ objective in every round to 1e-8."""
    slack = 1e-8 * max(1.0, abs(optimum))
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.converged_
    assert np.nanmax(model.history_["bound"]) <= optimum + slack
    assert model.history_["objective"].min() >= optimum - slack


def svc(gram: np.ndarray, y: np.ndarray, C: float, weights: Any = None) -> tuple[float, Any]:
    """Dual objective and model of scikit-learn."""
    peer = SVC(C=C, **EXACT).fit(gram, y, weights)
    a = np.zeros(len(y))
    a[peer.support_] = peer.dual_coef_[0]
    return float(np.abs(a).sum() - 0.5 * a @ gram @ a), peer


@pytest.mark.parametrize("name", ["breast cancer", "digits"])
@pytest.mark.parametrize(
    ("kernel", "C"),
    [(RBF(0.03), 1.0), (RBF(0.03), 10.0), (Polynomial(3, gamma=0.05, coef0=1.0), 0.1)],
    ids=str,
)
def test_one_kernel_is_svc(name: str, kernel: Kernel, C: float) -> None:
    """Objective, bounds and decision function are those of SVC."""
    X, y = data(name)
    optimum, peer = svc(gram := kernel(X, X), y, C)
    model = CGBoostClassifier({"k": kernel}, penalty="rkhs", C=C, tol=1e-7).fit(X, y)
    assert_certified(model, optimum)
    apart = model.decision_function(X) - peer.decision_function(gram)
    assert np.abs(apart).max() <= 5e-3
    assert np.mean(apart**2) <= 1e-6
    assert model.n_columns_ <= 1.05 * len(peer.support_)  # others have left, up to rounding


@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(2, gamma=0.1, coef0=1.0)], ids=str)
def test_one_kernel_is_svr(kernel: Kernel) -> None:
    """Objective, bounds and predictions are those of SVR."""
    X, y = data("diabetes")
    gram, epsilon = kernel(X, X), 0.1
    peer = SVR(C=1.0, epsilon=epsilon, **EXACT).fit(gram, y)
    a = np.zeros(len(y))
    a[peer.support_] = peer.dual_coef_[0]
    optimum = y @ a - epsilon * np.abs(a).sum() - 0.5 * a @ gram @ a
    model = CGBoostRegressor({"k": kernel}, penalty="rkhs", epsilon=epsilon, tol=1e-7)
    model.fit(X, y)
    assert_certified(model, optimum)
    assert model.predict(X) == pytest.approx(peer.predict(gram), abs=5e-3)


def test_float32_rows_have_a_bound_that_holds() -> None:
    """With rows of few digits, bound ≤ SVC's optimum ≤ objective in every round, too."""
    X, y = data("digits")
    X = X.astype(np.float32)
    optimum, _ = svc(RBF(0.03)(X.astype(float), X.astype(float)), y, 1.0)
    model = CGBoostClassifier({"k": RBF(0.03)}, penalty="rkhs", tol=1e-7).fit(X, y)
    assert_certified(model, optimum)


def test_weights_of_rows_and_of_kernels() -> None:
    """Several weighted kernels are SVC with Σ K_p/w_p, and rows weigh as they do there."""
    X, y = data("breast cancer")
    weights = np.random.default_rng(0).uniform(0.1, 2.0, size=len(y))
    kernels = {"rbf": RBF(0.03), "linear": Linear(), "poly": Polynomial(2, gamma=0.05)}
    gram = RBF(0.03)(X, X) / 0.5 + Linear()(X, X) / 4.0 + Polynomial(2, gamma=0.05)(X, X)
    optimum, peer = svc(gram, y, 0.5, weights)
    model = CGBoostClassifier(
        kernels, penalty=RKHS({"rbf": 0.5, "linear": 4.0}), C=0.5, tol=1e-7
    ).fit(X, y, weights)
    assert_certified(model, optimum)
    assert model.decision_function(X) == pytest.approx(peer.decision_function(gram), abs=5e-3)
    table = {name: model.columns_["kernel"] == name for name in kernels}
    coef = {name: model.dual_coef_[own] for name, own in table.items()}
    for name, weight in (("rbf", 0.5), ("linear", 4.0)):  # α_p = r/w_p, with the same r for all
        np.testing.assert_array_equal(
            model.columns_["row"][table[name]], model.columns_["row"][table["poly"]]
        )
        assert weight * coef[name] == pytest.approx(coef["poly"])
    assert model.columns_per_kernel_ == dict.fromkeys(kernels, len(coef["poly"]))


def test_many_kernels_need_no_more_columns_than_one() -> None:
    """With a dozen widths the master holds a column for each row at most, by default."""
    X, y = data("digits")
    widths = RBF.family(np.geomspace(1e-3, 10.0, 12).tolist())
    optimum, _ = svc(sum(kernel(X, X) for kernel in widths.values()), y, 1.0)
    model = CGBoostClassifier(widths, penalty="rkhs", tol=1e-7).fit(X, y)
    assert_certified(model, optimum)
    assert model.history_["columns"].max() <= len(X)
    assert model.n_columns_ == 12 * len(np.unique(model.columns_["row"]))


@pytest.mark.parametrize("kernels", [1, 2])
def test_a_kernel_next_to_the_identity_is_certified(kernels: int) -> None:
    """All rows are needed, and rounding of squared distances times gamma hides no gap."""
    X, y = data("digits")
    model = CGBoostClassifier({f"narrow {k}": RBF(1e6 + k) for k in range(kernels)}, penalty="rkhs")
    model.fit(X, y)
    optimum, _ = svc(kernels * np.eye(len(X)), y, 1.0)
    assert model.stop_reason_ in ("optimal", "gap")
    assert model.dual_bound_ <= optimum * (1 + 1e-8) <= model.objective_ * (1 + 2e-8)
    assert model.gap_ <= 1e-4


def test_nu_is_nu_svc() -> None:
    """Labels and, up to the scale of the margin, outputs are those of NuSVC."""
    X, y = data("breast cancer")
    gram = RBF(0.03)(X, X)
    peer = NuSVC(nu=0.2, **EXACT).fit(gram, y)
    model = CGBoostClassifier({"k": RBF(0.03)}, penalty="rkhs", nu=0.2, tol=1e-6).fit(X, y)
    assert model.converged_
    outputs = model.decision_function(X) / model.margin_
    assert outputs == pytest.approx(peer.decision_function(gram), abs=0.02)


def test_nu_of_regression_chooses_the_tube() -> None:
    """With ν the tube is the one with which the model with ε has the same outputs."""
    X, y = data("diabetes")
    options: dict[str, Any] = {"penalty": "rkhs", "tol": 1e-6}
    model = CGBoostRegressor({"k": RBF(0.05)}, nu=0.3, **options).fit(X, y)
    fixed = CGBoostRegressor({"k": RBF(0.05)}, epsilon=model.epsilon_, **options).fit(X, y)
    assert fixed.predict(X) == pytest.approx(model.predict(X), abs=0.01)


def test_one_class_is_that_of_scikit_learn() -> None:
    """The level and the outliers are those of OneClassSVM, whose costs sum to νn."""
    X = data("diabetes")[0]
    gram = RBF(0.05)(X, X)
    peer = OneClassSVM(nu=0.2, **EXACT).fit(gram)
    model = CGBoostOutlierDetector({"k": RBF(0.05)}, penalty="rkhs", nu=0.2, tol=1e-6).fit(X)
    outputs = model.decision_function(X)
    assert outputs == pytest.approx(peer.decision_function(gram), abs=1e-3 * model.offset_)


def test_a_path_has_the_models_of_each_c() -> None:
    """Started from each other, they reach the optima of separate fits."""
    X, y = data("breast cancer")
    gram = RBF(0.03)(X, X)
    path = CGBoostClassifier({"k": RBF(0.03)}, penalty="rkhs", tol=1e-6).path(X, y, [10.0, 0.1, 1])
    for C, model in zip([10.0, 0.1, 1.0], path, strict=True):
        optimum, _ = svc(gram, y, C)
        assert model.gap_ <= 1e-6
        assert model.dual_bound_ <= optimum * (1 + 1e-8)
        assert optimum * (1 - 1e-8) <= model.objective_ <= optimum * (1 + 2e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_new_rows_and_rounds(loss: Any) -> None:
    """Predictions of new rows are Σ α K(x, z) + b; the last of the rounds is the model."""
    X, y = data("breast cancer")
    model = CGBoostClassifier({"k": RBF(0.03)}, loss=loss, penalty="rkhs", max_columns=40)
    model.fit(X[::2], y[::2])
    centres = X[::2][model.columns_["row"]]
    expected = RBF(0.03)(X[1::2], centres) @ model.dual_coef_ + model.intercept_
    assert model.decision_function(X[1::2]) == pytest.approx(expected)
    *_, last = model.staged_decision_function(X[1::2])
    assert last == pytest.approx(expected)
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_given_values() -> None:
    """A Precomputed kernel has the model of the kernel whose values it has."""
    X, y = data("breast cancer")
    gram = RBF(0.03)(X, X)
    one = CGBoostClassifier({"k": RBF(0.03)}, penalty="rkhs", tol=1e-6).fit(X, y)
    other = CGBoostClassifier({"k": Precomputed()}, penalty="rkhs", tol=1e-6).fit(gram, y)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)
    assert other.decision_function(gram) == pytest.approx(one.decision_function(X), abs=1e-2)


def test_several_classes() -> None:
    """One against the rest, each with its bound."""
    X, y = load_digits(return_X_y=True)
    model = CGBoostClassifier(penalty="rkhs", tol=1e-3).fit(X[:300], y[:300])
    assert model.converged_
    assert model.score(X[300:600], y[300:600]) > 0.85


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coef": "nonneg"}, "norm of functions"),
        ({"penalty": RKHS({"linear": 1.0})}, "weights of RKHS name kernel 'linear'"),
        ({"penalty": "l1", "centers": "free"}, "does not go with penalty='l1'"),
        ({"centers": "means"}, "centers must be one of"),
    ],
)
def test_bad_parameters(parameters: Mapping[str, Any], message: str) -> None:
    """What does not go together is an error that says why."""
    X, y = data("breast cancer")
    options: dict[str, Any] = {"penalty": "rkhs"} | dict(parameters)
    with pytest.raises(ValueError, match=message):
        CGBoostClassifier({"rbf": RBF(0.03)}, **options).fit(X, y)


def test_a_kernel_without_rkhs_is_an_error() -> None:
    """It is named with its smallest eigenvalue before there is a bound; the 1-norm takes it."""
    X, y = data("breast cancer")
    kernels = KernelLibrary({"sigmoid": lambda A, B: np.tanh(0.1 * A @ B.T - 1.0)})
    with pytest.raises(IndefiniteKernelError, match="'sigmoid' is not positive semi-definite"):
        CGBoostClassifier(kernels, penalty="rkhs").fit(X, y)
    CGBoostClassifier(kernels, penalty="l1", max_columns=5).fit(X, y)


def test_what_a_part_of_the_rows_does_not_show_ends_the_fit() -> None:
    """Two rows of 569 with impossible values are found as columns: there is no model, no bound."""
    X, y = data("breast cancer")
    gram = RBF(0.03)(X, X)
    checked = np.random.default_rng(0).permutation(len(X))[:200]
    others = np.setdiff1d(svc(gram, y, 1.0)[1].support_, checked)
    i, j = others[[0, 1]]
    gram[i, j] = gram[j, i] = 3.0
    with pytest.raises(IndefiniteKernelError, match="smallest eigenvalue"):
        CGBoostClassifier({"k": Precomputed()}, penalty="rkhs", tol=1e-7).fit(gram, y)


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_nearly_dependent_columns(C: float) -> None:
    """A linear kernel of 30 features, and one so wide that it is nearly of rank 1, are no trouble.

    The objective is that of the coefficients themselves, to rounding.
    """
    X, y = data("breast cancer")
    kernels: dict[str, Kernel] = {"linear": Linear(), "wide": RBF(1e-7)}
    model = CGBoostClassifier(kernels, loss="squared_hinge", penalty="rkhs", C=C, tol=1e-7)
    model.fit(X, y)
    assert model.converged_
    objective = C * np.sum(np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * model.decision_function(X)) ** 2)
    for name, kernel in kernels.items():
        own = model.columns_["kernel"] == name
        Z, alpha = X[model.columns_["row"][own]], model.dual_coef_[own]
        objective += 0.5 * alpha @ kernel(Z, Z) @ alpha
    assert objective == pytest.approx(model.objective_, rel=1e-7)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_kernels_of_any_scale(size: float) -> None:
    """A kernel times s with C/s is the same problem with an objective divided by s."""
    X, y = data("breast cancer")
    optimum, _ = svc(RBF(0.03)(X, X), y, 1e3)
    loss = {"tol": 1e-6 * min(1.0, 1.0 / size)}  # gaps are relative to 1 at least
    model = CGBoostClassifier({"k": size * RBF(0.03)}, penalty="rkhs", C=1e3 / size, **loss)
    model.fit(X, y)
    assert model.objective_ * size == pytest.approx(optimum, rel=2e-2 if size > 1 else 2e-6)
    assert model.dual_bound_ * size <= optimum * (1 + 1e-8)


def test_passes_on_threads_and_without_memory() -> None:
    """Where and how scores are computed does not matter."""
    X, y = data("breast cancer")
    models = [
        CGBoostClassifier({"k": RBF(0.03)}, penalty="rkhs", **options).fit(X, y)
        for options in ({}, {"executor": ThreadExecutor(2)}, {"cache_size": 0})
    ]
    for other in models[1:]:
        assert other.objective_ == pytest.approx(models[0].objective_, rel=1e-4)
        assert other.converged_


def test_few_rows() -> None:
    """Two rows have a model."""
    model = CGBoostClassifier({"k": RBF(1.0)}, penalty="rkhs").fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    assert model.converged_
