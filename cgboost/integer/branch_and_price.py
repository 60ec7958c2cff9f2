"""Branch-and-price: integer optima by column generation at every node of a tree.

Barnhart, Johnson, Nemhauser, Savelsbergh, Vance (Operations Research 46, 1998).

A node is a :class:`~cgboost.ColumnGeneration` run with the rows and the restrictions of
its decisions. Its certified bound holds for all integer solutions below it; the smallest bound of
the open nodes holds for the problem. A search that is stopped at any time therefore has both: the
best solution so far, and a bound on all solutions.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent import futures
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from cgboost.above import read_records
from cgboost.arrays import Vector
from cgboost.exceptions import ResumeError
from cgboost.generation.callbacks import as_callback
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import PriceFunction, as_pricer
from cgboost.generation.protocols import Pricer
from cgboost.generation.resuming import fingerprint_of
from cgboost.generation.stabilization import Smoothing, Wentges
from cgboost.integer.branching.checks import BranchingError
from cgboost.integer.branching.decisions import (
    VariableBound,
    VariableRow,
    check_number,
    check_whole,
    respected_by,
)
from cgboost.integer.branching.rules import (
    BranchingRule,
    ComponentBranching,
    CountBranching,
    RyanFoster,
    VariableBranching,
)
from cgboost.integer.branching.strong_branching import StrongBranching
from cgboost.integer.branching.variable_fixing import VariableFixing
from cgboost.integer.heuristics import (
    BranchDiving,
    Diving,
    Heuristic,
    RestrictedMaster,
    Rounding,
)
from cgboost.integer.node_selection import BestBound, NodeSelection
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.reporting.progress import TreeProgress
from cgboost.integer.result import BranchAndPriceResult
from cgboost.integer.resuming import SearchRecord
from cgboost.integer.tree_search import (
    CutCallback,
    TreeOptions,
    TreeSearch,
)
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.masters.linear.subgradient import Subgradient
from cgboost.parallel.executors import Executor, as_executor

T = TypeVar("T")

ROWS_OF_LARGE_MASTERS = 100
"""Rows from which on a search begins with a subgradient method. With 205 rows (generalised
assignment, 5 × 200) the root takes 1 CPU s instead of 16; with 89 rows and dear blocks 1.8 instead
of 0.4."""

ROWS_A_BLOCK = 4
"""And rows for each block: where a round has a column for every few rows, few rounds are needed."""

WITHOUT_ROWS = (
    "give the rule rows=False, which divides variables of one block each whose row is '== 1' of "
    "copies={…: 1}"
)
"""For a pricer that respects bounds of variables alone."""


class BranchAndPrice:
    """Integer optimum of a linear master, with a proven bound at any time.

    Parameters
    ----------
    master : LinearMaster
        Its rows and columns are those of the root. It is not changed.
    pricer : Pricer or callable
        As in :class:`~cgboost.ColumnGeneration`. It declares the decisions it respects:
        ``@respects(Together, Apart)`` before a function, or an attribute ``respects``.
    branching : BranchingRule, sequence of these, or "auto"
        The first rule that finds a branch divides the node. "auto" uses those rules of
        :class:`CountBranching`, :class:`RyanFoster`, :class:`VariableBranching` and
        :class:`ComponentBranching` that the pricer respects.
    strong_branching : StrongBranching or None
        Chooses among the branches of a rule by solving their children. None: the first branch.
    node_selection : NodeSelection, default=BestBound()
    heuristics : sequence of Heuristic, or "auto"
        "auto" means :class:`Rounding`, :class:`RestrictedMaster` while there is no solution, then
        :class:`BranchDiving` if there is branching on original variables, :class:`Diving` (in that
        case only until a solution is found), and :class:`RestrictedMaster`.
    cuts : sequence of callables
        Each is called with the :class:`NodeSolution` of a node and returns rows, which must hold
        for *all* integer solutions: they are added to every later node.
    objective_step : float or None
        A number such that the cost of every integer solution is a multiple of it (1 for integer
        costs): bounds are rounded up to multiples.
    constant : float, default=0.0
        What every solution costs besides its columns. It is not in ``objective`` and ``bound``, but
        gaps are relative to the whole.
    start : sequence of Column, optional
        An initial solution of whole columns; a column used twice is listed twice.
    start_duals : mapping of row to float, optional
        Duals at which the root prices first, such as those of a bound that is known; of rows that
        it does not name, 0. Instead of ``subgradient``.
    columns_per_round : int, default=20
    smoothing : Smoothing or None
        See :mod:`cgboost.generation.stabilization`. None means ``Wentges(0.5, decay=1.0)``. It
        takes 0.6 times the time without smoothing on generalised assignment with 10 × 60, and the
        same time on bin packing.
    subgradient : Subgradient, None or "auto"
        Finds initial duals for the root, if every block has one column in a solution. "auto" uses
        it with at least 100 rows and at least four rows per block.
    variable_fixing : VariableFixing, None or "auto"
        Divides nodes by the objective and fixes variables, if every block has one column, the
        pricer respects ``VariableBound`` and ``objective_step`` is given. On generalised assignment
        with 5 × 200, a search takes 102 CPU s; without it, it does not end in 240.
    callbacks : sequence of callables
        Each is called with a :class:`TreeState` after every node; a true value stops the search.
    executor : Executor, concurrent.futures.Executor or None
        Solves the relaxations of several nodes at once, as many as it has tasks; see
        :mod:`cgboost.parallel`. The tree depends only on this number. None: one node after another.
    verbose : {0, 1, 2}, default=0
        1 writes the log of the search (:class:`TreeProgress`) on the standard error stream: time,
        nodes, columns, bound, best solution and who has found it. 2 has a line for every node.

    Raises
    ------
    BranchingError
        For a rule with decisions that the pricer does not respect.
    """

    def __init__(
        self,
        master: LinearMaster,
        pricer: Pricer | PriceFunction,
        *,
        branching: BranchingRule | Sequence[BranchingRule] | str = "auto",
        strong_branching: StrongBranching | None = None,
        node_selection: NodeSelection | None = None,
        heuristics: Sequence[Heuristic] | str = "auto",
        cuts: Sequence[CutCallback] = (),
        objective_step: float | None = None,
        constant: float = 0.0,
        start: Sequence[Column] = (),
        start_duals: Mapping[Hashable, float] | None = None,
        columns_per_round: int = 20,
        smoothing: Smoothing | None = None,
        subgradient: Subgradient | str | None = "auto",
        variable_fixing: VariableFixing | str | None = "auto",
        callbacks: Sequence[Callable[[TreeState], Any]] = (),
        executor: Executor | futures.Executor | None = None,
        verbose: int = 0,
    ) -> None:
        if not isinstance(master, LinearMaster):
            raise TypeError(f"master must be a LinearMaster, got {type(master).__name__}")
        if objective_step is not None and not (
            isinstance(objective_step, Real) and 0 < objective_step < math.inf
        ):
            raise ValueError(f"objective_step must be positive or None, got {objective_step!r}")
        check_number("constant", constant)
        check_whole("columns_per_round", columns_per_round, 1)
        check_whole("verbose", verbose, 0)
        if strong_branching is not None and not isinstance(strong_branching, StrongBranching):
            raise TypeError(
                f"strong_branching must be a StrongBranching() or None, got {strong_branching!r}"
            )
        for name, part, methods in (
            ("node_selection", node_selection, ("start", "push", "pop", "nodes")),
            ("smoothing", smoothing, ("start", "points", "learn")),
        ):
            if part is not None and not _has(part, *methods):
                raise TypeError(
                    f"{name} must be an object with the methods {', '.join(methods)}, or None; "
                    f"got {part!r}"
                )
        asked = as_pricer(pricer)
        told = [*map(as_callback, _callables("callbacks", callbacks))]
        if verbose:
            told.append(TreeProgress(every_node=verbose > 1))
        rules = _rules(branching, asked)
        self.options: TreeOptions = TreeOptions(
            master=master,
            pricer=asked,
            branching=rules,
            node_selection=BestBound() if node_selection is None else node_selection,
            heuristics=_heuristics(heuristics, rules),
            cuts=_callables("cuts", cuts),
            objective_step=objective_step,
            constant=float(constant),
            start=_start(start),
            start_duals=None if start_duals is None else _duals(start_duals, master),
            columns_per_round=int(columns_per_round),
            smoothing=Wentges(0.5, decay=1.0) if smoothing is None else smoothing,
            callbacks=told,
            strong_branching=strong_branching,
            executor=None if executor is None else as_executor(executor),
            subgradient=_or_auto(subgradient, "subgradient", _subgradient(master)),
            fixing=_or_auto(variable_fixing, "variable_fixing", _fixing(rules)),
        )

    def run(
        self,
        gap: float = 1e-6,
        time_limit: float | None = None,
        max_nodes: int | None = None,
        *,
        resume: SearchRecord | str | os.PathLike[str] | None = None,
    ) -> BranchAndPriceResult:
        """Search until the gap is closed, or a limit is reached.

        Parameters
        ----------
        gap : float, default=1e-6
            Stop at this gap, relative to max(|objective + constant|, min(1, largest cost)).
        time_limit : float or None
            Seconds, including those of earlier runs if the search is resumed.
        max_nodes : int or None
        resume : str, path, SearchRecord or None
            The file of a :class:`~cgboost.Checkpoint` of the same problem, to continue with its
            pool, best solution and open nodes. With a ``time_limit`` that the earlier runs have
            reached, the search ends at once.

        Raises
        ------
        Exception
            Any exception of the master or the pricer before there is a bound or a solution, and any
            error that shows that bounds are wrong.
        """
        check_number("gap", gap, 0.0)
        if time_limit is not None:
            check_number("time_limit", time_limit, 0.0)
        if max_nodes is not None:
            check_whole("max_nodes", max_nodes, 0)
        what, record = self.options, resume
        if record is not None and not isinstance(record, SearchRecord):
            mark = fingerprint_of(what.master, what.pricer)
            (record,) = read_records(record, mark, what.callbacks)
            if not isinstance(record, SearchRecord):
                raise ResumeError(
                    f"the checkpoint {str(resume)!r} is of a run of the loop, and not of a tree "
                    "search: resume it with ColumnGeneration(...).run(resume=...)"
                )
        return TreeSearch(what, gap, time_limit, max_nodes).result(record)


def _has(part: Any, *methods: str) -> bool:
    """Whether something is an object with some methods."""
    return not isinstance(part, type) and all(callable(getattr(part, m, None)) for m in methods)


def _callables(name: str, given: Any) -> tuple[Any, ...]:
    """A sequence of functions, or of objects that can be called."""
    words = f"{name} must be a sequence of callables"
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{words}, got {given!r}")
    parts = tuple(given)
    for part in parts:
        if not _has(part, "__call__"):
            raise TypeError(f"{words}; among them is {part!r}")
    return parts


def _start(given: Any) -> tuple[Column, ...]:
    words = "start must be a sequence of columns, a solution"
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{words}; got {given!r}")
    columns = tuple(given)
    for column in columns:
        if not isinstance(column, Column):
            raise TypeError(f"{words}; among them is {column!r}")
    return columns


def _duals(given: Any, master: LinearMaster) -> Vector:
    """Duals by the names of rows as a vector; of senses ``<=`` and ``>=`` those of their sign."""
    if not isinstance(given, Mapping):
        raise TypeError(f"start_duals must be a mapping of rows to numbers, got {given!r}")
    rows = master.constraints
    if unknown := [name for name in given if name not in set(rows.names)]:
        raise ValueError(
            f"start_duals names {unknown[:5]}, which are no rows of the master; it has the rows "
            f"{list(rows.names[:5])}"
        )
    for name, dual in given.items():
        if not (isinstance(dual, Real) and math.isfinite(dual)):
            raise ValueError(f"start_duals[{name!r}] must be a finite number, got {dual!r}")
    return rows.signed(np.array([float(given.get(name, 0.0)) for name in rows.names]))


def _subgradient(master: LinearMaster) -> Subgradient | None:
    """A subgradient method where linear programs would take longer than pricing."""
    n_rows = len(master.rows)
    n_blocks = len(master.copies) if isinstance(master.copies, Mapping) else n_rows
    return Subgradient() if n_rows >= max(ROWS_OF_LARGE_MASTERS, ROWS_A_BLOCK * n_blocks) else None


def _or_auto(given: T | str | None, name: str, auto: T | None) -> T | None:
    if isinstance(given, str):
        if given != "auto":
            raise ValueError(f'{name} must be an object, None or "auto", got {given!r}')
        return auto
    return given


def _fixing(rules: Sequence[BranchingRule]) -> VariableFixing:
    """Fixing of the variables that have to be whole."""
    named = [rule.integer for rule in rules if isinstance(rule, VariableBranching)]
    if not named or None in named:
        return VariableFixing()
    return VariableFixing({v for own in named for v in own or ()})


def _heuristics(
    heuristics: Sequence[Heuristic] | str, rules: Sequence[BranchingRule]
) -> list[Heuristic]:
    if not isinstance(heuristics, str):
        return list(_callables("heuristics", heuristics))
    if heuristics != "auto":
        raise ValueError(f'heuristics must be objects or "auto", got {heuristics!r}')
    first: list[Heuristic] = [Rounding(), RestrictedMaster(until_found=True)]
    aggregates = [rule for rule in rules if isinstance(rule, VariableBranching)]
    if not aggregates:
        return [*first, Diving(), RestrictedMaster()]
    return [*first, BranchDiving(aggregates), Diving(until_found=True), RestrictedMaster()]


def _rules(branching: Any, pricer: Pricer) -> list[BranchingRule]:
    """The rules, of which the pricer must respect all decisions."""
    known = respected_by(pricer)
    if isinstance(branching, str):
        if branching != "auto":
            raise ValueError(f'branching must be rules or "auto", got {branching!r}')
        every: list[BranchingRule] = [
            CountBranching(),
            RyanFoster(),
            VariableBranching(),
            ComponentBranching(),
        ]
        if VariableRow not in known:
            every[2] = VariableBranching(rows=False)
        return [rule for rule in every if set(rule.makes) <= set(known)]
    rules = list(branching) if isinstance(branching, (list, tuple)) else [branching]
    for rule in rules:
        if isinstance(rule, type) or not hasattr(rule, "makes") or not _has(rule, "branches"):
            raise TypeError(
                "branching must be a rule, or a list of them, such as [RyanFoster()]: objects with "
                f"makes and branches(solution, most); got {rule!r}"
            )
        missing = ", ".join(kind.__name__ for kind in rule.makes if kind not in known)
        if missing:
            named = ", ".join(kind.__name__ for kind in known) or "none"
            by_bounds = isinstance(rule, VariableBranching) and VariableBound in known
            other = WITHOUT_ROWS if by_bounds else "take another rule"
            raise BranchingError(
                f"{type(rule).__name__} makes decisions of the kinds {missing}, but the pricer "
                f"does not say that it respects them (it names {named}): let it price by them and "
                f"mark it with @respects({missing}), or {other}"
            )
    return rules
