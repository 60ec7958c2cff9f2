"""The picture of kernel weights: which bars there are, in which order, and what is refused."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from cgboost import CGBoostClassifier
from cgboost.inspection import plot_kernel_weights


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
    """The picture has the numbers of the model, in descending order."""
    figure = plot_kernel_weights(weighted({"a": 0.2, "b": 0.0, "c": 0.8}))
    assert bars(figure) == pytest.approx({"c": 0.8, "a": 0.2})
    [axis] = figure.axes
    assert axis.get_title(loc="left") == "2 of 3 kernels have a weight"
    assert axis.yaxis_inverted()


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


def test_a_model_without_any_weight_has_an_empty_picture() -> None:
    """A trivial model can be drawn too."""
    assert bars(plot_kernel_weights(weighted({"a": 0.0}))) == {}


def test_axes_can_be_given() -> None:
    """The picture becomes part of a figure of the caller's."""
    from matplotlib.figure import Figure

    figure = Figure()
    axis = figure.add_subplot()
    assert plot_kernel_weights(weighted({"a": 1.0}), axes=axis) is figure


def test_what_cannot_be_drawn_says_why() -> None:
    """Models without weights, models before their fit, and no bars at all."""
    with pytest.raises(ValueError, match="penalty='group'"):
        plot_kernel_weights(SVC().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(NotFittedError):
        plot_kernel_weights(CGBoostClassifier())
    with pytest.raises(ValueError, match="top must be at least 1, got 0"):
        plot_kernel_weights(weighted({"a": 1.0}), top=0)
