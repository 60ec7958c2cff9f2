"""Products and powers of kernels, and the cosine kernel."""

import pickle
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from cgboost import (
    RBF,
    CGBoostClassifier,
    Cosine,
    KernelLibrary,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
)
from cgboost.kernels import Kernel, Normalized, Power, Product, Sum, squared_norms
from tests.effort import examples
from tests.kernels.conformance import arithmetic, check_kernel, rows
from tests.kernels.formulas import OF_PRODUCTS, by_formula

X = np.random.default_rng(0).normal(size=(12, 4))


def test_what_the_operators_make() -> None:
    """Kernels times kernels are products, numbers stay weights, whole powers are powers."""
    a, b, c = Linear(), RBF(0.3), Polynomial(2)
    assert a * b * c == Product((a, b, c))
    assert (a * b) * (a * c) == Product((a, b, a, c))
    assert 2 * a == a * 2.0 == Sum(((2.0, a),))
    assert (2 * a) * b == Product((Sum(((2.0, a),)), b))
    assert a + b * c == Sum(((1.0, a), (1.0, Product((b, c)))))
    assert a**3 == Power(a, 3)
    assert 0.5 * a**2 == Sum(((0.5, Power(a, 2)),))
    assert repr(a * b) == "Product(factors=(Linear(), RBF(gamma=0.3, factor=1.0)))"
    assert repr(a**2) == "Power(kernel=Linear(), exponent=2)"


@settings(max_examples=examples(60), deadline=None)
@given(kernel=OF_PRODUCTS, seed=st.integers(0, 10**6))
def test_they_are_kernels(kernel: Kernel, seed: int) -> None:
    """A product or power is symmetric, positive semidefinite, and what the formula says."""
    A = np.random.default_rng(seed).normal(size=(9, 3))
    for own in (kernel * RBF(0.2), kernel**2, Normalized(kernel * Linear())):
        values, expected = own(A, A), by_formula(own, A, A)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(values, expected, rtol=1e-7, atol=1e-9 * scale)
        np.testing.assert_allclose(values, values.T, rtol=1e-9, atol=1e-12 * scale)
        assert np.linalg.eigvalsh(values).min() >= -1e-9 * scale
        np.testing.assert_allclose(own.diagonal(A), np.diag(expected), rtol=1e-7)
        assert pickle.loads(pickle.dumps(own)) == own


@settings(max_examples=examples(60), deadline=None)
@given(
    kernel=OF_PRODUCTS,
    exponent=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_rounding_is_bounded(kernel: Kernel, exponent: int, seed: int, dtype: type) -> None:
    """Values in either precision are within their bound of long double's formula."""
    A = rows(seed, scale=0.5, n_features=5).astype(dtype)
    for own in (Power(kernel, exponent), kernel * RationalQuadratic(1.0)):
        bound = own.rounding(arithmetic(A, dtype))
        if bound is None:
            continue
        norms = squared_norms(A)
        values, exact = own.from_products(A @ A.T, norms, norms), by_formula(own, A, A)
        sizes = np.outer(bound.size, bound.size)
        off = np.abs(values.astype(np.float64) - exact)
        assert np.all(off <= (bound.relative + 1e-14) * sizes + 1e-37)


def test_factors_without_products_are_called() -> None:
    """A factor that is no function of inner products makes the product one of values."""
    kernel = Laplacian(0.3) * Linear()
    assert not kernel.of_products
    assert kernel.rounding(arithmetic(X, np.float64)) is None
    expected = Laplacian(0.3)(X, X) * (X @ X.T)
    np.testing.assert_allclose(kernel(X, X), expected)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected))
    np.testing.assert_allclose((Laplacian(0.3) ** 3)(X, X), Laplacian(0.9)(X, X))
    np.testing.assert_allclose((Laplacian(0.3) ** 2).diagonal(X), 1.0)


