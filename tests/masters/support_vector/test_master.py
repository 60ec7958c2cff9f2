"""The 24 formulations of the main job against the full problem and an independent solver."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import Result
from cgboost.generation.protocols import Priced
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.masters.support_vector.master import COARSE_SETBACKS, SETBACKS
from cgboost.pricing import FeaturePricer
from solvers import available_backends, get_backend
from tests.effort import examples
from tests.problems import FORMULATIONS, Formulation, Problem, assert_certified, random_problem


def generate(problem: Problem, formulation: Formulation, **options: object) -> Result:
    """Run the loop over the columns of H."""
    solver = options.pop("solver", "auto")
    options = {"tol": 1e-8, "columns_per_round": 3} | options
    master = formulation.master(problem.loss(formulation), solver)
    return ColumnGeneration(master, FeaturePricer(problem.H), **options).run()


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@settings(max_examples=examples(12))
@given(seed=st.integers(0, 10**6), columns=st.sampled_from([1, 3, 5, 50]))
def test_reaches_the_full_problem_with_valid_bounds(
    formulation: Formulation, seed: int, columns: int
) -> None:
    """The optimum, within bounds in every round, with any number of columns a round.

    With coef="nonneg" every coefficient of every round is at least 0.
    """
    problem = random_problem(seed)
    result = generate(problem, formulation, columns_per_round=columns)
    assert_certified(result, problem.optimum(formulation))
    if formulation.coef == "nonneg":
        assert all((coef >= 0).all() for coef, _ in result.path)


@pytest.mark.parametrize(
    ("formulation", "solver"),
    [
        (formulation, solver)
        for formulation in FORMULATIONS
        for solver in available_backends("lp")  # all masters begin without a quadratic cost
        if formulation.penalty == "l1" or "qp" in get_backend(solver).capabilities
    ],
    ids=str,
)
def test_every_backend_reaches_the_same_objective(formulation: Formulation, solver: str) -> None:
    """Each backend that can solve a formulation finds its optimum within its own tolerance."""
    problem = random_problem(7)
    tol = 1e-5 if "exact" in get_backend(solver).capabilities else 2e-3
    result = generate(problem, formulation, solver=solver, tol=tol)
    assert result.objective == pytest.approx(problem.optimum(formulation), rel=2 * tol, abs=tol)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_optimality_conditions_hold_at_the_end(formulation: Formulation) -> None:
    """R stays in the loss's box, balances a free offset, and prices every column correctly."""
    problem = random_problem(3)
    loss = problem.loss(formulation)
    states = []
    generate(problem, formulation, callbacks=[lambda turn: states.append(turn.state)])
    state = states[-1]
    response, scores = state.pseudo_response, problem.H.T @ state.pseudo_response
    assert np.all(response >= loss.lower)
    assert np.all(response <= loss.upper)
    if formulation.offset == "free":
        assert abs(response.sum()) < 1e-9 * max(1.0, np.abs(response).sum())
    if formulation.penalty == "l1":
        largest = np.abs(scores).max() if formulation.coef == "free" else scores.max()
        assert largest <= 1.0 + 1e-6
    else:
        coef = np.zeros(problem.H.shape[1])
        coef[[column.key[1] for column in state.columns]] = state.coef
        wanted = scores if formulation.coef == "free" else np.maximum(scores, 0.0)
        np.testing.assert_allclose(coef, wanted, atol=2e-4 * max(1.0, np.abs(scores).max()))
    outside_tube = state.slack > 1e-4
    ends = np.where(response > 0, loss.upper, loss.lower)
    np.testing.assert_allclose(response[outside_tube], ends[outside_tube], atol=1e-3)


def test_sample_weights_multiply_the_price_row_by_row() -> None:
    """An integer price on a row is the same problem as repeating the row."""
    problem = random_problem(21)
    counts = np.arange(len(problem.target)) % 3 + 1
    weighted = Problem(problem.H, problem.target, 1.0 * counts, 0.1)
    repeated = Problem(
        np.repeat(problem.H, counts, axis=0),
        np.repeat(problem.target, counts),
        np.ones(counts.sum()),
        0.1,
    )
    for formulation in FORMULATIONS:
        expected = generate(repeated, formulation).objective
        assert generate(weighted, formulation).objective == pytest.approx(expected, rel=1e-6)


def test_columns_of_any_scale_are_solved() -> None:
    """Columns of size 1e-6 and 1e6 side by side do not spoil the certificate."""
    problem = random_problem(13)
    scaled = Problem(
        problem.H * 10.0 ** np.linspace(-6, 6, problem.H.shape[1]),
        problem.target,
        problem.price,
        problem.epsilon,
    )
    formulation = Formulation("hinge", "l1", "free", "free")
    result = generate(scaled, formulation)
    assert result.gap <= 1e-7
    assert result.objective == pytest.approx(scaled.optimum(formulation), rel=1e-5, abs=1e-6)


