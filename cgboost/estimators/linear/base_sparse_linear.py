"""What sparse linear models share: objective, units, fitted attributes, paths.

::

    LinearOutputs         coefficients of features, dense or sparse: outputs, how they are read
    └── BaseSparseLinear  the fit, in the units of :mod:`~cgboost.estimators.linear.scaling`
        └── BaseMeanLoss  a mean loss and α times the penalty: regressors
"""

from __future__ import annotations

import copy
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Matrix, Vector
from cgboost.estimators.common.certified import (
    BaseBoost,
    Certified,
    PathParameter,
    PathValues,
    Proven,
    RegularizationPath,
    simplest_first,
)
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.input_checks import check_y
from cgboost.estimators.common.objective import LARGER, Objective, master_of, program_of
from cgboost.estimators.common.parameters import (
    TradeOff,
    check_bool,
    check_count,
    check_nu,
    check_number,
)
from cgboost.estimators.common.plan import Plan
from cgboost.estimators.common.predictors import Regression
from cgboost.estimators.common.reading import RowReader
from cgboost.estimators.common.targets import TargetKind
from cgboost.estimators.common.training_rows import (
    EvalSets,
    HeldSets,
    TrainingRows,
    is_source,
    rows_of,
)
from cgboost.estimators.linear.constraint_rows import ConstraintRows
from cgboost.estimators.linear.feature_columns import FeatureColumns, constrained, free_columns
from cgboost.estimators.linear.linear_constraints import check_constraints, read_constraints
from cgboost.estimators.linear.path_points import PathPoint, features_at_once, priced_path
from cgboost.estimators.linear.scaling import (
    LOSS_OF_CONSTANT,
    UnitScaling,
    check_size,
    in_units,
    unit_of,
)
from cgboost.estimators.linear.summary import LinearSummary
from cgboost.exceptions import DataWarning, see, warn_caller
from cgboost.losses import Loss
from cgboost.masters import FreeColumns
from cgboost.masters.constrained.row_constrained_master import (
    ConstrainedStart,
    RowConstrainedMaster,
)
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.optimizers.newton.smooth_loss import as_master_loss
from cgboost.penalties import L1, ElasticNet, Penalty
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.pricing.univariate.matrices import BlockFeatures, matrix_of

SMALLER = "a smaller value may change that"

NOTHING_HELPS = "without a penalty, no feature lowers the loss of a constant"

PENALTY_NAMES = ("l1", "elasticnet")

PenaltyName = Literal["l1", "elasticnet"]

MINUS_MEAN_LOSS = "−mean loss"
"""What scores of held-out rows are called in tables and pictures."""

SHARE_OF_NOISE = 0.5
"""What ``alpha=None`` is of the level of noise. On the six data sets on which it was chosen, two
quantiles each, half of it had test losses at most 24 % above the best of a path (median 4 %), a
quarter 41 %. On eight others, seen only afterwards, half had a median of 3 % and up to 97 % (cubic
terms of friedman1: many features, little noise), a quarter the same median and up to 48 %, all of
it 7 % and up to 116 %."""


