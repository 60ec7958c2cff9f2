"""Transform regression of several classes, jointly and one against the rest."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from cgboost import TransformClassifier
from cgboost.additive.stage import Stages
from cgboost.estimators.transform.variants import LARGEST_STEP, VARIANTS
from cgboost.sources import Partitions
from tests.estimators.transform.transform_data import blocks


def drawn(seed: int = 0, n_rows: int = 1500) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A number, one that takes part in it, a category, gaps; labels of four classes; weights."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.uniform(-1.2, 1.2, n_rows), "z": rng.uniform(-1, 1, n_rows)})
    X["group"] = rng.choice(["p", "q", "r"], n_rows)
    a, b = X["x"].to_numpy(), X["z"].to_numpy()
    f = np.column_stack([a, 2 * a * b, b - (X["group"] == "p"), np.full(n_rows, -0.5)])
    p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    y = (rng.uniform(size=n_rows)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    X.loc[::17, "x"] = np.nan
    return X, np.array(["d", "a", "c", "b"])[y], rng.integers(1, 4, n_rows).astype(float)


def training_loss(model: TransformClassifier, X: Any, y: np.ndarray) -> float:
    """Sum over all rows, which are those of a fit without a holdout."""
    places = np.searchsorted(model.classes_, y)
    return -float(np.log(model.predict_proba(X)[np.arange(len(y)), places]).sum())


def values_of(model: TransformClassifier, X: pd.DataFrame) -> list[np.ndarray]:
    """Outputs of the stages of each class, (n_rows, n_stages)."""
    rows, found = model._rows(X), []
    for own, stages in zip(model._runs[0].outputs, model.stages_, strict=True):
        found.append(Stages(list(stages)).all_outputs(rows, len(own.coef)))
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_classes_are_one_model_either_way(variant: str) -> None:
    """Bit by bit, in all that the models say."""
    X, y, weights = drawn()
    y = np.where(y == "a", "yes", "no")
    models = [
        TransformClassifier(variant=variant, multi_class=way, n_estimators=3).fit(X, y, weights)
        for way in ("joint", "ovr")
    ]
    one, other = models
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.text() == other.text()
    assert one.to_sql("t") == other.to_sql("t")


def test_one_against_the_rest_is_a_model_of_two_classes_each() -> None:
    """The outputs are those of the models, which need not end together."""
    X, y, _ = drawn()
    how = {"n_estimators": 3, "early_stopping": False}
    model = TransformClassifier(multi_class="ovr", **how).fit(X, y)
    for k, label in enumerate(model.classes_):
        own = TransformClassifier(**how).fit(X, y == label).decision_function(X)
        np.testing.assert_allclose(model.decision_function(X)[:, k], own, atol=1e-10)
    joint = clone(model).set_params(multi_class="joint").fit(X, y)
    assert joint.best_round_ == joint.n_iter_
    assert isinstance(joint.stop_reason_, str)
    assert np.abs(joint.predict_proba(X) - model.predict_proba(X)).max() > 1e-3
    with pytest.raises(ValueError, match="multi_class must be one of.*'joint'.*'ovr'.*got 'all'"):
        clone(model).set_params(multi_class="all").fit(X, y)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_objective_is_the_joint_loss_and_means_are_shares(variant: str) -> None:
    """Without a holdout it is the log loss of the rows; gradients by the constants are 0."""
    X, y, _ = drawn()
    model = TransformClassifier(variant=variant, early_stopping=False, n_estimators=3).fit(X, y)
    assert model.objective_ == pytest.approx(training_loss(model, X, y), rel=1e-9)
    assert (np.diff(model.history_["objective"]) < 0).all()
    shares = [np.mean(y == label) for label in model.classes_]
    np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), shares, atol=1e-7)
    assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-9)


def test_steps_of_a_round_are_the_best_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """An independent minimisation over all steps and constants of the first round ends there."""
    monkeypatch.setattr("cgboost.estimators.transform.variants.LARGEST_STEP", np.inf)
    X, y, weights = drawn()
    model = TransformClassifier(early_stopping=False, n_estimators=1).fit(X, y, weights)
    h = np.column_stack([own[:, 0] for own in values_of(model, X)])
    Y = (y[:, None] == model.classes_).astype(float)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        f = point[:4] + point[4:] * h
        p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
        left = weights[:, None] * (p - Y)
        gradient = np.concatenate([left.sum(axis=0), (left * h).sum(axis=0)])
        return -float(weights @ np.log((p * Y).sum(axis=1))), gradient

    best = minimize(loss, np.zeros(8), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert model.objective_ == pytest.approx(best.fun, rel=1e-10)
    steps = np.array([own.coef[0] for own in model._runs[0].outputs])
    np.testing.assert_allclose(steps, best.x[4:], rtol=1e-4)
    f = best.x[:4] + best.x[4:] * h
    change = f - model.decision_function(X)
    np.testing.assert_allclose(change, np.tile(change[:, :1], 4), atol=1e-4)


@pytest.mark.parametrize("variant", ["orthogonal", "orthogonal_feed_forward"])
def test_all_coefficients_anew_are_the_best_together(variant: str) -> None:
    """The gradient of the joint loss by every coefficient and constant is 0."""
    X, y, _ = drawn(n_rows=6000)
    model = TransformClassifier(variant=variant, early_stopping=False, n_estimators=3).fit(X, y)
    left = model.predict_proba(X) - (y[:, None] == model.classes_)
    sizes = np.abs(left).sum(axis=0)
    for k, own in enumerate(values_of(model, X)):
        slopes = own.T @ left[:, k]
        assert (np.abs(slopes) <= 1e-6 * sizes[k] * np.abs(own).max(axis=0)).all()


def test_no_step_changes_a_score_by_too_much() -> None:
    """Classes that one feature tells apart: scores of a round within twice the bound."""
    x = np.repeat(np.arange(3.0), 100)
    model = TransformClassifier(early_stopping=False, n_estimators=4, tol=0.0)
    model.fit(x[:, None], x.astype(int))
    stages = [np.zeros((300, 3)), *model.staged_decision_function(x[:, None])]
    for before, after in itertools.pairwise(stages):
        change = after - before
        assert np.ptp(change, axis=1).max() <= 2.0 * LARGEST_STEP * (1 + 1e-9)
    assert len(stages) > 3
    losses = [
        -np.log(p[np.arange(300), x.astype(int)]).sum()
        for p in model.staged_predict_proba(x[:, None])
    ]
    assert (np.diff(losses) < 0).all()


def test_neither_the_order_of_rows_nor_that_of_classes_matters() -> None:
    """Blocks of permuted rows, and labels whose order is another: the same probabilities."""
    X, y, weights = drawn()
    model = TransformClassifier(n_estimators=4)
    wanted = clone(model).fit(X, y, weights).predict_proba(X)
    found = clone(model).fit(blocks(X, y, weights, 5, 0))
    np.testing.assert_allclose(found.predict_proba(X), wanted, rtol=0, atol=1e-9)
    model.set_params(early_stopping=False)
    wanted = clone(model).fit(X, y, weights).predict_proba(X)
    other = np.array(["q", "z", "m", "a"])[np.searchsorted(["a", "b", "c", "d"], y)]
    found = clone(model).fit(X, other, weights).predict_proba(X)
    np.testing.assert_allclose(found[:, [2, 3, 1, 0]], wanted, rtol=0, atol=1e-8)


def test_the_order_of_the_labels_is_part_of_what_is_held_out() -> None:
    """Other labels in the same order: the same model; in another order: another holdout."""
    X, y, weights = drawn()
    places = np.searchsorted(["a", "b", "c", "d"], y)
    model = TransformClassifier(n_estimators=4)
    wanted = clone(model).fit(X, y, weights).predict_proba(X)
    same = clone(model).fit(X, np.array([10, 20, 30, 40])[places], weights)
    np.testing.assert_array_equal(same.predict_proba(X), wanted)
    other = clone(model).fit(X, np.array(["q", "z", "m", "a"])[places], weights)
    assert np.abs(other.predict_proba(X)[:, [2, 3, 1, 0]] - wanted).max() > 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_views_of_the_model_agree(variant: str) -> None:
    """Stages, pickles and a query for each class, which has the shares of ``predict_proba``."""
    X, y, _ = drawn()
    model = TransformClassifier(variant=variant, n_estimators=4).fit(X, y)
    wanted = model.predict_proba(X)
    np.testing.assert_allclose(wanted.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[wanted.argmax(axis=1)])
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, wanted, atol=1e-12)
    *_, scores = model.staged_decision_function(X)
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-12)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(X), wanted)
    connection = duckdb.connect()
    connection.register("people", X.assign(row=np.arange(len(X))))
    for k, label in enumerate(model.classes_):
        query = model.to_sql("people", label=label, output="chance", keep="row")
        answer = connection.sql(query).df().sort_values("row")["chance"]
        np.testing.assert_allclose(answer, wanted[:, k], atol=1e-9)
    for k in range(4):
        assert f"{model.intercept_[k]:.6g}" in model.text(output=k).split("\n")[0]
        graph = model.stage_graph(output=k)
        assert graph.number_of_nodes() >= len(model.stages_[k])


def test_holdouts_are_averaged() -> None:
    """Scores are the mean of those of the models, in words, SQL and pickles too."""
    X, y, _ = drawn()
    model = TransformClassifier(n_holdouts=3, n_estimators=3).fit(X, y)
    mean = np.mean([own.decision_function(X) for own in model.holdout_models_], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean, atol=1e-10)
    assert set(model.history_["holdout"]) == {0, 1, 2}
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, model.predict_proba(X), atol=1e-10)
    connection = duckdb.connect()
    connection.register("people", X.assign(row=np.arange(len(X))))
    answer = connection.sql(model.to_sql("people", label="c", keep="row")).df().sort_values("row")
    np.testing.assert_allclose(answer["prediction"], model.predict_proba(X)[:, 2], atol=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_features_of_no_common_set_do_not_meet() -> None:
    """What x adds to every score is the same at every z; with all in one set it is not."""
    X, y, _ = drawn()
    there = (X["group"] == "q").to_numpy()
    widest = []
    for sets in ([("x", "group"), ("z",)], None):
        model = TransformClassifier(interaction_cst=sets, n_estimators=4).fit(X, y)
        f = [model.decision_function(X.assign(x=value))[there] for value in (-1.0, 1.0)]
        widest.append(np.ptp(f[1] - f[0], axis=0).max())
    assert widest[0] < 1e-9
    assert widest[1] > 0.1


def test_rows_to_watch_are_scored_by_the_joint_model() -> None:
    """The error of a round is that of its labels."""
    X, y, _ = drawn()
    model = TransformClassifier(n_estimators=3).fit(
        X[:1000], y[:1000], eval_set=(X[1000:], y[1000:])
    )
    errors = [np.mean(labels != y[1000:]) for labels in model.staged_predict(X[1000:])]
    found = model.history_["validation_error"][1 : 1 + len(errors)]
    np.testing.assert_allclose(found, errors, atol=1e-12)


@pytest.mark.parametrize("way", ["joint", "ovr"])
def test_scorers_of_probabilities_see_those_of_the_round(way: str) -> None:
    """They equal the staged ones, in a refit too; the log loss is there without a scorer."""
    X, y, _ = drawn(n_rows=900)
    model = TransformClassifier(
        n_estimators=3, multi_class=way, scoring=["neg_log_loss", "roc_auc_ovr"]
    )
    held = X[600:], y[600:]
    for _ in range(2):
        model.fit(X[:600], y[:600], eval_set=held)
        history = model.history_
        np.testing.assert_allclose(
            history["validation_log_loss"], -history["validation_neg_log_loss"], rtol=1e-9
        )
    if way == "joint":
        stages = list(model.staged_predict_proba(X[600:]))
        rounds = slice(1, 1 + len(stages))
        found = history["validation_log_loss"][rounds], history["validation_roc_auc_ovr"][rounds]
        wanted = [log_loss(y[600:], p) for p in stages]
        ranked = [roc_auc_score(y[600:], p, multi_class="ovr") for p in stages]
        np.testing.assert_allclose(found, [wanted, ranked], rtol=1e-9)
    two = clone(model).fit(X[:600], y[:600] == "a", eval_set=(X[600:], y[600:] == "a"))
    wanted = log_loss(y[600:] == "a", two.predict_proba(X[600:]))
    assert two.history_["validation_log_loss"][two.best_round_] == pytest.approx(wanted, rel=1e-9)


def test_a_class_without_a_stage_keeps_its_constant() -> None:
    """Two classes that a feature tells apart, and one that it does not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    y = np.where(rng.uniform(size=4000) < 0.3, 2, (x + 0.5 * rng.normal(size=4000) > 0).astype(int))
    model = TransformClassifier(variant="gradient", n_estimators=1).fit(x[:, None], y)
    assert [len(stages) > 0 for stages in model.stages_] == [True, True, False]
    assert np.ptp(model.decision_function(x[:, None]), axis=0)[2] == 0.0
    shares = np.array([np.mean(y == k) for k in range(3)])
    assert log_loss(y, model.predict_proba(x[:, None])) < log_loss(y, np.tile(shares, (4000, 1)))


