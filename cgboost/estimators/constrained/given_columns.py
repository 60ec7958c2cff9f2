"""Columns that are given: what fitted models say, alone or with stumps.

A model inside scikit-learn's ``FrozenEstimator`` is one column, its score. Several of them, and
stumps, are one family: its columns are those of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.constrained.data import Declarations
from cgboost.estimators.constrained.obeying_columns import (
    ConstrainedColumns,
    ObeyingStumps,
    SignRule,
    refuse,
)
from cgboost.exceptions import see
from cgboost.generation.columns import Column, Term
from cgboost.generation.protocols import Pricer
from cgboost.pricing import StrataPricer
from cgboost.pricing.learners.learners import LearnerFamily, LearnerHypothesis
from cgboost.pricing.scans.candidates import ColumnPool
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.pricing.univariate.stumps import Stump

GIVEN = "given"
"""The stratum of given columns."""

LEAST_PROBABILITY = 1e-9
"""Probabilities nearer to 0 or 1 are all alike: their log-odds would be infinite."""

LEAST_SCORE = float(np.finfo(np.float64).tiny)
"""Scores up to this stay as they are: the inverse of a denormal number is infinite."""


@dataclass(frozen=True, eq=False)
class Score:
    """The score of a fitted model as its prediction.

    Attributes
    ----------
    model : estimator
        A classifier of two classes, or a regressor.
    """

    model: Any

    def predict(self, X: Any) -> Vector:
        """Decision values, else log-odds, of a classifier; what a regressor predicts."""
        if not is_classifier(self.model):
            return np.asarray(np.ravel(self.model.predict(X)), dtype=np.float64)
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(X), dtype=np.float64)
        positive = np.asarray(self.model.predict_proba(X), dtype=np.float64)[:, 1]
        p = np.clip(positive, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        return np.asarray(np.log(p) - np.log1p(-p))


class GivenFamily(LearnerFamily):
    """Given columns of one pool, which knows what they are on the training rows while it lives."""

    def __init__(self, pool: GivenPool | None = None) -> None:
        self._pool = None if pool is None else ref(pool)

    def __reduce__(self) -> tuple[type[GivenFamily], tuple[()]]:
        return type(self), ()

    def weighted_sum(self, X: Any, terms: Sequence[Term]) -> Vector:
        """Σ_j coef_j h_j; models are asked about other rows alone."""
        pool, total = None if self._pool is None else self._pool(), np.zeros(X.shape[0])
        for _, hypotheses, coef in terms:
            if pool is not None and X is pool.X:
                places = [pool.learners.index(one.estimator) for one in hypotheses]
                total += coef @ pool.values(0, np.array(places, dtype=np.intp))
            else:
                total += self.outputs(X, hypotheses) @ coef
        return total


class GivenPool(FeaturePool):
    """The scores of some models, scaled to a largest value of 1 on the training rows."""

    def __init__(self, models: Sequence[Any], X: Any) -> None:
        self.family, self.learners = GivenFamily(self), [Score(model) for model in models]
        self.X = X
        scores = np.column_stack([self._score(one, X) for one in self.learners])
        largest = np.abs(scores).max(axis=0, initial=0.0)
        super().__init__(scores, scales=np.where(largest > LEAST_SCORE, largest, 1.0))
        self.strata = (GIVEN,)

    @staticmethod
    def _score(learner: Score, X: Any) -> Vector:
        name = type(learner.model).__name__
        try:
            values = learner.predict(X)
        except Exception as error:
            raise ValueError(
                f"columns: the fitted {name} does not predict these rows, which are numbers of "
                f"shape {X.shape}: {type(error).__name__}: {error}{see('constraints')}"
            ) from error
        if values.shape != (len(X),) or not np.isfinite(values).all():
            raise ValueError(
                f"columns: the fitted {name} has scores of shape {values.shape} for {len(X)} rows, "
                f"or some that are not finite{see('constraints')}"
            )
        return values

    def columns(self, strata: Sequence[int], indices: Sequence[int]) -> list[Column]:
        """The scores of some models."""
        values = self.values(0, np.asarray(indices, dtype=np.intp))
        return [
            Column(np.array(own), (GIVEN, int(j)), self.learner(int(j)), GIVEN)
            for own, j in zip(values, indices, strict=True)
        ]

    def learner(self, index: int) -> LearnerHypothesis:
        """A model's score as a function of new rows."""
        scale = 1.0 / float(self.scales[index])
        return LearnerHypothesis(self.family, self.learners[index], scale)


