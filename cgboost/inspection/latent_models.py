"""What latent factor models say of features: loadings, importances, and jackknife intervals.

The jackknife (Tukey; Efron, Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11) fits a
model without each of K parts of the rows. The variance of a coefficient b over such data is about

    (K − 1)/K Σ_k (b_(k) − b̄)²        b̄ = Σ_k b_(k)/K

which Martens and Martens, Food Quality and Preference 11, 2000, have for partial least squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.parameters import check_count, check_number
from cgboost.estimators.latent.latent_factors import BaseBLF, folds
from cgboost.inspection import drawing
from cgboost.inspection.pipelines import last_step
from cgboost.inspection.resampling import Refits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Jackknife(Refits):
    """Coefficients of a latent factor model, and of fits without one part of the rows each.

    Attributes
    ----------
    names : list of str
        Of the features.
    coef : ndarray of shape (n_outputs, n_features)
        Of the model of all rows.
    coefs : ndarray of shape (n_parts, n_outputs, n_features)
        Without each part.
    """

    @property
    def std_error(self) -> Vector:
        """Standard errors of the coefficients, shape (n_outputs, n_features)."""
        return np.asarray(np.sqrt((len(self.coefs) - 1) * self.coefs.var(axis=0)))

    def intervals(self, level: float = 0.95) -> tuple[Vector, Vector]:
        """Ends of intervals, both of shape (n_outputs, n_features).

        They are b ± t·std_error, where t is the quantile of Student's t with K − 1 degrees of
        freedom. They are those of the coefficients that a model of so many factors has on
        average, which is biased where it has fewer factors than there are directions that matter.

        Parameters
        ----------
        level : float, default=0.95
            Share of data sets whose interval has the coefficient.
        """
        check_number("level", level, above=0, below=1)
        away = stats.t.ppf(0.5 * (1.0 + level), len(self.coefs) - 1) * self.std_error
        return self.coef - away, self.coef + away

    def to_frame(self, level: float = 0.95) -> Any:
        """A frame of pandas: coefficient, standard error and interval of every feature.

        Raises
        ------
        ImportError
            Without the package pandas.
        """
        low, high = self.intervals(level)
        own = {"coefficient": self.coef, "std_error": self.std_error, "low": low, "high": high}
        return self._frame(range(len(self.coef)), own)


def jackknife(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 20,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Jackknife:
    """Fit a latent factor model without each part of its rows: how far its coefficients vary.

    Every fit has the number of factors of the model, also where cross-validation has chosen it.

    Parameters
    ----------
    model : fitted BLFRegressor or BLFClassifier
        Without a kernel; or a Pipeline that ends with one: its other steps stay as they are.
    X, y, sample_weight
        As given to ``fit``: a model keeps no rows. X is an array, a matrix or a data frame.
    cv : int or splitter, default=20
        Parts of the rows of positive weight, shuffled; as many as there are leave out one row at a
        time. Of classes stratified, and at most as many as the smallest class has rows. A splitter
        has to leave out every row once.
    n_jobs : int or None
        Parts fitted in parallel, as in joblib.
    random_state : int, RandomState or None

    Returns
    -------
    Jackknife

    Raises
    ------
    ValueError
        If the model is another one or has a kernel, if X, y and sample_weight have different
        numbers of rows, or if some row is not left out once.
    """
    check_is_fitted(model)
    own, (rows,), names = last_step(model, X)
    if not isinstance(own, BaseBLF) or own.kernel is not None:
        what = f" with kernel={own.kernel!r}" if isinstance(own, BaseBLF) else ""
        raise ValueError(
            "model must be a BLFRegressor or BLFClassifier without a kernel, got a "
            f"{type(own).__name__}{what}: stability() is for sparse linear models"
        )
    rows = own._rows(rows)
    y = np.asarray(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    check_consistent_length(rows, y, weights)
    counted = np.flatnonzero(weights)  # others would be parts without which nothing changes
    rows, y, weights = rows[counted], y[counted], weights[counted]
    count = int(np.max(own.n_components_))
    bare = clone(own).set_params(n_components=count, callbacks=None, verbose=0)

    def without(train: Indices) -> Vector:
        return np.atleast_2d(clone(bare).fit(rows[train], y[train], weights[train]).coef_)

    parts = folds(cv, y, random_state, classes=is_classifier(own))
    times = np.bincount(np.concatenate([test for _, test in parts]), minlength=len(y))
    if (times != 1).any():
        raise ValueError(
            f"cv={cv!r} leaves out rows {times.min()} to {times.max()} times: the jackknife needs "
            "each row once, as with a number of parts or KFold"
        )
    coefs = Parallel(n_jobs=n_jobs)(delayed(without)(train) for train, _ in parts)
    return Jackknife(_names(own, names), np.atleast_2d(own.coef_), np.array(coefs))


def _names(model: Any, names: list[str] | None = None) -> list[str]:
    if names is None:
        given = getattr(model, "feature_names_in_", None)
        names = [f"x{j}" for j in range(model.n_features_in_)] if given is None else [*given]
    return [str(name) for name in names]


def _with_loadings(model: Any) -> tuple[Any, list[str]]:
    """The model, or the last step of a pipeline, and the names of its features."""
    check_is_fitted(model)
    own, _, names = last_step(model)
    if not hasattr(own, "x_loadings_"):
        raise ValueError(
            "model must have factors of the features (x_loadings_), as BLFRegressor and "
            f"BLFClassifier without a kernel and PLSRegression do, got a {type(own).__name__}"
        )
    return own, _names(own, names)


@drawing.on_ax
def plot_loadings(
    model: Any, *, n_factors: int = 2, top: int = 15, ax: Axes | None = None
) -> Figure:
    """Draw the loadings of the first factors: how they go with each feature.

    Each column of ``x_loadings_`` is divided by its length.

    Parameters
    ----------
    model : fitted BLFRegressor or BLFClassifier
        Without a kernel; also scikit-learn's ``PLSRegression``, and a Pipeline that ends with one.
    n_factors : int, default=2
        Factors, at most as many as there are.
    top : int, default=15
        Features: those with the largest loadings on these factors.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the model has no loadings, or ``n_factors`` or ``top`` is not a whole number from 1 on.
    """
    drawing.check_top(top)
    check_count("n_factors", n_factors)
    own, names = _with_loadings(model)
    loadings = own.x_loadings_[:, :n_factors]
    lengths = np.linalg.norm(loadings, axis=0)
    loadings = loadings / np.where(lengths > 0, lengths, 1.0)
    order = np.argsort(-np.abs(loadings).max(axis=1, initial=0.0), kind="stable")[:top]
    count = loadings.shape[1]
    figure, axis = drawing.panel(ax, bars=max(1, count) * len(order))
    places, height = np.arange(len(order)), 0.8 / max(1, count)
    shares = getattr(own, "explained_variance_ratio_", None)
    for k in range(count):
        name = f"factor {k + 1}" + ("" if shares is None else f" ({shares[k]:.0%} of X)")
        at = places + height * (k - 0.5 * (count - 1))
        axis.barh(at, loadings[order, k], height, color=drawing.colour(k), label=name)
    axis.axvline(0.0, color=drawing.INK, linewidth=0.8)
    axis.set_yticks(places, [drawing.named(names[j]) for j in order])
    axis.set_ylim(len(order) - 0.5, -0.5)
    drawing.legend_beside(axis)
    drawing.label(axis, "Loadings of the factors", "loading, of columns of length 1", "feature")
    return figure


@drawing.on_ax
def plot_vip(model: Any, *, top: int = 20, ax: Axes | None = None) -> Figure:
    """Draw the importance of features in projection, ``vip_``; 1 is average.

    Parameters
    ----------
    model : fitted BLFRegressor or BLFClassifier
        Without a kernel; or a Pipeline that ends with one.
    top : int, default=20
        Features: the most important ones.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the model has no ``vip_``, or ``top`` is less than 1.
    """
    drawing.check_top(top)
    own, names = _with_loadings(model)
    if not hasattr(own, "vip_"):
        raise ValueError(f"model must have vip_, as BLFRegressor does, got a {type(own).__name__}")
    order = np.argsort(-own.vip_, kind="stable")[:top]
    figure, axis = drawing.panel(ax, bars=len(order))
    places = np.arange(len(order))
    axis.barh(places, own.vip_[order], 0.7, color=drawing.colour(0))
    axis.axvline(1.0, color=drawing.INK, linestyle="--", linewidth=1.0)
    axis.set_yticks(places, [drawing.named(names[j]) for j in order])
    axis.set_ylim(len(order) - 0.5, -0.5)
    drawing.label(axis, "Importance in projection", "VIP (1 is average)", "feature")
    return figure
