"""A fit in exact arithmetic: its objective, and the bound of a dual point that is made feasible.

Every float64 is a whole number over a power of two, and so are sums of their products. A
pseudo-response is written as whole numbers over one power of two, inside the box of its loss; where
the intercept is free they add up to exactly 0. Each row's loss is

    max r (y − f) − free·|r| − ½ bend·r²   over   low ≤ r ≤ high,   0 inside,

which holds for all losses of :data:`PARAMETERS`. Terms that are no such fractions (1/C) are rounded
outward. ``examples/check_certificate.py`` does the same without a line of this package.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.exceptions import CertificateError

GRID = 2**300
"""Terms of sums are rounded to multiples of 1/GRID."""

RESPONSE_BITS = 80
"""Binary digits of the largest response: enough that their rounding costs nothing."""

FLOAT_BITS = 53
"""Binary digits of a float64."""

OF_COLUMNS = "at_least"
"""The loss f ≥ y of the relaxation over a search's columns, which no estimator has."""

PARAMETERS = {
    "squared_error": None,
    "absolute_error": None,
    "quantile": "quantile",
    "epsilon_insensitive": "epsilon",
    "squared_epsilon_insensitive": "epsilon",
    "huber": "delta",
    "hinge": None,
    "squared_hinge": None,
    OF_COLUMNS: None,
}
"""Losses that are known in exact arithmetic, and the attribute that is their parameter."""

Box = tuple[Any, Any, Any, Any]
"""low, high, free and bend; an end may be infinite."""

NO_BOX: Box = (0, 0, 0, 0)


def box_of(loss: str, parameter: Fraction, cost: Fraction, y: Fraction) -> Box:
    """The box of a row; see :data:`Box`."""
    if not cost:
        return NO_BOX
    if loss == "squared_error":
        return -math.inf, math.inf, 0, 1 / cost
    if loss == "squared_epsilon_insensitive":
        return -math.inf, math.inf, parameter, 1 / (2 * cost)
    if loss == "quantile":
        return (parameter - 1) * cost, parameter * cost, 0, 0
    if loss == "huber":
        return -parameter * cost, parameter * cost, 0, 1 / cost
    if loss == "hinge":
        return min(0, cost * y), max(0, cost * y), 0, 0
    if loss == "squared_hinge":
        return (0, math.inf, 0, 1 / (2 * cost)) if y > 0 else (-math.inf, 0, 0, 1 / (2 * cost))
    if loss == OF_COLUMNS:
        return 0, math.inf, 0, 0
    return -cost, cost, parameter, 0  # absolute error, epsilon-insensitive


def loss_of_residual(residual: Fraction, box: Box) -> Any:
    """A row's loss at y − f."""
    low, high, free, bend = box
    size = max(abs(residual) - free, 0) * (1 if residual > 0 else -1)
    best = size / bend if bend else (high if size > 0 else low if size < 0 else 0)
    best = min(max(best, low), high)
    return best * residual - free * abs(best) - bend * best * best / 2


