"""The picture of the importances."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

from cgboost import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    SparseLinearRegressor,
)
from cgboost.estimators.boosting.tree_importances import importances, shares
from cgboost.inspection.importance import plot_importance
from tests.estimators.data import curve

X, Y = load_wine(return_X_y=True)
MODEL = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y)


def test_a_stump_gains_what_its_split_saves() -> None:
    """One split of ±1 responses takes the squared error from n to 0; all of it is its feature's."""
    x = np.column_stack([np.zeros(8), np.arange(8)])
    stump = DecisionTreeRegressor().fit(x, np.repeat([-1.0, 1.0], 4))
    np.testing.assert_allclose(importances([stump], 2), [0.0, 8.0])
    root = DecisionTreeRegressor().fit(x, np.ones(8))
    np.testing.assert_allclose(importances([stump, root], 2), [0.0, 4.0])
    np.testing.assert_array_equal(importances([], 2), [0.0, 0.0])


def test_shares_average_over_the_outputs() -> None:
    """Classes count alike; a model without splits has no shares."""
    np.testing.assert_allclose(shares(np.array([[1.0, 3.0], [4.0, 0.0]])), [5 / 8, 3 / 8])
    np.testing.assert_array_equal(shares(np.zeros((2, 2))), [0.0, 0.0])


def test_bars_are_the_largest_shares_with_their_names() -> None:
    """The features come by their importance, as many as wanted."""
    named = GradientBoostingClassifier(n_estimators=5, random_state=0)
    named.fit(pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]), Y)
    [axis] = plot_importance(named, top=4).axes
    order = np.argsort(-named.feature_importances_, kind="stable")[:4]
    assert [text.get_text() for text in axis.get_yticklabels()] == [f"f{j}" for j in order]
    widths = [bar.get_width() for bar in axis.patches]
    np.testing.assert_allclose(widths, 100 * named.feature_importances_[order])


def test_bars_of_classes_add_up() -> None:
    """Divided by class the bars are as long as before."""
    [axis] = plot_importance(MODEL, top=3, per_class=True).axes
    widths = np.array([bar.get_width() for bar in axis.patches]).reshape(3, 3)
    np.testing.assert_allclose(
        widths.sum(axis=0), 100 * np.sort(MODEL.feature_importances_)[::-1][:3]
    )
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["class 0", "class 1", "class 2"]


def test_features_without_splits_have_no_bar() -> None:
    """Only what matters is drawn."""
    x, y = curve(40)
    model = GradientBoostingRegressor(n_estimators=1, max_depth=1).fit(x, y)
    assert len(plot_importance(model).axes[0].patches) == 1


def test_bad_arguments() -> None:
    """The number of bars and the model are checked by name."""
    with pytest.raises(ValueError, match="top must be at least 1, got 0"):
        plot_importance(MODEL, top=0)
    regressor = GradientBoostingRegressor(n_estimators=1).fit(*curve(40))
    with pytest.raises(ValueError, match="needs a model with classes, got GradientBoostingRegr"):
        plot_importance(regressor, per_class=True)
    linear = SparseLinearRegressor().fit(*curve(40))
    with pytest.raises(ValueError, match="SparseLinearRegressor does not have; its coef_ has"):
        plot_importance(linear)
    with pytest.raises(NotFittedError):
        plot_importance(GradientBoostingRegressor())
