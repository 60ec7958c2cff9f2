"""A loss on training rows with linear limits on the model behind them.

    min  F(f) + Ω(α),    f = Hα + b,    z = Aα,    z_k ≤ d_k,  or z_k = d_k for equations

The rows of A stand behind those of H. A limit is a row whose loss is the indicator of a half-line
(of a point, for an equation), with the conjugate λd: its pseudo-response is −λ for a multiplier λ,
at least 0 for an inequality. A column then has the score h·r − a·λ. Such a loss is no function that
a solver of losses can take; two relaxations are, and tend to it:

    exact penalty          M max(0, z − d)                   of losses that are a box in the dual
    augmented Lagrangian   (max(0, λ + ρ(z − d))² − λ²)/2ρ   of losses with a curvature

With M above the largest multiplier of an optimum the first has the same optimum (Bertsekas,
*Nonlinear Programming*, section 5.4). Of the second, λ ← max(0, λ + ρ(z − d)) at its minimum is the
method of multipliers (Rockafellar, *Math. of Operations Research* 1, 1976), which converges for
every ρ. For equations there is no max(0, ·), and |z − d| in the first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.losses.dual.support_vector import SupportVectorLoss

FAR_MULTIPLIER = 1e6
"""Multipliers do not come near this many times what they are: boxes have finite ends."""


@dataclass(frozen=True)
class Limits:
    """Upper limits of linear functions of the coefficients, and equations.

    Attributes
    ----------
    limit : ndarray of shape (n_limits,)
        d.
    is_equation : ndarray of bool, shape (n_limits,)
    """

    limit: Vector
    is_equation: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.limit)

    def excess(self, values: Vector) -> Vector:
        """By how much each limit is exceeded; of equations, with its sign."""
        over = values - self.limit
        return np.where(self.is_equation, over, np.maximum(over, 0.0))

    def allowed(self, multipliers: Vector) -> Vector:
        """The nearest multipliers of the right sign."""
        return np.where(self.is_equation, multipliers, np.maximum(multipliers, 0.0))


class LimitedLoss:
    """The loss with its limits: what objectives and bounds rest on.

    Parameters
    ----------
    loss : loss on its rows
    """

    def __init__(self, loss: Any, limits: Limits) -> None:
        self.on_rows, self.limits = loss, limits
        self.n_trained = loss.n_rows

    @property
    def n_rows(self) -> int:
        """Training rows and limits."""
        return int(self.n_trained + len(self.limits))

    def parts(self, response: Vector) -> tuple[Vector, Vector]:
        """The pseudo-response of the training rows, and the multipliers λ of the limits."""
        return response[: self.n_trained], -response[self.n_trained :]

    def value(self, output: Vector) -> float:
        """F of the training rows; limits are taken to hold."""
        return float(self.on_rows.value(output[: self.n_trained]))

    def gain(self, response: Vector) -> float:
        """−F*(−r) − λ·d."""
        own, multipliers = self.parts(response)
        return float(self.on_rows.gain(own)) - float(multipliers @ self.limits.limit)

    def feasible(self, response: Vector, *, balanced: bool = False) -> Vector:
        """A pseudo-response near this one with a finite gain, and with Σr = 0 if ``balanced``."""
        own, multipliers = self.parts(response)
        own = self.on_rows.feasible(own, balanced=balanced)
        return np.append(own, -self.limits.allowed(multipliers))

    def magnitude(self, output: Vector, response: Vector) -> float:
        """Sizes of the numbers that the loss is a difference of."""
        n = self.n_trained
        return float(self.on_rows.magnitude(output[:n], response[:n]))


class AugmentedLoss:
    """The augmented Lagrangian, a smooth loss on its rows.

    Parameters
    ----------
    limited : LimitedLoss
        Of a loss with a curvature.
    multipliers : ndarray of shape (n_limits,)
        λ.
    weight : float
        ρ.
    """

    def __init__(self, limited: LimitedLoss, multipliers: Vector, weight: float) -> None:
        self.limited, self.multipliers, self.weight = limited, multipliers, weight
        self.n_rows = limited.n_rows

    def _moved(self, output: Vector) -> Vector:
        """The next multipliers, λ + ρ(z − d), of the right sign."""
        over = output[self.limited.n_trained :] - self.limited.limits.limit
        return self.limited.limits.allowed(self.multipliers + self.weight * over)

    def value(self, output: Vector) -> float:
        """F(f) + (λ'² − λ²)/2ρ for the next multipliers λ'."""
        moved = self._moved(output)
        return self.limited.value(output) + float(
            (moved - self.multipliers) @ (moved + self.multipliers) / (2.0 * self.weight)
        )

    def pseudo_response(self, output: Vector) -> Vector:
        """−∂F/∂f, and −λ'."""
        own = self.limited.on_rows.pseudo_response(output[: self.limited.n_trained])
        return np.append(own, -self._moved(output))

    def curvature(self, output: Vector) -> Vector:
        """∂²F/∂f², and ρ where a limit pulls."""
        own = self.limited.on_rows.curvature(output[: self.limited.n_trained])
        pulls = self.limited.limits.is_equation | (self._moved(output) > 0)
        return np.append(own, self.weight * pulls)

    def gain(self, response: Vector) -> float:
        """−F*(−r) − λ'·d − |λ' − λ|²/2ρ."""
        moved = self.limited.parts(response)[1] - self.multipliers
        return self.limited.gain(response) - float(moved @ moved) / (2.0 * self.weight)

    def feasible(self, response: Vector) -> Vector:
        """The nearest r at which the gain is finite."""
        return self.limited.feasible(response)

    def magnitude(self, output: Vector, response: Vector) -> float:
        """Sizes of the numbers that the loss is a difference of."""
        return self.limited.magnitude(output, response)

    def as_box(self, box: SupportVectorLoss) -> SupportVectorLoss:
        """The same plus |λ|²/2ρ by its dual, for a loss that is a box with a curvature.

        max over r ≤ 0 of r(d − λ/ρ − z) − r²/2ρ, with a far end instead of none. With a tube there
        may be no equations, which it would soften.
        """
        far = FAR_MULTIPLIER * np.full(
            len(self.multipliers), 1.0 + np.abs(self.multipliers).max(initial=0.0)
        )
        limits, bends = self.limited.limits, np.zeros(len(far)) + 1.0 / self.weight
        curvature = np.zeros(box.n_rows) if box.curvature is None else box.curvature
        targets = limits.limit - self.multipliers / self.weight
        return replace(
            box,
            target=np.append(box.target, targets - box.epsilon),
            lower=np.append(box.lower, -far),
            upper=np.append(box.upper, np.where(limits.is_equation, far, 0.0)),
            curvature=np.append(curvature, bends),
        )


def with_penalised_limits(
    loss: SupportVectorLoss, limits: Limits, price: float
) -> SupportVectorLoss:
    """The box of the loss with a row for each limit, at a price of what is beyond it.

    Parameters
    ----------
    loss : SupportVectorLoss
        Without curvature and mass; with a tube there may be no equations, which it would soften.
    price : float
        M.

    Raises
    ------
    ValueError
        If the loss has a curvature or a mass, or the price is not positive.
    """
    if loss.mass is not None or loss.curvature is not None:
        raise ValueError("rows of limits go with a loss that is a box alone")
    if not 0 < price < np.inf:
        raise ValueError(f"price must be positive and finite, got {price!r}")
    return replace(  # a tube around the target is part of the limit
        loss,
        target=np.append(loss.target, limits.limit - loss.epsilon),
        lower=np.append(loss.lower, np.full(len(limits), -price)),
        upper=np.append(loss.upper, np.where(limits.is_equation, price, 0.0)),
    )
