"""The table of errors and the loss curve of a boosted classifier."""

import numpy as np
import pytest

from cgboost import (
    ColumnGeneration,
    L2BoostRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    RuleSetClassifier,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.exceptions import TrivialModelWarning
from cgboost.inspection.learning_curves import error_table, plot_history, plot_stages
from cgboost.losses import Hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import FeaturePricer
from tests.estimators.data import curve, three_classes, two_classes


def test_errors_are_those_of_models_with_so_many_rounds() -> None:
    """Every entry is the error of a model that stopped there; rounds beyond the last are absent."""
    X, y = two_classes(120)
    sets = {"train": (X[:60], y[:60]), "test": (X[60:], y[60:])}
    model = LogitBoostClassifier(n_estimators=12).fit(*sets["train"])
    table = error_table(model, sets, (1, 4, 12, 30))
    assert table["round"].tolist() == [1, 4, model.n_iter_]
    for row, rounds in enumerate(table["round"]):
        shorter = LogitBoostClassifier(n_estimators=int(rounds)).fit(*sets["train"])
        for name, (rows, labels) in sets.items():
            assert table[name][row] == pytest.approx(1 - shorter.score(rows, labels))


def test_the_picture_shows_table_and_loss() -> None:
    """Two panels: the objective of every round, and one curve for each set."""
    X, y = two_classes(80)
    model = LogitBoostClassifier(n_estimators=12).fit(X, y)
    sets = {"train": (X, y), "other": (X[::2], y[::2])}
    loss, errors = plot_stages(model, sets, (1, 4, 10)).axes
    np.testing.assert_array_equal(loss.lines[0].get_ydata(), model.history_["objective"])
    table = error_table(model, sets, (1, 4, 10))
    assert [line.get_label() for line in errors.lines] == ["train", "other"]
    for line in errors.lines:
        np.testing.assert_array_equal(line.get_xdata(), table["round"])
        np.testing.assert_array_equal(line.get_ydata(), table[line.get_label()])


def test_errors_of_numbers_are_root_mean_squares() -> None:
    """A regressor's table has the size of its residuals."""
    X, y = curve(60)
    model = L2BoostRegressor(n_estimators=8).fit(X, y)
    table = error_table(model, {"train": (X, y)}, (2, 8))
    predictions = list(model.staged_predict(X))
    wanted = [np.sqrt(np.mean((predictions[k - 1] - y) ** 2)) for k in (2, 8)]
    np.testing.assert_allclose(table["train"], wanted)


def test_rows_that_the_fit_held_out_have_a_curve() -> None:
    """Beside that of the training rows, from 1 on, with a ring at the stage that was chosen."""
    X, y = curve(800)
    model = TransformRegressor(n_estimators=6).fit(X, y)
    [loss] = plot_stages(model).axes
    training, holdout, ring = loss.lines
    for line, name in ((training, "objective"), (holdout, "holdout_loss")):
        values = model.history_[name]
        np.testing.assert_allclose(line.get_ydata(), values / values[0])
    assert ring.get_xdata().tolist() == [model.best_round_]
    _, errors = plot_stages(model, {"train": (X, y)}).axes
    assert errors.lines[0].get_xdata().tolist() == list(range(1, model.n_iter_ + 1))


def test_each_of_several_holdouts_has_a_line() -> None:
    """Each starts at 1, with a ring where its model ends; thick lines are means of the models."""
    X, y = curve(800)
    model = TransformRegressor(n_estimators=6, n_holdouts=3).fit(X, y)
    [loss] = plot_stages(model).axes
    thin = [line for line in loss.lines if line.get_alpha()]
    rings = [line for line in loss.lines if len(line.get_xdata()) == 1]
    means = {line.get_label(): line for line in loss.lines if line not in [*thin, *rings]}
    assert list(means) == ["training, mean of 3", "holdout, mean of 3"]
    assert (len(thin), len(rings)) == (6, 3)
    history, ends = model.history_, []
    for k, own in enumerate(model.holdout_models_):
        mine = history["holdout"] == k
        for line, name in zip(thin[2 * k : 2 * k + 2], ("objective", "holdout_loss"), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), history["round"][mine])
            np.testing.assert_allclose(
                line.get_ydata(), history[name][mine] / history[name][mine][0]
            )
        assert rings[k].get_xdata().tolist() == [own.best_round_]
        ends.append(line.get_ydata()[own.best_round_])
    for line in means.values():
        assert line.get_xdata().tolist() == list(range(model.best_round_ + 1))
        assert line.get_linewidth() > thin[0].get_linewidth()
    assert means["holdout, mean of 3"].get_ydata()[-1] == pytest.approx(np.mean(ends))


def test_the_legend_of_classes_is_beside_their_curves() -> None:
    """One against the rest there are two names a class: they cover no curve."""
    X, y = three_classes(300)
    model = TransformClassifier(n_estimators=3, multi_class="ovr", n_holdouts=2).fit(X, y)
    figure = plot_stages(model)
    figure.draw_without_rendering()
    [loss] = figure.axes
    words = [text.get_text() for text in loss.get_legend().get_texts()]
    assert words[:2] == ["training, class 0, mean of 2", "holdout, class 0, mean of 2"]
    assert len(words) == 6
    legend = loss.get_legend().get_window_extent()
    assert legend.x0 >= loss.get_window_extent().x1
    assert legend.x1 <= figure.bbox.x1


def test_without_holdout_rows_there_is_one_curve() -> None:
    """The loss as it is, where nothing was held out."""
    X, y = curve(200)
    model = TransformRegressor(n_estimators=3, early_stopping=False).fit(X, y)
    [line] = plot_stages(model).axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), model.history_["objective"])


def test_a_result_of_the_loop_is_drawn_as_a_model_is() -> None:
    """With the columns that it uses, each at the round in which it came."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(60, 40))
    y = np.sign(H[:, :3].sum(axis=1))
    master = OneNormMaster(Hinge().on(y, np.ones(60)), offset="free")
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-6, columns_per_round=3).run()
    assert str(result) == result.summary()
    assert len(result.columns_["round"]) == np.count_nonzero(result.coef)
    assert (np.diff(result.columns_["round"]) >= 0).all()
    assert result.columns_["round"][0] == 1
    figure = plot_history(result)
    assert "relative gap" in figure.axes[0].get_title(loc="left")


def test_a_bound_found_after_the_last_round_is_drawn() -> None:
    """That of a rule set within a budget."""
    X, y = two_classes(60)
    model = RuleSetClassifier(4, max_bins=4).fit(X, y)
    title = plot_history(model).axes[0].get_title(loc="left")
    assert f"{model.gap_:.1e}" in title


def test_a_fit_of_one_round_is_drawn() -> None:
    """A model without columns has one tick, at 0, and says that there are none."""
    model = LPBoostClassifier(C=1e-4)
    with pytest.warns(TrivialModelWarning):
        model.fit(*two_classes(60))
    above, below = plot_history(model).axes
    assert above.get_xticks().tolist() == below.get_xticks().tolist() == [0]
    assert [text.get_text() for text in below.texts] == ["no columns"]
