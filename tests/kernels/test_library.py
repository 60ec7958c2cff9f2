"""Libraries of kernels: their order, their errors, what pickle keeps."""

import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from cgboost import RBF, KernelLibrary, Linear

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KernelLibrary({}), "non-empty mapping"),
        (lambda: KernelLibrary([Linear()]), "non-empty mapping"),
        (lambda: KernelLibrary({"a": 3}), "kernel 'a' must be a Kernel .* got 3"),
        (lambda: KernelLibrary({"a": RBF}), "kernel 'a' must be a Kernel"),
        (lambda: KernelLibrary({1: RBF()}), "names must be non-empty strings, got 1"),
    ],
)
def test_bad_libraries_are_refused_with_their_value(make: object, message: str) -> None:
    """Each error names the argument and the value."""
    with pytest.raises(ValueError, match=message):
        make()


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


def test_a_library_of_named_functions_can_be_pickled() -> None:
    """A function that a module defines survives pickle; a lambda does only where pickle allows."""
    library = pickle.loads(pickle.dumps(KernelLibrary({"mine": cosine_similarity})))
    np.testing.assert_allclose(library.fit(X)["mine"](X, Z), cosine_similarity(X, Z))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(KernelLibrary({"mine": lambda A, B: A @ B.T}))
