"""Blocks of a model: their rows and variables, and which blocks are equal.

With the rows and variables in the order of the blocks, the matrix is

    linking rows   A_1 … A_K  A_0
    block 1        D_1
    …                  ⋱
    block K               D_K

where the last columns are those of variables in no block.

A variable with rows in several blocks (a *linking variable*) stays in the first of them. Each other
block has a copy of it, and the master a row "copy = variable". Such blocks are never equal: with
one convexity row Σ λ = K for all, Σ copies = K · variable would hold for copies that differ, and no
branching rule makes them equal column by column.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.forks import cached_property
from cgboost.generation.resuming import fingerprint
from cgboost.integer.decomposition.model import Model
from cgboost.integer.decomposition.structure_files import StructureError, StructureFile

Positions = NDArray[np.intp]

MASTER = -1
"""Number for linking rows, and for variables in no block."""


@dataclass(frozen=True, eq=False)
class Structure:
    """The blocks of a model.

    Attributes
    ----------
    model : Model
        With copies of linking variables, which come last, as do their rows.
    block_of_row, block_of_variable : ndarray of int
        Block numbers from 0; ``MASTER`` for linking rows, and for variables in no block.
    copied : ndarray of int
        The variable of which each copy is one.
    labels : tuple of str
        What the blocks are called where they are given; else they have their numbers.
    """

    model: Model
    block_of_row: Positions
    block_of_variable: Positions
    copied: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    labels: tuple[str, ...] = ()

    @property
    def origin(self) -> Positions:
        """The variable of the model without copies that each variable is, or is a copy of."""
        n = len(self.model.names) - len(self.copied)
        return np.concatenate([np.arange(n), self.copied])

    @property
    def names_without_copies(self) -> dict[str, str]:
        """By the name of each copy, that of the variable."""
        names, first = self.model.names, len(self.model.names) - len(self.copied)
        return {names[first + k]: names[j] for k, j in enumerate(self.copied.tolist())}

    def without_copies(self, x: Vector) -> Vector:
        """A point in the variables of the model without copies."""
        return x[: len(x) - len(self.copied)]

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        numbers = (self.block_of_row, self.block_of_variable)
        return int(max(own.max(initial=MASTER) for own in numbers)) + 1

    @property
    def linking_rows(self) -> Positions:
        """Rows of the master."""
        return np.flatnonzero(self.block_of_row == MASTER)

    @property
    def master_variables(self) -> Positions:
        """Variables in no block."""
        return np.flatnonzero(self.block_of_variable == MASTER)

    @property
    def n_entries(self) -> int:
        """Coefficients of the variables in one of each group of equal blocks, and in none."""
        taken = [MASTER, *(group[0] for group in self.groups())]
        inside = np.isin(self.block_of_variable, taken)
        return int(inside[self.model.matrix.indices].sum())

    @property
    def marks(self) -> dict[str, str]:
        """A hash of each part of the model, and one of the blocks."""
        blocks = fingerprint(self.block_of_row, self.block_of_variable, self.copied, self.labels)
        return {**self.model.marks, "blocks": blocks}

    def rows(self, block: int) -> Positions:
        """Rows of a block."""
        return self._rows[block]

    def variables(self, block: int) -> Positions:
        """Variables of a block."""
        return self._variables[block]

    def groups(self) -> list[tuple[int, ...]]:
        """Groups of equal blocks, each starting with the first of them."""
        return self._groups

    @cached_property
    def _rows(self) -> list[Positions]:
        return _members(self.block_of_row, self.n_blocks)

    @cached_property
    def _variables(self) -> list[Positions]:
        return _members(self.block_of_variable, self.n_blocks)

    @cached_property
    def _groups(self) -> list[tuple[int, ...]]:
        return [tuple(group) for group in _equal(self)]


def structure_of(model: Model, given: StructureFile | Mapping[str, object]) -> Structure:
    """The structure that a file, or a mapping from the names of rows to blocks, describes.

    Rows that are not named, or have None, False, "" or NaN, are rows of the master. Where variables
    are given, a row whose variables are all in one block is a row of this block. Variables get the
    block of their rows.

    Raises
    ------
    StructureError
        For a name that the model lacks.
    """
    if isinstance(given, StructureFile):
        if given.variables:
            return _by_variables(model, given)
        given = given.rows
    known = {name: number for number, name in enumerate(model.row_names)}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise StructureError(
            f"the model has no row {unknown[0]!r}, to which a block is given; it has the rows "
            f"{list(model.row_names[:5])}"
        )
    odd = [name for name, block in given.items() if not isinstance(block, Hashable)]
    if odd:
        raise StructureError(
            f"row {odd[0]!r} has the block {given[odd[0]]!r}, which is not hashable: give a number "
            "or a name"
        )
    given = {row: None if _is_none(block) else block for row, block in given.items()}
    labels = {block for block in given.values() if block is not None}
    numbers: dict[object, int] = {block: k for k, block in enumerate(sorted(labels, key=str))}
    block_of_row = np.full(len(known), MASTER, dtype=np.intp)
    for name, block in given.items():
        block_of_row[known[name]] = MASTER if block is None else numbers[block]
    return replace(by_rows(model, block_of_row), labels=tuple(map(str, numbers)))


def _is_none(block: Any) -> bool:
    """Whether what a row has for a block is none: None, False, an empty text, or not a number."""
    if isinstance(block, bool | np.bool_ | str):
        return not block
    return block is None or (isinstance(block, float) and math.isnan(block))


def by_rows(model: Model, block_of_row: Positions) -> Structure:
    """The structure in which rows have these blocks, ``MASTER`` being the master."""
    matrix = sp.coo_array(model.matrix)
    inside = block_of_row[matrix.row] != MASTER
    rows, variables = matrix.row[inside], matrix.col[inside]
    n_blocks = int(block_of_row.max(initial=MASTER)) + 1
    numbers = np.unique(variables.astype(np.int64) * n_blocks + block_of_row[rows])
    places = np.c_[np.divmod(numbers, max(1, n_blocks))]
    first = np.diff(places[:, 0], prepend=-1) > 0
    block_of_variable = np.full(len(model.names), MASTER, dtype=np.intp)
    block_of_variable[places[first, 0]] = places[first, 1]
    if first.all():
        return Structure(model, block_of_row, block_of_variable)
    return _with_copies(model, block_of_row, block_of_variable, *places[~first].T)


def _with_copies(
    model: Model,
    block_of_row: Positions,
    block_of_variable: Positions,
    copied: Positions,
    blocks: Positions,
) -> Structure:
    """The structure with a copy of each of some variables in one more block."""
    program, n, n_copies = model.program, len(model.names), len(copied)
    matrix, numbers = sp.coo_array(model.matrix), np.arange(n, n + n_copies)
    copy_of = dict(zip(zip(copied.tolist(), blocks.tolist(), strict=True), numbers, strict=True))
    own = zip(matrix.col.tolist(), block_of_row[matrix.row].tolist(), strict=True)
    columns = np.array([copy_of.get(entry, entry[0]) for entry in own], dtype=np.intp)
    above = sp.csr_array(
        (matrix.data, (matrix.row, columns)), shape=(matrix.shape[0], n + n_copies)
    )
    pairs = np.r_[numbers, copied], np.tile(np.arange(n_copies), 2)
    below = sp.csr_array(
        (np.repeat([1.0, -1.0], n_copies), pairs[::-1]), shape=(n_copies, n + n_copies)
    )
    names = _new_names(model.names, copied, blocks)
    nothing = np.zeros(n_copies)
    wider = replace(
        program,
        cost=np.r_[program.cost, nothing],
        matrix=sp.csr_array(sp.vstack([above, below])),
        row_lower=np.r_[program.row_lower, nothing],
        row_upper=np.r_[program.row_upper, nothing],
        lower=np.r_[program.lower, program.lower[copied]],
        upper=np.r_[program.upper, program.upper[copied]],
        integrality=np.r_[model.integer, model.integer[copied]],
    )
    return Structure(
        replace(
            model,
            program=wider,
            names=(*model.names, *names),
            row_names=(*model.row_names, *_unused(model.row_names, names)),
        ),
        np.r_[block_of_row, np.full(n_copies, MASTER, dtype=np.intp)],
        np.r_[block_of_variable, blocks],
        copied,
    )


def _new_names(names: Sequence[str], copied: Positions, blocks: Positions) -> list[str]:
    """Names of copies: the variable, and the number of the block."""
    pairs = zip(copied.tolist(), blocks.tolist(), strict=True)
    return _unused(names, [f"{names[j]} in block {block}" for j, block in pairs])


def _unused(known: Sequence[str], names: Iterable[str]) -> list[str]:
    """Names with strokes, as many as make them differ from those that there are."""
    taken, found = set(known), []
    for name in names:
        own = name
        while own in taken:
            own += "'"
        taken.add(own)
        found.append(own)
    return found


def _by_variables(model: Model, given: StructureFile) -> Structure:
    places = {name: number for number, name in enumerate(model.names)}
    labels = {block: k for k, block in enumerate(sorted(set(given.variables.values())))}
    block_of_variable = np.full(len(places), MASTER, dtype=np.intp)
    for name, block in given.variables.items():
        block_of_variable[places[name]] = labels[block]
    matrix = model.matrix
    block_of_row = np.full(len(model.row_names), MASTER, dtype=np.intp)
    for row, name in enumerate(model.row_names):
        own = block_of_variable[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]]
        if name not in given.master and own.size and (own == own[0]).all():
            block_of_row[row] = own[0]
    return Structure(model, block_of_row, block_of_variable, labels=tuple(map(str, labels)))


# ---------------------------------------------------------------------- equal blocks


def _equal(structure: Structure) -> list[list[int]]:
    """Blocks with the same data, rows and variables of each taken in the order of the model."""
    program, integer = structure.model.program, structure.model.integer
    order, starts = _in_order(structure.block_of_variable, structure.n_blocks)
    row_order, row_starts = _in_order(structure.block_of_row, structure.n_blocks)
    matrix = sp.csc_array(structure.model.matrix[row_order])[:, order]
    matrix.sort_indices()
    block_of_row = structure.block_of_row[row_order]
    first = np.where(block_of_row >= 0, row_starts[block_of_row], 0)
    entries = np.c_[block_of_row >= 0, np.arange(first.size) - first][matrix.indices]
    by_variable = (
        np.c_[program.cost, program.lower, program.upper, integer.astype(np.float64)][order] + 0.0
    )  # −0.0 has other bytes than 0.0
    by_row = np.c_[program.row_lower, program.row_upper][row_order] + 0.0
    values, lengths = matrix.data + 0.0, np.diff(matrix.indptr)
    groups: dict[bytes, list[int]] = {}
    for block in range(structure.n_blocks):
        own = slice(starts[block], starts[block + 1])
        rows = slice(row_starts[block], row_starts[block + 1])
        inside = slice(matrix.indptr[own.start], matrix.indptr[own.stop])
        parts = (by_variable[own], by_row[rows], lengths[own], entries[inside], values[inside])
        sizes = np.array([len(part) for part in parts]).tobytes()
        data = sizes + b"".join(part.tobytes() for part in parts)
        groups.setdefault(data, []).append(block)
    return list(groups.values())


def _in_order(numbers: Positions, n_blocks: int) -> tuple[Positions, Positions]:
    """Places in the order of their blocks, those of the master first, and where each begins."""
    order = np.argsort(numbers, kind="stable")
    return order, np.searchsorted(numbers[order], np.arange(n_blocks + 1))


def _members(numbers: Positions, n_blocks: int) -> list[Positions]:
    """Places of each block."""
    order, starts = _in_order(numbers, n_blocks)
    return [order[a:b] for a, b in pairwise(starts)]
