"""The own method for the 1-norm: right answers, working sets, coarse answers on request."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.losses import Quantile, hinge
from cgboost.masters import OneNormMaster, SupportVectorMaster
from cgboost.masters.support_vector.master import Offset, Sign
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.penalties import ElasticNet
from cgboost.pricing import FeaturePricer
from tests.effort import examples
from tests.problems import FORMULATIONS, Formulation, columns_of, random_problem

ONE_NORM = [formulation for formulation in FORMULATIONS if formulation.penalty == "l1"]


@pytest.mark.parametrize("formulation", ONE_NORM, ids=str)
@settings(max_examples=examples(15))
@given(
    seed=st.integers(0, 10**6),
    price=st.sampled_from([1e-3, 1.0, 1e4]),
    size=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_one_solve_is_exact(formulation: Formulation, seed: int, price: float, size: float) -> None:
    """With all columns in one solve, objective and bound are those of HiGHS, at any scale."""
    problem = random_problem(seed)
    H = size * problem.H
    loss = problem.loss(formulation)
    loss = replace(loss, lower=price * loss.lower, upper=price * loss.upper)
    answers = {}
    for solver in ("auto", "highs"):
        master = formulation.master(loss, solver)
        master.add(columns_of(H))
        answers[solver] = master.solve()
    assert answers["auto"].objective == pytest.approx(
        answers["highs"].objective, rel=1e-7, abs=1e-7
    )


def test_collinear_and_empty_columns() -> None:
    """Repeated columns, opposite ones and columns of zeros change nothing."""
    problem = random_problem(3)
    formulation = Formulation("hinge", "l1", "free", "free")
    H = np.hstack([problem.H, problem.H, -problem.H, np.zeros((len(problem.H), 2))])
    master = formulation.master(problem.loss(formulation))
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=50).run()
    assert result.objective == pytest.approx(problem.optimum(formulation), rel=1e-7)
    assert result.gap <= 1e-8


def test_a_coarse_answer_says_so_and_gets_better_when_asked_again() -> None:
    """With an accuracy the first answers are coarse; the same problem again comes nearer."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 60))
    labels = np.where(H[:, 0] - H[:, 1] + rng.normal(size=300) > 0, 1.0, -1.0)
    exact = OneNormMaster(hinge(labels, np.ones(300)))
    exact.add(columns_of(H))
    optimum = exact.solve().objective
    coarse = OneNormMaster(hinge(labels, np.ones(300)))
    coarse.accuracy = 1e-9
    coarse.add(columns_of(H))
    states = [coarse.solve() for _ in range(6)]
    errors = [state.objective - optimum for state in states]
    assert not states[0].solved
    assert errors[0] > 1e-6
    assert states[-1].solved
    assert errors[-1] <= 1e-8 * optimum
    assert np.all(np.diff(errors) <= 1e-9)


def test_one_new_column_among_many_opens_less_than_the_bound_says() -> None:
    """All that the objective falls by, and a small part of the gap to the bound."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(200, 120))
    y = H[:, :40].sum(axis=1) + rng.normal(size=200)
    master = OneNormMaster(Quantile(0.5).dual_box(y, np.full(200, 0.2)))
    master.add(columns_of(H[:, 1:]))
    before = master.solve().objective
    master.add(columns_of(H[:, :1]))
    master._dual._activate_waiting(None)
    session = master._dual.session
    assert isinstance(session, InteriorSession)
    data, at = session._problem(), session._at
    opened = data.opened(at.u, at.coef)
    gap = data.objective(at.coef, data.rate(at.coef)) - data.bound(at.u)
    assert data.opened(at.u, 0.0 * at.coef) >= opened
    fall = before - master.solve().objective
    assert 0 < fall <= opened <= 0.25 * gap


def test_the_answer_is_sparse() -> None:
    """Columns that are not needed have a coefficient of exactly 0, as at a vertex."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(400, 80))
    labels = np.where(H[:, :3].sum(axis=1) + rng.normal(size=400) > 0, 1.0, -1.0)
    loss = hinge(labels, np.full(400, 0.05))
    counts = {}
    for solver in ("auto", "highs"):
        master = OneNormMaster(loss, solver=solver)
        result = ColumnGeneration(master, FeaturePricer(H), tol=1e-7, columns_per_round=5).run()
        counts[solver] = np.count_nonzero(result.coef)
    assert counts["auto"] == counts["highs"]


