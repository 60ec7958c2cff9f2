"""The problem of a fitted model, for all models that are nearly as good.

With a dual point r of the problem, L(f) + Σ|a_j| − gain(r) is a sum of parts that are not negative
(:mod:`cgboost.proofs.problem`), so that the models of at most the objective V are

    Σ_j (|a_j| − a_j h_j·r) + Σ_i π_i(f_i) ≤ V − gain(r),     π_i(f) = ℓ_i(f) − g_i(r_i) + r_i f

and what is left on the right is small: a share of the objective. For every u and t > 0 with u/t in
the dual box of the loss, Σu = −v₀ with a free offset, and |h_j·u + v_j| ≤ t − w_j for every column

    Σ_j v_j a_j + w_j|a_j| + v₀ b  ≤  t V − t gain(u/t)        (Lagrange)

for all of these models, whoever has found u and t. A larger t than is needed only weakens it.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.certified import BaseBoost, Certified
from cgboost.estimators.common.plan import Subproblem
from cgboost.estimators.common.training_rows import TrainingRows, is_source
from cgboost.estimators.rules.base_rule_set import WithinBudget
from cgboost.exceptions import CertificateError
from cgboost.forks import cached_property
from cgboost.generation.columns import Column
from cgboost.generation.history import Round
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.rounding import allowance
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import project_on_sum
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.optimizers.linear.tangent_program import TangentPoint, TangentProgram
from cgboost.penalties import L1
from cgboost.pricing.rules import RulePricer
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.proofs.near_values import PoolValue, RuleValue, Value
from cgboost.proofs.own_models import OTHER_OBJECTIVE, is_own
from cgboost.proofs.readers import check_classes
from cgboost.proofs.rows import BoxRows, Rows, SmoothRows

OPTIMUM_GAP = 1e-9
"""The relative gap to which the optimum is looked for: what it leaves open widens no range."""

MOST_ROUNDS = 300
"""Programs for one end, at most; beyond that its gap says how far it has come."""

INSIDE = 1e-7
"""A response this share of its box away from both ends is inside."""

NEAR_SCORE = 0.9
"""Columns of scores above this share of their limit are in the program from the start."""

MISSED = 0.1
"""Tangents are taken where parts miss more than this share of the tolerance in all."""

NEARLY_FEASIBLE = 1.0
"""Columns are priced as soon as an answer's objective exceeds the level by no more than this share
of the room."""

LARGE_OFFSET = 1e4
"""No offset is larger than so many times the largest target, output and column: one that is means
that there is no end."""

LEAST_MULTIPLIER = 1e-300
"""Stands for a multiplier of 0, by which responses are divided."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model of the family, with the columns that it has, its output and its objective."""

    coef: Vector
    intercept: float
    output: Vector
    objective: float


@dataclass(frozen=True)
class RangeEnd:
    """The largest value of a set of models, times a sign.

    Attributes
    ----------
    attained : float
        Of a model at hand.
    bound : float
        No model of the set has a larger one.
    """

    attained: float
    bound: float


