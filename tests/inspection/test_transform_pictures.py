"""What the pictures of transform regression show: the lines, bars and points themselves."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from cgboost import TransformClassifier, TransformRegressor
from cgboost.additive.trees.transformation import Transformation
from cgboost.inspection.effects import plot_effects
from cgboost.inspection.model_pictures import plot_transformations, segments
from cgboost.tables.binning import Intervals
from tests.estimators.data import three_classes


def product(n_rows: int = 3000) -> tuple[Any, Any]:
    """Two numbers, and their sum and product as the target."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(n_rows, 2))
    return X, X[:, 0] + X[:, 1] + 3 * X[:, 0] * X[:, 1]


def people(n_rows: int = 3000) -> tuple[Any, Any]:
    """A number with missing values and a category, as a data frame."""
    rng = np.random.default_rng(1)
    age, town = rng.uniform(20, 60, n_rows), rng.choice(["here", "there", "away"], n_rows)
    y = np.abs(age - 40) / 10 + 3.0 * (town == "there") - 2.0 * (town == "away")
    age[::10] = np.nan
    return pd.DataFrame({"age": age, "town": town}), y


def titles(figure: Figure) -> list[str]:
    """Of the panels."""
    return [axis.get_title(loc="left") for axis in figure.axes]


def test_names_are_on_one_line_as_they_are() -> None:
    """Breaks, blanks at the ends and signs of formulas are seen; long names are cut."""
    long = "a name that goes on and on, with the rest at the end"
    words = ["two words", "a\nbreak", " blank", "", "$x^2$ of $", long]
    codes = np.arange(1800) % 6
    X = pd.DataFrame({"the\nname": np.array(words, dtype=object)[codes]})
    figure = plot_transformations(TransformRegressor().fit(X, codes.astype(float)), 0)
    figure.canvas.draw()
    (axis,) = figure.axes
    assert axis.get_title(loc="left") == r"'the\nname'"
    labels = [text.get_text().replace(r"\$", "$") for text in axis.get_yticklabels()]
    assert sorted(labels) == sorted(
        [
            *("two words", r"'a\nbreak'", "' blank'", "''", "$x^2$ of $", "missing"),
            f"{long[:15]}…{long[-15:]}",
        ]
    )
    assert not any("$" in text.get_text().replace(r"\$", "") for text in axis.get_yticklabels())


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_segments_are_the_function(offset: float) -> None:
    """Between the ends of every piece the function is the straight line, and none is left out."""
    X, y = product()
    X += offset
    model = TransformRegressor(n_estimators=2).fit(X, y)
    function = model.transformation(0, 1).function
    values, x = segments(function)
    assert len(values) == len(np.unique(function.leaf[:-1]))
    np.testing.assert_array_equal(x[1:, 0], x[:-1, 1])
    assert (x[0, 0], x[-1, 1]) == (function.groups.low, function.groups.high)
    inner = x[:, :1] + (x[:, 1:] - x[:, :1]) * [0.1, 0.5, 0.9]
    line = values[:, :1] + (values[:, 1:] - values[:, :1]) * [0.1, 0.5, 0.9]
    np.testing.assert_allclose(function(inner.ravel(), np.zeros((inner.size, 0))), line.ravel())


def test_an_output_that_is_a_regressor_too_counts_once() -> None:
    """Of one earlier output the line is the whole function, slope and coefficient together."""
    groups = Intervals(np.array([0.0]), -1.0, 1.0)
    leaf, level = np.array([0, 1, 2]), np.array([1.0, 2.0, 0.0])
    slope, coef = np.array([3.0, 0.0, 0.0]), np.array([[-1.0, 9.0], [4.0, 0.0], [0.0, 0.0]])
    function = Transformation(2, groups, leaf, level, slope, coef)
    values, x = segments(function, 0)
    np.testing.assert_array_equal(x, [[-1, 0], [0, 1]])
    np.testing.assert_array_equal(values, [[-1, 1], [2, 6]])
    inside = x.mean(axis=1)
    outputs = np.column_stack([inside, np.zeros(2)])
    np.testing.assert_allclose(function(inside, outputs), values.mean(axis=1))


