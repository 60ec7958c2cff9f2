"""Blocks of a model that names none: what falls apart when linking rows are taken out.

Candidates for linking rows are the rows of some types, and those with the most entries. The blocks
are the connected components of the other rows. The score of a candidate is

    (1 − share of linking rows) · (1 − 1/number of blocks) · (mean size of a block / largest size)
                                · (share of the rows in blocks that are knapsacks or of no type),

with sizes in rows and variables; the best one is taken. Blocks with coefficients 1 mostly have the
integrality property: their convex hull is their relaxation, and the bound no better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from cgboost.integer.decomposition.blocks import MASTER, Positions, Structure, by_rows
from cgboost.integer.decomposition.model import Model

MOST_LINKING = 0.9
"""Candidates in which a larger share of the rows links, and also of the entries, are left out:
hardly anything is in blocks. In generalised assignment most rows link, with half of the entries."""

DENSEST = (1, 2, 5, 10, 20, 50, 100)
"""How many of the rows with the most entries are tried as linking rows."""


@dataclass(frozen=True)
class Candidate:
    """A way to divide a model.

    Attributes
    ----------
    structure : Structure
    score : float
        Between 0 and 1.
    why : str
        Which rows link.
    """

    structure: Structure
    score: float
    why: str


def detect(model: Model) -> Candidate | None:
    """The candidate with the best score; None where nothing falls into two blocks or more."""
    found = candidates(model)
    return found[0] if found else None


def candidates(model: Model) -> list[Candidate]:
    """All ways that are found to divide a model, the best first."""
    found: dict[bytes, Candidate] = {}
    hard = np.isin(row_types(model), ("knapsack", "other"))
    for why, linking in _linking_rows(model):
        candidate = _divided(model, linking, why, hard)
        if candidate is not None:
            found.setdefault(candidate.structure.block_of_row.tobytes(), candidate)
    return sorted(found.values(), key=lambda each: -each.score)


def row_types(model: Model) -> NDArray[np.str_]:
    """``"partition"``, ``"cover"``, ``"pack"``, ``"sum"``, ``"knapsack"`` or ``"other"``, per row.

    The first three have coefficients 1 and the right-hand side 1, a sum has coefficients 1 and
    another one; a knapsack has whole coefficients of one sign. All are on integer variables.
    """
    matrix, program = model.matrix, model.program
    types = np.full(len(model.row_names), "other", dtype="<U9")
    for row in range(len(types)):
        inside = slice(matrix.indptr[row], matrix.indptr[row + 1])
        values, integer = matrix.data[inside], model.integer[matrix.indices[inside]]
        low, high = program.row_lower[row], program.row_upper[row]
        if not values.size or not integer.all():
            continue
        if (values == values[0]).all() and abs(values[0]) == 1.0:
            ends = {float(values[0]) * low, float(values[0]) * high} - {np.inf, -np.inf}
            if ends == {1.0}:
                below = np.isfinite(low if values[0] > 0 else high)
                equal = np.isfinite(low) and np.isfinite(high)
                types[row] = "partition" if equal else "cover" if below else "pack"
            else:
                types[row] = "sum"
        elif ((values > 0).all() or (values < 0).all()) and (values == np.round(values)).all():
            types[row] = "knapsack"
    return types


def _linking_rows(model: Model) -> Iterator[tuple[str, Positions]]:
    yield "no row", np.zeros(0, dtype=np.intp)
    types = row_types(model)
    kinds = sorted(set(types.tolist()))
    for kind in kinds:
        yield f"rows of the type {kind}", np.flatnonzero(types == kind)
        yield f"all rows but those of the type {kind}", np.flatnonzero(types != kind)
    for chosen in (("partition", "sum"), ("partition", "cover", "pack", "sum")):
        yield f"rows of the types {', '.join(chosen)}", np.flatnonzero(np.isin(types, chosen))
    equal = model.program.row_lower == model.program.row_upper
    yield "equations", np.flatnonzero(equal)
    yield "inequalities", np.flatnonzero(~equal)
    entries = np.diff(model.matrix.indptr)
    for size in np.unique(entries)[-10:].tolist():
        yield f"rows with {size} entries or more", np.flatnonzero(entries >= size)
    order = np.argsort(-entries, kind="stable")
    for n in DENSEST:
        yield f"the {n} rows with the most entries", np.sort(order[:n])


def _divided(
    model: Model, linking: Positions, why: str, hard: NDArray[np.bool_]
) -> Candidate | None:
    """What is left without some rows, if it has two blocks or more."""
    n_rows, n = len(model.row_names), len(model.names)
    entries = np.diff(model.matrix.indptr)
    if not entries.any():
        return None
    shares = len(linking) / n_rows, entries[linking].sum() / entries.sum()
    if min(shares) > MOST_LINKING:
        return None
    inner = np.setdiff1d(np.arange(n_rows), linking)
    rows = model.matrix[inner]
    empty = sp.csr_array((n, n))
    graph = sp.block_array([[None, rows], [rows.T, empty]], format="csr")
    _, labels = connected_components(graph, directed=False)
    of_row, of_variable = labels[: len(inner)], labels[len(inner) :]
    used, numbers = np.unique(of_row, return_inverse=True)
    if len(used) < 2:
        return None
    sizes = np.bincount(numbers) + np.bincount(of_variable, minlength=labels.max() + 1)[used]
    block_of_row = np.full(n_rows, MASTER, dtype=np.intp)
    block_of_row[inner] = numbers
    share = len(linking) / n_rows
    score = (1 - share) * (1 - 1 / len(used)) * float(sizes.mean() / sizes.max())
    score *= float(hard[inner].mean())
    if score <= 0:
        return None
    return Candidate(by_rows(model, block_of_row), score, why)
