"""What losses can do, and which masters and estimators can take them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from cgboost.exceptions import UnsupportedLossError

Ability = Literal[
    "value", "gradient", "hessian_diag", "best_constant", "dual_box", "conjugate", "to_cvxpy"
]
"""What a loss may be able to do: the name of a method."""

TAKES: dict[str, tuple[Ability, ...]] = {
    "CGBoostClassifier, CGBoostRegressor, LPBoostClassifier, LPBoostRegressor, "
    "SupportVectorMaster": ("conjugate",),
    "ConvexMaster": ("to_cvxpy",),
    "StagewiseMaster, CorrectiveMaster": ("gradient",),
    "AnyBoostClassifier, AnyBoostRegressor, GradientBoostingRegressor, StagewiseRegressor, "
    "BLFClassifier, BLFRegressor": ("gradient",),
}
"""What masters and estimators need of a loss."""


def require(loss: Any, needs: Collection[Ability], by: str) -> None:
    """Raise :class:`UnsupportedLossError` unless the loss has the abilities.

    Parameters
    ----------
    loss : Loss
    needs : collection of str
    by : str
        Who needs them, for the message.
    """
    if missing := [need for need in needs if need not in loss.abilities]:
        raise unsupported(loss, missing, by)


def unsupported(loss: Any, missing: Collection[Ability], by: str) -> UnsupportedLossError:
    """The error of a loss that lacks some abilities: what is missing, and who can take it."""
    able = [who for who, needs in TAKES.items() if loss.abilities.issuperset(needs)]
    return UnsupportedLossError(
        f"{by} needs {' and '.join(missing)} of a loss, and {loss!r} has "
        f"{', '.join(sorted(loss.abilities))} only. It can be used with {', '.join(able)}."
    )
