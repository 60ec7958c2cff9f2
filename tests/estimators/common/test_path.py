"""Regularisation paths: the models of separate fits, for less."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.estimators.data import classifier, curve, regressor, two_classes

C_VALUES = [3.0, 0.1, 1.0, 10.0]


def test_a_path_over_nu_goes_from_many_errors_to_few():
    """The largest ν is fitted first; those that follow begin with its columns."""
    X, y = two_classes()
    path = classifier(tol=1e-6, columns_per_round=1).path(X, y, nu_values=[0.2, 0.5])
    assert path.models[0].history_["columns"][0] > 0
    assert path.models[1].history_["columns"][0] == 0


def test_the_best_nu_of_equal_scores_is_the_largest():
    """More errors allowed is the simpler model."""
    X, y = two_classes()
    path = classifier().path(X, y, nu_values=[0.1, 0.11, 0.105], eval_set=(X[:4], y[:4]))
    ties = [nu for nu, score in zip(path.nu_values, path.scores, strict=True) if score == 1.0]
    assert len(ties) > 1
    assert path.best.nu == max(ties)


def test_regressors_with_nu_have_paths_over_both():
    """There C weighs the errors whatever ν is: each model is that of a fit with both."""
    X, y = curve()
    model = regressor(tol=1e-7, nu=0.4, penalty="l2")
    for C, fitted in zip([1.0, 0.2], model.path(X, y, [1.0, 0.2]), strict=True):
        alone = clone(model).set_params(C=C).fit(X, y)
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=3e-7)
        assert fitted.epsilon_ == pytest.approx(alone.epsilon_, abs=1e-3)


def test_later_models_need_fewer_rounds():
    """A model that starts from another's columns generates fewer of its own."""
    X, y = two_classes()
    model = classifier(tol=1e-8, columns_per_round=1)
    path = model.path(X, y, [1.0, 1.5])
    alone = clone(model).set_params(C=1.5).fit(X, y)
    assert path.models[1].n_iter_ < alone.n_iter_
    assert path.models[1].history_["columns"][0] > 0


def test_the_best_model_is_that_of_the_best_score():
    """Scores are those of the eval_set; the best model has the highest, the sparsest of equals."""
    X, y = two_classes()
    mixed = np.random.default_rng(0).permutation(len(y))
    train, held = mixed[: len(y) // 2], mixed[len(y) // 2 :]
    path = classifier().path(X[train], y[train], C_VALUES, eval_set=(X[held], y[held]))
    scores = [model.score(X[held], y[held]) for model in path.models]
    np.testing.assert_allclose(path.scores, scores)
    best = [C for C, score in zip(C_VALUES, scores, strict=True) if score == max(scores)]
    assert min(best) == path.best.C
    assert "validation_error" in path.best.history_
