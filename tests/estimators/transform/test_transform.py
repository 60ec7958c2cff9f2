"""Transform regression and the methods that lead up to it."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from cgboost import TransformClassifier, TransformRegressor
from cgboost.estimators.transform.variants import VARIANTS
from tests.effort import examples
from tests.estimators.data import at_round
from tests.estimators.transform.transform_data import (
    assert_same,
    few_values,
    mixed,
    outputs,
    product,
    structure,
    surface,
    target,
)

BOTH = [TransformRegressor, TransformClassifier]


@cache
def rms(variant: str, seed: int = 0) -> np.ndarray:
    """Errors on the test points of the surface after every stage."""
    X, z, X_test, z_test = surface()
    model = TransformRegressor(variant=variant, tol=0.0, random_state=seed).fit(X, z)
    return np.array([np.sqrt(np.mean((z_test - f) ** 2)) for f in model.staged_predict(X_test)])


def test_transform_regression_models_the_surface_of_the_paper() -> None:
    """The first stage has the linear terms alone ([P] Figure 3); ten have the product as well."""
    errors = rms("transform")
    assert len(errors) == 10
    np.testing.assert_allclose(errors[0], 2.6, atol=0.1)
    assert errors[2] < 0.15
    assert errors[9] < 0.05


def test_every_rung_of_the_ladder_is_lower() -> None:
    """[P] Tables 1, 4, 5, 6, 7, 8: additive, initial, …, transform; means over three holdouts."""
    initial, transform = rms("initial"), rms("transform")
    n = len(initial)
    assert (transform[1:n] < initial[1:]).all()
    last = {variant: np.mean([rms(variant, k)[-1] for k in range(3)]) for variant in VARIANTS}
    assert last["gradient"] > 2.5  # an additive model of an additive residual finds nothing more
    assert last["transform"] < 0.1 < last["initial"] < last["gradient"]
    for variant in ("orthogonal", "feed_forward"):
        assert last["transform"] < last[variant] < last["initial"]
        assert last["orthogonal_feed_forward"] < last[variant]
    assert last["transform"] < last["orthogonal_feed_forward"]


def test_blocks_of_a_table_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in memory is worked on in blocks as well."""
    X, y, weights = mixed(3)
    wanted = TransformRegressor(n_estimators=4).fit(X, y, weights)
    monkeypatch.setattr("cgboost.tables.row_blocks.BLOCK", 90)
    for n_jobs in (1, 2):
        assert_same(TransformRegressor(n_estimators=4, n_jobs=n_jobs).fit(X, y, weights), wanted, X)


def test_small_weights_count_as_one_on_average() -> None:
    """Weights that add up to 1 say the same as ones, and as much as others with a mean below 1."""
    X, y, _ = mixed(1, 500)
    ones = TransformRegressor(n_estimators=4).fit(X, y).predict(X)
    small = TransformRegressor(n_estimators=4).fit(X, y, np.full(500, 1 / 500)).predict(X)
    np.testing.assert_allclose(small, ones, atol=1e-9)
    X, y, weights = few_values(2)
    one, other = (
        TransformRegressor(n_estimators=4).fit(X, y, weights / scale).predict(X)
        for scale in (3.0, 1200.0)
    )
    np.testing.assert_allclose(other, one, atol=1e-9)


