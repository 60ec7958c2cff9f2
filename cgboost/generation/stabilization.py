"""Where to price: at the duals of the restricted master, or between them and better duals.

The duals of a restricted master vary strongly while it has few columns. Wentges (International
Transactions in Operational Research 4, 1997) prices at w·(duals of the best bound so far) +
(1 − w)·(duals of the master). The bound is evaluated at the duals used for pricing. If none of the
columns found there helps the master (*mispricing*), the same round also prices at the master's
duals. A run with given start duals, from a similar problem or a subgradient method, prices there
first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

from cgboost.arrays import Vector
from cgboost.generation.protocols import MasterState


class Smoothing(Protocol):
    """Chooses the points at which a round prices; the last is the duals of the master."""

    def start(self, duals: Vector | None = None) -> None:
        """Reset for a new run; ``duals`` are assumed to be near the optimal ones."""
        ...

    def points(self, state: MasterState) -> Iterator[Vector]:
        """Duals for pricing, until one gives a column that helps; the master's duals are last."""
        ...

    def learn(self, duals: Vector, bound: float | None) -> None:
        """Record the bound from pricing at ``duals``."""
        ...

    @property
    def best_duals(self) -> Vector | None:
        """The duals of the best bound so far, if they are stored."""
        ...


class NoSmoothing:
    """Price at the duals of the restricted master."""

    def start(self, duals: Vector | None = None) -> None:
        """Nothing to reset."""

    def points(self, state: MasterState) -> Iterator[Vector]:
        """The master's own duals."""
        yield state.pseudo_response

    def learn(self, duals: Vector, bound: float | None) -> None:
        """Nothing to learn."""

    @property
    def best_duals(self) -> Vector | None:
        """They are not kept."""
        return None


class Wentges:
    """Price between the duals of the best bound and those of the master.

    Smoothing needs bounds: it has no effect with a pricer that is not exact, with a master without
    bounds, or while the master is infeasible.

    Parameters
    ----------
    weight : float, default=0.5
        Weight of the duals of the best bound, at least 0 and below 1.
    decay : float, default=0.95
        Factor of the weight after every round; weights below 0.01 count as 0, since near the end
        smoothing only costs pricing passes.
    """

    LEAST_WEIGHT = 0.01

    def __init__(self, weight: float = 0.5, decay: float = 0.95) -> None:
        if not 0 <= weight < 1:
            raise ValueError(f"weight must be at least 0 and below 1, got {weight}")
        if not 0 <= decay <= 1:
            raise ValueError(f"decay must be between 0 and 1, got {decay}")
        self.weight = weight
        self.decay = decay
        self.start()

    def start(self, duals: Vector | None = None) -> None:
        """Forget the last run; its first round prices at ``duals``."""
        self._weight = self.weight
        self._first = duals
        self._best: Vector | None = None
        self._best_bound = -math.inf
        self._learning = False

    def points(self, state: MasterState) -> Iterator[Vector]:
        """The smoothed duals, if there are any, then the master's own."""
        self._learning = math.isfinite(state.objective) or self._first is not None
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        elif self._learning and self._best is not None and self._weight >= self.LEAST_WEIGHT:
            weight, self._weight = self._weight, self._weight * self.decay
            yield weight * self._best + (1.0 - weight) * state.pseudo_response
        yield state.pseudo_response

    def learn(self, duals: Vector, bound: float | None) -> None:
        """Keep the duals of the best bound."""
        if self._learning and bound is not None and bound > self._best_bound:
            self._best, self._best_bound = duals, bound

    @property
    def best_duals(self) -> Vector | None:
        """Those of the best bound so far."""
        return self._best
