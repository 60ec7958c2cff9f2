"""Certificates of tree searches: packings to the last leaf, of other searches their columns.

Where each column is a set of items that fit into a bin, the pricing problem is a knapsack, and
whole numbers prove a leaf: the value of all items over the most valuable bin, found by dynamic
programming, is a bound on the number of bins. Of other searches, and of runs without a search, only
the relaxation over the columns at hand is proved; that no other column has a negative reduced cost
is the word of the pricer, and of the solver that it asks, which the first line says.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.exceptions import CertificateError
from cgboost.generation.columns import Column
from cgboost.generation.history import Result
from cgboost.integer.branching.decisions import Apart, Together
from cgboost.integer.decomposition.decomposition import IN_TURNS, OVER_COLUMNS, DecompositionResult
from cgboost.integer.result import BranchAndPriceResult, NodeProof, TreeProof
from cgboost.proofs.exact_fit import OF_COLUMNS, ExactFit, down, up
from cgboost.proofs.proof_files import digest, gap_above, write_proof, write_table

PRICE_BITS = 40
"""Binary digits of the prices at a leaf: of a float's 53, so that sums stay exact."""

NEARLY_WHOLE_BOUND = 1e-6
"""A bound on bins is rounded up, but for this: that of a search is of floats."""

Group = tuple[frozenset[int], int, int]
"""Items that are in one bin: their numbers, their size together, and how many there are."""


def save_tree(
    result: BranchAndPriceResult, path: Any, sizes: Any, capacity: Any, data: Any
) -> Path:
    """Write the certificate of a result, and the table that it is about."""
    record = result.proof
    if record is None:
        raise CertificateError(
            "the search has left no proof: its nodes are kept of searches that were not resumed, "
            "and not of models that were decomposed"
        )
    if not np.isfinite(result.objective):
        raise CertificateError("the search has found no solution that a certificate could be of")
    if (sizes is None) != (capacity is None):
        raise CertificateError("sizes and capacity go together: they are the pricing problem")
    file = Path(path)
    if sizes is None:
        proof, table = _of_columns(result, record)
        data = file.with_suffix(".npy") if data is None else data
    else:
        proof, table = _of_packing(result, record, sizes, capacity)
    if data is not None:
        write_table(data, table, None if sizes is None else ("size", "number"))
    return write_proof(file, proof)


# -------------------------------------------------------------------------------- packings


def _of_packing(
    result: BranchAndPriceResult, record: TreeProof, sizes: Any, capacity: Any
) -> tuple[dict[str, Any], Any]:
    size = [_whole_number(s, "a size") for s in _sizes(sizes, record.rows)]
    room, times = _whole_number(capacity, "the capacity"), [int(b) for b in record.rhs]
    if min(size) <= 0 or times != record.rhs.tolist() or min(times) <= 0 or "<=" in record.senses:
        raise CertificateError(
            "a packing has items of positive sizes, each a row '== n' or '>= n' with a whole n"
        )
    if any(column.cost != 1.0 for column in result.pool):
        raise CertificateError("a packing counts bins, and there are columns that do not cost 1")
    bins = _bins(result, times)
    if any(sum(size[k] for k in own) > room for own in bins):
        raise CertificateError("a bin of the solution is too full: other sizes or capacity?")
    bound = 0 if result.bound is None else int(np.ceil(result.bound - NEARLY_WHOLE_BOUND))
    groups = [(frozenset([k]), size[k], times[k]) for k in range(len(size))]
    try:
        tree = _tree(record, 0, groups, [], room, times, bound)
    except CertificateError:  # the root may do without the others
        tree = {"prices": _prices(record.nodes[0])}
        if not proves(tree["prices"], groups, [], room, times, bound):
            raise
    table = np.column_stack([size, times]).astype(np.float64)
    objective = len(bins)
    return {
        "claims": "Packing: there are no fewer bins. It rests on nothing but whole numbers",
        "kind": "packing",
        "model": type(result).__name__,
        "data": digest(table),
        "objective": objective,
        "bound": bound,
        "gap": gap_above(objective, bound),
        "capacity": room,
        "solution": bins,
        "tree": tree,
    }, table


def _whole_number(value: Any, what: str) -> int:
    if value != int(value):
        raise CertificateError(f"{what} is {value!r}, and must be whole: choose a smaller unit")
    return int(value)


def _sizes(sizes: Any, rows: Sequence[Hashable]) -> list[Any]:
    """In the order of the rows."""
    if isinstance(sizes, Mapping):
        if missing := [row for row in rows if row not in sizes]:
            raise CertificateError(f"sizes has no {missing[:5]}, which are rows of the master")
        return [sizes[row] for row in rows]
    if len(sizes) != len(rows):
        raise CertificateError(f"there are {len(sizes)} sizes, and {len(rows)} rows of the master")
    return list(sizes)


