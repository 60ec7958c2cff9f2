"""Rounds whose columns replace those before, in the loop."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import RBF, ColumnGeneration, KernelLibrary
from cgboost.generation.history import StopReason, Trace
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses import Hinge
from cgboost.masters.rkhs.rkhs_master import RKHSMaster, StagedMaster
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 2))
Y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)


class Stages:
    """Rows 0 to 3, then rows 10 to 17 in their place, then what the pricer over rows adds."""

    def __init__(self) -> None:
        self.pool = KernelPool(KernelLibrary({"rbf": RBF(0.5)}), X)
        self.rows = RKHSPricer(self.pool)
        self.stages = iter([range(4), range(10, 18)])
        self.seconds_left: float | None = -1.0
        self.seen: list[Any] = []

    def price(self, state: MasterState, limit: int) -> Priced:
        """The columns of the next stage."""
        self.seen.append(self.seconds_left)
        own = next(self.stages, None) if limit else None
        if own is None:
            return self.rows.price(state, limit)
        columns = self.pool.columns([0] * len(own), list(own))
        return replace(self.rows.price(state, 0), columns=columns, replaces=True)


def run(**options: Any) -> tuple[Any, Stages]:
    """A support vector machine in stages."""
    pricer = Stages()
    master = StagedMaster(lambda: RKHSMaster(Hinge().dual_box(Y, np.full(60, 2.0))))
    return ColumnGeneration(master, pricer, columns_per_round=5, **options).run(), pricer


def test_stages_have_room_for_all_their_columns() -> None:
    """The limit counts the columns that are there: eight, though four have left."""
    result, _ = run(max_columns=8)
    assert result.history["columns"].tolist() == [0, 4, 8]
    assert result.stop_reason is StopReason.MAX_COLUMNS
    assert len(result.columns) == 12
    assert not result.coef[:4].any()


def test_after_the_stages_columns_are_added() -> None:
    """Rows join the last stage until the gap is closed, and the model is that of all rows."""
    result, _ = run(tol=1e-6)
    assert result.history["columns"].tolist()[:4] == [0, 4, 8, 13]
    assert result.gap <= 1e-6
    assert np.all(np.diff(result.history["objective"][2:]) <= 1e-9)


def test_a_pricer_is_told_what_time_is_left() -> None:
    """None without a limit; otherwise a number that falls from call to call."""
    _, free = run(max_columns=8)
    assert set(free.seen) == {None}
    _, bound = run(max_columns=8, time_limit=100.0)
    assert 100 >= bound.seen[0] > bound.seen[-1] > 0


def test_a_master_is_told_what_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rounds so far have left of the limit, a little of it at least; the first has all."""
    now = 50.0
    monkeypatch.setattr("cgboost.generation.history.time.perf_counter", lambda: now)
    trace = Trace(1e-6)
    assert trace.seconds_left(10.0) is None
    trace.entries.append({})
    now = 53.0
    assert trace.seconds_left(10.0) == 7.0
    assert trace.seconds_left(None) is None
    assert 0 < trace.seconds_left(2.0) < 0.1  # type: ignore[operator]
