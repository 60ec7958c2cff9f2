"""Models of sparse X are those of dense X, in every way that they are fitted and used."""

import pickle
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    Matern,
    On,
    Polynomial,
    Precomputed,
)
from cgboost.exceptions import DataWarning, KernelError
from cgboost.parallel import ThreadExecutor

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(60, 25)) * (RNG.random((60, 25)) < 0.3)
SCORE = DENSE @ RNG.normal(size=25)
Y, Y3 = (SCORE > 0).astype(int), np.digitize(SCORE, [-0.7, 0.7])
LIBRARY = KernelLibrary(
    {
        "linear": Linear(),
        "matern": Matern(nu=1.5),
        "sum": Polynomial(2, coef0=1.0) + 0.5 * RBF(0.1),
    },
    normalize=True,
)


def same(a: Any, b: Any) -> None:
    """Both models have the same objective and bound."""
    assert a.converged_
    assert b.converged_
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-6)


@pytest.mark.parametrize(("kind", "penalty"), [(sp.csr_array, "l1"), (sp.csc_matrix, "l2")])
def test_classifiers_of_single_precision(kind: Any, penalty: Any) -> None:
    """The optimum of dense rows; each predicts rows of both kinds."""
    X, own = DENSE.astype(np.float32), kind(DENSE).astype(np.float32)
    model, expected = (
        CGBoostClassifier(LIBRARY, penalty=penalty, tol=1e-7).fit(rows, Y) for rows in (own, X)
    )
    same(model, expected)
    for fitted in (model, expected):
        found = fitted.decision_function(own)
        np.testing.assert_allclose(found, fitted.decision_function(X), atol=1e-3)
        copy = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(copy.decision_function(own), found)


@pytest.mark.slow
def test_centres_of_several_classes_are_kept_once() -> None:
    """As rows of their own, which are sparse."""
    model = CGBoostClassifier(LIBRARY, penalty="l1", C=5.0, columns_per_round=20)
    model.fit(sp.csr_array(DENSE), Y3)
    centres = [h.centre for run in model._runs for o in run.outputs for h in o.hypotheses]
    assert all(sp.issparse(centre) and centre.shape == (1, 25) for centre in centres)
    assert len(set(map(id, centres))) <= len(DENSE) < len(centres)  # each row is kept once


def test_eval_sets_and_paths() -> None:
    """They may be of sparse rows."""
    own = sp.csr_matrix(DENSE)
    errors = [
        CGBoostClassifier(LIBRARY, penalty="l1").fit(own[:40], Y[:40], eval_set=held).history_
        for held in ((own[40:], Y[40:]), (DENSE[40:], Y[40:]))
    ]
    np.testing.assert_array_equal(*(history["validation_error"] for history in errors))
    path = CGBoostClassifier(LIBRARY, penalty="l1").path(
        own[:40], Y[:40], [0.5, 1.0], eval_set=(own[40:], Y[40:])
    )
    assert all(model.converged_ for model in path)
    assert path.scores[1] == path.models[1].score(DENSE[40:], Y[40:])


def test_standardised_features() -> None:
    """Sparse features are divided by their root mean squares, those of new rows by the same."""
    library, plain = (
        KernelLibrary({"rbf": RBF(), "linear": Linear()}, standardize=own) for own in (True, False)
    )
    own = sp.csr_matrix(DENSE)
    model = CGBoostClassifier(library, tol=1e-7).fit(own[:40], Y[:40])
    scale = np.sqrt((DENSE[:40] ** 2).sum(axis=0) / (DENSE[:40] != 0).sum(axis=0))
    expected = CGBoostClassifier(plain, tol=1e-7).fit(DENSE[:40] / scale, Y[:40])
    same(model, expected)
    for X in (own[40:], DENSE[40:]):
        np.testing.assert_allclose(
            model.decision_function(X), expected.decision_function(DENSE[40:] / scale), atol=1e-7
        )
    dense = CGBoostClassifier(library).fit(DENSE, Y)  # with means: sparse rows are made dense
    np.testing.assert_allclose(dense.decision_function(own), dense.decision_function(DENSE))


