"""The pool of kernel columns: what is kept, what is computed again, and what is refused."""

import tracemalloc

import numpy as np
import pytest

from cgboost import RBF, KernelLibrary, Linear
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, as_library
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import KernelPool, KernelPricer, StrataPricer
from tests.pricing.cases import LIBRARY, state_of


class Counted(Kernel):
    """A linear kernel, by the number of values asked of it."""

    def __init__(self) -> None:
        self.values = 0

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        self.values += len(A) * len(B)
        return A @ B.T


def test_values_are_computed_as_seldom_as_can_be() -> None:
    """While memory lasts, scoring the same rows or fewer asks for no value a second time.

    Without memory a pass asks for as many rows of values as r has changed in, and a search among
    some columns for values of changed rows with their centres.
    """
    kernel = Counted()
    pool = KernelPool(KernelLibrary({"counted": kernel}), np.eye(50))
    kernel.values = 0
    half = np.where(np.arange(50) < 25, 1.0, 0.0)
    for response in (half, 2.0 * half, half + 1.0, np.ones(50)):
        pool.scores(0, None, response)
    pool.values(0, np.arange(50))
    assert kernel.values == 50 * 50
    kernel = Counted()
    pool = KernelPool(KernelLibrary({"counted": kernel}), np.eye(50), cache_size=0.0)
    response = np.where(np.arange(50) < 20, 1.0, 0.0)
    counts = []
    for changed in ([], [3, 30], [30], range(40)):
        response = response.copy()
        response[changed] += 1.0
        kernel.values = 0
        pool.scores(0, None, response)
        counts.append(kernel.values // 50)
    assert counts == [20, 2, 1, 40]
    kernel = Counted()
    pool = KernelPool(KernelLibrary({"counted": kernel}), np.eye(50), cache_size=0.0)
    response = np.where(np.arange(50) < 20, 1.0, 0.0)
    pool.scores(0, None, response)
    kernel.values = 0
    few = np.array([4, 7, 30])
    np.testing.assert_allclose(pool.scores(0, few, 2.0 * response)[:2], 2.0)
    assert kernel.values == 20 * 3
    np.testing.assert_allclose(pool.scores(0, None, response), response)  # nothing was forgotten


def test_a_linear_kernel_needs_no_values() -> None:
    """With more rows than twice the features, and no other kernel to share with, none is made."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    response = X[:, 0] + 1.0
    pool = KernelPool(KernelLibrary({"linear": Linear()}), X)
    pool.data.blocks = None  # nothing that could make values
    np.testing.assert_allclose(pool.scores(0, None, response), X @ (X.T @ response))


def test_a_budget_of_memory_is_kept() -> None:
    """All that a pool allocates, over passes of every kind, stays within its megabytes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20)).astype(np.float32)
    response = rng.normal(size=3000)
    tracemalloc.start()
    try:
        pool = KernelPool(LIBRARY, X, cache_size=40.0, block_size=256)
        pricer = StrataPricer(pool, priority="stratified", tol=1e-3)
        for rule in [OneNormEntry(True)] * 4:
            response = response.copy()
            response[rng.permutation(3000)[:300]] = rng.normal(size=300)
            slack = np.where(rng.uniform(size=3000) < 0.2, 1.0, 0.0)
            pricer.price(state_of(response, rule, slack), 20)
            pricer.price(state_of(response, rule, slack), 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20
    assert peak > 25 * 2**20  # and is used


def test_more_memory_saves_values() -> None:
    """With a larger budget fewer values are computed for the same passes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    responses = [rng.normal(size=400) for _ in range(4)]
    counts = []
    for megabytes in (0.0, 1.2, 100.0):
        kernel = Counted()
        pool = KernelPool(
            KernelLibrary({"counted": kernel}), X, cache_size=megabytes, block_size=100
        )
        for response in responses:
            pool.scores(0, None, response)
        counts.append(kernel.values)
    assert counts[0] > counts[1] > counts[2]


def test_the_order_of_memory_does_not_matter() -> None:
    """Rows stored column by column, as in a data frame, give scores of the same bits."""
    X = np.random.default_rng(0).normal(size=(50, 5))
    response = np.random.default_rng(1).normal(size=50)
    scores = [
        KernelPool(LIBRARY, rows).scores(stratum, None, response)
        for rows in (np.ascontiguousarray(X), np.asfortranarray(X))
        for stratum in range(len(LIBRARY))
    ]
    for one, other in zip(scores[: len(LIBRARY)], scores[len(LIBRARY) :], strict=True):
        np.testing.assert_array_equal(one, other)


def test_columns_of_float32_rows_are_rounded_once() -> None:
    """They are the values in float64, rounded; a column from memory is the same as a new one."""
    X = np.random.default_rng(4).uniform(size=(30, 200)).astype(np.float32)
    pool = KernelPool(KernelLibrary({"linear": Linear(), "rbf": RBF(0.3)}), X)
    exact = RBF(0.3)(X.astype(float), X.astype(float)).astype(np.float32)
    np.testing.assert_array_equal(pool.values(1, np.arange(30)), exact)
    pool.scores(1, None, np.ones(30))
    np.testing.assert_array_equal(pool.values(1, np.arange(30)), exact)
    assert pool.column(1, 3).values.dtype == np.float32


def test_a_pass_that_fails_leaves_the_scores_as_they_were() -> None:
    """After a kernel has raised within a pass, the next pass is right."""
    X = np.random.default_rng(6).normal(size=(30, 2))
    fragile = Fragile()
    pool = KernelPool(KernelLibrary({"fragile": fragile}), X, block_size=8)
    one, two = np.ones(30), np.arange(30.0)
    pool.scores(0, None, one * (np.arange(30) < 4))
    fragile.calls = 5
    with pytest.raises(KernelError, match="'fragile' failed.*ZeroDivisionError: one call too many"):
        pool.scores(0, None, two)
    fragile.calls = 10**6
    np.testing.assert_allclose(pool.scores(0, None, two), X @ (X.T @ two), atol=1e-10)


def test_a_change_of_precision_that_fails_leaves_no_wrong_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where memory runs out between float32 and float64, the next pass begins anew."""
    X = np.random.default_rng(6).normal(size=(30, 2)).astype(np.float32)
    pool = KernelPool(KernelLibrary({"rbf": RBF(0.5)}), X)
    one, two = np.ones(30), np.ones(30) + (np.arange(30) < 3)
    pool.scores(0, None, one)

    def no_room(pool: KernelPool) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(KernelPool, "_bare", no_room)
        with pytest.raises(MemoryError):
            pool.sharpen()
    np.testing.assert_allclose(pool.scores(0, None, two), RBF(0.5)(X, X) @ two, rtol=1e-6)


class Fragile(Kernel):
    """A linear kernel that raises after so many calls."""

    calls = 10**6

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        self.calls -= 1
        if self.calls < 0:
            raise ZeroDivisionError("one call too many")
        return A @ B.T


def test_blocks_have_a_row_at_least() -> None:
    """The error has the size that was asked for."""
    with pytest.raises(ValueError, match="block_size must be at least 1, got 0"):
        KernelPool(LIBRARY, np.eye(4), block_size=0)


@pytest.mark.parametrize("library", ["rbf", {"rbf": RBF()}, RBF(), None], ids=repr)
def test_what_stands_for_a_library_is_taken_for_it(library):
    """A word, a dict, one kernel and None give the strata of the library that they stand for."""
    rows = np.random.default_rng(0).normal(size=(9, 2))
    assert KernelPricer(library, rows).pool.strata == as_library(library).names


@pytest.mark.parametrize("cache_size", [0.0, 1000.0])
def test_a_pass_without_time_leaves_nothing_half_done(cache_size: float) -> None:
    """It ends after a block, without columns or a proof; the next one is as of a new pool."""
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    library = KernelLibrary({"linear": Linear(), "rbf": RBF(0.5)})
    state = OneNormMaster(hinge(y, np.ones(90))).solve()
    timed, other = (
        StrataPricer(KernelPool(library, X, block_size=20, cache_size=cache_size)) for _ in range(2)
    )
    expected, timed.seconds_left = other.price(state, 5), 0.0
    found = timed.price(state, 5)
    assert (found.exact, len(found.columns)) == (False, 0)
    timed.seconds_left = None
    found = timed.price(state, 5)
    assert [column.key for column in found.columns] == [column.key for column in expected.columns]
    assert found.exact
    assert found.max_excess == pytest.approx(expected.max_excess)