class LinearOutputs(RowReader):
    """Outputs of coefficients of features; sparse X in CSC or CSR form."""

    coef_: Any
    intercept_: Any

    _coef_by_output: ClassVar[bool]
    """Whether ``coef_`` has a row for each output, as that of classifiers, or is one row."""

    @property
    def _accept_sparse(self) -> Any:
        return FeatureColumns.accept_sparse

    def _validated(self, X: Any, y: Any) -> tuple[Matrix, Any]:
        if sparse.issparse(X) and X.format not in FeatureColumns.accept_sparse:
            warn_caller(
                f"X is sparse in the format {X.format!r}, without access to columns or rows, and "
                "is converted: give a CSC or CSR matrix to avoid that",
                DataWarning,
            )
        if isinstance(X, (list, tuple)) and not len(X):
            raise ValueError(
                f"X must have rows, or blocks (X, y) of them, got an empty {type(X).__name__}"
            )
        check_y(self, y)
        if self._y_numeric and getattr(getattr(y, "dtype", None), "kind", "f") in "OUS":
            y = np.asarray(y, dtype=np.float64)
        return super()._validated(X, y)

    def _outputs(self, X: ArrayLike) -> Vector:
        """X·coef + intercept, shape (n_rows, n_outputs)."""
        rows, coef = self._rows(X), np.atleast_2d(_dense(self.coef_))
        used = np.flatnonzero(coef.any(axis=0))
        if 2 * len(used) < coef.shape[1]:  # gathering columns costs less than multiplying by 0
            rows, coef = rows[:, used], coef[:, used]
        return np.asarray(rows @ coef.T, dtype=np.float64) + np.atleast_1d(self.intercept_)

    def summary(self) -> LinearSummary:
        """The features in the model with their coefficients, the certificate, what was assumed.

        It prints; ``to_frame()`` is a frame of pandas, ``to_latex()`` a table for LaTeX. Standard
        errors it has none: :func:`cgboost.inspection.stability` shows how far coefficients vary.
        """
        check_is_fitted(self, "coef_")
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        model: Any = getattr(self, "model_", self)
        return LinearSummary.of(model, type(self).__name__, [str(name) for name in names])

    def sparsify(self) -> Self:
        """Convert ``coef_`` to a sparse matrix (CSR), as in scikit-learn's linear models."""
        check_is_fitted(self, "coef_")
        self.coef_ = sparse.csr_matrix(np.atleast_2d(_dense(self.coef_)))
        return self

    def densify(self) -> Self:
        """Convert ``coef_`` to an array, its form after ``fit``."""
        check_is_fitted(self, "coef_")
        if sparse.issparse(self.coef_):
            coef = self.coef_.toarray()
            self.coef_ = coef if self._coef_by_output else coef[0]
        return self


def _dense(coef: Any) -> Any:
    return coef.toarray() if sparse.issparse(coef) else coef


