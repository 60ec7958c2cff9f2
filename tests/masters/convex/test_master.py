"""`ConvexMaster`: any convex model against the full problem, solved at once by CVXPY."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.masters import ConvexMaster
from cgboost.pricing import FeaturePricer, StrataPricer
from tests.masters.convex.convex_models import (
    MODELS,
    N_COLUMNS,
    N_ROWS,
    check,
    data,
    fairness,
    full,
    losses,
)
from tests.problems import FORMULATIONS, LOSSES, PENALTIES, Formulation, Problem, columns_of

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("loss", ["pinball", "huber", "squared", "hinge", "logistic", "root"])
def test_reaches_the_full_problem_with_valid_bounds(loss: str, model: str) -> None:
    """Every loss with every penalty or constraint reaches the optimum, certified."""
    H, y, labels = data()
    function = losses(y, labels)[loss]
    master = ConvexMaster(function, n_rows=N_ROWS, **MODELS[model])
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-6, columns_per_round=10).run()
    check(result, full(H, function, MODELS[model]))
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)


@pytest.mark.parametrize("loss", ["huber", "squared", "logistic", "root"])
def test_the_dual_is_the_negative_gradient_by_finite_differences(loss: str) -> None:
    """r_i is minus the derivative of the optimum for a shift of output i inside the loss."""
    H, y, labels = data()
    function = losses(y, labels)[loss]

    def solved(shift: np.ndarray) -> Any:
        master = ConvexMaster(lambda f: function(f + shift), n_rows=N_ROWS)
        master.add(columns_of(H)[:5])
        return master.solve()

    response = solved(np.zeros(N_ROWS)).pseudo_response
    for row in (0, 7, 19):
        step = 1e-3 * np.eye(N_ROWS)[row]
        slope = (solved(step).objective - solved(-step).objective) / 2e-3
        assert response[row] == pytest.approx(-slope, abs=1e-4)
    assert abs(response.sum()) < 1e-6  # b is free


def test_active_columns_score_the_weight_of_the_penalty() -> None:
    """|h·r| = λ where a ≠ 0, and at most λ elsewhere: the optimality conditions of the 1-norm."""
    H, y, labels = data()
    master = ConvexMaster(
        losses(y, labels)["logistic"],
        lambda a, b: 0.7 * cp.norm1(a),
        n_rows=N_ROWS,
        threshold=0.7,
    )
    master.add([Column(H[:, j], j) for j in range(N_COLUMNS)])
    state = master.solve()
    scores = np.abs(H.T @ state.pseudo_response)
    assert scores.max() <= 0.7 + 1e-6
    np.testing.assert_allclose(scores[np.abs(state.coef) > 1e-4], 0.7, atol=1e-6)
    assert not state.entry.excess(np.array([0.7, -0.69])).any()
    assert state.entry.excess(np.array([-0.77]))[0] == pytest.approx(0.1)
    assert (state.entry.settled(-2.0), state.entry.settled(0.2)) == (-0.7, 0.2)


def convex_twin(formulation: Formulation, problem: Problem) -> ConvexMaster:
    """The same formulation as a convex model."""
    threshold, curvature = {"l1": (1.0, 0.0), "l2": (0.0, 1.0)}[formulation.penalty]

    def penalty(a: Any, b: Any) -> Any:
        charged = [a, cp.reshape(b, (1,), "C")] if formulation.offset == "penalized" else [a]
        return PENALTIES[formulation.penalty][1](cp.hstack(charged))

    return ConvexMaster(
        lambda f: LOSSES[formulation.loss][1](problem, f),
        penalty,
        n_rows=len(problem.target),
        coef=formulation.coef,
        offset="none" if formulation.offset == "none" else "free",
        threshold=threshold,
        curvature=curvature,
    )


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_agrees_with_the_support_vector_masters(formulation: Formulation) -> None:
    """Restricted optimum and bound, and the ends of runs, are those of the LP and QP masters."""
    H, y, _ = data()
    problem = Problem(H, y - y.mean(), np.full(N_ROWS, 0.8), 0.1)
    masters = (
        formulation.master(problem.loss(formulation)),
        convex_twin(formulation, problem),
    )
    for master in masters:
        master.add(columns_of(H)[:8])
    states = [master.solve() for master in masters]
    assert states[1].objective == pytest.approx(states[0].objective, rel=1e-6)
    if formulation.penalty == "l2":
        np.testing.assert_allclose(states[1].coef, states[0].coef, atol=1e-5)
        np.testing.assert_allclose(states[1].pseudo_response, states[0].pseudo_response, atol=1e-5)
        bounds = [
            master.bound(state, FeaturePricer(H).price(state, 0))
            for master, state in zip(masters, states, strict=True)
        ]
        assert bounds[1] == pytest.approx(bounds[0], abs=1e-5)
    results = [
        ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=10).run()
        for master in masters
    ]
    assert results[1].objective == pytest.approx(results[0].objective, rel=1e-6)
    assert results[1].bound == pytest.approx(results[0].bound, rel=1e-6, abs=1e-6)


class TwoFamilies:
    """Even columns of H are the family "even", the others "odd"."""

    strata = ("even", "odd")

    def __init__(self, H: np.ndarray) -> None:
        self.H = H

    def size(self, stratum: int) -> int:
        return self.H[:, stratum::2].shape[1]

    def rows(self, stratum: int) -> None:
        return None

    def scores(self, stratum: int, indices: Any, response: np.ndarray) -> np.ndarray:
        family = self.H[:, stratum::2]
        return (family if indices is None else family[:, indices]).T @ response

    def values(self, stratum: int, indices: Any) -> Any:
        return self.H[:, stratum::2][:, indices].T

    def column(self, stratum: int, index: int) -> Column:
        name = self.strata[stratum]
        return Column(self.H[:, 2 * index + stratum], (name, index), stratum=name)


@pytest.mark.parametrize("penalized", [True, False])
def test_a_budget_for_each_kernel_family(penalized: bool) -> None:
    """Budgets per stratum hold, the optimum is the full problem's, and the bound is valid."""
    H, y, labels = data()
    loss = losses(y, labels)["squared"]
    weight = 1.0 if penalized else 0.0
    master = ConvexMaster(
        loss,
        lambda a, b: weight * cp.norm1(a),
        lambda a, b, f: [
            master.members("even") @ cp.abs(a) <= 1.0,
            master.members("odd") @ cp.abs(a) <= 0.5,
        ],
        n_rows=N_ROWS,
        threshold=weight,
        reach=1.5,
    )
    result = ColumnGeneration(
        master, StrataPricer(TwoFamilies(H)), tol=1e-7, columns_per_round=10
    ).run()
    even = (np.arange(N_COLUMNS) % 2 == 0).astype(float)
    model = {
        "penalty": lambda a, b: weight * cp.norm1(a),
        "constraints": lambda a, b, f: [even @ cp.abs(a) <= 1.0, (1 - even) @ cp.abs(a) <= 0.5],
    }
    check(result, full(H, loss, model), gap=1.0)  # budgets with different prices leave a gap
    for name, budget in (("even", 1.0), ("odd", 0.5)):
        assert master.members(name) @ np.abs(result.coef) == pytest.approx(budget, abs=1e-6)
    assert np.isfinite(result.bound)


