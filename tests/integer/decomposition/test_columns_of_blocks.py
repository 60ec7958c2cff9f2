"""Rays, copies of linking variables, and blocks with integer and continuous variables."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import decompose
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer.branching.decisions import VariableBound
from cgboost.integer.decomposition import branch_and_cut, decomposition
from cgboost.integer.decomposition.blocks import by_rows, structure_of
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.pricing.block import BlockRequest
from cgboost.integer.decomposition.pricing.ray_problem import RayProblem, has_rays
from cgboost.integer.decomposition.reformulation import obstacle, reformulated
from solvers import Program, SolverError, solve

from .cases import anything, lot_sizing, makespan

INF = np.inf


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_two_blocks_without_ends(whole: bool, given: bool, tmp_path: Path) -> None:
    """Maximise 3x + 2y + u + v: the linking rows alone end both blocks, at 26."""
    text = """Maximize
 3 x + 2 y + u + v
Subject To
 first: x - y <= 2
 second: u - v >= -4
 link: x + u <= 5
 more: y + v <= 7
"""
    path = tmp_path / "rays.lp"
    path.write_text(text + ("General\n x y u v\n" if whole else "") + "End\n")
    blocks = {"first": 0, "second": 1} if given else None
    result = decompose(path, blocks).solve()
    best = solve(as_model(path).program, "highs").objective
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == result.bound == pytest.approx(-best)
    if given:
        assert result.tree is not None
        rays = [column for column in result.tree.pool if column.ray]
        assert rays
        assert all(not column.integer for column in rays)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("ratio", "low", "optimum"),
    [(1e9, 0.0, -5e9), (np.sqrt(2), -INF, -16.0), (np.sqrt(2), 0.0, 0.0)],
)
def test_rays_that_are_no_use(
    ratio: float, low: float, optimum: float, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too steep for tolerances, or without a whole point along them: HiGHS has the answer."""
    monkeypatch.setattr(branch_and_cut, "TURN", 0.0)
    monkeypatch.setattr(decomposition, "SHARE_OF_GIVEN", 0.1)
    matrix, high = [[1.0, -ratio, 0.0], [1.0, 1.0, 1.0]], [0.0, 100.0]
    if ratio == 1e9:
        matrix, high = [[1.0, -ratio, 0.0], [1.0, 0.0, 1.0]], [0.0, 5e9]
    kinds = np.full(3, whole) if ratio < 9 else np.array([False, whole, False])
    cost = [-1.0, float(ratio < 9), 0.0]
    program = Program(cost, matrix, [low, -INF], high, 0, INF, None, kinds)
    result = decompose(program, {"r0": 0}).solve(time_limit=30.0)
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    if whole or ratio > 9:
        assert result.objective == pytest.approx(optimum)


def test_rays_are_those_of_the_relaxation() -> None:
    """A direction of least cost is found where the linear program of the block falls, and it only.

    It stays within the cone, and bounds of a node leave out what they end.
    """
    n_falling = 0
    for seed in range(40):
        model, blocks = anything(seed, "rays mixed")
        structure = structure_of(model, blocks)
        if obstacle(structure):
            continue
        made = reformulated(structure)
        rng = np.random.default_rng(seed)
        for problem in made.pricer.problems:
            block = problem.block
            cost = rng.integers(-3, 6, len(block.variables)).astype(float)
            sides, bounds = (block.row_lower, block.row_upper), (block.lower, block.upper)
            relaxed = Program(cost, block.matrix, *sides, *bounds)
            try:
                solve(relaxed, "highs")
                falls = False
            except SolverError as error:
                falls = "unbounded" in str(error).lower()
                if not falls:
                    continue
            found, _ = RayProblem.of(block).solve(BlockRequest(cost, *bounds))
            assert (found is not None) == falls
            n_falling += falls
            if found is None:
                continue
            assert block.has_rays
            along = block.matrix @ found
            assert (along[np.isfinite(block.row_lower)] >= -1e-7).all()
            assert (along[np.isfinite(block.row_upper)] <= 1e-7).all()
            assert cost @ found < 0
            ended = np.where(found > 0, 9.0, block.upper)
            again, _ = RayProblem.of(block).solve(BlockRequest(cost, block.lower, ended))
            assert again is None or (again[found > 0] <= 0).all()
    assert n_falling >= 5


@pytest.mark.parametrize(
    ("matrix", "low", "high", "expected"),
    [
        ([[1.0, 1.0]], -INF, 4.0, False),  # a row shows it
        ([[1.0, -1.0], [-1.0, 2.0]], -INF, 4.0, False),  # both rows do together
        ([[1.0, -1.0]], -INF, 4.0, True),
        ([[2.0, 0.0]], -INF, 4.0, True),
        (np.zeros((0, 2)), -INF, INF, True),
    ],
)
def test_blocks_that_have_rays(matrix: Any, low: float, high: float, expected: bool) -> None:
    """Whether it is seen from one row or takes a linear program."""
    rows = sp.csr_array(np.array(matrix, dtype=float).reshape(-1, 2))
    sides = np.full(rows.shape[0], low), np.full(rows.shape[0], high)
    assert has_rays(rows, sides, (np.zeros(2), np.full(2, INF))) is expected
    assert not has_rays(rows, sides, (np.zeros(2), np.ones(2)))


