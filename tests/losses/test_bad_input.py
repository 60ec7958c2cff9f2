"""Targets, weights and parameters that a loss refuses: one row for each check."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cgboost.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    LogLoss,
    Multinomial,
    Poisson,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
    entropic_nu_hinge,
    epsilon_insensitive,
    hinge,
    nu_hinge,
    nu_insensitive,
    one_class,
)

LABELS, NO_LABELS, ONES = np.array([1.0, -1.0]), np.array([0.0, 1.0]), np.ones(2)

NOTHING = r"nu=0.3 is a share of the costs, which are 0"

WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: LogLoss().on(NO_LABELS, ONES), "labels must be −1 or 1, got .*0.0"),
    (lambda: Hinge().dual_box(NO_LABELS, ONES), "labels must be −1 or 1, got .*0.0"),
    (lambda: nu_hinge(NO_LABELS, ONES, 0.3, balanced=True), "labels must be −1 or 1, got"),
    (lambda: Poisson().on(-LABELS, ONES), "y must not be negative for the Poisson loss, got"),
    (lambda: Multinomial(3).on(np.array([0, 3]), ONES), "class numbers from 0 to 2, got 3"),
    (lambda: SquaredError().on(np.zeros(3), ONES), r"one entry a row: shape \(2,\) for \(3,\)"),
    (lambda: hinge(LABELS, np.ones(3)), "price must have one entry a row"),
    (lambda: hinge(LABELS, np.array([1.0, -2.0])), "finite and not negative, got .*-2.0"),
    (lambda: Huber().dual_box(ONES, LABELS), "price must be finite and not negative"),
    (
        lambda: hinge(LABELS, np.full(2, 0.6e300)),
        r"at most 1e\+300, got up to 6e\+299 for each of 2 rows",
    ),
    (lambda: one_class(ONES, 0.0), r"nu must be in \(0, 1\], got 0.0"),
    (lambda: one_class(ONES, 1.5), r"nu must be in \(0, 1\], got 1.5"),
    (lambda: one_class(ONES, float("nan")), r"nu must be in \(0, 1\], got nan"),
    (lambda: one_class(np.zeros(2), 0.3), NOTHING),
    (lambda: nu_insensitive(LABELS, np.zeros(2), 0.3), NOTHING),
    (lambda: nu_hinge(LABELS, np.zeros(2), 0.3, balanced=True), NOTHING),
    (lambda: entropic_nu_hinge(LABELS, np.zeros(2), 0.3, eta=1.0, balanced=False), NOTHING),
    (
        lambda: nu_hinge(LABELS, np.array([3.0, 1.0]), 0.6, balanced=True),
        "nu = 0.6 is too large .* twice the share of the smaller class, 0.5",
    ),
    (
        lambda: nu_hinge(LABELS, ONES, 0.3, balanced=True, smoothing=-1.0),
        "smoothing must be finite and not negative, got -1.0",
    ),
    (
        lambda: entropic_nu_hinge(LABELS, ONES, 0.5, eta=0, balanced=False),
        "eta must be positive and finite, got 0",
    ),
    (lambda: epsilon_insensitive(ONES, ONES, -1.0), "epsilon must be at least 0, got -1"),
    (lambda: EpsilonInsensitive(-1).on(ONES, ONES), "epsilon must be at least 0, got -1"),
]


@pytest.mark.parametrize(("make", "words"), WRONG, ids=range(len(WRONG)))
def test_wrong_rows_and_prices_are_refused(make: Callable[[], Any], words: str) -> None:
    """The error names the argument, its value and what it may be."""
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("kind", "words", "outside"),
    [
        (Quantile, "quantile must be between 0 and 1", [0.0, 1.0, -0.5, float("nan")]),
        (Expectile, "alpha must be between 0 and 1", [0.0, 1.0]),
        (Huber, "delta must be positive", [0.0, -1.0, float("nan"), float("inf")]),
        (EpsilonInsensitive, "epsilon must be at least 0", [-1.0, float("nan")]),
        (SquaredEpsilonInsensitive, "epsilon must be at least 0", [-1.0]),
        (Multinomial, "n_classes must be", [0]),
    ],
)
def test_parameters_out_of_range_or_no_numbers_are_refused(
    kind: Any, words: str, outside: list[float]
) -> None:
    """With the name and the value."""
    for value in [*outside, "a", None, [0.5], 0.5j, np.array([0.5, 0.6])]:
        with pytest.raises(ValueError, match=f"{words}.*, got {re.escape(repr(value))}"):
            kind(value).on(np.zeros(2), np.ones(2))


def test_the_largest_and_the_least_prices_are_taken() -> None:
    """Prices that add up to 10³⁰⁰, and prices of 0 beside others."""
    assert hinge(LABELS, np.full(2, 0.5e300)).value(np.zeros(2)) == 1e300
    some = np.array([0.0, 1.0, 1.0])
    labels = np.array([1.0, -1.0, 1.0])
    for loss in (
        nu_hinge(labels, some, 0.3, balanced=True),
        entropic_nu_hinge(labels, some, 0.3, eta=1.0, balanced=False),
        nu_insensitive(labels, some, 0.3),
        one_class(some, 0.3),
    ):
        assert loss.n_rows == 3
