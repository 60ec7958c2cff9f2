"""The simplex tableau: quantities change places, rows and columns come and go."""

import numpy as np
import pytest

from cgboost.optimizers.simplex.tableau import PENDING, Tableau, exchanged


def dense(table: Tableau) -> np.ndarray:
    """The whole map."""
    return table.output(np.eye(table.shape[1]))


def exchange(table: Tableau, row: int, column: int) -> None:
    """One exchange, with what it asks for."""
    table.exchange(row, column, table.column(column), table.row(row))


def test_exchanges_keep_the_relation():
    """Points of the first map are points of the last, with the entries that have changed places."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 7))
    x = rng.normal(size=(7, 5))
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


def test_exchanges_all_at_once_are_those_one_by_one():
    """The same map, from a matrix and from a live one."""
    matrix = np.random.default_rng(1).normal(size=(9, 6))
    rows, columns = np.array([5, 0, 7]), np.array([2, 4, 1])
    table = Tableau(matrix)
    for row, column in zip(rows, columns, strict=True):
        exchange(table, row, column)
    np.testing.assert_allclose(dense(table), exchanged(matrix, rows, columns), atol=1e-10)


def test_quantities_that_cannot_change_places_are_refused():
    """A singular part of the map has no inverse."""
    with pytest.raises(np.linalg.LinAlgError):
        exchanged(np.ones((3, 3)), np.array([0, 1]), np.array([0, 1]))


def test_rows_and_columns_come_and_go():
    """Between exchanges, with those that are pending; the map is as if they had been there."""
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(8, 5))
    table = Tableau(matrix[:6, :3])
    exchange(table, 1, 2)
    held = exchanged(matrix[:6, :3], np.array([1]), np.array([2]))
    more = rng.normal(size=(6, 9))
    table.append_columns(more[:, :1])
    table.append_columns(more[:, 1:])
    held = np.hstack([held, more])
    np.testing.assert_allclose(dense(table), held, atol=1e-12)
    exchange(table, 4, 7)
    held = exchanged(held, np.array([4]), np.array([7]))
    rows = rng.normal(size=(2, 12))
    table.append_rows(rows)
    held = np.vstack([held, rows])
    exchange(table, 7, 0)
    held = exchanged(held, np.array([7]), np.array([0]))
    table.keep_rows(np.array([6, 1, 4]))
    np.testing.assert_allclose(dense(table), held[[6, 1, 4]], atol=1e-10)
    assert table.shape == (3, 12)


def test_the_matrix_is_copied():
    """What it was made of does not change."""
    matrix = np.random.default_rng(3).normal(size=(4, 4))
    before, table = matrix.copy(), Tableau(matrix)
    for _ in range(PENDING):
        exchange(table, 0, 0)
    np.testing.assert_array_equal(matrix, before)
