"""Shortest paths with resource constraints by labelling: elementary ones, and ng-paths.

Feillet, Dejax, Gendreau, Gueguen (Networks 44, 2004): labels with unreachable nodes, dominance.
Baldacci, Mingozzi, Roberti (Operations Research 59, 2011): ng-paths. Righini, Salani (Networks 51,
2008): a relaxed memory that is extended until the best path is elementary.

A label is a path from the source to a node: its cost, its resources, and the nodes that it cannot
go to. Labels are taken in steps of the first resource, so short that no label of a step comes from
another of the same step: all labels of a step are compared and extended at once. Where numba is
installed a compiled loop takes them one after another (:mod:`cgboost.pricing.label_loop`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Indices, Mask, Vector
from cgboost.compiled import compiled, interruptible
from cgboost.pricing.label_loop import (
    N_ENDS,
    N_LABELS,
    Bits,
    first_label,
    label_paths,
    least_onward,
)

Subsets = Sequence[tuple[Collection[int], float]]

WORD = 64
"""Nodes in a word of a bitset."""

MOST_CELLS = 10**8
"""Nodes times cells of the first resource, at most: 0.8 GB of bounds."""

MOST_LABELS = 2**17
"""Labels of one length, at most, where all paths are listed."""

LABELS_AT_ONCE = 2**12
"""Labels that are extended at once where all paths are listed."""

NEIGHBOURS = 4
"""Labels with equal nodes that each is compared with where all paths are listed."""

PAIRS_AT_ONCE = 2**18
"""Pairs of labels that are compared at once."""

WORK = 2**22
"""Comparisons of labels after which a compiled loop lets its caller look at the clock: some tens of
milliseconds."""

CELLS = 4
"""Cells of the first resource in a step, for the bounds of what a path can still cost."""

MOST_ARRIVALS = 2**21
"""Cells times arcs that are kept, at most: 16 MB."""

CELL_ROUNDING = 1e-9
"""An amount may be below its cell by this share of it: the quotient that gives the cell is rounded,
with an error of 1e-12 for the ten thousandth cell."""


@dataclass(frozen=True)
class FoundPaths:
    """What a search has found.

    Attributes
    ----------
    paths : list of tuple of int
        Nodes of elementary paths from source to sink, the cheapest first.
    costs : list of float
    bound : float
        No elementary path costs less than this; −inf after a heuristic search, and where the time
        was up.
    """

    paths: list[tuple[int, ...]]
    costs: list[float]
    bound: float


class ElementaryPaths:
    """Cheapest elementary paths that keep to windows of resources.

    A path takes ``r_j = max(lower_j, r_i + consumption_ij)`` of each resource to node j, at most
    ``upper_j``. It begins with ``lower`` at the source. Time with windows and a load with a
    capacity are such resources.

    Parameters
    ----------
    consumption : array-like of shape (n_resources, n_nodes, n_nodes)
        At least 0; that of the first resource above 0 between inner nodes (time, or the number of
        arcs). Inf where there is no arc.
    lower, upper : array-like of shape (n_resources, n_nodes)
        ``upper`` is finite for the first resource.
    source, sink : int
        Two nodes.
    memory : int or None, default=None
        None: labels remember all nodes of their paths. A number: those alone that are among so many
        nearest nodes (by the first resource) of each node on the way since. Such ng-paths may come
        back to a node; :meth:`shortest` extends the memory where the cheapest does.

    Raises
    ------
    ValueError
        For shapes that do not fit, or a first resource that does not grow on every arc, or by
        very little.
    """

    def __init__(
        self,
        consumption: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        source: int,
        sink: int,
        *,
        memory: int | None = None,
    ) -> None:
        self.consumption = np.asarray(consumption, dtype=np.float64)
        self.lower, self.upper = (np.asarray(a, dtype=np.float64) for a in (lower, upper))
        self.source, self.sink = source, sink
        n_resources, n = self.consumption.shape[:2]
        if self.consumption.shape != (n_resources, n, n) or not n_resources:
            raise ValueError(
                f"consumption must have the shape (n_resources, n_nodes, n_nodes), got "
                f"{self.consumption.shape}"
            )
        for name, own in (("lower", self.lower), ("upper", self.upper)):
            if own.shape != (n_resources, n):
                raise ValueError(f"{name} must have the shape {(n_resources, n)}, got {own.shape}")
        if source == sink:
            raise ValueError(f"source and sink must be two nodes, got {source} for both")
        begin = self.lower[:, [source]]
        if np.isnan(self.lower).any() or np.isnan(self.upper).any() or not np.isfinite(begin).all():
            raise ValueError("lower and upper must be numbers, and lower finite at the source")
        if not np.isfinite(self.upper[0]).all():
            raise ValueError(
                f"upper must be finite for the first resource, got {self.upper[0].max():g}"
            )
        if not (self.consumption >= 0).all():
            raise ValueError(f"consumption must be at least 0, got {self.consumption.min():g}")
        self.lower = np.maximum(self.lower, begin)  # no path has less
        self.n_nodes = n
        inner = np.setdiff1d(np.arange(n), [source, sink])
        between = self.consumption[0][np.ix_(inner, inner)][~np.eye(len(inner), dtype=np.bool_)]
        self._step = float(between.min(where=np.isfinite(between), initial=np.inf))
        length = float(self.upper[0].max() - begin[0, 0])
        if not np.isfinite(self._step):  # no arc between inner nodes
            self._step = max(1.0, length)
        if self._step <= 0:
            raise ValueError(
                "the first resource must grow on every arc between inner nodes, got a consumption "
                f"of {self._step:g}: put a resource that counts arcs in front of the others"
            )
        if n * CELLS * length > MOST_CELLS * self._step:
            raise ValueError(
                f"the first resource is {length / self._step:.0f} times the least consumption "
                f"{self._step:g} between inner nodes: put one that counts arcs in front of it"
            )
        self._nearest = _closure(self.consumption, source, sink)
        self._bit = _packed(np.eye(n, dtype=np.bool_))
        near = np.ones((n, n), dtype=np.bool_)
        if memory is not None:
            order = np.argsort(self.consumption[0] + self.consumption[0].T, axis=1, kind="stable")
            near = np.zeros((n, n), dtype=np.bool_)
            np.put_along_axis(near, order[:, : memory + 1], True, axis=1)
        self._near = near | np.eye(n, dtype=np.bool_)
        self.inner = inner
        self._forget()

    def _forget(self) -> None:
        """Drop what can be computed again."""
        self._arrivals: list[tuple[Indices, Indices]] | None = None
        self._onward: tuple[Vector, tuple[Vector, Indices]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be computed again."""
        return {**vars(self), "_arrivals": None, "_onward": None}

    def onward(
        self, cost: Vector, bounds: Callable[[], tuple[Vector, Indices]]
    ) -> tuple[Vector, Indices]:
        """Bounds at some costs, those of the last search where it had the same costs."""
        known = self._onward
        if known is None or not np.array_equal(known[0], cost):
            known = self._onward = cost.copy(), bounds()
        return known[1]

    def arrivals(
        self, n_cells: int, cell: Callable[[Vector], Indices]
    ) -> Iterable[tuple[Indices, Indices]]:
        """Cells of inner nodes, the last first, and where arcs to inner nodes and the sink end.

        Places are nodes times ``n_cells`` and cells, one more for what comes too late. They depend
        on no costs, and are kept where they are few.
        """
        if self._arrivals is not None:
            return self._arrivals
        found = self._arriving(n_cells, cell)
        if n_cells * len(self.inner) ** 2 <= MOST_ARRIVALS:
            self._arrivals = list(found)
            return self._arrivals
        return found

    def _arriving(
        self, n_cells: int, cell: Callable[[Vector], Indices]
    ) -> Iterator[tuple[Indices, Indices]]:
        inner, lower, upper = self.inner, self.lower[0], self.upper[0]
        nexts = np.append(inner, self.sink)
        consumption = self.consumption[0][np.ix_(inner, nexts)]
        block = CELLS - 1  # an arc leads into a later block, whatever is rounded
        for end in range(n_cells, 0, -block):
            cells = np.arange(max(0, end - block), end)
            amount = lower.min() + (cells - CELL_ROUNDING) * self._step / CELLS
            arrived = amount[:, None, None] + consumption
            np.maximum(arrived, lower[nexts], out=arrived)
            late = arrived > upper[nexts]
            arrived[late] = lower.min()
            place = nexts * n_cells + cell(arrived)
            place[late] = self.n_nodes * n_cells
            yield (cells[:, None] + inner * n_cells).ravel(), place

    def within_reach(self) -> Mask:
        """Nodes that a path may visit as far as each resource alone tells, shape (n_nodes,)."""
        lower, upper, sink = self.lower, self.upper, self.sink
        there = np.maximum(lower, lower[:, [self.source]] + self._nearest[:, self.source])
        back = np.maximum(lower[:, [sink]], there + self._nearest[:, :, sink])
        return np.asarray(((there <= upper) & (back <= upper[:, [sink]])).all(axis=0))

    # ------------------------------------------------------------------ searches

    def heuristic(
        self,
        cost: Vector,
        limit: int,
        below: float = 0.0,
        *,
        subsets: Subsets = (),
        time_limit: float | None = None,
    ) -> FoundPaths:
        """Elementary paths that cost less than ``below``, by a dominance that looks at no nodes.

        Parameters
        ----------
        cost : ndarray of shape (n_nodes, n_nodes)
            Of arcs; inf for one that is not there.
        limit : int
            Paths, at most.
        subsets : sequence of (nodes, price), optional
            A path pays the price, of at least 0, for every second node of each of these sets. At
            most 64 sets.
        time_limit : float or None
            Seconds, after which the paths so far are returned.
        """
        until = _until(time_limit)
        found = _Labelling(self, cost, below, subsets, remember=False, until=until).run()
        return FoundPaths(*found.elementary(limit), -np.inf)

    def shortest(
        self,
        cost: Vector,
        limit: int,
        below: float = 0.0,
        *,
        subsets: Subsets = (),
        time_limit: float | None = None,
    ) -> FoundPaths:
        """The cheapest elementary path, and some more that cost less than ``below``.

        Parameters
        ----------
        cost : ndarray of shape (n_nodes, n_nodes)
        limit : int
            Paths, at most.
        below : float
            The bound is that of the cheapest path, or ``below`` where no path costs less.
        subsets : sequence of (nodes, price), optional
            As of :meth:`heuristic`.
        time_limit : float or None
            Seconds, after which the paths so far are returned, without a bound.
        """
        until = _until(time_limit)
        while True:
            found = _Labelling(self, cost, below, subsets, remember=True, until=until).run()
            if found.cut_short:
                return FoundPaths(*found.elementary(limit), -np.inf)
            if not len(found) or not self._extend_memory(found.path(0)):
                return FoundPaths(*found.elementary(limit), found.least(below))

    def every(
        self,
        cost: Vector,
        below: float,
        limit: int,
        *,
        also: Vector,
        subsets: Subsets = (),
        time_limit: float | None = None,
    ) -> FoundPaths | None:
        """For each set of nodes the best elementary path, of those that cost less than ``below``.

        Baldacci, Christofides, Mingozzi (Mathematical Programming 115, 2008). One label of two with
        the same nodes is dropped if the other costs no more by both matrices, and has used no more.

        Parameters
        ----------
        cost : ndarray of shape (n_nodes, n_nodes)
        below : float
        limit : int
            Paths, at most.
        also : ndarray of shape (n_nodes, n_nodes)
            Another cost of the arcs: the best path is that which costs least by it.
        subsets : sequence of (nodes, price), optional
            As of :meth:`heuristic`; what is paid for them counts for ``cost`` alone.
        time_limit : float or None
            Seconds.

        Returns
        -------
        FoundPaths or None
            The bound is ``below``; None where there are more, or the time was up.
        """
        until = _until(time_limit)
        labelling = _Labelling(self, cost, below, subsets, remember=True, until=until)
        found = labelling.by_length(also, limit)
        return None if found is None else FoundPaths(*found.elementary(limit), below)

    def relaxed_bound(self, cost: Vector, below: float = np.inf) -> float:
        """Cost of the cheapest ng-path, or ``below``: a bound on elementary paths."""
        return _Labelling(self, cost, below, remember=True).run().least(below)

    def _extend_memory(self, path: Sequence[int]) -> bool:
        """Have all nodes of each circle remember its first node; whether there is any circle."""
        last: dict[int, int] = {}
        circles = False
        for place, node in enumerate(path):
            if node in last:
                self._near[list(path[last[node] : place]), node] = True
                circles = True
            last[node] = place
        return circles


