"""Several losses at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgboost.estimators.constrained.constraints.constraint import Constraint, Measure, check_limit
from cgboost.estimators.constrained.data import Declarations, MeasuredModel
from cgboost.losses import Loss
from cgboost.losses.registry import CLASSIFICATION, REGRESSION, get_loss


@dataclass(frozen=True)
class AlsoLoss(Constraint):
    """An additional loss, minimised together with the model's loss; its weight is relative to that.

    Parameters
    ----------
    loss : str or Loss
        For the same kind of target.
    weight : float, default=1.0
    """

    loss: Any
    weight: float = 1.0

    def check(self) -> None:
        """A loss that is known, and a weight of at least 0."""
        check_limit(self, "weight", self.weight)
        if not isinstance(self.loss, Loss) and self.loss not in (*CLASSIFICATION, *REGRESSION):
            raise ValueError(
                f"AlsoLoss: loss must be one of {sorted({*CLASSIFICATION, *REGRESSION})}, or a "
                f"Loss, got {self.loss!r}"
            )

    def declare(self, problem: Declarations) -> None:
        """A further term of the objective."""
        loss = get_loss(self.loss)
        loss.check_target(problem.y)
        problem.also.append((loss, self.weight))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The mean loss."""
        import numpy as np

        loss = get_loss(self.loss).value(seen.y, seen.output)
        mean = seen.mean(loss, np.ones(len(loss), dtype=bool))
        return [Measure(f"mean {get_loss(self.loss).name or 'loss'}", mean, np.nan)]
