"""What sparse linear models share: the family of columns, the objective, the fitted attributes.

These functions are methods, or what methods call: an estimator assigns them in its class body.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.calibration import needs_folds
from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.input_checks import check_response
from cgboost.estimators.common.objective import (
    LARGER,
    ColumnFamily,
    Objective,
    penalized,
    program_of,
)
from cgboost.estimators.common.parameters import check_bool, check_nu
from cgboost.estimators.common.training_rows import (
    EvalSets,
    HeldSets,
    Matrix,
    TrainingRows,
    Vector,
    is_source,
    rows_of,
)
from cgboost.estimators.linear.continuation import warm_start_by_continuation
from cgboost.estimators.linear.scaling import (
    LOSS_OF_CONSTANT,
    UnitScaling,
    check_size,
    in_units,
    unit_of,
)
from cgboost.exceptions import DataWarning, see, warn_caller
from cgboost.generation.columns import Column
from cgboost.generation.protocols import Pricer
from cgboost.losses import Loss
from cgboost.masters import FreeColumns, MatrixColumns
from cgboost.penalties import L1, ElasticNet, Penalty
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.univariate.feature_pricer import STRATUM, Feature, FeaturePool
from cgboost.pricing.univariate.matrices import BlockFeatures, Indices, matrix_of

FEWEST_FEATURES = 120
"""Features a round at least: they are cheap next to a round. Measured from 100 × 10000 to
10000 × 100 and with 100000 sparse features, 80 to 240 are fast; 20 take up to twice as long."""

MOST_FEATURES = 150
"""A share of the rows counts up to so many: each is held twice, as a column of as many numbers."""

FEATURES_TO_ONE = 400
"""Of so many features one a round, up to twice the number above: of very many more price out."""

SMALLER = "a smaller value may change that"

NOTHING_HELPS = "without a penalty, no feature lowers the loss of a constant"

PENALTY_NAMES = ("l1", "elasticnet")


@dataclass(frozen=True)
class FeatureColumns(ColumnFamily):
    """The features themselves, divided by what their coefficients cost."""

    standardize: bool = False
    penalty_weights: ArrayLike | None = None
    fit_intercept: bool = True
    time_limit: float | None = None

    accept_sparse = ("csc", "csr")
    paths_begin_trivial = True

    def check(self) -> None:
        """Check the parameters that need no rows."""
        check_bool("standardize", self.standardize)
        check_bool("fit_intercept", self.fit_intercept)
        if self.penalty_weights is not None:
            weights = np.asarray(self.penalty_weights)
            if weights.ndim != 1 or weights.dtype.kind not in "iuf":
                raise ValueError(
                    "penalty_weights must be one number for each feature, "
                    f"got {self.penalty_weights!r}"
                )

    def usable(self, rows: TrainingRows) -> TrainingRows:
        """The rows that cost anything; the others say nothing. Those of a source stay."""
        return rows if isinstance(rows.X, BlockFeatures) else rows.counting()

    def pool(self, rows: TrainingRows) -> FeaturePool:
        """The features over their deviations and penalty weights, with a mean of 0 if wanted."""
        matrix = matrix_of(rows.X)
        centres, scales = None, self._weights(matrix.shape[1])
        if self.standardize:
            means, deviations = matrix.moments(rows.weights)
            scales = scales * np.where(deviations > 0, deviations, 1.0)
            centres = np.where(deviations > 0, means, 0.0)
        return FeaturePool(matrix, centres=centres, scales=scales)

    def deviations(self, pool: FeaturePool) -> Vector | None:
        """Standard deviations that coefficients are compared by; None without ``standardize``.

        1 for a feature without a penalty or a deviation.
        """
        if not self.standardize or pool.scales is None:
            return None
        weights = self._weights(len(pool.scales))
        return np.divide(pool.scales, weights, out=np.ones(len(weights)), where=weights > 0)

    def _weights(self, n_features: int) -> Vector:
        if self.penalty_weights is None:
            return np.ones(n_features)
        weights = np.asarray(self.penalty_weights, dtype=np.float64)
        if len(weights) != n_features:
            raise ValueError(
                f"penalty_weights must have one entry for each of {n_features} features, "
                f"got {len(weights)}"
            )
        wrong = ~(np.isfinite(weights) & (weights >= 0))
        if wrong.any():
            j = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"penalty_weights must be finite and not negative, got {weights[j]:g} for feature "
                f"{j}"
            )
        return np.where(weights > 0, weights, 1.0)

    def free(self, n_features: int) -> Indices:
        """The features whose coefficients cost nothing."""
        if self.penalty_weights is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(np.asarray(self.penalty_weights) == 0)

    def pricer(self, pool: FeaturePool, tol: float) -> Pricer:
        """A scan of all features."""
        return StrataPricer(pool, tol=tol)

    def columns_per_round(self, pool: FeaturePool, n_rows: int) -> int:
        """A share of the rows or of the features, between some and many."""
        by_rows = min(MOST_FEATURES, super().columns_per_round(pool, n_rows))
        by_features = min(2 * MOST_FEATURES, pool.size(0) // FEATURES_TO_ONE)
        return max(FEWEST_FEATURES, by_rows, by_features)

    def warm_start(self, pool: FeaturePool, loss: Any, make_master: Callable[[Any], Any]) -> Any:
        """By continuation."""
        own = pool, loss, make_master, self.columns_per_round(pool, loss.n_rows)
        return warm_start_by_continuation(*own, self.time_limit)

    def described(
        self, columns: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """The number of each feature."""
        return {"feature": np.array([feature.index for feature in columns], dtype=np.intp)}


def validated(self: Any, X: Any, y: Any) -> tuple[Matrix, Any]:
    """X and y, checked; sparse X in CSC or CSR form."""
    if sparse.issparse(X) and X.format not in FeatureColumns.accept_sparse:
        warn_caller(
            f"X is sparse in the format {X.format!r}, without access to columns or rows, and is "
            "converted: give a CSC or CSR matrix to avoid that",
            DataWarning,
        )
    if isinstance(X, (list, tuple)) and not len(X):
        raise ValueError(
            f"X must have rows, or blocks (X, y) of them, got an empty {type(X).__name__}"
        )
    check_response(self, y)
    if self._y_numeric and getattr(getattr(y, "dtype", None), "kind", "f") in "OUS":
        y = np.asarray(y, dtype=np.float64)
    checked: tuple[Matrix, Any] = BaseEnsemble._validated(self, X, y)
    return checked


def fit(
    self: Any,
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    eval_set: EvalSets | None = None,
    *,
    resume: str | os.PathLike[str] | None = None,
) -> Any:
    """Fit the model. A fit that fails leaves the estimator unchanged.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features), or a source of blocks
        float32 and float64 arrays are not copied, including memory-mapped ones; sparse matrices
        stay sparse. A source is any object that can be iterated over repeatedly and yields (X, y)
        or (X, y, weights), with the same rows in the same order each time. It is read once or twice
        per round, and only the features that enter are kept.
    y : array-like of shape (n_rows,), or None with a source
    sample_weight : array-like of shape (n_rows,) or None
        Multiplies the loss of each row. Not with a source.
    eval_set : (X, y), list of such pairs, dict of them by name, or None
        Held-out rows, scored (unweighted) after every round.
    resume : str, path or None
        Continue from the file of a :class:`~cgboost.Checkpoint` with the same data and parameters.

    Returns
    -------
    self

    Raises
    ------
    ValueError
        For invalid parameters or data; the message names the argument and its value.
    MasterError
        If the solver fails before any round has columns.

    Warns
    -----
    ConvergenceWarning
        If the fit ended before its gap reached ``tol``, with the reason; not if ``max_columns`` or
        early stopping ended it.
    TrivialModelWarning
        If no feature is worth its cost.
    DataWarning
        If X was converted from a sparse format without access to columns or rows.
    """
    return BaseEnsemble.fit(self, X, y, sample_weight, eval_set, resume=resume)


def prepare(
    self: Any, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
) -> tuple[TrainingRows, HeldSets | None]:
    """The training rows, in memory or as a source of blocks gives them, and those held out."""
    if not is_source(X):
        return BaseEnsemble._prepare(self, X, y, sample_weight, eval_set)
    self._check_parameters()
    if getattr(self, "probability", False) and needs_folds(self):
        raise ValueError(
            f"probability={self.probability!r} cannot hold out rows of a source of blocks: give "
            "early_stopping=True with an eval_set, whose rows it then uses"
            f"{see('probabilities')}"
        )
    part = None if iter(X) is X else next(iter(X), None)
    if isinstance(part, (tuple, list)) and len(part) and sparse.issparse(part[0]):
        raise ValueError(
            f"blocks of a source must be dense arrays or data frames, got a {part[0].format} "
            "matrix: give the whole sparse matrix as X, which stays sparse"
        )
    _, rows = rows_of(self, X, y, sample_weight, lambda y, _: self._learn(y))
    shape = len(rows.weights), self.n_features_in_
    blocks: Any = BlockFeatures(_Blocks(rows.X), shape)
    rows = self._weighted(replace(rows, X=blocks))
    held = self._held(eval_set)
    if held is None and self.early_stopping:
        raise ValueError(
            f"early_stopping={self.early_stopping!r} cannot hold out rows of a source of blocks: "
            f"give an eval_set{see('eval-set')}"
        )
    return rows, held


class _Blocks:
    """The blocks of a source, as pairs of their place and their features."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        return ((block.rows, block.X) for block in self.rows)