def test_a_constraint_on_the_coefficients_leaves_a_valid_bound() -> None:
    """A ≥ 0 as a constraint: the same optimum as coef="nonneg", with a bound that may not close."""
    H, y, labels = data()
    loss = losses(y, labels)["pinball"]
    master = ConvexMaster(loss, None, lambda a, b, f: [a >= 0], n_rows=N_ROWS)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-7, columns_per_round=10).run()
    check(result, full(H, loss, {"coef": "nonneg"}), gap=1.0)
    assert result.coef.min() > -1e-8


def test_unknown_penalty_has_no_bound_and_still_reaches_the_optimum() -> None:
    """Without a declaration every column enters, and nothing is claimed."""
    H, y, labels = data()
    loss = losses(y, labels)["squared"]
    penalty = lambda a, b: 4 * cp.norm2(a)  # noqa: E731 - not separable
    master = ConvexMaster(loss, penalty, n_rows=N_ROWS)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-7, columns_per_round=20).run()
    assert result.objective == pytest.approx(full(H, loss, {"penalty": penalty}), rel=1e-6)
    assert result.bound is None
    assert len(result.coef) == N_COLUMNS


def test_fairness_is_kept_and_costs_something() -> None:
    """The difference of the group means is at its limit, and the objective above the free one."""
    H, y, labels = data()
    y = y + np.where(np.arange(N_ROWS) < 10, 2.0, 0.0)
    loss = losses(y, labels)["squared"]
    results = []
    for constraints in (None, fairness):
        master = ConvexMaster(loss, None, constraints, n_rows=N_ROWS)
        pricer = FeaturePricer(H)
        results.append(ColumnGeneration(master, pricer, tol=1e-7, columns_per_round=10).run())
        output = master.solve().output
    assert results[1].objective > results[0].objective + 0.1
    assert abs(output[:10].mean() - output[10:].mean()) == pytest.approx(0.1, abs=1e-6)
