"""What thinned trees have in common with all of them: decisions, or numbers up to a tolerance.

An agreement asks a·w ≥ b of the weights w in each cell of the grid, and has integer programs that
look for a cell where given weights do not agree. Decisions: the class c that is decided for leads,

    Σ_j w_j (h_j,c(x) − h_j,k(x)) ≥ 1   for all k ≠ c.

Numbers differ by at most ε, where v_j are the weights in the whole ensemble and b is a constant:

    |Σ_j (w_j − v_j) h_j(x) + b| ≤ ε.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost._solvers import Program
from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.boosted import GradientTrees
from cgboost.estimators.thinning.ensemble_inputs import is_voting
from cgboost.estimators.thinning.leaf_boxes import LeafBoxes
from cgboost.estimators.thinning.members import EstimatorMembers, Members

Outputs = NDArray[np.float64]

TIE = 2e-7
"""A class that leads by less, as a share of all weights, does not lead: the first one of those that
are tied is decided for, as argmax does. What a thinned model makes of its members' outputs, which
are float32, differs from the sum in float64 by 6e-8 at most."""

SCALE = 1e4
"""Of the rows of the ensemble in the integer program: TIE is then 2e-3, against 1e-7."""

LEAD = 1.0
"""The lead asked of the class that is decided for."""

PROVEN_LEAD = 0.5
"""The lead that is proven: the integer program is infeasible where it asks for a smaller one. What
is between this and 0 is left for the tolerances."""

MOST_WEIGHT = 1e6
"""A proof needs weights with this sum at most. HiGHS's tolerance (1e-7) and the rounding of outputs
to float32 (6e-8) then change a lead by 0.1 and 0.06 at most, and TIED_SCORES is a lead of 0.1:
together less than PROVEN_LEAD."""

NO_WEIGHT = 1e-9
"""A weight that is smaller, relative to the largest, is 0: rounding of the simplex method."""

ASKED, PROVEN = 0.99, 0.995
"""Shares of the tolerance: differences are asked to be at most the first and proven to be below the
second. The rest is left for the tolerances of HiGHS and the rounding of outputs to float32."""

OUTPUT_ROUNDING = 1.6e-7
"""HiGHS's tolerance and the rounding of an output to float32, relative to it."""


class Faithfulness(ABC):
    """What weights of trees must satisfy in cells; their columns and questions about them.

    Attributes
    ----------
    own : ndarray of shape (n_trees,)
        Weights of the whole ensemble.
    cost, lower, upper : ndarray of shape (n_columns,)
        Of the columns of the linear program. Those after the trees are no trees.
    rows_per_cell : int
    questions : sequence
        An integer program each; where all are infeasible, weights agree in all cells.
    about : str
        What a number of questions with an answer are, for messages.
    """

    own: Vector
    cost: Vector
    lower: Vector
    upper: Vector
    rows_per_cell: int
    questions: Sequence[Any]
    about: str

    @abstractmethod
    def rows(self, outputs: Outputs) -> tuple[NDArray[np.float64], Vector]:
        """Rows a and sides b of a·x ≥ b in cells, ``rows_per_cell`` for each.

        Parameters
        ----------
        outputs : ndarray of shape (n_cells, n_trees, n_outputs)
        """

    @abstractmethod
    def program(self, boxes: LeafBoxes, x: Vector, question: Any) -> Program:
        """The integer program over leaves and thresholds for a cell where x does not agree."""

    @abstractmethod
    def whole(self, boxes: LeafBoxes, cells: Indices) -> Vector:
        """A solution that is the whole ensemble, shape (n_columns,)."""

    @abstractmethod
    def doubt(self, x: Vector) -> str:
        """Why a proof says nothing of a solution; empty if it does."""

    def balanced(self, rows: NDArray[np.float64], duals: Vector) -> Vector:
        """Multipliers ≥ 0 of rows, for which the columns that are no trees have no reduced cost."""
        return duals


def _of_leaves(boxes: LeafBoxes, by_leaf: Vector) -> Vector:
    """Coefficients of leaves and, 0, of thresholds."""
    return np.concatenate([by_leaf, np.zeros(int(boxes.starts[-1]))])


def _cell_program(
    boxes: LeafBoxes, gain: Vector, least: float, more: Sequence[tuple[Vector, float]] = ()
) -> Program:
    """The cell with the largest gain, of those with at least ``least`` where more rows hold."""
    matrix, lower, upper = boxes.polytope
    rows = np.array([*(row for row, _ in more), gain])
    n_leaves = len(boxes.boxes)
    return Program(
        cost=-gain,
        matrix=sp.vstack([matrix, sp.csr_array(rows)], format="csr"),
        row_lower=np.concatenate([lower, [side for _, side in more], [least]]),
        row_upper=np.concatenate([upper, np.full(len(rows), np.inf)]),
        upper=1.0,
        integrality=np.arange(len(gain)) >= n_leaves,
    )


