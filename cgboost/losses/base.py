"""Losses: what an error costs, row by row, and the same on weighted training rows.

A :class:`Loss` has parameters and no data. Everything it gives is per row, for a target y and an
output f of shape (n_rows,); it is convex in f. ``loss.on(y, weights)`` binds it to data:

    L(f) = Σ w_i ℓ(y_i, f_i)
    r = −∂L/∂f                          the pseudo-response
    gain(r) = −Σ w_i ℓ*(y_i, −r_i/w_i)   the dual objective without the penalty's part

With the conjugate ℓ*(y, s) = sup_f s·f − ℓ(y, f) the Fenchel–Young inequality reads

    gain(r) ≤ L(f) + r·f     for all f and r, with equality for the pseudo-response at f.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import UnsupportedLossError
from cgboost.losses.abilities import Ability, unsupported
from cgboost.losses.differentiable import DifferentiableLoss
from cgboost.losses.dual.fractional_knapsack import clip_to_sum
from cgboost.losses.dual.support_vector import BALANCED, SupportVectorLoss

Vector = NDArray[np.float64]
Expression = Any
"""A CVXPY expression (CVXPY's classes are not imported here)."""


ROUNDING = 1e-12
"""A slope outside the domain of the conjugate by this, relative to its size, is at the end."""


@dataclass(frozen=True)
class Loss(ABC):
    """A convex loss ℓ(y, f) of one row, with its parameters and no data.

    Subclasses are frozen dataclasses: they compare, print, pickle and clone by their parameters.
    ``value`` and ``gradient`` are needed; what else a loss can do is what it overrides.

    Attributes
    ----------
    name : str
        Its name in the registry, scikit-learn's.
    classification : bool
        Whether targets are labels of ±1.
    attains_minimum : bool
        Whether a loss near 0 is near a minimum; otherwise only f without end makes it 0.
    n_outputs : int
        Outputs of a row: 1 but for the multinomial deviance.
    """

    name: ClassVar[str] = ""
    classification: ClassVar[bool] = False
    attains_minimum: ClassVar[bool] = True

    @property
    def n_outputs(self) -> int:
        """Outputs of a row."""
        return 1

    @property
    def abilities(self) -> frozenset[Ability]:
        """The methods that work: those that the class overrides, and what follows from them."""
        own = {name for name in get_args(Ability) if _overrides(self, name)}
        if "dual_box" in own:
            own.add("conjugate")
        return frozenset(own | {"best_constant"})

    def check_target(self, y: Vector) -> None:  # noqa: B027 (most losses take any number)
        """Raise ValueError where the loss is not defined for a target."""

    def inverse_link(self, f: Vector) -> Vector:
        """What regressors predict: f, or e^f where f is a logarithm."""
        return f

    @abstractmethod
    def value(self, y: Vector, f: Vector) -> Vector:
        """ℓ(y, f) of every row."""

    @abstractmethod
    def gradient(self, y: Vector, f: Vector) -> Vector:
        """∂ℓ/∂f; at a kink the subgradient nearest to 0."""

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """∂²ℓ/∂f²; piecewise linear losses have none."""
        raise self._lacks("hessian_diag")

    def best_constant(self, y: Vector, weights: Vector) -> float | Vector:
        """The constant c that minimises Σ w_i ℓ(y_i, c); by a line search from 0."""
        return self.on(y, weights).line_search(np.zeros(len(y)), np.ones(len(y)))

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """Σ cost_i ℓ(y_i, f_i) by its dual: a target, a box for r, a tube and a quadratic term."""
        raise self._lacks("dual_box")

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """ℓ*(y, s) = sup_f s·f − ℓ(y, f) of every row, inf outside :meth:`domain`.

        Follows from the dual box where there is one: target·s + ε|s| + ½ q s² for the quadratic
        term q.
        """
        box = self._unit_box(y, "conjugate")
        bent = 0.0 if box.curvature is None else box.curvature
        inside = (-box.upper <= s) & (s <= -box.lower)
        value = box.target * s + box.epsilon * np.abs(s) + 0.5 * bent * s**2
        return np.where(inside, value, np.inf)

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """The least and the largest slope s, infinite perhaps, for which ℓ*(y, s) is finite."""
        box = self._unit_box(y, "conjugate")
        return -box.upper, -box.lower

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """ℓ(y, f) as a convex CVXPY expression of shape (n_rows,)."""
        raise self._lacks("to_cvxpy")

    def on(self, y: Vector, weights: Vector) -> WeightedLoss:
        """The loss on training rows: Σ w_i ℓ(y_i, f_i).

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
        weights : ndarray of shape (n_rows,)
            Not negative.

        Raises
        ------
        ValueError
            If a target is none for this loss, or shapes differ.
        """
        return WeightedLoss(self, y, weights)

    def _unit_box(self, y: Vector, ability: Ability) -> SupportVectorLoss:
        if not _overrides(self, "dual_box"):
            raise self._lacks(ability)
        return self.dual_box(y, np.ones(len(y)))

    def _lacks(self, ability: Ability) -> UnsupportedLossError:
        return unsupported(self, (ability,), f"{ability}()")


class WeightedLoss(DifferentiableLoss):
    """A loss on training rows, L(f) = Σ w_i ℓ(y_i, f_i); made by ``loss.on(y, weights)``.

    Parameters
    ----------
    loss : Loss
    target : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
        Not negative. A row of weight 0 has r = 0.
    """

    def __init__(self, loss: Loss, target: Vector, weights: Vector) -> None:
        loss.check_target(target)
        super().__init__(target, weights)
        self.loss = loss
        self.n_outputs, self.attains_minimum = loss.n_outputs, loss.attains_minimum

    def __repr__(self) -> str:
        return f"{self.loss!r}.on({self.n_rows} rows)"

    @property
    def abilities(self) -> frozenset[Ability]:
        """Those of the loss."""
        return self.loss.abilities

    @cached_property
    def box(self) -> SupportVectorLoss:
        """The loss by its dual, the weights for costs."""
        return self.loss.dual_box(self.target, self.weights)

    def value(self, output: Vector) -> float:
        """Σ w_i ℓ(y_i, f_i)."""
        return float(self.weights @ self.loss.value(self.target, output))

    def pseudo_response(self, output: Vector) -> Vector:
        """R = −w ∂ℓ/∂f, of the shape of f."""
        return -self._weighted(self.loss.gradient(self.target, output))

    def curvature(self, output: Vector) -> Vector:
        """W ∂²ℓ/∂f², of the shape of f; 0 for a loss without Hessian."""
        if "hessian_diag" not in self.abilities:
            return np.zeros(self.shape)
        return self._weighted(self.loss.hessian_diag(self.target, output))

    def constant(self) -> float | Vector:
        """The best constant output; shape (n_outputs,) where there are several."""
        return self.loss.best_constant(self.target, self.weights)

    def gain(self, response: Vector) -> float:
        """−Σ w_i ℓ*(y_i, −r_i/w_i): the dual objective without the penalty's part.

        −inf where r is infeasible. It is at most value(f) + r·f for every f, and equal to it for
        the pseudo-response at f.
        """
        counts = self.weights > 0
        if response[~counts].any():
            return -np.inf
        y, w = self.target[counts], self.weights[counts]
        slopes, (lower, upper) = -response[counts] / w, self.loss.domain(y)
        inside = np.clip(slopes, lower, upper)
        if np.any(np.abs(inside - slopes) > ROUNDING * (1.0 + np.abs(slopes))):
            return -np.inf
        return -float(w @ self.loss.conjugate(y, inside))

    def feasible(self, response: Vector, *, balanced: bool = False) -> Vector:
        """The nearest r inside the domain of the dual; r = 0 in rows of weight 0.

        Parameters
        ----------
        response : ndarray of shape (n_rows,)
        balanced : bool, default=False
            Whether Σr = 0 too, as the dual of a free offset asks for.
        """
        lower, upper = self.loss.domain(self.target)
        counts = self.weights > 0
        least = np.where(counts, -np.where(counts, self.weights, 1.0) * upper, 0.0)
        most = np.where(counts, -np.where(counts, self.weights, 1.0) * lower, 0.0)
        inside = np.clip(response, least, most)
        if balanced and abs(inside.sum()) > BALANCED * np.abs(inside).sum():
            return clip_to_sum(response, least, most, 0.0)
        return inside

    def part(self, rows: NDArray[np.intp]) -> WeightedLoss:
        """The loss of some rows alone."""
        return self.loss.on(self.target[rows], self.weights[rows])

    def to_cvxpy(self, f: Expression) -> Expression:
        """L(f) as a convex scalar expression."""
        return self.weights @ self.loss.to_cvxpy(self.target, f)

    def _weighted(self, values: Vector) -> Vector:
        return values * (self.weights if values.ndim == 1 else self.weights[:, None])


def import_cvxpy() -> Any:
    """CVXPY, which is only imported where a loss is written in it."""
    return importlib.import_module("cvxpy")


def _overrides(loss: Loss, name: str) -> bool:
    return getattr(type(loss), name) is not getattr(Loss, name)
