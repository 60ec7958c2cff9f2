"""Kernels that are given as a matrix or as a function."""

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


def test_precomputed_needs_a_square_block() -> None:
    """A matrix with fewer columns than training rows is refused, with the numbers."""
    with pytest.raises(KernelError, match="at least 7 columns.*X has 4"):
        Precomputed().centres(X, [0])


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(
    "convert",
    [
        lambda values: values.astype(int),
        lambda values: values.astype(int).tolist(),
        lambda values: values > 0,
    ],
    ids=["whole numbers", "lists", "truth values"],
)
def test_values_that_are_real_numbers_become_floats(
    convert: Callable[[np.ndarray], Any], normalize: bool
) -> None:
    """Whole numbers, lists and truth values count as numbers in the precision of X."""
    single, centres = (10 * X).astype(np.float32), (10 * Z).astype(np.float32)

    def function(A: np.ndarray, B: np.ndarray) -> Any:
        return convert(A @ B.T)

    def as_floats(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(function(A, B), dtype=float)

    given, wanted = (
        KernelLibrary({"mine": kernel}, normalize=normalize).fit(single)["mine"](single, centres)
        for kernel in (function, as_floats)
    )
    assert given.dtype.kind == "f"
    np.testing.assert_allclose(given, wanted, rtol=1e-6)
