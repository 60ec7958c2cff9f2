"""Least squares with one feature per round: L2-Boosting, the orthogonal greedy algorithm.

Bühlmann, Yu, *Boosting with the L2 loss*, Journal of the American Statistical Association 98, 2003;
Bühlmann, *Boosting for high-dimensional linear models*, Annals of Statistics 34, 2006. Ing, Lai, *A
stepwise regression method and consistent model selection for high-dimensional sparse linear
models*, Statistica Sinica 21, 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.boosting.criteria import (
    CRITERIA,
    CorrectedAIC,
    HeldOutError,
    HighDimensionalCriterion,
    RoundCriterion,
)
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.input_checks import warn_of_weights
from cgboost.estimators.common.parameters import (
    check_bool,
    check_choice,
    check_count,
    check_learning_rate,
    check_number,
)
from cgboost.estimators.common.plan import Plan, Rounds, RunTask, StopRule, Watch
from cgboost.estimators.common.predictors import Regression
from cgboost.estimators.common.scoring import Rule, chosen
from cgboost.estimators.common.stagewise import BaseStagewise
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.generation.protocols import Pricer
from cgboost.generation.resuming import RunRecord
from cgboost.losses.squared_error import SquaredError
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.univariate.correlation import (
    CentredFeatures,
    CorrelationPricer,
    GramPricer,
    ScreenedPricer,
    feature_of,
)
from cgboost.pricing.univariate.feature_pricer import Feature

CRITERION_ROWS = 3
"""Rows that a criterion needs: log log n must be positive."""

STEPS = 5.0
"""Factor of √(n/log p), the default number of steps, as in the authors' own software."""


