"""The systems of the free rows: in either form, and updated, they are the dense system."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.optimizers.active_set.quadratic_dual import (
    Block,
    ByColumns,
    ByRows,
    KeptProducts,
    free_rows,
)
from tests.effort import examples

N_ROWS, N_COLUMNS = 30, 40


def random_block(rng: np.random.Generator, n_columns: int = N_COLUMNS) -> Block:
    """Every other training row, with columns of unlike weights."""
    values = rng.normal(size=(N_ROWS, n_columns))
    return Block(values, 2 * np.arange(N_ROWS), rng.uniform(0.1, 3.0, size=n_columns))


def grown(block: Block, rng: np.random.Generator, count: int) -> Block:
    """The block with new columns at the end."""
    values = np.hstack([block.values, rng.normal(size=(len(block.row), count))])
    return Block(values, block.row, np.append(block.weights, rng.uniform(0.1, 3.0, size=count)))


def dense(block: Block, lines: np.ndarray, active: np.ndarray) -> np.ndarray:
    """H W Hᵀ."""
    part = block.values[lines][:, active]
    return part @ np.diag(block.weights[active]) @ part.T


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), n_free=st.integers(1, 20), n_active=st.integers(0, N_COLUMNS))
def test_both_forms_solve_the_dense_system(seed: int, n_free: int, n_active: int) -> None:
    """By rows or by columns, with one right side or two, d is what a dense solver finds."""
    rng = np.random.default_rng(seed)
    block, lines = random_block(rng), rng.permutation(N_ROWS)[: n_free + 3]
    free, left = lines[:n_free], lines[n_free:]
    active = np.arange(N_COLUMNS) < n_active
    diagonal = rng.uniform(0.5, 2.0, size=n_free)
    system = free_rows(block, KeptProducts(), free, left, active, diagonal)
    assert isinstance(system, ByRows if n_free <= n_active else ByColumns)
    both = dense(block, lines, active)
    matrix = both[:n_free, :n_free] + np.diag(diagonal)
    right = rng.normal(size=(n_free, 2))
    np.testing.assert_allclose(system.solve(right), np.linalg.solve(matrix, right), atol=1e-9)
    one = system.solve(right[:, 0])
    np.testing.assert_allclose(one, np.linalg.solve(matrix, right[:, 0]), atol=1e-9)
    change = rng.normal(size=3)
    expected = both[:n_free, n_free:] @ change
    np.testing.assert_allclose(system.response_to(change), expected, atol=1e-9)


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_kept_products_equal_those_from_scratch(seed: int) -> None:
    """Whatever rows and columns come and go, and in whatever order, nothing else changes."""
    rng = np.random.default_rng(seed)
    block, kept = random_block(rng, 12), KeptProducts()
    active = rng.random(12) < 0.7
    for _ in range(12):
        if rng.random() < 0.3:
            block = grown(block, rng, 2)
            active = np.append(active, [True, False])
        if rng.random() < 0.2:
            rows = block.row[np.sort(rng.permutation(len(block.row))[:-2])]
            block = Block(block.values[np.isin(block.row, rows)], rows, block.weights)
            kept.restrict(rows)
        active = active ^ (rng.random(len(active)) < rng.choice([0.0, 0.1, 0.5]))
        lines = rng.permutation(len(block.row))[: rng.integers(1, len(block.row))]
        found = kept.of(block, lines, active)
        np.testing.assert_allclose(found, dense(block, lines, active), atol=1e-10)


def test_what_is_kept_is_not_computed_again() -> None:
    """The same rows cost nothing more; one more row and one more column cost little."""
    rng = np.random.default_rng(0)
    block, kept = random_block(rng), KeptProducts()
    lines, active = np.arange(20), np.ones(N_COLUMNS, dtype=bool)
    kept.of(block, lines, active)
    first = kept.n_products
    kept.of(block, lines[::-1], active)
    assert kept.n_products == first
    kept.of(block, np.arange(21), active)
    assert kept.n_products - first < 0.2 * first
    before = kept.n_products
    kept.of(grown(block, rng, 1), np.arange(21), np.ones(N_COLUMNS + 1, dtype=bool))
    assert 0 < kept.n_products - before < 0.1 * first


def test_rows_that_are_not_wanted_any_more_do_not_hinder_updates() -> None:
    """When columns change, products of many rows that have left are dropped, not updated."""
    rng = np.random.default_rng(1)
    block, kept = random_block(rng), KeptProducts()
    active = np.ones(N_COLUMNS, dtype=bool)
    kept.of(block, np.arange(N_ROWS), active)
    before = kept.n_products
    active[0] = False
    kept.of(block, np.arange(5), active)
    assert kept.n_products - before == 5**2


def test_a_singular_system_is_refused() -> None:
    """Two equal rows and no diagonal to speak of have no factor."""
    block = Block(np.ones((2, 3)), np.arange(2), np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        free_rows(
            block,
            KeptProducts(),
            np.arange(2),
            np.zeros(0, dtype=np.intp),
            np.ones(3, dtype=bool),
            np.full(2, 1e-300),
        )
