"""Kernels against their formulas; libraries and the errors they raise."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import cosine_similarity

from cgboost import RBF, KernelLibrary, Linear, Polynomial, Precomputed
from cgboost.exceptions import KernelError
from cgboost.kernels import FunctionKernel, Kernel, Normalized, kernel_values

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Linear(), X @ Z.T),
        (Polynomial(2), (X @ Z.T) ** 2),
        (Polynomial(3, gamma=0.5, coef0=1.0), (0.5 * X @ Z.T + 1) ** 3),
        (RBF(0.7), np.exp(-0.7 * cdist(X, Z, "sqeuclidean"))),
        (Linear() + 2.0 * Polynomial(2), X @ Z.T + 2 * (X @ Z.T) ** 2),
        (0.5 * (Linear() + RBF(1.0)), 0.5 * (X @ Z.T + np.exp(-cdist(X, Z, "sqeuclidean")))),
        (FunctionKernel(lambda A, B: np.tanh(A @ B.T)), np.tanh(X @ Z.T)),
    ],
    ids=str,
)
def test_values_follow_the_formula(kernel: Kernel, expected: np.ndarray) -> None:
    """Each kernel, and sums and multiples of kernels, give the values of their formula."""
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(3, coef0=2.0), RBF(0.3), Linear() + RBF(2.0)], ids=str
)
def test_diagonal_and_normalisation(kernel: Kernel) -> None:
    """Diagonal is k(x, x), and the normalised kernel has k(x, z)/√(k(x, x) k(z, z))."""
    full = kernel(X, X)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(full), rtol=1e-12)
    root = np.sqrt(np.diag(full))
    np.testing.assert_allclose(Normalized(kernel)(X, X), full / np.outer(root, root), rtol=1e-12)


def test_normalised_kernel_of_a_zero_row_is_zero() -> None:
    """A row of zeros has no direction: its cosine with anything is 0, not NaN."""
    rows = np.vstack([np.zeros(4), X])
    values = Normalized(Linear())(rows, rows)
    assert np.all(values[0] == 0)
    assert np.all(values[:, 0] == 0)


def test_rbf_width_is_one_over_the_mean_squared_distance() -> None:
    """gamma=None follows the paper's rule, over all pairs of training rows, i = j included."""
    mean = 2 * pdist(X, "sqeuclidean").sum() / len(X) ** 2
    assert RBF().fit(X).gamma == pytest.approx(1 / mean)
    assert RBF().fit(np.ones((3, 2))).gamma == 1.0
    assert RBF(0.5).fit(X).gamma == 0.5


def test_an_unfitted_width_is_an_error() -> None:
    """RBF(gamma=None) cannot be evaluated before it has seen training rows."""
    with pytest.raises(KernelError, match="no width yet"):
        RBF()(X, Z)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, coef0=1.0), RBF(0.4), 2 * Linear()])
