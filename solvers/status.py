"""How a solve can end."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Outcome of a solve.

    Only `OPTIMAL` and `INACCURATE` are ever returned in a `Solution` by `Session.solve`; the
    others arrive as the `status` of an exception (and of the solution a `LimitError` carries).
    """

    OPTIMAL = "optimal"
    INACCURATE = "inaccurate"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INFEASIBLE_OR_UNBOUNDED = "infeasible or unbounded"
    TIME_LIMIT = "time limit"
    ITERATION_LIMIT = "iteration limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
