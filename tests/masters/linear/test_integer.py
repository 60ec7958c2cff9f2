"""The integer step: its gap, its types, and what a time limit leaves."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.masters import LinearMaster, solve_integer
from cgboost.masters.linear import integer
from solvers import LimitError, Program, Solution, Status


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


def test_the_repr_is_short() -> None:
    """Its length does not depend on the number of columns."""
    found = solve_integer(*packing())
    large = replace(found, columns=1000 * found.columns, coef=np.tile(found.coef, 1000))
    assert repr(large) == repr(found)
    assert len(repr(found)) < 200


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


def out_of_time(x: np.ndarray | None) -> Any:
    """A solver that runs out of time with ``x`` in hand, or with nothing."""

    def stopped(program: Program, solver: str, **limits: Any) -> Solution:
        found = None if x is None else point(program, x)
        raise LimitError("time limit reached", status=Status.TIME_LIMIT, solution=found)

    return stopped


def point(program: Program, x: np.ndarray) -> Solution:
    """``x`` as a solver's last point."""
    nothing = np.full(1, np.nan)
    return Solution(
        Status.TIME_LIMIT,
        x,
        float(program.cost @ x),
        nothing,
        nothing,
        0,
        0.0,
        "",
        "",
        lambda: program,
    )


def test_out_of_time_keeps_the_incumbent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best point so far is rounded and returned, as found and not as proven."""
    master, result = packing()
    monkeypatch.setattr(integer, "solve", out_of_time(np.array([1.0, 1.0, 1.0 - 1e-9])))
    found = solve_integer(master, result, time_limit=1.0)
    assert not found.proven
    assert found.objective == 3.0
    np.testing.assert_array_equal(found.coef, [1.0, 1.0, 1.0])
    assert found.gap == pytest.approx(1.5 / 3.0)
    assert "heuristic: found over" in found.summary()


@pytest.mark.parametrize("x", [None, np.array([1.0, 0.0, 0.0])], ids=["no point", "infeasible"])
def test_out_of_time_without_an_incumbent_is_a_typed_error(
    x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No point, or one that misses a row, is never passed off as a solution."""
    master, result = packing()
    monkeypatch.setattr(integer, "solve", out_of_time(x))
    with pytest.raises(MasterError, match="no integer solution in time: time limit reached"):
        solve_integer(master, result, time_limit=1.0)


def test_no_time_at_all_is_a_typed_error_of_the_real_solver() -> None:
    """HiGHS with next to no time on equality rows without a trivial solution."""
    rng = np.random.default_rng(0)
    H = rng.integers(1, 100, size=(8, 60)).astype(float)
    master = LinearMaster(8, "==", H @ rng.integers(0, 2, size=60))
    master.add([Column(H[:, j], j, cost=1.0, upper=1.0) for j in range(60)])
    result = ColumnGeneration(master, lambda duals: []).run()
    with pytest.raises(MasterError, match="no integer solution in time"):
        solve_integer(master, result, time_limit=1e-6)


def test_the_integer_step_sees_parked_columns() -> None:
    """A column the relaxation has deactivated is there for the integer solution that needs it."""
    master = LinearMaster(1, ">=", 3.0, park_after=1)
    master.add(
        [Column(np.full(1, 4.0), "large", cost=4.0), Column(np.full(1, 3.0), "exact", cost=3.3)]
    )
    result = ColumnGeneration(master, lambda duals: []).run()
    assert master.n_parked == 1
    assert result.objective == pytest.approx(3.0)
    found = solve_integer(master, result)
    assert found.objective == pytest.approx(3.3)
    assert [column.key for column in found.columns] == ["large", "exact"]
