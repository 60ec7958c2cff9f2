"""Boosted linear trees: against boosting by hand, other trees, and what parameters promise."""

import pickle
import sqlite3
import warnings
from contextlib import closing
from itertools import combinations, product
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from cgboost import (
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    StagewiseRegressor,
)
from cgboost.additive.trees.boosted_rows import CodedRows, Working
from cgboost.additive.trees.boosted_tree_growth import TreeGrower
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import Huber, Quantile
from cgboost.sources import Partitions, SQLSource
from cgboost.tables.preparation import intervals_of
from cgboost.tables.rows import TableRows
from tests.effort import examples
from tests.estimators.transform.transform_data import blocks, mixed


def friedman(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, and 2000 test rows without noise."""
    X, y = make_friedman1(n_rows, n_features=8, noise=1.0, random_state=seed)
    Z, z = make_friedman1(2000, n_features=8, noise=0.0, random_state=100 + seed)
    return X, y, Z, z


def error(model, data) -> float:
    """Root mean square on the test rows."""
    X, y, Z, z = data
    return float(np.sqrt(np.mean((model.fit(X, y).predict(Z) - z) ** 2)))


def test_less_error_than_other_trees() -> None:
    """On a function with a product and curves, than constant trees and one tree at a time."""
    data = friedman(1000, 0)
    found = error(LinearTreeBoostingRegressor(), data)
    others = [
        HistGradientBoostingRegressor(learning_rate=0.1, max_iter=300, early_stopping=True),
        GradientBoostingRegressor(n_estimators=200),
        StagewiseRegressor(LinearTreeRegressor(max_depth=2), learning_rate=0.3, n_estimators=30),
    ]
    assert found < 0.7
    assert all(found < 0.95 * error(other, data) for other in others)


def test_boosting_by_hand() -> None:
    """The model is f ← f + rate·tree, grown on y − f: without ridge a step of 1 is best."""
    X, y, Z, _ = friedman(400, 1)
    groups = [intervals_of(x, np.ones(400), 16) for x in X.T]
    ones = np.ones(400)
    grower = TreeGrower(
        CodedRows.of(TableRows(X), groups),
        ones,
        max_depth=3,
        min_samples_leaf=15,
        max_regressors=2,
        ridge=0.0,
    )
    f, on_new = np.full(400, y.mean()), np.full(len(Z), y.mean())
    stages = []
    for _ in range(12):
        grown = grower.grown(Working(y - f, ones, ones))
        f = f + 0.3 * grown.tree.predict(X)
        on_new = on_new + 0.3 * grown.tree.predict(Z)
        stages.append(on_new)
    model = LinearTreeBoostingRegressor(
        n_estimators=12,
        learning_rate=0.3,
        max_depth=3,
        min_samples_leaf=15,
        max_regressors=2,
        max_bins=16,
        l2_regularization=0.0,
        early_stopping=False,
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), f, atol=1e-8)
    np.testing.assert_allclose(list(model.staged_predict(Z)), stages, atol=1e-8)
    np.testing.assert_allclose(model.column_weights_, 0.3, atol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
def test_the_loss_falls_in_every_round(loss: str) -> None:
    """On the training rows."""
    X, y, _, _ = friedman(400, 2)
    target = np.round(y.clip(0)) if loss == "poisson" else y
    model = LinearTreeBoostingRegressor(loss=loss, n_estimators=30, early_stopping=False)
    losses = model.fit(X, target).history_["objective"]
    assert len(losses) == 31
    assert (np.diff(losses) < 0).all()
    if loss == "poisson":
        assert (model.predict(X) > 0).all()


def test_quantiles_have_their_share_below() -> None:
    """Of new rows; and the median lies between."""
    X, y = make_friedman1(4000, n_features=5, noise=1.0, random_state=0)
    Z, z = make_friedman1(4000, n_features=5, noise=1.0, random_state=1)
    shares = [
        np.mean(z <= LinearTreeBoostingRegressor(loss=Quantile(q)).fit(X, y).predict(Z))
        for q in (0.1, 0.5, 0.9)
    ]
    np.testing.assert_allclose(shares, [0.1, 0.5, 0.9], atol=0.08)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_classes(load) -> None:
    """Probabilities add up to 1 and follow the outputs; errors are few, round after round fewer."""
    X, y = load(return_X_y=True)
    labels = np.array(["one", "two", "three"])[y]
    model = LinearTreeBoostingClassifier(n_estimators=60).fit(X[::2], labels[::2])
    found = model.predict_proba(X[1::2])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (model.classes_[found.argmax(axis=1)] == model.predict(X[1::2])).all()
    assert model.score(X[1::2], labels[1::2]) > 0.93
    stages = list(model.staged_predict_proba(X[1::2]))
    assert len(stages) == model.n_iter_
    first, last = (
        log_loss(labels[1::2], part, labels=model.classes_) for part in (stages[0], found)
    )
    assert last < 0.6 * first
    np.testing.assert_allclose(stages[-1], found, atol=1e-12)
    n_outputs = 1 if load is load_breast_cancer else 3
    assert len(model.columns_["tree"]) == n_outputs * model.n_iter_
    trees = model.trees_ if n_outputs == 3 else [model.trees_]
    assert [len(part) for part in trees] == [model.n_iter_] * n_outputs
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_classes_that_are_told_apart_without_error() -> None:
    """Outputs grow by 2 at most in a round, and stay finite."""
    x = np.linspace(-1, 1, 200)[:, None]
    model = LinearTreeBoostingClassifier(n_estimators=30, early_stopping=False)
    model.fit(x, x[:, 0] > 0)
    stages = np.array([0 * x[:, 0], *model.staged_decision_function(x)])
    assert model.score(x, x[:, 0] > 0) == 1.0
    assert np.abs(np.diff(stages, axis=0)).max() < 2.0 + 1e-9


def test_rows_held_out_decide_how_many_trees() -> None:
    """The round with the least loss on them is the model; without them all trees are kept."""
    X, y = load_diabetes(return_X_y=True)
    model = LinearTreeBoostingRegressor(n_iter_no_change=5).fit(X, y)
    losses = model.history_["holdout_loss"]
    assert model.n_iter_ == model.best_round_ == losses.argmin()
    assert len(losses) == model.n_iter_ + 6
    assert model.stop_reason_ == "early_stopping"
    every = LinearTreeBoostingRegressor(n_estimators=40, early_stopping=False).fit(X, y)
    assert every.n_iter_ == len(every.trees_) == 40
    assert not every.history_["holdout_loss"].any()


def test_rows_of_an_eval_set_are_scored() -> None:
    """After every round, in the units of the target; they do not end the fit."""
    X, y, Z, z = friedman(300, 3)
    counts, new = np.round(y.clip(0)), np.round(z.clip(0))
    model = LinearTreeBoostingRegressor(loss="poisson", n_estimators=10, early_stopping=False)
    model.fit(X, counts, eval_set=(Z, new))
    errors = [np.mean(np.abs(f - new)) for f in model.staged_predict(Z)]
    np.testing.assert_allclose(model.history_["validation_mae"][1:], errors)


def test_frames_sources_and_copies() -> None:
    """Categories and gaps, from a frame or blocks, give one model; a pickled copy is the same."""
    X, y, weights = mixed(0)
    model = LinearTreeBoostingRegressor(n_estimators=25)
    wanted = clone(model).fit(X, y, weights)
    found = clone(model).set_params(n_jobs=2).fit(blocks(X, y, weights, 5, 0))
    np.testing.assert_allclose(found.predict(X), wanted.predict(X), atol=1e-8)
    copy = pickle.loads(pickle.dumps(wanted))
    np.testing.assert_array_equal(copy.predict(X), wanted.predict(X))
    assert wanted.feature_names_in_.tolist() == list(X.columns)
    assert wanted.score(X, y) > 0.9
    new = X.assign(group="new", few=np.nan)
    assert np.isfinite(wanted.predict(new)).all()


def test_text_and_report() -> None:
    """Every tree with its coefficient, splits and formulas by the names of the features."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(0, 1, 500), "kind": rng.choice(["a", "b"], 500)})
    y = X["size"] * np.where(X["kind"] == "a", 1.0, -1.0)
    model = LinearTreeBoostingRegressor(n_estimators=3, early_stopping=False, max_depth=1)
    words = model.fit(X, y).text()
    assert words.count("times 0.1") == 3
    for part in ("tree_2, times", "kind in {a}", "·size", "rows]"):
        assert part in words, words
    assert "LinearTreeBoostingRegressor" in model._repr_html_()
    classes = LinearTreeBoostingClassifier(n_estimators=2).fit(X, np.digitize(y, [-0.3, 0.3]))
    assert classes.text(output=2) != classes.text(output=1)


def test_every_parameter_changes_something() -> None:
    """The model is another one."""
    X, y, _, _ = friedman(500, 4)
    X[:, 7] = np.round(3 * X[:, 7])
    y = y + np.array([0.0, 9.0, 2.0, 7.0])[X[:, 7].astype(int)]
    fixed = {"n_estimators": 12, "random_state": 0}
    plain = LinearTreeBoostingRegressor(**fixed).fit(X, y).predict(X)
    for parameters in (
        {"loss": Huber(0.5)},
        {"n_estimators": 11},
        {"learning_rate": 0.2},
        {"max_depth": 1},
        {"min_samples_leaf": 60},
        {"max_bins": 4},
        {"max_regressors": 1},
        {"l2_regularization": 0.0},
        {"categorical_features": [7]},
        {"interaction_cst": "no_interactions"},
        {"early_stopping": False},
        {"validation_fraction": 0.3},
        {"random_state": 1},
    ):
        model = LinearTreeBoostingRegressor(**(fixed | parameters)).fit(X, y)
        assert np.max(np.abs(model.predict(X) - plain)) > 1e-6, parameters
    short = LinearTreeBoostingRegressor(n_iter_no_change=1, random_state=0).fit(X, y)
    assert short.n_iter_ < LinearTreeBoostingRegressor(random_state=0).fit(X, y).n_iter_


SETS: dict[str, tuple[Any, set[tuple[int, int]]]] = {
    "none": ("no_interactions", set()),
    "pairs": ("pairwise", set(combinations(range(4), 2))),
    "sets": ([{0, 1}, [1, "c"]], {(0, 1), (1, 2)}),
    "rest": ([[0]], {(1, 2), (1, 3), (2, 3)}),
    "all": (None, set(combinations(range(4), 2))),
}


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=examples(5), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_features_that_must_not_meet_add_up(name: str, seed: int) -> None:
    """Of two such features f(a, b) − f(a′, b) − f(a, b′) + f(a′, b′) = 0."""
    sets, may_meet = SETS[name]
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-1, 1, size=(400, 4)), 1)
    X[:, 3] = rng.integers(0, 4, 400)
    y = 5 * np.prod(X[:, :3], axis=1) + X[:, 0] * X[:, 1] + X[:, 1] * X[:, 3] + (X[:, 3] == 2)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = LinearTreeBoostingRegressor(
        n_estimators=30,
        max_depth=3,
        learning_rate=0.5,
        interaction_cst=sets,
        categorical_features=["d"],
        early_stopping=False,
    ).fit(X, y)
    here, there = X.iloc[:100].reset_index(drop=True), X.iloc[100:200].reset_index(drop=True)
    met = set()
    for j, k in combinations(range(4), 2):
        parts = []
        for first, second in product([here, there], repeat=2):
            parts.append(here.copy())
            parts[-1].iloc[:, j], parts[-1].iloc[:, k] = first.iloc[:, j], second.iloc[:, k]
        signs = [1.0, -1.0, -1.0, 1.0]
        mixed = sum(sign * model.predict(part) for sign, part in zip(signs, parts, strict=True))
        if np.abs(mixed).max() > 1e-9:
            met.add((j, k))
    assert met <= may_meet
    assert met or not may_meet


