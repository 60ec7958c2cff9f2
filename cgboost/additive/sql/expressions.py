"""Expressions and queries of a fit: hashes of rows, intervals of a sample, transformations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from operator import or_

import numpy as np

from cgboost.additive.export.dialects import Dialect
from cgboost.additive.export.expressions import SQL, Operand, added, case, linear
from cgboost.additive.sql.engines import DatabaseEngine
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import SAME, Intervals
from cgboost.tables.holdout_choice import COPIES, LOW_BITS, NO_NUMBER, PRIMES, ROUNDS, coefficients

LOW = 2**LOW_BITS - 1

HIGH = 2**LOW_BITS


# ------------------------------------------------------------------ hashes


def hash_expression(engine: DatabaseEngine, columns: Sequence[str], seed: int) -> str:
    """The linear hashes of a row, as :func:`cgboost.tables.holdout_choice.content_hash`.

    Parameters
    ----------
    columns : sequence of str
        Of double precision; NULL where missing. The response is the last.
    """
    zero = engine.sql.number(0.0)
    bits = [f"COALESCE({engine.bits.format(f'({x} + {zero})')}, {NO_NUMBER})" for x in columns]
    total = partial(_total, engine.sql)
    factors = coefficients(seed, len(columns)).tolist()
    first, second = (
        # a remainder has the sign of what is divided
        f"((({total([str(own[0]), *_products(bits, own[1:], prime)])}) % {prime} + {prime})"
        f" % {prime})"
        for own, prime in zip(factors, PRIMES, strict=True)
    )
    return f"({first} * {HIGH} + {second})"


def _total(sql: Dialect, terms: Iterable[str]) -> str:
    return sql.write(added(map(SQL, terms)))


def _products(bits: Sequence[str], factors: Sequence[int], prime: int) -> Iterable[str]:
    return (f"({b} % {prime}) * {f} % {prime}" for b, f in zip(bits, factors, strict=True))


def copies_query(table: str) -> str:
    """Hashes ``h`` that come more than once in a table."""
    return f"SELECT h FROM {table} GROUP BY h HAVING COUNT(*) > 1"


def numbered_query(
    sql: Dialect, table: str, copies: str, columns: Sequence[str], weight: str
) -> str:
    """Some columns of a table and the mixed hashes of the rows, ``mixed``: copies numbered.

    As :func:`cgboost.tables.holdout_choice.numbered`. The window is over the copies alone: of
    all rows it would need the memory of all.

    Parameters
    ----------
    table : str
        With the linear hashes as a column h.
    copies : str
        A table of :func:`copies_query`.
    columns : sequence of str
        Others than h.
    weight : str
        One of them.
    """
    kept = ", ".join(columns)
    step = (
        f"SELECT {kept}, t.h AS h, 0 AS k FROM {table} AS t LEFT JOIN {copies} AS c ON t.h = c.h "
        f"WHERE c.h IS NULL UNION ALL SELECT {kept}, t.h AS h, ROW_NUMBER() OVER (PARTITION BY t.h "
        f"ORDER BY {weight} DESC) - 1 AS k FROM {table} AS t JOIN {copies} AS c ON t.h = c.h"
    )
    expressions = [sql.table_expression("mixing", step)]
    step = (
        f"SELECT {kept}, ((h >> {LOW_BITS}) + k * {COPIES[0]}) % {PRIMES[0]} AS u, "
        f"((h & {LOW}) + k * {COPIES[1]}) % {PRIMES[1]} AS v FROM mixing"
    )
    name = "mixing"
    for _ in range(ROUNDS):
        expressions.append(sql.table_expression(f"{name}_u", step))
        step = f"SELECT {kept}, u, (v + u * u) % {PRIMES[1]} AS v FROM {name}_u"
        expressions.append(sql.table_expression(f"{name}_v", step))
        step = f"SELECT {kept}, (u + v * v) % {PRIMES[0]} AS u, v FROM {name}_v"
        name = f"{name}_v"
    return (
        f"WITH {', '.join(expressions)} SELECT {kept}, u * {HIGH} + v AS mixed FROM ({step}) AS q"
    )


# ------------------------------------------------------------------ intervals


def edges_query(
    engine: DatabaseEngine, table: str, column: str, weight: str, most: int, same: float
) -> str:
    """Values on both sides of the edges that ``intervals_of`` has for the same sample.

    Columns: the largest value below an edge, the least above it, and 0; in one row the least and
    the largest value of all, and 1.

    An edge is where the sum of weights passes one of the levels k·size, k = 1, …, most − 1: where
    ⌊s/size⌋ changes. A value counts at most as much as an interval has, the least of
    rest_k/(most − k) where rest_k is what all but the k most frequent values have.
    """
    sql = engine.sql
    level = engine.floor.format(f"s / (size * {sql.number(1.0 - SAME)})")
    passed = f"CASE WHEN {level} < {most - 1} THEN {level} ELSE {most - 1} END"
    values = (
        f"SELECT {column} AS v, SUM({weight}) AS c FROM {table} "
        f"WHERE {column} IS NOT NULL GROUP BY {column}"
    )
    steps = (
        f"SELECT v, c, v - LAG(v) OVER (ORDER BY v) AS step, MIN(v) OVER () AS low, "
        f"MAX(v) OVER () AS high FROM ({values}) AS a"
    )
    starts = (
        f"SELECT v, c, low, high, SUM(CASE WHEN step > {sql.number(same)} * (high - low) THEN 1 "
        f"ELSE 0 END) OVER (ORDER BY v ROWS UNBOUNDED PRECEDING) AS g FROM ({steps}) AS b"
    )
    groups = (
        "SELECT MIN(v) AS first, MAX(v) AS last, SUM(c) AS c, MIN(low) AS low, MAX(high) AS high "
        f"FROM ({starts}) AS d GROUP BY g"
    )
    rests = (
        "SELECT first, last, c, low, high, ROW_NUMBER() OVER (ORDER BY c DESC, first) - 1 AS k, "
        "SUM(c) OVER (ORDER BY c DESC, first ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) "
        f"AS rest FROM ({groups}) AS e"
    )
    sizes = (
        "SELECT first, last, c, low, high, "
        f"MIN(CASE WHEN k < {most} THEN rest / ({most} - k) END) OVER () AS size "
        f"FROM ({rests}) AS q"
    )
    sums = (
        "SELECT first, last, low, high, size, LEAD(first) OVER (ORDER BY first) AS above, "
        "SUM(CASE WHEN c < size THEN c ELSE size END) OVER (ORDER BY first ROWS UNBOUNDED "
        "PRECEDING) AS s, COUNT(*) OVER () AS n, ROW_NUMBER() OVER (ORDER BY first) AS i "
        f"FROM ({sizes}) AS r"
    )
    levels = f"SELECT first, last, low, high, above, n, i, {passed} AS p FROM ({sums}) AS f"
    before = (
        "SELECT low, high, last, above, n, i, p, COALESCE(LAG(p) OVER (ORDER BY first), 0) AS o "
        f"FROM ({levels}) AS j"
    )
    chosen = f"(n <= {most} OR (i < n - 1 AND p > o) OR (i = n - 1 AND o < {most - 1})) AND i < n"
    return (
        "SELECT CASE WHEN i < n THEN last ELSE low END AS below, "
        "CASE WHEN i < n THEN above ELSE high END AS above, "
        "CASE WHEN i < n THEN 0 ELSE 1 END AS e "
        f"FROM ({before}) AS l WHERE ({chosen}) OR i = n"
    )


def intervals_from(rows: Iterable[Sequence[float]]) -> Intervals:
    """Intervals from the result of :func:`edges_query`; those of no value from no row."""
    found = list(rows)
    if not found:
        return Intervals(np.zeros(0), 0.0, 0.0)
    low, high = next((float(row[0]), float(row[1])) for row in found if row[2])
    sides = sorted((float(row[0]), float(row[1])) for row in found if not row[2])
    below, above = np.array(sides).reshape(-1, 2).T
    middle = 0.5 * below + 0.5 * above
    return Intervals(np.where(middle > below, middle, above), low, high)


def ladder(x: SQL, bounds: Sequence[float], values: Sequence[Operand]) -> SQL:
    """A step function by bisection: ``values[k]`` where k of the ascending bounds are ≤ x."""
    if len(values) == 1:
        return case([], values[0])
    half = len(values) // 2
    below = ladder(x, bounds[: half - 1], values[:half])
    return case([(x < bounds[half - 1], below)], ladder(x, bounds[half:], values[half:]))


def code_expression(groups: Intervals, column: SQL) -> SQL:
    """The group of a number, NULL where missing."""
    code = ladder(column, groups.edges.tolist(), range(len(groups.edges) + 1))
    return case([(column.is_null(), groups.n_groups - 1)], code)


def regressor_expression(groups: Intervals, column: SQL) -> SQL:
    """A number in the range of its intervals, less their origin; 0 where missing."""
    low, high, origin = groups.low, groups.high, groups.origin
    ends = [(column < low, low - origin), (column > high, high - origin)]
    return case([(column.is_null(), 0.0), *ends], column - origin if origin else column)


def distance_expression(groups: Intervals, column: SQL) -> SQL:
    """The regressor less that of the middle of its group; 0 where missing."""
    middles = groups.regressor(groups.centres[:-1]).tolist()
    away = regressor_expression(groups, column) - ladder(column, groups.edges.tolist(), middles)
    return case([(column.is_null(), 0.0)], away)


# ------------------------------------------------------------------ transformations


def term_expression(term: Transformation, code: SQL, regressor: str, outputs: Sequence[str]) -> SQL:
    """A transformation by the groups of its input.

    Parameters
    ----------
    code : SQL
        The column of the group, times 2, and 1 more on holdout rows.
    regressor : str
        The column of the input as a regressor.
    outputs : sequence of str
        Columns of earlier outputs.
    """
    groups = term.groups
    leaves = [_leaf(term, int(leaf), regressor, outputs) for leaf in range(term.n_leaves)]
    formulas = [leaves[leaf] for leaf in term.leaf]
    if isinstance(groups, Intervals):
        formulas[-1] = _leaf(term, int(term.leaf[-1]), "", outputs)
    runs: dict[Formula, list[list[int]]] = {}
    starts: list[int] = []
    values: list[Formula] = []
    for group, formula in enumerate(formulas):
        if not values or values[-1] != formula:
            starts.append(group)
            values.append(formula)
            runs.setdefault(formula, []).append([2 * group, 0])
        runs[formula][-1][1] = 2 * group + 1
    if len(values) <= 2 * len(runs):  # few runs of groups, as of numbers
        nodes = [_linear(formula) for formula in values]
        return ladder(code, [2 * start for start in starts[1:]], nodes)
    *others, last = sorted(runs, key=lambda formula: len(runs[formula]))
    whens = []
    for formula in others:
        lone = [str(k) for a, b in runs[formula] if b == a + 1 for k in (a, b)]
        wide = [code.is_within(a, b) for a, b in runs[formula] if b > a + 1]
        whens.append((reduce(or_, [code.is_one_of(lone)] * bool(lone) + wide), _linear(formula)))
    return case(whens, _linear(last))


Formula = tuple[float, tuple[tuple[float, str], ...]]
"""What a leaf says: a constant, and factors of columns."""


def _leaf(term: Transformation, leaf: int, regressor: str, outputs: Sequence[str]) -> Formula:
    slope, level = float(term.slope[leaf]), float(term.intercept[leaf])
    parts = [(float(c), s) for c, s in zip(term.coef[leaf], outputs, strict=False) if c]
    if regressor and slope and isinstance(term.groups, Intervals):
        parts.append((slope, regressor))
    return level, tuple(parts)


def _linear(formula: Formula) -> SQL:
    level, parts = formula
    return linear(level, [(c, SQL(column)) for c, column in parts])
