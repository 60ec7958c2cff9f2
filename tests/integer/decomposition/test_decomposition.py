"""Branch-and-price on whole models, against branch and cut on the same model."""

from collections.abc import Callable
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from cgboost import decompose
from cgboost.generation.history import StopReason
from cgboost.integer import heuristics
from cgboost.integer.decomposition.blocks import structure_of
from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.block import BlockError
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock
from cgboost.integer.decomposition.pricing.path_block import PathBlock
from cgboost.integer.decomposition.reformulation import reformulated
from cgboost.integer.decomposition.structure_files import StructureError
from solvers import Program, solve

from .problems import PROBLEMS, Blocks, assignment, flows, pairings
from .test_detection import assignment as many_jobs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_optimum_is_that_of_the_compact_model(
    problem: Callable[[int], tuple[Model, Blocks]], seed: int
) -> None:
    """Branch-and-price proves the same optimum as branch and cut, and its point has it."""
    model, blocks = problem(seed)
    result, compact = decompose(model, blocks).solve(), Decomposition(model, None, "").solve()
    assert result.structure is not None
    assert result.tree is not None
    assert result.stop_reason == compact.stop_reason
    assert result.objective == pytest.approx(compact.objective, abs=1e-6)
    assert result.bound == pytest.approx(compact.objective, abs=1e-4)
    x = np.array([result.x[name] for name in model.names])
    assert model.is_feasible(x)
    assert model.in_own_sense(model.program.objective_value(x)) == result.objective


@pytest.mark.parametrize(
    ("problem", "kind"),
    [(assignment, KnapsackBlock), (flows, PathBlock), (pairings, AssignmentBlock)],
)
def test_special_blocks(problem: Callable[[int], tuple[Model, Blocks]], kind: type) -> None:
    """Blocks of the problems above are recognised, and each by its algorithm."""
    pricer = reformulated(structure_of(*problem(0))).pricer
    assert {type(each.special) for each in pricer.problems} == {kind}


def test_a_model_without_blocks_is_solved_by_branch_and_cut() -> None:
    """Where nothing falls apart HiGHS solves the model, and the message says so."""
    program = Program(-np.ones(4), [[2, 3, 4, 5]], -np.inf, 9, 0, 1, None, np.ones(4))
    result = decompose(program).solve()
    assert result.objective == -3.0
    assert result.bound == -3.0
    assert "without a decomposition: no blocks" in result.message


def test_a_block_of_two_kinds_is_left_to_branch_and_cut() -> None:
    """Integer and continuous variables in one block: the right answer, and why."""
    matrix = [[1, 1, 1, 1], [2, 1, 0, 0], [0, 0, 2, 1]]
    program = Program([-1, -1, -2, -1], matrix, -np.inf, [2.5, 3, 3], 0, 2, None, [1, 0, 1, 0])
    result = decompose(program, {"r1": "a", "r2": "b"}).solve()
    assert result.objective == pytest.approx(
        Decomposition(as_model(program), None, "").solve().objective
    )
    assert "'x0'" in result.message
    assert result.structure is None


def test_what_is_not_decomposed_says_so_before_it_is_solved() -> None:
    """In why and in repr, which names the size and the blocks as well."""
    program = Program([1, 1, 1], np.eye(3) + 1, 2, 9, 0, 5, None, [1, 0, 1])
    model = decompose(program, {"r0": None, "r1": 0})
    assert "not decomposed: block 0 has the integer variable 'x0'" in model.why
    assert model.why in repr(model)
    assert model.obstacle in model.solve().message
    own, blocks = assignment(0)
    whole = decompose(own, blocks)
    assert whole.obstacle == ""
    assert repr(whole) == (
        "<Decomposition of 11 rows × 24 variables: 3 blocks, 8 linking rows; blocks as given>"
    )
    assert "no blocks; in one piece" in repr(Decomposition(own, None, "in one piece"))


def test_negative_variables() -> None:
    """Blocks whose variables may be negative are decomposed like all others."""
    matrix = [[1, 1, 1, 1], [2, 3, 0, 0], [0, 0, 2, 3]]
    program = Program(np.ones(4), matrix, [-3, -9, -9], [9, 4, 4], -1, 1, None, np.ones(4))
    result = decompose(program, {"r1": 0, "r2": 1}).solve()
    assert result.objective == pytest.approx(-3.0)
    assert result.structure is not None
    assert result.structure.groups() == [(0, 1)]


