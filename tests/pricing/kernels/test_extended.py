"""Scores with more digits than float64: those of exact arithmetic, within bounds that are small."""

from fractions import Fraction

import numpy as np
import pytest

from cgboost import RBF, Linear, Polynomial
from cgboost.pricing.kernels.extended import EXTENDED_UNIT, extended_scores
from cgboost.tolerances import UNIT_ROUNDOFF


def test_scores_of_exact_arithmetic() -> None:
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
