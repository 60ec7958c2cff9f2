"""A constraint defined by a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cgboost.estimators.constrained.constraints.constraint import Constraint, Measure
from cgboost.estimators.constrained.data import Declarations, MeasuredModel


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
