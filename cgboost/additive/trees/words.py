"""Fitted functions in words: which values a leaf has, and its formula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.tables.intervals import Groups, Intervals
from cgboost.additive.tables.schema import Schema
from cgboost.additive.trees.transformation import Transformation

Indices = NDArray[np.intp]

INDENT = "    "

NO_LEVEL = 1e-12
"""A level this small beside the largest one of a function is 0 but for rounding."""


def values_in_words(
    name: str, groups: Groups, own: Indices, categories: dict[Any, int] | None
) -> str:
    """Which values of a feature some of its groups have."""
    missing = groups.n_groups - 1
    gaps = own[-1] == missing
    known = own[:-1] if gaps else own
    if not len(known):
        return f"{name} missing" if isinstance(groups, Intervals) else f"{name} any other"
    if isinstance(groups, Intervals):
        first, last = int(known[0]), int(known[-1])
        below = f"{groups.edges[first - 1]:.6g} ≤ " if first > 0 else ""
        above = f" < {groups.edges[last]:.6g}" if last < len(groups.edges) else ""
        words = f"{below}{name}{above}" if below or above else f"{name} any number"
        return words + (" or missing" if gaps else "")
    labels = list(categories or range(groups.count))
    words = f"{name} in {{{', '.join(str(labels[k]) for k in known)}}}"
    return words + (" or any other" if gaps else "")


def formula_in_words(level: float, terms: Iterable[tuple[float, str]]) -> str:
    """A constant and coefficients times names; those of 0 are left out."""
    words = f"{level:.6g}"
    for coef, name in terms:
        if coef != 0.0:
            words += f" {'+' if coef > 0 else '−'} {abs(coef):.6g}·{name}"
    return words


def leaves_in_words(
    function: Transformation,
    name: str,
    categories: dict[Any, int] | None = None,
    weight: float = 1.0,
) -> Iterator[str]:
    """A line for every leaf: its values, and weight times its formula.

    Outputs of earlier stages are called stage_0, stage_1, …
    """
    groups = function.groups
    origin = groups.origin if isinstance(groups, Intervals) else 0.0
    outputs = [f"stage_{k}" for k in range(function.coef.shape[1])]
    rounding = NO_LEVEL * float(np.abs(function.intercept).max(initial=0.0))
    _, firsts = np.unique(function.leaf, return_index=True)
    for k in function.leaf[np.sort(firsts)]:
        slope = weight * float(function.slope[k])
        level = weight * float(function.intercept[k]) - slope * origin
        level = level if abs(level) > abs(weight) * rounding else 0.0
        own = (weight * function.coef[k]).tolist()
        values = values_in_words(name, groups, np.flatnonzero(function.leaf == k), categories)
        terms = [(slope, name), *zip(own, outputs, strict=True)]
        yield f"{values}: {formula_in_words(level, terms)}"


def names_of(schema: Schema) -> Sequence[str]:
    """Names of the features; x0, x1, … where they have none."""
    return schema.names or [f"x{j}" for j in range(schema.n_features)]


def input_of(number: int, schema: Schema | None) -> tuple[str, dict[Any, int] | None]:
    """The name of an input, a feature or the output of an earlier stage, and its categories."""
    if schema is None:
        return f"x{number}", None
    if number >= schema.n_features:
        return f"stage_{number - schema.n_features}", None
    return names_of(schema)[number], schema.categories[number]
