"""Prediction intervals from sparse linear quantiles, calibrated across folds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta
from sklearn.utils.validation import check_is_fitted, column_or_1d

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.estimators.common.parameters import check_number
from cgboost.estimators.common.sklearn_bases import RegressorMixin
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.linear.cross_validation import Fold, OverFolds
from cgboost.estimators.linear.multi_quantile import MultiQuantileRegressor
from cgboost.exceptions import DataWarning, TrivialModelWarning, warn_caller
from cgboost.optional import require
from cgboost.tables.table_columns import is_missing, listed

HALVINGS_OF_RANGE = 64
"""Of a range in which a bound is looked for: what is left is rounding."""

SHARE_OF_RANK = 1e-12
"""Ranks are whole numbers, up to this share of rounding: 0.9·(9 + 1) is the ninth of nine."""

CONFIDENCE = 0.95
"""Of the limits of a measured coverage."""


@dataclass(eq=False, repr=False)
class IntervalRegressor(RegressorMixin, OverFolds):
    """Prediction intervals that hold: sparse linear quantiles, calibrated across folds.

    For every fold k, the quantiles α/2 and 1 − α/2 of the other rows, α = 1 − ``coverage``, are one
    certified problem in which they do not cross (:class:`MultiQuantileRegressor` with
    ``noncrossing="box"``). A row of the fold scores by how far it is outside of its interval,

        s_i = max(l_k(x_i) − y_i, y_i − u_k(x_i)),

    negative inside (conformalised quantile regression: Romano, Patterson, Candès, NeurIPS 2019),
    and the interval of a new x is that of CV+ (Barber, Candès, Ramdas, Tibshirani, Annals of
    Statistics 49, 2021): with k(i) the fold of row i,

        [the ⌊α(n + 1)⌋-th smallest l_{k(i)}(x) − s_i,  the ⌈(1 − α)(n + 1)⌉-th u_{k(i)}(x) + s_i].

    For rows that can be exchanged with the training rows, whatever their distribution, it holds y
    with a probability of at least 1 − 2α − √(2/n), and in practice of about 1 − α.
    :meth:`coverage_report` measures it. The lengths of intervals follow the features: where errors
    are larger, so are intervals.

    A weight is so many copies of its row. Weights that add up to less than the number of rows are
    scaled up to it.

    Parameters
    ----------
    coverage : float, default=0.9
        1 − α, between 0 and 1.
    cv : int, splitter, iterable or None, default=5
        As in scikit-learn's GridSearchCV, with the ``groups`` passed to ``fit``. Every row must be
        held out once. An integer means consecutive rows: for rows in an order, take
        ``KFold(5, shuffle=True)``. None means five folds, or fewer if there are fewer rows.
    alpha : float or None, default=None
        The penalty factor of all quantiles, as in :class:`MultiQuantileRegressor`.
    n_jobs : int or None
        Number of folds fitted in parallel, as in joblib.
    penalty_weights, positive, standardize, columns_per_round, max_columns, tol, time_limit, verbose
        As in :class:`MultiQuantileRegressor`; ``verbose`` only for the model of all rows.

    Attributes
    ----------
    conformity_scores_ : ndarray of shape (n_rows,)
        s; nan for rows of weight 0, which take no part.
    fold_ : ndarray of int, shape (n_rows,)
        k(i); −1 for rows of weight 0.
    row_weights_ : ndarray of shape (n_rows,)
        What each score counts: ``sample_weight``, in all at least the number of rows.
    models_ : list of MultiQuantileRegressor
        Those of the folds.
    model_ : MultiQuantileRegressor
        Of all rows, with the quantiles α/2, ½ and 1 − α/2; its median is the prediction.
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
        Those of the median; ``model_`` has those of all three.
    objective_, dual_bound_, gap_, converged_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`MultiQuantileRegressor`, for ``model_``.

    See Also
    --------
    cgboost.inspection.plot_coverage : A picture of :meth:`coverage_report`.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import IntervalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 10))
    >>> y = X[:, 0] + X[:, 1] * rng.normal(size=2000)
    >>> model = IntervalRegressor(coverage=0.9, alpha=0.001).fit(X[:500], y[:500])
    >>> low, high = model.predict_interval(X[500:]).T
    >>> inside = (low <= y[500:]) & (y[500:] <= high)
    >>> bool(0.87 < inside.mean() < 0.95), bool(np.corrcoef(high - low, X[500:, 1])[0, 1] > 0.9)
    (True, True)
    """

    coverage: float = 0.9
    cv: Any = field(default=5, kw_only=True)
    alpha: float | None = field(default=None, kw_only=True)

    _kind: ClassVar[Any] = MultiQuantileRegressor
    _y_numeric: ClassVar[bool] = True
    _coef_by_output: ClassVar[bool] = False

    def predict(self, X: ArrayLike) -> Vector:
        """The median of the model of all rows, shape (n_rows,), within the interval of each row."""
        low, high = self.predict_interval(X).T
        middle: Vector = np.clip(self._outputs(X)[:, 0], low, high)
        return middle

    def predict_interval(self, X: ArrayLike) -> Vector:
        """The lower and the upper end of the interval of each row, shape (n_rows, 2).

        They are infinite where ``coverage`` needs more rows than there are, and equal where the
        two ends would cross, as they may where scores are negative.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        low, high = (
            np.stack([model._outputs(rows)[:, end] for model in self.models_], axis=1)
            for end in (0, -1)
        )
        lower, upper = -self._bounds(-low), self._bounds(high)
        crossed = np.flatnonzero(lower > upper)
        lower[crossed] = upper[crossed] = 0.5 * (lower[crossed] + upper[crossed])
        return np.stack([lower, upper], axis=1)

    def coverage_report(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> CoverageReport:
        """How many of some rows lie in their intervals, of all and of each group.

        Parameters
        ----------
        X, y
            Rows that were not trained on.
        groups : array-like of shape (n_rows,), optional
            A name or a number for each row.
        sample_weight : array-like of shape (n_rows,), optional

        Raises
        ------
        ValueError
            If lengths differ, groups are missing, or there are no rows of positive weight.
        """
        low, high = self.predict_interval(X).T
        target = column_or_1d(np.asarray(y), warn=True).astype(np.float64)
        if len(target) != len(low):
            raise ValueError(f"y must have an entry for each of {len(low)} rows, got {len(target)}")
        if not np.isfinite(target).all():
            raise ValueError(f"y must be finite, got {target[~np.isfinite(target)][0]}")
        weights = TrainingRows.of(low[:, None], target, sample_weight).weights
        names = None if groups is None else _names_of(groups, low.shape)
        rows = _Measured((low <= target) & (target <= high), high - low, weights)
        return CoverageReport.of(self._nominal, rows, names)

    # ------------------------------------------------------------------ the fit

    def _check_parameters(self) -> None:
        check_number("coverage", self.coverage, above=0, below=1)
        tail = 0.5 * (1.0 - self.coverage)
        if not 0.0 < tail < 0.5:
            raise ValueError(f"coverage must be further from 0 and 1, got {self.coverage!r}")

    def _model(self, **own: Any) -> Any:
        return super()._model(quantiles=self.quantiles, noncrossing="box", **own)

    @property
    def quantiles(self) -> tuple[float, ...]:
        """α/2, ½ and 1 − α/2."""
        tail = 0.5 * (1.0 - self.coverage)
        return (tail, 0.5, 1.0 - tail)

    def _find(self, X: Matrix, y: NDArray[Any], weights: Vector) -> None:
        counts = np.flatnonzero(weights > 0)
        folds = self._parts(X, y, counts)
        self._take(self._model(), X, y, weights)
        start = self.coef_, self.intercept_
        models = Parallel(n_jobs=self.n_jobs)(
            delayed(_model_of_fold)(self, X, y, weights, train, *start) for train, _ in folds
        )
        self.conformity_scores_ = np.full(len(y), np.nan)
        self.fold_ = np.full(len(y), -1)
        for k, (model, (_, held)) in enumerate(zip(models, folds, strict=True)):
            low, high = model._outputs(X[held]).T
            self.conformity_scores_[held] = np.maximum(low - y[held], y[held] - high)
            self.fold_[held] = k
        self.models_ = models
        self.row_weights_ = weights * max(1.0, len(counts) / float(weights.sum()))
        self.coef_, self.intercept_ = self.model_.coef_[1], float(self.model_.intercept_[1])
        if self._rank > float(self.row_weights_.sum()):
            least = int(np.ceil(self.coverage / (1.0 - self.coverage) * (1.0 - SHARE_OF_RANK)))
            warn_caller(
                f"coverage={self.coverage!r} needs at least {least} rows, got {len(counts)}: "
                "intervals are infinite",
                DataWarning,
            )

    def _parts(self, X: Matrix, y: NDArray[Any], counts: Indices) -> list[Fold]:
        """The rows of positive weight that each fold trains on and holds out.

        Raises
        ------
        ValueError
            If there are fewer rows than folds, groups of another number of rows, or rows that are
            not held out once.
        """
        least = self.cv if isinstance(self.cv, (int, np.integer)) else 2
        if len(counts) < least:
            raise ValueError(
                f"cv={self.cv!r} needs at least {least} rows of positive weight, got "
                f"n_samples={len(counts)}"
            )
        groups = None if self._groups is None else np.asarray(self._groups)
        if groups is not None:
            if groups.shape != y.shape:
                raise ValueError(f"groups must have shape {y.shape}, got {groups.shape}")
            groups = groups[counts]
        splits = self._folds(y[counts]).split(X[counts], y[counts], groups)
        folds = [(counts[train], counts[held]) for train, held in splits]
        times = np.zeros(len(y), dtype=np.intp)
        for train, held in folds:
            times += np.bincount(held, minlength=len(y))
            if len(both := np.intersect1d(train, held)):
                raise ValueError(
                    f"{self._cv_named} must train each fold without the rows that it holds out, "
                    f"but row {both[0]} is in both parts of one"
                )
        if wrong := counts[times[counts] != 1].tolist():
            raise ValueError(
                f"{self._cv_named} must hold out every row once, but row {wrong[0]} is held out "
                f"{times[wrong[0]]} times"
            )
        return [(train, held) for train, held in folds if len(held)]

    @property
    def _cv_named(self) -> str:
        """The parameter and its value; of lists of rows their type."""
        named = hasattr(self.cv, "split") or isinstance(self.cv, (int, np.integer))
        return f"cv={self.cv!r}" if named else f"cv, a {type(self.cv).__name__},"

    # ------------------------------------------------------------------ the ends

    @property
    def _rank(self) -> float:
        """The weight that is to lie below an upper end: a new row counts as one."""
        return self._nominal * (float(self.row_weights_.sum()) + 1.0) * (1.0 - SHARE_OF_RANK)

    @property
    def _nominal(self) -> float:
        """The coverage of the fit; another ``coverage`` counts from the next fit on."""
        return 1.0 - 2.0 * float(self.model_.quantiles[0])

    def _bounds(self, high: Vector) -> Vector:
        """The least t with Σ_i w_i [u_{k(i)}(x) + s_i ≤ t] ≥ (1 − α)(Σ w + 1), for every row.

        Found by halving, in a range that has it, with the scores of each fold in order.

        Parameters
        ----------
        high : ndarray of shape (n_rows, n_folds)
            u_k(x).
        """
        if self._rank > float(self.row_weights_.sum()):
            return np.full(len(high), np.inf)
        scores, below = [], []
        for k in range(high.shape[1]):
            own = np.flatnonzero(self.fold_ == k)
            own = own[np.argsort(self.conformity_scores_[own], kind="stable")]
            scores.append(self.conformity_scores_[own])
            below.append(np.append(0.0, np.cumsum(self.row_weights_[own])))
        least = np.min([u + s[0] for u, s in zip(high.T, scores, strict=True)], axis=0)
        most = np.max([u + s[-1] for u, s in zip(high.T, scores, strict=True)], axis=0)
        most += 1e-15 * np.abs(most)  # so that rounding of the difference leaves out no row
        for _ in range(HALVINGS_OF_RANGE):
            middle = least + 0.5 * (most - least)
            total = np.zeros(len(high))
            for u, s, sums in zip(high.T, scores, below, strict=True):
                total += sums[np.searchsorted(s, middle - u, side="right")]
            enough = total >= self._rank
            most, least = np.where(enough, middle, most), np.where(enough, least, middle)
        return most


def _model_of_fold(
    self: IntervalRegressor,
    X: Any,
    y: NDArray[Any],
    weights: Vector,
    train: Indices,
    coef: Vector,
    intercept: Vector,
) -> Any:
    """The outer quantiles of the rows that a fold trains on, from those of all rows."""
    model = self._model(verbose=0).set_params(quantiles=self.quantiles[::2])
    with warnings.catch_warnings():  # the model of all rows says whether quantiles are constant
        warnings.simplefilter("ignore", TrivialModelWarning)
        rows, _ = model._prepare(X[train], y[train], weights[train], None)
        model = model._fitted_near(rows, coef, intercept)
    model._speaking_as(None)
    return model


def _names_of(groups: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """The groups of a report, all of them there and of one type."""
    names = np.asarray(groups)
    if names.shape != shape:
        raise ValueError(f"groups must have shape {shape}, got {names.shape}")
    missing = [row for row, name in enumerate(names) if is_missing(name)]
    if missing:
        raise ValueError(
            f"groups must have a name or a number for each row, got {names[missing[0]]} in row "
            f"{missing[0]}: fill it, or leave the row out"
        )
    try:
        np.unique(names)
    except TypeError as error:
        kinds = listed({type(name) for name in names.tolist()})
        raise ValueError(f"groups must be all names or all numbers, got {kinds}") from error
    return names


@dataclass(frozen=True)
class _Measured:
    """Which rows lie in their interval, the lengths of these, and weights."""

    inside: NDArray[np.bool_]
    lengths: Vector
    weights: Vector

    def of(self, rows: Any) -> tuple[float, float, float, float, float]:
        """Weight of some rows, their coverage with its limits, and their mean length.

        The limits are those of Clopper and Pearson (Biometrika 26, 1934), at the number of rows of
        equal weight that have the same variance, (Σw)²/Σw².
        """
        weights, total = self.weights[rows], float(self.weights[rows].sum())
        covered = float(weights @ self.inside[rows]) / total
        count = total**2 / float(weights @ weights)
        tail, hits = 0.5 * (1.0 - CONFIDENCE), covered * count
        low = float(beta.ppf(tail, hits, count - hits + 1.0)) if covered > 0 else 0.0
        high = float(beta.ppf(1.0 - tail, hits + 1.0, count - hits)) if covered < 1 else 1.0
        return total, covered, low, high, float(weights @ self.lengths[rows]) / total


@dataclass(frozen=True)
class CoverageReport:
    """The measured coverage of intervals, of all rows and by group. It prints as a table.

    Attributes
    ----------
    nominal : float
        What it should be.
    table : dict of str to ndarray
        group ("all" first), rows (their weight), coverage, low and high (limits of 95 %
        confidence), length (the mean length of intervals).
    """

    nominal: float
    table: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, nominal: float, rows: _Measured, groups: NDArray[Any] | None) -> CoverageReport:
        """The report of rows; groups are in order, those without weight left out."""
        if not rows.weights.any():
            raise ValueError("X must have rows of positive weight, got none")
        names, lines = ["all"], [rows.of(rows.weights > 0)]
        if groups is not None:
            for name in np.unique(groups[rows.weights > 0]):
                plain = isinstance(name, np.generic) and name.dtype.kind not in "mM"  # dates
                names.append(name.item() if plain else name)
                lines.append(rows.of((groups == name) & (rows.weights > 0)))
        measured = zip(*lines, strict=True)
        columns = zip(("rows", "coverage", "low", "high", "length"), measured, strict=True)
        table: dict[str, NDArray[Any]] = {"group": np.array(names, dtype=object)}
        return cls(nominal, table | {name: np.array(values) for name, values in columns})

    def to_frame(self) -> Any:
        """The table as a frame of pandas.

        Raises
        ------
        ImportError
            Without the package pandas.
        """
        require("pandas", "to_frame")
        import pandas as pd

        return pd.DataFrame(dict(self.table))

    def __str__(self) -> str:
        names = [str(name) for name in self.table["group"]]
        width = max(len("group"), *map(len, names))
        lines = [f"nominal coverage {self.nominal:.1%}"]
        lines.append(f"{'group':{width}}    rows  coverage  (95 % limits)       length")
        for name, *own in zip(names, *list(self.table.values())[1:], strict=True):
            rows, covered, low, high, length = own
            lines.append(
                f"{name:{width}} {rows:7g}   {covered:7.1%}  ({low:.1%} to {high:.1%})"
                f"  {length:10.4g}"
            )
        return "\n".join(lines)