def decisions(outputs: Outputs, weights: Vector) -> Indices:
    """The class decided for in each cell: the first of those that lead by TIE at most.

    Parameters
    ----------
    outputs : ndarray of shape (n_cells, n_trees, n_classes)
    weights : ndarray of shape (n_trees,)
        Of the whole ensemble, with the sum 1.
    """
    scores = np.einsum("nmk,m->nk", outputs, weights)
    first: Indices = np.argmax(scores >= scores.max(axis=1, keepdims=True) - TIE, axis=1)
    return first


def leads(outputs: Outputs, decided: Indices) -> NDArray[np.float64]:
    """What each tree adds to the leads over other classes, a row for each; (n_leads, n_trees)."""
    n_classes = outputs.shape[2]
    own = np.take_along_axis(outputs, decided[:, None, None], axis=2)
    others = np.arange(n_classes) != decided[:, None]
    return np.asarray((own - outputs).transpose(0, 2, 1)[others])


class SameDecisions(Faithfulness):
    """The class decided for leads by 1.

    Parameters
    ----------
    own : ndarray of shape (n_trees,)
        Weights of the whole ensemble, with the sum 1.
    n_classes : int
    """

    about = "pairs of classes are proven to be decided alike"

    def __init__(self, own: Vector, n_classes: int) -> None:
        self.own = own
        self.cost, self.lower = np.ones(len(own)), np.zeros(len(own))
        self.upper = np.full(len(own), np.inf)
        self.rows_per_cell = n_classes - 1
        every = range(n_classes)
        self.questions = [(old, new) for old in every for new in every if old != new]

    def rows(self, outputs: Outputs) -> tuple[NDArray[np.float64], Vector]:
        """See :meth:`Faithfulness.rows`."""
        rows = leads(outputs, decisions(outputs, self.own))
        return rows, np.full(len(rows), LEAD)

    def program(self, boxes: LeafBoxes, x: Vector, question: tuple[int, int]) -> Program:
        """A cell decided for the first class, while the second is less than PROVEN_LEAD behind."""
        old, new = question

        def lead(by_tree: Vector, first: int, second: int) -> Vector:
            said = boxes.values[:, first] - boxes.values[:, second]
            return _of_leaves(boxes, by_tree[boxes.tree_of] * said)

        # a later class may be tied with the old one, an earlier one must be behind
        whole = [
            (SCALE * lead(self.own, old, k), SCALE * TIE * (1 if k < old else -1))
            for k in range(boxes.n_classes)
            if k != old
        ]
        return _cell_program(boxes, lead(x, new, old), -PROVEN_LEAD, whole)

    def whole(self, boxes: LeafBoxes, cells: Indices) -> Vector:
        """The weights of the ensemble, with those of equal trees moved to the first of them.

        The function stays the same. Of two classes, trees that say the opposite take off each
        other's. Only trees that say the same, or the opposite, in all the given cells are compared
        leaf by leaf.
        """
        said = boxes.outputs(cells)
        said -= said.mean(axis=2, keepdims=True)
        said = np.where(said[0, :, :1] < 0, -said, said) + 0.0  # opposite ones look the same
        seen = [said[:, tree].tobytes() for tree in range(len(self.own))]
        often = Counter(seen)
        weights = np.where([often[one] == 1 for one in seen], self.own, 0.0)
        net: dict[frozenset[Any], float] = {}
        first: dict[tuple[frozenset[Any], bool], int] = {}
        two = boxes.n_classes == 2
        for tree in np.flatnonzero([often[one] > 1 for one in seen]).tolist():
            weight = float(self.own[tree])
            key, opposite = boxes.key(tree), boxes.key(tree, -1)
            turned = two and key != opposite and opposite in net
            key = opposite if turned else key
            net[key] = net.get(key, 0.0) + (-weight if turned else weight)
            first.setdefault((key, not turned), tree)
        for key, weight in net.items():
            if abs(weight) > NO_WEIGHT:
                weights[first[key, weight > 0]] = abs(weight)
        return weights if weights.any() else self.own  # trees that cancel out: the first class

    def doubt(self, x: Vector) -> str:
        """Whether the sum of the weights is beyond MOST_WEIGHT."""
        if (total := float(x.sum())) <= MOST_WEIGHT:
            return ""
        return f"weights with the sum {total:.1g} are beyond the accuracy of a proof"


