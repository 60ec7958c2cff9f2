"""An active set method for the restricted dual of the 2-norm, with a proximal term that it adapts.

The problem is :class:`~cgboost.masters.quadratic_dual.QuadraticDual`.
Steps on a proximal problem (:mod:`cgboost.masters.proximal_steps`) settle quickly where its κ is
large; its centre r₀ follows its solution, and gets to the optimum the sooner the smaller κ is
(Rockafellar, SIAM J. Control Optim. 14, 1976). So κ rises when the steps do not settle and falls
when they do. Once the right rows are at their corners κ does not matter any more, and the last
steps are exact: a solve that begins near the optimum needs two or three.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from cgboost.masters.free_rows import KeptProducts
from cgboost.masters.proximal_steps import ProximalProblem
from cgboost.masters.quadratic_dual import DualIterate, QuadraticDual
from solvers import LimitError, Status

FINEST = 1e-12
"""A solve ends at this gap, relative to the objective …"""

HALF = 0.5
"""… or where the gap does not fall to this share of the smallest …"""

STEPS = 300
"""… within so many Newton steps …"""

STUCK = 3
"""… or so many problems with the least κ."""

STEPS_TO_SETTLE = 15
"""Newton steps for one proximal problem."""

PATIENCE = 3
"""Steps after which fewer rows and columns must move than ever before."""

START, START_IN_BOX = 1e-2, 0.3
"""The first κ, relative to the mean squared length of a row, or to the inverse of its box."""

LEAST, MOST = 1e-11, 1e6
"""The range of κ: the least keeps the systems regular in floating point."""

HARDER, SOFTER, SOFTEST = 10.0, 0.1, 1e-4
"""What κ is multiplied by when the steps do not settle, when they do, and when they do quickly …"""

QUICK = 4
"""… within so many steps."""

RESPECT, FORGETTING = 10.0, 0.3
"""κ stays above this many times the last one that did not settle, which fades by this share."""


@dataclass
class ActiveSetMethod:
    """The method, and what is worth keeping from one problem to the next.

    Attributes
    ----------
    products : KeptProducts
    proximity : float or None
        The κ to begin with: the one at which the first steps have settled last time.
    steps : int
        Newton steps so far.
    """

    products: KeptProducts = field(default_factory=KeptProducts)
    proximity: float | None = None
    steps: int = 0

    def solve(
        self, problem: QuadraticDual, start: DualIterate, deadline: float | None
    ) -> DualIterate:
        """The optimum, or the nearest point that can be found, from one near it.

        Raises
        ------
        LimitError
            If the deadline (by ``time.perf_counter``) has passed.
        """
        self.products.restrict(problem.block.row)
        first = max(START, START_IN_BOX / (problem.unit * problem.extent))
        proximity = Proximity(first if self.proximity is None else self.proximity)
        at = best = start
        halved, stuck = self.steps, 0
        while best.relative_gap > FINEST and self.steps < halved + STEPS and stuck < STUCK:
            before = self.steps
            attempt = ProximalProblem(problem, at, proximity.kappa)
            settled = self._settle(attempt, deadline)
            point = attempt.result(settled)
            better = point.relative_gap <= HALF * best.relative_gap
            if settled or better:
                at = point
            if better:
                halved = self.steps
            stuck = 0 if better or proximity.in_range else stuck + 1
            best = min(best, point, key=lambda one: one.relative_gap)
            proximity.learn(self.steps - before if settled else None)
        if len(problem.constant):
            self.proximity = proximity.first
        return best

    def _settle(self, attempt: ProximalProblem, deadline: float | None) -> bool:
        """Newton steps until nothing moves any more; False if they do not get there."""
        fewest, since = np.inf, 0
        for _ in range(STEPS_TO_SETTLE):
            if deadline is not None and time.perf_counter() > deadline:
                raise LimitError("the active set method ran out of time", status=Status.TIME_LIMIT)
            self.steps += 1
            try:
                attempt.step(self.products)
            except np.linalg.LinAlgError:
                return False
            moving = attempt.move()
            if not moving:
                return True
            fewest, since = (moving, 0) if moving < fewest else (fewest, since + 1)
            if since >= PATIENCE:
                return False
        return False


class Proximity:
    """The κ of one proximal problem after another, within one solve.

    Attributes
    ----------
    kappa : float
        Relative to the mean squared length of a row.
    first : float
        The κ to begin the next solve with.
    """

    def __init__(self, kappa: float) -> None:
        self.kappa = self.first = kappa
        self._settled = self._refused = 0.0

    @property
    def in_range(self) -> bool:
        """Whether κ may still rise and fall."""
        return LEAST < self.kappa < MOST

    def learn(self, steps: int | None) -> None:
        """Take note that so many steps have settled; None: that they have not."""
        if steps is None:
            self._refused = self.kappa
            middle = np.sqrt(self.kappa * self._settled)
            between = self.kappa < middle < HALF * self._settled
            self.kappa = middle if between else HARDER * self.kappa
        else:
            if not self._settled:
                certain = steps <= QUICK and not self._refused
                self.first = self.kappa * (SOFTER if certain else 1.0)
            self._settled, self._refused = self.kappa, FORGETTING * self._refused
            lowest = min(self.kappa, RESPECT * self._refused)
            self.kappa = max((SOFTEST if steps <= QUICK else SOFTER) * self.kappa, lowest)
        self.kappa = float(np.clip(self.kappa, LEAST, MOST))