@pytest.mark.parametrize("variant", VARIANTS)
def test_partitions_have_the_model_of_one_table(variant: str) -> None:
    """Four classes, some of which are in one partition alone, on an executor."""
    X, y, weights = drawn()
    model = TransformClassifier(variant=variant, n_estimators=3)
    wanted = clone(model).fit(X, y, weights).decision_function(X)
    order = np.argsort(y, kind="stable")
    parts = [
        (X.iloc[rows], y[rows], weights[rows]) for rows in (order[:250], order[250:], order[:0])
    ]
    with ThreadPoolExecutor(2) as executor:
        found = clone(model).set_params(executor=executor).fit(Partitions(parts))
    np.testing.assert_allclose(found.decision_function(X), wanted, rtol=1e-8, atol=1e-8)


def test_a_fitted_model_keeps_its_way_whatever_the_parameter_is_set_to_later() -> None:
    """``set_params(multi_class=…)`` after a fit changes nothing before the next fit."""
    X, y, _ = drawn(n_rows=600)
    model = TransformClassifier(n_estimators=3).fit(X, y)
    shares = model.predict_proba(X)
    model.set_params(multi_class="ovr")
    np.testing.assert_array_equal(model.predict_proba(X), shares)
    assert np.abs(model.fit(X, y).predict_proba(X) - shares).max() > 1e-3


@pytest.mark.parametrize("executor", [False, True], ids=["here", "executor"])
def test_a_refit_that_fails_leaves_the_old_model(executor: bool) -> None:
    """Parameters are right and classes learned, and then a callback raises an error."""

    def fail(turn: Any) -> None:
        raise RuntimeError("no further")

    X, y, _ = drawn(n_rows=600)
    model = TransformClassifier(n_estimators=3).fit(X, y)
    shares, fitted = model.predict_proba(X), dict(vars(model))
    other = np.where(y == "a", "e", y)
    with ThreadPoolExecutor(1) as pool:
        model.set_params(multi_class="ovr", callbacks=[fail], executor=pool if executor else None)
        with pytest.raises(RuntimeError, match="no further"):
            model.fit(X, other)
    np.testing.assert_array_equal(model.predict_proba(X), shares)
    assert {name for name, value in vars(model).items() if value is not fitted[name]} <= {
        "multi_class",
        "callbacks",
        "executor",
    }
