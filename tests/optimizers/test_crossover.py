"""From inside the optimal face of the 1-norm master to a vertex of it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.protocols import MasterState, Vertex
from cgboost.losses import Quantile, hinge
from cgboost.masters import OneNormMaster, SupportVectorMaster, TwoNormMaster
from cgboost.masters.support_vector import support_vector_master as master_module
from cgboost.optimizers.simplex import crossover as module
from cgboost.optimizers.simplex.crossover import unique_vertex
from cgboost.penalties import ElasticNet
from cgboost.pricing import FeaturePricer
from solvers import LimitError, Solution, Status
from tests.effort import examples
from tests.problems import FORMULATIONS, Formulation, columns_of, random_problem

ONE_NORM = [formulation for formulation in FORMULATIONS if formulation.penalty == "l1"]
AT_THE_KINK = 1e-7


def free_directions(master: OneNormMaster, H: np.ndarray, vertex: Vertex) -> int:
    """In how many directions a point can be moved with no term of the objective at a kink."""
    used = np.flatnonzero(vertex.coef)
    variables = master.loss.variables
    rate = variables.rate(H @ vertex.coef + vertex.intercept)
    on_margin = variables.row[np.abs(rate) <= AT_THE_KINK * (1 + np.abs(rate).max(initial=0.0))]
    active = H[on_margin][:, used]
    if master.offset == "free" or (master.offset == "penalized" and vertex.intercept != 0):
        active = np.column_stack([active, np.ones(len(on_margin))])
    rank = int(np.linalg.matrix_rank(active, tol=1e-9)) if active.size else 0
    return active.shape[1] - rank


def centre(master: OneNormMaster, H: np.ndarray) -> MasterState:
    """An answer from inside the optimal face, every column in the master."""
    master.accuracy = 1e-3
    master.add(columns_of(H))
    return master.solve()


def unique(master: OneNormMaster, **changed: Any) -> Any:
    """The vertex of the basis that the last answer suggests, if it is the only one."""
    dual = master._live
    assert isinstance(dual, module.RestrictedDual)
    assert dual.basis is not None
    return unique_vertex(dual.loss, master.form, dual.columns, dual.basis._replace(**changed))


@pytest.mark.parametrize("formulation", ONE_NORM, ids=str)
@settings(max_examples=examples(25))
@given(seed=st.integers(0, 10**6))
def test_it_ends_on_an_optimal_vertex(formulation: Formulation, seed: int) -> None:
    """No direction is free, the objective is no worse and optimal over all columns."""
    problem = random_problem(seed)
    master = formulation.master(problem.loss(formulation))
    state = centre(master, problem.H)
    vertex = master.crossover(state.coef, float(state.intercept))
    if vertex is None:
        assert not state.coef.any()
        return
    scale = max(1.0, abs(state.objective))
    assert free_directions(master, problem.H, vertex) == 0
    assert vertex.objective <= state.objective + 1e-9 * scale
    assert vertex.objective == pytest.approx(problem.optimum(formulation), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("formulation", ONE_NORM, ids=str)
@settings(max_examples=examples(15))
@given(seed=st.integers(0, 10**6))
def test_a_vertex_from_one_factorisation_is_that_of_the_simplex(
    formulation: Formulation, seed: int
) -> None:
    """Where it is said to be the only one, HiGHS ends there; with a wrong basis none is found."""
    problem = random_problem(seed)
    master = formulation.master(problem.loss(formulation))
    master.add(columns_of(problem.H))
    state = master.solve()
    if not isinstance(master._live, module.RestrictedDual) or (basis := master._live.basis) is None:
        return
    if (found := unique(master)) is None:
        return
    exact = formulation.master(problem.loss(formulation), solver="highs")
    exact.add(columns_of(problem.H))
    simplex = exact.solve()
    np.testing.assert_allclose(found.coef, simplex.coef, atol=1e-6 * (1 + abs(simplex.coef).max()))
    assert np.count_nonzero(found.coef) == np.count_nonzero(basis.sign)
    assert state.objective >= simplex.objective - 1e-6 * (1 + abs(simplex.objective))
    assert unique(master, sign=-basis.sign) is None


def separable(n_rows: int = 200, n_columns: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Columns that come three times, and labels."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(n_rows, n_columns))
    labels = np.where(H[:, :5].sum(axis=1) + rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return np.hstack([H, H, H]), labels


def test_one_factorisation_is_enough_where_columns_differ() -> None:
    """Without the simplex; not where columns come three times and other vertices are as good."""
    H, labels = separable()
    for columns, there in ((H[:, :60], True), (H, False)):
        master = OneNormMaster(hinge(labels, np.full(200, 0.3)))
        master.add(columns_of(columns))
        state, found = master.solve(), unique(master)
        assert (found is not None) == there
        if found is not None:
            value = np.abs(found.coef).sum() + master.loss.value(found.output)
            assert value == pytest.approx(state.objective, rel=1e-9)


@pytest.mark.parametrize("quantile", [0.2, 0.5])
def test_one_factorisation_is_enough_for_a_quantile_with_many_columns(quantile: float) -> None:
    """A row on its margin is one variable of the basis, not two; the simplex ends there too."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(80, 100))
    y = H[:, :20].sum(axis=1) + rng.normal(size=80)
    loss = Quantile(quantile).dual_box(y, np.full(80, 0.3))
    master = OneNormMaster(loss)
    state = centre(master, H)
    vertex = master.crossover(state.coef, float(state.intercept))
    found = unique(master)
    assert vertex is not None
    assert found is not None
    np.testing.assert_array_equal(found.coef, vertex.coef)
    assert np.count_nonzero(found.coef) > 30
    exact = OneNormMaster(loss, solver="highs")
    exact.add(columns_of(H))
    np.testing.assert_allclose(found.coef, exact.solve().coef, atol=1e-8)


