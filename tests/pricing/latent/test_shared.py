"""Latent factors that several outputs share."""

import numpy as np
import pytest

from cgboost import RBF
from cgboost.pricing.latent import KernelSpace, LinearSpace

RNG = np.random.default_rng(0)
X, U, WEIGHTS = RNG.normal(size=(30, 5)), RNG.normal(size=(30, 3)), RNG.uniform(0.2, 2.0, 30)


@pytest.mark.parametrize("kernel", [None, RBF(0.2)])
def test_products_are_those_of_centred_rows(kernel: RBF | None) -> None:
    """UᵀX̃X̃ᵀU with the weighted means taken out, of features and of a kernel."""
    shares = WEIGHTS / WEIGHTS.sum()
    if kernel is None:
        centred = X - shares @ X
        found, gram = LinearSpace(X, WEIGHTS).products(U), centred @ centred.T
    else:
        out = np.eye(30) - np.outer(np.ones(30), shares)
        found = KernelSpace(X, kernel, WEIGHTS, name="k").products(U)
        gram = out @ kernel(X, X) @ out.T
    np.testing.assert_allclose(found, U.T @ gram @ U, atol=1e-10)
