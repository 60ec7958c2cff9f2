"""Kernels that are given as a matrix or as a function."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cgboost import KernelLibrary, Precomputed
from cgboost.exceptions import KernelError

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


def test_precomputed_takes_columns_of_the_data() -> None:
    """Training row j's column is column first + j of X, also for new rows."""
    gram = X @ X.T
    both = np.hstack([gram, 2 * gram])
    second = Precomputed(first=7)
    np.testing.assert_array_equal(second(both, second.centres(both, [2, 5])), 2 * gram[:, [2, 5]])


@pytest.mark.parametrize("normalize", [False, True])
def test_values_that_are_real_numbers_become_floats(normalize: bool) -> None:
    """Whole numbers, lists and truth values count as numbers in the precision of X."""
    single, centres = (10 * X).astype(np.float32), (10 * Z).astype(np.float32)

    def value(kernel: Callable[..., Any]) -> np.ndarray:
        library = KernelLibrary({"mine": kernel}, normalize=normalize)
        return library.fit(single)["mine"](single, centres)

    for convert in (
        lambda A, B: (A @ B.T).astype(int),
        lambda A, B: (A @ B.T).astype(int).tolist(),
        lambda A, B: A @ B.T > 0,
    ):
        given = value(convert)
        assert given.dtype.kind == "f"
        wanted = value(lambda A, B, own=convert: np.asarray(own(A, B), dtype=float))
        np.testing.assert_allclose(given, wanted, rtol=1e-6)


GRAM = X @ X.T
EVERY = np.arange(7.0)[:, None]


def test_a_matrix_is_read_by_row_numbers() -> None:
    """k(x, z) = matrix[x, z] for row numbers x and z, in any order and more than once.

    It is a kernel like others: it can be summed and normalised.
    """
    kernel = Precomputed("mine", GRAM)
    rows = np.array([[3.0], [3.0], [0.0]])
    np.testing.assert_array_equal(kernel(rows, EVERY[[1, 6]]), GRAM[[3, 3, 0]][:, [1, 6]])
    np.testing.assert_array_equal(kernel.diagonal(rows), np.diag(GRAM)[[3, 3, 0]])
    np.testing.assert_array_equal(kernel.centres(EVERY, [2, 5]), [[2.0], [5.0]])
    assert not kernel.is_precomputed
    squares = GRAM**2
    kernel = Precomputed("a", GRAM) + 0.5 * Precomputed("b", squares)
    np.testing.assert_allclose(kernel(EVERY, EVERY), GRAM + 0.5 * squares)
    root = np.sqrt(np.diag(GRAM))
    cosines = KernelLibrary({"a": Precomputed("a", GRAM)}, normalize=True).fit(EVERY)["a"]
    np.testing.assert_allclose(cosines(EVERY, EVERY), GRAM / np.outer(root, root))


@pytest.mark.parametrize(
    ("error", "make", "words"),
    [
        *(
            (KernelError, lambda r=r: Precomputed("mine", GRAM)(np.array(r), EVERY), "from 0 to 6")
            for r in ([[7.0]], [[-1.0]], [[0.5]], [[np.nan]], [[0.0, 1.0]])
        ),
        (
            ValueError,
            lambda: Precomputed("mine", GRAM[:3]),
            r"square, got float64 of shape \(3, 7\)",
        ),
        (ValueError, lambda: Precomputed("mine", [["a"]]), "must have numbers and be square"),
        (ValueError, lambda: Precomputed(""), "takes a name or its first column, got ''"),
        (ValueError, lambda: Precomputed(-1), "takes a name or its first column, got -1"),
        (KernelError, lambda: Precomputed().centres(X, [0]), "at least 7 columns.*X has 4"),
        (
            KernelError,
            lambda: Precomputed("mine").centres(GRAM, [0]),
            r"Precomputed\('mine'\) needs a mapping of matrices",
        ),
    ],
)
def test_wrong_matrices_places_and_rows(
    error: type[Exception], make: Callable[[], Any], words: str
) -> None:
    """What cannot be a matrix, a place or a row number is refused with what is there."""
    with pytest.raises(error, match=words):
        make()


def test_matrices_are_compared_and_not_copied() -> None:
    """Copies of a library share the matrix; equal names and matrices make equal kernels."""
    kernel = Precomputed("mine", GRAM)
    assert copy.deepcopy(kernel).matrix is kernel.matrix
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert kernel != Precomputed("mine", 2 * GRAM)
    assert kernel != Precomputed("mine")
    assert Precomputed(first=3) == Precomputed(3) != Precomputed()
    assert len({Precomputed(), Precomputed(0), kernel}) == 2
    assert repr(kernel) == "Precomputed('mine', matrix of 7 rows)"
