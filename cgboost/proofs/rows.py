"""Losses of a model's rows as a certificate needs them: each row's part of the gap for itself.

For every output f and every feasible pseudo-response r the Fenchel–Young inequality holds row by
row, ℓ_i(f_i) − g_i(r_i) + r_i f_i ≥ 0, where g_i(r) = −ℓ_i*(−r) is a row's part of the gain. Sharp
losses (hinge, ε-insensitive, quantile) have a smooth form for Newton's method, with the same box
for r: a quadratic term of width μ in the dual rounds each kink over μ of the output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from cgboost.arrays import Vector
from cgboost.generation.rounding import allowance
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import project_on_sum
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss, as_master_loss

NO_SCALE = 1e-12
"""Scale, relative to the largest target, of residuals that are all 0 but for rounding."""


class Rows(ABC):
    """The losses of all rows, with costs."""

    sharp = False
    """Whether there are kinks."""

    @abstractmethod
    def values(self, output: Vector) -> Vector:
        """Loss of each row, shape (n_rows,)."""

    @abstractmethod
    def gains(self, response: Vector) -> Vector:
        """g_i(r_i) of each row at a feasible r, shape (n_rows,)."""

    @abstractmethod
    def response(self, output: Vector) -> Vector:
        """The pseudo-response −∂L/∂f, of the shape of f."""

    @abstractmethod
    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """A feasible r nearby, with Σr = 0 if ``balanced``."""

    @abstractmethod
    def curvature(self, output: Vector) -> Vector:
        """Diagonal of the Hessian, of the shape of f."""

    def parts(self, output: Vector, response: Vector) -> Vector:
        """Each row's part of the gap, ℓ_i(f_i) − g_i(r_i) + r_i f_i, not negative."""
        paired = response * output
        paired = paired if paired.ndim == 1 else paired.sum(axis=1)
        return np.maximum(self.values(output) - self.gains(response) + paired, 0.0)

    def rounding(self, response: Vector, gains: Vector) -> float:
        """Σ of the sizes of the numbers that the gain is a difference of."""
        return float(np.abs(gains).sum())

    def along(self, response: Vector) -> tuple[float, float] | None:
        """(a, c) where Σ g(t r) less its rounding is a·t − ½c·t²; None where it is another."""
        return None

    def bent(self, width: float) -> Vector:
        """The quadratic term q of each row in the dual of :meth:`smoothed`; 0: it is another."""
        return np.zeros(1)

    def rounded(self, output: Vector, bent: Vector, centre: Vector) -> tuple[Vector, Vector]:
        """Response and curvature of :meth:`smoothed` with a q; both of shape (n_rows,)."""
        return self.response(output), self.curvature(output)

    def bending(self, output: Vector) -> Callable[[Vector], Vector]:
        """The Hessian at f, to be multiplied by directions of its shape."""
        curvature = self.curvature(output)
        return lambda direction: curvature * direction

    def most_bent(self, output: Vector) -> float:
        """The curvature of a constant, if every row bent as the one that bends most."""
        bent = self.curvature(output)
        return float(bent.max(initial=0.0)) * len(bent) or 1.0

    def smoothed(self, width: float, centre: Vector) -> Rows:
        """With kinks rounded over ``width`` of the output, so that r = ``centre`` costs nothing."""
        return self


