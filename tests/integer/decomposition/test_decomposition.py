"""Branch-and-price on whole models, against branch and cut on the same model."""

import io
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from rich.console import Console

from cgboost import Checkpoint, decompose
from cgboost.exceptions import ResumeError
from cgboost.generation.history import StopReason
from cgboost.integer import BranchAndPriceResult, TreeProgress, TreeState, heuristics
from cgboost.integer.decomposition.blocks import structure_of
from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock
from cgboost.integer.decomposition.pricing.path_block import PathBlock
from cgboost.integer.decomposition.reformulation import reformulated
from solvers import Program
from tests.cases import law

from .cases import (
    BLOCKS,
    FIRST,
    INF,
    LINK,
    MODELS,
    SECOND,
    Blocks,
    ModelCase,
    assignment,
    flows,
    model_of,
    packing,
    pairings,
    program,
    stock,
    with_slack,
)


def compact(model: Any, **options: Any) -> Any:
    """The result of branch and cut."""
    return Decomposition(as_model(model), None, "").solve(**options)


@law(MODELS)
def test_the_optimum_is_that_of_branch_and_cut(case: ModelCase) -> None:
    """The same end, and a point that has the optimum; no bound on the way is above it."""
    for seed in case.seeds:
        model, blocks = case.make(seed)
        result, expected = decompose(model, blocks).solve(), compact(model, gap=1e-9)
        proven = {StopReason.OPTIMAL, StopReason.GAP}
        if not {result.stop_reason, expected.stop_reason} <= proven:
            assert result.stop_reason is expected.stop_reason
            assert result.stop_reason in (StopReason.INFEASIBLE, StopReason.UNBOUNDED)
            assert (abs(result.objective), result.x) == (INF, {})
            assert result.bound == expected.bound
            continue
        optimum = expected.objective
        room = 1e-6 * max(1.0, abs(optimum))
        assert result.objective == pytest.approx(optimum, abs=room)
        assert result.bound == pytest.approx(optimum, abs=1e-4)
        x = np.array([result.x[name] for name in model.names])
        assert model.is_feasible(x)
        value = model.in_own_sense(model.program.objective_value(x))
        assert value == pytest.approx(result.objective, abs=1e-9)
        first = result.solutions[0]
        assert (first.objective, first.x) == (result.objective, result.x)
        costs = [model.in_own_sense(own.objective) for own in result.solutions]
        assert costs[1:] == sorted(costs[1:])
        for own in result.solutions:
            x = np.array([own.x[name] for name in model.names])
            assert model.is_feasible(x)
            assert own.objective == model.in_own_sense(model.program.objective_value(x))
            assert model.in_own_sense(own.objective) >= model.in_own_sense(optimum) - room
        if result.structure is not None:
            made = reformulated(structure_of(model, blocks))
            assert set(result.x) == set(model.names)
            bounds = result.tree.tree["global_bound"] + model.program.constant + made.constant
            assert (bounds <= model.in_own_sense(optimum) + room).all()


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_solutions_are_those_of_the_model(unit: float) -> None:
    """Several, in its sense, with its constant, whatever the unit of costs; each once."""
    model, blocks = with_slack(5)
    own = model.program
    made = replace(own, cost=unit * own.cost, constant=unit * 7.0)
    result = decompose(replace(model, program=made, maximize=True), blocks).solve()
    points = {tuple(found.x.values()) for found in result.solutions}
    assert len(result.solutions) == len(points) > 2
    objectives = [found.objective for found in result.solutions]
    assert objectives == pytest.approx(sorted(objectives, reverse=True))
    values = [own.objective_value(list(found.x.values())) for found in result.solutions]
    assert objectives == pytest.approx([-unit * (value - own.constant + 7.0) for value in values])


def test_some_of_these_models_are_divided() -> None:
    """The models above have trees of many nodes, and solutions with negative amounts."""
    results = [decompose(*model_of(seed, "ssn")).solve() for seed in range(4)]
    assert max(result.tree.n_nodes for result in results if result.tree) >= 5
    assert min(min(result.x.values(), default=0.0) for result in results) < 0


