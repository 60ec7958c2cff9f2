"""Kernels of sums over features: Laplacian and chi-squared."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel

from cgboost import CGBoostClassifier, Chi2, KernelLibrary, Laplacian
from cgboost.exceptions import KernelError
from cgboost.kernels.features import laplacian
from tests.kernels.conformance import check_kernel

RNG = np.random.default_rng(0)
X, Z = RNG.dirichlet(np.ones(5), size=12), RNG.dirichlet(np.ones(5), size=7)
X[3, 2] = Z[4, 2] = 0.0


def test_the_laplacian_conforms() -> None:
    """Values, sums and prices agree with the formula, which is scikit-learn's."""
    check_kernel(Laplacian(0.05), lambda A, B: np.exp(-0.05 * cdist(A, B, "cityblock")))
    np.testing.assert_allclose(Laplacian(0.4)(X, Z), laplacian_kernel(X, Z, 0.4))
    np.testing.assert_allclose(Laplacian().fit(X)(X, Z), laplacian_kernel(X, Z))


@pytest.mark.parametrize("at_once", [1, 2**20])
def test_chi_squared_is_that_of_scikit_learn(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Values of histograms, in blocks of any size and in both precisions."""
    monkeypatch.setattr(laplacian, "NUMBERS_AT_ONCE", at_once)
    kernel = Chi2(2.0)
    np.testing.assert_allclose(kernel(X, Z), chi2_kernel(X, Z, 2.0), rtol=1e-12)
    narrow = kernel(X.astype(np.float32), Z.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, chi2_kernel(X, Z, 2.0), rtol=1e-5)
    np.testing.assert_array_equal(kernel.diagonal(X), np.diag(kernel(X, X)))
    assert pickle.loads(pickle.dumps(kernel)) == kernel.fit(X) == kernel


def test_histograms_are_told_apart() -> None:
    """A model over both kernels reaches its certificate."""
    library = KernelLibrary({"chi2": Chi2(), "laplacian": Laplacian()})
    model = CGBoostClassifier(library, penalty="l1", C=10.0).fit(X, X[:, 0] > X[:, 1])
    assert model.converged_
    assert model.score(X, X[:, 0] > X[:, 1]) > 0.9


def test_errors() -> None:
    """Bad parameters, negative numbers and sparse rows are named."""
    for kernel in (Laplacian, Chi2):
        with pytest.raises(ValueError, match=r"gamma must be a positive number.*got -1"):
            kernel(-1)
        with pytest.raises(KernelError, match=f"{kernel.__name__}.*needs dense rows"):
            kernel(1.0)(sp.csr_array(X), sp.csr_array(Z))
    with pytest.raises(KernelError, match="needs numbers of at least 0, X has -1"):
        Chi2()(X, -np.ones((1, 5)))
    with pytest.raises(KernelError, match="no width yet"):
        Laplacian()(X, Z)
