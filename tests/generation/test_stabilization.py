"""Smoothing: bounds stay valid, mispricing costs no round, and it does what it says."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.generation.stabilization import NoSmoothing, Wentges
from cgboost.pricing import FeaturePricer
from tests.problems import FORMULATIONS, Formulation, random_problem

from .cases import CountingMaster

STATE = MasterState((), np.zeros(0), 0.0, np.zeros(1), np.array([4.0]), 10.0, np.zeros(1))
INFEASIBLE = replace(STATE, objective=math.inf)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_bound_optimum_objective_in_every_round(formulation: Formulation) -> None:
    """Bound ≤ optimum ≤ objective for every support-vector formulation, with smoothed duals."""
    for seed in range(3):
        problem = random_problem(seed)
        optimum = problem.optimum(formulation)
        master = formulation.master(problem.loss(formulation))
        smoothing, pricer = Wentges(0.7, 0.99), FeaturePricer(problem.H)
        result = ColumnGeneration(master, pricer, tol=1e-7, smoothing=smoothing).run()
        room = 1e-6 * max(1.0, abs(optimum))
        assert (result.history["objective"] >= optimum - room).all()
        assert not (result.history["bound"] > optimum + room).any()
        assert result.objective <= optimum + room


def points(smoothing: Any, state: MasterState = STATE) -> list[float]:
    """Where one row's dual is priced."""
    return [float(point[0]) for point in smoothing.points(state)]


def test_points_are_between_the_best_duals_and_the_masters() -> None:
    """Nothing is smoothed before a bound is known; then the weight decays round by round."""
    smoothing = Wentges(0.5, 0.5)
    assert points(smoothing) == [4.0]
    smoothing.learn(np.array([0.0]), 1.0)
    smoothing.learn(np.array([100.0]), 0.5)  # a worse bound
    assert points(smoothing) == [2.0, 4.0]
    assert points(smoothing) == [3.0, 4.0]
    assert [points(smoothing) for _ in range(5)][-1] == [4.0]
    smoothing.start()
    assert points(smoothing) == [4.0]
    assert NoSmoothing().best_duals is None


def test_a_run_prices_first_at_the_duals_that_it_is_given() -> None:
    """Once, then the master's own; the bound there is learnt even while nothing is feasible."""
    smoothing = Wentges(0.5, 1.0)
    smoothing.start(np.array([1.0]))
    assert points(smoothing, INFEASIBLE) == [1.0, 4.0]
    smoothing.learn(np.array([1.0]), 1.0)
    assert smoothing.best_duals == np.array([1.0])
    assert points(smoothing) == [2.5, 4.0]
    smoothing.start()
    assert smoothing.best_duals is None
    assert points(smoothing) == [4.0]


def test_nothing_is_smoothed_while_the_master_is_infeasible() -> None:
    """Duals of the first phase are of another size and never mixed with the others."""
    smoothing = Wentges()
    assert points(smoothing, INFEASIBLE) == [4.0]
    smoothing.learn(np.array([0.0]), 1.0)
    assert points(smoothing, INFEASIBLE) == points(smoothing) == [4.0]


def test_mispricing_falls_back_to_the_masters_duals_in_the_same_round() -> None:
    """A column that does not help at the master's duals leads to a second pass, not a round."""

    class OnePoint(NoSmoothing):
        def points(self, state: MasterState) -> Any:
            yield np.array([0.5])
            yield state.pseudo_response

        def learn(self, duals: np.ndarray, bound: float | None) -> None:
            learned.append((float(duals[0]), bound))

    def price(duals: np.ndarray) -> Any:
        costly = duals[0] < 1
        name = f"{'useless' if costly else 'useful'} {len(learned)}"
        return [Column(np.ones(1), name, cost=5.0 if costly else 1.0)], 0.0

    learned: list[Any] = []
    master = CountingMaster(change=lambda s: replace(STATE, columns=s.columns, coef=0.0 * s.coef))
    master.bound = lambda state, priced: float(state.pseudo_response[0])  # type: ignore[method-assign]
    result = ColumnGeneration(master, price, max_columns=1, smoothing=OnePoint()).run()
    assert [column.key for column in result.columns] == ["useful 1"]
    assert learned[:2] == [(0.5, 0.5), (4.0, 4.0)]
    np.testing.assert_array_equal(result.history["evaluated"], [2, 2])
    np.testing.assert_array_equal(result.history["bound"], [4.0, 4.0])


@pytest.mark.parametrize(("weight", "decay"), [(1.0, 0.5), (-0.1, 0.5), (0.5, 1.1), (0.5, -1.0)])
def test_weights_out_of_range_are_refused(weight: float, decay: float) -> None:
    """Weight 1 would never look at the master's duals."""
    with pytest.raises(ValueError, match="must be"):
        Wentges(weight, decay)
