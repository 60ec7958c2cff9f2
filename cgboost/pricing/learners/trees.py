"""Regression trees whose leaves are chosen for the loss: the weak learners of gradient boosting.

A tree is grown by least squares on the residuals r/w, and then only its regions R_j matter: the
value of each is chosen for the loss itself. With several outputs there is a tree for each, or one
whose leaves have a value for each (Si, Zhang, Keerthi, Mahajan, Dhillon, Hsieh, *Gradient Boosted
Decision Trees for High Dimensional Sparse Output*, ICML 2017).

Friedman, *Greedy Function Approximation: A Gradient Boosting Machine*, Annals of Statistics 29,
2001; the sampling of rows is his *Stochastic Gradient Boosting*, CSDA 38, 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses.loss import DifferentiableLoss, UnboundedStepError, WeightedLoss
from cgboost.pricing.learners.tree_growth import BinnedTreeGrower, GrownBinnedTree, TreeLimits
from cgboost.tables.histograms import BinnedFeatures
from cgboost.tolerances import LARGEST_SEED

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

Single = NDArray[np.float32]

STRATUM = "tree"

FLAT_LEAF = 1e-150
"""A leaf whose rows have no more curvature than this stays at 0. A slope over less might
overflow."""


@dataclass(frozen=True)
class LeafAssignment:
    """Where rows fall in one tree.

    Attributes
    ----------
    output : int
        The output that the tree adds to.
    rows, node : ndarray of int, shape (n_rows_seen,)
        The training rows that the tree has seen, and the leaf of each.
    n_nodes : int
        Of the tree, leaves and others.
    """

    output: int
    rows: Indices
    node: Indices
    n_nodes: int

    def of(self, values: Vector) -> Vector:
        """The part of an array of the shape of f that belongs to these rows and this output."""
        return values[self.rows] if values.ndim == 1 else values[self.rows, self.output]

    def total(self, values: Vector) -> Vector:
        """The sum over the rows of each node."""
        totals = np.bincount(self.node, weights=self.of(values), minlength=self.n_nodes)
        return totals.astype(np.float64, copy=False)


LeafRule = Callable[[MasterState, LeafAssignment], Vector]
"""The value of every node of a tree; those of inner nodes are not used."""


def newton_leaves(share: float = 1.0) -> LeafRule:
    """One Newton step from f in every leaf, times ``share``: Σr / Σ ∂²loss/∂f²."""

    def values(state: MasterState, leaves: LeafAssignment) -> Vector:
        assert state.curvature is not None
        slope, bend = leaves.total(state.pseudo_response), leaves.total(state.curvature)
        curved = bend > FLAT_LEAF
        return np.where(curved, share * slope / np.where(curved, bend, 1.0), 0.0)

    return values


def search_leaves(loss: DifferentiableLoss) -> LeafRule:
    """The best constant to add to f in every leaf, by a line search: of y − f the median, say.

    For losses with one output that attain their minimum: a leaf without a best step stays at 0.
    """

    def values(state: MasterState, leaves: LeafAssignment) -> Vector:
        steps = np.zeros(leaves.n_nodes)
        for node in np.unique(leaves.node):
            steps[node] = _best_step(loss, state.output, leaves.rows[leaves.node == node])
        return steps

    return values


def _best_step(loss: DifferentiableLoss, output: Vector, rows: Indices) -> float:
    """The best constant to add to f in some rows."""
    if isinstance(loss, WeightedLoss):
        loss, output, direction = loss.part(rows), output[rows], np.ones(len(rows))
    else:
        direction = np.zeros(len(output))
        direction[rows] = 1.0
    try:
        return loss.line_search(output, direction)
    except UnboundedStepError:
        return 0.0


def check_width(tree: Any, rows: Single) -> None:
    """Raise ValueError unless rows have the features of a tree, which compiled code relies on."""
    if rows.shape[1] != tree.n_features:
        raise ValueError(f"a tree of {tree.n_features} features got {rows.shape[1]}")


class TreeFamily:
    """Evaluates trees together."""

    def outputs(self, X: Any, hypotheses: Sequence[TreeHypothesis]) -> Vector:
        """Values of every tree, shape (len(X), n_hypotheses); each tree is asked once."""
        rows = as_single(X)
        values = np.empty((len(rows), len(hypotheses)))
        trees: dict[int, list[int]] = {}
        for j, hypothesis in enumerate(hypotheses):
            trees.setdefault(id(hypothesis.estimator), []).append(j)
        for own in trees.values():
            found = hypotheses[own[0]].all_values(rows)
            values[:, own] = found[:, [hypotheses[j].place for j in own]]
        return values


TREES = TreeFamily()


@dataclass(frozen=True, eq=False)
class TreeHypothesis:
    """h(x) = the value of the leaf that x falls into.

    Attributes
    ----------
    estimator : DecisionTreeRegressor
        With the values of the leaves in place.
    place : int
        Of its values, where leaves have several.
    """

    estimator: DecisionTreeRegressor
    place: int = 0

    @property
    def family(self) -> TreeFamily:
        """All trees form one family."""
        return TREES

    @property
    def node_values(self) -> Vector:
        """The value of every node; those of inner nodes are not used."""
        return np.asarray(self.estimator.tree_.value[:, self.place, 0])

    def all_values(self, rows: Single) -> Vector:
        """All values of the leaves of rows of float32, which are not checked again."""
        tree = self.estimator.tree_
        check_width(tree, rows)
        values = np.asarray(tree.predict(rows), dtype=np.float64)
        return values.reshape(len(rows), tree.n_outputs)


class TreePricer:
    """A regression tree for every output, grown on the residuals of the loss over binned features.

    For stagewise masters with a constant step (the learning rate).

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Training rows; read as float32.
    weights : ndarray of shape (n_rows,)
        Sample weights: r/weights is what trees are fitted to.
    leaves : LeafRule
    joint : bool, default=False
        Grow one tree on the residuals of all outputs, with a value for each in every leaf.
    subsample : float, default=1.0
        Share of the rows that the trees of one round see, drawn anew without replacement.
    max_bins : int, default=255
        Features with more distinct values are cut into so many bins; splits lie between them.
    limits : TreeLimits or None
        Of the growth; None: depth 3.
    random_state : int, RandomState or None
    """

    def __init__(
        self,
        X: ArrayLike,
        weights: Vector,
        leaves: LeafRule,
        *,
        joint: bool = False,
        subsample: float = 1.0,
        max_bins: int = 255,
        limits: TreeLimits | None = None,
        random_state: Any = None,
    ) -> None:
        self.X = as_single(X)
        if len(weights) != len(self.X):
            raise ValueError(f"X has {len(self.X)} rows, weights have {len(weights)}")
        if not 0.0 < subsample <= 1.0:
            raise ValueError(f"subsample must be a number > 0 and ≤ 1, got {subsample!r}")
        self.weights, self.leaves = weights, leaves
        self.joint, self.subsample = joint, subsample
        self.limits = limits or TreeLimits()
        self._random = check_random_state(random_state)
        heaviest, seen = float(weights.max(initial=0.0)), weights > 0
        even = bool(np.all(weights[seen] == heaviest))
        # a power of 2 leaves every split as it is, and squares of sums of weights are finite
        self._unit = heaviest if even else float(np.ldexp(1.0, int(np.frexp(heaviest)[1])))
        bins = BinnedFeatures(self.X, max_bins, weights=weights)
        self._grower = BinnedTreeGrower(bins, None if even else weights / self._unit, self.limits)

    def memory(self) -> Any:
        """The state of its randomness."""
        return self._random.get_state()

    def recall(self, memory: Any) -> None:
        """Go on with the same randomness."""
        self._random.set_state(memory)

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` trees, output by output; none where r = 0."""
        if limit < 1 or not state.pseudo_response.any():
            return Priced(columns=[])
        columns = list(self._grown(state, limit))
        return Priced(columns=columns, n_evaluated=len(columns), stratum=STRATUM)

    def _grown(self, state: MasterState, limit: int) -> Iterator[Column]:
        rows, seed = self._drawn(), self._random.randint(LARGEST_SEED)
        n_outputs = 1 if state.output.ndim == 1 else state.output.shape[1]
        outputs = np.arange(min(limit, n_outputs))
        for together in [outputs] if self.joint else outputs[:, None]:
            random = np.random.RandomState(seed)  # the trees of a round look at the same features
            grown, unit = self._tree(rows, state, together, random)
            estimator = grown.estimator(self.limits, self.X.shape[1], unit, self._unit)
            complete = len(rows) == len(self.X)
            node = grown.place if complete else estimator.tree_.apply(self.X)
            for place, output in enumerate(together.tolist()):
                leaves = LeafAssignment(output, rows, grown.place, len(grown.nodes))
                values = self.leaves(state, leaves)
                estimator.tree_.value[:, place, 0] = values
                key = (STRATUM, len(state.columns), output)  # a tree may come again
                tree = TreeHypothesis(estimator, place)
                yield Column(values[node], key, tree, STRATUM, output=output)

    def _drawn(self) -> Indices:
        """The rows that this round's trees see: those with weights, or some of them."""
        rows = np.flatnonzero(self.weights)
        if self.subsample == 1.0:
            return rows
        count = int(self.subsample * len(rows))
        if count < 1:
            raise ValueError(
                f"subsample={self.subsample:g} of {len(rows)} rows is less than one row"
            )
        return rows[np.sort(self._random.permutation(len(rows))[:count])]

    def _tree(
        self, rows: Indices, state: MasterState, outputs: Indices, random: np.random.RandomState
    ) -> tuple[GrownBinnedTree, float]:
        """A tree for some outputs, and the unit of its targets r/w."""
        target = state.pseudo_response.reshape(len(self.X), -1)[:, outputs]
        if self._grower.weights is None:
            target = target / self._unit  # of rows without weight, too, where r is 0
        else:
            there = self.weights[:, None] > 0
            safe = np.where(there, self.weights[:, None], 1.0)
            target = np.where(there, target / safe, 0.0)
        exponent = int(np.frexp(np.abs(target).max(initial=0.0))[1])
        # in small leaves many splits are the same: another feature has the first choice each round
        turn = len(state.columns) // (1 if state.output.ndim == 1 else state.output.shape[1])
        grown = self._grower.grown(np.ldexp(target, -exponent), rows, random, turn)
        return grown, float(np.ldexp(1.0, exponent))


def as_single(X: Any) -> Single:
    """X as float32.

    Raises
    ------
    ValueError
        If a value is too large for float32.
    """
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(X, dtype=np.float32)
    if not np.isfinite(single).all():
        raise ValueError(
            f"X must fit into float32, which trees are grown on, got {np.abs(X).max():g}"
        )
    return single
