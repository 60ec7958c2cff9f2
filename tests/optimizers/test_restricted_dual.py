"""Working sets of rows and columns: leaving things out never changes the answer."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import Quantile, epsilon_insensitive, hinge
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.reductions.reduction import Problem
from cgboost.optimizers.restricted_dual import RestrictedDual, sample_of
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.optimizers.solver_choice import live_problem
from cgboost.penalties import L1, L2
from cgboost.penalties.penalty import DualForm
from cgboost.pricing import FeaturePricer
from tests.optimizers.cases import eager
from tests.problems import FORMULATIONS, Formulation, random_problem

MAIN = Formulation("hinge", "l1", "free", "free")


def test_the_working_sets_are_really_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables are fixed and freed on the way, also where those kept cannot meet the rows."""
    counts = dict.fromkeys(["unfix", "fix", "_unfix_nearest"], 0)

    def count(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def counting(self: object, *arguments: object) -> object:
            counts[name] += 1
            return original(self, *arguments)

        monkeypatch.setattr(owner, name, counting)

    count(DualSession, "unfix")
    count(DualSession, "fix")
    count(RestrictedDual, "_unfix_nearest")
    problem = random_problem(4)
    with eager():
        for formulation in FORMULATIONS:
            solver = {"l1": "highs", "l2": "piqp"}[formulation.penalty]
            master = formulation.master(problem.loss(formulation), solver)
            pricer = FeaturePricer(problem.H)
            ColumnGeneration(master, pricer, tol=1e-8, columns_per_round=2).run()
    assert min(counts.values()) > 10


def run(H: np.ndarray, y: np.ndarray, solver: str, at_once: int) -> tuple[Any, Any]:
    """The session and the result of a run that leaves out what it can."""
    loss = hinge(np.where(y > 0, 1.0, -1.0), np.ones(len(y)))
    master = MAIN.master(loss, solver)
    with eager():
        result = ColumnGeneration(
            master, FeaturePricer(H), tol=1e-8, columns_per_round=at_once
        ).run()
    return master._live.session, result


def test_what_leaves_the_session_stays_in_the_answer() -> None:
    """Idle columns have coefficient 0 and no row there; most variables end up outside it."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 40))
    session, result = run(H, H[:, 0] + H[:, 1] + rng.normal(size=60), "highs", 5)
    held = session.constraints[session.constraints >= 0]
    inactive = np.setdiff1d(np.arange(len(result.coef)), held)
    assert inactive.size > 0
    assert np.all(result.coef[inactive] == 0)
    assert session._session.n_rows == len(session.constraints)
    assert session._session.n_columns == len(session.kept)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + 0.3 * rng.normal(size=200)
    session, result = run(X, y, "auto", 1)
    assert len(session.kept) < 100
    output = X[:, [column.key[1] for column in result.columns]] @ result.coef + result.intercept
    errors = np.maximum(0, 1 - np.where(y > 0, 1.0, -1.0) * output)
    assert result.objective == pytest.approx(np.abs(result.coef).sum() + errors.sum(), rel=1e-12)


def test_variables_of_hinge_and_tube() -> None:
    """One variable a row for the hinge, two for the tube, none for a row of weight zero."""
    price = np.array([1.0, 0.0, 2.0])
    labels = np.array([1.0, 1.0, -1.0])
    margin = hinge(labels, price).variables
    np.testing.assert_array_equal(margin.row, [0, 2])
    np.testing.assert_array_equal(margin.sign, [1, -1])
    np.testing.assert_array_equal(margin.costs, [1, 2])
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
    np.testing.assert_allclose(one.variables.response(one.variables.costs), loss.upper)
    output = np.array([3.0, 1.0, -1.0])
    assert one.value(output) == pytest.approx(loss.value(output), rel=1e-15)
    assert one.shrinks
    tube = replace(epsilon_insensitive(target, price, 0.1), from_lower=True)
    assert len(tube.variables) == 4
    for penalty, count in ((L1(), 2), (L2(), 4)):
        dual = live_problem(Problem(loss, DualForm(penalty)), "auto", None, FreeColumns([]))
        assert len(dual.variables) == count


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "sampled"),
    [
        *((10**5, 10, True), (10**6, 50, True), (10**6, 1, True)),
        *((100, 10, False), (5000, 1, False), (5000, 5000, False), (0, 1, False)),
    ],
)
def test_a_sample_of_rows_is_much_smaller_or_none(
    n_rows: int, n_columns: int, sampled: bool
) -> None:
    """Rows in order, none twice, and few of all are near; where the problem is small, no sample."""
    rows, near = sample_of(n_rows, n_columns)
    if not sampled:
        assert (rows.size, near) == (0, 1.0)
        return
    assert 10 * n_columns < len(rows) < n_rows / 4
    assert np.all(np.diff(rows) > 0)
    assert 0 < near < 0.25
