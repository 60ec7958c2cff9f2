"""Limits, and what is said where nothing is proven."""

from __future__ import annotations

import numpy as np
import pytest

from cgboost.columns import Column
from cgboost.history import StopReason, relative_gap
from cgboost.protocols import MasterState, Priced
from tests.loop_mocks import CountingMaster, Supply, run


def test_an_open_gap_blames_the_bound_or_the_duals_or_names_the_missing_bound() -> None:
    """Both causes of an open gap are named; without any bound the message says just that."""
    open_gap = run(CountingMaster(bound=1.0), Supply(3))
    assert "bound is not tight" in open_gap.message
    unbounded = run(CountingMaster(), Supply(3))
    assert unbounded.stop_reason is StopReason.STALLED
    assert "gives no bound" in unbounded.message
    assert "inaccurate" not in unbounded.message


def test_stops_at_max_rounds_exactly_and_keeps_the_bound() -> None:
    """So many rounds are run, the first included; the last one's bound and columns are kept."""
    result = run(CountingMaster(bound=2.0), max_rounds=4)
    assert result.stop_reason is StopReason.MAX_ROUNDS
    assert result.n_rounds == len(result.history["round"]) == 4
    assert len(result.coef) == 3
    assert result.bound == 2.0
    assert result.gap == relative_gap(7.0, 2.0)
    assert run(max_rounds=1).n_rounds == 1


def test_max_rounds_gives_way_to_a_proof_and_is_certified() -> None:
    """Optimality in the last round is optimality; a partial search is completed at the limit."""
    assert run(CountingMaster(bound=7.0), Supply(3), max_rounds=4).stop_reason == "optimal"

    class Partial(Supply):
        def price(self, state: MasterState, limit: int) -> Priced:
            self.exact = limit == 0
            return super().price(state, limit)

    assert run(CountingMaster(bound=2.0), Partial(), max_rounds=3).bound == 2.0


def test_max_rounds_must_be_positive() -> None:
    """No round at all is refused with the value."""
    with pytest.raises(ValueError, match="max_rounds must be a whole number ≥ 1, got 0"):
        run(max_rounds=0)


class Capped:
    """Offers one column, of upper bound 1, again and again."""

    def price(self, state: MasterState, limit: int) -> Priced:
        return Priced([Column(np.zeros(2), "a", upper=1.0)], exact=True)


def test_a_column_at_its_upper_bound_does_not_hide_a_closed_gap() -> None:
    """The bound certifies although the pricer still offers what cannot help."""
    result = run(CountingMaster(bound=9.0), Capped())
    assert result.stop_reason is StopReason.GAP
    assert result.objective == result.bound == 9.0


def test_a_column_at_its_upper_bound_with_an_open_gap_is_explained() -> None:
    """Nothing is proven, and the message says what the pricer would have to do."""
    result = run(CountingMaster(bound=1.0), Capped())
    assert result.stop_reason is StopReason.ONLY_DUPLICATES
    assert "duals.capped" in result.message
