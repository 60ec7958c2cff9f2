"""The tree search: nodes, their relaxations, cuts, heuristics, children, and the bound of all."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.exceptions import BoundError, CGBoostError, ExecutorError, MasterError, see
from cgboost.generation.callbacks import Callback, keeps_records
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import ListingPricer, Pricer
from cgboost.generation.resuming import fingerprint_of, time_used
from cgboost.generation.stabilization import Smoothing
from cgboost.generation.termination import described, rows_missed
from cgboost.integer.branching.checks import check_branches, check_cuts
from cgboost.integer.branching.decisions import (
    Apart,
    Decision,
    Restrictions,
    Row,
    Together,
    respected_by,
    rows_named,
)
from cgboost.integer.branching.rules import (
    INTEGRAL,
    BranchingRule,
    NodeSolution,
    Requirement,
    VariableBranching,
)
from cgboost.integer.branching.strong_branching import BranchCandidate, StrongBranching
from cgboost.integer.branching.variable_fixing import Probes, VariableFixing
from cgboost.integer.heuristics import BranchDiving, Diving, Heuristic, RestrictedMaster
from cgboost.integer.listing import Listing
from cgboost.integer.node_selection import Node, NodeSelection
from cgboost.integer.parallel_nodes import NodeTask, ParallelNodes
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.reporting.undivided import missing_copies, wanted_bound, why_undivided
from cgboost.integer.result import (
    BranchAndPriceResult,
    IntegerSolution,
    NodeProof,
    TreeProof,
    tree_table,
)
from cgboost.integer.resuming import SearchRecord
from cgboost.integer.root_prices import root_prices
from cgboost.integer.search_state import (
    GAP_FROM_AFAR,
    ObjectiveStepError,
    Relaxation,
    Search,
    columns_of,
)
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.masters.linear.subgradient import Subgradient
from cgboost.parallel.executors import Executor

logger = logging.getLogger(__name__)

MOST_CUT_ROUNDS = 20
"""Rounds of cuts at a node: a callback that always has one more would never let it end."""

PROVEN_GAP = 1e-9
"""A relative gap up to this is the rounding of sums of costs, and the solution is optimal."""

FIRST_COMBINATION, FIRST_SHARE = 1.0, 0.25
"""Seconds, or the share of the time limit, after which a search that is at the root, or has no
solution yet, combines its columns between rounds if solutions are far away; after that, whenever it
has taken twice as long. It dives after half of it, or all of it if the relaxation ends soon."""

FIRST_SECONDS = 2.0
"""What a combination of columns may take before a list of all useful ones is made at the root."""

LAST_SECONDS = 1.0
"""What the last combination of columns may take beyond the time limit."""

OUT_OF_TIME = "the time limit was reached"
"""How messages of searches and nodes that run out of time begin."""

CutCallback = Callable[[NodeSolution], Sequence[Row]]
"""``cuts(solution) -> rows`` that hold for every integer solution and cut this one off."""


@dataclass(frozen=True)
class TreeOptions:
    """What a search is made of; see :class:`~cgboost.BranchAndPrice`."""

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
    callbacks: Sequence[Callback]
    strong_branching: StrongBranching | None = None
    executor: Executor | None = None
    subgradient: Subgradient | None = None
    fixing: VariableFixing | None = None
    constant: float = 0.0
    start_duals: Vector | None = None

    @property
    def integer(self) -> frozenset[Hashable]:
        """Variables that rules or fixing say must be integer."""
        parts = [rule.integer for rule in self.branching if isinstance(rule, VariableBranching)]
        if self.fixing is not None:
            parts.append(self.fixing.integer)
        return frozenset(v for own in parts for v in own or ())


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
    infeasible: str = ""
    unproven: str = ""
    undivided: str = ""
    n_undivided: int = 0
    least_undivided: float = math.inf


@contextmanager
def _ending(where: str = "") -> Iterator[None]:
    """What the master or the pricer raises ends the search, but for what shows a wrong claim."""
    try:
        yield
    except (BoundError, ObjectiveStepError, SearchEnd):
        raise
    except MasterError as error:
        if error.timed_out:
            raise SearchEnd(StopReason.TIME, OUT_OF_TIME) from error
        raise SearchEnd(StopReason.MASTER_FAILED, described(error), error) from error
    except ExecutorError as error:
        raise SearchEnd(StopReason.WORKER_FAILED, described(error), error) from error
    except Exception as error:
        if isinstance(error, CGBoostError) and error.refutes_bounds:
            raise
        raise SearchEnd(StopReason.PRICER_FAILED, where + described(error), error) from error


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


class TreeSearch:
    """One search."""

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
            subgradient=what.subgradient,
            integer=what.integer,
            requirements=[rule for rule in what.branching if isinstance(rule, Requirement)],
            constant=what.constant,
        )
        self.search.between_rounds = self._wait
        self.open = what.node_selection
        self.tree = _Tree()
        self.proofs: dict[int, NodeProof] = {}
        self.cuts: dict[Row, None] = {}
        self.current: Node | None = None
        self.waiting: list[Node] = []
        self.parallel = None if what.executor is None else ParallelNodes(self.search, what.executor)
        fits = what.fixing is not None and what.fixing.fits(self.search)
        self.fixing = what.fixing if fits else None
        self.listing = Listing(self.search)
        self.combining = [h for h in what.heuristics if isinstance(h, RestrictedMaster)][-1:]
        most = math.inf if time_limit is None else FIRST_SHARE * time_limit
        self._next_combination = min(FIRST_COMBINATION, most)
        self._next_dive = 0.5 * self._next_combination
        self.diving = [h for h in what.heuristics if isinstance(h, (BranchDiving, Diving))][:1]

    def result(self, resume: SearchRecord | None = None) -> BranchAndPriceResult:
        """Search, and say what was found."""
        try:
            return self._result(resume)
        finally:
            for callback in self.what.callbacks:
                callback.close()

    def _result(self, resume: SearchRecord | None) -> BranchAndPriceResult:
        error = None
        self.open.start()
        if self.what.strong_branching is not None:
            self.what.strong_branching.start()
        saving = self._saving
        for saver in saving:
            saver.begin(fingerprint_of(self.what.master, self.what.pricer))
        if resume is not None:
            resume.restore(self)
        else:
            duals = self.what.start_duals
            self.open.push([Node(0, near=None if duals is None else (duals, {}))])
        try:
            if resume is None:
                self._take_start()
            while self.open.nodes():
                self._next()
            reason, message = self._conclusion()
        except SearchEnd as stopped:
            reason, message, error = stopped.reason, stopped.message, stopped.error
        except KeyboardInterrupt:
            self._keep_root_bound()
            if not self.search.incumbent and not math.isfinite(self._bound()):
                raise
            reason, message = StopReason.INTERRUPTED, "Ctrl-C"
        if error is not None and not self.search.incumbent and not math.isfinite(self._bound()):
            raise error
        if reason is StopReason.TIME:
            for own in self.combining:
                own.combine(self.search, min(LAST_SECONDS, own.time_limit))
            if self.search.distance(self._bound()) <= self.gap:
                reason, message = self._conclusion()
        if reason in (StopReason.TIME, StopReason.INTERRUPTED):
            reason, message = self._cut_short(reason, message)
        if reason is StopReason.TIME and resume is not None:
            message += time_used(resume.seconds, self.search.time_limit)
        for saver in saving:
            saver.save(partial(SearchRecord.of, self), ended=True)
        if self.current is not None:
            self._record(self.current, "unfinished")
        logger.info("stopped after %d nodes: %s (%s)", len(self.tree.rows), reason, message)
        result = self._outcome(reason, message, error)
        for callback in self.what.callbacks:
            callback.finish(result)
        return result

    def _outcome(
        self, reason: StopReason, message: str, error: Exception | None
    ) -> BranchAndPriceResult:
        search, bound = self.search, self._bound()
        search.check_bound(self._least())
        columns, coef = columns_of(search, search.incumbent)
        solutions = [
            IntegerSolution(objective, *columns_of(search, counts), found_by)
            for objective, counts, found_by in search.solutions
        ]
        return BranchAndPriceResult(
            objective=search.objective,
            bound=None if bound == -math.inf else float(bound),
            gap=self.search.distance(bound),
            columns=columns,
            coef=coef,
            n_nodes=len(self.tree.rows),
            stop_reason=reason,
            message=message,
            tree=tree_table(self.tree.rows),
            error=error,
            seconds=search.seconds,
            pool=tuple(search.pool.columns),
            solutions=solutions,
            integer=search.integer,
            proof=self._proof(),
            **self._prices(),
        )

    def _proof(self) -> TreeProof | None:
        """What the bound rests on; None where a part of the tree was searched in another run."""
        if 0 not in self.proofs:
            return None
        rows = self.search.master.constraints
        return TreeProof(tuple(rows.names), tuple(rows.senses), rows.rhs, self.proofs)

    def _note_proof(self, node: Node, near: Any) -> None:
        """Keep the duals that the bound of a node rests on: its own, or those of its parent."""
        duals = None if near is None else near[0]
        self.proofs[node.number] = NodeProof(node.parent, node.decisions, duals)

    def _prices(self) -> dict[str, dict[Hashable, float]]:
        """Duals of the root, and the reduced costs of all columns there."""
        search = self.search
        if search.root_duals is None:
            return {}
        own, extra = search.root_duals
        reduced = search.pool.reduced_costs(own, extra).tolist()
        keys = [column.key for column in search.pool.columns]
        duals = dict(zip(search.master.rows, own.tolist(), strict=True))
        duals.update({row: dual for row, dual in extra.items() if isinstance(row, Hashable)})
        return {
            "duals": duals,
            "reduced_costs": dict(zip(keys, reduced, strict=True)),
        }

    def _cut_short(self, reason: StopReason, message: str) -> tuple[StopReason, str]:
        """Reason and words of a search that was stopped from outside."""
        kept = "; the best solution so far is kept"
        words = message + (kept if self.search.incumbent else " before a solution was found")
        if self._bound() == -math.inf:
            words += missing_copies(self.search.master)
        return reason, words

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
            self._save()

    def _take_nodes(self, most: int) -> None:
        """The next open nodes that are not closed, at most so many."""
        search = self.search
        while self.open.nodes() and len(self.waiting) < most:
            node = self.open.pop()
            if search.closes(node.bound, node.at_most):
                self._close(node, node.bound)
                continue
            self.waiting.append(node)
            if search.is_over:
                raise SearchEnd(StopReason.TIME, OUT_OF_TIME)
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
        node, relaxation, bound = self._fixed(node, relaxation, bound)
        infeasible = relaxation.stop_reason is StopReason.INFEASIBLE
        if infeasible or search.closes(bound, node.at_most):
            self._close(node, bound)
            return "infeasible" if infeasible else "cut_off"
        node = self.current = replace(node, bound=bound)
        if not relaxation.feasible:
            words = _unmet(node, relaxation, self.what.pricer)
            if node.number == 0 or not math.isfinite(relaxation.bound):
                raise SearchEnd(StopReason.NO_COLUMN, words)
            self._close(node, bound)
            self.tree.unproven = words
            return "unfinished"
        solution = self._solution(node, relaxation)
        counts = search.integral(relaxation)
        if counts is not None:
            search.offer(counts, "relaxation")
            self._close(node, bound)
            return "integral"
        for heuristic in self.what.heuristics:
            if search.closes(bound) or search.is_over:
                break
            with _ending(f"in the heuristic {_name(heuristic)}: "):
                heuristic(search, node, relaxation)
        if search.closes(bound, node.at_most):
            self._close(node, bound)
            return "cut_off"
        if search.is_over:
            raise SearchEnd(StopReason.TIME, OUT_OF_TIME)
        if self._is_listed(node, relaxation):
            self._close(node, search.objective)
            return "cut_off"
        children = self._by_objective(node, relaxation)
        children = children or self._children(node, relaxation, solution)
        if not children:
            return self._set_aside(node, solution)
        self.open.push(children)
        for child in children:
            self._note_proof(child, child.near)
        return "branched"

    def _is_listed(self, node: Node, relaxation: Relaxation) -> bool:
        """Whether a list of all useful columns has ended the node."""
        if not isinstance(self.what.pricer, ListingPricer):
            return False
        search = self.search
        with _ending():
            if node.number == 0:  # the better the best solution, the shorter the list
                left = math.inf if search.seconds_left is None else search.seconds_left
                for own in self.combining:
                    own.combine(search, min(FIRST_SECONDS, own.time_limit, left), relaxation)
            return self.listing.ends(node.decisions, list(self.cuts), relaxation)

    def _set_aside(self, node: Node, solution: NodeSolution) -> str:
        """Keep the bound of a node that no rule divides; the search of the others goes on."""
        tree, what = self.tree, self.what
        if not tree.n_undivided:
            pairs = zip(solution.columns, solution.coef.tolist(), strict=True)
            missing = self.search.missing({self.search.pool.number(c): x for c, x in pairs})
            why = why_undivided(solution, what.branching, respected_by(what.pricer), missing)
            tree.undivided = f"at node {node.number}, {why}{see('branch-and-price')}"
        tree.n_undivided += 1
        tree.least_undivided = min(tree.least_undivided, node.bound)
        self._close(node, node.bound)
        return "undivided"

    # ------------------------------------------------------------------ fixed variables

    def _by_objective(self, node: Node, relaxation: Relaxation) -> list[Node]:
        """The solutions that cost little more than the bound, with variables fixed, and the others.

        Each time that nothing comes of it, the next such node takes in twice as many costs.
        """
        step, bound, fixing = self.what.objective_step, node.bound, self.fixing
        if step is None or fixing is None or node.at_most < math.inf:
            return []
        most = bound + step * (2**node.n_divided - 1)
        if not most < self.search.objective <= bound + fixing.most_steps * step:
            return []
        probes = self._probes(node, relaxation)
        implied = [] if probes is None else probes.implied(self.search, most)
        if not probes or len(implied) < max(1, fixing.least_share * len(probes.held)):
            return []
        number, self.tree.made = self.tree.made, self.tree.made + 2
        fixed, depth = (*node.decisions, *implied), node.depth + 1
        near, n_divided = relaxation.near, node.n_divided + 1
        return [
            Node(number, node.number, fixed, bound, depth, near, most),
            Node(
                number + 1,
                node.number,
                node.decisions,
                most + step,
                depth,
                near,
                math.inf,
                n_divided,
            ),
        ]

    def _fixed(
        self, node: Node, relaxation: Relaxation, bound: float
    ) -> tuple[Node, Relaxation, float]:
        """The node with the variables that its cost fixes."""
        search = self.search
        if node.at_most == math.inf or search.closes(bound, node.at_most):
            return node, relaxation, bound
        probes = self._probes(node, relaxation)
        implied = [] if probes is None else probes.implied(search, node.at_most)
        if implied:
            node = self.current = replace(node, decisions=(*node.decisions, *implied), bound=bound)
            checks = Restrictions(implied)
            columns = [search.pool.columns[j] for j in relaxation.numbers.tolist()]
            if any(checks.broken(column, search.pool.numbers) for column in columns):
                relaxation, bound = self._relaxed(replace(node, near=relaxation.near), None)
        return node, relaxation, bound

    def _probes(self, node: Node, relaxation: Relaxation) -> Probes | None:
        if self.fixing is None or not relaxation.feasible:
            return None
        with _ending():
            return self.fixing.probes(self.search, [*node.decisions, *self.cuts], relaxation)

    def _relaxed(self, node: Node, first: Relaxation | None) -> tuple[Relaxation, float]:
        """The relaxation of a node with all cuts, and its bound; ``first`` is already solved."""
        search, bound = self.search, node.bound
        near: Any = node.near
        for _ in range(MOST_CUT_ROUNDS):
            decisions = [*node.decisions, *self.cuts]
            if first is None:
                with _ending():
                    problem = search.problem(decisions, near=near)
                    relaxation = search.relaxation(
                        problem, at_most=node.at_most, meanwhile=self._meanwhile
                    )
            else:
                relaxation, first = first, None
            near = relaxation.near
            self._note_proof(node, node.near if near is None else near)
            if node.number == 0:
                search.root_duals = root_prices(search, relaxation)
            bound = max(bound, search.rounded(relaxation.bound))
            self.current = replace(node, bound=bound)
            if relaxation.stop_reason is StopReason.INVALID_BOUND:
                raise relaxation.error or CGBoostError(relaxation.message)
            if relaxation.stop_reason is StopReason.TIME:
                raise SearchEnd(StopReason.TIME, OUT_OF_TIME)
            if relaxation.error is not None:
                lost = isinstance(relaxation.error, ExecutorError)  # within the pricer
                reason = StopReason.WORKER_FAILED if lost else relaxation.stop_reason
                raise SearchEnd(reason, relaxation.message, relaxation.error)
            if relaxation.stop_reason is StopReason.UNBOUNDED:
                raise SearchEnd(relaxation.stop_reason, "the relaxation is unbounded")
            if relaxation.stop_reason is StopReason.INTERRUPTED:
                raise SearchEnd(StopReason.INTERRUPTED, "Ctrl-C")
            if relaxation.stop_reason is StopReason.INFEASIBLE and node.number == 0:
                self.tree.infeasible = relaxation.message
            if not relaxation.feasible or search.closes(bound, node.at_most):
                break
            if self._is_listed(node, relaxation):
                bound = max(bound, search.objective)
                break
            if not self._separate(node, relaxation):
                break
        return relaxation, bound

    def _separate(self, node: Node, relaxation: Relaxation) -> bool:
        """Ask for cuts; whether there are new ones."""
        if not self.what.cuts:
            return False
        every = replace(node, decisions=(*node.decisions, *self.cuts))
        solution, before = self._solution(every, relaxation), len(self.cuts)
        known = respected_by(self.what.pricer)
        for callback in self.what.cuts:
            rows = check_cuts(callback(solution), known, self.what.master.constraints)
            self.cuts.update(dict.fromkeys(rows))
        return len(self.cuts) > before

    def _note_divided(self, children: Sequence[Sequence[Decision]]) -> None:
        """Have the pool refuse columns that would make decisions on pairs of rows wrong."""
        pool = self.search.pool
        for decision in (each for decisions in children for each in decisions):
            if isinstance(decision, (Together, Apart)):
                for name in rows_named(decision):
                    pool.divided[pool.numbers[name]] = True

    def _children(self, node: Node, relaxation: Relaxation, solution: NodeSolution) -> list[Node]:
        """Those of the first rule that finds something; none where no rule does."""
        strong = self.what.strong_branching
        for rule in self.what.branching:
            branches = rule.branches(solution, 1 if strong is None else strong.n_candidates)
            if branches:
                check_branches(rule, branches, self.what.master.constraints)
                choice = BranchCandidate(branches[0], (node.bound,) * len(branches[0].children))
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
                        node.at_most,
                    )
                    for number, decisions, bound in zip(
                        numbers, children, choice.bounds, strict=True
                    )
                ]
        return []

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
        for number in self.search.beyond_upper(counts):
            column = self.search.pool.columns[number]
            raise ValueError(
                f"start is no solution: it has the column {column.key!r} {counts[number]:g} times, "
                f"but its upper bound is {column.upper:g}"
            )
        violations = self.search.violations(counts)
        if violations.any():
            rows = rows_missed(self.what.master.constraints.names, violations)
            raise ValueError(f"start is no solution: its columns do not meet the rows {rows}")
        if missing := self.search.missing(counts):
            raise ValueError(f"start is no solution: {missing}")
        self.search.offer(counts, "start")
        self._wait()

    # ------------------------------------------------------------------ bounds

    def _close(self, node: Node, bound: float) -> None:
        """Take note of the bound of a node that is done; another node has what costs more."""
        if self.search.rounded(bound) > node.at_most:
            return
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

    def _keep_root_bound(self) -> None:
        """Give the root, if it is cut short, the bound of its rounds so far."""
        if self.current is not None and self.current.number == 0:
            known = self.search.rounded(self.search.root_bound)
            self.current = replace(self.current, bound=max(self.current.bound, known))

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
            self.search.distance(bound),
            len(search.pool),
            search.seconds,
            search.found_by,
        )

    def _meanwhile(self, so_far: Callable[[], Relaxation]) -> None:
        """Dive between the rounds of a long relaxation, as long as solutions are far away."""
        search, node = self.search, self.current
        if node is None or search.seconds <= self._next_dive or not self._is_early:
            return
        relaxation = so_far()
        gap = relaxation.objective - relaxation.bound
        ends_soon = gap <= GAP_FROM_AFAR * search.scale(relaxation.objective)
        if ends_soon and search.seconds <= 2.0 * self._next_dive:  # and then dives begin
            return
        if relaxation.feasible and search.is_far_from(relaxation.bound):
            after = self._next_combination
            self._next_dive = self._next_combination = math.inf  # nothing within the dive
            for own in self.diving:
                own.dive(search, node, relaxation, max(FIRST_COMBINATION, search.seconds))
            self._next_combination = after
        self._next_dive = 2.0 * search.seconds

    @property
    def _is_early(self) -> bool:
        """Whether the search is at the root, or has no solution."""
        at_root = self.current is not None and self.current.number == 0
        return at_root or not self.search.incumbent

    def _wait(self) -> None:
        """Between the rounds of a relaxation."""
        self._save()
        search = self.search
        is_wanted = not search.incumbent if search.is_diving else self._is_early
        due = max(self._next_combination, 2.0 * search.combined_at)
        if is_wanted and search.seconds > due and search.is_far_from(search.root_bound):
            for own in self.combining:
                left = math.inf if search.seconds_left is None else search.seconds_left
                own.combine(search, min(own.time_limit, own.share * search.seconds, left))
            self._next_combination = 2.0 * search.seconds
        of_root = search.rounded(search.root_bound)
        state = self._state(min(max(self._bound(), of_root), search.objective))
        asked = [callback.waiting(state) for callback in self.what.callbacks]
        if any(asked):
            self._keep_root_bound()
            raise SearchEnd(StopReason.CALLBACK, f"asked to stop after {state.n_nodes} nodes")

    @property
    def _saving(self) -> list[Callback]:
        """The callbacks that keep records."""
        return [callback for callback in self.what.callbacks if keeps_records(callback)]

    def _save(self) -> None:
        """Offer the search to callbacks that keep it."""
        for saver in self._saving:
            saver.save(partial(SearchRecord.of, self), ended=False)

    def _without_names(self) -> str:
        """Words where no column has a variable that must be integer: its name may be wrong."""
        integer, named = (
            self.search.integer,
            [c.variables for c in self.search.pool.columns if c.variables],
        )
        if not integer or not named or any(v in integer for own in named for v in own):
            return ""
        return (
            f"; no column has {min(map(repr, integer))}, or another variable that must be integer"
        )

    def _conclusion(self) -> tuple[StopReason, str]:
        tree = self.tree
        if tree.n_undivided and not self.search.closes(tree.least_undivided):
            n = "a node" if tree.n_undivided == 1 else f"{tree.n_undivided} nodes"
            return StopReason.NO_BRANCHING, (
                f"no rule divides the fractional solution of {n}: {tree.undivided}"
            )
        if not self.search.incumbent and not math.isfinite(self.search.objective):
            if tree.infeasible:
                return StopReason.INFEASIBLE, f"{tree.infeasible}{see('branch-and-price')}"
            if tree.unproven:
                return StopReason.NO_COLUMN, tree.unproven
            least = self._least()
            words = f", or costs at least {least:.3g}" if math.isfinite(least) else ""
            return StopReason.INFEASIBLE, f"no integer solution exists{words}"
        gap = self.search.distance(self._bound())
        if gap <= PROVEN_GAP:
            return StopReason.OPTIMAL, (
                f"proven, solution found by {self.search.found_by}{self._without_names()}"
            )
        if not math.isfinite(gap):
            return StopReason.NO_COLUMN, (
                "no node is left to divide, but nothing is proven: the pricer gave no bound; "
                f"{wanted_bound(self.what.pricer)}{see('branch-and-price')}"
            )
        if gap > self.gap + INTEGRAL:
            return StopReason.STALLED, (
                "no node is left to divide, but the pricer's bounds do not prove it"
                f"{see('branch-and-price')}"
            )
        return StopReason.GAP, f"relative gap {gap:.1e}: no solution is better by more"


def _unmet(node: Node, relaxation: Relaxation, pricer: Pricer) -> str:
    """Why a node cannot be judged whose rows are not met."""
    words = (
        f"no columns that the pricer found meet the rows of node {node.number}, which proves "
        f"nothing: {relaxation.message}"
    )
    if relaxation.stop_reason is StopReason.NO_COLUMN and relaxation.bound == -math.inf:
        words += f"; without a bound there may be others: {wanted_bound(pricer)}"
    return words + see("branch-and-price")
