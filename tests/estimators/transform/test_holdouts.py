"""The average of models that held other rows out."""

import pickle

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import TransformClassifier, TransformRegressor
from tests.effort import examples
from tests.estimators.transform.transform_data import mixed


def alone(model: TransformRegressor, k: int, X: object, y: object) -> TransformRegressor:
    """The model of one holdout."""
    seeds = [0] + [
        int(np.random.SeedSequence([0, b]).generate_state(1)[0] >> 1) for b in range(1, k + 1)
    ]
    return type(model)(**model.get_params() | {"n_holdouts": 1, "random_state": seeds[k]}).fit(X, y)


@settings(max_examples=examples(8))
@given(seed=st.integers(0, 99), variant=st.sampled_from(["transform", "initial", "orthogonal"]))
def test_it_is_the_mean_of_the_models(seed: int, variant: str) -> None:
    """Predictions, constants, importances and every stage: each model is that of a fit alone."""
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


def test_it_has_less_error_than_its_models() -> None:
    """Of the mean of the models' squared errors it lacks their spread."""
    X, y, _ = mixed(3, 800)
    X_test, y_test, _ = mixed(4, 2000)
    model = TransformRegressor(n_holdouts=4).fit(X, y)
    errors = [np.mean((alone(model, k, X, y).predict(X_test) - y_test) ** 2) for k in range(4)]
    assert np.mean((model.predict(X_test) - y_test) ** 2) < np.mean(errors)


def test_classes_are_averaged_each() -> None:
    """Half log-odds of one class against the rest."""
    X, y, _ = mixed(5, 600)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    model = TransformClassifier(n_holdouts=2, random_state=0).fit(X, labels)
    values = [alone(model, k, X, labels).decision_function(X) for k in range(2)]
    np.testing.assert_allclose(
        model.decision_function(X), np.mean(values, axis=0), rtol=1e-9, atol=1e-9
    )
    assert len(model.stages_) == 3


def test_history_names_the_holdout() -> None:
    """A table of all rounds; the best round is that of the longest model."""
    X, y, _ = mixed(6, 500)
    model = TransformRegressor(n_holdouts=3).fit(X, y)
    history = model.history_
    assert set(history["holdout"]) == {0, 1, 2}
    assert model.n_iter_ == model.best_round_ <= history["round"].max()
    assert model.objective_ > 0


def test_what_models_can_do_it_can_too() -> None:
    """Pickles, text, SQL, the graph of stages, reports."""
    X, y, _ = mixed(7, 500)
    model = TransformRegressor(n_holdouts=2).fit(X, y)
    wanted = model.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), wanted)
    graph = model.stage_graph()
    assert sum(isinstance(node, int) for node in graph) == len(model.stages_)
    assert f"stage_{len(model.stages_) - 1}:" in model.text()
    connection = duckdb.connect()
    connection.register("people", X.assign(row=np.arange(len(X))))
    answer = connection.sql(model.to_sql("people", keep="row")).df().sort_values("row")
    np.testing.assert_allclose(answer["prediction"], wanted, rtol=1e-9, atol=1e-9)


def test_a_time_limit_is_shared() -> None:
    """Every holdout has a model, however small."""
    X, y, _ = mixed(8, 500)
    with pytest.warns(UserWarning, match="time"):
        model = TransformRegressor(n_holdouts=2, time_limit=1e-9).fit(X, y)
    assert set(model.history_["holdout"]) == {0, 1}


def test_bad_numbers_are_refused() -> None:
    """Several need rows to hold out."""
    X, y, _ = mixed(9, 100)
    with pytest.raises(ValueError, match="n_holdouts must be"):
        TransformRegressor(n_holdouts=0).fit(X, y)
    with pytest.raises(ValueError, match="n_holdouts=2 needs early_stopping=True"):
        TransformRegressor(n_holdouts=2, early_stopping=False).fit(X, y)
