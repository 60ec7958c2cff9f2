"""Problems of cgboost's own models over a whole family of columns: stumps, rules, kernels.

A fit's plan has the loss, the penalty and a pricer of all columns; the model has the coefficients.
With f its outputs and Ω its penalty the objective is L(f) + Ω, computed anew, and a feasible
pseudo-response r has the bound of an exact pass of the pricer:

* of a smooth loss, r = −∂L/∂f;
* of a kernel machine over whole RKHSs, r are its coefficients: at the optimum f_p = η_p K_p r;
* of others, r are the duals of the restricted problem over the model's own columns.

Where that says little, column generation goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun
from cgboost.estimators.common.plan import RunTask, Watch
from cgboost.exceptions import CertificateError
from cgboost.forks import cached_property
from cgboost.generation.columns import Column, evaluate, weighted_sum
from cgboost.generation.protocols import MasterState, Priced
from cgboost.kernels.kernel_family import KernelHypothesis
from cgboost.losses import EntropicLoss
from cgboost.masters.rkhs.rkhs_master import RKHSState, StagedMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster, WarmStart
from cgboost.penalties.penalty import DualForm, Penalty
from cgboost.pricing.centres.free_centre_pricer import FreeCentrePricer
from cgboost.pricing.learners.joint_pricer import JointPricer, Pairs
from cgboost.pricing.learners.learners import LearnerPricer
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer
from cgboost.pricing.rkhs.summed import SummedKernel
from cgboost.pricing.rkhs.whole_kernel_pricer import WholeKernelPool, WholeKernelPricer
from cgboost.pricing.rules import RulePricer
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.proofs.fitted_plan import certified_plan, check_master, refusal_of_pricer
from cgboost.proofs.problem import DualPoint, Point
from cgboost.proofs.rows import Rows, rows_of
from cgboost.tolerances import SMALLEST

OTHERS = "columns that are not in the model"
"""What the last part of a gap belongs to."""


class Newcomers:
    """A pricer that does not see the columns of the model, whose keys it does not know.

    Parameters
    ----------
    pricer : Pricer
    given : sequence of Column
        The first ones of the master.
    """

    def __init__(self, pricer: Any, given: Sequence[Column]) -> None:
        self.pricer, self._given = pricer, frozenset(map(id, given))

    def price(self, state: MasterState, limit: int) -> Priced:
        """What the pricer finds among the others."""
        places = [j for j, column in enumerate(state.columns) if id(column) not in self._given]
        columns = [state.columns[j] for j in places]
        found: Priced = self.pricer.price(
            replace(state, columns=columns, coef=state.coef[places]), limit
        )
        return found


@dataclass(frozen=True, eq=False)
class Restricted:
    """A restricted problem with the columns of a model.

    Attributes
    ----------
    point : callable
        What a state of the master is in the terms of the problem.
    """

    master: Any
    pricer: Any
    columns_per_round: int
    point: Callable[[MasterState], Point]


@dataclass(frozen=True, eq=False)
class FamilyProblem:
    """The problem of a run of the loop.

    Attributes
    ----------
    task : RunTask
        Its master and pricer, new.
    outputs : list of FittedOutput
        Of the model.
    X : ndarray
        The training rows as basis functions see them.
    unit : float
        What the objective is a multiple of.
    numbers : ndarray of shape (n_rows,)
        Of the training rows among those given.
    tol : float
        The relative gap that the model was fitted to.
    in_all : sequence of str
        Names of the parts of the gaps of all problems of the model.
    """

    task: RunTask
    outputs: list[FittedOutput]
    X: Any
    unit: float
    numbers: Indices
    tol: float
    name: str = ""
    in_all: Sequence[str] = ()

    of_columns = True
    charged = False
    factor = 1.0

    @property
    def loss(self) -> Any:
        """Of the rows of the master."""
        master: Any = self.task.master
        return master.loss

    @property
    def form(self) -> DualForm:
        """Penalty, signs and offset."""
        master: Any = self.task.master
        form: DualForm = master.form
        return form

    @property
    def penalty(self) -> Penalty:
        """Ω."""
        return self.form.penalty

    @cached_property
    def rows(self) -> Rows:
        """The losses of the master's rows."""
        return rows_of(self.loss)

    @property
    def rows_used(self) -> Indices:
        """Those that count."""
        return self.numbers

    @cached_property
    def pairs(self) -> Any:
        """Which pairs the master's rows are, where they are no training rows."""
        pricer = self.task.pricer
        return pricer.pairs if isinstance(pricer, JointPricer) else None

    @cached_property
    def functions(self) -> list[tuple[int, Any]]:
        """Output and basis function of each coefficient."""
        return [(k, h) for k, output in enumerate(self.outputs) for h in output.hypotheses]

    # ------------------------------------------------------------------ objective

    def at(self, coef: Vector, intercept: Any) -> Point:
        """A point: coefficients of the functions of all outputs, one output after the other."""
        given = self._by_output(coef)
        level = getattr(self.loss, "level_is_offset", False)
        b = np.zeros(len(self.outputs)) if level else np.atleast_1d(intercept)
        each = [
            weighted_sum(output.hypotheses, own, self.X) + b[k]
            for k, (output, own) in enumerate(zip(self.outputs, given, strict=True))
        ]
        output = self._on_rows(each)
        total = float(self.loss.value(output)) + self.form.value(self.sizes(coef), _squeezed(b))
        return Point(coef, intercept, output, self.unit * total)

    def _by_output(self, coef: Vector) -> list[Vector]:
        ends = np.cumsum([len(output.hypotheses) for output in self.outputs])[:-1]
        return np.split(coef, ends)

    def _on_rows(self, outputs: Sequence[Vector]) -> Vector:
        """Outputs on the training rows as one on the rows of the master."""
        if isinstance(self.pairs, Pairs):
            table = np.column_stack(outputs)
            of_row = table[self.pairs.row, self.pairs.labels[self.pairs.row]]
            against: Vector = table[self.pairs.row, self.pairs.against]
            return np.asarray(of_row - against)
        return np.concatenate(outputs)

    def sizes(self, coef: Vector) -> Vector:
        """What the penalty is of: coefficients, or the norms of the kernels' functions."""
        if not self.penalty.of_functions:
            return coef
        return np.sqrt(np.array([own.square for own in self._parts_of_kernels(coef)]))

    def _parts_of_kernels(self, coef: Vector) -> list[KernelPart]:
        """The functions of each kernel."""
        found: dict[str, list[KernelPart]] = {}
        for k, (output, own) in enumerate(zip(self.outputs, self._by_output(coef), strict=True)):
            names = np.array([h.family.name for h in output.hypotheses], dtype=object)
            for name in dict.fromkeys(names.tolist()):
                places = np.flatnonzero((names == name) & (own != 0))
                chosen = [output.hypotheses[j] for j in places.tolist()]
                part = self._function(k, chosen, own[places])
                found.setdefault(name, []).append(part)
        return [KernelPart.joined(name, self._weight(name), own) for name, own in found.items()]

    def _function(self, k: int, chosen: list[KernelHypothesis], coef: Vector) -> KernelPart:
        """f_p of an output, with its squared norm."""
        outputs = [np.zeros(self.X.shape[0]) for _ in self.outputs]
        if not chosen:
            return KernelPart("", 0.0, np.concatenate(outputs), np.zeros(len(outputs[0])))
        outputs[k] = weighted_sum(chosen, coef, self.X)
        places = np.array([h.row for h in chosen], dtype=np.intp)
        if (places >= 0).all():
            square = float(coef @ outputs[k][places])
            expansion = np.bincount(places, coef, len(outputs[k])).astype(np.float64)
        else:
            square = float(coef @ chosen[0].family.inner_products(chosen, chosen) @ coef)
            expansion = np.full(len(outputs[k]), np.nan)
        return KernelPart("", max(square, 0.0), np.concatenate(outputs), expansion)

    def _weight(self, name: str) -> float:
        """The factor of ‖f_p‖²: w_p, or w_p² where norms are not squared."""
        penalty: Any = self.penalty
        if penalty.quadratic:
            return float(penalty.weight(name))
        pool = self._whole_kernels
        return float(pool.weights[list(pool.pool.strata).index(name)]) ** 2

    def nothing(self, given: Point) -> Point:
        """All coefficients and intercepts 0."""
        return self.at(0.0 * given.coef, 0.0 * np.asarray(given.intercept))

    # ------------------------------------------------------------------ bounds

    def start(self, given: Point) -> Vector | None:
        """A pseudo-response that needs no solver; None where there is none worth a pass."""
        if not self.rows.sharp and not isinstance(self.loss, EntropicLoss):
            return self.rows.response(given.output)
        if not self.penalty.of_functions:
            return None
        found, weights = np.zeros(len(given.output)), 0.0
        for part in self._parts_of_kernels(given.coef):
            if part.square > 0 and np.isfinite(part.expansion).all():
                size = np.sqrt(part.square)
                share = part.weight if self.penalty.quadratic else part.weight / size
                found += size * share * part.expansion
                weights += size
        if not weights:
            return None
        squared = self.penalty.degree == 2 and not self.penalty.quadratic
        return found if squared else found / weights

    def dual_at(self, response: Vector) -> DualPoint:
        """The bound of a feasible point next to a pseudo-response: one exact pass."""
        r = self.rows.feasible(response, balanced=self.form.offset == "free")
        two_sided, scale = self.form.two_sided, max(abs(self.loss.value(0.0 * r)), SMALLEST)
        entry = self.penalty.entry(two_sided=two_sided, scale=scale)
        state = RKHSState.at_response(r, entry)
        priced = self._pricer.price(state, 0)
        bound = self.task.master.bound(state, priced) if priced.exact else None
        return DualPoint(r, np.zeros(0), -np.inf if bound is None else self.unit * bound)

    @property
    def _pricer(self) -> Any:
        """A pricer of all columns; of free centres that of the RKHSs, which has no stages."""
        pricer = self.task.pricer
        return pricer.rows if isinstance(pricer, FreeCentrePricer) else pricer

    @property
    def _whole_kernels(self) -> WholeKernelPool:
        """The kernels of a group norm."""
        assert isinstance(self._pricer, WholeKernelPricer)
        return self._pricer.pool

    def restricted(self, given: Point) -> Restricted:
        """The problem over the model's columns, and the pricer of the others."""
        columns = self._columns(given)
        master: Any = self.task.master
        used = np.flatnonzero(given.coef)
        coef = given.coef[used] if len(columns) == len(used) else np.zeros(len(columns))
        if columns:
            master.start_from(WarmStart(columns, coef, _squeezed(given.intercept)))
        pricer = self._pricer
        if isinstance(pricer, StrataPricer) or self.pairs is not None:
            pricer = Newcomers(pricer, columns)

        def point(state: MasterState) -> Point:
            objective = self.unit * state.objective
            return Point(state.coef, state.intercept, state.output, objective)

        return Restricted(master, pricer, self.task.columns_per_round, point)

    def _columns(self, given: Point) -> list[Column]:
        """The columns of the model, on the rows of the master."""
        pricer = self._pricer
        if isinstance(pricer, WholeKernelPricer):
            return self._spaces(given)
        if isinstance(pricer, RKHSPricer) and isinstance(pricer.pool, SummedKernel):
            return self._sums(given, pricer.pool)
        columns: list[Column] = []
        number = 0
        for k, output in enumerate(self.outputs):
            own = given.coef[number : number + len(output.hypotheses)]
            chosen = np.flatnonzero(own).tolist()
            values = evaluate([output.hypotheses[j] for j in chosen], self.X).T
            for row, j in zip(values, chosen, strict=True):
                hypothesis, stratum = output.hypotheses[j], str(output.strata[j])
                on_rows = np.ascontiguousarray(row)
                column = Column(on_rows, ("model", number + j), hypothesis, stratum)
                columns.append(
                    column if self.pairs is None else self.pairs.column(column, k, stratum)
                )
            number += len(own)
        return columns

    def _spaces(self, given: Point) -> list[Column]:
        """The whole kernels in use."""
        pool = self._whole_kernels
        names, r = list(pool.pool.strata), self.rows.response(given.output)
        parts = self._parts_of_kernels(given.coef)
        return [pool.space(names.index(own.name)).whole(r) for own in parts if own.square > 0]

    def _sums(self, given: Point, pool: SummedKernel) -> list[Column]:
        """The sums of all kernels at the rows in use, as the fit has them.

        Next to such a sum its terms would be functions of other spaces, and cost too little.
        """
        used = [self.functions[j][1].row for j in np.flatnonzero(given.coef).tolist()]
        rows = sorted({row for row in used if row >= 0})
        return pool.columns([0] * len(rows), rows)

    # ------------------------------------------------------------------ where the gap is

    def parts(self, point: Point, dual: DualPoint) -> tuple[Vector, Vector]:
        """The parts of the gap: of the rows, of what is in the model, and of other columns."""
        gap = max(0.0, point.objective - dual.bound)
        own = np.zeros(len(point.output))
        if not isinstance(self.loss, EntropicLoss):
            own = self.unit * self.rows.parts(point.output, dual.response)
        if own.sum() > gap:
            own *= gap / own.sum()
        of_rows = self._of_training_rows(own)
        of_columns = self.unit * self._of_columns(point, dual.response)
        left = gap - float(own.sum())
        if of_columns.sum() > left:
            of_columns *= max(left, 0.0) / of_columns.sum()
        return of_rows, np.append(of_columns, max(0.0, left - float(of_columns.sum())))

    def _of_training_rows(self, own: Vector) -> Vector:
        n_rows = len(self.numbers)
        if isinstance(self.pairs, Pairs):
            return np.bincount(self.pairs.row, own, n_rows).astype(np.float64)
        summed: Vector = own.reshape(-1, n_rows).sum(axis=0)
        return summed

    @cached_property
    def names(self) -> list[str]:
        """Of what is in the model: features of stumps, strata of others."""
        return list(dict.fromkeys(map(_named, self._owners)))

    @cached_property
    def _owners(self) -> list[tuple[Any, str]]:
        strata = [str(s) for output in self.outputs for s in output.strata]
        return [(h, stratum) for (_, h), stratum in zip(self.functions, strata, strict=True)]

    def _of_columns(self, point: Point, response: Vector) -> Vector:
        """Ω's part of each: Σ φ(α) + φ*(s) − α s of its columns."""
        place = {name: j for j, name in enumerate(self.in_all)}
        found = np.zeros(len(place))
        if self.penalty.of_functions:
            for part in self._parts_of_kernels(point.coef):
                size, drawn = np.sqrt(part.square), float(response @ part.output)
                cost = 0.5 * part.square if self.penalty.quadratic else size
                gain = 0.5 * drawn**2 / part.square if part.square and self.penalty.quadratic else 0
                found[place[part.name]] += max(0.0, cost + gain - drawn)
            return found
        scores = self._scores(response)
        thr, quad = self.penalty.threshold, self.penalty.quadratic
        if self.penalty.radius is not None:
            thr = float(np.abs(scores).max(initial=0.0))
        over = np.maximum(np.abs(scores) - thr, 0.0)
        parts = thr * np.abs(point.coef) + 0.5 * quad * point.coef**2 - point.coef * scores
        parts += 0.5 * over**2 / quad if quad else 0.0
        owner = [place[_named(own)] for own in self._owners]
        return np.bincount(owner, np.maximum(parts, 0.0), len(found)).astype(np.float64)

    def _scores(self, response: Vector) -> Vector:
        """r·h of the columns of the model."""
        if not self.functions:
            return np.zeros(0)
        r = np.atleast_2d(response if self.pairs is None else self.pairs.fold(response))
        found = [
            r[k] @ evaluate(output.hypotheses, self.X)
            for k, output in enumerate(self.outputs)
            if len(output.hypotheses)
        ]
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class KernelPart:
    """The functions of a kernel, of all outputs.

    Attributes
    ----------
    square : float
        w_p‖f_p‖², or w_p²‖f_p‖² where norms are not squared.
    output : ndarray
        On the rows of the master.
    expansion : ndarray
        Coefficients of the rows as centres, of all outputs; nan where centres are no rows.
    """

    name: str
    square: float
    output: Vector
    expansion: Vector
    weight: float = 1.0

    @classmethod
    def joined(cls, name: str, weight: float, parts: Sequence[KernelPart]) -> KernelPart:
        """Of the outputs, which share a weight."""
        square = weight * sum(part.square for part in parts)
        output: Any = sum(part.output for part in parts)
        expansion = np.concatenate([part.expansion for part in parts])
        return cls(name, square, output, expansion, weight)


