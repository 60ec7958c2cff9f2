"""Weights of few trees that agree with all of them: on rows, in a box, or everywhere.

    min  Σ_j w_j,    a·w ≥ b in every cell x of the grid of thresholds,   w ≥ 0

where :class:`Faithfulness` says what is asked: of classes, LPBoost with a hard margin, whose labels
are the ensemble's decisions. Cells near which the ensemble changes its mind come first; then those
where fewer trees do not agree, found by moving one feature after the other or by integer programs,
until there is none.

Emine, Forel, Malek, Vidal, *Free lunch in the forest: functionally-identical pruning of boosted
tree ensembles* (AAAI 2025).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cgboost._solvers import (
    InfeasibleError,
    LimitError,
    Program,
    SolverError,
    SolverFailure,
    open_session,
)
from cgboost._solvers import solve as solve_program
from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.faithfulness import (
    NO_WEIGHT,
    Faithfulness,
    SameDecisions,
    decisions,
)
from cgboost.estimators.thinning.leaf_boxes import LeafBoxes

Status = Literal["proven", "not proven"]

TIED_SCORES = 1e-7
"""A thinned model that is faithful takes scores for tied that differ by less: more than rounding
makes of equal ones, and less than is left of TIE."""

SATISFIED = 1e-6
"""A row that lacks less is satisfied."""

PAIRS_OF_CELLS = 3000
"""Pairs of cells between which the ensemble changes its mind, in a round at the beginning."""

FEW_NEW = 1.05
"""Rounds of pairs end with the first that does not bring so many times the cells there were."""

MOST_OUTPUTS = 20_000_000
"""Entries of the rows at the beginning, 160 MB. Where those of all cells of the grid are fewer, all
cells are rows, and the linear program is the proof; else so many pairs are taken."""

VIOLATED_AT_ONCE = 300
"""Violated rows that enter the program in one step."""

CLIMBS = 20
"""Cells from which others are sought by moving one feature after the other, before integer programs
are asked. Three ensembles of 100 to 160 stumps take 15.8 CPU s, with 1 or 5 cells 19.3."""

IMPROVEMENTS, HALFWAY = 4, 0.5
"""An integer program stops at its fourth solution, or where the best one is half as bad as the
worst possible. Any cell that is decided otherwise is a new row; the worst one is not needed."""


@dataclass(frozen=True)
class FaithfulWeights:
    """Weights that agree with the whole ensemble, and how far that is proven.

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
        Cells that are compared.
    constant : float
        What is added to the constant of the ensemble, in units of the tolerance of numbers.
    message : str
        Why it is not proven; empty if it is.
    failure : str
        What the linear program has failed with, so that all trees are kept; empty if it has not.
    """

    weights: Vector
    objective: float
    bound: float
    status: Status
    n_oracle_calls: int
    n_cells: int
    constant: float = 0.0
    message: str = ""
    failure: str = ""


class CellProgram:
    """The linear program over the cells found; rows enter it where they are violated."""

    def __init__(
        self,
        boxes: LeafBoxes,
        agreement: Faithfulness,
        solver: str,
        options: Mapping[str, Any] | None,
    ) -> None:
        self.boxes, self.agreement = boxes, agreement
        count = len(agreement.cost)
        self.cells: Indices = np.empty((0, len(boxes.thresholds)), dtype=np.intp)
        self._rows, self._least = np.empty((0, count)), np.empty(0)
        self._inside = np.empty(0, dtype=bool)
        self._entered: Indices = np.empty(0, dtype=np.intp)
        start = Program(
            cost=agreement.cost,
            matrix=np.empty((0, count)),
            lower=agreement.lower,
            upper=agreement.upper,
        )
        self._session = open_session(start, solver, options=options)

    def add(self, cells: Indices) -> int:
        """Cells in which weights must agree; returns how many of them are new."""
        before = len(self.cells)
        together, places = np.unique(np.concatenate([self.cells, cells]), axis=0, return_index=True)
        new = np.sort(places[places >= before]) - before
        self.cells = np.concatenate([self.cells, cells[new]])
        rows, least = self.agreement.rows(self.boxes.outputs(cells[new]))
        both = np.unique(np.column_stack([rows, least]), axis=0)
        self._rows = np.concatenate([self._rows, both[:, :-1]])
        self._least = np.concatenate([self._least, both[:, -1]])
        self._inside = np.concatenate([self._inside, np.zeros(len(both), dtype=bool)])
        return len(together) - before

    def lacks(self, cells: Indices, x: Vector) -> Vector:
        """By how much the worst row of each cell is violated; negative where all are satisfied."""
        rows, least = self.agreement.rows(self.boxes.outputs(cells))
        return np.asarray((least - rows @ x).reshape(len(cells), -1).max(axis=1))

    def violated(self, cells: Indices, x: Vector) -> Indices:
        """Those of the cells in which some row is violated."""
        return cells[self.lacks(cells, x) > SATISFIED]

    def climbed(self, x: Vector, rng: Any) -> Indices:
        """Cells in which x lacks most among those that differ in one feature, from tight ones on.

        Only those in which it lacks something.
        """
        lengths = [len(own) + 1 for own in self.boxes.thresholds]
        each = max(lengths) * self.boxes.n_classes * len(self.agreement.own)
        count = min(CLIMBS, max(1, MOST_OUTPUTS // each), len(self.cells))
        some = self.cells[rng.permutation(len(self.cells))[: 10 * count]]
        cells = some[np.argsort(-self.lacks(some, x), kind="stable")[:count]].copy()
        if not len(cells):
            return cells
        most, rises = self.lacks(cells, x), True
        while rises:
            rises = False
            for f in rng.permutation(np.flatnonzero(np.array(lengths) > 1)).tolist():
                moved = np.repeat(cells, lengths[f], axis=0)
                moved[:, f] = np.tile(np.arange(lengths[f]), len(cells))
                found = self.lacks(moved, x).reshape(len(cells), -1)
                step = found.argmax(axis=1)
                better = (best := found.max(axis=1)) > most + SATISFIED
                cells[better, f], most = step[better], np.where(better, best, most)
                rises = rises or bool(better.any())
        return np.unique(cells[most > SATISFIED], axis=0)

    def solve(self) -> tuple[Vector, float]:
        """The optimal weights and a lower bound on their sum.

        Raises
        ------
        InfeasibleError
            If no weights agree everywhere.
        """
        if not self._inside.any():
            self._enter(np.arange(0, len(self._rows), max(1, len(self._rows) // VIOLATED_AT_ONCE)))
        while True:
            solution = self._session.solve()
            lacks = self._least - self._rows @ solution.x
            wrong = np.flatnonzero((lacks > SATISFIED) & ~self._inside)
            if not len(wrong):
                break
            self._enter(wrong[np.argsort(-lacks[wrong])[:VIOLATED_AT_ONCE]])
        x, trees = solution.x.copy(), len(self.agreement.own)
        x[:trees][x[:trees] <= NO_WEIGHT * x[:trees].max()] = 0.0
        entered = self._rows[self._entered]
        duals = self.agreement.balanced(entered, np.maximum(solution.row_duals, 0.0))
        prices = (entered.T @ duals)[:trees]  # ≤ 1, the cost of a weight, up to rounding
        bound = float(self._least[self._entered] @ duals) / max(1.0, float(prices.max()))
        return x, max(0.0, bound)

    def _enter(self, places: Indices) -> None:
        self._session.add_rows(
            self._rows[places], self._least[places], np.full(len(places), np.inf)
        )
        self._inside[places] = True
        self._entered = np.concatenate([self._entered, places])


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
    boxes: LeafBoxes, agreement: Faithfulness, x: Vector, question: Any, time_limit: float | None
) -> Indices | None:
    """A cell in which a solution does not agree, as a question asks.

    Returns
    -------
    ndarray of shape (n_features,) or None
        None: the integer program is infeasible, there is no such cell.

    Raises
    ------
    LimitError
        If the time was not enough.
    """
    options = {
        "mip_feasibility_tolerance": 1e-9,
        "mip_max_improving_sols": IMPROVEMENTS,
        "mip_rel_gap": HALFWAY,
    }
    program = agreement.program(boxes, x, question)
    try:
        point = solve_program(program, "highs", time_limit=time_limit, options=options).x
    except InfeasibleError:
        return None
    except LimitError as error:
        if error.solution is None:
            raise
        point = error.solution.x
    beyond = np.rint(1.0 - point[len(boxes.boxes) :]).astype(np.intp)
    found: Indices = np.add.reduceat(
        np.append(beyond, 0), np.minimum(boxes.starts[:-1], len(beyond))
    )
    found[np.diff(boxes.starts) == 0] = 0
    return found


def faithful_weights(
    boxes: LeafBoxes,
    agreement: Faithfulness,
    cells: Indices,
    *,
    on_rows: bool,
    time_limit: float | None,
    solver: str,
    solver_options: Mapping[str, Any] | None,
    rng: Any,
) -> FaithfulWeights:
    """The fewest trees, by the sum of weights, that agree with all of them.

    Parameters
    ----------
    cells : ndarray of shape (n_rows, n_features)
        Those of the rows.
    on_rows : bool
        Whether only these count, not all of the grid.
    time_limit : float or None
        Seconds.
    """
    end = np.inf if time_limit is None else time.monotonic() + time_limit
    found = CellProgram(boxes, agreement, "highs" if solver == "auto" else solver, solver_options)
    found.add(cells)
    trees, calls = len(agreement.own), 0
    whole = agreement.whole(boxes, cells)
    entries = boxes.n_cells * len(agreement.cost) * max(boxes.n_classes, agreement.rows_per_cell)
    complete = on_rows or entries <= MOST_OUTPUTS
    objective, bound = np.inf, -np.inf
    if not on_rows and complete:
        found.add(boxes.all_cells())
    while not complete and isinstance(agreement, SameDecisions):
        before = len(found.cells)
        new = found.add(near_the_boundary(boxes, agreement.own, found.cells, rng))
        if new < (FEW_NEW - 1.0) * before or time.monotonic() > end:
            break

    def answer(x: Vector, message: str = "") -> FaithfulWeights:
        if not message and x is not whole:
            message = agreement.doubt(x)
        status: Status = "not proven" if message else "proven"
        constant, count = float(x[trees:].sum()), len(found.cells)
        return FaithfulWeights(x[:trees], objective, bound, status, calls, count, constant, message)

    while True:
        try:
            x, bound = found.solve()
        except InfeasibleError:  # ties: the ensemble stays as it is
            return answer(whole)
        except SolverFailure as failure:  # also by nearly tied trees
            objective, bound = np.inf, -np.inf
            return replace(answer(whole), failure=str(failure))
        objective = float(x[:trees].sum())
        if np.count_nonzero(x[:trees]) >= np.count_nonzero(whole[:trees]):
            return answer(whole)  # the same function: nothing is left to prove
        if complete:
            return answer(x)
        if time.monotonic() < end and len(wrong := found.climbed(x, rng)):
            found.add(wrong)
            continue
        wrong, proven = found.cells[:0], 0
        for question in agreement.questions:
            left = None if time_limit is None else end - time.monotonic()
            try:
                if left is not None and left <= 0:
                    break
                calls += 1
                cell = disagreement(boxes, agreement, x, question, left)
            except SolverError:
                continue
            proven += cell is None
            if cell is not None:
                near = np.vstack([cell, boxes.neighbours(cell)])
                wrong = np.concatenate([wrong, found.violated(near, x)])
        if proven == len(agreement.questions):
            return answer(x)
        if not len(wrong):
            return answer(
                x,
                f"{proven} of {len(agreement.questions)} {agreement.about}, after "
                f"{calls} integer programs and {len(found.cells)} cells",
            )
        found.add(wrong)
