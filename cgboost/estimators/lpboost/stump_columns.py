"""Certified estimators over decision stumps, or over what a weak learner makes of the duals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.formulations import (
    FORMULATIONS,
    Formulation,
    FormulationName,
    Settings,
)
from cgboost.estimators.common.parameters import check_choice, check_solver
from cgboost.estimators.common.result import FittedRun, Table
from cgboost.estimators.common.rows import Rows
from cgboost.generation.protocols import Pricer
from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.master import SupportVectorMaster
from cgboost.masters.support_vector.one_norm import VERTICES
from cgboost.pricing.features.stumps import StumpPool
from cgboost.pricing.learners.learners import LearnerPricer, check_learner
from cgboost.pricing.scans.scan import StrataPricer

FEWEST_STUMPS = 20
"""Stumps a round at least: they are cheap next to a round (measured on breast cancer)."""


@dataclass(eq=False, repr=False)
class BaseLPBoost(BaseBoost):
    """The half of an estimator that makes columns from decision stumps or weak learners."""

    estimator: Any = None

    formulation: FormulationName = field(default="lp", kw_only=True)

    _formulations: ClassVar[tuple[str, ...]]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of Σ|coefficient| that the stumps on each feature have; the constant has none.

        Shape (n_features,). All zero for a model without stumps; only for stumps
        (``estimator=None``).
        """
        check_is_fitted(self)
        if "feature" not in self.columns_:
            raise AttributeError("feature_importances_ exists for decision stumps only")
        places = self.columns_["feature"] >= 0
        sizes = np.bincount(
            self.columns_["feature"][places],
            weights=np.abs(self.columns_["coefficient"][places]),
            minlength=self.n_features_in_,
        )
        return sizes / (sizes.sum() or 1.0)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("formulation", self.formulation, self._formulations)
        check_solver("solver", self.solver, self._program)
        if self.estimator is not None:
            check_learner("estimator", self.estimator)

    @property
    def _formulation(self) -> Formulation:
        return FORMULATIONS[self.formulation]

    @property
    @abstractmethod
    def _settings(self) -> Settings: ...

    @property
    def _program(self) -> str:
        return self._formulation.program

    def _master(self, loss: SupportVectorLoss) -> SupportVectorMaster:
        solver = VERTICES if self.solver == "auto" and self._program == "lp" else self.solver
        master: SupportVectorMaster = self._formulation.master(
            loss, self._settings, offset=self._offset, solver=solver
        )
        return master

    def _usable(self, rows: Rows) -> Rows:
        """The rows that cost anything; the others would only make thresholds."""
        return rows.counting()

    def _pool(self, rows: Rows) -> StumpPool | LearnerPricer:
        """The sorted features, or the sequence of seeds."""
        if self.estimator is None:
            return StumpPool(rows.X)
        return LearnerPricer(self.estimator, rows.X, tol=self._tol, random_state=self.random_state)

    def _pricer(self, pool: StumpPool | LearnerPricer) -> Pricer:
        return pool if isinstance(pool, LearnerPricer) else StrataPricer(pool, tol=self._tol)

    def _default_columns(self, n_rows: int) -> int:
        if self.estimator is None:
            return max(FEWEST_STUMPS, super()._default_columns(n_rows))
        return 1  # the seed alone rarely makes two learners differ

    def _described(self, hypotheses: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        if self.estimator is None:
            return {
                "feature": np.array([stump.feature for stump in hypotheses], dtype=np.intp),
                "threshold": np.array([stump.threshold for stump in hypotheses], dtype=float),
            }
        return {
            "estimator": np.arange(len(hypotheses)),
            "scale": np.array([learner.scale for learner in hypotheses], dtype=float),
        }

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.__dict__.pop("estimators_", None)
        if self.estimator is not None:
            learners = [h for run in runs for output in run.outputs for h in output.active]
            self.estimators_ = [learner.estimator for learner in learners]
            self.columns_["estimator"] = np.arange(len(self.estimators_))
