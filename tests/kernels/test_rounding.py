"""Bounds on rounding: how large they are, where there are none, and where rows nearly agree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from cgboost import (
    RBF,
    CGBoostClassifier,
    KernelLibrary,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
)
from cgboost.kernels import FunctionKernel, Kernel, Normalized, squared_norms
from tests.effort import examples
from tests.kernels.cases import arithmetic, matern, rows


def test_bounds_are_of_the_size_of_the_precision() -> None:
    """In float64 the relative bound is 2²⁹ times smaller, and it grows with the features.

    A function, a given matrix, what is made of a function and a kernel without a width have none,
    nor a normalisation by the difference of large numbers, whose rounding may be anything.
    """
    few, many = (rows(0, n_features=count) for count in (10, 1000))
    for kernel in (Linear(), RBF(0.1), Normalized(Polynomial(2))):
        narrow, wide = (kernel.rounding(arithmetic(few, d)) for d in (np.float32, np.float64))
        assert narrow.relative / wide.relative == pytest.approx(2.0**29, rel=0.5)
        assert kernel.rounding(arithmetic(many, np.float32)).relative > narrow.relative
    function = FunctionKernel(lambda A, B: A @ B.T)
    made = [function + Linear(), function * Linear(), Normalized(function)]
    for kernel in (function, Precomputed(), *made, RBF(), Matern(), RationalQuadratic()):
        assert kernel.rounding(arithmetic(rows(1), np.float32)) is None
    X = np.full((2, 5), 1000.0, dtype=np.float32)
    kernel = Normalized(Polynomial(2, coef0=-5e6 + 0.01))
    assert kernel.rounding(arithmetic(X, np.float32)) is None
    assert kernel.rounding(arithmetic(X, np.float64)) is None


def test_a_narrow_kernel_far_from_the_origin_is_certified() -> None:
    """Raw features give norms of 10⁷ and a Gram matrix that is nearly the identity."""
    X, y = load_breast_cancer(return_X_y=True)
    model = CGBoostClassifier(KernelLibrary({"narrow": RBF(0.1)})).fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(2.0 * np.count_nonzero(y == 0), rel=1e-6)


def near_rows(seed: int, scale: float, n_features: int, dtype: type) -> np.ndarray:
    """Rows, and each of them again a little shifted, by 1e-1 to 1e-15 of its size."""
    few = rows(seed, scale=scale, n_features=n_features).astype(np.float64)
    shifts = np.logspace(-1, -15, len(few))[:, None]
    return np.concatenate([few, few * (1 + shifts)]).astype(dtype)


def exactly(kernel: Matern, A: np.ndarray) -> np.ndarray:
    """Values in long double, from differences."""
    wide = A.astype(np.longdouble)
    return matern(kernel, np.sqrt(((wide[:, None] - wide[None]) ** 2).sum(axis=2)))


def as_priced(kernel: Kernel, A: np.ndarray) -> np.ndarray:
    """Values as a pricing pass makes them: from products and norms in the precision of the rows."""
    norms = squared_norms(A)
    return kernel.from_products(A @ A.T, norms, norms)


@settings(max_examples=examples(80))
@given(
    seed=st.integers(0, 10**6),
    nu=st.sampled_from([0.5, 1.5, 2.5]),
    gamma=st.sampled_from([1e-6, 0.05, 20.0]),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    n_features=st.sampled_from([1, 7, 300]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_rounding_is_bounded_where_rows_nearly_agree(
    seed: int, nu: float, gamma: float, scale: float, n_features: int, dtype: type
) -> None:
    """Values in either precision, made anew or not, are within their bounds of long double."""
    kernel, A = Matern(gamma, nu), near_rows(seed, scale, n_features, dtype)
    exact, rough = exactly(kernel, A), as_priced(kernel, A)
    refined = rough.copy()
    kernel.refine(refined, A, A)
    for values, is_refined in ((rough, False), (refined, True)):
        bound = kernel.rounding(replace(arithmetic(A, dtype), refined=is_refined))
        sizes = np.outer(bound.size, bound.size)
        assert np.all(exact <= sizes)
        assert np.all(np.abs(values - exact) <= bound.relative * sizes + 1e-38)


def test_a_root_near_zero_is_made_anew_in_float64() -> None:
    """With ν = 1/2 inner products lose half of the digits, and the bound of refined values few."""
    kernel, A = Matern(0.05, nu=0.5), near_rows(0, 1.0, 7, np.float64)
    exact, rough = exactly(kernel, A), as_priced(kernel, A)
    assert np.abs(rough - exact).max() > 1e-9
    assert np.abs(kernel(A, A) - exact).max() < 1e-12
    wide, narrow = (
        kernel.rounding(replace(arithmetic(A, np.float64), refined=is_refined)).relative
        for is_refined in (False, True)
    )
    assert narrow < 1e-10 < 1e-8 < wide
    normalised = Normalized(kernel)
    assert np.abs(normalised(A, A) - exact).max() < 1e-12
    assert normalised.rounding(replace(arithmetic(A, np.float64), refined=True)).relative < 1e-9
