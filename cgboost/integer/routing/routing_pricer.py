"""The pricer of vehicle routes: it keeps duals, decisions and bounds, its user writes no label.

The master is a set partitioning problem (Balinski, Quandt, Operations Research 12, 1964)

    min Σ c_p x_p    Σ_p a_ip x_p = 1 for every customer i,    Σ_{p of depot d} x_p ≤ vehicles of d

over elementary routes p, each from a depot back to it. With the duals π of customers and σ of
depots, a route has the reduced cost Σ over its arcs (i, j) of (c_ij − π_i), less σ_d: an elementary
shortest path with resources (Desrochers, Desrosiers, Solomon, Operations Research 40, 1992).
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.integer.branch_and_price import BranchAndPrice
from cgboost.integer.branching.decisions import (
    CountRow,
    SubsetRow,
    VariableBound,
    VariableRow,
    check_whole,
)
from cgboost.integer.branching.rules import CountBranching, VariableBranching
from cgboost.integer.routing.first_routes import FirstRoutes
from cgboost.integer.subset_row_cuts import SubsetRowCuts
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.pricing.labelling import ElementaryPaths, Subsets

Resource = tuple[ArrayLike, ArrayLike, ArrayLike]

REDUCED = 1e-9
"""A reduced cost is negative beyond this share of the numbers that it is the difference of."""

ON_TIME = 1e-9
"""A window, or a capacity, is kept within this share of it: sums of tenths are rounded."""

STEPS = (1.0, 0.1, 0.01)
"""Costs that are multiples of one of these have an objective that is one."""

MULTIPLE_ROUNDING = 1e-9
"""A cost is a multiple of a step up to this share of the step: 617.1 / 0.1 is rounded."""

MOST_LABEL_STEPS = 10_000
"""Steps of a resource that labels are ordered by, at most; with more of them arcs are counted."""


class RoutingPricer(Memoryless):
    """Routes of least reduced cost: elementary, within a capacity, windows and own resources.

    :meth:`search` gives the whole branch-and-price search; :meth:`master` the master alone, for
    :class:`~cgboost.ColumnGeneration`.

    Parameters
    ----------
    cost : array-like of shape (n_nodes, n_nodes)
        Of arcs; inf where there is none. What leads to a depot counts for the return to it. The
        diagonal of this and other matrices does not count.
    depots : sequence of int, default=(0,)
        Different nodes, by number; a route begins and ends at one of them. All other nodes are
        customers.
    demand : array-like of shape (n_nodes,) or None
        Of customers, at least 0; with ``capacity``.
    capacity : float, sequence of float for each depot, or None
        Of a vehicle.
    windows : array-like of shape (n_nodes, 2) or None
        When service may begin; a vehicle that is early waits. Those of a depot are when a vehicle
        may leave at the earliest and must be back at the latest.
    travel_time : array-like of shape (n_nodes, n_nodes) or None
        At least 0, with ``windows``; None: the costs.
    service : array-like of shape (n_nodes,) or float, default=0.0
        Time at a node before it is left, with ``windows``; a number is that at each customer.
    resources : sequence of (consumption, lower, upper)
        Your own, as of :class:`~cgboost.pricing.ElementaryPaths`: of shapes (n_nodes, n_nodes),
        (n_nodes,) and (n_nodes,), or a number for all. Those of a depot hold at the begin
        (``lower``) and the end of a route (``upper``).
    names : sequence of hashable or None
        Of the nodes; None: their numbers.
    memory : int or None, default=8
        The ng-neighbourhood of a node to begin with: it grows until the best route is elementary.
    n_routes : int, default=50
        Routes of a depot that one search returns at most.

    Raises
    ------
    ValueError
        For shapes and values that do not fit.
    """

    respects = (CountRow, VariableRow, VariableBound, SubsetRow)

    def __init__(
        self,
        cost: ArrayLike,
        *,
        depots: Sequence[int] = (0,),
        demand: ArrayLike | None = None,
        capacity: float | Sequence[float] | None = None,
        windows: ArrayLike | None = None,
        travel_time: ArrayLike | None = None,
        service: ArrayLike | float = 0.0,
        resources: Sequence[Resource] = (),
        names: Sequence[Hashable] | None = None,
        memory: int | None = 8,
        n_routes: int = 50,
    ) -> None:
        self.cost = np.array(cost, dtype=np.float64)
        n = len(np.atleast_1d(self.cost))
        wrong = np.isnan(self.cost) | np.isneginf(self.cost)
        if self.cost.shape != (n, n) or n < 2 or wrong[~np.eye(n, dtype=np.bool_)].any():
            raise ValueError(
                "cost must be a square matrix of at least two nodes, of numbers or inf, got shape "
                f"{self.cost.shape}{f' with {self.cost[wrong][0]}' if wrong.any() else ''}"
            )
        np.fill_diagonal(self.cost, np.inf)
        if np.ndim(depots) != 1 or not set(depots) <= set(range(n)) or not len(set(depots)):
            raise ValueError(
                f"depots must be a list of numbers of nodes from 0 to {n - 1}, also where nodes "
                f"have names, got {depots!r}"
            )
        self.depots = [int(depot) for depot in depots]
        if len(set(self.depots)) < len(self.depots):
            raise ValueError(f"depots must be different nodes, got {self.depots}")
        self.names: list[Hashable] = list(range(n)) if names is None else list(names)
        if len(self.names) != n or len(set(self.names)) != n:
            raise ValueError(f"names must be {n} different ones, got {len(set(self.names))}")
        check_whole("n_routes", n_routes, 1)
        if memory is not None:
            check_whole("memory", memory, 0)
        self.customers = [node for node in range(n) if node not in self.depots]
        self.n_routes = n_routes
        self.seconds_left: float | None = None
        limits = list(self._limits(n, demand, capacity, windows, travel_time, service, resources))
        self._paths = [self._of_depot(number, limits, memory) for number in range(len(self.depots))]

    def _limits(
        self,
        n: int,
        demand: ArrayLike | None,
        capacity: float | Sequence[float] | None,
        windows: ArrayLike | None,
        travel_time: ArrayLike | None,
        service: ArrayLike | float,
        resources: Sequence[Resource],
    ) -> Iterator[tuple[Vector, Vector, Vector]]:
        """Each resource: consumption, lower ends, and upper ends, one row for each depot."""
        k = len(self.depots)
        stay = _shaped("service", service, (n,), least=0.0).copy()
        if np.ndim(service) == 0:
            stay[self.depots] = 0.0
        if windows is not None:
            ends = _shaped("windows", windows, (n, 2))
            driven = self.cost if travel_time is None else travel_time
            what = "travel_time (the costs where none is given)"
            time = _of_arcs(what, driven, n)
            self._check_begins("windows", ends[:, 0])
            yield time + stay[:, None], ends[:, 0], np.tile(ends[:, 1], (k, 1))
        elif travel_time is not None or stay.any():
            raise ValueError("travel_time and service go with windows: give windows, or neither")
        if (demand is None) != (capacity is None):
            raise ValueError("demand and capacity go together: give both or neither")
        if demand is not None:
            load = _shaped("demand", demand, (n,), least=0.0).copy()
            load[self.depots] = 0.0
            most = _shaped("capacity", capacity, (k,), least=0.0)
            yield np.tile(load, (n, 1)), np.zeros(n), np.tile(most[:, None], (1, n))
        for number, (consumption, lower, upper) in enumerate(resources):
            what = f"resources[{number}]"
            least = _shaped(f"the lower ends of {what}", lower, (n,))
            self._check_begins(f"the lower ends of {what}", least)
            yield (
                _of_arcs(f"the consumption of {what}", consumption, n),
                least,
                np.tile(_shaped(f"the upper ends of {what}", upper, (n,)), (k, 1)),
            )

    def _check_begins(self, name: str, lower: Vector) -> None:
        """Raise a ValueError where a route cannot begin with a number."""
        for depot in self.depots:
            if not np.isfinite(lower[depot]):
                raise ValueError(
                    f"{name} must begin with a number at the depot {self.names[depot]!r}, got "
                    f"{lower[depot]:g}"
                )

    def _of_depot(
        self, number: int, limits: Sequence[tuple[Vector, Vector, Vector]], memory: int | None
    ) -> ElementaryPaths:
        """The graph of a depot: it, all customers, and it again."""
        nodes = self._nodes(number)
        m = len(nodes)
        between = ~np.eye(m, dtype=np.bool_)
        missing = np.isinf(self.cost[np.ix_(nodes, nodes)]) & between
        between[[0, -1]] = between[:, [0, -1]] = False
        counted = np.where(missing, np.inf, 1.0), np.zeros(m), np.full(m, float(m))
        kept, first = [], None
        for consumption, lower, upper in limits:
            own = np.where(missing, np.inf, consumption[np.ix_(nodes, nodes)])
            begin, end = lower[nodes], upper[number][nodes]
            # no amount is below that of the begin: sums are no larger than these two
            rounding = ON_TIME * np.maximum(np.abs(end), abs(begin[0]))
            kept.append((own, begin, end + np.where(np.isfinite(end), rounding, 0.0)))
            step, length = own[between].min(initial=np.inf), end.max() - begin[0]
            if (
                first is None
                and step > 0
                and np.isfinite(length)
                and length <= MOST_LABEL_STEPS * step
            ):
                first = kept.pop()
        # the first resource must grow on every arc
        amounts, begins, ends = zip(counted if first is None else first, *kept, strict=True)
        return ElementaryPaths(amounts, begins, ends, 0, m - 1, memory=memory)

    def _nodes(self, number: int) -> list[int]:
        depot = self.depots[number]
        return [depot, *self.customers, depot]

    def _check_served(self) -> None:
        """Raise a ValueError for a customer that no route can serve."""
        served = np.any([paths.within_reach()[1:-1] for paths in self._paths], axis=0)
        if not served.all():
            wrong = self.names[self.customers[int(np.flatnonzero(~served)[0])]]
            raise ValueError(
                f"customer {wrong!r} cannot be served: no way from a depot to it and back keeps to "
                "its window, the depot's, the capacity and your own resources"
            )

    # ------------------------------------------------------------------ the problem

    def depot_row(self, depot: int) -> Hashable:
        """The name of the master's row that counts the routes of a depot (a node)."""
        return ("depot", self.names[depot])

    def master(
        self, sense: str = "==", *, n_vehicles: int | Sequence[int] | None = None
    ) -> LinearMaster:
        """The master: a row for every customer, and one for every depot.

        Parameters
        ----------
        sense : str, default="=="
            How often customers are served: ``"=="`` or ``">="`` once; ``"<="``, where costs are
            less what a customer pays.
        n_vehicles : int, sequence of int or None
            Of each depot, at most; None: as many as there are customers.

        Raises
        ------
        ValueError
            For a customer that must be served and that no route can serve.
        """
        if sense != "<=":
            self._check_served()
        n, k, fleet = len(self.customers), len(self.depots), self._fleet(n_vehicles)
        rows = [self.depot_row(depot) for depot in self.depots]
        return LinearMaster(
            [*(self.names[node] for node in self.customers), *rows],
            [sense] * n + ["<="] * k,
            np.append(np.ones(n), fleet),
            copies=dict(zip(rows, fleet.tolist(), strict=True)),
        )

    def _fleet(self, n_vehicles: int | Sequence[int] | None) -> Vector:
        """The number of vehicles of each depot."""
        given = len(self.customers) if n_vehicles is None else n_vehicles
        fleet = _shaped("n_vehicles", given, (len(self.depots),), least=0.0)
        if not (np.isfinite(fleet) & (fleet == np.floor(fleet))).all():
            raise ValueError(f"n_vehicles must be whole, got {n_vehicles}")
        return fleet

    def search(
        self,
        sense: str = "==",
        *,
        n_vehicles: int | Sequence[int] | None = None,
        **options: Any,
    ) -> BranchAndPrice:
        """Branch-and-price over the routes: first on the number of vehicles, then on arcs.

        Where all customers must be served, a heuristic gives it routes to begin with.

        Parameters
        ----------
        sense, n_vehicles
            As of :meth:`master`.
        **options
            Of :class:`~cgboost.BranchAndPrice`, instead of those chosen here.

        Returns
        -------
        BranchAndPrice
            The ``columns`` of its result have routes as keys: names of nodes, from depot to depot.
        """
        finite = np.abs(self.cost[np.isfinite(self.cost)])
        own: dict[str, Any] = {
            "branching": [CountBranching(by_block=len(self.depots) > 1), VariableBranching()],
            "objective_step": next((step for step in STEPS if _are_multiples(finite, step)), None),
        }
        master = self.master(sense, n_vehicles=n_vehicles)
        if sense != ">=":
            own["cuts"] = [SubsetRowCuts()]
        if sense != "<=":
            columns, own["start"] = self._first(master.rows, self._fleet(n_vehicles))
            master.add(columns)
        return BranchAndPrice(master, self, **{**own, **options})

    def _first(self, rows: Sequence[Hashable], fleet: Vector) -> tuple[list[Column], list[Column]]:
        """Routes to begin with, and those that are a solution, if one was found."""
        places = {name: number for number, name in enumerate(rows)}
        nodes = [self._nodes(number) for number in range(len(self.depots))]
        costs = [self.cost[np.ix_(own, own)] for own in nodes]
        known: dict[Hashable, Column] = {}
        start: list[Column] = []
        for n_missing, routes in FirstRoutes(self._paths, costs, fleet.tolist()).solutions():
            paths = [[nodes[depot][place] for place in route] for depot, route in routes]
            columns = [self._column(path, places) for path in paths]
            known.update((column.key, column) for column in columns)
            start = start if n_missing else columns
        return list(known.values()), start

    def route(self, key: Sequence[Hashable], rows: Sequence[Hashable]) -> Column:
        """A route as a column of a master.

        Parameters
        ----------
        key : sequence of hashable
            Names of nodes, from a depot back to it.
        rows : sequence of hashable
            Names of the master's rows.
        """
        places = {name: number for number, name in enumerate(rows)}
        number = {name: node for node, name in enumerate(self.names)}
        path = [number[name] for name in key]
        return self._column(path, places)

    def _column(self, path: Sequence[int], places: Mapping[Hashable, int]) -> Column:
        values = np.zeros(len(places))
        row = self.depot_row(path[0])
        values[[places[self.names[node]] for node in path[1:-1]]] = 1.0
        values[places[row]] = 1.0
        names = tuple(self.names[node] for node in path)
        length = float(sum(self.cost[arc] for arc in pairwise(path)))
        arcs: dict[Hashable, float] = dict.fromkeys(pairwise(names), 1.0)
        return Column(values, names, cost=length, variables=arcs, block=row)

    # ------------------------------------------------------------------ pricing

    def price(self, state: MasterState, limit: int) -> Priced:
        """Routes that price out: those that a heuristic finds, else those of the exact search.

        A search ends with the time that is left, and then proves nothing.
        """
        until = math.inf
        if self.seconds_left is not None:
            until = time.perf_counter() + self.seconds_left
        duals = Duals.of_state(state)
        places = {name: number for number, name in enumerate(state.rows or ())}
        known = {self.names[node] for node in self.customers}
        known |= {self.depot_row(depot) for depot in self.depots}
        if wrong := [name for name in places if name not in known]:
            raise ValueError(
                f"the master has the row {wrong[0]!r}, of which RoutingPricer does not know what "
                "routes have there: take the one of its method master()"
            )
        costs = [self._reduced(number, duals) for number in range(len(self.depots))]
        below = -REDUCED * self._scale(costs)
        held = {column.key for column in state.columns}  # by rounding, some of them price out
        subsets = self._subsets(duals)
        found: list[tuple[float, Column]] = []
        bounds: dict[Hashable, float] = {}
        if limit:  # else the bound alone is asked for
            found, _ = self._found(costs, subsets, below, places, held, until, exact=False)
        if not found:
            found, bounds = self._found(costs, subsets, below, places, held, until, exact=True)
        found.sort(key=lambda each: each[0])
        return Priced(
            columns=[column for _, column in found[:limit]],
            exact=len(bounds) == len(self.depots),
            reduced_cost=bounds if len(bounds) == len(self.depots) else np.nan,
            n_evaluated=len(found),
        )

    def every(self, state: MasterState, most: float, limit: int) -> list[Column] | None:
        """Routes whose reduced cost is at most ``most``, of each set of customers the shortest.

        None where there are more than ``limit``, or the time is up.
        """
        duals = Duals.of_state(state)
        places = {name: number for number, name in enumerate(state.rows or ())}
        columns: list[Column] = []
        subsets = self._subsets(duals)
        for number, paths in enumerate(self._paths):
            nodes, cost = self._nodes(number), self._reduced(number, duals)
            own = self.cost[np.ix_(nodes, nodes)]
            found = paths.every(
                cost, most, limit, also=own, subsets=subsets, time_limit=self.seconds_left
            )
            if found is None or len(columns) + len(found.paths) > limit:
                return None
            columns += [self._column([nodes[i] for i in path], places) for path in found.paths]
        return columns

    def _subsets(self, duals: Duals) -> Subsets:
        """What routes pay for every second customer of some sets."""
        place = {self.names[node]: own for own, node in enumerate(self.customers, 1)}
        subsets = []
        for row, dual in duals.extra.items():
            if not isinstance(row, SubsetRow) or not dual:
                continue
            if row.multiplier != 0.5 or not row.subset <= set(place):
                raise ValueError(
                    f"RoutingPricer respects subset-row cuts on customers with multiplier=0.5, "
                    f"got {row}"
                )
            subsets.append(([place[name] for name in row.subset], max(0.0, -dual)))
        return subsets

    def _scale(self, costs: Sequence[Vector]) -> float:
        """The size of what reduced costs are the difference of: costs of arcs, and duals.

        The lesser of both: an arc dearer than all duals together is on no route that prices out.
        """
        largest = float(np.abs(self.cost[np.isfinite(self.cost)]).max(initial=0.0))
        duals = 0.0
        for number, reduced in enumerate(costs):
            nodes, there = self._nodes(number), np.isfinite(reduced)
            taken = self.cost[np.ix_(nodes, nodes)][there] - reduced[there]
            duals = max(duals, float(np.abs(taken).max(initial=0.0)))
        return min(largest, duals) if largest else 1.0

    def _found(
        self,
        costs: Sequence[Vector],
        subsets: Subsets,
        below: float,
        places: Mapping[Hashable, int],
        held: Set[Hashable],
        until: float,
        *,
        exact: bool,
    ) -> tuple[list[tuple[float, Column]], dict[Hashable, float]]:
        """New routes of all depots with their reduced costs, after an exact search with bounds."""
        found: list[tuple[float, Column]] = []
        bounds: dict[Hashable, float] = {}
        for number, (paths, cost) in enumerate(zip(self._paths, costs, strict=True)):
            search = paths.shortest if exact else paths.heuristic
            left = None if math.isinf(until) else until - time.perf_counter()
            own = search(cost, self.n_routes, below, subsets=subsets, time_limit=left)
            nodes = self._nodes(number)
            for path, reduced in zip(own.paths, own.costs, strict=True):
                column = self._column([nodes[place] for place in path], places)
                if column.key not in held:
                    found.append((reduced, column))
            if exact and own.bound > -np.inf:
                bounds[self.depot_row(self.depots[number])] = own.bound
        return found, bounds

    def _reduced(self, number: int, duals: Duals) -> Vector:
        """Reduced costs of a depot's arcs, inf for those that a decision forbids."""
        nodes, depot = self._nodes(number), self.depots[number]
        cost = self.cost[np.ix_(nodes, nodes)]
        cost[1:-1] -= np.array([duals.of(self.names[node]) for node in self.customers])[:, None]
        cost[0] -= duals.of(self.depot_row(depot)) + duals.constant(self.depot_row(depot))
        cost[0, -1] = np.inf  # a route has customers
        place = {self.names[node]: own for own, node in enumerate(nodes[:-1])}

        def arc(variable: Any) -> tuple[int, int] | None:
            tail, head = variable
            if tail not in place or head not in place:  # of another depot
                return None
            return place[tail], place[head] or len(nodes) - 1

        for variable, dual in duals.prices.items():
            if (at := arc(variable)) is not None:
                cost[at] -= dual
        for decision in duals.restrictions:
            if (at := arc(decision.variable)) is not None:
                cost[at] = np.inf
        return cost


