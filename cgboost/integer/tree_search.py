"""The tree search: nodes, their relaxations, cuts, heuristics, children, and the bound of all."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cgboost.exceptions import BoundError, CGBoostError, ExecutorError, MasterError
from cgboost.generation.callbacks import ClosingCallback
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import Pricer
from cgboost.generation.stabilization import Smoothing
from cgboost.generation.termination import described
from cgboost.integer.branching import INTEGRAL, Branch, BranchingRule, NodeSolution
from cgboost.integer.callbacks import FinishingCallback, TreeState, WaitingCallback
from cgboost.integer.decisions import (
    Apart,
    Decision,
    Row,
    SubsetRow,
    Together,
    respected_by,
    rows_named,
)
from cgboost.integer.heuristics import Heuristic
from cgboost.integer.node_selection import Node, NodeSelection
from cgboost.integer.parallel_nodes import NodeTask, ParallelNodes
from cgboost.integer.result import TREE, BranchAndPriceResult
from cgboost.integer.search import ObjectiveStepError, Relaxation, Search, columns_of
from cgboost.integer.strong_branching import Choice, StrongBranching
from cgboost.masters.linear.master import LinearMaster
from cgboost.parallel.executors import Executor

logger = logging.getLogger(__name__)

MOST_CUT_ROUNDS = 20
"""Rounds of cuts at a node: a callback that always has one more would never let it end."""

CutCallback = Callable[[NodeSolution], Sequence[Row]]
"""``cuts(solution) -> rows`` that hold for every integer solution and cut this one off."""


class BranchingError(CGBoostError, ValueError):
    """A branching rule makes decisions that the pricer does not respect."""


@dataclass(frozen=True)
class TreeOptions:
    """What a search is made of; see :class:`~cgboost.integer.BranchAndPrice`."""

    master: LinearMaster
    pricer: Pricer
    branching: Sequence[BranchingRule]
    node_selection: NodeSelection
    heuristics: Sequence[Heuristic]
    cuts: Sequence[CutCallback]
    objective_step: float | None
    start: Sequence[Column]
    columns_per_round: int
    smoothing: Smoothing | None
    callbacks: Sequence[Callable[[TreeState], Any]]
    strong_branching: StrongBranching | None = None
    executor: Executor | None = None


class SearchEnd(Exception):  # noqa: N818 (it ends a search, nothing failed)
    """Carries the reason for which a search ends before the gap is closed."""

    def __init__(self, reason: StopReason, message: str, error: Exception | None = None) -> None:
        super().__init__(message)
        self.reason, self.message, self.error = reason, message, error


@dataclass
class _Tree:
    """Rows of the table, and the nodes that are closed with a bound below the best solution."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    least_closed: float = math.inf
    made: int = 1


@contextmanager
def _ending(where: str = "") -> Iterator[None]:
    """What the master or the pricer raises ends the search, but for what shows a wrong claim."""
    try:
        yield
    except (BoundError, ObjectiveStepError):
        raise
    except MasterError as error:
        reason = StopReason.TIME if error.timed_out else StopReason.MASTER_FAILED
        raise SearchEnd(reason, described(error), error) from error
    except ExecutorError as error:
        raise SearchEnd(StopReason.WORKER_FAILED, described(error), error) from error
    except Exception as error:
        if isinstance(error, CGBoostError) and error.refutes_bounds:
            raise
        raise SearchEnd(StopReason.PRICER_FAILED, where + described(error), error) from error


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


