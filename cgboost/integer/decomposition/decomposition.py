"""Branch-and-price for an existing model, with the solution in its variables."""

from __future__ import annotations

import difflib
import inspect
import math
import os
import re
import sys
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent import futures
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cgboost import above
from cgboost.arrays import Vector
from cgboost.exceptions import CGBoostError, PersistenceError, ResumeError
from cgboost.generation.callbacks import as_callback, keeps_records
from cgboost.generation.history import StopReason
from cgboost.integer.branch_and_price import BranchAndPrice
from cgboost.integer.branching.decisions import check_number, check_whole
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.integer.decomposition.blocks import Structure, structure_of
from cgboost.integer.decomposition.branch_and_cut import (
    EARLY,
    FIRST_TURN,
    SHARE_OF_FOUND,
    SHARE_OF_GIVEN,
    WITHOUT_OPTIMUM,
    BranchAndCut,
    CutOutcome,
    DecompositionError,
    InTurns,
    cost_unit,
    relative,
)
from cgboost.integer.decomposition.detection import detect
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.reformulation import (
    BlocksGivenUpError,
    NotDecomposableError,
    Reformulation,
    obstacle,
    reformulated,
)
from cgboost.integer.decomposition.row_names import BlockName
from cgboost.integer.decomposition.structure_files import read_structure
from cgboost.integer.reporting.callbacks import OwnSense
from cgboost.integer.reporting.progress import TreeProgress
from cgboost.integer.result import BranchAndPriceResult
from cgboost.integer.search_state import MOST_SOLUTIONS
from cgboost.parallel.executors import Executor

SHOWING_NOTHING = (StopReason.NO_COLUMN, StopReason.STALLED, StopReason.NO_BRANCHING)
"""Ends of a search that leave nothing to do, though objective and bound do not meet."""

IN_TURNS = "solved by branch and cut in HiGHS, in turns with a tree search"
"""How the message of a result begins where branch and cut had the answer first."""

OVER_COLUMNS = (
    "solve(branch_and_cut=False) solves the model over the columns of its blocks alone, with "
    "duals, their pool and a certificate"
)
"""What to do where branch and cut had the answer before the columns."""

NOT_MADE = "the time limit was reached while the blocks were made"
"""What the message of a result has where there was no time for a search."""

COSTS_MORE = "with its integers made whole the best solution costs more"
"""Why a search that is at an end has not shown an optimum."""

WORTH = re.compile(r"(;|, or) (any solution )?costs at least [-+.\d]+(e[-+]?\d+)?")
"""What a message of a search says of solutions that it has not ruled out."""

WITHOUT_POINT = re.compile(
    r"no column helps to meet the rows (block (?:'[^']*'|\"[^\"]*\")) \(by [^()]*\)(?!,| and)"
)
"""What a message says of a single block that is left without a column."""

NO_POINT_LEFT = (
    r"\1 has no point that meets its own rows, and with the other blocks the linking ones"
)


@dataclass(frozen=True)
class ModelSolution:
    """A solution of a model.

    Attributes
    ----------
    objective : float
        In the sense of the model, including the constant.
    x : dict of str to float
        By the names of the variables.
    """

    objective: float
    x: dict[str, float] = field(repr=False)


@dataclass(frozen=True)
class BlockColumn:
    """A column of a search: a point of a block, or a direction in which a block has no end.

    Attributes
    ----------
    block : str
        What the block is called, or its number; of equal blocks the first one.
    objective : float
        What the point adds to the objective, in the sense of the model. A variable with rows in
        several blocks counts in the first of them.
    x : dict of str to float
        Its nonzero variables, by the names of the model.
    ray : bool
        Whether it is a direction.
    """

    block: str
    objective: float
    x: dict[str, float] = field(repr=False)
    ray: bool = False


