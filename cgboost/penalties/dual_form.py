"""What decides the shape of a restricted dual: the penalty, and the rules for α and b."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgboost.penalties.base import Penalty, Vector, sizes


@dataclass(frozen=True)
class DualForm:
    """A penalty, and the rules for the signs of coefficients and for the offset.

    Attributes
    ----------
    penalty : Penalty
    two_sided : bool
        Whether coefficients are free in sign.
    offset : {"none", "penalized", "free"}
        A penalized offset is one more coefficient, of a column of ones and of either sign.
    """

    penalty: Penalty
    two_sided: bool = True
    offset: str = "none"

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

    def value(self, coef: Vector, intercept: float) -> float:
        """Ω of the coefficients, and of the offset where it is penalized."""
        if not self.charges_offset:
            return self.penalty.value(coef)
        if self.radius is not None:
            return self.penalty.value(np.append(coef, intercept))
        return self.penalty.value(coef) + self.penalty.value(np.array([intercept]))

    def sizes(self, scores: Vector, total: float) -> Vector:
        """Of all scores, and of the offset's score Σr where it is penalized."""
        size = sizes(scores, two_sided=self.two_sided)
        return np.append(size, abs(total)) if self.charges_offset else size
