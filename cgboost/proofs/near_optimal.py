"""Ranges of values over all models of a family that are nearly as good as a fitted one.

Which of many models of about the same objective a fit ends at is decided by little (Fisher, Rudin,
Dominici, *All models are wrong, but many are useful*, JMLR 20, 2019). The set of all of them is
convex for a loss and a 1-norm, over all columns that there are, and a value that is linear in the
coefficients has its ends where a linear program finds them (:mod:`cgboost.proofs.near_problem`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from cgboost.arrays import Indices, Vector
from cgboost.exceptions import CertificateError
from cgboost.optional import require
from cgboost.pricing.rules import RulePricer
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.pricing.univariate.stumps import StumpPool
from cgboost.proofs.near_ends import Ends
from cgboost.proofs.near_problem import NearProblem
from cgboost.proofs.near_search import RangeEnd
from cgboost.proofs.near_values import PoolValue, RuleValue, Value, entries_at

Kind = Literal["coef", "prediction", "rate", "importance"]

MOST_SIGNS = 8
"""Features whose signs are tried one after the other, for the largest importance: 256 programs."""


@dataclass(frozen=True)
class Range:
    """The lowest and the highest value of the set.

    Attributes
    ----------
    low, high : float
        Certified: no model of the set is outside.
    lowest_attained, highest_attained : float
        Of models at hand, which are in the set.
    """

    low: float
    high: float
    lowest_attained: float
    highest_attained: float

    @property
    def gap(self) -> float:
        """How far the bounds are from what is attained, both ends together."""
        return (self.high - self.highest_attained) + (self.lowest_attained - self.low)


@dataclass(frozen=True, eq=False)
class Flips:
    """Predictions that change within the set.

    Attributes
    ----------
    rows : ndarray of bool, shape (n_rows,)
        Where two models at hand differ in the class, or in the sign of the output.
    undecided : ndarray of bool, shape (n_rows,)
        Where no two models are at hand that do, and the bounds do not exclude it.
    share : float
        Of the rows that change.
    """

    rows: NDArray[np.bool_]
    undecided: NDArray[np.bool_]

    def __repr__(self) -> str:
        counts = f"{self.rows.sum()} of {len(self.rows)} rows, {self.undecided.sum()} undecided"
        return f"Flips({counts})"

    @property
    def share(self) -> float:
        """The part of the rows that change."""
        return float(self.rows.mean())


class NearOptimal:
    """The models whose objective is at most (1 + ε) times that of a fitted one.

    Made by :func:`near_optimal`.

    Attributes
    ----------
    model : estimator
    epsilon : float
    objective, level : float
        That of the model, and (1 + ε) times it.
    """

    def __init__(
        self, model: Any, X: Any, y: Any, epsilon: float, sample_weight: Any, tol: float
    ) -> None:
        self.model, self.epsilon = model, float(epsilon)
        self._before = model[:-1] if isinstance(model, Pipeline) and len(model.steps) > 1 else None
        self._last = model[-1] if isinstance(model, Pipeline) else model
        X = X if self._before is None else self._before.transform(X)
        self._problem = NearProblem(self._last, X, y, sample_weight, self.epsilon)
        self._ends = Ends(self._problem, tol)
        self.objective, self.level = self._problem.objective, self._problem.level
        self._X, self._n_rows = X, len(y)

    def __repr__(self) -> str:
        name = type(self._last).__name__
        return f"NearOptimal({name}, objective at most {self.level:.6g}, epsilon={self.epsilon:g})"

    def range(self, kind: Kind, of: Any) -> Any:
        """The lowest and the highest value over all models of the set.

        Parameters
        ----------
        kind : {"coef", "prediction", "rate", "importance"}
            "coef": the coefficient of a feature, of linear models. "prediction": what the models
            say of a row: numbers, e^f of the Poisson loss, of classifiers the output, of which the
            sign decides. "rate": the mean output of some training rows. "importance": Σ v_j|β_j| of
            some features, the part of the penalty that they have (v_j is 1 without ``standardize``
            and ``penalty_weights``); of stumps Σ|α| of those on the features.
        of : feature, row or rows, mask of rows, or features
            A name or number of a feature; a row of features, or several of them; a mask of the rows
            of X, or their numbers; names or numbers of features.

        Returns
        -------
        (low, high) : tuple of float
            Or an array of shape (n_rows, 2), for predictions of several rows. Every model of the
            set has its value within; the ends are attained up to ``tol``. The upper end of an
            importance is attained for linear models and at most 8 features, or ``positive=True``;
            else it is a bound that may be wider, see :meth:`details`.

        Raises
        ------
        CertificateError
            For a feature that is not there, or a kind of value that the model does not have.
        """
        found = self.details(kind, of)
        if isinstance(found, list):
            return np.array([(own.low, own.high) for own in found]).reshape(-1, 2)
        return found.low, found.high

    def details(self, kind: Kind, of: Any) -> Any:
        """As :meth:`range`, with what is attained.

        Returns
        -------
        Range, or list of Range for predictions of several rows
        """
        if kind == "coef":
            return self._coef(self._feature(of))
        if kind == "prediction":
            return self._predictions(of)
        if kind == "rate":
            return self._rate(of)
        if kind == "importance":
            return self._importance(self._features(of))
        raise CertificateError(f"kind must be one of {get_args(Kind)}, got {kind!r}")

    def flips(self, X: Any) -> Flips:
        """Which predictions change their class within the set; of numbers, their sign.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)

        Returns
        -------
        Flips
        """
        found = [self._of_value(value) for value in self._values_of_rows(self._read(X))]
        sure = [own.lowest_attained <= 0.0 < own.highest_attained for own in found]
        open_ = [own.low <= 0.0 < own.high for own in found]
        rows = np.array(sure, dtype=bool)
        return Flips(rows, np.array(open_, dtype=bool) & ~rows)

    def table(self, kind: Literal["coef", "importance"] | None = None) -> dict[str, Any]:
        """The ranges of all features, as columns of a table.

        Parameters
        ----------
        kind : {"coef", "importance"} or None
            None: the coefficients of linear models, else importances.

        Returns
        -------
        dict of str to list
            feature, low, value (of the model), high, gap.
        """
        kind = self.kind_of_table if kind is None else kind
        if kind not in ("coef", "importance"):
            raise CertificateError(f"kind must be 'coef' or 'importance', got {kind!r}")
        names = self._names
        found = [self.details(kind, [j] if kind == "importance" else j) for j in range(len(names))]
        return {
            "feature": [str(name) for name in names],
            "low": [own.low for own in found],
            "value": [self._own(kind, j) for j in range(len(names))],
            "high": [own.high for own in found],
            "gap": [own.gap for own in found],
        }

    def to_frame(self, kind: Literal["coef", "importance"] | None = None) -> Any:
        """:meth:`table` as a pandas DataFrame, a row for each feature.

        Raises
        ------
        ImportError
            Without the package pandas.
        """
        require("pandas", "to_frame")
        import pandas as pd

        return pd.DataFrame(self.table(kind)).set_index("feature")

    @property
    def kind_of_table(self) -> Literal["coef", "importance"]:
        """What a table is about, unless it is asked for something else."""
        return "coef" if isinstance(self._problem.pool, FeaturePool) else "importance"

    # ------------------------------------------------------------------ values

    def _of_value(self, value: Value) -> Range:
        """Both ends, in the user's units."""
        low, high = self._ends.end(value, -1.0), self._ends.end(value, 1.0)
        ends = np.array([-low.bound, high.bound, -low.attained, high.attained])
        return Range(*(ends + value.offset * self._problem.centre).tolist())

    def _coef(self, j: int) -> Range:
        self._needs_linear("coef")
        entries, scale = self._zeros(), self._problem.pool.scales[j]
        entries[0][j] = self._problem.output_unit / scale
        return self._of_value(PoolValue(0.0, self._problem.pool, entries))

    def _predictions(self, of: Any) -> Any:
        one = np.ndim(of) == 1
        if one:
            of = of.to_frame().T.infer_objects() if hasattr(of, "to_frame") else [of]
        rows = self._read(of)
        found = [self._linked(self._of_value(own)) for own in self._values_of_rows(rows)]
        return found[0] if one else found

    def _linked(self, found: Range) -> Range:
        """The predictions of outputs: the link grows."""
        if not is_regressor(self._last):
            return found
        ends = (found.low, found.high, found.lowest_attained, found.highest_attained)
        return Range(*self._last._target_kind.predicted(np.array(ends)).tolist())

    def _values_of_rows(self, X: Any) -> Iterable[Value]:
        """The outputs on rows that have been read."""
        problem, unit = self._problem, self._problem.output_unit
        offset = 0.0 if problem.offset == "none" else unit
        if isinstance(problem.pricer, RulePricer):
            none = np.zeros(len(problem.training.y))
            for i in range(X.shape[0]):
                yield RuleValue(offset, problem.pricer, none, X[i : i + 1], np.array([unit]))
            return
        entries = entries_at(problem.pool, X)
        for i in range(X.shape[0]):
            yield PoolValue(offset, problem.pool, [unit * own[i] for own in entries])

    def _rate(self, of: Any) -> Range:
        """The mean output: training rows by their scores, those of weight 0 as new ones."""
        problem, chosen = self._problem, self._mask(of)
        numbers = np.asarray(problem.training.numbers)
        there = np.isin(chosen, numbers)
        share = problem.output_unit / len(chosen)
        offset = 0.0 if problem.offset == "none" else problem.output_unit
        own = np.zeros(len(problem.training.y))
        own[np.searchsorted(numbers, chosen[there])] = share
        new = self._read_training(chosen[~there])
        if isinstance(problem.pricer, RulePricer):
            weights = np.full(new.shape[0], share)
            return self._of_value(RuleValue(offset, problem.pricer, own, new, weights))
        pool = problem.pool
        entries = [pool.scores(k, None, own) for k in range(len(pool.strata))]
        if new.shape[0]:
            others = entries_at(pool, new)
            entries = [a + share * b.sum(axis=0) for a, b in zip(entries, others, strict=True)]
        return self._of_value(PoolValue(offset, pool, entries))

    def _importance(self, features: Indices) -> Range:
        problem, pool = self._problem, self._problem.pool
        if not isinstance(pool, (FeaturePool, StumpPool)):
            raise CertificateError(
                "importance is of linear models and stumps: columns of a "
                f"{type(self._last).__name__} belong to no one feature"
            )
        unit = problem.penalty_unit
        counted = np.where(np.isin(pool.features(0), features), unit, 0.0)
        if not problem.two_sided:
            return self._of_value(PoolValue(0.0, pool, [counted]))
        value = PoolValue(0.0, pool, self._zeros(), [counted])
        low = self._ends.end(value, -1.0)
        if isinstance(pool, FeaturePool) and len(features) <= MOST_SIGNS:
            high = self._by_signs(features, unit)
        else:
            high = self._ends.end(value, 1.0)
        return Range(max(0.0, -low.bound), high.bound, -low.attained, high.attained)

    def _by_signs(self, features: Indices, unit: float) -> RangeEnd:
        """The largest Σ|a_j| is that of Σ ±a_j for the best signs."""
        ends = []
        for signs in product((-1.0, 1.0), repeat=len(features)):
            entries = self._zeros()
            entries[0][features] = unit * np.array(signs)
            ends.append(self._ends.end(PoolValue(0.0, self._problem.pool, entries), 1.0))
        bound, attained = (max(getattr(e, name) for e in ends) for name in ("bound", "attained"))
        return RangeEnd(attained, bound)

    # ------------------------------------------------------------------ what users give

    def _zeros(self) -> list[Vector]:
        pool = self._problem.pool
        return [np.zeros(int(pool.size(k))) for k in range(len(pool.strata))]

    def _needs_linear(self, kind: str) -> None:
        if not isinstance(self._problem.pool, FeaturePool):
            raise CertificateError(
                f"{kind!r} is of linear models: a {type(self._last).__name__} has no coefficient "
                "for a feature; 'prediction' and 'rate' suit every model"
            )

    @property
    def _names(self) -> Sequence[Any]:
        names = getattr(self._last, "feature_names_in_", None)
        return [f"x{j}" for j in range(self._last.n_features_in_)] if names is None else list(names)

    def _feature(self, of: Any) -> int:
        """The number of a feature."""
        count = int(self._last.n_features_in_)
        if isinstance(of, str):
            names = list(getattr(self._last, "feature_names_in_", ()))
            if of in names:
                return names.index(of)
            known = f"the model has {names[:9]}" if names else "the model was fitted without names"
            raise CertificateError(f"there is no feature {of!r}: {known}")
        if isinstance(of, (bool, np.bool_)) or not isinstance(of, (int, np.integer)):
            raise CertificateError(f"a feature is a name or a number, got {of!r}")
        if not -count <= of < count:
            raise CertificateError(f"there is no feature {of}: the model has {count}")
        return int(of) % count

    def _features(self, of: Any) -> Indices:
        several = [of] if isinstance(of, str) or np.ndim(of) == 0 else list(of)
        if not several:
            raise CertificateError("importance needs at least one feature, got none")
        return np.unique([self._feature(own) for own in several])

    def _mask(self, of: ArrayLike) -> Indices:
        """Numbers of training rows."""
        chosen = np.asarray(of)
        if chosen.dtype == bool and chosen.shape == (self._n_rows,):
            chosen = np.flatnonzero(chosen)
        elif chosen.dtype.kind not in "iu" or chosen.ndim != 1:
            raise CertificateError(
                f"rows are a mask of the {self._n_rows} rows of X or their numbers, got "
                f"{chosen.dtype} of shape {chosen.shape}"
            )
        given, chosen = len(chosen), np.unique(chosen)
        if len(chosen) < given:
            raise CertificateError(
                f"rows are given once each, got {given} numbers of {len(chosen)} different rows: "
                "a mask of 0 and 1 needs astype(bool)"
            )
        if not len(chosen) or chosen[0] < 0 or chosen[-1] >= self._n_rows:
            words = "none" if not len(chosen) else f"{chosen[0]} to {chosen[-1]}"
            raise CertificateError(f"rows must be some of the {self._n_rows} of X, got {words}")
        return chosen

    def _read(self, X: Any) -> Any:
        """New rows, as the fitted model reads them."""
        return self._last._rows(X if self._before is None else self._before.transform(X))

    def _read_training(self, numbers: Indices) -> Any:
        """Rows of the X of the fit by their numbers."""
        if not len(numbers):
            return self._problem.training.X[:0]
        return self._last._rows(_safe_indexing(self._X, numbers))

    def _own(self, kind: str, j: int) -> float:
        """The model's own coefficient, or importance, of a feature."""
        if kind == "coef":
            coef = self._last.coef_
            return float(np.ravel(coef.toarray() if hasattr(coef, "toarray") else coef)[j])
        given = self._problem.given
        features = [getattr(h, "index", getattr(h, "feature", -1)) for h in given.hypotheses]
        own = np.abs(given.coef)[np.array(features, dtype=np.intp) == j]
        return float(own.sum()) * self._problem.penalty_unit


