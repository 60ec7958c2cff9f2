"""The results of a run: a record per round, the path of the coefficients, and the result."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost import above
from cgboost.arrays import Vector
from cgboost.generation.columns import Column, Ensemble
from cgboost.generation.protocols import MasterState, Priced, Vertex, gap_scale
from cgboost.generation.rounding import allowance
from cgboost.tolerances import UNMOVED


class StopReason(StrEnum):
    """Why a run of column generation, or a tree search, ended; equal to its name as a string.

    In a tree search, "bound" and "objective" refer to the whole tree; ``result.message`` has
    details, and ``docs/user_guide/branch_and_price.md`` explains what each reason proves.

    Attributes
    ----------
    OPTIMAL
        An exact pricer found no column that prices out. Tree: bound and best solution meet.
    GAP
        The certified relative gap is at most ``tol``. Tree: at most ``gap``.
    NO_COLUMN
        A heuristic pricer found nothing: no certificate.
    ONLY_DUPLICATES
        The pricer returned only columns that the master already holds.
    STALLED
        No column prices out, but the gap exceeds ``tol`` (a weak bound, or inaccurate duals); or
        neither objective nor bound has changed for a hundred rounds. Tree: no node is left, but the
        gap exceeds ``gap``.
    MAX_COLUMNS
        The master holds ``max_columns`` columns.
    COLUMN_LIMIT
        The master holds the maximum number of columns set by the estimator itself, by default or
        because of memory; ``max_columns`` is None or larger.
    MAX_ROUNDS
        ``max_rounds`` rounds are complete.
    TIME
        The time limit was reached.
    CALLBACK
        A callback stopped the run.
    EARLY_STOPPING
        The validation score has stopped improving; the best round is kept.
    INTERRUPTED
        Ctrl-C; the last complete round is kept. Tree: the best solution.
    MASTER_FAILED
        The solver of the restricted master failed; the last good round is kept.
    PRICER_FAILED
        The pricer raised an exception or returned an invalid column; the last good round is kept.
    INVALID_BOUND
        A lower bound exceeds the objective: the bound of the pricer or master is wrong. Tree:
        raised as an error.
    UNBOUNDED
        The objective decreases without bound: there is no optimum, as for separable classes with a
        loss that is never 0.
    EXHAUSTED
        There is no further column: the columns in the master span all columns of the data.
    INFEASIBLE
        No column helps to satisfy the rows that the current columns cannot satisfy. Tree: no node
        has a solution.
    CUT_OFF
        The bound of a node has reached the best known solution; only for nodes of a tree.
    MAX_NODES
        Tree: ``max_nodes`` nodes are complete.
    NO_BRANCHING
        Tree: at least one node is fractional, and no branching rule divides it; all others are
        complete.
    WORKER_FAILED
        Tree: an executor has lost a worker, or cannot send data to it.
    """

    OPTIMAL = "optimal"
    GAP = "gap"
    NO_COLUMN = "no_column"
    ONLY_DUPLICATES = "only_duplicates"
    STALLED = "stalled"
    MAX_COLUMNS = "max_columns"
    COLUMN_LIMIT = "column_limit"
    MAX_ROUNDS = "max_rounds"
    TIME = "time"
    CALLBACK = "callback"
    EARLY_STOPPING = "early_stopping"
    INTERRUPTED = "interrupted"
    MASTER_FAILED = "master_failed"
    PRICER_FAILED = "pricer_failed"
    INVALID_BOUND = "invalid_bound"
    UNBOUNDED = "unbounded"
    EXHAUSTED = "exhausted"
    INFEASIBLE = "infeasible"
    CUT_OFF = "cut_off"
    MAX_NODES = "max_nodes"
    NO_BRANCHING = "no_branching"
    WORKER_FAILED = "worker_failed"


@dataclass(frozen=True)
class Round:
    """One round of the loop, as callbacks and the history see it.

    Attributes
    ----------
    number : int
        0 is the first, mostly of a master without columns.
    columns : int
        Columns in the master.
    active : int
        Columns with a nonzero coefficient.
    objective, bound, gap : float
        Objective of the restricted master, best lower bound so far (nan: none yet), and
        ``|objective − bound|`` relative to :func:`~cgboost.generation.protocols.gap_scale`: 0 where
        nothing is left to find and it is above the tolerance by rounding alone.
    evaluated : int
        Columns scored by the pricer.
    stratum : str
        Priority class in which the next columns were found.
    seconds, master_seconds, pricing_seconds : float
        Time since the start, and times of the two parts of this round.
    scores : dict of str to float
        Validation scores, written by callbacks.
    state : MasterState
        The full state; not part of the history.
    """

    number: int
    columns: int
    active: int
    objective: float
    bound: float
    gap: float
    evaluated: int
    stratum: str
    seconds: float
    master_seconds: float
    pricing_seconds: float
    state: MasterState
    scores: dict[str, float] = field(default_factory=dict)

    def as_entry(self) -> dict[str, float | int | str]:
        """The round without its state: one entry of the history."""
        hidden = ("number", "state", "scores")
        entry = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in hidden}
        return {"round": self.number} | entry | self.scores


@dataclass(frozen=True)
class Result:
    """Result of :meth:`ColumnGeneration.run`, at the chosen round.

    Attributes
    ----------
    objective, bound, gap : float
        ``bound`` is None when nothing was certified; ``gap`` is then infinite.
    columns : tuple of Column
        The columns in the master at that round; ``coef`` follows their order.
    coef : ndarray of shape (n_columns,)
    intercept : float, or ndarray of shape (n_outputs,) if there are several
    n_rounds : int
        Number of rounds, the first one, of number 0, included.
    best_round : int
        The round described by this result.
    stop_reason : StopReason
    message : str
        The reason in words, with the solver's message if there is one.
    history : dict of str to ndarray
        One entry per round.
    path : list of (coef, intercept)
        Coefficients after every round; a round with fewer columns has a shorter ``coef``.
    error : Exception or None
        The exception of the master or the pricer that ended the run after a round with columns.
    scale : float
        The scale of relative gaps at that round.
    rounding : float
        Estimated effect of float64 rounding on the relative gap of the last round: a gap of this
        size is not meaningful (:mod:`cgboost.generation.rounding`). nan if unknown.
    duals : dict of hashable to float
        Duals of the rows of a linear master at that round, by name: by how much the objective of
        the restricted master rises with each unit of the right-hand side. Empty for other masters,
        and where no columns meet the rows.
    """

    objective: float
    bound: float | None
    gap: float
    columns: tuple[Column, ...] = field(repr=False)
    coef: Vector = field(repr=False)
    intercept: float | Vector
    n_rounds: int
    best_round: int
    stop_reason: StopReason
    message: str
    history: dict[str, NDArray[Any]] = field(repr=False)
    path: list[tuple[Vector, float | Vector]] = field(repr=False)
    error: Exception | None = None
    scale: float = 1.0
    rounding: float = math.nan
    duals: dict[Hashable, float] = field(default_factory=dict, repr=False)

    @property
    def reduced_costs(self) -> dict[Hashable, float]:
        """Cost minus duals times values of each column, by its key; empty without duals.

        By how much the objective rises with each unit of the column: 0 where it is used, but for
        those that are at their upper bound, where it is negative.
        """
        if not self.duals:
            return {}
        duals = np.array(list(self.duals.values()))
        return {c.key: c.cost - float(c.values @ duals) for c in self.columns}

    def certificate(
        self,
        path: str | os.PathLike[str],
        master: Any,
        *,
        data: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Prove to everybody how good the coefficients are over these columns, in a file.

        ``examples/check_certificate.py`` verifies it in exact arithmetic. Coefficients in floating
        point miss equations by rounding, so that a unit that a row lacks is paid with a price no
        smaller than any dual: the bound holds for columns that meet the rows, too, and the
        objective has what rounding costs. That the pricer has found all columns that matter is its
        word alone, as the first line of the file says.

        Parameters
        ----------
        path : str or path-like
            Usually ``proof.json``.
        master : LinearMaster
            Of the run.
        data : str, path-like or None
            Where to write the table of columns and right-hand sides, .csv or .npy; next to the
            file by default.

        Returns
        -------
        path : Path

        Raises
        ------
        CertificateError
            Without duals of the rows of this master, and for columns that do not cost more
            than 0 and that no equation without negative entries raises.
        """
        return above.write_columns_certificate(self, path, master, data)

    @property
    def output(self) -> Vector:
        """Σ α_j h_j + b on the master's rows, all outputs added up; 0 without columns."""
        output = np.asarray(self.intercept, dtype=np.float64)
        for j in np.flatnonzero(self.coef):
            output = output + self.coef[j] * self.columns[j].values
        return output

    @property
    def ensemble(self) -> Ensemble:
        """The model as a function of new rows: ``result.ensemble.decision_function(X)``.

        For columns that have a basis function (``Column.hypothesis``).
        """
        hypotheses = [column.hypothesis for column in self.columns]
        outputs = {output for column in self.columns for output, _ in column.parts}
        if outputs - {0} or isinstance(self.intercept, np.ndarray):
            raise ValueError("this model has several outputs: make an Ensemble of each")
        if None in hypotheses:
            raise ValueError("these columns have no hypothesis: they mean nothing on new rows")
        return Ensemble([h for h in hypotheses if h is not None], self.coef, self.intercept)

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """The history, under the same name as in estimators, for use in pictures."""
        return self.history

    @property
    def columns_(self) -> dict[str, NDArray[Any]]:
        """A table of the columns in use: coefficient, round of generation, stratum."""
        used = np.flatnonzero(self.coef)
        sizes = np.maximum.accumulate([len(coef) for coef, _ in self.path])
        came = np.searchsorted(sizes, used, side="right")
        kinds = [self.columns[j].stratum or "column" for j in used]
        return {"coefficient": self.coef[used], "round": came, "kind": np.array(kinds, dtype=str)}

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """A short summary as text."""
        history = self.history
        bound = "none" if self.bound is None else f"{self.bound:.8g}"
        known = math.isfinite(self.gap) and math.isfinite(self.rounding)
        rounding = f" (rounding: about {self.rounding:.0e})" if known else ""
        return "\n".join(
            [
                f"stopped      {self.stop_reason}: {self.message}",
                f"objective    {self.objective:.8g}",
                f"lower bound  {bound}",
                f"gap          {self.gap:.2e}{rounding}",
                f"columns      {len(self.coef)} generated, {np.count_nonzero(self.coef)} active",
                f"rounds       {self.n_rounds}, {int(history['evaluated'].sum())} scores evaluated",
                f"seconds      {history['seconds'][-1]:.3f}: master "
                f"{history['master_seconds'].sum():.3f}, "
                f"pricing {history['pricing_seconds'].sum():.3f}",
            ]
        )


