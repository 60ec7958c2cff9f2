"""Losses by name, and which of them a master or an estimator accepts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal, TypeGuard

from cgboost.arrays import Vector
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses.absolute_error import AbsoluteError
from cgboost.losses.epsilon_insensitive import EpsilonInsensitive, SquaredEpsilonInsensitive
from cgboost.losses.expectile import Expectile
from cgboost.losses.exponential import Exponential
from cgboost.losses.hinge import Hinge
from cgboost.losses.huber import Huber
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.loss import DifferentiableLoss, Loss
from cgboost.losses.poisson import Poisson
from cgboost.losses.quantile import Quantile
from cgboost.losses.squared_error import SquaredError
from cgboost.losses.squared_hinge import SquaredHinge

LossMaker = Callable[[Vector, Vector], DifferentiableLoss]
"""``loss(target, weights)``, such as a subclass of DifferentiableLoss."""

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        Hinge,
        SquaredHinge,
        LogLoss,
        Exponential,
        SquaredError,
        AbsoluteError,
        Quantile,
        Expectile,
        Huber,
        EpsilonInsensitive,
        SquaredEpsilonInsensitive,
        Poisson,
    )
}
"""Losses by their names, scikit-learn's. (The multinomial deviance has none.)"""

ClassificationLoss = Literal["log_loss", "exponential", "hinge", "squared_hinge"]
RegressionLoss = Literal[
    "squared_error",
    "absolute_error",
    "quantile",
    "expectile",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
    "poisson",
]
CLASSIFICATION = tuple(name for name, loss in LOSSES.items() if loss.classification)
REGRESSION = tuple(name for name, loss in LOSSES.items() if not loss.classification)


def get_loss(loss: str | Loss | type[Loss], **parameters: Any) -> Loss:
    """A loss by its name, with parameters; a :class:`Loss` is returned unchanged.

    Parameters
    ----------
    loss : str, Loss or subclass of Loss
    **parameters
        Parameters of the loss, for a name or a class: ``get_loss("huber", delta=1.5)``.

    Raises
    ------
    ValueError
        If there is no such loss.
    """
    if isinstance(loss, Loss):
        return loss
    kind = LOSSES.get(loss) if isinstance(loss, str) else loss
    if not (isinstance(kind, type) and issubclass(kind, Loss)):
        names = ", ".join(map(repr, LOSSES))
        raise ValueError(f"loss must be one of {names}, or a Loss, got {loss!r}")
    return kind(**parameters)


def loss_on_rows(
    loss: str | Loss | type[Loss] | LossMaker, target: Vector, weights: Vector, **parameters: Any
) -> DifferentiableLoss:
    """A loss on training rows: by name, from a :class:`Loss`, or from ``loss(target, weights)``.

    Raises
    ------
    ValueError
        If there is no such loss, or the targets are none for it.
    TypeError
        If a callable returns something else.
    """
    if (known := known_loss(loss, **parameters)) is not None:
        return known.on(target, weights)
    on_rows = loss(target, weights)  # type: ignore[operator, call-arg]
    if not isinstance(on_rows, DifferentiableLoss):
        raise TypeError(
            f"loss(target, weights) must return a DifferentiableLoss, got {on_rows!r}: subclass "
            "cgboost.losses.Loss or cgboost.losses.loss.DifferentiableLoss"
        )
    return on_rows


def known_loss(loss: str | Loss | type[Loss] | LossMaker, **parameters: Any) -> Loss | None:
    """The :class:`Loss` of a name, a loss or a class; None for ``loss(target, weights)``."""
    if isinstance(loss, (str, Loss)) or _is_class_of_losses(loss):
        return get_loss(loss, **parameters)
    return None


def check_known_loss(loss: Any, names: Collection[str]) -> None:
    """Raise ValueError unless it is one of the names, a :class:`Loss` or a callable.

    Raises
    ------
    UnsupportedLossError
        If it is a loss of several outputs, or for the other kind of targets.
    """
    if isinstance(loss, str) and loss in names:
        return
    if isinstance(loss, Loss) and loss.n_outputs != 1:
        raise UnsupportedLossError(
            f"{loss!r} has {loss.n_outputs} outputs a row, which only classifiers by gradient "
            "boosting can have"
        )
    check_task(loss, names)
    if isinstance(loss, str) or not (isinstance(loss, Loss) or callable(loss)):
        raise ValueError(
            f"loss must be one of {sorted(names)}, a Loss or a callable loss(target, weights), "
            f"got {loss!r}"
        )


def check_task(loss: Any, names: Collection[str]) -> None:
    """Raise UnsupportedLossError for a loss of numbers in a classifier, of labels in a regressor.

    A loss of this package is taken as an object where its name is taken. One of yours, a subclass
    perhaps, is taken unless it says that it is for labels and no name that is taken is.
    """
    known = LOSSES.get(loss) if isinstance(loss, str) else loss
    kind = known if isinstance(known, type) else type(known)
    if not issubclass(kind, Loss):
        return
    strange = kind.classification and not set(names) & set(CLASSIFICATION)
    if kind.name not in names if kind in LOSSES.values() else strange:
        task = "labels ±1: use a classifier" if kind.classification else "numbers: use a regressor"
        raise UnsupportedLossError(
            f"loss must be one of {sorted(names)}, or a Loss, got {loss!r}; "
            f"{kind.__name__} is for {task}"
        )


def require_targets(loss: object) -> None:
    """Raise ValueError for a :class:`Loss` without data: masters take losses on training rows."""
    if isinstance(loss, Loss):
        raise ValueError(f"{loss!r} needs targets: give {loss!r}.on(y, weights)")


def _is_class_of_losses(loss: Any) -> TypeGuard[type[Loss]]:
    return isinstance(loss, type) and issubclass(loss, Loss)
