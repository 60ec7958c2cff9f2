"""Hashes of rows: what is held out depends on what is in a row, and is random in all else."""

import itertools
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from cgboost.tables.holdout_choice import (
    COPIES,
    PRIMES,
    coefficients,
    content_hash,
    held_out,
    numbered,
)


def table(seed: int = 0, n_rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Rounded numbers with gaps, and responses."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 3)), 2)
    X[::7, 1] = np.nan
    return X, rng.normal(size=n_rows)


def held_of(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray, seed: int = 0, share: float = 0.3
) -> np.ndarray:
    """Rows of which a share is held out, each copy by itself."""
    return held_out(numbered(content_hash(X, y, seed), weights), share)


@pytest.mark.parametrize("share", [0.0, 1e-12, 0.1, 0.3, 0.75, 1.0])
def test_about_the_right_share_is_held_out(share: float) -> None:
    """Within four standard deviations; also where features are small numbers; at the ends."""
    X, y = table()
    for features in (X, np.round(X)):
        held = held_of(features, y, np.ones(len(y)), share=share)
        assert abs(held.mean() - share) <= 4 * np.sqrt(share * (1 - share) / len(y))


def test_equal_rows_have_equal_numbers_and_others_do_not() -> None:
    """−0 is 0, every nan is nan, single precision is exact; columns are not interchangeable.

    A row's number depends on the row alone, and on no order of rows or of memory.
    """
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [-np.nan, 1.0], [1.0, 0.0], [0.0, 2.0]])
    hashes = content_hash(X, np.zeros(6), 0)
    assert hashes[0] == hashes[1]
    assert hashes[2] == hashes[3]
    assert len(set(hashes.tolist())) == 4
    np.testing.assert_array_equal(content_hash(X.astype(np.float32), np.zeros(6), 0), hashes)
    assert content_hash(X, np.ones(6), 0)[0] != hashes[0]
    X, y = table()
    hashes = content_hash(X, y, 0)
    assert len(set(hashes.tolist())) == len(y)
    order = np.random.default_rng(1).permutation(len(y))
    for rows in (order, slice(0, 100), slice(100, 333)):
        np.testing.assert_array_equal(content_hash(X[rows], y[rows], 0), hashes[rows])
    np.testing.assert_array_equal(content_hash(np.asfortranarray(X), y, 0), hashes)


def test_the_first_copy_has_the_hash_of_a_lone_row_and_further_ones_have_others() -> None:
    """So that rows that are all different are held out by what is in them alone."""
    X, y = table(n_rows=500)
    hashes = content_hash(X, y, 0)
    alone = numbered(hashes, np.ones(500))
    np.testing.assert_array_equal(numbered(hashes[::3], np.ones(167)), alone[::3])
    many = numbered(np.tile(hashes, 40), np.ones(20_000))
    assert len(set(many.tolist())) == 20_000
    assert set(alone.tolist()) < set(many.tolist())


