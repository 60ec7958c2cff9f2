"""Columns for several classes at once: a weak learner and the class it votes for.

The joint loss of Weston and Watkins (*Support Vector Machines for Multi-Class Pattern Recognition*,
ESANN 1999) with outputs f_c(x) = Σ_j α_jc h_j(x),

    Σ_i price_i Σ_{c ≠ y_i} max(0, 1 − (f_{y_i}(x_i) − f_c(x_i))),

is the hinge loss over the *pairs* (i, c), c ≠ y_i: all have the label 1, and the output of a pair
is f_{y_i}(x_i) − f_c(x_i). The column (h, k), which adds h to the output of class k, is there

    h(x_i)·([y_i = k] − [c = k]),

so that its score against the pseudo-response u of the pairs is that of h against a pseudo-response
on the training rows, one for each class:

    Σ_ic u_ic h(x_i)([y_i = k] − [c = k]) = r_k·h,     r_k = Σ_c u_ic ([y_i = k] − [c = k]).

Masters and losses need not know of this, and any pricer finds the best h for a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Pricer

Vector = NDArray[np.float64]


class Pairs:
    """The pairs (i, c), c ≠ y_i, row by row; within a row by class.

    Parameters
    ----------
    labels : ndarray of int, shape (n_rows,)
        The class y_i of each row, between 0 and n_classes − 1.
    n_classes : int

    Attributes
    ----------
    row, against : ndarray of int, shape (n_rows·(n_classes − 1),)
        i and c of each pair.
    """

    def __init__(self, labels: NDArray[np.intp], n_classes: int) -> None:
        self.labels = np.asarray(labels, dtype=np.intp)
        self.n_classes = n_classes
        if not np.all((self.labels >= 0) & (self.labels < n_classes)):
            raise ValueError(f"labels must be between 0 and {n_classes - 1}")
        self.row, self.against = np.nonzero(self.labels[:, None] != np.arange(n_classes))

    def __len__(self) -> int:
        return len(self.row)

    def spread(self, values: NDArray[Any], label: int) -> NDArray[Any]:
        """The column (h, label) on the pairs, from h on the rows."""
        sign = (self.labels == label)[self.row].astype(np.int8) - (self.against == label)
        return values[self.row] * sign

    def fold(self, response: Vector) -> Vector:
        """The pseudo-responses r_k on the rows, shape (n_classes, n_rows): adjoint of spread."""
        folded = np.zeros((self.n_classes, len(self.labels)))
        folded[self.against, self.row] = -response
        won = response.reshape(len(self.labels), self.n_classes - 1).sum(axis=1)
        folded[self.labels, np.arange(len(self.labels))] = won
        return folded


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteColumn(Column):
    """The column (h, k) on the pairs, for k = ``output``.

    Attributes
    ----------
    learner : Column
        h on the training rows, as the pricer of class k made it.
    """

    learner: Column


class JointPricer:
    """Asks a pricer for each class and merges what they find; exact if all of them are.

    For masters over pairs, with an entry rule and without an offset. Every class is asked for an
    equal share, rounded up, of the columns wanted: on digits (ten classes) that took about as many
    rounds as choosing the best of all classes, and a third of the time to price.

    Parameters
    ----------
    pairs : Pairs
    pricers : sequence of Pricer
        One a class; they see the training rows, the class's pseudo-response and its columns, and
        as slack of a row the sum over the pairs that the class has a part in.
    names : sequence or None
        What the classes are called in strata; None: by their numbers.
    """

    def __init__(
        self, pairs: Pairs, pricers: Sequence[Pricer], *, names: Sequence[Any] | None = None
    ) -> None:
        if len(pricers) != pairs.n_classes:
            raise ValueError(f"{pairs.n_classes} classes need as many pricers, got {len(pricers)}")
        self.pairs = pairs
        self.pricers = list(pricers)
        self.names = list(range(pairs.n_classes)) if names is None else list(names)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The best columns of each class; no more than ``limit``, those of largest excess first."""
        states = self._states(state)
        share = -(-limit // self.pairs.n_classes)
        answers = [
            pricer.price(of_class, share)
            for pricer, of_class in zip(self.pricers, states, strict=True)
        ]
        found = [(k, learner) for k, answer in enumerate(answers) for learner in answer.columns]
        scores = [float(learner.values @ states[k].pseudo_response) for k, learner in found]
        best = np.argsort(-state.rule.excess(np.array(scores)), kind="stable")[:limit]
        columns = [self._column(*found[place]) for place in best]
        return Priced(
            columns=columns,
            exact=all(answer.exact for answer in answers),  # if not, the excess is nan
            max_excess=float(np.max([answer.max_excess for answer in answers])),
            total_excess=float(np.sum([answer.total_excess for answer in answers])),
            n_evaluated=sum(answer.n_evaluated for answer in answers),
            stratum=columns[0].stratum if columns else "",
        )

    def _states(self, state: MasterState) -> list[MasterState]:
        """The state as the pricer of each class sees it."""
        responses = self.pairs.fold(state.pseudo_response)
        slack = np.abs(self.pairs.fold(state.slack))  # within a row and class, one sign
        votes = cast(Sequence[VoteColumn], state.columns)
        places = [np.zeros(0, dtype=np.intp)] * self.pairs.n_classes
        if votes:
            owner = np.array([vote.output for vote in votes])
            places = [np.flatnonzero(owner == k) for k in range(self.pairs.n_classes)]
        return [
            replace(
                state,
                columns=[votes[j].learner for j in mine.tolist()],
                coef=state.coef[mine],
                intercept=0.0,
                output=_combined(votes, state.coef, mine, len(self.pairs.labels)),
                pseudo_response=responses[k],
                slack=slack[k],
            )
            for k, mine in enumerate(places)
        ]

    def _column(self, k: int, learner: Column) -> VoteColumn:
        return VoteColumn(
            values=self.pairs.spread(learner.values, k),
            key=(k, learner.key),
            hypothesis=learner.hypothesis,
            stratum=f"class {self.names[k]}: {learner.stratum}",
            output=k,
            learner=learner,
        )


def _combined(
    votes: Sequence[VoteColumn], coef: Vector, places: NDArray[np.intp], n_rows: int
) -> Vector:
    """Σ α_j h_j on the training rows, over some of the columns."""
    output = np.zeros(n_rows)
    for j in places[coef[places] != 0].tolist():
        output += coef[j] * votes[j].learner.values
    return output
