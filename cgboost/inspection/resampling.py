"""How stable a sparse linear model is: fits to parts of the rows, near the model of all rows.

Half of the rows, again and again, and how often each feature enters (stability selection:
Meinshausen, Bühlmann, Journal of the Royal Statistical Society B 72, 2010), in complementary pairs
of halves (Shah, Samworth, ibid. 75, 2013); or bootstrap samples of as many rows, whose coefficients
spread as those of the model do (Efron, Tibshirani, An Introduction to the Bootstrap, 1993).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.parameters import check_choice, check_count, check_number
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.linear.base_sparse_linear import BaseSparseLinear
from cgboost.exceptions import TrivialModelWarning
from cgboost.inspection import drawing
from cgboost.inspection.pipelines import last_step
from cgboost.optional import require
from cgboost.pricing.univariate.matrices import BlockFeatures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sampling = Literal["halves", "bootstrap"]

SAMPLES_NAMED: dict[Sampling, str] = {"halves": "halves", "bootstrap": "bootstrap samples"}
"""What the samples are called."""


@dataclass(frozen=True)
class Refits:
    """Coefficients of a model, and of fits to parts of its rows.

    Attributes
    ----------
    names : list of str
        Of the features.
    coef : ndarray of shape (n_outputs, n_features)
        Of the model of all rows.
    coefs : ndarray of shape (n_fits, n_outputs, n_features)
        Of the parts.
    """

    names: list[str]
    coef: Vector
    coefs: Vector

    def _frame(
        self, outputs: Sequence[Any], by_output: Mapping[str, Vector], **of_features: Vector
    ) -> Any:
        """A frame of pandas; what is of every output has its name where there are several."""
        require("pandas", "to_frame")
        import pandas as pd

        columns: dict[str, Any] = {"feature": self.names, **of_features}
        for k, output in enumerate(outputs):
            end = f", {output}" if len(self.coef) > 1 else ""
            columns |= {name + end: values[k] for name, values in by_output.items()}
        return pd.DataFrame(columns)


@dataclass(frozen=True, repr=False)
class Stability(Refits):
    """Coefficients of fits to samples of the rows. It prints as a table.

    Attributes
    ----------
    names : list of str
        Of the features.
    coef : ndarray of shape (n_outputs, n_features)
        Of the model of all rows.
    coefs : ndarray of shape (n, n_outputs, n_features)
        Of the samples.
    sampling : {"halves", "bootstrap"}
    outputs : list of str
        "coefficient", or a name for each class or quantile.
    """

    sampling: Sampling
    outputs: list[str]

    @property
    def frequency(self) -> Vector:
        """The share of the samples in which each feature enters, shape (n_features,)."""
        share: Vector = (self.coefs != 0).any(axis=1).mean(axis=0)
        return share

    def intervals(self, level: float = 0.9) -> tuple[Vector, Vector]:
        """Percentiles of the coefficients, both of shape (n_outputs, n_features).

        Of a bootstrap they are intervals of the coefficients of the penalised model, which the
        penalty pulls towards 0. Those of halves are about √2 times as wide.
        """
        check_number("level", level, above=0, below=1)
        low, high = np.quantile(self.coefs, [0.5 * (1 - level), 0.5 * (1 + level)], axis=0)
        return low, high

    def stable(self, threshold: float = 0.75) -> Indices:
        """The features that enter in at least this share of the samples, the most frequent first.

        Parameters
        ----------
        threshold : float
            Above ½; 0.6 to 0.9 are usual.
        """
        check_number("threshold", threshold, above=0.5)
        order = np.argsort(-self.frequency, kind="stable")
        return order[self.frequency[order] >= threshold]

    def false_entries(self, threshold: float = 0.75) -> float:
        """The expected number of irrelevant features among the stable ones is at most this.

        That is q²/((2π − 1)p) with the mean number q of features that enter: of those features that
        enter in halves with a probability of at most q/p (Shah, Samworth, theorem 1). Of bootstrap
        samples nothing is known: nan.
        """
        check_number("threshold", threshold, above=0.5)
        entering = float((self.coefs != 0).any(axis=1).sum(axis=1).mean())
        bound = entering**2 / ((2.0 * threshold - 1.0) * len(self.names))
        bound = min(bound, float(len(self.names)))
        return bound if self.sampling == "halves" else float("nan")

    def to_frame(self) -> Any:
        """A frame of pandas: frequency, and of each output coefficient and its 90 % interval.

        Raises
        ------
        ImportError
            Without the package pandas.
        """
        low, high = self.intervals()
        own = {"coefficient": self.coef, "low": low, "high": high}
        frame = self._frame(self.outputs, own, frequency=self.frequency)
        return frame.sort_values("frequency", ascending=False, kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        stable = len(self.stable())
        return f"Stability({self._count}, {stable} of {len(self.names)} features stable)"

    @property
    def _count(self) -> str:
        """How many samples there are, in words."""
        return f"{len(self.coefs)} {SAMPLES_NAMED[self.sampling]}"

    def __str__(self) -> str:
        shown = np.argsort(-self.frequency, kind="stable")
        shown = shown[self.frequency[shown] > 0.5][:20]
        low, high = self.intervals()
        width = max([len("feature"), *(len(self.names[j]) for j in shown)])
        lines = [f"{self._count}; features in more than half of them"]
        lines.append(f"{'feature':{width}}  frequency  coefficient  (90 % of the samples)")
        for j in shown.tolist():
            k = int(np.argmax(np.abs(self.coef[:, j])))
            lines.append(
                f"{self.names[j]:{width}}  {self.frequency[j]:9.0%}  {self.coef[k, j]:11.4g}"
                f"  ({low[k, j]:.4g} to {high[k, j]:.4g})"
            )
        if self.sampling == "halves":
            stable, bound = len(self.stable()), self.false_entries()
            nothing = ", which says nothing" if 0 < stable <= bound else ""
            lines.append(f"in 75 % of them: {stable}, of which false ≤ {bound:.2g}{nothing}")
        return "\n".join(lines)


def stability(
    model: Any,
    X: Any,
    y: ArrayLike,
    n: int = 100,
    *,
    sampling: Sampling = "halves",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Stability:
    """Fit a sparse linear model to samples of its rows: which features enter, how far they vary.

    Every sample is fitted to the tolerance of the model, with its α or C (that which a
    cross-validation has chosen), and starts from the features of the model of all rows.

    Parameters
    ----------
    model : fitted sparse linear model
        Also those of ``cgboost.linear`` and :class:`~cgboost.IntervalRegressor`, or a Pipeline that
        ends with one: its other steps stay as they are.
    X, y, sample_weight
        As given to ``fit``, in memory: a model keeps no rows.
    n : int, default=100
        Samples.
    sampling : {"halves", "bootstrap"}, default="halves"
        "halves": complementary pairs of halves, for the frequencies; "bootstrap": as many rows,
        drawn with replacement, for the coefficients. With classes, of each class as many.
    n_jobs : int or None
        Samples fitted in parallel, as in joblib.
    random_state : int, RandomState or None

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If the model is no sparse linear one, X has other features or is a source of blocks, or
        there are fewer than 2 rows of positive weight, or of a class.
    """
    check_is_fitted(model)
    model, (X,), names = last_step(model, X)
    own = getattr(model, "model_", model)
    if not isinstance(own, BaseSparseLinear):
        raise ValueError(f"model must be a sparse linear model, got a {type(model).__name__}")
    check_count("n", n)
    check_choice("sampling", sampling, ("halves", "bootstrap"))
    prepared = own._with_chosen_strength()
    rows, _ = prepared._prepare(X, y, sample_weight, None)
    if isinstance(rows.X, BlockFeatures):
        raise ValueError(
            f"X must be rows in memory, of which samples are taken, got a {type(X).__name__}"
        )
    coef = np.atleast_2d(own.coef_.toarray() if sparse.issparse(own.coef_) else own.coef_)
    if rows.X.shape[1] != coef.shape[1]:
        raise ValueError(f"X must have {coef.shape[1]} features, got {rows.X.shape[1]}")
    start = coef, np.atleast_1d(own.intercept_)
    kinds = rows.y if is_classifier(own) else np.zeros(len(rows.y))
    samples = _samples(kinds, n, sampling, check_random_state(random_state))
    coefs = Parallel(n_jobs=n_jobs)(
        delayed(_coef_of)(prepared, rows, counts, start) for counts in samples
    )
    if names is None:
        given = getattr(own, "feature_names_in_", [f"x{j}" for j in range(coef.shape[1])])
        names = [str(name) for name in given]
    return Stability(names, coef, np.array(coefs), sampling, own.summary().outputs)


def _coef_of(
    prepared: Any, rows: TrainingRows, counts: NDArray[np.intp], start: tuple[Vector, Vector]
) -> Vector:
    """The coefficients of a sample, in which rows occur so often."""
    places = np.flatnonzero(counts)
    part = rows.take(places)
    part = replace(part, weights=part.weights * counts[places])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialModelWarning)
        return np.atleast_2d(prepared._fitted_near(part, *start).coef_)


def _samples(
    kinds: NDArray[Any], n: int, sampling: Sampling, random: np.random.RandomState
) -> Iterator[NDArray[np.intp]]:
    """How often each row is in a sample, shape (n_rows,); of each kind as many rows."""
    members = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
    if min(map(len, members)) < 2:
        raise ValueError("y must have at least 2 rows of positive weight, in every class, got 1")
    for _ in range(n if sampling == "bootstrap" else -(-n // 2)):
        if sampling == "bootstrap":
            drawn = [random.choice(own, len(own)) for own in members]
            yield np.bincount(np.concatenate(drawn), minlength=len(kinds))
            continue
        first = np.concatenate([random.permutation(own)[: len(own) // 2] for own in members])
        half = np.bincount(first, minlength=len(kinds))
        yield half
        if n % 2 == 0 or _ < n // 2:
            yield 1 - half


def plot_stability(
    found: Stability, *, top: int = 15, threshold: float = 0.75, ax: Any = None
) -> Figure:
    """Draw how often features enter, and how their coefficients vary.

    Parameters
    ----------
    found : Stability
        Of :func:`stability`.
    top : int, default=15
        Features that are drawn: those that enter most often.
    threshold : float, default=0.75
        A line at this share; below the panel stands the bound on false entries beyond it.
    ax : two Axes of matplotlib, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``found`` is nothing of :func:`stability`, or no feature has entered.
    """
    if not isinstance(found, Stability):
        raise ValueError(f"found must be what stability() returns, got a {type(found).__name__}")
    check_count("top", top)
    order = np.argsort(-found.frequency, kind="stable")[:top]
    order = order[found.frequency[order] > 0]
    if not len(order):
        raise ValueError("no feature has entered: there is nothing to draw")
    figure, axes = drawing.panels(ax, 2, vertical=False)
    left, right = axes
    places, bound = np.arange(len(order)), found.false_entries(threshold)
    left.barh(places, found.frequency[order], 0.7, color=drawing.colour(0))
    left.axvline(threshold, color=drawing.INK, linestyle="--", linewidth=1.0)
    left.set_yticks(places, drawing.values_named([found.names[j] for j in order]), fontsize=8)
    left.set_xlim(0, 1)
    text = f"; beyond {threshold:g} at most {bound:.2g} false"
    what = f"share of {found._count}{'' if np.isnan(bound) else text}"
    drawing.label(left, "How often features enter", what, "")
    low, high = found.intervals()
    outputs = len(found.coef)
    for k in range(outputs):
        at = places + 0.6 * ((k + 0.5) / outputs - 0.5)
        middle = np.median(found.coefs[:, k, order], axis=0)
        error = np.abs(np.stack([low[k, order], high[k, order]]) - middle)
        style: dict[str, Any] = {"fmt": "o", "ms": 3, "color": drawing.colour(k), "capsize": 2}
        right.errorbar(middle, at, xerr=error, label=drawing.named(found.outputs[k]), **style)
    right.axvline(0.0, color=drawing.INK, linewidth=0.8)
    right.set_yticks(places, [])
    for axis in (left, right):
        axis.set_ylim(len(order) - 0.5, -0.5)
    drawing.label(right, "Coefficients", "median and 90 % of the samples", "")
    if outputs > 1:
        right.legend(frameon=False, fontsize="small", loc="best")
    return figure
