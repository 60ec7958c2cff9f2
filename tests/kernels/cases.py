"""Kernels with their formulas, written without inner products, and random kernels to try.

A new kernel is a line in ``KERNELS`` with what sets it apart, and its formula in ``by_formula``:
``tests/kernels/test_laws.py`` then compares values, sums, rounding, gradients and prices with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics import pairwise

from cgboost import (
    RBF,
    Chi2,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    On,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Tanimoto,
)
from cgboost.kernels import Arithmetic, FunctionKernel, Kernel, Normalized, Power, Product, Sum
from tests.cases import Case

Values = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class KernelCase(Case[Kernel]):
    """A kernel that needs no fit, and what it can do.

    Parameters
    ----------
    formula : callable
        Its values for two sets of rows in float64, without inner products where these lose digits.
    peer : callable, optional
        The same values by another package.
    fewest : int
        Features that its rows have at least.
    bounded, sparse, gradient, definite : bool
        Whether the rounding of its values is bounded for all rows, it takes sparse rows, has a
        gradient by its centres, and is positive semi-definite.
    shares : bool
        Whether it is for rows of shares that add up to 1.
    narrow : bool
        Whether its values of rows in float32 are in float32.
    """

    formula: Values
    peer: Values | None = None
    fewest: int = 1
    bounded: bool = True
    sparse: bool = True
    gradient: bool = True
    definite: bool = True
    shares: bool = False
    narrow: bool = True


def by_formula(kernel: Kernel, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Values of a kernel in double precision, from its definition."""
    X, Z = X.astype(np.float64), Z.astype(np.float64)
    match kernel:
        case Linear():
            return (X[:, None, :] * Z[None, :, :]).sum(axis=2)
        case Polynomial():
            return (kernel.gamma * by_formula(Linear(), X, Z) + kernel.coef0) ** kernel.degree
        case RBF():
            return np.exp(-kernel.gamma * cdist(X, Z, "sqeuclidean"))
        case Matern():
            return matern(kernel, cdist(X, Z))
        case RationalQuadratic():
            t = cdist(X, Z, "sqeuclidean") / (2 * kernel.length_scale**2)
            return (1 + t / kernel.alpha) ** -kernel.alpha
        case Laplacian():
            return np.exp(-kernel.gamma * cdist(X, Z, "cityblock"))
        case Chi2():
            both, apart = X[:, None] + Z, (X[:, None] - Z) ** 2
            terms = np.divide(apart, both, out=np.zeros_like(both), where=both > 0)
            return np.exp(-kernel.gamma * terms.sum(axis=2))
        case Periodic():
            waves = np.sin(np.pi * cdist(X, Z) / kernel.periodicity)
            return np.exp(-2 * waves**2 / kernel.length_scale**2)
        case Tanimoto():
            common = by_formula(Linear(), X, Z)
            whole = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - common
            return np.divide(common, whole, out=np.ones_like(common), where=whole > 0)
        case On():
            parts = [np.column_stack([own[:, kernel.columns]]) for own in (X, Z)]
            return by_formula(kernel.kernel, *parts)
        case Sum():
            return sum(weight * by_formula(term, X, Z) for weight, term in kernel.terms)
        case Product():
            return np.prod([by_formula(factor, X, Z) for factor in kernel.factors], axis=0)
        case Power():
            return by_formula(kernel.kernel, X, Z) ** kernel.exponent
        case Normalized():
            values = by_formula(kernel.kernel, X, Z)
            roots = [
                np.sqrt([by_formula(kernel.kernel, row[None], row[None])[0, 0] for row in rows])
                for rows in (X, Z)
            ]
            scale = np.outer(*roots)
            return np.divide(values, scale, out=np.zeros_like(values), where=scale > 0)
        case FunctionKernel():
            return kernel.function(X, Z)
        case OwnKernel():
            return kernel(X, Z)
    raise TypeError(kernel)


def matern(kernel: Matern, distances: np.ndarray) -> np.ndarray:
    """Values from ‖x − z‖, in the precision of the distances."""
    a = np.sqrt(4 * kernel.nu * distances.dtype.type(kernel.gamma)) * distances
    factor = {0.5: 1.0, 1.5: 1 + a, 2.5: 1 + a + a**2 / 3}[kernel.nu]
    return factor * np.exp(-a)


