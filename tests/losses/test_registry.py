"""Losses by name, and the messages of pairs that do not work."""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor

from cgboost import (
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFClassifier,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostRegressor,
    GradientBoostingRegressor,
    LPBoostClassifier,
    LPBoostRegressor,
    losses,
)
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import Huber, Quantile, WeightedLoss, get_loss
from cgboost.losses.registry import (
    CLASSIFICATION,
    LOSSES,
    REGRESSION,
    ClassificationLoss,
    RegressionLoss,
    check_known_loss,
    check_task,
    known_loss,
    loss_on_rows,
)

DOCS = Path(__file__).parents[2] / "docs"


def test_names_are_those_of_the_classes() -> None:
    """Each name makes its loss; every name belongs to one task."""
    for name, kind in LOSSES.items():
        assert get_loss(name) == kind()
        assert kind.name == name
    assert set(CLASSIFICATION) | set(REGRESSION) == set(LOSSES)
    assert {"hinge", "log_loss"} <= set(CLASSIFICATION)


def test_a_loss_is_entered_everywhere() -> None:
    """Each class is exported, and in the types and in both pages, as the recipe asks for."""
    assert set(get_args(ClassificationLoss)) == set(CLASSIFICATION)
    assert set(get_args(RegressionLoss)) == set(REGRESSION)
    reference = (DOCS / "api" / "losses.rst").read_text(encoding="utf-8").split()
    table = (DOCS / "methods" / "losses.md").read_text(encoding="utf-8")
    for name, kind in LOSSES.items():
        assert getattr(losses, kind.__name__) is kind
        assert kind.__name__ in losses.__all__
        assert kind.__name__ in reference
        assert f'| `"{name}"` | `{kind.__name__}(' in table


class Mine(Quantile):
    """A user's."""


class Labels(Quantile):
    """A user's, for labels."""

    classification = True


def test_a_loss_is_found_by_name_class_or_itself() -> None:
    """Parameters go with a name or a class; a user's class is as good as ours.

    A callable that returns a loss on rows is taken by estimators, too.
    """
    loss = Huber(1.5)
    assert get_loss(loss) is loss
    assert get_loss("huber", delta=1.5) == get_loss(Huber, delta=1.5) == loss
    assert isinstance(get_loss(Mine), Mine)
    for wrong in ("hubert", "", 3, None, dict):
        with pytest.raises(ValueError, match=r"must be one of 'hinge', .* or a Loss, got"):
            get_loss(wrong)  # type: ignore[arg-type]
    y, weights = np.arange(3.0), np.ones(3)
    for given in ("quantile", Quantile(), Quantile, lambda y, w: Quantile().on(y, w)):
        bound = loss_on_rows(given, y, weights)
        assert isinstance(bound, WeightedLoss)
        assert bound.loss == Quantile()
    assert known_loss("quantile") == Quantile()
    assert known_loss(lambda y, w: Quantile().on(y, w)) is None
    with pytest.raises(TypeError, match="must return a DifferentiableLoss, got 3"):
        loss_on_rows(lambda y, w: 3, y, weights)  # type: ignore[arg-type, return-value]


def test_what_estimators_take_is_checked() -> None:
    """A name of the list, a Loss or a callable; the message has the list and the value.

    A user's loss is taken by both kinds, unless it says that it is for labels.
    """
    for own in ("huber", Huber(2.0), Huber):
        check_known_loss(own, REGRESSION)
    for wrong in ("log_loss", "hubert", 3, None):
        with pytest.raises(ValueError, match=rf"one of \['absolute_error', .* got {wrong!r}"):
            check_known_loss(wrong, REGRESSION)
    for names in (CLASSIFICATION, REGRESSION):
        check_task(Mine(0.3), names)
    check_task(Labels(), CLASSIFICATION)
    with pytest.raises(UnsupportedLossError, match="Labels is for labels ±1: use a classifier"):
        check_task(Labels(), REGRESSION)


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize(
    "model",
    [
        CGBoostClassifier(),
        LPBoostClassifier(),
        AnyBoostClassifier(n_estimators=2),
        BLFClassifier(1),
        CGBoostRegressor(),
        LPBoostRegressor(),
        AnyBoostRegressor(n_estimators=2),
        GradientBoostingRegressor(n_estimators=2),
        BLFRegressor(1),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_an_object_is_taken_where_its_name_is(model: Any, loss: str) -> None:
    """Both fit or both are the same error, that of a loss for another kind of targets."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)

    def outcome(given: Any) -> str:
        try:
            clone(model).set_params(loss=given).fit(X, y)
        except UnsupportedLossError as error:
            return str(error).partition(", got")[0] + str(error).partition(";")[2]
        return "fits"

    found = outcome(loss)
    assert outcome(get_loss(loss)) == found
    other = "classifier" if is_regressor(model) else "regressor"
    own = LOSSES[loss].classification == is_classifier(model)
    assert found == "fits" if own else found.endswith(f"use a {other}") or found == "fits"