@pytest.mark.parametrize(
    ("sets", "words"),
    [("some", "interaction_cst must be None, 'pairwise'"), ([[0, 9]], "names the feature 9;")],
)
def test_bad_interactions(sets: Any, words: str) -> None:
    """The message has the value, or the features that there are not."""
    with pytest.raises(ValueError, match=words):
        LinearTreeBoostingRegressor(interaction_cst=sets).fit(*friedman(40, 0)[:2])


@pytest.mark.parametrize("kind", [SQLSource, Partitions])
def test_rows_elsewhere_are_refused_by_name(kind: type) -> None:
    """With y or without, to fit or to predict: the message says what they can be given to."""
    X, y, _, _ = friedman(40, 0)
    with closing(sqlite3.connect(":memory:")) as connection:
        made = SQLSource(connection, "t", target="y") if kind is SQLSource else Partitions([(X, y)])
        for model in (LinearTreeBoostingRegressor(), LinearTreeBoostingClassifier()):
            for given in ((made,), (made, y)):
                with pytest.raises(
                    ValueError,
                    match=f"{type(model).__name__} cannot be fitted to a {kind.__name__}, only Tra",
                ):
                    model.fit(*given)
        model = LinearTreeBoostingRegressor(n_estimators=2).fit(X, y)
        with pytest.raises(ValueError, match=f"X must be one table here.* {kind.__name__}"):
            model.predict(made)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"learning_rate": 2.5}, "learning_rate must be a finite number > 0 and < 2, got 2.5"),
        ({"learning_rate": 0}, "learning_rate must be a finite number > 0 and < 2, got 0"),
        ({"max_depth": 0}, "max_depth must be a whole number ≥ 1, got 0"),
        ({"max_regressors": 0}, "max_regressors must be a whole number ≥ 1, got 0"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number ≥ 1, got 0"),
        ({"l2_regularization": -1.0}, "l2_regularization must be a finite number ≥ 0, got -1.0"),
        ({"loss": "square"}, "loss must be one of"),
    ],
)
def test_bad_parameters(parameters: dict, words: str) -> None:
    """The message names the parameter and its value."""
    with pytest.raises(ValueError, match=words):
        LinearTreeBoostingRegressor(**parameters).fit(*friedman(30, 0)[:2])
    with pytest.raises(UnsupportedLossError, match="use a classifier"):
        LinearTreeBoostingRegressor(loss="log_loss").fit(*friedman(30, 0)[:2])


