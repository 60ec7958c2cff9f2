"""Training rows: products with centred data that are never made, and kernels that will not do."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import RBF, Linear
from cgboost.kernels.precomputed import FunctionKernel
from cgboost.pricing.latent import KernelSpace, LinearSpace
from cgboost.pricing.latent import pricer as spaces

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 7)) * (RNG.uniform(size=(40, 7)) > 0.4) + np.arange(7)
WEIGHTS = RNG.uniform(0.5, 2.0, 40) * (np.arange(40) % 6 > 0)
CENTRED = X - WEIGHTS @ X / WEIGHTS.sum()

FORMS: dict[str, Callable[[Any], Any]] = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "csr": sp.csr_matrix,
    "csc": sp.csc_array,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("block", [1, 20, 2**17])
def test_products_are_those_of_centred_rows(
    form: str, dtype: Any, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X̃ᵀa, X̃w and X̃ᵀΓX̃w, in blocks of any size, with weights and means that are not 0."""
    monkeypatch.setattr(spaces, "ENTRIES_IN_CACHE", block)
    space = LinearSpace(FORMS[form](X.astype(dtype)), WEIGHTS)
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    a, w = RNG.normal(size=40), RNG.normal(size=7)
    np.testing.assert_allclose(space.means, WEIGHTS @ X / WEIGHTS.sum(), rtol=rtol)
    np.testing.assert_allclose(space.transposed(a), CENTRED.T @ a, atol=100 * rtol)
    values, pulled = space.there_and_back(w)
    np.testing.assert_allclose(values, CENTRED @ w, atol=100 * rtol)
    np.testing.assert_allclose(pulled, CENTRED.T @ (WEIGHTS * (CENTRED @ w)), atol=1000 * rtol)
    assert values.dtype == pulled.dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
def test_float32_is_never_copied(order: Any) -> None:
    """All products together need less memory than a tenth of X."""
    rows = np.asarray(np.random.default_rng(0).normal(size=(2000, 500)), np.float32, order=order)
    space = LinearSpace(rows, np.ones(2000))
    tracemalloc.start()
    search = space.search(deflate=True)
    direction = search.direction(np.arange(2000.0))
    search.offer(direction, np.zeros(0), 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows.nbytes / 10


def test_the_image_is_that_of_the_centred_gram_matrix() -> None:
    """K̃a with weighted means taken out of rows and columns."""
    space = KernelSpace(X, RBF(0.1), WEIGHTS, name="rbf")
    centring = np.eye(40) - np.outer(np.ones(40), WEIGHTS / WEIGHTS.sum())
    K = centring @ RBF(0.1)(X, X) @ centring.T
    a = RNG.normal(size=40)
    np.testing.assert_allclose(space.image(a), K @ a, atol=1e-12)


def test_a_kernel_that_is_not_symmetric_is_refused() -> None:
    """The error names it and says by how much."""
    lopsided = FunctionKernel(lambda A, B: A @ B.T + A[:, :1])
    with pytest.raises(ValueError, match=r"kernel 'odd' is not symmetric: .* differ by \d"):
        KernelSpace(X, lopsided, WEIGHTS, name="odd")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    "function",
    [
        lambda A, B: -(A @ B.T),
        lambda A, B: -RBF(0.1)(A, B),
        lambda A, B: np.tanh(0.1 * A @ B.T - 5.0),
        lambda A, B: ((A[:, None] - B) ** 2).sum(axis=2),
    ],
    ids=["negative linear", "negative RBF", "sigmoid", "distance"],
)
def test_a_kernel_that_is_not_positive_semi_definite_is_refused(
    function: Any, scale: float
) -> None:
    """For a response with rKr < 0 the error names the kernel and what to do, at every scale."""
    kernel = FunctionKernel(lambda A, B: scale * function(A, B))
    search = KernelSpace(X, kernel, np.ones(40), name="bad").search(deflate=True)
    centring = np.eye(40) - 1 / 40
    worst = np.linalg.eigh(centring @ kernel(X, X) @ centring)[1][:, 0]
    with pytest.raises(ValueError, match="kernel 'bad' is not positive semi-definite.*identity"):
        search.direction(worst)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [Linear(), RBF(1e-6), RBF(0.1)], ids=str)
def test_a_kernel_of_low_rank_is_not_called_indefinite(kernel: Any, dtype: Any) -> None:
    """Where K̃a is nothing but rounding errors, its length is 0 and its sign means nothing."""
    rows = X.astype(dtype)
    space = KernelSpace(rows, kernel, np.ones(40), name="k")
    features = np.column_stack([np.ones(40), X])
    for response in RNG.normal(size=(50, 40)):
        space.search(deflate=True).direction(response)
        beyond = response - features @ np.linalg.lstsq(features, response)[0]
        if isinstance(kernel, Linear):
            assert space.search(deflate=True).direction(beyond).length == 0.0
        else:
            space.search(deflate=True).direction(beyond)