def penalty_of(self: Any) -> Penalty:
    """The penalty of the parameters ``penalty`` and ``l1_ratio``."""
    if isinstance(self.penalty, str):
        return L1() if self.penalty == "l1" or self.l1_ratio == 1 else ElasticNet(self.l1_ratio)
    penalty: Penalty = self.penalty
    return penalty


def check_penalty(self: Any) -> None:
    """Check the parameters ``penalty``, ``l1_ratio`` and ``positive``."""
    named = isinstance(self.penalty, str) and self.penalty in PENALTY_NAMES
    if not named and not isinstance(self.penalty, (L1, ElasticNet)):
        raise ValueError(
            f"penalty must be one of {sorted(PENALTY_NAMES)}, L1() or an ElasticNet, "
            f"got {self.penalty!r}"
        )
    check_nu(self.l1_ratio, name="l1_ratio")
    if not penalty_of(self).threshold:
        raise ValueError(f"penalty must have an l1_ratio above 0, got {self.penalty!r}")
    check_bool("positive", self.positive)


def make_pool(self: Any, rows: TrainingRows) -> FeaturePool:
    """The columns of the master, and the units in which it works."""
    return pool_of(self, rows, lambda y: [(self._cost, target) for target in self._targets(y)])


def pool_of(
    self: Any, rows: TrainingRows, runs: Callable[[Any], list[tuple[Loss, Vector]]]
) -> FeaturePool:
    """The columns of the masters of all runs, in the units of the one with the largest α_max.

    Parameters
    ----------
    runs : callable
        The loss and the target of every run, from y.
    """
    check_size("y", np.abs(rows.y).max() if self._y_numeric else 1.0)
    check_size("X", np.abs(matrix_of(rows.X).extremes()).max())
    family = self._family
    pool = family.pool(rows)
    n_features = pool.size(0)
    self._deviations = family.deviations(pool)
    self._free = np.arange(n_features) if self._is_unpenalized else family.free(n_features)
    self._scaling = UnitScaling(unit_of(self._cost, rows.y, rows.weights))  # which targets ask for
    self._scaling = UnitScaling.of(
        pool,
        runs(rows.y),
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
            f"positive=True needs {needed}, got 0{at}: coefficients without a penalty have a free "
            "sign; use a small one"
        )
    self._free_columns = free_columns(rows.X, self._free, pool.centres)
    return self._scaling.scaled(pool)


