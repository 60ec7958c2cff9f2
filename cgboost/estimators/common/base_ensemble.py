"""What all estimators share: the fit around the common loop, the tables, the staged outputs.

A fit is four steps: rows are read and y is encoded; the parameters become a plan, whose
runs are solved, with those who watch them (plan.py); what they found is kept as attributes. An
estimator says what y is (targets.py) and makes the plan: of a loss, a penalty and a family of
columns where an optimum is certified (objective.py, certified.py), else of master and pricer.

::

    BaseEnsemble                    fit, keep, outputs; rows are read by RowReader (reading.py)
    ├── Classification              labels (predictors.py)
    │   ├── ProbabilisticClassification   outputs are log-odds: predict_proba
    │   └── CalibratedClassification      probability=…: calibrated (calibration.py)
    ├── Regression                  numbers (predictors.py)
    │   └── TubeRegression          with a loss that has an epsilon (certified.py)
    ├── BaseBoost                   a loss, a penalty and a family, certified (certified.py)
    │   ├── BoostOverCosts          path over C or ν: BaseKernelBoost, BaseLPBoost
    │   ├── CostByRows              C=None: BaseLPBoost, BaseConstrainedBoost
    │   └── BaseSparseLinear (its outputs: LinearOutputs), BaseRuleSet
    ├── BaseStagewise               a number of rounds, no certificate (stagewise.py)
    │   ├── BaseLearnerStages       BaseLearnerBoost, BaseGradientBoosting
    │   └── BaseComponentwise, BaseTableStages (BaseTransform, BaseLinearTreeBoosting)
    └── BaseBLF                     latent factors

An estimator has two of these, what y is before how it is fitted: the classes of CGBoostClassifier
are, in the order in which Python asks them, CalibratedClassification, Classification,
BaseKernelBoost, BoostOverCosts, BaseBoost, BaseEnsemble, RowReader.

What a subclass may say, in the order of a fit, and who says it:

======================  ==========================================================================
``_prepare``            rows read elsewhere or with more: tables, sources, constraints, CostByRows,
                        joint classes
``_check_parameters``   every estimator, its own after those of its base
``_validated``          how X and y are read: kernels, linear models, tables, constraints, BLF
``_learn``, ``_target_kind``  labels or numbers; quantiles, several responses, rows without a y
``_weighted``           weights of classes: Classification
``_usable``             which rows make columns: BaseBoost by its family, BaseComponentwise
``_hold_out``           training rows for early stopping: one class, latent factors
``_plan``               the problems: Certified for BaseBoost, else Rounds of master and pricer
``_pool``               what certified columns are made of; linear models learn their units
``_certified``          the plan for columns of a pool: rules within a budget, constraints
``_objective``, ``_family``, ``_master_options``  of parameters, for that plan: BaseBoost
``_solve``              BaseBoost: small fits without rounds (``_runs_at_once``); more than one
                        solution of the plan: rules, constraints, holdouts, trimming
``_keep``               fitted attributes, each class those that it documents
``_table``              the columns of an output in ``columns_``: BaseBoost by its family
``_complete``           fitted attributes that take more than the runs: rules, constraints, tables
``_calibrate``          probabilities after the runs: CalibratedClassification
``_read_new``, ``_outputs``  new rows, as those of the fit were read; outputs of linear models
======================  ==========================================================================
"""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.arrays import Matrix, Vector
from cgboost.estimators.common.fitted_methods import NumberPerFeature
from cgboost.estimators.common.fitted_runs import (
    FittedOutput,
    FittedRun,
    Table,
    stacked,
    unchanged_on_failure,
    with_names,
)
from cgboost.estimators.common.parameters import (
    TradeOff,
    check_callbacks,
    check_class_weight,
    check_count,
    check_early_stopping,
    check_number,
    check_random_state,
    check_verbose,
)
from cgboost.estimators.common.plan import Plan, Watch, records_of, solve
from cgboost.estimators.common.reading import RowReader
from cgboost.estimators.common.scoring import (
    RoundScore,
    bare,
    column_names,
    scorers_of,
    warn_of_few,
    watched,
)
from cgboost.estimators.common.targets import TargetKind
from cgboost.estimators.common.training_rows import (
    EvalSets,
    HeldRows,
    HeldSets,
    TrainingRows,
    errors_of_set,
    named_sets,
)
from cgboost.generation.callbacks import EarlyStopping, ValidationMonitor
from cgboost.generation.history import Round
from cgboost.generation.resuming import RunRecord
from cgboost.parallel.executors import SharesExecutor


