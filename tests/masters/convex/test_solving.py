"""`ConvexMaster` and its solvers: which may be asked, and how it fails."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import Priced
from cgboost.masters import ConvexMaster
from cgboost.masters.convex.solve import minimise
from cgboost.pricing import FeaturePricer
from tests.masters.convex.convex_models import (
    N_ROWS,
    data,
    full,
    losses,
)

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


@pytest.mark.parametrize("solver", ["piqp", "clarabel", "cvxpy:CLARABEL", "SCS"])
def test_solvers_agree(solver: str) -> None:
    """Backends of `solvers` and of CVXPY, with and without prefix, reach the same optimum."""
    H, y, labels = data()
    loss = losses(y, labels)["huber"]
    master = ConvexMaster(loss, n_rows=N_ROWS, solver=solver)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-5, columns_per_round=20).run()
    assert result.objective == pytest.approx(full(H, loss, {}), rel=1e-4)


def test_what_cannot_be_solved_is_a_master_error() -> None:
    """Infeasible constraints, an unknown solver and a cone that a QP solver lacks."""
    _, y, labels = data()
    loss = losses(y, labels)
    impossible = ConvexMaster(loss["squared"], None, lambda a, b, f: [f >= 1, f <= 0], n_rows=30)
    with pytest.raises(MasterError, match="infeasible"):
        impossible.solve()
    conic = ConvexMaster(loss["root"], None, lambda a, b, f: [f >= 1, f <= 0], n_rows=30)
    with pytest.raises(MasterError, match="infeasible"):
        conic.solve()
    with pytest.raises(MasterError, match="neither an LP nor a QP"):
        ConvexMaster(loss["root"], n_rows=30, solver="piqp").solve()
    with pytest.raises(MasterError, match="NOSUCH"):
        ConvexMaster(loss["root"], n_rows=30, solver="nosuch").solve()
    with pytest.raises(MasterError, match="not convex"):
        ConvexMaster(loss["root"], None, lambda a, b, f: [cp.norm2(f) >= 1], n_rows=30).solve()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": lambda f: -cp.sum_squares(f)}, "loss must return a convex scalar.*concave"),
        ({"loss": lambda f: cp.square(f)}, "loss must return a convex scalar.*shape"),
        ({"loss": lambda f: 1.0}, "loss must return a CVXPY expression, got 1.0"),
        ({"penalty": lambda a, b: -cp.norm1(a)}, "penalty must return a convex scalar"),
        ({"coef": "positive"}, "coef must be"),
        ({"offset": "penalized"}, "offset must be"),
        ({"threshold": -1.0}, "threshold must be finite and not negative, got -1.0"),
        ({"curvature": np.inf}, "curvature"),
        ({"reach": -2.0}, "reach"),
        ({"constraints": lambda a, b, f: b <= 1}, "constraints must return a list of constraints"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], message: str) -> None:
    """The message says which argument and what was found."""
    with pytest.raises(ValueError, match=message):
        ConvexMaster(**({"loss": cp.sum_squares, "n_rows": 3} | options)).solve()


@pytest.mark.parametrize("wrong", [{"threshold": 2.0}, {"threshold": 1.0, "reach": 0.1}])
def test_a_false_declaration_is_found(wrong: dict[str, float]) -> None:
    """A threshold above the penalty's slope, or a reach that is too small, spoils the bound."""
    H, y, labels = data()
    master = ConvexMaster(
        losses(y, labels)["squared"], lambda a, b: cp.norm1(a), n_rows=N_ROWS, **wrong
    )
    master.add([Column(H[:, j], j) for j in range(4)])
    with pytest.raises(ValueError, match="the bound would be wrong"):
        master.solve()


def test_no_bound_where_the_small_problem_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing solver costs the bound of that round, not the run."""

    def fail(*_: object) -> None:
        raise MasterError("no")

    master = ConvexMaster(cp.sum_squares, n_rows=3)
    state = master.solve()
    monkeypatch.setattr("cgboost.masters.convex.convex_master.lower_bound", fail)
    assert master.bound(state, Priced([], exact=True, max_excess=0.0, total_excess=0.0)) is None


def test_a_time_limit_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """CVXPY's solver gets the limit; running into it is an error that says so."""
    seen: dict[str, Any] = {}

    def solve(self: cp.Problem, **options: Any) -> None:
        seen.update(options)
        self._status = "user_limit"

    monkeypatch.setattr(cp.Problem, "solve", solve)
    with pytest.raises(MasterError, match="user_limit") as caught:
        ConvexMaster(cp.norm2, n_rows=3).solve(time_limit=2.5)
    assert caught.value.timed_out
    assert seen["time_limit"] == 2.5


def test_members_is_one_entry_of_zero_before_the_first_column() -> None:
    """`members` always has the length of a; a column of another length is named."""
    master = ConvexMaster(cp.sum_squares, n_rows=2)
    assert master.members("x").tolist() == [0.0]
    master.add([Column(np.ones(2), 0, stratum="x"), Column(np.ones(2), 1)])
    assert master.members("x").tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="column 'long' has shape"):
        master.add([Column(np.ones(4), "long")])


@pytest.mark.parametrize("solver", ["PIQP", "cvxpy:PIQP", "piqp", "CLARABEL"])
def test_a_penalty_of_products_is_not_bounded_away(solver: str) -> None:
    """A penalty pos(c − w∘Ma), of which CVXPY makes a constant for solvers that take bounds."""
    rng = np.random.default_rng(0)
    H, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    M, w = rng.normal(size=(5, 3)), np.ones(5)

    def penalty(a: Any, b: Any) -> Any:
        return cp.sum(cp.pos(1 - cp.multiply(w, M[:, : a.size] @ a))) + cp.norm1(a)

    master = ConvexMaster(lambda f: cp.sum_squares(f - y), penalty, n_rows=20, solver=solver)
    master.add([Column(values, key=j) for j, values in enumerate(H.T)])
    a, b = cp.Variable(3), cp.Variable()
    full = cp.Problem(cp.Minimize(cp.sum_squares(H @ a + b - y) + penalty(a, b)))
    full.solve(solver=cp.CLARABEL)
    assert master.solve().objective == pytest.approx(float(full.value), rel=1e-6)


@pytest.mark.parametrize("options", [None, {"max_iter": 50_000}])
def test_osqp_is_silent(capfd: pytest.CaptureFixture[str], options: Any) -> None:
    """OSQP prints nothing, also where no row is active and its polishing would say so."""
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, np.eye(3)) + x[0]), [x <= 100])
    minimise(problem, "OSQP", None, options)
    np.testing.assert_allclose(x.value, [-0.5, 0, 0], atol=1e-6)
    assert capfd.readouterr().out == ""