@pytest.mark.parametrize(
    ("make", "kind"),
    [(assignment, KnapsackBlock), (flows, PathBlock), (pairings, AssignmentBlock)],
)
def test_special_blocks(make: Callable[[int], tuple[Model, Blocks]], kind: type) -> None:
    """Blocks of the models above are recognised, and each by its algorithm."""
    pricer = reformulated(structure_of(*make(0))).pricer
    assert {type(each.special) for each in pricer.problems} == {kind}


def test_what_is_not_decomposed_says_so() -> None:
    """In why, repr and message, before it is solved; branch and cut has the right answer."""
    for model, blocks, words in (
        (Program(-np.ones(4), [[2, 3, 4, 5]], -INF, 9, 0, 1, None, np.ones(4)), None, "no blocks"),
        (
            Program([1, 1, 1], np.eye(3), 0, 9, [0, 0, 0.5], [5, 5, 0.7], None, [1, 0, 1]),
            {"r0": None, "r1": 0},
            "not decomposed: variable 'x2' has no whole value",
        ),
    ):
        left = decompose(model, blocks)
        result = left.solve()
        assert result.structure is None
        assert result.objective == pytest.approx(compact(model).objective)
        assert result.bound == pytest.approx(result.objective)
        assert words in left.why
        assert left.why in repr(left)
        assert left.obstacle in result.message
    own, blocks = assignment(0)
    whole = decompose(own, blocks)
    assert whole.obstacle == ""
    assert repr(whole) == (
        "<Decomposition of 11 rows × 24 variables: 3 blocks, 8 linking rows; blocks as given>"
    )
    assert "no blocks; in one piece" in repr(Decomposition(own, None, "in one piece"))


def test_solutions_of_branch_and_cut_are_whole() -> None:
    """HiGHS alone returns x0 = 0.9999995 here, and an x1 that belongs to it."""
    rows = [[1.0, 1.0], [1.0, 3.0], [3.0, 3.0]]
    own = Program(
        cost=[-2.0, -3.0], matrix=rows, row_lower=-INF, row_upper=[2.3, 4.7, 5.7],
        lower=0.0, upper=[5.0, 3.7], integrality=np.array([1.0, 0.0]),
    )  # fmt: skip
    result = compact(own)
    assert result.x["x0"] in (0.0, 1.0)  # two solutions are optimal
    assert result.x["x1"] == pytest.approx((4.7 - 2.0 * result.x["x0"]) / 3.0, abs=1e-9)
    assert result.bound is not None
    assert result.bound <= result.objective == pytest.approx(-4.7, abs=1e-9)


@pytest.mark.parametrize("block", [None, 0, 2])
def test_rows_without_entries(block: int | None) -> None:
    """They change nothing where 0 is between their sides, in the master, a block, or as a block."""
    matrix, blocks = [LINK, FIRST, SECOND, [0.0] * 4], {**BLOCKS, "r3": block}
    best = decompose(program(), BLOCKS).solve().objective
    free = program(matrix=matrix, row_upper=[3.0, 4, 4, 5])
    assert decompose(free, blocks).solve().objective == best
    missed = program(matrix=matrix, row_lower=[-INF, -INF, -INF, 1], row_upper=[3.0, 4, 4, 5])
    result = decompose(missed, blocks).solve()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert "'r3' has no entries" in result.message