class NearProblem:
    """A fitted model's problem, and the models whose objective is at most a level.

    Parameters
    ----------
    model : estimator
    X, y, sample_weight
        As given to ``fit``.
    epsilon : float
    tol : float
        Relative gap of the ends.

    Attributes
    ----------
    objective, level : float
        That of the model, and the largest one of the set, in the user's units.
    """

    def __init__(
        self, model: Any, X: Any, y: Any, sample_weight: Any, epsilon: float, tol: float
    ) -> None:
        _check_kind(model)
        self.tol = tol
        self.training, plan = _plan_of(model, X, y, sample_weight)
        task = next(iter(plan.subproblems()))
        self.master, self.pool = task.master, plan.pool
        self.pricer = _checked(model, task)
        self.two_sided, self.offset = self.master.two_sided, self.master.offset
        loss = self.master.loss
        box = isinstance(loss, SupportVectorLoss)
        self.rows: Rows = BoxRows(loss) if box else SmoothRows(loss)
        self.unit = plan.objectives[0].unit
        self.output_unit = float(getattr(model, "_scaling", _NO_SCALING).unit)
        output = model._runs[0].outputs[0]
        self._given = self._model(
            output.coef, output.intercept, output.values(self.training.X)
        )
        self.objective = self.unit * self._given.objective
        if abs(self.objective - model.objective_) > OTHER_OBJECTIVE * abs(model.objective_):
            raise CertificateError(
                f"the {type(model).__name__} has the objective {self.objective:.9g} on these rows, "
                f"and had {model.objective_:.9g} on those of its fit: give the same X, y and "
                "sample_weight"
            )
        self.level = (1.0 + epsilon) * self.objective
        self._level = (1.0 + epsilon) * self._given.objective
        if not self._level > 0:
            raise CertificateError(
                f"the objective is {self.objective:g}, and so is every multiple of it: models that "
                "are nearly as good are those whose objective is at most 1 + epsilon times it"
            )
        self._solve(task)

    # ------------------------------------------------------------------ the optimum

    def _solve(self, task: Subproblem) -> None:
        """The optimum, a dual point there, and the program of what is near."""
        states = []

        def watch(current: Round) -> bool:
            states[:] = [current.state]
            return False

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has warned
            result = ColumnGeneration(
                task.master,
                task.pricer,
                columns_per_round=task.columns_per_round,
                callbacks=[watch],
                tol=OPTIMUM_GAP,
            ).run()
        (state,) = states
        response = self.rows.feasible(state.pseudo_response, balanced=self.offset == "free")
        _, most = self._nothing.priced(
            1.0, response, 1.0, state.columns, two_sided=self.two_sided
        )
        most = 1.0 if most is None else most
        if self.offset == "penalized":
            most = max(most, abs(float(response.sum())))
        self.response = response / max(1.0, most)
        columns = list(result.columns)
        values = _side_by_side(columns, len(response))
        coef = np.zeros(len(columns))
        coef[: len(result.coef)] = result.coef
        scores = values @ self.response
        kept = np.flatnonzero((coef != 0) | (np.abs(scores) >= NEAR_SCORE))
        self.columns = [columns[j] for j in kept]
        coef, intercept = coef[kept], float(np.ravel(result.intercept)[0])
        best = self._model(coef, intercept, coef @ values[kept] + intercept)
        gains = float(self.rows.gains(self.response).sum())
        self.room = self._level - gains + allowance(self.rows.rounding(self.response))
        self.best = best
        self._open(values[kept])

    def _open(self, values: Vector) -> None:
        """The program, with the columns of the optimum and tangents where its rows bend."""
        target = float(np.abs(self.best.output).max(initial=1.0))
        largest = float(np.abs(values).max(initial=1.0))
        self._most_offset = LARGE_OFFSET * (target + self._level * largest)
        self.program = TangentProgram(
            len(self.response),
            self.room,
            two_sided=self.two_sided,
            offset=self.offset == "free",
            most_coef=self._level,
            most_offset=self._most_offset,
        )
        if self.offset == "penalized":
            values = np.vstack([np.ones(len(self.response)), values])
        self._enter(values)
        if self.rows.sharp:
            low, high = self._ends
            width = np.where(np.isfinite(high - low), high - low, 1.0)
            inside = np.minimum(self.response - low, high - self.response) > INSIDE * width
            rows = np.flatnonzero(inside)
            bends = np.where(inside, 1.0, 0.0)
            for way in (-1.0, 1.0):  # both sides of the kink
                self._touch(self.best.output + way * self._far(bends), rows)
            return
        bends = self.rows.curvature(self.best.output)
        for way in (-2.0, -1.0, 1.0, 2.0):
            self._touch(self.best.output + way * self._far(bends), np.arange(len(bends)))

    def _far(self, bends: Vector) -> float:
        """How far outputs may move together until the room is used up."""
        if self.rows.sharp:
            return float(np.abs(self.best.output).max(initial=1.0))
        return float(np.sqrt(2.0 * self.room / max(float(bends.sum()), 1e-300)))

    def _enter(self, values: Vector) -> None:
        """New columns of the program."""
        scores = values @ self.response
        self.program.add_columns(values, np.column_stack([1.0 - scores, 1.0 + scores]))

    # ------------------------------------------------------------------ what a model costs

    @cached_property
    def _ends(self) -> tuple[Vector, Vector]:
        """The dual box of the rows."""
        if isinstance(self.rows, BoxRows):
            return self.rows.loss.lower, self.rows.loss.upper
        own: Any = self.rows.loss.on_rows  # type: ignore[attr-defined]
        low, high = own.loss.domain(own.target)
        return -own.weights * high, -own.weights * low

    def _model(self, coef: Vector, intercept: float, output: Vector) -> Model:
        loss = float(self.rows.values(output).sum())
        own = abs(intercept) if self.offset == "penalized" else 0.0
        return Model(coef, intercept, output, loss + float(np.abs(coef).sum()) + own)

    def _parts(self, output: Vector) -> Vector:
        """π_i."""
        return self.rows.parts(output, self.response)

    def _touch(self, output: Vector, rows: Any) -> None:
        """Take in the tangents of some parts at an output."""
        if not len(rows):
            return
        slopes = (self.response - self.rows.response(output))[rows]
        constants = self._parts(output)[rows] - slopes * output[rows]
        self.program.add_tangents(rows, slopes, constants)

    def _between(self, end: Model, level: float) -> Model:
        """The last model of at most this objective on the way from the optimum to another model."""
        if end.objective <= level:
            return end
        start = self.best
        begun = np.zeros(len(end.coef))
        begun[: len(start.coef)] = start.coef
        way, moved = end.output - start.output, end.coef - begun
        turned = end.intercept - start.intercept

        def at(share: float) -> Model:
            return self._model(
                begun + share * moved, start.intercept + share * turned, start.output + share * way
            )

        if start.objective >= level:
            return at(0.0)
        share = brentq(lambda x: at(x).objective - level, 0.0, 1.0, xtol=1e-14, rtol=1e-13)
        for _ in range(60):
            if (found := at(share)).objective <= level:
                return found
            share *= 1.0 - 1e-12
        return at(0.0)

    # ------------------------------------------------------------------ one end

    @cached_property
    def _nothing(self) -> Value:
        """The value 0."""
        if isinstance(self.pricer, RulePricer):
            none = np.zeros(len(self.training.y))
            return RuleValue(0.0, self.pricer, none, self.training.X[:0], np.zeros(0))
        sizes = [int(self.pool.size(k)) for k in range(len(self.pool.strata))]
        return PoolValue(0.0, self.pool, [np.zeros(size) for size in sizes])

    def value_of(self, value: Value, coef: Vector, intercept: float) -> float:
        """A value of a model with coefficients of the columns so far."""
        columns = self.columns[: len(coef)]
        if not columns:
            return value.offset * intercept
        size = float(value.sizes(columns) @ np.abs(coef))
        return float(value.worth(columns) @ coef) + size + value.offset * intercept

    def end(self, value: Value, sign: float) -> RangeEnd:
        """The largest value times a sign."""
        charged = self.offset == "penalized"
        at_best = sign * self.value_of(value, self.best.coef, self.best.intercept)
        attained, bound = at_best, np.inf
        for _ in range(MOST_ROUNDS):
            worth, sizes = np.zeros(0), np.zeros(0)
            if self.columns:
                worth, sizes = value.worth(self.columns), value.sizes(self.columns)
            if charged:
                worth, sizes = np.append(value.offset, worth), np.append(0.0, sizes)
            offset = 0.0 if charged or self.offset == "none" else value.offset
            point = self.program.solve(sign * worth, sign * sizes, sign * offset)
            output = point.coef @ self.program.values + point.intercept
            coef, b = point.coef, point.intercept
            if charged:
                coef, b = coef[1:], float(coef[0])
            found = self._model(coef, b, output)
            inner = self._between(found, self._level)
            attained = max(attained, sign * self.value_of(value, inner.coef, inner.intercept))
            new: Sequence[Column] = ()
            if found.objective - self._level <= NEARLY_FEASIBLE * self.room:
                new, least = self._outer(value, sign, point)
                bound = min(bound, least)
            wanted = self.tol * max(abs(at_best), attained - at_best)
            if bound - attained <= wanted:
                break
            # far out a curved loss may be beyond all numbers, and its tangents say little
            outer = found if self.rows.sharp else self._between(found, self._level + self.room)
            if not (self._refine(outer.output, inner.output) or len(new)):
                break
            if len(new):
                values = _side_by_side(new, len(self.response))
                self.columns += new
                self._enter(values)
        self.program.trim()
        if abs(b) >= (1.0 - INSIDE) * self._most_offset:
            bound = np.inf
        return RangeEnd(attained, max(attained, bound))

    def _outer(
        self, value: Value, sign: float, point: TangentPoint
    ) -> tuple[Sequence[Column], float]:
        """Columns that are missing, and the bound of the duals."""
        t = max(point.multiplier, value.least(sign), LEAST_MULTIPLIER)
        low, high = self._ends
        response = self.response - point.slopes / t
        if self.offset == "free":
            response = project_on_sum(response, low, high, -sign * value.offset / t)
        else:
            response = np.clip(response, low, high)
        u = t * response
        new, most = value.priced(sign, u, t, self.columns, two_sided=self.two_sided)
        if most is None:
            return new, np.inf
        if self.offset == "penalized":
            most = max(most, abs(float(u.sum()) + sign * value.offset))
        u /= most
        gain = float(self.rows.gains(u).sum()) - allowance(self.rows.rounding(u))
        return new, most * (self._level - gain)

    def _refine(self, *outputs: Vector) -> bool:
        """Take in tangents at outputs, of the rows whose parts miss something there."""
        found = False
        for output in outputs:
            missed = self._parts(output) - self.program.parts(output)
            rows = np.flatnonzero(missed > MISSED * self.tol * self.room / len(missed))
            self._touch(output, rows)
            found = found or len(rows) > 0
        return found