def test_bounds_of_variables_and_rays() -> None:
    """A ray keeps to a bound if points do, however much of it is added."""
    up = Column(np.zeros(1), "up", variables={"x": 0.5}, block="k", ray=True, integer=False)
    for bound, allowed in (
        (VariableBound("x", lower=7.0), True),
        (VariableBound("x", upper=7.0), False),
        (VariableBound("x", lower=7.0, upper=9.0, block="k"), False),
        (VariableBound("x", upper=7.0, block="other"), True),
        (VariableBound("y", lower=1.0, upper=7.0), True),
    ):
        assert bound.allows(up, {}) is allowed


def test_copies_of_linking_variables() -> None:
    """The first block has the variable, others copies with its bounds; answers have none of them.

    Names of copies differ from all others, and duals are of the rows of the model.
    """
    model, blocks = makespan(0)
    taken = (*model.names[:-2], "x18 in block 1", "x18")
    model = Model(model.program, model.row_names, taken)
    structure = structure_of(model, blocks)
    assert structure.model.names[-2:] == ("x18 in block 1'", "x18 in block 2")
    assert structure.copied.tolist() == [18, 18]
    assert structure.block_of_variable[[18, 19, 20]].tolist() == [0, 1, 2]
    program = structure.model.program
    assert program.upper[19:].tolist() == [INF, INF]
    assert program.matrix.toarray()[-2:, 18:].tolist() == [[-1, 1, 0], [-1, 0, 1]]
    assert by_rows(model, np.full(len(model.row_names), -1)).copied.size == 0
    result = decompose(model, blocks).solve()
    assert set(result.x) == set(model.names)
    assert set(result.duals) == set(model.row_names[:6])


@pytest.mark.parametrize("kind", ["rays", "linked whole", "mixed"])
def test_the_pool_is_in_names_of_the_model(kind: str) -> None:
    """Its points meet the rows of their blocks, and cost what their own variables do."""
    n_points = 0
    for seed in range(4):
        model, blocks = anything(seed, kind)
        model, program = replace(model, maximize=True), model.program
        places = {name: j for j, name in enumerate(model.names)}
        result = decompose(model, blocks).solve()
        for own in result.pool:
            x = np.zeros(len(places))
            x[[places[name] for name in own.x]] = list(own.x.values())
            rows = [str(blocks.get(name)) == own.block for name in model.row_names]
            sides = (program.row_lower[rows], program.row_upper[rows])
            if own.ray:
                sides = tuple(np.where(np.isinf(side), side, 0.0) for side in sides)
            inside = model.matrix[rows] @ x
            assert (inside >= sides[0] - 1e-6).all()
            assert (inside <= sides[1] + 1e-6).all()
            if not len(result.structure.copied):
                assert own.objective == pytest.approx(-program.cost @ x)
            n_points += not own.ray
    assert n_points > 5


def test_the_bound_of_lot_sizing_is_that_of_the_hull() -> None:
    """Convexified blocks: the root is better than the relaxation of the model."""
    gaps = []
    for seed in range(3):
        model, blocks = lot_sizing(seed)
        result = decompose(model, blocks).solve()
        assert result.tree is not None
        assert not any(column.integer for column in result.tree.pool)
        program = model.program
        relaxed = solve(
            Program(
                program.cost, program.matrix, program.row_lower, program.row_upper,
                program.lower, program.upper,
            ),
            "highs",
        ).objective  # fmt: skip
        root = result.tree.tree["bound"][0]
        gaps.append((result.objective - root) / (result.objective - relaxed))
    assert max(gaps) < 0.3