class JoinedPool:
    """The columns of two pools.

    Parameters
    ----------
    first, second : ColumnPool
        Their strata have different names.
    """

    def __init__(self, first: ColumnPool, second: ColumnPool) -> None:
        self.strata = (*first.strata, *second.strata)
        self._at = [
            (pool, number) for pool in (first, second) for number in range(len(pool.strata))
        ]

    def size(self, stratum: int) -> int:
        """Number of columns in a stratum."""
        pool, own = self._at[stratum]
        return pool.size(own)

    def rows(self, stratum: int) -> Indices | None:
        """These columns belong to no training row."""
        return None

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·h of some columns of a stratum."""
        pool, own = self._at[stratum]
        return pool.scores(own, indices, response)

    def values(self, stratum: int, indices: Indices) -> NDArray[np.floating[Any]]:
        """Columns of a stratum, as the rows of an array."""
        pool, own = self._at[stratum]
        return pool.values(own, indices)

    def column(self, stratum: int, index: int) -> Column:
        """One column."""
        pool, own = self._at[stratum]
        return pool.column(own, index)


@dataclass(frozen=True)
class GivenColumns(ConstrainedColumns):
    """Fitted models, and stumps where they are asked for.

    Attributes
    ----------
    has_steps : bool
        Whether stumps are columns, too.
    """

    models: tuple[Any, ...]
    has_steps: bool = False

    takes_steps: ClassVar[bool] = True

    @property
    def repeats(self) -> bool:
        """Stumps are, a few models are not."""
        return self.has_steps

    def check(self) -> None:
        """The models must be fitted, and have a score."""
        for model in self.models:
            try:
                check_is_fitted(model)
            except NotFittedError as error:
                raise ValueError(
                    f"columns: FrozenEstimator({model!r}) is not fitted: fit the model first, or "
                    f"give it without FrozenEstimator{see('constraints')}"
                ) from error
            if is_classifier(model) and len(model.classes_) != 2:
                raise ValueError(
                    f"columns: a given classifier has two classes, {type(model).__name__} has "
                    f"{len(model.classes_)}{see('constraints')}"
                )

    def pool(self, rows: TrainingRows) -> GivenPool | JoinedPool:
        """Scores on the training rows, and stumps."""
        given = GivenPool(self.models, rows.X)
        return JoinedPool(given, ObeyingStumps().pool(rows)) if self.has_steps else given

    def score(self, pool: Any) -> Column | None:
        """That of the only model, without stumps."""
        alone = len(self.models) == 1 and not self.has_steps
        return pool.columns([0], [0])[0] if alone else None

    def pricer(self, pool: Any, tol: float) -> Pricer:
        """A scan of all columns."""
        return StrataPricer(pool, tol=tol)

    def obeying(self, pool: Any, problem: Declarations, tol: float) -> tuple[Pricer, SignRule]:
        """The same: what a given model does in a feature is not known."""
        refuse(
            "a model of given columns",
            problem,
            [
                ("Monotone and Sign", problem.signs),
                ("Convex and Concave", problem.shapes),
                ("GroupBudget", problem.budgets),
            ],
        )
        return self.pricer(pool, tol), "free"

    def columns_per_round(self, pool: Any, n_rows: int) -> int:
        """As with stumps; all models at once without."""
        stumps = ObeyingStumps().columns_per_round(pool, n_rows)
        return stumps if self.has_steps else len(self.models)

    def most_columns(self, n_rows: int) -> int | None:
        """As with stumps; there are no more than models without."""
        return super().most_columns(n_rows) if self.has_steps else None

    def described(
        self, columns: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """Number and scale of each model, feature (−1 for a model) and threshold of each stump."""
        stumps = [column if isinstance(column, Stump) else None for column in columns]
        features = [-1 if one is None else one.feature for one in stumps]
        thresholds = [np.nan if one is None else one.threshold for one in stumps]
        return {
            "estimator": np.full(len(columns), -1, dtype=np.intp),
            "scale": np.array([getattr(column, "scale", np.nan) for column in columns]),
            "feature": np.array(features, dtype=np.intp),
            "threshold": np.array(thresholds, dtype=float),
        }

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """The models, numbered in the table."""
        active = [h for run in runs for output in run.outputs for h in output.active]
        for place, h in enumerate(active):
            if not isinstance(h, Stump):
                table["estimator"][place] = next(
                    k for k, model in enumerate(self.models) if model is h.estimator.model
                )
        return {"estimators_": list(self.models)}


def given_columns(columns: Any) -> GivenColumns | None:
    """The family of fitted models, alone or in a list with "stumps"; None if there are none.

    Raises
    ------
    ValueError
        If there is something else in a list with fitted models.
    """
    several = list(columns) if isinstance(columns, (list, tuple)) else [columns]
    models = tuple(one.estimator for one in several if isinstance(one, FrozenEstimator))
    if not models:
        return None
    stumps = [isinstance(one, str) and one == "stumps" for one in several]
    others = [
        one
        for one, is_stumps in zip(several, stumps, strict=True)
        if not (is_stumps or isinstance(one, FrozenEstimator))
    ]
    if others:
        raise ValueError(
            "columns: with a FrozenEstimator there may be further ones and 'stumps', got "
            f"{others[0]!r}{see('constraints')}"
        )
    return GivenColumns(models, any(stumps))