@pytest.mark.parametrize("normalise", [False, True])
def test_float32_stays_float32(kernel: Kernel, normalise: bool) -> None:
    """Single precision rows give single precision values."""
    kernel = Normalized(kernel) if normalise else kernel
    assert kernel(X.astype(np.float32), Z.astype(np.float32)).dtype == np.float32


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(0), "degree must be a positive whole number, got 0"),
        (lambda: Polynomial(2, gamma=-1), "gamma must be a positive number, got -1"),
        (lambda: RBF(0.0), "gamma must be a positive number or None, got 0.0"),
        (lambda: RBF("scale"), "gamma must be a positive number or None, got 'scale'"),
        (lambda: Polynomial("2"), "degree must be a positive whole number, got '2'"),
        (lambda: Polynomial(2, gamma="auto"), "gamma must be a positive number, got 'auto'"),
        (lambda: Polynomial(2, coef0=None), "coef0 must be a number, got None"),
        (lambda: Precomputed() + Linear(), "cannot be part of a sum"),
        (lambda: Normalized(Precomputed()), "cannot be normalised"),
        (lambda: KernelLibrary({}), "non-empty mapping"),
        (lambda: KernelLibrary([Linear()]), "non-empty mapping"),
        (lambda: KernelLibrary({"a": 3}), "kernel 'a' must be a Kernel .* got 3"),
        (lambda: KernelLibrary({"a": RBF}), "kernel 'a' must be a Kernel"),
        (lambda: KernelLibrary({1: RBF()}), "names must be non-empty strings, got 1"),
    ],
)
def test_bad_kernels_are_refused_with_their_value(make: object, message: str) -> None:
    """Each error names the argument and the value."""
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: A @ A.T, r"kernel 'mine' returned shape \(7, 7\) for 7 rows and 5 centres"),
        (lambda A, B: (A @ B.T).T, r"kernel 'mine' returned shape \(5, 7\).*must return \(7, 5\)"),
        (lambda A, B: np.full((7, 5), np.nan), "kernel 'mine' returned nan.*check its formula"),
        (lambda A, B: np.full((7, 5), np.inf), "kernel 'mine' returned inf.*scale the features"),
        (lambda A, B: None, "kernel 'mine' returned NoneType .* array of real numbers"),
        (lambda A, B: "values", "kernel 'mine' returned str"),
        (lambda A, B: A @ B.T + 1j, "kernel 'mine' returned ndarray of complex128 values"),
        (lambda A, B: [[1.0], [1.0, 2.0]], "kernel 'mine' returned no matrix"),
        (lambda A, B: sp.csr_array(A @ B.T), "kernel 'mine' returned csr_array of object values"),
    ],
)
@pytest.mark.parametrize("normalize", [False, True])
def test_bad_kernel_values_name_the_kernel(
    function: Callable[..., Any], message: str, normalize: bool
) -> None:
    """A user's kernel with values that are no real, finite matrix is named, normalised or not."""

    def on_the_diagonal_too(A: np.ndarray, B: np.ndarray) -> Any:
        return function(A, B) if len(A) > 1 else np.ones((1, 1))

    library = KernelLibrary({"mine": on_the_diagonal_too}, normalize=normalize)
    with pytest.raises(KernelError, match=message):
        kernel_values("mine", library.fit(X)["mine"], X, Z)


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


def test_a_negative_diagonal_names_the_kernel() -> None:
    """A kernel with k(x, x) < 0 cannot be normalised, and is named as in its library."""
    kernel = KernelLibrary({"mine": lambda A, B: -(A @ B.T)}, normalize=True).fit(X)["mine"]
    with pytest.raises(KernelError, match=r"kernel 'mine' cannot be normalised: k\(x, x\) = -"):
        kernel(X, Z)


def test_a_library_of_named_functions_can_be_pickled() -> None:
    """A function that a module defines survives pickle; a lambda does only where pickle allows."""
    library = pickle.loads(pickle.dumps(KernelLibrary({"mine": cosine_similarity})))
    np.testing.assert_allclose(library.fit(X)["mine"](X, Z), cosine_similarity(X, Z))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(KernelLibrary({"mine": lambda A, B: A @ B.T}))


def test_overflow_names_the_kernel() -> None:
    """A polynomial of huge features overflows: the error says which kernel and what to do."""
    with pytest.raises(KernelError, match="kernel 'cubic' returned -?inf.*scale the features"):
        kernel_values("cubic", Polynomial(9), 1e40 * X, 1e40 * Z)


def test_library_keeps_the_order_and_fits_every_kernel() -> None:
    """Names keep their order; fit sets widths and normalises only when asked."""
    library = KernelLibrary({"r": RBF(), "l": Linear(), "f": lambda A, B: A @ B.T})
    assert library.names == ("r", "l", "f")
    assert len(library) == 3
    fitted = library.fit(X)
    assert fitted["r"].gamma is not None
    assert isinstance(fitted["l"], Linear)
    normalised = KernelLibrary({"l": Linear()}, normalize=True).fit(X)["l"]
    np.testing.assert_allclose(np.diag(normalised(X, X)), 1.0)
