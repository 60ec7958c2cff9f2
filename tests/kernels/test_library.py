"""Libraries of kernels: their order, their errors, what pickle keeps."""

import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import StandardScaler

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear, Precomputed

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
        (
            lambda: KernelLibrary({"p": Precomputed()}, standardize=True),
            "Precomputed kernel has none",
        ),
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


def test_representation_names_what_is_done_to_features_and_kernels() -> None:
    """Options that differ from their defaults are shown."""
    library = KernelLibrary({"r": RBF()}, normalize=True, standardize=True, negation=False)
    assert repr(library) == "KernelLibrary(r, normalize=True, standardize=True, negation=False)"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_standardising_library_is_a_library_on_standardised_features(dtype: type) -> None:
    """Objective, predictions and stages equal those of StandardScaler before the model."""
    rng = np.random.default_rng(3)
    raw = (rng.normal(size=(60, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 1.0]).astype(dtype)
    y = np.sin(raw[:, 0]) + raw[:, 1] / 1e3
    kernels = {"l": Linear(), "r": RBF(), "f": lambda A, B: np.tanh(A @ B.T)}
    inside = CGBoostRegressor(KernelLibrary(kernels, standardize=True), tol=1e-6)
    before = CGBoostRegressor(KernelLibrary(kernels), tol=1e-6)
    scaler = StandardScaler().fit(raw[:40])
    inside.fit(raw[:40], y[:40])
    before.fit(scaler.transform(raw[:40]), y[:40])
    assert inside.objective_ == before.objective_
    expected = before.predict(scaler.transform(raw))
    np.testing.assert_array_equal(inside.predict(raw), expected)
    *_, last = inside.staged_predict(raw)
    np.testing.assert_allclose(last, expected, rtol=1e-5, atol=1e-5)


def test_default_library_makes_units_of_features_irrelevant() -> None:
    """A model without a library predicts the same whatever the units of its features."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(80, 2))
    y = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    units = np.array([1e-4, 1e4])
    plain = CGBoostClassifier().fit(rows[:60], y[:60])
    other = CGBoostClassifier().fit(rows[:60] * units, y[:60])
    np.testing.assert_allclose(
        other.decision_function(rows * units), plain.decision_function(rows), atol=1e-3
    )
