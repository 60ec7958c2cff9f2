"""Spaces of functions as columns: all functions of a norm of at most 1 are one column.

The values of such a column are those of its function with the best score against a pseudo-response,
which changes from answer to answer. A master that holds the whole space makes a new column of it
for every answer; those of earlier answers keep their place with the coefficient 0. A space that is
far from use may leave the master, and be offered again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.packed import PackedMatrix
from cgboost.generation.protocols import MasterState


class FunctionSpace(Protocol):
    """Functions K a over the training rows, with the norm w√(aᵀKa)."""

    @property
    def name(self) -> str:
        """What the space is called."""
        ...

    @property
    def gram(self) -> PackedMatrix:
        """K, of n_rows rows."""
        ...

    @property
    def weight(self) -> float:
        """w, what a unit of the norm costs."""
        ...

    def release(self) -> None:
        """Forget what can be made again: the matrix."""
        ...

    def norm(self, vector: Vector) -> float:
        """w√(aᵀKa), the norm of a function by its vector a."""
        ...

    def score_error(self, response: Vector) -> float:
        """What rounding may do to rᵀKr/w², at most."""
        ...

    def best(self, response: Vector, key: Hashable) -> Column:
        """The function of the norm 1 with the best score; 0 where every function scores 0."""
        ...

    def whole(self, response: Vector) -> SpaceColumn:
        """The space as a column, with the function of the best score for its values."""
        ...


@dataclass(frozen=True, eq=False)
class OutputsColumn(Column):
    """A function with a part for each output, one after the other."""

    functions: Sequence[Any] = field(kw_only=True)

    @property
    def parts(self) -> Sequence[tuple[int, Any]]:
        """What it adds to each output."""
        return list(enumerate(self.functions))


@dataclass(frozen=True, eq=False)
class SpaceColumn(OutputsColumn):
    """A space of functions as a column."""

    space: FunctionSpace = field(kw_only=True)


@dataclass(frozen=True)
class SpaceState(MasterState):
    """The optimum of a restricted master of spaces.

    Attributes
    ----------
    held : frozenset of str
        Names of the spaces that are in the problem.
    """

    held: frozenset[str] = frozenset()