@dataclass(frozen=True, eq=False)
class BoxRows(Rows):
    """A loss given by the box of its pseudo-response."""

    loss: SupportVectorLoss

    @property
    def sharp(self) -> bool:  # type: ignore[override]
        """Whether there are kinks."""
        return self.loss.curvature is None

    def response(self, output: Vector) -> Vector:
        """The r of the box that is best for f."""
        loss = self.loss
        if loss.mass is not None:  # with its level
            variables = loss.variables
            return variables.response(loss._best_variables(variables.rate(output))[0])
        error = loss.target - output
        if loss.curvature is not None:
            return self._inside(error, loss.curvature)
        nearest = np.clip(0.0, loss.lower, loss.upper)
        below = np.where(error < -loss.epsilon, loss.lower, nearest)
        return np.where(error > loss.epsilon, loss.upper, below)

    def _inside(self, error: Vector, bent: Vector) -> Vector:
        """The r of the box that is best for an error, with the quadratic terms ½ bent r²."""
        loss = self.loss
        if loss.epsilon:
            error = np.sign(error) * np.maximum(np.abs(error) - loss.epsilon, 0.0)
        return np.asarray(np.minimum(np.maximum(error / bent, loss.lower), loss.upper))

    def along(self, response: Vector) -> tuple[float, float] | None:
        """Of a loss without a level."""
        loss = self.loss
        if loss.mass is not None:
            return None
        size = np.abs(response)
        gained = float(response @ loss.target) - loss.epsilon * float(size.sum())
        bent = 0.0 if loss.curvature is None else float(loss.curvature @ response**2)
        sizes = float(size @ np.abs(loss.target)) + loss.epsilon * float(size.sum())
        return gained - allowance(sizes), bent

    def values(self, output: Vector) -> Vector:
        """g(r) − r f at the best r."""
        best = self.response(output)
        return self.gains(best) - best * output

    def gains(self, response: Vector) -> Vector:
        """Target·r − ε|r| − ½ curvature r²."""
        bent = 0.0 if self.loss.curvature is None else self.loss.curvature
        return (
            response * self.loss.target
            - self.loss.epsilon * np.abs(response)
            - 0.5 * bent * (response**2)
        )

    def rounding(self, response: Vector, gains: Vector) -> float:
        """Σ |r|·(|target| + ε)."""
        return float(np.abs(response) @ (np.abs(self.loss.target) + self.loss.epsilon))

    def most_bent(self, output: Vector) -> float:
        """Σ 1/curvature of the dual."""
        assert self.loss.curvature is not None
        return float((1.0 / self.loss.curvature).sum())

    def parts(self, output: Vector, response: Vector) -> Vector:
        """At the level of the output, where the loss has one."""
        if self.loss.mass is None:
            return super().parts(output, response)
        variables = self.loss.variables
        rate = variables.rate(output)
        best, level = self.loss._best_variables(rate)
        own = (rate - level) * (best - variables.values(response))
        return np.maximum(np.bincount(variables.row, weights=own, minlength=self.loss.n_rows), 0.0)

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """The nearest one."""
        return self.loss.feasible(response, balanced=balanced)

    def curvature(self, output: Vector) -> Vector:
        """1/curvature of the dual where r is inside its box and not 0 within a tube."""
        assert self.loss.curvature is not None
        response = self.response(output)
        inside = (response > self.loss.lower) & (response < self.loss.upper)
        if self.loss.epsilon:
            inside &= response != 0.0
        return np.where(inside, 1.0 / self.loss.curvature, 0.0)

    def rounded(self, output: Vector, bent: Vector, centre: Vector) -> tuple[Vector, Vector]:
        """The r of the box that is best for f, and 1/q where it is inside."""
        loss = self.loss
        error = loss.target - output
        if self.sharp:
            error += bent * centre
        if loss.epsilon:
            error = np.sign(error) * np.maximum(np.abs(error) - loss.epsilon, 0.0)
        response = np.minimum(np.maximum(error / bent, loss.lower), loss.upper)
        inside = (response > loss.lower) & (response < loss.upper)
        if loss.epsilon:
            inside &= error != 0.0
        return response, inside / bent

    def bent(self, width: float) -> Vector:
        """The quadratic term q of each row: its own, or width/(upper − lower) of a sharp one."""
        if self.loss.curvature is not None:
            return self.loss.curvature
        size = self.loss.upper - self.loss.lower
        return np.asarray(width / np.where(size > 0, size, 1.0))

    def smoothed(self, width: float, centre: Vector) -> BoxRows:
        """With the quadratic term ½ q (r − centre)², q = width/(upper − lower), in the dual."""
        if not self.sharp:
            return self
        bent = self.bent(width)
        target = self.loss.target + bent * centre
        return BoxRows(replace(self.loss, target=target, curvature=bent))