def test_a_coarse_answer_is_solved_to_the_end_first() -> None:
    """Polished coefficients cost what the vertex does; with large columns there are none."""
    H, labels = separable()
    master = OneNormMaster(hinge(labels, np.full(200, 0.3)))
    master.accuracy = 1e-2
    master.add(columns_of(H))
    coarse, dual = master.solve(), master._live
    assert isinstance(dual, module.RestrictedDual)
    assert not coarse.solved
    polished = dual.polish(None)
    assert polished is not None
    coef, intercept = polished
    objective = np.abs(coef).sum() + master.loss.value(H @ coef + intercept)
    vertex = master.crossover(coarse.coef, float(coarse.intercept))
    assert vertex is not None
    assert vertex.objective < coarse.objective
    assert objective == pytest.approx(vertex.objective, rel=1e-8)
    master.add(columns_of(1e9 * H[:, :1]))
    master.solve()
    assert dual.polish(None) is None


def test_a_run_ends_on_the_vertex_that_the_simplex_finds() -> None:
    """As many columns as with HiGHS, where an interior point keeps every copy of a column.

    The next problem of a path starts from them alone.
    """
    H, labels = separable()
    counts = {}
    for solver in ("auto", "highs"):
        master = OneNormMaster(hinge(labels, np.full(200, 0.3)), solver=solver)
        run = ColumnGeneration(master, FeaturePricer(H), tol=1e-6, columns_per_round=30).run()
        assert run.gap <= 1e-6
        assert run.history["active"][-1] == np.count_nonzero(run.coef)
        assert run.history["objective"][-1] == run.objective
        np.testing.assert_array_equal(master.warm_start.coef, run.coef[run.coef != 0])
        counts[solver] = np.count_nonzero(run.coef)
    assert counts["auto"] == counts["highs"]


