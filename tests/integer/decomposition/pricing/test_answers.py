"""Every algorithm finds the least cost of its blocks, with any decisions of a node."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cgboost.integer.branching.decisions import Apart, ComponentRow, Together, VariableBound
from cgboost.integer.decomposition.pricing import block_pricer
from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.block import (
    NO_POINT,
    Block,
    BlockError,
    BlockRequest,
    Found,
)
from cgboost.integer.decomposition.pricing.block_pricer import BlockProblem
from cgboost.integer.decomposition.pricing.conflict_block import ConflictBlock
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock
from cgboost.integer.decomposition.pricing.network import network_of
from cgboost.integer.decomposition.pricing.path_block import PathBlock
from cgboost.integer.decomposition.pricing.ray_problem import RayProblem
from tests.cases import law
from tests.effort import examples

from .blocks import (
    BLOCKS,
    ROWS,
    BlockCase,
    block,
    block_of,
    conflicts,
    decisions_of,
    flow,
    least,
    request,
)

INF = np.inf


def rows_of(own: Block) -> tuple[str, ...]:
    """The rows of the master."""
    return ROWS[: own.linking.shape[0]]


@law(BLOCKS)
@settings(max_examples=examples(90))
@given(seed=st.integers(0, 2**32 - 1), n_decisions=st.integers(0, 4))
def test_the_least_cost_is_found(case: BlockCase, seed: int, n_decisions: int) -> None:
    """By HiGHS and by the algorithm of the kind, and a point that is allowed has it.

    The reference is all points one by one, or HiGHS.
    """
    own = case.make(seed)
    assume(case.kind is None or case.kind.fits(own))
    rng = np.random.default_rng(seed)
    cost = np.round(rng.normal(size=len(own.variables)) + rng.choice([-0.5, 0.0, 1.0]), 3)
    decisions = decisions_of(seed, own, n_decisions)
    asked = request(own, cost, decisions)
    problem = BlockProblem(own, rows_of(own))
    assert case.kind is None or problem.special is not None  # more than one kind may fit
    answers = [] if case.kind is None else [case.kind(own).solve(asked)]
    if answers == [None]:  # the algorithm does not claim to know
        assert not case.knows
        return
    highs = HighsBlock(own, rows_of(own)).solve(asked)
    expected = least(own, cost, decisions) if case.small else highs.bound
    answers += [highs, problem.solve(asked)]
    for found in answers:
        assert found.bound == pytest.approx(expected, abs=1e-8)
        small = 1e-6 if found is highs else 0.0
        assert not found.points or min(cost @ z for z in found.points) == pytest.approx(found.bound)
        for z in found.points:
            rows = own.matrix @ z
            assert (rows >= own.row_lower - small).all()
            assert (rows <= own.row_upper + small).all()
            assert (z >= asked.lower - small).all()
            assert (z <= asked.upper + small).all()


@pytest.mark.parametrize("switch", [False, True])
def test_no_row_gets_more_than_is_left(switch: bool) -> None:
    """With what is left of the rows the least cost is that over the points that keep to it."""
    own, rng = block(3, switch=switch), np.random.default_rng(3)
    for left in ([1.0, 0.0, 2.0], [0.5, 3.0, -1.0]):
        cost = np.round(rng.normal(size=len(own.variables)) - 0.5, 3)
        upper = np.r_[np.clip(np.floor(left), 0, own.upper[:3]), own.upper[3:]]
        expected = least(replace(own, upper=upper), cost)
        asked = request(own, cost, left=np.array([*left, 1.0, 1.0]))
        for solver in (HighsBlock(own, ROWS), KnapsackBlock(own)):
            assert solver.solve(asked).bound == pytest.approx(expected)


COUNTED = [
    ComponentRow(frozenset(conditions), ">=", 1.0)
    for conditions in (
        {("a", 1.0)},
        {("a", 1.0), ("b", 2.0)},
        {("a", -1.0), ("c", 0.0)},
        {("one", 1.0), ("b", 1.0)},
        {("other", 1.0)},
    )
]
"""One row, two, negative values, the convexity row, and that of another block."""


ZERO_ONE = block(1, upper=1.0)


@pytest.mark.parametrize(
    ("own", "decisions", "counted"),
    [
        (ZERO_ONE, (Together("a", "b"),), ()),
        (ZERO_ONE, (Apart("a", "b"), VariableBound("x0", 1.0)), ()),
        (ZERO_ONE, (Together("a", "one"),), ()),
        (ZERO_ONE, (Apart("one", "b"),), ()),
        *((block(2, lower=low), (), (row,)) for low in (0.0, -1.0, -INF) for row in COUNTED),
        *((block(1, upper=INF), (), (row,)) for row in COUNTED),
    ],
)
def test_pairs_and_counted_columns_come_and_go(own: Block, decisions: Any, counted: Any) -> None:
    """Ryan and Foster's pairs are respected, though the block is a knapsack or anything else.

    A column earns the dual of Vanderbeck's rows, of either sign, exactly if it meets all
    conditions.
    """
    problem, cost = BlockProblem(own, ROWS), np.array([-0.3, -0.4, -0.2])
    solvers, without = (problem, HighsBlock(own, ROWS)), least(own, cost)
    for dual in (1.5, -1.5) if counted else (0.0,):
        duals = dict.fromkeys(counted, dual)
        expected = least(own, cost, decisions, duals)
        for solver in solvers:
            for asked, best in (
                (request(own, cost), without),
                (request(own, cost, decisions, duals), expected),
                (request(own, cost), without),
            ):
                assert solver.solve(asked).bound == pytest.approx(best, abs=1e-8)


def test_an_algorithm_may_leave_a_problem_to_highs() -> None:
    """Where it gives no answer HiGHS does, and where bounds are crossed nobody is asked."""
    own, cost = block(1), np.array([-1.0, -2.0, -0.5])
    problem = BlockProblem(own, ROWS)

    class Silent:
        calls = 0

        def solve(self, request: BlockRequest) -> None:
            self.calls += 1

    problem.special = silent = Silent()  # type: ignore[assignment]
    assert problem.solve(request(own, cost)).bound == pytest.approx(least(own, cost))
    crossed = (VariableBound("x0", 2.0), VariableBound("x0", 0.0, 1.0))
    assert problem.solve(request(own, cost, crossed)).bound == INF
    assert silent.calls == 1
    assert HighsBlock(own, ROWS).solve(request(own, cost, crossed)).bound == INF


@pytest.mark.parametrize(
    ("own", "duals", "words"),
    [
        (
            replace(block(2, lower=-INF), row_lower=np.array([-INF])),
            {COUNTED[0]: 1.0},
            "no finite range over block 'k'",
        ),
        (
            block_of([[-1.0]], -INF, 0.0, upper=INF),
            {},
            "block 'k', with the variables 'x0', is unbounded",
        ),
    ],
)
def test_blocks_without_ends(own: Block, duals: Any, words: str) -> None:
    """A block that falls without end, or by whose rows columns cannot be counted, is named."""
    problem, cost = HighsBlock(own, rows_of(own)), -np.ones(len(own.variables))
    with pytest.raises(BlockError, match=words):
        problem.solve(request(own, cost, duals=duals))


@pytest.mark.parametrize(("whole", "used"), [(False, 100.0), (True, 0.0)])
def test_each_request_has_its_own_time(
    whole: bool, used: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HiGHS's clock goes on for linear programs, and starts anew for integer ones."""
    own = replace(block(0), integer=np.full(3, whole))
    problem = HighsBlock(own, ROWS)
    monkeypatch.setattr(problem._highs, "getRunTime", lambda: 100.0, raising=False)
    for _ in range(2):
        problem.solve(replace(request(own, -np.ones(3)), seconds=5.0))
        limit = problem._highs.getOptionValue("time_limit")[1]
        assert limit == pytest.approx(used + 5.0, abs=0.5)