@dataclass(frozen=True, eq=False)
class SmoothRows(Rows):
    """A smooth loss, of which every row's part depends on its output alone."""

    loss: RowwiseLoss

    def values(self, output: Vector) -> Vector:
        """Costs times ℓ(y, f)."""
        own: Any = self.loss.on_rows
        return np.asarray(own.weights * own.loss.value(own.target, output))

    def gains(self, response: Vector) -> Vector:
        """−w ℓ*(y, −r/w)."""
        own: Any = self.loss.on_rows
        counts = own.weights > 0
        y, w = own.target[counts], own.weights[counts]
        low, high = own.loss.domain(y)
        gains = np.zeros(len(counts))
        gains[counts] = -w * own.loss.conjugate(y, np.clip(-response[counts] / w, low, high))
        return gains

    def rounding(self, response: Vector, gains: Vector) -> float:
        """Σ |g| + |r y|."""
        own: Any = self.loss.on_rows
        return super().rounding(response, gains) + float(np.abs(response) @ np.abs(own.target))

    def response(self, output: Vector) -> Vector:
        """−∂L/∂f."""
        return self.loss.pseudo_response(output)

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """Inside every row's set."""
        return self.loss.feasible(response, balanced=balanced)

    def curvature(self, output: Vector) -> Vector:
        """Costs times ∂²ℓ/∂f²."""
        return self.loss.weights(output)


@dataclass(frozen=True, eq=False)
class SoftmaxRows(Rows):
    """Multinomial deviance w (log Σ_k e^{f_k} − f_y) of K outputs, with its conjugate.

    r_k = w([y = k] − p_k) for a p in the simplex, and the gain is −w Σ_k p_k log p_k.

    Attributes
    ----------
    labels : ndarray of shape (n_rows, K)
        1 for the row's class, 0 else.
    weights : ndarray of shape (n_rows,)
        Positive.
    """

    labels: Vector
    weights: Vector

    def values(self, output: Vector) -> Vector:
        """W (log Σ_k e^{f_k} − f_y)."""
        own = (self.labels * output).sum(axis=1)
        return np.asarray(self.weights * (logsumexp(output, axis=1) - own))

    def gains(self, response: Vector) -> Vector:
        """−w Σ_k p_k log p_k with p = [y = k] − r/w."""
        shares = np.clip(self.labels - response / self.weights[:, None], 0.0, 1.0)
        return -self.weights * xlogy(shares, shares).sum(axis=1)

    def response(self, output: Vector) -> Vector:
        """W ([y = k] − p_k)."""
        return np.asarray(self.weights[:, None] * (self.labels - softmax(output, axis=1)))

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """Shares of each row in the simplex; balanced, those of each class add up to its rows.

        A mixture with the shares of the classes, which are balanced, makes room for the shift.
        """
        shares = np.clip(self.labels - response / self.weights[:, None], 0.0, 1.0)
        total = self.weights.sum()
        classes = self.weights @ self.labels / total
        if balanced:
            shares[:, classes == 0] = 0.0
        shares /= shares.sum(axis=1, keepdims=True)
        if balanced:
            shift = classes - self.weights @ shares / total
            there = classes > 0
            mixed = min(1.0, float(np.max(-shift[there] / classes[there], initial=0.0)))
            mixed = mixed / (1.0 + mixed)
            shares = (1.0 - mixed) * (shares + shift) + mixed * classes
            shares = np.clip(shares, 0.0, 1.0)
        return self.weights[:, None] * (self.labels - shares)

    def curvature(self, output: Vector) -> Vector:
        """W p_k (1 − p_k)."""
        shares = softmax(output, axis=1)
        return np.asarray(self.weights[:, None] * shares * (1.0 - shares))

    def bending(self, output: Vector) -> Callable[[Vector], Vector]:
        """W (p_k d_k − p_k Σ_l p_l d_l)."""
        shares, weights = softmax(output, axis=1), self.weights[:, None]

        def bend(direction: Vector) -> Vector:
            moved = shares * direction
            return np.asarray(weights * (moved - shares * moved.sum(axis=1, keepdims=True)))

        return bend


