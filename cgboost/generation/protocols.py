"""The loop's view of masters and pricers: two protocols and the records they exchange.

::

    Master.solve   ->  MasterState   coefficients, output, pseudo-response, entry rule
    Pricer.price   ->  Priced        columns, and what an exact pass has seen of all the others
    Master.bound   ->  float         the lower bound that follows from an exact pass
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column

ZERO_REDUCED_COST = 1e-9
"""Reduced costs closer to 0 than this, relative to the cost, count as 0. Smaller, a column of
reduced cost 0 would price out through the rounding of its sum over rows."""


class EntryRule(Protocol):
    """The contribution of a column outside the master to the duality gap, from its score."""

    @property
    def two_sided(self) -> bool:
        """Whether a column may enter with either sign."""
        ...

    @property
    def additive(self) -> bool:
        """Whether the bound uses the sum of the excesses (2-norm) or the largest one (1-norm).

        It determines which of the two must be accurate in a search in single precision. Rules that
        do not define it use the sum, which is always accurate enough but may need a pass in double
        precision.
        """
        ...

    def excess(self, scores: Vector) -> Vector:
        """What each score ``r·h`` adds to the relative gap; 0 where it does not price out."""
        ...

    def settled(self, score: float) -> float:
        """The score nearest to this one at which a column no longer prices out."""
        ...


SMALLEST_SCALE = 1e-100
"""Stands for 0 where it divides: far below any objective, and its inverse far from overflow."""


def gap_scale(objective: float, empty: float = 1.0) -> float:
    """The scale of relative gaps: max(|objective|, min(1, |empty|)).

    An objective may be much smaller than 1 because the target is in small units, or because the
    model is good. Only in the second case is a gap larger than the objective still meaningful.

    Parameters
    ----------
    empty : float, default=1.0
        The objective of the model without columns.
    """
    return max(abs(objective), min(1.0, abs(empty)), SMALLEST_SCALE)


@dataclass(frozen=True)
class NodeDecisions:
    """What a node of a tree adds to the problem that a pricer knows.

    Attributes
    ----------
    restrictions : tuple
        What every new column has to keep to.
    duals : mapping of row to float
        Duals of the rows that are not the master's own.
    prices : mapping of hashable to float
        For each original variable v the sum of r_k·a_kv over those rows k that are rows on original
        variables: a column with the amounts z earns Σ_v prices_v z_v.
    constants : mapping of block to float
        What every integer column of a block earns; that of all blocks is under None.
    rhs : ndarray of shape (n_rows,) or None
        Right-hand sides of the master's own rows, less what columns use that a heuristic has fixed.
    """

    restrictions: tuple[Any, ...] = ()
    duals: Mapping[Any, float] = field(default_factory=dict)
    prices: Mapping[Hashable, float] = field(default_factory=dict)
    constants: Mapping[Hashable | None, float] = field(default_factory=dict)
    rhs: Vector | None = None


@dataclass(frozen=True)
class MasterState:
    """The optimum of a restricted master, or with ``solved=False`` a point near it.

    Attributes
    ----------
    columns : sequence of Column
        The columns in the master, in the order of ``coef``.
    coef : ndarray of shape (n_columns,)
    intercept : float, or ndarray of shape (n_outputs,) if there are several
    output : ndarray of shape (n_rows,)
        Model output f = Σ α_j h_j + b.
    pseudo_response : ndarray of shape (n_rows,)
        r = −∂loss/∂f, feasible for the dual of the *full* problem up to scaling. Without a loss,
        the row duals.
    objective : float
        Value of the restricted problem at (coef, intercept): an upper bound on the optimum; inf
        while the columns cannot satisfy all rows.
    slack : ndarray of shape (n_rows,)
        ξ; positive on error points. Without a loss, the amount missing in each row.
    entry : EntryRule or None
        Which columns may still lower the objective. None: columns with negative reduced cost
        ``cost − r·h``.
    rows : sequence of hashable or None
        Names of the rows, if they have any.
    curvature : ndarray of shape (n_rows,) or None
        Newton weights ∂²loss/∂f², if the loss has them.
    scale : float or None
        The scale of relative gaps, see :func:`gap_scale`; None means max(1, |objective|).
    magnitude : float
        Sizes of the numbers that the objective is a difference of, such as Σ|r_i|(|y_i| + |f_i|);
        rounding is relative to them.
    solved : bool
        Whether the restricted problem is solved to full accuracy. Otherwise it is accurate enough
        to find columns, and solving it again with the same columns improves it.
    bounded : bool
        False if the objective decreases without bound along the columns in the master; the
        coefficients are then at some point far along.
    left : int
        Number of columns that have left the master. They keep their position, with the coefficient
        0.
    decisions : NodeDecisions
        Additions of a node of a branch-and-price tree; empty outside a tree.
    """

    columns: Sequence[Column]
    coef: Vector
    intercept: float | Vector
    output: Vector
    pseudo_response: Vector
    objective: float
    slack: Vector
    entry: EntryRule | None = None
    rows: Sequence[Hashable] | None = None
    curvature: Vector | None = None
    scale: float | None = None
    magnitude: float = 0.0
    solved: bool = True
    bounded: bool = True
    left: int = 0
    decisions: NodeDecisions = NodeDecisions()

    @classmethod
    def at_response(
        cls, response: Vector, entry: EntryRule | None, columns: Sequence[Column] = ()
    ) -> MasterState:
        """A state of no master: what a pricer needs to see of one at this pseudo-response."""
        nothing = np.zeros(len(response))
        return cls(columns, np.zeros(len(columns)), 0.0, nothing, response, 1.0, nothing, entry)

    @property
    def n_held(self) -> int:
        """Number of columns that are still in the master."""
        return len(self.columns) - self.left

    @property
    def gap_scale(self) -> float:
        """What gaps are relative to."""
        return gap_scale(self.objective) if self.scale is None else self.scale

    @property
    def rule(self) -> EntryRule:
        """The entry rule, for pricers that cannot do without one."""
        if self.entry is None:
            raise TypeError("this pricer needs a master with an entry rule (a loss and a penalty)")
        return self.entry

    def prices_out(self, column: Column) -> bool:
        """Whether a column outside the master would lower the objective, to first order."""
        score = float(column.values @ self.pseudo_response)
        if self.entry is None:
            unit = max(min(1.0, self.gap_scale), abs(column.cost))
            return column.cost - score < -ZERO_REDUCED_COST * unit
        return bool(self.entry.excess(np.array([score]))[0] > 0)


@dataclass(frozen=True)
class Priced:
    """The result of a pricer.

    Attributes
    ----------
    columns : sequence of Column
        Columns that price out, best first; after them such as nearly do, where a pricer offers them
        (``StrataPricer(reach=…)``).
    exact : bool
        Whether every column of the family was scored. Only then does finding no column prove
        optimality, and only then are those of ``max_excess`` and ``total_excess`` set that the
        bound needs.
    max_excess, total_excess : float
        Largest and summed :meth:`EntryRule.excess` over the whole family.
    reduced_cost : float or mapping of row to float
        Lower bound on the reduced cost ``cost − r·h`` of every column, over all or per convexity
        row; nan if unknown. Columns in the master with a finite upper bound may be left out. For
        masters without an entry rule, and only meaningful if ``exact``.
    without_costs : bool
        Whether costs were left out: ``reduced_cost`` bounds ``−r·h``. If the master's rows are not
        met, such a search shows that nothing can meet them, whatever it costs.
    n_evaluated : int
        Number of columns scored in this call.
    exhausted : bool
        Whether there is no column outside the span of the columns in the master, for any r.
    stratum : str
        The priority class in which the columns were found.
    replaces : bool
        Whether the columns replace all columns in the master, which then has ``replace``.
    response : ndarray of shape (n_rows,) or None
        The feasible pseudo-response for the excess, if it differs from that of the state.
    """

    columns: Sequence[Column]
    exact: bool = False
    max_excess: float = math.nan
    total_excess: float = math.nan
    reduced_cost: float | Mapping[Hashable, float] = math.nan
    without_costs: bool = False
    n_evaluated: int = 0
    exhausted: bool = False
    stratum: str = ""
    replaces: bool = False
    response: Vector | None = None


@dataclass(frozen=True)
class Vertex:
    """Coefficients at a vertex of the restricted problem, with few nonzero values.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
    intercept : float, or ndarray of shape (n_outputs,) if there are several
    objective : float
    """

    coef: Vector
    intercept: float | Vector
    objective: float


class Master(Protocol):
    """The restricted problem over the columns generated so far.

    What it may have beyond that is listed in :class:`Abilities`.
    """

    def add(self, columns: Sequence[Column]) -> None:
        """Add new columns to the problem."""
        ...

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise; raise :class:`MasterError` if the solver gives no usable solution."""
        ...

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the full problem from an exact pricing pass; None if there is none."""
        ...


class Abilities:
    """What a master may have beyond :class:`Master`; where it has not, the loop takes these.

    Attributes
    ----------
    columns : sequence of Column
        The columns in the problem, from a warm start or added. With ``accuracy`` only.
    accuracy : float or None
        The relative gap to which the restricted problem need be solved in the end (0: as well as
        can be). The loop sets it before every solve of a master that has it; above 0 an answer may
        come sooner, with ``solved=False``, once it is good enough to find columns.
    descends : bool
        False: the objective may increase, and a run returns the last round, not the best.
    proves : bool
        False: no bound before the end; a round known to be the last is then not priced.
    columns_per_round : int
        So many columns are taken from one pricing pass, unless the loop is told otherwise.
    has_start : bool
        Whether the first solve, where it runs out of time, answers with what it has begun from.
    replace : callable or None
        ``replace(columns)`` takes new columns into the problem, and those that were in it leave.
        For pricers whose columns replace all others; a master without it keeps them.
    take_up : callable or None
        ``take_up(columns, coef, intercept)`` takes in all columns of a run at once, with
        coefficients of the first ones to begin at. For masters whose optimum does not depend on the
        way that led to it; with the others, a run that is resumed repeats its rounds.
    """

    columns: Sequence[Column] = ()
    accuracy: float | None = None
    descends: bool = True
    proves: bool = True
    columns_per_round: int = 1
    has_start: bool = False
    replace: Callable[[Sequence[Column]], None] | None = None
    take_up: Callable[[Sequence[Column], Vector, Any], None] | None = None

    def anticipated(self) -> MasterState | None:
        """A neighbour's solution with the pseudo-response of this problem, or None.

        The loop prices there first, so that the first solve has the columns that come next (the
        sequential strong rule: Tibshirani and others, J. Royal Statistical Society B 74, 2012). No
        bound rests on it.
        """
        return None

    def crossover(
        self, coef: Vector, intercept: Any, *, time_limit: float | None = None
    ) -> Vertex | None:
        """An optimal vertex over the columns used in a round, or None.

        The loop calls this once, at the end, for the returned round, and uses the vertex if its
        objective is no worse.
        """
        return None


Given = TypeVar("Given")


def with_defaults(given: Any, defaults: Given) -> Given:
    """An object, with the defaults for members that it does not have, or that are None."""
    return cast("Given", _Completed(given, defaults))


class _Completed:
    """An object whose members are set and called as its own, and read with defaults for others."""

    def __init__(self, given: Any, defaults: Any) -> None:
        vars(self).update(given=given, defaults=defaults)

    def __getattr__(self, name: str) -> Any:
        own = getattr(vars(self)["given"], name, None)
        return getattr(vars(self)["defaults"], name) if own is None else own

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["given"], name, value)

    def __call__(self, *given: Any) -> Any:
        return vars(self)["given"](*given)


@runtime_checkable
class Pricer(Protocol):
    """Finds the columns with the best scores for the pseudo-response."""

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` columns that price out at ``state``, or nearly do, best first.

        ``limit=0`` only requests the certificate: an exact pass, if the pricer can make one.
        """
        ...


@runtime_checkable
class ListingPricer(Protocol):
    """A pricer that can list its columns."""

    def every(self, state: MasterState, most: float, limit: int) -> Sequence[Column] | None:
        """Columns whose reduced cost is at most ``most``; None where there are too many.

        A column may be left out where another one in the list has the same values and block, and
        costs no more.
        """
        ...


@runtime_checkable
class TimedPricer(Protocol):
    """A pricer that can end its search early."""

    seconds_left: float | None
    """What is left of the time limit, set by the loop before every call; None: no limit."""