def _named(owner: tuple[Any, str]) -> str:
    hypothesis, stratum = owner
    if isinstance(hypothesis, KernelHypothesis):
        return hypothesis.family.name
    feature = getattr(hypothesis, "feature", None)
    if feature is None:
        return stratum
    return f"stumps on feature {feature}" if feature >= 0 else "the constant"


def _squeezed(intercept: Any) -> Any:
    """A number, where there is one."""
    flat = np.atleast_1d(intercept)
    return float(flat[0]) if len(flat) == 1 else flat


# -------------------------------------------------------------------------- of a fitted model


def family_problems(model: Any, X: Any, y: Any, sample_weight: Any) -> list[FamilyProblem]:
    """The problems of a fitted model, one for each run of its loop.

    Raises
    ------
    CertificateError
        Where its columns are not all known, or the problem is not convex.
    """
    kind, (rows, plan) = type(model).__name__, certified_plan(model, X, y, sample_weight)
    numbers = np.arange(len(rows.weights)) if rows.numbers is None else rows.numbers
    runs: Sequence[FittedRun] = model._runs
    names = plan.target_kind.run_names
    problems = []
    plan = replace(plan, carried={k: WarmStart() for k in range(len(runs))})  # no fit of a part
    for k, (task, run) in enumerate(zip(plan.tasks(Watch()), runs, strict=True)):
        _check(kind, task)
        objective = plan.objectives[min(k, len(plan.objectives) - 1)]
        name = "" if names is None else f"class {names[k]}"
        problems.append(
            FamilyProblem(
                task, run.outputs, rows.X, objective.unit, numbers, plan.stop.tol, name
            )
        )  # fmt: skip
    return problems


def _check(kind: str, task: RunTask) -> None:
    """Raise CertificateError for a problem without a bound over all columns."""
    master, pricer = task.master, task.pricer
    check_master(kind, master)
    if not isinstance(master, (SupportVectorMaster, StagedMaster)):
        raise CertificateError(f"certify does not know the problem of a {type(master).__name__}")
    for own in pricer.pricers if isinstance(pricer, JointPricer) else [pricer]:
        if isinstance(own, LearnerPricer) or (isinstance(own, RulePricer) and not own.exact):
            raise refusal_of_pricer(kind, own)