class BaseSparseLinear(LinearOutputs, BaseBoost):
    """A linear model with a penalty on its coefficients, certified in the units of a scaling."""

    penalty: PenaltyName | L1 | ElasticNet
    l1_ratio: float
    penalty_weights: ArrayLike | None
    positive: bool
    fit_intercept: bool
    standardize: bool

    constraints: Any = None

    categorical_features: ClassVar[tuple[str, ...]] = ()

    _scaling = UnitScaling(1.0)
    _free: NDArray[np.intp]
    _free_columns = FreeColumns(())
    _limit_rows: ConstraintRows | None = None
    _begins_trivial: bool
    """Whether the model without features is optimal at some price; until the fit is kept."""
    _path_score_name: ClassVar[str] = MINUS_MEAN_LOSS

    # ------------------------------------------------------------------ what a subclass says

    @property
    @abstractmethod
    def _loss(self) -> Loss:
        """The loss of the parameters."""

    @property
    def _is_unpenalized(self) -> bool:
        """Whether no coefficient costs anything."""
        return False

    def _losses_of_runs(self, y: NDArray[Any]) -> list[tuple[Loss, Vector]]:
        """The loss and the target of every run, from y."""
        return [(self._loss, target) for target in self._target_kind.of_runs(y)]

    # ------------------------------------------------------------------ parameters

    @property
    def _penalty(self) -> Penalty:
        if isinstance(self.penalty, str):
            return L1() if self.penalty == "l1" or self.l1_ratio == 1 else ElasticNet(self.l1_ratio)
        return self.penalty

    def _check_parameters(self) -> None:
        named = isinstance(self.penalty, str) and self.penalty in PENALTY_NAMES
        if not named and not isinstance(self.penalty, (L1, ElasticNet)):
            raise ValueError(
                f"penalty must be one of {sorted(PENALTY_NAMES)}, L1() or an ElasticNet, "
                f"got {self.penalty!r}"
            )
        check_nu(self.l1_ratio, name="l1_ratio")
        if not self._penalty.threshold:
            raise ValueError(f"penalty must have an l1_ratio above 0, got {self.penalty!r}")
        check_bool("positive", self.positive)
        check_constraints(self.constraints)
        super()._check_parameters()

    # ------------------------------------------------------------------ the fit

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        """The training rows, in memory or as a source of blocks gives them, and those held out."""
        if not is_source(X):
            return super()._prepare(X, y, sample_weight, eval_set)
        self._check_parameters()
        part = None if iter(X) is X else next(iter(X), None)
        if isinstance(part, (tuple, list)) and len(part) and sparse.issparse(part[0]):
            raise ValueError(
                "blocks of a source must be dense arrays or data frames, got a "
                f"{part[0].format} matrix: give the whole sparse matrix as X, which stays sparse"
            )
        _, rows = rows_of(self, X, y, sample_weight, lambda y, _: self._learn(y))
        shape = len(rows.weights), self.n_features_in_
        blocks: Any = BlockFeatures(_Blocks(rows.X), shape)
        rows = self._weighted(replace(rows, X=blocks))
        held = self._held(eval_set)
        if held is None and self.early_stopping:
            raise ValueError(
                f"early_stopping={self.early_stopping!r} cannot hold out rows of a source of "
                f"blocks: give an eval_set{see('eval-set')}"
            )
        return rows, held

    @property
    def _family(self) -> FeatureColumns:
        as_ever = self.columns_per_round is None and not self.early_stopping
        return FeatureColumns.of(self, at_once=as_ever)

    def _pool(self, rows: TrainingRows) -> FeaturePool:
        """The columns of all masters, in the units of the run with the largest α_max.

        It learns these units (``_scaling``) and the features without a penalty from the rows:
        target, objective and α follow from them, and are asked for afterwards.
        """
        check_size("y", np.abs(rows.y).max() if self._y_numeric else 1.0)
        matrix: Any = matrix_of(rows.X)
        check_size("X", np.abs(matrix.extremes).max())
        family = self._family
        pool = family.pool(replace(rows, X=matrix))
        n_features = pool.size(0)
        self._deviations = family.deviations(pool)
        self._free = np.arange(n_features) if self._is_unpenalized else family.free(n_features)
        self._scaling = UnitScaling(unit_of(self._loss, rows.y, rows.weights))  # targets ask for it
        self._scaling = UnitScaling.of(
            pool,
            self._losses_of_runs(rows.y),
            self._scaling.unit,
            rows.weights,
            offset=bool(self.fit_intercept),
            positive=bool(self.positive),
            free=self._free,
            noise=getattr(self, "alpha", 0.0) is None,
        )
        if len(self._free) and self.positive:
            needed = "alpha above 0" if self._is_unpenalized else "penalty_weights above 0"
            at = "" if self._is_unpenalized else f" for feature {self._free[0]}"
            raise ValueError(
                f"positive=True needs {needed}, got 0{at}: coefficients without a penalty have a "
                "free sign; use a small one"
            )
        self._begins_trivial = not len(self._free)
        if self.constraints:
            return self._constrained(self._scaling.scaled(pool), rows)
        self._limit_rows = None
        self._free_columns = free_columns(rows.X, self._free, pool.centres)
        return self._scaling.scaled(pool)

    def _constrained(self, pool: FeaturePool, rows: TrainingRows) -> FeaturePool:
        """The features with the rows of the constraints, which it learns in their units."""
        names = getattr(self, "feature_names_in_", None)
        read = read_constraints(self.constraints, names, self.n_features_in_)
        unit = self._scaling.unit
        scaled, _ = in_units(self._loss, unit)
        on_rows = scaled.on(self._target_kind.of_runs(rows.y)[0], rows.weights)
        tube = getattr(as_master_loss(on_rows), "epsilon", 0.0)
        self._limit_rows = ConstraintRows.of(
            read,
            pool.scales,
            unit,
            positive=bool(self.positive),
            free=self._free,
            splits=tube > 0,
        )
        weights = rows.weights if self.fit_intercept else None
        own = self._limit_rows
        self._begins_trivial &= not len(own.obeying)
        pool = constrained(pool, own.below, own.obeying, own.limits.limit, weights)
        places = np.zeros(len(self._free), dtype=np.intp)
        self._free_columns = FreeColumns(pool.columns(places.tolist(), self._free.tolist()))
        return pool

    def _objective_in_units(
        self, loss: Loss, *, per_row: bool, price: float, trade_off: TradeOff, alpha: float = 1.0
    ) -> Objective:
        """The objective of the master.

        Parameters
        ----------
        per_row : bool
            Whether the loss is a mean over the rows.
        price : float
            Of one unit of the loss.
        trade_off : TradeOff
            What weighs loss and penalty, as messages name it; of α its value is ``alpha_``.
        alpha : float
            The price of one unit of the penalty.
        """
        scaling, penalty = self._scaling, self._penalty
        scaled, factor = in_units(loss, scaling.unit)
        unit = scaling.objective_unit(penalty) * alpha
        if not alpha:
            unit = scaling.constant / LOSS_OF_CONSTANT if scaling.constant > 0 else 1.0

        def make_loss(target: Vector, weights: Vector) -> Any:
            total = float(weights.sum()) if per_row else 1.0
            # the objective is divided by alpha: it is in the costs, the penalty has the factor 1
            return scaled.on(target, weights * (factor * price / (total * unit)))

        make_master: Any = partial(master_of, scaling.penalty(penalty))
        if self._limit_rows is not None:
            own: dict[str, Any] = {"penalty": scaling.penalty(penalty)}
            make_master = partial(RowConstrainedMaster, limits=self._limit_rows.limits, **own)
        return Objective(
            make_loss,
            make_master,
            program_of(scaled, penalty),
            trade_off,
            remedy=NOTHING_HELPS if not alpha else SMALLER if per_row else LARGER,
            remedy_at_zero="every y is met by a constant",
            unit=unit,
        )

    @property
    def _alpha_max(self) -> float:
        """The price of a coefficient from which on, for a mean loss, all are 0."""
        return self._scaling.strongest / self._penalty.threshold

    def _certified(self, pool: Any, rows: TrainingRows) -> Certified:
        plan = super()._certified(pool, rows)
        return (
            plan if self._limit_rows is None else replace(plan, carried={})
        )  # has the multipliers

    def _master_options(self) -> dict[str, Any]:
        sign = "nonneg" if self.positive else "free"
        offset = "free" if self.fit_intercept else "none"
        own = {"coef": sign, "offset": offset, "solver": self.solver}
        return own | ({"free_columns": self._free_columns} if len(self._free_columns) else {})

    @abstractmethod
    def _score_of_outputs(self, outputs: Vector, y: Any, weights: Vector | None) -> float:
        """What paths score a model by, from its outputs, of shape (n_rows, n_outputs)."""

    def _path_score(self, X: Any, y: Any, weights: Vector | None = None) -> float:
        return self._score_of_outputs(self._outputs(X), y, weights)

    @property
    def _is_watched(self) -> bool:
        return super()._is_watched or self._limit_rows is not None

    def _with_chosen_strength(self) -> Self:
        """A copy whose α is the one that the fit has used."""
        own = copy.copy(self)
        if getattr(own, "alpha", 0.0) is None:
            own.alpha = self.alpha_  # type: ignore[attr-defined]
        return own

    def _fitted_near(self, rows: TrainingRows, coef: Vector, intercept: Vector) -> Self:
        """A model of other rows, from coefficients and intercepts of the outputs of a similar one.

        The features of a piecewise linear loss are a start, and where its rows will be; of a smooth
        loss few features are solved at once, in less time.
        """
        model = copy.copy(self)
        plan = model._begun_at(model._certified(model._pool(rows), rows), coef, intercept)
        model._keep(plan, model._solve(plan, model._watch(None, time.perf_counter())), rows)
        model._warn(plan)
        return model

    def _begun_at(self, plan: Certified, coef: Vector, intercept: Vector) -> Certified:
        """A plan whose runs begin at the model of these outputs, where that helps."""
        pool, unit = plan.pool, self._scaling.unit
        if type(plan) is not Certified or plan.objectives[0].program != "lp" or len(self._free):
            return plan
        carried = {}
        for run, (own, b) in enumerate(zip(coef, intercept.tolist(), strict=True)):
            used = np.flatnonzero(own)
            columns = pool.columns([0] * len(used), used.tolist())
            offset = (b + float(own[used] @ pool.centres[used])) / unit
            if not self.fit_intercept:
                offset = 0.0
            carried[run] = WarmStart(columns, own[used] * pool.scales[used] / unit, offset)
        return replace(plan, carried=carried)

    def _points_along(
        self,
        pool: Any,
        rows: TrainingRows,
        held: HeldSets | None,
        parameter: PathParameter,
        values: Vector,
    ) -> dict[int, Any]:
        """Those of one fit at all prices, where no fit has to be watched."""
        if self._is_watched:
            return {}
        if (path := priced_path(self, pool, rows, held, parameter, values)) is None:
            return {}
        if len(path.proven):
            path.model(int(path.proven[-1]))  # which warns of what is odd about the rows
        order = simplest_first(parameter, values)
        return {int(order[k]): PathPoint(path, int(k)) for k in path.proven}

    def _runs_at_once(self, plan: Certified) -> list[FittedRun] | None:
        return features_at_once(plan)

    # ------------------------------------------------------------------ what is fitted

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        """Fitted attributes, in the units of the user's problem."""
        assert isinstance(plan, Proven)
        scaling, unit = self._scaling, plan.objectives[0].unit
        self._keep_prices(plan, unit)
        vars(self).pop("_limit_rows", None)
        super()._keep(plan, [run_in_unit(run, unit) for run in runs], rows)
        runs = self._runs
        del self._free_columns  # with the matrix that they are read from
        outputs = [output for run in runs for output in run.outputs]
        coef, intercept = np.zeros((len(outputs), self.n_features_in_)), np.zeros(len(outputs))
        trivial = [run.is_trivial for run in runs for _ in run.outputs]
        used = [[feature.index for feature in output.active] for output in outputs]
        for number, output in enumerate(outputs):
            coef[number], intercept[number] = _in_features(
                output.active, output, self.n_features_in_
            )
        coef, intercept = coef * scaling.unit, intercept * scaling.unit
        self.columns_["coefficient"] = np.concatenate(
            [own[places] for own, places in zip(coef, used, strict=True)]
        )
        self.coef_, self.intercept_ = coef, intercept
        if not self._coef_by_output:
            self.coef_, self.intercept_ = coef[0], float(intercept[0])
            if trivial[0] and self.fit_intercept:
                self.objective_ = scaling.constant
                self.dual_bound_ = min(self.dual_bound_, self.objective_)

    def _at_constants(
        self, kind: TargetKind, runs: list[FittedRun], rows: TrainingRows
    ) -> list[FittedRun]:
        """The runs, those without columns at the best constant: an interior point is a little off.

        Where any constant between two is best, they may be far apart.
        """
        runs = super()._at_constants(kind, runs, rows)
        if not self.fit_intercept:
            return runs
        constants = np.reshape(self._scaling.constants, (len(runs), -1)).tolist()
        own = [
            [output.at(constant) for output, constant in zip(run.outputs, its, strict=True)]
            for run, its in zip(runs, constants, strict=True)
        ]
        return [
            replace(run, outputs=outputs) if run.is_trivial else run
            for run, outputs in zip(runs, own, strict=True)
        ]

    def _keep_prices(self, plan: Plan, unit: float) -> None:
        """What a unit of the right-hand side of each constraint changes, of every run."""
        for name in ("constraint_prices_", "constraint_rows_"):  # of an earlier fit
            vars(self).pop(name, None)
        if self._limit_rows is None or not isinstance(plan, Certified) or plan.carried is None:
            return
        starts = cast(Sequence[ConstrainedStart], [plan.carried[k] for k in sorted(plan.carried)])
        pool, threshold = plan.pool, self._scaling.penalty(self._penalty).threshold
        rows = self._limit_rows
        known = [  # not of a run that had ended before it was resumed
            pool.multipliers(start.response, threshold)
            if len(start.response)
            else np.full(len(rows.sizes), np.nan)
            for start in starts
        ]
        prices = np.stack([rows.prices(multipliers, unit) for multipliers in known])
        self.constraint_prices_ = prices if len(prices) > 1 else prices[0]
        self.constraint_rows_ = np.array(self._limit_rows.words, dtype=object)

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        return (self._scaling.unit * values for values in super()._staged_outputs(X))