class _Labels:
    """Labels one after another in arrays with room for more, resources and words in front."""

    def __init__(self, n_resources: int, n_words: int) -> None:
        self.n = 0
        self.node, self.parent = np.empty(64, dtype=np.intp), np.empty(64, dtype=np.intp)
        self.cost = np.empty(64)
        self.resources = np.empty((n_resources, 64))
        self.closed = np.empty((n_words, 64), dtype=np.uint64)
        self.odd = np.empty(64, dtype=np.uint64)

    def add(
        self,
        node: Indices,
        parent: Indices,
        cost: Vector,
        used: Vector,
        closed: Bits,
        odd: Bits,
    ) -> Indices:
        """Their numbers."""
        end = self.n + len(node)
        if end > len(self.node):
            room = max(end, 2 * len(self.node))
            for name in ("node", "parent", "cost", "resources", "closed", "odd"):
                own = getattr(self, name)
                more = np.empty((*own.shape[:-1], room), dtype=own.dtype)
                more[..., : self.n] = own[..., : self.n]
                setattr(self, name, more)
        new = slice(self.n, end)
        self.node[new], self.parent[new], self.cost[new] = node, parent, cost
        self.odd[new] = odd
        self.resources[:, new], self.closed[:, new] = used, closed
        numbers = np.arange(self.n, end)
        self.n = end
        return numbers


