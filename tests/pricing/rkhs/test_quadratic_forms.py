"""Quadratic forms of many kernels in one pass."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from cgboost import RBF, KernelLibrary, Linear, On, Polynomial
from cgboost.parallel import SerialExecutor, ThreadExecutor
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs.quadratic_forms import QuadraticForms

LIBRARY = KernelLibrary(
    {"linear": Linear(), "cubic": Polynomial(3), "rbf": RBF(0.3), "one": On(RBF(0.7), 1)}
)


def rows(seed: int, count: int = 60) -> np.ndarray:
    """Rows of four features."""
    return np.random.default_rng(seed).normal(size=(count, 4))


@pytest.mark.parametrize("cache_size", [0.0, 100.0])
@pytest.mark.parametrize("share", [0.2, 0.9])
@pytest.mark.slow
def test_forms_are_those_of_the_matrices(cache_size: float, share: float) -> None:
    """rᵀK_p r with and without memory, whether few or most r are 0, within the stated error."""
    X, rng = rows(0, 300), np.random.default_rng(1)
    forms = QuadraticForms(KernelPool(LIBRARY, X), cache_size)
    assert (forms.grams is None) == (cache_size == 0)
    response = rng.normal(size=300) * (rng.random(300) < share)
    own = X @ X.T
    grams = [own, own**3, rbf_kernel(X, gamma=0.3), rbf_kernel(X[:, [1]], gamma=0.7)]
    values, errors = forms.values(response)
    exact = np.array([response @ gram @ response for gram in grams])
    assert values == pytest.approx(exact, rel=1e-11)
    assert (np.abs(values - exact) <= errors + 1e-12 * np.abs(exact)).all()
    for stratum, gram in enumerate(grams):
        assert np.asarray(forms.gram(stratum)) == pytest.approx(gram, rel=1e-11, abs=1e-11)


def test_parts_on_threads_make_the_same_forms() -> None:
    """The kernels may be divided among any number of tasks."""
    X, response = rows(2), np.random.default_rng(3).normal(size=60)
    made = [
        QuadraticForms(KernelPool(LIBRARY, X, executor=executor), 0.0).values(response)[0]
        for executor in (SerialExecutor(), ThreadExecutor(3))
    ]
    assert made[0] == pytest.approx(made[1], rel=1e-14)


def test_no_response_scores_nothing() -> None:
    """At r = 0 every form is 0, and known exactly."""
    values, errors = QuadraticForms(KernelPool(LIBRARY, rows(4)), 1.0).values(np.zeros(60))
    assert not values.any()
    assert not errors.any()