class BaseMeanLoss(Regression, BaseSparseLinear):
    """A mean loss and α times the penalty; y is in another unit while the model is fitted."""

    alpha: float | None

    def _objective_of_mean(self, loss: Loss) -> Objective:
        """The objective of the master: the mean of this loss, and α times the penalty."""
        alpha = self._chosen_alpha
        own = TradeOff("alpha", alpha)
        return self._objective_in_units(loss, per_row=True, price=1.0, trade_off=own, alpha=alpha)

    @property
    def _chosen_alpha(self) -> float:
        """α, or what None stands for."""
        if (alpha := self.alpha) is not None:
            return float(alpha)
        level = min(self._scaling.noise, self._scaling.strongest) / self._penalty.threshold
        return SHARE_OF_NOISE * level if level > 0 else 1.0

    @property
    def _is_unpenalized(self) -> bool:
        return bool(self.alpha == 0)

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        assert isinstance(plan, Proven)
        self.alpha_ = plan.objectives[0].trade_off.value
        self.alpha_max_ = self._alpha_max if vars(self).pop("_begins_trivial") else np.nan

    def path(
        self,
        X: Any,
        y: Any = None,
        alphas: Sequence[float] | None = None,
        *,
        n_alphas: int = 100,
        eps: float = 1e-3,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
    ) -> RegularizationPath:
        """Fit a model for every α; much cheaper than separate fits.

        Parameters
        ----------
        X, y, sample_weight, eval_set
            As in :meth:`fit`. Models are scored on the first set, by the first scorer of
            ``scoring``, or else by minus the mean loss, as in
            :class:`~cgboost.linear.SparseLinearRegressorCV`.
        alphas : sequence of float or None
            In any order. None means ``n_alphas`` values from ``alpha_max_`` down to ``eps`` times
            it, evenly spaced on a logarithmic scale.
        n_alphas : int, default=100
        eps : float, default=1e-3

        Returns
        -------
        RegularizationPath

        Raises
        ------
        ValueError
            As :meth:`fit`; if there is no α, or an α is not positive.
        """
        values = values_of_path("alpha", alphas, n_alphas, eps)
        model = self
        if self.alpha is None:  # nobody asks for the level of noise, which it stands for
            model = copy.copy(self)
            model.alpha = 1.0
        return model._fit_along(X, y, "alpha", values, sample_weight, eval_set)


