"""Deactivation: the same optimum, states over all columns, and nobody notices."""

from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.history import Round
from cgboost.masters import LinearMaster
from cgboost.optimizers.linear.restricted_primal import InactivePool
from tests.effort import WHOLE
from tests.masters.linear.linear_problems import bounded, convex, covering


@pytest.mark.parametrize("problem", [covering, convex, bounded])
def test_parking_changes_neither_the_optimum_nor_the_proof(
    problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without: the same end; columns were deactivated, and some had to return.

    States list all columns in order, and no column of the master prices out in any round.
    """
    parked = returned = 0
    take = InactivePool.take_improving

    def counted(self: InactivePool, duals: np.ndarray, **how: Any) -> np.ndarray:
        nonlocal returned
        taken = take(self, duals, **how)
        returned += taken.size
        return taken

    def check(turn: Round) -> None:
        state = turn.state
        assert list(state.columns) == list(parking.columns)
        assert len(state.coef) == len(state.columns)
        for column, x in zip(state.columns, state.coef, strict=True):
            score = column.values @ state.pseudo_response
            reduced = column.cost - score if np.isfinite(state.objective) else -1e-6 * score
            assert reduced >= -1e-6 or x >= column.upper * (1 - 1e-7)

    monkeypatch.setattr(InactivePool, "take_improving", counted)
    for seed in range(30 if WHOLE else 12):
        plain, family = problem(seed)
        parking, _ = problem(seed, park_after=1)
        expected = ColumnGeneration(plain, family, tol=1e-9).run()
        result = ColumnGeneration(parking, family, tol=1e-9, callbacks=[check]).run()
        assert result.stop_reason == expected.stop_reason
        assert result.objective == pytest.approx(expected.objective, rel=1e-7, abs=1e-7)
        assert result.gap == pytest.approx(expected.gap, abs=1e-9)
        parked += parking.n_parked
    assert parked > 0
    assert returned > 0 or problem is covering


def test_a_column_parked_in_phase_one_returns_with_its_cost() -> None:
    """What hinders phase one may pay in phase two."""
    master = LinearMaster(2, ">=", 1.0, park_after=1)
    master.add([Column(np.array([-1.0, 0.0]), "hinders", cost=-5.0, upper=1.0)])
    assert master.solve().objective == np.inf
    assert master.n_parked == 1
    master.add([Column(row, i, cost=1.0) for i, row in enumerate(np.eye(2))])
    state = master.solve()
    assert state.objective == pytest.approx(2.0 + 1.0 - 5.0)
    np.testing.assert_allclose(state.coef, [1.0, 2.0, 1.0])


def test_phase_one_gets_back_what_it_needs() -> None:
    """A column idle at the first duals of phase one is needed at the next, whatever it costs."""
    master = LinearMaster(["a", "b"], "==", [1.0, 1.0], park_after=1)
    master.add([Column(np.array([1.0, -2.0]), "later", cost=100.0)])
    master.solve()
    assert master.n_parked == 1
    master.add([Column(np.array([0.0, 3.0]), "first")])
    state = master.solve()
    assert np.isfinite(state.objective)
    np.testing.assert_allclose(state.coef, [1.0, 1.0])


@pytest.mark.parametrize("cost", [1e-3, 1.0, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("free", [[], [Column(np.zeros(2), "empty")]], ids=["none", "free"])
def test_costs_of_any_size_meet_the_rows(cost: float, free: list[Column]) -> None:
    """A master that knows no cost yet prices as if there were none: costly columns are found."""
    columns = [Column(row, i, cost=cost) for i, row in enumerate(np.eye(2))]

    def price(duals: Any) -> Any:
        reduced = [cost - float(duals @ column.values) for column in columns]
        found = [c for c, own in zip(columns, reduced, strict=True) if own < -1e-9 * cost]
        return found, min(*reduced, 0.0)

    master = LinearMaster(2, ">=", 1.0, copies=2)
    master.add(free)
    result = ColumnGeneration(master, price).run()
    assert result.stop_reason == "optimal"
    assert result.objective == pytest.approx(2 * cost)
    assert result.bound == pytest.approx(2 * cost)


def test_rows_that_nothing_meets_are_infeasible_at_once_where_costs_are_known() -> None:
    """Duals are raised while no cost has been seen, a few times at most, and not after that."""
    for columns, most in [([], 3), ([Column(np.array([1.0, 0.0]), "first", cost=1e5)], 1)]:
        rounds: list[Round] = []
        master = LinearMaster(2, ">=", 1.0, copies=2)
        master.add(columns)
        run = ColumnGeneration(master, lambda duals: ([], 0.0), callbacks=[rounds.append])
        result = run.run()
        assert result.stop_reason == "infeasible"
        assert len(rounds) == most


def test_columns_are_parked_only_after_so_many_idle_solves_in_a_row() -> None:
    """Two idle solves do not deactivate a column that may be idle for two, the third one does."""
    master = LinearMaster(1, ">=", 1.0, park_after=3)
    master.add([Column(np.ones(1), j, cost=1.0 + j) for j in range(4)])
    parked = []
    for _ in range(4):
        master.solve()
        parked.append(master.n_parked)
    assert parked == [0, 0, 3, 3]
    never = LinearMaster(1, ">=", 1.0)
    never.add(master.columns)
    for _ in range(10):
        never.solve()
    assert never.n_parked == 0


def test_idle_solves_of_phase_one_do_not_count_in_phase_two() -> None:
    """The duals are others: a column gets its full time again."""
    master = LinearMaster(2, ">=", 1.0, park_after=2)
    master.add([Column(np.array([-1.0, 0.0]), "idle", cost=5.0)])
    assert master.solve().objective == np.inf
    master.add([Column(row, i, cost=1.0) for i, row in enumerate(np.eye(2))])
    parked = []
    for _ in range(2):
        master.solve()
        parked.append(master.n_parked)
    assert parked == [0, 1]
