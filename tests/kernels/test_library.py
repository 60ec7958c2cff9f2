"""Libraries of kernels and the parameters of both: order, errors, names, what pickle keeps."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import StandardScaler

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    Cosine,
    KernelLibrary,
    Linear,
    Matern,
    On,
    Polynomial,
    Precomputed,
    RationalQuadratic,
)
from cgboost.exceptions import KernelError
from cgboost.kernels import FunctionKernel, Kernel, Normalized, ProductKernel, as_library
from cgboost.kernels.library import DEFAULT_LIBRARY, LIBRARIES, given
from cgboost.kernels.parameters import changed, grouped, with_nested

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


def test_library_keeps_the_order_and_fits_every_kernel() -> None:
    """Fit sets widths and normalises only when asked; options that are not the default are shown.

    A function that a module defines survives pickle; a lambda does only where pickle allows.
    """
    library = KernelLibrary({"r": RBF(), "l": Linear(), "f": lambda A, B: A @ B.T})
    assert library.names == ("r", "l", "f")
    assert len(library) == 3
    fitted = library.fit(X)
    assert fitted["r"].gamma is not None
    assert isinstance(fitted["l"], Linear)
    normalised = KernelLibrary({"l": Linear()}, normalize=True).fit(X)["l"]
    np.testing.assert_allclose(np.diag(normalised(X, X)), 1.0)
    library = pickle.loads(pickle.dumps(KernelLibrary({"mine": cosine_similarity})))
    np.testing.assert_allclose(library.fit(X)["mine"](X, Z), cosine_similarity(X, Z))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(KernelLibrary({"mine": lambda A, B: A @ B.T}))
    library = KernelLibrary({"r": RBF()}, normalize=True, standardize=True, negation=False)
    assert repr(library) == "KernelLibrary(r, normalize=True, standardize=True, negation=False)"


@pytest.mark.parametrize("normalize", [True, "parts"])
def test_parts_of_a_sum_are_normalised(normalize: Any) -> None:
    """As in Table 1 of the paper, Σ μ_p of kernels with k(x, x) = 1; also in products, on columns.

    What has no sum in it is normalised as a whole. All of them can be had as they were given.
    """

    def unit(K: Callable[..., np.ndarray], A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return K(A, B) / np.sqrt(np.diag(K(A, A))[:, None] * np.diag(K(B, B)))

    def linear(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A @ B.T

    def quadratic(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return (A @ B.T) ** 2

    rbf = np.exp(-0.3 * ((X[:, None] - Z) ** 2).sum(axis=2))
    both = unit(linear, X, Z) + 2.0 * unit(quadratic, X, Z)
    first = unit(linear, X[:, :2], Z[:, :2]) + 2.0 * unit(quadratic, X[:, :2], Z[:, :2])
    composite = Linear() + 2.0 * Polynomial(2)
    expected: dict[str, tuple[Any, np.ndarray]] = {
        "sum": (composite, both),
        "weighted": (0.5 * Polynomial(2), 0.5 * unit(quadratic, X, Z)),
        "product": (composite * RBF(0.3), both * rbf),
        "power": (composite**2, both**2),
        "columns": (On(composite, [0, 1]), first),
        "no sum": (Linear() * RBF(0.3), unit(linear, X, Z) * rbf),
        "itself": (Cosine() + RBF(0.3), unit(linear, X, Z) + rbf),
    }
    kernels = {name: kernel for name, (kernel, _) in expected.items()}
    fitted = KernelLibrary(kernels, normalize=normalize).fit(X)
    for name, (_, values) in expected.items():
        np.testing.assert_allclose(fitted[name](X, Z), values, rtol=1e-9, atol=1e-12)
        assert given(fitted[name]) == (
            On(composite, [0, 1]).fit(X) if "col" in name else kernels[name]
        )
    whole = KernelLibrary(kernels, normalize="whole").fit(X)
    assert whole["sum"] == Normalized(composite)
    assert given(whole["sum"]) == composite
    own = {"normalize": normalize, "standardize": False}
    assert KernelLibrary({"sum": composite}, **own).get_params(deep=False)["normalize"] is normalize


def test_another_word_for_normalising_is_refused() -> None:
    """The error says what is allowed."""
    with pytest.raises(ValueError, match='True, False, "parts" or "whole", got \'part\''):
        KernelLibrary({"l": Linear()}, normalize="part")


def negative_distance(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel with k(x, x) = 0 ≠ k(x, z)."""
    return -np.abs(A[:, None] - B).sum(axis=2)