@dataclass(frozen=True)
class DecompositionResult:
    """Result of :meth:`Decomposition.solve`, in the sense (minimise or maximise) of the model.

    Attributes
    ----------
    objective : float
        Objective of the best solution found, including the constant; ±inf without one.
    bound : float or None
        Bound on the objective of all solutions; None without a certificate. Of a minimisation it
        is inf if the model is infeasible, and −inf if it is unbounded.
    gap : float
        ``|objective − bound|/max(1, |objective|)``; inf without either.
    x : dict of str to float
        The solution, by the names of the variables; empty without one.
    stop_reason : StopReason
    message : str
        Why it stopped; if nothing was decomposed, why not.
    structure : Structure or None
        The blocks; None if the model was solved by plain branch and cut.
    tree : BranchAndPriceResult or None
        The tree search in terms of columns: minimised, without the constant. If branch and cut was
        faster, as far as it had come.
    maximize : bool
        The sense of the model.
    constant : float
        The constant missing in the objective of the tree, in the sense of minimisation.
    duals : dict of str to float
        Duals of the linking rows by name, in the relaxation of the root: by how much its optimum,
        in the sense of the model, rises with each unit of a side of the row. Empty where there is
        none, as where branch and cut was faster; ``solve(branch_and_cut=False)`` leaves it out.
        See :class:`~cgboost.integer.BranchAndPriceResult`.
    solutions : list of ModelSolution
        The best ten that were met at most, best first; the first is ``x``.
    """

    objective: float
    bound: float | None
    gap: float
    x: dict[str, float] = field(repr=False)
    stop_reason: StopReason
    message: str
    structure: Structure | None = field(default=None, repr=False)
    tree: BranchAndPriceResult | None = None
    maximize: bool = False
    constant: float = 0.0
    duals: dict[str, float] = field(default_factory=dict, repr=False)
    solutions: list[ModelSolution] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        """The summary."""
        return self.summary()

    @property
    def pool(self) -> list[BlockColumn]:
        """All columns of blocks that the tree search has made; empty without one."""
        if self.tree is None or self.structure is None:
            return []
        names, sign = self.structure.names_without_copies, -1.0 if self.maximize else 1.0
        return [
            BlockColumn(
                column.block.label,
                sign * column.cost + 0.0,
                {names.get(str(v), str(v)): amount for v, amount in column.variables.items()},
                column.ray,
            )
            for column in self.tree.pool
            if isinstance(column.block, BlockName)
        ]

    def times(self, unit: float) -> DecompositionResult:
        """The same result with costs in another unit."""
        objective = unit * self.objective
        bound = None if self.bound is None else unit * self.bound
        sign = -1.0 if self.maximize else 1.0
        gap = relative(sign * objective, None if bound is None else sign * bound)
        tree = None if self.tree is None else self.tree.times(unit)
        constant = unit * self.constant
        duals = {row: unit * dual for row, dual in self.duals.items()}
        solutions = [replace(own, objective=unit * own.objective) for own in self.solutions]
        return replace(
            self,
            objective=objective,
            bound=bound,
            gap=gap,
            tree=tree,
            constant=constant,
            duals=duals,
            solutions=solutions,
        )

    def certificate(
        self, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None
    ) -> Path:
        """Prove to everybody how good the solution is over the columns of the blocks, in a file.

        As :meth:`~cgboost.generation.history.Result.certificate`, of the root of the search: that
        its pricing problems have no better columns is the word of their solver alone, as the first
        line says.

        Parameters
        ----------
        path, data
            As there.

        Raises
        ------
        CertificateError
            Where branch and cut was faster or has found the solution, without a solution, of a
            resumed search, and for variables in no block that do not cost more than 0.
        """
        return above.write_decomposed_certificate(self, path, data)

    def summary(self) -> str:
        """A short summary as text."""
        bound = "none" if self.bound is None else f"{self.bound:.8g}"
        lines = [
            f"stopped      {self.stop_reason}: {self.message}",
            f"objective    {self.objective:.8g}",
            f"bound        {bound}",
            f"gap          {self.gap:.2e}",
        ]
        if self.structure is not None:
            groups = self.structure.groups()
            n_linking = len(self.structure.linking_rows)
            lines.append(
                f"blocks       {self.structure.n_blocks}, {len(groups)} of them different; "
                f"{n_linking} linking rows"
            )
        if self.tree is not None:
            lines.append(f"nodes        {self.tree.n_nodes}")
            lines.append(f"columns      {self.tree.n_generated}")
        if self.message.startswith(IN_TURNS) and not self.duals:
            lines.append(f"duals        none: {OVER_COLUMNS}")
        return "\n".join(lines)


