"""Boosting under constraints: the estimators.

    min  Σ|α_j| + C Σ_i w_i loss(y_i, f(x_i)),   f = Σ_j α_j h_j + b,   under constraints on f and α

over all columns of a family, with a lower bound on the optimum. Limits that are linear in the
output, signs and budgets become rows and columns of the dual that LPBoost solves; all other convex
constraints are solved with CVXPY.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.certified import CostByRows, Proven, TubeRegression
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.input_checks import validate_data
from cgboost.estimators.common.objective import (
    Margins,
    Objective,
    check_own,
    check_task_and_loss,
    cost_of_labels,
    margin_objective,
    residual_objective,
)
from cgboost.estimators.common.parameters import check_choice, check_number, check_solver
from cgboost.estimators.common.plan import Plan, RunTask, StopRule, Watch
from cgboost.estimators.common.predictors import Classification
from cgboost.estimators.common.targets import Labels
from cgboost.estimators.common.training_rows import FLOATS, EvalSets, HeldSets, TrainingRows
from cgboost.estimators.constrained import report
from cgboost.estimators.constrained.constraints.constraint import Constraint, Own
from cgboost.estimators.constrained.data import (
    Declarations,
    Features,
    Grouping,
    Groupings,
    MeasuredModel,
)
from cgboost.estimators.constrained.given_columns import given_columns
from cgboost.estimators.constrained.inputs import (
    ConstraintInputs,
    check_labels,
    dropped_places,
    group_values,
    known_groups,
    without,
)
from cgboost.estimators.constrained.obeying_columns import (
    ConstrainedColumns,
    ObeyingKernels,
    family_of,
)
from cgboost.estimators.constrained.problem import ConstrainedProblem
from cgboost.estimators.constrained.search import obeying_runs
from cgboost.estimators.lpboost.lp_boost import stump_importances
from cgboost.exceptions import see
from cgboost.generation.callbacks import ValidationMonitor
from cgboost.generation.resuming import RunRecord
from cgboost.losses import Loss
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    get_loss,
)
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.penalties import L1
from cgboost.tables.frames import frame_of, is_frame, some_columns

ROUNDS_TO_THE_LIMIT = 6
"""A number of columns that the user allows is reached in so many rounds, or fewer columns come at
once."""

OffsetRule = Literal["auto", "none", "free", "group"]


def rules_of(constraints: Any) -> tuple[Constraint, ...]:
    """The parameter ``constraints`` as objects: one, several, or functions among them."""
    if constraints is None:
        return ()
    if isinstance(constraints, Constraint) or not isinstance(constraints, (list, tuple)):
        constraints = (constraints,)
    for one in constraints:
        if isinstance(one, type):
            raise ValueError(
                f"constraints has the class {one.__name__}: give an object, {one.__name__}(...)"
                f"{see('constraints')}"
            )
    return tuple(one if isinstance(one, Constraint) else Own(one) for one in constraints)


def step_feature(
    problem: ConstrainedProblem, declared: Declarations, given: Mapping[Any, ArrayLike]
) -> int:
    """The feature that tells apart the groups of limits on rates, for thresholds of each group.

    Raises
    ------
    ValueError
        If such thresholds cannot be had, or would break other constraints.
    """
    rule, hint = "offset='group' (a threshold for each group)", see("constraints")
    if not problem.family.takes_steps:
        raise ValueError(f"{rule} goes with columns='stumps' or a FrozenEstimator{hint}")
    of_rates = [constraint for constraint in problem.constraints if constraint.of_rates]
    names = {constraint.groups_of for constraint in of_rates}
    if len(names) != 1:
        raise ValueError(
            f"{rule} needs limits on the rates of one grouping, ParityGap('sex', 0.02, "
            f"of='rate') for example; there are limits on those of {sorted(map(str, names))}{hint}"
        )
    name, by = names.pop(), f"{of_rates[0]!r} with offset='group'"
    if name in given:
        raise ValueError(
            f"{by} needs the groups of new rows, too: give {name!r} as a column of X instead of "
            f"groups={{{name!r}: …}}{hint}"
        )
    feature = problem.features.index(name, by)
    moved = declared.rows or declared.convex or declared.own or declared.minimax
    drawn = any(feature in budget.features for budget in declared.budgets)
    if moved or drawn or feature in declared.signs or feature in declared.shapes:
        others = [repr(one) for one in problem.constraints if not one.of_rates]
        raise ValueError(
            f"{rule} would break limits that other constraints set, {', '.join(others)}: leave "
            f"it out, or them{hint}"
        )
    return feature


@dataclass(eq=False, repr=False)
class BaseConstrainedBoost(CostByRows):
    """Boosting under constraints, of labels or of numbers."""

    constraints: Any = ()
    columns: Any = field(default="stumps", kw_only=True)
    drop: Sequence[Any] | None = field(default=None, kw_only=True)
    offset: OffsetRule = field(default="auto", kw_only=True)

    columns_per_round: int | None = field(default=None, kw_only=True)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
        groups: Mapping[Any, ArrayLike] | None = None,
        *,
        resume: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the model. A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,) or None
            Multiplies the loss of each row, and weights rows in the means of groups.
        eval_set : (X, y), list of such pairs, dict of them by name, or None
            Held-out rows, as in :meth:`LPBoostClassifier.fit`. Constraints are measured on the
            first set, with the groups that are columns of its X. If it has groups that do not occur
            in the training rows, their values are nan and a ``DataWarning`` is issued.
        groups : mapping of str to array-like of shape (n_rows,), or None
            Groups of rows that are not columns of X, under the names used in constraints.
        resume : None
            Not supported: searches for prices cannot be resumed.

        Returns
        -------
        self

        Raises
        ------
        InfeasibleConstraintsError
            If constraints contradict each other; the message names them.
        ValueError
            For invalid parameters or data, and for constraints that these columns cannot satisfy.
        """
        if groups is not None and not isinstance(groups, Mapping):
            raise ValueError(
                "groups must be a dict of arrays by the names that constraints use, "
                f"groups={{'sex': array}} for example, got a {type(groups).__name__}"
            )
        self._inputs = ConstraintInputs({} if groups is None else dict(groups))
        try:
            return super().fit(X, y, sample_weight, eval_set, resume=resume)
        finally:
            vars(self).pop("_inputs", None)

    def constraint_values(
        self, X: Any, y: Any, groups: Mapping[Any, ArrayLike] | None = None
    ) -> Table:
        """The values of the constraints on other rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        groups : mapping of str to array-like of shape (n_rows,), or None
            Groups that are not columns of X.

        Returns
        -------
        dict of str to ndarray
            constraint, part, value and limit, with one entry for each part of each constraint.

        Raises
        ------
        ValueError
            If a group or a label does not occur in the training rows.
        """
        check_is_fitted(self)
        constraints = rules_of(self.constraints)
        of_groups = [c for c in constraints if c.groups_of is not None]
        values = group_values(X, of_groups, {} if groups is None else dict(groups), self._dropped)
        rows, y = self._read_new(X, y)
        check_labels(y, getattr(self, "classes_", None))
        seen = self._seen_on(rows, self._target_kind.encode(y), values)
        found = [(repr(c), m) for c in constraints for m in c.measured(seen)]
        return {
            "constraint": np.array([name for name, _ in found], dtype=object),
            "part": np.array([measure.part for _, measure in found], dtype=object),
            "value": np.array([measure.value for _, measure in found], dtype=np.float64),
            "limit": np.array([measure.limit for _, measure in found], dtype=np.float64),
        }

    def constraint_table(self) -> str:
        """The values, limits and prices of all constraints as text, one line per part."""
        check_is_fitted(self)
        return report.as_text(self.constraints_report_)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of Σ|coefficient| of each feature, shape (n_features,).

        Only for stumps and features.
        """
        check_is_fitted(self)
        if "feature" not in self.columns_:
            raise AttributeError(
                "feature_importances_ is there for columns='stumps' and columns='features', whose "
                "columns are of one feature each"
            )
        return stump_importances(self.columns_, self.n_features_in_)

    # ------------------------------------------------------------------ the problem

    @property
    @abstractmethod
    def _loss(self) -> Loss:
        """The loss."""

    @property
    @abstractmethod
    def _free_offset(self) -> bool:
        """Whether a constant is added that costs nothing."""

    _offsets: ClassVar[tuple[str, ...]] = ("auto", "none", "free")
    """What the parameter ``offset`` may be."""

    @property
    def _family(self) -> ConstrainedColumns:
        given = given_columns(self.columns)
        return given or family_of(self.columns, self.random_state, self._tol)

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0, optional=True)
        check_choice("offset", self.offset, self._offsets)
        for constraint in rules_of(self.constraints):
            constraint.check()
        super()._check_parameters()

    def _master_options(self) -> dict[str, Any]:
        return {"solver": self.solver}

    # ------------------------------------------------------------------ the rows

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        self._dropped = dropped_places(X, self.drop)
        constraints = rules_of(self.constraints)
        self._inputs.values = group_values(X, constraints, self._inputs.groups, self._dropped)
        checked: tuple[Any, Any] = validate_data(
            self, without(X, self._dropped), y, dtype=FLOATS, y_numeric=self._y_numeric
        )
        return checked

    def _read_new(self, X: Any, y: Any = None) -> Any:
        """New rows without the columns that are no features, if they are there."""
        places = self._dropped
        if places and is_frame(X):
            known = set(map(str, getattr(self, "feature_names_in_", ())))
            names = frame_of(X).columns
            kept = [j for j, name in enumerate(names) if name in known]
            X = some_columns(X, kept) if known else X
        elif places and np.ndim(X) == 2 and np.shape(X)[1] == self.n_features_in_ + len(places):
            X = without(X, places)
        own: dict[str, Any] = {"reset": False, "dtype": FLOATS}
        return validate_data(self, X, **own) if y is None else validate_data(self, X, y, **own)

    def _checked_set(self, name: str, pair: Any) -> tuple[Any, NDArray[Any]]:
        """One set of an ``eval_set``, and its groups where they are columns of its X."""
        checked = super()._checked_set(name, pair)
        constraints = rules_of(self.constraints)
        own = [c for c in constraints if c.groups_of not in (None, *self._inputs.groups)]
        self._inputs.held_values[name] = group_values(pair[0], own, {}, self._dropped)
        return checked

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        rows, held = super()._prepare(X, y, sample_weight, eval_set)
        self._inputs.held = held
        if rules_of(self.constraints) and (count := self._target_kind.n_runs) > 1:
            raise ValueError(
                f"constraints go with two classes, got {count}: fit a class against the "
                f"rest{see('constraints')}"
            )
        return rows, held

    def _cost_by_rows(self, rows: TrainingRows) -> float:
        if self._y_numeric or isinstance(self._family, ObeyingKernels):
            return self._family.usual_cost(rows, self._loss)
        return cost_of_labels(self._target_kind.of_runs(rows.y), rows.weights, self._loss)

    # ------------------------------------------------------------------ the runs

    def _pool(self, rows: TrainingRows) -> ConstrainedProblem:
        family, targets = self._family, self._target_kind.of_runs(rows.y)
        weights, numbers = self._without_class_weights(rows.weights, rows.y), rows.numbers
        groups = Groupings()
        for name, values in self._inputs.values.items():
            groups[name] = Grouping.of(str(name), values[numbers])
        self._groups = {name: grouping.labels for name, grouping in groups.items()}
        objective = self._objective
        check_solver("solver", self.solver, objective.program)
        problem = ConstrainedProblem(
            rows=rows,
            weights=weights,
            constraints=rules_of(self.constraints),
            groups=groups,
            features=self._features,
            family=family,
            pool=family.pool(rows),
            objective=objective,
            cost=self._loss,
            C=self._chosen_cost,
            free_offset=self._free_offset,
            is_classifier=not self._y_numeric,
            options={"solver": self.solver, "solver_options": self.solver_options},
            target=targets[0],
        )
        declared = problem.declared(targets[0])  # errors come before the first run
        if self.offset == "group":
            problem.step_feature = step_feature(problem, declared, self._inputs.groups)
        return problem

    def _plan(self, rows: TrainingRows) -> Plan:
        at_once, pool = self.columns_per_round, self._pool(rows)
        if at_once is None:
            at_once = self._family.columns_per_round(pool.pool, len(rows.weights))
            if self.max_columns is not None:
                at_once = max(at_once, self.max_columns // ROUNDS_TO_THE_LIMIT)
        stop = StopRule(self._tol, self.max_columns)
        kind = self._target_kind
        targets, objectives = kind.of_runs(rows.y), [pool.objective]
        return Obeying(kind, stop, pool, targets, objectives, pool.family, at_once)

    def _solve(
        self, plan: Plan, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        """Runs of column generation until all limits are kept to."""
        solve = super()._solve

        def to_gap(gap: float) -> list[FittedRun]:
            stop = replace(plan.stop, tol=max(gap, plan.stop.tol))
            return solve(replace(plan, stop=stop), watch)

        runs = obeying_runs(plan.pool, to_gap, self._called)
        if any(constraint.of_rates for constraint in plan.pool.constraints):
            (run,) = runs  # not the model that the monitors have seen
            for monitor in watch.callbacks(0):
                if isinstance(monitor, ValidationMonitor):
                    for name, score in monitor.scored(run.outputs[0].values(monitor.X)).items():
                        run.history[name][run.best_round] = score
        return runs

    # ------------------------------------------------------------------ fitted attributes

    def _complete(self, plan: Plan, rows: TrainingRows) -> None:
        """Measure the constraints on training rows and held-out rows."""
        pool: ConstrainedProblem = plan.pool
        seen = self._seen(rows.X, pool.target, pool.weights, pool.groups)
        prices: dict[tuple[int, str], float] = {}
        held = None
        if pool.constraints:
            for name, own in islice((self._inputs.held or {}).items(), 1):
                values = self._inputs.held_values.get(name, {})
                held = self._seen_on(own.X, own.y, known_groups(values, self._groups, self._called))
            prices = report.prices_of(pool, self._runs[0].best_round)
        self.constraints_report_ = report.table_of(pool, prices, seen, held)
        for name in ("errors_", "errors_bound_"):
            vars(self).pop(name, None)  # of an earlier fit
        if pool.errors is not None:
            self.errors_, self.errors_bound_ = pool.errors

    @property
    def _features(self) -> Features:
        """The features by name and number."""
        names = getattr(self, "feature_names_in_", None)
        return Features(None if names is None else list(names), self.n_features_in_, self._dropped)

    def _seen(
        self, X: Any, target: Vector, weights: Vector, groups: Mapping[Any, Grouping]
    ) -> MeasuredModel:
        """The model on some rows, as constraints measure it."""
        output = self._runs[0].outputs[0].values(X)
        return MeasuredModel(
            output, target, weights, groups, self._loss, self._features, self.columns_
        )

    def _seen_on(self, X: Any, encoded: NDArray[Any], values: Mapping[Any, Any]) -> MeasuredModel:
        """The model on rows that are no training rows."""
        groups = {
            name: Grouping.of(str(name), own, self._groups[name]) for name, own in values.items()
        }
        return self._seen(X, self._target_kind.of_runs(encoded)[0], np.ones(X.shape[0]), groups)


@dataclass(frozen=True)
class Obeying(Proven):
    """Runs whose masters keep to linear limits, one after another from the same columns.

    Attributes
    ----------
    starts : dict of int to WarmStart
        Where an earlier attempt at a run has ended.
    """

    columns_per_round: int
    starts: dict[tuple[int, bool], WarmStart] = field(default_factory=dict, repr=False)

    def tasks(self, watch: Watch) -> Iterator[RunTask]:
        """Master and pricer of every output, from the columns of an earlier attempt."""
        problem: ConstrainedProblem = self.pool
        for number, target in enumerate(self.y_of_runs):
            start = self.starts.get((number, problem.balanced))
            if start is None and (other := self.starts.get((number, not problem.balanced))):
                start = replace(other, coef=np.zeros(len(other.coef)))
            task = problem.task(target, self.stop.tol, self.columns_per_round, start)
            if problem.constraints:
                problem.multipliers = task.callbacks[0]  # type: ignore[assignment]
            if self.stop.max_columns is not None:  # takes the place of the number of the family
                task = replace(task, max_columns=None)
            yield task
            if problem.constraints:
                self.starts[number, problem.balanced] = task.master.warm_start  # type: ignore[attr-defined]


@dataclass(eq=False, repr=False)
class ConstrainedBoostClassifier(Classification, BaseConstrainedBoost):
    """Boosting of stumps, features, kernels or learners under constraints, certified.

    Minimises Σ|α| + C Σ_i w_i loss(y_i, f(x_i)) over all columns of a family under the constraints.
    Without constraints it equals :class:`LPBoostClassifier`. Fits are deterministic. Constraints
    hold on the training rows up to 1e-6; if rates of predictions do not, a ``ConvergenceWarning``
    is issued. ``dual_bound_`` is a lower bound on the objective of any model that satisfies the
    constraints; with limits on rates, it is the bound of the problem without these limits, to 1 %
    or ``tol``. The positive class is ``classes_[1]``.

    Parameters
    ----------
    constraints : Constraint, function, or sequence of them
        Objects of :mod:`cgboost.constraints`: ``Monotone("income", +1)``, ``ParityGap("sex",
        0.02)``, …; or functions ``(f, a, b, data) -> list of CVXPY constraints``.
    columns : {"stumps", "features"}, kernels, or estimator; default="stumps"
        The columns of the model: decision stumps; the features themselves, centred and scaled; any
        value of ``library`` in ``CGBoostClassifier``; or a weak learner of scikit-learn, fitted
        greedily and without a bound. ``FrozenEstimator(model)`` (scikit-learn's) is the score of a
        fitted model: its decision values, else the log-odds of ``predict_proba``. A list of these
        and "stumps" has the columns of all: ``[FrozenEstimator(model), "stumps"]``.
    drop : sequence of str or int, or None
        Columns of X that are not features, such as a sensitive attribute used only for grouping.
    loss : str or Loss, default="hinge"
        Losses that are a box in the dual (hinge) are fast under linear constraints; others are
        solved with CVXPY.
    C : float or None, default=None
        As in :class:`LPBoostClassifier`; for kernels None means 1.
    offset : {"auto", "none", "free", "group"}, default="auto"
        The offset b. "auto" means "none" for stumps, which include the constant, and "free"
        otherwise. "group" gives each group whose rates are limited (``of="rate"``, of one grouping,
        which is a numeric feature) a separate threshold: those with the fewest errors on the
        training rows within the limits, for the output of the model without them. The model then
        has steps of this feature, and the search over prices is not needed. For stumps and given
        models.
    class_weight : dict, "balanced" or None
        As in :class:`LPBoostClassifier`; it does not weight rows in the means of groups.
    columns_per_round, tol, time_limit, solver, solver_options, early_stopping, \
validation_fraction, n_iter_no_change, scoring, callbacks, verbose, random_state
        As in :class:`LPBoostClassifier`.
    max_columns : int or None
        Maximum number of generated columns, of which many may have coefficient 0; with
        ``columns_per_round=1`` more of them are used. None means 30 with more than 10000 rows,
        otherwise no limit.

    Attributes
    ----------
    C_ : float
        The C given or chosen.
    constraints_report_ : dict of str to ndarray
        For each part of each constraint, its value on the training rows (``value``) and on the
        first set of ``eval_set`` (``held_out``, nan without one), its ``limit``, and its ``price``:
        the decrease of the objective per additional unit of the limit. For a rate, the price is the
        price of a positive prediction at which the limit is met, nan if there is none.
        ``constraint_table()`` returns the report as text.
    errors_, errors_bound_ : float
        With ``offset="group"``: the share of the training rows (by weight) that are misclassified,
        and a lower bound on it for all thresholds within the limits. They are equal where the
        choice is proven.
    columns_ : dict of str to ndarray
        Table of the model: feature and threshold of stumps and hinges (with a slope, nan for a
        stump); feature, centre and scale of features; number of a given model and its scale;
        coefficient and round.
    estimators_ : list
        Learners, or the given models; only for these.
    classes_, class_weight_, column_weights_, intercept_, n_columns_, objective_, dual_bound_, \
gap_, converged_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`LPBoostClassifier`; dropped columns are not features.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import ConstrainedBoostClassifier
    >>> from cgboost.constraints import ParityGap
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[:, 2] = X[:, 0] + rng.normal(size=200) > 0
    >>> model = ConstrainedBoostClassifier([ParityGap(2, 0.05)]).fit(X, X[:, 0] + X[:, 1] > 0)
    >>> bool(abs(model.constraints_report_["value"][0]) <= 0.05 + 1e-6)
    True
    """

    loss: ClassificationLoss | Loss = field(default="hinge", kw_only=True)

    _offsets: ClassVar[tuple[str, ...]] = (*BaseConstrainedBoost._offsets, "group")

    def _check_parameters(self) -> None:
        check_task_and_loss(self, CLASSIFICATION)
        super()._check_parameters()

    @property
    def _objective(self) -> Objective:
        margins = Margins(self._chosen_cost, None, free_offset=False, loss=get_loss(self.loss))
        return margin_objective(L1(), margins)

    @property
    def _loss(self) -> Loss:
        return get_loss(self.loss)

    @property
    def _free_offset(self) -> bool:
        if self.offset in ("auto", "group"):
            return not (isinstance(self.columns, str) and self.columns == "stumps")
        return self.offset == "free"

    @property
    def _target_kind(self) -> Labels:
        free = all(rule.allows_constants for rule in rules_of(self.constraints))
        return replace(super()._target_kind, leans=free)


@dataclass(eq=False, repr=False)
class ConstrainedBoostRegressor(TubeRegression, BaseConstrainedBoost):
    """Boosting of stumps, features, kernels or learners under constraints, certified.

    Minimises Σ|α| + C Σ_i w_i loss(y_i, f(x_i)) over all columns of a family under the constraints.
    Without constraints it equals :class:`LPBoostRegressor`.

    Parameters
    ----------
    constraints, columns, drop
        As in :class:`ConstrainedBoostClassifier`; a given model is a fitted regressor.
    loss : str or Loss, default="epsilon_insensitive"
        Losses that are a box in the dual (this one, "absolute_error", "quantile") are fast under
        linear constraints; others are solved with CVXPY.
    epsilon : float, default=0.1
        Half-width of the tube inside which errors are free.
    offset : {"auto", "none", "free"}, default="auto"
        The offset b; "auto" means "free".
    C : float or None, default=None
        As in :class:`LPBoostRegressor`; for kernels None means 1.
    columns_per_round, max_columns, tol, time_limit, solver, solver_options, early_stopping, \
validation_fraction, n_iter_no_change, scoring, callbacks, verbose, random_state
        As in :class:`ConstrainedBoostClassifier`.

    Attributes
    ----------
    C_ : float
        The cost of one unit of loss, given or chosen.
    constraints_report_, columns_, column_weights_, intercept_, n_columns_, objective_, \
dual_bound_, gap_, converged_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`ConstrainedBoostClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import ConstrainedBoostRegressor
    >>> from cgboost.constraints import Convex
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> model = ConstrainedBoostRegressor([Convex(0)], C=10.0).fit(x, x[:, 0] ** 2)
    >>> bool(np.abs(model.predict(x) - x[:, 0] ** 2).max() < 0.12)
    True
    """

    def _check_parameters(self) -> None:
        check_number("epsilon", self.epsilon, at_least=0)
        check_task_and_loss(self, REGRESSION)
        check_own(self, epsilon="epsilon")
        super()._check_parameters()

    @property
    def _objective(self) -> Objective:
        return residual_objective(L1(), C=self._chosen_cost, loss=self._loss, nu=None)

    @property
    def _free_offset(self) -> bool:
        return self.offset != "none"
