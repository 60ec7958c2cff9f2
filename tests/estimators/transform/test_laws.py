"""What models of blocks of rows promise of their objective, their steps, and of few rows."""

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from cgboost import (
    AdditiveRegressor,
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.estimators.transform.variants import LARGEST_STEP, VARIANTS
from cgboost.losses import get_loss
from tests.cases import Case, law
from tests.estimators.transform.transform_data import counts, mixed

LOSSES = [
    "squared_error",
    "absolute_error",
    "quantile",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
    "poisson",
]
WHOLE = {"early_stopping": False}


def case(name: str, model: Any, n_classes: int = 0) -> Case:
    """A model of numbers, or of so many classes."""

    def make() -> tuple[Any, Any, np.ndarray, np.ndarray]:
        X, y, weights = mixed(1, 600)
        y = counts(y) if getattr(model, "loss", None) == "poisson" else y
        if n_classes:
            shares = np.linspace(0, 1, n_classes + 1)[1:-1]
            y = y + 0.6 * y.std() * np.random.default_rng(0).normal(
                size=len(y)
            )  # nothing divides them
            y = np.array(list("dacb"))[np.digitize(y, np.quantile(y, shares))]
        return clone(model).set_params(**WHOLE), X, y, weights

    return Case(name=name, make=make)


MODELS = [
    *(case(loss, TransformRegressor(loss=loss)) for loss in LOSSES),
    *(case(f"{v}, two", TransformClassifier(variant=v, n_estimators=3), 2) for v in VARIANTS),
    *(case(f"{v}, four", TransformClassifier(variant=v, n_estimators=3), 4) for v in VARIANTS),
    *(
        case(f"trees, {loss}", LinearTreeBoostingRegressor(loss=loss, n_estimators=30))
        for loss in LOSSES
    ),
    case("trees, two", LinearTreeBoostingClassifier(n_estimators=10), 2),
    case("trees, three", LinearTreeBoostingClassifier(n_estimators=10), 3),
]


@law(MODELS)
def test_the_objective_is_the_loss_of_the_training_rows_and_falls(case: Case) -> None:
    """From that of the best constant, round after round and without a warning.

    Mean probabilities of several classes jointly are their shares, since the gradient of the loss
    by the constants is 0.
    """
    model, X, y, weights = case.make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses = model.fit(X, y, weights).history_["objective"]
    assert len(losses) > (1 if is_classifier(model) else 2)
    assert (np.diff(losses) < 0).all()
    if is_classifier(model):
        p, own = model.predict_proba(X), y[:, None] == model.classes_
        shares = np.average(own, axis=0, weights=weights)
        found, first = -weights @ np.log(p[own]), -weights @ np.log((own * shares).sum(axis=1))
        if isinstance(model, TransformClassifier) and len(shares) > 2:
            np.testing.assert_allclose(np.average(p, axis=0, weights=weights), shares, atol=1e-7)
    else:
        loss, (*_, f) = get_loss(model.loss), model.staged_decision_function(X)
        constant = np.full(len(y), loss.best_constant(y, weights))
        found, first = weights @ loss.value(y, f), weights @ loss.value(y, constant)
    assert losses[-1] == pytest.approx(found, rel=1e-9)
    assert losses[0] == pytest.approx(first, rel=1e-6)


STEPS = {
    "half": (TransformClassifier(learning_rate=0.5, n_estimators=3), 2),
    "whole": (TransformClassifier(n_estimators=3), 2),
    "beyond": (TransformClassifier(learning_rate=1.9, n_estimators=3), 2),
    "three": (TransformClassifier(n_estimators=4, tol=0.0), 3),
    "trees": (LinearTreeBoostingClassifier(n_estimators=30), 2),
}


@pytest.mark.parametrize("name", STEPS)
def test_no_round_changes_an_output_by_too_much(name: str) -> None:
    """Of classes that a feature divides half the log-odds grow by 2 at most, and are finite.

    Differences of several scores by twice as much; the loss falls all the while.
    """
    model, n_classes = STEPS[name]
    x = np.linspace(-1.0, 1.0, 300)[:, None]
    y = np.digitize(x[:, 0], np.linspace(-1, 1, n_classes + 1)[1:-1])
    x = x if n_classes == 2 else y[:, None].astype(float)
    model = clone(model).set_params(**WHOLE).fit(x, y)
    stages = list(model.staged_decision_function(x))
    changes = [after - before for before, after in pairwise([np.zeros_like(stages[0]), *stages])]
    assert model.score(x, y) == 1.0
    if n_classes > 2:
        assert max(np.ptp(own, axis=1).max() for own in changes) <= 2 * LARGEST_STEP * (1 + 1e-9)
        assert len(stages) > 2
    else:
        largest = max(np.abs(own).max() for own in changes)
        rate = 1.0 if name == "trees" else min(model.learning_rate, 1.0)
        assert largest <= LARGEST_STEP * rate + 1e-6
        assert name == "trees" or largest == pytest.approx(LARGEST_STEP * rate, abs=1e-6)
    losses = [-np.log(p[np.arange(300), y]).sum() for p in model.staged_predict_proba(x)]
    falls = np.diff(losses)
    assert ((falls <= 0) if name == "trees" else (falls < 0)).all()  # after many rounds it is 0


FEW: dict[str, Any] = {
    "transform": TransformRegressor(),
    "classes": TransformClassifier(),
    "half held out": TransformRegressor(validation_fraction=0.5),
    "half of classes": TransformClassifier(validation_fraction=0.5),
    "one pass": AdditiveRegressor(),
    "backfitting": AdditiveRegressor("backfitting"),
    "tree": LinearTreeRegressor(min_samples_leaf=1),
    "tree of all rows": LinearTreeRegressor(min_samples_leaf=1, validation_fraction=0.0),
    "boosted trees": LinearTreeBoostingRegressor(n_estimators=20),
}


@pytest.mark.parametrize("n_rows", [2, 3, 5, 12])
@pytest.mark.parametrize("name", FEW)
def test_few_rows(name: str, n_rows: int) -> None:
    """Fewer than features, or two that alternate: a finite model that stays near y, for any seed.

    Of a constant target it is the constant.
    """
    rng = np.random.default_rng(5)
    for seed in range(4):
        model = clone(FEW[name])
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        for X in (rng.normal(size=(n_rows, 6)), np.arange(n_rows)[:, None] % 2.0):
            y = np.arange(n_rows) % 2
            found = model.fit(X, y).predict(X)
            assert np.isfinite(found).all()
            assert np.ptp(found) <= 1.5
            for value in () if is_classifier(model) else (3.0, 0.1, -1e8):
                flat = model.fit(X, np.full(n_rows, value))
                np.testing.assert_allclose(flat.predict(X), value, rtol=1e-15)
                assert getattr(flat, "stop_reason_", "no_column") == "no_column"