def test_a_panel_for_every_function_of_a_stage() -> None:
    """The line is the function times its weight; outputs of earlier stages are inputs too."""
    X, y = product()
    model = TransformRegressor(n_estimators=3).fit(X, y)
    for number, stage in enumerate(model.stages_):
        figure = plot_transformations(model, number)
        assert len(figure.axes) == len(stage.terms)
        for axis, (weight, term) in zip(figure.axes, stage.terms, strict=True):
            [line] = axis.lines
            drawn = line.get_ydata()
            values, _ = segments(term, term.feature - 2 if term.feature > 1 else None)
            np.testing.assert_allclose(drawn[~np.isnan(drawn)], weight * values.ravel())
    assert titles(plot_transformations(model, 0)) == ["x0", "x1"]
    last = titles(plot_transformations(model, -1))
    assert set(last) - {"x0", "x1"} <= {"output of stage 0", "output of stage 1"}
    assert len(plot_transformations(model, -1, top=1).axes) == 1


def test_rows_stand_where_the_stage_puts_them() -> None:
    """What the points of all panels add up to is the output of the stage; a link comes last."""
    X, y = product(400)
    model = TransformRegressor(n_estimators=2).fit(X, y)
    figure = plot_transformations(model, 1, X)
    total = model.stages_[1].intercept + sum(axis.lines[0].get_ydata() for axis in figure.axes)
    first, second = model.stages_
    np.testing.assert_allclose(total, second(X, first(X, np.zeros((400, 0)))[:, None]))
    X, y = product(2000)
    model = TransformRegressor(variant="initial", n_estimators=1).fit(X, y)
    figure = plot_transformations(model, 0, X)
    assert titles(figure) == ["x0", "x1", "link of the sum"]
    points = figure.axes[-1].lines[0].get_ydata()
    np.testing.assert_allclose(points, model.stages_[0](X, np.zeros((2000, 0))))


def test_categories_are_bars_and_missing_values_a_level() -> None:
    """Bars stand in the order of their values, under the names that the data have."""
    X, y = people()
    model = TransformRegressor(n_estimators=1, max_bins=16).fit(X, y)
    age, town = plot_transformations(model, 0, X).axes
    assert titles(age.figure) == ["age", "town"]
    names = [text.get_text() for text in town.get_yticklabels()]
    assert [name for name in names if name != "missing"] == ["away", "here", "there"]
    [(weight, term)] = [(w, t) for w, t in model.stages_[0].terms if t.feature == 1]
    widths = sorted(patch.get_width() for patch in town.patches)
    np.testing.assert_allclose(widths, np.sort(weight * term.intercept[term.leaf]))
    [text] = age.get_legend().get_texts()
    assert text.get_text() == "missing"


def test_dates_at_midnight_are_days() -> None:
    """Without a time in the bars and in partial dependence; with one where one of them has it."""
    rng, codes = np.random.default_rng(0), np.arange(900) % 3
    days = pd.date_range("2024-01-06", periods=3)
    X = pd.DataFrame({"day": days[codes], "hour": (days + pd.to_timedelta([0, 6, 0], "h"))[codes]})
    X["hour"] = rng.permutation(X["hour"])
    y = 3.0 * codes + X["hour"].dt.day + X["hour"].dt.hour
    model = TransformRegressor(n_estimators=1, categorical_features=["day", "hour"]).fit(X, y)
    for figure in (plot_transformations(model), plot_effects(model, X, ["day", "hour"])):
        day, hour = ([text.get_text() for text in axis.get_yticklabels()] for axis in figure.axes)
        assert set(day) - {"missing"} == {"2024-01-06", "2024-01-07", "2024-01-08"}
        assert {"2024-01-06 00:00:00", "2024-01-07 06:00:00"} < set(hour)


def test_the_class_is_named() -> None:
    """Each has its stages; chosen by its label, it is in the title, or in those of given axes."""
    X, y = three_classes()
    names = np.array(["$low", "mid", "top"])
    model = TransformClassifier(n_estimators=1, early_stopping=False).fit(X, names[y])
    drawn = [plot_transformations(model, output=k).axes[0].lines[0].get_ydata() for k in (0, 1)]
    assert not np.array_equal(*drawn)
    for label in names:
        figure = plot_transformations(model, output=label)
        title = figure.get_suptitle().replace(r"\$", "$")
        assert title.startswith("Stage 0 of ")
        assert title.endswith(f", class {label}")
    axes = Figure().subplots(1, len(figure.axes))
    own = plot_transformations(model, output="top", ax=np.atleast_1d(axes))
    assert titles(own) == [f"{name}, class top" for name in titles(figure)]
    two = TransformClassifier(n_estimators=1, early_stopping=False).fit(X, y > 0)
    assert plot_transformations(two).get_suptitle().endswith(", class True")
