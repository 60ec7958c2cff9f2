"""The general linear master: phases, bounds, infeasibility, and its integer step."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import Result, StopReason
from cgboost.generation.protocols import Priced
from cgboost.generation.stabilization import NoSmoothing, Wentges
from cgboost.masters import LinearMaster, solve_integer
from cgboost.masters.linear import integer
from solvers import LimitError, Program, Solution, Status, available_backends, get_backend
from tests.effort import WHOLE
from tests.masters.linear.linear_problems import Family, bounded, convex, covering, full_optimum


def unit(j: int, n: int = 2, **own: Any) -> Column:
    """A column of one row."""
    return Column(np.eye(n)[j], j, **own)


@pytest.mark.parametrize("smoothing", [NoSmoothing(), Wentges(), Wentges(0.9, 1.0)])
@pytest.mark.parametrize("problem", [covering, convex, bounded])
@pytest.mark.parametrize("seed", range(16))
def test_the_full_problem_is_reached_within_valid_bounds(
    seed: int, problem: Any, smoothing: Any
) -> None:
    """Bound ≤ optimum ≤ objective in every round; infeasible exactly if the whole is.

    Farley's bound of rows to be covered, Lagrange's with a count per convexity row, and columns
    with upper bounds of which the pricer leaves out the capped ones.
    """
    master, family = problem(seed)
    optimum = full_optimum(master, family)
    result = ColumnGeneration(master, family, tol=1e-9, smoothing=smoothing).run()
    if math.isinf(optimum):
        assert result.stop_reason is StopReason.INFEASIBLE
        assert result.objective == math.inf
        return
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    assert result.objective == pytest.approx(optimum, rel=1e-7, abs=1e-7)
    assert (result.history["objective"] >= optimum - 1e-6).all()
    assert (result.history["bound"] <= optimum + 1e-6 * max(1.0, abs(optimum))).all()
    if problem is convex:
        assert result.gap <= 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_upper_bounds_without_that_care_are_reached_but_hardly_proven(seed: int) -> None:
    """Capped columns hide no new one, the bounds hold, and the message says what is missing."""
    master, family = bounded(seed)
    optimum = full_optimum(master, family)
    result = ColumnGeneration(master, family.careless, tol=1e-9).run()
    assert result.objective == pytest.approx(optimum, rel=1e-7, abs=1e-7)
    assert (result.history["bound"] <= optimum + 1e-6 * max(1.0, abs(optimum))).all()
    if result.gap > 1e-9:
        assert result.stop_reason is StopReason.ONLY_DUPLICATES
        assert "duals.capped" in result.message


def test_columns_with_upper_bounds_that_the_pricer_reports_or_leaves_out() -> None:
    """All copies taken by columns at their bounds close the gap; a cheap one is used up."""
    master = LinearMaster(["pick"], "==", 1.5, copies={"pick": 1.5})
    master.add([Column(np.ones(1), name, cost=1.0, upper=0.75) for name in "ab"])
    state = replace(master.solve(), pseudo_response=np.array([3.0]))
    for reduced in (-2.0, 0.0):
        priced = Priced([], exact=True, reduced_cost={"pick": reduced})
        assert master.bound(state, priced) == pytest.approx(state.objective)
    dear = Column(np.ones(1), "dear", cost=3.0)
    master = LinearMaster(1, ">=", 5.0, least_cost=1.0)
    master.add([Column(np.ones(1), "cheap", cost=1.0, upper=2.0)])

    def price(duals: np.ndarray) -> Any:
        reduced = 3.0 - duals[0]
        return ([dear] if reduced < -1e-9 else []), reduced

    result = ColumnGeneration(master, price, tol=1e-9).run()
    assert result.stop_reason is StopReason.OPTIMAL
    assert (result.objective, result.bound) == (pytest.approx(11.0), pytest.approx(11.0))
    np.testing.assert_allclose(result.coef, [2.0, 3.0])


@pytest.mark.parametrize("solver", available_backends("lp"))
@pytest.mark.parametrize("problem", [covering, convex, bounded])
def test_every_backend_reaches_the_full_problem(problem: Any, solver: str) -> None:
    """Phases, bounds and infeasibility; who gives up says so and leaves valid bounds.

    Only a first-order method may give up, or stop at a relative error of 1e-6.
    """
    is_exact = "exact" in get_backend(solver).capabilities
    tolerance = 1e-8 if is_exact else 1e-6
    for seed in range(8 if WHOLE else 3):
        master, family = problem(seed, solver=solver, park_after=2)
        optimum = full_optimum(master, family)
        result = ColumnGeneration(master, family, tol=tolerance).run()
        bounds = result.history["bound"]
        if result.stop_reason is StopReason.MASTER_FAILED:
            assert not is_exact
            assert result.objective >= optimum - tolerance * max(1.0, abs(optimum))
        elif math.isinf(optimum):
            assert result.stop_reason is StopReason.INFEASIBLE
        else:
            assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
            assert result.objective == pytest.approx(optimum, rel=tolerance, abs=tolerance)
        assert not (bounds > optimum + tolerance * max(1.0, abs(optimum))).any()


@pytest.mark.parametrize("seed", range(10))
def test_a_count_over_all_columns_bounds_as_well(seed: int) -> None:
    """One number of copies for all columns is weaker than one per row, and valid."""
    by_row, family = convex(seed)
    rows = by_row.constraints
    total = LinearMaster(rows.names, list(rows.senses), rows.rhs, copies=rows.rhs[:2].sum())
    for master in (by_row, total):
        master.add(family.columns[:2])
    state = total.solve()
    reduced = family.cost - state.pseudo_response @ family.H
    least = {"first": reduced[::2].min(), "second": reduced[1::2].min()}
    priced = Priced([], exact=True, reduced_cost=least)
    in_all, per_row = total.bound(state, priced), by_row.bound(state, priced)
    assert in_all <= per_row + 1e-9
    assert per_row <= full_optimum(by_row, family) + 1e-6


def test_an_infeasible_master_names_its_rows_and_the_cost_it_proves() -> None:
    """No column meets "steel": the run says so, keeps the shortfall, and bounds the cost.

    A heuristic that finds nothing proves nothing.
    """
    master = LinearMaster(["wood", "steel"], ">=", [2.0, 3.0], least_cost=1.0)
    family = Family(np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([1.0, 1.5]))
    result = ColumnGeneration(master, family).run()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert "'steel' (by 3)" in result.message
    assert "wood" not in result.message
    assert result.bound >= 1e6
    assert result.gap == math.inf
    assert "inf" in result.summary()
    result = ColumnGeneration(LinearMaster(1, ">=", 1.0), lambda duals: []).run()
    assert result.stop_reason is StopReason.NO_COLUMN
    assert result.objective == math.inf


@pytest.mark.parametrize("seed", range(10))
def test_columns_of_negative_cost_do_not_hide_that_a_master_is_infeasible(seed: int) -> None:
    """The pricer offers them again and again, as the rows can be met by none."""
    master, family = convex(seed)
    rhs = np.r_[master.constraints.rhs[:2], master.constraints.rhs[2:] / 2]
    master = LinearMaster(master.rows, list(master.constraints.senses), rhs, copies=master.copies)
    family = Family(family.H, -1.0 - np.abs(family.cost), family.groups)
    assert full_optimum(master, family) == math.inf
    result = ColumnGeneration(master, family).run()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert result.bound > 1e3


def test_masters_that_need_no_first_phase() -> None:
    """Initial columns meet the rows, or x = 0 does: the first objective is finite."""
    master = LinearMaster(2, ">=", [4.0, 6.0])
    master.add([unit(i, cost=2.0) for i in range(2)])
    state = master.solve()
    assert state.objective == pytest.approx(20.0)
    np.testing.assert_allclose(state.pseudo_response, [2.0, 2.0])
    np.testing.assert_allclose(state.output, [4.0, 6.0])
    state = LinearMaster(3, ["<=", ">=", "=="], [1.0, -1.0, 0.0]).solve()
    assert state.objective == 0.0
    np.testing.assert_array_equal(state.slack, 0.0)


def test_without_copies_or_least_cost_only_an_end_gives_a_bound() -> None:
    """The dual objective where nothing is cheaper than 0; else None, never 0."""
    master, other = LinearMaster(1, ">=", 1.0), LinearMaster(1, ">=", 1.0, least_cost=1.0)
    column = unit(0, 1, cost=1.0)
    master.add([column])
    state = master.solve()
    assert master.bound(state, Priced([], exact=True, reduced_cost=0.0)) == 1.0
    for own, priced in (
        (master, Priced([], exact=True, reduced_cost=-0.1)),
        (master, Priced([], exact=True)),
        (master, Priced([column], exact=True, reduced_cost=0.0)),
        (other, Priced([], exact=True)),
    ):
        assert own.bound(state, priced) is None


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((2, "<", 1.0), {}, "sense must be"),
        ((2, ["<="], 1.0), {}, "1 entries, there are 2 rows"),
        ((["a", "a"], "<=", 1.0), {}, "names that differ"),
        ((2, "<=", [1.0, math.nan]), {}, "rhs must be finite"),
        ((2, "<=", 1.0), {"least_cost": 0.0}, "least_cost must be positive"),
        ((2, "<=", 1.0), {"park_after": 0}, "park_after must be at least 1 or None"),
        ((2, "<=", 1.0), {"copies": {"x": 1.0}}, "rows that do not exist"),
        ((2, "<=", 1.0), {"copies": math.inf}, "finite and not negative"),
    ],
)
def test_bad_arguments_are_named(arguments: Any, options: Any, words: str) -> None:
    """Each bad argument is refused with its value."""
    with pytest.raises(ValueError, match=words):
        LinearMaster(*arguments, **options)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Column(np.ones(3), 0), "the master has 2 rows"),
        (Column(np.array([1.0, math.nan]), 0), "not finite"),
        (Column(np.ones(2), 0, cost=math.inf), "not finite"),
        (Column(np.ones(2), 0, upper=-1.0), "upper bound -1"),
    ],
)
def test_bad_columns_are_refused(column: Column, words: str) -> None:
    """Wrong length, NaN or negative bound never reach the solver; without a limit it says so."""
    master = LinearMaster(2, ">=", 1.0)
    with pytest.raises(ValueError, match=words):
        master.add([column])
    assert master.columns == []
    master.add([Column(np.ones(2), 0, cost=-1.0)])
    with pytest.raises(MasterError, match=r"(?i)unbounded"):
        master.solve()


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-3, 1e6])
def test_costs_of_any_size_have_the_same_optimum(size: float) -> None:
    """Costs times a unit make objective, bound and rounds those of costs near 1, times the unit."""
    rng = np.random.default_rng(0)
    A = rng.integers(0, 4, size=(12, 60)).astype(float)
    A = np.hstack([A, 3.0 * np.eye(12)])
    costs, rhs = rng.uniform(0.5, 2.0, size=72), rng.uniform(1.0, 9.0, size=12)

    def solved(size: float) -> Result:
        master = LinearMaster(12, ">=", rhs, least_cost=size * costs.min())

        def price(duals: np.ndarray) -> tuple[list[Column], float]:
            reduced = size * costs - duals @ A
            best = int(np.argmin(reduced))
            column = Column(A[:, best], ("pool", best), cost=size * costs[best])
            return [column] if reduced[best] < -1e-9 * size else [], float(reduced[best])

        return ColumnGeneration(master, price, tol=1e-9).run()

    result = solved(size)
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.gap <= 1e-9
    exact = linprog(costs, A_ub=-A, b_ub=-rhs).fun
    assert result.objective / size == pytest.approx(exact, rel=1e-9)


# ---------------------------------------------------------------------- the integer step


def packing() -> tuple[LinearMaster, Any]:
    """Three items of which any two fit together: 1.5 in fractions, 2 in integers."""
    master = LinearMaster(3, ">=", 1.0, least_cost=1.0)
    pairs = [(0, 1), (1, 2), (0, 2)]
    master.add(
        [Column(np.isin(np.arange(3), pair).astype(float), pair, cost=1.0) for pair in pairs]
    )
    return master, ColumnGeneration(master, lambda duals: ([], 0.0)).run()


def test_the_integer_step_reports_its_gap() -> None:
    """The integer solution is feasible, at least the bound, the gap says by how much.

    Its repr is short, whatever the number of columns.
    """
    master, result = packing()
    assert result.objective == pytest.approx(1.5)
    found = solve_integer(master, result)
    assert (found.objective, found.proven, found.gap) == (2.0, True, pytest.approx(0.25))
    assert "heuristic" in found.summary()
    cover = sum(x * c.values for x, c in zip(found.coef, found.columns, strict=True))
    assert (cover >= 1).all()
    large = replace(found, columns=1000 * found.columns, coef=np.tile(found.coef, 1000))
    assert repr(large) == repr(found)
    assert len(repr(found)) < 200


def test_which_columns_of_the_integer_step_are_integers() -> None:
    """Those that are not stay continuous, and those that only work in fractions are an error.

    A column that the relaxation has deactivated is there for the solution that needs it.
    """

    def solved(sense: str, rhs: float, *columns: Column, **own: Any) -> Any:
        master = LinearMaster(1, sense, rhs, **own)
        master.add(columns)
        result = ColumnGeneration(master, lambda duals: []).run()
        return master, result, lambda: solve_integer(master, result)

    continuous = Column(np.ones(1), "a", cost=1.0, integer=False)
    assert solved(">=", 2.5, continuous)[2]().objective == pytest.approx(2.5)
    with pytest.raises(MasterError, match="no integer solution"):
        solved("==", 1.0, Column(np.full(1, 2.0), "a", cost=1.0))[2]()
    large = Column(np.full(1, 4.0), "large", cost=4.0)
    exact = Column(np.full(1, 3.0), "exact", cost=3.3)
    master, result, step = solved(">=", 3.0, large, exact, park_after=1)
    assert master.n_parked == 1
    assert result.objective == pytest.approx(3.0)
    found = step()
    assert found.objective == pytest.approx(3.3)
    assert [column.key for column in found.columns] == ["large", "exact"]


@pytest.mark.parametrize("x", [[1.0, 1.0, 1.0 - 1e-9], None, [1.0, 0.0, 0.0]], ids=str)
def test_an_integer_step_out_of_time(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best point so far is rounded and returned, as found and not as proven.

    No point, or one that misses a row, is never passed off as a solution.
    """
    master, result = packing()

    def stopped(program: Program, solver: str, **limits: Any) -> Solution:
        nothing, own = np.full(1, np.nan), None if x is None else np.array(x)
        numbers = (own, 0.0 if own is None else float(program.cost @ own), nothing, nothing)
        point = Solution(Status.TIME_LIMIT, *numbers, 0, 0.0, "", "", lambda: program)
        solution = None if own is None else point
        raise LimitError("time limit reached", status=Status.TIME_LIMIT, solution=solution)

    monkeypatch.setattr(integer, "solve", stopped)
    if x is None or x[1] == 0.0:
        with pytest.raises(MasterError, match="no integer solution in time: time limit reached"):
            solve_integer(master, result, time_limit=1.0)
        return
    found = solve_integer(master, result, time_limit=1.0)
    assert (found.proven, found.objective, found.gap) == (False, 3.0, pytest.approx(1.5 / 3.0))
    np.testing.assert_array_equal(found.coef, [1.0, 1.0, 1.0])
    assert "heuristic: found over" in found.summary()


def test_no_time_at_all_is_a_typed_error_of_the_real_solver() -> None:
    """HiGHS with next to no time on equality rows without a trivial solution."""
    rng = np.random.default_rng(0)
    H = rng.integers(1, 100, size=(8, 60)).astype(float)
    master = LinearMaster(8, "==", H @ rng.integers(0, 2, size=60))
    master.add([Column(H[:, j], j, cost=1.0, upper=1.0) for j in range(60)])
    result = ColumnGeneration(master, lambda duals: []).run()
    with pytest.raises(MasterError, match="no integer solution in time"):
        solve_integer(master, result, time_limit=1e-6)
