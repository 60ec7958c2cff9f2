"""Columns from decision stumps, or from what a weak learner makes of the duals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.columns import ColumnFamily
from cgboost.estimators.common.result import FittedRun, Table
from cgboost.estimators.common.rows import Rows
from cgboost.generation.protocols import Pricer
from cgboost.pricing.features.stumps import StumpPool
from cgboost.pricing.learners.learners import LearnerPricer, check_learner
from cgboost.pricing.scans.scan import StrataPricer

FEWEST_STUMPS = 20
"""Stumps a round at least: they are cheap next to a round (measured on breast cancer)."""


class StumpColumns(ColumnFamily):
    """All decision stumps: every threshold of every feature, and the constant."""

    optional_attributes: ClassVar[tuple[str, ...]] = ("estimators_",)

    def check(self) -> None:
        """There is nothing to check."""

    def usable(self, rows: Rows) -> Rows:
        """The rows that cost anything; the others would only make thresholds."""
        return rows.counting()

    def pool(self, rows: Rows) -> StumpPool:
        """The sorted features."""
        return StumpPool(rows.X)

    def pricer(self, pool: StumpPool, tol: float) -> Pricer:
        """A scan of all stumps."""
        return StrataPricer(pool, tol=tol)

    def columns_per_round(self, pool: StumpPool, n_rows: int) -> int:
        """A share of the rows, and some at least."""
        return max(FEWEST_STUMPS, super().columns_per_round(pool, n_rows))

    def described(self, columns: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        """Feature and threshold of each stump."""
        return {
            "feature": np.array([stump.feature for stump in columns], dtype=np.intp),
            "threshold": np.array([stump.threshold for stump in columns], dtype=float),
        }


@dataclass(frozen=True)
class LearnerColumns(ColumnFamily):
    """What a weak learner makes of the pseudo-response: found greedily, without a bound."""

    estimator: Any
    random_state: Any
    tol: float

    def check(self) -> None:
        """The learner must fit weighted rows."""
        check_learner("estimator", self.estimator)

    def usable(self, rows: Rows) -> Rows:
        """The rows that cost anything."""
        return rows.counting()

    def pool(self, rows: Rows) -> LearnerPricer:
        """The learner, with its sequence of seeds."""
        return LearnerPricer(self.estimator, rows.X, tol=self.tol, random_state=self.random_state)

    def pricer(self, pool: LearnerPricer, tol: float) -> Pricer:
        """One for all runs."""
        return pool

    def columns_per_round(self, pool: LearnerPricer, n_rows: int) -> int:
        """One: the seed alone rarely makes two learners differ."""
        return 1

    def described(self, columns: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        """Number and scale of each learner."""
        return {
            "estimator": np.arange(len(columns)),
            "scale": np.array([learner.scale for learner in columns], dtype=float),
        }

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """The learners, numbered in the table."""
        learners = [h.estimator for run in runs for output in run.outputs for h in output.active]
        table["estimator"] = np.arange(len(learners))
        return {"estimators_": learners}


def stumps_or_learners(estimator: Any) -> StumpColumns | LearnerColumns:
    """The family of an estimator: stumps unless it has a weak learner."""
    if estimator.estimator is None:
        return StumpColumns()
    return LearnerColumns(estimator.estimator, estimator.random_state, estimator._tol)


def stump_importances(table: Table, n_features: int) -> NDArray[np.float64]:
    """Share of Σ|coefficient| that the stumps on each feature have, shape (n_features,)."""
    if "feature" not in table:
        raise AttributeError("feature_importances_ exists for decision stumps only")
    places = table["feature"] >= 0
    sizes = np.bincount(
        table["feature"][places],
        weights=np.abs(table["coefficient"][places]),
        minlength=n_features,
    )
    return sizes / (sizes.sum() or 1.0)
