"""The picture of a thinning path."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from cgboost import ThinnedEnsemble
from cgboost.inspection import plot_path
from tests.estimators.thinning.thinning_data import CLASSIFIERS, classes


def test_scores_against_members():
    """Sizes and scores are drawn, the best is marked, and the whole ensemble is a line."""
    X, y = classes(2)
    model = ThinnedEnsemble(CLASSIFIERS["forest"], random_state=0)
    path = model.path(X[:160], y[:160], sizes=[2, 5, 10], eval_set=(X[160:], y[160:]))
    figure = plot_path(path)
    axis = figure.axes[0]
    np.testing.assert_array_equal(axis.lines[0].get_xdata(), [2, 5, 10])
    np.testing.assert_array_equal(axis.lines[0].get_ydata(), path.scores)
    assert axis.lines[1].get_ydata()[0] == path.scores.max()
    assert axis.lines[2].get_ydata()[0] == path.whole_score
    figure.canvas.draw()
    low, high = axis.get_xlim()
    ticks = [
        own.get_text()
        for own, x in zip(axis.get_xticklabels(), axis.get_xticks(), strict=True)
        if low <= x <= high
    ]
    assert ticks == ["2", "5", "10"]
    assert not axis.get_xticklabels(minor=True)
    _, own = plt.subplots()
    assert plot_path(model.path(X, y, sizes=[3]), ax=own) is own.figure
    assert len(own.lines) == 2
    plt.close("all")


def test_a_path_without_scores_is_not_drawn():
    """It says what is missing."""
    X, y = classes(2)
    path = ThinnedEnsemble(CLASSIFIERS["gradient boosting"]).path(X, y, sizes=[3])
    with pytest.raises(ValueError, match="no scores to draw"):
        plot_path(path)
