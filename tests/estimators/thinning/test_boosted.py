"""Boosting models of other libraries, as they behave, without the libraries."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from cgboost import ThinnedEnsemble
from cgboost.estimators.thinning.boosted import boosted_members
from tests.estimators.thinning.thinning_data import classes, numbers

X, Y = numbers()
BASE = 3.0


def stage(X, k):
    """A stump for each stage, of a residual as boosting has it."""
    return 0.8**k * np.where(np.asarray(X)[:, k % 4] > 0.3 * k - 1, 1.0, -1.0)


class Booster:
    """What a LightGBM booster answers."""

    __module__ = "lightgbm.basic"

    def num_trees(self):
        return 6

    def num_model_per_iteration(self):
        return 1

    params = {"objective": "regression"}  # noqa: RUF012

    def predict(self, X, raw_score=True, start_iteration=0, num_iteration=6):
        return sum(stage(X, k) for k in range(start_iteration, start_iteration + num_iteration))


class XGBoost(RegressorMixin, BaseEstimator):
    """What an XGBoost regressor answers: every range has the base score."""

    __module__ = "xgboost.sklearn"
    n_features_in_ = 4

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def get_booster(self):
        return self

    def num_boosted_rounds(self):
        return 6

    def predict(self, X, output_margin=True, iteration_range=(0, 6)):
        return BASE + sum(stage(X, k) for k in range(*iteration_range))


class CatBoost(ClassifierMixin, BaseEstimator):
    """What a CatBoost classifier answers."""

    __module__ = "catboost.core"
    tree_count_ = 6
    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def is_fitted(self):
        return True

    def predict(self, X, prediction_type="RawFormulaVal", ntree_start=0, ntree_end=6):
        return sum(stage(X, k) for k in range(ntree_start, ntree_end))


def test_boosters_of_other_libraries():
    """XGBoost: the base score, which is in each range of trees, ends in the intercept once.

    CatBoost: raw values of single trees, and probabilities from their sum. LightGBM: a booster is
    recognised and its iterations add up; nothing is taken for one by its attributes alone.
    """
    model = ThinnedEnsemble(XGBoost(), size=6).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), XGBoost().predict(X), atol=0.05)
    thin = ThinnedEnsemble(XGBoost(), size=3).fit(X, Y)
    assert thin.members_ == thin.indices_.tolist()
    assert thin.n_members_ == 3
    with pytest.raises(ValueError, match="xgboost has no counterpart"):
        thin.to_sklearn()
    model = ThinnedEnsemble(CatBoost(), size=4).fit(X, (stage(X, 0) + stage(X, 1) > 0).astype(int))
    assert model.predict_proba(X).shape == (len(X), 2)
    assert np.mean(model.predict(X) == (CatBoost().predict(X) > 0)) > 0.85
    members = boosted_members(Booster())
    assert (len(members), members.kind) == (6, "value")
    outputs = members.outputs(X)
    np.testing.assert_allclose(members.total(X, outputs), Booster().predict(X)[:, None], atol=1e-5)
    assert members.outputs(X, np.array([], dtype=int)).shape == (len(X), 0, 1)
    assert boosted_members(object()) is boosted_members([1, 2]) is None


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_models_with_a_link_are_refused(loss):
    """Where predictions are not the sum of the trees, nothing is thinned."""
    X, y = numbers()
    model = HistGradientBoostingRegressor(loss=loss, max_iter=5).fit(X, np.exp(y / 50.0))
    with pytest.raises(ValueError, match="not the sum of its trees"):
        ThinnedEnsemble(model, size=2).fit(X, np.exp(y / 50.0))


@pytest.mark.parametrize("kind", [HistGradientBoostingClassifier, GradientBoostingClassifier])
def test_several_classes_that_aim_at_labels_are_exported(kind):
    """A program without intercepts has a constant of 0 for every class."""
    X, y = classes(3)
    model = ThinnedEnsemble(kind(random_state=0), size=4, metric="log_loss").fit(X, y)
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))
