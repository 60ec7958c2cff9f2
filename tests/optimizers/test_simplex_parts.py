"""Parts of the simplex: tableau, steps between vertices, purification, columns that wait."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cgboost.generation.columns import Column
from cgboost.optimizers.linear.restricted_primal import InactivePool
from cgboost.optimizers.simplex import vertex as vertex_module
from cgboost.optimizers.simplex.purification import Face, purified
from cgboost.optimizers.simplex.tableau import PENDING, Tableau
from cgboost.optimizers.simplex.vertex import KinkedVertex, StepOutcome
from tests.effort import examples

# ---------------------------------------------------------------------- the tableau


def exchange(table: Tableau, row: int, column: int) -> None:
    """One exchange, with what it asks for."""
    table.exchange(row, column, table.column(column), table.row(row))


def test_exchanges_keep_the_relation():
    """Points of the first map are points of the last, with the entries that have changed places.

    What it was made of does not change.
    """
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 7))
    before, x = matrix.copy(), rng.normal(size=(7, 5))
    y, table = matrix @ x, Tableau(matrix)
    for _ in range(3 * PENDING + 5):
        column = int(rng.integers(7))
        row = int(np.abs(table.column(column)).argmax())
        exchange(table, row, column)
        y[row], x[column] = x[column].copy(), y[row].copy()
    # before and after what is pending is taken from it
    rows = np.array([3, 0, 8])
    weights = rng.normal(size=3)
    np.testing.assert_allclose(table.row(4) @ x, y[4], atol=1e-8)
    np.testing.assert_allclose(table.combined(rows, weights) @ x, weights @ y[rows], atol=1e-8)
    columns = np.column_stack([table.column(place) for place in range(7)])
    np.testing.assert_allclose(columns @ x, y, atol=1e-8)
    np.testing.assert_allclose(table.output(x), y, atol=1e-8)
    np.testing.assert_allclose(table.rows(rows) @ x, y[rows], atol=1e-8)
    weights = rng.normal(size=12)
    np.testing.assert_allclose(table.slopes(weights) @ x, weights @ y, atol=1e-8)
    np.testing.assert_allclose(table.squares(), (columns**2).sum(axis=0), rtol=1e-8)
    np.testing.assert_array_equal(matrix, before)


# ---------------------------------------------------------------------- vertices


def kinked(seed: int, *, one_sided: bool) -> tuple[KinkedVertex, np.ndarray, np.ndarray]:
    """Quantities x and y = Mx + shift at x = 0, their slopes, and the objective's linear part."""
    rng = np.random.default_rng(seed)
    n, p = 40, 8
    matrix, shift = rng.normal(size=(n, p)), rng.normal(size=n)
    upper = np.concatenate([rng.uniform(1, 3, p), rng.uniform(0, 1, n)])
    slopes = np.array([upper, np.concatenate([-upper[:p], np.zeros(n)])])
    if one_sided:
        slopes[1, :p] = -np.inf
    vertex = KinkedVertex(matrix, np.arange(p), p + np.arange(n))
    vertex.slopes_are(slopes)
    vertex.value[:], vertex.side[:] = shift, np.where(shift > 0, 1.0, -1.0)
    linear = rng.normal(size=p)
    vertex.dual[:] = -(linear + vertex.own_slope @ matrix)
    vertex.measure()
    return vertex, slopes, linear


def value(vertex: KinkedVertex, slopes: np.ndarray, linear: np.ndarray) -> float:
    """Of the objective at the vertex."""
    quantities = np.zeros(slopes.shape[1])
    quantities[vertex.others] = vertex.value
    assert (quantities[np.isinf(slopes[1])] >= -1e-12).all()
    below = np.where(quantities < 0, np.where(np.isinf(slopes[1]), 0.0, slopes[1]), 0.0)
    above = np.where(quantities > 0, slopes[0], 0.0)
    return float((above + below) @ quantities + linear @ quantities[: len(linear)])


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_steps_go_down_to_the_optimum(seed, one_sided):
    """Each lowers the objective, and the last is at the optimum of the linear program."""
    vertex, slopes, linear = kinked(seed, one_sided=one_sided)
    matrix, shift = vertex.table.output(np.eye(8)), vertex.value.copy()
    values = [value(vertex, slopes, linear)]
    while vertex.step() is StepOutcome.DONE:
        values.append(value(vertex, slopes, linear))
    assert (np.diff(values) < 0).all()
    assert len(values) > 1
    p, n = len(linear), len(shift)  # x = a − b, y ≤ e
    answer = linprog(
        np.concatenate([linear + slopes[0, :p], slopes[0, :p] - linear, slopes[0, p:]]),
        A_ub=np.hstack([matrix, -matrix, -np.eye(n)]),
        b_ub=-shift,
        bounds=[(0, None)] * p + [(0, 0 if one_sided else None)] * p + [(0, None)] * n,
    )
    assert values[-1] == pytest.approx(answer.fun, rel=1e-9)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_loops_make_the_steps_of_arrays(seed, one_sided, monkeypatch):
    """What numba compiles, many steps at a time, leads across the same vertices to the same end."""
    monkeypatch.setattr(vertex_module, "compiled", lambda function: function)
    (one, *_), (other, *_) = (kinked(seed, one_sided=one_sided) for _ in range(2))
    total, outcome = 0, StepOutcome.DONE
    while outcome is StepOutcome.DONE:
        made, outcome = one.walk()
        total += made
        for _ in range(made):
            assert other.step() is StepOutcome.DONE
        for name in ("others", "at_zero", "value", "side", "dual", "_length", "_jump", "_most"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9)
    assert total > 1
    assert outcome is other.step() is StepOutcome.NONE
    np.testing.assert_allclose(one.table.output(np.eye(8)), other.table.output(np.eye(8)))
    if not one_sided:
        one.dual[3] = other.dual[3] = 1e3
        assert one.walk() == (0, StepOutcome.ENDLESS)
        assert other.step() is StepOutcome.ENDLESS
        assert one.endless == other.endless


