"""Termination of column generation: what a search has shown, and who is to blame for a failure."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Vector
from cgboost.exceptions import BoundError, CGBoostError
from cgboost.generation.columns import Column, least_of
from cgboost.generation.history import Result, Round, StopReason
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.rounding import FEW_ROUNDINGS, rounding_in_words, rounding_of
from cgboost.tolerances import LARGE_ENTRY, LP_FEASIBILITY

WORTH_REPORTING = 1e-9
"""Nor is an excess reported up to this, relative to what gaps are relative to: duals of linear
programs are no more exact, and no tolerance is as small."""

ROWS_NAMED = 5
"""Rows that are not met and that a message names."""


class RunError(Exception):
    """Carries an error of the master or the pricer to where the run ends."""

    def __init__(self, reason: StopReason, error: Exception) -> None:
        super().__init__(str(error))
        self.reason = reason
        self.error = error


@contextmanager
def blaming(reason: StopReason) -> Iterator[None]:
    """Whatever is raised inside ends the run for this reason (but not Ctrl-C)."""
    try:
        yield
    except BoundError as error:
        raise RunError(StopReason.INVALID_BOUND, error) from error
    except Exception as error:
        raise RunError(reason, error) from error


def described(error: Exception) -> str:
    """An error in words, with its type where that is not one of ours."""
    name, words = type(error).__name__, str(error)
    if not words:
        return name
    return words if isinstance(error, CGBoostError) else f"{name}: {words}"


def check_bound(bound: float, state: MasterState) -> None:
    """Raise a BoundError unless a bound is a number and, up to rounding, not above the objective.

    Bounds only rise and objectives only fall: a bound of any round must be below those of all.
    """
    objective = state.objective
    plausible = not np.isnan(bound)
    if not np.isinf(objective) and not bound <= objective + LP_FEASIBILITY * state.gap_scale:
        plausible = bound <= objective + FEW_ROUNDINGS * rounding_of(state)
    if not plausible:
        raise BoundError(
            f"lower bound {bound:.12g} above the objective {objective:.12g}: the pricer overlooks "
            "columns, or its bound on the reduced costs, or what the master was told, is wrong"
        )


def shortfall(current: Round) -> str:
    """Which rows an infeasible master misses, and by how much."""
    slack = current.state.slack
    names = range(len(slack)) if current.state.rows is None else current.state.rows
    proof = ""
    if np.isfinite(current.bound):
        proof = f"; any solution costs at least {current.bound:.3g}"
    return f"no column helps to meet the rows {rows_missed(names, slack)}{proof}"


def rows_missed(names: Sequence[Hashable], amounts: Vector) -> str:
    """The first rows that are not met, and by which amounts; the number of the others."""
    missed = np.flatnonzero(amounts > 0)
    words = [f"{_named(names[i])} (by {amounts[i]:.3g})" for i in missed[:ROWS_NAMED]]
    more = f" and {len(missed) - ROWS_NAMED} more" if len(missed) > ROWS_NAMED else ""
    return f"{', '.join(words)}{more}"


def _named(row: Hashable) -> str:
    """The name of a row, in quotes where it is a number, too."""
    return repr(row) if isinstance(row, (str, tuple)) else f"'{row}'"


ON_REQUEST = (
    StopReason.MAX_COLUMNS,
    StopReason.COLUMN_LIMIT,
    StopReason.MAX_ROUNDS,
    StopReason.CALLBACK,
    StopReason.EARLY_STOPPING,
)
"""Reasons after which there is still time to certify the last round."""

MAY_GO_ON = (
    *ON_REQUEST,
    StopReason.TIME,
    StopReason.INTERRUPTED,
    StopReason.MASTER_FAILED,
    StopReason.PRICER_FAILED,
)
"""Reasons after which a run can be resumed, with other limits or once a fault is mended."""

AT_UPPER = 1e-9
"""A coefficient this close to its upper bound, relative to it, is at the bound. A vertex puts it
there up to rounding; only the words of a message depend on it."""

Stop = tuple[StopReason, str]
"""Why, and the same in words."""


@dataclass(frozen=True)
class RunLimits:
    """How far a run may go; None: as far as it likes."""

    max_columns: int | None = None
    max_rounds: int | None = None
    time_limit: float | None = None
    columns_reason: StopReason = StopReason.MAX_COLUMNS

    def reached(self, current: Round) -> Stop | None:
        """The first limit that the run has reached with this round."""
        if self.max_columns is not None and current.columns >= self.max_columns:
            return self.columns_reason, f"{current.columns} columns"
        if self.max_rounds is not None and current.number + 1 >= self.max_rounds:
            return StopReason.MAX_ROUNDS, f"{self.max_rounds} rounds"
        if self.time_limit is not None and current.seconds >= self.time_limit:
            return StopReason.TIME, "the time limit was reached"
        return None

    def last(self, columns: int, rounds: int) -> bool:
        """Whether the round after so many will be the last, though it may find more columns."""
        full = self.max_columns is not None and columns >= self.max_columns
        return full or (self.max_rounds is not None and rounds + 1 >= self.max_rounds)

    def room(self, columns: int, wanted: int) -> int:
        """How many of the ``wanted`` columns there is room for, at least one."""
        return (
            wanted if self.max_columns is None else max(1, min(wanted, self.max_columns - columns))
        )


FLAT_ROUNDS = 100
"""So many rounds, and as many as there are rows, without progress show that there will be none. A
degenerate problem may be flat for long: its duals move from vertex to vertex, of which one round in
each dimension is a long way; 18 rounds are the longest way of any example here."""


def no_progress(current: Round, flat: int) -> Stop | None:
    """The end of a run whose objective and bound have not moved for so many rounds."""
    if flat < max(FLAT_ROUNDS, len(current.state.pseudo_response)):
        return None
    return StopReason.STALLED, (
        f"neither the objective {current.objective:.8g} nor the bound {current.bound:.8g} has "
        f"moved for {flat} rounds, though columns price out: the answers of the restricted master "
        f"have too few digits{_digits(current)}"
    )


def conclusion(current: Round, priced: Priced, fresh: Sequence[Column], tol: float) -> Stop | None:
    """What the search has shown; None where there is something to go on with.

    That is ``fresh`` columns, or a restricted problem that can be solved better.
    """
    if not current.state.bounded:
        return StopReason.UNBOUNDED, "the objective falls without end; the model is far down"
    nothing_found = priced.exact and not priced.columns
    if nothing_found and priced.exhausted:
        return StopReason.EXHAUSTED, "the columns span all that the data can make"
    if current.gap <= tol:
        if nothing_found:
            return StopReason.OPTIMAL, "no column prices out"
        return StopReason.GAP, f"relative duality gap {current.gap:.1e} ≤ {tol:g}"
    if not (fresh or current.state.solved):
        return None
    if nothing_found:
        if current.objective == np.inf:
            if _may_help(current, priced) or (priced.without_costs and current.bound < np.inf):
                return StopReason.NO_COLUMN, _missing(priced)
            return StopReason.INFEASIBLE, shortfall(current)
        return StopReason.STALLED, _open_gap(current, tol)
    if not priced.columns:
        return StopReason.NO_COLUMN, "the pricer found no column; it is not exact"
    if not fresh and current.objective == np.inf and _by_costs_alone(current, priced):
        return StopReason.INFEASIBLE, shortfall(current)
    if not fresh:
        return StopReason.ONLY_DUPLICATES, _repetition(current, priced.columns)
    return None


HELPS = 1e-3
"""A column that helps to meet the rows of an infeasible master has a reduced cost below minus this
share of the largest dual. Pricers round weights to whole numbers, with errors of 1e-4."""


def _may_help(current: Round, priced: Priced) -> bool:
    """Whether a bound says that a column may help to meet the rows, though none was returned."""
    costs = [abs(column.cost) for column in current.state.columns]
    largest = float(np.abs(current.state.pseudo_response).max(initial=0.0))
    return least_of(priced.reduced_cost) < -max(costs, default=0.0) - HELPS * largest


def _missing(priced: Priced) -> str:
    return (
        "the pricer returned no new column, but its bound says that there may be one of reduced "
        f"cost {least_of(priced.reduced_cost):.3g}, which would help to meet the rows"
    )


def _by_costs_alone(current: Round, priced: Priced) -> bool:
    """Whether columns price out by negative costs, and none because it helps to meet the rows.

    The duals of an infeasible master, multiplied by a large number, stand for the rows alone: a
    column that it has and does not need still has the reduced cost c.
    """
    costs = [abs(column.cost) for column in current.state.columns]
    least = least_of(priced.reduced_cost) if priced.exact else -np.inf
    return bool(least >= -max(costs, default=0.0) - LP_FEASIBILITY)


def _open_gap(current: Round, tol: float) -> str:
    """Why nothing may be left to find and the gap stay open all the same."""
    if np.isnan(current.bound):
        return "no column prices out, but the master gives no bound that would prove optimality"
    return (
        f"no column prices out, but the certified gap {current.gap:.1e} exceeds tol={tol:g}: "
        "either the master's bound is not tight at its optimum, or the duals of the restricted "
        f"master are too inaccurate (then {_cure(current.state.columns)}){_digits(current)}"
    )


def _cure(columns: Sequence[Column]) -> str:
    """What may make duals more exact: scales are to blame only where columns have an odd one."""
    largest = max((float(np.abs(c.values).max(initial=0.0)) for c in columns), default=0.0)
    if not largest or 1.0 / LARGE_ENTRY <= largest <= LARGE_ENTRY:
        return "use a more exact solver, or allow a larger tol"
    return (
        "scale the features or normalise the kernels, for the largest value of a column is "
        f"{largest:.3g}, or use a more exact solver"
    )


def _digits(current: Round) -> str:
    return rounding_in_words(current.state, current.gap)


def crossing(result: Result) -> str:
    """By how much a bound exceeds the objective, where that is more than rounding explains."""
    if result.bound is None or not np.isfinite(result.objective):
        return ""
    excess = (result.bound - result.objective) / result.scale
    rounding = float(np.nan_to_num(result.rounding, nan=0.0))
    if excess <= max(WORTH_REPORTING, FEW_ROUNDINGS * rounding):
        return ""
    return (
        f"; the lower bound exceeds the objective by {excess:.0e}, relative to what gaps are "
        f"relative to, and rounding explains about {rounding:.0e}: no smaller gap is proven"
    )


def _repetition(current: Round, offered: Sequence[Column]) -> str:
    """Which columns of the master a pricer offers again."""
    held = {
        column.key: x for column, x in zip(current.state.columns, current.state.coef, strict=True)
    }
    if all(held[column.key] >= column.upper * (1 - AT_UPPER) for column in offered):
        return (
            "only columns at their upper bounds price out; to prove optimality, or to find "
            "others, the pricer must leave such columns out of its search (duals.capped)"
        )
    return "only columns already in the master price out"
