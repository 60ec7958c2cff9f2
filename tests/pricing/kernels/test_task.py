"""The task of a pass: the same result whenever and however often it runs."""

from __future__ import annotations

import numpy as np
import pytest

from cgboost import RBF, Linear
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.partition import (
    Order,
    Partition,
    PricingResult,
    Step,
    advance,
    combined,
)
from cgboost.pricing.scans.candidates import Held, PricingRequest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
DATA = KernelData(X, ("linear", "rbf"), [Linear(), RBF(0.3)], 8)
GRAMS = [kernel(X, X) for kernel in DATA.kernels]
NOTHING = Held(np.zeros(0, dtype=np.intp))
MEMORY = [10**6, 10**6]


def order(response: np.ndarray, *, restart: bool, indices: np.ndarray | None = None) -> Order:
    """Add a response to the scores of both kernels, or begin with it."""
    rows = np.flatnonzero(response)
    steps = [Step(s, response[rows], restart, structured=False, error=1e-12) for s in (0, 1)]
    request = PricingRequest(np.zeros(0), OneNormEntry(True), [NOTHING, NOTHING], 3)
    return Order(rows, steps, np.dtype(np.float64), indices, request, with_scores=True)


def test_a_task_that_is_repeated_gives_the_same() -> None:
    """The state it was given is as before, also where its memory has been filled meanwhile."""
    state = Partition.bare(8, 24, MEMORY)
    one, two = RNG.normal(size=30), RNG.normal(size=30) * (np.arange(30) < 9)
    state, first = advance(DATA, state, order(one, restart=True))
    kept = state.scores.copy()
    results = [advance(DATA, state, order(two, restart=False)) for _ in range(2)]
    np.testing.assert_array_equal(state.scores, kept)
    np.testing.assert_allclose(results[0][0].scores, results[1][0].scores, rtol=1e-13)
    for gram, before, after in zip(GRAMS, first.scores, results[0][1].scores, strict=True):
        np.testing.assert_allclose(before, gram[8:24] @ one)
        np.testing.assert_allclose(after, gram[8:24] @ (one + two))


def test_a_search_among_some_columns_leaves_no_trace() -> None:
    """Its scores are right, and those of the partition are still of the pass before."""
    state, _ = advance(DATA, Partition.bare(0, 30, MEMORY), order(np.ones(30), restart=True))
    change = np.where(np.arange(30) < 5, 2.0, 0.0)
    some = np.array([2, 11, 29])
    after, result = advance(DATA, state, order(change, restart=False, indices=some))
    np.testing.assert_allclose(result.scores[1], (GRAMS[1] @ (1.0 + change))[some])
    assert after is state


@pytest.mark.parametrize("cut", [8, 16])
def test_parts_combine_to_the_whole(cut: int) -> None:
    """Two partitions find what one finds, and their scores are its scores."""
    asked = order(RNG.normal(size=30), restart=True)
    _, whole = advance(DATA, Partition.bare(0, 30, MEMORY), asked)
    parts = [
        advance(DATA, Partition.bare(*ends, MEMORY), asked)[1] for ends in ((0, cut), (cut, 30))
    ]
    together = combined(parts, 3)
    assert isinstance(together, PricingResult)
    np.testing.assert_array_equal(together.candidates.indices, whole.candidates.indices)
    for one, other in zip(together.scores, whole.scores, strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_dtype_begins_anew() -> None:
    """Scores of float32 values are not added to: the partition starts from nothing."""
    narrow = KernelData(X.astype(np.float32), DATA.names, DATA.kernels, 8)
    asked = order(np.ones(30), restart=True)
    rough = Order(asked.rows, asked.steps, np.dtype(np.float32), None, asked.request)
    state, _ = advance(narrow, Partition.bare(0, 30, MEMORY), rough)
    assert state.dtype == np.float32
    assert state.caches[0].store.dtype == np.float32
    sharp, _ = advance(narrow, state, asked)
    assert sharp.caches[0].store.dtype == np.float64
    wide = narrow.X.astype(np.float64)
    np.testing.assert_allclose(sharp.scores[0], wide @ wide.sum(axis=0), rtol=1e-12)
