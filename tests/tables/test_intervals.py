"""Intervals have as many rows each, missing values have a group of their own."""

import numpy as np
import pytest

from cgboost.tables.binning import (
    MANY,
    SAME,
    Categories,
    Intervals,
    intervals_of,
    size_of_intervals,
)


def test_intervals_have_as_many_rows_each() -> None:
    """Of distinct values, to a row; their edges lie half way between neighbours."""
    values = np.random.default_rng(0).permutation(np.arange(100.0))
    groups = intervals_of(values, np.ones(100), 10)
    np.testing.assert_array_equal(groups.edges, np.arange(9.5, 90, 10))
    np.testing.assert_array_equal(np.bincount(groups.codes(values)), np.full(10, 10))
    assert (groups.low, groups.high, groups.n_groups) == (0.0, 99.0, 11)


def test_weights_are_repetitions() -> None:
    """A value that counts three times is three rows."""
    values, counts = np.random.default_rng(1).normal(size=50), np.arange(50) % 4
    weighted = intervals_of(values[counts > 0], counts[counts > 0].astype(float), 7)
    repeated = intervals_of(np.repeat(values, counts), np.ones(counts.sum()), 7)
    np.testing.assert_array_equal(weighted.edges, repeated.edges)


def test_few_values_have_an_interval_each() -> None:
    """Also where one has most of the rows."""
    values = np.array([3.0] * 50 + [1.0, 2.0, np.nan])
    groups = intervals_of(values, np.ones(53), 8)
    np.testing.assert_array_equal(groups.edges, [1.5, 2.5])
    np.testing.assert_array_equal(groups.codes(np.array([3.0, 1.0, 2.0, np.nan])), [2, 0, 1, 3])


def test_values_of_many_rows_leave_the_intervals_to_the_others() -> None:
    """Where 0 has nine rows in ten, all others have as many intervals as if it had one's rows."""
    others = np.arange(1.0, 101.0)
    groups = intervals_of(np.append(np.zeros(900), others), np.ones(1000), 11)
    np.testing.assert_array_equal(np.bincount(groups.codes(others)), [0, *[10] * 10])
    assert groups.edges[0] == 0.5


def test_the_size_of_intervals_solves_its_equation() -> None:
    """Σ min(c, s) = most·s, for counts of any spread; of equal counts it is their mean share."""
    rng = np.random.default_rng(0)
    for most in (1, 2, 7, 64):
        counts = rng.pareto(0.7, size=200) + 1.0
        size = size_of_intervals(counts, most)
        assert np.minimum(counts, size).sum() == pytest.approx(most * size, rel=1e-12)
    assert size_of_intervals(np.full(12, 3.0), 4) == 9.0


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [5.0], [5.0, 5.0]], ids=str)
def test_one_value_or_none(values: list[float]) -> None:
    """One interval, and one group for what is missing."""
    groups = intervals_of(np.array(values), np.ones(len(values)), 4)
    assert groups.n_groups == 2
    np.testing.assert_array_equal(groups.codes(np.array([-1e9, 5.0, 1e9, np.nan])), [0, 0, 0, 1])
    assert np.ptp(groups.regressor(np.array([-1e9, 5.0, 1e9]))) == 0.0


def test_values_outside_are_brought_to_the_range() -> None:
    """A regressor does not leave the range that was seen; missing values are 0."""
    groups = intervals_of(np.linspace(-1.0, 2.0, 7), np.ones(7), 3)
    found = groups.regressor(np.array([-5.0, 0.25, 9.0, np.nan]))
    np.testing.assert_array_equal(found, [-1.0, 0.25, 2.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_range_far_from_zero_is_measured_from_its_middle(dtype: type) -> None:
    """So that intercept + slope·x keeps its digits; single precision is handled in double."""
    values = np.array([2.0**24, 2.0**24 + 2, 2.0**24 + 8], dtype=dtype)
    groups = intervals_of(values, np.ones(3), 3)
    assert groups.origin == 2.0**24 + 4
    np.testing.assert_array_equal(groups.regressor(values), [-4.0, -2.0, 4.0])
    np.testing.assert_array_equal(groups.centres[:-1], 2.0**24 + np.array([0.5, 3.0, 6.5]))
    assert np.isnan(groups.centres[-1])
    assert Intervals(np.zeros(0), -1.0, 2.0).origin == 0.0


@pytest.mark.parametrize("n_edges", [0, 1, 2, 3, 7, 8, 63, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_values_are_in_the_groups_of_single_ones(n_edges: int, dtype: type) -> None:
    """On edges, outside of all and missing ones, too; also where a column is not contiguous."""
    rng = np.random.default_rng(n_edges)
    edges = np.unique(rng.normal(size=n_edges).astype(dtype).astype(float))
    groups = Intervals(edges, -1.0, 1.0)
    some = np.concatenate([edges, np.nextafter(edges, -9), [-9.0, 9.0, -0.0, np.nan]])
    table = rng.choice(some, size=(MANY, 2)).astype(dtype)
    x = table[:, 1]
    np.testing.assert_array_equal(
        groups.codes(x), np.concatenate([groups.codes(x[:9]), groups.codes(x[9:])])
    )
    wanted = [n_edges + 1 if np.isnan(v) else np.count_nonzero(edges <= v) for v in x[:500]]
    np.testing.assert_array_equal(groups.codes(x)[:500], wanted)


def test_an_outlier_does_not_make_other_values_one() -> None:
    """Values of data are told apart exactly, however large the range is."""
    values = np.append(np.linspace(0, 1, 100), 1e20)
    assert intervals_of(values, np.ones(101), 10).n_groups == 11
    neighbours = np.array([1.0, np.nextafter(1.0, 2.0)])
    np.testing.assert_array_equal(intervals_of(neighbours, np.ones(2), 4).codes(neighbours), [0, 1])


def test_computed_values_are_one_if_they_differ_by_rounding() -> None:
    """No edge lies between them, so that rounding puts no row on another side."""
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=20), 30)
    noisy = values + 1e-15 * rng.normal(size=600)
    groups = intervals_of(noisy, np.ones(600), 64, same=SAME)
    assert groups.n_groups == 21
    np.testing.assert_array_equal(groups.codes(noisy), groups.codes(values))


def test_categories_are_their_numbers() -> None:
    """Missing and unknown ones are the last group; categories are no regressors."""
    groups = Categories(3)
    codes = groups.codes(np.array([0.0, 2.0, 1.0, np.nan, -1.0, 3.0]))
    np.testing.assert_array_equal(codes, [0, 2, 1, 3, 3, 3])
    assert (groups.n_groups, groups.ordered) == (4, False)
    assert not groups.regressor(np.array([0.0, 2.0])).any()
    assert not groups.centres.any()
    np.testing.assert_array_equal(Categories(0).codes(np.array([np.nan, 0.0])), [0, 0])