def free_columns(X: Any, features: Indices, centres: Vector) -> FreeColumns:
    """The features without a penalty, as columns of the master: read where they lie."""
    if not len(features):
        return FreeColumns(())
    own = centres[features]
    if len(features) < X.shape[1]:
        X = matrix_of(X).columns(features)
    unread = np.broadcast_to(0.0, X.shape[:1])  # instead of values, which the matrix has
    columns = [
        Column(unread, (STRATUM, j), Feature(j, centre), STRATUM)
        for j, centre in zip(features.tolist(), own.tolist(), strict=True)
    ]
    return FreeColumns(columns, MatrixColumns(X, own if own.any() else None))


def objective_of(
    self: Any, *, per_row: bool, price: float, trade_off: str, cost: Loss | None = None
) -> Objective:
    """The objective of the master.

    Parameters
    ----------
    per_row : bool
        Whether the loss is a mean over the rows.
    price : float
        Of one unit of the loss.
    trade_off : str
        The parameter that weighs them, and its value, for messages.
    cost : Loss, optional
        Of this run, where runs differ in it.
    """
    scaling: UnitScaling = self._scaling
    penalty = penalty_of(self)
    own, factor = in_units(self._cost if cost is None else cost, scaling.unit)

    def loss(target: Vector, weights: Vector) -> Any:
        total = float(weights.sum()) if per_row else 1.0
        return own.on(target, weights * (factor * price / (total * objective_unit(self))))

    return Objective(
        loss,
        penalized(scaling.penalty(penalty)),
        program_of(own, penalty),
        trade_off,
        remedy=NOTHING_HELPS if self._is_unpenalized else SMALLER if per_row else LARGER,
        remedy_at_zero="every y is met by a constant",
    )


