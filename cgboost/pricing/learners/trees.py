"""Regression trees whose leaves are chosen for the loss: the weak learners of gradient boosting.

A tree is grown by least squares on the residuals r/w, and then only its regions R_j matter: the
value of each is chosen for the loss itself. With several outputs there is a tree for each.

Friedman, *Greedy Function Approximation: A Gradient Boosting Machine*, Annals of Statistics 29,
2001; the sampling of rows is his *Stochastic Gradient Boosting*, CSDA 38, 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses.loss import DifferentiableLoss, UnboundedStepError, WeightedLoss
from cgboost.tolerances import LARGEST_SEED

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]
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
        """Values of every tree, shape (len(X), n_hypotheses)."""
        rows = as_single(X)
        return np.column_stack([hypothesis.predict(rows) for hypothesis in hypotheses])


TREES = TreeFamily()


@dataclass(frozen=True, eq=False)
class TreeHypothesis:
    """h(x) = the value of the leaf that x falls into.

    Attributes
    ----------
    estimator : DecisionTreeRegressor
        With the values of the leaves in place.
    """

    estimator: DecisionTreeRegressor

    @property
    def family(self) -> TreeFamily:
        """All trees form one family."""
        return TREES

    def predict(self, rows: Single) -> Vector:
        """Values on rows of float32, which are not checked again."""
        tree = self.estimator.tree_
        check_width(tree, rows)
        return np.asarray(tree.predict(rows)[:, 0], dtype=np.float64)


class TreePricer:
    """A regression tree for every output, grown on the residuals of the loss.

    For stagewise masters with a constant step (the learning rate). The trees of one round are grown
    from one seed, so that ties between splits fall alike.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Training rows; kept as float32, which is what trees are grown on.
    weights : ndarray of shape (n_rows,)
        Sample weights: r/weights is what trees are fitted to.
    leaves : LeafRule
    subsample : float, default=1.0
        Share of the rows that the trees of one round see, drawn anew without replacement.
    parameters : mapping or None
        Of :class:`~sklearn.tree.DecisionTreeRegressor`.
    random_state : int, RandomState or None
    """

    def __init__(
        self,
        X: ArrayLike,
        weights: Vector,
        leaves: LeafRule,
        *,
        subsample: float = 1.0,
        parameters: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.X = as_single(X)
        if len(weights) != len(self.X):
            raise ValueError(f"X has {len(self.X)} rows, weights have {len(weights)}")
        if not 0.0 < subsample <= 1.0:
            raise ValueError(f"subsample must be a number > 0 and ≤ 1, got {subsample!r}")
        self.weights, self.leaves, self.subsample = weights, leaves, subsample
        self.parameters = dict(parameters or {})
        self._random = check_random_state(random_state)
        self._even = bool(np.all(weights == weights[0]))

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
        from sklearn.tree import DecisionTreeRegressor  # brings a good deal with it

        rows = self._drawn()
        seed = self._random.randint(LARGEST_SEED)
        n_outputs = 1 if state.output.ndim == 1 else state.output.shape[1]
        for output in range(min(limit, n_outputs)):
            tree = DecisionTreeRegressor(random_state=seed, **self.parameters)
            values = self._with_leaves(tree, rows, state, output)
            key = (STRATUM, len(state.columns), output)  # a tree may come again
            yield Column(values, key, TreeHypothesis(tree), STRATUM, output=output)

    def _drawn(self) -> Indices:
        """The rows that this round's trees see."""
        n_rows = len(self.X)
        if self.subsample == 1.0:
            return np.arange(n_rows)
        count = int(self.subsample * n_rows)
        if count < 1:
            raise ValueError(f"subsample={self.subsample:g} of {n_rows} rows is less than one row")
        return np.sort(self._random.permutation(n_rows)[:count])

    def _with_leaves(
        self, tree: DecisionTreeRegressor, rows: Indices, state: MasterState, output: int
    ) -> Vector:
        """Grow the tree, set the values of its leaves, and return them row by row."""
        response = state.pseudo_response
        response = response if response.ndim == 1 else response[:, output]
        counts = self.weights > 0
        target = np.where(counts, response / np.where(counts, self.weights, 1.0), 0.0)
        # trees take variances below 1e-16 for 0; a power of 2 leaves every split as it is
        exponent = int(np.frexp(np.abs(target).max(initial=0.0))[1])
        target = np.ldexp(target, -exponent)
        tree.fit(self.X, target, sample_weight=self._seen(rows), check_input=False)
        tree.tree_.impurity[:] = np.ldexp(tree.tree_.impurity, 2 * exponent)
        node = tree.tree_.apply(self.X)
        leaves = LeafAssignment(output, rows, node[rows], tree.tree_.node_count)
        values = self.leaves(state, leaves)
        tree.tree_.value[:, 0, 0] = values
        return values[node]

    def _seen(self, rows: Indices) -> Vector | None:
        """Weights of the rows for the tree: 0 for those that it does not see."""
        if self._even and len(rows) == len(self.X):
            return None
        seen = np.zeros(len(self.X))
        seen[rows] = self.weights[rows]
        return seen


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