@pytest.mark.parametrize("variant", ["orthogonal", "orthogonal_feed_forward"])
def test_refitted_stages_are_orthogonal_to_the_residual(variant: str) -> None:
    """On the training rows, which are all where none are held out."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1000, 2))
    y = X[:, 0] + 3 * X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=1000)
    model = TransformRegressor(variant=variant, early_stopping=False, n_estimators=5).fit(X, y)
    left = y - model.predict(X)
    family = model._runs[0].outputs[0].hypotheses[0].family
    stages = family.all_outputs(X, model.n_iter_)
    cosines = stages.T @ left / np.linalg.norm(stages, axis=0) / np.linalg.norm(left)
    np.testing.assert_allclose(cosines, 0, atol=1e-9)
    assert abs(left.mean()) < 1e-9


def test_the_best_holdout_stage_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages after it are tried for some rounds, and left away."""
    X, y, _ = product()
    wanted = TransformRegressor(n_estimators=2).fit(X, y)
    assert wanted.stop_reason_ == "max_rounds"
    losses = [9.0, 5.0, 2.0, 3.0, 2.0, 2.5, 1.0]
    score = "cgboost.additive.holdout.HoldoutLoss.__call__"
    monkeypatch.setattr(
        score, lambda self, turn: turn.scores.update(holdout_loss=losses[turn.number])
    )
    model = TransformRegressor(n_estimators=9, tol=0.0, n_iter_no_change=2).fit(X, y)
    assert (model.stop_reason_, model.best_round_, model.n_iter_) == ("early_stopping", 2, 2)
    np.testing.assert_array_equal(model.history_["holdout_loss"], losses[:5])
    assert len(model.stages_) == len(list(model.staged_predict(X))) == 2
    np.testing.assert_array_equal(model.predict(X), wanted.predict(X))


def test_a_stage_that_gains_little_is_the_last() -> None:
    """The gain is relative to the loss of the constant."""
    X, z, _, _ = surface()
    model = TransformRegressor(tol=0.01).fit(X[::5], z[::5])
    losses = model.history_["objective"]
    gains = -np.diff(losses) / losses[0]
    assert model.stop_reason_ == "gap"
    assert gains[-1] < 0.01
    assert (gains[:-1] >= 0.01).all()


def test_rows_of_an_eval_set_are_scored() -> None:
    """Beside those that the fit holds out; they do not change it, and a copy fits the same."""
    X, y, _ = product()
    model = TransformRegressor(n_estimators=4)
    held = (X[1000:], y[1000:])
    model.fit(X[:1000], y[:1000], eval_set=held)
    left = y[1000:] - model.predict(X[1000:])
    np.testing.assert_allclose(model.history_["validation_mse"][-1], np.mean(left**2))
    assert model.history_["holdout_loss"].any()
    alone = clone(model).fit(X[:1000], y[:1000])
    np.testing.assert_array_equal(alone.predict(X), model.predict(X))
    source = [(X[:400], y[:400]), (X[400:1000], y[400:1000])]
    found = clone(model).fit(source, eval_set=held)
    np.testing.assert_allclose(found.history_["validation_mse"], model.history_["validation_mse"])


def interrupt() -> None:
    """As Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("kind", BOTH)
def test_a_fit_cut_short_keeps_the_stages_so_far(kind: type) -> None:
    """By Ctrl-C or for want of time, with a warning; later stages are not there."""
    X, y, _ = mixed(0, 500)
    y = target(kind, y)
    model = kind(callbacks=[at_round(2, interrupt)])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    whole = kind(n_estimators=2, early_stopping=True).fit(X, y)
    assert model.n_iter_ <= 2
    assert np.isfinite(outputs(model, X)).all()
    assert structure(model) == structure(whole)[: len(structure(model))]
    with pytest.warns(ConvergenceWarning, match="time"):
        late = kind(time_limit=1e-9).fit(X, y)
    assert late.stop_reason_ == "time"
    assert np.isfinite(outputs(late, X)).all()


def test_far_rows_get_no_far_answers() -> None:
    """No stage leaves the range that it has on the training rows: later ones would follow it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=4000)
    model = TransformRegressor(random_state=1).fit(X[:2000], y[:2000])  # a holdout of many stages
    assert len(model.stages_) > 3
    missed = np.array([np.mean((f - y[2000:]) ** 2) for f in model.staged_predict(X[2000:])])
    assert missed[-1] < 0.5 * missed[0] < 0.5 * y.var()
    inside, far = (
        np.diff(list(model.staged_predict(rows)), axis=0) for rows in (X[:2000], 100.0 * X)
    )
    slack = 1e-9 * np.abs(inside).max()
    assert (far >= inside.min(axis=1, keepdims=True) - slack).all()
    assert (far <= inside.max(axis=1, keepdims=True) + slack).all()