def test_an_infeasible_model() -> None:
    """What no column meets has the objective inf, and the reason."""
    matrix = [[1, 1, 1, 1], [2, 3, 0, 0], [0, 0, 2, 3]]
    program = Program(np.ones(4), matrix, [9, -9, -9], [9, 4, 4], 0, 1, None, np.ones(4))
    result = decompose(program, {"r1": 0, "r2": 1}).solve()
    assert result.objective == np.inf
    assert result.stop_reason == StopReason.INFEASIBLE
    assert result.x == {}


def test_an_unbounded_block_is_refused() -> None:
    """A block whose pricing problem falls without end is named."""
    matrix = [[1, 1, 1], [1, -1, 0], [0, 0, 1]]
    program = Program([-2, 1, -1], matrix, -np.inf, [9, 4, 4], 0, np.inf, None, np.ones(3))
    with pytest.raises(BlockError, match="unbounded"):
        decompose(program, {"r1": 0, "r2": 1}).solve()


def test_an_unbounded_block_that_was_detected_is_left_to_branch_and_cut() -> None:
    """Nobody gave the blocks, and the model has an optimum: that of the whole is found."""
    cost, rows = [1, 1, -2, 1, 1, 1], np.zeros((4, 6))
    rows[0, :], rows[1, :2], rows[2, 2:4], rows[3, 4:] = 1, [3, 5], [1, -1], [5, 7]
    program = Program(cost, rows, [-np.inf, 4, -5, 6], [20, 99, 5, 99], 0, np.inf, None, np.ones(6))
    found = decompose(program)
    assert found.structure is not None
    result = found.solve()
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == -14
    assert "branch and cut" in result.message


def test_a_dive_along_variables_without_bounds_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where y is the difference of two columns, dives raise both without end; the rest goes on."""
    monkeypatch.setattr(heuristics, "MOST_DIVES", 20)
    program = Program([3, -1], [[0.5, -1], [1, 0]], [-1.5, 0], [np.inf, 3.5], -np.inf, np.inf,
                      None, np.ones(2))  # fmt: skip
    result = decompose(program, {"r1": 0}).solve()
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == -1


def test_a_problem_of_cvxpy() -> None:
    """The answer of a CVXPY problem has the names of its entries."""
    x = cp.Variable((2, 3), boolean=True, name="x")
    profit, weight = np.array([[6, 5, 4], [5, 7, 3]]), np.array([[3, 4, 2], [2, 5, 3]])
    rows = [cp.sum(x[:, j]) <= 1 for j in range(3)]
    rows += [weight[i] @ x[i] <= 6 for i in range(2)]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(profit, x)) + 1), rows)
    result = decompose(problem, {"r3": 0, "r4": 1}).solve()
    problem.solve(solver="HIGHS")
    assert result.objective == pytest.approx(problem.value)
    assert result.bound == pytest.approx(problem.value)
    assert set(result.x) == {f"x[{i},{j}]" for i in range(2) for j in range(3)}


def test_a_structure_file_of_another_model(tmp_path: Path) -> None:
    """The row that the model lacks is named; the right file gives the blocks."""
    model, _ = assignment(0)
    path = tmp_path / "a.dec"
    path.write_text("NBLOCKS\n1\nBLOCK 1\nother\n")
    with pytest.raises(StructureError, match="'other'"):
        decompose(model, path)
    path.write_text("NBLOCKS\n3\nBLOCK 1\nr8\nBLOCK 2\nr9\nBLOCK 3\nr10\n")
    structure = decompose(model, str(path)).structure
    assert structure is not None
    assert structure.n_blocks == 3


def test_a_search_that_is_stopped_has_a_bound() -> None:
    """After one node the bound is on the right side of the optimum, in the sense of the model."""
    model, blocks = assignment(1)
    best = Decomposition(model, None, "").solve().objective
    result = decompose(model, blocks).solve(callbacks=[lambda state: True], heuristics=[])
    assert result.bound is not None
    assert result.bound >= best - 1e-6
    assert result.objective <= best + 1e-6
    assert "blocks" in result.summary()


def test_generalised_assignment_with_many_jobs() -> None:
    """Blocks are found where most rows link, and the optimum is that of plain HiGHS."""
    model = many_jobs(2, 24)
    result = decompose(model).solve()
    assert result.structure is not None
    assert result.structure.n_blocks == 2
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == pytest.approx(solve(model.program, "highs").objective)