def _shaped(name: str, values: Any, shape: tuple[int, ...], *, least: float = -np.inf) -> Vector:
    """An array of a shape, or a number for all entries of a vector."""
    own = np.array(values, dtype=np.float64)
    if own.shape != shape and (own.ndim or len(shape) > 1):
        raise ValueError(f"{name} must have the shape {shape}, got {own.shape}")
    own = np.broadcast_to(own, shape)
    if np.isnan(own).any():
        raise ValueError(f"{name} has nan")
    if own.min(initial=np.inf) < least:
        raise ValueError(f"{name} must be at least {least:g}, got {own.min():g}")
    return own


def _of_arcs(name: str, values: Any, n: int) -> Vector:
    """A matrix of numbers of at least 0, or a number for all arcs; 0 on the diagonal."""
    own = np.array(values, dtype=np.float64)
    own = np.full((n, n), own) if own.ndim == 0 else own
    if own.ndim == 2:
        np.fill_diagonal(own, 0.0)
    return _shaped(name, own, (n, n), least=0.0)


def _are_multiples(values: Vector, step: float) -> bool:
    """Whether sizes of costs are multiples of a step, up to rounding."""
    quotient = values / step
    off = np.abs(quotient - np.round(quotient))
    return bool((off <= MULTIPLE_ROUNDING * np.minimum(1.0, quotient)).all())
