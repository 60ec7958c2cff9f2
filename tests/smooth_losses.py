"""Small smooth losses, bound to targets and prices: Σ price·ℓ(y, f)."""

from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit, xlogy

Vector = np.ndarray


@dataclass(frozen=True)
class Bound:
    """Targets, or labels ±1, and a price for every row."""

    target: Vector
    price: Vector

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target)


class LogLoss(Bound):
    """Σ p log(1 + exp(−y f)); with u = y r in [0, p] the gain is the binary entropy of u/p."""

    def value(self, output: Vector) -> float:
        return float(self.price @ np.logaddexp(0.0, -self.target * output))

    def pseudo_response(self, output: Vector) -> Vector:
        return self.target * self.price * expit(-self.target * output)

    def curvature(self, output: Vector) -> Vector:
        return self.price * expit(output) * expit(-output)

    def gain(self, response: Vector) -> float:
        share = self.target * response / self.price
        return float(self.price @ (entr(share) + entr(1.0 - share)))

    def feasible(self, response: Vector) -> Vector:
        return self.target * np.clip(self.target * response, 0.0, self.price)


class Exponential(Bound):
    """Σ p exp(−y f); with u = y r ≥ 0 the gain is Σ u − u log(u/p)."""

    def value(self, output: Vector) -> float:
        return float(self.price @ np.exp(-self.target * output))

    def pseudo_response(self, output: Vector) -> Vector:
        return self.target * self.price * np.exp(-self.target * output)

    def curvature(self, output: Vector) -> Vector:
        return self.price * np.exp(-self.target * output)

    def gain(self, response: Vector) -> float:
        u = self.target * response
        return float((u - xlogy(u, u / self.price)).sum())

    def feasible(self, response: Vector) -> Vector:
        return self.target * np.maximum(self.target * response, 0.0)


class Poisson(Bound):
    """Σ p (exp(f) − y f); with m = y − r/p ≥ 0 the gain is Σ p (m − m log m)."""

    def value(self, output: Vector) -> float:
        return float(self.price @ (np.exp(output) - self.target * output))

    def pseudo_response(self, output: Vector) -> Vector:
        return self.price * (self.target - np.exp(output))

    def curvature(self, output: Vector) -> Vector:
        return self.price * np.exp(output)

    def gain(self, response: Vector) -> float:
        mean = np.maximum(self.target - response / self.price, 0.0)
        return float(self.price @ (mean - xlogy(mean, mean)))

    def feasible(self, response: Vector) -> Vector:
        return np.minimum(response, self.price * self.target)


class Squared(Bound):
    """Σ p (y − f)²/2; the gain is Σ y r − r²/2p."""

    def value(self, output: Vector) -> float:
        return float(self.price @ (self.target - output) ** 2) / 2

    def pseudo_response(self, output: Vector) -> Vector:
        return self.price * (self.target - output)

    def curvature(self, output: Vector) -> Vector:
        return self.price

    def gain(self, response: Vector) -> float:
        return float(self.target @ response - 0.5 * response**2 @ (1.0 / self.price))

    def feasible(self, response: Vector) -> Vector:
        return response
