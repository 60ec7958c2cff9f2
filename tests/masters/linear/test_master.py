"""The general linear master: phases, bounds, infeasibility."""

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
from cgboost.masters import LinearMaster
from solvers import available_backends, get_backend
from tests.masters.linear.linear_problems import Family, bounded, convex, covering, full_optimum


@pytest.mark.parametrize("smoothing", [NoSmoothing(), Wentges(), Wentges(0.9, 1.0)])
@pytest.mark.parametrize("problem", [covering, convex, bounded])
@pytest.mark.parametrize("seed", range(30))
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


@pytest.mark.parametrize("seed", range(30))
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


def test_a_capped_column_that_the_pricer_reports_is_counted_once() -> None:
    """With all copies taken by columns at their bounds, their own reduced cost closes the gap."""
    master = LinearMaster(["pick"], "==", 1.5, copies={"pick": 1.5})
    master.add([Column(np.ones(1), name, cost=1.0, upper=0.75) for name in "ab"])
    state = replace(master.solve(), pseudo_response=np.array([3.0]))
    reported = Priced([], exact=True, reduced_cost={"pick": -2.0})
    assert master.bound(state, reported) == pytest.approx(state.objective)
    left_out = Priced([], exact=True, reduced_cost={"pick": 0.0})
    assert master.bound(state, left_out) == pytest.approx(state.objective)


@pytest.mark.parametrize("solver", available_backends("lp"))
@pytest.mark.parametrize("problem", [covering, convex, bounded])
def test_every_backend_reaches_the_full_problem(problem: Any, solver: str) -> None:
    """Phases, bounds and infeasibility; who gives up says so and leaves valid bounds.

    Only a first-order method may give up, or stop at a relative error of 1e-6.
    """
    is_exact = "exact" in get_backend(solver).capabilities
    tolerance = 1e-8 if is_exact else 1e-6
    for seed in range(8):
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
    first = family.columns[:2]
    for master in (by_row, total):
        master.add(first)
    state = total.solve()
    duals = state.pseudo_response
    reduced = family.cost - duals @ family.H
    least = {"first": reduced[::2].min(), "second": reduced[1::2].min()}
    in_all = total.bound(state, Priced([], exact=True, reduced_cost=least))
    per_row = by_row.bound(state, Priced([], exact=True, reduced_cost=least))
    assert in_all <= per_row + 1e-9
    assert per_row <= full_optimum(by_row, family) + 1e-6


def test_an_infeasible_master_names_its_rows_and_the_cost_it_proves() -> None:
    """No column meets "steel": the run says so, keeps the shortfall, and bounds the cost."""
    master = LinearMaster(["wood", "steel"], ">=", [2.0, 3.0], least_cost=1.0)
    family = Family(np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([1.0, 1.5]))
    result = ColumnGeneration(master, family).run()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert "'steel' (by 3)" in result.message
    assert "wood" not in result.message
    assert result.bound >= 1e6
    assert result.gap == math.inf
    assert "inf" in result.summary()


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


def test_finding_nothing_without_proof_is_not_infeasibility() -> None:
    """A heuristic that finds nothing proves nothing."""
    result = ColumnGeneration(LinearMaster(1, ">=", 1.0), lambda duals: []).run()
    assert result.stop_reason is StopReason.NO_COLUMN
    assert result.objective == math.inf


def test_initial_columns_that_suffice_leave_the_first_phase_at_once() -> None:
    """The first objective is finite when the initial columns meet the rows."""
    master = LinearMaster(2, ">=", [4.0, 6.0])
    master.add([Column(np.eye(2)[i], i, cost=2.0) for i in range(2)])
    state = master.solve()
    assert state.objective == pytest.approx(20.0)
    np.testing.assert_allclose(state.pseudo_response, [2.0, 2.0])
    np.testing.assert_allclose(state.output, [4.0, 6.0])


def test_rows_that_zero_meets_need_no_artificial_columns() -> None:
    """With x = 0 feasible the empty master has objective 0 and no duals to speak of."""
    state = LinearMaster(3, ["<=", ">=", "=="], [1.0, -1.0, 0.0]).solve()
    assert state.objective == 0.0
    np.testing.assert_array_equal(state.slack, 0.0)


def test_column_upper_bounds_hold_and_keep_the_bound_valid() -> None:
    """A cheap column of limited supply is used up; leaving it out of the search stays exact."""
    cheap = Column(np.ones(1), "cheap", cost=1.0, upper=2.0)
    dear = Column(np.ones(1), "dear", cost=3.0)
    master = LinearMaster(1, ">=", 5.0, least_cost=1.0)
    master.add([cheap])

    def price(duals: np.ndarray) -> Any:
        reduced = 3.0 - duals[0]
        return ([dear] if reduced < -1e-9 else []), reduced

    result = ColumnGeneration(master, price, tol=1e-9).run()
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == pytest.approx(11.0)
    assert result.bound == pytest.approx(11.0)
    np.testing.assert_allclose(result.coef, [2.0, 3.0])


def test_without_copies_or_least_cost_only_an_end_gives_a_bound() -> None:
    """The dual objective where nothing is cheaper than 0; else None, never 0."""
    master = LinearMaster(1, ">=", 1.0)
    column = Column(np.ones(1), 0, cost=1.0)
    master.add([column])
    assert master.bound(master.solve(), Priced([], exact=True, reduced_cost=0.0)) == 1.0
    assert master.bound(master.solve(), Priced([], exact=True, reduced_cost=-0.1)) is None
    assert master.bound(master.solve(), Priced([], exact=True)) is None
    assert master.bound(master.solve(), Priced([column], exact=True, reduced_cost=0.0)) is None
    assert (
        LinearMaster(1, ">=", 1.0, least_cost=1.0).bound(master.solve(), Priced([], exact=True))
        is None
    )


def test_an_unbounded_master_is_a_typed_error() -> None:
    """A column of negative cost without a limit is reported in the solver's words."""
    master = LinearMaster(1, ">=", 0.0)
    master.add([Column(np.ones(1), 0, cost=-1.0)])
    with pytest.raises(MasterError, match=r"(?i)unbounded"):
        master.solve()


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
    """A column of the wrong length, with a NaN or a negative bound never reaches the solver."""
    master = LinearMaster(2, ">=", 1.0)
    with pytest.raises(ValueError, match=words):
        master.add([column])
    assert master.columns == []


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e6])
def test_costs_of_any_size_have_the_same_optimum(unit: float) -> None:
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

    plain, other = solved(1.0), solved(unit)
    assert other.stop_reason is StopReason.OPTIMAL
    assert other.gap <= 1e-9
    assert other.objective / unit == pytest.approx(plain.objective, rel=1e-9)
    exact = linprog(costs, A_ub=-A, b_ub=-rhs).fun
    assert plain.objective == pytest.approx(exact, rel=1e-9)
