"""Weights of few trees that decide as all of them do: on rows, in a box, or everywhere.

    min  Σ_j w_j,    Σ_j w_j (h_j,c(x) − h_j,k(x)) ≥ 1   for all k ≠ c,   w ≥ 0

where c is the class that the whole ensemble decides for in x: LPBoost with a hard margin, whose
labels are the ensemble's. x runs over cells of the grid of thresholds. Those near which the
ensemble changes its mind come first; then integer programs look for cells where fewer trees decide
otherwise, until there is none.

Emine, Forel, Malek, Vidal, *Free lunch in the forest: functionally-identical pruning of boosted
tree ensembles* (AAAI 2025).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost._solvers import InfeasibleError, LimitError, Program, SolverError, open_session
from cgboost._solvers import solve as solve_program
from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.leaf_boxes import LeafBoxes

Outputs = NDArray[np.float64]
Status = Literal["proven", "not proven"]

TIE = 2e-7
"""A class that leads by less, as a share of all weights, does not lead: the first one of those that
are tied is decided for, as argmax does. What a thinned model makes of its members' outputs, which
are float32, differs from the sum in float64 by 6e-8 at most."""

TIED_SCORES = 1e-7
"""A thinned model that is faithful takes scores for tied that differ by less: more than rounding
makes of equal ones, and less than is left of TIE."""

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

SATISFIED = 1e-6
"""A lead that is smaller than asked for by less is as asked for."""

PAIRS_OF_CELLS = 3000
"""Pairs of cells between which the ensemble changes its mind, in a round at the beginning."""

FEW_NEW = 1.05
"""Rounds of pairs end with the first that does not bring so many times the cells there were."""

MOST_OUTPUTS = 20_000_000
"""Outputs of trees in the rows at the beginning, 160 MB. Where those in all cells of the grid are
fewer, all cells are rows, and the linear program is the proof; else so many pairs are taken."""

VIOLATED_AT_ONCE = 300
"""Violated rows that enter the program in one step."""

IMPROVEMENTS, HALFWAY = 4, 0.5
"""An integer program stops at its fourth solution, or where the best one is half as bad as the
worst possible. Any cell that is decided otherwise is a new row; the worst one is not needed."""


@dataclass(frozen=True)
class FaithfulWeights:
    """Weights that decide as the whole ensemble does, and how far that is proven.

    Attributes
    ----------
    weights : ndarray of shape (n_trees,)
    objective, bound : float
        The optimum Σ w of the program over the cells found, and a lower bound on it; inf and −inf
        where the program has no solution. The weights are those of this optimum, or, where as many
        trees are needed as there are different ones, those of the whole ensemble.
    status : {"proven", "not proven"}
    n_oracle_calls : int
        Integer programs solved.
    n_cells : int
        Cells in which decisions are compared.
    message : str
        Why it is not proven; empty if it is.
    """

    weights: Vector
    objective: float
    bound: float
    status: Status
    n_oracle_calls: int
    n_cells: int
    message: str = ""


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


def merged(boxes: LeafBoxes, own: Vector, cells: Indices) -> Vector:
    """The weights of the whole ensemble, with those of equal trees moved to the first of them.

    The function stays the same. Of two classes, trees that say the opposite take off each other's.
    Only trees that say the same, or the opposite, in all the given cells are compared leaf by leaf.
    """
    said = boxes.outputs(cells)
    said -= said.mean(axis=2, keepdims=True)
    said = np.where(said[0, :, :1] < 0, -said, said) + 0.0  # opposite ones look the same
    seen = [said[:, tree].tobytes() for tree in range(len(own))]
    often = Counter(seen)
    weights = np.where([often[one] == 1 for one in seen], own, 0.0)
    net: dict[frozenset[Any], float] = {}
    first: dict[tuple[frozenset[Any], bool], int] = {}
    two = boxes.n_classes == 2
    for tree in np.flatnonzero([often[one] > 1 for one in seen]).tolist():
        weight = float(own[tree])
        key, opposite = boxes.key(tree), boxes.key(tree, -1)
        turned = two and key != opposite and opposite in net
        key = opposite if turned else key
        net[key] = net.get(key, 0.0) + (-weight if turned else weight)
        first.setdefault((key, not turned), tree)
    for key, weight in net.items():
        if abs(weight) > NO_WEIGHT:
            weights[first[key, weight > 0]] = abs(weight)
    return weights if weights.any() else own  # trees that cancel out decide for the first class


class HardMargins:
    """The linear program over the cells found; rows enter it where they are violated.

    Parameters
    ----------
    own : ndarray of shape (n_trees,)
        Weights of the whole ensemble, with the sum 1.
    """

    def __init__(
        self, boxes: LeafBoxes, own: Vector, solver: str, options: Mapping[str, Any] | None
    ) -> None:
        self.boxes, self.own = boxes, own
        self.cells: Indices = np.empty((0, len(boxes.thresholds)), dtype=np.intp)
        self._rows = np.empty((0, len(own)))
        self._inside = np.empty(0, dtype=bool)
        start = Program(cost=np.ones(len(own)), matrix=np.empty((0, len(own))))
        self._session = open_session(start, solver, options=options)

    def add(self, cells: Indices) -> int:
        """Cells in which the decision must stay; returns how many of them are new."""
        before = len(self.cells)
        together, places = np.unique(np.concatenate([self.cells, cells]), axis=0, return_index=True)
        new = np.sort(places[places >= before]) - before
        self.cells = np.concatenate([self.cells, cells[new]])
        outputs = self.boxes.outputs(cells[new])
        rows = np.unique(leads(outputs, decisions(outputs, self.own)), axis=0)
        self._rows = np.concatenate([self._rows, rows])
        self._inside = np.concatenate([self._inside, np.zeros(len(rows), dtype=bool)])
        return len(together) - before

    def violated(self, cells: Indices, weights: Vector) -> Indices:
        """Those of the cells in which the lead is smaller than asked for."""
        outputs = self.boxes.outputs(cells)
        rows = leads(outputs, decisions(outputs, self.own)) @ weights
        least = rows.reshape(len(cells), -1).min(axis=1)
        return cells[least < LEAD - SATISFIED]

    def solve(self) -> tuple[Vector, float]:
        """The optimal weights and a lower bound on their sum.

        Raises
        ------
        InfeasibleError
            If no weights lead everywhere.
        """
        if not self._inside.any():
            self._enter(np.arange(0, len(self._rows), max(1, len(self._rows) // VIOLATED_AT_ONCE)))
        while True:
            solution = self._session.solve()
            found = self._rows @ solution.x
            wrong = np.flatnonzero((found < LEAD - SATISFIED) & ~self._inside)
            if not len(wrong):
                break
            self._enter(wrong[np.argsort(found[wrong])[:VIOLATED_AT_ONCE]])
        weights = np.where(solution.x > NO_WEIGHT * solution.x.max(), solution.x, 0.0)
        duals = np.maximum(solution.row_duals, 0.0)
        prices = self._entered.T @ duals  # ≤ 1, the cost of a weight, up to rounding
        return weights, LEAD * float(duals.sum()) / max(1.0, float(prices.max()))

    def _enter(self, places: Indices) -> None:
        rows = self._rows[places]
        self._session.add_rows(rows, np.full(len(rows), LEAD), np.full(len(rows), np.inf))
        self._inside[places] = True
        self._entered = np.concatenate([getattr(self, "_entered", rows[:0]), rows])


def near_the_boundary(boxes: LeafBoxes, own: Vector, cells: Indices, rng: Any) -> Indices:
    """Neighbouring cells between which the decision changes, on ways from one row to another.

    A way changes one feature after the other, in random order. Bisection finds a step at which the
    decision changes, and the cell within this step.
    """
    count = min(PAIRS_OF_CELLS, 1 + MOST_OUTPUTS // boxes.n_classes // (12 * len(own)))
    decided = decisions(boxes.outputs(cells), own)
    start, end = (rng.randint(len(cells), size=count) for _ in range(2))
    differ = decided[start] != decided[end]
    start, end = start[differ], end[differ]
    if not len(start):
        return cells[:0]
    here, there, kept = cells[start], cells[end], decided[start]
    order = rng.uniform(size=here.shape).argsort(axis=1)

    def stays(asked: Indices) -> NDArray[np.bool_]:
        return np.asarray(decisions(boxes.outputs(asked), own) == kept)

    low, high = np.zeros(len(here), dtype=int), np.full(len(here), here.shape[1])
    while (high - low > 1).any():
        middle = (low + high) // 2
        same = stays(np.where(order < middle[:, None], there, here))
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    first, second = (np.where(order < step[:, None], there, here) for step in (low, high))
    while (apart := np.abs(first - second).max(axis=1) > 1).any():
        half = (first + second) // 2
        same = stays(half)
        first = np.where((apart & same)[:, None], half, first)
        second = np.where((apart & ~same)[:, None], half, second)
    return np.unique(np.concatenate([first, second]), axis=0)


def disagreement(
    boxes: LeafBoxes, own: Vector, weights: Vector, old: int, new: int, time_limit: float | None
) -> Indices | None:
    """A cell that the ensemble decides for ``old``, while ``new`` is less than PROVEN_LEAD behind.

    Returns
    -------
    ndarray of shape (n_features,) or None
        None: the integer program is infeasible, there is no such cell.

    Raises
    ------
    LimitError
        If the time was not enough.
    """
    matrix, lower, upper = boxes.polytope
    n_leaves, n_thresholds = len(boxes.boxes), int(boxes.starts[-1])
    others = [k for k in range(boxes.n_classes) if k != old]

    def of_leaves(by_tree: Vector, first: int, second: int) -> Vector:
        said = boxes.values[:, first] - boxes.values[:, second]
        return np.concatenate([by_tree[boxes.tree_of] * said, np.zeros(n_thresholds)])

    gain = of_leaves(weights, new, old)
    whole = np.array([SCALE * of_leaves(own, old, k) for k in others])
    # a later class may be tied with the old one, an earlier one must be behind
    least = np.array([SCALE * TIE * (1 if k < old else -1) for k in others])
    program = Program(
        cost=-gain,
        matrix=sp.vstack([matrix, sp.csr_array(whole), sp.csr_array(gain[None])], format="csr"),
        row_lower=np.concatenate([lower, least, [-PROVEN_LEAD]]),
        row_upper=np.concatenate([upper, np.full(len(others) + 1, np.inf)]),
        upper=1.0,
        integrality=np.arange(n_leaves + n_thresholds) >= n_leaves,
    )
    options = {
        "mip_feasibility_tolerance": 1e-9,
        "mip_max_improving_sols": IMPROVEMENTS,
        "mip_rel_gap": HALFWAY,
    }
    try:
        x = solve_program(program, "highs", time_limit=time_limit, options=options).x
    except InfeasibleError:
        return None
    except LimitError as error:
        if error.solution is None:
            raise
        x = error.solution.x
    beyond = np.rint(1.0 - x[n_leaves:]).astype(np.intp)
    found: Indices = np.add.reduceat(
        np.append(beyond, 0), np.minimum(boxes.starts[:-1], len(beyond))
    )
    found[np.diff(boxes.starts) == 0] = 0
    return found


def faithful_weights(
    boxes: LeafBoxes,
    own: Vector,
    cells: Indices,
    *,
    on_rows: bool,
    time_limit: float | None,
    solver: str,
    solver_options: Mapping[str, Any] | None,
    rng: Any,
) -> FaithfulWeights:
    """The fewest trees, by the sum of weights, that decide as all of them do.

    Parameters
    ----------
    own : ndarray of shape (n_trees,)
        Weights of the whole ensemble, with the sum 1.
    cells : ndarray of shape (n_rows, n_features)
        Those of the rows.
    on_rows : bool
        Whether only these count, not all of the grid.
    time_limit : float or None
        Seconds.
    """
    end = np.inf if time_limit is None else time.monotonic() + time_limit
    margins = HardMargins(boxes, own, "highs" if solver == "auto" else solver, solver_options)
    margins.add(cells)
    whole, calls = merged(boxes, own, cells), 0
    entries = boxes.n_cells * len(own) * boxes.n_classes
    complete = on_rows or entries <= MOST_OUTPUTS
    objective, bound = np.inf, -np.inf
    if not on_rows and complete:
        margins.add(boxes.all_cells())
    while not complete:
        before = len(margins.cells)
        new = margins.add(near_the_boundary(boxes, own, margins.cells, rng))
        if new < (FEW_NEW - 1.0) * before or time.monotonic() > end:
            break

    def answer(weights: Vector, message: str = "") -> FaithfulWeights:
        if not message and objective > MOST_WEIGHT and weights is not whole:
            message = f"weights with the sum {objective:.1g} are beyond the accuracy of a proof"
        status: Status = "not proven" if message else "proven"
        count = len(margins.cells)
        return FaithfulWeights(weights, objective, bound, status, calls, count, message)

    while True:
        try:
            weights, bound = margins.solve()
        except InfeasibleError:  # ties, in which no weights lead: the ensemble stays as it is
            return answer(whole)
        objective = float(weights.sum())
        if np.count_nonzero(weights) >= np.count_nonzero(whole):
            return answer(whole)  # the same function: nothing is left to prove
        if complete:
            return answer(weights)
        found, proven, pairs = [], 0, _pairs(boxes.n_classes)
        for old, new in pairs:
            left = None if time_limit is None else end - time.monotonic()
            try:
                if left is not None and left <= 0:
                    break
                calls += 1
                cell = disagreement(boxes, own, weights, old, new, left)
            except SolverError:
                continue
            proven += cell is None
            if cell is not None:
                near = np.vstack([cell, boxes.neighbours(cell)])
                found.append(margins.violated(near, weights))
        if proven == len(pairs):
            return answer(weights)
        wrong = np.concatenate([margins.cells[:0], *found])
        if not len(wrong):
            return answer(
                weights,
                f"{proven} of {len(pairs)} pairs of classes are proven to be decided alike, after "
                f"{calls} integer programs and {len(margins.cells)} cells",
            )
        margins.add(wrong)


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    every = range(n_classes)
    return [(old, new) for old in every for new in every if old != new]
