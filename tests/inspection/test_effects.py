"""Effects of single features, with the spread of models of several holdouts."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cgboost import (
    CGBoostClassifier,
    LinearTreeBoostingRegressor,
    LPBoostClassifier,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.inspection.effects import effects, plot_effects


@cache
def data() -> tuple[pd.DataFrame, np.ndarray]:
    """A number, categories, a number with gaps, noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.uniform(18, 80, 800),
            "shop": rng.choice(["north", "south", "east"], 800),
            "price": rng.exponential(size=800),
            "noise": rng.normal(size=800),
        }
    )
    y = np.sin(X["age"] / 10) + 2.0 * (X["shop"] == "east") + 0.1 * rng.normal(size=800)
    X.loc[::7, "price"] = np.nan
    return X, (y + X["price"].fillna(3.0)).to_numpy()


@cache
def model() -> TransformRegressor:
    """Of three holdouts."""
    return TransformRegressor(n_holdouts=3).fit(*data())


def test_an_effect_is_the_mean_prediction_at_a_value() -> None:
    """Over the rows, of every model; their mean is that of the average, their spread the band."""
    X, _ = data()
    for effect in effects(model(), X, ["age", "shop", "price"]):
        for k in (0, len(effect.values) - 1):
            there = X.assign(**{effect.feature: effect.values[k]})
            means = [own.predict(there).mean() for own in model().holdout_models_]
            assert effect.mean[k] == pytest.approx(np.mean(means))
            assert effect.mean[k] == pytest.approx(model().predict(there).mean())
            assert effect.std[k] == pytest.approx(np.std(means), abs=1e-12)


def test_the_most_important_come_first() -> None:
    """Those that are used."""
    X, _ = data()
    shares = model().feature_importances_
    found = effects(model(), X, top=2)
    assert [effect.feature for effect in found] == [X.columns[j] for j in np.argsort(-shares)[:2]]
    assert [effect.feature for effect in effects(model(), X, [1])] == ["shop"]


@pytest.mark.parametrize("names", [["low", "high"], ["low", "mid", "high"], [1, 2, 5]], ids=str)
def test_the_class_can_be_chosen_and_is_named(names: list[Any]) -> None:
    """By its label or place, of two classes either; the axis of the values says which it is."""
    X, y = data()
    bounds = np.quantile(y, np.arange(1, len(names)) / len(names))
    classifier = TransformClassifier(n_estimators=2).fit(X, np.array(names)[np.digitize(y, bounds)])
    there, labels = X.assign(shop="east"), classifier.classes_
    shares = classifier.predict_proba(there).mean(axis=0)
    for place, label in enumerate(labels):
        (effect,) = effects(classifier, X, ["shop"], output=label)
        assert (effect.label, effect.mean[0]) == (label, pytest.approx(shares[place]))
        figure = plot_effects(classifier, X, ["age", "shop"], output=label)
        line, bars = figure.axes
        assert line.get_ylabel() == bars.get_xlabel() == f"probability of class {label}"
    assert effects(classifier, X, ["shop"], output=0)[0].label == labels[0]
    assert effects(classifier, X, ["shop"])[0].label == labels[-1]


def test_a_classifier_without_probabilities_has_scores() -> None:
    """Outputs of the class; that of the first of two is minus that of the second."""
    X, y = data()
    array = X[["age", "noise"]].to_numpy()
    columns = CGBoostClassifier(library="linear").fit(array, y > np.median(y))
    columns.feature_importances_ = np.ones(2)
    for label, sign in ((True, 1.0), (False, -1.0)):
        (effect,) = effects(columns, array, [0], output=label)
        there = np.column_stack([np.full(len(array), effect.values[5]), array[:, 1]])
        assert effect.mean[5] == pytest.approx(sign * columns.decision_function(there).mean())
        (axis,) = plot_effects(columns, array, [0], output=label).axes
        assert axis.get_ylabel() == f"score of class {label}"


def test_other_models_have_effects_without_a_band() -> None:
    """What they need is importances."""
    X, y = data()
    trees = LinearTreeBoostingRegressor(n_estimators=20).fit(X, y)
    (effect,) = effects(trees, X, ["shop"])
    assert effect.mean[0] == pytest.approx(trees.predict(X.assign(shop="east")).mean())
    assert not effect.std.any()


def test_lines_and_bars_have_bands() -> None:
    """A panel for each feature, named after it."""
    X, _ = data()
    figure = plot_effects(model(), X, ["age", "shop"])
    line, bars = figure.axes
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["age", "shop"]
    (band,) = line.collections
    age = effects(model(), X, ["age"])[0]
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.max() == pytest.approx((age.mean + age.std).max())
    assert [text.get_text() for text in bars.get_yticklabels()] == ["east", "north", "south"]
    assert (line.get_ylabel(), bars.get_xlabel()) == ("", "")


@pytest.mark.parametrize("kind", ["frame", "nullable", "array"])
def test_whole_numbers_have_effects_between_them(kind: str) -> None:
    """As the same numbers in floating point, at quantiles that are no whole numbers."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, size=(80, 2))
    y = counts[:, 0] - 0.3 * counts[:, 1] > 2
    frame = pd.DataFrame(counts, columns=["late", "visits"])
    rows: Any = {"frame": frame, "nullable": frame.astype("Int64"), "array": counts}[kind]
    floats: Any = counts.astype(float) if kind == "array" else frame.astype(float)
    fitted = LPBoostClassifier().fit(floats, y)
    for found, same in zip(effects(fitted, rows), effects(fitted, floats), strict=True):
        np.testing.assert_array_equal(found.values, same.values)
        np.testing.assert_allclose(found.mean, same.mean)
