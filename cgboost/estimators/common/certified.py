"""Common parts of estimators that solve their problem to a certified gap; regularisation paths.

A path has one model per C, ν or α, each started from the columns of the previous one.
"""

from __future__ import annotations

import copy
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning

from cgboost import above
from cgboost.arrays import Vector
from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun, Table
from cgboost.estimators.common.input_checks import warn_of_weights
from cgboost.estimators.common.objective import (
    SCALE_Y,
    ColumnFamily,
    MasterLossMaker,
    Objective,
    loss_of,
)
from cgboost.estimators.common.parameters import check_count, check_nu, check_number, check_solver
from cgboost.estimators.common.plan import Plan, RunTask, StopRule, Watch
from cgboost.estimators.common.predictors import Regression
from cgboost.estimators.common.scoring import scorers_of
from cgboost.estimators.common.targets import TargetKind
from cgboost.estimators.common.training_rows import EvalSets, HeldSets, TrainingRows, named_sets
from cgboost.exceptions import DataWarning, TrivialModelWarning, see, warn_caller
from cgboost.forks import cached_property
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import Pricer
from cgboost.generation.resuming import RunRecord
from cgboost.losses import Loss, SupportVectorLoss
from cgboost.losses.registry import RegressionLoss
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.optimizers.solver_options import checked_options
from cgboost.pricing import JointPricer, Pairs

SMALLEST_TOL = 1e-10
"""What ``tol=0`` means: sums in float64 cannot tell smaller relative gaps from none."""

PathValues = NDArray[np.float64] | Callable[[Any], NDArray[np.float64]]
"""The values of a path, or how they follow from an estimator that has seen the rows."""

UNPLANNED_STOPS = (
    StopReason.STALLED,
    StopReason.MASTER_FAILED,
    StopReason.PRICER_FAILED,
    StopReason.INVALID_BOUND,
    StopReason.TIME,
    StopReason.INTERRUPTED,
)
"""Ends that no parameter has asked for."""

SIZE_LIMITS = (StopReason.MAX_COLUMNS, StopReason.COLUMN_LIMIT, StopReason.MAX_ROUNDS)
"""Ends before there was a proof, or a model worth having."""