@dataclass(frozen=True)
class Wording:
    """The class and the parameters that messages name where one estimator calls the fit of another.

    Attributes
    ----------
    name : str
        The class that the user has called.
    trade_off : TradeOff or None
        Its parameter for C, ν or α, with the value that the user gave. None: that of the objective.
    remedy : str or None
        What may make more of a model without columns. None: that of the objective.
    time_limit : str
        Its parameter that limits the time.
    """

    name: str
    trade_off: TradeOff | None = None
    remedy: str | None = None
    time_limit: str = "time_limit"


@dataclass(eq=False, repr=False)
class BaseEnsemble(SharesExecutor, RowReader):
    """Parameters, ``fit`` and fitted attributes shared by all estimators.

    The dataclass generates the ``__init__`` that scikit-learn requires: it names every parameter
    and only stores it.
    """

    _: KW_ONLY
    time_limit: float | None = None
    early_stopping: bool | str = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    callbacks: Sequence[Callable[[Round], Any]] | None = None
    scoring: Any = None
    verbose: int = 0
    random_state: Any = None

    coef_ = NumberPerFeature()

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
        *,
        resume: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the model. A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            float32 stays float32; all other types become float64. Sparse linear models do not copy
            float32 and float64 arrays, including memory-mapped ones, keep sparse matrices sparse,
            and also take a source of blocks: any object that can be iterated over repeatedly and
            yields (X, y) or (X, y, weights), with the same rows in the same order each time. It is
            read once or twice per round, and only the features that enter are kept.
        y : array-like of shape (n_rows,), or None with a source
            Class labels of any type; numbers for regression. (n_rows, n_responses) for
            :class:`BLFRegressor`.
        sample_weight : array-like of shape (n_rows,) or None
            Multiplies the loss of each row. A row of weight w counts as w rows in means, deviations
            and kernel widths; one of weight 0 is left out. Not with a source.
        eval_set : (X, y), list of such pairs, dict of them by name, or None
            Held-out rows, scored (unweighted) after every round. The columns of ``history_`` are
            named validation_error and so on; for a list of several sets validation_0_error,
            validation_1_error, …; for a dict ``{"test": (X, y)}`` test_error.
        resume : str, path or None
            Continue from the file of a :class:`~cgboost.Checkpoint` with the same data and
            parameters.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message names the argument and its value.
        MasterError
            If the solver fails before any round has columns.
        Exception
            Any exception of a kernel, learner or executor before any round has columns (in every
            run, if there is one per class), and any exception of a callback.

        Warns
        -----
        ConvergenceWarning
            If the fit ended before its gap reached ``tol`` because of Ctrl-C, the time limit, a
            solver that failed or was too inaccurate, or an error in a kernel, learner or executor.
            The warning names the cause, and the model is the last good round.
        KernelScaleWarning
            If the sizes of the columns of two kernels differ by a factor of more than 1e6.
        DataWarning
            If early stopping watches fewer than 20 rows or rows that lack some of the classes, if
            the standard deviation of y is below epsilon, inside which errors are free, or if X was
            converted from a sparse format without access to columns or rows.
        TrivialModelWarning
            If no column is worth its cost.
        """
        started = time.perf_counter()
        with unchanged_on_failure(self):
            rows, held = self._prepare(X, y, sample_weight, eval_set)
            watch, plan = self._watch(held, started), self._plan(rows)
            with records_of(self, (X, y, sample_weight, eval_set), resume) as records:
                self._keep(plan, self._solve(plan, watch, records), rows)
                self._warn(plan)
                self._complete(plan, rows)
                self._calibrate(rows, held, started)
            self._fit_seconds = time.perf_counter() - started
        return self

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        """Check everything that ``fit`` is given; the training rows and those held out."""
        self._check_parameters()
        X, y = self._validated(X, y)
        rows = self._usable(self._weighted(TrainingRows.of(X, self._learn(y), sample_weight)))
        held = self._held(eval_set)
        if held is not None:
            return rows, held
        return self._hold_out(rows) if self.early_stopping else (rows, None)

    def _held(self, eval_set: EvalSets | None) -> HeldSets | None:
        """The sets of an ``eval_set``, checked and encoded; None without one."""
        sets = named_sets(eval_set)
        held = {}
        for name, pair in sets.items():
            X, y = self._checked_set(name, pair)
            held[name] = HeldRows(X, self._target_kind.encode(y))
        return held or None

    def _checked_set(self, name: str, pair: Any) -> tuple[Any, NDArray[Any]]:
        with errors_of_set(name):
            X, y = self._read_new(*pair)
        return X, y

    # ------------------------------------------------------------------ scores of rounds

    _stops_by_eval_set: ClassVar[bool] = True
    """Whether it is rows of an ``eval_set`` that early stopping watches."""

    @property
    def _score_directions(self) -> dict[str, bool]:
        """The scores of a round, those of ``scoring`` first, and whether greater is better."""
        asked = dict.fromkeys(scorers_of(self.scoring), True)
        return asked | {name: False for name in self._target_kind.scores() if name not in asked}

    def _watch(self, held: HeldSets | None, started: float) -> Watch:
        """Who watches the runs: scores of the sets that are held out, and the user's callbacks.

        Parameters
        ----------
        held : sets of rows or None
        started : float
            When the fit began, on the clock of ``time.perf_counter``.
        """
        held = held or {}
        self._held_sets = list(held)
        self._monitored = column_names(held, self._score_directions)
        stops = bool(held and self.early_stopping and self._stops_by_eval_set)
        if stops:
            name = self._set_of(watched(self.early_stopping, self._monitored), held)
            warn_of_few(name, held[name].y, getattr(self, "classes_", None))

        def callbacks(run: int) -> list[Callable[[Round], Any]]:
            found: list[Callable[[Round], Any]] = [*self._monitors(held, run)]
            if stops:
                metric = watched(self.early_stopping, self._monitored)
                rising = self._monitored[metric]
                found.append(
                    EarlyStopping(metric, patience=self.n_iter_no_change, greater_is_better=rising)
                )
            return [*found, *(self.callbacks or ())]

        limit = self.time_limit
        deadline = None if limit is None else started + self._share_of_time * limit
        return Watch(callbacks, verbose=self.verbose, deadline=deadline)

    def _set_of(self, column: str, held: HeldSets) -> str:
        """The set whose score a column of the history is."""
        return next(name for name in held if column in column_names([name], self._score_directions))

    def _monitors(self, held: HeldSets, run: int) -> list[ValidationMonitor]:
        """The callbacks that score the sets after every round of a run."""
        kind, monitors = self._target_kind, []
        for name, rows in held.items():
            run_y = kind.of_runs(rows.y)[run]
            scores = kind.scores(run)
            for called, scorer in scorers_of(self.scoring).items():
                view = bare(self)
                labels = kind.view(view, run_y)
                scores[called] = RoundScore(called, scorer, view, rows.X, labels, kind.unit)
            scores = {called: scores[called] for called in self._score_directions}
            monitors.append(ValidationMonitor(rows.X, run_y, scores, name=name))
        return monitors

    # ------------------------------------------------------------------ what a subclass says

    @abstractmethod
    def _learn(self, y: NDArray[Any]) -> NDArray[Any]:
        """Check the training y, keep what predictions need of it, and encode it."""

    @property
    @abstractmethod
    def _target_kind(self) -> TargetKind:
        """What y is, once it has been learned."""

    _learned: ClassVar[tuple[str, ...]] = ("classes_", "n_features_in_", "feature_names_in_")
    """Attributes that turn outputs into predictions: they are there before the runs."""

    @abstractmethod
    def _plan(self, rows: TrainingRows) -> Plan:
        """What is asked for: the problem of each run, and when to stop."""

    def _solve(
        self, plan: Plan, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        return solve(plan, watch, records)

    @abstractmethod
    def _warn(self, plan: Plan) -> None:
        """Warn of a fit that ended before it was meant to."""

    @property
    def _share_of_time(self) -> float:
        """The part of the time limit that the runs have."""
        return 1.0

    def _calibrate(self, rows: TrainingRows, held: HeldSets | None, started: float) -> None:
        """Calibrate probabilities, where there are some that need it."""
        return

    def _complete(self, plan: Plan, rows: TrainingRows) -> None:
        """Set fitted attributes that take more than the runs."""
        return

    def _weighted(self, rows: TrainingRows) -> TrainingRows:
        return rows

    def _without_class_weights(self, weights: Vector, y: NDArray[Any]) -> Vector:
        """The weights of rows, given their encoded y, without those of their classes."""
        return weights

    def _usable(self, rows: TrainingRows) -> TrainingRows:
        """The rows that cost anything; the others would make columns, means and thresholds."""
        return rows.counting()

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        check_number("time_limit", self.time_limit, above=0, optional=True)
        check_early_stopping("early_stopping", self.early_stopping)
        scorers_of(self.scoring)
        check_class_weight("class_weight", getattr(self, "class_weight", None))
        check_number("validation_fraction", self.validation_fraction, above=0, below=1)
        check_count("n_iter_no_change", self.n_iter_no_change)
        check_callbacks("callbacks", self.callbacks)
        check_verbose("verbose", self.verbose)
        check_random_state("random_state", self.random_state)

    def _hold_out(self, rows: TrainingRows) -> tuple[TrainingRows, HeldSets]:
        return rows.split(self.validation_fraction, self.random_state, stratify=not self._y_numeric)

    def _fold(
        self, rows: TrainingRows, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[TrainingRows, Matrix]:
        """The training rows of a fold, and the X of those that it holds out."""
        return rows.take(train), rows.X[test]

    _wording: ClassVar[Wording | None] = None

    def _speaking_as(self, wording: Wording | None) -> Self:
        """The estimator itself, with messages in the words of one that calls its fit."""
        vars(self).pop("_wording", None)
        if wording is not None:
            vars(self)["_wording"] = wording  # no field, which would be a parameter
        return self

    @property
    def _called(self) -> str:
        """The class that messages name: the one that the user has called."""
        return type(self).__name__ if self._wording is None else self._wording.name

    def _label(self, run: int) -> str:
        """How a sentence about one of several runs begins."""
        label = self._target_kind.label(run)
        return f"{label}: " if label else ""

    # ------------------------------------------------------------------ fitted attributes

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        self._runs = runs
        self.objective_, self.n_iter_ = 0.0, 0
        outputs, histories, best_rounds, reasons = [], [], [], []
        for run in runs:
            self.objective_ += run.objective
            self.n_iter_ += len(run.history["round"])
            outputs += run.outputs
            histories.append(run.history)
            best_rounds.append(run.best_round)
            reasons.append(str(run.stop_reason))
        tables, intercepts = [], []
        for output in outputs:
            tables.append(self._table(plan, output, rows))
            intercepts.append(output.intercept)
        kind = plan.target_kind
        labels, run_labels = kind.names, kind.run_names
        self.columns_ = with_names(stacked(tables, labels, kind.noun), self)
        self.history_ = stacked(histories, run_labels, kind.noun)
        vars(self).pop("coef_", None)  # of an earlier fit whose columns were features
        self.intercept_ = intercepts[0] if labels is None else np.array(intercepts)
        self.n_columns_ = len(self.columns_["coefficient"])
        self.best_round_ = best_rounds[0] if run_labels is None else best_rounds
        self.stop_reason_ = reasons[0] if run_labels is None else reasons

    @property
    def column_weights_(self) -> Vector:
        """The coefficients of the columns, in the order of ``columns_``."""
        weights: Vector = self.columns_["coefficient"]
        return weights

    def _table(self, plan: Plan, output: FittedOutput, rows: TrainingRows) -> Table:
        """The columns of an output with a nonzero coefficient."""
        return self._described(output.active) | output.active_numbers

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        """What the table says of active basis functions, besides coefficient and round."""
        return {}

    # ------------------------------------------------------------------ predictions

    def _outputs(self, X: ArrayLike) -> Vector:
        """Model outputs, shape (n_rows, n_outputs)."""
        rows = self._rows(X)
        values = [output.values(rows) for run in self._runs for output in run.outputs]
        return np.column_stack(values)

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        """Model outputs after every round; a run that has ended contributes its model."""
        rows = self._rows(X)
        staged = [output.staged_values(rows) for run in self._runs for output in run.outputs]
        for stage in range(max(len(values) for values in staged)):
            yield np.column_stack([values[min(stage, len(values) - 1)] for values in staged])
