"""The second-order model of a loss along a few directions."""

import numpy as np

from cgboost.losses.quadratic import Quadratic

RNG = np.random.default_rng(0)


def squares(B: np.ndarray, y: np.ndarray) -> Quadratic:
    """Half the sum of squares at 0."""
    return Quadratic(0.5 * float(y @ y), -(B.T @ y), B.T @ B, float(len(y)))


def test_of_parts_it_is_the_sum() -> None:
    """Rows may be anywhere."""
    B, y = RNG.normal(size=(30, 2)), RNG.normal(size=30)
    both, whole = squares(B[:10], y[:10]).merged(squares(B[10:], y[10:])), squares(B, y)
    for name, value in vars(whole).items():
        np.testing.assert_allclose(getattr(both, name), value, rtol=1e-12)


def test_by_other_variables() -> None:
    """The chain rule: columns are combined as the basis says."""
    B, y, basis = RNG.normal(size=(30, 2)), RNG.normal(size=30), RNG.normal(size=(2, 2))
    found, wanted = squares(B, y).along(basis), squares(B @ basis, y)
    np.testing.assert_allclose(found.gradient, wanted.gradient, rtol=1e-12)
    np.testing.assert_allclose(found.hessian, wanted.hessian, rtol=1e-12)
