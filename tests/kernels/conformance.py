"""What every kernel must do: one check, called with a kernel and its formula."""

import pickle
from collections.abc import Callable

import numpy as np

from cgboost import KernelLibrary
from cgboost.kernels import Arithmetic, Kernel
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import KernelPool, StrataPricer
from tests.pricing.states import state_of

Formula = Callable[[np.ndarray, np.ndarray], np.ndarray]

SCALES = (1e-3, 1.0, 30.0)
N_FEATURES = (1, 7, 300)


def check_kernel(kernel: Kernel, formula: Formula) -> None:
    """A fitted kernel keeps every promise of :class:`Kernel`.

    Parameters
    ----------
    kernel : Kernel
    formula : callable
        Its values for two sets of rows in float64, without inner products where these lose digits.
    """
    check_values(kernel, formula)
    check_parameters(kernel)
    for scale in SCALES:
        for n_features in N_FEATURES:
            X = rows(0, scale=scale, n_features=n_features)
            if kernel.of_products:
                check_rounding(kernel, formula, X)
            check_pricing(kernel, formula, X)


def check_values(kernel: Kernel, formula: Formula) -> None:
    """Values, the diagonal and sums follow the formula, in the precision of the rows."""
    rng = np.random.default_rng(1)
    X, Z, weights = rng.normal(size=(9, 4)), rng.normal(size=(6, 4)), rng.normal(size=6)
    expected = formula(X, Z)
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(formula(X, X)), rtol=1e-10)
    narrow = kernel(X.astype(np.float32), Z.astype(np.float32))
    assert narrow.shape == (9, 6)
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, expected, rtol=1e-3, atol=1e-5)
    if kernel.of_products:
        products, norms = X @ Z.T, ((X**2).sum(1), (Z**2).sum(1))
        kept = products.copy()
        np.testing.assert_allclose(kernel.from_products(products, *norms), expected, rtol=1e-8)
        total = kernel.sum_from_products(products, *norms, weights)
        np.testing.assert_allclose(total, expected @ weights, rtol=1e-8, atol=1e-10)
        np.testing.assert_array_equal(products, kept)
        assert kernel.from_products(products, *norms, out=products) is products


def check_parameters(kernel: Kernel) -> None:
    """A kernel can be pickled and compared, and fitting changes no kernel that is fitted."""
    X = np.random.default_rng(2).normal(size=(5, 3))
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert kernel.fit(X) == kernel
    assert hash(kernel) == hash(kernel.fit(X))


def check_rounding(kernel: Kernel, formula: Formula, X: np.ndarray) -> None:
    """Values in float32 are within the bound, if there is one; none is larger than its sizes."""
    bound = kernel.rounding(arithmetic(X, np.float32))
    if bound is None:
        return
    exact = formula(X.astype(np.float64), X.astype(np.float64))
    sizes = np.outer(bound.size, bound.size)
    with np.errstate(over="ignore"):
        computed = kernel(X, X)
    assert np.all(np.abs(exact) <= sizes * (1 + 1e-9) + 1e-300)
    assert np.all(np.abs(computed - exact) <= bound.relative * sizes + 1e-38)


def check_pricing(kernel: Kernel, formula: Formula, X: np.ndarray) -> None:
    """Pricing in float32 claims no excess that is below the exact one."""
    response = np.random.default_rng(3).normal(size=len(X))
    gram = formula(X.astype(np.float64), X.astype(np.float64))
    terms = float((np.abs(gram) @ np.abs(response)).max())
    exact = float(np.abs(gram @ response).max()) - 1.0
    pool = KernelPool(KernelLibrary({"own": kernel}), X, block_size=8)
    for tol in (1e12, 1e-6):
        priced = StrataPricer(pool, tol=tol).price(state_of(response, OneNormEntry(True)), 1)
        assert priced.max_excess >= exact - 1e-11 * terms


def rows(seed: int, *, scale: float, n_features: int) -> np.ndarray:
    """Rows in float32 whose norms differ; some are equal, some nearly so, one is zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=rng.normal(), size=(30, n_features)) * rng.lognormal(size=(30, 1)) * scale
    X[3] = X[4]
    X[5] = 0.0
    for row, shift in ((6, 1e-6), (7, 1e-4), (8, 1e-2)):
        X[row] = X[9] * (1.0 + shift)
    return X.astype(np.float32)


def arithmetic(X: np.ndarray, dtype: type) -> Arithmetic:
    """Of these rows, in a dtype."""
    norms = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return Arithmetic(norms, X.shape[1], 0.5 * float(np.finfo(dtype).eps))
