"""The words of messages about a fit that another estimator calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cgboost.estimators.common.objective import Objective


@dataclass(frozen=True)
class Wording:
    """The class and the parameters that they name.

    Attributes
    ----------
    name : str
        The class that the user has called.
    trade_off, remedy : str or None
        The parameter that weighs loss against penalty, with its value, and what may make more of a
        model without columns; None: those of the :class:`Objective`.
    time_limit : str
        The parameter that limits the time.
    """

    name: str
    trade_off: str | None = None
    remedy: str | None = None
    time_limit: str = "time_limit"

    def of(self, objective: Objective) -> Objective:
        """The objective, in these words."""
        return replace(
            objective,
            trade_off=objective.trade_off if self.trade_off is None else self.trade_off,
            remedy=objective.remedy if self.remedy is None else self.remedy,
        )
