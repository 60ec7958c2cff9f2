"""A master and a pricer that only count, to try out the loop."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.penalties.l1 import OneNormEntry


class CountingMaster:
    """Objective 10 − (number of columns); bound as told; may raise an error at a given solve."""

    def __init__(
        self,
        bound: float | None = None,
        fail_at: int | None = None,
        error: BaseException | None = None,
    ) -> None:
        self.columns: list[Column] = []
        self._bound = bound
        self._fail_at = fail_at
        self._error = error or MasterError("singular basis")
        self.solves = 0
        self.limits: list[float | None] = []

    def add(self, columns: Sequence[Column]) -> None:
        self.columns.extend(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        self.limits.append(time_limit)
        if self.solves == self._fail_at:
            raise self._error
        self.solves += 1
        count = len(self.columns)
        return MasterState(
            columns=tuple(self.columns),
            coef=np.ones(count),
            intercept=float(count),
            output=np.zeros(2),
            pseudo_response=np.zeros(2),
            objective=10.0 - count,
            slack=np.zeros(2),
            entry=OneNormEntry(True),
        )

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        return self._bound


class Supply:
    """Offers numbered columns until they run out."""

    def __init__(self, count: int = 100, *, exact: bool = True) -> None:
        self.names = list(range(count))
        self.exact = exact
        self.limits: list[int] = []

    def price(self, state: MasterState, limit: int) -> Priced:
        self.limits.append(limit)
        held = {column.key for column in state.columns}
        offered = [name for name in self.names if name not in held][:limit]
        return Priced(
            [Column(np.zeros(2), name) for name in offered],
            exact=self.exact,
            max_excess=0.0,
            total_excess=0.0,
            n_evaluated=len(self.names),
        )


class Partial(Supply):
    """An exact search only where a certificate alone is asked for."""

    def price(self, state: MasterState, limit: int) -> Priced:
        self.exact = limit == 0
        return super().price(state, limit)


def run(master: Any = None, pricer: Any = None, **options: Any) -> Any:
    """Run the loop, by default over mocks."""
    return ColumnGeneration(master or CountingMaster(), pricer or Supply(), **options).run()
