"""What the pictures of latent factors show: the points and curves themselves."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgboost import BLFClassifier, BLFRegressor
from cgboost.inspection import drawing
from cgboost.inspection.model_pictures import (
    component_errors,
    plot_components,
    plot_factors,
    plot_objectives,
)
from tests.estimators.data import three_classes, two_classes


def panel(figure: Figure) -> Any:
    """The first panel of a picture."""
    return figure.axes[0]


def numbers(n_rows: int = 60) -> tuple[Any, Any]:
    """Rows of five features and a target that is nearly linear in them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 5))
    return X, X @ [3.0, -2.0, 1.0, 0.0, 0.5] + 0.1 * rng.standard_normal(n_rows)


def test_errors_of_a_pipeline_are_those_of_its_last_step() -> None:
    """On what the steps before it make of the rows."""
    X, y = two_classes()
    model = make_pipeline(StandardScaler(), BLFClassifier(3)).fit(X, y)
    inside = component_errors(model[-1], {"all": (model[:-1].transform(X), y)})
    for name, values in component_errors(model, {"all": (X, y)}).items():
        np.testing.assert_array_equal(values, inside[name])


def test_rows_stand_at_their_first_two_factors() -> None:
    """One cloud a class, at what ``transform`` gives, in a colour of its own."""
    X, y = two_classes()
    model = BLFClassifier(3).fit(X, y)
    axis = panel(plot_factors(model, X, y))
    clouds = axis.collections
    assert [cloud.get_label() for cloud in clouds] == [f"class {label}" for label in np.unique(y)]
    for cloud, label in zip(clouds, np.unique(y), strict=True):
        np.testing.assert_array_equal(cloud.get_offsets(), model.transform(X)[y == label, :2])
    colours = [to_hex(cloud.get_facecolor()[0]).upper() for cloud in clouds]
    assert colours == list(drawing.PALETTE[:2])


def test_a_number_is_shown_by_a_scale_of_colours() -> None:
    """With a regressor there is one cloud, coloured by the target, and a bar that explains it."""
    X, y = numbers()
    model = BLFRegressor(2, loss="absolute_error").fit(X, y)
    figure = plot_factors(model, X, y)
    [cloud] = panel(figure).collections
    np.testing.assert_array_equal(cloud.get_array(), y)
    assert len(figure.axes) == 2
    assert panel(figure).get_legend() is None
    figure = plot_factors(BLFRegressor(2).fit(X, np.round(y)), X, np.round(y))
    assert len(figure.axes) == 2  # whole numbers are numbers, too


def test_other_transformers_can_be_drawn_too() -> None:
    """A PCA and a pipeline have factors as well, and three classes have three clouds."""
    X, y = three_classes()
    for model in (PCA(2), make_pipeline(StandardScaler(), BLFClassifier(2))):
        axis = panel(plot_factors(model.fit(X, y), X, y))
        assert len(axis.collections) == 3


def test_errors_are_those_of_models_with_so_many_factors() -> None:
    """Each entry is what a model of that many factors has, for labels and for numbers."""
    X, y = two_classes(100)
    sets = {"train": (X[:60], y[:60]), "test": (X[60:], y[60:])}
    table = component_errors(BLFClassifier(3).fit(X[:60], y[:60]), sets)
    assert table["components"].tolist() == [1, 2, 3]
    X, t = numbers()
    squares = component_errors(BLFRegressor(3).fit(X, t), {"all": (X, t)})["all"]
    for count in range(1, 4):
        model = BLFClassifier(count).fit(*sets["train"])
        for name, (rows, labels) in sets.items():
            wrong = 1 - model.score(rows, labels)
            assert table[name][count - 1] == pytest.approx(wrong)
        residual = t - BLFRegressor(count).fit(X, t).predict(X)
        assert squares[count - 1] == pytest.approx(np.mean(residual**2))


def test_each_model_has_its_colour_and_each_set_its_dashes() -> None:
    """The curves are the columns of the tables, named after model and set."""
    X, y = two_classes()
    losses = ("log_loss", "squared_error")
    models = {loss: BLFClassifier(3, loss=loss).fit(X, y) for loss in losses}
    sets = {"train": (X, y), "half": (X[::2], y[::2])}
    axis = panel(plot_components(models, sets))
    names = [line.get_label() for line in axis.lines]
    assert names == [f"{loss}, {name}" for loss in losses for name in sets]
    for line in axis.lines:
        loss, name = line.get_label().split(", ")
        np.testing.assert_array_equal(line.get_ydata(), component_errors(models[loss], sets)[name])
    assert [line.get_linestyle() for line in axis.lines] == ["-", "--", "-", "--"]
    assert axis.lines[0].get_color() == axis.lines[1].get_color() != axis.lines[2].get_color()
    assert axis.get_ylabel() == "share of wrong labels"
    own = plot_components({"PLS": BLFRegressor(3).fit(*numbers())}, {"train": numbers()})
    assert panel(own).get_ylabel() == "mean squared error"


def test_objectives_are_those_of_the_history() -> None:
    """One curve a model, from the constant on; with wide values the scale is logarithmic."""
    X, y = two_classes()
    models = {str(flag): BLFClassifier(3, deflate=flag).fit(X, y) for flag in (True, False)}
    axis = panel(plot_objectives(models))
    assert [line.get_label() for line in axis.lines] == ["True", "False"]
    for line, model in zip(axis.lines, models.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), model.history_["round"])
        np.testing.assert_array_equal(line.get_ydata(), model.history_["objective"])
    wide = SimpleNamespace(history_={"round": [0, 1], "objective": [1e4, 1.0]})
    assert panel(plot_objectives({"wide": wide})).get_yscale() == "log"
