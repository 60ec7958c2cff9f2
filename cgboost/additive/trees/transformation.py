"""One feature transformed: a linear regression tree that splits on this feature alone.

Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, sections 4, 6
and 8: multiway splits are merged bottom-up, two leaves at a time (as CHAID does), and the leaves
have stepwise linear regressions on the feature and on the outputs of earlier stages. How far each
branch is merged (:mod:`cgboost.additive.trees.merging`), and which regressors stay, is decided on
holdout rows. All of it follows from statistics.

Fitted functions in words: which values a leaf has, and its formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.statistics.moments import (
    BETTER,
    Moments,
    Regressions,
    mean_squares,
    squared_error,
    stepwise,
)
from cgboost.additive.trees.merging import ANY_PAIR, MergeablePairs, Merging, any_two, chain
from cgboost.arrays import Indices, Matrix, Vector
from cgboost.forks import cached_property
from cgboost.tables.binning import FeatureGroups, Intervals
from cgboost.tables.table_columns import legible
from cgboost.tables.table_encoding import Schema
from cgboost.tolerances import RESIDUE, SMALLEST

CHANCE = 4.0
"""Variances of the response that a coefficient may lower the holdout error by through chance. With
2 the initial algorithm has a mean error of 0.38 instead of 0.48 on the surface of the paper, since
it goes on where it ends early, but products of features in noise are fitted with errors up to 1.4
times those of the constant; on eight tables of numbers the two differ by at most 4 %, to either
side; with 1.5 the test error of pure noise is 0.9 % above that of the constant."""

SEARCHED = 2.0
"""Parameters that a coefficient counts for: itself, and the place of a split or its choice."""


@dataclass(frozen=True, eq=False)
class Transformation:
    """h(x, z) = intercept + slope·(x − origin) + coef·z with the coefficients of the leaf of x.

    The origin is that of the intervals; x is brought to their range.

    Attributes
    ----------
    feature : int
        Number of the input.
    leaf : ndarray of shape (n_groups,)
        Leaf of each group of values.
    intercept, slope : ndarray of shape (n_leaves,)
    coef : ndarray of shape (n_leaves, n_regressors)
        Of the outputs of earlier stages.
    """

    feature: int
    groups: FeatureGroups
    leaf: Indices
    intercept: Vector
    slope: Vector
    coef: Vector

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.intercept)

    def __call__(self, x: Matrix, regressors: Vector) -> Vector:
        """Values for the feature x, shape (n_rows,), and regressors, (n_rows, n_regressors)."""
        return self.on(self.groups.codes(x), x, regressors)

    def on(self, codes: NDArray[np.integer], x: Matrix, regressors: Vector) -> Vector:
        """The same where the groups of the values are known."""
        codes = codes.astype(np.intp, copy=False)
        level, slope, beside = self._of_groups
        values = level.take(codes)
        if slope is not None:
            part = self.groups.regressor(x)
            part *= slope.take(codes)
            values += part
        for k, coef in beside:
            part = coef.take(codes)
            part *= regressors[:, k]
            values += part
        return values

    @cached_property
    def _of_groups(self) -> tuple[Vector, Vector | None, list[tuple[int, Vector]]]:
        """Constants, slopes if there are any, and coefficients of the regressors that count."""
        slope = self.slope[self.leaf] if self.slope.any() else None
        used = np.flatnonzero(self.coef.any(axis=0)).tolist()
        return self.intercept[self.leaf], slope, [(k, self.coef[self.leaf, k]) for k in used]

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: getattr(self, own.name) for own in fields(self)}

    @property
    def is_constant(self) -> bool:
        """Whether it is the same for all values."""
        return not (np.ptp(self.intercept) or self.slope.any() or self.coef.any())

    @property
    def size(self) -> float:
        """Largest sum of |intercept| and |slope·(x − origin)|: a bound of |h|, with z = 0."""
        reach = 0.0
        if isinstance(self.groups, Intervals):
            ends = np.array([self.groups.low, self.groups.high])
            reach = float(np.abs(self.groups.regressor(ends)).max())
        return float((np.abs(self.intercept) + np.abs(self.slope) * reach).max(initial=0.0))

    def among(self, outputs: Indices) -> Transformation:
        """The same with regressors that have these numbers among all outputs."""
        if len(outputs) == 0 or outputs[-1] == len(outputs) - 1:
            return self
        coef = np.zeros((self.n_leaves, int(outputs[-1]) + 1))
        coef[:, outputs] = self.coef
        return replace(self, coef=coef)


def transformation(
    feature: int, groups: FeatureGroups, training: Moments, holdout: Moments
) -> Transformation:
    """The tree of one input, from statistics of its groups: as :func:`transformations`."""
    return transformations([(feature, groups)], [training], [holdout])[0]


def transformations(
    inputs: Sequence[tuple[int, FeatureGroups]],
    training: Sequence[Moments],
    holdout: Sequence[Moments],
) -> list[Transformation]:
    """The trees of all inputs of a stage, from statistics of their groups.

    Parameters
    ----------
    inputs : sequence of (int, Intervals or Categories)
        Numbers and groups; an input may come again, with other regressors.
    training, holdout : sequence of Moments
        For each input and group, of the variables (x, z…, response): as many for all.
    """
    if not inputs:
        return []
    whole, (judge, price) = training[0].together(), judges(training[0], holdout[0])
    judging = holdout if judge is holdout[0] else training
    sizes = [len(own) for own in training]
    starts = np.cumsum([0, *sizes])
    input_of = np.repeat(np.arange(len(sizes)), sizes)
    pairs = [
        tuple(start + np.asarray(side) for side in _pairs(groups, own))
        for (_, groups), own, start in zip(inputs, training, starts, strict=False)
    ]
    squares = np.array([mean_squares(own) for own in training])
    merging = Merging(
        Moments.stacked(training),
        input_of,
        (np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])),
        squares,
    )
    judged = merging.of_nodes(Moments.stacked(judging))
    own_squares = squares[merging.input_of]
    models = stepwise(merging.nodes, judged, price=price, squares=own_squares)
    variation = np.array([max(0.0, own.together().scatter[0, -1, -1]) for own in judging])
    rounding = BETTER * np.bincount(input_of, models.holdout[: starts[-1]]) + RESIDUE * variation
    leaves = merging.pruned(models.holdout, rounding)
    return [
        _with_leaves(number, groups, leaves[a:b], models, merging.nodes, whole)
        for (number, groups), a, b in zip(inputs, starts[:-1], starts[1:], strict=True)
    ]


def straight(feature: int, groups: Intervals, training: Moments) -> Transformation:
    """The input itself, in its range, less its origin; its mean where missing."""
    there = training[:-1].together()
    leaf = (np.arange(groups.n_groups) == groups.n_groups - 1).astype(np.intp)
    level, slope = np.array([0.0, there.mean[0, 0]]), np.array([1.0, 0.0])
    return Transformation(feature, groups, leaf, level, slope, np.zeros((2, 0)))


def mean_of(term: Transformation, training: Moments) -> float:
    """The mean of a function over the training rows, from the statistics that it was made from."""
    level, slope, coef = (part[term.leaf] for part in (term.intercept, term.slope, term.coef))
    beside = training.mean[:, 1 : 1 + coef.shape[1]]
    means = level + slope * training.mean[:, 0] + np.einsum("gk,gk->g", coef, beside)
    return float(training.count @ means / max(float(training.count.sum()), SMALLEST))


def cost_of(term: Transformation, training: Moments, holdout: Moments) -> float:
    """The squared error of a tree on the rows that decide, and the price of its coefficients."""
    rows, price = judges(training, holdout)
    coef = np.zeros((len(training), training.mean.shape[1] - 1))
    coef[:, 0] = term.slope[term.leaf]
    coef[:, 1 : 1 + term.coef.shape[1]] = term.coef[term.leaf]
    size = term.n_leaves + np.count_nonzero(term.slope) + np.count_nonzero(term.coef)
    return float(squared_error(rows, coef, term.intercept[term.leaf]).sum() + price * size)


def together(parts: Sequence[tuple[float, Transformation]]) -> Transformation:
    """Σ λ h of functions h of the same input, as one function."""
    functions = [function for _, function in parts]
    width = max(function.coef.shape[1] for function in functions)
    leaves, leaf = np.unique([h.leaf for h in functions], axis=1, return_inverse=True)
    level, slope = np.zeros((2, leaves.shape[1]))
    coef = np.zeros((leaves.shape[1], width))
    for (weight, h), own in zip(parts, leaves, strict=True):
        level += weight * h.intercept[own]
        slope += weight * h.slope[own]
        coef[:, : h.coef.shape[1]] += weight * h.coef[own]
    first = functions[0]
    return Transformation(first.feature, first.groups, leaf.ravel(), level, slope, coef)


def _pairs(groups: FeatureGroups, training: Moments) -> MergeablePairs:
    """Groups that may be merged: missing numbers, and categories without rows, with none.

    Where no row decides, the leaf is the mean of all.
    """
    if groups.ordered:
        return chain(np.arange(len(training) - 1))
    known = np.flatnonzero(training.count > 0)
    if len(known) <= ANY_PAIR:
        return any_two(known)
    means = training.mean[known, -1]
    rounded = np.round(means / (np.abs(means).max() * BETTER or 1.0))
    return chain(known[np.argsort(rounded, kind="stable")])


def _with_leaves(
    feature: int,
    groups: FeatureGroups,
    leaves: Indices,
    models: Regressions,
    nodes: Moments,
    whole: Moments,
) -> Transformation:
    """The function whose leaves are these nodes."""
    chosen, leaf = np.unique(leaves, return_inverse=True)
    own = models[chosen]
    empty = nodes.count[chosen] == 0
    is_constant = np.count_nonzero(~empty) <= 1 and not own.coef.any()
    level = np.where(empty | is_constant, whole.mean[0, -1], own.intercept)
    spread = float(np.sqrt(whole.scatter[0, -1, -1] / max(1.0, float(whole.count[0]))))
    largest = max(spread, float(np.abs(level).max(initial=0.0)))
    level = np.where(np.abs(level) > RESIDUE * largest, level, 0.0)  # of a mean that is rounding
    return Transformation(
        feature, groups, leaf.astype(np.intp), level, own.coef[:, 0], own.coef[:, 1:]
    )


def judges(training: Moments, holdout: Moments) -> tuple[Moments, float]:
    """The statistics that decide, and what a coefficient is to lower the squared error by.

    Of many useless coefficients some lower the error of the holdout rows by chance, each by about
    σ² times the square of a normal number: less than 4σ² is no reason to take one. Where no rows
    are held out, the training rows decide, at the price σ² log n of the Bayesian information
    criterion (Schwarz, Ann. Statist. 6, 1978), twice, since a split is a parameter too (Yao,
    Statist. Probab. Lett. 6, 1988) and a regressor is chosen among many.

    σ² is the variance of the response. Nothing smaller can be trusted: what many full models leave
    over in groups of a few rows is almost nothing, and a small price is no price. With the
    variance that the tree found at this price leaves over on the holdout rows, errors on the
    surface of the paper fall from 0.016 to 0.011 and on housing by 2 to 3 %; that of Friedman's
    function grows by 1 to 3 %, and the log loss on the ionosphere by 2 to 68 %.
    """
    both = training.together().merged(holdout.together())
    variance = float(both.scatter[0, -1, -1]) / max(1.0, float(both.count[0]))
    if holdout.count.any():
        return holdout, CHANCE * variance
    return training, SEARCHED * variance * float(np.log(max(1.0, both.count[0])))


INDENT = "    "

NO_LEVEL = 1e-12
"""A constant this small compared with the size of what it is added to is 0 but for rounding. It is
the difference of two terms, exact to about 1e-16 of them; six digits are shown."""


def values_in_words(
    name: str, groups: FeatureGroups, own: Indices, categories: dict[Any, int] | None
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
    words = f"{name} in {{{', '.join(legible(labels[k]) for k in known)}}}"
    return words + (" or any other" if gaps else "")


def formula_in_words(
    level: float, terms: Iterable[tuple[float, str]] = (), size: float = 0.0
) -> str:
    """A constant and coefficients times names; those of 0 are left out.

    A constant that is rounding compared with ``size``, that of the values, is 0.
    """
    words = f"{level if abs(level) > NO_LEVEL * size else 0.0:.6g}"
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
    groups, name = function.groups, legible(name)
    origin = groups.origin if isinstance(groups, Intervals) else 0.0
    outputs = [f"stage_{k}" for k in range(function.coef.shape[1])]
    size = abs(weight) * function.size
    _, firsts = np.unique(function.leaf, return_index=True)
    for k in function.leaf[np.sort(firsts)]:
        slope = weight * float(function.slope[k])
        level = weight * float(function.intercept[k]) - slope * origin
        own = (weight * function.coef[k]).tolist()
        values = values_in_words(name, groups, np.flatnonzero(function.leaf == k), categories)
        terms = [(slope, name), *zip(own, outputs, strict=True)]
        yield f"{values}: {formula_in_words(level, terms, size)}"


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
