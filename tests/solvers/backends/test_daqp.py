"""What is special about DAQP: starts, equations, options, the clock."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from solvers import InfeasibleError, LimitError, OptionError, Program, open_session, solve


def dense(n: int, m: int, *, quadratic: bool = True) -> Program:
    """A program with a box around 0, so that it is feasible."""
    rng = np.random.default_rng(1)
    curvature = np.ones(n) if quadratic else None
    return Program(rng.normal(size=n), rng.normal(size=(m, n)), -1, 1, -1, 1, curvature)


@pytest.mark.parametrize("quadratic", [False, True])
def test_it_goes_on_from_the_last_solution(quadratic: bool) -> None:
    """After a small change a session needs fewer iterations than a program from nothing."""
    session = open_session(dense(40, 60, quadratic=quadratic), "daqp")
    session.solve()
    for j in range(5):
        session.change_cost([j], session.program.cost[j] + 0.01)
        warm, cold = session.solve(), solve(session.program, "daqp")
        assert warm.iterations < cold.iterations
        assert warm.objective == pytest.approx(cold.objective, abs=1e-9)


def test_a_start_survives_what_is_removed() -> None:
    """Where rows and columns of the last solution are gone, the optimum is still that of HiGHS."""
    session = open_session(dense(40, 60, quadratic=False), "daqp")
    for _ in range(5):
        session.solve()
        session.remove_columns([7, 3])
        session.remove_rows([0, 11])
    assert session.solve().objective == pytest.approx(solve(session.program, "highs").objective)


@pytest.mark.parametrize("quadratic", [None, [1.0, 1.0]])
def test_equations_may_depend_on_each_other(quadratic: list[float] | None) -> None:
    """One that is there twice is no obstacle, two that contradict each other are infeasible."""
    twice = Program([1, 0], [[1, 1], [1, 1]], [1, 1], [1, 1], -5, 5, quadratic)
    assert solve(twice, "daqp").is_optimal(1e-8)
    against = Program([1, 0], [[1, 1], [1, 1]], [1, 2], [1, 2], -5, 5, quadratic)
    with pytest.raises(InfeasibleError):
        solve(against, "daqp")


def test_sparse_matrices_are_made_dense() -> None:
    """P and A may be sparse."""
    whole = dense(12, 8)
    sparse = Program(
        whole.cost, csr_array(whole.matrix), -1, 1, -1, 1, csr_array(np.diag(whole.quadratic))
    )
    assert solve(sparse, "daqp").objective == pytest.approx(solve(whole, "daqp").objective)


def test_options_are_its_own() -> None:
    """Known ones reach it, unknown ones and bad values are errors."""
    program = dense(40, 60)
    with pytest.raises(LimitError):
        open_session(program, "daqp", iter_limit=2).solve()
    with pytest.raises(OptionError, match="daqp has no option 'no_such_option'"):
        open_session(program, "daqp", no_such_option=1).solve()
    with pytest.raises(OptionError, match="daqp rejects primal_tol = 'small'"):
        open_session(program, "daqp", primal_tol="small").solve()


def test_a_long_solve_keeps_to_its_time() -> None:
    """DAQP looks at the clock every few iterations, which a program of some size needs."""
    with pytest.raises(LimitError, match="time limit"):
        open_session(dense(300, 400), "daqp").solve(time_limit=1e-6)
