"""Normal equations of the interior point method: factors that keep their digits."""

import numpy as np
import pytest

from cgboost.masters.dual_solvers.normal_equations import _triangle


def test_a_factor_without_products_keeps_what_tells_columns_apart() -> None:
    """Columns that differ by 1e-10: the last diagonal is their difference, which AᵀA has lost."""
    rng = np.random.default_rng(5)
    A = 10.0 ** rng.uniform(-2.0, 2.0, 60)[:, None] * rng.normal(size=(60, 4))
    apart = A[:, 3].copy()
    A[:, 3] = A[:, 2] + 1e-10 * apart
    own = apart - A[:, :3] @ np.linalg.lstsq(A[:, :3], apart)[0]
    factor = _triangle(A)
    assert np.allclose(factor @ factor.T, A.T @ A, rtol=1e-12)
    assert abs(factor[3, 3]) == pytest.approx(1e-10 * np.linalg.norm(own), rel=1e-4)
