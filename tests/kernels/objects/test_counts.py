"""Counts of features: kept by content, in columns that all objects share."""

import pickle
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cgboost.kernels import CountKernel, FeatureCounts
from cgboost.kernels.objects import counts

SEEN: Counter = Counter()


@dataclass(frozen=True)
class Letters(CountKernel):
    """Counts letters, and notes whose."""

    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        SEEN[item] += 1
        return {number(letter): float(count) for letter, count in Counter(item).items()}


WORDS = np.array(["aab", "abc", "", "cab"], dtype=object)


def expected(rows: np.ndarray, centres: np.ndarray) -> list[list[int]]:
    """Σ over letters of the products of their counts."""
    return [[sum(a.count(c) * b.count(c) for c in set(a)) for b in centres] for a in rows]


def test_values_are_products_of_counts() -> None:
    """For two sets of objects, without features or with features that the first did not have.

    Zero rows have a matrix of zero rows.
    """
    kernel = Letters()
    np.testing.assert_array_equal(kernel(WORDS, WORDS[:2]), expected(WORDS, WORDS[:2]))
    np.testing.assert_array_equal(kernel.diagonal(WORDS), np.diag(expected(WORDS, WORDS)))
    kernel = Letters()
    kernel(WORDS[:1], WORDS[:1])
    new = np.array(["xyz", "abx"], dtype=object)
    np.testing.assert_array_equal(kernel(new, WORDS), expected(new, WORDS))
    (nothing,) = FeatureCounts().matrices([[]], lambda item: item, lambda item, number: {})
    assert nothing.shape == (0, 0)


def test_an_object_is_counted_once() -> None:
    """However many blocks, and as a row or as a centre; copies are equal and count anew."""
    kernel = Letters().fit(WORDS)
    SEEN.clear()
    for _ in range(3):
        kernel(WORDS, WORDS)
        kernel.diagonal(WORDS)
    assert set(SEEN.values()) == {1}
    kernel = Letters()
    kernel(WORDS, WORDS)
    for copy in (pickle.loads(pickle.dumps(kernel)), kernel.fit(WORDS), kernel.released()):
        assert copy == kernel
        assert not copy.kept._counts


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many objects all are forgotten; values stay right."""
    monkeypatch.setattr(counts, "MOST_COUNTED", 5)
    kernel = Letters()
    for start in range(0, 40, 4):
        new = np.array([f"{number}a" for number in range(start, start + 4)], dtype=object)
        np.testing.assert_array_equal(kernel(new, WORDS), expected(new, WORDS))
        assert len(kernel.kept._counts) <= 5 + 8


def test_threads_share_the_columns() -> None:
    """Blocks made at the same time on several threads have the values of one after another."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdefgh"), 20)) for _ in range(80)], dtype=object)
    kernel = Letters()
    blocks = [words[start : start + 10] for start in range(0, 80, 10)]
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda block: kernel(block, words), blocks))
    np.testing.assert_array_equal(np.concatenate(values), expected(words, words))
