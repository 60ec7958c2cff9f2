"""Statistics are those of all rows, in whatever blocks and on however many threads."""

import threading
from typing import Any

import numpy as np
import pytest

from cgboost.additive.stage import StageOutputs
from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.passes import Passes, SplitMoments
from cgboost.additive.statistics.products import SharedGroupProducts
from cgboost.parallel.threads import Threads
from cgboost.tables.binning import Categories, intervals_of
from cgboost.tables.row_blocks import TableRows

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=300) + 1e8, RNG.integers(0, 4, size=300)])
X[::11, 0] = np.nan
RESPONSE, EARLIER = RNG.normal(size=300), StageOutputs([RNG.normal(size=300), RNG.normal(size=300)])
WEIGHTS = RNG.integers(0, 3, size=300).astype(float)
HELD = RNG.uniform(size=300) < 0.3
INPUTS = {
    0: intervals_of(X[:, 0], np.ones(300), 5),
    1: Categories(4),
    3: intervals_of(EARLIER.values[1], np.ones(300), 4),
}


def passes(n_jobs: int = 1) -> Passes:
    """Over the data above."""
    return Passes(TableRows(X), WEIGHTS, HELD, Threads(n_jobs))


@pytest.fixture(params=[(1000, 1), (37, 1), (37, 2), (1, 3)], ids=str)
def divided(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Rows in a block, and threads."""
    size, n_jobs = request.param
    monkeypatch.setattr("cgboost.tables.row_blocks.BLOCK", size)
    return n_jobs


def test_groups_have_the_statistics_of_their_rows(divided: int) -> None:
    """Of x, earlier outputs and response; training and holdout rows apart."""
    found = passes(divided).by_group(INPUTS, EARLIER, EARLIER, RESPONSE)
    assert list(found) == [0, 1, 3]
    columns = {0: X[:, 0], 1: X[:, 1], 3: EARLIER.values[1]}
    for number, groups in INPUTS.items():
        x = columns[number]
        values = np.column_stack([groups.regressor(x), *EARLIER.values, RESPONSE])
        codes = groups.codes(x)
        for part, rows in (("training", ~HELD), ("holdout", HELD)):
            moments = getattr(found[number], part)
            assert len(moments) == groups.n_groups
            for g in range(groups.n_groups):
                mine = rows & (codes == g)
                wanted = Moments.of(values[mine], WEIGHTS[mine])
                for name in ("count", "mean", "scatter"):
                    np.testing.assert_allclose(
                        getattr(moments[[g]], name), getattr(wanted, name), rtol=1e-9, atol=1e-9
                    )


def found_by(kept: Passes, outputs: list[np.ndarray], number: int) -> dict[int, SplitMoments]:
    """Statistics of another response after these outputs."""
    return kept.by_group(INPUTS, EARLIER, StageOutputs(outputs), RESPONSE * (number + 1))


def test_sums_are_kept_from_stage_to_stage(divided: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one output more each time, with the same ones, and with others in their place.

    They are those of passes that have kept nothing; of products only those with the newest output
    and the response are summed again.
    """
    counts: list[int] = []
    sums = SharedGroupProducts.sums

    def counting(self: SharedGroupProducts, *args: Any) -> np.ndarray:
        result = sums(self, *args)
        counts.append(result.shape[1])
        return result

    monkeypatch.setattr(SharedGroupProducts, "sums", counting)
    kept, (a, b, c) = passes(divided), np.random.default_rng(5).normal(size=(3, 300)) + 10
    for groups in INPUTS.values():
        kept.keep(groups)
    # of (1, x, a, b, …, response): all pairs, then the last two with all
    wanted = [6, 3 + 4, 4 + 5]
    for number, outputs in enumerate(([], [a], [a, b], [a, b], [a, c], [c], [c, a, b])):
        counts.clear()
        found = found_by(kept, outputs, number)
        if number < len(wanted):
            assert set(counts) == {wanted[number]}
        fresh = found_by(passes(), outputs, number)
        for key in INPUTS:
            for part in ("training", "holdout"):
                mine, other = getattr(found[key], part), getattr(fresh[key], part)
                np.testing.assert_array_equal(mine.count, other.count)
                np.testing.assert_allclose(mine.mean, other.mean, rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(mine.scatter, other.scatter, rtol=1e-11, atol=1e-11)


def test_values_of_blocks(divided: int) -> None:
    """Their statistics with the response, and the values themselves in the order of the rows."""
    both = passes(divided).of_values(lambda block: [np.square(block.X[:, 1])], 1, RESPONSE)
    values = np.column_stack([X[:, 1] ** 2, RESPONSE])
    for moments, rows in ((both.training, ~HELD), (both.holdout, HELD)):
        wanted = Moments.of(values[rows], WEIGHTS[rows])
        np.testing.assert_allclose(moments.mean, wanted.mean, atol=1e-12)
        np.testing.assert_allclose(moments.scatter, wanted.scatter, rtol=1e-10)
    found = passes(divided).values(lambda block: block.X[:, 1] - RESPONSE[block.rows])
    np.testing.assert_array_equal(found, X[:, 1] - RESPONSE)


def test_weights_below_one_count_as_one_on_average() -> None:
    """A row cannot be less than a row; larger weights are repetitions."""
    weights = np.array([0.1, 0.0, 0.3])
    rows = TableRows(np.zeros((3, 1)))
    small = Passes(rows, weights, np.zeros(3, dtype=bool))
    np.testing.assert_allclose(small.weights, [0.5, 0.0, 1.5])
    large = Passes(rows, 20 * weights, np.zeros(3, dtype=bool))
    np.testing.assert_array_equal(large.weights, 20 * weights)
    nothing = Passes(rows, np.zeros(3), np.zeros(3, dtype=bool))
    assert not nothing.weights.any()


def test_threads_share_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads work at the same time: each waits for the other."""
    monkeypatch.setattr("cgboost.tables.row_blocks.BLOCK", 150)
    meeting = threading.Barrier(2)
    assert passes(2).values(lambda block: meeting.wait(30) * np.zeros(len(block.X))).shape == (300,)