def test_points_have_the_time_that_rays_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block with rays asks for them first; both together keep to the time."""
    asked_for: list[float | None] = []
    own = replace(block(0), has_rays=True)
    problem = BlockProblem(own, ROWS)
    clock = [0.0]
    monkeypatch.setattr(block_pricer.time, "perf_counter", lambda: clock[0])

    def no_ray(self: RayProblem, asked: BlockRequest) -> tuple[None, Any]:
        clock[0] += 3.0
        return None, asked.cost

    def solved(self: HighsBlock, asked: BlockRequest) -> Found:
        asked_for.append(asked.seconds)
        return NO_POINT

    monkeypatch.setattr(RayProblem, "solve", no_ray)
    monkeypatch.setattr(HighsBlock, "solve", solved)
    monkeypatch.setattr(problem, "special", None)
    problem.solve(replace(request(own, -np.ones(3)), seconds=5.0))
    assert asked_for == [2.0]


SQUARE = np.vstack([np.kron(np.eye(2), np.ones(2)), np.kron(np.ones(2), np.eye(2))])
"""The rows of a square assignment."""


@pytest.mark.parametrize(
    ("decisions", "integer", "bound"),
    [
        ((VariableBound("x0", 1.0), VariableBound("x1", 1.0)), True, INF),
        ((VariableBound("x0", 2.0),), True, INF),
        ((VariableBound("x0", 1.0), VariableBound("x3", upper=0.0)), True, INF),
        ((VariableBound("x0", 0.5),), False, None),
        ((VariableBound("x0", upper=0.5),), False, None),
    ],
)
def test_bounds_of_assignments(decisions: Any, integer: bool, bound: float | None) -> None:
    """What no point meets is inf; fractional bounds of continuous variables are left to HiGHS."""
    own = block_of(SQUARE, 1.0, 1.0, upper=INF if integer else 1.0, integer=integer)
    found = AssignmentBlock(own).solve(request(own, np.ones(4), decisions))
    assert (None if found is None else found.bound) == bound


def test_a_negative_cycle_is_left_to_highs() -> None:
    """A flow along it is cheaper than every path: HiGHS finds it."""
    matrix = [[1.0, 0, 0], [-1, 1, -1], [0, -1, 1]]  # 0 → 1, and the cycle 1 → 2 → 1
    own = block_of(np.vstack([matrix, np.zeros(3)]), [1, -1, 0, 0], [1, -1, 0, 0])
    assert PathBlock.fits(own)
    for cost, expected in (([1.0, 1, 1], 1.0), ([1.0, -2, 1], 0.0)):
        asked = request(own, np.array(cost))
        assert (PathBlock(own).solve(asked) is None) == (expected == 0.0)
        assert BlockProblem(own, rows_of(own)).solve(asked).bound == pytest.approx(expected)


KNAPSACK, ASSIGNMENT, PATH = block(0), block_of(SQUARE, 1.0, 1.0), flow(0)
CONFLICTS = conflicts(0)
ODD = [[1.0, 1, 0], [0, 1, 1], [1, 0, 1]]


@pytest.mark.parametrize(
    ("kind", "own", "fits"),
    [
        (KnapsackBlock, KNAPSACK, True),
        (KnapsackBlock, replace(KNAPSACK, matrix=sp.csr_array([[0.5, 1, 1]])), False),
        (KnapsackBlock, replace(KNAPSACK, matrix=sp.csr_array([[-1.0, -1, 1]])), False),
        (KnapsackBlock, replace(KNAPSACK, matrix=sp.csr_array([[-1.0, 2, 1]])), False),
        (KnapsackBlock, replace(KNAPSACK, lower=np.array([-1.0, 0, 0])), False),
        (KnapsackBlock, replace(KNAPSACK, integer=np.array([True, False, True])), False),
        (ConflictBlock, CONFLICTS, True),
        (ConflictBlock, conflicts(0, switch=True), True),
        (ConflictBlock, KNAPSACK, False),
        (ConflictBlock, replace(CONFLICTS, upper=np.full(6, 2.0)), False),
        (ConflictBlock, replace(CONFLICTS, row_lower=np.full(5, 0.0)), False),
        (ConflictBlock, replace(CONFLICTS, row_upper=np.array([9.0, 2, 1, 1, 1])), False),
        (ConflictBlock, replace(CONFLICTS, matrix=-1.0 * CONFLICTS.matrix), False),
        (AssignmentBlock, ASSIGNMENT, True),
        (AssignmentBlock, replace(ASSIGNMENT, lower=np.full(4, 1.0)), False),
        (AssignmentBlock, replace(ASSIGNMENT, upper=np.full(4, 0.5)), False),
        (AssignmentBlock, block_of(2 * SQUARE, 1, 1), False),
        (AssignmentBlock, block_of(SQUARE, 0.5, 1), False),
        (AssignmentBlock, block_of(SQUARE, 1, INF), False),
        (AssignmentBlock, block_of(SQUARE, 2, 2), False),
        (AssignmentBlock, block_of(ODD, 1, 1), False),
        (AssignmentBlock, block_of([[1.0, -1]], 1, 1), False),
        (AssignmentBlock, block_of(np.hstack([SQUARE, np.zeros((4, 1))]), 1, 1), False),
        (PathBlock, PATH, True),
        (PathBlock, replace(PATH, lower=np.eye(len(PATH.variables))[0]), False),
        (PathBlock, flow(0, amount=2.0, upper=1.0), False),
        (PathBlock, flow(0, amount=1.5, upper=2.0), False),
        (PathBlock, flow(0, amount=1.5, upper=2.0, integer=False), True),
        (PathBlock, block_of([[1.0, 0], [0, 1], [-1, -1]], [1, 1, -2], [1, 1, -2]), False),
        (network_of, block_of([[1.0, 2.0]], 1, 1), False),
        (network_of, block_of([[1.0], [1], [1]], 1, 1), False),
        (network_of, block_of([[1.0, 0.0]], 1, 1), False),
        (network_of, block_of([[1.0, 1]], 0, 1), False),
        (network_of, block_of([[1.0, 1]], -INF, INF), False),
        (network_of, block_of(ODD, 1, 1), False),
    ],
)  # fmt: skip
def test_which_blocks_are_of_a_kind(kind: Any, own: Block, fits: bool) -> None:
    """Other coefficients, sides, bounds and odd cycles of rows are not."""
    found = network_of(own) is not None if kind is network_of else kind.fits(own)
    assert found is fits


def test_blocks_of_another_kind_are_refused() -> None:
    """By name."""
    with pytest.raises(ValueError, match="'k' is no assignment"):
        AssignmentBlock(block_of(2 * SQUARE, 1, 1))
    with pytest.raises(ValueError, match="'k' is no network"):
        PathBlock(block_of([[2.0]], 1, 1))
