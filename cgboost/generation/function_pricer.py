"""A pricer as a plain function of the row duals."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, NodeDecisions, Priced, Pricer
from cgboost.generation.resuming import Memoryless

PriceFunction = Callable[["Duals"], Any]
"""``price(duals)`` -> columns, or (columns, bound), or (columns, bound, exact)."""


WANTED = "a pricing function must return columns, (columns, bound) or (columns, bound, exact)"


class _OwnMembers(type):
    """Lists the members of a class without those of NumPy's arrays, for ``help``."""

    def __dir__(cls) -> list[str]:
        return list(vars(cls))


class Duals(np.ndarray[Any, np.dtype[np.float64]], metaclass=_OwnMembers):
    """The vector of row duals, with access by the names of the rows.

    ``duals[i]``, ``duals @ values`` and all of NumPy work as usual; ``duals.of(name)`` is the dual
    of a named row, and ``duals.capped`` are the columns that a search must leave out. At a node of
    a branch-and-price tree, ``duals.restrictions``, ``duals.prices``, ``duals.constant(block)`` and
    ``duals.extra`` describe the effects of its decisions; elsewhere they are empty. ``duals.rhs``
    is the remaining right-hand side of the rows, and ``duals.seconds_left`` what is left of the
    time limit, None without one.
    """

    seconds_left: float | None = None

    _numbers: dict[Hashable, int] | None = None
    _columns: Sequence[Column] | None = None
    _decisions = NodeDecisions()

    @classmethod
    def of_state(cls, state: MasterState) -> Self:
        """The duals of a master's state with the names of its rows."""
        duals = np.array(state.pseudo_response, dtype=np.float64).view(cls)
        if state.rows is not None:
            duals._numbers = {name: number for number, name in enumerate(state.rows)}
        duals._columns = state.columns
        duals._decisions = state.decisions
        return duals

    @property
    def restrictions(self) -> tuple[Any, ...]:
        """Decisions of a node that every new column must satisfy."""
        return self._decisions.restrictions

    @property
    def prices(self) -> Mapping[Hashable, float]:
        """What one unit of an original variable earns by the rows that a node adds."""
        return self._decisions.prices

    @property
    def extra(self) -> Mapping[Any, float]:
        """Duals of all rows that a node adds."""
        return self._decisions.duals

    @property
    def rhs(self) -> Vector | None:
        """What the rows still need, after the columns that a heuristic has fixed; shape (n_rows,).

        None outside of a branch-and-price tree. Columns that give more than that are no use to the
        heuristic.
        """
        return self._decisions.rhs

    def constant(self, block: Hashable | None = None) -> float:
        """What every integer column (of a block) earns by the rows that a node adds."""
        constants = self._decisions.constants
        own = constants.get(block, 0.0) if block is not None else 0.0
        return constants.get(None, 0.0) + own

    @property
    def capped(self) -> frozenset[Hashable]:
        """Keys of the columns in the master with a finite upper bound.

        The master accounts for them. They may have a negative reduced cost although they cannot
        help, so only a search that leaves them out can prove that nothing helps.
        """
        if self._columns is None:
            raise AttributeError("only the duals as they were handed over know the columns")
        return frozenset(c.key for c in self._columns if math.isfinite(c.upper))

    def of(self, name: Hashable) -> float:
        """Dual of the row ``name``."""
        if self._numbers is None:
            raise KeyError(
                f"no row is known by the name {name!r}: the master's rows have no names, or this "
                "is a copy of the duals, which has lost them"
            )
        if name not in self._numbers:
            raise KeyError(f"no row is called {name!r}; there are {list(self._numbers)[:10]}")
        return float(self[self._numbers[name]])


