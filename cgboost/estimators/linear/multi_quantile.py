"""Sparse linear models of several quantiles: one by one, or noncrossing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.certified import Certified
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.objective import Objective
from cgboost.estimators.common.parameters import check_number
from cgboost.estimators.common.plan import Plan, RunTask, Watch
from cgboost.estimators.common.targets import TargetKind, in_unit
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.linear.base_sparse_linear import BaseMeanLoss, PenaltyName
from cgboost.generation.callbacks import Score
from cgboost.generation.protocols import Pricer
from cgboost.losses import Loss, Quantile
from cgboost.masters.quantiles.noncrossing_masters import BoxMaster, NoncrossingMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L1, ElasticNet
from cgboost.pricing import JointPricer
from cgboost.pricing.learners.box_pricer import BoxPricer
from cgboost.pricing.learners.joint_pricer import OutputRowPairs
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.pricing.univariate.matrices import matrix_of

PLACES = ("box", "rows")
"""Where quantiles may be kept from crossing."""

FEATURES_OF_BOX = 40
"""So many features are in the problem of a box from the beginning: a step costs little more, and
one round is enough. At 400 × 20 and three quantiles it takes 15 instead of 25 CPU ms."""


@dataclass(eq=False, repr=False)
class MultiQuantileRegressor(BaseMeanLoss):
    """Linear models of several quantiles with an ℓ1 penalty, certified; optionally noncrossing.

    Minimises, with f_k(x) = Σ_j β_jk x_j + b_k for the quantiles q_1 < … < q_K and W = Σ_i w_i,

        Σ_k [ (1/W) Σ_i w_i ρ_{q_k}(y_i − f_k(x_i)) + α Σ_j v_j|β_jk| ],
        ρ_q(e) = max(q e, (q − 1) e)

    (Koenker, Bassett, Econometrica 46, 1978; with the penalty Belloni, Chernozhukov, Annals of
    Statistics 39, 2011). Each quantile solves the problem of scikit-learn's QuantileRegressor. The
    quantiles share computations on the features, and each starts from the features of the quantile
    below it.

    With ``noncrossing``, all quantiles are one problem with constraints (Bondell, Reich, Wang,
    Biometrika 97, 2010), and ``dual_bound_`` is a lower bound on its optimum with all features.

    ``"box"``: f_1(x) ≤ … ≤ f_K(x) for every x in the box of the training rows, from the least to
    the largest value of each feature. With the middle m_j and half the width h_j of feature j in
    the box, these are K − 1 constraints,

        f_{k+1}(m) − f_k(m) ≥ Σ_j h_j|β_{j,k+1} − β_jk|.

    Rows with a feature outside that range may cross; :meth:`in_box` says which rows those are.

    ``"rows"``: f_1(x_i) ≤ … ≤ f_K(x_i) for the training rows alone, and so for means of them. That
    asks for less, so that the loss is a little smaller, and other rows may cross: with few rows for
    each feature many of them do. Both are promised for training rows of positive weight; a source
    of blocks has the box of all its rows.

    Parameters
    ----------
    quantiles : sequence of float, default=(0.1, 0.5, 0.9)
        Increasing, each in (0, 1).
    alpha : float or None, default=None
        α, at least 0: the penalty factor. From ``alpha_max_`` on, all coefficients are 0; with 0,
        all features are in the model. None: as in :class:`SparseLinearRegressor`, for the quantile
        with the highest noise level.
    noncrossing : {"box", "rows", True, False}, default=False
        Where predictions must be in the order of the quantiles; True: ``"box"``. Requires the ℓ1
        penalty and an intercept; ``"box"`` the solver "auto", ``"rows"`` a penalty on every
        coefficient.
    penalty, l1_ratio, penalty_weights, positive, fit_intercept, standardize
        As in :class:`SparseLinearRegressor`.
    columns_per_round : int or None
        Features that enter per round, for all quantiles of a problem. None: as in
        :class:`SparseLinearRegressor`, for each quantile.
    max_columns : int or None
        Maximum number of generated features (per quantile, unless ``noncrossing``; with ``"box"``
        features enter for all quantiles at once, and each counts as often as there are quantiles).
    tol : float, default=1e-6
        As in :class:`SparseLinearRegressor`.
    time_limit, solver, solver_options, early_stopping, validation_fraction, n_iter_no_change, \
