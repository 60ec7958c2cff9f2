"""Expressions and queries of a fit: hashes of rows, intervals of a sample, transformations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cgboost.additive.export.dialects import Dialect
from cgboost.additive.export.sql import LONGEST_SUM, linear
from cgboost.additive.sql.engines import DatabaseEngine
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import SAME, Intervals
from cgboost.tables.row_hashes import (
    COPIES,
    LOW_BITS,
    NO_NUMBER,
    PRIMES,
    ROUNDS,
    coefficients,
)

LOW = 2**LOW_BITS - 1

HIGH = 2**LOW_BITS


def added(parts: Iterable[str]) -> str:
    """A sum, divided by brackets where it is long: databases limit the depth of nesting."""
    terms = list(parts)
    while len(terms) > LONGEST_SUM:
        terms = [
            f"({' + '.join(terms[k : k + LONGEST_SUM])})" for k in range(0, len(terms), LONGEST_SUM)
        ]
    return " + ".join(terms)


# ------------------------------------------------------------------ hashes


def hash_expression(engine: DatabaseEngine, columns: Sequence[str], seed: int) -> str:
    """The linear hashes of a row, as :func:`cgboost.tables.row_hashes.content_hash`.

    Parameters
    ----------
    engine : DatabaseEngine
    columns : sequence of str
        Of double precision; NULL where missing. The response is the last.
    seed : int
    """
    zero = engine.sql.number(0.0)
    bits = [f"COALESCE({engine.bits.format(f'({x} + {zero})')}, {NO_NUMBER})" for x in columns]
    factors = coefficients(seed, len(columns)).tolist()
    first, second = (
        # a remainder has the sign of what is divided
        f"((({added([str(own[0]), *_products(bits, own[1:], prime)])}) % {prime} + {prime})"
        f" % {prime})"
        for own, prime in zip(factors, PRIMES, strict=True)
    )
    return f"({first} * {HIGH} + {second})"


def _products(bits: Sequence[str], factors: Sequence[int], prime: int) -> Iterable[str]:
    return (f"({b} % {prime}) * {f} % {prime}" for b, f in zip(bits, factors, strict=True))


def copies_query(table: str) -> str:
    """Hashes ``h`` that come more than once in a table."""
    return f"SELECT h FROM {table} GROUP BY h HAVING COUNT(*) > 1"


def numbered_query(
    sql: Dialect, table: str, copies: str, columns: Sequence[str], weight: str
) -> str:
    """Some columns of a table and the mixed hashes of the rows, ``mixed``: copies numbered.

    As :func:`cgboost.tables.row_hashes.numbered`. The window is over the copies alone: of
    all rows it would need the memory of all.

    Parameters
    ----------
    sql : Dialect
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

    An edge is where the sum of weights passes one of the levels Σw·k/most, k = 1, …, most − 1:
    where ⌊most·s/Σw⌋ changes.
    """
    sql = engine.sql
    level = engine.floor.format(
        f"s * {sql.number(float(most))} / (total * {sql.number(1.0 - SAME)})"
    )
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
    sums = (
        "SELECT first, last, low, high, LEAD(first) OVER (ORDER BY first) AS above, "
        "SUM(c) OVER (ORDER BY first ROWS UNBOUNDED PRECEDING) AS s, SUM(c) OVER () AS total, "
        f"COUNT(*) OVER () AS n, ROW_NUMBER() OVER (ORDER BY first) AS i FROM ({groups}) AS e"
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


def ladder(x: str, bounds: Sequence[str], values: Sequence[str]) -> str:
    """A step function by bisection: ``values[k]`` where k of the ascending bounds are ≤ x."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    below = ladder(x, bounds[: half - 1], values[:half])
    above = ladder(x, bounds[half:], values[half:])
    return f"CASE WHEN {x} < {bounds[half - 1]} THEN {below} ELSE {above} END"


def code_expression(sql: Dialect, groups: Intervals, column: str) -> str:
    """The group of a number, NULL where missing."""
    names = [str(k) for k in range(len(groups.edges) + 1)]
    code = ladder(column, list(map(sql.number, groups.edges.tolist())), names)
    return f"CASE WHEN {column} IS NULL THEN {groups.n_groups - 1} ELSE {code} END"


def regressor_expression(sql: Dialect, groups: Intervals, column: str) -> str:
    """A number in the range of its intervals, less their origin; 0 where missing."""
    low, high, origin = groups.low, groups.high, groups.origin
    return (
        f"CASE WHEN {column} IS NULL THEN {sql.number(0.0)} "
        f"WHEN {column} < {sql.number(low)} THEN {sql.number(low - origin)} "
        f"WHEN {column} > {sql.number(high)} THEN {sql.number(high - origin)} "
        f"ELSE {column}{f' - {sql.number(origin)}' if origin else ''} END"
    )


def distance_expression(sql: Dialect, groups: Intervals, column: str) -> str:
    """The regressor less that of the middle of its group; 0 where missing."""
    middles = groups.regressor(groups.centres[:-1])
    centre = ladder(
        column, list(map(sql.number, groups.edges.tolist())), list(map(sql.number, middles))
    )
    value = regressor_expression(sql, groups, column)
    return f"CASE WHEN {column} IS NULL THEN {sql.number(0.0)} ELSE ({value}) - ({centre}) END"


# ------------------------------------------------------------------ transformations


def term_expression(
    sql: Dialect, term: Transformation, code: str, regressor: str, outputs: Sequence[str]
) -> str:
    """A transformation by the groups of its input.

    Parameters
    ----------
    sql : Dialect
    term : Transformation
    code : str
        The column of the group, times 2, and 1 more on holdout rows.
    regressor : str
        The column of the input as a regressor.
    outputs : sequence of str
        Columns of earlier outputs.
    """
    groups = term.groups
    leaves = [_leaf(sql, term, int(leaf), regressor, outputs) for leaf in range(term.n_leaves)]
    if isinstance(groups, Intervals):
        missing = _leaf(sql, term, int(term.leaf[-1]), "", outputs)
        texts = [*(leaves[leaf] for leaf in term.leaf[:-1]), missing]
    else:
        texts = [leaves[leaf] for leaf in term.leaf]
    runs: dict[str, list[list[int]]] = {}
    starts: list[int] = []
    values: list[str] = []
    for group, text in enumerate(texts):
        if not values or values[-1] != text:
            starts.append(group)
            values.append(text)
            runs.setdefault(text, []).append([2 * group, 0])
        runs[text][-1][1] = 2 * group + 1
    if len(values) <= 2 * len(runs):  # few runs of groups, as of numbers
        return f"({ladder(code, [str(2 * start) for start in starts[1:]], values)})"
    *others, last = sorted(runs, key=lambda text: len(runs[text]))
    whens = []
    for text in others:
        lone = [str(k) for a, b in runs[text] if b == a + 1 for k in (a, b)]
        wide = [f"{code} BETWEEN {a} AND {b}" for a, b in runs[text] if b > a + 1]
        listed = [f"{code} IN ({', '.join(lone)})"] if lone else []
        whens.append(f"WHEN {' OR '.join([*listed, *wide])} THEN {text}")
    return f"(CASE {' '.join(whens)} ELSE {last} END)"


def _leaf(
    sql: Dialect, term: Transformation, leaf: int, regressor: str, outputs: Sequence[str]
) -> str:
    slope, level = float(term.slope[leaf]), float(term.intercept[leaf])
    parts = [(float(c), s) for c, s in zip(term.coef[leaf], outputs, strict=False)]
    if regressor and slope and isinstance(term.groups, Intervals):
        parts.append((slope, regressor))
    return linear(sql, level, parts)
