"""The check of a pricer that somebody writes, against the enumeration of its columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Vector
from cgboost.exceptions import CheckError
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.penalties import L1, Penalty

SAME_SCORE = 1e-9
"""Of scores and values, relative to the largest."""

N_RESPONSES = 5


def check_pricer(
    pricer: Pricer,
    columns: ArrayLike,
    *,
    penalty: Penalty | None = None,
    two_sided: bool = True,
    random_state: int = 0,
) -> None:
    """Raise an error that says where a pricer contradicts the enumeration of its columns.

    At random pseudo-responses r: what it returns are columns of the enumeration that price out,
    the best one first, no more than asked for (none for a limit of 0), and the same when it is
    asked again; a key belongs to one column. Where it says that its search is exact, ``max_excess``
    and ``total_excess`` are at least those of all columns, none is better than the first one
    returned, and it returns nothing only where nothing prices out.

    Parameters
    ----------
    pricer : Pricer
        New, for columns on some training rows.
    columns : array-like of shape (n_rows, n_columns)
        All columns there are; a column may come with either sign where ``two_sided``.
    penalty : Penalty, optional
        Whose entry rule is asked, by default the 1-norm's.
    two_sided : bool, default=True
        Whether coefficients are free in sign.
    random_state : int, default=0
        For the responses.

    Raises
    ------
    CheckError
        With what was returned, and what the enumeration says.
    """
    if not isinstance(pricer, Pricer):
        raise TypeError(
            f"check_pricer takes an object with price(state, limit), got {pricer!r}: a function of "
            "duals is one within FunctionPricer, for masters without an entry rule"
        )
    every = np.asarray(columns, dtype=np.float64)
    if every.ndim != 2 or not every.size:
        raise ValueError(f"columns must have shape (n_rows, n_columns), got {every.shape}")
    rng, known = np.random.default_rng(random_state), dict[object, Vector]()
    entry = (L1() if penalty is None else penalty).entry(two_sided=two_sided, largest=1.0)
    largest = float(np.abs(every).sum(axis=0).max()) or 1.0
    for number in range(N_RESPONSES):
        size = (0.1, 1.5, 3.0, 10.0, 0.5)[number]
        response = size * rng.normal(size=len(every)) / np.sqrt(largest)
        state = replace(MasterState.at_response(response, entry), slack=np.ones(len(response)))
        check = _Check(pricer, every, state, two_sided)
        for limit in (1, 3, every.shape[1]):
            check.run(limit, known)
        check.certificate()


class _Check:
    """A pricer at one state of a master."""

    def __init__(self, pricer: Pricer, every: Vector, state: MasterState, two_sided: bool) -> None:
        self.pricer, self.every, self.state = pricer, every, state
        self.two_sided = two_sided
        self.excess = np.asarray(state.rule.excess(state.pseudo_response @ every))

    def run(self, limit: int, known: dict[object, Vector]) -> None:
        """One search, and the same again."""
        priced = self.pricer.price(self.state, limit)
        if len(priced.columns) > limit:
            raise self.error(f"{len(priced.columns)} columns for a limit of {limit}")
        scores = [float(c.values @ self.state.pseudo_response) for c in priced.columns]
        own = np.asarray(self.state.rule.excess(np.array(scores)), dtype=np.float64)
        for column, excess in zip(priced.columns, own, strict=True):
            values = np.asarray(column.values, dtype=np.float64)
            self._is_listed(column.key, values)
            if not excess > 0.0:
                raise self.error(f"column {column.key!r} must price out, its excess is {excess:g}")
            before = known.setdefault(column.key, values)
            if not np.allclose(before, values, rtol=0.0, atol=SAME_SCORE * self._size):
                raise self.error(f"the key {column.key!r} belongs to two different columns")
        if len({column.key for column in priced.columns}) < len(priced.columns):
            raise self.error("a column is returned twice")
        if len(own) and own.max() > own[0] + SAME_SCORE * (1.0 + own[0]):
            raise self.error(f"the best column must come first, the excesses are {own}")
        self._is_exact(priced, own)
        again = self.pricer.price(self.state, limit)
        if [c.key for c in again.columns] != [c.key for c in priced.columns]:
            raise self.error("the same question must have the same answer")

    def certificate(self) -> None:
        """Asked for no column, it says what there is."""
        priced = self.pricer.price(self.state, 0)
        if priced.columns:
            raise self.error(f"{len(priced.columns)} columns for a limit of 0")
        self._is_exact(priced, None)

    def _is_exact(self, priced: Priced, own: Vector | None) -> None:
        """What an exact search says of all columns."""
        if not priced.exact:
            return
        best, total = float(self.excess.max(initial=0.0)), float(self.excess.sum())
        for name, found, expected in (
            ("max_excess", priced.max_excess, best),
            ("total_excess", priced.total_excess, total),
        ):
            # more would still be a bound, less is none
            if not found >= expected - SAME_SCORE * (1.0 + expected):
                raise self.error(f"{name} must be at least {expected:g}, got {found:g}")
        if own is not None and best > SAME_SCORE and not len(own):
            raise self.error(f"an exact search found nothing, and a column has the excess {best:g}")
        if own is not None and len(own) and own[0] < best - SAME_SCORE * (1.0 + best):
            raise self.error(f"an exact search found {own[0]:g} at best, and there is {best:g}")

    @property
    def _size(self) -> float:
        return float(np.abs(self.every).max()) or 1.0

    def _is_listed(self, key: object, values: Vector) -> None:
        if values.shape != (len(self.every),):
            raise self.error(
                f"column {key!r} must have {len(self.every)} values, got {values.shape}"
            )
        apart = np.abs(self.every - values[:, None]).max(axis=0)
        if self.two_sided:
            apart = np.minimum(apart, np.abs(self.every + values[:, None]).max(axis=0))
        if float(apart.min()) > SAME_SCORE * self._size:
            raise self.error(
                f"column {key!r} is none of the enumeration: off by {float(apart.min()):g}"
            )

    def error(self, words: str) -> CheckError:
        """The error of this pricer."""
        return CheckError(f"{type(self.pricer).__name__}: {words}")