GRAM = DENSE @ DENSE.T
NEAR = np.exp(-((DENSE[:, None] - DENSE) ** 2).sum(axis=2))
WAYS: dict[str, tuple[Any, np.ndarray, dict[str, Any]]] = {
    "weights": (LIBRARY, DENSE, {}),
    "threads": (LIBRARY, DENSE, {"executor": ThreadExecutor(2), "cache_size": 0}),
    "values": ({"given": Precomputed()}, GRAM, {}),
    "values side by side": (
        {"a": Precomputed(), "b": Precomputed(first=len(DENSE))},
        np.hstack([GRAM, GRAM**2]),
        {},
    ),
    "row numbers": (
        {"linear": On(Linear(), slice(0, -1)), "given": On(Precomputed("given", NEAR), -1)},
        np.hstack([DENSE, np.arange(len(DENSE))[:, None]]),
        {},
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_weights_threads_and_given_values(name: str) -> None:
    """In every way that rows are read, sparse ones have the optimum of dense ones."""
    library, X, parameters = WAYS[name]
    weights = RNG.integers(0, 3, size=len(X)) if name == "weights" else None
    model = CGBoostClassifier(library, tol=1e-7, **parameters).fit(sp.csr_array(X), Y, weights)
    same(model, CGBoostClassifier(library, tol=1e-7).fit(X, Y, weights))
    found = model.decision_function(sp.csr_array(X))
    np.testing.assert_allclose(found, model.decision_function(X), atol=1e-9)


def test_functions_get_sparse_blocks() -> None:
    """A function sees blocks of sparse rows; one that cannot take them is named."""
    seen = []

    def product(A: Any, B: Any) -> Any:
        seen.append(sp.issparse(A) and sp.issparse(B))
        return A @ B.T

    own = sp.csr_matrix(DENSE)
    model = CGBoostClassifier(KernelLibrary({"mine": product}), tol=1e-7).fit(own, Y)
    same(model, CGBoostClassifier(KernelLibrary({"linear": Linear()}), tol=1e-7).fit(DENSE, Y))
    model.predict(own)
    model.predict(DENSE)
    assert all(seen)
    failing = CGBoostClassifier(KernelLibrary({"mine": lambda A, B: np.einsum("ij,kj", A, B)}))
    with pytest.raises(KernelError, match="kernel 'mine' failed on two sets of sparse rows"):
        failing.fit(own, Y)
    with pytest.raises(NotFittedError):
        failing.predict(own)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.slow
def test_x_is_never_dense(penalty: Any) -> None:
    """Fitting and predicting 200 × 200 000 sparse numbers takes a small part of a dense copy."""
    X = sp.random(200, 200_000, density=2e-4, format="csr", random_state=0)
    y = np.arange(200) % 2
    library = KernelLibrary(
        {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF(), "matern": Matern(nu=0.5)},
        normalize=True,
    )
    model = CGBoostClassifier(library, penalty=penalty, max_columns=20)
    dense_row = 200_000 * 8
    tracemalloc.start()
    try:
        model.fit(X, y).predict(X)
        list(model.staged_predict(X))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * dense_row


@pytest.mark.parametrize("kind", [CGBoostClassifier, CGBoostRegressor])
def test_the_default_library_on_texts_is_warned_of(kind: Any) -> None:
    """For sparse rows of more features than rows, unless a library is named; once a fit."""
    X = sp.random(60, 90, density=0.1, format="csr", random_state=0)
    y = (np.asarray(X.sum(axis=1)).ravel() > X.sum() / 60).astype(int)
    few = X[:, :50]
    with pytest.warns(DataWarning, match="90 features for 60 rows.*'linear'") as told:
        kind(max_columns=2).fit(X, y)
    assert len([own for own in told if own.category is DataWarning]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        for library in ("default", "linear", Linear()):
            kind(library, max_columns=2).fit(X, y)
        kind(max_columns=2).fit(few, y)
        kind(max_columns=2).fit(X.toarray(), y)
        CGBoostOutlierDetector(max_columns=2).fit(X)
