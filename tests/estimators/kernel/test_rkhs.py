"""Estimators with penalty="rkhs" are the support vector machines of the summed kernels."""

from typing import Any

import numpy as np
import pytest
from sklearn.svm import NuSVC, OneClassSVM

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    Linear,
    Polynomial,
    Precomputed,
)
from cgboost.exceptions import IndefiniteKernelError
from cgboost.kernels.kernel import Kernel
from cgboost.parallel import ThreadExecutor
from cgboost.penalties import RKHS
from tests.estimators.kernel.kernel_data import (
    EXACT,
    assert_certified,
    cancer,
    diabetes,
    odd,
    svc,
    svr,
)


@pytest.mark.parametrize("rows", [cancer, odd])
@pytest.mark.parametrize(
    ("kernel", "C"),
    [(RBF(0.03), 1.0), (RBF(0.03), 10.0), (Polynomial(3, gamma=0.05, coef0=1.0), 0.1)],
    ids=str,
)
def test_one_kernel_is_svc(rows: Any, kernel: Kernel, C: float) -> None:
    """Objective, bounds and decision function are those of SVC.

    So they are of rows of few digits, on threads and without memory, and of given values.
    """
    X, y = rows()
    optimum, peer = svc(gram := kernel(X, X), y, C)
    options: dict[str, Any] = {"penalty": "rkhs", "C": C, "tol": 1e-7}
    model = CGBoostClassifier({"k": kernel}, **options).fit(X, y)
    assert_certified(model, optimum)
    apart = model.decision_function(X) - peer.decision_function(gram)
    assert np.abs(apart).max() <= 5e-3
    assert np.mean(apart**2) <= 1e-6
    assert model.n_columns_ <= 1.05 * len(peer.support_)  # others have left, up to rounding
    if rows is odd and C == 1.0:
        single = X.astype(np.float32)
        alike = kernel(single.astype(float), single.astype(float))
        model = CGBoostClassifier({"k": kernel}, **options).fit(single, y)
        assert_certified(model, svc(alike, y, C)[0])
    elif C == 1.0:
        for own in ({"executor": ThreadExecutor(2)}, {"cache_size": 0}):
            assert_certified(CGBoostClassifier({"k": kernel}, **options | own).fit(X, y), optimum)
        given = CGBoostClassifier({"k": Precomputed()}, **options).fit(gram, y)
        assert_certified(given, optimum)
        assert given.decision_function(gram) == pytest.approx(model.decision_function(X), abs=1e-2)


@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(2, gamma=0.1, coef0=1.0)], ids=str)
def test_one_kernel_is_svr(kernel: Kernel) -> None:
    """Objective, bounds and predictions are those of SVR."""
    X, y = diabetes()
    optimum, peer = svr(gram := kernel(X, X), y)
    model = CGBoostRegressor({"k": kernel}, penalty="rkhs", epsilon=0.1, tol=1e-7).fit(X, y)
    assert_certified(model, optimum)
    assert model.predict(X) == pytest.approx(peer.predict(gram), abs=5e-3)


def test_weights_of_rows_and_of_kernels() -> None:
    """Several weighted kernels are SVC with Σ K_p/w_p, and rows weigh as they do there."""
    X, y = cancer()
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
    X, y = odd()
    widths = RBF.family(np.geomspace(1e-3, 10.0, 12).tolist())
    optimum, _ = svc(sum(kernel(X, X) for kernel in widths.values()), y)
    model = CGBoostClassifier(widths, penalty="rkhs", tol=1e-7).fit(X, y)
    assert_certified(model, optimum)
    assert model.history_["columns"].max() <= len(X)
    assert model.n_columns_ == 12 * len(np.unique(model.columns_["row"]))


@pytest.mark.parametrize("kernels", [1, 2])
def test_a_kernel_next_to_the_identity_is_certified(kernels: int) -> None:
    """All rows are needed, and rounding of squared distances times gamma hides no gap."""
    X, y = odd()
    model = CGBoostClassifier({f"narrow {k}": RBF(1e6 + k) for k in range(kernels)}, penalty="rkhs")
    model.fit(X, y)
    optimum, _ = svc(kernels * np.eye(len(X)), y)
    assert model.stop_reason_ in ("optimal", "gap")
    assert model.dual_bound_ <= optimum * (1 + 1e-8) <= model.objective_ * (1 + 2e-8)
    assert model.gap_ <= 1e-4


def test_nu_is_nu_svc() -> None:
    """Labels and, up to the scale of the margin, outputs are those of NuSVC."""
    X, y = cancer()
    gram = RBF(0.03)(X, X)
    peer = NuSVC(nu=0.2, **EXACT).fit(gram, y)
    model = CGBoostClassifier({"k": RBF(0.03)}, penalty="rkhs", nu=0.2, tol=1e-6).fit(X, y)
    assert model.converged_
    outputs = model.decision_function(X) / model.margin_
    assert outputs == pytest.approx(peer.decision_function(gram), abs=0.02)


def test_nu_of_regression_chooses_the_tube() -> None:
    """With ν the tube is the one with which the model with ε has the same outputs."""
    X, y = diabetes()
    options: dict[str, Any] = {"penalty": "rkhs", "tol": 1e-6}
    model = CGBoostRegressor({"k": RBF(0.05)}, nu=0.3, **options).fit(X, y)
    fixed = CGBoostRegressor({"k": RBF(0.05)}, epsilon=model.epsilon_, **options).fit(X, y)
    assert fixed.predict(X) == pytest.approx(model.predict(X), abs=0.01)


def test_one_class_is_that_of_scikit_learn() -> None:
    """The level and the outliers are those of OneClassSVM, whose costs sum to νn."""
    X, _ = diabetes()
    gram = RBF(0.05)(X, X)
    peer = OneClassSVM(nu=0.2, **EXACT).fit(gram)
    model = CGBoostOutlierDetector({"k": RBF(0.05)}, penalty="rkhs", nu=0.2, tol=1e-6).fit(X)
    outputs = model.decision_function(X)
    assert outputs == pytest.approx(peer.decision_function(gram), abs=1e-3 * model.offset_)


def test_what_a_part_of_the_rows_does_not_show_ends_the_fit() -> None:
    """Two rows of 569 with impossible values are found as columns: there is no model, no bound."""
    X, y = cancer()
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
    X, y = cancer()
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
    X, y = cancer()
    optimum, _ = svc(RBF(0.03)(X, X), y, 1e3)
    loss = {"tol": 1e-6 * min(1.0, 1.0 / size)}  # gaps are relative to 1 at least
    model = CGBoostClassifier({"k": size * RBF(0.03)}, penalty="rkhs", C=1e3 / size, **loss)
    model.fit(X, y)
    assert model.objective_ * size == pytest.approx(optimum, rel=2e-2 if size > 1 else 2e-6)
    assert model.dual_bound_ * size <= optimum * (1 + 1e-8)
