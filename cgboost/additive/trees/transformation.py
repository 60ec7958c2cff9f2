"""One feature transformed: a linear regression tree that splits on this feature alone.

Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, sections 4, 6
and 8: multiway splits are merged bottom-up, two leaves at a time (as CHAID does), and the leaves
have stepwise linear regressions on the feature and on the outputs of earlier stages. How far to
merge, and which regressors stay, is decided on holdout rows. All of it follows from statistics.

Fitted functions in words: which values a leaf has, and its formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.statistics.moments import (
    BETTER,
    Moments,
    Regressions,
    full,
    mean_squares,
    stepwise,
)
from cgboost.additive.tables.preparation import Groups, Intervals, Values
from cgboost.additive.tables.schema import Schema
from cgboost.tolerances import RESIDUE

Vector = NDArray[np.float64]

Indices = NDArray[np.intp]

MERGE_RIDGE = 1e-6
"""Of the regressions that decide which leaves are merged, relative to the scatter. Far above
rounding, 1e-16, so that collinear regressors of few rows do no harm; larger, it would choose other
leaves."""

CHANCE = 4.0
"""Variances of the response that a coefficient may lower the holdout error by through chance."""

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
    groups : Intervals or Categories
    leaf : ndarray of shape (n_groups,)
        Leaf of each group of values.
    intercept, slope : ndarray of shape (n_leaves,)
    coef : ndarray of shape (n_leaves, n_regressors)
        Of the outputs of earlier stages.
    """

    feature: int
    groups: Groups
    leaf: Indices
    intercept: Vector
    slope: Vector
    coef: Vector

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.intercept)

    def __call__(self, x: Values, regressors: Vector) -> Vector:
        """Values for the feature x, shape (n_rows,), and regressors, (n_rows, n_regressors)."""
        return self.on(self.groups.codes(x), x, regressors)

    def on(self, codes: NDArray[np.integer], x: Values, regressors: Vector) -> Vector:
        """The same where the groups of the values are known."""
        leaf = self.leaf[codes]
        values = self.intercept[leaf]
        if self.slope.any():
            values = values + self.slope[leaf] * self.groups.regressor(x)
        for k in np.flatnonzero(self.coef.any(axis=0)):
            values = values + self.coef[leaf, k] * regressors[:, k]
        return values

    @property
    def is_constant(self) -> bool:
        """Whether it is the same for all values."""
        return not (np.ptp(self.intercept) or self.slope.any() or self.coef.any())


def transformation(
    feature: int, groups: Groups, training: Moments, holdout: Moments
) -> Transformation:
    """The tree of a feature, from statistics of its groups.

    Parameters
    ----------
    feature : int
    groups : Intervals or Categories
    training, holdout : Moments
        For each group, of the variables (x, z…, response).
    """
    order = _order(groups, training)
    holdout, price = judges(training, holdout)
    elements, total = _Elements(training[order], holdout[order]), training.together()
    squares = mean_squares(training)
    fixed = int(groups.ordered or training.count[order[-1]] == 0)
    merging = _Merging(elements, squares, fixed=fixed)
    models = stepwise(merging.training, merging.holdout, price=price, squares=squares)
    size = _best_size(merging, models)
    chosen, leaf_of_element = merging.leaves(size)
    leaf = np.empty(len(order), dtype=np.intp)
    leaf[order] = leaf_of_element
    own = models[chosen]
    empty = merging.training.count[chosen] == 0
    is_constant = np.count_nonzero(~empty) <= 1 and not own.coef.any()
    level = np.where(empty | is_constant, total.mean[0, -1], own.intercept)
    spread = float(np.sqrt(total.scatter[0, -1, -1] / max(1.0, float(total.count[0]))))
    largest = max(spread, float(np.abs(level).max(initial=0.0)))
    level = np.where(np.abs(level) > RESIDUE * largest, level, 0.0)  # of a mean that is rounding
    return Transformation(feature, groups, leaf, level, own.coef[:, 0], own.coef[:, 1:])


def judges(training: Moments, holdout: Moments) -> tuple[Moments, float]:
    """The statistics that decide, and what a coefficient is to lower the squared error by.

    Of many useless coefficients some lower the error of the holdout rows by chance, each by about
    σ² times the square of a normal number: less than 4σ² is no reason to take one. Where no rows
    are held out, the training rows decide, at the price σ² log n of the Bayesian information
    criterion (Schwarz, Ann. Statist. 6, 1978), twice, since a split is a parameter too (Yao,
    Statist. Probab. Lett. 6, 1988) and a regressor is chosen among many.

    σ² is the variance of the response. Nothing smaller can be trusted: what many full models leave
    over in groups of a few rows is next to nothing, and a small price is no price.
    """
    both = training.together().merged(holdout.together())
    variance = float(both.scatter[0, -1, -1]) / max(1.0, float(both.count[0]))
    if holdout.count.any():
        return holdout, CHANCE * variance
    return training, SEARCHED * variance * float(np.log(max(1.0, both.count[0])))


