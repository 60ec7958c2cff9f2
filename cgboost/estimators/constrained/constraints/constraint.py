"""What a constraint is: what it declares of a problem, and what it measures on rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cgboost.estimators.constrained.data import Declarations, MeasuredModel


@dataclass(frozen=True)
class Measure:
    """The value of one part of a constraint on some rows.

    Attributes
    ----------
    part : str
        What is measured.
    value : float
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
