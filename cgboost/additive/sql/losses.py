"""Losses as SQL: value, pseudo-response and curvature of a row."""

from __future__ import annotations

from dataclasses import dataclass

from cgboost.additive.export.expressions import SQL, between, call, case
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses.exponential import LARGEST_EXPONENT
from cgboost.losses.huber import Huber
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.loss import Loss
from cgboost.losses.poisson import Poisson
from cgboost.losses.squared_error import SquaredError

SATURATED = 700.0
"""|2f| beyond which e^−|2f| is taken for 0: PostgreSQL reports an underflow below e^−745."""


@dataclass(frozen=True)
class LossExpressions:
    """Expressions in columns y and f.

    Attributes
    ----------
    value, response, curvature : SQL
        ℓ(y, f), −∂ℓ/∂f and ∂²ℓ/∂f².
    """

    value: SQL
    response: SQL
    curvature: SQL


def expressions_of(loss: Loss, y: SQL, f: SQL) -> LossExpressions:
    """The expressions of a loss.

    Parameters
    ----------
    y, f : SQL
        A column, and a column or an expression in brackets.

    Raises
    ------
    UnsupportedLossError
        If the loss is not written in SQL.
    """
    residual = y - f
    square = 0.5 * residual * residual
    match loss:
        case SquaredError():
            return LossExpressions(square, residual, case([], 1.0))
        case LogLoss():
            return _log_loss(y, f)
        case Huber(delta=delta):
            size = call("ABS", residual)
            return LossExpressions(
                case([(size <= delta, square)], delta * (size - 0.5 * delta)),
                between(residual, -delta, delta),
                case([(size < delta, 1.0)], 0.0),
            )
        case Poisson():
            mean = call("EXP", between(f, -LARGEST_EXPONENT, LARGEST_EXPONENT))
            least = case([(y > 0.0, y * call("LN", y) - y)], 0.0)
            return LossExpressions(mean - y * f + least, y - mean, mean)
    raise UnsupportedLossError(
        f"{loss!r} is not written in SQL: a fit in a database takes SquaredError, Huber, Poisson "
        "and, for classes, LogLoss"
    )


def _log_loss(y: SQL, f: SQL) -> LossExpressions:
    """log(1 + e^z), 2y/(1 + e^−z) and 4e^z/(1 + e^z)², z = −2yf, where nothing overflows."""
    z = -2.0 * y * f
    size, one_more = call("ABS", z), 1.0 + call("EXP", -z)
    whens = [(z > SATURATED, z), (z > 0.0, z + call("LN", one_more))]
    value = case([*whens, (z > -SATURATED, call("LN", 1.0 + call("EXP", z)))], 0.0)
    response = case([(z > SATURATED, 2.0 * y), (z > -SATURATED, 2.0 * y / one_more)], 0.0)
    small = call("EXP", -size)
    bend = 4.0 * small / ((1.0 + small) * (1.0 + small))
    return LossExpressions(value, response, case([(size < SATURATED, bend)], 0.0))
