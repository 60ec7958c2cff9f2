"""The table of errors and the loss curve of a boosted classifier."""

from __future__ import annotations

import numpy as np
import pytest

from cgboost import LogitBoostClassifier
from cgboost.stages import error_table, plot_stages
from tests.estimators.data import three_classes, two_classes


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


def test_each_class_has_its_loss() -> None:
    """One against the rest there is a curve a class."""
    X, y = three_classes()
    model = LogitBoostClassifier(n_estimators=5).fit(X, y)
    loss, _ = plot_stages(model, {"train": (X, y)}, (1, 5)).axes
    assert [line.get_label() for line in loss.lines] == ["class 0", "class 1", "class 2"]
    assert all(len(line.get_ydata()) == 6 for line in loss.lines)


def test_bad_arguments() -> None:
    """Sets and rounds are checked by name."""
    X, y = two_classes()
    model = LogitBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="sets must name at least one pair"):
        error_table(model, {})
    with pytest.raises(ValueError, match=r"rounds must be whole numbers ≥ 1, got \[0, 3\]"):
        error_table(model, {"train": (X, y)}, [0, 3])