scoring, callbacks, verbose, random_state
        As in :class:`CGBoostRegressor`; early stopping watches the mean pinball loss.

    Attributes
    ----------
    coef_ : ndarray of shape (n_quantiles, n_features)
        β; a CSR matrix after :meth:`sparsify`.
    intercept_ : ndarray of shape (n_quantiles,)
        b.
    alpha_, alpha_max_ : float
        The α used, and the smallest α at which no quantile has a feature (nan if some features have
        no penalty).
    objective_, dual_bound_ : float
        The minimum found and the lower bound on it.
    gap_ : float
        Relative gap between the two; the largest of all quantiles, unless ``noncrossing``.
    columns_ : dict of str to ndarray
        feature, coefficient, round and quantile of every nonzero coefficient.
    history_ : dict of str to ndarray
        One entry per round, with its quantile unless ``noncrossing``.
    box_ : ndarray of shape (2, n_features)
        The least and the largest value of every feature, with ``noncrossing="box"``.
    n_columns_, n_iter_, converged_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`. Attributes that are lists over classes there are lists
        over quantiles here, unless ``noncrossing``.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import MultiQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> y = X[:, 0] + (1 + np.abs(X[:, 1])) * rng.normal(size=100)
    >>> model = MultiQuantileRegressor([0.1, 0.3, 0.5, 0.7, 0.9], alpha=0.01, noncrossing="box")
    >>> new = rng.uniform(*model.fit(X, y).box_, size=(1000, 30))
    >>> bool(np.diff(model.predict(new), axis=1).min() >= -1e-9), model.converged_
    (True, True)
    """

    quantiles: Sequence[float] = (0.1, 0.5, 0.9)
    alpha: float | None = field(default=None, kw_only=True)
    noncrossing: bool | Literal["box", "rows"] = field(default=False, kw_only=True)
    penalty: PenaltyName | L1 | ElasticNet = field(default="l1", kw_only=True)
    l1_ratio: float = field(default=0.5, kw_only=True)
    penalty_weights: ArrayLike | None = field(default=None, kw_only=True)
    positive: bool = field(default=False, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    standardize: bool = field(default=False, kw_only=True)
    columns_per_round: int | None = field(default=None, kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)

    _coef_by_output: ClassVar[bool] = True

    def predict(self, X: ArrayLike) -> Vector:
        """The quantiles of every row, shape (n_rows, n_quantiles)."""
        return self._outputs(X)

    def staged_predict(self, X: ArrayLike) -> Iterator[Vector]:
        """Predictions after every round up to the best one; the last are the model's."""
        return self._staged_outputs(X)

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """The same as :meth:`staged_predict`."""
        return self._staged_outputs(X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean over the quantiles of D², the explained share of the pinball loss.

        This is scikit-learn's ``d2_pinball_score`` for each quantile: 1 is perfect, 0 equals the
        constant prediction of the quantile of y.
        """
        from sklearn.metrics import d2_pinball_score

        predicted = self.predict(X)
        scores = [
            d2_pinball_score(y, predicted[:, k], sample_weight=sample_weight, alpha=q)
            for k, q in enumerate(self.quantiles)
        ]
        return float(np.mean(scores))

    def in_box(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Which rows lie in the box in which quantiles do not cross, shape (n_rows,).

        Raises
        ------
        AttributeError
            If the model was fitted without ``noncrossing="box"``.
        """
        check_is_fitted(self)
        if not hasattr(self, "box_"):
            raise AttributeError(
                f"in_box needs a model with noncrossing='box', got {self.noncrossing!r}"
            )
        matrix: Any = self._rows(X)
        least, most = self.box_
        dense = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
        return np.asarray(((dense >= least) & (dense <= most)).all(axis=1))

    # ------------------------------------------------------------------ parameters

    def _check_parameters(self) -> None:
        check_quantiles(self.quantiles)
        check_number("alpha", self.alpha, at_least=0, optional=True)
        if not isinstance(self.noncrossing, (bool, np.bool_)) and self.noncrossing not in PLACES:
            raise ValueError(
                f"noncrossing must be True, False or one of {PLACES}, got {self.noncrossing!r}"
            )
        super()._check_parameters()
        if not self.noncrossing:
            return
        given = f"noncrossing={self.noncrossing!r}"
        for name, fits, needed in (
            ("penalty", not self._penalty.quadratic, "'l1'"),
            ("fit_intercept", self.fit_intercept, "True"),
            ("solver", self.solver == "auto" or self._where == "rows", "'auto'"),
        ):
            if not fits:
                raise ValueError(f"{given} needs {name}={needed}, got {getattr(self, name)!r}")
        if self.alpha == 0 and self._where == "rows":
            raise ValueError(
                f"{given} needs alpha above 0, got {self.alpha!r}: take a small one, or "
                "noncrossing='box'"
            )
        least = len(self.quantiles)
        if self._where == "box" and self.max_columns is not None and self.max_columns < least:
            raise ValueError(
                f"{given} needs max_columns of at least {least}, a column for each quantile, got "
                f"{self.max_columns!r}"
            )

    @property
    def _where(self) -> Literal["box", "rows"] | None:
        """Where quantiles must not cross."""
        if isinstance(self.noncrossing, str):
            return self.noncrossing
        return "box" if self.noncrossing else None

    @property
    def _losses(self) -> list[Loss]:
        return [Quantile(float(q)) for q in self.quantiles]

    @property
    def _loss(self) -> Loss:
        return self._losses[0]

    @property
    def _target_kind(self) -> Quantiles:  # type: ignore[override]
        joint = bool(self.noncrossing)
        return Quantiles(tuple(self.quantiles), joint, self._scaling.unit)

    # ------------------------------------------------------------------ the runs

    def _pool(self, rows: TrainingRows) -> FeaturePool:
        pool = super()._pool(rows)
        if self._where == "rows" and len(self._free):
            raise ValueError(
                "noncrossing='rows' needs penalty_weights above 0, got 0 for feature "
                f"{self._free[0]}: take a small weight, or noncrossing='box'"
            )
        return pool

    def _losses_of_runs(self, y: NDArray[Any]) -> list[tuple[Loss, Vector]]:
        return [(loss, y / self._scaling.unit) for loss in self._losses]

    @property
    def _objective(self) -> Objective:
        return self._objectives[0]

    @property
    def _objectives(self) -> Sequence[Objective]:
        return list(map(self._objective_of_mean, self._losses))

    def _certified(self, pool: Any, rows: TrainingRows) -> Certified:
        plan = replace(super()._certified(pool, rows), neighbours=True)
        if self._where == "box":
            count, most = len(self.quantiles), plan.stop.max_columns
            if most is not None:
                plan = replace(plan, stop=replace(plan.stop, max_columns=most - most % count))
            return NoncrossingInBox.like(plan, free=self._free)
        return NoncrossingOnRows.like(plan) if self._where else plan

    def _begun_at(self, plan: Certified, coef: Vector, intercept: Vector) -> Certified:
        if isinstance(plan, NoncrossingInBox):
            return replace(plan, start=np.flatnonzero(coef.any(axis=0)))
        return super()._begun_at(plan, coef, intercept)

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        if self._where == "box":
            self.box_ = np.array(matrix_of(rows.X).extremes, dtype=np.float64)

    def _score_of_outputs(self, outputs: Vector, y: Any, weights: Vector | None) -> float:
        """Minus the mean pinball loss of rows, over all quantiles."""
        target = np.asarray(y, dtype=np.float64)
        losses = [loss.value(target, f) for loss, f in zip(self._losses, outputs.T, strict=True)]
        return -float(np.average(np.mean(losses, axis=0), weights=weights))


@dataclass(frozen=True)
class Quantiles(TargetKind):
    """Quantiles of y, each with an output.

    Attributes
    ----------
    joint : bool
        Whether they are one problem; otherwise there is a run for each.
    unit : float
        That in which y is fitted.
    """

    levels: tuple[float, ...]
    joint: bool
    unit: float

    noun: ClassVar[str] = "quantile"

    @property
    def names(self) -> NDArray[Any]:
        """The quantiles."""
        return np.array(self.levels, dtype=np.float64)

    @property
    def n_runs(self) -> int:
        """One, or one for each quantile."""
        return 1 if self.joint else len(self.levels)

    def encode(self, y: NDArray[Any]) -> Vector:
        """The numbers themselves."""
        return np.asarray(y, dtype=np.float64)

    def of_runs(self, encoded: NDArray[Any]) -> list[Vector]:
        """Y in its unit, for every quantile."""
        target, count = encoded / self.unit, len(self.levels)
        return [np.tile(target[:, None], count)] if self.joint else [target] * count

    def scores(self, run: int | None = None) -> dict[str, Score]:
        """The mean pinball loss, of all quantiles where they are one problem."""
        own = self.levels if self.joint or run is None else self.levels[run : run + 1]
        score = partial(mean_pinball_loss, [Quantile(float(q)) for q in own])
        return {"loss": in_unit(score, self.unit)}


@dataclass(frozen=True)
class Noncrossing(Certified):
    """One problem of all quantiles, whose outputs must not cross."""

    def tasks(self, watch: Watch) -> Iterator[RunTask]:
        """The one run."""
        levels = self.target_kind.names
        assert levels is not None
        (target,) = self.y_of_runs
        loss, count = self.objectives[0].make_loss(target[:, 0], self.weights), len(levels)
        own = {name: self.options[name] for name in ("coef", "solver", "solver_options")}
        pairs = OutputRowPairs(count, len(target))
        master, pricer = self._parts(pairs, levels.tolist(), loss, own)
        if self.carried is not None:
            master.start_from(self.carried.get(0, master.warm_start))
        columns = self.columns_per_round
        if columns is None or isinstance(columns, str):
            columns = count * self.family.columns_per_round(self.pool, len(target))
        yield RunTask(master, pricer, n_outputs=count, columns_per_round=columns)
        if self.carried is not None:
            self.carried[0] = master.warm_start

    @abstractmethod
    def _parts(
        self, pairs: OutputRowPairs, levels: list[float], loss: Any, options: Mapping[str, Any]
    ) -> tuple[SupportVectorMaster, Pricer]:
        """Master and pricer of quantiles at the costs of a loss."""


@dataclass(frozen=True)
class NoncrossingOnRows(Noncrossing):
    """Outputs must not cross on the training rows."""

    def _parts(
        self, pairs: OutputRowPairs, levels: list[float], loss: Any, options: Mapping[str, Any]
    ) -> tuple[SupportVectorMaster, Pricer]:
        master = NoncrossingMaster(levels, loss.target, loss.weights, **options)
        pricers = [self.family.pricer(self.pool, self.stop.tol) for _ in levels]
        return master, JointPricer(pairs, pricers, names=levels, kind="quantile")


@dataclass(frozen=True)
class NoncrossingInBox(Noncrossing):
    """Outputs must not cross in the box of the training rows.

    Attributes
    ----------
    free : ndarray of int
        Features without a penalty.
    start : ndarray of int
        Features to begin with, as those in use in a similar problem.
    """

    free: NDArray[np.intp] = field(kw_only=True)
    start: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def _parts(
        self, pairs: OutputRowPairs, levels: list[float], loss: Any, options: Mapping[str, Any]
    ) -> tuple[SupportVectorMaster, Pricer]:
        pricer = BoxPricer(pairs, self.pool, self.free)
        own = {**options, "free_columns": pricer.columns(self.free)}
        master, count = BoxMaster(levels, loss.target, loss.weights, **own), self.pool.size(0)
        few = count <= FEATURES_OF_BOX and self.columns_per_round is None
        if few and not self.stop.max_columns:
            master.add(pricer.columns(np.setdiff1d(np.arange(count), self.free)))
        elif len(self.start):
            master.add(pricer.columns(np.setdiff1d(self.start, self.free)))
        return master, pricer


def mean_pinball_loss(losses: Sequence[Loss], y: Vector, output: Vector) -> float:
    """Mean pinball loss over the rows, and over the quantiles where there are several.

    Parameters
    ----------
    losses : sequence of Loss
        One for each output.
    y, output : ndarray of shape (n_rows,) or (n_rows, n_outputs)
    """
    pairs = zip(losses, y.reshape(len(y), -1).T, output.reshape(len(y), -1).T, strict=True)
    return float(np.mean([loss.value(own, f) for loss, own, f in pairs]))


def check_quantiles(quantiles: Any) -> None:
    """Raise a ValueError unless these are increasing numbers between 0 and 1."""
    if isinstance(quantiles, str) or np.ndim(quantiles) != 1 or len(quantiles) == 0:
        raise ValueError(f"quantiles must be a sequence of numbers, got {quantiles!r}")
    before = 0.0
    for q in quantiles:
        if not isinstance(q, Real) or isinstance(q, bool) or not 0 < float(q) < 1:
            raise ValueError(f"quantiles must be between 0 and 1, got {q!r}")
        if float(q) <= before:
            raise ValueError(
                f"quantiles must be increasing, each given once, got {q!r} after {before!r}"
            )
        before = float(q)
