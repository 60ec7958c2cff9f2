"""What a constraint is: what it declares of a problem, and what it measures on rows.

The simplest are here: a further loss, and functions of the user.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cgboost.estimators.constrained.data import Declarations, MeasuredModel
from cgboost.losses import Loss
from cgboost.losses.registry import CLASSIFICATION, REGRESSION, get_loss


@dataclass(frozen=True)
class Measure:
    """The value of one part of a constraint on some rows.

    Attributes
    ----------
    part : str
        What is measured.
    limit : float
        Its upper limit; nan if the value is minimised instead.
    """

    part: str
    value: float
    limit: float


class Constraint(ABC):
    """A constraint on a model, or a change of its objective.

    Subclasses are frozen dataclasses: they are compared, printed, pickled and cloned by their
    parameters.
    """

    allows_constants: ClassVar[bool] = False
    """Whether every constant obeys it."""

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError for an invalid parameter."""

    @abstractmethod
    def declare(self, problem: Declarations) -> None:
        """Add the requirements of the constraint to a problem."""

    @abstractmethod
    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The values of its parts on some rows."""

    @property
    def groups_of(self) -> Any:
        """The grouping of rows that it needs, its parameter ``groups``, or None."""
        return getattr(self, "groups", None)

    @property
    def of_rates(self) -> bool:
        """Whether it limits rates of predictions, which needs an outer search."""
        return False


def check_limit(constraint: Constraint, name: str, value: Any) -> None:
    """Raise ValueError unless a limit is a number of at least 0."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= float(value) < np.inf:
        raise ValueError(
            f"{type(constraint).__name__}: {name} must be a finite number of at least 0, got "
            f"{value!r}"
        )


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
        loss = get_loss(self.loss).value(seen.y, seen.output)
        mean = seen.mean(loss, np.ones(len(loss), dtype=bool))
        return [Measure(f"mean {get_loss(self.loss).name or 'loss'}", mean, np.nan)]


@dataclass(frozen=True)
class Own(Constraint):
    """Constraints in CVXPY; a function among the constraints is converted to this object.

    Parameters
    ----------
    function : callable
        ``function(f, a, b, data)`` returns a list of convex CVXPY constraints on the output f of
        the training rows, the coefficients a and the offset b. ``data`` has ``X``, ``y`` (±1 for
        two classes), ``weights`` and ``groups`` (``data.groups["sex"].codes``): those passed to
        ``fit``, and the columns of X in ``drop``.

    Notes
    -----
    Bounds use the constraints on f and b; they ignore constraints on a, and are therefore lower
    than necessary. Cones other than inequalities and equations must allow a model without columns.
    """

    function: Callable[..., Any]

    def __repr__(self) -> str:
        return f"Own({getattr(self.function, '__name__', self.function)})"

    def check(self) -> None:
        """Raise ValueError unless it is a function."""
        if not callable(self.function):
            raise ValueError(
                f"a constraint is an object of cgboost.constraints or a function (f, a, b, data), "
                f"got {self.function!r}"
            )

    def declare(self, problem: Declarations) -> None:
        """Constraints in CVXPY."""
        problem.own.append((problem.owner, self.function))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """Nothing: it is written for the training rows."""
        return []