def test_widths_are_fitted_inside() -> None:
    """Factors take their widths from the training rows, and a model can be made of them."""
    fitted = (RBF() * Matern(nu=0.5)).fit(X)
    assert fitted == Product((RBF().fit(X), Matern(nu=0.5).fit(X)))
    assert (RBF() ** 2).fit(X) == Power(RBF().fit(X), 2)
    library = KernelLibrary({"both": RBF() * Linear(), "square": RBF() ** 2}, normalize=True)
    model = CGBoostClassifier(library, penalty="l1", C=10.0).fit(X, X[:, 0] > 0)
    assert model.converged_
    np.testing.assert_allclose(
        pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X)
    )


def test_parameters_have_names() -> None:
    """Factors are k1, k2, …; a power has its kernel and its exponent."""
    product, power = RBF(0.3) * Linear(), RBF(0.3) ** 2
    assert product.get_params()["k1__gamma"] == 0.3
    assert product.set_params(k1__gamma=2.0) == RBF(2.0) * Linear()
    assert power.set_params(kernel__gamma=2.0, exponent=3) == RBF(2.0) ** 3
    assert Cosine().get_params() == {}


@pytest.mark.parametrize("exponent", [0, -1, 1.5, True, "2"])
def test_other_exponents_are_refused(exponent: object) -> None:
    """Only whole powers of at least 1 are kernels for sure."""
    with pytest.raises(ValueError, match=f"whole number ≥ 1, got {exponent!r}"):
        Linear() ** exponent


def test_precomputed_values_are_refused() -> None:
    """Given values have other centres than rows: their matrices are multiplied, not they."""
    with pytest.raises(ValueError, match="multiply the matrices"):
        Precomputed() * Linear()
    with pytest.raises(ValueError, match="powers"):
        Precomputed() ** 2
    with pytest.raises(TypeError):
        Linear() * "2"


def test_the_cosine_is_a_normalised_linear_kernel() -> None:
    """It conforms, it is scikit-learn's, and it is 0 with a row of zeros."""
    check_kernel(Cosine(), partial(by_formula, Normalized(Linear())))
    A = np.vstack([X, np.zeros(4)])
    np.testing.assert_allclose(Cosine()(A, A), cosine_similarity(A), atol=1e-15)
    assert repr(Cosine()) == "Cosine()"
    assert Cosine().fit(X) == Cosine()
    assert Cosine().expansion(X, np.ones(12)) is not None


def test_sums_of_multiples_in_every_notation() -> None:
    """Quotients, differences, minus signs and sum() are weighted sums."""
    one, two = RBF(0.5), Linear()
    K, L = one(X, X), two(X, X)
    for kernel, expected in (
        (one / 2, K / 2),
        ((one + two) / np.float64(4.0), (K + L) / 4),
        (one - two, K - L),
        (one - (two - one) / 2, 1.5 * K - L / 2),
        (-one, -K),
        (sum([one, two, two]), K + 2 * L),
    ):
        np.testing.assert_allclose(kernel(X, X), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: RBF() + 1,
            r"RBF\(.*\) and 1 cannot be added: .* constant is .* offset=",
        ),
        (lambda: 1 + RBF(), r"RBF\(.*\) and 1 cannot be added"),
        (lambda: RBF() - 1, "cannot be subtracted from 1"),
        (lambda: RBF() + np.dot, r"cannot be added.*FunctionKernel\(k\)"),
        (lambda: 2 / RBF(), r"2 cannot be divided by RBF"),
        (lambda: RBF() / RBF(), "cannot be divided by RBF"),
        (lambda: RBF() * True, "cannot be multiplied by True"),
        (lambda: RBF() * "2", "cannot be multiplied by '2'"),
    ],
)
def test_meaningless_arithmetic_says_what_has_one(make: Callable[[], Kernel], message: str) -> None:
    """A TypeError with both operands and what kernels can do."""
    with pytest.raises(TypeError, match=message):
        make()


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_weights_are_finite(weight: float) -> None:
    """A product with nan, and a quotient by 0, are errors with the value."""
    with pytest.raises(ValueError, match=f"must be a finite number, got {weight}"):
        weight * RBF()
    with pytest.raises(ValueError, match="cannot be divided by 0"):
        RBF() / 0
