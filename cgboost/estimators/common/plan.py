"""A fit as data: what is asked for, before the loop runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cgboost.arrays import Vector
from cgboost.estimators.common.targets import TargetKind
from cgboost.generation.history import Round, StopReason
from cgboost.generation.protocols import Master, Pricer


@dataclass(frozen=True)
class Subproblem:
    """One run of the loop.

    Attributes
    ----------
    master, pricer : Master, Pricer
    n_outputs : int
        Outputs of the model that the run makes.
    columns_per_round : int
    level_of : callable or None
        What the loss has chosen itself (ε or −ρ), from an output on the master's rows.
    callbacks : sequence of callables
        They see every round before the callbacks of the estimator do.
    max_rounds : int or None
        Where the data limit the rounds, and not a parameter alone.
    max_columns : int or None
        Where the family limits the columns, and not the parameter alone.
    """

    master: Master
    pricer: Pricer
    n_outputs: int = 1
    columns_per_round: int = 1
    level_of: Callable[[Vector], float] | None = None
    callbacks: Sequence[Callable[[Round], Any]] = ()
    max_rounds: int | None = None
    max_columns: int | None = None


@dataclass(frozen=True)
class StopRule:
    """When the runs of a fit end, besides the time.

    Attributes
    ----------
    tol : float
        Relative gap; 0 for runs without a certificate.
    max_columns, max_rounds : int or None
    """

    tol: float = 0.0
    max_columns: int | None = None
    max_rounds: int | None = None

    def of(self, task: Subproblem) -> dict[str, Any]:
        """Arguments of the loop for one run: these limits, and what its data allow."""
        limits: dict[str, Any] = {"tol": self.tol, "max_columns": self.max_columns}
        limits["max_rounds"] = task.max_rounds if self.max_rounds is None else self.max_rounds
        most = task.max_columns
        if most is not None and (self.max_columns is None or self.max_columns > most):
            limits |= {"max_columns": most, "columns_reason": StopReason.COLUMN_LIMIT}
        return limits


@dataclass(frozen=True)
class Plan(ABC):
    """What a fit asks for.

    Attributes
    ----------
    target_kind : TargetKind
        What y is.
    stop : StopRule
    pool : object
        What the runs share to make columns.
    """

    target_kind: TargetKind
    stop: StopRule
    pool: Any = field(repr=False)

    @abstractmethod
    def subproblems(self) -> Iterator[Subproblem]:
        """Master and pricer of one run after the other.

        The matrices of a run go before there are those of the next.
        """

    def shared(self, functions: list[Any]) -> list[Any]:
        """The basis functions of all runs, with what they have in common kept once."""
        return functions


@dataclass(frozen=True)
class Rounds(Plan):
    """A number of rounds of masters and pricers that an estimator makes itself."""

    tasks: Callable[[], Iterator[Subproblem]] = field(repr=False)

    def subproblems(self) -> Iterator[Subproblem]:
        """Master and pricer of one run after the other."""
        return self.tasks()
