"""The Dantzig–Wolfe reformulation of a model with blocks.

    min Σ_k Σ_p (c_k z_p) λ_kp + c_0 x_0
    with  Σ_k Σ_p (A_k z_p) λ_kp + A_0 x_0 in the sides of the linking rows,
          Σ_p λ_kp = number of blocks like k  for every k,

over the integer points z_p of block k. Variables in no block are columns of their own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from cgboost.exceptions import CGBoostError
from cgboost.generation.columns import Column
from cgboost.integer.branching import (
    INTEGRAL,
    BranchingRule,
    ComponentBranching,
    RyanFoster,
    VariableBranching,
)
from cgboost.integer.decomposition.blocks import Structure
from cgboost.integer.decomposition.model import Vector
from cgboost.integer.decomposition.pricing import Block, BlockPricer
from cgboost.integer.heuristics import Diving, Heuristic, RestrictedMaster
from cgboost.integer.node_selection import Node
from cgboost.integer.result import BranchAndPriceResult
from cgboost.integer.search import Relaxation, Search
from cgboost.masters.linear.master import LinearMaster

WHOLE = 1e-9
"""A coefficient this close to a whole number is one: files round to nine places or more."""


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


class NotDecomposableError(CGBoostError, ValueError):
    """Branch-and-price on this structure could miss the optimum; branch and cut goes on."""


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
    """

    structure: Structure
    groups: list[tuple[int, ...]]
    master: LinearMaster
    pricer: BlockPricer
    branching: list[BranchingRule]
    heuristics: list[Heuristic]
    objective_step: float | None

    def point(self, result: BranchAndPriceResult) -> Vector:
        """The solution in the variables of the model, shape (n_variables,).

        The columns of equal blocks are given to one after another.
        """
        structure = self.structure
        places = {name: j for j, name in enumerate(structure.model.names)}
        x = np.zeros(len(places))
        copies = {("block", group[0]): list(group) for group in self.groups}
        for column, count in zip(result.columns, result.coef.tolist(), strict=True):
            group = copies.get(column.block) if column.block is not None else None  # type: ignore[call-overload]
            if group is None or not column.integer:
                own = group or [None]
                shares = [(block, count / len(own)) for block in own]
            else:
                shares = [(group.pop(0), 1.0) for _ in range(round(count))]
            for block, share in shares:
                at = self._places(column.block, block, places)
                for name, amount in column.variables.items():
                    x[at[str(name)]] += share * amount
        return x

    def _places(
        self, name: Hashable | None, block: int | None, places: dict[str, int]
    ) -> dict[str, int]:
        """Where the variables of the first of equal blocks are in another one."""
        if block is None or not isinstance(name, tuple) or name[1] == block:
            return places
        names = self.structure.model.names
        first, own = self.structure.variables(name[1]), self.structure.variables(block)
        return {names[a]: b for a, b in zip(first.tolist(), own.tolist(), strict=True)}


def reformulated(structure: Structure) -> Reformulation:
    """Master, pricer and branching rules of a structure.

    Raises
    ------
    NotDecomposableError
        For a block with whole and continuous variables, and for variables that may be negative.
    """
    groups = structure.groups()
    _check(structure, groups)
    model = structure.model
    program, linking = model.program, structure.linking_rows
    low, high = program.row_lower[linking], program.row_upper[linking]
    sides: list[tuple[int, str, float]] = []
    for k, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if a == b:
            sides.append((k, "==", a))
        else:
            sides += [(k, ">=", a)] if math.isfinite(a) else []
            sides += [(k, "<=", b)] if math.isfinite(b) else []
    names: list[Hashable] = [(model.row_names[linking[k]], sense) for k, sense, _ in sides]
    blocks = [("block", group[0]) for group in groups]
    rows = [*names, *blocks]
    master = LinearMaster(
        rows,
        [*(sense for _, sense, _ in sides), *("==" for _ in groups)],
        np.array([*(rhs for _, _, rhs in sides), *(float(len(group)) for group in groups)]),
        copies={name: float(len(group)) for name, group in zip(blocks, groups, strict=True)},
    )
    of_side = linking[[k for k, _, _ in sides]] if sides else np.zeros(0, dtype=np.intp)
    coefficients = sp.csc_array(model.matrix[of_side])
    subproblems = [
        _block(structure, group[0], coefficients, len(sides) + k, len(rows))
        for k, group in enumerate(groups)
    ]
    master.add(_own_columns(structure, coefficients, len(rows)))
    aggregated = any(len(group) > 1 for group in groups)
    whole = all(_is_whole(block.linking.data) and block.integer.all() for block in subproblems)
    nonnegative = all((block.lower >= 0).all() for block in subproblems)
    positive = all((block.linking.data >= 0).all() for block in subproblems) and nonnegative
    pricer = BlockPricer(subproblems, rows, component_rows=whole and positive)
    branching: list[BranchingRule] = []
    if aggregated and _has_unit_rows(subproblems, master, positive):
        branching.append(RyanFoster(subset_closed=_is_monotone(structure, coefficients)))
    integer = [name for name, own in zip(model.names, model.integer, strict=True) if own]
    branching.append(VariableBranching(integer=integer))
    if whole and positive:
        branching.append(ComponentBranching())
    once = [name for name, group in zip(blocks, groups, strict=True) if len(group) == 1]
    heuristics: list[Heuristic] = [IntegralPoint(subproblems, once), Diving(), RestrictedMaster()]
    return Reformulation(structure, groups, master, pricer, branching, heuristics, _step(structure))


