"""A column for each class a round, each from the two-class problem of a class against the rest.

Along the output of one class the multinomial deviance of the scores f is a two-class log loss,

    log Σ_l e^{f_l} − f_y = log(1 + e^{−y_k u_k}) + constant,   u_k = f_k − log Σ_{l≠k} e^{f_l},

with y_k = 1 in the rows of class k and −1 in the others. Its output is u_k/2, half the log-odds;
in terms of f_k its Newton weights are p_k(1 − p_k), and its working response is
([y = k] − p_k)/(p_k(1 − p_k)): that of LogitBoost for J classes (Friedman, Hastie, Tibshirani,
*Additive Logistic Regression*, Annals of Statistics 28, 2000, Algorithm 6). So any pricer for two
classes makes the columns for K; h added to u_k/2 is 2h added to f_k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.generation.resuming import memories, recall_all
from cgboost.losses.loss import WeightedLoss
from cgboost.losses.multinomial import log_odds


class ClassByClassPricer:
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

    def memory(self) -> list[Any]:
        """What the pricers of the classes remember."""
        return memories(self.pricers)

    def recall(self, memory: list[Any]) -> None:
        """Each goes on from its own."""
        recall_all(self.pricers, memory)

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
