"""What the pictures show, on tables made by hand and on a fitted model."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from cgboost import (
    RBF,
    CGBoostClassifier,
    MultiQuantileRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.inspection import drawing, plot_columns, plot_history
from cgboost.inspection.learning_curves import plot_stages
from cgboost.inspection.model_pictures import plot_objectives
from cgboost.inspection.report.facts import facts_of
from tests.estimators.data import three_classes

KERNELS = ["linear", "rbf", "rbf", "linear", "rbf", "rbf"]


def make_model(**history: Any) -> Any:
    """Return what a fit leaves behind: four rounds, six columns of two kernels."""
    table: dict[str, Any] = {
        "round": [0, 1, 2, 3],
        "columns": [0, 2, 4, 6],
        "objective": [9.0, 6.0, 5.5, 5.0],
        "bound": [np.nan, 4.0, 3.0, 4.75],
        "gap": [np.inf, 0.25, 0.2, 0.1],
        "validation_error": [0.5, 0.25, 0.125, 0.2],
    }
    columns = {
        "kernel": np.array(KERNELS),
        "row": np.arange(6),
        "coefficient": np.array([0.5, -2.0, 0.0, 1.0, 0.25, -0.75]),
        "round": np.array([1, 1, 2, 2, 3, 3]),
    }
    return SimpleNamespace(history_=table | history, columns_=columns)


def history_panels(model: Any) -> list[Any]:
    """Return the panels of the history."""
    return list(plot_history(model).axes)


def column_panels(model: Any) -> list[Any]:
    """Return the panels of the columns."""
    return list(plot_columns(model).axes)


def test_history_has_three_panels_with_one_horizontal_axis() -> None:
    """Objective, validation score and columns against the same number of columns.

    A bound weaker than an earlier one leaves the drawn bound where it was.
    """
    panels = history_panels(make_model())
    assert len(panels) == 3
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert {panel.get_xlabel() for panel in panels} == {"columns generated"}
    objective, bound = panels[0].get_lines()
    np.testing.assert_array_equal(objective.get_ydata(), [9.0, 6.0, 5.5, 5.0])
    np.testing.assert_array_equal(bound.get_ydata(), [np.nan, 4.0, 4.0, 4.75])
    title = "Objective and bound: relative gap 1.0e-01 at the end"
    assert panels[0].get_title(loc="left") == title
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in panels[2].collections]
    assert tops == [2, 6]  # stacked per kernel
    words = [text.get_text() for text in panels[2].get_legend().get_texts()]
    assert words == ["rbf (4)", "linear (2)"]


def test_bounds_are_drawn_as_far_as_they_are_known() -> None:
    """Without a finite one nothing is shaded, and the title says so; one alone is a dash.

    That is so after a search over prices, whose rounds on the way are of other problems.
    """
    for bound in ([np.nan] * 4, [-np.inf] * 4):
        panel = history_panels(make_model(bound=bound))[0]
        assert len(panel.get_lines()) == 1
        assert not panel.collections
        assert panel.get_title(loc="left") == "Objective, without a bound"
    panel = history_panels(make_model(bound=[np.nan, np.nan, np.nan, 4.75]))[0]
    _, alone = panel.get_lines()
    assert (alone.get_xdata().tolist(), alone.get_ydata().tolist()) == ([6], [4.75])
    assert alone.get_marker() == "_"
    assert not panel.collections


def test_scales_follow_the_span() -> None:
    """Two decades make one logarithmic; a very weak bound does not flatten the objective.

    Each score has a panel, and a scale, of its own; none that is negative is logarithmic.
    """
    assert history_panels(make_model())[0].get_yscale() == "linear"
    wide = make_model(objective=[900.0, 60.0, 6.0, 5.0])
    assert history_panels(wide)[0].get_yscale() == "log"
    weak = history_panels(make_model(bound=[-1e9, 0.0, 4.0, 4.75]))[0]
    assert weak.get_ylim()[0] == 1.0
    for score, scale in (
        ([900.0, 80.0, 7.0, 7.5], "log"),
        ([0.5, 0.4, 0.3, 0.4], "linear"),
        ([-9.0] * 4, "linear"),
    ):
        panels = history_panels(make_model(validation_squared_error=score))
        assert [panel.get_yscale() for panel in panels[1:3]] == ["linear", scale]


def test_best_round_is_ringed() -> None:
    """The ring stands at the lowest validation score, and the legend gives its value.

    A line stands at the round of the model.
    """
    panel = history_panels(make_model())[1]
    chosen, _, ring = panel.get_lines()
    assert chosen.get_xdata() == [6, 6]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (4, 0.125)
    assert [text.get_text() for text in panel.get_legend().get_texts()] == [
        "validation: best 0.125 with 4 columns,\nthe model has 0.2 with 6"
    ]
    model = make_model()
    model.best_round_ = 2
    assert [text.get_text() for text in history_panels(model)[1].get_legend().get_texts()] == [
        "validation: best 0.125 with 4 columns"
    ]


def test_what_is_missing_is_not_drawn() -> None:
    """Scores that are missing or never finite have no panel; without columns there are pictures."""
    model = make_model(validation_error=[np.nan] * 4)
    assert len(history_panels(model)) == 2
    del model.history_["validation_error"]
    assert len(history_panels(model)) == 2
    model = make_model()
    model.history_ = {name: values[:1] for name, values in model.history_.items()}
    model.columns_ = {name: values[:0] for name, values in model.columns_.items()}
    plot_history(model).canvas.draw()
    plot_columns(model).canvas.draw()


def test_columns_are_called_by_kernel_or_kind() -> None:
    """Kernels come in the order of the library, where a model tells it.

    Columns without kernels and classes are of one kind, drawn in one colour, under what they are.
    """
    model = make_model()
    model.columns_per_kernel_ = {"rbf": 4, "unused": 0, "linear": 2}
    labels = [text.get_text() for text in column_panels(model)[1].get_yticklabels()]
    assert labels == ["rbf", "linear"]
    for own, kind in (("estimator", "learner"), ("threshold", "stump"), ("feature", "column")):
        model = make_model()
        del model.columns_["kernel"]
        model.columns_[own] = np.zeros(6)
        assert [text.get_text() for text in column_panels(model)[1].get_yticklabels()] == [kind]
        panel = history_panels(model)[2]
        assert [text.get_text() for text in panel.get_legend().get_texts()] == [f"{kind} (6)"]


def test_one_curve_per_class() -> None:
    """A model of two classes has a curve for each, and its columns are counted class by class."""
    one = make_model()
    model = SimpleNamespace(
        history_={name: np.tile(values, 2) for name, values in one.history_.items()}
        | {"class": np.repeat(["a", "b"], 4)},
        columns_={name: np.tile(values, 2) for name, values in one.columns_.items()}
        | {"class": np.repeat(["a", "b"], 6)},
    )
    curves, scores, bars = history_panels(model)
    assert len(curves.get_lines()) == len(scores.get_lines()) == 2
    assert len({line.get_color() for line in curves.get_lines()}) == 2
    assert scores.get_legend() is None
    assert [bar.get_height() for bar in bars.patches] == [2, 2, 4, 4]
    assert [text.get_text() for text in bars.get_xticklabels()] == ["a", "b"]


def test_coefficients_are_sorted_and_counted() -> None:
    """Every non-zero coefficient is drawn once, by size, in its kernel's colour, and counted."""
    left, right = column_panels(make_model())
    values = [np.nan_to_num(step.get_data().values) for step in left.patches]
    np.testing.assert_array_equal(np.sum(values, axis=0), [2.0, 1.0, 0.75, 0.5, 0.25])
    np.testing.assert_array_equal(values[0] > 0, [False, True, False, True, False])
    assert [bar.get_width() for bar in right.patches] == [2, 3]
    assert right.get_ylim() == (1.5, -0.5)  # no place is left empty
    colours = [to_hex(patch.get_facecolor()).upper() for patch in [*left.patches, *right.patches]]
    assert colours == 2 * list(drawing.PALETTE[:2])


