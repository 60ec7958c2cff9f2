"""Losses with a dual box in the certified masters, against CVXPY on the full problem."""

import cvxpy as cp
import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import Loss
from cgboost.masters import BudgetMaster, OneNormMaster, TwoNormMaster
from cgboost.pricing import FeaturePricer
from tests.losses.cases import BOXED, target

N_ROWS, N_COLUMNS, RADIUS = 40, 12, 1.5


@pytest.mark.parametrize("penalty", ["l1", "l2", "ball"])
@pytest.mark.parametrize("loss", BOXED, ids=str)
def test_every_box_is_certified(loss: Loss, penalty: str) -> None:
    """With an offset and each penalty, bound ≤ optimum = objective."""
    rng = np.random.default_rng(1)
    H, y = rng.normal(size=(N_ROWS, N_COLUMNS)), target(loss, rng, N_ROWS)
    bound = loss.on(y, rng.uniform(0.5, 2.0, N_ROWS) * (np.arange(N_ROWS) != 1))
    master = {
        "l1": lambda: OneNormMaster(bound.box, offset="free"),
        "l2": lambda: TwoNormMaster(bound.box, offset="free"),
        "ball": lambda: BudgetMaster(bound.box, offset="free", budget=RADIUS),
    }[penalty]()
    a, b = cp.Variable(N_COLUMNS), cp.Variable()
    cost, limits = bound.to_cvxpy(H @ a + b), [cp.norm1(a) <= RADIUS]
    cost += {"l1": cp.norm1(a), "l2": 0.5 * cp.sum_squares(a), "ball": 0.0}[penalty]
    problem = cp.Problem(cp.Minimize(cost), limits if penalty == "ball" else [])
    optimum = problem.solve(solver="CLARABEL")
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-6, columns_per_round=5).run()
    assert result.gap <= 1e-6
    assert result.objective == pytest.approx(optimum, rel=1e-5)
    assert result.bound <= optimum + 1e-6 * abs(optimum)
