"""The path over sizes: each model is what a fit of its size is."""

import numpy as np
import pytest

from cgboost import ThinnedEnsemble
from tests.estimators.thinning.thinning_data import CLASSIFIERS, REGRESSORS, classes, numbers


def test_each_model_is_that_of_a_fit():
    """The same members and weights as a fit with this size."""
    X, y = classes(3)
    model = ThinnedEnsemble(CLASSIFIERS["forest"], random_state=0)
    path = model.path(X, y, sizes=[10, 3, 0.2])
    np.testing.assert_array_equal(path.sizes, [3, 6, 10])
    for size, own in zip(path.sizes, path, strict=True):
        single = ThinnedEnsemble(CLASSIFIERS["forest"], size=int(size), random_state=0).fit(X, y)
        assert own.n_members_ == size
        assert pytest.approx(single.C_) == own.C_
        assert own.objective_ == pytest.approx(single.objective_, rel=1e-6)
        assert own.score(X, y) == pytest.approx(single.score(X, y), abs=0.03)
    assert not hasattr(model, "weights_")


def test_scores_choose():
    """The best model is that of the best score, on rows of one's own or out of bag.

    Training rows alone say nothing; and a path has a size at least.
    """
    X, y = numbers()
    model = ThinnedEnsemble(REGRESSORS["forest"], random_state=0)
    path = model.path(X[:160], y[:160], eval_set=(X[160:], y[160:]))
    assert path.best.score(X[160:], y[160:]) == path.scores.max()
    assert path.score_name == "R² (eval set)"
    own = model.path(X, y)
    assert own.score_name == "R² (out of bag)"
    assert own.best.own_score_ == own.scores.max()
    assert len(own) == len(own.table()["n_members"])
    assert "of 30 members" in repr(own)
    with pytest.raises(ValueError, match="at least one size"):
        model.path(X, y, sizes=[])
    path = ThinnedEnsemble(REGRESSORS["gradient boosting"]).path(X, y, sizes=[2, 4])
    with pytest.raises(ValueError, match="give path\\(\\) an eval_set"):
        path.best  # noqa: B018
