"""A function of two objects as a kernel."""

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

from cgboost import CGBoostClassifier, KernelLibrary, PairwiseKernel
from cgboost.pricing import KernelPool

WORDS = np.array(["apple", "pear", "plum", "peach", "apple"], dtype=object)


class Thing:
    """An object that can be told from others by nothing but which it is."""

    def __init__(self, size: float) -> None:
        self.size = size


def product(a: Any, b: Any) -> float:
    """At module level, so that it can be pickled."""
    return a.size * b.size


def things(count: int) -> np.ndarray:
    """A column of objects."""
    column = np.empty((count, 1), dtype=object)
    column[:, 0] = [Thing(1.0 + number) for number in range(count)]
    return column


def counting(calls: Counter) -> Any:
    """The product of sizes, which notes its pairs."""

    def function(a: Thing, b: Thing) -> float:
        calls[frozenset([a.size, b.size])] += 1
        return a.size * b.size

    return function


def test_values_are_those_of_the_function() -> None:
    """For 1-d arrays, columns and rows of a matrix; n(n + 1)/2 evaluations make n² values.

    With symmetric=False it is asked both ways. Anything that cannot be called is refused.
    """
    kernel = PairwiseKernel(lambda a, b: len(set(a) & set(b)))
    expected = [[len(set(a) & set(b)) for b in WORDS[:2]] for a in WORDS]
    np.testing.assert_array_equal(kernel(WORDS, WORDS[:2]), expected)
    np.testing.assert_array_equal(kernel(WORDS[:, None], WORDS[:2, None]), expected)
    np.testing.assert_array_equal(kernel.diagonal(WORDS), [len(set(a)) for a in WORDS])
    assert kernel(WORDS, WORDS).dtype == np.float64
    calls: Counter = Counter()
    kernel, X = PairwiseKernel(counting(calls)), things(6)
    kernel(X, X)
    assert len(calls) == calls.total() == 21
    kernel = PairwiseKernel(lambda a, b: float(a < b), symmetric=False)
    np.testing.assert_array_equal(kernel(WORDS[:3], WORDS[:3]), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    X = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(PairwiseKernel(np.dot).fit(X)(X, X[:2]), X @ X[:2].T)
    np.testing.assert_allclose(
        PairwiseKernel(lambda a, b: a * b)(X[:, :1], X[:2, :1]), X[:, :1] @ X[:2, :1].T
    )
    with pytest.raises(ValueError, match="function must be a callable"):
        PairwiseKernel("spectrum")  # type: ignore[arg-type]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("block_size", [4, 1024])
def test_every_pair_is_evaluated_once_in_a_fit(block_size: int, normalize: bool) -> None:
    """Whatever the blocks and passes, no pair is asked for twice but in the check of five rows."""
    calls: Counter = Counter()
    X = things(10)
    pool = KernelPool(
        KernelLibrary({"k": PairwiseKernel(counting(calls))}, normalize=normalize),
        X,
        block_size=block_size,
        cache_size=0,
    )
    assert len({pair for pair, count in calls.items() if count > 1}) <= 15  # of five rows
    calls.clear()
    for seed in range(3):
        response = np.random.default_rng(seed).normal(size=10)
        sizes = np.array([1.0 if normalize else thing.size for thing in X[:, 0]])
        expected = sizes * (sizes @ response)
        np.testing.assert_allclose(pool.scores(0, None, response), expected)
    pool.columns([0, 0], [2, 7])
    assert max(calls.values()) == 1


def test_rows_of_a_table_are_told_apart_by_their_values() -> None:
    """Rows of several columns are the same object in every block."""
    calls: Counter = Counter()

    def alike(a: np.ndarray, b: np.ndarray) -> float:
        calls[frozenset([(a[0], a[1]), (b[0], b[1])])] += 1
        return float(a[0] == b[0]) + a[1] * b[1]

    X = np.array([["x", 1.0], ["y", 2.0], ["x", 3.0]], dtype=object)
    kernel = PairwiseKernel(alike).fit(X)
    for _ in range(2):
        np.testing.assert_array_equal(kernel(X, X[:2]), [[2, 2], [2, 5], [4, 6]])
    assert calls.total() == len(calls) == 5


def test_a_fitted_model_remembers_no_pairs() -> None:
    """The memory of a fit is neither in the basis functions nor in a pickle.

    Predictions evaluate the function again: an object that changes has its new values.
    """
    X = things(12)
    y = np.arange(12) > 5
    library = KernelLibrary({"k": PairwiseKernel(product)})
    model = CGBoostClassifier(library, penalty="l1", C=10.0).fit(X, y)
    kept = [h.family.kernel for run in model._runs for h in run.outputs[0].hypotheses]
    assert kept
    assert all(kernel.memory is None for kernel in kept)
    fitted = PairwiseKernel(product).fit(X)
    assert isinstance(fitted, PairwiseKernel)
    assert fitted.memory is not None
    assert pickle.loads(pickle.dumps(fitted)).memory is None
    X = things(6)
    model = CGBoostClassifier(KernelLibrary({"k": PairwiseKernel(product)}), penalty="l1", C=10.0)
    model.fit(X, [0, 0, 0, 1, 1, 1])
    new = things(1)
    before = model.decision_function(new)
    new[0, 0].size = 6.0
    assert model.decision_function(new) != before
