"""Limits, and what is said where nothing is proven."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason, Trace, relative_gap
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.termination import FLAT_ROUNDS, conclusion
from tests.generation.loop_mocks import CountingMaster, Partial, Supply, run


def test_an_open_gap_blames_the_bound_or_the_duals_or_names_the_missing_bound() -> None:
    """Both causes of an open gap are named; without any bound the message says just that."""
    open_gap = run(CountingMaster(bound=1.0), Supply(3))
    assert "bound is not tight" in open_gap.message
    assert "use a more exact solver, or allow a larger tol" in open_gap.message
    unbounded = run(CountingMaster(), Supply(3))
    assert unbounded.stop_reason is StopReason.STALLED
    assert "gives no bound" in unbounded.message
    assert "inaccurate" not in unbounded.message


@pytest.mark.parametrize("size", [1e-4, 1.0, 2e5])
def test_scales_are_blamed_only_where_columns_have_an_odd_one(size: float) -> None:
    """Of values of 1, as of stumps, there is nothing to scale."""
    master = CountingMaster(bound=1.0)
    master.add([Column(np.array([size, 0.0]), "a")])
    message = run(master, Supply(0)).message
    assert ("the largest value of a column is" in message) == (size != 1.0)


class FlatMaster(CountingMaster):
    """Its objective and bound stay where they are; or the objective falls every so many rounds."""

    def __init__(self, falls_every: int | None = None) -> None:
        super().__init__(bound=1.0)
        self.falls_every = falls_every

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        state = super().solve(time_limit=time_limit)
        falls = 0 if self.falls_every is None else len(self.columns) // self.falls_every
        return replace(state, objective=10.0 - falls)


def test_a_run_without_progress_ends_and_says_what_was_reached() -> None:
    """A hundred rounds in which neither objective nor bound moves are enough."""
    result = run(FlatMaster(), Supply(1000))
    assert result.stop_reason is StopReason.STALLED
    assert result.n_rounds == FLAT_ROUNDS + 1
    assert "objective 10" in result.message
    assert "bound 1" in result.message


def test_a_run_that_is_flat_for_long_but_moves_goes_on() -> None:
    """Progress every ninety rounds is progress, as in a degenerate linear program."""
    result = run(FlatMaster(falls_every=90), Supply(500))
    assert result.n_rounds == 501
    assert "no column prices out" in result.message


def test_a_stalled_run_of_huge_columns_says_how_many_digits_are_lost() -> None:
    """The message has the size of the entries and what float64 leaves of their scores."""
    state = replace(
        CountingMaster().solve(),
        columns=(Column(np.array([1e13, -1e13]), "huge"),),
        coef=np.zeros(1),
        pseudo_response=np.array([1.0, 1.0]),
    )
    trace = Trace(1e-4)
    current = trace.record(state, Priced([]), 1.0, (0.0, 0.0))
    stop = conclusion(current, Priced([], exact=True, max_excess=0.0, total_excess=0.0), [], 1e-4)
    assert stop is not None
    assert stop[0] is StopReason.STALLED
    assert "entries up to 1e+13" in stop[1]


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


class Falling(CountingMaster):
    """Its objective falls without end once it has so many columns."""

    def __init__(self, count: int, **options: Any) -> None:
        super().__init__(**options)
        self._enough = count

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        state = super().solve(time_limit=time_limit)
        return replace(state, bounded=len(self.columns) < self._enough)


@pytest.mark.parametrize("bound", [None, 1.0])
def test_a_master_without_a_minimum_ends_the_run(bound: float | None) -> None:
    """The run stops there and says so, whatever the pricer still offers."""
    result = run(Falling(3, bound=bound))
    assert result.stop_reason is StopReason.UNBOUNDED
    assert len(result.coef) == 3
    assert "falls without end" in result.message


def test_the_last_round_too_may_be_without_a_minimum() -> None:
    """At the limit, where a master that proves nothing is not priced, the reason is the same."""
    master = Falling(3)
    master.proves = False  # type: ignore[attr-defined]
    pricer = Supply()
    assert run(master, pricer, max_columns=3).stop_reason is StopReason.UNBOUNDED
    assert len(pricer.limits) == 3


class Spent(Supply):
    """Knows that there are no other columns."""

    def price(self, state: MasterState, limit: int) -> Priced:
        priced = super().price(state, limit)
        return replace(priced, exhausted=not priced.columns)


@pytest.mark.parametrize(("bound", "exact"), [(None, True), (1.0, True), (None, False)])
def test_a_pricer_without_further_columns_has_exhausted_them(
    bound: float | None, exact: bool
) -> None:
    """Said by an exact search it ends the run as exhausted, whatever the gap."""
    result = run(CountingMaster(bound=bound), Spent(2, exact=exact))
    assert result.stop_reason is (StopReason.EXHAUSTED if exact else StopReason.NO_COLUMN)
    assert len(result.coef) == 2