@pytest.mark.parametrize("n_rows", [2, 3, 5, 25])
def test_small_data(n_rows: int) -> None:
    """Too few rows for a split leave a line, or a constant; a constant target the constant."""
    X, y, _, _ = friedman(n_rows, 5)
    for seed in range(4):
        model = LinearTreeBoostingRegressor(random_state=seed).fit(X, y)
        assert np.isfinite(model.predict(X)).all()
        assert np.ptp(model.predict(X)) <= 1.5 * np.ptp(y)
        flat = LinearTreeBoostingRegressor(random_state=seed).fit(X, np.full(n_rows, 3.0))
        np.testing.assert_allclose(flat.predict(X), 3.0)
        assert flat.stop_reason_ == "no_column"


def test_a_time_limit_ends_the_fit_and_nothing_else_warns() -> None:
    """With a model of the trees so far."""
    X, y, _, _ = friedman(200, 6)
    with pytest.warns(ConvergenceWarning, match="stopped before n_estimators"):
        LinearTreeBoostingRegressor(time_limit=1e-9, n_estimators=10).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearTreeBoostingRegressor(n_estimators=10).fit(X, y)
        LinearTreeBoostingClassifier(n_estimators=10).fit(X, y > y.mean())


@pytest.mark.parametrize("share", [0.7, 0.55, 0.25])
@pytest.mark.parametrize(
    "kind", [LinearTreeBoostingClassifier, LinearTreeBoostingRegressor, LinearTreeRegressor]
)
def test_unknown_categories_are_predicted_as_rows_in_general(kind, share):
    """The classes of the known ones are separated: going with the largest of them is certainty."""
    rng = np.random.default_rng(0)
    words = rng.choice(list("abcd"), p=[share, *3 * [(1 - share) / 3]], size=400)
    X = pd.DataFrame({"g": words, "x": rng.normal(size=400)})
    y = (words != "a").astype(int)
    model = kind(random_state=0).fit(X, y)
    new = pd.DataFrame({"g": ["z", None] * 10, "x": rng.normal(size=20), "id": np.arange(20)})
    rows = new[["g", "x"]]
    predicted = (
        model.predict_proba(rows)[:, 1] if hasattr(model, "classes_") else model.predict(rows)
    )
    np.testing.assert_allclose(predicted, y.mean(), atol=0.05)
    if hasattr(model, "to_sql"):
        query = model.to_sql("new", keep="id")
        if hasattr(model, "classes_"):
            query = model.to_sql("new", keep="id", label=1)
        found = duckdb.sql(f"SELECT prediction FROM ({query}) ORDER BY id").fetchall()
        np.testing.assert_allclose(np.ravel(found), predicted, atol=1e-12)
    else:
        assert "other categories: " in model.tree_.text(model._schema)
