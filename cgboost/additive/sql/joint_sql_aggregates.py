"""Sums over rows in a database for a loss of several classes.

The equations are those of :mod:`cgboost.additive.places.joint_aggregates`.
The e^{f_k} of a round are columns for as long as it takes to make the responses [y = k] − p_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.export.sql import between, case
from cgboost.additive.sql.aggregates import SQLAggregates
from cgboost.additive.sql.binning import HELD, Division
from cgboost.additive.sql.expressions import added
from cgboost.additive.sql.table import TARGET, WEIGHT
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.second_order_model import Quadratic

Vector = NDArray[np.float64]


LARGEST_SCORE = 150.0
"""Scores beyond this count as if they were at it: shares are at least 10⁻¹³³ then, and products of
two of them are no underflow, which PostgreSQL reports. Stages change a score by 2 at most."""


class ClassAggregates(SQLAggregates):
    """Sums for the stages of a class; its response is made with those of all classes."""

    def _respond(self, coef: Vector, intercept: float) -> None:
        """Left to :class:`JointSQLAggregates`."""


class JointSQLAggregates:
    """Sums over rows in a database, for all classes together.

    Parameters
    ----------
    division : Division
        Outputs become columns of its table.
    loss : Multinomial
    prefix : str
        What names of its columns begin with.
    """

    attains_minimum = False
    is_smooth = True

    def __init__(self, division: Division, loss: Multinomial, prefix: str) -> None:
        self.store, self.sql, self._prefix = division.store, division.store.session.sql, prefix
        self.weight, self.holdout_weight = division.training, division.holdout
        numbers = range(loss.n_outputs)
        self.parts = [
            ClassAggregates(division, loss, np.zeros(0), f"{prefix}_{k}") for k in numbers
        ]
        self._n_moves = 0
        self.move([np.zeros(0) for _ in numbers], np.zeros(loss.n_outputs))

    def quadratic(
        self, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int]
    ) -> Quadratic:
        """See :meth:`JointAggregates.quadratic`."""
        product, numbers = self.parts[0].product, range(len(self.parts))
        own = list(zip(self.parts, coefs, intercepts.tolist(), last, strict=True))
        columns = [
            (k, column)
            for k, (part, coef, _, count) in enumerate(own)
            for column in part.outputs[len(coef) - count : len(coef)]
        ]
        kept = [f"{WEIGHT} AS w", HELD, f"{TARGET} AS y", *(column for _, column in columns)]
        scores = [f"{part.output_at(coef, b)} AS f{k}" for k, (part, coef, b, _) in enumerate(own)]
        source = self.store.source(*kept, *scores)
        names = ["w", HELD, "y", *(column for _, column in columns)]
        powers = [f"{self._power(f'f{k}')} AS e{k}" for k in numbers]
        total = f"{added(f'e{k}' for k in numbers)} AS total"
        shares = [f"e{k} / total AS p{k}" for k in numbers]
        right = case([f"WHEN {self._is(k)} THEN p{k}" for k in numbers[:-1]], f"p{numbers[-1]}")
        rest = [f"{self._response(k, f'p{k}')} AS r{k}" for k in numbers]
        before = {
            "scores": f"SELECT {', '.join([*kept, *scores])} FROM {source}",
            "powers": f"SELECT {', '.join([*names, *powers])} FROM scores",
            "totals": f"SELECT powers.*, {total} FROM powers",
            "shares": f"SELECT {', '.join([*names, *shares])} FROM totals",
        }
        made = [*names, *(f"p{k}" for k in numbers), *rest, f"-LN({right}) AS value"]
        factors: list[tuple[int, tuple[str, ...]]] = [(k, ()) for k in numbers]
        factors += [(k, (column,)) for k, column in columns]
        texts = [product("value"), *(product(f"r{k}", *h) for k, h in factors)]
        pairs = list(combinations_with_replacement(range(len(factors)), 2))
        texts += [product(*self._bend(*factors[i], *factors[j])) for i, j in pairs]
        found = self.parts[0].by_part(f"SELECT {', '.join(made)} FROM shares", texts, before)
        size = len(factors)
        hessian = np.zeros((size, size))
        first, second = np.array(pairs).T
        hessian[first, second] = hessian[second, first] = found[0, 1 + size :]
        return Quadratic(float(found[0, 0]), -found[0, 1 : 1 + size], hessian, float(found[1, 0]))

    def move(self, coefs: Sequence[Vector], intercepts: Vector) -> tuple[Vector, Vector]:
        """See :meth:`JointAggregates.move`; no row leaves the database."""
        own = list(zip(self.parts, coefs, intercepts.tolist(), strict=True))
        powers = [self.sql.number(value) for value in np.exp(intercepts).tolist()]
        if any(len(coef) for coef in coefs):
            self._n_moves += 1
            powers = [f"{self._prefix}_{k}_e{self._n_moves}" for k in range(len(own))]
            for name, (part, coef, intercept) in zip(powers, own, strict=True):
                self.store.add(name, self._power(f"({part.output_at(coef, intercept)})"))
            self.store.write()  # they are there before the shares
            for name in powers:
                self.store.remove(name)
        for k, (part, power) in enumerate(zip(self.parts, powers, strict=True)):
            part.respond(self._response(k, f"{power} / ({added(powers)})"))
        return np.zeros(0), np.zeros(0)

    def _is(self, k: int) -> str:
        return f"y = {self.sql.number(float(k))}"

    def _power(self, score: str) -> str:
        return f"EXP({between(self.sql, score, -LARGEST_SCORE, LARGEST_SCORE)})"

    def _response(self, k: int, p: str) -> str:
        """[y = k] − p."""
        n = self.sql.number
        return f"({case([f'WHEN {self._is(k)} THEN {n(1.0)}'], n(0.0))} - {p})"

    def _bend(self, k: int, h: tuple[str, ...], other: int, g: tuple[str, ...]) -> tuple[str, ...]:
        """Factors of (δ_kl p_k − p_k p_l) h g."""
        one = self.sql.number(1.0)
        bent = f"({one} - p{k})" if k == other else f"(-p{other})"
        return (f"p{k}", bent, *h, *g)
