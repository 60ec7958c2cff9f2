"""Matérn kernels: their formula, their width, and rounding where the root amplifies it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Matern as Reference

from cgboost import RBF, Matern
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, Normalized, squared_norms
from tests.effort import examples
from tests.kernels.conformance import arithmetic, check_kernel, rows

ORDERS = (0.5, 1.5, 2.5)
X = np.random.default_rng(0).normal(size=(12, 4))


def by_distance(kernel: Matern, distances: np.ndarray) -> np.ndarray:
    """Values from ‖x − z‖, in the precision of the distances."""
    a = np.sqrt(4 * kernel.nu * distances.dtype.type(kernel.gamma)) * distances
    factor = {0.5: 1.0, 1.5: 1 + a, 2.5: 1 + a + a**2 / 3}[kernel.nu]
    return factor * np.exp(-a)


@pytest.mark.parametrize("nu", ORDERS)
@pytest.mark.parametrize("gamma", [0.05, 20.0])
def test_it_conforms(nu: float, gamma: float) -> None:
    """Values, sums, rounding and prices agree with the formula."""
    kernel = Matern(gamma, nu)
    check_kernel(kernel, lambda A, B: by_distance(kernel, cdist(A, B)))


@pytest.mark.parametrize("nu", ORDERS)
def test_a_length_scale_is_that_of_scikit_learn(nu: float) -> None:
    """Matern(length_scale=l, nu=nu) is scikit-learn's Matern(l, nu=nu), fitted or not."""
    kernel, expected = Matern(length_scale=1.7, nu=nu), Reference(1.7, nu=nu)(X)
    np.testing.assert_allclose(kernel(X, X), expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(kernel.fit(X)(X, X), expected, rtol=1e-7, atol=1e-12)
    assert kernel.fit(X) == Matern(0.5 / 1.7**2, nu)


def test_gamma_is_that_of_the_gaussian_kernel() -> None:
    """With the same gamma values come nearer to RBF's as ν grows, and so does the default."""
    far = [np.abs(Matern(0.2, nu)(X, X) - RBF(0.2)(X, X)).max() for nu in ORDERS]
    assert far[0] > far[1] > far[2]
    assert Matern().fit(X).gamma == pytest.approx(RBF().fit(X).gamma)
    assert Matern(nu=0.5).fit(np.ones((3, 2))) == Matern(1.0, nu=0.5)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"nu": 1.0}, "nu must be 0.5, 1.5 or 2.5, got 1.0"),
        ({"gamma": -1.0}, "gamma must be a positive number or None, got -1.0"),
        ({"length_scale": 0.0}, "length_scale must be a positive number or None, got 0.0"),
        ({"gamma": 1.0, "length_scale": 1.0}, "give one of them"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, float], words: str) -> None:
    """Each error names the parameter and its value."""
    with pytest.raises(ValueError, match=words):
        Matern(**parameters)


def test_an_unfitted_width_is_an_error() -> None:
    """Without a width there are no values, and no bound on their rounding."""
    with pytest.raises(KernelError, match="no width yet"):
        Matern()(X, X)
    assert Matern().rounding(arithmetic(X, np.float64)) is None


def near_rows(seed: int, scale: float, n_features: int, dtype: type) -> np.ndarray:
    """Rows, and each of them again a little shifted, by 1e-1 to 1e-15 of its size."""
    few = rows(seed, scale=scale, n_features=n_features).astype(np.float64)
    shifts = np.logspace(-1, -15, len(few))[:, None]
    return np.concatenate([few, few * (1 + shifts)]).astype(dtype)


def exactly(kernel: Matern, A: np.ndarray) -> np.ndarray:
    """Values in long double, from differences."""
    wide = A.astype(np.longdouble)
    return by_distance(kernel, np.sqrt(((wide[:, None] - wide[None]) ** 2).sum(axis=2)))


def as_priced(kernel: Kernel, A: np.ndarray) -> np.ndarray:
    """Values as a pricing pass makes them: from products and norms in the precision of the rows."""
    norms = squared_norms(A)
    return kernel.from_products(A @ A.T, norms, norms)


CASES = given(
    seed=st.integers(0, 10**6),
    nu=st.sampled_from(ORDERS),
    gamma=st.sampled_from([1e-6, 0.05, 20.0]),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    n_features=st.sampled_from([1, 7, 300]),
    dtype=st.sampled_from([np.float32, np.float64]),
)


@settings(max_examples=examples(80))
@CASES
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