class Decomposition:
    """A model with blocks, made by :func:`decompose`.

    Attributes
    ----------
    model : Model
    structure : Structure or None
        None if no blocks were found.
    why : str
        The origin of the blocks, or why there are none; and why they are not decomposed.
    obstacle : str
        Why the blocks are not decomposed; empty if they are.
    detected : bool
        Whether the blocks were detected, not given.
    """

    def __init__(
        self, model: Model, structure: Structure | None, why: str, *, detected: bool = False
    ) -> None:
        self.model, self.structure, self.detected = model, structure, detected
        self.obstacle = "" if structure is None else obstacle(structure)
        self.why = f"{why}; not decomposed: {self.obstacle}" if self.obstacle else why
        self._unit = 1.0

    def __repr__(self) -> str:
        n_rows, n = self.model.matrix.shape
        own = self.structure
        blocks = "no blocks" if own is None else f"{own.n_blocks} blocks"
        linking = "" if own is None else f", {len(own.linking_rows)} linking rows"
        return f"<Decomposition of {n_rows} rows × {n} variables: {blocks}{linking}; {self.why}>"

    def solve(
        self,
        gap: float = 1e-6,
        time_limit: float | None = None,
        *,
        branch_and_cut: bool = True,
        block_executor: Executor | futures.Executor | None = None,
        resume: str | os.PathLike[str] | None = None,
        verbose: int = 0,
        **options: Any,
    ) -> DecompositionResult:
        """Solve by branch-and-price and, in turns with it, by branch and cut in HiGHS.

        Without blocks by branch and cut alone.

        Parameters
        ----------
        gap : float, default=1e-6
        time_limit : float or None
            Seconds.
        branch_and_cut : bool, default=True
            Whether branch and cut in HiGHS takes turns with the tree search, and goes on where this
            ends without an answer. False: the tree search alone, with duals, pool and certificate,
            however long it takes; what it leaves open stays so.
        block_executor : Executor, concurrent.futures.Executor or None
            Solves the pricing problems of the blocks; see :mod:`cgboost.parallel`. None: one block
            after another.
        resume : str, path or None
            The file of a :class:`~cgboost.Checkpoint` among the callbacks of an earlier search of
            the same model, which goes on.
        verbose : {0, 1, 2}, default=0
            1 writes the log of the search on the standard error stream, 2 a line for every node.
            Where nothing is decomposed, HiGHS writes its log on the standard output; it minimises.
        **options
            Parameters of :class:`~cgboost.BranchAndPrice`, instead of those chosen here.
            Callbacks see objective and bound of the model.

        Raises
        ------
        DecompositionError
            If the result does not hold in the model.
        NotDecomposableError
            Without branch and cut, for a model that is not decomposed.
        TypeError
            For an option that is no parameter of :class:`~cgboost.BranchAndPrice`.
        ValueError
            For a value that no such parameter can have.
        """
        if not isinstance(branch_and_cut, bool | np.bool_):
            raise ValueError(f"branch_and_cut must be True or False, got {branch_and_cut!r}")
        check_whole("verbose", verbose, 0)
        check_number("gap", gap, 0.0)
        if time_limit is not None:
            check_number("time_limit", time_limit, 0.0)
        known = inspect.signature(BranchAndPrice).parameters
        if wrong := [name for name in options if name not in known]:
            own = list(inspect.signature(self.solve).parameters)[:-1]  # without the options
            own += [name for name in list(known)[2:] if name not in own]
            close = difflib.get_close_matches(wrong[0], own, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f": it takes {', '.join(own)}"
            raise TypeError(
                f"solve() got {wrong[0]!r}, which is no parameter of BranchAndPrice{hint}"
            )
        unit = cost_unit(self.model.program.cost)
        scaled = self if unit == 1.0 else self._divided_by(unit)
        end = time.perf_counter() + (math.inf if time_limit is None else float(time_limit))
        cut = BranchAndCut(scaled.model, end)
        turns = InTurns(cut, gap, self._share(branch_and_cut), time_limit)
        result = scaled._solve(turns, gap, time_limit, block_executor, resume, verbose, options)
        return result if unit == 1.0 else result.times(unit)

    def _share(self, branch_and_cut: bool) -> float | None:
        """Of the time, that of branch and cut; None without it."""
        if not branch_and_cut:
            return None
        return SHARE_OF_FOUND if self.detected else SHARE_OF_GIVEN

    def _divided_by(self, unit: float) -> Decomposition:
        """The same with costs in another unit."""
        model, structure = _divided(self.model, unit), self.structure
        if structure is not None:
            structure = replace(structure, model=_divided(structure.model, unit))
        result = Decomposition(model, structure, self.why, detected=self.detected)
        result.why, result._unit = self.why, unit
        return result

    def _solve(
        self,
        turns: InTurns,
        gap: float,
        time_limit: float | None,
        block_executor: Executor | futures.Executor | None,
        resume: str | os.PathLike[str] | None,
        verbose: int,
        options: dict[str, Any],
    ) -> DecompositionResult:
        """Solve in the unit of costs that the model has."""
        start = time.perf_counter()
        if self.structure is None:
            _check_no_resume(resume, self.why)
            return self._cut(gap, time_limit, self.why, verbose, turns)
        waiting = turns.give_up if resume is None else None
        try:
            first = FIRST_TURN * self.structure.n_entries
            if self.detected and resume is None and turns.take_first_turn(min(first, EARLY)):
                raise BlocksGivenUpError("the model is solved")
            made = reformulated(self.structure, block_executor, unit=self._unit, waiting=waiting)
            turns.made = made
            left = _left(time_limit, start)
            found = self._of_blocks(turns, made, gap, left, resume, verbose, options)
            if isinstance(found, DecompositionResult):
                return found
            words = f"{self.why}; {found}"
            return self._cut(gap, _left(time_limit, start), words, verbose, turns)
        except NotDecomposableError as error:
            _check_no_resume(resume, str(error))
            return self._cut(gap, _left(time_limit, start), str(error), verbose, turns)
        except BlocksGivenUpError:
            if turns.paused.has_ended:
                return self._of_cut(turns.end(), self._in_turns(verbose), self.structure)
            known = turns.rest(0.0) or CutOutcome(StopReason.TIME, math.inf, None, None)
            return self._of_cut(known, f"{NOT_MADE}; {self.why}", self.structure)
        except KeyboardInterrupt:  # the tree search has neither solution nor bound
            if turns.paused.known is None:
                raise
            return self._of_cut(turns.paused.known, f"Ctrl-C; {self.why}", self.structure)
        finally:
            turns.paused.close()

    def _of_blocks(
        self,
        turns: InTurns,
        made: Reformulation,
        gap: float,
        time_limit: float | None,
        resume: str | os.PathLike[str] | None,
        verbose: int,
        options: dict[str, Any],
    ) -> DecompositionResult | str:
        """The result of the tree search and of branch and cut, or why there is none."""
        constant = self.model.program.constant + made.constant
        own: dict[str, Any] = {
            "branching": made.branching,
            "heuristics": made.heuristics,
            "objective_step": made.objective_step,
            "constant": constant,
            "columns_per_round": max(20, len(made.groups)),
            "variable_fixing": None,  # a pass with a variable held costs more than it saves
        }

        def value(cost: float) -> float:
            return self._unit * self.model.in_own_sense(cost + constant)

        told = [*map(as_callback, options.pop("callbacks", ()))]
        if verbose:
            told.append(TreeProgress(every_node=verbose > 1))
        seeing = (
            each if keeps_records(each) else OwnSense(each, value, turns.joined) for each in told
        )
        own["callbacks"] = [*seeing, turns]
        own["heuristics"] = [turns.heuristic, *made.heuristics]
        if made.pricer.is_here:
            for problem in made.pricer.problems:
                problem.waiting = turns.take_turn
        search = BranchAndPrice(made.master, made.pricer, **{**own, **options})
        try:
            tree = search.run(gap, time_limit, resume=resume)
            has_failed = tree.stop_reason is StopReason.PRICER_FAILED
            if tree.error is not None and (self.detected or has_failed) and turns.takes_part:
                raise tree.error
            turns.check_bound(tree)
            if turns.outcome is not None and turns.outcome.is_conclusive:
                words = self._in_turns(verbose)
                found = self._of_cut(turns.outcome, words, self.structure, tree, constant)
                return self._with_others(found, tree, made)
            is_open = self._is_open(tree, constant)
            if is_open and turns.takes_part:
                return WORTH.sub("", tree.message)
            best = self._best_of(tree, turns, made.point, constant, gap, is_open)
            if best is not None:
                return self._with_others(best, tree, made)
            return COSTS_MORE
        except (ResumeError, PersistenceError):
            raise
        except CGBoostError as error:
            if not turns.takes_part:
                raise
            return str(error)
        finally:
            made.pricer.close()

    def _in_turns(self, verbose: int) -> str:
        """The message where branch and cut had the answer first; the log has it, too."""
        message = f"{IN_TURNS}: {self.why}"
        if verbose:
            sys.stderr.write(f"{message}\n")
        return message

    def _is_open(self, tree: BranchAndPriceResult, constant: float) -> bool:
        """Whether a search has ended and shown nothing.

        One without a solution has shown that a solution would cost more than all columns that it
        has seen; there is none if it would also cost more than the bounds of the variables allow.
        """
        if tree.stop_reason in SHOWING_NOTHING:
            return True
        if tree.stop_reason is not StopReason.INFEASIBLE or tree.bound in (None, math.inf):
            return False
        program = self.model.program
        ends = np.where(program.cost > 0, program.upper, program.lower)[program.cost != 0]
        most = float(program.cost[program.cost != 0] @ ends) + program.constant
        return not tree.bound + constant > most + INTEGRAL * max(1.0, abs(most))

    def _best_of(
        self,
        tree: BranchAndPriceResult,
        turns: InTurns,
        point: Callable[[BranchAndPriceResult], Vector],
        constant: float,
        gap: float,
        is_open: bool,
    ) -> DecompositionResult | None:
        """The better solution and the better bound of the tree search and of branch and cut.

        None where branch and cut has to go on: the tree search is at an end, but with its integers
        off by no more than tolerances, such as y = 1e-6 in x ≤ 1e6·y.
        """
        words = WITHOUT_POINT.sub(NO_POINT_LEFT, WORTH.sub("", tree.message))
        reason, message = tree.stop_reason, f"{words}; {self.why}".removeprefix("; ")
        if is_open and reason is StopReason.INFEASIBLE:
            reason = StopReason.STALLED
        objective = tree.objective + constant
        x = point(tree) if math.isfinite(objective) else None
        is_ended = reason in (StopReason.OPTIMAL, StopReason.GAP)
        if x is not None and is_ended:
            x, ended = turns.cut.made_whole(x)
            whole = self.model.program.objective_value(x)
            if relative(whole, objective) > max(gap, INTEGRAL):
                if turns.takes_part:
                    return None
                reason, message = StopReason.STALLED, f"{COSTS_MORE}; {self.why}"
            objective, reason = whole, ended or reason
        of_cut, x_of_cut = turns.paused.best
        if x_of_cut is not None and of_cut < objective:
            x, objective = x_of_cut, of_cut
        bounds = [turns.paused.bound] + ([] if tree.bound is None else [tree.bound + constant])
        bound = WITHOUT_OPTIMUM.get(reason, min(max(bounds), objective))
        if reason in (StopReason.CALLBACK, StopReason.TIME) and relative(objective, bound) <= gap:
            reason = StopReason.GAP
            message = f"bounds of the tree search and of branch and cut together; {self.why}"
        known = None if bound == -math.inf else bound
        return self._result(objective, known, x, reason, message, self.structure, tree, constant)

    def _with_others(
        self, result: DecompositionResult, tree: BranchAndPriceResult, made: Reformulation
    ) -> DecompositionResult:
        """The result with the other solutions of the tree, in the model's variables."""
        model, known = self.model, list(result.solutions)
        points = [np.array(list(own.x.values())) for own in known]
        for found in tree.solutions:
            x = made.point(found)
            x = np.where(model.integer, np.round(x) + 0.0, x)
            if model.is_feasible(x) and not any(np.allclose(x, own) for own in points):
                points.append(x)
                known.append(self._solution(x))
        others = sorted(known[1:], key=lambda own: model.in_own_sense(own.objective))
        return replace(result, solutions=[*known[:1], *others][:MOST_SOLUTIONS])

    def _solution(self, x: Vector) -> ModelSolution:
        """A point in the terms of the model."""
        values = dict(zip(self.model.names, x.tolist(), strict=True))
        objective = self.model.program.objective_value(x)
        return ModelSolution(self.model.in_own_sense(objective), values)

    def _cut(
        self,
        gap: float,
        time_limit: float | None,
        why: str,
        verbose: int,
        turns: InTurns,
    ) -> DecompositionResult:
        """Branch and cut alone; where it has had turns, it goes on."""
        if not turns.takes_part:
            raise NotDecomposableError(
                f"the model is not decomposed ({why}), so that branch_and_cut=False leaves nothing "
                "that solves it: leave it out, or give other blocks"
            )
        if verbose:
            sense = ", as a minimisation" if self.model.maximize else ""
            sys.stderr.write(f"not decomposed, HiGHS solves the model{sense}: {why}\n")
        found = turns.rest(time_limit)
        return self._of_cut(
            found or turns.cut.run(gap, time_limit, log=verbose > 0),
            f"solved by branch and cut in HiGHS, without a decomposition: {why}",
        )

    def _of_cut(self, found: CutOutcome, message: str, *tree: Any) -> DecompositionResult:
        return self._result(
            found.objective, found.bound, found.x, found.stop_reason, message, *tree
        )

    def _result(
        self,
        objective: float,
        bound: float | None,
        x: Vector | None,
        reason: StopReason,
        message: str,
        structure: Structure | None = None,
        tree: BranchAndPriceResult | None = None,
        constant: float = 0.0,
    ) -> DecompositionResult:
        model, solutions = self.model, list[ModelSolution]()
        if x is not None:
            self._check(x, objective)
            objective = model.program.objective_value(x)
            solutions = [self._solution(x)]
        return DecompositionResult(
            objective=model.in_own_sense(objective),
            bound=None if bound is None else model.in_own_sense(bound),
            gap=relative(objective, bound),
            x=solutions[0].x if solutions else {},
            stop_reason=reason,
            message=message,
            structure=structure,
            tree=tree,
            maximize=model.maximize,
            constant=constant,
            duals={} if tree is None else self._linking_duals(tree.duals),
            solutions=solutions,
        )

    def _linking_duals(self, duals: Mapping[Hashable, float]) -> dict[str, float]:
        """Duals by the names of the linking rows, of which the master has one for every side."""
        if self.structure is None or not duals:
            return {}
        linking = self.structure.linking_rows  # rows of copies come last
        names = [self.model.row_names[i] for i in linking if i < len(self.model.row_names)]
        sign = -1.0 if self.model.maximize else 1.0
        return {
            name: sign * sum(duals.get((name, sense), 0.0) for sense in ("<=", "==", ">="))
            for name in names
        }

    def _check(self, x: Vector, objective: float) -> None:
        """Raise a DecompositionError unless a point is a solution with this objective."""
        violation, where = self.model.violation(x)
        if not self.model.is_feasible(x):
            raise DecompositionError(f"the answer violates {where} of the model by {violation:.3g}")
        value = self.model.program.objective_value(x)
        if abs(value - objective) > INTEGRAL * max(1.0, abs(value)):
            raise DecompositionError(
                f"the answer has the objective {value:.10g} in the model, {objective:.10g} in the "
                "master"
            )


def _divided(model: Model, unit: float) -> Model:
    """A model with costs in another unit."""
    program = model.program
    cost, constant = program.cost / unit, program.constant / unit
    return replace(model, program=replace(program, cost=cost, constant=constant))


def _left(time_limit: float | None, start: float) -> float | None:
    return None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - start))


