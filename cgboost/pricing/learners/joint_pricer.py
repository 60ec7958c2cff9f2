"""Pricers for several classes, made of a pricer for each.

:class:`JointPricer` makes columns for all at once: a weak learner and the class it votes for.

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

:class:`ClassByClassPricer` makes a column for each class a round, from its two-class problem.
Along the output of one class the multinomial deviance of the scores f is a two-class log loss,

    log Σ_l e^{f_l} − f_y = log(1 + e^{−y_k u_k}) + constant,   u_k = f_k − log Σ_{l≠k} e^{f_l},

with y_k = 1 in the rows of class k and −1 in the others. Its output is u_k/2, half the log-odds;
in terms of f_k its Newton weights are p_k(1 − p_k), and its working response is
([y = k] − p_k)/(p_k(1 − p_k)): that of LogitBoost for J classes (Friedman, Hastie, Tibshirani,
*Additive Logistic Regression*, Annals of Statistics 28, 2000, Algorithm 6). So any pricer for two
classes makes the columns for K; h added to u_k/2 is 2h added to f_k.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column, FloatArray
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.generation.resuming import OfPricers
from cgboost.losses.loss import WeightedLoss
from cgboost.losses.multinomial import log_odds
from cgboost.pricing.scans.sequence import tell_time


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

    def __init__(self, labels: Indices, n_classes: int) -> None:
        self.labels = np.asarray(labels, dtype=np.intp)
        self.n_classes = n_classes
        if not np.all((self.labels >= 0) & (self.labels < n_classes)):
            raise ValueError(f"labels must be between 0 and {n_classes - 1}")
        self.row, self.against = np.nonzero(self.labels[:, None] != np.arange(n_classes))

    def __len__(self) -> int:
        return len(self.row)

    @property
    def n_outputs(self) -> int:
        """One for each class."""
        return self.n_classes

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.labels)

    def column(self, learner: Column, label: int, stratum: str) -> VoteColumn:
        """The column (h, label)."""
        return VoteColumn(
            values=self.spread(learner.values, label),
            key=(label, learner.key),
            hypothesis=learner.hypothesis,
            stratum=stratum,
            output=label,
            learner=learner,
        )

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


class SpreadColumn(Column):
    """The column (h, k) on rows that are pairs of an output and a training row: 0 but for output k.

    Its values are made when they are asked for: kept, they would take n_outputs times as much as h.

    Parameters
    ----------
    learner : Column
        h on the training rows.
    """

    learner: Column
    n_outputs: int

    def __init__(self, learner: Column, output: int, n_outputs: int, stratum: str) -> None:
        own = {
            "learner": learner,
            "key": (output, learner.key),
            "hypothesis": learner.hypothesis,
            "stratum": stratum,
            "output": output,
            "n_outputs": n_outputs,
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @property
    def values(self) -> FloatArray:
        """The column on the pairs, those of the first output first."""
        values = np.zeros((self.n_outputs, len(self.learner.values)), self.learner.values.dtype)
        values[self.output] = self.learner.values
        return values.ravel()


class OutputRowPairs:
    """The pairs (output, training row) of a model of several outputs, the first output first."""

    def __init__(self, n_outputs: int, n_rows: int) -> None:
        self.n_outputs, self.n_rows = n_outputs, n_rows

    def fold(self, response: Vector) -> Vector:
        """The pseudo-response of each output on the training rows, shape (n_outputs, n_rows)."""
        return response.reshape(self.n_outputs, self.n_rows)

    def column(self, learner: Column, output: int, stratum: str) -> SpreadColumn:
        """The column (h, output)."""
        return SpreadColumn(learner, output, self.n_outputs, stratum)


class JointPricer(OfPricers):
    """Asks a pricer for each class and merges what they find; exact if all of them are.

    For masters over pairs, with an entry rule and without an offset. Every class is asked for an
    equal share, rounded up, of the columns wanted: on digits (ten classes) that took about as many
    rounds as choosing the best of all classes, and a third of the time to price.

    Parameters
    ----------
    pairs : Pairs or OutputRowPairs
    pricers : sequence of Pricer
        One a class, or output; they see the training rows, the class's pseudo-response and its
        columns, and as slack of a row the sum over the pairs that the class has a part in.
    names : sequence or None
        What the classes are called in strata; None: by their numbers.
    kind : str, default="class"
        What names are names of.

    Attributes
    ----------
    seconds_left : float or None
        Time for the next call, of all pricers.
    """

    def __init__(
        self,
        pairs: Pairs | OutputRowPairs,
        pricers: Sequence[Pricer],
        *,
        names: Sequence[Any] | None = None,
        kind: str = "class",
    ) -> None:
        if len(pricers) != pairs.n_outputs:
            raise ValueError(f"{pairs.n_outputs} outputs need as many pricers, got {len(pricers)}")
        self.pairs = pairs
        self.pricers = list(pricers)
        self.names = list(range(pairs.n_outputs)) if names is None else list(names)
        self.kind = kind
        self.seconds_left: float | None = None

    def price(self, state: MasterState, limit: int) -> Priced:
        """The best columns of each class; no more than ``limit``, those of largest excess first."""
        states = self._states(state)
        share = -(-limit // self.pairs.n_outputs)
        started, answers = time.perf_counter(), []
        for pricer, of_class in zip(self.pricers, states, strict=True):
            tell_time(pricer, self.seconds_left, started)
            answers.append(pricer.price(of_class, share))
        found = [(k, learner) for k, answer in enumerate(answers) for learner in answer.columns]
        scores = [float(learner.values @ states[k].pseudo_response) for k, learner in found]
        best = np.argsort(-state.rule.excess(np.array(scores)), kind="stable")[:limit]
        columns: list[Column] = []
        for k, learner in (found[place] for place in best):
            stratum = f"{self.kind} {self.names[k]}: {learner.stratum}"
            columns.append(self.pairs.column(learner, k, stratum))
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
        places = [np.zeros(0, dtype=np.intp)] * self.pairs.n_outputs
        if votes:
            owner = np.array([vote.output for vote in votes])
            places = [np.flatnonzero(owner == k) for k in range(self.pairs.n_outputs)]
        return [
            replace(
                state,
                columns=[votes[j].learner for j in mine.tolist()],
                coef=state.coef[mine],
                intercept=0.0,
                output=_combined(votes, state.coef, mine, self.pairs.n_rows),
                pseudo_response=responses[k],
                slack=slack[k],
            )
            for k, mine in enumerate(places)
        ]


def _combined(votes: Sequence[VoteColumn], coef: Vector, places: Indices, n_rows: int) -> Vector:
    """Σ α_j h_j on the training rows, over some of the columns."""
    output = np.zeros(n_rows)
    for j in places[coef[places] != 0].tolist():
        output += coef[j] * votes[j].learner.values
    return output


class ClassByClassPricer(OfPricers):
    """Asks a pricer for each class, which sees the class against the rest at the present scores.

    For stagewise masters of a multinomial deviance with a constant step. Finding nothing proves
    nothing.

    Parameters
    ----------
    pricers : sequence of Pricer
        One for each class.
    losses : sequence of WeightedLoss
        The log loss of each class against the rest, labels ±1.
    """

    def __init__(self, pricers: Sequence[Pricer], losses: Sequence[WeightedLoss]) -> None:
        if len(pricers) != len(losses):
            raise ValueError(f"{len(losses)} classes need as many pricers, got {len(pricers)}")
        self.pricers, self.losses = list(pricers), list(losses)

    def price(self, state: MasterState, limit: int) -> Priced:
        """One column for each class, or for the first ``limit`` of them."""
        answers = [
            pricer.price(seen, 1)
            for pricer, seen in zip(self.pricers[:limit], self._states(state), strict=False)
        ]
        columns: list[Column] = [
            replace(column, key=(k, column.key), output=k)
            for k, answer in enumerate(answers)
            for column in answer.columns
        ]
        return Priced(
            columns=columns,
            n_evaluated=sum(answer.n_evaluated for answer in answers),
            stratum=columns[0].stratum if columns else "",
        )

    def _states(self, state: MasterState) -> Iterator[MasterState]:
        """The state as the pricer of each class sees it: two classes."""
        for loss, odds in zip(self.losses, log_odds(state.output).T, strict=True):
            output = 0.5 * odds
            response = loss.pseudo_response(output)
            yield replace(
                state,
                output=output,
                pseudo_response=response,
                curvature=loss.curvature(output),
                objective=loss.value(output),
            )
