"""Working sets of rows and columns: leaving things out never changes the answer."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cgboost.optimizers.working_set as restricted_dual
from cgboost import ColumnGeneration
from cgboost.exceptions import SlowSolverWarning
from cgboost.losses import Quantile, epsilon_insensitive, hinge
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.optimizers.working_set import RestrictedDual
from cgboost.penalties import L1, L2
from cgboost.penalties.base import DualForm
from cgboost.pricing import FeaturePricer
from solvers import SolverFailure
from tests.effort import examples
from tests.problems import FORMULATIONS, Formulation, columns_of, random_problem


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix and deactivate at the first opportunity, however small the problem."""
    monkeypatch.setattr(restricted_dual, "CALM", 0.0)
    monkeypatch.setattr(restricted_dual, "LEAST_SHARE", 0.0)
    monkeypatch.setattr(restricted_dual, "SLACK_ROUNDS", 1)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often variables were fixed and freed, and columns deactivated and fetched back."""
    counted: dict[str, int] = {}

    def count(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def counting(self: object, *arguments: object) -> object:
            counted[name] = counted.get(name, 0) + 1
            return original(self, *arguments)

        monkeypatch.setattr(owner, name, counting)

    count(DualSession, "free")
    count(DualSession, "fix")
    count(RestrictedDual, "_free_nearest")
    return counted


BACKENDS = {"l1": "highs", "l2": "piqp"}


@pytest.mark.parametrize("own", [True, False], ids=["own method", "backend"])
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@settings(max_examples=examples(5))
@given(seed=st.integers(0, 10**6), columns_per_round=st.sampled_from([1, 3]))
def test_eager_working_sets_reach_the_full_optimum(
    formulation: Formulation, own: bool, seed: int, columns_per_round: int
) -> None:
    """With idle rows fixed and slack columns inactive at once, the optimum is the same."""
    solver = "auto" if own else BACKENDS[formulation.penalty]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(restricted_dual, "CALM", 0.0)
        patch.setattr(restricted_dual, "LEAST_SHARE", 0.0)
        patch.setattr(restricted_dual, "SLACK_ROUNDS", 1)
        problem = random_problem(seed)
        master = formulation.master(problem.loss(formulation), solver)
        pricer = FeaturePricer(problem.H)
        result = ColumnGeneration(
            master, pricer, tol=1e-8, columns_per_round=columns_per_round
        ).run()
    assert result.objective == pytest.approx(problem.optimum(formulation), rel=1e-6, abs=1e-6)
    assert result.gap <= 1e-6


@pytest.mark.usefixtures("eager")
def test_the_working_sets_are_really_used(counts: dict[str, int]) -> None:
    """Variables are fixed and freed on the way, also where those kept cannot meet the rows."""
    for formulation in FORMULATIONS:
        problem = random_problem(4)
        solver = BACKENDS[formulation.penalty]
        master = formulation.master(problem.loss(formulation), solver)
        ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8, columns_per_round=2).run()
    assert min(counts[name] for name in ("free", "fix", "_free_nearest")) > 10


def test_idle_columns_leave_the_session_and_stay_in_the_answer(eager: None) -> None:
    """Parked columns have coefficient 0 and no row in the session; none of them is violated."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 40))
    labels = np.where(H[:, 0] + H[:, 1] + rng.normal(size=60) > 0, 1.0, -1.0)
    master = Formulation("hinge", "l1", "free", "free").master(hinge(labels, np.ones(60)), "highs")
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=5).run()
    session = master._dual.session
    held = session.rows[session.rows >= 0]
    inactive = np.setdiff1d(np.arange(len(result.coef)), held)
    assert inactive.size > 0
    assert np.all(result.coef[inactive] == 0)
    assert session._session.n_rows == len(session.rows)
    assert session._session.n_columns == len(session.kept)