@dataclass(frozen=True)
class _Unscaled:
    unit: float = 1.0


_NO_SCALING = _Unscaled()


def _side_by_side(columns: Sequence[Column], n_rows: int) -> Vector:
    """Values on the training rows, shape (n_columns, n_rows)."""
    if not columns:
        return np.zeros((0, n_rows))
    return np.stack([np.asarray(c.values[:n_rows], dtype=np.float64) for c in columns])


# ------------------------------------------------------------------------------ which models


def _check_kind(model: Any) -> None:
    """Raise CertificateError for a model that is none of those."""
    kind = type(model).__name__
    if isinstance(model, type):
        raise CertificateError(f"give a fitted model, not the class: {kind}().fit(X, y)")
    if not (is_own(model) and isinstance(model, BaseBoost)):
        hint = ": give its best_estimator_" if hasattr(model, "best_estimator_") else ""
        raise CertificateError(
            f"near_optimal takes sparse linear models, LPBoost over stumps, rule sets without a "
            f"budget and kernel machines with the 1-norm of cgboost, got a {kind}{hint}"
        )
    check_is_fitted(model)
    if model.early_stopping:
        raise CertificateError(
            "early_stopping=True ends a fit before its optimum: near_optimal is for models that "
            "are fitted to the end"
        )