class Trace:
    """What happened so far: entries of the history, coefficients, the best bound.

    Attributes
    ----------
    columns : tuple of Column
        Those in the master at the last complete round.
    coming : int
        How many columns the master will have in the next round.
    flat : int
        Rounds since the objective last fell or the bound last rose; 0 while one of them is not
        known.
    duals : list of (rows, ndarray) or None
        Of every round, with the names of the rows; None where rows have none.
    rounding : float
        Of the last round, see :class:`Result`.
    allowance : float
        By how much objective and bound of the last round may differ though they are equal; 0 while
        there are columns to go on with.
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.started = time.perf_counter()
        self.best_bound = -math.inf
        self.entries: list[dict[str, Any]] = []
        self.path: list[tuple[Vector, float | Vector]] = []
        self.scales: list[float] = []
        self.duals: list[tuple[Sequence[Hashable], Vector] | None] = []
        self.columns: tuple[Column, ...] = ()
        self.coming = self.flat = 0
        self.rounding, self.allowance = math.nan, 0.0
        self._lowest, self._highest = math.inf, -math.inf
        self._keys: set[Hashable] = set()
        self._n_held = 0

    def hold(self, columns: Sequence[Column]) -> None:
        """Take note of columns that are new in the master since the last round; none leaves."""
        self._keys.update([column.key for column in columns[self._n_held :]])
        self._n_held = len(columns)

    def fresh(self, offered: Sequence[Column]) -> list[Column]:
        """The columns that the master does not hold, each key once, in the order offered."""
        fresh = {column.key: column for column in reversed(offered) if column.key not in self._keys}
        return list(reversed(fresh.values()))

    @property
    def extremes(self) -> tuple[float, float]:
        """The lowest objective and the highest bound that counted as progress."""
        return self._lowest, self._highest

    def set_extremes(self, lowest: float, highest: float) -> None:
        """Those of a run that is gone on with."""
        self._lowest, self._highest = lowest, highest

    def seconds_left(self, limit: float | None, *, first: bool = False) -> float | None:
        """What is left for the master; the first solve is let through, to have one round.

        Unless it has a limit, too (``first``): where a master can do without it.
        """
        if limit is None or not (self.entries or first):
            return None
        return max(0.01, limit - (time.perf_counter() - self.started))

    def record(
        self,
        state: MasterState,
        priced: Priced,
        bound: float | None,
        seconds: tuple[float, float],
    ) -> Round:
        """Record of the round that ends with this pricing pass."""
        if bound is not None:
            self.best_bound = max(self.best_bound, bound)
        self.allowance = 0.0 if self.fresh(priced.columns) else allowance(state.magnitude)
        return Round(
            number=len(self.entries),
            columns=state.n_held,
            active=int(np.count_nonzero(state.coef)),
            objective=state.objective,
            bound=self.best_bound if math.isfinite(self.best_bound) else math.nan,
            gap=self._gap(state.objective, self.best_bound, state.gap_scale),
            evaluated=priced.n_evaluated,
            stratum=priced.stratum,
            seconds=time.perf_counter() - self.started,
            master_seconds=seconds[0],
            pricing_seconds=seconds[1],
            state=state,
        )

    def certify(self, bound: float | None, n_evaluated: int) -> None:
        """Enter an exact pass made after the last round into its entry."""
        entry = self.entries[-1]
        if bound is not None:
            self.best_bound = max(self.best_bound, bound)
            entry["bound"] = self.best_bound
            entry["gap"] = self._gap(entry["objective"], self.best_bound, self.scales[-1])
        entry["evaluated"] += n_evaluated

    def _gap(self, objective: float, bound: float, scale: float) -> float:
        """The relative gap, 0 where it is above the tolerance by nothing but rounding."""
        gap = relative_gap(objective, bound, scale)
        rounding = gap > self.tol and abs(objective - bound) <= self.allowance
        return 0.0 if rounding else gap

    def keep(self, current: Round) -> None:
        """Enter a complete round, scores of the callbacks included.

        Its entry comes last: without it the round is not complete (:meth:`drop_half_a_round`).
        """
        entry = current.as_entry()
        self.path.append((current.state.coef, current.state.intercept))
        self.scales.append(current.state.gap_scale)
        rows = current.state.rows
        self.duals.append(None if rows is None else (rows, current.state.pseudo_response))
        self.columns = tuple(current.state.columns)
        known = math.isfinite(current.objective) and math.isfinite(self.best_bound)
        step = UNMOVED * current.state.gap_scale
        moved = current.objective < self._lowest - step or self.best_bound > self._highest + step
        self.flat = 0 if moved or not known else self.flat + 1
        if moved or not known:
            self._lowest, self._highest = current.objective, self.best_bound
        self.entries.append(entry)

    def drop_half_a_round(self) -> None:
        """Forget what Ctrl-C has left of a round that is not complete."""
        for kept in (self.path, self.scales, self.duals):
            del kept[len(self.entries) :]
        self.columns = self.columns[: len(self.path[-1][0])]

    def move(self, number: int, vertex: Vertex) -> None:
        """Put a vertex in the place of a round's coefficients."""
        entry = self.entries[number] | {
            "objective": vertex.objective,
            "active": int(np.count_nonzero(vertex.coef)),
            "gap": self._gap(vertex.objective, self.entries[number]["bound"], self.scales[number]),
        }
        self.path[number], self.entries[number] = (vertex.coef, vertex.intercept), entry

    def result(
        self, number: int, reason: StopReason, message: str, error: Exception | None = None
    ) -> Result:
        """The run, cut at round ``number``."""
        coef, intercept = self.path[number]
        entry = self.entries[number]
        bound = self.best_bound if math.isfinite(self.best_bound) else None
        names: dict[str, Any] = {}
        for each in self.entries:
            names |= each  # in the order in which they came up
        return Result(
            objective=entry["objective"],
            bound=bound,
            gap=self._gap(entry["objective"], self.best_bound, self.scales[number]),
            columns=self.columns[: len(coef)],
            coef=coef,
            intercept=intercept,
            n_rounds=len(self.entries),
            best_round=number,
            stop_reason=reason,
            message=message,
            history={
                name: np.array([each.get(name, math.nan) for each in self.entries])
                for name in names
            },
            path=self.path,
            error=error,
            scale=self.scales[number],
            rounding=self.rounding,
            duals=self._duals(number),
        )

    def _duals(self, number: int) -> dict[Hashable, float]:
        """Those of a round, by name; none where they are of a problem that is infeasible."""
        known = self.duals[number]
        if known is None or not math.isfinite(self.entries[number]["objective"]):
            return {}
        return dict(zip(known[0], known[1].tolist(), strict=True))


def relative_gap(objective: float, bound: float, scale: float | None = None) -> float:
    """Relative gap |objective − bound|/scale; inf without either.

    The scale is max(1, |objective|) unless it is given. A bound above the objective is an error of
    one of the two, and the gap is its size, and not 0.
    """
    if not (math.isfinite(bound) and math.isfinite(objective)):
        return math.inf
    return abs(objective - bound) / (gap_scale(objective) if scale is None else scale)