def test_a_failing_first_solve_is_a_master_error_with_the_solvers_words() -> None:
    """Without any good round the solver's failure reaches the caller, named."""
    problem = random_problem(1)
    master = FORMULATIONS[0].master(problem.loss(FORMULATIONS[0]), solver="highs")

    class Broken:
        def __getattr__(self, name: str) -> object:
            from solvers import SolverFailure

            raise SolverFailure("numerical trouble")

    master._dual.session._session = Broken()
    with pytest.raises(MasterError, match="numerical trouble"):
        ColumnGeneration(master, FeaturePricer(problem.H)).run()


def test_an_objective_never_rises() -> None:
    """A solver whose answers get worse does not make the model worse, and is given up at last."""
    problem = random_problem(2)
    formulation = Formulation("hinge", "l2", "free", "free")
    master = formulation.master(problem.loss(formulation))
    original = master._dual.solve
    worsen = [False]

    def worsening(*limits: float | None) -> object:
        point = original(*limits)
        return replace(point, output=point.output + 100.0) if worsen[0] else point

    master._dual.solve = worsening
    before = master.solve()
    columns = [FeaturePricer(problem.H).pool.column(0, j) for j in range(2)]
    master.add(columns)
    worsen[0] = True
    after = master.solve()
    assert after.objective == before.objective
    np.testing.assert_array_equal(after.coef, [0.0, 0.0])
    for _ in range(SETBACKS - 2):
        assert master.solve().objective == before.objective
    with pytest.raises(
        MasterError,
        match="10 answers of the solver were worse than the one before them; name another solver",
    ):
        master.solve()
    worsen[0] = False
    assert master.solve().objective < before.objective


def test_coarse_answers_may_be_worse_more_often() -> None:
    """They are coarse on purpose, so that 25 in a row, and not 10, mean that the solver is lost."""
    problem = random_problem(2)
    formulation = Formulation("hinge", "l2", "free", "free")
    master = formulation.master(problem.loss(formulation))
    original = master._dual.solve
    master.solve()
    master._dual.solve = lambda *limits: replace(
        (point := original(*limits)), output=point.output + 100.0, solved=False
    )
    for _ in range(COARSE_SETBACKS - 1):
        master.solve()
    with pytest.raises(MasterError, match="25 answers of the solver were worse"):
        master.solve()


def test_a_bound_that_rises_is_progress() -> None:
    """Worse answers with better and better duals do not end a run; the count starts anew."""
    problem = random_problem(2)
    formulation = Formulation("hinge", "l2", "free", "free")
    master = formulation.master(problem.loss(formulation))
    original = master._dual.solve
    worse = [0.0]
    master._dual.solve = lambda *limits: replace(
        (point := original(*limits)), output=point.output + worse[0]
    )
    master.solve()
    worse[0] = 100.0
    for excess in (3.0, 2.0, 1.0, 0.0):
        for _ in range(SETBACKS - 1):
            state = master.solve()
        master.bound(state, Priced([], exact=True, max_excess=excess, total_excess=excess))
    for _ in range(SETBACKS - 1):
        master.solve()
    with pytest.raises(MasterError, match="neither objective nor bound move"):
        master.solve()


def test_two_norm_with_columns_of_large_scale_is_certified() -> None:
    """Columns of size 1e3 beside others of size 1 are solved in a unit that fits them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    H = np.hstack([X, 1e3 * X**2, 30 * X[:, :1] * X])
    target = np.where(X[:, 0] + 0.2 * rng.normal(size=80) > 0, 1.0, -1.0)
    formulation = Formulation("hinge", "l2", "free", "free")
    problem = Problem(H, target, np.ones(80), 0.0)
    result = generate(problem, formulation, tol=1e-6)
    assert result.gap <= 1e-6
    assert np.all(np.diff(result.history["objective"]) <= 1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coef": "bar"}, "coef must be one of .* got 'bar'"),
        ({"offset": "foo"}, "offset must be one of .* got 'foo'"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, str], message: str) -> None:
    """Masters check their words as estimators do."""
    with pytest.raises(ValueError, match=message):
        OneNormMaster(hinge(np.array([1.0, -1.0]), np.ones(2)), **options)


def test_a_column_of_the_wrong_length_is_named() -> None:
    """The error names the column, its shape and the rows of the master."""
    master = OneNormMaster(hinge(np.array([1.0, -1.0]), np.ones(2)))
    with pytest.raises(ValueError, match=r"column 'x' has shape \(3,\), the master has 2 rows"):
        master.add([Column(np.ones(3), "x")])
    with pytest.raises(ValueError, match="X has 5 rows, the master has 2"):
        ColumnGeneration(master, FeaturePricer(np.ones((5, 2)))).run()