class SquaredDistance(ProductKernel):
    """The same from inner products."""

    def fill(self, out: Any, products: Any, x_norms: Any, z_norms: Any) -> None:
        out[...] = x_norms[:, None] + z_norms - 2.0 * products

    def diagonal_from_norms(self, norms: Any) -> Any:
        return np.zeros_like(norms)


def with_diagonal(value: float) -> Any:
    """A kernel with this k(x, x) where x_0 > 0."""
    return lambda A, B: np.where((A[:, None] == B).all(axis=2) & (A[:, :1] > 0), value, 0.5)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (negative_distance, r"k\(x, x\) = 0 for a row with values \|k\(x, z\)\| up to"),
        (On(negative_distance, [0, 1]) + 0.0 * Linear(), r"k\(x, x\) = 0 for a row"),
        (SquaredDistance(), r"k\(x, x\) = 0 for a row"),
        (SquaredDistance() * RBF(), r"k\(x, x\) = 0 for a row"),
        (with_diagonal(0.0), r"k\(x, x\) = 0 for a row with values \|k\(x, z\)\| up to 0.5"),
        (with_diagonal(-1.0), r"k\(x, x\) = -1; give it to a library with normalize=False"),
    ],
)
def test_a_kernel_that_cannot_be_normalised_is_named(kernel: Any, message: str) -> None:
    """k(x, x) = 0 ≠ k(x, z) is an error, alone or beside others, and not a column of zeros."""
    for others in ({}, {"l": Linear()}):
        library = KernelLibrary({**others, "mine": kernel}, normalize=True)
        with pytest.raises(KernelError, match=f"kernel 'mine' cannot be normalised: {message}"):
            CGBoostRegressor(library).fit(X, X[:, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_of_zeros_and_underflow_can_be_normalised(dtype: type) -> None:
    """Where k(x, x) = 0 says that k(x, z) is 0, also where squares alone are below all floats."""
    rows = np.array([[0.0, 0.0], [1e-30, 0.0], [1.0, 2.0], [1e-170, 1.0]]).astype(dtype)
    for kernel in (Linear(), Polynomial(2), Linear() * RBF(), lambda A, B: A @ B.T):
        own = KernelLibrary({"k": kernel}, normalize=True).fit(rows)["k"](rows, rows)
        np.testing.assert_allclose(np.diag(own)[2:], 1.0, rtol=1e-6)
        assert not own[0].any()
        assert np.isfinite(own).all()


class OfRowsAlone(Kernel):
    """A kernel of the user's whose fit knows no weights."""

    def fit(self, X: np.ndarray) -> Kernel:
        return RBF(1.0 / X.shape[0])

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        raise NotImplementedError


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_weights_of_rows_count_as_repetitions_in_scales_and_widths(form: Any) -> None:
    """Means, deviations and widths, of dense and sparse rows; a fit without weights has none."""
    own = np.where(np.abs(X) > 0.5, X, 0.0)
    weights = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 4.0, 2.0])
    rows, copies = form(own), form(np.repeat(own, weights.astype(int), axis=0))
    kernels = {"r": RBF(), "s": 2.0 * (Matern() + RationalQuadratic() ** 2), "p": Linear() * RBF()}
    library = KernelLibrary(kernels, standardize=True)
    scaled = [library.scaler(rows, weights).transform(rows), library.scaler(copies).transform(rows)]
    dense = [one.toarray() if issparse(one) else one for one in scaled]
    np.testing.assert_allclose(*dense, rtol=1e-12)
    fits = [library.fit(rows, weights), library.fit(copies), library.fit(rows)]
    one, other, plain = ([kernel(rows, rows) for kernel in fit.values()] for fit in fits)
    np.testing.assert_allclose(one, other, rtol=1e-12)
    assert not np.allclose(one, plain)
    fitted = KernelLibrary({"own": OfRowsAlone()}, normalize=True).fit(rows, weights)["own"]
    assert fitted.kernel == RBF(1.0 / 7)


