"""Pricers that say what they are told, and a state to price at."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced

UNIT = [Column(np.eye(2)[i], f"unit {i}", cost=1.0 + i) for i in range(2)]


def state(columns: Sequence[Column] = ()) -> MasterState:
    """Duals (2, 5) of two rows."""
    zeros, coef = np.zeros(2), np.ones(len(columns))
    return MasterState(columns, coef, 0.0, zeros, np.array([2.0, 5.0]), 0.0, zeros)


class Scripted:
    """A pricer that says what it is told and counts its calls."""

    def __init__(self, columns: list[Column], exact: bool, reduced_cost: Any = -1.0) -> None:
        self.columns, self.exact, self.reduced_cost = columns, exact, reduced_cost
        self.calls = 0

    def price(self, state: MasterState, limit: int) -> Priced:
        self.calls += 1
        return Priced(
            self.columns[:limit],
            exact=self.exact,
            reduced_cost=self.reduced_cost,
            n_evaluated=10,
        )
