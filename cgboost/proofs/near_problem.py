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

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.certified import BaseBoost, Certified
from cgboost.estimators.common.plan import RunTask, Watch
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.exceptions import CertificateError
from cgboost.forks import cached_property
from cgboost.generation.columns import Column
from cgboost.generation.history import Round
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import MasterState
from cgboost.generation.rounding import allowance
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import project_on_sum
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.reductions.centred_targets import centre_of
from cgboost.penalties import L1
from cgboost.pricing.rules import RulePricer
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.proofs.fitted_plan import (
    certified_plan,
    check_master,
    check_objective,
    check_whole_fit,
    is_own,
    refusal_of_pricer,
)
from cgboost.proofs.near_values import PoolValue, RuleValue, Value
from cgboost.proofs.rows import BoxRows, Rows, SmoothRows
from cgboost.tolerances import SMALLEST

OPTIMUM_GAP = 1e-9
"""The relative gap to which the optimum is looked for: what it leaves open widens no range."""

NEAR_SCORE = 0.9
"""Columns of scores above this share of their limit are in the program from the start."""

LEAST_ROOM = 1e-7
"""Of the level: programs of less room lose digits. Bounds and models keep to the level itself."""

SCORE_SLACK = 1e-12
"""Scores are sums over the rows, up to this share of what they may be."""

BALANCED = 1e-12
"""A sum of responses is what it should be up to this share of the sum of their sizes."""

LEAST_MULTIPLIER = 1e-300
"""Stands for a multiplier of 0, by which responses are divided."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model of the family, with the columns that it has, its output and its objective."""

    coef: Vector
    intercept: float
    output: Vector
    objective: float


class MergedRows:
    """The rows of a loss, those of a group as one where kinks alone count.

    Parameters
    ----------
    loss : SupportVectorLoss or RowwiseLoss
    rows : Rows
    groups : ndarray of shape (n_rows,)
        The number of each row's group.

    Attributes
    ----------
    loss, rows
        Of the groups, which only those of a sharp loss have.
    first : ndarray of shape (n_groups,)
        A row of each group.
    """

    def __init__(self, loss: Any, rows: Rows, groups: NDArray[np.intp]) -> None:
        self.loss, self.rows, self.groups = loss, rows, groups
        self.first: Indices = np.unique(groups, return_index=True)[1]
        self._lower: Vector = np.zeros(len(groups))
        self._own: Vector = self._lower
        self._share = np.ones(len(groups))
        if not rows.sharp:
            return
        n_groups = len(self.first)
        lower, upper = (
            np.bincount(groups, end, n_groups).astype(float) for end in (loss.lower, loss.upper)
        )
        whole, own = upper - lower, loss.upper - loss.lower
        self._lower, self._own = lower, loss.lower
        self._share = own / np.where(whole > 0, whole, 1.0)[groups]
        self.loss = replace(loss, target=loss.target[self.first], lower=lower, upper=upper)
        self.rows = BoxRows(self.loss)

    def values(self, columns: Sequence[Column]) -> Vector:
        """Columns on a row of each group, shape (n_columns, n_groups)."""
        return side_by_side(columns, len(self.groups))[:, self.first]

    def gathered(self, response: Vector) -> Vector:
        """The pseudo-response of the groups, from that of all rows."""
        gathered: Vector = np.bincount(self.groups, response, len(self.first)).astype(np.float64)
        return gathered

    def spread(self, response: Vector) -> Vector:
        """The pseudo-response of all rows, from that of the groups."""
        spread: Vector = self._own + self._share * (response - self._lower)[self.groups]
        return spread


