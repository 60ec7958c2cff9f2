"""How a run of the loop fails: who is to blame, and what there is to say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from cgboost.exceptions import BoundError, CGBoostError, see
from cgboost.generation.history import Round, StopReason
from cgboost.generation.protocols import MasterState
from cgboost.tolerances import LP_FEASIBILITY

ROWS_NAMED = 5
"""Rows that the message of an infeasible run names."""


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
    if not np.isinf(objective):
        plausible = plausible and bound <= objective + LP_FEASIBILITY * state.gap_scale
    if not plausible:
        raise BoundError(
            f"lower bound {bound:.12g} above the objective {objective:.12g}: the pricer overlooks "
            "columns, or its bound on the reduced costs, or what the master was told, is wrong"
            f"{see('bounds')}"
        )


def shortfall(turn: Round) -> str:
    """Which rows an infeasible master misses, and by how much."""
    slack = turn.state.slack
    names = range(len(slack)) if turn.state.rows is None else turn.state.rows
    missed = np.flatnonzero(slack > 0)
    words = [f"{names[i]} (by {slack[i]:.3g})" for i in missed[:ROWS_NAMED]]
    more = f" and {len(missed) - ROWS_NAMED} more" if len(missed) > ROWS_NAMED else ""
    proof = "" if np.isnan(turn.bound) else f"; any solution costs at least {turn.bound:.3g}"
    return f"no column helps to meet the rows {', '.join(words)}{more}{proof}"