class FunctionPricer(Memoryless):
    """A function of the duals as a pricer; :class:`ColumnGeneration` wraps functions in it.

    Parameters
    ----------
    function : callable
        ``function(duals)`` returns columns, ``(columns, bound)`` or ``(columns, bound, exact)``.
        ``bound`` is a lower bound on the reduced cost ``cost − duals·values`` of *every* existing
        column except those in ``duals.capped`` (a number, or a mapping from convexity row to
        number), or None. With a bound, the search counts as exact unless ``exact`` is False; an
        exact search that finds nothing needs no bound, which is then 0.
    """

    def __init__(self, function: PriceFunction) -> None:
        if not callable(function):
            raise TypeError(f"a pricer must have a method price or be callable, got {function!r}")
        self.function = function
        self.seconds_left: float | None = None

    def price(self, state: MasterState, limit: int) -> Priced:
        """The ``limit`` returned columns with the smallest reduced costs, new ones first."""
        duals = Duals.of_state(state)
        duals.seconds_left = self.seconds_left
        columns, bound, exact = unpacked(self.function(duals))
        for column in columns:
            column.check(len(state.pseudo_response))
        _check_bound(bound)
        if bound is None:
            bound = 0.0 if exact and not columns else math.nan
        return Priced(
            columns=_best(columns, state, limit),
            exact=exact,
            reduced_cost=bound,
            n_evaluated=len(columns),
        )


def _best(columns: Sequence[Column], state: MasterState, limit: int) -> list[Column]:
    """The columns of least reduced cost, those that are new first."""
    if not columns or not limit:
        return []
    held = {column.key for column in state.columns}

    def rank(column: Column) -> tuple[bool, float]:
        return column.key in held, column.cost - float(column.values @ state.pseudo_response)

    return sorted(columns, key=rank)[:limit]


def as_pricer(pricer: Pricer | PriceFunction) -> Pricer:
    """``pricer`` itself if it has a method ``price``, else the function as a pricer."""
    return pricer if isinstance(pricer, Pricer) else FunctionPricer(pricer)


def unpacked(answer: Any) -> tuple[Sequence[Column], Any, bool]:
    """Columns, bound and exactness that a pricing function returns, in any of its forms."""
    if not isinstance(answer, tuple) or not answer or isinstance(answer[0], Column):
        return _columns(answer), None, False
    if len(answer) == 2:
        return _columns(answer[0]), answer[1], answer[1] is not None
    if len(answer) == 3:
        return _columns(answer[0]), answer[1], bool(answer[2])
    raise ValueError(f"{WANTED}, got a tuple of {len(answer)}")


def _check_bound(bound: Any) -> None:
    """Raise a ValueError unless a bound is a number, one for each row, or None."""
    if bound is None:
        return
    for row, number in bound.items() if isinstance(bound, Mapping) else [(None, bound)]:
        try:
            is_number = not math.isnan(number)
        except (TypeError, ValueError):
            is_number = False
        if not is_number:
            of_row = "" if row is None else f" for the row {row!r}"
            raise ValueError(
                "a pricing function's bound must be a number, a mapping from convexity rows to "
                f"numbers, or None, got {number!r}{of_row}"
            )


def _columns(answer: Any) -> list[Column]:
    """The columns of an answer, or a ValueError that says what it should have been."""
    if isinstance(answer, Column):
        raise ValueError(f"{WANTED}, got a single Column: put it in a list")
    if not isinstance(answer, Iterable):
        raise ValueError(f"{WANTED}, got {answer!r}")
    columns = list(answer)
    for column in columns:
        if not isinstance(column, Column):
            raise ValueError(f"{WANTED}; among the columns is a {type(column).__name__}")
        for what, name in (("key", column.key), ("block", column.block)):
            if not _is_hashable(name):
                raise ValueError(f"a column's {what} must be hashable (a tuple, say), got {name!r}")
    return columns


def _is_hashable(name: Any) -> bool:
    """Whether it can be the key of a dictionary; a tuple with a list in it cannot."""
    try:
        hash(name)
    except TypeError:
        return False
    return True