def test_without_holdout_rows_later_stages_do_not_learn_the_noise() -> None:
    """On few rows with many features the model is not much worse on others than its first stage."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8))
    y = X[:, 0] * (1.0 + X[:, 1]) + 0.5 * rng.normal(size=1000)
    model = TransformRegressor(early_stopping=False).fit(X[:500], y[:500])
    found = [np.mean((f - y[500:]) ** 2) for f in model.staged_predict(X[500:])]
    assert found[0] < 0.8 * y.var()
    assert found[-1] < 1.2 * found[0]


@pytest.mark.parametrize("early_stopping", [True, False])
def test_classes_that_are_told_apart_without_error_keep_their_stages(early_stopping: bool) -> None:
    """A step along which the loss falls without end is bounded: a held-out row may disagree."""
    X, y = load_iris(return_X_y=True)
    for seed in range(3):
        model = TransformClassifier(early_stopping=early_stopping, random_state=seed).fit(X, y)
        assert all(len(stages) > 0 for stages in model.stages_)
        assert model.predict_proba(X)[y == 0, 0].min() > 0.6
        assert model.score(X, y) > 0.9


def alone(model: TransformRegressor, k: int, X: object, y: object) -> TransformRegressor:
    """The model of one holdout."""
    seeds = [0] + [
        int(np.random.SeedSequence([0, b]).generate_state(1)[0] >> 1) for b in range(1, k + 1)
    ]
    return type(model)(**model.get_params() | {"n_holdouts": 1, "random_state": seeds[k]}).fit(X, y)


@settings(max_examples=examples(8))
@given(seed=st.integers(0, 99), variant=st.sampled_from(["transform", "initial", "orthogonal"]))
def test_it_is_the_mean_of_the_models(seed: int, variant: str) -> None:
    """Predictions, constants, importances and every stage: each model is that of a fit alone.

    Its squared error is what the mean of theirs is without their spread.
    """
    X, y, _ = mixed(seed, 500)
    model = TransformRegressor(n_holdouts=3, variant=variant, random_state=0).fit(X, y)
    parts = [alone(model, k, X, y) for k in range(3)]
    values = [part.predict(X) for part in parts]
    np.testing.assert_allclose(model.predict(X), np.mean(values, axis=0), rtol=1e-9, atol=1e-9)
    assert model.intercept_ == pytest.approx(np.mean([part.intercept_ for part in parts]))
    shares = [part.feature_importances_ for part in parts]
    np.testing.assert_allclose(model.feature_importances_, np.mean(shares, axis=0), atol=1e-12)
    np.testing.assert_allclose(model.feature_importances_std_, np.std(shares, axis=0), atol=1e-12)
    assert len(model.stages_) == sum(len(part.stages_) for part in parts)
    staged = [list(part.staged_predict(X)) for part in parts]
    for turn, f in enumerate(model.staged_predict(X)):
        wanted = np.mean([own[min(turn, len(own) - 1)] for own in staged], axis=0)
        np.testing.assert_allclose(f, wanted, rtol=1e-9, atol=1e-9)
    assert set(model.history_["holdout"]) == {0, 1, 2}
    assert model.n_iter_ == model.best_round_ <= model.history_["round"].max()


def test_several_holdouts_without_time() -> None:
    """With no time left each has a model all the same."""
    X, y, _ = mixed(8, 500)
    with pytest.warns(UserWarning, match="time"):
        model = TransformRegressor(n_holdouts=2, time_limit=1e-9).fit(X, y)
    assert set(model.history_["holdout"]) == {0, 1}