def test_a_standardising_library_is_a_library_on_standardised_features() -> None:
    """Objective, predictions and stages equal those of StandardScaler before the model."""
    rng = np.random.default_rng(3)
    raw = (rng.normal(size=(60, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 1.0]).astype(np.float32)
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


def test_a_library_is_its_kernels_and_options() -> None:
    """Names, kernels, their order and the options make it equal, and have names as parameters.

    Setting them changes neither the dict nor a kernel.
    """
    kernels = {"l": Linear(), "r": RBF(0.1)}
    library = KernelLibrary(kernels, normalize=True)
    assert library == KernelLibrary(dict(kernels), normalize=True)
    assert hash(library) == hash(KernelLibrary(dict(kernels), normalize=True))
    others = [
        KernelLibrary(kernels),
        KernelLibrary(kernels, normalize=True, negation=False),
        KernelLibrary(dict(reversed(kernels.items())), normalize=True),
        KernelLibrary(kernels | {"r": RBF(0.2)}, normalize=True),
        "library",
    ]
    assert all(library != other for other in others)
    kernels = {"l": Linear(), "r": RBF(0.1), "f": cosine_similarity}
    library = KernelLibrary(kernels, normalize=True)
    assert library.get_params(deep=False)["kernels"] is kernels
    params = library.get_params()
    assert params["r"] == RBF(0.1)
    assert params["r__gamma"] == 0.1
    assert params["normalize"] is True
    copy = clone(library)
    assert copy == library
    assert copy is not library
    rbf, kernels = RBF(0.1), {"l": Linear(), "r": RBF(0.1)}
    library, other = KernelLibrary(kernels), KernelLibrary(kernels)
    assert library.set_params(r__gamma=2.0, l=Polynomial(2), l__degree=3, normalize=True) is library
    assert library == KernelLibrary({"l": Polynomial(3), "r": RBF(2.0)}, normalize=True)
    assert other == KernelLibrary({"l": Linear(), "r": rbf})
    assert kernels == {"l": Linear(), "r": rbf}
    assert library.set_params(kernels={"new": RBF()}, new__gamma=3.0).kernels == {"new": RBF(3.0)}
    assert library.set_params() is library
    named = KernelLibrary({"a__b": RBF(), "rbf 0.1": RBF(0.1)})
    named.set_params(**{"a__b__gamma": 4.0, "rbf 0.1__gamma": 5.0})
    assert [kernel.gamma for kernel in named.kernels.values()] == [4.0, 5.0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rb__gamma": 1.0}, r"'rb__gamma' for KernelLibrary\(l, r\).*\['kernels', 'l', .*'r',"),
        ({"r__gama": 1.0}, r"'gama' for RBF.*\['factor', 'gamma'\]"),
        ({"kernels": {}}, "non-empty mapping"),
        ({"normalize__gamma": 1.0}, "False has no parameters by name"),
        ({"l": 3}, "kernel 'l' must be a Kernel"),
        ({"kernels": {"x": RBF()}, "r__gamma": 1.0}, r"'r__gamma' for .*'x'\]"),
        ({"negation": False, "r__gamma": -1.0}, "gamma must be a positive number"),
    ],
)
def test_set_params_changes_all_or_nothing(params: dict, message: str) -> None:
    """A wrong name or value is an error that lists what there is, and the library stays."""
    library = KernelLibrary({"l": Linear(), "r": RBF(0.1)})
    with pytest.raises(ValueError, match=message):
        library.set_params(**params)
    assert library == KernelLibrary({"l": Linear(), "r": RBF(0.1)})


def test_what_stands_for_a_library() -> None:
    """A library, a mapping, one kernel, one callable, a word or None; names follow from them."""
    library = KernelLibrary({"mine": RBF(1.0)})
    assert as_library(library) is library
    assert as_library({"mine": RBF(1.0)}) == library
    assert as_library(RBF(1.0)) == KernelLibrary({"rbf": RBF(1.0)})
    assert as_library(Linear() + RBF()).names == ("sum",)
    assert as_library(cosine_similarity).names == ("cosine_similarity",)
    assert as_library(lambda A, B: A @ B.T).names == ("function",)
    assert as_library(FunctionKernel(cosine_similarity, "cosine")).names == ("cosine",)
    assert as_library(None) == as_library("default") == DEFAULT_LIBRARY
    assert as_library(None, library) == as_library("default", library) == library


@pytest.mark.parametrize("word", LIBRARIES)
def test_words_stand_for_normalised_libraries(word: str) -> None:
    """Whatever the scale of the features, |k| ≤ 1; changing one library leaves the word alone.

    A lone linear kernel stays linear: normalised, it would be the sign of a single feature.
    """
    library = as_library(word)
    assert library.standardize
    assert library.normalize == (word != "linear")
    for kernel in library.fit(1e3 * X).values() if library.normalize else []:
        assert np.abs(kernel(1e3 * X, 1e3 * X)).max() <= 1.0 + 1e-12
    library.set_params(normalize=not library.normalize)
    assert as_library(word) != library


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KernelLibrary({}), "non-empty mapping"),
        (lambda: KernelLibrary([Linear()]), "non-empty mapping"),
        (lambda: KernelLibrary({"a": RBF}), "kernel 'a' must be a Kernel .* got <class"),
        (lambda: KernelLibrary({1: RBF()}), "names must be non-empty strings, got 1"),
        (
            lambda: KernelLibrary({"p": Precomputed()}, standardize=True),
            "Precomputed kernel has none",
        ),
        (lambda: as_library("rfb"), r"'rfb' is none of .*'matern'.* \(did you mean 'rbf'\?\)"),
        (lambda: as_library("xyzzy"), r"'xyzzy' is none of the words .*'rbfs'\] \(more"),
        (lambda: as_library(3), "library must be a KernelLibrary, a mapping .* got 3"),
        (lambda: as_library(RBF), "library must be a KernelLibrary, a mapping .* got <class"),
        (lambda: as_library([RBF()]), "library must be a KernelLibrary, a mapping"),
        (lambda: as_library(np.eye(3)), "library must be a KernelLibrary, a mapping"),
        (lambda: as_library({}), "non-empty mapping"),
    ],
)
def test_what_is_no_library(make: Callable[[], object], message: str) -> None:
    """Each error names the argument and the value, says what would do, and lists the words."""
    with pytest.raises(ValueError, match=message):
        make()