def objective_unit(self: Any) -> float:
    """One unit of the master's objective, in that of the user."""
    scaling: UnitScaling = self._scaling
    if self._is_unpenalized:
        return scaling.constant / LOSS_OF_CONSTANT if scaling.constant > 0 else 1.0
    return scaling.objective(penalty_of(self)) * self._penalty_price


def unit(self: Any) -> float:
    """The unit of targets and outputs in the master."""
    scaling: UnitScaling = self._scaling
    return scaling.unit


def strongest(self: Any) -> float:
    """The price of a coefficient from which on, for a mean loss, all are 0."""
    scaling: UnitScaling = self._scaling
    return scaling.strongest / penalty_of(self).threshold


def master_options(self: Any) -> dict[str, Any]:
    """Sign rule, offset and solver of the master."""
    sign = "nonneg" if self.positive else "free"
    offset = "free" if self.fit_intercept else "none"
    own = {"coef": sign, "offset": offset, "solver": self.solver}
    return own | ({"free_columns": self._free_columns} if len(self._free_columns) else {})


def keep(self: Any, runs: list[FittedRun], rows: TrainingRows) -> None:
    """Fitted attributes, in the units of the user's problem."""
    scaling: UnitScaling = self._scaling
    unit, runs = objective_unit(self), self._leaning(runs, rows)
    BaseBoost._keep(self, [in_unit(run, unit) for run in runs], rows)
    del self._free_columns  # with the matrix that they are read from
    outputs = [output for run in runs for output in run.outputs]
    coef, intercept = np.zeros((len(outputs), self.n_features_in_)), np.zeros(len(outputs))
    trivial = [run.is_trivial for run in runs for _ in run.outputs]
    for number, output in enumerate(outputs):
        coef[number], intercept[number] = _in_features(output.active, output, self.n_features_in_)
        if trivial[number] and self.fit_intercept:  # the interior point is a little off
            intercept[number] = scaling.constants[number]
    coef, intercept = coef * scaling.unit, intercept * scaling.unit
    used = [own[[h.index for h in out.active]] for own, out in zip(coef, outputs, strict=True)]
    self.columns_["coefficient"] = np.concatenate(used)
    self.coef_, self.intercept_ = coef, intercept
    if not self._coef_by_output:
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        if trivial[0] and self.fit_intercept:
            self.objective_ = scaling.constant
            self.dual_bound_ = min(self.dual_bound_, self.objective_)


def _in_features(active: Sequence[Any], output: Any, n_features: int) -> tuple[Vector, float]:
    """Coefficients of the raw features, and the intercept."""
    coef, intercept = np.zeros(n_features), output.intercept
    weights = output.coef[np.flatnonzero(output.coef)]
    for feature, weight in zip(active, weights.tolist(), strict=True):
        coef[feature.index] = weight / feature.scale
        intercept -= coef[feature.index] * feature.centre
    return coef, intercept


def in_unit(run: FittedRun, unit: float) -> FittedRun:
    """A run whose objective and bound are multiplied by the unit."""
    history = {
        name: values * unit if name in ("objective", "bound") else values
        for name, values in run.history.items()
    }
    return replace(run, objective=run.objective * unit, bound=run.bound * unit, history=history)


def outputs(self: Any, X: ArrayLike) -> Vector:
    """X·coef + intercept, shape (n_rows, n_outputs)."""
    rows, coef = self._rows(X), np.atleast_2d(_dense(self.coef_))
    used = np.flatnonzero(coef.any(axis=0))
    if 2 * len(used) < coef.shape[1]:  # gathering columns costs less than multiplying by 0
        rows, coef = rows[:, used], coef[:, used]
    return np.asarray(rows @ coef.T, dtype=np.float64) + np.atleast_1d(self.intercept_)


def staged_outputs(self: Any, X: ArrayLike) -> Iterator[Vector]:
    """Model outputs after every round."""
    unit = self._scaling.unit
    return (unit * values for values in BaseEnsemble._staged_outputs(self, X))


def sparsify(self: Any) -> Any:
    """Convert ``coef_`` to a sparse matrix (CSR), as in scikit-learn's linear models."""
    check_is_fitted(self, "coef_")
    self.coef_ = sparse.csr_matrix(np.atleast_2d(_dense(self.coef_)))
    return self


def densify(self: Any) -> Any:
    """Convert ``coef_`` to an array, its form after ``fit``."""
    check_is_fitted(self, "coef_")
    if sparse.issparse(self.coef_):
        coef = self.coef_.toarray()
        self.coef_ = coef if self._coef_by_output else coef[0]
    return self


def _dense(coef: Any) -> Any:
    return coef.toarray() if sparse.issparse(coef) else coef
