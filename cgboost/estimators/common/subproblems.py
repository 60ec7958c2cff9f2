"""What one run of the loop is made of, and what it is asked for.

A target with one number a row asks for one output. A target with several, ±1 and 1 for the row's
class alone, asks for all of them in one run, whose master has a row for each pair of a training row
and another class (:mod:`cgboost.pricing.learners.joint`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.rows import Vector
from cgboost.generation.loop import Callback
from cgboost.generation.protocols import Master, Pricer
from cgboost.pricing import JointPricer, Pairs


@dataclass(frozen=True)
class Task:
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
    """

    master: Master
    pricer: Pricer
    n_outputs: int = 1
    columns_per_round: int = 1
    level: Callable[[Vector], float] | None = None
    callbacks: Sequence[Callback] = ()
    max_rounds: int | None = None


@dataclass(frozen=True)
class Problem:
    """One output; the master has the training rows.

    Attributes
    ----------
    target, weights : ndarray of shape (n_master_rows,)
    """

    target: Vector
    weights: Vector
    n_outputs: int = 1

    def pricer(self, make: Callable[[], Pricer]) -> Pricer:
        """The run's pricer, from a maker of pricers on the training rows."""
        return make()


@dataclass(frozen=True, kw_only=True)
class JointProblem(Problem):
    """An output for each class; the master has pairs of rows and other classes.

    Attributes
    ----------
    pairs : Pairs
    names : sequence
        What the classes are called.
    """

    pairs: Pairs
    names: Any

    def pricer(self, make: Callable[[], Pricer]) -> Pricer:
        """One pricer a class, merged."""
        pricers = [make() for _ in range(self.n_outputs)]
        return JointPricer(self.pairs, pricers, names=self.names)


def problem_of(target: Vector, weights: Vector, names: NDArray[Any] | None) -> Problem:
    """The problem that a target asks for: one output, or one for each of its columns."""
    if target.ndim == 1:
        return Problem(target, weights)
    n_outputs = target.shape[1]
    pairs = Pairs(target.argmax(axis=1), n_outputs)
    return JointProblem(
        np.ones(len(pairs)), weights[pairs.row], n_outputs, pairs=pairs, names=names
    )