class NearProblem:
    """A fitted model's problem, and the models whose objective is at most a level.

    Parameters
    ----------
    model : estimator
    X, y, sample_weight
        As given to ``fit``.
    epsilon : float

    Attributes
    ----------
    objective, level : float
        That of the model, and the largest one of the set, in the user's units.
    set_level : float
        V: the same in units of the master, as all that follows.
    output_unit, penalty_unit : float
        One unit of outputs, and of |a_j|, in the user's.
    centre : float
        c: where the offset is free, targets, offsets, outputs and values are less c, as in
        :mod:`cgboost.optimizers.reductions.centred_targets`; a value is v − v₀c here.
    loss : SupportVectorLoss or RowwiseLoss
        Of those targets.
    given : FittedOutput
        The model.
    columns, values : list of Column, ndarray of shape (n_columns, n_rows)
        Those of the optimum, and others that nearly come into it.
    best : Model
        The optimum.
    response : ndarray of shape (n_rows,)
        r, feasible for all columns.
    room : float
        V − gain(r).
    """

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any, epsilon: float) -> None:
        _check_kind(model, X, y)
        self.training, plan = _plan_of(model, X, y, sample_weight)
        task = next(iter(plan.tasks(Watch())))
        self.pricer, self.pool = _checked(model, task), plan.pool
        self.master = cast(SupportVectorMaster, task.master)
        self.two_sided, self.offset = self.master.two_sided, self.master.offset
        loss: Any = self.master.loss
        own = getattr(loss, "on_rows", loss)
        self.centre = centre_of(own) if self.offset == "free" else 0.0
        if self.centre:
            own = own.shifted(self.centre)
            loss = own if isinstance(loss, SupportVectorLoss) else RowwiseLoss(own)
        self.loss, box = loss, isinstance(loss, SupportVectorLoss)
        self.rows: Rows = BoxRows(loss) if box else SmoothRows(loss)
        self.unit = plan.objectives[0].unit
        while getattr(self.pool, "sharpen", bool)():  # values of kernels in float64
            pass
        scaling = getattr(model, "_scaling", None)
        self.output_unit = 1.0 if scaling is None else float(scaling.unit)
        self.penalty_unit = 1.0 if scaling is None else float(scaling.features)
        self.given = output = model._runs[0].outputs[0]
        self._given = self.model(
            output.coef,
            float(output.intercept) - self.centre,
            output.values(self.training.X) - self.centre,
        )
        self.objective = self.unit * self._given.objective
        check_objective(model, self.objective)
        self.level = (1.0 + epsilon) * self.objective
        self.set_level = (1.0 + epsilon) * self._given.objective
        if not self.set_level > 0:
            raise CertificateError(
                f"the objective is {self.objective:g}, and so is every multiple of it: models that "
                "are nearly as good are those whose objective is at most 1 + epsilon times it"
            )
        self._solve(task)

    # ------------------------------------------------------------------ the optimum

    def _solve(self, task: RunTask) -> None:
        """The optimum, a dual point there, and the program of what is near."""
        states: list[MasterState] = []

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
        _, most = self._nothing.priced(1.0, response, 1.0, state.columns, two_sided=self.two_sided)
        most = 1.0 if most is None else most
        if self.offset == "penalized":
            most = max(most, abs(float(response.sum())))
        self.response = response / max(1.0, most)
        columns = list(result.columns)
        values = side_by_side(columns, len(response))
        coef = np.zeros(len(columns))
        coef[: len(result.coef)] = result.coef
        scores = values @ self.response
        kept = np.flatnonzero((coef != 0) | (np.abs(scores) >= NEAR_SCORE))
        self.columns = [columns[j] for j in kept]
        coef, intercept = coef[kept], float(np.ravel(result.intercept)[0]) - self.centre
        best = self.model(coef, intercept, coef @ values[kept] + intercept)
        gains = self.rows.gains(self.response)
        allowed = allowance(self.rows.rounding(self.response, gains))
        room = self.set_level - float(gains.sum()) + allowed
        self.room = max(room, LEAST_ROOM * self.set_level)
        self.best = best
        self.values = values[kept]

    # ------------------------------------------------------------------ what a model costs

    @cached_property
    def box(self) -> tuple[Vector, Vector]:
        """The dual box of the rows."""
        if isinstance(self.rows, BoxRows):
            return self.rows.loss.lower, self.rows.loss.upper
        own: Any = self.rows.loss.on_rows  # type: ignore[attr-defined]
        low, high = own.loss.domain(own.target)
        return -own.weights * high, -own.weights * low

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """Numbers of rows that have the same features and the same target."""
        X, n_rows = self.training.X, len(self.response)
        if not (isinstance(X, np.ndarray) and X.dtype.kind == "f" and n_rows > X.shape[1]):
            return np.arange(n_rows)
        whole = np.column_stack([X, self.loss.target]).astype(np.float64, order="C")
        rows = whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel()
        return np.unique(rows, return_inverse=True)[1].ravel()

    @cached_property
    def merged(self) -> MergedRows:
        """Its rows, those of a sharp loss with the same features and the same target as one."""
        own = self.groups if self.rows.sharp else np.arange(len(self.response))
        return MergedRows(self.loss, self.rows, own)

    def model(self, coef: Vector, intercept: float, output: Vector) -> Model:
        """A model with its objective."""
        loss = float(self.rows.values(output).sum())
        own = abs(intercept) if self.offset == "penalized" else 0.0
        return Model(coef, intercept, output, loss + float(np.abs(coef).sum()) + own)

    def parts(self, output: Vector) -> Vector:
        """π_i."""
        return self.rows.parts(output, self.response)

    def between(self, start: Model, end: Model, level: float) -> Model:
        """The last model of at most this objective on the way from one model to another."""
        if end.objective <= level:
            return end
        begun, ended = np.zeros((2, max(len(start.coef), len(end.coef))))
        begun[: len(start.coef)], ended[: len(end.coef)] = start.coef, end.coef
        way, moved = end.output - start.output, ended - begun
        turned = end.intercept - start.intercept

        def at(share: float) -> Model:
            return self.model(
                begun + share * moved, start.intercept + share * turned, start.output + share * way
            )

        if start.objective >= level:
            return at(0.0)
        # an end far out leaves a small share: its own digits count, not those of the way
        share, _ = brentq(
            lambda x: at(x).objective - level,
            0.0,
            1.0,
            xtol=SMALLEST,
            rtol=1e-13,
            maxiter=1000,
            full_output=True,
            disp=False,
        )
        back = 1e-12
        while back < 1.0:
            if (found := at(share)).objective <= level:
                return found
            share *= 1.0 - back
            back *= 2.0
        return at(0.0)

    # ------------------------------------------------------------------ values and bounds

    @cached_property
    def _nothing(self) -> Value:
        """The value 0."""
        if isinstance(self.pricer, RulePricer):
            none = np.zeros(len(self.training.y))
            return RuleValue(0.0, self.pricer, none, self.training.X[:0], np.zeros(0))
        sizes = [int(self.pool.size(k)) for k in range(len(self.pool.strata))]
        return PoolValue(0.0, self.pool, [np.zeros(size) for size in sizes])

    def value_of(self, value: Value, columns: Sequence[Column], model: Model) -> float:
        """A value of a model with coefficients of the first of some columns."""
        total, columns = value.offset * model.intercept, columns[: len(model.coef)]
        if columns:
            total += float(value.worth(columns) @ model.coef)
            total += float(value.sizes(columns) @ np.abs(model.coef))
        return total

    def bound(
        self,
        value: Value,
        sign: float,
        multiplier: float,
        response: Vector,
        held: Sequence[Column],
    ) -> tuple[Sequence[Column], float]:
        """Columns that are missing, and what no model of the set exceeds.

        Parameters
        ----------
        value, sign
            The value times the sign is bounded.
        multiplier : float
            t.
        response : ndarray of shape (n_rows,)
            Near u/t; it is made feasible.
        held : sequence of Column
        """
        t = max(multiplier, value.least(sign), LEAST_MULTIPLIER)
        (low, high), total = self.box, -sign * value.offset / t
        missed = 0.0
        if self.offset == "free":
            response = project_on_sum(response, low, high, total)
            missed = abs(float(response.sum()) - total)
        else:
            response = np.clip(response, low, high)
        u = t * response
        new, most = value.priced(sign, u, t, held, two_sided=self.two_sided)
        # a box may have no room for so large a sum: then b goes on without end
        if most is None or missed > BALANCED * (float(np.abs(response).sum()) + abs(total)):
            return new, np.inf
        most *= 1.0 + SCORE_SLACK
        if self.offset == "penalized":
            most = max(most, abs(float(u.sum()) + sign * value.offset))
        u /= most
        gains = self.rows.gains(u)
        gain = float(gains.sum()) - allowance(self.rows.rounding(u, gains))
        return new, most * (self.set_level - gain)


def side_by_side(columns: Sequence[Column], n_rows: int) -> Vector:
    """Values on the training rows, shape (n_columns, n_rows)."""
    if not columns:
        return np.zeros((0, n_rows))
    return np.stack([np.asarray(c.values[:n_rows], dtype=np.float64) for c in columns])


# ------------------------------------------------------------------------------ which models


def _check_kind(model: Any, X: Any, y: Any) -> None:
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
    check_whole_fit(model, X, y)


def _plan_of(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingRows, Certified]:
    """The rows of a fit, and what it has asked for."""
    training, plan = certified_plan(model, X, y, sample_weight)
    if len(plan.y_of_runs) > 1 or plan.y_of_runs[0].ndim > 1:
        raise CertificateError(
            f"the {type(model).__name__} has several outputs, one for each class: near_optimal "
            "takes two classes, or numbers"
        )
    return training, plan


def _checked(model: Any, task: RunTask) -> Any:
    """The pricer of a problem whose columns are all known to it, under a 1-norm."""
    kind, master, pricer = type(model).__name__, task.master, task.pricer
    penalty = getattr(master, "penalty", None)
    check_master(kind, master)
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
        raise refusal_of_pricer(kind, pricer)
    return pricer
