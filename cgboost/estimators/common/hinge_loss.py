"""The half of an estimator that knows classes: hinge loss, an output for each of many classes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cgboost.estimators.common.classification import Classification
from cgboost.estimators.common.parameters import check_choice, check_nu, check_number
from cgboost.estimators.common.path import HasPath
from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.losses import SupportVectorLoss, hinge, nu_hinge
from cgboost.masters.support_vector.master import Offset


@dataclass(eq=False, repr=False)
class HingeClassification(Classification, HasPath):
    """Hinge loss; more than two classes are handled one against the rest."""

    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    offset: Offset = field(default="free", kw_only=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("C", self.C, above=0)
        check_nu(self.nu, optional=True)
        check_choice("offset", self.offset, ("none", "penalized", "free"))

    def _loss(self, target: Vector, weights: Vector) -> SupportVectorLoss:
        if self.nu is None:
            return hinge(target, self.C * weights)
        return nu_hinge(target, weights, self.nu, balanced=self.offset == "free")

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.__dict__.pop("margin_", None)
        margins = np.array([0.0 - run.level for run in runs])
        if np.isfinite(margins).all():
            one = self._run_labels(len(runs)) is None
            self.margin_ = float(margins[0]) if one else margins

    @property
    def _offset(self) -> Offset:
        return self.offset

    @property
    def _trade_off(self) -> str:
        return f"C={self.C:g}" if self.nu is None else f"nu={self.nu:g}"