def near_optimal(
    model: Any,
    X: Any,
    y: Any,
    epsilon: float = 0.01,
    sample_weight: ArrayLike | None = None,
    *,
    tol: float = 0.01,
) -> NearOptimal:
    """All models of a family that are nearly as good as a fitted one, and what they may say.

    The set has every model of the fitted model's family, over all columns there are, whose
    objective is at most (1 + ε) times that of the fitted model. The model is one of them, and so
    are all models within (1 + ε) times the optimum, however large the model's own ``gap_``.

    Parameters
    ----------
    model : estimator
        Fitted, for two classes or numbers, with a 1-norm: SparseLinearRegressor and
        SparseLinearClassifier, LPBoostRegressor and LPBoostClassifier over stumps with
        ``formulation="lp"`` and C, CGBoostRegressor and CGBoostClassifier with ``penalty="l1"``,
        RuleSetRegressor and RuleSetClassifier without a budget; or a pipeline that ends in one.
    X, y, sample_weight
        As given to ``fit``: a model keeps no rows.
    epsilon : float, default=0.01
        At least 0.
    tol : float, default=0.01
        Ranges hold every model, whatever it is. A bound is beyond what is attained by up to this
        share of its distance from the optimum's value, or of that value if it is larger; with a
        free offset, of what it has beyond the target nearest to 0 of most, so that y + 1e8 is no
        coarser than y. A range is about as wide as √ε: 1 % of it is what 2 % of ε are. Below 1e-3
        piecewise linear losses of many rows take several times as long.

    Returns
    -------
    NearOptimal
        With ``range``, ``flips``, ``table`` and ``to_frame``.

    Raises
    ------
    CertificateError
        For other models, penalties and losses, several outputs, rows other than those of the fit,
        or an objective of 0.
    ValueError
        If ``epsilon`` or ``tol`` is out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from cgboost import SparseLinearRegressor, near_optimal
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X = X / X.std()
    >>> model = SparseLinearRegressor(loss="absolute_error", alpha=0.1).fit(X, y)
    >>> low, high = near_optimal(model, X, y, epsilon=0.01).range("coef", "bmi")
    >>> bool(0 < low < model.coef_[2] < high)
    True
    """
    for name, value in (("epsilon", epsilon), ("tol", tol)):
        number = isinstance(value, (int, float, np.integer, np.floating))
        if not number or isinstance(value, bool) or not 0 <= value < np.inf:
            raise ValueError(f"{name} must be a number of at least 0, got {value!r}")
    return NearOptimal(model, X, y, epsilon, sample_weight, float(tol))
