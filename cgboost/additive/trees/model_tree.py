"""A model tree: multiway splits on one feature each, a linear regression in every leaf.

Natarajan, Pednault, *Segmented regression estimators for massive data sets*, SIAM Data Mining 2002;
Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, sections 4 and
8. How it is grown is in :mod:`cgboost.additive.trees.model_tree_growth`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from cgboost.additive.statistics.moments import (
    BETTER,
    Moments,
    Regressions,
    squared_error,
    stepwise,
)
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.trees.transformation import (
    formula_in_words,
    judges,
    names_of,
    transformation,
    values_in_words,
)
from cgboost.arrays import Indices, Mask, Matrix, Vector, blocks_of
from cgboost.tables.binning import FeatureGroups, Intervals
from cgboost.tables.row_blocks import BLOCK
from cgboost.tables.table_columns import legible
from cgboost.tables.table_encoding import Schema
from cgboost.tolerances import RESIDUE


@dataclass(frozen=True, eq=False)
class Regressors:
    """Numeric features as regressors: z = (x − middle)/scale, with x brought to its range.

    Missing values are in the middle.

    Attributes
    ----------
    features : ndarray of int, shape (n_regressors,)
    low, high, middle, scale : ndarray of shape (n_regressors,)
    """

    features: Indices
    low: Vector
    high: Vector
    middle: Vector
    scale: Vector

    @classmethod
    def of(cls, groups: list[FeatureGroups], features: list[int]) -> Regressors:
        """From the intervals of the features."""
        rows = []
        for j in features:
            own = groups[j]
            assert isinstance(own, Intervals)
            middle = np.median(own.edges) if len(own.edges) else 0.5 * (own.low + own.high)
            rows.append((own.low, own.high, float(middle), (own.high - own.low) or 1.0))
        columns = np.array(rows, dtype=np.float64).reshape(len(rows), 4).T
        return cls(np.array(features, dtype=np.intp), *columns)

    def __len__(self) -> int:
        return len(self.features)

    def __call__(self, X: Matrix) -> Vector:
        """The regressors z of features X, shape (n_rows, n_regressors)."""
        x = np.clip(X[:, self.features], self.low, self.high)
        return np.nan_to_num((x - self.middle) / self.scale, copy=False, nan=0.0)

    def in_units(self, level: float, coef: Vector) -> tuple[float, Vector]:
        """Intercept and coefficients for x itself; an intercept that is rounding alone is 0."""
        own = coef / self.scale
        parts = np.append(level, -own * self.middle)
        total = float(parts.sum())
        return (total if abs(total) > RESIDUE * float(np.abs(parts).max()) else 0.0), own


@dataclass(eq=False)
class ModelTreeNode:
    """A node of the tree.

    Attributes
    ----------
    coef : ndarray of shape (n_regressors,)
        The model is level + coef·z.
    count : float
        Training rows, in weights.
    training, judged : float
        Squared errors of the model: on training rows, and on those that judge models.
    price : float
        What the judged error must fall by for each leaf more.
    feature : int
        That it splits on; −1 for a leaf.
    child : ndarray of shape (n_groups,)
        Which of the children each group of values of this feature belongs to; −1 for categories
        without training rows, which stay here: they have the model of this node.
    children : list of int
        Their numbers.
    stays : float
        The part of the judged error that is of rows that stay here.
    """

    level: float
    coef: Vector
    depth: int
    count: float
    training: float
    judged: float
    price: float = 0.0
    feature: int = -1
    child: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    children: list[int] = field(default_factory=list)
    stays: float = 0.0

    def descend(self, number: int, X: Matrix, groups: list[FeatureGroups]) -> Indices:
        """Numbers of the nodes that rows of this node, which has a number itself, go to."""
        codes = groups[self.feature].codes(X[:, self.feature])
        return np.array([*self.children, number], dtype=np.intp)[self.child[codes]]

    @property
    def keeps_rows(self) -> bool:
        """Whether it is a leaf, or some categories stay."""
        return not self.children or bool((self.child < 0).any())


@dataclass(eq=False)
class ModelTree:
    """The tree as a function.

    Attributes
    ----------
    groups : list of Intervals or Categories
        Of all features.
    nodes : list of ModelTreeNode
        The root first, and parents before children.
    explained : ndarray of shape (n_regressors,)
        What the model of the root takes off the squared training error of the constant, by
        regressor.
    """

    groups: list[FeatureGroups]
    regressors: Regressors
    nodes: list[ModelTreeNode]
    explained: Vector

    @property
    def depth(self) -> int:
        """Of the deepest leaf; 0 for a tree without splits."""
        return max(node.depth for node in self.nodes)

    def importances(self) -> Vector:
        """Shares of the features in the squared training error taken off, shape (n_features,).

        By the linear model of the root, and then by the splits on each feature with the models that
        they make possible.
        """
        gains = np.zeros(len(self.groups))
        gains[self.regressors.features] = self.explained
        for node in self.nodes:
            if node.children:
                below = sum(self.nodes[k].training for k in node.children)
                gains[node.feature] += max(node.training - below, 0.0)
        return gains / (gains.sum() or 1.0)

    @property
    def leaves(self) -> list[int]:
        """Numbers of the leaves."""
        return [number for number, node in enumerate(self.nodes) if not node.children]

    def apply(self, X: Matrix) -> Indices:
        """The number of the leaf that each row is in, shape (n_rows,)."""
        place = np.zeros(len(X), dtype=np.intp)
        for number, node in enumerate(self.nodes):
            if node.children:
                rows = np.flatnonzero(place == number)
                place[rows] = node.descend(number, X[rows], self.groups)
        return place

    def predict(self, X: Matrix) -> Vector:
        """Values of the models of the leaves, shape (n_rows,)."""
        levels = np.array([node.level for node in self.nodes])
        coef = np.array([node.coef for node in self.nodes])
        values = np.empty(len(X))
        for rows in blocks_of(len(X), BLOCK):
            place, z = self.apply(X[rows]), self.regressors(X[rows])
            values[rows] = levels[place] + np.einsum("ik,ik->i", coef[place], z)
        return values

    @property
    def size(self) -> float:
        """Largest |level| of a leaf, or |coefficient| of a regressor z, which is about 1."""
        found = [np.append(self.nodes[k].coef, self.nodes[k].level) for k in self.leaves]
        return float(np.abs(np.concatenate(found)).max())

    def text(self, schema: Schema) -> str:
        """The tree in words, a line for each branch."""
        names = tuple(map(legible, names_of(schema)))
        return "\n".join(self._lines(0, 0, schema, names))

    def _lines(
        self, number: int, indent: int, schema: Schema, names: tuple[str, ...]
    ) -> Iterator[str]:
        node = self.nodes[number]
        if not node.children:
            yield f"{'    ' * indent}{self._formula(node, names)}   [{node.count:g} rows]"
            return
        for place, below in enumerate(node.children):
            own = np.flatnonzero(node.child == place)
            words = values_in_words(
                names[node.feature],
                self.groups[node.feature],
                own,
                schema.categories[node.feature],
            )
            yield f"{'    ' * indent}{words}:"
            yield from self._lines(below, indent + 1, schema, names)
        if node.keeps_rows:
            yield f"{'    ' * indent}other categories: {self._formula(node, names)}"

    def _formula(self, node: ModelTreeNode, names: tuple[str, ...]) -> str:
        level, coef = self.regressors.in_units(node.level, node.coef)
        pairs = zip(coef, self.regressors.features, strict=True)
        return formula_in_words(level, [(slope, names[j]) for slope, j in pairs])


@dataclass(frozen=True, eq=False)
class ModelTreeSplit:
    """A split that pays.

    Attributes
    ----------
    child : ndarray of shape (n_groups,)
        The branch of each group of values.
    parts : SplitMoments
        Of the rows of each branch.
    corrections : Regressions
        Of what the node's model leaves over, in each branch.
    gain : float
        By how much the judged error falls, less the price of the coefficients.
    price : float
        Of one coefficient.
    stays : float
        The judged error of rows that no branch takes.
    """

    feature: int
    child: Indices
    parts: SplitMoments
    corrections: Regressions
    gain: float
    price: float
    stays: float


@dataclass(frozen=True)
class Judge:
    """The rows that judge models: those held out, or all where none are.

    Attributes
    ----------
    held : bool
        Whether rows are held out, in this node or another.
    """

    held: bool

    def rows(self, parts: SplitMoments) -> Moments:
        """Their statistics."""
        return parts.holdout if self.held else parts.training

    def price(self, parts: SplitMoments) -> float:
        """Of a coefficient, where this is what is left over.

        Without holdout rows that is σ² log n with the variance of all that is left over: what
        regressions in every group leave of few rows says nothing.
        """
        if self.held:
            return judges(parts.training, parts.holdout)[1]
        whole = parts.training.together()
        total = max(1.0, float(whole.count[0]))
        return float(whole.scatter[0, -1, -1]) / total * float(np.log(total))


def linear_model(parts: SplitMoments, judge: Judge, depth: int) -> ModelTreeNode:
    """A leaf with a stepwise regression from one group of rows.

    What a first regression leaves over says what a coefficient of the second must be worth.
    """
    training, judged = parts.training, judge.rows(parts)
    model = stepwise(training, judged, price=judge.price(parts))
    rest = _rest(parts, model.coef[0], float(model.intercept[0]))
    model = stepwise(training, judged, price=judge.price(rest))
    return _leaf(parts, judge, model.coef[0], float(model.intercept[0]), depth)


def left_over(moments: Moments, coef: Vector, level: float) -> Moments:
    """Statistics of (x, response − level − coef·x) from those of (x, response)."""
    S, mean = moments.scatter.copy(), moments.mean.copy()
    slope = S[:, :-1, :-1] @ coef
    square = S[:, -1, -1] - 2.0 * S[:, :-1, -1] @ coef + slope @ coef
    S[:, :-1, -1] -= slope
    S[:, -1, :-1] = S[:, :-1, -1]
    S[:, -1, -1] = np.maximum(square, 0.0)
    mean[:, -1] -= np.where(moments.count > 0, level + mean[:, :-1] @ coef, 0.0)
    return Moments(moments.count, mean, S)


def split_of(
    node: ModelTreeNode,
    feature: int,
    groups: FeatureGroups,
    parts: SplitMoments,
    judge: Judge,
    smallest: float,
) -> ModelTreeSplit | None:
    """The split of a node on one feature; None where there is none, or it does not pay.

    Parameters
    ----------
    parts : SplitMoments
        Of the node's rows, for each group.
    smallest : float
        Least number of training rows in a branch.
    """
    if np.count_nonzero(parts.training.count) < 2:
        return None
    rest = _rest(parts, node.coef, node.level)
    leaf = _merged(feature, groups, rest)
    child = large_branches(leaf, rest.training, groups.ordered, smallest)
    count = int(child.max()) + 1
    if count < 2:
        return None
    price, joint = judge.price(rest), _joined(rest, child, count)
    corrections = stepwise(joint.training, judge.rows(joint), price=price)
    away = judge.rows(rest)[child < 0]
    stays = float((away.scatter[:, -1, -1] + away.count * away.mean[:, -1] ** 2).sum())
    gain = node.judged + price - float(corrections.holdout.sum()) - stays
    if gain <= 0.0:
        return None
    return ModelTreeSplit(
        feature, child, _joined(parts, child, count), corrections, gain, price, stays
    )


def branches(node: ModelTreeNode, split: ModelTreeSplit, judge: Judge) -> list[ModelTreeNode]:
    """The nodes that a split makes: the corrected model, or its own one if it judges better."""
    found = []
    for k in range(len(split.parts.training)):
        parts = split.parts.each(itemgetter([k]))
        own = linear_model(parts, judge, node.depth + 1)
        coef = node.coef + split.corrections.coef[k]
        level = node.level + float(split.corrections.intercept[k])
        parent = float(np.abs(node.coef).max(initial=0.0))
        inherited = _leaf(parts, judge, coef, level, node.depth + 1, among=parent)
        better = inherited.judged < own.judged * (1.0 - BETTER)
        found.append(inherited if better else own)
    return found


def large_branches(leaf: Indices, training: Moments, ordered: bool, smallest: float) -> Indices:
    """Branches of at least so many rows: small ones join the smaller of their neighbours.

    A group of missing values that is too small joins the largest branch. Categories without rows
    join none (−1): nothing is known about them that is not known of all rows.

    Parameters
    ----------
    leaf : ndarray of shape (n_groups,)
        Of each group; neighbours in the order of the groups, or of the mean response.
    training : Moments
        Of each group.
    """
    count = training.count
    stray = np.zeros(len(leaf), dtype=bool)
    if ordered:
        stray[-1] = count[-1] < smallest
    else:
        stray[:] = count == 0
    branches = _in_sequence(leaf, training, stray, ordered)
    sizes = [float(count[list(own)].sum()) for own in branches]
    while len(branches) > 1 and min(sizes) < smallest:
        place = int(np.argmin(sizes))
        beside = [k for k in (place - 1, place + 1) if 0 <= k < len(branches)]
        if ordered and not stray[-1]:  # missing values, the last branch, are nobody's neighbour
            beside = [k for k in beside if k < len(branches) - 1] or [len(branches) - 1]
        into = min(beside, key=lambda k: sizes[k])
        branches[into] = branches[into] + branches[place]
        sizes[into] += sizes[place]
        del branches[place], sizes[place]
    child = np.full(len(leaf), int(np.argmax(sizes)) if ordered else -1, dtype=np.intp)
    for k, own in enumerate(branches):
        child[list(own)] = k
    return child


def _in_sequence(leaf: Indices, training: Moments, stray: Mask, ordered: bool) -> list[list[int]]:
    """Groups of each leaf, leaves in the order in which they are neighbours."""
    found: dict[int, list[int]] = {}
    for group in np.flatnonzero(~stray).tolist():
        found.setdefault(int(leaf[group]), []).append(group)
    branches = list(found.values())
    if not ordered:
        branches.sort(key=lambda own: float(training[own].together().mean[0, -1]))
    return branches


def _rest(parts: SplitMoments, coef: Vector, level: float) -> SplitMoments:
    return parts.each(lambda own: left_over(own, coef, level))


def _merged(feature: int, groups: FeatureGroups, rest: SplitMoments) -> Indices:
    """The leaf of each group, where groups are merged; those without rows join the one before."""
    size = len(rest.training)
    there = (rest.training.count > 0) | (rest.holdout.count > 0)
    kept = np.append(np.flatnonzero(there[:-1]), size - 1)
    few = _with_regressor(rest.each(itemgetter(kept)))
    term = transformation(feature, groups, few.training, few.holdout)
    place = np.searchsorted(kept, np.arange(size), side="right") - 1
    return term.leaf[np.maximum(place, 0)]


def _with_regressor(parts: SplitMoments) -> SplitMoments:
    """The same with a regressor that is 0 in front, if there is none: all are categories."""
    if parts.training.mean.shape[1] > 1:
        return parts
    return parts.each(
        lambda own: Moments(
            own.count,
            np.pad(own.mean, ((0, 0), (1, 0))),
            np.pad(own.scatter, ((0, 0), (1, 0), (1, 0))),
        )
    )


def _joined(parts: SplitMoments, child: Indices, count: int) -> SplitMoments:
    taken = np.flatnonzero(child >= 0)
    return parts.each(lambda own: own[taken].joined(child[taken], count))


def _leaf(
    parts: SplitMoments, judge: Judge, coef: Vector, level: float, depth: int, among: float = 0.0
) -> ModelTreeNode:
    """A leaf; coefficients that are rounding, given the others or ``among``, are 0.

    They are of regressors that have one range, and so can be compared. A correction takes off what
    the node above has, up to rounding.
    """
    least = RESIDUE * max(among, float(np.abs(coef).max(initial=0.0)))
    coef = np.where(np.abs(coef) > least, coef, 0.0)
    levels = np.array([level])
    return ModelTreeNode(
        level,
        coef,
        depth,
        float(parts.training.count[0]),
        float(squared_error(parts.training, coef[None], levels)[0]),
        float(squared_error(judge.rows(parts), coef[None], levels)[0]),
    )
