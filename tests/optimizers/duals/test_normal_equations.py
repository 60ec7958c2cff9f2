"""Normal equations of the interior point method: factors that keep their digits."""

from typing import Any

import numpy as np
import pytest

from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.optimizers.interior_point import normal_equations
from cgboost.optimizers.interior_point.normal_equations import _triangle
from cgboost.parallel.blas import available, blas_threads
from tests.problems import columns_of


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


@pytest.mark.parametrize(("n_columns", "threads"), [(20, 1), (450, 2)])
def test_only_a_large_product_runs_on_more_than_one_thread(
    monkeypatch: pytest.MonkeyPatch, n_columns: int, threads: int
) -> None:
    """Of two threads both make a large product, and one makes all factors and small products."""
    used: dict[str, set[int]] = {"dsyrk": set(), "dpotrf": set(), "dpotrs": set()}

    def noting(name: str) -> Any:
        original = getattr(normal_equations, name)

        def noted(*arguments: Any, **named: Any) -> Any:
            used[name].add(available())
            return original(*arguments, **named)

        return noted

    for name in used:
        monkeypatch.setattr(normal_equations, name, noting(name))
    H = np.random.default_rng(0).normal(size=(3000, n_columns))
    master = OneNormMaster(hinge(np.where(H[:, 0] > 0, 1.0, -1.0), np.ones(3000)))
    master.accuracy = 0.1
    master.add(columns_of(H))
    with blas_threads(2):
        master.solve()
    assert used == {"dsyrk": {threads}, "dpotrf": {1}, "dpotrs": {1}}
