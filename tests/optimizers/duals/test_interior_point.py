"""The own method for the 1-norm: coarse answers on request, working sets, digits and threads."""

from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import Quantile, hinge
from cgboost.masters import OneNormMaster, SupportVectorMaster
from cgboost.optimizers.interior_point import normal_equations
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.interior_point.normal_equations import _triangle
from cgboost.parallel.threads import available, blas_threads
from cgboost.penalties import ElasticNet
from cgboost.pricing import FeaturePricer
from tests.problems import columns_of


def noisy(seed: int, n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns, and labels by the first three with noise."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n_rows, n_columns))
    return H, np.where(H[:, :3].sum(axis=1) + rng.normal(size=n_rows) > 0, 1.0, -1.0)


def test_a_coarse_answer_says_so_and_gets_better_when_asked_again() -> None:
    """With an accuracy the first answers are coarse; the same problem again comes nearer."""
    H, labels = noisy(0, 300, 60)
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


def test_too_few_rows_call_back_those_that_stop_the_model(monkeypatch: Any) -> None:
    """An objective without a lower end brings rows back, without a new start from all of them."""
    H, labels = noisy(3, 600, 40)
    master = OneNormMaster(hinge(labels, np.ones(600)))
    master.add(columns_of(H))
    optimum = master.solve().objective
    few = OneNormMaster(hinge(labels, np.ones(600)))
    few.add(columns_of(H))
    few._live.start_near(np.random.default_rng(3).normal(size=40), 0.0, 0.05)
    recalled = []
    recall = InteriorSession._recall

    def counting(session: InteriorSession, before: Any) -> bool:
        n_kept, found = len(session.kept), recall(session, before)
        recalled.append((n_kept, len(session.kept)))
        return found

    monkeypatch.setattr(InteriorSession, "_recall", counting)
    monkeypatch.setattr(InteriorSession, "start_anew", None)
    assert few.solve().objective == pytest.approx(optimum, rel=1e-8)
    assert recalled
    assert all(n_kept < n_recalled < 600 for n_kept, n_recalled in recalled)


def test_one_new_column_among_many_opens_less_than_the_bound_says() -> None:
    """All that the objective falls by, and a small part of the gap to the bound."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(200, 120))
    y = H[:, :40].sum(axis=1) + rng.normal(size=200)
    master = OneNormMaster(Quantile(0.5).dual_box(y, np.full(200, 0.2)))
    master.add(columns_of(H[:, 1:]))
    before = master.solve().objective
    master.add(columns_of(H[:, :1]))
    master._live._activate_waiting(None)
    session = master._live.session
    assert isinstance(session, InteriorSession)
    data, at = session._problem(), session._at
    opened = data.opened(at.u, at.coef)
    gap = data.objective(at.coef, data.rate(at.coef)) - data.bound(at.u)
    assert data.opened(at.u, 0.0 * at.coef) >= opened
    fall = before - master.solve().objective
    assert 0 < fall <= opened <= 0.25 * gap


def test_the_answer_is_sparse_and_rows_far_from_their_margin_leave() -> None:
    """As many coefficients as at a vertex; at the optimum a part of the variables is left."""
    H, labels = noisy(1, 400, 80)
    counts = {}
    for solver in ("auto", "highs"):
        master = OneNormMaster(hinge(labels, np.full(400, 0.05)), solver=solver)
        result = ColumnGeneration(master, FeaturePricer(H), tol=1e-7, columns_per_round=5).run()
        counts[solver] = np.count_nonzero(result.coef)
    assert counts["auto"] == counts["highs"]
    H, labels = noisy(2, 500, 8)
    master = OneNormMaster(hinge(labels, np.ones(500)))
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-8).run()
    assert result.gap <= 1e-8
    assert isinstance(master._live.session, InteriorSession)
    assert len(master._live.session.kept) < 300


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("sign", ["free", "nonneg"])
def test_an_elastic_net_is_solved_to_the_end(sign: Any, offset: Any) -> None:
    """Without another solver, also where nearly every row is on its margin."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 120)) * np.exp(rng.normal(size=120))
    labels = np.where(H @ rng.normal(size=120) > 0, 1.0, -1.0)
    loss = hinge(labels, np.ones(300))
    master = SupportVectorMaster(loss, ElasticNet(0.1), coef=sign, offset=offset)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=30).run()
    assert isinstance(master._live.session, InteriorSession)
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
    data, at = master._live.session._problem(), master._live.session._at
    for share in (0.0, 0.1, 1.0):
        u = data.upper * (
            share * rng.uniform(size=len(data.upper)) + (1.0 - share) * at.u / data.upper
        )
        coef = at.coef + share * rng.normal(size=len(at.coef))
        bound, objective = data.bound(u), data.objective(coef, data.rate(coef))
        assert bound <= optimum - data.fixed_gain + 1e-8
        assert objective >= optimum - data.fixed_gain - 1e-8
        assert (objective - bound <= 1e-6 * optimum) == (share == 0.0)


def test_only_columns_without_a_coefficient_are_idle_beside_large_ones() -> None:
    """What leaves a session then takes nothing from the output."""
    H, labels = noisy(6, 200, 40)
    H[:, 39] *= 1e6
    master = OneNormMaster(hinge(labels, np.ones(200)))
    master.accuracy = 0.05
    master.add(columns_of(H))
    coef = master.solve().coef
    session = master._live.session
    assert isinstance(session, InteriorSession)
    assert len(session.idle(np.zeros(40))) > 0
    assert not session.idle(np.ones(40)).size
    assert not coef[session.idle(coef)].any()


def test_a_factor_without_products_keeps_what_tells_columns_apart() -> None:
    """Columns that differ by 1e-10: the last diagonal is their difference, which AᵀA has lost."""
    rng = np.random.default_rng(5)
    A = 10.0 ** rng.uniform(-2.0, 2.0, 60)[:, None] * rng.normal(size=(60, 4))
    apart = A[:, 3].copy()
    A[:, 3] = A[:, 2] + 1e-10 * apart
    own = apart - A[:, :3] @ np.linalg.lstsq(A[:, :3], apart)[0]
    factor = _triangle(A)
    assert np.allclose(factor @ factor.T, A.T @ A, rtol=1e-12)
    assert abs(factor[3, 3]) == pytest.approx(1e-10 * np.linalg.norm(own), rel=1e-4)


@pytest.mark.parametrize(("n_columns", "threads"), [(20, 1), (450, 2)])
def test_only_a_large_product_runs_on_more_than_one_thread(
    monkeypatch: pytest.MonkeyPatch, n_columns: int, threads: int
) -> None:
    """Of two threads both make a large product, and one makes all factors and small products."""
    used: dict[str, set[int]] = {"dsyrk": set(), "dpotrf": set(), "dpotrs": set()}

    def noting(name: str) -> Any:
        original = getattr(normal_equations, name)

        def noted(*arguments: Any, **named: Any) -> Any:
            used[name].add(available())
            return original(*arguments, **named)

        return noted

    for name in used:
        monkeypatch.setattr(normal_equations, name, noting(name))
    H = np.random.default_rng(0).normal(size=(3000, n_columns))
    master = OneNormMaster(hinge(np.where(H[:, 0] > 0, 1.0, -1.0), np.ones(3000)))
    master.accuracy = 0.1
    master.add(columns_of(H))
    with blas_threads(2):
        master.solve()
    assert used == {"dsyrk": {threads}, "dpotrf": {1}, "dpotrs": {1}}
