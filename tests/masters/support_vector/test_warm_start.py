"""Starting from a similar problem: it changes the way, never the answer."""

from dataclasses import replace

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.masters.support_vector.master import WarmStart
from cgboost.pricing import FeaturePricer
from tests.problems import FORMULATIONS, Formulation, assert_certified, columns_of, random_problem


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_any_start_leads_to_the_optimum(formulation: Formulation, seed: int) -> None:
    """Some of the columns with random coefficients, so that all the wrong rows are expected."""
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    chosen = rng.random(problem.H.shape[1]) < 0.5
    some = [column for column, taken in zip(columns_of(problem.H), chosen, strict=True) if taken]
    start = WarmStart(some, 10.0 ** rng.uniform(-2, 2) * rng.normal(size=len(some)), rng.normal())
    master = formulation.master(problem.loss(formulation))
    master.start_from(start)
    result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-7).run()
    assert_certified(result, problem.optimum(formulation))


@pytest.mark.parametrize("solver", ["auto", "highs"])
def test_only_rows_near_their_margin_start_in_the_session(solver: str) -> None:
    """With the optimum of the same problem as its start, most rows are left out at once."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 20))
    labels = np.sign(H[:, 0] + 0.5 * rng.normal(size=300))
    loss = hinge(labels, np.ones(300))
    first = OneNormMaster(loss, solver=solver)
    first.add(columns_of(H))
    optimum = first.solve()
    again = OneNormMaster(loss, solver=solver)
    again.start_from(replace(first.warm_start, loss=None))  # not along a path
    assert len(again._dual.session.kept) <= 0.5 * len(loss.variables)
    again.add([c for c in columns_of(H) if c.key not in {own.key for own in again.columns}])
    assert again.solve().objective == pytest.approx(optimum.objective, rel=1e-7)


def test_what_a_master_hands_on() -> None:
    """The used columns with their coefficients; nothing before the first answer."""
    problem = random_problem(3)
    formulation = FORMULATIONS[0]
    loss = replace(problem.loss(formulation))
    master = formulation.master(loss)
    assert len(master.warm_start.columns) == 0
    master.add(columns_of(problem.H))
    state = master.solve()
    start = master.warm_start
    used = np.flatnonzero(state.coef)
    assert [column.key for column in start.columns] == [state.columns[j].key for j in used]
    np.testing.assert_array_equal(start.coef, state.coef[used])
    assert start.intercept == state.intercept
