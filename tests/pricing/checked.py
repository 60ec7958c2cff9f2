"""Correlated features, and a pricer whose every choice is checked."""

import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation.protocols import Master, MasterState, Priced
from cgboost.pricing.features.correlation import CentredFeatures, CorrelationPricer, feature_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 120)) + RNG.normal(size=(80, 1))
WEIGHTS = RNG.uniform(0.5, 2.0, 80)
Y = X[:, :5].sum(axis=1) + RNG.normal(size=80)
Z = X - np.average(X, axis=0, weights=WEIGHTS)


class Checked:
    """A pricer whose every choice is compared with a search of its own."""

    def __init__(self, pricer: CorrelationPricer) -> None:
        self.pricer = pricer
        self.count = 0

    def price(self, state: MasterState, limit: int) -> Priced:
        """What the pricer offers, after a check that it is the best."""
        priced = self.pricer.price(state, limit)
        if limit:
            scores = np.abs(Z.T @ state.pseudo_response) / np.sqrt(WEIGHTS @ Z**2)
            if not self.pricer.repeats:
                scores[[feature_of(column) for column in state.columns]] = 0.0
            (column,) = priced.columns
            assert scores[feature_of(column)] >= scores.max() * (1 - 1e-9)
            self.count += 1
        return priced


def correct_rounds(master: Master, pricer: CorrelationPricer, rounds: int) -> int:
    """Rounds of the loop in which the pricer was right."""
    checked = Checked(pricer)
    ColumnGeneration(
        master, checked, tol=0.0, max_rounds=rounds + 1
    ).run()  # the last is not priced
    return checked.count


def features() -> CentredFeatures:
    """The centred features of X."""
    return CentredFeatures(X, WEIGHTS, centre=True)
