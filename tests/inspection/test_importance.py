"""Importances, kernel weights, and the pictures of both."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine

from cgboost import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from cgboost.inspection import plot_kernel_weights, plot_violations
from cgboost.inspection.importance import plot_importance
from cgboost.proofs.certificate import Certificate
from tests.estimators.data import curve

X, Y = load_wine(return_X_y=True)
MODEL = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y)


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


class Weighted(BaseEstimator):
    """What a fitted model has."""

    kernel_weights_: dict[str, Any]
    classes_: Any

    def fit(self, X: Any, y: Any) -> "Weighted":
        """Nothing to fit."""
        return self


def weighted(weights: dict[str, Any], classes: Any = (0, 1)) -> Weighted:
    """A model with these weights."""
    model = Weighted()
    model.kernel_weights_, model.classes_ = weights, np.array(classes)
    return model


def bars(figure: Any) -> dict[str, float]:
    """Where the bars end, by their labels."""
    [axis] = figure.axes
    ends = {round(bar.get_y() + bar.get_height() / 2): 0.0 for bar in axis.patches}
    for bar in axis.patches:
        place = round(bar.get_y() + bar.get_height() / 2)
        ends[place] = max(ends[place], bar.get_x() + bar.get_width())
    return {label.get_text(): ends[k] for k, label in enumerate(axis.get_yticklabels())}


def test_the_largest_weight_is_on_top_and_kernels_without_one_are_counted() -> None:
    """The picture has the numbers of the model, in descending order; it may be empty."""
    figure = plot_kernel_weights(weighted({"a": 0.2, "b": 0.0, "c": 0.8}))
    assert bars(figure) == pytest.approx({"c": 0.8, "a": 0.2})
    [axis] = figure.axes
    assert axis.get_title(loc="left") == "2 of 3 kernels have a weight"
    assert axis.yaxis_inverted()
    assert bars(plot_kernel_weights(weighted({"a": 0.0}))) == {}


def test_beyond_the_top_one_bar_has_the_rest() -> None:
    """A hundred kernels stay readable, and no weight is lost."""
    weights = np.arange(1.0, 101.0) / 5050.0
    figure = plot_kernel_weights(weighted({f"kernel {p}": w for p, w in enumerate(weights)}))
    found = bars(figure)
    assert len(found) == 21
    assert next(iter(found)) == "kernel 99"
    assert list(found)[-1] == "80 more"
    assert sum(found.values()) == pytest.approx(1.0)


def test_several_classes_share_a_bar() -> None:
    """The bar is the mean over the classes, whose parts the legend names."""
    weights = {"a": np.array([1.0, 0.0, 0.5]), "b": np.array([0.0, 1.0, 0.5])}
    figure = plot_kernel_weights(weighted(weights, ["x", "y", "z"]))
    assert bars(figure) == pytest.approx({"a": 0.5, "b": 0.5})
    [axis] = figure.axes
    legend = axis.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["class x", "class y", "class z"]


def certificate_of(of_features: list[float], of_rows: list[float], gap: float) -> Certificate:
    """A certificate with these parts of its gap."""
    names = np.array([f"f{j}" for j in range(len(of_features))], dtype=object)
    parts = np.array(of_features), np.array(of_rows)
    return Certificate("Lasso", 1.0, 1.0 - gap, 1.0, gap, "", (), *parts, names)


def test_the_parts_of_a_gap_have_bars_down_to_the_last_row() -> None:
    """Features beyond the top and small ones share a bar, rows name the worst; zero has no bar."""
    certificate = certificate_of([0.1, 0.3, 0.0, 0.2, 0.001], [0.1, 0.299], 0.5)
    few, every = (bars(plot_violations(certificate, top=top)) for top in (1, 20))
    assert few == pytest.approx({"f1": 30, "3 other features": 30.1, "2 rows, most: row 1": 39.9})
    assert list(every) == ["f1", "f3", "f0", "2 rows, most: row 1"]
    alone = certificate_of([0.1, 0.3, 0.0], [0.0, 0.0], 0.5)
    assert bars(plot_violations(alone, top=1)) == pytest.approx({"f1": 75, "1 other feature": 25})


def test_a_gap_of_rounding_has_no_bars() -> None:
    """The title says that there is nothing to see."""
    figure = plot_violations(certificate_of([1e-11], [1e-12], 1e-11))
    assert bars(figure) == {}
    assert figure.axes[0].get_title(loc="left").endswith("nothing to see, the gap is below 1e-09")
