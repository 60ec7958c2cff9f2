"""Kernels by their formulas, written without inner products, and random kernels to try."""

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cgboost import RBF, Linear, Polynomial, RationalQuadratic, Tanimoto
from cgboost.kernels import Kernel, Normalized, Power, Product, Sum


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
        case Tanimoto():
            common = by_formula(Linear(), X, Z)
            whole = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - common
            return np.divide(common, whole, out=np.ones_like(common), where=whole > 0)
        case Sum():
            return sum(weight * by_formula(term, X, Z) for weight, term in kernel.terms)
        case RationalQuadratic():
            t = cdist(X, Z, "sqeuclidean") / (2 * kernel.length_scale**2)
            return (1 + t / kernel.alpha) ** -kernel.alpha
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
    raise TypeError(kernel)


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
