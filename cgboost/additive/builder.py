"""How a stage is made: transform every input against the response, then combine by regression.

The greedy one-pass method of Pednault, *Transform Regression and the Kolmogorov Superposition
Theorem*, SDM 2006, Table 3, from sums over the rows in two passes; with a link (Table 4) a third.

Transformations that never fall, or never rise, are the least squares of piecewise linear functions
over a cone. With leaves [a_k, b_k] from left to right the function is

    h(x) = β + Σ_{i≤k} γ_i + Σ_{i<k} δ_i + δ_k (x − a_k)/(b_k − a_k)     in leaf k,     γ, δ ≥ 0

with jumps γ and rises δ. The error of the training rows follows from the statistics of the leaves,

    Σ_k n_k (ȳ_k − h(x̄_k))² + Σ_k S_k (s_k − δ_k/(b_k − a_k))²     with S_k = Σ (x − x̄_k)²

and s_k the slope of the regression within the leaf: a bounded least-squares problem of a few rows
(Stark, Parker, *Bounded-variable least squares*, Comput. Stat. 10, 1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.optimize import lsq_linear

from cgboost.additive.feature_constraints import Constraints, choices
from cgboost.additive.places.place import OutputSums
from cgboost.additive.stage import Stage
from cgboost.additive.statistics.moments import BETTER, Moments, stepwise_signed
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.trees.transformation import (
    Transformation,
    cost_of,
    judges,
    mean_of,
    straight,
    together,
    transformation,
    transformations,
)
from cgboost.arrays import Indices, Mask, Vector
from cgboost.tables.binning import FeatureGroups, Intervals
from cgboost.tolerances import SMALLEST

MOST_REGRESSORS = 16
"""Outputs of so many stages, the first ones, are regressors in leaves. The work in a leaf grows
with their third power: 80 stages of 2000 rows took five minutes with all of them."""

MOST_IN_SETS = 32
"""The same of all sets of features together: each may use :data:`MOST_REGRESSORS` of them. The work
of a pass over the rows grows with the square. For pairs of 30 features 16 left an error of 0.53, 32
one of 0.33 in twice the time, 64 one of 0.31 in 1.4 times that."""

MOST_TREES = 256
"""Trees that are made together, unless there are more inputs: more take memory."""


@dataclass
class StageBuilder:
    """Makes one stage after another.

    Parameters
    ----------
    max_bins : int
        Intervals of the output of a stage.
    feed_forward : bool
        Whether outputs of earlier stages are inputs.
    regressors : bool
        Whether they are regressors in the leaves.
    link : bool
        Whether the sum is transformed in the end.
    constraints : Constraints
        On f. Not with a link, which is a function of all features together.
    """

    max_bins: int
    feed_forward: bool = True
    regressors: bool = True
    link: bool = False
    constraints: Constraints = field(default_factory=Constraints)

    def stages(self, sums: OutputSums, earlier: Sequence[Stage]) -> tuple[list[Stage], int]:
        """The stages of a round, whose sum is an additive model, and the number of their inputs.

        Parameters
        ----------
        earlier : sequence of Stage
            Those whose outputs are there.
        """
        belongings = self.constraints.belongings(earlier, sums.n_features)
        inputs = self.inputs(sums, belongings)
        stage = self.stage(sums, belongings)
        return self.constraints.parts(stage, belongings, sums.n_features), len(inputs)

    def inputs(self, sums: OutputSums, belongings: Mask) -> list[int]:
        """Inputs of the next stage: features, and outputs that a set may use."""
        there = belongings if self.feed_forward else belongings[: sums.n_features]
        return [int(number) for number in np.flatnonzero(there.any(axis=1))]

    def stage(self, sums: OutputSums, belongings: Mask | None = None) -> Stage:
        """The additive model of the response as it is now.

        Parameters
        ----------
        sums : OutputSums
        belongings : ndarray of bool, shape (n_inputs, n_sets)
            Which sets of features the inputs may belong to; None: all to one.
        """
        n_features, n_outputs = sums.n_features, sums.n_outputs
        if belongings is None:
            belongings = np.ones((n_features + n_outputs, 1), dtype=bool)
        if self.feed_forward:
            for k in range(len(sums.groups) - n_features, n_outputs):
                sums.intervals(k, self.max_bins)
        inputs = {number: sums.groups[number] for number in self.inputs(sums, belongings)}
        most = MOST_REGRESSORS if belongings.shape[1] == 1 else MOST_IN_SETS
        n_regressors = min(n_outputs, most) if self.regressors else 0
        found = {
            number: parts.without_noise(inputs[number])
            for number, parts in sums.by_group(list(inputs), n_regressors).items()
        }
        trees = self._trees(inputs, found, choices(belongings, n_features, n_regressors))
        terms = [term for term in trees if not term.is_constant]
        lines = [
            straight(number, groups, parts.training)
            for (number, groups), parts in zip(inputs.items(), found.values(), strict=True)
            if number < n_features and isinstance(groups, Intervals) and len(groups.edges)
        ]
        near_means = [mean_of(term, found[term.feature].training) for term in (*terms, *lines)]
        whole = next(iter(found.values())).training.together()
        near_means.append(float(whole.mean[0, -1]))
        stage = self._combined(terms, lines, sums, n_regressors, np.array(near_means))
        return self._linked(stage, sums) if self.link else stage

    def bounded(self, stage: Stage, extremes: tuple[float, float]) -> Stage:
        """The stage between its extremes on the rows that count, where leaves will use it."""
        if not self.regressors:
            return stage
        low, high = extremes
        return replace(stage, low=low, high=high)

    def _trees(
        self,
        inputs: dict[int, FeatureGroups],
        found: dict[int, SplitMoments],
        allowed: list[tuple[Indices, Indices]],
    ) -> list[Transformation]:
        """Of each input the tree that costs least among those of the sets it may belong to."""
        candidates: dict[int, list[Transformation]] = {number: [] for number in inputs}
        for jobs in _batches(inputs, allowed):
            own = [found[number].beside(used) for number, used in jobs]
            trees = transformations(
                [(number, inputs[number]) for number, _ in jobs],
                [parts.training for parts in own],
                [parts.holdout for parts in own],
            )
            for tree, (number, used) in zip(trees, jobs, strict=True):
                candidates[number].append(tree.among(used))
        chosen = []
        for number, possible in candidates.items():
            training, holdout = found[number].training, found[number].holdout
            tree = possible[0]
            if len(possible) > 1:
                tree = min(possible, key=partial(cost_of, training=training, holdout=holdout))
            if sign := self.constraints.sign(number):
                tree = monotone(tree, training.of_variables([0, -1]), sign)
            chosen.append(tree)
        return chosen

    def _combined(
        self,
        trees: list[Transformation],
        lines: list[Transformation],
        sums: OutputSums,
        n_regressors: int,
        near_means: Vector,
    ) -> Stage:
        """The stepwise regression of the response on trees, or on trees and the features.

        What came in stays in: a value far from all others, in a feature that came first, would
        spoil all that comes later. So both are tried.
        """
        terms = [*trees, *lines]
        parts = sums.of_terms(terms, n_regressors, near_means)
        holdout, price = judges(parts.training, parts.holdout)
        signs = [abs(self.constraints.sign(tree.feature)) for tree in trees]
        signs += [self.constraints.sign(line.feature) for line in lines]
        model = stepwise_signed(parts.training, holdout, price=price, signs=signs)
        if lines:
            some = [*range(len(trees)), len(terms)]
            plain = stepwise_signed(
                parts.training.of_variables(some),
                holdout.of_variables(some),
                price=price,
                signs=signs[: len(trees)],
            )
            if not model.holdout[0] < (1.0 - BETTER) * plain.holdout[0]:
                model = plain
        weights = dict(zip(terms, model.coef[0].tolist(), strict=False))
        own = {line.feature: line for line in lines if weights.get(line)}
        chosen = [(weights[h], h) for h in trees if weights[h] and h.feature not in own]
        for line in own.values():
            both = [(weights[h], h) for h in (*trees, line) if h.feature == line.feature]
            chosen.append((1.0, together(both)))
        return Stage(float(model.intercept[0]), chosen)

    def _linked(self, stage: Stage, sums: OutputSums) -> Stage:
        """The same with a transformation of its sum."""
        groups, parts = sums.linking(stage, self.max_bins)
        parts = parts.without_noise(groups)
        link = transformation(sums.n_features, groups, parts.training, parts.holdout)
        return Stage(stage.intercept, stage.terms, link)


def _batches(
    inputs: Iterable[int], allowed: Sequence[tuple[Indices, Indices]]
) -> Iterator[list[tuple[int, Indices]]]:
    """Inputs and the regressors of their trees, those with as many regressors together."""
    own = set(inputs)
    jobs: dict[int, list[tuple[int, Indices]]] = {}
    for regressors, members in allowed:
        used = regressors[:MOST_REGRESSORS]
        alike = jobs.setdefault(len(used), [])
        alike += [(number, used) for number in members.tolist() if number in own]
    for alike in jobs.values():
        step = max(MOST_TREES, len(own))
        yield from (alike[start : start + step] for start in range(0, len(alike), step))


def monotone(term: Transformation, training: Moments, sign: int) -> Transformation:
    """The function with the leaves of a transformation that is nearest to the response.

    Leaves without a slope get none. Missing values keep their leaf, which is compared with none.

    Parameters
    ----------
    term : Transformation
        Of a numeric feature, without regressors.
    training : Moments
        Of (x, response) in its groups.
    sign : int
        1: it never falls; −1: it never rises.
    """
    groups = term.groups
    assert isinstance(groups, Intervals)
    known = term.leaf[:-1]
    starts = np.flatnonzero(np.append(True, np.diff(known) != 0))
    leaf = np.cumsum(np.append(True, np.diff(known) != 0)) - 1
    inside = training[:-1].joined(leaf, len(starts))
    bounds = np.concatenate([[groups.low], groups.edges, [groups.high]]) - groups.origin
    left, right = bounds[starts], bounds[np.append(starts[1:], len(known))]
    sloped = (term.slope[known[starts]] != 0.0) & (right > left)
    level, slope = _nearest(inside, left, right, sloped, sign)
    missing = term.leaf[-1]
    return replace(
        term,
        leaf=np.append(leaf, len(starts)),
        intercept=np.append(level, term.intercept[missing]),
        slope=np.append(slope, 0.0),
        coef=np.zeros((len(starts) + 1, term.coef.shape[1])),
    )


def _nearest(
    inside: Moments, left: Vector, right: Vector, sloped: Mask, sign: int
) -> tuple[Vector, Vector]:
    """Levels at x = 0 and slopes of the leaves."""
    n_leaves = len(left)
    width = np.where(sloped, right - left, 1.0)
    total = np.sqrt(max(float(inside.count.sum()), SMALLEST))
    roots = np.sqrt(inside.count) / total
    spread = np.sqrt(np.maximum(inside.scatter[:, 0, 0], 0.0))
    tilt = np.divide(inside.scatter[:, 0, 1], spread, out=np.zeros(n_leaves), where=spread > 0)
    reached = np.tril(np.ones((n_leaves, n_leaves)))
    away = np.clip((inside.mean[:, 0] - left) / width, 0.0, 1.0)
    rises = np.tril(reached, -1) + np.diag(away)
    matrix = np.block(
        [
            [roots[:, None] * reached, roots[:, None] * rises[:, sloped]],
            [np.zeros((n_leaves, n_leaves)), np.diag(spread / (total * width))[:, sloped]],
        ]
    )
    target = sign * np.concatenate([roots * inside.mean[:, 1], tilt / total])
    size = float(np.abs(target).max()) or 1.0
    low = np.zeros(matrix.shape[1])
    low[0] = -np.inf  # the jump into the first leaf is the level where it begins
    found = size * lsq_linear(matrix, target / size, (low, np.inf), method="bvls").x
    found[1:] = np.maximum(found[1:], 0.0)
    rise = np.zeros(n_leaves)
    rise[sloped] = found[n_leaves:]
    start = np.cumsum(found[:n_leaves]) + np.append(0.0, np.cumsum(rise)[:-1])
    slope = sign * rise / width
    return sign * start - slope * left, slope