class _Ends:
    """Paths that have reached the sink, the cheapest first; not all of them if cut short."""

    def __init__(
        self,
        sink: int,
        nodes: Indices,
        parents: Indices,
        costs: Vector,
        ends: Indices,
        *,
        cut_short: bool,
    ) -> None:
        order = np.argsort(costs, kind="stable")
        self._sink, self._nodes, self._parents, self.cut_short = sink, nodes, parents, cut_short
        self.costs, self._ends = costs[order], ends[order]

    def __len__(self) -> int:
        return len(self.costs)

    def least(self, otherwise: float) -> float:
        """The cost of the cheapest, or the other number where there is none."""
        return float(self.costs[0]) if len(self) else otherwise

    def path(self, number: int) -> tuple[int, ...]:
        """The nodes of one, from source to sink."""
        path, end = [self._sink], int(self._ends[number])
        while end >= 0:
            path.append(int(self._nodes[end]))
            end = int(self._parents[end])
        return tuple(reversed(path))

    def elementary(self, limit: int) -> tuple[list[tuple[int, ...]], list[float]]:
        """The first elementary paths, and their costs."""
        paths: list[tuple[int, ...]] = []
        costs: list[float] = []
        for number in range(len(self)):
            if len(paths) == limit:
                break
            path = self.path(number)
            if len(set(path)) == len(path):
                paths.append(path)
                costs.append(float(self.costs[number]))
        return paths, costs