@pytest.mark.slow
def test_a_published_lot_sizing_model() -> None:
    """Six items and ten periods of X11117A with half the capacity: 6991.10, proven."""
    path = Path(os.environ.get("CGBOOST_DATA", "")) / "coluna" / "lot_sizing" / "X11117A"
    if not path.is_file():
        pytest.skip("the data are not here")
    lines = [[float(word) for word in line.split()] for line in path.read_text().split("\n")[:33]]
    items, periods = 6, 10
    use, holding, setup, opening = np.array(lines[3:13])[:items].T
    demand = np.array(lines[13:33])[:periods, :items].T
    n = 3 * items * periods  # lots, stocks and setups of each item
    lots, stocks, setups = np.arange(n).reshape(items, 3, periods).transpose(1, 0, 2)
    matrix, low, high = np.zeros((periods + 2 * items * periods, n)), [], []
    for t in range(periods):
        matrix[t, lots[:, t]], matrix[t, setups[:, t]] = use, setup
        low.append(-INF)
        high.append(lines[2][0] / 2)
    for i in range(items):
        for t in range(periods):
            row = len(low)
            matrix[row, lots[i, t]], matrix[row, stocks[i, t]] = 1.0, -1.0
            matrix[row, stocks[i, t - 1]] += float(t > 0)
            matrix[row + 1, lots[i, t]] = 1.0
            matrix[row + 1, setups[i, t]] = -demand[i, t:].sum()
            low += [demand[i, t], -INF]
            high += [demand[i, t], 0.0]
    cost, upper, whole = np.full(n, lines[1][0]), np.full(n, INF), np.zeros(n)
    cost[stocks], cost[setups] = holding[:, None], opening[:, None]
    upper[setups], whole[setups] = 1.0, 1.0
    model = as_model(Program(cost, matrix, low, high, 0, upper, None, whole))
    blocks = {f"r{periods + k}": k // (2 * periods) for k in range(2 * items * periods)}
    result = decompose(model, blocks).solve()
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    assert result.objective == pytest.approx(6991.10, abs=0.01)
    assert result.bound == pytest.approx(6991.10, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rays", "linked", "mixed", "rays linked mixed", "rays whole"])
def test_many_small_models(kind: str) -> None:
    """Two hundred of a kind, against HiGHS: the same end, and the same objective."""
    from .test_decomposition import compact

    for seed in range(1000, 1200):
        model, blocks = anything(seed, kind)
        result, expected = decompose(model, blocks).solve(time_limit=20), compact(model)
        if result.stop_reason is StopReason.TIME:
            continue  # a whole block without ends may have no last node
        if expected.stop_reason in (StopReason.INFEASIBLE, StopReason.UNBOUNDED):
            assert (result.stop_reason, result.bound) == (expected.stop_reason, expected.bound)
            continue
        room = 1e-5 * max(1.0, abs(expected.objective))
        assert result.objective == pytest.approx(expected.objective, abs=room), seed
        assert result.bound == pytest.approx(expected.objective, abs=10 * room), seed


NEARLY_FLAT = {
    "prices of an infeasible master hide a fall": (
        "Minimize 10 a\nSubject To\n r: 7 a + 3 b <= 18.77\n s: 6 b <= 14.53\n"
        " t: 3 a + 2 b >= 13.06\n"
        "Bounds\n -inf <= a <= 4\n b free\nEnd\n",
        {"r": 1},
    ),
    "a ray again and again": (
        "Minimize\n 0 a\nSubject To\n r: 2 a + 1000 c = 2\n s: 1000 a + 1000 b + c >= 2\n"
        " t: -20 <= 4 a + 2 b + 2 c <= 32\n u: -20 <= -4 a + b - 4 c <= 6\n"
        "Bounds\n a free\n b >= -3\n c >= -3\nGeneral\n b c\nEnd\n",
        {"r": 2, "s": 2},
    ),
    "costs that fall by rounding": (
        "Minimize\n c\nSubject To\n r: 7 a - 1000 b + 1.5 c >= 3\n s: 2 b + 2 c >= -20\n"
        " t: a + 3 c <= 11\n"
        "Bounds\n a free\n c free\nGeneral\n b\nEnd\n",
        {"r": 1},
    ),
    "no more than a point at prices of rounding": (
        "Minimize\n last - first\nSubject To\n"
        " a: 23 x + 12 y - last <= 0\n b: 23 x + 12 y - first >= 0\n"
        " c: 20 v + 15 w - last <= 0\n d: 20 v + 15 w - first >= 0\n e: x + v = 1\n f: y + w = 1\n"
        "Bounds\n last free\n first free\nBinary\n x y v w\nEnd\n",
        {"a": 1, "b": 1, "c": 2, "d": 2},
    ),
}


@pytest.mark.parametrize("text", NEARLY_FLAT)
def test_directions_that_hardly_fall_end_no_search(text: str, tmp_path: Path) -> None:
    """Given blocks with rays have the end that HiGHS gives the model, whatever prices are like."""
    lines, blocks = NEARLY_FLAT[text]
    path = tmp_path / "model.lp"
    path.write_text(lines)
    known, result = decompose(path, {}).solve(), decompose(path, blocks).solve()
    assert result.stop_reason == known.stop_reason
    assert result.objective == pytest.approx(known.objective, abs=1e-6)


@pytest.mark.parametrize("size", [1e6, 1e7])
@pytest.mark.parametrize("copies", [1, 2])
def test_a_solution_is_one_with_its_integers_made_whole(
    size: float, copies: int, tmp_path: Path
) -> None:
    """In x ≤ size·y a y within the tolerance of 0 is no setup: nothing is gained, nothing paid."""
    numbers = range(copies)
    total = " + ".join(f"5 y{k} - 3 x{k}" for k in numbers)
    rows = "".join(f" r{k}: x{k} - {size:.0f} y{k} <= 0\n" for k in numbers)
    link = " + ".join(f"x{k}" for k in numbers)
    path = tmp_path / "model.lp"
    path.write_text(
        f"Minimize\n {total}\nSubject To\n{rows} link: {link} <= 1\nBinary\n "
        + " ".join(f"y{k}" for k in numbers)
        + "\nEnd\n"
    )
    result = decompose(path, {f"r{k}": k for k in numbers}).solve()
    assert (result.objective, result.bound) == (0.0, 0.0)
    assert not any(result.x.values())