def test_many_classes_and_kernels_are_told_apart() -> None:
    """Twenty-four lines differ in colour or dashes; the seventh kernel by a hatch."""
    styles = {tuple(drawing.thin_line(k).items()) for k in range(24)}
    assert len(styles) == 24
    first, seventh = drawing.area_style(0), drawing.area_style(6)
    assert first["facecolor"] == seventh["facecolor"]
    assert first["hatch"] != seventh["hatch"]


def test_joint_classes_have_one_path_and_their_own_columns() -> None:
    """One run for several classes has a bound to draw; its columns are told apart by class."""
    from cgboost import LPBoostClassifier

    X, y = three_classes(90)
    model = LPBoostClassifier(multi_class="joint").fit(X[:45], y[:45], eval_set=(X[45:], y[45:]))
    objective, _, growth = history_panels(model)
    assert objective.get_title(loc="left").startswith("Objective and bound: relative gap")
    assert growth.get_title(loc="left").endswith("that the model uses, by class")
    counts = [np.count_nonzero(model.columns_["class"] == k) for k in range(3)]
    labels = [text.get_text() for text in growth.get_legend().get_texts()]
    assert labels == [f"{k} ({counts[k]})" for k in (2, 1, 0)]
    sizes, bars = column_panels(model)
    assert [bar.get_width() for bar in bars.patches] == counts
    assert bars.get_title(loc="left") == "Columns per class"
    assert sizes.get_title(loc="left").endswith("coloured by class")


