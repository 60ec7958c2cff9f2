"""Losses as SQL: value, pseudo-response and curvature of a row."""

from __future__ import annotations

from dataclasses import dataclass

from cgboost.additive.export.dialects import Dialect
from cgboost.additive.export.sql import between
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
    value, response, curvature : str
        ℓ(y, f), −∂ℓ/∂f and ∂²ℓ/∂f².
    """

    value: str
    response: str
    curvature: str


def expressions_of(loss: Loss, sql: Dialect, y: str, f: str) -> LossExpressions:
    """The expressions of a loss.

    Parameters
    ----------
    loss : Loss
    sql : Dialect
    y, f : str
        A column, and a column or an expression in brackets.

    Raises
    ------
    UnsupportedLossError
        If the loss is not written in SQL.
    """
    n = sql.number
    match loss:
        case SquaredError():
            residual = f"({y} - {f})"
            return LossExpressions(f"{n(0.5)} * {residual} * {residual}", residual, n(1.0))
        case LogLoss():
            return _log_loss(sql, y, f)
        case Huber(delta=delta):
            size, end = f"ABS({y} - {f})", n(delta)
            return LossExpressions(
                f"CASE WHEN {size} <= {end} THEN {n(0.5)} * ({y} - {f}) * ({y} - {f}) "
                f"ELSE {end} * ({size} - {n(0.5 * delta)}) END",
                f"({between(sql, f'({y} - {f})', -delta, delta)})",
                f"CASE WHEN {size} < {end} THEN {n(1.0)} ELSE {n(0.0)} END",
            )
        case Poisson():
            mean = f"EXP({between(sql, f, -LARGEST_EXPONENT, LARGEST_EXPONENT)})"
            least = f"CASE WHEN {y} > {n(0.0)} THEN {y} * LN({y}) - {y} ELSE {n(0.0)} END"
            return LossExpressions(f"{mean} - {y} * {f} + ({least})", f"({y} - {mean})", mean)
    raise UnsupportedLossError(
        f"{loss!r} is not written in SQL: a fit in a database takes SquaredError, Huber, Poisson "
        "and, for classes, LogLoss"
    )


def _log_loss(sql: Dialect, y: str, f: str) -> LossExpressions:
    """log(1 + e^z), 2y/(1 + e^−z) and 4e^z/(1 + e^z)², z = −2yf, where nothing overflows."""
    n = sql.number
    z = f"({n(-2.0)} * {y} * {f})"
    one, end = n(1.0), n(SATURATED)
    minus = f"EXP(-{z})"
    value = (
        f"CASE WHEN {z} > {end} THEN {z} WHEN {z} > {n(0.0)} THEN {z} + LN({one} + {minus}) "
        f"WHEN {z} > {n(-SATURATED)} THEN LN({one} + EXP({z})) ELSE {n(0.0)} END"
    )
    response = (
        f"CASE WHEN {z} > {end} THEN {n(2.0)} * {y} WHEN {z} > {n(-SATURATED)} THEN "
        f"{n(2.0)} * {y} / ({one} + {minus}) ELSE {n(0.0)} END"
    )
    small = f"EXP(-ABS({z}))"
    square = f"(({one} + {small}) * ({one} + {small}))"
    curvature = f"CASE WHEN ABS({z}) < {end} THEN {n(4.0)} * {small} / {square} ELSE {n(0.0)} END"
    return LossExpressions(value, f"({response})", curvature)
