"""Rows as spaces: products with centred data, searches, and what is saved in them."""

import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import RBF, Linear
from cgboost.kernels.precomputed import FunctionKernel
from cgboost.pricing.latent import (
    FactorBasis,
    GrowingMatrix,
    KernelFactorSpace,
    LinearFactorSearch,
    LinearFactorSpace,
)
from cgboost.pricing.latent import latent_factor_pricer as spaces
from tests.pricing.latent.references import deflated_factors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 7)) * (RNG.uniform(size=(40, 7)) > 0.4) + np.arange(7)
WEIGHTS = RNG.uniform(0.5, 2.0, 40) * (np.arange(40) % 6 > 0)
CENTRED = X - WEIGHTS @ X / WEIGHTS.sum()
ONES = np.ones(40)
CENTRING = np.eye(40) - np.outer(ONES, WEIGHTS / WEIGHTS.sum())

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
    space = LinearFactorSpace(FORMS[form](X.astype(dtype)), WEIGHTS)
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    a, w = RNG.normal(size=40), RNG.normal(size=7)
    np.testing.assert_allclose(space.means, WEIGHTS @ X / WEIGHTS.sum(), rtol=rtol)
    np.testing.assert_allclose(space.transposed(a), CENTRED.T @ a, atol=100 * rtol)
    values, pulled = space.there_and_back(w)
    np.testing.assert_allclose(values, CENTRED @ w, atol=100 * rtol)
    np.testing.assert_allclose(pulled, CENTRED.T @ (WEIGHTS * (CENTRED @ w)), atol=1000 * rtol)
    assert values.dtype == pulled.dtype == np.float64
    responses = RNG.normal(size=(40, 3))  # of several outputs that share factors
    expected = responses.T @ CENTRED @ CENTRED.T @ responses
    np.testing.assert_allclose(space.products(responses), expected, atol=1e4 * rtol)


@pytest.mark.parametrize("order", ["C", "F"])
def test_float32_is_never_copied(order: Any) -> None:
    """All products together need less memory than a tenth of X."""
    rows = np.asarray(np.random.default_rng(0).normal(size=(2000, 500)), np.float32, order=order)
    space = LinearFactorSpace(rows, np.ones(2000))
    tracemalloc.start()
    search = space.search(deflate=True)
    direction = search.direction(np.arange(2000.0))
    search.offer(direction, np.zeros(0), 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows.nbytes / 10


def test_products_of_a_kernel_are_those_of_the_centred_gram_matrix() -> None:
    """K̃a and UᵀK̃U with weighted means taken out of rows and columns."""
    space = KernelFactorSpace(X, RBF(0.1), WEIGHTS, name="rbf")
    K = CENTRING @ RBF(0.1)(X, X) @ CENTRING.T
    U = RNG.normal(size=(40, 3))
    np.testing.assert_allclose(space.image(U[:, 0]), K @ U[:, 0], atol=1e-12)
    np.testing.assert_allclose(space.products(U), U.T @ K @ U, atol=1e-10)


def test_a_kernel_that_is_not_symmetric_is_refused() -> None:
    """The error names it and says by how much."""
    lopsided = FunctionKernel(lambda A, B: A @ B.T + A[:, :1])
    with pytest.raises(ValueError, match=r"kernel 'odd' is not symmetric: .* differ by \d"):
        KernelFactorSpace(X, lopsided, WEIGHTS, name="odd")


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
    search = KernelFactorSpace(X, kernel, np.ones(40), name="bad").search(deflate=True)
    centring = np.eye(40) - 1 / 40
    worst = np.linalg.eigh(centring @ kernel(X, X) @ centring)[1][:, 0]
    with pytest.raises(ValueError, match="kernel 'bad' is not positive semi-definite.*identity"):
        search.direction(worst)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [Linear(), RBF(1e-6), RBF(0.1)], ids=str)
def test_a_kernel_of_low_rank_is_not_called_indefinite(kernel: Any, dtype: Any) -> None:
    """Where K̃a is nothing but rounding errors, its length is 0 and its sign means nothing."""
    rows = X.astype(dtype)
    space = KernelFactorSpace(rows, kernel, np.ones(40), name="k")
    features = np.column_stack([np.ones(40), X])
    for response in RNG.normal(size=(50, 40)):
        space.search(deflate=True).direction(response)
        beyond = response - features @ np.linalg.lstsq(features, response)[0]
        if isinstance(kernel, Linear):
            assert space.search(deflate=True).direction(beyond).length == 0.0
        else:
            space.search(deflate=True).direction(beyond)


# ---------------------------------------------------------------------------- searches


class Counting(LinearFactorSpace):
    """Counts the products X̃ᵀa."""

    transposed_calls = 0

    def transposed(self, a: np.ndarray) -> np.ndarray:
        self.transposed_calls += 1
        return super().transposed(a)