def values_of_path(
    parameter: Literal["alpha", "C"], values: Any, count: Any, eps: Any
) -> PathValues:
    """The values of a path, checked; or how they follow from the rows.

    Parameters
    ----------
    parameter : {"alpha", "C"}
    count, eps : int, float
        With None for values: how many, and the share of the largest α (of the smallest C its
        inverse) at the other end.

    Raises
    ------
    ValueError
        If one is wrong, naming it.
    """
    name = f"{parameter}s"
    if values is None:
        check_count(f"n_{name}", count)
        check_number("eps", eps, above=0, below=1)
        shares = np.geomspace(1.0, eps, count) if count > 1 else np.ones(1)

        def grid(prepared: Any) -> NDArray[np.float64]:
            most = prepared._alpha_max or 1.0
            if parameter == "alpha":
                return most * shares
            return 1.0 / (most * prepared._scaling.total * shares)

        return grid
    if np.ndim(values) != 1:
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}")
    if len(values) == 0:
        raise ValueError(f"{name} must have at least one value, got none")
    for value in values:
        check_number(name, value, above=0)
    return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class _Blocks:
    """The blocks of a source, as pairs of their place and their features."""

    rows: Any

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        return ((block.rows, block.X) for block in self.rows)


def _in_features(active: Sequence[Any], output: Any, n_features: int) -> tuple[Vector, float]:
    """Coefficients of the raw features, and the intercept."""
    coef, intercept = np.zeros(n_features), output.intercept
    weights = output.coef[np.flatnonzero(output.coef)]
    for feature, weight in zip(active, weights.tolist(), strict=True):
        coef[feature.index] = weight / feature.scale
        intercept -= coef[feature.index] * feature.centre
    return coef, intercept


def run_in_unit(run: FittedRun, unit: float) -> FittedRun:
    """A run whose objective and bound are multiplied by the unit."""
    history = {
        name: values * unit if name in ("objective", "bound") else values
        for name, values in run.history.items()
    }
    return replace(run, objective=run.objective * unit, bound=run.bound * unit, history=history)
