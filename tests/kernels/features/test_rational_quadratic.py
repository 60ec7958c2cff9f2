"""Rational quadratic kernels: their formula, their width, their limit."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RationalQuadratic as Reference

from cgboost import RBF, RationalQuadratic
from cgboost.exceptions import KernelError
from tests.kernels.conformance import arithmetic, check_kernel

X = np.random.default_rng(0).normal(size=(12, 4))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 50.0])
@pytest.mark.parametrize("length_scale", [0.2, 3.0])
def test_it_conforms(length_scale: float, alpha: float) -> None:
    """Values, sums, rounding and prices agree with the formula."""
    rate = 1.0 / (2.0 * alpha * length_scale**2)
    check_kernel(
        RationalQuadratic(length_scale, alpha),
        lambda A, B: (1.0 + rate * cdist(A, B, "sqeuclidean")) ** -alpha,
    )


def test_values_are_those_of_scikit_learn() -> None:
    """RationalQuadratic(l, a) is scikit-learn's kernel of that name."""
    expected = Reference(length_scale=1.7, alpha=0.6)(X)
    np.testing.assert_allclose(RationalQuadratic(1.7, 0.6)(X, X), expected, rtol=1e-10)


def test_its_width_is_that_of_the_gaussian_kernel() -> None:
    """Without a length scale it takes the width of RBF(), which it becomes for large alpha."""
    kernel, gaussian = RationalQuadratic(alpha=1e7).fit(X), RBF().fit(X)
    assert 0.5 / kernel.length_scale**2 == pytest.approx(gaussian.gamma)
    np.testing.assert_allclose(kernel(X, X), gaussian(X, X), atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"length_scale": -1.0}, "length_scale must be a positive number or None, got -1.0"),
        ({"alpha": 0.0}, "alpha must be a positive number, got 0.0"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, float], words: str) -> None:
    """Each error names the parameter and its value; without a width there are no values."""
    with pytest.raises(ValueError, match=words):
        RationalQuadratic(**parameters)
    with pytest.raises(KernelError, match="no width yet"):
        RationalQuadratic()(X, X)
    assert RationalQuadratic().rounding(arithmetic(X, np.float64)) is None
