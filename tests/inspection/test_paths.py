"""Pictures of regularisation paths and of thinning paths: which lines and labels there are."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from cgboost import SparseLinearClassifier, SparseLinearRegressor, ThinnedEnsemble
from cgboost.inspection import plot_columns, plot_history, plot_path
from cgboost.inspection.coefficient_path import LINE_OF_TEXT
from cgboost.linear import SparseLinearRegressorCV
from tests.estimators.thinning.thinning_data import CLASSIFIERS, classes


def rows(n_features: int = 8) -> tuple[Any, Any]:
    """Rows on which a few features matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, n_features))
    return X, 2.0 * X[:, 1] - X[:, 3] + 0.1 * rng.standard_t(3, size=80)


def profiles(axis: Any) -> list[Any]:
    """The lines of features: not the zero line, nor that of the best model."""
    return [line for line in axis.lines if len(line.get_xdata()) > 2]


def test_one_line_a_feature_in_use_and_names_for_the_strongest():
    """Sparse models on the left; features that no model uses are only counted."""
    X, y = rows()
    path = SparseLinearRegressor().path(X, y, n_alphas=20, eps=0.1)
    used = np.flatnonzero(path.coefs.any(axis=1))
    assert 2 <= len(used) < 8
    [axis] = plot_path(path, n_labels=2).axes
    assert len(profiles(axis)) == len(used)
    assert {text.get_text() for text in axis.texts} == {"x1", "x3"}
    assert axis.get_xlim()[0] == pytest.approx(path.alphas.max())
    assert axis.get_title(loc="left").startswith(f"{len(used)} of 8 features in 20 models")
    named = plot_path(path, n_labels=1, feature_names=list("abcdefgh"))
    assert [text.get_text() for text in named.axes[0].texts] == ["b"]


def test_lines_are_the_coefficients_against_the_norm():
    """x="l1_norm": the places are Σ|β| of the models, from 0 on."""
    X, y = rows()
    path = SparseLinearRegressor().path(X, y, n_alphas=10, eps=0.1)
    [axis] = plot_path(path, x="l1_norm").axes
    line = next(line for line in profiles(axis) if line.get_label() == "x1")
    np.testing.assert_allclose(line.get_xdata(), np.abs(path.coefs).sum(axis=0))
    np.testing.assert_allclose(line.get_ydata(), path.coefs[1])
    assert axis.get_xscale() == "linear"


def test_scores_have_a_panel_with_the_best_model_marked():
    """With an eval_set only."""
    X, y = rows()
    path = SparseLinearRegressor().path(X[:60], y[:60], n_alphas=10, eval_set=(X[60:], y[60:]))
    figure = plot_path(path)
    assert len(figure.axes) == 2
    [scores] = profiles(figure.axes[1])
    np.testing.assert_allclose(scores.get_ydata(), path.scores)
    assert f"{path.best.alpha:.3g}" in figure.axes[1].get_title(loc="left")


def test_several_outputs_share_a_line():
    """The norm of a feature's coefficients over the classes, from small C to large."""
    X, _ = rows()
    labels = np.argmax(X[:, :3], axis=1)
    path = SparseLinearClassifier().path(X, labels, n_Cs=5, eps=0.1)
    assert path.coefs.shape == (3, 8, 5)
    [axis] = plot_path(path).axes
    line = next(line for line in profiles(axis) if line.get_label() == "x0")
    np.testing.assert_allclose(line.get_ydata(), np.linalg.norm(path.coefs[:, 0], axis=0))
    assert axis.get_xlim() == pytest.approx((path.C_values.min(), path.C_values.max()))


def test_labels_keep_apart():
    """Equal coefficients have names that can be read, inside the panel."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    path = SparseLinearRegressor().path(X, X.sum(axis=1), n_alphas=5)
    [axis] = plot_path(path, n_labels=12).axes
    heights = np.sort([text.xyann[1] for text in axis.texts])
    assert np.all(np.diff(heights) >= LINE_OF_TEXT - 1e-9)
    assert heights[0] >= 0
    assert heights[-1] <= 1 + 1e-9


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("x", ["alpha", "l1_norm"])
def test_one_model_is_points_at_the_right(x: Any):
    """Each coefficient has a dot at the labels, and there is room to the left of it."""
    X, y = rows()
    path = SparseLinearRegressor().path(X, y, [0.05], eval_set=(X, y))
    upper, lower = plot_path(path, x=x).axes
    dots = [line for line in upper.lines if line.get_marker() == "o"]
    assert len(dots) == np.count_nonzero(path.coefs)
    place = 0.05 if x == "alpha" else np.abs(path.coefs).sum()
    assert all(dot.get_xdata()[0] == pytest.approx(place) for dot in dots)
    assert upper.get_xlim() == pytest.approx((2 * place if x == "alpha" else place / 2, place))
    assert "in 1 model," in upper.get_title(loc="left")
    assert lower.get_ylabel() == "−mean loss"


def test_a_model_chosen_by_cross_validation_is_drawn_as_its_model():
    """History and columns are those of ``model_``."""
    chosen = SparseLinearRegressorCV(alphas=[0.1, 0.05]).fit(*rows())
    for drawn in (plot_history, plot_columns):
        own, inner = (
            drawn(model).axes[0].get_title(loc="left") for model in (chosen, chosen.model_)
        )
        assert own == inner


def test_standardized_coefficients_are_drawn_as_they_are_compared() -> None:
    """Times the standard deviation of the feature: its unit makes no difference to the picture."""
    X, y = load_diabetes(return_X_y=True)
    alphas = [1.0, 0.1]
    plain = SparseLinearRegressor(standardize=True).path(X, y, alphas)
    moved = SparseLinearRegressor(standardize=True).path(X * np.r_[1000.0, np.ones(9)], y, alphas)
    lines = []
    for path in (plain, moved):
        drawn = plot_path(path).axes[0].lines
        lines.append([line.get_ydata() for line in drawn if line.get_label()[0] != "_"])
    np.testing.assert_allclose(*lines, rtol=1e-6, atol=1e-8)
    assert plot_path(plain).axes[0].get_ylabel() == "coefficient β × standard deviation"


def test_scores_of_a_thinning_path_against_members():
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
    assert len(plot_path(model.path(X, y, sizes=[3])).axes[0].lines) == 2
