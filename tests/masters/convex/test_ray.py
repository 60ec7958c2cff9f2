"""What the bound of `ConvexMaster` takes off along the ray of a pseudo-response, term by term."""

from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost.generation.protocols import Priced
from cgboost.losses import Huber
from cgboost.masters.convex import convex_master as module
from cgboost.masters.convex.convex_master import (
    FEASIBILITY,
    OUTPUT_FACTOR,
    BudgetEntry,
    ConvexMaster,
)


def ray(u: float, priced: Priced, *, curvature: float = 0.0, reach: float | None = None) -> Any:
    """The expression of a master with these constants, at a gap scale of 2 and a cut of 0.25."""
    own: Any = SimpleNamespace(_cp=cp, _curvature=curvature, _reach=reach)
    entry = BudgetEntry(two_sided=True, largest=1.0, cut=0.25, budget=8.0, scale=2.0)
    state: Any = SimpleNamespace(gap_scale=2.0, entry=entry)
    return ConvexMaster._ray(own, cp.Constant(u), priced, state)


def test_columns_that_are_left_out_make_the_bound_lower() -> None:
    """A budget of 8 loses the largest excess, and what columns below the cut may be worth."""
    priced = Priced((), max_excess=0.5)
    assert ray(10.0, priced, reach=8.0).value == pytest.approx(10.0 - 0.5 * 2.0 - 8.0 * 0.25)
    assert ray(1.0, priced, reach=8.0).value == 0.0


def test_scores_up_to_the_feasibility_are_allowed_for() -> None:
    """With a threshold the ray is shortened by the largest excess and what pricing lets pass."""
    value = ray(3.0, Priced((), max_excess=0.5)).value
    assert value == pytest.approx(3.0 / (1.5 + FEASIBILITY), rel=1e-15)
    assert value < 3.0 / 1.5


def test_a_conjugate_that_is_next_to_nothing_is_still_taken_off() -> None:
    """Up to 1e-12 of the scale t = 1 will do, less the conjugate; beyond, t is weighed."""
    tiny = ray(5e-13, Priced((), total_excess=1e-13), curvature=1.0)
    assert tiny.variables() == []
    assert tiny.value == pytest.approx(3e-13, rel=1e-9, abs=0.0)
    assert len(ray(1.0, Priced((), total_excess=1e-3), curvature=1.0).variables()) == 1


def test_the_size_of_models_that_the_bound_is_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds of models far larger than the present one: the factor, and its largest value."""
    asked: list[tuple[float, float]] = []
    monkeypatch.setattr(
        module, "lower_bound", lambda problem, factor, size: asked.append((factor, size)) or 0.0
    )
    own = ConvexMaster(Huber().on(np.array([3.0, -40.0]), np.ones(2)), n_rows=2)
    state = own.solve()
    own.bound(state, Priced((), exact=True, max_excess=0.0, total_excess=0.0))
    present = [*np.abs(state.output), abs(state.intercept), abs(state.objective), 1.0]
    assert asked == [(OUTPUT_FACTOR, pytest.approx(max(present)))]
    assert OUTPUT_FACTOR > 1.0
