"""Whether a named solver is the wrong tool for the restricted problems of a fit, by measurement.

Where a named solver has used some time, the problem that it has just solved is given to the methods
of ``solver="auto"``, too, for at most as long. They then go on from round to round, as they would
without a name, and after a few rounds without a finding they are dropped.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from cgboost._solvers import SolverError
from cgboost.exceptions import SlowSolverWarning, see, warn_caller
from cgboost.generation.columns import FloatArray

logger = logging.getLogger(__name__)

SLOWER = 10.0
"""A solver that takes so many times as long is the wrong one. Between those that suit a problem
there are factors up to five."""

SOME_TIME = 2.0
"""CPU seconds that a solver has used before it is compared: less is no trouble to anyone."""

LOOKS = 3
"""So many problems are solved twice. In the first the own methods have nothing to go on from."""

Values = Callable[[int], list[FloatArray]]
"""The values of the columns of the restricted problem from a number on."""


class SolverComparison:
    """The restricted problems of a named solver, some of which are solved by own methods too.

    Parameters
    ----------
    solver : str
        The name.
    opens : callable
        Opens the live problem of ``solver="auto"``, without columns.
    """

    def __init__(self, solver: str, opens: Callable[[], Any]) -> None:
        self._solver, self._opens = solver, opens
        self._own: Any = None
        self._held, self._looks = 0, 0
        self._spent, self._begun = 0.0, False

    def solve(self, dual: Any, values: Values, time_limit: float | None, accuracy: float) -> Any:
        """The answer of the named solver; its errors are passed on.

        Warns
        -----
        SlowSolverWarning
            If the own methods need less than a tenth of its time.
        """
        start = time.thread_time()
        try:
            point = dual.solve(time_limit, accuracy)
        except SolverError:
            self._compare(time.thread_time() - start, values, accuracy)
            raise
        self._compare(time.thread_time() - start, values, accuracy)
        return point

    def _compare(self, seconds: float, values: Values, accuracy: float) -> None:
        """Solve the problem again if it is time to; the first solve may have loaded a package."""
        begun, self._begun = self._begun, True
        self._spent += seconds if begun else 0.0
        if self._looks == LOOKS or self._spent < SOME_TIME:
            return
        self._looks += 1
        own = self._own_seconds(values, self._spent, accuracy)
        if own is None:
            self._own, self._looks = None, LOOKS
            return
        logger.info("solver=%r: %.3g s, the own method: %.3g s", self._solver, seconds, own)
        if seconds > SLOWER * own:
            self._looks = LOOKS
            warn_caller(
                f"solver={self._solver!r} takes more than {SLOWER:g} times as long as "
                f"solver='auto' for the restricted problems of this fit{see('solvers')}",
                SlowSolverWarning,
            )
        if self._looks == LOOKS:
            self._own = None

    def _own_seconds(self, values: Values, limit: float, accuracy: float) -> float | None:
        """What the own methods take for the present problem; None if they have no answer."""
        start = time.thread_time()
        try:
            if self._own is None:
                self._own = self._opens()
            if new := values(self._held):
                self._own.add(new)
                self._held += len(new)
            self._own.solve(limit, accuracy)
        except SolverError as error:
            logger.info("no comparison of solvers: %s", error)
            return None
        return time.thread_time() - start
