"""Branch and cut in HiGHS on a whole model: alone, or in turns with a tree search.

Which of the two is faster is seen only when they run. Where branch and cut has a share s of the
time, both together take 1/s times as long as it alone, or 1/(1 − s) times as long as the search,
whichever is less.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cgboost._solvers import run_highs, run_interruptible
from cgboost.arrays import Vector
from cgboost.exceptions import BoundError, CGBoostError
from cgboost.forks import cached_property
from cgboost.generation.callbacks import Callback
from cgboost.generation.history import StopReason
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.integer.decomposition.model import Model, checked, filled_highs, set_options
from cgboost.integer.decomposition.reformulation import Reformulation
from cgboost.integer.node_selection import Node
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.result import BranchAndPriceResult
from cgboost.integer.search_state import FAR_FROM_BOUND, Relaxation, Search

if TYPE_CHECKING:
    import highspy

WHOLE_FEASIBILITY = 1e-9
"""What rows and bounds may be missed by with the integers of a solution given."""

TURN = 0.1
"""Seconds that a turn of branch and cut has at least. Of the models that come with GCG most are
solved by one of the two in less."""

FIRST_TURN = 2e-4
"""Seconds that branch and cut has before the tree search, for each entry of the different blocks
that were found. The tree search makes these blocks and prices each of them some ten times before it
has a bound, which takes no less. Where blocks are given, it begins at once."""

SHARE_OF_FOUND, SHARE_OF_GIVEN = 0.5, 0.1
"""Of the time, that of branch and cut where blocks were found, and where they are given: then they
are mostly good ones. Given blocks have the share of found ones while their bound is far away."""

EARLY = 1.0
"""Seconds in which a tree search shows what given blocks are worth; and the longest first turn."""


SMALL_COST, LARGE_COST = 1e-2, 1e3
"""Where all costs are smaller, or larger, they get another unit. Where some are larger and others
are not, small ones count as well."""


LAST_WAIT = 1.0
"""Seconds for which the end of branch and cut is waited for: it ends when HiGHS next asks."""


WITHOUT_OPTIMUM = {StopReason.INFEASIBLE: math.inf, StopReason.UNBOUNDED: -math.inf}
"""Ends of a minimisation that leave no optimum, and the bound that each of them is."""


class DecompositionError(CGBoostError):
    """A result does not hold in the original model, or HiGHS ends without one."""

    section = "models-with-blocks"


@dataclass(frozen=True)
class CutOutcome:
    """What branch and cut found, as a minimisation.

    Attributes
    ----------
    stop_reason : StopReason
    objective : float
        With the constant of the model; inf without a solution.
    bound : float or None
    x : ndarray of shape (n_variables,) or None
    """

    stop_reason: StopReason
    objective: float
    bound: float | None
    x: Vector | None

    @property
    def is_conclusive(self) -> bool:
        """Whether no more time is needed."""
        return self.stop_reason not in (StopReason.TIME, StopReason.INTERRUPTED)


class BranchAndCut:
    """Branch and cut in HiGHS, and the linear program of its integers.

    Parameters
    ----------
    model : Model
    end : float, default=inf
        Until when the linear program of the integers may run, by :func:`time.perf_counter`.
    """

    def __init__(self, model: Model, end: float = math.inf) -> None:
        self.model, self.end = model, end

    def run(self, gap: float, time_limit: float | None, *, log: bool = False) -> CutOutcome:
        """Solve the model; what is known when the time is up, or after Ctrl-C.

        Raises
        ------
        KeyboardInterrupt
            If nothing is known by then.
        """
        highs = self.loaded(gap)
        limit = math.inf if time_limit is None else float(time_limit)
        set_options(highs, output_flag=log, time_limit=limit)
        started = time.perf_counter()
        was_interrupted = run_interruptible(highs)
        if without_costs := self.is_undecided(highs):
            set_options(highs, time_limit=max(0.0, limit - (time.perf_counter() - started)))
            was_interrupted = run_interruptible(highs)
        found = self.outcome(highs, was_interrupted=was_interrupted, without_costs=without_costs)
        if was_interrupted and found.x is None and found.bound is None:
            raise KeyboardInterrupt
        return found

    def loaded(self, gap: float) -> highspy.Highs:
        """The model in HiGHS."""
        model, program = self.model, self.model.program
        bounds, sides = (program.lower, program.upper), (program.row_lower, program.row_upper)
        highs = filled_highs("the model", program.cost, bounds, model.matrix, sides, model.integer)
        checked(highs.changeObjectiveOffset(program.constant), "the constant")
        set_options(highs, mip_rel_gap=gap, mip_abs_gap=0.0)
        return highs

    def is_undecided(self, highs: highspy.Highs) -> bool:
        """Whether a run has not told infeasible from unbounded; it is made ready to do so.

        Where the relaxation is unbounded, the model is so if it has a solution at all (Meyer,
        Mathematical Programming 7, 1974), whatever the costs.
        """
        status, n = highs.getModelStatus().name, len(self.model.names)
        is_open = status == "kUnbounded" and bool(self.model.integer.any())
        if status != "kUnboundedOrInfeasible" and not is_open:
            return False
        every = np.arange(n, dtype=np.int32)
        checked(highs.changeColsCost(n, every, np.zeros(n)), "costs of 0")
        return True

    def outcome(
        self,
        highs: highspy.Highs,
        *,
        was_interrupted: bool = False,
        without_costs: bool = False,
    ) -> CutOutcome:
        """What a run has found; one without costs, whether there is a solution.

        Raises
        ------
        DecompositionError
            If it has ended without saying anything about the model.
        """
        import highspy

        model, program = self.model, self.model.program
        status, info = highs.getModelStatus(), highs.getInfo()
        kinds = highspy.HighsModelStatus
        reasons = {
            kinds.kOptimal: StopReason.OPTIMAL,
            kinds.kTimeLimit: StopReason.TIME,
            kinds.kInterrupt: StopReason.INTERRUPTED,
            kinds.kInfeasible: StopReason.INFEASIBLE,
            kinds.kUnbounded: StopReason.UNBOUNDED,
        }
        if not len(model.names):  # HiGHS looks at nothing
            return self._of_no_variables()
        reason = StopReason.INTERRUPTED if was_interrupted else reasons.get(status)
        if reason is None:
            raise DecompositionError(f"HiGHS ends the model with {status.name}")
        if without_costs:
            reason = StopReason.UNBOUNDED if reason is StopReason.OPTIMAL else reason
            return CutOutcome(reason, math.inf, WITHOUT_OPTIMUM.get(reason), None)
        has_point = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        known = has_point and reason is not StopReason.UNBOUNDED
        own = info.mip_dual_bound
        if not model.integer.any():  # on its way, a linear program has no bound
            own = info.objective_function_value if reason is StopReason.OPTIMAL else -math.inf
        x = np.array(highs.getSolution().col_value) if known else None
        if x is not None and reason is StopReason.OPTIMAL:
            x, ended = self.made_whole(x)
            reason = reason if ended is None else ended
        objective = math.inf if x is None else program.objective_value(x)
        bound: float | None = min(own, objective) if math.isfinite(own) else None
        bound = WITHOUT_OPTIMUM.get(reason, bound)
        return CutOutcome(reason, objective, bound, x)

    def _of_no_variables(self) -> CutOutcome:
        """The outcome of a model whose rows have no entries."""
        nothing, constant = np.zeros(0), self.model.program.constant
        if not self.model.is_feasible(nothing):
            return CutOutcome(StopReason.INFEASIBLE, math.inf, math.inf, None)
        return CutOutcome(StopReason.OPTIMAL, constant, constant, nothing)

    def made_whole(self, x: Vector) -> tuple[Vector, StopReason | None]:
        """The best point with these integers made whole; the point as it is where none is there.

        And what has ended the search for it, if anything has: no limit where the point with its
        integers rounded is one, and costs the same. Branch and cut accepts integers and rows that
        are off by 1e-6, a linear program less.
        """
        model, n = self.model, len(self.model.names)
        if not model.integer.any():
            return x, None
        highs = self.loaded(0.0)  # a model that had turns has another callback
        set_options(
            highs,
            output_flag=False,
            time_limit=max(0.0, self.end - time.perf_counter()),
            primal_feasibility_tolerance=WHOLE_FEASIBILITY,
            dual_feasibility_tolerance=WHOLE_FEASIBILITY,
        )
        whole = np.round(x) + 0.0
        lower, upper = model.program.lower, model.program.upper
        ends = [np.where(model.integer, whole, own) for own in (lower, upper)]
        every = np.arange(n, dtype=np.int32)
        checked(highs.changeColsBounds(n, every, *ends), "the bounds of whole variables")
        checked(highs.changeColsIntegrality(n, every, np.zeros(n, np.uint8)), "the integrality")
        if run_interruptible(highs):
            return x, StopReason.INTERRUPTED
        status = highs.getModelStatus().name
        if status == "kTimeLimit":
            near, cost = np.where(model.integer, whole, x), model.program.objective_value
            same = model.is_feasible(near) and relative(cost(near), cost(x)) <= INTEGRAL
            return (near, None) if same else (x, StopReason.TIME)
        if status != "kOptimal":
            return x, None
        return np.where(model.integer, whole, np.array(highs.getSolution().col_value)), None


class PausedCut:
    """Branch and cut that goes on only for some seconds at a time, in another thread.

    It stops where HiGHS asks whether it should be interrupted: between the nodes of its tree, and
    between some iterations of its linear programs.

    Parameters
    ----------
    cut : BranchAndCut
    gap : float

    Attributes
    ----------
    bound : float
        On the objective, so far.
    best : tuple of a float and an ndarray of shape (n_variables,)
        The objective of the best solution so far, and the solution; inf and None without one. They
        are one object: the thread that reads them is another one than that which finds them.
    """

    def __init__(self, cut: BranchAndCut, gap: float) -> None:
        self.bound, self._cut, self._gap = -math.inf, cut, gap
        self.best: tuple[float, Vector | None] = (math.inf, None)
        self._is_cancelled = self._without_costs = False
        self._may_go, self._is_over = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    @cached_property
    def _highs(self) -> highspy.Highs:
        """The model, loaded for the first turn."""
        from highspy import cb

        kinds, highs = cb.HighsCallbackType, self._cut.loaded(self._gap)
        self._node, self._solution = (
            kinds.kCallbackMipInterrupt,
            kinds.kCallbackMipImprovingSolution,
        )
        self._kinds = (self._node, kinds.kCallbackSimplexInterrupt, self._solution)
        checked(highs.setCallback(self._called, None), "callbacks")
        for kind in self._kinds:
            checked(highs.startCallback(kind), "callbacks")
        return highs

    @property
    def has_begun(self) -> bool:
        """Whether it has had a turn."""
        return self._thread is not None

    @property
    def has_ended(self) -> bool:
        """Whether there is an outcome."""
        return self._is_over.is_set()

    @property
    def objective(self) -> float:
        """Of the best solution so far."""
        return self.best[0]

    @property
    def known(self) -> CutOutcome | None:
        """What is known where it is interrupted; None if that is nothing."""
        (objective, x), bound = self.best, self.bound
        if x is None and bound == -math.inf:
            return None
        own = None if bound == -math.inf else min(bound, objective)
        return CutOutcome(StopReason.INTERRUPTED, objective, own, x)

    def go_on(self, seconds: float | None) -> bool:
        """Go on for some seconds, or to the end; whether it has ended."""
        self._may_go.set()
        if self._thread is None:  # its end is waited for at exit
            thread = threading.Thread(target=self._run, args=(self._highs,))
            thread.start()
            self._thread = thread
        if not self._is_over.wait(seconds):
            self._may_go.clear()
        return self.has_ended

    def outcome(self) -> CutOutcome:
        """What was found, once it has ended."""
        for kind in self._kinds:  # in this thread, HiGHS would make an error of Ctrl-C within one
            checked(self._highs.stopCallback(kind), "callbacks")
        return self._cut.outcome(self._highs, without_costs=self._without_costs)

    def close(self) -> None:
        """End it."""
        self._is_cancelled = True
        self._may_go.set()
        if self._thread is not None:
            self._thread.join(LAST_WAIT)

    def _run(self, highs: highspy.Highs) -> None:
        try:
            run_highs(highs)
            if not self._is_cancelled and self._cut.is_undecided(highs):
                self._without_costs = True
                run_highs(highs)
        finally:
            self._is_over.set()

    def _called(self, kind: Any, message: str, out: Any, back: Any, data: Any) -> None:
        """HiGHS has a solution, or asks whether to go on."""
        if kind == self._solution:
            x = np.array(out.mip_solution)
            self.best = self._cut.model.program.objective_value(x), x
            return
        if kind == self._node and not self._without_costs:  # linear programs have no such bound
            self.bound = max(self.bound, float(out.mip_dual_bound))
        self._may_go.wait()
        back.user_interrupt = self._is_cancelled


class InTurns(Callback):
    """Branch and cut in turns with a tree search, which stops when both have solved the model.

    A callback of the search, and a heuristic that gives it the solutions of branch and cut.

    Parameters
    ----------
    cut : BranchAndCut
    gap : float
        Relative gap that ends the search.
    share : float or None, default=0.5
        Of the time, that of branch and cut; None: the tree search is alone.
    time_limit : float or None
        Of both.

    Attributes
    ----------
    made : Reformulation or None
        What the tree search solves, once it is there.
    takes_part : bool
        Whether branch and cut has turns, and goes on where the search ends without an answer.
    paused : PausedCut
        Branch and cut, which begins with its first turn.
    outcome : CutOutcome or None
        That of branch and cut, once it has ended.
    """

    def __init__(
        self,
        cut: BranchAndCut,
        gap: float,
        share: float | None = SHARE_OF_FOUND,
        time_limit: float | None = None,
    ) -> None:
        self.cut, self._model, self._gap, self._share = cut, cut.model, gap, share or 0.0
        self.takes_part = share is not None
        self.paused = PausedCut(cut, gap)
        self._time_limit = math.inf if time_limit is None else time_limit
        self.made: Reformulation | None = None
        self._owed, self._offered = 0.0, math.inf
        self._started = self._seen = time.perf_counter()
        self._objective, self._best_bound, self._is_relaxed = math.inf, -math.inf, False
        self.outcome: CutOutcome | None = None

    @property
    def _constant(self) -> float:
        """What every solution costs besides the columns of the search."""
        own = 0.0 if self.made is None else self.made.constant
        return self._model.program.constant + own

    def __call__(self, current: TreeState) -> bool:
        """After a node; whether the model is solved."""
        return self.waiting(current)

    def waiting(self, state: TreeState) -> bool:
        """Between two rounds of a node; whether the model is solved."""
        self._objective = state.objective + self._constant
        self._best_bound = state.bound + self._constant
        if self.outcome is None and self.take_turn():
            self.end()
        if self.outcome is not None:
            return self.outcome.is_conclusive
        if not self.paused.has_begun:
            return False
        objective = min(self.paused.objective, self._objective)
        return relative(objective, max(self.paused.bound, self._best_bound)) <= self._gap

    def end(self) -> CutOutcome:
        """The outcome of branch and cut, which has ended."""
        self.outcome = self.paused.outcome()
        return self.outcome

    def give_up(self) -> bool:
        """Whether to leave blocks that are still being made: the model is solved, or time is up."""
        return self.take_turn() or time.perf_counter() > self.cut.end

    def take_first_turn(self, seconds: float) -> bool:
        """The first turn, on account of the next ones; whether it has ended."""
        if seconds <= 0.0 or not self.takes_part:
            return False
        has_ended = self.paused.go_on(min(seconds, self._time_limit))
        self._seen = time.perf_counter()
        self._owed -= self._seen - self._started
        return has_ended

    def take_turn(self) -> bool:
        """Let branch and cut go on, if it is its turn; whether it has ended.

        Also while the blocks are made, and within a pricing problem: both may take longer than the
        whole model.
        """
        if self.paused.has_ended:
            return True
        if not self.takes_part:
            return False
        now = time.perf_counter()
        passed, since = now - self._started, now - self._seen
        share = self._share_after(passed)
        owed = self._owed + since * share / (1.0 - share)
        if owed < TURN:
            self._owed, self._seen = owed, now
            return False
        has_ended = self.paused.go_on(min(owed, max(TURN, self._time_limit - passed)))
        self._seen = time.perf_counter()
        self._owed = owed - (self._seen - now)
        return has_ended

    def _share_after(self, seconds: float) -> float:
        """Of the time, that of branch and cut, after so many seconds."""
        objective = min(self.paused.objective, self._objective)
        if seconds < EARLY or not self._share:
            is_far = False
        elif math.isfinite(objective):
            is_far = relative(objective, self._best_bound) > FAR_FROM_BOUND
        else:
            is_far = not self._is_relaxed
        return max(self._share, SHARE_OF_FOUND) if is_far else self._share

    def heuristic(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """Offer the last solution to the search; see :class:`~cgboost.integer.heuristics`."""
        self._is_relaxed = True
        (objective, x), made = self.paused.best, self.made
        if x is None or made is None or objective >= self._offered:
            return
        self._offered = objective
        columns, counts = made.columns_of(x)
        taken: dict[int, float] = {}
        for number, count in zip(search.pool.add(columns).tolist(), counts, strict=True):
            taken[number] = taken.get(number, 0.0) + count
        search.offer(taken, "branch and cut")

    def joined(self, tree: BranchAndPriceResult) -> BranchAndPriceResult:
        """The result of a tree search with the end, and the better values, of branch and cut."""
        cut, own = self.outcome, self._constant
        if cut is not None and cut.is_conclusive:
            objective, bound, reason = cut.objective, cut.bound, cut.stop_reason
        else:
            objective = min(self.paused.objective, tree.objective + own)
            reason = tree.stop_reason
            bound = max(self.paused.bound, -math.inf if tree.bound is None else tree.bound + own)
            if reason is StopReason.CALLBACK and relative(objective, bound) <= self._gap:
                reason = StopReason.GAP
        return replace(
            tree,
            stop_reason=reason,
            objective=objective - own,
            bound=None if bound is None or bound == -math.inf else bound - own,
            gap=relative(objective, bound),
        )

    def check_bound(self, tree: BranchAndPriceResult) -> None:
        """Raise a BoundError if the tree's bound is above a solution of branch and cut."""
        if tree.bound is None:
            return
        bound, objective = tree.bound + self._constant, self.paused.objective
        if bound - objective > INTEGRAL * max(1.0, abs(objective)):
            raise BoundError(
                f"the bound {bound:.10g} of the tree search is above the objective "
                f"{objective:.10g} of a solution that branch and cut has found"
            )

    def rest(self, seconds: float | None) -> CutOutcome | None:
        """The outcome of branch and cut, which goes on alone; None where it has not begun.

        Raises
        ------
        KeyboardInterrupt
            If nothing is known by then.
        """
        if not self.paused.has_begun or self.outcome is not None:
            return self.outcome
        reason = StopReason.TIME
        try:
            if self.paused.go_on(seconds):
                return self.end()
        except KeyboardInterrupt:
            if self.paused.known is None:
                raise
            reason = StopReason.INTERRUPTED
        known = self.paused.known
        return replace(known or CutOutcome(reason, math.inf, None, None), stop_reason=reason)


def cost_unit(cost: Vector) -> float:
    """A power of two by which all costs are divided; 1 where some are of a usual size.

    Tolerances of solvers are absolute. HiGHS stops within 1e-6 of the optimum, which is the whole
    objective where costs are 1e-8, and with costs of 1e12 one unit of a row that is missed costs
    less than any column.
    """
    sizes = np.abs(cost[cost != 0])
    if not sizes.size or (sizes.max() >= SMALL_COST and sizes.min() <= LARGE_COST):
        return 1.0
    own = sizes.max() if sizes.max() < SMALL_COST else sizes.min()
    return float(2.0 ** np.floor(np.log2(own)))


def relative(objective: float, bound: float | None) -> float:
    r"""The gap between an objective and a bound on it, relative to max(1, \|objective\|)."""
    if bound is None or not (math.isfinite(objective) and math.isfinite(bound)):
        return math.inf
    return max(0.0, objective - bound) / max(1.0, abs(objective))