def test_rows_far_from_their_margin_leave_the_session() -> None:
    """At the optimum only a part of the variables is left in the session."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 8))
    labels = np.where(X[:, 0] + 0.3 * rng.normal(size=500) > 0, 1.0, -1.0)
    master = OneNormMaster(hinge(labels, np.ones(500)))
    result = ColumnGeneration(master, FeaturePricer(X), tol=1e-8).run()
    assert result.gap <= 1e-8
    assert isinstance(master._dual.session, InteriorSession)
    assert len(master._dual.session.kept) < 250


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("sign", ["free", "nonneg"])
def test_an_elastic_net_is_solved_to_the_end(sign: Sign, offset: Offset) -> None:
    """Without another solver, also where nearly every row is on its margin."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 120)) * np.exp(rng.normal(size=120))
    labels = np.where(H @ rng.normal(size=120) > 0, 1.0, -1.0)
    penalty = ElasticNet(0.1)
    master = SupportVectorMaster(hinge(labels, np.ones(300)), penalty, coef=sign, offset=offset)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=30).run()
    assert isinstance(master._dual.session, InteriorSession)
    assert result.gap <= 1e-8


def test_both_bounds_of_an_elastic_net_hold_anywhere() -> None:
    """Dual objectives of any r are below the primal ones of any coefficients, and meet."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(60, 15))
    y = H[:, :4].sum(axis=1) + rng.normal(size=60)
    loss = Quantile(0.5).dual_box(y, np.full(60, 0.2))
    master = SupportVectorMaster(loss, ElasticNet(0.5), offset="free")
    master.add(columns_of(H))
    optimum = master.solve().objective
    data = master._dual.session._problem()
    at = master._dual.session._at
    for share in (0.0, 0.1, 1.0):
        u = data.cap * (share * rng.uniform(size=len(data.cap)) + (1.0 - share) * at.u / data.cap)
        coef = at.coef + share * rng.normal(size=len(at.coef))
        bound, objective = data.bound(u), data.objective(coef, data.rate(coef))
        assert bound <= optimum - data.fixed_gain + 1e-8
        assert objective >= optimum - data.fixed_gain - 1e-8
        assert (objective - bound <= 1e-6 * optimum) == (share == 0.0)


def test_curvature_is_part_of_the_method() -> None:
    """A hinge rounded at its corner has the optimum that a quadratic backend finds."""
    rng = np.random.default_rng(3)
    H = rng.normal(size=(60, 10))
    labels = np.where(H[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    loss = replace(hinge(labels, np.ones(60)), curvature=np.full(60, 0.5))
    objectives = []
    for solver in ("auto", "clarabel"):
        master = OneNormMaster(loss, solver=solver)
        master.add(columns_of(H))
        objectives.append(master.solve().objective)
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-6)


def test_a_time_limit_is_kept() -> None:
    """Out of time is a failure of the master that says so."""
    rng = np.random.default_rng(4)
    H = rng.normal(size=(3000, 300))
    labels = np.where(H[:, 0] + rng.normal(size=3000) > 0, 1.0, -1.0)
    master = OneNormMaster(hinge(labels, np.ones(3000)))
    master.add(columns_of(H))
    with pytest.raises(MasterError, match="out of time"):
        master.solve(time_limit=0.01)


def test_only_columns_without_a_coefficient_are_idle_beside_large_ones() -> None:
    """What leaves a session then takes nothing from the output."""
    rng = np.random.default_rng(6)
    H = rng.normal(size=(200, 40))
    H[:, 39] *= 1e6
    labels = np.where(H[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0)
    master = OneNormMaster(hinge(labels, np.ones(200)))
    master.accuracy = 0.05
    master.add(columns_of(H))
    coef = master.solve().coef
    session = master._dual.session
    assert isinstance(session, InteriorSession)
    assert len(session.idle(np.zeros(40))) > 0
    assert not session.idle(np.ones(40)).size
    assert not coef[session.idle(coef)].any()
