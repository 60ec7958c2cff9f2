"""The pricer of vehicle routes: it keeps duals, decisions and bounds, its user writes no label.

The master is a set partitioning problem (Balinski, Quandt, Operations Research 12, 1964)

    min Σ c_p x_p    Σ_p a_ip x_p = 1 for every customer i,    Σ_{p of depot d} x_p ≤ vehicles of d

over elementary routes p, each from a depot back to it. With the duals π of customers and σ of
depots, a route has the reduced cost Σ over its arcs (i, j) of (c_ij − π_i), less σ_d: an elementary
shortest path with resources (Desrochers, Desrosiers, Solomon, Operations Research 40, 1992).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.integer.branch_and_price import BranchAndPrice
from cgboost.integer.branching.decisions import CountRow, VariableBound, VariableRow
from cgboost.integer.branching.rules import CountBranching, VariableBranching
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.pricing.labelling import ElementaryPaths

Vector = NDArray[np.float64]
Resource = tuple[ArrayLike, ArrayLike, ArrayLike]

REDUCED = 1e-9
"""A reduced cost is negative beyond this share of the largest cost."""

ON_TIME = 1e-9
"""A window, or a capacity, is kept within this share of it: sums of tenths are rounded."""

STEPS = (1.0, 0.1, 0.01)
"""Costs that are multiples of one of these have an objective that is one."""


class RoutingPricer(Memoryless):
    """Routes of least reduced cost: elementary, within a capacity, windows and own resources.

    :meth:`search` gives the whole branch-and-price search; :meth:`master` the master alone, for
    :class:`~cgboost.ColumnGeneration`.

    Parameters
    ----------
    cost : array-like of shape (n_nodes, n_nodes)
        Of arcs; inf where there is none. What leads to a depot counts for the return to it.
    depots : sequence of int, default=(0,)
        Nodes; a route begins and ends at one of them. All other nodes are customers.
    demand : array-like of shape (n_nodes,) or None
        Of customers, at least 0; with ``capacity``.
    capacity : float, sequence of float for each depot, or None
        Of a vehicle.
    windows : array-like of shape (n_nodes, 2) or None
        When service may begin; a vehicle that is early waits. Those of a depot are when a vehicle
        may leave at the earliest and must be back at the latest.
    travel_time : array-like of shape (n_nodes, n_nodes) or None
        With ``windows``; None: the costs.
    service : array-like of shape (n_nodes,) or float, default=0.0
        Time at a node.
    resources : sequence of (consumption, lower, upper)
        Your own, as of :class:`~cgboost.pricing.ElementaryPaths`: of shapes (n_nodes, n_nodes),
        (n_nodes,) and (n_nodes,). Those of a depot hold at the begin (``lower``) and the end of a
        route (``upper``).
    names : sequence of hashable or None
        Of the nodes; None: their numbers.
    memory : int or None, default=8
        The ng-neighbourhood of a node to begin with: it grows until the best route is elementary.
    n_routes : int, default=50
        Routes of a depot that one search returns at most.

    Raises
    ------
    ValueError
        For shapes that do not fit, and for customers that no route can serve.
    """

    respects = (CountRow, VariableRow, VariableBound)

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
        n = len(self.cost)
        if self.cost.shape != (n, n) or n < 2 or np.isnan(self.cost).any():
            raise ValueError(
                f"cost must be a square matrix of numbers or inf, got shape {self.cost.shape}"
                f"{' with nan' if np.isnan(self.cost).any() else ''}"
            )
        self.depots = [int(depot) for depot in depots]
        if not self.depots or not all(0 <= depot < n for depot in self.depots):
            raise ValueError(f"depots must be nodes from 0 to {n - 1}, got {list(depots)}")
        self.names: list[Hashable] = list(range(n)) if names is None else list(names)
        if len(self.names) != n or len(set(self.names)) != n:
            raise ValueError(f"names must be {n} different ones, got {len(set(self.names))}")
        self.customers = [node for node in range(n) if node not in self.depots]
        self.n_routes = n_routes
        limits = list(self._limits(n, demand, capacity, windows, travel_time, service, resources))
        self._paths = [self._of_depot(number, limits, memory) for number in range(len(self.depots))]
        self._check_served()

    def _limits(
        self,
        n: int,
        demand: ArrayLike | None,
        capacity: float | Sequence[float] | None,
        windows: ArrayLike | None,
        travel_time: ArrayLike | None,
        service: ArrayLike | float,
        resources: Sequence[Resource],
    ) -> Any:
        """Each resource: consumption, lower ends, and upper ends, one row for each depot."""
        k = len(self.depots)
        if windows is not None:
            ends = _shaped("windows", windows, (n, 2))
            driven = self.cost if travel_time is None else travel_time
            time = _shaped("travel_time", driven, (n, n))
            stay = np.broadcast_to(np.asarray(service, dtype=np.float64), (n,))
            yield time + stay[:, None], ends[:, 0], np.tile(ends[:, 1], (k, 1))
        if (demand is None) != (capacity is None):
            raise ValueError("demand and capacity go together: give both or neither")
        if demand is not None:
            load = _shaped("demand", demand, (n,)).copy()
            load[self.depots] = 0.0
            most = np.broadcast_to(np.asarray(capacity, dtype=np.float64), (k,))
            yield np.tile(load, (n, 1)), np.zeros(n), np.tile(most[:, None], (1, n))
        for number, (consumption, lower, upper) in enumerate(resources):
            what = f"resources[{number}]"
            yield (
                _shaped(f"the consumption of {what}", consumption, (n, n)),
                _shaped(f"the lower ends of {what}", lower, (n,)),
                np.tile(_shaped(f"the upper ends of {what}", upper, (n,)), (k, 1)),
            )

    def _of_depot(self, number: int, limits: Sequence[Any], memory: int | None) -> ElementaryPaths:
        """The graph of a depot: it, all customers, and it again."""
        nodes = self._nodes(number)
        m = len(nodes)
        consumption = [own[np.ix_(nodes, nodes)] for own, _, _ in limits]
        lower = [own[nodes] for _, own, _ in limits]
        upper = [
            own[number][nodes] + ON_TIME * np.maximum(1.0, np.abs(own[number][nodes]))
            for *_, own in limits
        ]
        between = ~np.eye(m - 2, dtype=np.bool_)
        grows = [
            bool(np.isfinite(high).all() and (own[1:-1, 1:-1][between] > 0).all())
            for own, high in zip(consumption, upper, strict=True)
        ]
        if True in grows:  # the first resource must grow on every arc
            order = [grows.index(True), *(j for j in range(len(grows)) if j != grows.index(True))]
            consumption, lower, upper = (
                [own[j] for j in order] for own in (consumption, lower, upper)
            )
        else:
            consumption.insert(0, np.ones((m, m)))
            lower.insert(0, np.zeros(m))
            upper.insert(0, np.full(m, float(m)))
        return ElementaryPaths(np.array(consumption), lower, upper, 0, m - 1, memory=memory)

    def _nodes(self, number: int) -> list[int]:
        depot = self.depots[number]
        return [depot, *self.customers, depot]

    def _check_served(self) -> None:
        """Raise a ValueError for a customer that not even a route of its own can serve."""
        alone = np.zeros(len(self.customers), dtype=np.bool_)
        for number, paths in enumerate(self._paths):
            nodes = self._nodes(number)
            cost = self.cost[np.ix_(nodes, nodes)]
            there = np.maximum(
                paths.lower[:, 1:-1], paths.lower[:, [0]] + paths.consumption[:, 0, 1:-1]
            )
            back = np.maximum(paths.lower[:, [-1]], there + paths.consumption[:, 1:-1, -1])
            kept = (there <= paths.upper[:, 1:-1]) & (back <= paths.upper[:, [-1]])
            finite = np.isfinite(cost[0, 1:-1]) & np.isfinite(cost[1:-1, -1])
            alone |= kept.all(axis=0) & finite
        if not alone.all() and not np.isinf(self.cost).any():
            wrong = self.names[self.customers[int(np.flatnonzero(~alone)[0])]]
            raise ValueError(
                f"customer {wrong!r} cannot be served: a route to it alone breaks its window, the "
                "depot's or the capacity"
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
        """
        n, k = len(self.customers), len(self.depots)
        fleet = np.broadcast_to(n if n_vehicles is None else np.asarray(n_vehicles), (k,))
        rows = [self.depot_row(depot) for depot in self.depots]
        return LinearMaster(
            [*(self.names[node] for node in self.customers), *rows],
            [sense] * n + ["<="] * k,
            np.append(np.ones(n), fleet),
            copies=dict(zip(rows, fleet.tolist(), strict=True)),
        )

    def search(
        self,
        sense: str = "==",
        *,
        n_vehicles: int | Sequence[int] | None = None,
        **options: Any,
    ) -> BranchAndPrice:
        """Branch-and-price over the routes: first on the number of vehicles, then on arcs.

        Parameters
        ----------
        sense, n_vehicles
            As of :meth:`master`.
        **options
            Of :class:`~cgboost.BranchAndPrice`, in place of those chosen here.

        Returns
        -------
        BranchAndPrice
            The ``columns`` of its result have routes as keys: names of nodes, from depot to depot.
        """
        finite = self.cost[np.isfinite(self.cost)]
        whole = (s for s in STEPS if np.allclose(finite / s, np.round(finite / s), atol=1e-6))
        own: dict[str, Any] = {
            "branching": [CountBranching(by_block=len(self.depots) > 1), VariableBranching()],
            "objective_step": next(whole, None),
        }
        master = self.master(sense, n_vehicles=n_vehicles)
        return BranchAndPrice(master, self, **{**own, **options})

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
        """Routes that price out: those that a heuristic finds, else those of the exact search."""
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
        below = -REDUCED * float(np.abs(self.cost[np.isfinite(self.cost)]).max(initial=1.0))
        found, bounds = self._found(costs, below, places, exact=False)
        if not found:
            found, bounds = self._found(costs, below, places, exact=True)
        found.sort(key=lambda each: each[0])
        return Priced(
            columns=[column for _, column in found[:limit]],
            exact=bool(bounds),
            reduced_cost=bounds or np.nan,
            n_evaluated=len(found),
        )

    def _found(
        self,
        costs: Sequence[Vector],
        below: float,
        places: Mapping[Hashable, int],
        *,
        exact: bool,
    ) -> tuple[list[tuple[float, Column]], dict[Hashable, float]]:
        """Routes of all depots with their reduced costs; after an exact search a bound for each."""
        found: list[tuple[float, Column]] = []
        bounds: dict[Hashable, float] = {}
        for number, (paths, cost) in enumerate(zip(self._paths, costs, strict=True)):
            search = paths.shortest if exact else paths.heuristic
            own, nodes = search(cost, self.n_routes, below), self._nodes(number)
            for path, reduced in zip(own.paths, own.costs, strict=True):
                found.append((reduced, self._column([nodes[place] for place in path], places)))
            if exact:
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


def _shaped(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Vector:
    own = np.asarray(values, dtype=np.float64)
    if own.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {own.shape}")
    if np.isnan(own).any():
        raise ValueError(f"{name} has nan")
    return own
