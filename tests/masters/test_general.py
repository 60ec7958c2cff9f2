"""The general linear master: phases, bounds, infeasibility, and the integer step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from cgboost.columns import Column
from cgboost.exceptions import MasterError
from cgboost.generation import ColumnGeneration
from cgboost.history import StopReason
from cgboost.masters import LinearMaster, solve_integer
from cgboost.protocols import Priced
from cgboost.smoothing import NoSmoothing, Wentges
from solvers import InfeasibleError, Program, solve


class Family:
    """A finite family of columns, priced exactly by looking at all of them."""

    def __init__(self, H: np.ndarray, cost: np.ndarray, groups: Sequence[str] = ()) -> None:
        self.columns = [Column(H[:, j], j, cost=float(cost[j])) for j in range(H.shape[1])]
        self.H, self.cost, self.groups = H, cost, groups

    def __call__(self, duals: np.ndarray) -> Any:
        reduced = self.cost - duals @ self.H
        best = np.argsort(reduced)[:2]
        found = [self.columns[j] for j in best if reduced[j] < -1e-9]
        if not self.groups:
            return found, reduced.min()
        return found, {name: reduced[self.H[k] == 1].min() for k, name in enumerate(self.groups)}


def full_optimum(master: LinearMaster, family: Family) -> float:
    """All columns at once; inf where that is infeasible."""
    program = Program(
        cost=family.cost,
        matrix=family.H,
        row_lower=np.where(master.senses != "<=", master.rhs, -np.inf),
        row_upper=np.where(master.senses != ">=", master.rhs, np.inf),
    )
    try:
        return solve(program).objective
    except InfeasibleError:
        return math.inf


def covering(seed: int) -> tuple[LinearMaster, Family]:
    """Rows of all three senses and either sign of right-hand side; some are infeasible."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 9)), int(rng.integers(3, 30))
    H = rng.integers(-1, 4, size=(m, n)).astype(float)
    sense = rng.choice(["<=", "==", ">="], size=m, p=[0.3, 0.2, 0.5])
    rhs = rng.integers(-2, 9, size=m) if seed % 5 == 0 else H @ rng.integers(0, 3, size=n)
    cost = rng.uniform(0.5, 3.0, size=n)
    return LinearMaster(m, list(sense), rhs, least_cost=0.5), Family(H, cost)


def convex(seed: int) -> tuple[LinearMaster, Family]:
    """Two convexity rows with known numbers of copies, coupled by ≤ rows; costs of any sign."""
    rng = np.random.default_rng(seed)
    n, coupled = int(rng.integers(4, 30)), int(rng.integers(1, 6))
    owner = np.arange(n) % 2
    coupling = rng.uniform(2, 3, size=(coupled, n))  # the entries 1 belong to the convexity rows
    H = np.vstack([owner == 0, owner == 1, coupling]).astype(float)
    counts = rng.integers(1, 5, size=2).astype(float)
    weights = rng.dirichlet(np.ones(n)) * n
    x = np.array(
        [weights[j] * counts[owner[j]] / weights[owner == owner[j]].sum() for j in range(n)]
    )
    rhs = [*counts, *(H[2:] @ x)]
    sense = ["==", "=="] + ["<="] * coupled
    copies = {"first": counts[0], "second": counts[1]}
    rows = ["first", "second", *range(coupled)]
    cost = rng.normal(size=n)
    return LinearMaster(rows, sense, rhs, copies=copies), Family(H, cost, rows[:2])


@pytest.mark.parametrize("smoothing", [NoSmoothing(), Wentges(), Wentges(0.9, 1.0)])
@pytest.mark.parametrize("seed", range(30))
def test_covering_reaches_the_full_problem_within_its_bounds(seed: int, smoothing: Any) -> None:
    """Farley's bound ≤ optimum ≤ objective in every round; infeasible exactly if the whole is."""
    master, family = covering(seed)
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


@pytest.mark.parametrize("smoothing", [NoSmoothing(), Wentges(), Wentges(0.9, 1.0)])
@pytest.mark.parametrize("seed", range(30))
def test_convexity_rows_reach_the_full_problem_within_their_bounds(
    seed: int, smoothing: Any
) -> None:
    """Lagrange's bound ≤ optimum ≤ objective in every round, with a count per convexity row."""
    master, family = convex(seed)
    optimum = full_optimum(master, family)
    run = ColumnGeneration(master, family, tol=1e-9, smoothing=smoothing)
    result = run.run()
    assert result.objective == pytest.approx(optimum, rel=1e-7, abs=1e-7)
    assert (result.history["objective"] >= optimum - 1e-6).all()
    assert (result.history["bound"] <= optimum + 1e-6 * max(1.0, abs(optimum))).all()
    assert result.gap <= 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_a_count_over_all_columns_bounds_as_well(seed: int) -> None:
    """One number of copies for all columns is weaker than one per row, and valid."""
    by_row, family = convex(seed)
    total = LinearMaster(by_row.rows, list(by_row.senses), by_row.rhs, copies=by_row.rhs[:2].sum())
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
    assert "steel (by 3)" in result.message
    assert "wood" not in result.message
    assert result.bound >= 1e6
    assert result.gap == math.inf
    assert "inf" in result.summary()


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


def test_without_copies_or_least_cost_there_is_no_bound() -> None:
    """The default bound is None, never 0."""
    master = LinearMaster(1, ">=", 1.0)
    master.add([Column(np.ones(1), 0, cost=1.0)])
    assert master.bound(master.solve(), Priced([], exact=True, reduced_cost=0.0)) is None
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


def packing() -> tuple[LinearMaster, Any]:
    """Three items of which any two fit together: 1.5 in fractions, 2 in integers."""
    master = LinearMaster(3, ">=", 1.0, least_cost=1.0)
    pairs = [(0, 1), (1, 2), (0, 2)]
    master.add(
        [Column(np.isin(np.arange(3), pair).astype(float), pair, cost=1.0) for pair in pairs]
    )
    return master, ColumnGeneration(master, lambda duals: ([], 0.0)).run()


def test_the_integer_step_reports_its_gap() -> None:
    """The integer solution is feasible, at least the bound, and the gap says by how much."""
    master, result = packing()
    assert result.objective == pytest.approx(1.5)
    integer = solve_integer(master, result)
    assert integer.objective == 2.0
    assert integer.proven
    assert integer.gap == pytest.approx(0.25)
    assert "heuristic" in integer.summary()
    cover = sum(x * c.values for x, c in zip(integer.coef, integer.columns, strict=True))
    assert (cover >= 1).all()


def test_continuous_columns_stay_continuous_in_the_integer_step() -> None:
    """``integer=False`` is respected column by column."""
    master = LinearMaster(1, ">=", 2.5)
    master.add([Column(np.ones(1), "a", cost=1.0, integer=False)])
    result = ColumnGeneration(master, lambda duals: []).run()
    assert solve_integer(master, result).objective == pytest.approx(2.5)


def test_an_integer_step_without_a_solution_is_a_typed_error() -> None:
    """Columns that only work in fractions raise a MasterError."""
    master = LinearMaster(1, "==", 1.0)
    master.add([Column(np.full(1, 2.0), "a", cost=1.0)])
    result = ColumnGeneration(master, lambda duals: []).run()
    with pytest.raises(MasterError, match="no integer solution"):
        solve_integer(master, result)
