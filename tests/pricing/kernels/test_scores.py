"""Scores with more digits than float64, and columns to be scored again."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import RBF, Linear, Polynomial
from cgboost.generation.protocols import EntryRule
from cgboost.penalties.l1 import OneNormEntry
from cgboost.penalties.l2 import TwoNormEntry
from cgboost.pricing.kernels.scores import (
    EXTENDED_UNIT,
    extended_scores,
    undecided,
)
from cgboost.pricing.scans.candidates import (
    Candidates,
    HeldColumns,
    PricingRequest,
    merged,
    search_scores,
)
from cgboost.tolerances import UNIT_ROUNDOFF
from tests.effort import examples


def test_scores_with_more_digits_are_those_of_exact_arithmetic() -> None:
    """Sums of a quadratic kernel of large features that cancel are those of fractions."""
    rng = np.random.default_rng(0)
    X, r = np.round(1000.0 * rng.normal(size=(12, 3)), 3), rng.normal(size=12)
    r[3] = 0.0
    centres = np.array([0, 5, 11])
    scores, errors = extended_scores([Linear(), Polynomial(2)], X, centres, r)
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    for k, degree in enumerate([1, 2]):
        for place, j in enumerate(centres):
            exact = sum(
                Fraction(weight) * sum(a * b for a, b in zip(row, rows[j], strict=True)) ** degree
                for weight, row in zip(r.tolist(), rows, strict=True)
            )
            off = abs(Fraction(float(scores[k, place])) - exact)
            assert off <= Fraction(float(errors[k, place]))


@pytest.mark.parametrize("kernel", [Polynomial(2), RBF(0.1)])
def test_bounds_are_smaller_where_the_type_is_wider(kernel: object) -> None:
    """The bound shrinks with the unit roundoff, up to that of the score itself."""
    rng = np.random.default_rng(1)
    X, r = rng.normal(size=(20, 3)), rng.normal(size=20)
    scores, errors = extended_scores([kernel], X, np.arange(20), r)
    size = np.abs(r).sum() * 1e3
    assert (errors <= 200.0 * EXTENDED_UNIT * size + UNIT_ROUNDOFF * np.abs(scores)).all()


def test_a_kernel_of_unknown_rounding_counts_as_rounded() -> None:
    """What says nothing of its rounding is off by that of each value to float64."""

    class Unknown(Linear):
        def rounding(self, arithmetic: object) -> None:
            return None

    rng = np.random.default_rng(2)
    X, r = rng.normal(size=(9, 2)), rng.normal(size=9)
    _, errors = extended_scores([Unknown(), Polynomial(2)], X, np.arange(9), r)
    assert (errors[0] >= UNIT_ROUNDOFF * (np.abs(r) @ np.abs(X @ X.T)) * (1 - 1e-9)).all()


def shown(scores: np.ndarray, errors: np.ndarray, request: PricingRequest) -> Candidates:
    """What all columns of all strata show."""
    every = np.arange(scores.shape[1])
    found = [search_scores(s, every, scores[s], errors[s], request) for s in range(len(scores))]
    return reduce(lambda a, b: merged(a, b, request.limit), found)


@settings(max_examples=examples(100), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(
        [OneNormEntry(True), OneNormEntry(False), TwoNormEntry(True, 2.0), TwoNormEntry(False, 2.0)]
    ),
    size=st.sampled_from([1e-1, 1e-2, 1e-3]),
    tol=st.sampled_from([1e-2, 1e-4]),
)
def test_without_their_errors_the_gap_is_seen(
    seed: int, rule: EntryRule, size: float, tol: float
) -> None:
    """What hid the gap no longer does once the columns chosen have no errors."""
    rng = np.random.default_rng(seed)
    scores = rule.settled(2.0) - size * rng.uniform(-0.01, 3.0, size=(2, 60))  # most just within
    errors = size * rng.uniform(size=(2, 60))
    held = [
        HeldColumns(np.array([1, 7]), np.array([3.0, 0.5]), np.array([0.0, 1e-14])),
        HeldColumns(np.arange(3)),
    ]
    request = PricingRequest(np.zeros(0), rule, held, 5, tol)
    found = shown(scores, errors, request)
    centres = undecided([0, 1], scores, errors, request, found)
    assert len(centres) or not found.blurred(request)
    assert (np.diff(centres) > 0).all()
    errors[:, centres] = 0.0
    assert not shown(scores, errors, request).blurred(request)


@pytest.mark.parametrize("rule", [OneNormEntry(False), TwoNormEntry(False, 1.0)])
def test_columns_that_cannot_price_out_are_left_as_they_are(rule: EntryRule) -> None:
    """Nor are those of the master, whose own scores are known."""
    scores = np.where(np.arange(200) % 50 == 3, rule.settled(2.0), -5.0)[None]
    held = HeldColumns(np.array([53]), np.array([2.0]), np.array([1e-15]))
    request = PricingRequest(np.zeros(0), rule, [held], 5, 1e-6)
    errors = np.full((1, 200), 0.1)
    chosen = undecided([0], scores, errors, request, shown(scores, errors, request))
    assert chosen.tolist() == [3, 103, 153]
