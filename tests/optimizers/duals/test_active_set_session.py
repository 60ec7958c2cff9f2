"""The own method for the 2-norm: right answers on plain and on nasty problems, warm starts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.losses import hinge
from cgboost.masters import TwoNormMaster
from cgboost.optimizers.active_set.active_set_method import ActiveSetSession
from cgboost.pricing import FeaturePricer
from tests.effort import examples
from tests.problems import FORMULATIONS, Formulation, columns_of, random_problem

TWO_NORM = [formulation for formulation in FORMULATIONS if formulation.penalty == "l2"]


@pytest.mark.parametrize("formulation", TWO_NORM, ids=str)
@settings(max_examples=examples(12))
@given(
    seed=st.integers(0, 10**6),
    price=st.sampled_from([1e-3, 1.0, 1e3]),
    kind=st.sampled_from(["plain", "repeated", "collinear"]),
)
def test_one_solve_is_exact(formulation: Formulation, seed: int, price: float, kind: str) -> None:
    """With all columns in one solve the objective is that of an interior point backend."""
    problem = random_problem(seed)
    H = problem.H
    if kind == "repeated":
        H = np.hstack([H, H, np.zeros((len(H), 1))])
    elif kind == "collinear":
        H = np.hstack([H[:, :1] + 1e-4 * H, H])
    loss = problem.loss(formulation)
    loss = replace(loss, lower=price * loss.lower, upper=price * loss.upper)
    answers = []
    for solver in ("auto", "clarabel"):
        master = formulation.master(loss, solver)
        master.add(columns_of(H))
        answers.append(master.solve())
    own, backend = answers
    # at least as good; and the backend's own objective is evaluated at an inexact point
    assert own.objective <= backend.objective * (1 + 1e-7) + 1e-7
    assert own.objective == pytest.approx(backend.objective, rel=1e-4, abs=1e-5)


def test_it_is_this_method_that_answers() -> None:
    """Without a named solver the session is the active set method's, to the end."""
    problem = random_problem(5)
    formulation = Formulation("hinge", "l2", "nonneg", "free")
    master = formulation.master(problem.loss(formulation))
    result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8, columns_per_round=4).run()
    assert isinstance(master._dual.session, ActiveSetSession)
    assert result.gap <= 1e-8
    assert result.objective == pytest.approx(problem.optimum(formulation), rel=1e-6)


def test_a_warm_start_needs_few_steps() -> None:
    """Another column costs a few Newton steps, far fewer than the first solve."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 61))
    labels = np.where(H[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    master = TwoNormMaster(hinge(labels, np.ones(300)))
    master.add(columns_of(H[:, :60]))
    master.solve()
    session = master._dual.session
    assert isinstance(session, ActiveSetSession)
    first = session.steps
    master.add([Column(values=H[:, 60], key="another")])
    master.solve()
    assert 0 < session.steps - first <= first / 2