def _check_no_resume(resume: Any, why: str) -> None:
    """Raise a ResumeError where branch and cut in HiGHS solves a model: it keeps no records."""
    if resume is not None:
        raise ResumeError(
            f"resume={str(resume)!r}: branch and cut solves this model, and keeps no records "
            f"({why}): leave resume out"
        )


def decompose(
    model: Any,
    blocks: str | Path | Mapping[str, object] | Callable[[str], object] | Structure | None = None,
    *,
    dialect: Literal["highs", "cplex", "scip", "cbc", "glpk"] | None = None,
) -> Decomposition:
    """Divide a mixed-integer linear model into blocks, for branch-and-price.

    Parameters
    ----------
    model : str, Path, Program, highspy.Highs, cvxpy.Problem, Model, or of a modelling tool
        The path of an MPS or LP file, or a model: of HiGHS, CVXPY, PuLP, Pyomo, linopy, python-mip,
        OR-Tools (MathOpt, ``model_builder``, ``pywraplp``), PySCIPOpt or gurobipy. It is read once:
        what happens to it later changes nothing.
    blocks : str, Path, mapping, callable, Structure or None
        A ``.dec`` or ``.blk`` file; the ``structure`` of a result, whose
        blocks were found; or a mapping from names of rows to blocks (any hashable
        values; rows that are not listed, or have None, False, "" or NaN, are in the master;
        ``{}`` is no
        blocks); or a function of the name of a row that returns such a value, like
        ``lambda row: row.partition("_")[2]``. None: detect blocks.
    dialect : {"highs", "cplex", "scip", "cbc", "glpk"} or None
        Whose reader a file is for, where these take it for different models: in MPS files integer
        variables without bounds, a negative upper bound alone, the constant, several vectors. What
        this program is known to take for something else without a word is an error. None: what most
        agree on, and an error for the rest. ``model.notes`` of the result says what was read.

    Returns
    -------
    Decomposition
        Its method ``solve(gap=1e-6, time_limit=None)`` solves the model.

    Raises
    ------
    ModelError, StructureError
        For input that cannot be read or does not fit; the message names file, line, row or
        variable.
    ValueError
        For a dialect that is not known, or of what is no file.
    """
    own = as_model(model, dialect)
    if isinstance(blocks, Structure):
        return Decomposition(own, blocks, "blocks as given")
    if blocks is None:
        found = detect(own)
        if found is None:
            return Decomposition(own, None, "no blocks were found")
        why = f"{found.structure.n_blocks} blocks were found, linked by {found.why}"
        return Decomposition(own, found.structure, why, detected=True)
    if callable(blocks):
        blocks = {row: blocks(row) for row in own.row_names}
    if not isinstance(blocks, Mapping | str | Path):
        raise TypeError(
            "blocks must be a mapping from names of rows to blocks, a function of a name, the path "
            "of a .dec or .blk file, the structure of a result, None to detect blocks, or {} for "
            f"no blocks, got {type(blocks).__name__}"
        )
    if isinstance(blocks, Mapping):
        structure, why = structure_of(own, blocks), "blocks as given"
    else:
        structure = structure_of(own, read_structure(blocks, own.row_names, own.names))
        why = f"blocks of {Path(blocks).name}"
    if not structure.n_blocks:
        return Decomposition(own, None, "the blocks that are given are empty")
    return Decomposition(own, structure, why)
