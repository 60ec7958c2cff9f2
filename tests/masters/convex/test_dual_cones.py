"""Dual cones: what is raised lies in them, and what lies in them stays."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.exceptions import MasterError
from cgboost.masters.convex.bound import ConeSizes

ROOT = np.sqrt(2.0)


def in_second_order(z: np.ndarray) -> bool:
    """‖(z_1, …)‖ ≤ z_0."""
    first, *others = map(Decimal, z.tolist())
    return first >= 0 and sum(x * x for x in others) <= first * first


def in_semidefinite(z: np.ndarray) -> bool:
    """No negative eigenvalue of the matrix whose upper triangle z holds by columns."""
    matrix = np.array([[z[0], z[1] / ROOT, z[3] / ROOT], [0, z[2], z[4] / ROOT], [0, 0, z[5]]])
    whole = matrix + np.triu(matrix, 1).T
    return bool(np.linalg.eigvalsh(whole)[0] >= -1e-15 * np.abs(whole).max())


def in_exponential(z: np.ndarray) -> bool:
    """−u·exp(v/u − 1) ≤ w."""
    u, v, w = map(Decimal, z.tolist())
    if u == 0:
        return v >= 0 and w >= 0
    return u < 0 and -u * (v / u - 1).exp() <= w


def in_power(z: np.ndarray) -> bool:
    """(u/α)^α·(v/(1 − α))^(1 − α) ≥ |w| for α = 0.3."""
    u, v, w = map(Decimal, z.tolist())
    if u <= 0 or v <= 0:
        return u >= 0 and v >= 0 and w == 0
    alpha = Decimal.from_float(0.3)
    return (u / alpha) ** alpha * (v / (1 - alpha)) ** (1 - alpha) >= abs(w)


PARTS: list[tuple[ConeSizes, int, Callable[[np.ndarray], bool]]] = [
    (ConeSizes(0, 3), 3, lambda z: bool((z >= 0).all())),
    (ConeSizes(0, 0, soc=[4]), 4, in_second_order),
    (ConeSizes(0, 0, psd=[3]), 6, in_semidefinite),
    (ConeSizes(0, 0, exp=1), 3, in_exponential),
    (ConeSizes(0, 0, p3d=[0.3]), 3, in_power),
]


@pytest.mark.parametrize(("cones", "size", "inside"), PARTS)
@given(seed=st.integers(0, 2**32 - 1), digits=st.integers(-6, 2))
@settings(deadline=None)
def test_a_raised_dual_lies_in_its_cone(
    cones: ConeSizes, size: int, inside: Callable[[np.ndarray], bool], seed: int, digits: int
) -> None:
    """To 50 digits; and raising it again changes it by rounding at most."""
    z = np.random.default_rng(seed).normal(size=size) * np.array(
        [10.0**digits] + [1.0] * (size - 1)
    )
    raised = cones.raised(z)
    with localcontext() as context:
        context.prec = 50
        if np.isfinite(raised).all():  # exp overflows: no bound, but no wrong one
            assert inside(raised)
            atol = 1e-12 * float(np.abs(raised).max())
            np.testing.assert_allclose(cones.raised(raised), raised, rtol=0, atol=atol)


def test_the_parts_follow_each_other_in_the_order_of_cvxpy() -> None:
    """Equations stay; every other part is raised by its own rule, where it lies."""
    cones = ConeSizes(1, 1, soc=[3], psd=[3], exp=1, p3d=[0.3])
    z = np.concatenate([[-5.0, -1.0], [0.0, 3, 4], [0.0] * 6, [-1.0, 0, 0], [1.0, 1, 9]])
    z[5 + 1] = ROOT
    raised = cones.raised(z)
    assert raised[:2].tolist() == [-5.0, 0.0]
    for part, inside in zip(
        cones.parts(), (in_second_order, in_semidefinite, in_exponential, in_power), strict=True
    ):
        assert inside(raised[part])
        assert not inside(z[part])


def test_a_cone_without_a_rule_is_refused() -> None:
    """Power cones of more dimensions have no bound, rather than a wrong one."""
    dims = SimpleNamespace(zero=0, nonneg=0, soc=[], psd=[], exp=0, p3d=[], pnd=[[0.2, 0.8]])
    with pytest.raises(MasterError, match="no bound for power cones"):
        ConeSizes.of_cvxpy(dims)


@pytest.mark.parametrize("largest", [1.0, 1e3])
def test_a_raised_matrix_is_inside_by_its_rounding(largest: float) -> None:
    """Its least eigenvalue is above 0 by what roundings of the largest one may hide."""
    z = ConeSizes(0, 0, psd=[3]).raised(np.array([-1.0, 0.0, largest, 0.0, 0.0, 0.5 * largest]))
    least = float(np.linalg.eigvalsh(np.diag(z[[0, 2, 5]]))[0])
    assert 0.5 * 3e-14 * largest <= least <= 2.0 * 3e-14 * (1.0 + largest)
