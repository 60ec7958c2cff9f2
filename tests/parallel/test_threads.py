"""A map on threads, and limits of those of linear algebra."""

import pickle
import threading

import pytest

from cgboost.parallel.threads import AHEAD, Threads, available, blas_threads


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 50])
def test_results_come_in_the_order_of_the_items(count: int, n_items: int) -> None:
    """Of a list and of what only iterates, on however many threads; the map can be pickled."""
    mapped = pickle.loads(pickle.dumps(Threads(count)))
    wanted = [k**2 for k in range(n_items)]
    assert list(mapped(lambda k: k**2, range(n_items))) == wanted
    assert list(mapped(lambda k: k**2, iter(range(n_items)))) == wanted


def test_two_items_are_worked_on_at_the_same_time() -> None:
    """Each waits for the other; a lone item needs no thread."""
    meeting = threading.Barrier(2)
    assert sorted(Threads(2)(lambda _: meeting.wait(30), range(2))) == [0, 1]
    assert list(Threads(2)(lambda _: threading.current_thread(), [0])) == [
        threading.current_thread()
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_linear_algebra_within_an_item_runs_on_one_thread(count: int) -> None:
    """And on as many as before once the results are taken, or nobody wants the rest of them."""
    with blas_threads(2):
        before = available()
        assert list(Threads(count)(lambda _: available(), range(4))) == [1] * 4
        assert available() == before
        some = Threads(count)(lambda _: available(), range(4))
        assert next(some) == 1
        some.close()
        assert available() == before


def test_few_items_are_read_ahead() -> None:
    """Blocks of a long source are not all read before the first result is taken."""
    read: list[int] = []

    def items() -> object:
        for k in range(100):
            read.append(k)
            yield k

    results = Threads(2)(lambda k: k, items())
    assert next(results) == 0
    assert len(read) <= 2 * AHEAD + 1
    assert list(results) == list(range(1, 100))


def test_nothing_goes_on_after_an_error() -> None:
    """Items that wait are dropped, and those that have begun are done when the error arrives."""
    begun, done = [], []

    def work(k: int) -> None:
        begun.append(k)
        if k == 0:
            raise RuntimeError("the first")
        done.append(k)

    with pytest.raises(RuntimeError, match="the first"):
        list(Threads(2)(work, range(1000)))
    assert sorted(begun) == sorted([0, *done])
    assert len(begun) <= 2 * AHEAD + 2


def test_a_limit_holds_within_its_block_and_no_longer() -> None:
    """Limits nest, and an error within gives the threads back too."""
    before = available()
    with blas_threads(1):
        assert available() == 1
        with blas_threads(2):
            assert available() == 2
        assert available() == 1
    with pytest.raises(ZeroDivisionError), blas_threads(1):
        raise ZeroDivisionError
    assert available() == before