class TreeSearch:
    """One search.

    Parameters
    ----------
    what : TreeOptions
    gap : float
    time_limit : float or None
    max_nodes : int or None
    """

    def __init__(
        self, what: TreeOptions, gap: float, time_limit: float | None, max_nodes: int | None
    ) -> None:
        self.what, self.gap, self.max_nodes = what, gap, max_nodes
        self.search = Search(
            what.master,
            what.pricer,
            objective_step=what.objective_step,
            columns_per_round=what.columns_per_round,
            smoothing=what.smoothing,
            gap=gap,
            time_limit=time_limit,
        )
        self.search.between_rounds = self._wait
        self.open = what.node_selection
        self.tree = _Tree()
        self.cuts: dict[Row, None] = {}
        self.current: Node | None = None
        self.waiting: list[Node] = []
        self.parallel = None if what.executor is None else ParallelNodes(self.search, what.executor)
        self.infeasible = self.unproven = ""

    def result(self) -> BranchAndPriceResult:
        """Search, and say what was found."""
        try:
            return self._result()
        finally:
            for callback in self.what.callbacks:
                if isinstance(callback, ClosingCallback):
                    callback.close()

    def _result(self) -> BranchAndPriceResult:
        error = None
        self.open.start()
        if self.what.strong_branching is not None:
            self.what.strong_branching.start()
        self.open.push([Node(0)])
        try:
            self._take_start()
            while self.open.nodes():
                self._next()
            reason, message = self._conclusion()
        except SearchEnd as stopped:
            reason, message, error = stopped.reason, stopped.message, stopped.error
        except KeyboardInterrupt:
            if not self.search.incumbent and not math.isfinite(self._bound()):
                raise
            reason, message = StopReason.INTERRUPTED, "Ctrl-C; the best solution so far is kept"
        logger.info("stopped after %d nodes: %s (%s)", len(self.tree.rows), reason, message)
        bound = self._bound()
        if error is not None and not self.search.incumbent and not math.isfinite(bound):
            raise error
        self.search.check_bound(self._least())
        columns, coef = columns_of(self.search, self.search.incumbent)
        table = list(zip(*self.tree.rows, strict=True)) or [()] * len(TREE)
        result = BranchAndPriceResult(
            objective=self.search.objective,
            bound=None if bound == -math.inf else bound,
            gap=self._gap(bound),
            columns=columns,
            coef=coef,
            n_nodes=len(self.tree.rows),
            n_generated=len(self.search.pool),
            stop_reason=reason,
            message=message,
            tree={name: np.array(own) for name, own in zip(TREE, table, strict=True)},
            error=error,
        )
        for callback in self.what.callbacks:
            if isinstance(callback, FinishingCallback):
                callback.finish(result)
        return result

    # ------------------------------------------------------------------ nodes

    def _next(self) -> None:
        """Do one node, or a batch of them."""
        self._take_nodes(1 if self.parallel is None else self.parallel.n_nodes)
        for relaxation in self._first_relaxations():
            node = self.current = self.waiting[0]
            del self.waiting[0]  # now: a node is never in neither, which Ctrl-C would lose
            status = self._evaluate(node, relaxation)
            done, self.current = self.current or node, None
            self._record(done, status)

    def _take_nodes(self, most: int) -> None:
        """The next open nodes that are not closed, at most so many."""
        search = self.search
        while self.open.nodes() and len(self.waiting) < most:
            node = self.open.pop()
            if search.closes(node.bound):
                self._close(node.bound)
                continue
            self.waiting.append(node)
            if search.is_over:
                raise SearchEnd(StopReason.TIME, "the time limit was reached")
            done = len(self.tree.rows) + len(self.waiting) - 1
            if self.max_nodes is not None and done >= self.max_nodes:
                if len(self.waiting) == 1:
                    raise SearchEnd(StopReason.MAX_NODES, f"{self.max_nodes} nodes")
                self.open.push([self.waiting.pop()])
                return

    def _first_relaxations(self) -> list[Relaxation | None]:
        """Those of the nodes that wait, if they are solved at once."""
        if self.parallel is None or len(self.waiting) < 2:
            return [None] * len(self.waiting)
        cuts = list(self.cuts)
        tasks = [NodeTask([*node.decisions, *cuts], node.near) for node in self.waiting]
        with _ending():
            return list(self.parallel.solve(tasks))

    def _evaluate(self, node: Node, first: Relaxation | None) -> str:
        """Relaxation, cuts, heuristics, children; what became of the node."""
        search = self.search
        relaxation, bound = self._relaxed(node, first)
        infeasible = relaxation.stop_reason is StopReason.INFEASIBLE
        if infeasible or search.closes(bound):
            self._close(bound)
            return "infeasible" if infeasible else "cut_off"
        node = self.current = self._at_least(node, bound)
        if not relaxation.feasible:
            words = (
                f"the relaxation of node {node.number} is not feasible over the columns that the "
                f"pricer finds, which proves nothing: {relaxation.message}"
            )
            if node.number == 0 or not math.isfinite(relaxation.bound):
                raise SearchEnd(StopReason.NO_COLUMN, words)
            self._close(bound)
            self.unproven = words
            return "unfinished"
        solution = self._solution(node, relaxation)
        counts = search.merged(relaxation.numbers.tolist(), relaxation.coef)
        if search.whole(counts) is not None:
            search.offer(counts, "relaxation")
            self._close(bound)
            return "integral"
        for heuristic in self.what.heuristics:
            if search.closes(bound) or search.is_over:
                break
            with _ending(f"in the heuristic {_name(heuristic)}: "):
                heuristic(search, node, relaxation)
        if search.closes(bound):
            self._close(bound)
            return "cut_off"
        if search.is_over:
            self._record(node, "unfinished")
            raise SearchEnd(StopReason.TIME, "the time limit was reached")
        self.open.push(self._children(node, relaxation, solution))
        return "branched"

    def _relaxed(self, node: Node, first: Relaxation | None) -> tuple[Relaxation, float]:
        """The relaxation of a node with all cuts, and its bound; ``first`` is already solved."""
        search, bound = self.search, node.bound
        near: Any = node.near
        for _ in range(MOST_CUT_ROUNDS):
            decisions = [*node.decisions, *self.cuts]
            if first is None:
                with _ending():
                    relaxation = search.relaxation(search.problem(decisions, near=near))
            else:
                relaxation, first = first, None
            near = relaxation.near
            bound = max(bound, search.rounded(relaxation.bound))
            self.current = self._at_least(node, bound)
            if relaxation.stop_reason is StopReason.INVALID_BOUND:
                raise relaxation.error or CGBoostError(relaxation.message)
            if relaxation.error is not None:
                raise SearchEnd(relaxation.stop_reason, relaxation.message, relaxation.error)
            if relaxation.stop_reason is StopReason.UNBOUNDED:
                raise SearchEnd(relaxation.stop_reason, "the relaxation is unbounded")
            if relaxation.stop_reason is StopReason.INTERRUPTED:
                self._record(self.current, "unfinished")
                raise SearchEnd(relaxation.stop_reason, "Ctrl-C; the best solution so far is kept")
            if relaxation.stop_reason is StopReason.TIME:
                self._record(self.current, "unfinished")
                raise SearchEnd(relaxation.stop_reason, "the time limit was reached")
            if relaxation.stop_reason is StopReason.INFEASIBLE and node.number == 0:
                self.infeasible = relaxation.message
            if (
                not relaxation.feasible
                or search.closes(bound)
                or not self._separate(node, relaxation)
            ):
                break
        return relaxation, bound

    def _separate(self, node: Node, relaxation: Relaxation) -> bool:
        """Ask for cuts; whether there are new ones."""
        if not self.what.cuts:
            return False
        solution, before = self._solution(node, relaxation), len(self.cuts)
        known = respected_by(self.what.pricer)
        for callback in self.what.cuts:
            rows = callback(solution)
            if not isinstance(rows, Iterable):
                raise BranchingError(f"cuts must return a sequence of rows, got {rows!r}")
            for row in rows:
                if type(row) not in known:
                    raise BranchingError(
                        f"a cut of the kind {type(row).__name__} was returned, which the pricer "
                        "does not say that it respects"
                    )
                self._check_rows(row)
                self.cuts.setdefault(row)
        return len(self.cuts) > before

    def _check_rows(self, decision: Any) -> None:
        """Raise a BranchingError if a decision names rows that it cannot be about."""
        rows, numbers = self.what.master.constraints, self.search.pool.numbers
        for name in rows_named(decision):
            if name not in numbers:
                raise BranchingError(
                    f"{decision} names the row {name!r}, which the master does not have; it has "
                    f"{list(numbers)[:10]}"
                )
            number = numbers[name]
            if isinstance(decision, SubsetRow) and (
                rows.senses[number] == ">=" or rows.rhs[number] != 1.0
            ):
                raise BranchingError(
                    f"{decision} is a cut for rows ≤ 1 or = 1, but the row {name!r} is "
                    f"{rows.senses[number]} {rows.rhs[number]:g}"
                )

    def _note_divided(self, children: Sequence[Sequence[Decision]]) -> None:
        """Have the pool refuse columns that would make decisions on pairs of rows wrong."""
        pool = self.search.pool
        for decision in (each for decisions in children for each in decisions):
            if isinstance(decision, (Together, Apart)):
                for name in rows_named(decision):
                    pool.divided[pool.numbers[name]] = True

    def _check_branches(self, rule: BranchingRule, branches: Sequence[Any]) -> None:
        """Raise a BranchingError unless these are branches with decisions that the rule names."""
        name, kinds = type(rule).__name__, ", ".join(kind.__name__ for kind in rule.makes)
        for branch in branches:
            if not isinstance(branch, Branch):
                raise BranchingError(f"{name}.branches must return Branch objects, got {branch!r}")
            if not branch.children:
                raise BranchingError(f"{name} gave the branch {branch.name!r}, without children")
            for decisions in branch.children:
                if not isinstance(decisions, Sequence) or not decisions:
                    raise BranchingError(
                        f"{name} gave the branch {branch.name!r} with the child {decisions!r}: "
                        "each child must be a sequence of at least one decision"
                    )
                for decision in decisions:
                    if not isinstance(decision, tuple(rule.makes)):
                        raise BranchingError(
                            f"{name} made the decision {decision!r}, which is of none of the "
                            f"kinds that it names ({kinds})"
                        )
                    self._check_rows(decision)

    def _children(self, node: Node, relaxation: Relaxation, solution: NodeSolution) -> list[Node]:
        strong = self.what.strong_branching
        for rule in self.what.branching:
            branches = rule.branches(solution, 1 if strong is None else strong.n_candidates)
            if branches:
                self._check_branches(rule, branches)
                choice = Choice(branches[0], (node.bound,) * len(branches[0].children))
                if strong is not None:
                    with _ending():
                        choice = strong.choose(
                            self.search, node, relaxation, branches, list(self.cuts)
                        )
                children = choice.branch.children
                self._note_divided(children)
                numbers = range(self.tree.made, self.tree.made + len(children))
                self.tree.made += len(children)
                return [
                    Node(
                        number,
                        node.number,
                        (*node.decisions, *decisions),
                        bound,
                        node.depth + 1,
                        relaxation.near,
                    )
                    for number, decisions, bound in zip(
                        numbers, children, choice.bounds, strict=True
                    )
                ]
        names = [type(rule).__name__ for rule in self.what.branching]
        tried = ", ".join(names) or "none: the pricer says of no decision that it respects it"
        raise SearchEnd(
            StopReason.NO_BRANCHING,
            f"the solution of node {node.number} is fractional, and no branching rule finds "
            f"anything ({tried}); see @respects and branching=",
        )

    def _solution(self, node: Node, relaxation: Relaxation) -> NodeSolution:
        numbers = relaxation.numbers.tolist()
        counts = self.search.merged(numbers, relaxation.coef, by_variables=True)
        coef = np.array(list(counts.values()))
        return self.search.solution(list(counts), coef, node.decisions, node.depth)

    def _take_start(self) -> None:
        if not self.what.start:
            return
        counts: dict[int, float] = {}
        self.what.master.check_columns(self.what.start)
        for number in self.search.pool.add(self.what.start).tolist():
            counts[number] = counts.get(number, 0.0) + 1.0
        if not self.search.is_feasible(counts):
            raise ValueError("start is no solution: its columns do not meet the rows of the master")
        self.search.offer(counts, "start")

    # ------------------------------------------------------------------ bounds

    @staticmethod
    def _at_least(node: Node, bound: float) -> Node:
        return replace(node, bound=bound)

    def _close(self, bound: float) -> None:
        """Take note of the bound of a node that is done."""
        self.tree.least_closed = min(self.tree.least_closed, self.search.rounded(bound))

    def _bound(self) -> float:
        """The bound of the tree, which is no more than the best solution."""
        return min(self._least(), self.search.objective)

    def _least(self) -> float:
        """The least bound of all open and closed nodes: one of them has the best solution."""
        bounds = [node.bound for node in self.open.nodes()]
        bounds += [node.bound for node in self.waiting]
        if self.current is not None:
            bounds.append(self.current.bound)
        least = min([self.search.rounded(bound) for bound in bounds], default=math.inf)
        return min(least, self.tree.least_closed)

    def _gap(self, bound: float) -> float:
        objective = self.search.objective
        if not (math.isfinite(bound) and math.isfinite(objective)):
            return math.inf
        return max(0.0, objective - bound) / max(1.0, abs(objective))

    def _record(self, node: Node, status: str) -> None:
        """A row of the table; callbacks; and the end, if the gap is closed."""
        search, bound = self.search, self._bound()
        own = math.inf if status == "infeasible" else search.rounded(node.bound)
        n_columns = len(search.pool)
        entry = (node.number, node.parent, node.depth, own, status, n_columns)
        self.tree.rows.append((*entry, search.objective, bound, search.seconds))
        search.check_bound(self._least())
        if status == "unfinished":
            return
        seen = self._state(bound)
        asked = [callback(seen) for callback in self.what.callbacks]
        if seen.n_open and any(asked):
            raise SearchEnd(StopReason.CALLBACK, f"asked to stop after {seen.n_nodes} nodes")

    def _state(self, bound: float) -> TreeState:
        search = self.search
        return TreeState(
            len(self.tree.rows),
            len(self.open.nodes()) + len(self.waiting),
            bound,
            search.objective,
            self._gap(bound),
            len(search.pool),
            search.seconds,
        )

    def _wait(self) -> None:
        """Between the rounds of a relaxation."""
        for callback in self.what.callbacks:
            if isinstance(callback, WaitingCallback):
                callback.waiting(self._state(self._bound()))

    def _conclusion(self) -> tuple[StopReason, str]:
        if not self.search.incumbent and not math.isfinite(self.search.objective):
            if self.infeasible:
                return StopReason.INFEASIBLE, self.infeasible
            if self.unproven:
                return StopReason.NO_COLUMN, self.unproven
            least = self._least()
            words = f", or costs at least {least:.3g}" if math.isfinite(least) else ""
            return StopReason.INFEASIBLE, f"no integer solution exists{words}"
        gap = self._gap(self._bound())
        if gap == 0:
            return StopReason.OPTIMAL, f"proven, solution found by {self.search.found_by}"
        if gap > self.gap + INTEGRAL:
            reason = StopReason.STALLED if math.isfinite(gap) else StopReason.NO_COLUMN
            return reason, "no node is left to divide, but the pricer's bounds do not prove it"
        return StopReason.GAP, f"relative gap {gap:.1e}, no node is left to divide"