def test_variables_without_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded by rows of their blocks or by linking rows they are right.

    A dive that raises two columns without end is ended.
    """
    rows = [LINK, FIRST, [1.0, -1, 0, 0], SECOND, [0, 0, 1.0, -1]]
    own = program(
        cost=[3.0, 2, 2, 3], matrix=rows, row_lower=[-4, -9, -5, -9, -5],
        row_upper=[9, 4, 5, 4, 5], lower=-INF, upper=INF,
    )  # fmt: skip
    blocks = {"r1": 0, "r2": 0, "r3": 1, "r4": 1}
    best = compact(own).objective
    assert decompose(own, blocks).solve().objective == pytest.approx(best)
    fallen = program(row_lower=-9.0, lower=-INF, upper=INF)
    result = decompose(fallen, BLOCKS).solve()
    assert (result.stop_reason, result.bound) == (StopReason.UNBOUNDED, -INF)
    cost, matrix = [1, 1, -2, 1, 1, 1], np.zeros((4, 6))
    matrix[0, :], matrix[1, :2], matrix[2, 2:4], matrix[3, 4:] = 1, [3, 5], [1, -1], [5, 7]
    sides = [-INF, 4, -5, 6], [20, 99, 5, 99]
    own = Program(cost, matrix, *sides, 0, INF, None, np.ones(6))
    for blocks in (None, {"r1": 0, "r2": 1, "r3": 2}):
        result = decompose(own, blocks).solve()
        assert result.structure is not None
        assert (result.stop_reason, result.objective) == (StopReason.OPTIMAL, -14)
    monkeypatch.setattr(heuristics, "MOST_DIVES", 20)
    matrix = [[0.5, -1], [1, 0]]
    dive = Program([3, -1], matrix, [-1.5, 0], [INF, 3.5], -INF, INF, None, np.ones(2))
    result = decompose(dive, {"r1": 0}).solve()
    assert (result.stop_reason, result.objective) == (StopReason.OPTIMAL, -1)


def test_many_equal_blocks() -> None:
    """Ten thousand of them are one pricing problem; all have their part of the answer."""
    n = 10_000
    rows = [
        sp.csr_array(np.tile([[1.0, 2.0]], n)),
        sp.kron(sp.eye_array(n), sp.csr_array([[2.0, 3.0]])),
    ]
    own = Program(
        -np.tile([1.0, 2.0], n), sp.csr_array(sp.vstack(rows)), -INF,
        np.r_[n / 2, np.full(n, 4.0)], 0, 1, None, np.ones(2 * n),
    )  # fmt: skip
    result = decompose(own, {f"r{1 + k}": k for k in range(n)}).solve()
    assert result.structure is not None
    assert result.structure.groups() == [tuple(range(n))]
    assert result.objective == -n / 2


class Seen:
    """A callback of every kind."""

    def __init__(self) -> None:
        self.states: list[TreeState] = []
        self.result: Any = None
        self.closed = 0

    def __call__(self, state: TreeState) -> None:
        """After a node."""
        self.states.append(state)

    waiting = __call__

    def finish(self, result: BranchAndPriceResult) -> None:
        """At the end."""
        self.result = result

    def close(self) -> None:
        """However it ends."""
        self.closed += 1


def test_callbacks_see_the_models_own_values(tmp_path: Path) -> None:
    """Of a model that is maximised the bound is above the solution, and both meet.

    A plain function may stop the search; then the bound is on the right side of the optimum. A
    checkpoint gets the records of the search behind the model.
    """
    model, blocks = assignment(3)
    seen, stream = Seen(), io.StringIO()
    kept = Checkpoint(tmp_path / "search.ckpt", every=0)
    line = TreeProgress(console=Console(file=stream, width=200))
    result = decompose(model, blocks).solve(callbacks=[seen, line, kept])
    assert result.tree is not None
    assert result.objective > 0 > result.tree.objective
    assert all(state.objective <= state.bound + 1e-6 for state in seen.states)
    assert seen.states[-1].objective == pytest.approx(result.objective)
    assert seen.result.objective == pytest.approx(result.objective)
    assert seen.result.bound == pytest.approx(result.bound)
    assert seen.closed == 1
    again = decompose(model, blocks).solve(resume=tmp_path / "search.ckpt")
    assert again.objective == result.objective
    assert again.tree is not None
    assert again.tree.n_nodes == result.tree.n_nodes
    with pytest.raises(ResumeError, match="branch and cut solves this model"):
        decompose(model, {}).solve(resume=tmp_path / "search.ckpt")
    assert f"objective {result.objective:.8g}, bound {result.objective:.8g}" in stream.getvalue()
    stopped = decompose(*assignment(9)).solve(callbacks=[lambda state: True], heuristics=[])
    best = compact(assignment(9)[0]).objective
    assert stopped.stop_reason is StopReason.CALLBACK
    assert math.inf > stopped.bound >= best - 1e-6
    assert stopped.objective <= best + 1e-6
    assert "blocks" in stopped.summary()


@pytest.mark.parametrize(
    ("changed", "blocks", "part"),
    [
        ({"cost": [-3.0, -2, -2, 5]}, BLOCKS, "costs"),
        ({"matrix": [LINK, FIRST, [0, 0, 2.0, 1]]}, BLOCKS, "matrix"),
        ({"row_upper": [3.0, 4, 9]}, BLOCKS, "sides of rows"),
        ({"upper": [1.0, 1, 1, 2]}, BLOCKS, "bounds"),
        ({"integrality": [True, True, True, False]}, BLOCKS, "integer variables"),
        ({}, {"r2": 0, "r1": 1}, "blocks"),
    ],
)
def test_a_search_of_another_model_does_not_go_on(
    changed: dict[str, Any], blocks: Blocks, part: str, tmp_path: Path
) -> None:
    """Whatever differs is named, also inside a block; the same model from elsewhere goes on."""
    path = tmp_path / "search.ckpt"
    result = decompose(program(), BLOCKS).solve(callbacks=[Checkpoint(path)])
    again = replace(program(), matrix=sp.csc_array(program().matrix))
    assert decompose(again, BLOCKS).solve(resume=path).objective == result.objective
    structure = structure_of(as_model(program(**changed)), blocks)
    with pytest.raises(ResumeError, match=rf"parameters \({part}\): resume with the model"):
        decompose(program(**changed), blocks).solve(resume=path)
    found = Decomposition(as_model(program(**changed)), structure, "found", detected=True)
    with pytest.raises(ResumeError, match=part):
        found.solve(resume=path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nonsense": 3}, "'nonsense', which is no parameter of BranchAndPrice"),
        ({"timelimit": 3}, r"'timelimit'.*; did you mean 'time_limit'\?"),
        ({"verbose": "x"}, "verbose must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"time_limit": -1.0}, "time_limit must be a number of at least 0"),
        ({"gap": "x"}, "gap must be a number of at least 0"),
    ],
)
def test_options_are_checked_whoever_solves_the_model(options: dict[str, Any], words: str) -> None:
    """An option that does not exist is refused also where branch and cut solves the model."""
    model = cp.Variable(2, integer=True)
    problem = cp.Problem(cp.Minimize(model[0] + model[1]), [model >= 0.5, model <= 3])
    with pytest.raises((TypeError, ValueError), match=words):
        decompose(problem).solve(**options)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_model_without_a_solution_says_so_in_its_own_terms(maximize: bool) -> None:
    """The row by its name; the bound is what has no solution better than it, in its sense."""
    jobs, agents = [[1, 0, 1, 0], [0, 1, 0, 1]], [[2, 5, 0, 0], [0, 0, 2, 5]]
    low, high = [1, 1, -INF, -INF], [1, 1, 4, 4]
    model = Program([3, 4, 5, 2], jobs + agents, low, high, 0, 1, None, np.ones(4))
    names = ("job_0", "job_1", "agent_0", "agent_1")
    own = replace(as_model(model), row_names=names, maximize=maximize)
    result = decompose(own, {"agent_0": 0, "agent_1": 1}).solve()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert "the rows 'job_1' (by 1)" in result.message
    assert "costs at least" not in result.message
    assert result.bound == result.objective == (-INF if maximize else INF)


def test_messages_name_blocks_and_variables_as_the_user_does() -> None:
    """A block without a point by its label; where costs fall without end, the variables."""
    labels = {"r1": "first", "r2": "second"}
    result = decompose(
        program(row_lower=[-INF, -INF, 3.9], row_upper=[3.0, 4, 3.9]), labels
    ).solve()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert result.message.startswith("block 'second' has no point that meets its own rows")
    own = {"row_lower": [-INF, -1, -1], "row_upper": INF, "upper": INF}
    falling = program(matrix=[LINK, [1.0, -1, 0, 0], [0, 0, 1.0, -1]], **own)
    result = decompose(falling, labels).solve()
    assert result.stop_reason is StopReason.UNBOUNDED
    assert "some with the variables 'x0', 'x1'" in result.message


@pytest.mark.parametrize("make", [packing, stock])
def test_decisions_that_name_rows_are_kept(make: Callable[[int], Any], tmp_path: Path) -> None:
    """Checkpoints of trees that branch on pairs of linking rows, or count columns by them."""
    path = tmp_path / "search.ckpt"
    for seed in range(3):
        model, blocks = make(seed)
        told = [Checkpoint(path, every=0), lambda state: state.n_nodes >= 2]
        decompose(model, blocks).solve(callbacks=told, heuristics=[])
        result = decompose(model, blocks).solve(resume=path)
        assert result.objective == pytest.approx(compact(model).objective)


@pytest.mark.parametrize(
    ("resume", "error", "words"),
    [
        (5, TypeError, "resume must be the path of the file of a Checkpoint, got 5"),
        ("none.ckpt", FileNotFoundError, "resume: there is no file of a Checkpoint: 'none.ckpt'"),
    ],
)
def test_what_is_no_checkpoint_is_refused(resume: Any, error: Any, words: str) -> None:
    """Whether blocks were given or found."""
    for blocks in (BLOCKS, None):
        with pytest.raises(error, match=words):
            decompose(program(), blocks).solve(resume=resume)


@pytest.mark.parametrize("n_rows", [0, 2])
def test_models_without_variables(n_rows: int) -> None:
    """The constant is their optimum, unless 0 is not between the sides of a row."""
    nothing = np.zeros(0)
    empty = Program(nothing, np.zeros((n_rows, 0)), -1.0, 2.0, nothing, nothing, constant=3.0)
    result = decompose(empty).solve()
    assert (result.stop_reason, result.objective, result.bound) == (StopReason.OPTIMAL, 3, 3)
    if n_rows:
        result = decompose(replace(empty, row_lower=np.array([-1.0, 0.5]))).solve()
        assert (result.stop_reason, result.bound) == (StopReason.INFEASIBLE, INF)


@pytest.mark.parametrize("blocks", [BLOCKS, None, {}], ids=["given", "found", "none"])
@pytest.mark.parametrize("maximize", [False, True])
def test_bounds_of_models_without_an_optimum(blocks: Any, maximize: bool) -> None:
    """No solution is better than inf where there is none; any is, than −inf where they fall."""
    sign = -1.0 if maximize else 1.0
    none = {"row_lower": [7.0, -INF, -INF], "row_upper": [7.0, 4, 4]}
    for changed, reason, bound in (
        (none, StopReason.INFEASIBLE, INF),
        ({**none, "integrality": None}, StopReason.INFEASIBLE, INF),
        ({"row_lower": [1.5, -INF, -INF], "row_upper": [1.5, 4, 4]}, StopReason.INFEASIBLE, INF),
    ):
        model = replace(as_model(program(**changed)), maximize=maximize)
        result = decompose(model, blocks).solve()
        assert (result.stop_reason, result.bound) == (reason, sign * bound)
        assert not math.isfinite(result.objective)
        assert result.x == {}


@pytest.mark.parametrize("constant", [1e4, -1e4, 6.5])
def test_gaps_of_the_tree_count_the_constant(constant: float) -> None:
    """Relative to the whole objective: of callbacks and of the result, and so the search stops."""
    model, blocks = assignment(9)
    far = replace(model, program=replace(model.program, constant=constant))
    seen = Seen()
    result = decompose(far, blocks).solve(gap=1e-2, callbacks=[seen], heuristics=[])
    assert result.gap <= 1e-2
    for state in seen.states:
        if math.isfinite(state.objective):
            share = abs(state.objective - state.bound) / max(1.0, abs(state.objective))
            assert state.gap == pytest.approx(share)
    assert result.gap == pytest.approx(result.tree.gap) == pytest.approx(seen.result.gap)
