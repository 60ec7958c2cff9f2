"""What every optimizer promises: the optimum of problems that are hard, and to end in time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.pricing import FeaturePricer
from tests.cases import law
from tests.effort import examples
from tests.optimizers.cases import HOSTILE, OPTIMIZERS, OptimizerCase, hostile
from tests.problems import Formulation, Problem, columns_of, random_problem


def check(case: OptimizerCase, formulation: Formulation, kind: str, seed: int) -> None:
    """Bound ≤ optimum ≤ objective in a run over the columns of a hostile problem."""
    problem, scales = hostile(kind, seed)
    master = case.make(formulation=formulation, loss=problem.loss(formulation))
    pricer = FeaturePricer(problem.H * scales)
    at_once = 3 if np.ptp(scales) or scales > 1e3 else (3, 50)[seed % 2]
    result = ColumnGeneration(master, pricer, tol=1e-7, columns_per_round=at_once).run()
    optimum = problem.optimum(formulation, scales)
    unit = max(1.0, abs(optimum))
    bounds = result.history["bound"]
    assert result.objective == pytest.approx(optimum, abs=case.accuracy * unit)
    assert np.all(result.history["objective"] >= optimum - 1e-7 * unit)
    assert np.all(bounds[np.isfinite(bounds)] <= optimum + 1e-7 * unit)
    assert result.gap <= 5.0 * case.accuracy
    if kind == "plain":
        assert case.answers(master)


@pytest.mark.parametrize("kind", HOSTILE)
@law(OPTIMIZERS)
@settings(max_examples=examples(9))
@given(seed=st.integers(0, 10**6))
def test_hostile_problems_are_certified(case: OptimizerCase, kind: str, seed: int) -> None:
    """Repeated, collinear, tied, tiny, huge and graded columns, low and high prices."""
    if kind in case.cannot:
        return
    check(case, case.takes[seed % len(case.takes)], kind, seed)


@law(OPTIMIZERS)
def test_without_columns_the_best_offset_is_found(case: OptimizerCase) -> None:
    """Free, penalized or none; the bound of a problem without columns is its objective."""
    for number, formulation in enumerate(case.takes):
        problem = random_problem(number)
        master = case.make(formulation=formulation, loss=problem.loss(formulation))
        alone = ColumnGeneration(master, FeaturePricer(0.0 * problem.H[:, :1]), tol=1e-7).run()
        optimum = replace(problem, H=0.0 * problem.H[:, :1]).optimum(formulation)
        assert alone.objective == pytest.approx(optimum, rel=case.accuracy, abs=case.accuracy)
        assert alone.gap <= case.accuracy


@law(OPTIMIZERS)
def test_a_time_limit_is_kept(case: OptimizerCase) -> None:
    """Out of time is a failure of the master that says so, and the next solve is not affected.

    Some have a hundredth of a second at least, in which a quick machine may be done.
    """
    rng = np.random.default_rng(4)
    problem = Problem(rng.normal(size=(200, 50)), rng.normal(size=200), np.ones(200), 0.1)
    formulation = case.takes[-1]
    master = case.make(formulation=formulation, loss=problem.loss(formulation))
    master.add(columns_of(problem.H))
    optimum = problem.optimum(formulation)
    failure, objective = None, optimum
    try:
        objective = master.solve(time_limit=0.0).objective
    except MasterError as error:
        failure = error
    assert failure is None or (failure.timed_out and "time" in str(failure))
    assert objective == pytest.approx(optimum, rel=case.accuracy)
    assert master.solve().objective == pytest.approx(optimum, rel=case.accuracy)


@law(OPTIMIZERS)
def test_another_column_is_taken_from_where_the_last_answer_was(case: OptimizerCase) -> None:
    """The optimum over a hundred columns, the last of which came after a solve, is that of all."""
    rng = np.random.default_rng(5)
    problem = Problem(rng.normal(size=(80, 41)), rng.normal(size=80), np.full(80, 0.5), 0.1)
    formulation = case.takes[0]
    optima = []
    for parts in ((40, 41), (41,)):
        master, start = case.make(formulation=formulation, loss=problem.loss(formulation)), 0
        for end in parts:
            master.add([Column(problem.H[:, j], ("feature", j)) for j in range(start, end)])
            start, state = end, master.solve()
        optima.append(state.objective)
    assert optima[0] == pytest.approx(optima[1], rel=1e-7)


@pytest.mark.parametrize(
    ("penalty", "seed"), [("l1", 26), ("l1", 86), ("l1", 4), ("l2", 26), ("l2", 86), ("l2", 4)]
)
def test_scales_that_were_too_much_once(penalty: str, seed: int) -> None:
    """Problems of graded columns on which large ones took the digits of the others."""
    case = next(c for c in OPTIMIZERS if any(f.penalty == penalty for f in c.takes))
    for formulation in case.takes:
        if formulation.penalty == penalty and formulation.coef == "free":
            check(case, formulation, "graded columns", seed)
