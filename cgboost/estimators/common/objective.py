"""Objectives of certified estimators: a loss, and the master of it with a penalty.

    lp     hinge + Σ|α|            with ν: hinge with a margin of its own, Σ|α| ≤ 1
    qp     hinge + ½Σα²            with ν: hinge with a margin of its own + ½Σα²
    erlp   as lp with ν, the dual weights regularised by their entropy
    qrlp   as lp with ν, the dual weights regularised by their squares
    md     squared margin error, Σ|α| ≤ C
    nm     shortfall of the margins against C times their sum, Σ|α| ≤ 1

The same two penalties go with the ε-insensitive loss. Akkerman, Ferry, Artigues, Hebrard, Vidal,
*Boosting Revisited*, TMLR 2025 (arXiv 2507.18242), compare these formulations of boosting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from cgboost.estimators.common.parameters import check_choice, check_nu, check_number
from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.rows import Vector
from cgboost.losses import (
    SupportVectorLoss,
    entropic_nu_hinge,
    epsilon_insensitive,
    hinge,
    margin_distribution,
    negative_margin,
    nu_hinge,
    nu_insensitive,
)
from cgboost.masters import BudgetMaster, EntropyMaster, TwoNormMaster, one_norm_master

FormulationName = Literal["lp", "qp", "erlp", "qrlp", "md", "nm"]
LossMaker = Callable[[Vector, Vector], SupportVectorLoss]

ACCURACY = 0.01
"""Twice the soft margin that regularisation may cost by default (columns between −1 and 1)."""

LARGER = "a larger value may change that"


@dataclass(frozen=True)
class Objective:
    """What one run of the loop minimises.

    Attributes
    ----------
    loss : callable
        ``loss(target, weights)``, the loss on data.
    master : callable
        ``master(loss, coef=…, offset=…, solver=…)``, the master of such a loss.
    program : {"lp", "qp"}
        What a solver must be able to solve.
    trade_off : str
        The parameter that weighs the loss against the penalty, and its value.
    level : str or None
        The fitted attribute that holds what the loss chooses itself: margin ρ or tube ε.
    level_sign : float
        Of that attribute relative to the level of the loss.
    default_level : float or None
        Its value where the loss chooses nothing; None: there is no such attribute.
    remedy : str
        What may make more of a model without columns …
    remedy_at_zero : str
        … and the same for a model without loss.
    """

    loss: LossMaker
    master: Callable[..., Any]
    program: str
    trade_off: str
    level: str | None = None
    level_sign: float = 1.0
    default_level: float | None = None
    remedy: str = LARGER
    remedy_at_zero: str = LARGER

    @property
    def optional_attributes(self) -> tuple[str, ...]:
        """Names in :meth:`attributes` that some fits do not have."""
        return () if self.level is None else (self.level,)

    def attributes(self, runs: Sequence[FittedRun], *, one: bool) -> dict[str, Any]:
        """The fitted attribute of the level: a number, or one for each class."""
        if self.level is None:
            return {}
        levels = np.array([0.0 + self.level_sign * run.level for run in runs])
        if not np.isfinite(levels).all():
            return {} if self.default_level is None else {self.level: self.default_level}
        return {self.level: float(levels[0]) if one else levels}


def check_trade_off(estimator: Any) -> None:
    """Check the parameters C, nu and offset."""
    check_number("C", estimator.C, above=0)
    check_nu(estimator.nu, optional=True)
    check_choice("offset", estimator.offset, ("none", "penalized", "free"))


# ---------------------------------------------------------------------- classification


@dataclass(frozen=True)
class Margins:
    """The parameters of objectives of the margins.

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

    def soft(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """Hinge loss, with C or with ν (Demiriz, Bennett, Shawe-Taylor, Mach. Learn. 46, 2002)."""
        if self.nu is None:
            return hinge(labels, self.C * weights)
        return nu_hinge(labels, weights, self.nu, balanced=self.balanced)

    def entropic(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of ERLPBoost."""
        return entropic_nu_hinge(
            labels, weights, self.share, eta=self.regularisation, balanced=self.balanced
        )

    def smoothed(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of QRLP-Boost."""
        smoothing = 1.0 / (self.regularisation * self.share)
        return nu_hinge(labels, weights, self.share, balanced=self.balanced, smoothing=smoothing)

    def distribution(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of MD-Boost."""
        return margin_distribution(labels, weights)

    def shortfall(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of NM-Boost."""
        return negative_margin(labels, weights, margin=self.margin, trade_off=self.C)


def margin_objective(formulation: str, margins: Margins) -> Objective:
    """The objective of a formulation of boosting."""
    makers: dict[str, tuple[LossMaker, Callable[..., Any], str]] = {
        "lp": (margins.soft, one_norm, "lp"),
        "qp": (margins.soft, TwoNormMaster, "qp"),
        "erlp": (margins.entropic, EntropyMaster, "qp"),
        "qrlp": (margins.smoothed, BudgetMaster, "qp"),
        "md": (margins.distribution, partial(BudgetMaster, budget=margins.C), "qp"),
        "nm": (margins.shortfall, BudgetMaster, "lp"),
    }
    loss, master, program = makers[formulation]
    trade_off = f"C={margins.C:g}" if margins.nu is None else f"nu={margins.nu:g}"
    return Objective(loss, master, program, trade_off, level="margin_", level_sign=-1.0)


FORMULATIONS: tuple[str, ...] = ("lp", "qp", "erlp", "qrlp", "md", "nm")


def one_norm(loss: SupportVectorLoss, **options: Any) -> Any:
    """The master of Σ|α|, or of Σ|α| ≤ 1 for a loss with a margin of its own."""
    return one_norm_master(loss)(loss, **options)


# ---------------------------------------------------------------------- regression


def tube_objective(formulation: str, *, C: float, epsilon: float, nu: float | None) -> Objective:
    """The objective of ε-insensitive loss, with ε given or learned."""

    def loss(target: Vector, weights: Vector) -> SupportVectorLoss:
        if nu is None:
            return epsilon_insensitive(target, C * weights, epsilon)
        return nu_insensitive(target, C * weights, nu)

    inside = f"every y lies within epsilon={epsilon:g} of a constant: try a smaller one"
    return Objective(
        loss,
        one_norm if formulation == "lp" else TwoNormMaster,
        formulation,
        f"C={C:g}",
        level="epsilon_",
        default_level=epsilon,
        remedy_at_zero=inside if nu is None else LARGER,
    )
