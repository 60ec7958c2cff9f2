"""The Dantzig–Wolfe reformulation of a model with blocks.

    min Σ_k Σ_p (c_k z_p) λ_kp + Σ_k Σ_r (c_k z_r) μ_kr + c_0 x_0
    with  Σ_k Σ_p (A_k z_p) λ_kp + Σ_k Σ_r (A_k z_r) μ_kr + A_0 x_0  in the sides of linking rows,
          Σ_p λ_kp = number of blocks like k  for every k,

over the integer points z_p and the rays z_r of block k. A variable in no block is counted from one
of its bounds and is its own column, a free one the difference of two.

Where all variables of a block are whole, and it has no rays, columns are whole (discretisation).
Other blocks are the hull of their points (convexification): branching asks that their integer
variables Σ_p z_p λ_kp + Σ_r z_r μ_kr are whole, and the pricing problems keep to its bounds.

Equal blocks are one, unless no branching rule could part their columns: those of blocks with whole
variables that are convexified, or of rows of the master with fractional coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.arrays import Mask, Vector
from cgboost.exceptions import CGBoostError
from cgboost.generation.columns import Column
from cgboost.integer.branching.rules import (
    INTEGRAL,
    BranchingRule,
    ComponentBranching,
    RyanFoster,
    VariableBranching,
)
from cgboost.integer.decomposition.blocks import Positions, Structure
from cgboost.integer.decomposition.model import whole_ends
from cgboost.integer.decomposition.pricing.block import Block, BlockTimeError
from cgboost.integer.decomposition.pricing.block_pricer import BlockPricer
from cgboost.integer.decomposition.pricing.ray_problem import has_rays
from cgboost.integer.decomposition.row_names import BlockName, LinkingRow
from cgboost.integer.heuristics import (
    BranchDiving,
    Diving,
    Heuristic,
    RestrictedMaster,
    Rounding,
)
from cgboost.integer.node_selection import Node
from cgboost.integer.result import BranchAndPriceResult, IntegerSolution
from cgboost.integer.search_state import Relaxation, Search
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.parallel.executors import Executor


class IntegralPoint:
    """Heuristic: columns of a block whose mean is a whole point are replaced by its own column.

    The mean meets the rows and bounds of the block, and costs as much. A general integer point may
    lie inside the convex hull of others, so that no variable is fractional but coefficients are.
    """

    def __init__(self, blocks: Sequence[Block], once: Collection[Hashable]) -> None:
        self._blocks = {block.name: block for block in blocks if block.name in once}

    def __call__(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """See :class:`~cgboost.integer.heuristics.Heuristic`."""
        means: dict[Hashable, Vector] = {}
        counts: dict[int, float] = {}
        for j, x in zip(relaxation.numbers.tolist(), relaxation.coef.tolist(), strict=True):
            column = search.pool.columns[j]
            block = self._blocks.get(column.block)
            if block is None:
                counts[j] = x
                continue
            mean = means.setdefault(block.name, np.zeros(len(block.variables)))
            for name, amount in column.variables.items():
                mean[block.places[str(name)]] += x * amount
        columns = []
        for name, mean in means.items():
            block = self._blocks[name]
            if (np.abs(mean - np.round(mean))[block.integer] > INTEGRAL).any():
                return
            columns.append(block.column(mean))
        counts.update(dict.fromkeys(search.pool.add(columns).tolist(), 1.0))
        search.offer(counts, "whole points")


class BlocksGivenUpError(CGBoostError):
    """Blocks are not made to the end: the model is solved, or the time is up."""


class NotDecomposableError(CGBoostError, ValueError):
    """There is nothing to decompose: a row or a variable leaves no value, or there are no blocks.

    Branch and cut solves the model, unless it is left out.
    """


@dataclass(frozen=True, eq=False)
class Reformulation:
    """Master and pricer of a structure.

    Attributes
    ----------
    structure : Structure
    groups : list of tuple of int
        Equal blocks, for each convexity row.
    master : LinearMaster
    pricer : BlockPricer
    branching : list of BranchingRule
    heuristics : list of Heuristic
    objective_step : float or None
    base : ndarray of shape (n_variables,)
        Where the variables in no block begin; 0 for the others.
    """

    structure: Structure
    groups: list[tuple[int, ...]]
    master: LinearMaster
    pricer: BlockPricer
    branching: list[BranchingRule]
    heuristics: list[Heuristic]
    objective_step: float | None
    base: Vector

    @property
    def constant(self) -> float:
        """Cost of ``base``, which the columns do not have."""
        return float(self.structure.model.program.cost @ self.base)

    def point(self, result: BranchAndPriceResult | IntegerSolution) -> Vector:
        """A solution in the variables of the model, shape (n_variables,).

        The columns of equal blocks are given to one after another.
        """
        structure, x = self.structure, self.base.copy()
        names = structure.model.names
        places = {names[j]: j for j in structure.master_variables.tolist()}
        groups = {_name(structure, group[0]): group for group in self.groups}
        copies = {name: iter(group) for name, group in groups.items()}
        inside = {
            name: {names[j]: k for k, j in enumerate(structure.variables(group[0]).tolist())}
            for name, group in groups.items()
        }
        for column, count in zip(result.columns, result.coef.tolist(), strict=True):
            amounts = column.variables.items()
            if column.block is None:
                for variable, amount in amounts:
                    x[places[str(variable)]] += count * amount
                continue
            own: Any = column.block
            if column.integer:
                shares = [(next(copies[own]), 1.0) for _ in range(round(count))]
            else:
                shares = [(block, count / len(groups[own])) for block in groups[own]]
            at = [inside[own][str(variable)] for variable, _ in amounts]
            values = np.array([amount for _, amount in amounts])
            for block, share in shares:
                x[structure.variables(block)[at]] += share * values
        return structure.without_copies(x)

    def columns_of(self, x: Vector) -> tuple[list[Column], list[float]]:
        """Columns and their coefficients of a point of the model: the way back of :meth:`point`."""
        structure, columns, counts = self.structure, [], []
        x = x[structure.origin]
        for group, problem in zip(self.groups, self.pricer.problems, strict=True):
            for block in group:
                columns.append(problem.block.column(x[structure.variables(block)]))
                counts.append(1.0)
        steps = {column.key: column for column in self.master.columns}
        away = x - self.base
        for j in structure.master_variables.tolist():
            sign = math.copysign(1.0, away[j])
            if away[j]:
                columns.append(steps["variable", structure.model.names[j], sign])
                counts.append(abs(float(away[j])))
        return columns, counts


def reformulated(
    structure: Structure,
    executor: Executor | futures.Executor | None = None,
    *,
    unit: float = 1.0,
    waiting: Callable[[], bool] | None = None,
) -> Reformulation:
    """Master, pricer and branching rules of a structure.

    Blocks are priced on the executor, if there is one. The costs are those of the model divided by
    ``unit``, a power of two. ``waiting`` is called between blocks and while HiGHS looks for their
    rays, and says whether to give up.

    Raises
    ------
    NotDecomposableError
        For a row or a variable that leaves no solution.
    BlocksGivenUpError
        Where ``waiting`` says so.
    """
    _check(structure)
    model = structure.model
    program, linking, base = model.program, structure.linking_rows, _base(structure)
    taken = model.matrix[linking] @ base
    low, high = program.row_lower[linking] - taken, program.row_upper[linking] - taken
    sides: list[tuple[int, str, float]] = []
    for k, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if a == b:
            sides.append((k, "==", a))
        else:
            sides += [(k, ">=", a)] if math.isfinite(a) else []
            sides += [(k, "<=", b)] if math.isfinite(b) else []
    names: list[Hashable] = [
        LinkingRow(model.row_names[linking[k]], sense) for k, sense, _ in sides
    ]
    senses, rhs = [sense for _, sense, _ in sides], np.array([rhs for _, _, rhs in sides])
    coefficients = sp.csc_array(model.matrix[linking[[k for k, _, _ in sides]]])
    every: list[tuple[tuple[int, ...], Block]] = []
    for group in structure.groups():
        try:
            every.append((group, _block(structure, group[0], coefficients, waiting=waiting)))
        except BlockTimeError as error:
            raise BlocksGivenUpError(str(error)) from error
        if waiting is not None and waiting():
            raise BlocksGivenUpError("the blocks are not wanted any more")
    discrete = np.zeros(structure.n_blocks + 1, dtype=np.bool_)  # the last is of no block
    for group, block in every:
        discrete[list(group)] = block.discrete
    own = _own_columns(structure, coefficients, base)
    inside = np.flatnonzero(discrete[structure.block_of_variable])
    whole = _is_whole(coefficients[:, inside].data)
    ones = np.flatnonzero((rhs == 1) & (np.array(senses) != "<="))
    pairs = _are_pairs(structure, coefficients[ones], own, ones, discrete)
    made: list[tuple[tuple[int, ...], Block]] = []
    for group, block in every:
        if not block.integer.any() or (block.discrete and (whole or pairs)):
            made.append((group, block))
            continue
        made += [((k,), _block(structure, k, coefficients, block.has_rays)) for k in group]
    groups = [group for group, _ in made]
    blocks = [block.name for _, block in made]
    rows = [*names, *blocks]
    master = LinearMaster(
        rows,
        [*senses, *("==" for _ in groups)],
        np.array([*rhs.tolist(), *(float(len(group)) for group in groups)]),
        copies={name: float(len(group)) for name, group in zip(blocks, groups, strict=True)},
    )
    below = np.zeros(len(groups))
    master.add([replace(column, values=np.r_[column.values, below]) for column in own])
    subproblems = [
        replace(
            block,
            convexity=len(sides) + k,
            linking=_with_rows(block.linking, len(rows)),
            copies=len(group),
        )
        for k, (group, block) in enumerate(made)
    ]
    residual = _are_residual(subproblems, own) and ">=" not in senses
    pricer = BlockPricer(
        subproblems,
        rows,
        component_rows=whole,
        residual=residual,
        executor=executor,
        marks=structure.marks,
    )
    branching: list[BranchingRule] = []
    if pairs and any(len(group) > 1 for group in groups):
        branching.append(RyanFoster(subset_closed=_is_monotone(structure, coefficients)))
    integer = [name for name, own in zip(model.names, model.integer, strict=True) if own]
    signed = [model.names[j] for j in np.flatnonzero(program.lower < 0).tolist()]
    variables = VariableBranching(integer=integer, signed=signed)
    branching.append(variables)
    if whole:
        branching.append(ComponentBranching())
    once = [name for name, group in zip(blocks, groups, strict=True) if len(group) == 1]
    heuristics: list[Heuristic] = [
        IntegralPoint(subproblems, once),
        Rounding(),
        RestrictedMaster(until_found=True),
        Diving(),
        RestrictedMaster(),
    ]
    if any(block.integer.any() and not block.discrete for block in subproblems):
        heuristics.insert(-1, BranchDiving([variables]))
    step = _step(structure, unit)
    return Reformulation(structure, groups, master, pricer, branching, heuristics, step, base)


def obstacle(structure: Structure) -> str:
    """Why a structure is not decomposed; empty if it is."""
    try:
        _check(structure)
        _ends(structure)
    except NotDecomposableError as error:
        return str(error)
    return ""


def _check(structure: Structure) -> None:
    model, program = structure.model, structure.model.program
    empty = np.diff(model.matrix.indptr) == 0
    missed = np.flatnonzero(empty & ((program.row_lower > 0) | (program.row_upper < 0)))
    if missed.size:
        raise NotDecomposableError(
            f"row {model.row_names[missed[0]]!r} has no entries, and 0 is not between its sides"
        )


def _block(
    structure: Structure,
    block: int,
    coefficients: sp.csc_array,
    rays: bool | None = None,
    waiting: Callable[[], bool] | None = None,
) -> Block:
    """The data of a block; its convexity row is still to come."""
    model = structure.model
    program, own, rows = model.program, structure.variables(block), structure.rows(block)
    matrix = sp.csr_array(model.matrix[rows][:, own])
    sides = program.row_lower[rows], program.row_upper[rows]
    lower, upper = program.lower[own], program.upper[own]
    return Block(
        name=_name(structure, block),
        variables=tuple(model.names[j] for j in own.tolist()),
        cost=program.cost[own],
        lower=lower,
        upper=upper,
        integer=model.integer[own],
        matrix=matrix,
        row_lower=sides[0],
        row_upper=sides[1],
        linking=sp.csr_array(coefficients[:, own]),
        convexity=-1,
        has_rays=has_rays(matrix, sides, (lower, upper), waiting) if rays is None else rays,
    )


def _name(structure: Structure, block: int) -> BlockName:
    label = structure.labels[block] if structure.labels else str(block)
    return BlockName("block", block, label)


def _with_rows(linking: sp.csr_array, n_rows: int) -> sp.csr_array:
    """The same with empty rows at the end."""
    below = sp.csr_array((n_rows - linking.shape[0], linking.shape[1]))
    return sp.csr_array(sp.vstack([linking, below]))


def _ends(structure: Structure) -> tuple[Vector, Vector]:
    """Bounds of the variables, those of integer ones rounded to whole numbers."""
    model = structure.model
    lower, upper = whole_ends(model.program.lower, model.program.upper, model.integer)
    crossed = np.flatnonzero(lower > upper)
    if crossed.size:
        raise NotDecomposableError(
            f"variable {model.names[crossed[0]]!r} has no whole value between its bounds"
        )
    return lower, upper


def _base(structure: Structure) -> Vector:
    """A finite bound of every variable in no block; 0 for all others."""
    lower, upper = _ends(structure)
    base = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
    return np.where(structure.block_of_variable < 0, base, 0.0)


def _own_columns(structure: Structure, coefficients: sp.csc_array, base: Vector) -> list[Column]:
    """Columns of the variables in no block, on the linking rows: steps from ``base``."""
    model, program = structure.model, structure.model.program
    lower, upper = _ends(structure)
    columns = []
    for j in structure.master_variables.tolist():
        values = coefficients[:, [j]].toarray()[:, 0]
        for sign, length in ((1.0, upper[j] - base[j]), (-1.0, base[j] - lower[j])):
            if length > 0:
                columns.append(
                    Column(
                        values=sign * values,
                        key=("variable", model.names[j], sign),
                        cost=sign * float(program.cost[j]),
                        upper=float(length),
                        integer=bool(model.integer[j]),
                        variables={model.names[j]: sign},
                    )
                )
    return columns


def _are_pairs(
    structure: Structure,
    coefficients: sp.csc_array,
    own: list[Column],
    ones: Positions,
    discrete: Mask,
) -> bool:
    """Whether rows with the right-hand side 1 have at most one 0/1 variable of each block.

    Each of a discrete block. And no continuous variable that is in no block: Ryan and Foster's
    pairs count whole columns.
    """
    entries = sp.coo_array(coefficients)
    blocks = structure.block_of_variable[entries.col]
    inside = blocks >= 0
    used, program = np.unique(entries.col[inside]), structure.model.program
    twice = np.unique(np.c_[entries.row, blocks][inside], axis=0, return_counts=True)[1] > 1
    return (
        bool(ones.size)
        and discrete[structure.block_of_variable[used]].all()
        and bool((program.lower[used] >= 0).all() and (program.upper[used] <= 1).all())
        and bool((entries.data[inside] == 1).all())
        and not twice.any()
        and all(
            column.integer and np.isin(column.values[ones], (0.0, 1.0)).all()
            for column in own
            if column.values[ones].any()
        )
    )


def _are_residual(blocks: Sequence[Block], own: Sequence[Column]) -> bool:
    """Whether a linking row has one integer variable of each block at most, nothing negative."""
    return all(
        (np.diff(block.linking.indptr) <= 1).all()
        and (block.linking.data > 0).all()
        and (block.lower >= 0).all()
        and block.discrete
        for block in blocks
    ) and all((column.values >= 0).all() for column in own)


def _is_monotone(structure: Structure, coefficients: sp.csc_array) -> bool:
    """Whether a point of a block stays one, and costs no more, if a linked variable becomes 0."""
    program, matrix = structure.model.program, sp.csc_array(structure.model.matrix)
    inner = structure.block_of_row >= 0
    for j in np.flatnonzero(np.diff(coefficients.indptr)).tolist():
        inside = slice(matrix.indptr[j], matrix.indptr[j + 1])
        rows, values = matrix.indices[inside], matrix.data[inside]
        rows, values = rows[inner[rows]], values[inner[rows]]
        at_most = np.isinf(program.row_lower[rows]).all() and (values >= 0).all()
        alone = coefficients.indptr[j + 1] - coefficients.indptr[j] == 1
        if not (at_most and alone and program.lower[j] == 0 and program.cost[j] >= 0):
            return False
    return True


def _step(structure: Structure, unit: float) -> float | None:
    """The greatest number of which all costs are multiples, if variables with costs are whole.

    Costs are looked at in the unit of the model, and above 2⁵³ all of them are whole.
    """
    program = structure.model.program
    used, cost = program.cost != 0, unit * program.cost
    whole = used.any() and structure.model.integer[used].all() and _is_whole(cost)
    if not whole or np.abs(cost).max() >= 2.0**53:
        return None
    return float(math.gcd(*(round(c) for c in cost[used].tolist()))) / unit


def _is_whole(values: Vector) -> bool:
    return bool((values == np.round(values)).all())
