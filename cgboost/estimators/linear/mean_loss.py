"""Sparse linear models of a mean loss: the objective, α, and scores of rounds in the units of y.

These functions are methods, or what methods call, as those of ``linear_fit``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.objective import Objective
from cgboost.estimators.common.training_rows import TrainingRows, Vector
from cgboost.estimators.linear.linear_fit import (
    keep,
    objective_of,
    penalty_of,
    strongest,
    unit,
)
from cgboost.estimators.linear.scaling import UnitScaling
from cgboost.generation.callbacks import Score
from cgboost.losses import Loss

SHARE_OF_NOISE = 0.5
"""What ``alpha=None`` is of the level of noise. On the six data sets on which it was chosen, two
quantiles each, half of it had test losses at most 24 % above the best of a path (median 4 %), a
quarter 41 %. On eight others, seen only afterwards, half had a median of 3 % and up to 97 % (cubic
terms of friedman1: many features, little noise), a quarter the same median and up to 48 %, all of
it 7 % and up to 116 %."""


def objective_of_mean(self: Any, cost: Loss) -> Objective:
    """The objective of the master: the mean of this loss, and α times the penalty."""
    trade_off = f"alpha={self._penalty_price:g}"
    return objective_of(self, per_row=True, price=1.0, trade_off=trade_off, cost=cost)


def used_alpha(self: Any) -> float:
    """α, or what None stands for."""
    if self.alpha is not None:
        return float(self.alpha)
    level = noise(self)
    return SHARE_OF_NOISE * level if level > 0 else 1.0


def is_unpenalized(self: Any) -> bool:
    """Whether no coefficient costs anything."""
    return bool(self.alpha == 0)


def noise(self: Any) -> float:
    """The price of a coefficient at which features that are noise begin to enter."""
    scaling: UnitScaling = self._scaling
    return min(scaling.noise, scaling.strongest) / penalty_of(self).threshold


def keep_with_alpha(self: Any, runs: list[FittedRun], rows: TrainingRows) -> None:
    """The same, for a price of the penalty."""
    keep(self, runs, rows)
    self.alpha_ = used_alpha(self)
    self.alpha_max_ = np.nan if len(self._free) else strongest(self)


def in_y(self: Any, score: Score) -> Score:
    """The score of targets and outputs in units, as one in y."""

    def scored(target: Any, output: Vector) -> float:
        return score(unit(self) * target, unit(self) * output)

    return scored


def seen_in_y(self: Any, target: Vector, n_runs: int) -> tuple[Any, NDArray[Any]]:
    """The estimator that scorers of rounds see, and its target: both in y."""
    view, seen = BaseEnsemble._seen_by_scorers(self, target, n_runs)
    view._view_unit = unit(self)
    return view, view._view_unit * seen
