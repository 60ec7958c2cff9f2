"""Values of several kernels from one product: those that each of them gives."""

import numpy as np
import pytest

from cgboost import RBF, Linear, Matern, Polynomial
from cgboost.kernels import Kernel, Normalized, rows
from cgboost.pricing.kernels.shared import SharedProducts

KERNELS: list[Kernel] = [
    RBF(0.1),
    RBF(3.0),
    Normalized(RBF(0.5)),
    Polynomial(3, coef0=1.0),
    Normalized(Linear()),
    Matern(0.2, nu=0.5),
]


@pytest.mark.parametrize("n_features", [1, 4])
@pytest.mark.parametrize("places", [None, np.array([8, 0, 3])])
def test_each_kernel_has_its_own_values(
    n_features: int, places: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all centres and for some, whatever was asked for before, a few rows at a time."""
    monkeypatch.setattr(rows, "PRODUCTS_AT_ONCE", 1)
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, n_features)), rng.normal(size=(9, n_features))
    for shared, centres in ((SharedProducts(X, Z), Z), (SharedProducts(X, X), X)):
        wanted = centres if places is None else centres[places]
        for kernel in [*KERNELS, *KERNELS[::-1]]:
            values = shared.values(kernel, places)
            np.testing.assert_allclose(values, kernel(X, wanted), rtol=1e-12, atol=1e-14)