def test_steps_without_an_end_or_a_beginning():
    """Where nothing stops the fall, but what moves by rounding; and where nothing is at 0."""
    vertex, slopes, _ = kinked(0, one_sided=False)
    vertex.dual[3] = 2.0 * slopes.sum() + slopes[0].sum()
    before = vertex.value.copy()
    assert vertex.step() is StepOutcome.ENDLESS
    np.testing.assert_array_equal(vertex.value, before)
    vertex = KinkedVertex(np.full((3, 1), -1e-16), np.array([0]), np.arange(1, 4))
    upper = np.array([1.0, 1e12, 1e12, 1e12])
    vertex.slopes_are(np.array([upper, -upper]))
    vertex.value[:], vertex.dual[:] = 1e-12, 1.0 + 1e-6
    vertex.measure()
    assert vertex.step() is StepOutcome.ENDLESS
    vertex = KinkedVertex(np.zeros((3, 0)), np.zeros(0, dtype=np.intp), np.arange(3))
    vertex.measure()
    assert vertex.step() is StepOutcome.NONE


# ---------------------------------------------------------------------- purification


def random_face(seed: int) -> Face:
    """Rows on their margin and off it, coordinates that can be moved along it, and some of 0."""
    rng = np.random.default_rng(seed)
    n_variables, n_coordinates = int(rng.integers(1, 30)), int(rng.integers(1, 20))
    slopes = rng.standard_normal((n_variables, n_coordinates))
    slopes[:, rng.random(n_coordinates) < 0.3] = slopes[:, [0]]  # columns that repeat another
    rate = rng.standard_normal(n_variables)
    rate[rng.random(n_variables) < 0.4] = 0.0
    priced = np.ones(n_coordinates, dtype=bool)
    priced[-1] = rng.random() < 0.5
    return Face(rng.standard_normal(n_coordinates), rate, slopes, priced)


@settings(max_examples=examples(200))
@given(seed=st.integers(0, 10**6))
def test_purification_ends_on_a_vertex_of_the_face(seed: int) -> None:
    """Nothing crosses 0, the margin stays, and what is left makes a basis with the rows named."""
    face = random_face(seed)
    point, tight = purified(face)
    rate = face.rate + face.slopes @ (point - face.point)
    small = 1e-9 * (1.0 + np.abs(face.slopes).sum() * np.abs([*point, *face.point]).max())
    assert not np.any(face.priced & (point * face.point < 0))
    assert np.all(np.abs(rate[face.rate == 0.0]) <= small)
    assert np.all(rate * np.sign(face.rate) >= -small)
    assert np.all(np.abs(rate[tight]) <= small)
    used = point != 0.0
    assert np.linalg.matrix_rank(face.slopes[np.ix_(tight, used)]) == len(tight)
    # a free offset alone may be left over where no row can stop it
    assert len(tight) == used.sum() or (not face.priced[-1] and not used[:-1].any())


def test_small_coordinates_go_first() -> None:
    """Of two columns that are alike the smaller one goes, and its share moves to the other."""
    slopes = -np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0]])
    face = Face(np.array([0.2, 0.7, 1.0]), np.zeros(2), slopes, np.ones(3, dtype=bool))
    point, tight = purified(face)
    assert point == pytest.approx([0.0, 0.9, 1.0])
    assert sorted(tight) == [0, 1]


# ---------------------------------------------------------------------- columns that wait


@pytest.mark.parametrize("with_costs", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_exactly_the_columns_of_negative_reduced_cost_are_taken_out(
    seed: int, with_costs: bool
) -> None:
    """By number, with the costs or without; what is left is priced again at other duals."""
    rng = np.random.default_rng(seed)
    H, costs, numbers = rng.normal(size=(4, 12)), rng.normal(size=12), rng.permutation(40)[:12]
    columns = [Column(H[:, j], j, cost=costs[j]) for j in range(12)]
    pool = InactivePool(4)
    pool.deactivate(numbers[:5], columns[:5])
    pool.deactivate(numbers[5:], columns[5:])
    left = set(numbers)
    for _ in range(3):
        duals = rng.normal(size=4)
        reduced = (costs if with_costs else 0.0) - duals @ H
        expected = set(numbers[reduced < 0]) & left
        assert set(pool.take_improving(duals, with_costs=with_costs)) == expected
        left -= expected
        assert len(pool) == len(left)


def test_rounding_brings_no_column_back() -> None:
    """A reduced cost that is 0 but for rounding leaves the column where it is."""
    pool = InactivePool(1)
    pool.deactivate(np.array([7]), [Column(np.ones(1), 0, cost=1.0)])
    assert pool.take_improving(np.array([1.0 + 1e-12]), with_costs=True).size == 0
    assert pool.take_improving(np.array([1.0 + 1e-6]), with_costs=True).tolist() == [7]
