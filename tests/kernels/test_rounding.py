"""Bounds on rounding: no computed kernel value, and no score, is ever farther off than they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear, Polynomial, Precomputed
from cgboost.kernels import FunctionKernel, Kernel, Normalized
from cgboost.kernels.features.rbf import distance_sizes
from tests.effort import examples
from tests.kernels.conformance import arithmetic, rows

KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "quadratic": Polynomial(2),
    "cubic": Polynomial(3, gamma=0.3, coef0=1.0),
    "shifted": Polynomial(2, gamma=0.5, coef0=-0.7),
    "rbf": RBF(0.05),
    "narrow": RBF(20.0),
    "sum": 0.5 * Linear() + 2.0 * RBF(0.3),
    "difference": Polynomial(2) + -1.0 * Linear(),
    "cosine": Normalized(Linear()),
    "cosine of a polynomial": Normalized(Polynomial(4, coef0=2.0)),
    "cosine of a sum": Normalized(Linear() + 0.1 * Polynomial(2)),
    "cosine of an rbf": Normalized(RBF(0.1)),
}


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    n_features=st.sampled_from([1, 7, 300]),
)
def test_values_are_within_the_bound(name: str, seed: int, scale: float, n_features: int) -> None:
    """Values in float32 differ from those in float64 by no more; none is larger than its sizes."""
    X = rows(seed, scale=scale, n_features=n_features)
    kernel = KERNELS[name]
    bound = kernel.rounding(arithmetic(X, np.float32))
    assert bound is not None
    exact = kernel(X.astype(np.float64), X.astype(np.float64))
    sizes = np.outer(bound.size, bound.size)
    with np.errstate(over="ignore"):
        computed = kernel(X, X)
    assert np.all(np.abs(exact) <= sizes * (1 + 1e-9) + 1e-300)
    assert np.all(np.abs(computed - exact) <= bound.relative * sizes + 1e-38)


def test_the_bound_is_of_the_size_of_the_precision() -> None:
    """In float64 the relative bound is 2²⁹ times smaller, and it grows with the features."""
    few, many = (rows(0, scale=1.0, n_features=count) for count in (10, 1000))
    for kernel in (Linear(), RBF(0.1), Normalized(Polynomial(2))):
        narrow, wide = (kernel.rounding(arithmetic(few, d)) for d in (np.float32, np.float64))
        assert narrow.relative / wide.relative == pytest.approx(2.0**29, rel=0.5)
        assert kernel.rounding(arithmetic(many, np.float32)).relative > narrow.relative


def test_kernels_of_unknown_making_have_no_bound() -> None:
    """A function, a given matrix, and what is made of a function, are taken as they are."""
    X = rows(1, scale=1.0, n_features=4)
    function = FunctionKernel(lambda A, B: A @ B.T)
    for kernel in (function, Precomputed(), function + Linear(), Normalized(function), RBF()):
        assert kernel.rounding(arithmetic(X, np.float32)) is None


def test_a_normalisation_by_almost_nothing_has_no_bound() -> None:
    """Where k(x, x) is the difference of large numbers, its rounding may be anything."""
    X = np.full((2, 5), 1000.0, dtype=np.float32)
    kernel = Normalized(Polynomial(2, coef0=-5e6 + 0.01))
    assert kernel.rounding(arithmetic(X, np.float32)) is None
    assert kernel.rounding(arithmetic(X, np.float64)) is None


def test_sizes_of_distances_bound_them_and_stay_small_far_from_the_origin() -> None:
    """1 + a_x + a_z ≤ s_x s_z for all pairs; a shift of all rows costs no more than their norms."""
    near = np.random.default_rng(0).uniform(0.0, 3.0, size=50)
    for a in (near, near + 1e6, np.zeros(3)):
        sizes = distance_sizes(a)
        assert (1 + a[:, None] + a <= np.outer(sizes, sizes) * (1 + 1e-12)).all()
        assert np.outer(sizes, sizes).mean() <= 1.0 + 2.0 * a.max() + 1e-9 * a.max()


def test_a_narrow_kernel_far_from_the_origin_is_certified() -> None:
    """Raw features give norms of 10⁷ and a Gram matrix that is nearly the identity."""
    X, y = load_breast_cancer(return_X_y=True)
    model = CGBoostClassifier(KernelLibrary({"narrow": RBF(0.1)})).fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(2.0 * np.count_nonzero(y == 0), rel=1e-6)