class CloseNumbers(Faithfulness):
    """Numbers differ by at most a tolerance. The last column is b, in units of the tolerance.

    Parameters
    ----------
    own : ndarray of shape (n_trees,)
        Weights of the whole ensemble.
    tolerance : float
        In the unit of the numbers.
    reach : ndarray of shape (n_trees,)
        The largest absolute value that each tree says.
    moves : bool
        Whether there is a b other than 0.
    """

    rows_per_cell = 2
    questions = (1, -1)
    about = "sides (above, below) are proven to be within the tolerance"

    def __init__(self, own: Vector, tolerance: float, reach: Vector, *, moves: bool) -> None:
        self.own, self.tolerance, self.reach = own, tolerance, reach
        ends = np.inf if moves else 0.0
        self.cost = np.append(np.ones(len(own)), 0.0)
        self.lower = np.append(np.zeros(len(own)), -ends)
        self.upper = np.append(np.full(len(own), np.inf), ends)

    def rows(self, outputs: Outputs) -> tuple[NDArray[np.float64], Vector]:
        """See :meth:`Faithfulness.rows`."""
        said = outputs[:, :, 0] / self.tolerance
        one_side = np.column_stack([said, np.ones(len(said))])
        whole = said @ self.own
        rows = np.stack([one_side, -one_side], axis=1).reshape(-1, one_side.shape[1])
        return rows, np.column_stack([whole - ASKED, -whole - ASKED]).ravel()

    def program(self, boxes: LeafBoxes, x: Vector, question: int) -> Program:
        """A cell where the thinned trees say more (question 1) or less (−1), by PROVEN or more."""
        by_tree = question * (x[:-1] - self.own) / self.tolerance
        gain = by_tree[boxes.tree_of] * boxes.values[:, 0]
        first = np.searchsorted(boxes.tree_of, np.arange(len(self.own)))
        least = np.minimum.reduceat(gain, first)  # of each tree: its leaves, of which one is taken
        gain = gain - least[boxes.tree_of]
        rest = question * float(x[-1]) + float(least.sum())
        return _cell_program(boxes, _of_leaves(boxes, gain), PROVEN - rest)

    def whole(self, boxes: LeafBoxes, cells: Indices) -> Vector:
        """The weights of the ensemble."""
        return np.append(self.own, 0.0)

    def doubt(self, x: Vector) -> str:
        """Whether outputs are too large for the tolerance."""
        largest = float(np.maximum(x[:-1], self.own) @ self.reach)
        if OUTPUT_ROUNDING * largest <= (1.0 - PROVEN) * self.tolerance:
            return ""
        least = OUTPUT_ROUNDING * largest / (1.0 - PROVEN)
        return (
            f"tolerance={self.tolerance:g} is below {least:.2g}, where the rounding of trees that "
            f"add up to {largest:.3g} begins"
        )

    def balanced(self, rows: NDArray[np.float64], duals: Vector) -> Vector:
        """Multipliers with the same sum above and below, as the column of b asks."""
        if not self.upper[-1]:  # b stays 0, whatever its reduced cost
            return duals
        above = rows[:, -1] > 0
        sums = float(duals[above].sum()), float(duals[~above].sum())
        factors = [min(sums) / one if one > 0 else 0.0 for one in sums]
        return np.asarray(duals * np.where(above, *factors))


def kept_trees(
    ensemble: Any, found: Members
) -> tuple[Members, list[Any], list[NDArray[np.float64]]]:
    """The members as the ensemble adds them up, their trees, and what each node says.

    Raises
    ------
    ValueError
        If they are no trees of scikit-learn on all features, or not added up.
    """
    if isinstance(found, GradientTrees) and found.classes is None:
        trees = [stage[0].tree_ for stage in ensemble.estimators_]
        return found, trees, [ensemble.learning_rate * tree.value[:, 0] for tree in trees]
    if not isinstance(found, EstimatorMembers) or not found.are_trees:
        raise ValueError(
            "faithful needs members that are trees of scikit-learn on all features: a forest, "
            "bagging or AdaBoost of trees that classify; a forest, bagging or GradientBoosting of "
            f"trees for numbers; got {ensemble!r}"
        )
    trees = [member.estimator.tree_ for member in found.members]
    if found.classes is None:
        if is_voting(ensemble):
            raise ValueError(
                "faithful needs numbers that are sums over trees, and AdaBoost takes a weighted "
                f"median of them: got {ensemble!r}"
            )
        return found, trees, [tree.value[:, 0] for tree in trees]
    members = found.votes() if is_voting(ensemble) else found
    trees = [member.estimator.tree_ for member in members.members]
    said = [tree.value[:, 0] for tree in trees]
    return members, trees, [own / own.sum(axis=1, keepdims=True) for own in said]


def agreement_of(
    members: Members, values: Sequence[NDArray[np.float64]], *, tolerance: float | None, moves: bool
) -> Faithfulness:
    """Decisions of classes, or numbers up to the tolerance.

    Parameters
    ----------
    values : sequence of ndarray of shape (n_nodes, n_outputs)
        Of the trees.
    moves : bool
        Whether the constant of numbers may change.

    Raises
    ------
    ValueError
        If there is a tolerance for classes, or none for numbers, or one that rounding is beyond.
    """
    if members.classes is not None:
        if tolerance is not None:
            raise ValueError(
                f"tolerance={tolerance!r} is how far numbers may differ, and this ensemble decides "
                "between classes: leave tolerance=None"
            )
        return SameDecisions(members.weights, values[0].shape[1])
    if tolerance is None:
        raise ValueError(
            "faithful needs a tolerance for numbers, how far predictions may differ in the unit of "
            "y: for example tolerance=0.05 * y.std(); got None"
        )
    reach = np.array([np.abs(own).max() for own in values])
    agreement = CloseNumbers(members.weights, tolerance, reach, moves=moves)
    if doubt := agreement.doubt(np.append(members.weights, 0.0)):
        raise ValueError(f"{doubt}: take a larger one, or centre y before the ensemble")
    return agreement