def stepped(search: LinearFactorSearch, response: np.ndarray) -> np.ndarray:
    """The next factor, accepted."""
    direction = search.direction(response)
    values, along = search.basis.without(direction.values)
    length = search.basis.length(values)
    search.offer(direction, along, length)
    search.accept(values / length)
    return values / length


@pytest.mark.parametrize("residuals", [True, False])
def test_the_slopes_of_residuals_are_computed_once(residuals: bool) -> None:
    """Least squares moves u within the span of T: X̃ᵀu then follows from P, and T is right.

    A response of its own has slopes of its own.
    """
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 12)) + rng.normal(size=(60, 1)) * 3.0
    order = "F" if residuals else "C"
    space = Counting(np.asarray(rows, order=order), np.ones(60))
    search, responses = space.search(deflate=True), []
    u = rows[:, :3].sum(axis=1) + rng.normal(size=60)
    u -= u.mean()
    for _ in range(6):
        responses.append(u)
        t = stepped(search, u)
        u = u - t * (t @ u) if residuals else rng.normal(size=60)
    T, W, P = deflated_factors(rows, responses)
    np.testing.assert_allclose(search.basis.factors, T, atol=1e-11)
    np.testing.assert_allclose(search.family.weights.values, W, atol=1e-10)
    np.testing.assert_allclose(search.family.loadings.values, P, atol=1e-10)
    # of u once, and of each factor where columns lie apart; of each u where rows do
    assert space.transposed_calls == (1 + 6 if residuals else 6)


@pytest.mark.parametrize("deflate", [True, False])
def test_a_direction_is_that_of_steepest_descent(deflate: bool) -> None:
    """W = X̃ᵀa/‖X̃ᵀa‖, and its values X̃w; of zeros the length is 0."""
    search: Any = LinearFactorSpace(X, ONES).search(deflate=deflate)
    u = RNG.normal(size=40)
    centred = X - X.mean(axis=0)
    direction, w = search.direction(u), centred.T @ u
    assert direction.length == pytest.approx(np.linalg.norm(w))
    np.testing.assert_allclose(direction.values, centred @ w / np.linalg.norm(w), atol=1e-12)
    nothing = search.direction(np.zeros(40))
    assert nothing.length == 0.0
    np.testing.assert_array_equal(nothing.values, np.zeros(40))


# ---------------------------------------------------------------------------- basis


@pytest.mark.parametrize("weights", [ONES, WEIGHTS], ids=["uniform", "weighted"])
def test_a_basis_is_orthonormal_and_splits_vectors(weights: np.ndarray) -> None:
    """TᵀΓT = I, and v is Tz plus a rest with TᵀΓ(rest) = 0, also nearly in the span.

    X̃ᵀ(I − ΓTTᵀ)u is (X̃ − TTᵀΓX̃)ᵀu; without factors a vector is its own rest.
    """
    rng, basis = np.random.default_rng(0), FactorBasis(weights)
    v = rng.normal(size=40)
    rest, along = basis.without(v)
    np.testing.assert_array_equal(rest, v)
    np.testing.assert_array_equal(basis.deflated(v), v)
    assert (len(along), basis.count, basis.factors.shape) == (0, 0, (40, 0))
    for _ in range(20):
        rest, _ = basis.without(rng.normal(size=40))
        basis.append(rest / basis.length(rest))
    T = basis.factors
    np.testing.assert_allclose(T.T @ (weights[:, None] * T), np.eye(20), atol=1e-14)
    for vector in (v, T @ v[:20] + 1e-9 * v):
        rest, along = basis.without(vector)
        np.testing.assert_allclose(rest + T @ along, vector, atol=1e-13)
        assert np.abs(T.T @ (weights * rest)).max() <= 1e-14 * np.abs(rest).sum()
    rows, u = rng.normal(size=(40, 4)), rng.normal(size=40)
    deflated = rows - T @ (T.T @ (weights[:, None] * rows))
    np.testing.assert_allclose(rows.T @ basis.deflated(u), deflated.T @ u, atol=1e-12)


def test_columns_grow_and_lose_their_last() -> None:
    """What was put is there, beyond the first room too; a column put before others ends them.

    A pickle has the columns alone, and they can grow again.
    """
    matrix, columns = np.random.default_rng(0).normal(size=(3, 40)), GrowingMatrix(3)
    for j in range(40):
        columns.put(j, matrix[:, j])
    np.testing.assert_array_equal(columns.values, matrix)
    columns.put(5, np.ones(3))
    assert len(columns) == 6
    np.testing.assert_array_equal(columns.values, np.column_stack([matrix[:, :5], np.ones(3)]))
    columns = GrowingMatrix(1000)
    columns.put(0, np.arange(1000.0))
    written = pickle.dumps(columns)
    assert len(written) < 2 * 8000
    read = pickle.loads(written)
    read.put(1, np.ones(1000))
    np.testing.assert_array_equal(read.values, np.column_stack([np.arange(1000.0), np.ones(1000)]))
