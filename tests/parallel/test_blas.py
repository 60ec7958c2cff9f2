"""Threads of linear algebra: limited for a while, and given back."""

import pytest

from cgboost.parallel.blas import available, blas_threads


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
