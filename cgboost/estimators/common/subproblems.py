"""What one run of the loop is made of, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cgboost.estimators.common.training_rows import Vector
from cgboost.generation.history import Round
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
    level : callable or None
        What the loss has chosen itself (ε or −ρ) for an output on the master's rows.
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
    level: Callable[[Vector], float] | None = None
    callbacks: Sequence[Callable[[Round], Any]] = ()
    max_rounds: int | None = None
    max_columns: int | None = None
