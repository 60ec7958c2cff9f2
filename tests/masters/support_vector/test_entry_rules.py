"""What an entry rule says of the bound is what the bound of its master rests on."""

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost.generation.protocols import Master, Priced
from cgboost.losses import hinge
from cgboost.masters import BudgetMaster, ConvexMaster, OneNormMaster, TwoNormMaster

LABELS = np.where(np.arange(12) % 3, 1.0, -1.0)
LOSS = hinge(LABELS, np.ones(12))


def convex(**declared: float) -> ConvexMaster:
    """Squared error with an elastic net, the 1-norm alone, or a budget."""

    def penalty(a: Any, b: Any) -> Any:
        curvature = declared.get("curvature", 0.0)
        return declared.get("threshold", 0.0) * cp.norm1(a) + 0.5 * curvature * cp.sum_squares(a)

    def constraints(a: Any, b: Any, f: Any) -> list[Any]:
        return [cp.norm1(a) <= declared["reach"]] if "reach" in declared else []

    def loss(f: Any) -> Any:
        return cp.sum_squares(f - LABELS)

    return ConvexMaster(loss, penalty, constraints, n_rows=12, **declared)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "master",
    [
        lambda: OneNormMaster(LOSS),
        lambda: TwoNormMaster(LOSS),
        lambda: TwoNormMaster(LOSS, coef="nonneg"),
        lambda: BudgetMaster(LOSS),
        lambda: convex(threshold=1.0),
        lambda: convex(threshold=1.0, curvature=1.0),
        lambda: convex(threshold=0.0, reach=2.0),
    ],
)
def test_the_bound_rests_on_what_the_rule_says(master: Callable[[], Master]) -> None:
    """Of sum and largest excess the one that the rule names moves the bound, and it alone."""
    made = master()
    state = made.solve()

    def bound(largest: float, total: float) -> float:
        priced = Priced(columns=(), exact=True, max_excess=largest, total_excess=total)
        value = made.bound(state, priced)
        assert value is not None
        return value

    least = bound(0.1, 0.1)
    assert state.rule.additive == (bound(0.1, 0.9) < least - 1e-6)
    assert state.rule.additive != (bound(0.9, 0.1) < least - 1e-6)
