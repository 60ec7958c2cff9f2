"""The multiway split of a node of a model tree on one feature, and the models of its branches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.intervals import Groups
from cgboost.additive.model_tree import Node
from cgboost.additive.moments import Moments
from cgboost.additive.passes import Parts
from cgboost.additive.stepwise import squared_error, stepwise
from cgboost.additive.transformation import judges, transformation

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Split:
    """A split that pays.

    Attributes
    ----------
    feature : int
    child : ndarray of shape (n_groups,)
        The branch of each group of values.
    nodes : list of Node
        The branches.
    gain : float
        By how much the judged error falls, less the price of the coefficients.
    price : float
        Of one coefficient.
    """

    feature: int
    child: Indices
    nodes: list[Node]
    gain: float
    price: float


def linear_model(parts: Parts, depth: int) -> Node:
    """A leaf with a stepwise regression from one group of rows.

    What a first regression leaves over says what a coefficient of the second must be worth.
    """
    judge, price = judges(parts.training, parts.holdout)
    model = stepwise(parts.training, judge, price=price)
    rest = _rest(parts, model.coef[0], float(model.intercept[0]))
    _, price = judges(rest.training, rest.holdout)
    model = stepwise(parts.training, judge, price=price)
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
    node: Node, feature: int, groups: Groups, parts: Parts, smallest: float
) -> Split | None:
    """The split of a node on one feature; None where there is none, or it does not pay.

    Parameters
    ----------
    node : Node
    feature : int
    groups : Intervals or Categories
    parts : Parts
        Of the node's rows, for each group.
    smallest : float
        Least number of training rows in a branch.
    """
    if np.count_nonzero(parts.training.count) < 2:
        return None
    rest = _rest(parts, node.coef, node.level)
    term = transformation(feature, groups, rest.training, rest.holdout)
    if term.n_leaves < 2:
        return None
    child = large_branches(term.leaf, rest.training, groups.ordered, smallest)
    count = int(child.max()) + 1
    if count < 2:
        return None
    _, price = judges(rest.training, rest.holdout)
    training = rest.training.joined(child, count)
    judge, _ = judges(training, rest.holdout.joined(child, count))
    corrections = stepwise(training, judge, price=price)
    gain = node.judged + price - float(corrections.holdout.sum())
    if gain <= 0.0:
        return None
    own = Parts(parts.training.joined(child, count), parts.holdout.joined(child, count))
    nodes = [
        _branch(
            Parts(own.training[[k]], own.holdout[[k]]),
            node.coef + corrections.coef[k],
            node.level + float(corrections.intercept[k]),
            node.depth + 1,
        )
        for k in range(count)
    ]
    return Split(feature, child, nodes, gain, price)


def large_branches(leaf: Indices, training: Moments, ordered: bool, smallest: float) -> Indices:
    """Branches of at least so many rows: small ones join the smaller of their neighbours.

    A group of missing values that is too small, and categories without rows, join the largest
    branch.

    Parameters
    ----------
    leaf : ndarray of shape (n_groups,)
        Of each group; neighbours in the order of the groups, or of the mean response.
    training : Moments
        Of each group.
    ordered : bool
    smallest : float
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
    child = np.full(len(leaf), int(np.argmax(sizes)), dtype=np.intp)
    for k, own in enumerate(branches):
        child[list(own)] = k
    return child


def _in_sequence(
    leaf: Indices, training: Moments, stray: NDArray[np.bool_], ordered: bool
) -> list[list[int]]:
    """Groups of each leaf, leaves in the order in which they are neighbours."""
    found: dict[int, list[int]] = {}
    for group in np.flatnonzero(~stray).tolist():
        found.setdefault(int(leaf[group]), []).append(group)
    branches = list(found.values())
    if not ordered:
        branches.sort(key=lambda own: float(training[own].together().mean[0, -1]))
    return branches


def _rest(parts: Parts, coef: Vector, level: float) -> Parts:
    return Parts(left_over(parts.training, coef, level), left_over(parts.holdout, coef, level))


def _branch(parts: Parts, coef: Vector, level: float, depth: int) -> Node:
    """The corrected model of the parent, or one of the branch's own if it judges better."""
    own = linear_model(parts, depth)
    judge, _ = judges(parts.training, parts.holdout)
    inherited = _leaf(parts, judge, coef, level, depth)
    return inherited if inherited.judged < own.judged else own


def _leaf(parts: Parts, judge: Moments, coef: Vector, level: float, depth: int) -> Node:
    levels = np.array([level])
    return Node(
        level,
        coef,
        depth,
        float(parts.training.count[0]),
        float(squared_error(parts.training, coef[None], levels)[0]),
        float(squared_error(judge, coef[None], levels)[0]),
    )
