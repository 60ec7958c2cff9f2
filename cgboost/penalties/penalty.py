"""Penalties on the coefficients, and their form in the dual.

With Ω(α) = Σ φ(α_j), φ(α) = threshold·|α| + ½·quadratic·α², or the indicator of Σ|α| ≤ radius, the
dual of a loss and a penalty has for every column h the constraint

    |h·r| ≤ threshold      exceeded at the cost of ½(|h·r| − threshold)²/quadratic   (0: never)

and for a ball the cost radius·max_j |h_j·r|. Solvers ask for these three numbers and no more. Where
coefficients are at least 0, (h·r)₊ takes the place of |h·r|. A :class:`Penalty` and the rules for
the signs of α and for the offset b are a :class:`DualForm`: the shape of a restricted dual.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import EntryRule, Priced, gap_scale
from cgboost.tolerances import UNMOVED

SHARES = (1.0, 0.999, 0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01, 0.0)
"""The t at which a bound along t·r is evaluated where the best t has no formula."""


class EmptyLoss(Protocol):
    """A loss that knows what the model without columns leaves of it."""

    def empty(self, *, offset: bool) -> float:
        """The loss at 0; with an offset, of a constant that is nearly the best one."""
        ...


@dataclass(frozen=True)
class DualForm:
    """A penalty, and the rules for the signs of coefficients and for the offset.

    Attributes
    ----------
    two_sided : bool
        Whether coefficients are free in sign.
    offset : {"none", "penalized", "free"}
        A penalized offset is one more coefficient, of a column of ones and of either sign.
    n_free : int
        So many coefficients, the first ones, cost nothing and are free in sign.
    """

    penalty: Penalty
    two_sided: bool = True
    offset: str = "none"
    n_free: int = 0

    @property
    def threshold(self) -> float:
        """Of the penalty."""
        return self.penalty.threshold

    @property
    def quadratic(self) -> float:
        """Of the penalty."""
        return self.penalty.quadratic

    @property
    def radius(self) -> float | None:
        """Of the penalty."""
        return self.penalty.radius

    @property
    def charges_offset(self) -> bool:
        """Whether the offset is penalized."""
        return self.offset == "penalized"

    def value(self, coef: Vector, intercept: float | Vector) -> float:
        """Ω of the coefficients, and of the offset where it is penalized, of several √(Σ b²)."""
        coef = coef[self.n_free :]
        if not self.charges_offset:
            return self.penalty.value(coef)
        size = intercept if np.ndim(intercept) == 0 else math.hypot(*np.asarray(intercept))
        return self.penalty.value(np.append(coef, size))

    def gap_scale(self, loss: EmptyLoss, objective: float) -> float:
        """What gaps are relative to: :func:`~cgboost.generation.protocols.gap_scale`.

        A free offset may leave nothing of the loss but rounding, as with a constant y. Where
        nothing is lost at 0, an objective is a solver's error, which is relative to 1.
        """
        if abs(objective) >= 1.0:
            return abs(objective)
        empty = abs(loss.empty(offset=False))
        if self.offset == "free":
            empty = max(abs(loss.empty(offset=True)), UNMOVED * empty)
        return gap_scale(objective, empty if empty > 0 else 1.0)

    def sizes(self, scores: Vector, total: float) -> Vector:
        """Of the scores that a penalty limits, and of Σr where the offset is penalized."""
        size = sizes(scores[self.n_free :], two_sided=self.two_sided)
        return np.append(size, abs(total)) if self.charges_offset else size


class DualLoss(Protocol):
    """What a bound asks of a loss. Its dual points contain 0, unless it has a ``ray_gain``."""

    def gain(self, response: Vector) -> float:
        """Dual objective −Σ ℓ*(−r) of a feasible pseudo-response, without the penalty."""
        ...


@runtime_checkable
class RayGain(Protocol):
    """A loss that knows the best point along a ray."""

    def ray_gain(self, response: Vector, quadratic: float) -> float:
        """Maximum of gain(t·r) − ½·t²·quadratic over the feasible t in [0, 1]."""
        ...


def ray_gain(loss: DualLoss, response: Vector, quadratic: float) -> float:
    """The largest known gain(t·r) − ½·t²·quadratic with 0 ≤ t ≤ 1."""
    if isinstance(loss, RayGain):
        return loss.ray_gain(response, quadratic)
    return max(loss.gain(t * response) - 0.5 * t**2 * quadratic for t in SHARES)


def sizes(scores: Vector, *, two_sided: bool) -> Vector:
    """|s|, or s₊ where coefficients are at least 0."""
    return np.abs(scores) if two_sided else np.maximum(scores, 0.0)


@dataclass(frozen=True)
class Penalty(ABC):
    """A cost of coefficients; it has parameters and no data."""

    @property
    def threshold(self) -> float:
        """What |h·r| may be at no cost."""
        return 0.0

    @property
    def quadratic(self) -> float:
        """The factor of ½α²."""
        return 0.0

    @property
    def radius(self) -> float | None:
        """D in Σ|α| ≤ D, None without a ball."""
        return None

    @property
    def of_functions(self) -> bool:
        """Whether it is a norm of each kernel's function in its RKHS, not of coefficients.

        Its coefficients are those of columns that are orthonormal in the RKHS of their kernel.
        """
        return False

    @property
    def any_scale(self) -> bool:
        """Whether kernels of any scale are charged alike."""
        return False

    @abstractmethod
    def value(self, coef: Vector) -> float:
        """Ω(α), coef of shape (n_columns,)."""

    @abstractmethod
    def conjugate(self, scores: Vector, *, two_sided: bool = True) -> float:
        """Ω*(s) = sup over α of α·s − Ω(α), over α ≥ 0 if not ``two_sided``; may be inf."""

    @abstractmethod
    def entry(
        self, *, two_sided: bool, scale: float = 1.0, largest: float = 0.0, noise: float = 0.0
    ) -> EntryRule:
        """The rule that tells pricers what a score adds to the gap.

        Parameters
        ----------
        two_sided : bool
            Whether coefficients are free in sign.
        scale : float
            What gaps are relative to.
        largest : float
            The largest score of the columns in the master; only a ball asks for it.
        noise : float
            What rounding may do to a score.
        """

    @abstractmethod
    def bound(
        self,
        loss: DualLoss,
        response: Vector,
        entry: Any,
        priced: Priced,
        *,
        offset_score: float = 0.0,
    ) -> float:
        """Lagrangian lower bound on the optimum over all columns.

        Parameters
        ----------
        loss : DualLoss
        response : ndarray of shape (n_rows,)
            A feasible pseudo-response r.
        entry : EntryRule
            Of :meth:`entry`, at r.
        priced : Priced
            An exact pass at r: the largest and the summed excess of all columns.
        offset_score : float
            Σr where the offset is penalized as a column of ones would be; 0 otherwise.
        """

    def dual_loss(self, loss: Any) -> Any:
        """The loss that the master works with; of most penalties the given one."""
        return loss

    @property
    def degree(self) -> int:
        """N in Ω(t·α) = tⁿ·Ω(α), for t ≥ 0; 0 where there is none."""
        if self.radius is not None or (self.threshold > 0 and self.quadratic > 0):
            return 0
        return 2 if self.quadratic > 0 else 1

    @property
    def is_positively_homogeneous(self) -> bool:
        """Whether Ω(t·α) = t·Ω(α): the dual then has hard constraints |h·r| ≤ threshold."""
        return self.degree == 1

    @property
    def compares_scores(self) -> bool:
        """Whether a column prices out by the largest score of those in the master."""
        return self.radius is not None