def _bins(result: BranchAndPriceResult, times: Sequence[int]) -> list[list[int]]:
    """The bins of the best solution, each item as often as it is there and no more."""
    left, bins = list(times), []
    for column, count in zip(result.columns, result.coef.tolist(), strict=True):
        for _ in range(round(count)):
            own = []
            for k, amount in enumerate(np.rint(column.values).astype(int).tolist()):
                taken = min(amount, left[k])
                own += [k] * taken
                left[k] -= taken
            bins.append(own)
    return bins


def _prices(node: NodeProof) -> list[int]:
    """The duals of a node as whole numbers; none is negative, which only weakens a bound."""
    if node.duals is None:
        raise CertificateError("a node has no duals: the search was ended within it")
    return [max(0, int(dual * 2**PRICE_BITS)) for dual in node.duals.tolist()]


def proves(
    prices: Sequence[int],
    groups: Sequence[Group],
    apart: Sequence[tuple[int, int]],
    capacity: int,
    times: Sequence[int],
    bound: int,
) -> bool:
    """Whether prices prove that there are so many bins.

    Parameters
    ----------
    prices : sequence of int
        Of each item.
    groups : sequence of Group
        Items of which a bin has all or none.
    apart : sequence of pairs
        Items that no bin has both of.
    times : sequence of int
        How many there are of each item.
    """
    best = np.zeros(capacity + 1, dtype=object)
    for items, size, count in groups:
        for _ in range(min(count, capacity // size)):
            more = best[: len(best) - size] + sum(prices[k] for k in items)
            best[size:] = np.maximum(best[size:], more)
    value = sum(price * count for price, count in zip(prices, times, strict=True))
    if best[-1] * (bound - 1) < value:
        return True
    if not apart:
        return False
    without = ([group for group in groups if k not in group[0]] for k in apart[0])
    return all(proves(prices, own, apart[1:], capacity, times, bound) for own in without)


def _tree(
    record: TreeProof,
    number: int,
    groups: list[Group],
    apart: list[tuple[int, int]],
    capacity: int,
    times: Sequence[int],
    bound: int,
) -> dict[str, Any]:
    """A node and all below it."""
    node = record.nodes[number]
    children = [k for k, other in record.nodes.items() if other.parent == number]
    if not children:
        prices = _prices(node)
        if not proves(prices, groups, apart, capacity, times, bound):
            raise CertificateError(f"the duals of node {number} do not prove {bound} bins exactly")
        return {"prices": prices}
    pair, places = _pair(record, node, children)
    one, two = (next(group for group in groups if k in group[0]) for k in pair)
    both = (one[0] | two[0], one[1] + two[1], 1)
    below: dict[str, Any] = {"pair": list(pair), "one": None}
    if both[1] <= capacity and not any(set(own) <= both[0] for own in apart):
        others = [group for group in groups if group not in (one, two)]
        below["one"] = _tree(record, places[0], [*others, both], apart, capacity, times, bound)
    below["two"] = _tree(record, places[1], groups, [*apart, pair], capacity, times, bound)
    return below


def _pair(
    record: TreeProof, node: NodeProof, children: Sequence[int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """The items that a node is divided by, and the children with these in one bin and in two."""
    numbers = {row: k for k, row in enumerate(record.rows)}
    added = {k: record.nodes[k].decisions[len(node.decisions) :] for k in children}
    pairs: dict[type, tuple[int, set[Hashable]]] = {
        type(own[0]): (k, {own[0].first, own[0].second})
        for k, own in added.items()
        if len(own) == 1 and isinstance(own[0], Together | Apart)
    }
    if set(pairs) != {Together, Apart} or len(children) != 2:
        names = sorted({type(d).__name__ for own in added.values() for d in own})
        raise CertificateError(
            f"the search has branched by {', '.join(names)}, which a certificate does not know: "
            "give branching=[RyanFoster()], by pairs of items"
        )
    (one, rows), (two, others) = pairs[Together], pairs[Apart]
    if rows != others:
        raise CertificateError("the children of a node are not of one pair of items")
    first, second = sorted(numbers[row] for row in rows)
    return (first, second), (one, two)


# -------------------------------------------------------------------------------- other columns


def save_columns(result: Result, path: Any, master: Any, data: Any) -> Path:
    """Write the certificate of a run over a linear master, and the table of its columns."""
    rows = getattr(master, "constraints", None)
    if not result.duals or rows is None or list(result.duals) != list(rows.names):
        raise CertificateError(
            "the result has no duals of the rows of this master: give the LinearMaster of the run, "
            "whose columns meet its rows"
        )
    priced = _priced(result.columns, np.maximum(result.coef, 0.0), rows, result.duals.values())
    return _save_priced(path, data, result, priced, f"{NO_OTHERS} {result.bound!r} of the run")


def save_decomposed(result: DecompositionResult, path: Any, data: Any) -> Path:
    """Write the certificate of a decomposed model, and the table of the columns of its blocks."""
    tree = result.tree
    record = None if tree is None else tree.proof
    if tree is None or record is None:
        hint = f"; {OVER_COLUMNS}" if result.message.startswith(IN_TURNS) else ""
        raise CertificateError(
            "the model was not solved over the columns of its blocks, or in a resumed search: its "
            f"bound is the word of the solver alone ({result.message}){hint}"
        )
    sought = (-1.0 if result.maximize else 1.0) * result.objective - result.constant
    if np.isfinite(sought) and not np.isclose(tree.objective, sought):
        raise CertificateError(
            "branch and cut has found the solution, which is none of the columns of the blocks "
            f"({result.message})"
        )
    if not np.isfinite(tree.objective):
        raise CertificateError("the search has found no solution that a certificate could be of")
    priced = _priced(tree.pool, _amounts(tree), record, _duals_of_root(record))
    sign, offset = ("minus this", -1.0) if result.maximize else ("this", 1.0)
    offset *= result.constant - priced.raised
    word = (
        f"{NO_OTHERS} {tree.bound!r} of the search. The objective of the model is {sign} "
        f"{'-' if offset < 0 else '+'} {abs(offset)!r}"
    )
    return _save_priced(path, data, result, priced, word)


@dataclass(frozen=True, eq=False)
class PricedColumns:
    """Columns of positive costs, and rows that ask for at least so much, with duals.

    Attributes
    ----------
    columns : sequence of Column
        Of these the table has slacks below the upper ends of some, too.
    w, costs : ndarray of shape (n_columns,)
        Higher than those of the columns by multiples of equations, if these are not positive.
    raised : float
        By how much all solutions cost more than they do by the costs of the columns.
    amounts : list of ndarray of shape (n_columns,)
        Of each row.
    """

    columns: Sequence[Column]
    w: Vector
    costs: Vector
    raised: float
    amounts: list[Vector]
    needs: list[float]
    duals: list[float]

    @property
    def said(self) -> str:
        """What the first line says of costs that are raised."""
        if not self.raised:
            return ""
        return (
            f". Multiples of equations raise the costs here, those of a solution by {self.raised!r}"
        )


def _priced(
    columns: Sequence[Column], w: Vector, rows: Any, duals: Iterable[float], *, ends: bool = True
) -> PricedColumns:
    """Columns and rows of a master, of which ``rows`` has the senses and right-hand sides.

    ``ends`` says whether a column that its upper end holds back has a slack and an equation.
    """
    matrix = np.column_stack([column.values for column in columns])
    costs, prices = np.array([column.cost for column in columns]), np.array([*duals], dtype=float)
    # duals have the signs of their rows
    senses, rhs = list(rows.senses), [float(b) for b in rows.rhs]
    signs = [{"<=": -1.0, ">=": 1.0, "==": 0.0}[sense] for sense in senses]
    prices = np.where(np.multiply(signs, prices) < 0, 0.0, prices)
    reduced, upper = costs - prices @ matrix, np.array([column.upper for column in columns])
    held = np.flatnonzero(np.isfinite(upper) & (np.minimum(reduced, costs) <= 0) & ends)
    if held.size:
        unit = np.eye(len(columns))[held]
        below = np.hstack([unit, np.eye(held.size)])
        matrix = np.vstack([np.hstack([matrix, np.zeros((len(matrix), held.size))]), below])
        costs = np.append(costs, np.zeros(held.size))
        w = np.append(w, np.maximum(upper[held] - w[held], 0.0))
        prices = np.append(prices, np.minimum(reduced[held], 0.0))
        senses, rhs = [*senses, *["=="] * held.size], [*rhs, *upper[held].tolist()]
    raised, usual = 0.0, float(np.abs(costs).max(initial=0.0)) or 1.0
    # convexity rows are the last ones, and should be the first to be used
    equations = [
        (i, matrix[i] > 0)
        for i in reversed(range(len(matrix)))
        if senses[i] == "==" and min(matrix[i]) >= 0
    ]
    # a'w = b times k adds k a to the costs, k b to those of each solution, and k to the dual
    for i, inside in equations:
        cheap = inside & (costs <= 0)
        if cheap.any():
            least = float((-costs[cheap] / matrix[i, cheap]).max())
            k = 2.0 ** math.ceil(math.log2(least + usual / 8))
            costs, raised = costs + k * matrix[i], raised + k * rhs[i]
            prices[i] += k
    if not (costs > 0).all():
        raise CertificateError(
            f"the column {columns[int(costs.argmin())].key!r} does not cost more than 0, and no "
            "equation without negative entries raises its cost: such columns are not in "
            "certificates"
        )
    # duals of a bound leave reduced costs below 0, which the bound pays at the convexity rows
    for i, inside in equations:
        missing = ((prices @ matrix - costs)[inside] / matrix[i, inside]).max(initial=0.0)
        prices[i] -= missing
    X, y, r = [], [], []
    for row, sense, b, dual in zip(matrix, senses, rhs, prices.tolist(), strict=True):
        for sign in {"<=": (-1.0,), ">=": (1.0,), "==": (1.0, -1.0)}[sense]:
            X.append(sign * row)
            y.append(sign * b)
            r.append(max(0.0, sign * dual))
    return PricedColumns(columns, w, costs, raised, X, y, r)


def _save_priced(path: Any, data: Any, result: object, priced: PricedColumns, word: str) -> Path:
    """Write a relaxation in which a unit that a row lacks has a price, as floats lack some."""
    largest = max(priced.duals, default=0.0)
    price = 2.0 ** math.ceil(math.log2(largest)) if largest > 0 else 1.0  # at least all duals
    claims = (
        "Columns: no coefficients of those in the table cost less than the bound, even where a "
        f"unit that a row lacks may be paid with {price:g}. {word}{priced.said}"
    )
    said = "quantile", 1.0, np.full(len(priced.needs), price), claims
    proof, table = _relaxation(type(result).__name__, priced, said)
    file = Path(path)
    write_table(file.with_suffix(".npy") if data is None else data, table)
    return write_proof(file, proof)


NO_OTHERS = (
    "THAT THERE ARE NO OTHER COLUMNS of a negative reduced cost is the word of the pricer, and of "
    "its solver alone, and so is the bound"
)


def _of_columns(result: BranchAndPriceResult, record: TreeProof) -> tuple[dict[str, Any], Any]:
    """The relaxation over the columns of the pool, as a fit: costs |w|, and rows to be met."""
    duals = _duals_of_root(record)
    priced = _priced(result.pool, _amounts(result), record, duals, ends=False)
    claims = (
        "Columns: no solution of the columns in the table is below the bound. "
        f"{NO_OTHERS} {result.bound!r} of the search{priced.said}"
    )
    said = OF_COLUMNS, 0.0, np.ones(len(priced.needs)), claims
    return _relaxation(type(result).__name__, priced, said)


def _duals_of_root(record: TreeProof) -> list[float]:
    duals = record.nodes[0].duals
    if duals is None:
        raise CertificateError("the root has no duals: the search was ended within it")
    if len(duals) != len(record.rows):
        raise CertificateError("the search has added rows, which a certificate does not know")
    return duals.tolist()


def _amounts(result: BranchAndPriceResult) -> Any:
    """How often the best solution takes each column of the pool."""
    w, place = np.zeros(len(result.pool)), {column.key: k for k, column in enumerate(result.pool)}
    for column, count in zip(result.columns, result.coef.tolist(), strict=True):
        w[place[column.key]] += count
    return w


def _relaxation(
    model: str, priced: PricedColumns, said: tuple[str, float, Vector, str]
) -> tuple[dict[str, Any], Any]:
    """Costs of columns as a penalty, and the loss of rows that lack something."""
    w, costs, target, response = (
        priced.w,
        priced.costs,
        np.array(priced.needs),
        np.array(priced.duals),
    )
    loss, parameter, prices, claims = said
    fit = ExactFit(
        np.array(priced.amounts), target, prices, loss, parameter, 1.0, costs, w, 0.0, response,
        positive=True,
    )  # fmt: skip
    found = fit.values()
    are_whole = loss == OF_COLUMNS and bool((w % 1 == 0).all() and (costs % 1 == 0).all())
    whole = are_whole and all(column.integer for column in priced.columns)
    least = Fraction(-(-found.bound // 1)) if whole else found.bound
    table = np.column_stack([fit.X, target])
    objective, bound = up(found.objective), down(max(least, Fraction(0)))
    return {
        "claims": claims,
        "kind": "fit",
        "model": model,
        "data": digest(table),
        "objective": objective,
        "bound": bound,
        "gap": gap_above(objective, bound),
        "loss": loss,
        "parameter": parameter,
        "labels": None,
        "l1_share": 1.0,
        "kernel": False,
        "positive": True,
        "whole": whole,
        "unit": 1.0,
        "b": 0.0,
        "intercept": "none",
        "scale": 1.0,
        "costs": prices.tolist(),
        "weights": costs.tolist(),
        "w": w.tolist(),
        "scores": found.largest_scores,
        "response": [found.integers, found.bits],
    }, table
