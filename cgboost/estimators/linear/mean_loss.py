"""Sparse linear models of a mean loss: the objective, and scores of rounds in the units of y.

These functions are methods, or what methods call, as those of ``linear_fit``.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cgboost.estimators.common.base import BaseEnsemble
from cgboost.estimators.common.objective import Objective
from cgboost.estimators.common.rows import Vector
from cgboost.estimators.linear.linear_fit import objective_of, unit
from cgboost.generation.callbacks import Score
from cgboost.losses import Loss


def objective_of_mean(self: Any, cost: Loss) -> Objective:
    """The objective of the master: the mean of this loss, and α times the penalty."""
    trade_off = f"alpha={self._penalty_price:g}"
    return objective_of(self, per_row=True, price=1.0, trade_off=trade_off, cost=cost)


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