def test_a_frozen_session_holds_fewer_variables(eager: None) -> None:
    """On 200 rows most variables end up outside the session, and the answer covers all of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    labels = np.where(X[:, 0] + 0.3 * rng.normal(size=200) > 0, 1.0, -1.0)
    master = Formulation("hinge", "l1", "free", "free").master(hinge(labels, np.ones(200)))
    result = ColumnGeneration(master, FeaturePricer(X), tol=1e-8).run()
    assert len(master._dual.session.kept) < 100
    output = X[:, [column.key[1] for column in result.columns]] @ result.coef + result.intercept
    objective = np.abs(result.coef).sum() + np.maximum(0, 1 - labels * output).sum()
    assert result.objective == pytest.approx(objective, rel=1e-12)


def test_variables_of_hinge_and_tube() -> None:
    """One variable a row for the hinge, two for the tube, none for a row of weight zero."""
    price = np.array([1.0, 0.0, 2.0])
    labels = np.array([1.0, 1.0, -1.0])
    margin = hinge(labels, price).variables
    np.testing.assert_array_equal(margin.row, [0, 2])
    np.testing.assert_array_equal(margin.sign, [1, -1])
    np.testing.assert_array_equal(margin.cap, [1, 2])
    tube = epsilon_insensitive(labels, price, 0.1).variables
    np.testing.assert_array_equal(tube.row, [0, 2, 0, 2])
    np.testing.assert_array_equal(tube.response(np.array([1.0, 0.5, 0.25, 0.0])), [0.75, 0, 0.5])
    output = np.array([0.5, 0.0, -3.0])
    np.testing.assert_allclose(margin.rate(output), [0.5, -2.0])
    np.testing.assert_allclose(tube.rate(output), [0.4, 1.9, -0.6, -2.1])


def test_a_row_of_one_kink_has_one_variable_from_the_lower_end() -> None:
    """In linear programs, and the loss stays the same; a tube has two kinks and two variables."""
    target, price = np.array([1.0, -2.0, 0.5]), np.array([1.0, 0.0, 2.0])
    loss = Quantile(0.2).dual_box(target, price)
    one = replace(loss, from_lower=True)
    np.testing.assert_array_equal(loss.variables.row, [0, 2, 0, 2])
    np.testing.assert_array_equal(one.variables.row, [0, 2])
    np.testing.assert_allclose(one.variables.response(np.zeros(2)), loss.lower)
    np.testing.assert_allclose(one.variables.response(one.variables.cap), loss.upper)
    output = np.array([3.0, 1.0, -1.0])
    assert one.value(output) == pytest.approx(loss.value(output), rel=1e-15)
    assert one.shrinks
    tube = replace(epsilon_insensitive(target, price, 0.1), from_lower=True)
    assert len(tube.variables) == 4
    for penalty, count in ((L1(), 2), (L2(), 4)):
        assert len(RestrictedDual(loss, DualForm(penalty), "auto").variables) == count


@pytest.mark.parametrize(("n_rows", "warns"), [(2000, True), (20, False)])
def test_a_backend_in_place_of_the_own_method_is_announced_where_it_costs(
    monkeypatch: pytest.MonkeyPatch, n_rows: int, warns: bool
) -> None:
    """The warning names both, and small problems, which take no time either way, give none."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(n_rows, 60))
    labels = np.where(H[:, 0] + rng.normal(size=n_rows) > 0, 1.0, -1.0)
    master = Formulation("hinge", "l1", "free", "free").master(hinge(labels, np.ones(n_rows)))
    master.add(columns_of(H))

    def failing(self: object, time_limit: float | None) -> object:
        raise SolverFailure("toy: no progress")

    monkeypatch.setattr(InteriorSession, "solve", failing)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        master.solve()
    messages = [str(w.message) for w in caught if w.category is SlowSolverWarning]
    assert len(messages) == warns
    for message in messages:
        assert "interior point method could not go on (toy: no progress)" in message
        assert "general solver of linear programs" in message
