"""Steps from vertex to vertex of a piecewise linear objective."""

import numpy as np
import pytest
from scipy.optimize import linprog

from cgboost.optimizers.simplex.vertex import FEW_KINKS, KinkedVertex, Step, first_kinks


@pytest.mark.parametrize("count", [1, FEW_KINKS, 40])
def test_kinks_end_where_the_slope_is_used_up(count):
    """As by a running sum over all of them in order, whatever the slope."""
    rng = np.random.default_rng(count)
    times, drops = rng.uniform(size=count), rng.uniform(size=count)
    order = np.argsort(times)
    sums = np.cumsum(drops[order])
    for number, most in enumerate(sums):
        found = first_kinks(times.copy(), drops, float(most) - 1e-9)
        assert found == order[: number + 1].tolist()
    assert first_kinks(times.copy(), drops, float(sums[-1]) + 1e-9) == []


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
    while vertex.step() is Step.DONE:
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


def test_an_edge_without_an_end_is_said():
    """No step is taken where nothing stops the fall."""
    vertex, slopes, _ = kinked(0, one_sided=False)
    vertex.dual[3] = 2.0 * slopes.sum() + slopes[0].sum()
    before = vertex.value.copy()
    assert vertex.step() is Step.ENDLESS
    np.testing.assert_array_equal(vertex.value, before)


def test_rounding_does_not_end_a_step():
    """Quantities that hardly move beside the one that does are not met, however near they are."""
    matrix = np.full((3, 1), -1e-16)
    vertex = KinkedVertex(matrix, np.array([0]), np.arange(1, 4))
    upper = np.array([1.0, 1e12, 1e12, 1e12])
    vertex.slopes_are(np.array([upper, -upper]))
    vertex.value[:], vertex.dual[:] = 1e-12, 1.0 + 1e-6
    vertex.measure()
    assert vertex.step() is Step.ENDLESS


def test_nothing_to_move_has_no_step():
    """Without a quantity at 0 there is no edge."""
    vertex = KinkedVertex(np.zeros((3, 0)), np.zeros(0, dtype=np.intp), np.arange(3))
    vertex.measure()
    assert vertex.step() is Step.NONE
