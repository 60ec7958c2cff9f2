"""The pool of kernel columns: cached or not, its scores and columns are those of the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import RBF, KernelLibrary, Linear, Polynomial, Precomputed
from cgboost.columns import evaluate
from cgboost.exceptions import KernelError, KernelScaleWarning
from cgboost.pricing import KernelPool, KernelPricer

LIBRARY = KernelLibrary({"linear": Linear(), "rbf": RBF(0.3)})


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    megabytes=st.sampled_from([0.0, 0.002, 0.02, 10.0]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_scores_do_not_depend_on_the_cache(seed: int, megabytes: float, dtype: type) -> None:
    """With no, too little or ample memory, in any order of requests, scores are K(·, x_j)·r."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)).astype(dtype)
    pool = KernelPool(LIBRARY, X, cache_size=megabytes)
    grams = [kernel(X, X) for kernel in LIBRARY.fit(X).values()]
    for _ in range(4):
        response = rng.normal(size=40) * (rng.uniform(size=40) > 0.4)
        stratum = int(rng.integers(2))
        wanted = rng.permutation(40)[: rng.integers(1, 41)] if rng.uniform() < 0.6 else None
        expected = grams[stratum].astype(float).T @ response
        expected = expected if wanted is None else expected[wanted]
        tolerance = 1e-12 if dtype is np.float64 else 1e-5
        np.testing.assert_allclose(
            pool.scores(stratum, wanted, response), expected, rtol=tolerance, atol=tolerance
        )


def test_each_kernel_column_is_computed_once_while_memory_lasts() -> None:
    """Scoring twice calls a user's kernel no more often than scoring once."""
    calls = []

    def counted(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        calls.append(len(B))
        return A @ B.T

    X = np.random.default_rng(0).normal(size=(50, 3))
    pool = KernelPool(KernelLibrary({"counted": counted}), X)
    for _ in range(3):
        pool.scores(0, None, np.ones(50))
    assert sum(calls) == 50


def test_columns_are_hypotheses_on_the_training_rows() -> None:
    """A column's values equal its hypothesis evaluated on the training rows."""
    X = np.random.default_rng(1).normal(size=(12, 3))
    pool = KernelPool(LIBRARY, X)
    columns = [pool.column(stratum, index) for stratum in (0, 1) for index in (0, 7)]
    values = evaluate([column.hypothesis for column in columns], X)
    np.testing.assert_allclose(values, np.stack([column.values for column in columns], axis=1))
    assert [column.key for column in columns] == [
        ("linear", 0),
        ("linear", 7),
        ("rbf", 0),
        ("rbf", 7),
    ]


def test_precomputed_columns_are_evaluated_on_new_rows() -> None:
    """A precomputed kernel predicts from the new rows' values against all training rows."""
    rng = np.random.default_rng(2)
    train, new = rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    pool = KernelPool(KernelLibrary({"given": Precomputed()}), train @ train.T)
    hypothesis = pool.column(0, 4).hypothesis
    np.testing.assert_allclose(evaluate([hypothesis], new @ train.T)[:, 0], new @ train[4])


def test_wildly_different_scales_are_reported_with_the_numbers() -> None:
    """The quadratic kernel of raw pixels beside an RBF draws a warning naming both norms."""
    X = np.random.default_rng(3).uniform(0, 255, size=(20, 100))
    with pytest.warns(KernelScaleWarning, match=r"quadratic \d\.\de\+\d\d, rbf") as caught:
        KernelPool(KernelLibrary({"quadratic": Polynomial(2), "rbf": RBF()}), X)
    assert caught[0].filename == __file__


def test_a_kernel_that_fails_is_named() -> None:
    """Non-finite values from a user's kernel are reported with the kernel's name."""
    X = np.ones((4, 2))
    with pytest.raises(KernelError, match="kernel 'broken' returned nan"):
        KernelPricer(KernelLibrary({"broken": lambda A, B: np.full((len(A), len(B)), np.nan)}), X)
