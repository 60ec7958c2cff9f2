"""What a constraint is: what it declares of a problem, and what it measures on rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from cgboost.estimators.constrained.data import Declarations, Seen


@dataclass(frozen=True)
class Measure:
    """What a part of a constraint comes to on some rows.

    Attributes
    ----------
    part : str
        What is measured.
    value : float
    limit : float
        What it may be at most; nan where it is minimised.
    """

    part: str
    value: float
    limit: float


class Constraint(ABC):
    """A constraint on a model, or a change of what it minimises.

    Subclasses are frozen dataclasses: they compare, print, pickle and clone by their parameters.
    """

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError for a wrong parameter."""

    @abstractmethod
    def declare(self, problem: Declarations) -> None:
        """Add what the constraint asks for to a problem."""

    @abstractmethod
    def measured(self, seen: Seen) -> list[Measure]:
        """What its parts come to on some rows."""

    @property
    def groups_of(self) -> Any:
        """The grouping of rows that it needs, None for none."""
        return None

    @property
    def of_rates(self) -> bool:
        """Whether it limits rates of predictions, which an outer search meets."""
        return False


def check_limit(constraint: Constraint, name: str, value: Any) -> None:
    """Raise ValueError unless a limit is a number of at least 0."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= float(value) < np.inf:
        raise ValueError(
            f"{type(constraint).__name__}: {name} must be a finite number of at least 0, got "
            f"{value!r}"
        )
