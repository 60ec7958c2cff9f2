"""A block of a model: its data, and the request and the answer of a pricing problem."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from cgboost.arrays import Mask, Vector
from cgboost.exceptions import CGBoostError
from cgboost.forks import cached_property
from cgboost.generation.columns import Column
from cgboost.integer.branching.decisions import Apart, ComponentRow, Together, VariableBound
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.integer.decomposition.blocks import Positions


class BlockError(CGBoostError):
    """HiGHS cannot solve a block's pricing problem."""

    section = "models-with-blocks"


class BlockTimeError(CGBoostError):
    """The time limit was reached within a pricing problem."""


@dataclass(frozen=True, eq=False)
class Block:
    """The data of one block, or of several equal ones.

    Its points are those between its rows and bounds with whole integer variables. Where each of
    them is its own column (a *discrete* block), columns are whole; else a solution is a mean of
    points, plus rays, whose sum has whole integer variables.

    Attributes
    ----------
    name : hashable
        Of the block and of its convexity row.
    variables : tuple of str
    cost, lower, upper : ndarray of shape (n_variables,)
    integer : ndarray of bool
    matrix : sparse array of shape (n_rows, n_variables)
    row_lower, row_upper : ndarray of shape (n_rows,)
    linking : sparse array of shape (n_master_rows, n_variables)
        Coefficients in all rows of the master but those of convexity.
    convexity : int
        Place of the convexity row among the rows of the master.
    has_rays : bool
        Whether there are directions in which its points go on without end.
    copies : int
        How many equal blocks it stands for.
    """

    name: Hashable
    variables: tuple[str, ...]
    cost: Vector
    lower: Vector
    upper: Vector
    integer: Mask
    matrix: sp.csr_array
    row_lower: Vector
    row_upper: Vector
    linking: sp.csr_array
    convexity: int
    has_rays: bool = False
    copies: int = 1
    places: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {v: j for j, v in enumerate(self.variables)})

    @property
    def some(self) -> str:
        """Names of a few of its variables, for messages."""
        names = ", ".join(repr(name) for name in self.variables[:3])
        return f"the variables {names}{', …' if len(self.variables) > 3 else ''}"

    @property
    def discrete(self) -> bool:
        """See the class."""
        return bool(self.integer.all()) and not self.has_rays

    def column(self, z: Vector) -> Column:
        """The column of an integer point."""
        z = np.where(self.integer, np.round(z), z) + 0.0
        column = self._column(z, (self.name, z.tobytes()))
        column.values[self.convexity] = 1.0
        return replace(column, integer=self.discrete)

    def ray_column(self, direction: Vector) -> Column:
        """The column of a direction."""
        z = direction + 0.0
        return replace(self._column(z, (self.name, "ray", z.tobytes())), ray=True)

    def _column(self, z: Vector, key: Hashable) -> Column:
        used = np.flatnonzero(z)
        return Column(
            values=np.asarray(self.linking @ z, dtype=np.float64),
            key=key,
            cost=float(self.cost @ z),
            integer=False,
            variables={self.variables[j]: float(z[j]) for j in used},
            block=self.name,
        )

    def point(self, column: Column) -> Vector:
        """The point of a column, shape (n_variables,)."""
        z = np.zeros(len(self.variables))
        for name, amount in column.variables.items():
            if name in self.places:
                z[self.places[str(name)]] = amount
        return z

    def cost_of(self, column: Column, cost: Vector) -> float:
        """The cost of a column's point at other costs of the variables."""
        places, amounts = self.places, column.variables.items()
        return float(sum(cost[places[str(v)]] * a for v, a in amounts if v in places))

    def prices(self, duals: Vector) -> Vector:
        """What the variables earn in the rows of the master, ``linkingᵀ · duals``."""
        return np.asarray(self._transposed @ duals)

    @cached_property
    def linked(self) -> Mask:
        """Which variables have an entry in a linking row, shape (n_variables,)."""
        return np.diff(self._transposed.indptr) > 0

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return sp.csr_array(self.linking.T)

    @cached_property
    def _entries(self) -> tuple[Positions, Positions, Vector]:
        """Rows, variables and values of the entries of ``linking``."""
        entries = self.linking.tocoo()
        return entries.row, entries.col, entries.data

    def bounds(
        self, restrictions: Sequence[Any], left: Vector | None = None
    ) -> tuple[Vector, Vector]:
        """Bounds of the variables with those of the decisions of a node.

        And no variable gives a linking row more than ``left``, where that is given: every row has
        one variable at most.
        """
        lower, upper = self.lower.copy(), self.upper.copy()
        if left is not None:
            rows, variables, values = self._entries
            room = np.maximum(left[rows], 0.0) / values
            np.minimum.at(upper, variables, np.floor(room + INTEGRAL))
        for each in restrictions:
            mine = isinstance(each, VariableBound) and each.block in (None, self.name)
            j = self.places.get(each.variable) if mine else None
            if j is not None:
                lower[j], upper[j] = max(lower[j], each.lower), min(upper[j], each.upper)
        return lower, upper


@dataclass(frozen=True)
class BlockRequest:
    """A pricing problem of a block at a node.

    Attributes
    ----------
    cost : ndarray of shape (n_variables,)
        Reduced costs of the variables.
    lower, upper : ndarray of shape (n_variables,)
        With the bounds of the node's decisions.
    restrictions : sequence of Restriction
        All those of the node; bounds of variables are in ``lower`` and ``upper``.
    duals : mapping of row to float
        Of the rows that the node adds.
    seconds : float or None
        Time limit.
    """

    cost: Vector
    lower: Vector
    upper: Vector
    restrictions: Sequence[Any] = ()
    duals: Mapping[Any, float] = field(default_factory=dict)
    seconds: float | None = None

    @property
    def only_bounds(self) -> bool:
        """Whether all that the node asks of the block is in the bounds."""
        return not (
            any(isinstance(each, Together | Apart) for each in self.restrictions)
            or any(isinstance(row, ComponentRow) for row in self.duals)
        )


@dataclass(frozen=True)
class Found:
    """The answer of a pricing problem.

    Attributes
    ----------
    bound : float
        Nothing costs less; inf where no point is left, −inf where costs fall along a ray.
    points : list of ndarray
        The best first.
    rays : list of ndarray
        Directions in which costs fall.
    """

    bound: float
    points: list[Vector]
    rays: list[Vector] = field(default_factory=list)


NO_POINT = Found(math.inf, [])
"""The answer where no point is left."""


class BlockSolver(Protocol):
    """Exact algorithm for blocks of one kind.

    Parameters
    ----------
    block : Block
        One that fits.
    """

    def __init__(self, block: Block) -> None: ...

    @staticmethod
    def fits(block: Block) -> bool:
        """Whether a block is of this kind, so that the algorithm is right for it."""
        ...

    def solve(self, request: BlockRequest) -> Found | None:
        """The least cost between bounds; None where HiGHS has to be asked.

        The request has ``only_bounds``, and no lower bound is above an upper one.
        """
        ...