def _check(structure: Structure, groups: list[tuple[int, ...]]) -> None:
    model = structure.model
    for group in groups:
        own = structure.variables(group[0])
        whole = model.integer[own]
        if whole.any() and not whole.all():
            names = model.names[own[whole][0]], model.names[own[~whole][0]]
            raise NotDecomposableError(
                f"block {group[0]} has the integer variable {names[0]!r} and the continuous one "
                f"{names[1]!r}; only blocks of one kind are decomposed"
            )
    in_blocks = structure.block_of_variable >= 0
    negative = (in_blocks | model.integer) & (model.program.lower < 0)
    for j in np.flatnonzero(negative).tolist():
        raise NotDecomposableError(
            f"variable {model.names[j]!r} may be negative, and it is in a block or an integer one; "
            "only models whose variables are at least 0 there are decomposed"
        )


def _block(
    structure: Structure, block: int, coefficients: sp.csc_array, convexity: int, n_rows: int
) -> Block:
    model = structure.model
    program, own, rows = model.program, structure.variables(block), structure.rows(block)
    linking = sp.csr_array(coefficients[:, own])
    below = sp.csr_array((n_rows - linking.shape[0], len(own)))
    return Block(
        name=("block", block),
        variables=tuple(model.names[j] for j in own.tolist()),
        cost=program.cost[own],
        lower=program.lower[own],
        upper=program.upper[own],
        integer=model.integer[own],
        matrix=sp.csr_array(model.matrix[rows][:, own]),
        row_lower=program.row_lower[rows],
        row_upper=program.row_upper[rows],
        linking=sp.csr_array(sp.vstack([linking, below])),
        convexity=convexity,
    )


def _own_columns(structure: Structure, coefficients: sp.csc_array, n_rows: int) -> list[Column]:
    """Columns of the variables in no block; a free one is the difference of two."""
    model, program = structure.model, structure.model.program
    columns = []
    for j in structure.master_variables.tolist():
        low, high = float(program.lower[j]), float(program.upper[j])
        if low != 0 and (math.isfinite(low) or math.isfinite(high)):
            raise NotDecomposableError(
                f"variable {model.names[j]!r} is in no block and has the bounds [{low:g}, "
                f"{high:g}]; a lower bound of 0, or no bounds at all, are needed"
            )
        values = np.zeros(n_rows)
        values[: coefficients.shape[0]] = coefficients[:, [j]].toarray()[:, 0]
        for sign in (1.0,) if low == 0 else (1.0, -1.0):
            columns.append(
                Column(
                    values=sign * values,
                    key=("variable", model.names[j], sign),
                    cost=sign * float(program.cost[j]),
                    upper=high,
                    integer=bool(model.integer[j]),
                    variables={model.names[j]: sign},
                )
            )
    return columns


def _has_unit_rows(blocks: list[Block], master: LinearMaster, positive: bool) -> bool:
    """Whether rows with the right-hand side 1 have at most one 0/1 variable of each block."""
    constraints = master.constraints
    n = len(constraints) - len(blocks)
    ones = np.flatnonzero((constraints.rhs[:n] == 1) & (constraints.senses[:n] != "<="))
    return (
        positive
        and bool(ones.size)
        and all(bool((block.linking[ones].data == 1).all()) for block in blocks)
        and all(bool((np.diff(block.linking[ones].indptr) <= 1).all()) for block in blocks)
        and all(bool((block.upper[block.linking[ones].indices] <= 1).all()) for block in blocks)
    )


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


def _step(structure: Structure) -> float | None:
    """The greatest number of which all costs are multiples, if variables with costs are whole."""
    program = structure.model.program
    used = program.cost != 0
    if not used.any() or not structure.model.integer[used].all() or not _is_whole(program.cost):
        return None
    return float(math.gcd(*(round(c) for c in program.cost[used].tolist())))


def _is_whole(values: Vector) -> bool:
    return bool((np.abs(values - np.round(values)) <= WHOLE).all())
