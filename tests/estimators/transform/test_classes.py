"""Transform regression of several classes, jointly and one against the rest."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from cgboost import TransformClassifier
from cgboost.additive.stage import Stages


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


def values_of(model: TransformClassifier, X: pd.DataFrame) -> list[np.ndarray]:
    """Outputs of the stages of each class, (n_rows, n_stages)."""
    rows, found = model._rows(X), []
    for own, stages in zip(model._runs[0].outputs, model.stages_, strict=True):
        found.append(Stages(list(stages)).all_outputs(rows, len(own.coef)))
    return found


@pytest.mark.parametrize("variant", ["orthogonal", "transform"])
def test_two_classes_are_one_model_either_way(variant: str) -> None:
    """Bit by bit, in all that the models say."""
    X, y, weights = drawn()
    y = np.where(y == "a", "yes", "no")
    one, other = (
        TransformClassifier(variant=variant, multi_class=way, n_estimators=3).fit(X, y, weights)
        for way in ("joint", "ovr")
    )
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert (one.text(), one.to_sql("t")) == (other.text(), other.to_sql("t"))


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


def test_steps_of_a_round_are_the_best_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """An independent minimisation over all steps and constants of the first round ends there."""
    monkeypatch.setattr("cgboost.estimators.transform.base_transform.LARGEST_STEP", np.inf)
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


def test_the_order_of_the_labels_is_part_of_what_is_held_out() -> None:
    """Other labels in the same order: the same model; in another order: another holdout.

    Without a holdout the order does not matter.
    """
    X, y, weights = drawn()
    places = np.searchsorted(["a", "b", "c", "d"], y)
    for early_stopping in (True, False):
        model = TransformClassifier(n_estimators=4, early_stopping=early_stopping)
        wanted = clone(model).fit(X, y, weights).predict_proba(X)
        same = clone(model).fit(X, np.array([10, 20, 30, 40])[places], weights)
        np.testing.assert_array_equal(same.predict_proba(X), wanted)
        other = clone(model).fit(X, np.array(["q", "z", "m", "a"])[places], weights)
        apart = np.abs(other.predict_proba(X)[:, [2, 3, 1, 0]] - wanted).max()
        assert apart > 1e-3 if early_stopping else apart < 1e-8


def test_holdouts_are_averaged() -> None:
    """Scores are the mean of those of the models."""
    X, y, _ = drawn()
    model = TransformClassifier(n_holdouts=3, n_estimators=3).fit(X, y)
    mean = np.mean([own.decision_function(X) for own in model.holdout_models_], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean, atol=1e-10)
    assert set(model.history_["holdout"]) == {0, 1, 2}


@pytest.mark.parametrize("way", ["joint", "ovr"])
def test_scorers_of_probabilities_see_those_of_the_round(way: str) -> None:
    """They equal the staged ones, in a refit too; the log loss and the errors are always there."""
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
        wanted = {
            "log_loss": [log_loss(y[600:], p) for p in stages],
            "roc_auc_ovr": [roc_auc_score(y[600:], p, multi_class="ovr") for p in stages],
            "error": [np.mean(labels != y[600:]) for labels in model.staged_predict(X[600:])],
        }
        for name, values in wanted.items():
            found = history[f"validation_{name}"][1 : 1 + len(stages)]
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)
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