def _order(groups: Groups, training: Moments) -> Indices:
    """Groups in the order in which neighbours may be merged: as they are, or by mean response.

    Missing categories come last where there are none.
    """
    if groups.ordered:
        return np.arange(len(training))
    means = np.where(training.count > 0, training.mean[:, -1], training.together().mean[0, -1])
    rounded = np.round(means / (np.abs(means).max() * BETTER or 1.0))
    if training.count[-1] == 0:
        rounded[-1] = np.inf
    return np.argsort(rounded, kind="stable")


@dataclass(frozen=True)
class _Elements:
    training: Moments
    holdout: Moments


class _Merging:
    """All nodes of a bottom-up merging of neighbours: elements, then one node for each merger.

    Parameters
    ----------
    elements : _Elements
    squares : ndarray of shape (n_regressors,)
        Mean squares of the regressors.
    fixed : int
        How many of the last elements never merge: missing values of a numeric feature, and of
        categories where no row has them, whose leaf is then the mean of all.
    """

    def __init__(self, elements: _Elements, squares: Vector, *, fixed: int) -> None:
        size, self.elements, self._squares = len(elements.training), elements, squares
        self.mergers: list[tuple[int, int]] = []
        self._size, self._movable = size, size - fixed
        self._training = [elements.training]
        self._merge(elements.training[: self._movable])
        self.training = self._stacked(elements.training)
        self.holdout = self._stacked(elements.holdout)

    def _merge(self, nodes: Moments) -> None:
        """Choose mergers by what each costs in squared error of the training rows."""
        count = len(nodes)
        if count < 2:
            return
        alive = list(range(count))
        moments = {node: nodes[[node]] for node in alive}
        errors = dict(enumerate(self._errors(nodes)))
        pairs = nodes[:-1].merged(nodes[1:])
        joint = list(self._errors(pairs))
        together = [pairs[[k]] for k in range(count - 1)]
        whole = nodes.together()
        scale = BETTER * float(self._errors(whole)[0]) + RESIDUE * float(whole.scatter[0, -1, -1])
        costs = np.array(
            [joint[k] - errors[k] - errors[k + 1] for k in range(count - 1)], dtype=np.float64
        )
        while len(alive) > 1:
            place = int(np.argmax(costs <= costs.min() + scale))  # of equals the first
            left, right = alive[place], alive[place + 1]
            new = self._size + len(self.mergers)
            self.mergers.append((left, right))
            moments[new], errors[new] = together[place], joint[place]
            alive[place : place + 2] = [new]
            costs = np.delete(costs, place)
            del together[place], joint[place]
            for beside in (place - 1, place):
                if 0 <= beside < len(alive) - 1:
                    first, second = alive[beside], alive[beside + 1]
                    together[beside] = moments[first].merged(moments[second])
                    joint[beside] = self._errors(together[beside])[0]
                    costs[beside] = joint[beside] - errors[first] - errors[second]

    def _errors(self, nodes: Moments) -> Vector:
        return full(nodes, MERGE_RIDGE, self._squares)

    def _stacked(self, elements: Moments) -> Moments:
        """Statistics of all nodes."""
        size, total = self._size, self._size + len(self.mergers)
        count = np.zeros(total)
        mean = np.zeros((total, *elements.mean.shape[1:]))
        scatter = np.zeros((total, *elements.scatter.shape[1:]))
        count[:size], mean[:size], scatter[:size] = (
            elements.count,
            elements.mean,
            elements.scatter,
        )
        nodes = Moments(count, mean, scatter)
        for k, (left, right) in enumerate(self.mergers):
            joint = nodes[[left]].merged(nodes[[right]])
            count[size + k], mean[size + k], scatter[size + k] = (
                joint.count[0],
                joint.mean[0],
                joint.scatter[0],
            )
        return nodes

    def sizes_and_errors(self, error: Vector) -> Vector:
        """The summed error of the leaves after 0, 1, … mergers."""
        start = float(error[: self._size].sum())
        changes = [
            error[self._size + k] - error[left] - error[right]
            for k, (left, right) in enumerate(self.mergers)
        ]
        return start + np.concatenate([[0.0], np.cumsum(changes)])

    def leaves(self, n_mergers: int) -> tuple[Indices, Indices]:
        """Nodes that are leaves after so many mergers, and the leaf of every element."""
        parent = np.arange(self._size + len(self.mergers))
        for k in range(n_mergers - 1, -1, -1):
            left, right = self.mergers[k]
            parent[left] = parent[right] = parent[self._size + k]
        chosen, leaf = np.unique(parent[: self._size], return_inverse=True)
        return chosen, leaf.astype(np.intp)


def _best_size(merging: _Merging, models: Regressions) -> int:
    """How many mergers leave the least holdout error; of equals the most."""
    errors = np.maximum(merging.sizes_and_errors(models.holdout), 0.0)
    whole = float(merging.elements.holdout.together().scatter[0, -1, -1])
    equal = BETTER * float(errors[-1]) + RESIDUE * whole
    return int(np.flatnonzero(errors <= errors.min() + equal)[-1])


INDENT = "    "

NO_LEVEL = 1e-12
"""A level this small beside the largest one of a function is 0 but for rounding. It is the
difference of two terms, exact to about 1e-16 of them; six digits are shown."""


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
