"""The totally corrective formulations of boosting: which loss goes with which master.

Each is a loss of the margins and a rule for the size of the coefficients:

    lp     hinge + Σ|α|            with ν: hinge with a margin of its own, Σ|α| ≤ 1
    qp     hinge + ½Σα²            with ν: hinge with a margin of its own + ½Σα²
    erlp   as lp with ν, the dual weights regularised by their entropy
    qrlp   as lp with ν, the dual weights regularised by their squares
    md     squared margin error, Σ|α| ≤ C
    nm     shortfall of the margins against C times their sum, Σ|α| ≤ 1

Akkerman, Ferry, Artigues, Hebrard, Vidal, *Boosting Revisited*, TMLR 2025 (arXiv 2507.18242),
compare them; each builder names its source.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from cgboost.estimators.common.rows import Vector
from cgboost.losses import (
    SupportVectorLoss,
    entropic_nu_hinge,
    hinge,
    margin_distribution,
    negative_margin,
    nu_hinge,
)
from cgboost.masters import BudgetMaster, EntropyMaster, TwoNormMaster, one_norm_master

FormulationName = Literal["lp", "qp", "erlp", "qrlp", "md", "nm"]

ACCURACY = 0.01
"""Twice the soft margin that regularisation may cost by default (columns between −1 and 1)."""


@dataclass(frozen=True)
class Settings:
    """The parameters of an estimator that formulations look at.

    ``balanced`` says that the offset is free, so that Σr = 0.
    """

    C: float
    nu: float | None
    balanced: bool
    eta: float | None = None
    margin: float = 0.0

    @property
    def share(self) -> float:
        """ν, for the formulations that cannot do without."""
        if self.nu is None:
            raise ValueError("this formulation needs nu, got None")
        return self.nu

    @property
    def regularisation(self) -> float:
        """η; by default (2/δ)·log(1/ν), costs at most δ/2 of the soft margin (Warmuth et al.)."""
        if self.eta is not None:
            return self.eta
        return max(0.5, 2.0 / ACCURACY * math.log(1.0 / self.share))


@dataclass(frozen=True)
class Formulation:
    """How to make the loss of a run and the master for it.

    Attributes
    ----------
    program : str
        "lp" or "qp": what a solver must be able to solve.
    loss : callable
        ``loss(labels, weights, settings)``.
    master : callable
        ``master(loss, settings, coef=…, offset=…, solver=…)``.
    """

    program: str
    loss: Callable[[Vector, Vector, Settings], SupportVectorLoss]
    master: Callable[..., Any]


def soft_margin(labels: Vector, weights: Vector, settings: Settings) -> SupportVectorLoss:
    """Hinge loss, with C or with ν (Demiriz, Bennett, Shawe-Taylor, Machine Learning 46, 2002)."""
    if settings.nu is None:
        return hinge(labels, settings.C * weights)
    return nu_hinge(labels, weights, settings.nu, balanced=settings.balanced)


def _entropic(labels: Vector, weights: Vector, settings: Settings) -> SupportVectorLoss:
    return entropic_nu_hinge(
        labels,
        weights,
        settings.share,
        eta=settings.regularisation,
        balanced=settings.balanced,
    )


def _smoothed(labels: Vector, weights: Vector, settings: Settings) -> SupportVectorLoss:
    return nu_hinge(
        labels,
        weights,
        settings.share,
        balanced=settings.balanced,
        smoothing=1.0 / (settings.regularisation * settings.share),
    )


def _distribution(labels: Vector, weights: Vector, settings: Settings) -> SupportVectorLoss:
    return margin_distribution(labels, weights)


def _shortfall(labels: Vector, weights: Vector, settings: Settings) -> SupportVectorLoss:
    return negative_margin(labels, weights, margin=settings.margin, trade_off=settings.C)


def one_norm(loss: SupportVectorLoss, settings: Settings, **options: Any) -> Any:
    """Σ|α|, or Σ|α| ≤ 1 for a loss with a margin of its own."""
    return one_norm_master(loss)(loss, **options)


def two_norm(loss: SupportVectorLoss, settings: Settings, **options: Any) -> TwoNormMaster:
    """½Σα²."""
    return TwoNormMaster(loss, **options)


def _unit(loss: SupportVectorLoss, settings: Settings, **options: Any) -> BudgetMaster:
    return BudgetMaster(loss, **options)


def _sized(loss: SupportVectorLoss, settings: Settings, **options: Any) -> BudgetMaster:
    return BudgetMaster(loss, budget=settings.C, **options)


def _newton(loss: SupportVectorLoss, settings: Settings, **options: Any) -> EntropyMaster:
    return EntropyMaster(loss, **options)


FORMULATIONS: dict[str, Formulation] = {
    "lp": Formulation("lp", soft_margin, one_norm),
    "qp": Formulation("qp", soft_margin, two_norm),
    "erlp": Formulation("qp", _entropic, _newton),
    "qrlp": Formulation("qp", _smoothed, _unit),
    "md": Formulation("qp", _distribution, _sized),
    "nm": Formulation("lp", _shortfall, _unit),
}
