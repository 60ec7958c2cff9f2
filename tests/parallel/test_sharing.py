"""Estimators with an executor: copies share it, and what is stored leaves it out."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from cgboost import RBF, CGBoostClassifier, TransformClassifier

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def pool() -> Any:
    """Two worker processes."""
    with ProcessPoolExecutor(2) as executor:
        yield executor


def models(pool: Any) -> list[Any]:
    """An estimator that keeps its rows on the workers, and one that sends tasks to them."""
    return [
        TransformClassifier(executor=pool, n_estimators=2),
        CGBoostClassifier(RBF(0.5), executor=pool, max_columns=10),
    ]


def test_copies_share_the_executor(pool: Any) -> None:
    """Clones, shallow and deep copies, fitted or not; parameters are those of the original."""
    for model in models(pool):
        for twin in (clone(model), copy.copy(model), copy.deepcopy(model)):
            assert twin is not model
            assert twin.executor is pool
            assert twin.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        fitted = model.fit(X, Y)
        assert not hasattr(clone(fitted), "classes_")
        twin = copy.deepcopy(fitted)
        assert twin.executor is pool
        np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))


def test_what_is_stored_has_no_executor(pool: Any) -> None:
    """A stored model predicts the same, and fits again in its process; the pool goes on."""
    for model in models(pool):
        fitted = model.fit(X, Y)
        loaded = pickle.loads(pickle.dumps(fitted))
        assert loaded.executor is None
        assert fitted.executor is pool
        np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
        again = loaded.fit(X, Y)
        assert np.mean(again.predict(X) == fitted.predict(X)) > 0.98
    assert pool.submit(pow, 2, 3).result() == 8


def test_a_search_over_parameters_uses_the_executor(pool: Any) -> None:
    """scikit-learn's searches clone their estimator for every fold."""
    search = GridSearchCV(models(pool)[0], {"n_estimators": [1, 2]}, cv=2).fit(X, Y)
    assert search.best_estimator_.executor is pool
