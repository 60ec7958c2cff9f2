"""The restricted dual of the 2-norm: its gap, the boxes of its rows, and kept products."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.active_set.quadratic_dual import (
    ByColumns,
    ByRows,
    KeptProducts,
    RowBoxes,
    WeightedSubmatrix,
    free_rows,
)
from tests.effort import examples
from tests.optimizers.duals.quadratic_duals import (
    KINDS,
    OFFSETS,
    primal,
    random_loss,
    whole,
)

SEEDS = st.integers(0, 10**6)


@settings(max_examples=examples(60))
@given(
    seed=SEEDS,
    kind=st.sampled_from(KINDS),
    two_sided=st.booleans(),
    offset=st.sampled_from(OFFSETS),
)
def test_the_gap_is_primal_less_dual(seed: int, kind: str, two_sided: bool, offset: str) -> None:
    """At any r with Σr = 0 where it must be, gap and scale follow from both objectives."""
    rng = np.random.default_rng(seed)
    loss, columns = random_loss(rng, 8, kind, 1.0), rng.normal(size=(8, 5))
    columns -= columns.mean(axis=0) if offset == "free" else 0.0
    problem = whole(loss, columns, two_sided=two_sided, offset=offset)
    r = loss.feasible(rng.uniform(loss.lower, loss.upper), balanced=offset == "free")
    given_offset = 0.7 if offset == "free" else 0.0
    point = problem.point(r[problem.boxes.row], given_offset)
    scores = columns.T @ r
    coef = scores if two_sided else np.maximum(scores, 0.0)
    b = r.sum() if offset == "penalized" else given_offset
    above = primal(loss, columns, coef, b, charged=offset == "penalized")
    below = loss.gain(r) - 0.5 * float(coef @ coef)
    below -= 0.5 * r.sum() ** 2 if offset == "penalized" else 0.0
    assert point.gap == pytest.approx(above - below, abs=1e-10)
    assert point.scale == pytest.approx(max(1.0, abs(above)))
    assert point.relative_gap == point.gap / point.scale
    assert point.offset == pytest.approx(b)


def test_what_widens_the_gap() -> None:
    """A sum that must be 0 and is not, and coefficients that do not belong to r."""
    rng = np.random.default_rng(0)
    problem = whole(random_loss(rng, 8, "hinge", 1.0), rng.normal(size=(8, 5)), offset="free")
    r = problem.boxes.corners[:, 2]
    free, none = problem.point(r, 0.0), replace(problem, offset="none").point(r, 0.0)
    assert free.gap == pytest.approx(none.gap + abs(r.sum()))
    for two_sided in (True, False):
        loss, columns = random_loss(rng, 8, "tube", 1.0), rng.normal(size=(8, 6))
        problem = whole(loss, columns, two_sided=two_sided)
        exact, s = rng.normal(size=(2, 6))
        weights, phi = problem.block.weights, problem.coefficients
        lost = weights @ (0.5 * phi(s) ** 2 + 0.5 * phi(exact) ** 2 - phi(s) * exact)
        assert problem.mismatch(s, exact) == pytest.approx(lost)
        assert problem.mismatch(s, exact) > 0 == problem.mismatch(exact, exact)


# ---------------------------------------------------------------------- boxes of rows


def boxes_of(loss: SupportVectorLoss) -> RowBoxes:
    """The boxes of all variables."""
    variables = loss.variables
    every = np.arange(len(variables))
    return RowBoxes.of(variables, every, variables.response(np.zeros(len(variables))))


@settings(max_examples=examples(60))
@given(seed=SEEDS, kind=st.sampled_from(KINDS), curved=st.booleans())
def test_gain_and_shortfall_are_those_of_the_loss(seed: int, kind: str, curved: bool) -> None:
    """The gain of r less output·r is the loss's, and the fenchel_gap is what the loss would add."""
    rng = np.random.default_rng(seed)
    loss = random_loss(rng, 7, kind, 1.5)
    if curved:
        loss = replace(loss, curvature=rng.uniform(0.1, 2.0, size=7))
    boxes = boxes_of(loss)
    r, output = rng.uniform(loss.lower, loss.upper), rng.normal(size=7)
    reference = np.zeros(7)
    reference[boxes.row] = boxes.corners[:, 1]
    gained = float(boxes.gain(r, output).sum())
    expected = (loss.gain(r) - output @ r) - (loss.gain(reference) - output @ reference)
    assert gained == pytest.approx(expected, abs=1e-12)
    missing = loss.value(output) - (loss.gain(r) - output @ r)
    assert float(boxes.fenchel_gap(r, output).sum()) == pytest.approx(missing, abs=1e-12)


