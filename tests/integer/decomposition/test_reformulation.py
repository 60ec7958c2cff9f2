"""Reformulated models of every kind have the optimum of the compact model, and bounds below it."""

import math

import numpy as np
import pytest

from cgboost import decompose
from cgboost.generation.history import StopReason
from cgboost.integer import ComponentBranching, RyanFoster, VariableBranching
from cgboost.integer.decomposition.blocks import Structure, structure_of
from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.reformulation import NotDecomposableError, reformulated
from solvers import Program

SIZE, N_LINKING, TOL = 2, 3, 1e-6


def model_of(seed: int, kinds: str) -> tuple[Model, dict[str, object]]:
    """Blocks of two variables, one for each letter, equal letters being equal blocks.

    ``n`` whole and at least 0, ``s`` whole and signed, ``f`` whole and bounded by rows alone, ``q``
    whole with quarters in the linking rows, ``c`` continuous; after them three variables of the
    master: between −2.5 and 3.5 and whole, at most 1.5, and free.
    """
    rng = np.random.default_rng(seed)
    data = {
        kind: (
            rng.integers(-2, 5, (N_LINKING, SIZE)) + (0.25 if kind == "q" else 0.0),
            rng.integers(1, 4, (2, SIZE)).astype(float),
            rng.integers(-4, 9, SIZE).astype(float),
        )
        for kind in sorted(set(kinds))
    }
    low = {"s": -1.0, "f": -np.inf}
    end = {"f": np.inf, "n": 3.0}
    n_blocks = len(kinds)
    n = SIZE * n_blocks + 3
    matrix = np.zeros((N_LINKING + 2 * n_blocks, n))
    for k, kind in enumerate(kinds):
        linking, rows, _ = data[kind]
        own = slice(SIZE * k, SIZE * (k + 1))
        matrix[:N_LINKING, own] = linking
        matrix[N_LINKING + 2 * k : N_LINKING + 2 * k + 2, own] = (
            [[1, 1], [1, -1]] if kind == "f" else rows
        )
    matrix[:N_LINKING, -3:] = [[1, 0, 1], [0, 1, 2], [2, 1, 0]]
    lower = np.repeat([low.get(kind, 0.0) for kind in kinds], SIZE)
    upper = np.repeat([end.get(kind, 2.0) for kind in kinds], SIZE)
    inside = np.clip(rng.integers(-1, 3, n - 3), np.maximum(lower, -1), np.minimum(upper, 2))
    right = matrix[:N_LINKING] @ np.r_[inside, 1.0, 0.5, -1.0]
    integer = np.r_[np.repeat([kind != "c" for kind in kinds], SIZE), True, False, False]
    program = Program(
        cost=np.r_[np.concatenate([data[kind][2] for kind in kinds]), 9.0, -5.0, 0.0],
        matrix=matrix,
        row_lower=np.r_[right - np.array([0, 1, np.inf]), np.full(2 * n_blocks, -3.0)],
        row_upper=np.r_[right + np.array([0, 1, 0]), np.full(2 * n_blocks, 4.0)],
        lower=np.r_[lower, -2.5, -np.inf, -np.inf],
        upper=np.r_[upper, 3.5, 1.5, np.inf],
        integrality=integer,
        constant=3.0,
    )
    return as_model(program), {f"r{N_LINKING + k}": k // 2 for k in range(2 * n_blocks)}


def structure(seed: int, kinds: str) -> Structure:
    """The blocks of such a model."""
    return structure_of(*model_of(seed, kinds))


@pytest.mark.parametrize("kinds", ["nn", "sss", "ssn", "ff", "fs", "qq", "qs", "cs", "ccs"])
@pytest.mark.parametrize("seed", range(4))
def test_optimum_and_bounds(kinds: str, seed: int) -> None:
    """The optimum is that of branch and cut, and no bound on the way is above it."""
    model, blocks = model_of(seed, kinds)
    optimum = Decomposition(model, None, "").solve(gap=1e-9).objective
    result = decompose(model, blocks).solve()
    assert result.tree is not None
    if math.isinf(optimum):
        assert result.stop_reason is StopReason.INFEASIBLE
        return
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    assert result.objective == pytest.approx(optimum, abs=TOL * max(1.0, abs(optimum)))
    made = reformulated(structure_of(model, blocks))
    bounds = result.tree.tree["global_bound"] + model.program.constant + made.constant
    assert (bounds <= optimum + TOL * max(1.0, abs(optimum))).all()


def test_some_of_these_models_are_divided() -> None:
    """The models above have trees of many nodes, and solutions with negative amounts."""
    results = [decompose(*model_of(seed, "ssn")).solve() for seed in range(4)]
    assert max(result.tree.n_nodes for result in results if result.tree) >= 5
    assert min(min(result.x.values(), default=0.0) for result in results) < 0


def test_equal_blocks_are_one_unless_their_columns_could_not_be_parted() -> None:
    """Vanderbeck's rows count columns of whole values; else every block is on its own."""
    whole, quarters = reformulated(structure(0, "sss")), reformulated(structure(0, "qqq"))
    assert whole.groups == [(0, 1, 2)]
    assert any(isinstance(rule, ComponentBranching) for rule in whole.branching)
    assert quarters.groups == [(0,), (1,), (2,)]
    assert not any(isinstance(rule, ComponentBranching) for rule in quarters.branching)


def test_variables_in_no_block_begin_at_a_bound() -> None:
    """A whole one at a whole number, one with an upper bound alone at this, a free one at 0."""
    made = reformulated(structure(0, "nn"))
    np.testing.assert_array_equal(made.base[-3:], [-2.0, 1.5, 0.0])
    steps = [next(iter(column.variables.items())) for column in made.master.columns]
    assert steps == [("x4", 1.0), ("x5", -1.0), ("x6", 1.0), ("x6", -1.0)]
    assert [column.upper for column in made.master.columns] == [5.0, np.inf, np.inf, np.inf]
    assert made.constant == 9.0 * -2 - 5.0 * 1.5


def test_signed_variables_are_named_to_the_branching_rule() -> None:
    """Those of blocks that may be negative, and those of the master."""
    (rule,) = (
        rule
        for rule in reformulated(structure(0, "ns")).branching
        if isinstance(rule, VariableBranching)
    )
    assert rule.signed == {"x2", "x3", "x4", "x5", "x6"}


def covering(sense: str, own: float = 0.0, *, whole: bool = True) -> Structure:
    """Two equal blocks of three 0/1 variables, three rows of ones, a variable in no block."""
    eye = np.eye(3)
    matrix = np.zeros((5, 7))
    matrix[:3] = np.hstack([eye, eye, np.array([[own], [0], [0]])])
    matrix[3, :3] = matrix[4, 3:6] = [2, 3, 4]
    low = np.r_[np.ones(3), np.full(2, -np.inf)]
    high = np.r_[np.ones(3) if sense == "==" else np.full(3, np.inf), np.full(2, 6.0)]
    program = Program(np.ones(7), matrix, low, high, 0, 1, None, np.r_[np.ones(6), float(whole)])
    return structure_of(as_model(program), {"r3": 0, "r4": 1})


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        (covering("=="), True),
        (covering(">="), True),
        (covering("==", 1.0), True),
        (covering("==", 2.0), False),
        (covering("==", 1.0, whole=False), False),
    ],
    ids=["partition", "cover", "a column more", "not 0 or 1", "a continuous column"],
)
def test_pairs_are_taken_where_every_column_is_whole(given: Structure, pairs: bool) -> None:
    """Ryan and Foster's rule needs rows of 0/1 columns; of covers, if less of one is a column."""
    rules = [rule for rule in reformulated(given).branching if isinstance(rule, RyanFoster)]
    assert bool(rules) is pairs


def test_no_whole_value_between_bounds() -> None:
    """Nothing is decomposed, and branch and cut says that nothing is feasible."""
    program = Program(np.ones(3), np.eye(3), -1, 1, [0, 0, 0.25], [1, 1, 0.75], None, np.ones(3))
    model = as_model(program)
    with pytest.raises(NotDecomposableError, match="'x2' has no whole value"):
        reformulated(structure_of(model, {"r0": 0, "r1": 1}))
    assert decompose(model, {"r0": 0, "r1": 1}).solve().stop_reason is StopReason.INFEASIBLE
