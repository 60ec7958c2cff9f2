"""Boosted linear trees: against boosting by hand, other trees, and what parameters promise."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.metrics import log_loss

from cgboost import (
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    StagewiseRegressor,
)
from cgboost.additive.trees.boosted_tree_growth import TreeGrower
from cgboost.additive.trees.boosted_trees import CodedRows, WorkingResponse
from cgboost.tables.binning import intervals_of
from cgboost.tables.row_blocks import TableRows


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
        grown = grower.grown(WorkingResponse(y - f, ones, ones))
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


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_classes(load) -> None:
    """Errors are few, round after round fewer; every output has a tree in every round."""
    X, y = load(return_X_y=True)
    labels = np.array(["one", "two", "three"])[y]
    model = LinearTreeBoostingClassifier(n_estimators=60).fit(X[::2], labels[::2])
    found = model.predict_proba(X[1::2])
    assert (model.classes_[found.argmax(axis=1)] == model.predict(X[1::2])).all()
    assert model.score(X[1::2], labels[1::2]) > 0.93
    first = next(model.staged_predict_proba(X[1::2]))
    before, after = (log_loss(labels[1::2], p, labels=model.classes_) for p in (first, found))
    assert after < 0.6 * before
    n_outputs = 1 if load is load_breast_cancer else 3
    assert len(model.columns_["tree"]) == n_outputs * model.n_iter_
    trees = model.trees_ if n_outputs == 3 else [model.trees_]
    assert [len(part) for part in trees] == [model.n_iter_] * n_outputs
    assert model.feature_importances_.sum() == pytest.approx(1.0)


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