class _PaidSubsets:
    """Sets of nodes of which a path pays for every second node that it visits.

    A label has a bit for each set of which it has visited an odd number of nodes.
    """

    def __init__(self, n_nodes: int, subsets: Subsets) -> None:
        if len(subsets) > WORD:
            raise ValueError(f"there may be at most {WORD} subsets, got {len(subsets)}")
        self.member = np.zeros(n_nodes, dtype=np.uint64)
        prices = np.zeros(WORD)
        for number, (nodes, price) in enumerate(subsets):
            if not price >= 0:
                raise ValueError(f"prices of subsets must be at least 0, got {price!r}")
            self.member[list(nodes)] |= np.uint64(1 << number)
            prices[number] = price
        self.n_bytes = -(-len(subsets) // 8)
        ones = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        self.table = prices.reshape(-1, 8) @ ones.T  # of a byte of bits, the sum of their prices

    def __bool__(self) -> bool:
        return self.n_bytes > 0

    def prices(self, bits: Bits) -> Vector:
        """The sum of the prices of some sets."""
        octets = bits.astype("<u8").view(np.uint8).reshape(-1, 8)
        total = np.zeros(len(bits))
        for place in range(self.n_bytes):
            total += self.table[place, octets[:, place]]
        return total

    def visit(self, node: Indices, cost: Vector, odd: Bits) -> tuple[Vector, Bits]:
        """Costs and bits after one more node."""
        if not self:
            return cost, odd
        own = self.member[node]
        return cost + self.prices(odd & own), odd ^ own


class _Labelling:
    """One search; ``closed`` are the nodes that a label remembers, or cannot reach any more."""

    def __init__(
        self,
        graph: ElementaryPaths,
        cost: Vector,
        below: float,
        subsets: Subsets = (),
        *,
        remember: bool,
        until: float = np.inf,
    ) -> None:
        self.graph, self.cost, self.below, self.remember = graph, cost, below, remember
        self.paid = _PaidSubsets(graph.n_nodes, subsets)
        self._until = until
        self.near = _packed(graph._near) if remember else np.full_like(graph._bit, ~np.uint64(0))
        self._bounds_onward, self._next = graph.onward(cost, self._onward)
        self.labels = _Labels(len(graph.lower), len(self.near))
        self.steps: dict[int, list[Indices]] = {}
        self.kept = np.empty((graph.n_nodes, 16), dtype=np.intp)
        self.n_kept = np.zeros(graph.n_nodes, dtype=np.intp)
        self.ends: list[tuple[Vector, Indices]] = []

    def run(self) -> _Ends:
        """The paths below the limit, or those that were found in time."""
        graph, loop = self.graph, compiled(label_paths)
        if loop is not None:
            return self._run_compiled(loop)
        start = graph.lower[:, [graph.source]]
        source = np.array([graph.source], dtype=np.intp)
        closed = self._unreachable(source, start) | graph._bit[:, source]
        odd = self.paid.member[source]
        self._extend(self.labels.add(source, np.array([-1]), np.zeros(1), start, closed, odd))
        while self.steps and not self._is_late:
            self._extend(self._undominated(np.concatenate(self.steps.pop(min(self.steps)))))
        costs, ends = (np.concatenate(own) for own in zip(*self.ends, strict=True))
        nodes, parents = self.labels.node, self.labels.parent
        return _Ends(graph.sink, nodes, parents, costs, ends, cut_short=self._is_late)

    def _run_compiled(self, loop: Callable[..., Any]) -> _Ends:
        """The same by compiled code, in portions between which the clock is looked at."""
        graph, bit = self.graph, np.ascontiguousarray(self.graph._bit.T)
        begin = compiled(first_label) or first_label
        labels, reached, firsts, kept, here, counts = begin(
            graph.lower, graph.upper, graph._nearest, bit, graph._step, graph.source,
            self.paid.member,
        )  # fmt: skip
        over, late = False, False
        while not (over or late):
            labels, reached, here, over = interruptible(
                loop, labels, reached, firsts, kept, here, counts, WORK,
                self.cost, graph.consumption, graph.lower, graph.upper, graph._nearest,
                np.ascontiguousarray(self.near.T), bit, self._bounds_onward, self._next,
                graph._step, float(CELLS), graph.source, graph.sink, self.below, self.remember,
                self.paid.member, self.paid.table,
            )  # fmt: skip
            late = self._is_late
        n_labels, n_ends = int(counts[N_LABELS]), int(counts[N_ENDS])
        nodes, parents = (own[:n_labels] for own in labels[:2])
        costs, ends = reached[0][:n_ends], reached[1][:n_ends]
        return _Ends(graph.sink, nodes, parents, costs, ends, cut_short=not over)

    @property
    def _is_late(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() > self._until

    def _extend(self, numbers: Indices) -> None:
        """Extend labels of one step to all nodes."""
        graph, labels = self.graph, self.labels
        tails = labels.node[numbers]
        cost = labels.cost[numbers][:, None] + self.cost[tails]
        resources = labels.resources[:, numbers][:, :, None] + graph.consumption[:, tails]
        np.maximum(resources, graph.lower[:, None, :], out=resources)
        feasible = np.isfinite(cost) & (resources <= graph.upper[:, None, :]).all(axis=0)
        ends = np.flatnonzero(feasible[:, graph.sink] & (cost[:, graph.sink] < self.below))
        self.ends.append((cost[ends, graph.sink], numbers[ends]))
        feasible &= ~_unpacked(labels.closed[:, numbers], graph.n_nodes)
        feasible[:, [graph.source, graph.sink]] = False
        own, node = np.nonzero(feasible)
        total, odd = self.paid.visit(node, cost[own, node], labels.odd[numbers[own]])
        closed = labels.closed[:, numbers[own]] & self.near[:, node]
        useful = total + self._least_onward(node, resources[0, own, node], closed) < self.below
        own, node, total, odd = own[useful], node[useful], total[useful], odd[useful]
        if not len(own):
            return
        arrived = resources[:, own, node]
        closed = closed[:, useful] | graph._bit[:, node]
        closed |= self._unreachable(node, arrived)
        new = labels.add(node, numbers[own], total, arrived, closed, odd)
        step = np.floor(arrived[0] / graph._step).astype(np.intp)
        order = np.argsort(step, kind="stable")
        new, step = new[order], step[order]
        begins = (np.flatnonzero(step[1:] != step[:-1]) + 1).tolist()
        for begin, end in pairwise([0, *begins, len(step)]):
            self.steps.setdefault(int(step[begin]), []).append(new[begin:end])

    def by_length(self, also: Vector, limit: int) -> _Ends | None:
        """All elementary paths below the limit, the best by ``also`` of those with equal nodes."""
        graph = self.graph
        node, parent = np.array([graph.source], dtype=np.intp), np.array([-1], dtype=np.intp)
        costs, used = np.zeros((2, 1)), graph.lower[:, [graph.source]]
        visited, odd = graph._bit[:, node], self.paid.member[node]
        nodes, parents, ended = [node], [parent], []
        first = 0
        while len(node):
            if self._is_late or len(node) > MOST_LABELS:
                return None
            parts = []
            for begin in range(0, len(node), LABELS_AT_ONCE):
                own = slice(begin, begin + LABELS_AT_ONCE)
                parts.append(
                    self._longer(
                        node[own], costs[:, own], used[:, own], visited[:, own], odd[own], also
                    )
                )
                parts[-1][0][:] += begin
            before, head, costs, used, closed, odd = (
                np.concatenate(own, axis=-1) for own in zip(*parts, strict=True)
            )
            at_end = head == graph.sink
            ended.append((costs[:, at_end], first + before[at_end], visited[:, before[at_end]]))
            inner = np.flatnonzero(~at_end)
            inner = inner[_distinct(head[inner], costs[:, inner], used[:, inner], closed[:, inner])]
            costs, used, visited = costs[:, inner], used[:, inner], closed[:, inner]
            odd = odd[inner]
            node, parent = head[inner], first + before[inner]
            first += len(nodes[-1])
            nodes.append(node)
            parents.append(parent)
        costs, ends, sets = (np.concatenate(own, axis=-1) for own in zip(*ended, strict=True))
        order = np.lexsort((costs[1], *sets))
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (sets[:, order[1:]] != sets[:, order[:-1]]).any(axis=0)
        best = order[new]
        if len(best) > limit:
            return None
        every, before = np.concatenate(nodes), np.concatenate(parents)
        return _Ends(graph.sink, every, before, costs[0, best], ends[best], cut_short=False)

    def _longer(
        self,
        node: Indices,
        costs: Vector,
        used: Vector,
        visited: Bits,
        odd: Bits,
        also: Vector,
    ) -> tuple[Indices, Indices, Vector, Vector, Bits, Bits]:
        """Labels with one more node: places of those before, nodes, costs, resources, sets."""
        graph = self.graph
        cost = costs[0][:, None] + self.cost[node]
        resources = used[:, :, None] + graph.consumption[:, node]
        np.maximum(resources, graph.lower[:, None, :], out=resources)
        feasible = (cost < np.inf) & (resources <= graph.upper[:, None, :]).all(axis=0)
        feasible &= ~_unpacked(visited, graph.n_nodes)
        own, head = np.nonzero(feasible)
        amounts = resources[:, own, head]
        total, odd = self.paid.visit(head, cost[own, head], odd[own])
        sets = visited[:, own]
        useful = total + self._least_onward(head, amounts[0], sets) < self.below
        own, head, amounts = own[useful], head[useful], amounts[:, useful]
        both = np.stack([total[useful], costs[1][own] + also[node[own], head]])
        return own, head, both, amounts, sets[:, useful] | graph._bit[:, head], odd[useful]

    def _cell(self, amount: Vector) -> Indices:
        """The cell of the first resource that an amount is in."""
        low = self.graph.lower[0].min()
        return np.asarray(np.floor((amount - low) * CELLS / self.graph._step), dtype=np.intp)

    def _least_onward(self, node: Indices, amount: Vector, closed: Bits) -> Vector:
        """What labels at some nodes still cost at least, with the nodes that they cannot go to."""
        sink = self.graph.sink
        cell = np.where(node == sink, 0, self._cell(amount))
        then = self._next[node, cell]  # −1: either bound is inf, or 0 at the sink
        word, place = np.divmod(then, WORD)
        is_closed = closed[word, np.arange(len(node))] >> place.astype(np.uint64) & np.uint64(1)
        return np.asarray(self._bounds_onward[is_closed.astype(np.intp), node, cell])

    def _onward(self) -> tuple[Vector, Indices]:
        """Least cost of a walk from a node to the sink: see :func:`least_onward`.

        Dynamic programming backwards over the first resource: a bound on what a path can still
        cost, as no other resource counts and nodes may come again.
        """
        graph = self.graph
        lower, upper = graph.lower[0], graph.upper[0]
        n_cells = max(0, int(self._cell(upper.max(keepdims=True))[0])) + 1
        if (loop := compiled(least_onward)) is not None:
            found: tuple[Vector, Indices] = interruptible(
                loop, self.cost, graph.consumption[0], lower, upper, graph._step, float(CELLS),
                n_cells, CELL_ROUNDING, graph.source, graph.sink,
            )  # fmt: skip
            return found
        size = graph.n_nodes * n_cells
        onward, then = np.full(2 * (size + 1), np.inf), np.full(size + 1, -1, dtype=np.intp)
        at_sink = slice(graph.sink * n_cells, (graph.sink + 1) * n_cells)
        onward[at_sink] = onward[size + 1 :][at_sink] = 0.0
        inner = graph.inner
        nexts = np.append(inner, graph.sink)
        cost = self.cost[np.ix_(inner, nexts)]
        cost[:, :-1][np.eye(len(inner), dtype=np.bool_)] = np.inf
        for places, arrived in graph.arrivals(n_cells, self._cell):
            back = then[arrived] == inner[:, None]
            total = (cost + onward[arrived + (size + 1) * back]).reshape(-1, len(nexts))
            rows, best = np.arange(len(total)), total.argmin(axis=1)
            least = total[rows, best]
            onward[places] = least
            then[places] = np.where(np.isfinite(least), nexts[best], -1)
            total[rows, best] = np.inf
            onward[places + size + 1] = total.min(axis=1)
        kept = np.stack([onward[:size], onward[size + 1 : -1]])
        return kept.reshape(2, -1, n_cells), then[:size].reshape(-1, n_cells)

    def _unreachable(self, node: Indices, resources: Vector) -> Bits:
        """Nodes that no path from here can reach within their upper limits."""
        graph = self.graph
        late = np.zeros((len(node), graph.n_nodes), dtype=np.bool_)
        for own, nearest, upper in zip(resources, graph._nearest, graph.upper, strict=True):
            late |= own[:, None] + nearest[node] > upper
        return _packed(late)

    def _undominated(self, numbers: Indices) -> Indices:
        """Those that no label of the same node makes superfluous, which are kept."""
        labels, graph = self.labels, self.graph
        order = np.lexsort(
            (*labels.resources[::-1, numbers], labels.cost[numbers], labels.node[numbers])
        )
        numbers = numbers[order]
        node = labels.node[numbers]
        counts = np.bincount(node, minlength=graph.n_nodes)
        before = self.n_kept[node]
        own = np.arange(len(node)) - (np.cumsum(counts) - counts)[node]
        self._keep(node, before + own, numbers)
        left = np.ones(len(numbers), dtype=np.bool_)
        width = np.maximum.accumulate(before + own) if len(node) else before
        begin = 0
        while begin < len(numbers) and not self._is_late:
            n_rows = max(1, PAIRS_AT_ONCE // max(1, int(width[begin])))
            part = slice(begin, begin + n_rows)
            left[part] = ~self._is_dominated(numbers[part], before[part] + own[part])
            begin += n_rows
        left[begin:] = False  # the time is up
        numbers, node = numbers[left], node[left]
        counts = np.bincount(node, minlength=graph.n_nodes)
        own = np.arange(len(node)) - (np.cumsum(counts) - counts)[node]
        self._keep(node, self.n_kept[node] + own, numbers)
        self.n_kept += counts
        return numbers

    def _keep(self, node: Indices, place: Indices, numbers: Indices) -> None:
        """Put labels at places among those of their nodes."""
        most = int(place.max(initial=-1)) + 1
        if most > self.kept.shape[1]:
            more = np.empty((len(self.kept), most), dtype=np.intp)
            self.kept = np.concatenate([self.kept, more], axis=1)
        self.kept[node, place] = numbers

    def _is_dominated(self, numbers: Indices, n_before: Indices) -> Mask:
        """Whether a label before in its node costs, uses and closes no more."""
        labels = self.labels
        most = int(n_before.max(initial=0))
        others = self.kept[labels.node[numbers], :most]
        is_there = np.arange(most) < n_before[:, None]
        rows, places = np.nonzero(is_there)
        others = others[rows, places]
        better = labels.cost[others] <= labels.cost[numbers][rows]
        rows, others = rows[better], others[better]
        for own in labels.resources:
            better = own[others] <= own[numbers][rows]
            rows, others = rows[better], others[better]
        if self.remember:
            for word in labels.closed:
                better = (word[others] & ~word[numbers][rows]) == 0
                rows, others = rows[better], others[better]
            if self.paid:
                odd = labels.odd[others] & ~labels.odd[numbers][rows]
                cost = labels.cost[others] + self.paid.prices(odd)
                rows = rows[cost <= labels.cost[numbers][rows]]
        dominated = np.zeros(len(numbers), dtype=np.bool_)
        dominated[rows] = True
        return dominated


def _distinct(node: Indices, costs: Vector, used: Vector, visited: Bits) -> Indices:
    """Labels without those that one with the same node and nodes makes superfluous.

    Each is compared with those just before it in the order of costs: some may be overlooked.
    """
    order = np.lexsort((*used, costs[1], costs[0], *visited, node))
    node, costs, used, visited = node[order], costs[:, order], used[:, order], visited[:, order]
    left = np.ones(len(order), dtype=np.bool_)
    for away in range(1, NEIGHBOURS + 1):
        same = node[away:] == node[:-away]
        for words in visited:
            same &= words[away:] == words[:-away]
        for amounts in (*costs, *used):
            same &= amounts[:-away] <= amounts[away:]
        left[away:] &= ~same
    return order[left]


def _until(time_limit: float | None) -> float:
    """When a time limit ends, by the clock."""
    return np.inf if time_limit is None else time.perf_counter() + time_limit


def _closure(consumption: Vector, source: int, sink: int) -> Vector:
    """The least consumption on any way from node to node (Floyd and Warshall)."""
    nearest = consumption.copy()
    nearest[:, sink] = nearest[:, :, source] = np.inf  # no path leaves the sink
    for k in range(nearest.shape[1]):
        np.minimum(nearest, nearest[:, :, [k]] + nearest[:, [k], :], out=nearest)
    return nearest


def _packed(values: Mask) -> Bits:
    """Rows of truth values as bitsets, shape (n_words, n_rows)."""
    n_rows, n = values.shape
    n_words = -(-n // WORD)
    padded = np.zeros((n_rows, n_words * WORD), dtype=np.bool_)
    padded[:, :n] = values
    packed = np.packbits(padded, axis=1, bitorder="little").view("<u8")
    return np.ascontiguousarray(packed.T.astype(np.uint64))


def _unpacked(bits: Bits, n: int) -> Mask:
    """Truth values of shape (n_rows, n) from bitsets."""
    packed = np.ascontiguousarray(bits.T).astype("<u8").view(np.uint8)
    return np.unpackbits(packed, axis=1, count=n, bitorder="little").astype(np.bool_)
