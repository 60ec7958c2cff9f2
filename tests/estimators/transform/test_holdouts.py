"""The average of models that held other rows out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import TransformRegressor
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


def test_what_several_holdouts_need() -> None:
    """Rows to hold out and a number of them; with no time left each has a model all the same."""
    X, y, _ = mixed(8, 500)
    with pytest.raises(ValueError, match="n_holdouts must be"):
        TransformRegressor(n_holdouts=0).fit(X, y)
    with pytest.raises(ValueError, match="n_holdouts=2 needs early_stopping=True"):
        TransformRegressor(n_holdouts=2, early_stopping=False).fit(X, y)
    with pytest.warns(UserWarning, match="time"):
        model = TransformRegressor(n_holdouts=2, time_limit=1e-9).fit(X, y)
    assert set(model.history_["holdout"]) == {0, 1}
