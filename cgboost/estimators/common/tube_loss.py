"""The half of an estimator that knows numbers: ε-insensitive loss."""

from __future__ import annotations

from dataclasses import dataclass, field

from cgboost.estimators.common.parameters import check_choice, check_nu, check_number
from cgboost.estimators.common.path import HasPath
from cgboost.estimators.common.regression import Regression
from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.losses import SupportVectorLoss, epsilon_insensitive, nu_insensitive
from cgboost.masters.support_vector.master import Offset


@dataclass(eq=False, repr=False)
class TubeRegression(Regression, HasPath):
    """ε-insensitive loss, with ε given or learned."""

    epsilon: float = field(default=0.1, kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    offset: Offset = field(default="free", kw_only=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("epsilon", self.epsilon, at_least=0)
        check_number("C", self.C, above=0)
        check_nu(self.nu, optional=True)
        check_choice("offset", self.offset, ("none", "penalized", "free"))

    def _loss(self, target: Vector, weights: Vector) -> SupportVectorLoss:
        if self.nu is None:
            return epsilon_insensitive(target, self.C * weights, self.epsilon)
        return nu_insensitive(target, self.C * weights, self.nu)

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.epsilon_ = self.epsilon if self.nu is None else runs[0].level

    @property
    def _offset(self) -> Offset:
        return self.offset

    @property
    def _trade_off(self) -> str:
        return f"C={self.C:g}"

    @property
    def _remedy(self) -> str:
        if self.nu is None and self.objective_ == 0.0:
            return f"every y lies within epsilon={self.epsilon:g} of a constant: try a smaller one"
        return super()._remedy