@dataclass(eq=False, repr=False)
class BaseComponentwise(Regression, BaseStagewise):
    """Squared error over features, one a round, and a criterion that chooses the round."""

    n_estimators: int = field(default=100, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    criterion: str | None = field(default=None, kw_only=True)
    C: float = field(default=2.01, kw_only=True)

    _criteria: ClassVar[tuple[str, ...]]
    _may_choose_rounds: ClassVar[bool] = False
    """Whether ``n_estimators`` may be None."""

    def __sklearn_tags__(self) -> Any:
        """Sparse X is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def coef_path_(self) -> Vector:
        """Coefficients after every stage, starting without features: (n_features, n_stages)."""
        check_is_fitted(self)
        used, stages = self._stages()
        path = np.zeros((self.n_features_in_, stages.shape[1]))
        path[used] = stages
        return path

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators, optional=self._may_choose_rounds)
        check_bool("fit_intercept", self.fit_intercept)
        if self.criterion is not None:
            check_choice("criterion", self.criterion, self._criteria)
            if self.early_stopping:
                raise ValueError(
                    f"criterion={self.criterion!r} and early_stopping=True both choose the number "
                    "of rounds; set one of them to None or False"
                )
        check_number("C", self.C, above=0)

    @property
    def _accept_sparse(self) -> Any:
        return "csc"

    def _usable(self, rows: TrainingRows) -> TrainingRows:
        """The rows that cost anything, where there are enough for the criterion."""
        rows = rows.counting()
        if self.criterion is not None and rows.weights.sum() < CRITERION_ROWS:
            raise ValueError(
                f"criterion={self.criterion!r} needs at least {CRITERION_ROWS} rows, got "
                f"n_samples={rows.weights.sum():g} (the sum of sample_weight: a row of weight w "
                "counts as w rows; weights that only compare rows are divided by their mean); "
                "criterion=None does without"
            )
        if self.criterion is not None:
            what = f"criterion={self.criterion!r} takes that for the number of rows"
            warn_of_weights(self._called, rows.weights, what)
        return rows

    # ------------------------------------------------------------------ the run

    def _features(self, rows: TrainingRows) -> CentredFeatures:
        return CentredFeatures(rows.X, rows.weights, centre=bool(self.fit_intercept))

    def _hdic(self, kind: str, rows: TrainingRows) -> HighDimensionalCriterion:
        return HighDimensionalCriterion(
            kind,
            float(rows.weights.sum()),
            rows.X.shape[1],
            constant=self.C,
            n_fixed=int(self.fit_intercept),
        )

    @property
    def _offset(self) -> Literal["free", "none"]:
        return "free" if self.fit_intercept else "none"

    # ------------------------------------------------------------------ fitted attributes

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        return {"feature": np.array([h.index for h in hypotheses], dtype=np.intp)}

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        used, stages = self._stages()
        self.coef_ = np.zeros(self.n_features_in_)
        self.coef_[used] = stages[:, -1]
        self.intercept_ = float(self._intercepts()[-1])
        self.support_ = np.flatnonzero(self.coef_)
        self.criterion_ = None if self.criterion is None else runs[0].history[self.criterion][1:]

    @property
    def _hypotheses(self) -> list[Feature]:
        return self._runs[0].outputs[0].hypotheses

    def _indices(self) -> NDArray[np.intp]:
        """The feature of every column, in the order they came."""
        return np.array([h.index for h in self._hypotheses], dtype=np.intp)

    def _stages(self) -> tuple[NDArray[np.intp], Vector]:
        """The features used, and their coefficients: shape (n_used, n_stages)."""
        used, place = np.unique(self._indices(), return_inverse=True)
        path = self._runs[0].outputs[0].path
        stages = np.zeros((len(used), len(path)))
        for stage, (coef, _) in enumerate(path):
            stages[:, stage] = np.bincount(place[: len(coef)], weights=coef, minlength=len(used))
        return used, stages

    def _intercepts(self) -> Vector:
        """The intercept of every stage, of features that are not centred."""
        centres = np.array([h.centre for h in self._hypotheses])
        path = self._runs[0].outputs[0].path
        return np.array([intercept - coef @ centres[: len(coef)] for coef, intercept in path])

    # ------------------------------------------------------------------ predictions

    def _outputs(self, X: ArrayLike) -> Vector:
        rows = self._rows(X)
        return np.asarray(rows[:, self.support_] @ self.coef_[self.support_])[:, None] + (
            self.intercept_
        )

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        rows = self._rows(X)
        used, stages = self._stages()
        columns = rows[:, used]
        outputs = (
            np.asarray(columns @ stages[:, stage])[:, None] + intercept
            for stage, intercept in enumerate(self._intercepts())
        )
        return islice(outputs, 1, None) if self.n_iter_ else outputs


@dataclass(eq=False, repr=False)
class L2BoostRegressor(BaseComponentwise):
    """Componentwise L2-Boosting of a linear model (Bühlmann and Yu 2003).

    Every round selects the feature most correlated with the residual u and takes a step along it,

        j = arg max |x_j·u| / |x_j|      coef_j += learning_rate · x_j·u / |x_j|²

    where features are centred if there is an intercept, and sums are weighted. A feature may be
    selected many times. Scaling a feature only scales its coefficient.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds; fewer if no feature is correlated with the residual any more.
    learning_rate : float, default=0.1
        Factor of the best step, in (0, 2); 1 is the method as first published.
    fit_intercept : bool, default=True
        Whether features and target are centred.
    criterion : {"hdic", "hdbic", "hdhq", "aicc", "cv"} or None, default=None
        Criterion that chooses the round to keep among the ``n_estimators``; None keeps the last.

        * "hdic", "hdbic", "hdhq": n log ‖u‖² + |J| c log p for the set J of features in the model,
          with c = C, log n, C log log n (Ing and Lai 2011). n is the sum of the weights.
        * "aicc": log σ̂² + (1 + d/n)/(1 − (d + 2)/n), d the trace of the boosting operator
          (Bühlmann 2006).
        * "cv": the mean squared error of cross-validation, weighted.
    C : float, default=2.01
        The constant of "hdic" and "hdhq".
    cv : int, splitter or list of splits, default=5
        The folds of "cv", as in scikit-learn.
    rule : {"min", "1se"}, default="min"
        "min" is the round with the least error of "cv"; "1se" the first one within one standard
        error of it.
    early_stopping : bool, default=False
        As in :class:`CGBoostRegressor`, with the mean absolute error; instead of a criterion.
    validation_fraction, n_iter_no_change, scoring, callbacks, verbose, time_limit, random_state
        As in :class:`CGBoostRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    coef_path_ : ndarray of shape (n_features, n_iter_ + 1)
        Coefficients after 0, 1, … steps.
    selected_ : ndarray of shape (n_iter_,)
        The feature of each step.
    support_ : ndarray of int
        The features with a nonzero coefficient, ascending.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of the training loss.
    criterion_ : ndarray of shape (n_rounds,) or None
        The criterion after 1, 2, … steps, including those after the chosen one.
    n_iter_ : int
        Number of steps in the model.
    columns_ : dict of str to ndarray
        feature, coefficient and round of every step.
    objective_, history_, n_columns_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostRegressor`; ``objective_`` is ½‖u‖², and ``history_`` has the criterion
        (for "aicc" also the degrees of freedom, ``df``).

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import L2BoostRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).normal(size=200)
    >>> L2BoostRegressor(n_estimators=300, criterion="hdbic").fit(X, y).support_
    array([3, 7])
    """

    learning_rate: float = field(default=0.1, kw_only=True)
    criterion: Literal["hdic", "hdbic", "hdhq", "aicc", "cv"] | None = field(
        default=None, kw_only=True
    )
    cv: Any = field(default=5, kw_only=True)
    rule: Rule = field(default="min", kw_only=True)

    _criteria: ClassVar[tuple[str, ...]] = CRITERIA

    @property
    def selected_(self) -> NDArray[np.intp]:
        """The feature of each step, shape (n_iter_,)."""
        return self.columns_["feature"]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_learning_rate(self.learning_rate)
        check_choice("rule", self.rule, ("min", "1se"))

    def _usable(self, rows: TrainingRows) -> TrainingRows:
        if self.criterion in ("hdic", "hdbic", "hdhq") and rows.X.shape[1] == 1:
            raise ValueError(
                f"criterion={self.criterion!r} needs at least 2 features, got n_features=1: its "
                "price log(n_features) of a feature would be 0"
            )
        return super()._usable(rows)

    def _plan(self, rows: TrainingRows) -> Plan:
        return Rounds(self._target_kind, self._stop_rule(), None, partial(self._tasks, rows))

    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        criterion = self._chosen_by(rows)
        yield RunTask(
            StagewiseMaster(
                SquaredError().on(rows.y, rows.weights),
                step="newton",
                learning_rate=self.learning_rate,
                start="constant" if self.fit_intercept else "zero",
            ),
            GramPricer(self._features(rows), repeats=True),
            callbacks=() if criterion is None else (criterion,),
        )

    def _chosen_by(self, rows: TrainingRows) -> RoundCriterion | None:
        if self.criterion is None:
            return None
        if self.criterion == "aicc":
            return CorrectedAIC(rows.weights, self.learning_rate, n_fixed=int(self.fit_intercept))
        if self.criterion == "cv":
            return self._held_out(rows)
        return self._hdic(self.criterion, rows)

    def _held_out(self, rows: TrainingRows) -> HeldOutError:
        """Weighted mean squared error of 1, 2, … steps, each row predicted without itself.

        A fold that stopped earlier contributes its last model.
        """
        from sklearn.model_selection import check_cv

        model = clone(self).set_params(criterion=None, callbacks=None, verbose=0)
        errors, shares = [], []
        for train, test in check_cv(self.cv).split(rows.X, rows.y):
            model.fit(rows.X[train], rows.y[train], rows.weights[train])
            own, total = rows.weights[test], float(rows.weights[test].sum())
            stages = [
                float(own @ (rows.y[test] - output) ** 2) / total if total else 0.0
                for output in model.staged_predict(rows.X[test])
            ]
            errors.append(np.pad(stages, (0, self.n_estimators - len(stages)), mode="edge"))
            shares.append(total)
        each, weights = np.array(errors).T, np.array(shares)
        means = each @ (weights / rows.weights.sum())
        if self.rule == "min":
            return HeldOutError(means)
        return HeldOutError(means, float(means[chosen(-each, weights, self.rule)]))


@dataclass(frozen=True)
class _Greedy(Plan):
    """One run, whose master and criterion trim the model in the end."""

    master: OrthogonalMaster
    criterion: HighDimensionalCriterion | None
    pricer: Callable[..., Pricer]

    def tasks(self, watch: Watch) -> Iterator[RunTask]:
        """The run."""
        callbacks = () if self.criterion is None else (self.criterion,)
        yield RunTask(self.master, self.pricer(self.pool, repeats=False), callbacks=callbacks)


@dataclass(eq=False, repr=False)
class OrthogonalGreedyRegressor(BaseComponentwise):
    """The orthogonal greedy algorithm, OGA + HDIC + trimming (Ing and Lai 2011).

    Every round selects the feature most correlated with the residual u, arg max |x_j·u| / |x_j|,
    and refits all coefficients by least squares; no feature is selected twice. After at most M
    steps, the number of steps to keep minimises the criterion

        HDIC(J) = n log ‖u_J‖² + |J| c log p

    Trimming then keeps only the features whose removal would increase it: HDIC(J∖j) > HDIC(J). The
    coefficients are refitted by least squares on the remaining features. Features are centred if
    there is an intercept. Scaling a feature only scales its coefficient.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Maximum number of steps M; None means 5 √(n / log p), rounded down, at least 1 and at most
        p.
    fit_intercept : bool, default=True
        Whether features and target are centred.
    criterion : {"hdic", "hdbic", "hdhq"} or None, default="hdbic"
        c = C, log n, C log log n; n is the sum of the weights, so that these must not sum to 1: a
        row of weight w counts as w rows. None keeps all M steps and trims
        nothing. A model with as many coefficients as rows is never chosen.
    C : float, default=2.01
        The constant of "hdic" and "hdhq".
    trim : bool, default=True
        Whether superfluous features are removed at the end, if more than one was selected.
    early_stopping : bool, default=False
        As in :class:`CGBoostRegressor`, with the mean absolute error; needs ``criterion=None``.
    validation_fraction, n_iter_no_change, scoring, callbacks, verbose, time_limit, random_state
        As in :class:`CGBoostRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    support_ : ndarray of int
        The features of the model, ascending.
    path_ : ndarray of int
        The features in the order of selection, including those that were not kept.
    criterion_ : ndarray of shape (len(path_),) or None
        The criterion after 1, 2, … steps.
    coef_path_ : ndarray of shape (n_features, n_stages)
        Coefficients after 0, 1, …, ``n_iter_`` steps, and after trimming if features were trimmed.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of the training loss, step by step.
    n_iter_ : int
        Number of steps kept, before trimming.
    columns_ : dict of str to ndarray
        feature, coefficient and round of every feature of the model.
    objective_, history_, n_columns_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostRegressor`; ``objective_`` is ½‖u‖² of the model, and ``history_`` has
        the criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import OrthogonalGreedyRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 1000))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).normal(size=200)
    >>> OrthogonalGreedyRegressor().fit(X, y).support_
    array([3, 7])
    """

    n_estimators: int | None = field(default=None, kw_only=True)  # type: ignore[assignment]
    criterion: Literal["hdic", "hdbic", "hdhq"] | None = field(default="hdbic", kw_only=True)
    trim: bool = field(default=True, kw_only=True)

    _criteria: ClassVar[tuple[str, ...]] = ("hdic", "hdbic", "hdhq")
    _may_choose_rounds: ClassVar[bool] = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_bool("trim", self.trim)

    def _plan(self, rows: TrainingRows) -> Plan:
        n_rows, n_features = float(rows.weights.sum()), rows.X.shape[1]
        most = n_features if self.n_estimators is None else self.n_estimators
        if self.n_estimators is None and n_features > 1:
            most = min(most, max(1, math.floor(STEPS * math.sqrt(n_rows / math.log(n_features)))))
        return _Greedy(
            self._target_kind,
            StopRule(max_rounds=most + 1),  # the first has no column yet
            self._features(rows),
            master=OrthogonalMaster(SquaredError().on(rows.y, rows.weights), offset=self._offset),
            criterion=None if self.criterion is None else self._hdic(self.criterion, rows),
            # every feature comes once, so that Gram rows would cost as much as scans
            pricer=CorrelationPricer if sparse.issparse(rows.X) else ScreenedPricer,
        )

    def _solve(
        self, plan: Any, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        (run,) = super()._solve(plan, watch, records)
        columns = plan.master.columns
        self.path_ = np.array([feature_of(column) for column in columns], dtype=np.intp)
        if self.trim and plan.criterion is not None and run.best_round > 1:
            run = trimmed(run, plan.master, plan.criterion)
        return [run]


def trimmed(
    run: FittedRun, master: OrthogonalMaster, criterion: HighDimensionalCriterion
) -> FittedRun:
    """A run with one more stage: least squares on the j of J with HDIC(J∖j) > HDIC(J)."""
    size = run.best_round
    with_all = criterion.of(2.0 * run.objective, size)
    needed = criterion.of(master.squares_without(size), size - 1) > with_all
    if needed.all():
        return run
    places: list[int] = np.flatnonzero(needed).tolist()
    coef: NDArray[np.float64] = np.zeros(size)
    coef[places], intercept, objective = master.refitted(places)
    (output,) = run.outputs
    longer = replace(output, path=[*output.path, (coef, intercept)])
    return replace(run, outputs=[longer], objective=objective)