@dataclass(frozen=True, eq=False)
class ScaledHuberRows(Rows):
    """Huber's loss with its scale: min over σ of Σ w (σ + σ H((y − f)/σ)).

    H(z) = z² for |z| ≤ ε, else 2ε|z| − ε². Its dual has Σ y r under |r| ≤ 2εw and
    Σ r²/(4w) ≤ Σ w (Huber, *Robust Statistics*, 1981, p. 179; scikit-learn's HuberRegressor).

    Attributes
    ----------
    target, weights : ndarray of shape (n_rows,)
    """

    target: Vector
    weights: Vector
    epsilon: float

    def scale(self, output: Vector) -> float:
        """The best σ: Σ_in w e²/σ² + ε² Σ_out w = Σ w, where |e| ≤ εσ is in."""
        size = np.abs(self.target - output)
        order = np.argsort(size)
        e, w = size[order], self.weights[order]
        inner, outer = np.cumsum(w * e**2), np.cumsum(w[::-1])[::-1] - w
        room = w.sum() - self.epsilon**2 * outer
        squares = np.divide(inner, room, out=np.full(len(e), np.inf), where=room > 0)
        beyond = np.append(e[1:], np.inf)
        fits = (squares * self.epsilon**2 >= e**2) & (squares * self.epsilon**2 <= beyond**2)
        k = int(np.argmax(fits)) if fits.any() else int(np.argmin(squares))
        smallest = NO_SCALE * float(np.abs(self.target).max(initial=0.0)) or 1.0
        return max(float(np.sqrt(squares[k])), smallest)

    def values(self, output: Vector) -> Vector:
        """W (σ + σ H(e/σ)) at the best σ."""
        scale = self.scale(output)
        z = np.abs(self.target - output) / scale
        inner = np.minimum(z, self.epsilon)
        return self.weights * scale * (1.0 + inner * (2.0 * z - inner))

    def gains(self, response: Vector) -> Vector:
        """Y r."""
        return self.target * response

    def parts(self, output: Vector, response: Vector) -> Vector:
        """W σ (H(z) + ¼(r/w)² − z r/w) at the best σ."""
        scale = self.scale(output)
        error = self.target - output
        inner = np.minimum(np.abs(error) / scale, self.epsilon)
        own = self.weights * inner * (2.0 * np.abs(error) - scale * inner)
        squares = np.divide(
            response**2, self.weights, out=np.zeros(len(error)), where=self.weights > 0
        )
        return np.maximum(own + 0.25 * scale * squares - response * error, 0.0)

    def response(self, output: Vector) -> Vector:
        """2w·clip(e/σ)."""
        z = (self.target - output) / self.scale(output)
        return 2.0 * self.weights * np.clip(z, -self.epsilon, self.epsilon)

    def _excess(self, response: Vector) -> float:
        counts = self.weights > 0
        squares = float((response[counts] ** 2 / self.weights[counts]).sum()) / 4.0
        return max(
            float(np.sqrt(squares / self.weights.sum())),
            float((np.abs(response[counts]) / (2.0 * self.epsilon * self.weights[counts])).max()),
        )

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """In its box, with Σr = 0 if asked for, and as short as the scale wants it."""
        end = 2.0 * self.epsilon * self.weights
        inside = (
            project_on_sum(response, -end, end, 0.0) if balanced else np.clip(response, -end, end)
        )
        return inside / max(1.0, self._excess(inside))

    def curvature(self, output: Vector) -> Vector:
        """2w/σ of the rows inside, for the σ as it is."""
        scale = self.scale(output)
        inside = np.abs(self.target - output) < self.epsilon * scale
        return np.where(inside, 2.0 * self.weights / scale, 0.0)


def rows_of(loss: Any) -> Rows:
    """The rows of a loss bound to its data."""
    if isinstance(loss, Rows):
        return loss
    if isinstance(loss, RowwiseLoss):
        return SmoothRows(loss)
    own = as_master_loss(loss)
    return BoxRows(own) if isinstance(own, SupportVectorLoss) else SmoothRows(own)
