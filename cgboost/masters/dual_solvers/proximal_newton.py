"""Newton steps of an active set method on a restricted dual, made well conditioned.

A step takes the rows inside a piece of their boxes to where their rates are 0, all others standing
at their corners. Then all rows that have left their piece, or whose rate points off their corner,
move to the next standing, all columns of changed sign become active or idle, and the next step
follows: a primal-dual active set or semismooth Newton method (Hintermüller, Ito, Kunisch, SIAM J.
Optim. 13, 2003) or block principal pivoting (Júdice, Pires, Computers & OR 21, 1994). On a well
conditioned problem it settles in a few steps, whatever the start. Where rows are nearly collinear,
or more rows are free than there are columns, it may cycle. So the problem has a proximal term

    − ½κ|r − r₀|²,    and Σr = κ'(b − b₀) instead of Σr = 0 where the offset is free,

with which it settles if only κ is large enough.
"""

from __future__ import annotations

import numpy as np

from cgboost.losses.dual.dual_box import Vector
from cgboost.masters.dual_solvers.quadratic_dual import ROUNDING, DualIterate, QuadraticDual
from cgboost.masters.dual_solvers.schur_complement import KeptProducts, free_rows

FEW, RELEASED, RELEASED_BESIDE = 20, 0.1, 0.5
"""Rows that leave their corners in one step, at most: so many, or shares of all and of the free."""

CONSISTENT = 1e-12
"""What rounding of s may cost, relative to the objective."""


class ProximalProblem:
    """One proximal problem, and where the steps on it have come.

    Parameters
    ----------
    problem : QuadraticDual
    centre : DualIterate
        Where the steps begin, with r₀ and b₀.
    proximity : float
        κ in units of the mean squared length of a row, and κ' in units of its inverse.

    Attributes
    ----------
    r : ndarray of shape (n_lines,)
        Not always inside the boxes.
    offset : float
    """

    def __init__(self, problem: QuadraticDual, centre: DualIterate, proximity: float) -> None:
        self.problem, self._centre = problem, centre
        self._stiffness = proximity * problem.unit
        give = {"free": proximity / problem.unit, "penalized": 1.0, "none": 0.0}
        self._give = give[problem.offset]
        self._held = centre.offset if problem.offset == "free" else 0.0
        self.r, self.offset = centre.r, centre.offset
        self._s, self._output = centre.s, centre.output
        self._standing = problem.boxes.standing(centre.r)
        self._pieces = problem.pieces(centre.s)

    def step(self, products: KeptProducts) -> None:
        """Take the free rows to rates of 0, and the others to their corners."""
        problem, boxes = self.problem, self.problem.boxes
        r = boxes.at_corners(self._standing, self.r)
        left = np.flatnonzero(r != self.r)
        free = np.flatnonzero(self._standing % 2 == 1)
        total = float(r.sum()) + problem.total
        if free.size:
            diagonal = self._stiffness + boxes.curvature[free]
            system = free_rows(problem.block, products, free, left, self._pieces != 0, diagonal)
            output = self._output[free] + system.response_to((r - self.r)[left])
            pull = output + self.offset + self._bent(r)[free]
            rate = boxes.slope(free, self._standing) - pull
            if problem.offset == "none":
                r[free] += system.solve(rate)
            else:
                by_rate, by_offset = system.solve(np.stack([rate, np.ones(len(free))], axis=1)).T
                ahead = total + float(by_rate.sum()) - self._give * (self.offset - self._held)
                change = ahead / (float(by_offset.sum()) + self._give)
                self.offset += change
                r[free] += by_rate - change * by_offset
        elif problem.offset != "none":
            self.offset = self._held + total / self._give
        # increments: a sum of large terms that cancel would leave the output inexact
        self._s = self._s + (r - self.r) @ problem.block.values
        self.r, self._output = r, problem.output(self._s)

    def move(self) -> int:
        """Move rows and columns to where they belong now; how many were not there."""
        pull = self._output + self.offset + self._bent(self.r)
        n_free = np.count_nonzero(self._standing % 2 == 1)
        most = max(FEW, int(RELEASED * len(pull)), int(RELEASED_BESIDE * n_free))
        standing, moving = self.problem.boxes.moved(self._standing, self.r, pull, most)
        pieces = self.problem.pieces(self._s)
        noise = ROUNDING * float(np.abs(self._s).max(initial=0.0))
        apart = np.abs(np.abs(self._s) - self.problem.limit)
        turned = (pieces != self._pieces) & (apart > noise)
        self._standing, self._pieces = standing, pieces
        return moving + int(np.count_nonzero(turned))

    def result(self, settled: bool) -> DualIterate:
        """Where the steps have come, inside the boxes; if they have settled, they are there."""
        problem, r = self.problem, self.problem.boxes.clip(self.r)
        exact = problem.scores(r)
        if settled and problem.mismatch(self._s, exact) <= CONSISTENT * self._centre.scale:
            return problem.iterate(r, self.offset, self._s, self._output, exact)
        return problem.point(r, self.offset)

    def _bent(self, r: Vector) -> Vector:
        """Derivatives of the quadratic terms of each row alone."""
        boxes = self.problem.boxes
        return boxes.curvature * (r - boxes.centre) + self._stiffness * (r - self._centre.r)
