"""Weighted sums without kernel values are the sums of the values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cgboost.kernels.expansions
from cgboost import RBF, Linear, Polynomial
from cgboost.kernels import Kernel, Normalized
from cgboost.kernels.expansions import weighted_moment, weighted_sum
from tests.kernels.formulas import EXPANDING, by_formula

RNG = np.random.default_rng(0)
CENTRES, WEIGHTS = RNG.normal(size=(60, 4)), RNG.normal(size=60)
X = RNG.normal(size=(30, 4))
CENTRES[5], X[7] = 0.0, 0.0


def explicit(kernel: Kernel, X: np.ndarray, Z: np.ndarray, weights: np.ndarray) -> tuple:
    """Σ_j w_j k(x, z_j) by its formula, and the largest Σ_j |w_j k(x, z_j)|, what rounds."""
    values = by_formula(kernel, X, Z)
    return values @ weights, (np.abs(values) @ np.abs(weights)).max(initial=1.0)


@given(kernel=EXPANDING, seed=st.integers(0, 10**6))
def test_an_expansion_is_the_sum_of_the_values(kernel: Kernel, seed: int) -> None:
    """Sums and normalisations of linear and quadratic kernels, nested, with rows of zeros."""
    rng = np.random.default_rng(seed)
    rows, centres, weights = rng.normal(size=(9, 3)), rng.normal(size=(40, 3)), rng.normal(size=40)
    rows[4], centres[2] = 0.0, 0.0
    expected, size = explicit(kernel, rows, centres, weights)
    assert math.isfinite(kernel.expansion_cost(40, 3, 9))
    values = kernel.expanded(centres, weights)(rows)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("block", [1, 7, 1024])
@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(2, coef0=1.0), Normalized(Linear() + Polynomial(2))], ids=str
)
def test_blocks_do_not_change_an_expansion(
    kernel: Kernel, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be made and evaluated a few rows at a time."""
    monkeypatch.setattr(cgboost.kernels.expansions, "ROWS_AT_ONCE", block)
    expected, size = explicit(kernel, X, CENTRES, WEIGHTS)
    values = kernel.expanded(CENTRES, WEIGHTS)(X)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(2), Polynomial(2, coef0=1.0), Normalized(Polynomial(2))],
    ids=str,
)
@pytest.mark.parametrize("precisions", [("f4", "f4"), ("f8", "f4"), ("f4", "f8")])
def test_expansions_in_single_precision(kernel: Kernel, precisions: tuple[str, str]) -> None:
    """Whatever the precisions of rows and centres, the result is float64 and as good as single."""
    rows, centres = X.astype(precisions[0]), CENTRES.astype(precisions[1])
    expected, size = explicit(kernel, rows, centres, WEIGHTS)
    values = kernel.expanded(centres, WEIGHTS)(rows)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5 * size)


def test_sums_and_moments_keep_single_precision() -> None:
    """What is kept of single precision centres is in single precision."""
    single = CENTRES.astype(np.float32)
    assert weighted_sum(single, WEIGHTS).dtype == np.float32
    assert weighted_moment(single, WEIGHTS).dtype == np.float32
    np.testing.assert_allclose(
        weighted_moment(CENTRES, WEIGHTS), (CENTRES.T * WEIGHTS) @ CENTRES, atol=1e-12
    )


@pytest.mark.parametrize(
    ("kernel", "n_centres", "n_features", "n_rows", "pays"),
    [
        (Linear(), 100, 50, None, True),
        (Linear(), 1, 50, 1, False),
        (Polynomial(1, coef0=1.0), 100, 50, None, True),
        (Polynomial(2), 100, 50, None, True),
        (Polynomial(2), 100, 50, 10**6, True),
        (Polynomial(2), 100, 50, 1, False),
        (Polynomial(2), 40, 50, 10**6, False),
        (Polynomial(3), 10**4, 5, 10**6, False),
        (RBF(1.0), 10**4, 5, 10**6, False),
        (Normalized(Polynomial(2)), 100, 50, None, True),
        (Linear() + Polynomial(2), 100, 50, None, True),
        (Linear() + RBF(1.0), 100, 50, None, False),
        (Normalized(RBF(1.0)), 100, 50, None, False),
    ],
    ids=str,
)
def test_an_expansion_is_made_where_it_pays(
    kernel: Kernel, n_centres: int, n_features: int, n_rows: int | None, pays: bool
) -> None:
    """More centres than features and more rows than a few; never for kernels without one."""
    expansion = kernel.expansion(np.ones((n_centres, n_features)), np.ones(n_centres), n_rows)
    assert (expansion is not None) == pays
