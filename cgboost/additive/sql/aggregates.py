"""Sums over the rows of a table, each by one statement.

What does not change is summed once and kept: products of 1, an input and older outputs in the
groups of the input, and products of features. What follows from other sums is not summed at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations_with_replacement

import numpy as np

from cgboost.additive.export.expressions import SQL, added, between, call, case, linear, tree_of
from cgboost.additive.export.sql import by_interval
from cgboost.additive.sql.binning import (
    HELD,
    MOST_SUMS,
    SAMPLED,
    Division,
    code_column,
    distance_column,
    input_columns,
    intervals_of_column,
    regressor_column,
)
from cgboost.additive.sql.expressions import code_expression, distance_expression, term_expression
from cgboost.additive.sql.losses import expressions_of
from cgboost.additive.sql.table import TARGET, WEIGHT
from cgboost.additive.sql.term_products import Pair, Part, TermProducts
from cgboost.additive.stage import Stage
from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.statistics.products import origins
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Vector, blocks_of
from cgboost.losses.loss import Loss
from cgboost.losses.second_order_model import Quadratic
from cgboost.losses.squared_error import SquaredError
from cgboost.tables.binning import SAME, FeatureGroups, Intervals

INPUTS_AT_ONCE = 8
"""Inputs that are grouped in one statement: branches of a union hold what they read in memory at
the same time, in DuckDB 250 kB for every column of each."""

LARGEST_SCORE = 150.0
"""Scores beyond this count as if they were at it: shares are at least 10⁻¹³³ then, and products of
two of them are no underflow, which PostgreSQL reports. Stages change a score by 2 at most."""

Factor = tuple[int, tuple[str, ...]]
"""The output that a column h is of, and the column; without one h is 1."""


class SQLAggregates:
    """Sums over rows in a database: see :class:`Aggregates`.

    The equations of several outputs are those of :mod:`cgboost.additive.places.memory`. The e^{f_k}
    of a round are columns for as long as it takes to make the responses [y = k] − p_k.

    Parameters
    ----------
    division : Division
        Outputs become columns of its table.
    target : ndarray of shape (n_classes,) or (0,)
        For a loss of one output the label of each class, 1 or −1; without classes y is a number.
    prefix : str
        What names of its columns begin with.
    """

    def __init__(self, division: Division, loss: Loss, target: Vector, prefix: str) -> None:
        self.division, self.loss, self._prefix = division, loss, prefix
        self.store, self.sql = division.store, division.store.session.sql
        numbers = range(loss.n_outputs)
        self.parts = [SQLOutput(division, f"{prefix}_{k}") for k in numbers]
        self.weight, self.holdout_weight = division.training, division.holdout
        self.attains_minimum = len(numbers) == 1 and loss.attains_minimum
        self.is_smooth = "hessian_diag" in loss.abilities
        n = self.sql.number
        self._y, self._n_moves = TARGET, 0
        if len(numbers) == 1 and len(target):
            positive = ", ".join(n(float(k)) for k in np.flatnonzero(target > 0))
            self._y = f"(CASE WHEN {TARGET} IN ({positive}) THEN {n(1.0)} ELSE {n(-1.0)} END)"
        self.move([np.zeros(0) for _ in numbers], np.zeros(loss.n_outputs))

    def quadratic(
        self, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int]
    ) -> Quadratic:
        """See :meth:`LossSums.quadratic`."""
        own = list(zip(self.parts, coefs, intercepts.tolist(), last, strict=True))
        columns: list[Factor] = [
            (k, (column,))
            for k, (part, coef, _, count) in enumerate(own)
            for column in part.outputs[len(coef) - count : len(coef)]
        ]
        factors: list[Factor] = [*((k, ()) for k in range(len(own))), *columns]
        kept = [column for _, (column,) in columns]
        write = self.sql.write
        scores = [f"{write(part.f(coef, b))} AS f{k}" for k, (part, coef, b, _) in enumerate(own)]
        read = [f"{WEIGHT} AS w", HELD, f"{self._y} AS y", *kept, *scores]
        rows = self.store.query(read)
        before: dict[str, str] = {}
        if len(own) == 1:
            loss = expressions_of(self.loss, SQL("y"), SQL("f0"))
            named = {"value": loss.value, "r0": loss.response, "c": loss.curvature}
            made = [f"{write(node)} AS {name}" for name, node in named.items()]
            rows = f"SELECT {', '.join(['w', HELD, *kept, *made])} FROM ({rows}) AS q"
        else:
            rows, before = self._shares(rows, kept)
        product = self.division.product
        texts = [product("value"), *(product(f"r{k}", *h) for k, h in factors)]
        pairs = list(combinations_with_replacement(factors, 2))
        texts += [product(*self._bend(j, k), *h, *g) for (j, h), (k, g) in pairs]
        found, size = self.division.by_part(rows, texts, before), len(factors)
        bent = found[0, 1 + size :]
        if not bent.any():  # as for residuals that are all beyond Huber's δ
            bent = self.division.by_part(rows, [product(*h, *g) for (_, h), (_, g) in pairs])[0]
        hessian = np.zeros((size, size))
        upper = np.triu_indices(size)
        hessian[upper] = hessian.T[upper] = bent
        return Quadratic(float(found[0, 0]), -found[0, 1 : 1 + size], hessian, float(found[1, 0]))

    def move(self, coefs: Sequence[Vector], intercepts: Vector) -> tuple[Vector, Vector]:
        """See :meth:`LossSums.move`; no row leaves the database."""
        if len(self.parts) == 1:
            self._move_one(self.parts[0], coefs[0], float(intercepts[0]))
            return np.zeros(0), np.zeros(0)
        own = list(zip(self.parts, coefs, intercepts.tolist(), strict=True))
        powers = [SQL(tree_of(value)) for value in np.exp(intercepts).tolist()]
        if any(len(coef) for coef in coefs):
            self._n_moves += 1
            powers = [SQL(f"{self._prefix}_{k}_e{self._n_moves}") for k in range(len(own))]
            for power, (part, coef, intercept) in zip(powers, own, strict=True):
                made = _power(part.f(coef, intercept))
                self.store.add(power.tree, self.sql.write(made))
            self.store.write()  # they are there before the shares
            for power in powers:
                self.store.remove(power.tree)
        for k, (part, power) in enumerate(zip(self.parts, powers, strict=True)):
            part.respond(self.sql.write(_response(k, power / added(powers))))
        return np.zeros(0), np.zeros(0)

    def _move_one(self, part: SQLOutput, coef: Vector, intercept: float) -> None:
        """Note the pseudo-response, less its mean where that is known."""
        mean = 0.0
        if isinstance(self.loss, SquaredError):  # the mean of y − f is known
            moved = float(coef @ np.array(part.means[: len(coef)]))
            mean = self.division.mean - intercept - moved
        loss = expressions_of(self.loss, SQL(self._y), part.f(coef, intercept + mean))
        part.respond(self.sql.write(loss.response), mean)

    def _shares(self, scores: str, kept: Sequence[str]) -> tuple[str, dict[str, str]]:
        """A query for value, r_k and p_k besides some columns, and those before it by their names.

        Each is made of columns of the one before: written out, an e^{f_k} would be made K times.
        """
        numbers, names = range(len(self.parts)), ["w", HELD, "y", *kept]
        write = self.sql.write
        powers = [f"{write(_power(SQL(f'f{k}')))} AS e{k}" for k in numbers]
        total = f"{write(added(SQL(f'e{k}') for k in numbers))} AS total"
        shares = [f"e{k} / total AS p{k}" for k in numbers]
        right = case([(_is(k), SQL(f"p{k}")) for k in numbers[:-1]], SQL(f"p{numbers[-1]}"))
        responses = [f"{write(_response(k, SQL(f'p{k}')))} AS r{k}" for k in numbers]
        made = [*names, *(f"p{k}" for k in numbers), *responses, f"-LN({write(right)}) AS value"]
        return f"SELECT {', '.join(made)} FROM shares", {
            "scores": scores,
            "powers": f"SELECT {', '.join([*names, *powers])} FROM scores",
            "totals": f"SELECT powers.*, {total} FROM powers",
            "shares": f"SELECT {', '.join([*names, *shares])} FROM totals",
        }

    def _bend(self, k: int, other: int) -> tuple[str, ...]:
        """Factors of ∂²ℓ/∂f_k∂f_l: the curvature of one output, δ_kl p_k − p_k p_l of several."""
        if len(self.parts) == 1:
            return ("c",)
        return (f"p{k}", f"({self.sql.number(1.0)} - p{k})" if k == other else f"(-p{other})")


def _is(k: int) -> SQL:
    return SQL("y").equals(float(k))


def _power(score: SQL) -> SQL:
    return call("EXP", between(score, -LARGEST_SCORE, LARGEST_SCORE))


def _response(k: int, p: SQL) -> SQL:
    """[y = k] − p."""
    return case([(_is(k), 1.0)], 0.0) - p


class SQLOutput:
    """Sums of one output over rows in a database: see :class:`OutputSums`.

    Parameters
    ----------
    division : Division
        Outputs become columns of its table.
    prefix : str
        What names of its columns begin with.
    """

    def __init__(self, division: Division, prefix: str) -> None:
        self.store, self.division = division.store, division
        self.session = self.store.session
        self.sql = self.session.sql
        self.groups: list[FeatureGroups] = list(division.groups)
        self.n_features = len(division.groups)
        self.extremes: list[tuple[float, float]] = []
        self._prefix, self._n_columns = prefix, 0
        self.outputs: list[str] = []
        self.means: list[float] = []
        self._origins: list[float] = []
        self._inputs: list[str] = [str(k) for k in range(self.n_features)]
        self._known: dict[int, list[Vector]] = {}
        self._grouped_sums: dict[int, SplitMoments] = {}
        self._products: dict[tuple[Hashable, Hashable], Vector] = {}
        self._known_origins: dict[Hashable, float] = {}
        self._sum: tuple[Stage, str] | None = None
        # weights with a mean below 1 count as if it were 1
        self._level = min(1.0, (division.training + division.holdout) / division.n_rows)
        self._response, self._mean = "", 0.0

    @property
    def n_outputs(self) -> int:
        """See :class:`OutputSums`."""
        return len(self.outputs)

    # ------------------------------------------------------------------ for stages

    def by_group(self, inputs: Sequence[int], n_regressors: int) -> dict[int, SplitMoments]:
        """See :meth:`OutputSums.by_group`."""
        queries = []
        for number in inputs:
            known = self._known.setdefault(number, [])
            texts = self._new_products(number, len(known), n_regressors)
            queries.append((number, *self._grouped(number, texts), len(texts)))
        widest = max(width for *_, width in queries)
        nothing = f"CAST(NULL AS {self.sql.double})"
        new: dict[int, Vector] = {
            number: np.zeros((2 * self.groups[number].n_groups, width))
            for number, *_, width in queries
        }
        for block in blocks_of(len(queries), INPUTS_AT_ONCE):
            text = " UNION ALL ".join(
                query + f", {nothing}" * (widest - width) + rows
                for _, query, rows, width in queries[block]
            )
            for number, code, *sums in self.session.rows(text):
                own = new[int(number)]
                row = int(code) // 2 + len(own) // 2 * (int(code) % 2)
                own[row] = sums[: own.shape[1]]
        parts = {number: self._parts(number, n_regressors, new[number]) for number in inputs}
        if {own.training.mean.shape[1] for own in self._grouped_sums.values()} - {2 + n_regressors}:
            self._grouped_sums.clear()
        self._grouped_sums |= parts
        return parts

    def of_terms(
        self, terms: Sequence[Transformation], n_regressors: int, near_means: Vector
    ) -> SplitMoments:
        """See :meth:`OutputSums.of_terms`; most follows from sums by group."""
        wanted = {term.feature for term in terms} or {0}
        if missing := sorted(number for number in wanted if number not in self._grouped_sums):
            self.by_group(missing, n_regressors)
        grouped = {number: self._grouped_sums[number] for number in sorted(wanted)}
        origin = np.array([*self._origins[:n_regressors], self._mean])
        products = TermProducts(terms, near_means[:-1], grouped, origin, self._known_origins)
        keys = [part.key for part in products.parts]
        pairs = {(i, j): (keys[i], keys[j]) for i, j in products.pairs}
        new = [pair for pair, names in pairs.items() if names not in self._products]
        found = self._read(products.parts, new)
        read = {
            pair: found[pair] if pair in found else self._products[names]
            for pair, names in pairs.items()
        }
        self._products = {pairs[pair]: sums for pair, sums in read.items()}
        self._known_origins = {part.key: part.origin for part in products.parts}
        return products.moments(read)

    def linking(self, stage: Stage, max_bins: int) -> tuple[FeatureGroups, SplitMoments]:
        """See :meth:`OutputSums.linking`."""
        total = self._summed(stage)
        groups = self._intervals(total, max_bins)
        code = self.sql.write(code_expression(groups, SQL(total)))
        away = self.sql.write(distance_expression(groups, SQL(total)))
        read = [f"{WEIGHT} AS w", f"{self._response} AS r", f"2 * ({code}) + {HELD} AS g"]
        read.append(f"{away} AS a")
        rows = self.store.query(read)
        factors = [(), ("a",), ("a", "a"), ("r",), ("a", "r"), ("r", "r")]
        products = [self.division.product(*own) for own in factors]
        sums = np.zeros((2 * groups.n_groups, len(products)))
        texts = ", ".join(f"SUM({product})" for product in products)
        for code_, *found in self.session.rows(f"SELECT g, {texts} FROM ({rows}) AS p GROUP BY g"):
            sums[int(code_) // 2 + groups.n_groups * (int(code_) % 2)] = found
        centres = np.tile(groups.regressor(groups.centres), 2)
        origin_of = origins(centres, np.array([self._mean]))
        return groups, SplitMoments.of(Moments.from_sums(sums / self._level, origin_of))

    def append(self, stage: Stage) -> None:
        """See :meth:`OutputSums.append`."""
        name = self._new_column()
        if stage.link is None:
            self.store.add(name, self._stage(stage))
        else:
            total = self._summed(stage)
            value = by_interval(stage.link, SQL(total), list(map(SQL, self.outputs)), complete=True)
            self.store.write()  # the sum is there before its function
            self.store.add(name, self.sql.write(value))
        rows = self.store.source(WEIGHT, name)
        ((low, high, mean, square),) = self.session.rows(
            f"SELECT MIN({name}), MAX({name}), SUM({WEIGHT} * {name}) / SUM({WEIGHT}), "
            f"SUM({WEIGHT} * {name} * {name}) / SUM({WEIGHT}) FROM {rows}"
        )
        self._forget_sum()
        self.outputs.append(name)
        self.means.append(float(mean))
        self._grouped_sums.clear()
        # sums about 0 lose no digits where the mean is no further from it than most values
        self._origins.append(float(mean) if mean**2 > 0.5 * square else 0.0)
        self.extremes.append((float(low), float(high)))

    def intervals(self, number: int, max_bins: int) -> None:
        """See :meth:`OutputSums.intervals`."""
        column = self.outputs[number]
        groups = self._intervals(column, max_bins)
        self.groups.append(groups)
        self._inputs.append(column)
        for name, text, kind in input_columns(self.session, column, groups, column):
            self.store.add(name, text, kind)

    def drop(self, count: int) -> None:
        """See :meth:`OutputSums.drop`."""
        self._forget_sum()
        if count >= self.n_outputs:
            return
        for name in self._inputs[self.n_features + count :]:
            self.store.remove(code_column(name))
            self.store.remove(regressor_column(name))
            self.store.remove(distance_column(name))
        for name in self.outputs[count:]:
            self.store.remove(name)
        del self._inputs[self.n_features + count :], self.groups[self.n_features + count :]
        del self.outputs[count:], self.means[count:], self._origins[count:]
        del self.extremes[count:]
        self._grouped_sums.clear()
        for number in [*self._known]:
            if number >= self.n_features + count:
                del self._known[number]
            else:
                del self._known[number][1 + count :]
        self._products, self._known_origins = {}, {}

    def values(self, number: int) -> Vector:
        """No row leaves the database."""
        return np.zeros(0)

    # ------------------------------------------------------------------ columns

    def respond(self, expression: str, mean: float = 0.0) -> None:
        """Note an expression as the column of the response, and its mean before it was taken off.

        The mean is 0 where it is not known.
        """
        self._grouped_sums.clear()
        if self._response:
            self.store.remove(self._response)
        self._response, self._mean = self._new_column(), mean
        self.store.add(self._response, expression)

    def f(self, coef: Vector, intercept: float) -> SQL:
        """F = intercept + Σ coef·output."""
        outputs = map(SQL, self.outputs[: len(coef)])
        return linear(intercept, zip(coef.tolist(), outputs, strict=True))

    def _new_column(self) -> str:
        self._n_columns += 1
        return f"{self._prefix}_{self._n_columns}"

    def _term(self, term: Transformation) -> SQL:
        name = self._inputs[term.feature]
        return term_expression(term, SQL(code_column(name)), regressor_column(name), self.outputs)

    def _stage(self, stage: Stage) -> str:
        """The sum of the terms, in its bounds."""
        total = linear(
            stage.intercept, [(weight, self._term(term)) for weight, term in stage.terms]
        )
        return self.sql.write(between(total, stage.low, stage.high))

    def _summed(self, stage: Stage) -> str:
        """The column of the sum of a stage with a link."""
        if self._sum is not None and self._sum[0].terms is stage.terms:
            return self._sum[1]
        self._forget_sum()
        name = self._new_column()
        self.store.add(name, self._stage(stage))
        self._sum = (stage, name)
        return name

    def _forget_sum(self) -> None:
        if self._sum is not None:
            self.store.remove(self._sum[1])
            self._sum = None

    def _intervals(self, column: str, max_bins: int) -> Intervals:
        """Intervals of a column on the sample."""
        table = self.store.source(column, WEIGHT, SAMPLED)
        rows = f"(SELECT {column}, {WEIGHT} FROM {table} WHERE {SAMPLED} = 1) AS s"
        return intervals_of_column(self.session, column, rows, max_bins, weight=WEIGHT, same=SAME)

    # ------------------------------------------------------------------ sums

    def _new_products(self, number: int, n_known: int, n_regressors: int) -> list[str]:
        """Products of (1, x, outputs, response) that are to be summed, in their order.

        x is about the middle of its group.
        """
        has_x = isinstance(self.groups[number], Intervals)
        product, zero = self.division.product, self.sql.number(0.0)

        def with_x(*factors: str) -> str:
            return product(*factors) if has_x else zero

        outputs = [
            f"(s{k} - {self.sql.number(origin)})" if origin else f"s{k}"
            for k, origin in enumerate(self._origins[:n_regressors])
        ]
        texts = [] if n_known else [product(), with_x("a"), with_x("a", "a")]
        for k in [*range(max(0, n_known - 1), n_regressors), n_regressors]:
            v = outputs[k] if k < n_regressors else "r"
            texts += [product(v), with_x("a", v)]
            texts += [product(other, v) for other in outputs[:k]]
            texts.append(product(v, v))
        return texts

    def _grouped(self, number: int, texts: Sequence[str]) -> tuple[str, str]:
        """A query for sums by group: its columns, and what comes after them."""
        groups, name = self.groups[number], self._inputs[number]
        code = code_column(name)
        read = [f"{code} AS g", f"{WEIGHT} AS w", f"{self._response} AS r"]
        read += [f"{output} AS s{k}" for k, output in enumerate(self.outputs)]
        if isinstance(groups, Intervals):
            read.append(f"{distance_column(name)} AS a")
        sums = ", ".join(f"SUM({text})" for text in texts)
        rows = self.store.query(read)
        return f"SELECT {number} AS i, g, {sums}", f" FROM ({rows}) AS q GROUP BY g"

    def _parts(self, number: int, n_regressors: int, new: Vector) -> SplitMoments:
        """Statistics of an input; what does not change is kept."""
        groups, known = self.groups[number], self._known[number]
        start = 0
        for k in range(len(known), 1 + n_regressors):  # 1 and x, then an output each
            width = k + 2 if k else 3
            known.append(new[:, start : start + width].copy())
            start += width
        sums = np.hstack([*known[: 1 + n_regressors], new[:, start:]]) / self._level
        origin = np.array([*self._origins[:n_regressors], self._mean])
        middles = np.tile(groups.regressor(groups.centres), 2)
        return SplitMoments.of(Moments.from_sums(sums, origins(middles, origin)))

    def _read(self, parts: Sequence[Part], pairs: Sequence[Pair]) -> dict[Pair, Vector]:
        """Σ w p q of pairs of parts about their origins, training and holdout."""
        columns = []
        for k in sorted({k for pair in pairs for k in pair}):
            part = parts[k]
            own = regressor_column(self._inputs[part.feature])
            value = SQL(own) if part.term is None else self._term(part.term)
            columns.append(f"{self.sql.write(value - part.origin)} AS t{k}")
        found: dict[Pair, Vector] = {}
        read = [f"{WEIGHT} AS w", HELD, *columns]
        rows = self.store.query(read)
        for block in blocks_of(len(pairs), MOST_SUMS):
            some = pairs[block]
            texts = [self.division.product(*(f"t{k}" for k in pair)) for pair in some]
            sums = self.division.by_part(rows, texts) / self._level
            found |= {pair: sums[:, k] for k, pair in enumerate(some)}
        return found