def rounded_down(terms: Iterable[Any]) -> Fraction:
    """A sum, each of its terms rounded down."""
    return Fraction(sum(Fraction(x) * GRID // 1 for x in terms), GRID)


def up(x: Fraction) -> float:
    """The least float64 that is not below a fraction."""
    near = float(x)
    return near if Fraction(near) >= x else math.nextafter(near, math.inf)


def down(x: Fraction) -> float:
    """The largest float64 that is not above a fraction."""
    return -up(-x)


def as_integers(values: Any) -> tuple[NDArray[Any], int]:
    """Whole numbers and an exponent: the values are the numbers times 2**exponent."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    there = mantissa != 0
    least = int(exponent[there].min()) if there.any() else 0
    whole = np.rint(np.ldexp(mantissa, FLOAT_BITS)).astype(np.int64).astype(object)
    shift = np.where(there, exponent - least, 0).astype(object)
    return whole << shift, least - FLOAT_BITS


def _times_power(number: int, exponent: int) -> Fraction:
    return Fraction(number << exponent) if exponent >= 0 else Fraction(number, 1 << -exponent)


@dataclass(frozen=True, eq=False)
class ExactFit:
    """A problem, coefficients and a pseudo-response, to be put into fractions.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        A charged intercept is its last column.
    y, costs : ndarray of shape (n_rows,)
    loss : str
        One of :data:`PARAMETERS`.
    parameter : float
        Of the loss; 0 where it has none.
    l1_share : float
        ρ of ρ v|w| + ½(1 − ρ)(v w)².
    weights : ndarray of shape (n_features,)
        v, positive.
    coef : ndarray of shape (n_features,)
    intercept : float
        A free one; else 0.
    response : ndarray of shape (n_rows,)
        Nearly feasible.
    unit : float
        What the objective is a multiple of.
    balanced : bool
        Whether the intercept is free.
    kernel : bool
        Whether X is the matrix of a kernel, and the penalty ½ wᵀXw.
    """

    X: Vector
    y: Vector
    costs: Vector
    loss: str
    parameter: float
    l1_share: float
    weights: Vector
    coef: Vector
    intercept: float
    response: Vector
    unit: float = 1.0
    balanced: bool = False
    positive: bool = False
    kernel: bool = False

    def values(self) -> ExactValues:
        """Objective and bound, and what proves them."""
        y = [Fraction(x) for x in self.y.tolist()]
        parameter = Fraction(self.parameter)
        boxes = [
            box_of(self.loss, parameter, Fraction(cost), target)
            for cost, target in zip(self.costs.tolist(), y, strict=True)
        ]
        integers, bits = self._response(boxes)
        X, exponent = as_integers(self.X)
        W, of_coef = as_integers(self.coef)
        output = [_times_power(f, exponent + of_coef) for f in (X @ W).tolist()]
        dual = np.array(integers, dtype=object)
        scores = [_times_power(s, exponent - bits) for s in (X.T @ dual).tolist()]
        largest = [up(s if self.positive else abs(s)) for s in scores]
        unit, coef = Fraction(self.unit), [Fraction(w) for w in self.coef.tolist()]
        minus_loss = rounded_down(
            -loss_of_residual(target - f - Fraction(self.intercept), box)
            for target, f, box in zip(y, output, boxes, strict=True)
        )
        share, v = Fraction(self.l1_share), [Fraction(x) for x in self.weights.tolist()]
        sizes = [Fraction(s) / weight for s, weight in zip(largest, v, strict=True)]
        longest = max(Fraction(1), *sizes) if share == 1 else Fraction(1)
        r = [Fraction(x, 1 << bits) / longest for x in integers]
        bound = rounded_down(
            x * target - box[2] * abs(x) - box[3] * x * x / 2
            for x, target, box in zip(r, y, boxes, strict=True)
        )
        if self.kernel:
            pairs = zip(coef, output, strict=True)
            minus_penalty = rounded_down(-w * f / 2 for w, f in pairs)
            bound += rounded_down(-x * s / 2 for x, s in zip(r, scores, strict=True))
        else:
            own = [w * weight for w, weight in zip(coef, v, strict=True)]
            minus_penalty = rounded_down(-share * abs(w) - (1 - share) * w * w / 2 for w in own)
            if share < 1:
                over = [max(size - share, Fraction(0)) for size in sizes]
                bound += rounded_down(-x * x / (1 - share) / 2 for x in over)
        objective = unit * (-minus_loss - minus_penalty)
        return ExactValues(objective, unit * bound, integers, bits, largest)

    def _response(self, boxes: Sequence[Box]) -> tuple[list[int], int]:
        """Whole numbers over a power of two, inside the boxes and, if asked for, of the sum 0."""
        largest = float(np.abs(self.response).max(initial=0.0))
        bits = max(0, RESPONSE_BITS - (math.frexp(largest)[1] if largest else 0))
        one = 1 << bits
        found = []
        for x, (low, high, _, _) in zip(self.response.tolist(), boxes, strict=True):
            number = int(Fraction(x) * one)  # towards 0
            number = number if low == -math.inf else max(number, math.ceil(low * one))
            found.append(number if high == math.inf else min(number, math.floor(high * one)))
        if self.balanced:
            _balance(found)
        return found, bits


def _balance(numbers: list[int]) -> None:
    """Move numbers towards 0 until their sum is 0, the largest ones of its sign first."""
    left = sum(numbers)
    for k in sorted(range(len(numbers)), key=lambda k: -abs(numbers[k])):
        if not left:
            return
        if (numbers[k] > 0) == (left > 0) and numbers[k]:
            step = min(abs(numbers[k]), abs(left)) * (1 if left > 0 else -1)
            numbers[k], left = numbers[k] - step, left - step
    if left:
        raise CertificateError("the responses cannot be balanced")


@dataclass(frozen=True, eq=False)
class ExactValues:
    """What is known of a fit in fractions.

    Attributes
    ----------
    integers : list of int
        The pseudo-response times 2**bits.
    largest_scores : list of float
        The score of each feature, rounded up: its size, or itself where coefficients are positive.
    """

    objective: Fraction
    bound: Fraction
    integers: list[int]
    bits: int
    largest_scores: list[float]
