"""`ConvexMaster` with the losses of the package, certified."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import Huber
from cgboost.masters import ConvexMaster
from cgboost.pricing import FeaturePricer
from tests.cases import law
from tests.losses.cases import CASES, LossCase
from tests.problems import Problem, assert_certified, optimum, random_problem


def rows_for(case: LossCase, problem: Problem) -> tuple[Problem, np.ndarray]:
    """A few columns, and targets that the loss takes."""
    loss = case.make()
    few = replace(problem, H=problem.H[:, :6])
    if loss.classification:
        return few, problem.labels
    return few, problem.counts if loss.name == "poisson" else problem.target


@law(CASES)
def test_every_loss_is_certified(case: LossCase) -> None:
    """With the 1-norm and an offset: bound ≤ optimum ≤ objective, and the gap closes."""
    problem, target = rows_for(case, random_problem(40))
    loss = case.make().on(target, problem.price)
    result = ColumnGeneration(
        ConvexMaster(loss), FeaturePricer(problem.H), tol=1e-6, columns_per_round=4
    ).run()
    best = optimum(problem.H, loss.to_cvxpy, cp.norm1)
    assert_certified(result, best)


def test_a_loss_needs_its_targets() -> None:
    """A loss without data, another number of rows, or a function without one is refused."""
    bound = Huber().on(np.zeros(3), np.ones(3))
    assert ConvexMaster(bound, n_rows=3).n_rows == 3
    with pytest.raises(ValueError, match=r"needs targets: give Huber\(delta=1.0\).on"):
        ConvexMaster(Huber(), n_rows=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_rows=4, but the loss is of 3 rows"):
        ConvexMaster(bound, n_rows=4)
    with pytest.raises(ValueError, match="n_rows is needed"):
        ConvexMaster(lambda f: f)
