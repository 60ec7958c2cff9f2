"""Sums, products, powers and normalisations of kernels: what the operators make and refuse."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from cgboost import (
    RBF,
    CGBoostClassifier,
    Cosine,
    KernelLibrary,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
)
from cgboost.exceptions import KernelError
from cgboost.kernels import FunctionKernel, Kernel, Normalized, Power, Product, Sum
from cgboost.kernels.expansions import weighted_moment, weighted_sum

X = np.random.default_rng(0).normal(size=(12, 4))
A, B, C = Linear(), RBF(0.3), Polynomial(2)


@pytest.mark.parametrize(
    ("made", "meant"),
    [
        (A * B * C, Product((A, B, C))),
        ((A * B) * (A * C), Product((A, B, A, C))),
        (2 * A, Sum(((2.0, A),))),
        (A * 2.0, Sum(((2.0, A),))),
        ((2 * A) * B, Product((Sum(((2.0, A),)), B))),
        (A + B * C, Sum(((1.0, A), (1.0, Product((B, C)))))),
        (0.5 * A**2, Sum(((0.5, Power(A, 2)),))),
        (A / 2, Sum(((0.5, A),))),
        ((A + B) / np.float64(4.0), Sum(((0.25, A), (0.25, B)))),
        (A - (B - A) / 2, Sum(((1.0, A), (-0.5, B), (0.5, A)))),
        (-A, Sum(((-1.0, A),))),
        (sum([A, B, B]), Sum(((1.0, A), (1.0, B), (1.0, B)))),
        (Cosine(), Cosine().fit(X)),
    ],
    ids=str,
)
def test_what_the_operators_make(made: Kernel, meant: Kernel) -> None:
    """Kernels times kernels are products, numbers are weights, whole powers are powers."""
    assert made == meant


def test_representations() -> None:
    """They say what the kernels are made of."""
    assert repr(A * B) == "Product(factors=(Linear(), RBF(gamma=0.3, factor=1.0)))"
    assert repr(A**2) == "Power(kernel=Linear(), exponent=2)"
    assert repr(Cosine()) == "Cosine()"


@pytest.mark.parametrize(
    ("error", "make", "words"),
    [
        (
            TypeError,
            lambda: RBF() + 1,
            r"RBF\(.*\) and 1 cannot be added: .* constant is .* offset=",
        ),
        (TypeError, lambda: 1 + RBF(), r"RBF\(.*\) and 1 cannot be added"),
        (TypeError, lambda: RBF() - 1, "cannot be subtracted from 1"),
        (TypeError, lambda: RBF() + np.dot, r"cannot be added.*FunctionKernel\(k\)"),
        (TypeError, lambda: 2 / RBF(), r"2 cannot be divided by RBF"),
        (TypeError, lambda: RBF() / RBF(), "cannot be divided by RBF"),
        (TypeError, lambda: RBF() * True, "cannot be multiplied by True"),
        (TypeError, lambda: RBF() * "2", "cannot be multiplied by '2'"),
        (ValueError, lambda: np.nan * RBF(), "must be a finite number, got nan"),
        (ValueError, lambda: RBF() / 0, "cannot be divided by 0"),
        *(
            (ValueError, lambda e=e: Linear() ** e, f"whole number ≥ 1, got {e!r}")
            for e in (0, 1.5, True, "2")
        ),
        (ValueError, lambda: Precomputed() + A, "cannot be part of a sum"),
        (ValueError, lambda: Precomputed() * A, "multiply the matrices"),
        (ValueError, lambda: Precomputed() ** 2, "powers"),
        (ValueError, lambda: Normalized(Precomputed()), "cannot be normalised"),
    ],
)
def test_meaningless_arithmetic_says_what_has_one(
    error: type[Exception], make: Callable[[], Kernel], words: str
) -> None:
    """With both operands and what kernels can do; given matrices are combined as matrices."""
    with pytest.raises(error, match=words):
        make()


def test_a_negative_diagonal_names_the_kernel() -> None:
    """Without a name in a library it is the kernel itself that cannot be normalised."""
    with pytest.raises(KernelError, match=r"Polynomial.*cannot be normalised: k\(x, x\) = -"):
        Normalized(Polynomial(1, coef0=-100.0))(X, X)
    assert Normalized(FunctionKernel(lambda A, B: A @ B.T)).diagonal(np.zeros((1, 4))) == 0.0


def test_widths_are_fitted_inside() -> None:
    """Parts take their widths from the training rows, and a model can be made of them."""
    rbf, matern = RBF().fit(X), Matern(nu=0.5).fit(X)
    assert (RBF() * Matern(nu=0.5)).fit(X) == Product((rbf, matern))
    assert (RBF() ** 2).fit(X) == Power(rbf, 2)
    assert Normalized(Linear() + RBF()).fit(X) == Normalized(Linear() + rbf)
    library = KernelLibrary({"both": RBF() * Linear(), "square": RBF() ** 2}, normalize=True)
    model = CGBoostClassifier(library, penalty="l1", C=10.0).fit(X, X[:, 0] > 0)
    assert model.converged_
    again = pickle.loads(pickle.dumps(model)).decision_function(X)
    np.testing.assert_allclose(again, model.decision_function(X))


def test_gradients_where_rows_meet_or_vanish_and_in_single_precision() -> None:
    """Where z = x a kernel of the distance has slope 0, and a normalised one is 0 at a zero row.

    Products of float32 rows are made in float32, and sums in float64.
    """
    rows = np.vstack([np.eye(3), np.zeros(3)])
    for kernel in (RBF(0.5), Matern(0.5, nu=0.5), Matern(0.5, nu=1.5), Normalized(Polynomial(2))):
        gradient = kernel.centre_gradient(rows, rows, np.eye(4))
        np.testing.assert_allclose(gradient, 0.0, atol=1e-15)
    rng = np.random.default_rng(2)
    sides = rng.normal(size=(3000, 6)), rng.normal(size=(200, 6)), rng.normal(size=(3000, 200))
    kernel = Normalized(Polynomial(4, coef0=1.0))
    wide = kernel.centre_gradient(*sides)
    narrow = kernel.centre_gradient(*(own.astype(np.float32) for own in sides))
    assert narrow.dtype == np.float64
    np.testing.assert_allclose(narrow, wide, rtol=1e-3, atol=1e-3 * np.abs(wide).max())


@pytest.mark.parametrize(
    ("kernel", "n_centres", "n_features", "n_rows", "pays"),
    [
        (Linear(), 100, 50, None, True),
        (Linear(), 1, 50, 1, False),
        (Cosine(), 12, 4, None, True),
        (Polynomial(1, coef0=1.0), 100, 50, None, True),
        (Polynomial(2), 100, 50, 10**6, True),
        (Polynomial(2), 100, 50, 1, False),
        (Polynomial(2), 40, 50, 10**6, False),
        (Polynomial(3), 10**4, 5, 10**6, False),
        (Normalized(Polynomial(2)), 100, 50, None, True),
        (Linear() + Polynomial(2), 100, 50, None, True),
        (Linear() + RBF(1.0), 100, 50, None, False),
    ],
    ids=str,
)
def test_an_expansion_is_made_where_it_pays(
    kernel: Kernel, n_centres: int, n_features: int, n_rows: int | None, pays: bool
) -> None:
    """More centres than features and more rows than a few; never for kernels without one."""
    expansion = kernel.expansion(np.ones((n_centres, n_features)), np.ones(n_centres), n_rows)
    assert (expansion is not None) == pays


def test_what_an_expansion_keeps_of_single_precision_is_in_single_precision() -> None:
    """Sums of float32 centres and of their products take no more memory than these."""
    centres, weights = X.astype(np.float32), np.linspace(-1.0, 1.0, 12)
    assert weighted_sum(centres, weights).dtype == np.float32
    assert weighted_moment(centres, weights).dtype == np.float32
    np.testing.assert_allclose(weighted_moment(X, weights), (X.T * weights) @ X, atol=1e-12)