@dataclass(eq=False, repr=False)
class BaseBoost(BaseEnsemble):
    """An objective minimised over all columns of a family, up to a certified gap."""

    columns_per_round: int | Literal["all"] | None = field(default=None, kw_only=True)
    max_columns: int | None = field(default=None, kw_only=True)
    tol: float = field(default=1e-4, kw_only=True)
    solver: str = field(default="auto", kw_only=True)
    solver_options: Mapping[str, Any] | None = field(default=None, kw_only=True)

    # ------------------------------------------------------------------ what a subclass says

    @property
    @abstractmethod
    def _objective(self) -> Objective:
        """Loss and penalty, from the parameters."""

    @property
    @abstractmethod
    def _family(self) -> ColumnFamily:
        """The family of columns, from the parameters."""

    _path_score_name: ClassVar[str] = "score"

    def _path_score(self, X: Any, y: Any, weights: Vector | None = None) -> float:
        """What paths score their models by without ``scoring``, greater is better."""
        model: Any = self  # scikit-learn's classes have the score
        return float(model.score(X, y, weights))

    @abstractmethod
    def _master_options(self) -> dict[str, Any]:
        """Sign rule, offset and solver of the masters."""

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn, with whether X is square."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._family.is_pairwise
        tags.input_tags.sparse = bool(self._accept_sparse)
        return tags

    @property
    def _accept_sparse(self) -> Any:
        return self._family.accept_sparse

    # ------------------------------------------------------------------ the runs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        family = self._family
        check_count("columns_per_round", self.columns_per_round, optional=True, words=family.words)
        check_count("max_columns", self.max_columns, optional=True)
        check_number("tol", self.tol, at_least=0)
        family.check()
        checked_options(self.solver, self.solver_options)

    def _hold_out(self, rows: TrainingRows) -> tuple[TrainingRows, HeldSets]:
        self._family.check_hold_out()
        return super()._hold_out(rows)

    def _usable(self, rows: TrainingRows) -> TrainingRows:
        return self._family.usable(rows)

    @property
    def _is_watched(self) -> bool:
        """Whether somebody asks what the rounds of a fit are like, or what they end by."""
        limits = self.columns_per_round, self.max_columns, self.time_limit
        watched = bool(self.callbacks or self.verbose or self.early_stopping)
        return watched or any(limit is not None for limit in limits)

    def _solve(
        self, plan: Plan, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        """The runs of a plan, without rounds where the problem is small and none is watched."""
        begun = list(records or ())  # runs of a checkpoint go on as they began
        if not (begun or self._is_watched or watch.callbacks(0)):
            certified = isinstance(plan, Certified) and plan.carried is None
            runs = self._runs_at_once(cast(Certified, plan)) if certified else None
            if runs is not None:
                return runs
        return super()._solve(plan, watch, iter(begun))

    def _runs_at_once(self, plan: Certified) -> list[FittedRun] | None:
        """Runs as one round of the loop leaves them, made without; None where there are none."""
        return None

    @property
    def _tol(self) -> float:
        return max(self.tol, SMALLEST_TOL)

    def _pool(self, rows: TrainingRows) -> Any:
        """What the runs share to make columns."""
        return self._family.pool(rows)

    def _plan(self, rows: TrainingRows) -> Plan:
        return self._certified(self._pool(rows), rows)

    def _certified(self, pool: Any, rows: TrainingRows) -> Certified:
        """The plan, for columns from a pool; the units of the objective may follow from it."""
        objectives = self._objectives
        check_solver("solver", self.solver, objectives[0].program)
        return Certified(
            self._target_kind,
            StopRule(self._tol, self.max_columns),
            pool,
            y_of_runs=self._target_kind.of_runs(rows.y),
            weights=rows.weights,
            objectives=objectives,
            family=self._family,
            options=self._master_options() | {"solver_options": self.solver_options},
            columns_per_round=self.columns_per_round,
        )

    @property
    def _objectives(self) -> Sequence[Objective]:
        """Those of the runs; one stands for all."""
        return [self._objective]

    # ------------------------------------------------------------------ fitted attributes

    def _table(self, plan: Plan, output: FittedOutput, rows: TrainingRows) -> Table:
        assert isinstance(plan, Proven)
        strata = output.strata[np.flatnonzero(output.coef)]
        described = plan.family.described(output.active, strata, rows)
        return plan.family.completed(described | output.active_numbers)

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        assert isinstance(plan, Proven)
        kind, family, objective = plan.target_kind, plan.family, plan.objectives[0]
        runs = self._at_constants(kind, runs, rows)
        super()._keep(plan, runs, rows)
        self.dual_bound_, self.gap_ = 0.0, 0.0
        for run in runs:
            self.dual_bound_ += run.bound
            self.gap_ = max(self.gap_, run.gap)
        self.converged_ = bool(self.gap_ <= plan.stop.tol)
        self._warn_of_scale(runs, rows, objective.tube)
        if objective.trade_off.name == "C":
            warn_of_weights(self._called, rows.weights, f"{objective.trade_off} multiplies each")
        for name in vars(self).get("_optional", ()):  # of an earlier fit
            vars(self).pop(name, None)
        one = kind.run_names is None
        own = objective.attributes(runs, one=one) | family.attributes(self.columns_, runs)
        self._optional = [name for name, value in own.items() if value is not None]
        for name in self._optional:
            setattr(self, name, own[name])

    def _at_constants(
        self, kind: TargetKind, runs: list[FittedRun], rows: TrainingRows
    ) -> list[FittedRun]:
        """The runs, those without columns with the constants that they predict."""
        return kind.leaning(runs, rows)

    def _warn_of_scale(self, runs: list[FittedRun], rows: TrainingRows, tube: float) -> None:
        """Warn of a y that hardly leaves the tube in which errors are free."""
        if not tube or any(run.is_trivial for run in runs):  # of which there is a warning already
            return
        mean = np.average(rows.y, weights=rows.weights)
        spread = float(np.sqrt(np.average((rows.y - mean) ** 2, weights=rows.weights)))
        if spread < tube:
            warn_caller(
                f"{self._called}: the standard deviation of y, {spread:.3g}, is below "
                f"epsilon={tube:g}, so that most errors are free: choose a smaller epsilon, or "
                f"{SCALE_Y}{see('trivial-models')}",
                DataWarning,
            )

    def _warn(self, plan: Plan, *, on_path: bool = False) -> None:
        """Say once which runs ended before ``tol`` and why, and which models have no column."""
        assert isinstance(plan, Proven)
        family, objective = plan.family, plan.objectives[0]
        cut_short, trivial, kept, proved = [], [], [], True
        expected = on_path and family.paths_begin_trivial
        for k, run in enumerate(self._runs):
            label = self._label(k)
            if run.gap > plan.stop.tol:
                words, limited = run.message, family.limited_by
                if run.stop_reason is StopReason.COLUMN_LIMIT:
                    words = limited
                if run.stop_reason in UNPLANNED_STOPS or words == limited != "":
                    cut_short.append(f"{label}{run.stop_reason}: {words}, {_proved(run)}")
                if self.early_stopping and run.is_trivial:
                    kept.append(
                        f"{label}no round had a better validation score than the model without "
                        "columns, which is kept"
                    )
                elif run.is_trivial and run.stop_reason is StopReason.NO_COLUMN:
                    kept.append(f"{label}no column was found that is worth its price")
                elif run.is_trivial and run.stop_reason in SIZE_LIMITS and not expected:
                    kept.append(
                        f"{label}{run.stop_reason}: {words}, and no column among those so far is "
                        "worth its price: allow more of them"
                    )
            elif run.is_trivial and not expected:
                trivial.append(f"{label}no column is worth its price")
                proved &= run.stop_reason is not StopReason.GAP
        predicted = plan.target_kind.of_constants(self._runs, self.intercept_)
        name, called = self._called, "time_limit"
        if (wording := self._wording) is not None:
            trade_off = wording.trade_off or objective.trade_off
            remedy = wording.remedy or objective.remedy
            objective = replace(objective, trade_off=trade_off, remedy=remedy)
            called = wording.time_limit
        if cut_short:
            limit = "" if self.time_limit is None else f" within {called}={self.time_limit:g}"
            warn_caller(
                f"{name} stopped before reaching tol={self.tol:g}{limit}: "
                f"{'; '.join(cut_short)}{see('stopped-early')}",
                ConvergenceWarning,
            )
        if trivial:
            remedy = objective.remedy if self.objective_ else objective.remedy_at_zero
            is_best = "optimal" if proved else f"within tol={self.tol:g} of the optimum"
            warn_caller(
                f"{name}: {'; '.join(trivial)}: the model without columns is {is_best} "
                f"for {objective.trade_off}{predicted}; {remedy}"
                f"{see('trivial-models')}",
                TrivialModelWarning,
            )
        if kept:
            words = f"{'; '.join(kept)}{predicted}"
            warn_caller(f"{name}: {words}{see('trivial-models')}", TrivialModelWarning)

    # ------------------------------------------------------------------ proofs

    def certificate(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        output: int | None = None,
        data: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Prove to everybody how far this model is from its optimum, in a file to be checked.

        ``examples/check_certificate.py`` verifies the file against the data in exact arithmetic;
        it is 150 lines long, and has nothing of this package.

        Parameters
        ----------
        path : str or path-like
            Usually ``proof.json``.
        X, y, sample_weight
            As given to ``fit``: a model keeps no rows.
        output, data
            As in ``cgboost.certify(…).save``: which of several problems the file is about, and
            where to write the table that the checker reads. Of kernel machines it is always
            written, by default next to the file.

        Returns
        -------
        Certificate
            As of :func:`cgboost.certify`.

        Raises
        ------
        CertificateError
            For models, losses and penalties without an exact certificate, by their names.
        """
        return above.write_certificate(self, path, X, y, sample_weight, output=output, data=data)

    # ------------------------------------------------------------------ paths

    def _fit_along(
        self,
        X: Any,
        y: Any,
        parameter: PathParameter,
        values: PathValues,
        sample_weight: ArrayLike | None,
        eval_set: EvalSets | None,
    ) -> RegularizationPath:
        """Fit a model for every value of a parameter, as :meth:`fit` does for one.

        The models share what is read and prepared of the rows, the pool of columns with what it has
        computed, and the columns in their masters (``Certified.carried``). A path cannot be
        resumed, and this estimator is left as it is.

        Parameters
        ----------
        X, y, sample_weight, eval_set
            As for :meth:`fit`.
        parameter : {"C", "nu", "alpha"}
        values : ndarray of shape (n_values,), or callable
            A function is called with the estimator after it has seen the rows.
        """
        prepared, sets = copy.copy(self), named_sets(eval_set)
        if not callable(values):
            first = simplest_first(parameter, values)[0]
            prepared.set_params(**{parameter: float(values[first])})
        rows, held = prepared._prepare(X, y, sample_weight, eval_set)
        prepared._watch(held, time.perf_counter())  # what is scored is known before any column is
        pool = prepared._pool(rows)
        if callable(values):
            values = values(prepared)
        carried: dict[int, WarmStart] = {}
        begun = time.perf_counter()
        found = prepared._points_along(pool, rows, held, parameter, values)
        name, scorer = next(iter(scorers_of(self.scoring).items()), (self._path_score_name, None))
        seconds, scores = np.zeros(len(values)), np.full(len(values), np.nan)
        seconds[list(found)] = (time.perf_counter() - begun) / max(1, len(found))
        for place in simplest_first(parameter, values).tolist():
            if place not in found:
                started = time.perf_counter()
                model = copy.copy(prepared)
                setattr(model, parameter, float(values[place]))  # set_params reads signatures again
                plan = replace(model._certified(pool, rows), carried=carried)
                model._keep(plan, model._solve(plan, model._watch(held, started)), rows)
                model._warn(plan, on_path=True)
                model._calibrate(rows, held, started)
                seconds[place] = time.perf_counter() - started
                found[place] = model
            if sets:
                own, model = next(iter(sets.values())), model_of(found[place])
                scores[place] = model._path_score(*own) if scorer is None else scorer(model, *own)
        points = [found[place] for place in range(len(values))]
        return RegularizationPath(parameter, values, points, scores, seconds, name)

    def _points_along(
        self,
        pool: Any,
        rows: TrainingRows,
        held: HeldSets | None,
        parameter: PathParameter,
        values: Vector,
    ) -> dict[int, Any]:
        """Points of a path that are found together, by the places of their values."""
        return {}


@dataclass(eq=False, repr=False)
class TubeRegression(Regression):
    """Errors up to ``epsilon`` are free, unless another loss is asked for."""

    loss: RegressionLoss | Loss = field(default="epsilon_insensitive", kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)

    @property
    def _loss(self) -> Loss:
        return loss_of(self, epsilon="epsilon")

    @property
    def _known_loss(self) -> Loss:
        return self._loss


@dataclass(eq=False, repr=False)
class CostByRows(BaseBoost):
    """One whose C follows from the rows where the user gives none."""

    C: float | None = field(default=None, kw_only=True)

    _usual_cost = 1.0
    """What C is then; before the rows are known, 1."""

    @property
    def _chosen_cost(self) -> float:
        """C as given, or what takes its place."""
        return float(self._usual_cost if self.C is None else self.C)

    @abstractmethod
    def _cost_by_rows(self, rows: TrainingRows) -> float:
        """C where the user gives none."""

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        rows, held = super()._prepare(X, y, sample_weight, eval_set)
        self._usual_cost = self._cost_by_rows(rows)
        return rows, held

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        self.C_ = self._chosen_cost


class BoostOverCosts(BaseBoost):
    """One whose loss is weighed by C, or whose margin or tube by ν: paths over these."""

    def path(
        self,
        X: Any,
        y: Any = None,
        C_values: Sequence[float] | None = None,
        *,
        nu_values: Sequence[float] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
    ) -> RegularizationPath:
        """Fit a model for every C or every ν; much cheaper than separate fits.

        The models share the computed columns. They are fitted in order of increasing C or
        decreasing ν, and each starts with the columns generated by the models before it. This
        estimator itself is not changed.

        Parameters
        ----------
        X, y, sample_weight, eval_set
            As in :meth:`fit`. Models are scored on the first set, by the first scorer of
            ``scoring``, or else by ``score``.
        C_values : sequence of float
            In any order. Not for classifiers with ``nu``, which replaces C.
        nu_values : sequence of float
            Instead of ``C_values``, in any order.

        Returns
        -------
        RegularizationPath

        Raises
        ------
        ValueError
            As :meth:`fit`; if there is no value or one out of range; if both or neither of
            ``C_values`` and ``nu_values`` are given, or ``C_values`` although ``nu`` replaces C.
        """
        parameter, values = _path_values(self, C_values, nu_values)
        return self._fit_along(X, y, parameter, values, sample_weight, eval_set)


@dataclass(frozen=True)
class Proven(Plan):
    """What has a proof: objectives minimised over a family of columns.

    Attributes
    ----------
    y_of_runs : list of ndarray
        What each run fits its outputs to; ±1 for each class where a run is a joint problem.
    objectives : sequence of Objective
        One for each run, or one for all.
    """

    y_of_runs: list[Vector] = field(repr=False)
    objectives: Sequence[Objective]
    family: ColumnFamily

    def shared(self, functions: list[Any]) -> list[Any]:
        """The basis functions of all runs, with what they have in common kept once."""
        return self.family.shared(functions)


@dataclass(frozen=True)
class Certified(Proven):
    """A loss, a penalty and a family of columns, over the rows that are read.

    Attributes
    ----------
    target_kind, stop, pool, y_of_runs, objectives, family
        As of every :class:`Proven`.
    weights : ndarray of shape (n_rows,)
    options : mapping
        Of the masters: sign rule, offset, solver.
    columns_per_round : int, "all" or None
        None: as many as the family says.
    neighbours : bool
        Whether a run starts from the columns of the one before it.
    carried : dict of int to WarmStart, or None
        By number of the run, where it starts from; written anew when the run has ended. For paths.
    """

    weights: Vector = field(repr=False)
    options: Mapping[str, Any]
    columns_per_round: int | Literal["all"] | None = None
    neighbours: bool = False
    carried: MutableMapping[int, WarmStart] | None = field(default=None, repr=False)

    @classmethod
    def like(cls, plan: Certified, **own: Any) -> Self:
        """A plan of this kind for the same problem, with what such a plan has of its kind."""
        return cls(**{known.name: getattr(plan, known.name) for known in fields(plan)}, **own)

    def tasks(self, watch: Watch) -> Iterator[RunTask]:
        """Master and pricer of each run, one after the other."""
        family, pool, last = self.family, self.pool, None
        for number, y in enumerate(self.y_of_runs):
            objective = self.objectives[min(number, len(self.objectives) - 1)]
            make_master = partial(objective.make_master, **self.options)
            weights, n_outputs, target, pairs = self.weights, 1, y, None
            if y.ndim == 2 and family.is_for_all_outputs:  # rows are pairs of an output and a row
                n_outputs, y = y.shape[1], y.T.ravel()
                weights = np.tile(weights, n_outputs)
                make_master = partial(make_master, n_outputs=n_outputs)
            elif y.ndim == 2:  # rows of the master are pairs of a row and a class
                n_outputs = y.shape[1]
                pairs = Pairs(y.argmax(axis=1), n_outputs)
                y, weights = np.ones(len(pairs)), weights[pairs.row]
            columns = self.columns_per_round
            if columns is None or isinstance(columns, str):
                columns = family.columns_per_round(pool, len(self.weights))
                columns *= 1 if family.is_for_all_outputs else n_outputs
            make = partial(_made, make_master, objective.make_loss, y, weights)
            master = make()
            pricer = self._pricer(master, target, pairs)
            start = (self.carried or {}).get(number)
            if start is None and self.stop.max_columns is None:
                # of many kernel rows: a loop over a part of them; of linear models: all of few
                # features, or, where these are many and the loss is smooth, loops at smaller prices
                seconds = watch.seconds(self.target_kind.n_runs - number)
                start = last or family.warm_start(pool, master.loss, make_master, seconds)
            # how many columns to expect; of kernels free centres, machines solved to the end
            master, pricer = family.prepared(pool, master, pricer, make)
            if start is not None:
                if self.stop.max_columns is not None:  # only the columns in use count
                    start = replace(start, loss=None, live=None)
                master.start_from(start)
            yield RunTask(
                master,
                pricer,
                n_outputs=n_outputs,
                columns_per_round=columns,
                level_of=_level_of(master.loss),
                max_columns=family.most_columns(len(self.weights)),
            )
            if self.carried is not None:
                self.carried[number] = master.warm_start
            if self.neighbours:  # the vertex stays with the run, for its next problem
                last = replace(master.warm_start, loss=None, live=None)
            del master, pricer  # their matrices go before there are those of another run

    def _pricer(self, master: Any, y: Vector, pairs: Pairs | None) -> Pricer:
        """The pricer of a run; of several classes, whose rows are pairs, one for all of them."""
        count = 1 if pairs is None else pairs.n_outputs
        of_outputs = [self.family.pricer(self.pool, self.stop.tol) for _ in range(count)]
        if pairs is None:
            return of_outputs[0]
        return JointPricer(pairs, of_outputs, names=cast(Any, self.target_kind.names))


def _made(
    make_master: Callable[[Any], Any], make_loss: MasterLossMaker, y: Vector, weights: Vector
) -> Any:
    """A new master of a run."""
    return make_master(make_loss(y, weights))


def _level_of(loss: Any) -> Callable[[Vector], float] | None:
    """What a support-vector loss with a sum constraint chooses itself."""
    if not isinstance(loss, SupportVectorLoss) or loss.mass is None:
        return None
    return lambda output: loss.level(np.broadcast_to(output, loss.n_rows))


def _proved(run: FittedRun) -> str:
    gap = f"relative gap {run.gap:.1e}" if np.isfinite(run.gap) else "without a certificate"
    if run.is_trivial:
        return f"{gap}; no columns yet, so that it predicts a constant"
    return f"{gap}; a constant makes fewer errors on the training rows" if run.beaten else gap


PathParameter = Literal["C", "nu", "alpha"]


class PointOfPath(ABC):
    """A point of a path of linear models that has its numbers, and no model before it is asked for.

    Attributes
    ----------
    coef_, intercept_, objective_, gap_, n_columns_
        Of the model.
    """

    coef_: Vector
    intercept_: Any
    objective_: float
    gap_: float
    n_columns_: int

    @property
    @abstractmethod
    def model(self) -> Any:
        """The model, the same each time."""


@dataclass(frozen=True, repr=False)
class RegularizationPath:
    """The models of a path, in the order in which their C, ν or α were given.

    Attributes
    ----------
    parameter : {"C", "nu", "alpha"}
        The parameter that varies.
    values : ndarray of shape (n_values,)
    points : list of estimators or PointOfPath
        What was found; estimators where each was fitted by itself.
    scores : ndarray of shape (n_values,)
        Scores on the ``eval_set`` (the first of several), greater is better; nan without one. They
        are computed by the first scorer of ``scoring``; without it, they are minus the mean loss
        for linear models and ``model.score`` for others.
    seconds : ndarray of shape (n_values,)
    score_name : str
        Name of the scores.
    """

    parameter: PathParameter
    values: NDArray[np.float64]
    points: list[Any]
    scores: NDArray[np.float64]
    seconds: NDArray[np.float64]
    score_name: str = "score"

    def __repr__(self) -> str:
        span = f"{self.values[0]:.3g} to {self.values[-1]:.3g}"
        return f"RegularizationPath({len(self)} models, {self.parameter} from {span})"

    @cached_property
    def models(self) -> list[Any]:
        """Fitted estimators; each equals the result of ``fit`` with its value, up to ``tol``."""
        return [model_of(point) for point in self.points]

    def __iter__(self) -> Iterator[Any]:
        """The models, in their order."""
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def C_values(self) -> NDArray[np.float64]:  # noqa: N802 – C is the parameter's name
        """The C of every model."""
        return np.array([model.C for model in self.models])

    @property
    def alphas(self) -> NDArray[np.float64]:
        """The α of every model."""
        return np.array([model.alpha for model in self.models])

    @property
    def nu_values(self) -> NDArray[Any]:
        """The ν of every model; None if C varies instead."""
        return np.array([model.nu for model in self.models])

    @property
    def coefs(self) -> NDArray[np.float64]:
        """The coefficients of every linear model.

        Shape (n_features, n_values), or (n_outputs, n_features, n_values) of several outputs.

        Raises
        ------
        ValueError
            If the models are not linear in their features.
        """
        linear = [isinstance(own, PointOfPath) or hasattr(own, "sparsify") for own in self.points]
        if not all(linear):
            name = type(self.points[0]).__name__
            raise ValueError(
                f"coefs needs linear models: {name} has no coefficient for a feature; table() has "
                "the sizes, objectives and scores of a path"
            )
        each = [point.coef_ for point in self.points]
        coefs = np.stack([c.toarray() if issparse(c) else np.atleast_2d(c) for c in each], axis=-1)
        return coefs[0] if len(coefs) == 1 else coefs

    @property
    def best(self) -> Any:
        """The model with the best score; among ties, the smallest C, or the largest ν or α.

        Raises
        ------
        ValueError
            If the path was computed without an ``eval_set``.
        """
        if np.isnan(self.scores).any():
            raise ValueError("a path has a best model only if path() was given an eval_set")
        order = simplest_first(self.parameter, self.values)
        return model_of(self.points[order[np.argmax(self.scores[order])]])

    def table(self) -> dict[str, NDArray[Any]]:
        """One entry per model: C, nu or alpha, n_columns, objective, gap, score, seconds."""
        return {
            self.parameter: self.values,
            "n_columns": np.array([point.n_columns_ for point in self.points]),
            "objective": np.array([point.objective_ for point in self.points]),
            "gap": np.array([point.gap_ for point in self.points]),
            "score": self.scores,
            "seconds": self.seconds,
        }


def model_of(point: Any) -> Any:
    """The model of a point of a path, which may be the point itself."""
    return point.model if isinstance(point, PointOfPath) else point


def simplest_first(parameter: PathParameter, values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Growing C, falling ν or α: the models with the most errors come first."""
    return np.argsort(values if parameter == "C" else -values, kind="stable")


def _path_values(
    estimator: Any, C_values: Any, nu_values: Any
) -> tuple[PathParameter, NDArray[np.float64]]:
    """What varies along a path, and the values, checked."""
    if (C_values is None) == (nu_values is None):
        given = f"C_values={C_values!r} and nu_values={nu_values!r}"
        raise ValueError(f"a path is over C or over ν: give one of the two, got {given}")
    name, values = ("C_values", C_values) if nu_values is None else ("nu_values", nu_values)
    if np.ndim(values) != 1:
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}")
    if len(values) == 0:
        raise ValueError(f"{name} must have at least one value, got none")
    for value in values:
        if name == "nu_values":
            check_nu(value, name=name)
        else:
            check_number(name, value, above=0)
    nu = getattr(estimator, "nu", None)
    if name == "C_values" and nu is not None and not is_regressor(estimator):
        raise ValueError(
            f"the path is over C, but nu={nu!r} is given in its place: give nu_values, or nu=None"
        )
    return ("C" if name == "C_values" else "nu"), np.asarray(values, dtype=np.float64)