@dataclass(frozen=True)
class OwnKernel(Kernel):
    """(1 + x·z)², with its gradient, as a user writes it."""

    def __call__(self, X: Any, Z: Any) -> Any:
        return (1.0 + X @ Z.T) ** 2

    def centre_gradient(self, X: Any, Z: Any, weights: Any) -> Any:
        """Σ_i 2 w_ij (1 + x_i·z_j) x_i."""
        return (2.0 * weights * (1.0 + X @ Z.T)).T @ X


def cityblock(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """exp(−½‖x − z‖₁): at module level, so that it can be pickled."""
    return np.exp(-0.5 * cdist(A, B, "cityblock")).astype(A.dtype)


def case_of(kernel: Kernel, **what: Any) -> KernelCase:
    """A kernel by its formula."""
    given = {"name": str(kernel), "make": lambda: kernel, "formula": partial(by_formula, kernel)}
    return KernelCase(**given | what)


def peer(kernel: Any) -> Values:
    """A kernel of scikit-learn's Gaussian processes."""
    return lambda A, B: kernel(A, B)


DENSE: dict[str, Any] = {"sparse": False, "gradient": False, "bounded": False}
"""Kernels of sums over features."""

UNBOUNDED: dict[str, Any] = {"bounded": False, "sparse": False}

ON_COLUMNS = UNBOUNDED | {"fewest": 3, "narrow": False}

OWN = OwnKernel()

ATOMS = [
    case_of(Linear(), peer=pairwise.linear_kernel),
    case_of(Polynomial(1, coef0=0.5)),
    case_of(Polynomial(2), peer=lambda A, B: pairwise.polynomial_kernel(A, B, 2, 1.0, 0.0)),
    case_of(Polynomial(2, gamma=0.5, coef0=-0.7), definite=False),
    case_of(Polynomial(3, gamma=0.3, coef0=1.0)),
    case_of(Polynomial(5, gamma=0.2, coef0=0.3)),
    case_of(
        Polynomial(11, gamma=0.4),
        but={
            "rounding_is_bounded": "values of these rows are beyond float32",
            "the_gradient_is_that_of_differences": "differences of such powers have few digits",
            "values_and_the_diagonal_go_with_the_slopes": "as gradients",
            "sparse_rows_have_the_values_of_dense_ones": "it is a power of what others are",
        },
    ),
    case_of(RBF(0.05), peer=lambda A, B: pairwise.rbf_kernel(A, B, 0.05)),
    case_of(RBF(20.0)),
    *(case_of(Matern(gamma, nu)) for gamma in (0.05, 20.0) for nu in (0.5, 1.5, 2.5)),
    case_of(RationalQuadratic(0.2, alpha=0.3)),
    case_of(
        RationalQuadratic(1.7, alpha=0.6),
        peer=peer(gaussian_process.RationalQuadratic(1.7, 0.6)),
    ),
    case_of(RationalQuadratic(3.0, alpha=50.0)),
    case_of(Tanimoto(), gradient=False, bounded=False),
    case_of(Laplacian(0.05), peer=lambda A, B: pairwise.laplacian_kernel(A, B, 0.05), **DENSE),
    case_of(Chi2(2.0), peer=lambda A, B: pairwise.chi2_kernel(A, B, 2.0), shares=True, **DENSE),
    case_of(
        Periodic(1.3, 40.0),
        peer=peer(gaussian_process.ExpSineSquared(1.3, 40.0)),
        definite=False,  # but in one feature
        **DENSE,
    ),
]
"""Kernels that are made of no others."""

COMPOSED = [
    case_of(0.5 * Linear() + 2.0 * RBF(0.3)),
    case_of(Polynomial(2) - Linear(), definite=False),
    case_of(
        Cosine(), formula=partial(by_formula, Normalized(Linear())), peer=pairwise.cosine_similarity
    ),
    case_of(Normalized(Polynomial(4, coef0=2.0))),
    case_of(Normalized(Linear() + 0.1 * Polynomial(2))),
    case_of(Normalized(RBF(0.1))),
    case_of(Normalized(Matern(0.2, nu=0.5))),
    case_of(0.5 * (Normalized(Linear()) + RationalQuadratic(1.3, alpha=0.7))),
    case_of(Polynomial(2, coef0=1.0) * RBF(0.1) * Matern(0.3)),
    case_of((0.3 * Polynomial(2, coef0=1.0) + RBF(2.0)) ** 2),
    case_of(Normalized(Linear() * RationalQuadratic(2.0)), bounded=False),
    case_of(Normalized(Power(Linear() + 0.3 * Polynomial(2), 2) * RBF(0.1)), bounded=False),
    case_of(Product((Normalized(Polynomial(3)), 0.5 * RBF(0.4) + Linear())), bounded=False),
    case_of(2.0 * Laplacian(0.3) + Linear(), **DENSE),
    case_of(Laplacian(0.3) * Linear(), **DENSE),
    case_of(Laplacian(0.3) ** 3, **DENSE),
    case_of(Normalized(2.0 * Laplacian(0.3) + Linear()), **DENSE),
    case_of(On(RBF(0.4), [0, 2]) + On(Normalized(Polynomial(2)), 1), **ON_COLUMNS),
    case_of(
        Normalized(On(Polynomial(2, coef0=0.5), slice(1, 3)) * On(RBF(0.2), [0])),
        **ON_COLUMNS,
    ),
    case_of(FunctionKernel(cityblock, "own"), **DENSE),
    case_of(OWN, **UNBOUNDED),
    case_of(Normalized(OWN + RBF(0.3)) * OWN, **UNBOUNDED),
    case_of(Power(0.5 * OWN + Linear(), 2), **UNBOUNDED),
]
"""Sums, products, powers, parts of columns and normalised kernels, nested, and a user's."""

KERNELS = [*ATOMS, *COMPOSED]


def rows(seed: int, *, scale: float = 1.0, n_features: int = 4) -> np.ndarray:
    """Rows in float32 whose norms differ; some are equal, some nearly so, one is zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=rng.normal(), size=(30, n_features)) * rng.lognormal(size=(30, 1)) * scale
    X[3] = X[4]
    X[5] = 0.0
    for row, shift in ((6, 1e-6), (7, 1e-4), (8, 1e-2)):
        X[row] = X[9] * (1.0 + shift)
    return X.astype(np.float32)


def rows_for(case: KernelCase, X: np.ndarray) -> np.ndarray:
    """Rows that a kernel takes: shares of their sum, where it asks for that."""
    return np.abs(X) / np.maximum(np.abs(X).sum(axis=1), 1e-9)[:, None] if case.shares else X


def arithmetic(X: np.ndarray, dtype: type) -> Arithmetic:
    """Of these rows, in a dtype."""
    norms = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return Arithmetic(norms, X.shape[1], 0.5 * float(np.finfo(dtype).eps))


def _nested(parts: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
    weights = st.floats(0.1, 3.0)
    sums = st.lists(st.tuples(weights, parts), min_size=1, max_size=3).map(tuple).map(Sum)
    return sums | parts.map(Normalized)


def _atoms(largest_degree: int) -> st.SearchStrategy[Kernel]:
    polynomials = st.builds(
        Polynomial,
        st.integers(1, largest_degree),
        gamma=st.sampled_from([0.5, 1.0, 2.0]),
        coef0=st.sampled_from([0.0, 0.5, 1.0]),
    )
    return st.just(Linear()) | polynomials


EXPANDING = st.recursive(_atoms(2), _nested, max_leaves=4)
"""Linear and quadratic kernels, their sums and normalisations, nested."""


def _multiplied(parts: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
    products = st.lists(parts, min_size=1, max_size=3).map(tuple).map(Product)
    return _nested(parts) | products | st.builds(Power, parts, st.integers(1, 3))


OF_PRODUCTS = st.recursive(
    _atoms(3)
    | st.floats(0.05, 2.0).map(RBF)
    | st.builds(RationalQuadratic, st.floats(0.5, 3.0), st.sampled_from([0.5, 1.0, 4.0])),
    _multiplied,
    max_leaves=4,
)
"""Any kernels that follow from inner products."""