def _plan_of(
    model: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[TrainingRows, Certified]:
    """The rows of a fit, and what it has asked for."""
    kind = type(model).__name__
    if is_source(X):
        raise CertificateError(
            "X is a source of blocks: near_optimal needs the rows in memory, as one array"
        )
    _check_same_features(model, X)
    check_classes(model, np.asarray(y))
    prepared = copy.copy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has warned
        training, _ = prepared._prepare(X, y, sample_weight, None)
        plan = prepared._plan(training)
    if isinstance(plan, WithinBudget):
        raise CertificateError(
            f"the {kind} has a budget of rules or conditions, which is not convex: give "
            "max_total_conditions=None and max_rules=None"
        )
    if not isinstance(plan, Certified):
        raise CertificateError(f"near_optimal does not know which problem a {kind} solves")
    if len(plan.y_of_runs) > 1 or plan.y_of_runs[0].ndim > 1:
        raise CertificateError(
            f"the {kind} has several outputs, one for each class: near_optimal takes two classes, "
            "or numbers"
        )
    return training, plan


def _check_same_features(model: Any, X: Any) -> None:
    names, kind = getattr(model, "feature_names_in_", None), type(model).__name__
    if names is not None and hasattr(X, "columns") and list(X.columns) != list(names):
        raise CertificateError(
            f"the columns of X are {list(X.columns)[:9]}, the {kind} was fitted to "
            f"{list(names)[:9]}: give these, in their order"
        )
    width, shape = getattr(model, "n_features_in_", None), np.shape(X)
    if width is not None and len(shape) == 2 and shape[1] != width:
        raise CertificateError(
            f"X has {shape[1]} features, the {kind} was fitted to {width}: give the rows of the fit"
        )


def _checked(model: Any, task: Subproblem) -> Any:
    """The pricer of a problem whose columns are all known to it, under a 1-norm."""
    kind, master, pricer = type(model).__name__, task.master, task.pricer
    penalty = getattr(master, "penalty", None)
    if type(master) is not SupportVectorMaster or type(penalty) is not L1:
        raise CertificateError(
            f"the {kind} is fitted with {penalty!r}: near_optimal is for the 1-norm (penalty='l1' "
            "of kernels and linear models, formulation='lp')"
        )
    loss = master.loss
    if isinstance(loss, SupportVectorLoss) and loss.mass is not None:
        raise CertificateError("nu, which chooses a level, is not known: give C")
    if master.form.n_free:
        raise CertificateError(
            "features without a penalty are not known: give penalty_weights above 0"
        )
    exact = type(pricer) is StrataPricer or (type(pricer) is RulePricer and pricer.exact)
    if not exact:
        raise CertificateError(
            f"the columns of the {kind} are found by {type(pricer).__name__}, which does not know "
            "all of them: give estimator=None, or pricing='exact'"
        )
    return pricer