@dataclass(frozen=True)
class Multiplied(Kernel):
    """A kernel of two others."""

    factors: tuple[Kernel, ...]
    shift: float = 0.0

    def __call__(self, X, Z):
        return self.factors[0](X, Z) * self.factors[1](X, Z) + self.shift


class Shifted(Kernel):
    """A kernel that is no dataclass, and keeps one of its arguments under another name."""

    def __init__(self, shift: float, hidden: float = 0.0) -> None:
        self.shift = shift
        self._hidden = hidden

    def __call__(self, X, Z):
        return X @ Z.T + self.shift + self._hidden


def test_parts_of_composites_have_names():
    """Terms of a sum by position, with weights; parameters of parts after two underscores.

    Names of parts may hold the separator themselves.
    """
    sum_ = 0.5 * Linear() + Normalized(RBF(0.1))
    params = sum_.get_params()
    assert (params["w1"], params["k1"]) == (0.5, Linear())
    assert params["k2__kernel__gamma"] == 0.1
    changed_sum = sum_.set_params(w1=2, k2__kernel__gamma=3.0)
    assert changed_sum == 2.0 * Linear() + Normalized(RBF(3.0))
    assert sum_.set_params(k1=RBF(1.0), k1__gamma=2.0) == 0.5 * RBF(2.0) + Normalized(RBF(0.1))
    assert (RBF(0.3) ** 2).set_params(kernel__gamma=2.0, exponent=3) == RBF(2.0) ** 3
    assert Cosine().get_params() == {}
    given = Precomputed(4)
    assert given.set_params(**given.get_params()) == given
    product = Multiplied((Linear(), RBF(0.1)))
    assert product.set_params(k2__gamma=1.0, shift=2.0) == Multiplied((Linear(), RBF(1.0)), 2.0)
    groups = grouped({"a__b__c": 1, "a__d": 2, "a": 3}, ["a", "a__b"], "it")
    assert groups == {"a__b": {"c": 1}, "a": {"d": 2, "": 3}}
    assert changed(1, {"": 2}) == 2
    assert with_nested({"x": RBF(1.0), "y": 3})["x__gamma"] == 1.0


def test_kernels_that_can_change_are_copied():
    """A class that is no frozen dataclass has its parameters by name, and clone copies it."""
    kernel = Shifted(1.0)
    assert kernel.get_params() == {"shift": 1.0}
    assert kernel.set_params(shift=2.0)(np.ones((1, 1)), np.ones((1, 1))) == 3.0
    copy = clone(kernel)
    copy.shift = 5.0
    assert kernel.shift == 1.0


@pytest.mark.parametrize(
    ("kernel", "name", "message"),
    [
        (RBF(0.1), "gama", r"'gama' for RBF\(.*Valid parameters are: \['factor', 'gamma'\]"),
        (RBF(0.1), "gamma__x", r"0.1 has no parameters by name, got \['x'\]"),
        (Linear() + RBF(), "k3__gamma", r"'k3__gamma' .*'k1', 'k2', 'terms', 'w1', 'w2'"),
        (RBF(0.1), "gamma", "gamma must be a positive number"),
    ],
)
def test_bad_names_and_values(kernel, name, message):
    """A name that does not exist is an error with those that do; values are checked as ever."""
    with pytest.raises(ValueError, match=message):
        kernel.set_params(**{name: -1.0})