@pytest.fixture
def pivots(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pivots of each solve of the simplex, which is asked in every case."""
    found: list[int] = []
    answer = module.DualSession.answer

    def counted(session: module.DualSession, solution: Solution) -> object:
        found.append(solution.iterations)
        return answer(session, solution)

    monkeypatch.setattr(module.DualSession, "answer", counted)
    monkeypatch.setattr(master_module, "unique_vertex", lambda *_: None)
    return found


def test_the_basis_of_the_interior_point_saves_pivots(
    pivots: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simplex takes a third of the pivots that it takes from nothing, or fewer."""
    H, labels = separable(600)
    master = OneNormMaster(hinge(labels, np.ones(600)))
    master.add(columns_of(H[:, :60]))
    state, totals = master.solve(), []
    for suggest in (module.DualSession.suggest, lambda *_: None):
        monkeypatch.setattr(module.DualSession, "suggest", suggest)
        pivots.clear()
        master.crossover(state.coef, float(state.intercept))
        totals.append(sum(pivots))
    assert 3 * totals[0] < totals[1]


def test_a_purified_point_needs_few_pivots(
    pivots: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where many columns do the same work, the first solve takes a tenth of the pivots or fewer."""
    rows = np.random.default_rng(0).normal(size=(150, 4))
    labels = np.where(np.sin(2.0 * rows).sum(axis=1) > 0, 1.0, -1.0)
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    H = np.hstack([np.exp(-gamma * squares) for gamma in (0.5, 1.0, 2.0, 4.0)])
    vertices, first = [], []
    nowhere = np.zeros(0, dtype=np.intp)
    for purified in (module._purified, lambda *given: (*given[3:], nowhere)):
        monkeypatch.setattr(module, "_purified", purified)
        master = OneNormMaster(hinge(labels, np.full(150, 1e3)))
        state = centre(master, H)
        pivots.clear()
        vertex = master.crossover(state.coef, float(state.intercept))
        assert vertex is not None
        first.append(pivots[0])
        vertices.append(vertex)
    assert vertices[0].objective <= vertices[1].objective * (1 + 1e-9)
    assert 10 * first[0] < first[1]


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_what_stays_as_it_is(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of a named solver, of the 2-norm, and where a dense basis would take too long."""
    H, labels = separable()
    loss = hinge(labels, np.full(200, 0.3))
    master = OneNormMaster(loss, solver=solver)
    assert master.crossover(np.ones(0), 0.0) is None
    master.add(columns_of(H))
    state = master.solve()
    assert master.crossover(state.coef, float(state.intercept)) is None
    assert TwoNormMaster(loss).crossover(np.ones(1), 0.0) is None
    master = OneNormMaster(loss)
    state = centre(master, H)
    monkeypatch.setattr(
        "cgboost.masters.support_vector.support_vector_master.MOST_BASIS_COLUMNS", 3
    )
    assert master.crossover(state.coef, float(state.intercept)) is None


def test_a_simplex_that_fails_is_a_master_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of time, the error says so; a vertex that is there stays if the next problem fails."""
    H, labels = separable()
    master = OneNormMaster(hinge(labels, np.full(200, 0.3)))
    state = centre(master, H)

    def late(*_: object) -> object:
        raise LimitError("time limit", status=Status.TIME_LIMIT)

    monkeypatch.setattr(module.DualSession, "charge", late)
    vertex = master.crossover(state.coef, float(state.intercept))
    assert vertex is not None
    assert vertex.objective <= state.objective + 1e-9 * abs(state.objective)
    monkeypatch.setattr(module.DualSession, "solve", late)
    with pytest.raises(MasterError, match="time limit") as caught:
        master.crossover(state.coef, float(state.intercept))
    assert caught.value.timed_out


def test_an_elastic_net_is_left_without_coefficients_of_rounding() -> None:
    """Its optimum is no vertex: the same point, but for coefficients that are 0 up to rounding."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(150, 180))
    labels = np.where(H[:, :9].sum(axis=1) + rng.normal(size=150) > 0, 1.0, -1.0)
    master = SupportVectorMaster(hinge(labels, np.full(150, 10.0)), ElasticNet(0.99))
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-9, columns_per_round=30).run()
    vertex = master.crossover(result.coef, result.intercept)
    assert vertex is not None
    assert vertex.objective == pytest.approx(result.objective, rel=1e-7)
    size = np.abs(vertex.coef)
    assert np.count_nonzero(size) == np.count_nonzero(size > 1e-9 * size.max())
    assert np.count_nonzero(size) < np.count_nonzero(result.coef)


def test_rows_that_no_column_distinguishes_are_one_row_on_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The vertex over columns of two values is that of HiGHS, found by a session of few rows."""
    rng = np.random.default_rng(0)
    H = rng.choice([-1.0, 1.0], size=(2000, 6))
    labels = np.sign(H @ rng.normal(size=6) + rng.normal(size=2000))
    master, plain = (
        OneNormMaster(hinge(labels, np.full(2000, 0.01)), solver=solver)
        for solver in ("auto", "highs")
    )
    state, solve, seen = centre(master, H), module.RestrictedDual.solve, []

    def counted(self: Any, *limits: Any) -> Any:
        seen.append(self.loss.n_rows)
        return solve(self, *limits)

    monkeypatch.setattr(module.RestrictedDual, "solve", counted)
    vertex = master.crossover(state.coef, float(state.intercept))
    assert vertex is not None
    assert 0 < max(seen) <= 2 * 2**6
    assert vertex.objective == pytest.approx(centre(plain, H).objective, rel=1e-9)
    output = H @ vertex.coef + vertex.intercept
    value = np.abs(vertex.coef).sum() + master.loss.value(output)
    assert value == pytest.approx(vertex.objective, rel=1e-12)
    assert free_directions(master, H, vertex) == 0