def regular() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Tables of 20 000 rows whose entries have a pattern."""
    n = 20_000
    grid = np.stack(np.meshgrid(np.arange(100.0), np.arange(200.0)), axis=-1).reshape(-1, 2)
    return {
        "integers": (np.arange(float(n))[:, None], np.zeros(n)),
        "tenths": (np.arange(n)[:, None] / 10, np.ones(n)),
        "one bit apart": ((1.0 + np.arange(n) * 2.0**-52)[:, None], np.zeros(n)),
        "a grid": (grid, np.zeros(n)),
        "copies": (np.zeros((n, 1)), np.ones(n)),
        "few rows": (np.repeat(np.arange(20.0), 1000)[:, None], np.tile([0.0, 1.0], n // 2)),
    }


@pytest.mark.parametrize("pattern", regular())
def test_a_pattern_in_the_rows_is_none_in_their_hashes(pattern: str) -> None:
    """Every bit, neighbours and blocks held out together, parts of the sample: as if by chance."""
    X, y = regular()[pattern]
    n, worst = len(y), 1.0
    for seed in range(10):
        hashes = numbered(content_hash(X, y, seed), np.ones(n))
        held = held_out(hashes, 0.3)
        bits = (hashes[:, None] >> np.r_[2:29, 32:60]) & 1
        sample = np.bincount(np.argsort(hashes)[:2000] * 50 // n, minlength=50)
        blocks = held.reshape(-1, 20).sum(axis=1)
        worst = min(
            worst,
            chi2.sf((4 * n * (bits.mean(axis=0) - 0.5) ** 2).sum(), bits.shape[1]),
            chi2.sf(((sample - 40) ** 2 / 36).sum(), 49),
            chi2.sf(((blocks - 6) ** 2 / 4.2).sum(), len(blocks)),
            chi2.cdf(((blocks - 6) ** 2 / 4.2).sum(), len(blocks)),
        )
        for lag in (1, 2, 7, 64, 100):
            both = (held[lag:] & held[:-lag]).mean()
            # pairs overlap: two of them share a row with probability 2/n
            variance = 0.09 * 0.91 + 2 * (0.3**3 - 0.3**4)
            worst = min(worst, chi2.sf((n - lag) * (both - 0.09) ** 2 / variance, 1))
    assert worst > 1e-5  # of ninety tests


def test_one_bit_of_one_entry_changes_half_the_bits() -> None:
    """Of the hash, whichever bit it is."""
    X, y = table(n_rows=2000)
    X[np.isnan(X)] = 1.5
    before = numbered(content_hash(X, y, 0), np.ones(2000))
    for bit in (0, 20, 31, 32, 51, 52, 62, 63):
        other = X.copy()
        other[:, 1] = (
            X[:, 1].view(np.int64) ^ np.array(2**bit, dtype=np.uint64).view(np.int64)
        ).view(float)
        there = ~np.isnan(other[:, 1])
        changed = before ^ numbered(content_hash(other, y, 0), np.ones(2000))
        shares = ((changed[there, None] >> np.r_[2:29, 32:60]) & 1).mean(axis=0)
        assert (np.abs(shares - 0.5) < 5 * 0.5 / np.sqrt(np.count_nonzero(there))).all()


def test_no_number_of_the_arithmetic_reaches_63_bits() -> None:
    """Databases have no more, and report an overflow: largest entries, squares, copies."""
    most = 2**63 - 1
    first, second = PRIMES
    assert (2**32 - 1) * second + 2**31 * first + 2**33 < most
    assert (2**32 - 1) * second + 2**31 * second + 36 * 2**33 < most
    assert first**2 + second < most
    assert first + 2**31 * COPIES[0] < most
    assert coefficients(3, 50).max() < second
    assert coefficients(3, 50).min() > 0
    assert not any(p % k == 0 for p in PRIMES for k in range(2, int(p**0.5) + 1))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), st.integers(0, 2**32))
def test_the_linear_hashes_are_what_they_are_said_to_be(bits: list[int], seed: int) -> None:
    """Sums of coefficients times bits modulo the primes, by Python's integers of any size."""
    values = np.array(bits, dtype=np.int64).view(np.float64)
    values[np.isnan(values)] = np.nan
    exact = [0 if b == 0.0 else int(b.view(np.int64)) for b in values]
    wanted = [
        (start + sum(factor * b for factor, b in zip(others, exact, strict=True))) % prime
        for (start, *others), prime in zip(
            coefficients(seed, len(bits)).tolist(), PRIMES, strict=True
        )
    ]
    found = content_hash(values[None, :-1], values[-1:], seed)
    assert found.tolist() == [wanted[0] * 2**30 + wanted[1]]


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_are_held_out_independently(weighted: bool) -> None:
    """Of five copies of each of 4000 rows binomially many; whatever their weights are."""
    rng = np.random.default_rng(0)
    X, y = table(n_rows=4000)
    weights = rng.uniform(1, 2, size=20_000) if weighted else np.ones(20_000)
    held = held_of(np.tile(X, (5, 1)), np.tile(y, 5), weights).reshape(5, 4000)
    found = np.bincount(held.sum(axis=0), minlength=6)
    wanted = 4000 * binom.pmf(np.arange(6), 5, 0.3)
    assert (np.abs(found - wanted) < 4 * np.sqrt(wanted)).all()


FEW = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from([0.0, 0.1, 1.0, 2.5])),
    min_size=1,
    max_size=40,
)


Weighted = list[tuple[int, int, float]]


def chosen(rows: Weighted, seed: int, factor: float = 1.0) -> list[tuple]:
    """Rows (x, y, weight) with whether they are held out, sorted."""
    x, y, weights = np.array(rows, dtype=float).T
    held = held_of(x[:, None], y, factor * weights, seed)
    return sorted(zip(rows, held.tolist(), strict=True))


@settings(deadline=None)
@given(FEW, st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_equal_rows_are_interchangeable(rows: Weighted, seed: int, random: Random) -> None:
    """As many copies of each row are held out in any order, and if all weights are multiplied."""
    shuffled = random.sample(rows, len(rows))
    assert chosen(shuffled, seed) == chosen(rows, seed) == chosen(rows, seed, 0.125)


@settings(deadline=None)
@given(FEW, st.integers(0, 2**31))
def test_a_row_of_weight_zero_is_no_row(rows: Weighted, seed: int) -> None:
    """Whether it is there makes no difference to what else is held out."""
    there = [row for row in rows if row[2] > 0]
    if there:
        assert chosen(there, seed) == [found for found in chosen(rows, seed) if found[0][2] > 0]


def test_seeds_hold_out_other_rows() -> None:
    """As independent choices would, for rows that are different and for copies of one."""
    X, y = table()
    one = np.ones(len(y))
    for features, response in ((X, y), (np.zeros((len(y), 1)), one)):
        held = [held_of(features, response, one, seed) for seed in (0, 1, 2**31)]
        for a, b in itertools.combinations(held, 2):
            assert abs((a & b).mean() - 0.09) < 0.01
