"""Good routes before any pricing: parts of routes are removed, and customers inserted again.

Christiaens, Vanden Berghe, *Slack Induction by String Removals for Vehicle Routing Problems*,
Transportation Science 54, 2020. Whether a customer can be inserted is one comparison for every
place: the amounts of resources on arrival are known, and the latest with which the rest of a route
can still be driven.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cgboost.arrays import Vector
from cgboost.pricing.labelling import ElementaryPaths

Route = tuple[int, ...]

STEPS, MOST_STEPS = 8, 300
"""Times that routes are taken apart: so often for each customer, and at most."""

REMOVED = 10.0
"""Customers that are removed at once, about."""

LONGEST = 8
"""Customers in a row that are removed from one route, at most."""

OVERLOOKED = 0.01
"""Share of the places that are overlooked, by chance."""

WARM, COLD = 0.3, 0.003
"""At the begin and at the end solutions may become longer by about these shares of the cost of an
arc."""


class _Tour:
    """A route of a depot: its nodes, and what of the resources is used and left at each."""

    def __init__(self, graph: ElementaryPaths, nodes: Sequence[int]) -> None:
        self.nodes = np.array(nodes, dtype=np.intp)
        steps = graph.consumption[:, self.nodes[:-1], self.nodes[1:]].T
        lower, upper = graph.lower[:, self.nodes].T, graph.upper[:, self.nodes].T
        self.used, self.latest = lower.copy(), upper.copy()
        for place, step in enumerate(steps):
            np.maximum(self.used[place] + step, lower[place + 1], out=self.used[place + 1])
        for place in range(len(steps) - 1, -1, -1):
            np.minimum(self.latest[place + 1] - steps[place], upper[place], out=self.latest[place])


class FirstRoutes:
    """Solutions by removal and insertion.

    Parameters
    ----------
    paths : sequence of ElementaryPaths
        Of each depot: node 0, the customers 1, 2, …, and the depot again.
    costs : sequence of ndarray of shape (n_nodes, n_nodes)
        Of the arcs.
    fleet : sequence of float
        Routes of each depot, at most.
    """

    def __init__(
        self, paths: Sequence[ElementaryPaths], costs: Sequence[Vector], fleet: Sequence[float]
    ) -> None:
        self._paths, self._costs, self._fleet = paths, costs, fleet
        self._n = paths[0].n_nodes - 2
        self._rng = np.random.default_rng(0)
        inner = np.min([cost[1:-1, 1:-1] for cost in costs], axis=0)
        self._nearest = np.argsort(np.minimum(inner, inner.T), axis=1, kind="stable") + 1
        finite = inner[np.isfinite(inner)]
        self._unit = float(np.abs(finite).mean()) if finite.size else 1.0

    def solutions(self) -> list[tuple[int, list[tuple[int, Route]]]]:
        """Solutions, each better than the one before: customers left out, depots and routes."""
        tours: list[tuple[int, _Tour]] = []
        missing = self._inserted(tours, list(range(1, self._n + 1)))
        now = best = len(missing), self._cost(tours)
        found = [(len(missing), self._listed(tours))]
        n_steps = min(STEPS * self._n, MOST_STEPS) if self._n > 1 else 0
        for step in range(n_steps):
            new, out = self._ruined(tours)
            left = self._inserted(new, missing + out)
            own = len(left), self._cost(new)
            warmth = self._unit * WARM * (COLD / WARM) ** (step / n_steps)
            slack = -warmth * math.log(1.0 - self._rng.random())
            if own < (now[0], now[1] + slack):
                tours, missing, now = new, left, own
            if own < (best[0], best[1] - 1e-9 * abs(best[1])):
                best = own
                found.append((len(left), self._listed(new)))
        return found

    def _cost(self, tours: Sequence[tuple[int, _Tour]]) -> float:
        return sum(
            float(self._costs[depot][tour.nodes[:-1], tour.nodes[1:]].sum())
            for depot, tour in tours
        )

    @staticmethod
    def _listed(tours: Sequence[tuple[int, _Tour]]) -> list[tuple[int, Route]]:
        return [(depot, tuple(tour.nodes.tolist())) for depot, tour in tours]

    def _ruined(self, tours: list[tuple[int, _Tour]]) -> tuple[list[tuple[int, _Tour]], list[int]]:
        """The tours without some strings of customers near one of them, and these customers."""
        rng, new = self._rng, list(tours)
        where = {k: at for at, (_, tour) in enumerate(tours) for k in tour.nodes[1:-1].tolist()}
        mean = len(where) / max(1, len(tours))
        longest = max(1.0, min(LONGEST, mean))
        n_tours = int(1.0 + rng.random() * (4.0 * REMOVED / (1.0 + longest) - 1.0))
        ruined: set[int] = set()
        out: list[int] = []
        center = int(rng.integers(self._n))
        for k in [center + 1, *self._nearest[center].tolist()]:
            at = where.get(k)
            if at is None or at in ruined:
                continue
            depot, tour = tours[at]
            nodes = tour.nodes.tolist()
            length = int(1.0 + rng.random() * min(longest, len(nodes) - 2))
            place = nodes.index(k)
            first = int(
                rng.integers(max(1, place - length + 1), min(place, len(nodes) - 1 - length) + 1)
            )
            out += nodes[first : first + length]
            rest = nodes[:first] + nodes[first + length :]
            new[at] = depot, _Tour(self._paths[depot], rest)
            ruined.add(at)
            if len(ruined) == n_tours:
                break
        return [(depot, tour) for depot, tour in new if len(tour.nodes) > 2], out

    def _inserted(self, tours: list[tuple[int, _Tour]], customers: list[int]) -> list[int]:
        """Insert customers where it costs least; those for which there is no place."""
        order = np.array(customers, dtype=np.intp)
        self._rng.shuffle(order)
        if self._rng.random() < 0.5:  # those far away first
            away = np.min([cost[0, order] + cost[order, -1] for cost in self._costs], axis=0)
            order = order[np.argsort(-away, kind="stable")]
        left = []
        for k in order.tolist():
            options = [self._best_place(depot, tours, k) for depot in range(len(self._paths))]
            depot = min(range(len(options)), key=lambda number: options[number][0])
            cost, at, place = options[depot]
            if math.isinf(cost):
                left.append(k)
            elif at < 0:
                tours.append((depot, _Tour(self._paths[depot], [0, k, self._n + 1])))
            else:
                nodes = tours[at][1].nodes
                tours[at] = depot, _Tour(self._paths[depot], np.insert(nodes, place, k).tolist())
        return left

    def _best_place(
        self, depot: int, tours: Sequence[tuple[int, _Tour]], k: int
    ) -> tuple[float, int, int]:
        """What a customer costs at the best place of a depot; its tour, and the place."""
        graph, cost = self._paths[depot], self._costs[depot]
        own = [(at, tour) for at, (number, tour) in enumerate(tours) if number == depot]
        if len(own) < self._fleet[depot]:
            own.append((-1, _Tour(graph, [0, self._n + 1])))
        if not own:
            return math.inf, -1, 0
        tails = np.concatenate([tour.nodes[:-1] for _, tour in own])
        heads = np.concatenate([tour.nodes[1:] for _, tour in own])
        used = np.concatenate([tour.used[:-1] for _, tour in own]).T
        latest = np.concatenate([tour.latest[1:] for _, tour in own]).T
        amount = np.maximum(used + graph.consumption[:, tails, k], graph.lower[:, [k]])
        fits = self._rng.random(len(tails)) >= OVERLOOKED
        fits &= (amount <= graph.upper[:, [k]]).all(axis=0)
        amount = np.maximum(amount + graph.consumption[:, k, heads], graph.lower[:, heads])
        fits &= (amount <= latest).all(axis=0)
        between = np.where((tails == 0) & (heads == self._n + 1), 0.0, cost[tails, heads])
        more = np.where(fits, cost[tails, k] + cost[k, heads] - between, np.inf)
        best = int(np.argmin(more))
        ends = np.cumsum([len(tour.nodes) - 1 for _, tour in own])
        number = int(np.searchsorted(ends, best, side="right"))
        at, tour = own[number]
        return float(more[best]), at, best - int(ends[number]) + len(tour.nodes)