# ---------------------------------------------------------------------- systems of free rows

N_ROWS, N_COLUMNS = 30, 40


def random_block(rng: np.random.Generator, n_columns: int = N_COLUMNS) -> WeightedSubmatrix:
    """Every other training row, with columns of unlike weights."""
    values = rng.normal(size=(N_ROWS, n_columns))
    return WeightedSubmatrix(values, 2 * np.arange(N_ROWS), rng.uniform(0.1, 3.0, size=n_columns))


def grown(block: WeightedSubmatrix, rng: np.random.Generator, count: int) -> WeightedSubmatrix:
    """The block with new columns at the end."""
    values = np.hstack([block.values, rng.normal(size=(len(block.row), count))])
    return WeightedSubmatrix(
        values, block.row, np.append(block.weights, rng.uniform(0.1, 3.0, size=count))
    )


def dense(block: WeightedSubmatrix, lines: np.ndarray, active: np.ndarray) -> np.ndarray:
    """H W Hᵀ."""
    part = block.values[lines][:, active]
    return part @ np.diag(block.weights[active]) @ part.T


@settings(max_examples=examples(40))
@given(seed=SEEDS, n_free=st.integers(1, 20), n_active=st.integers(0, N_COLUMNS))
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
    two = rng.normal(size=(n_free, 2))
    for right in (two, two[:, 0]):
        np.testing.assert_allclose(system.solve(right), np.linalg.solve(matrix, right), atol=1e-9)
    change = rng.normal(size=3)
    expected = both[:n_free, n_free:] @ change
    np.testing.assert_allclose(system.response_to(change), expected, atol=1e-9)


@settings(max_examples=examples(40))
@given(seed=SEEDS)
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
            block = WeightedSubmatrix(block.values[np.isin(block.row, rows)], rows, block.weights)
            kept.restrict(rows)
        active = active ^ (rng.random(len(active)) < rng.choice([0.0, 0.1, 0.5]))
        lines = rng.permutation(len(block.row))[: rng.integers(1, len(block.row))]
        found = kept.of(block, lines, active)
        np.testing.assert_allclose(found, dense(block, lines, active), atol=1e-10)


def test_products_that_are_not_computed_again() -> None:
    """The same rows cost nothing, one more row or column little; those of rows left are dropped."""
    rng = np.random.default_rng(0)
    block, kept = random_block(rng), KeptProducts()
    active = np.ones(N_COLUMNS, dtype=bool)

    def cost(block: WeightedSubmatrix, lines: np.ndarray, active: np.ndarray) -> int:
        before = kept.n_products
        kept.of(block, lines, active)
        return kept.n_products - before

    first = cost(block, np.arange(20), active)
    assert cost(block, np.arange(20)[::-1], active) == 0
    assert cost(block, np.arange(21), active) < 0.2 * first
    more = grown(block, rng, 1)
    assert 0 < cost(more, np.arange(21), np.append(active, True)) < 0.1 * first
    block, kept = random_block(rng), KeptProducts()
    cost(block, np.arange(N_ROWS), active)
    active[0] = False
    assert cost(block, np.arange(5), active) == 5**2