@pytest.mark.parametrize("noncrossing", [False, True])
def test_outputs_of_quantiles_are_called_quantiles(noncrossing: bool) -> None:
    """Pictures, the summary and errors of models of several quantiles speak of no class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + rng.normal(size=60)
    model = MultiQuantileRegressor(alpha=0.02, noncrossing=noncrossing).fit(
        X[:40], y[:40], eval_set=(X[40:], y[40:])
    )
    figures = [plot_history(model), plot_columns(model), plot_stages(model)]
    texts = [word.get_text() for figure in figures for word in figure.findobj(Text)]
    texts.append(repr(model))
    assert any("by quantile" in text for text in texts)
    assert not any("class" in text for text in texts)
    if not noncrossing:
        legends = [figure.axes[0].get_legend() for figure in (figures[0], figures[2])]
        for legend in legends:
            named = [text.get_text() for text in legend.get_texts()]
            assert named == ["quantile 0.1", "quantile 0.5", "quantile 0.9"]
        assert sum(text.endswith("of each quantile") for text in texts) == 2
        with pytest.raises(ValueError, match="run for each quantile: fit a model of one quantile"):
            plot_objectives({"several": model})
    with pytest.raises(ValueError, match="MultiQuantileRegressor has 3 of them"):
        plot_stages(model, {"test": (X, y)})


def test_each_score_has_a_panel_and_each_set_a_colour() -> None:
    """With three sets and three scores no curve lies under a legend, and each best is ringed.

    Names of sets and scores may have the same words. A scorer's best round is that of its greatest
    value, an error's that of its lowest.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.arange(120) % 2
    X[:, 0] += y
    sets = {name: (X[k:], y[k:]) for k, name in enumerate(["a", "a_roc", "b"], start=40)}
    model = CGBoostClassifier(
        RBF(), penalty="l1", C=0.3, scoring=["roc_auc", "balanced_accuracy"], columns_per_round=1
    ).fit(X[:40], y[:40], eval_set=sets)
    figure = plot_history(model)
    figure.canvas.draw()
    panels, history = figure.axes[1:-1], model.history_
    scores = ["roc_auc", "balanced_accuracy", "error"]
    assert [panel.get_ylabel().replace(" ", "_") for panel in panels] == scores
    for panel, score in zip(panels, scores, strict=True):
        colours = [line.get_color() for line in panel.get_lines()[1:]]
        assert colours == [colour for k in range(3) for colour in [drawing.colour(k)] * 2]
        best = np.min if score == "error" else np.max
        words = [text.get_text() for text in panel.get_legend().get_texts()]
        for name, text in zip(sets, words, strict=True):
            assert text.startswith(f"{name}: best {best(history[f'{name}_{score}']):.4g} ")
        assert panel.get_legend().get_window_extent().x0 >= panel.get_window_extent().x1
    assert {f"{name}_{score}" for name in sets for score in scores} <= {
        name.replace(" ", "_") for name in facts_of(model).scores
    }


def test_the_start_of_a_long_curve_leaves_the_panel() -> None:
    """The constant model that a run begins with does not flatten what comes after it."""
    x = np.arange(40)
    error = np.r_[0.5, 0.3, 0.2, 0.15, np.linspace(0.05, 0.03, 36)]
    model = make_model(
        round=x,
        columns=x,
        objective=1.0 - x / 80,
        bound=x / 80,
        gap=x * 0.0,
        validation_error=error,
    )
    assert history_panels(model)[1].get_ylim()[1] < 0.06


@pytest.mark.parametrize("classes", [0, 3])
def test_runs_of_holdouts_are_curves_of_their_own(classes: int) -> None:
    """No curve goes back to the left, as one through all runs would."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    options: dict[str, Any] = {"n_estimators": 3, "n_holdouts": 3}
    model: Any = TransformRegressor(**options)
    if classes:
        y, model = np.digitize(y, [-0.5, 0.5]), TransformClassifier(multi_class="ovr", **options)
    model.fit(X, y, eval_set=(X, y))
    first, scores, *_ = plot_history(model).axes
    assert len(first.lines) == 3 * max(1, classes)
    for line in (*first.lines, *scores.lines):
        assert (np.diff(np.asarray(line.get_xdata(), dtype=float)) >= 0).all()
    labels = [line.get_label() for line in first.lines if not str(line.get_label()).startswith("_")]
    kind = "class" if classes else "holdout"
    assert labels == [f"{kind} {k}" for k in range(3)]
    with pytest.raises(ValueError, match="a run for each class|give one of its holdout_models_"):
        plot_objectives({"mean": model})
