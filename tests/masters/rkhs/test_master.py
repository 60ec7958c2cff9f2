"""Every loss under the norms of functions, against the full problem and CVXPY."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.losses import Hinge, SquaredHinge
from cgboost.masters.rkhs.rkhs_master import RKHSMaster
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.optimizers.active_set.active_set_method import ActiveSetSession
from cgboost.optimizers.restricted_dual import RestrictedDual
from cgboost.penalties import RKHS
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer
from tests.cases import law
from tests.effort import examples
from tests.losses.cases import CASES, LossCase
from tests.masters.rkhs.problems import Problem
from tests.problems import assert_certified


def parts(problem: Problem, offset: str, tol: float = 1e-8) -> tuple[RKHSMaster, RKHSPricer]:
    """Master and pricer of a problem."""
    penalty = RKHS(problem.weights)
    loss = problem.loss.on(problem.y, problem.cost)
    pool = KernelPool(problem.library, problem.X)
    return RKHSMaster(loss, penalty, offset=offset), RKHSPricer(pool, penalty.weight, tol=tol)


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@law(CASES)
@settings(max_examples=examples(2))
@given(seed=st.integers(0, 10**6), at_once=st.integers(1, 8))
def test_reaches_the_optimum_over_all_functions(
    case: LossCase, offset: str, seed: int, at_once: int
) -> None:
    """Objectives are CVXPY's to 1e-6; bound ≤ optimum ≤ objective in every round."""
    problem = Problem.random(case.make(), seed)
    master, pricer = parts(problem, offset)
    result = ColumnGeneration(master, pricer, tol=1e-8, columns_per_round=at_once).run()
    assert_certified(result, problem.optimum(offset))


def test_coefficients_are_those_of_the_columns() -> None:
    """The output is Σ α_j K(·, z_j) + b, and the objective that of α: ½Σ w_p αᵀK_p α + loss."""
    problem = Problem.random(SquaredHinge(), 3)
    master, pricer = parts(problem, "free")
    result = ColumnGeneration(master, pricer, tol=1e-7, columns_per_round=5).run()
    state = master.solve()
    assert state.output == pytest.approx(result.output)
    norms = 0.0
    for name, kernel in problem.kernels.items():
        own = [j for j, column in enumerate(result.columns) if column.stratum == name]
        rows = [result.columns[j].key[1] for j in own]
        alpha, gram = result.coef[own], kernel(problem.X[rows], problem.X[rows])
        norms += 0.5 * problem.weights.get(name, 1.0) * alpha @ gram @ alpha
    loss = problem.loss.on(problem.y, problem.cost).value(result.output)
    assert norms + loss == pytest.approx(result.objective, rel=1e-9)


def test_a_warm_start_is_where_the_run_ended() -> None:
    """Columns and coefficients of one master make the same state of another one."""
    problem = Problem.random(Hinge(), 5)
    master, pricer = parts(problem, "free")
    result = ColumnGeneration(master, pricer, tol=1e-7, columns_per_round=5).run()
    start = master.warm_start
    again, _ = parts(problem, "free")
    again.start_from(start)
    assert again.solve().objective == pytest.approx(result.objective, rel=1e-8)
    empty, _ = parts(problem, "free")
    empty.start_from(WarmStart())
    assert not empty.warm_start.columns


def test_rounds_before_the_last_are_coarse() -> None:
    """With an accuracy a solve ends at a share of the gap that new columns open; again, exactly."""
    problem = Problem.random(Hinge(), 7, n_rows=80)
    steps = {}
    for accuracy in (0.0, 1e-5):
        master, pricer = parts(problem, "free")
        for _ in range(6):
            master.accuracy = 0.0 if not master.columns else accuracy
            state = master.solve()
            master.add(pricer.price(state, 8).columns)
        coarse, dual = master.solve(), master._live
        assert isinstance(dual, RestrictedDual)
        assert isinstance(dual.session, ActiveSetSession)
        steps[accuracy] = dual.session.steps
        if not coarse.solved:
            exact = master.solve().objective
            assert exact <= coarse.objective <= 1.05 * exact
    assert steps[1e-5] < steps[0.0]


def test_signs_are_free() -> None:
    """The norms of f and −f are equal: coefficients at least 0 are an error that says so."""
    with pytest.raises(ValueError, match="norm of functions: f_p and −f_p have the same norm"):
        RKHSMaster(Hinge().on(np.array([1.0, -1.0]), np.ones(2)), coef="nonneg")


def test_columns_have_as_many_values_as_there_are_rows() -> None:
    """A column of another length is an error that names it."""
    problem = Problem.random(Hinge(), 5)
    master, pricer = parts(problem, "free")
    column = pricer.pool.column(0, 0)
    short = RKHSMaster(Hinge().on(np.array([1.0, -1.0]), np.ones(2)))
    with pytest.raises(ValueError, match=r"has shape \(25,\), the master has 2 rows"):
        short.add([column])
    master.add([column])
    assert len(master.columns) == 1
