"""The check of a loss that somebody writes: which of its methods contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Vector
from cgboost.exceptions import CheckError
from cgboost.losses.loss import Loss, import_cvxpy

DIFFERENCE = 1e-6
"""Of differences."""

SAME_LOSS = 1e-6
"""Of values, relative to their sizes; differences of slopes are known to a hundred times that."""

FEW = 0.05
"""A share of the rows may lie at kinks, where a slope is no difference."""

N_ROWS = 200


def check_loss(loss: Loss, y: ArrayLike | None = None, *, random_state: int = 0) -> None:
    """Raise an error that names a method of a loss which contradicts the others.

    At random outputs: values are finite and convex in f; ``gradient`` is a subgradient, and
    ``hessian_diag`` its slope; ``conjugate`` obeys ℓ*(y, s) ≥ s·f − ℓ(y, f) for all f and s of the
    ``domain``, with equality for s = ∂ℓ/∂f (Fenchel and Young); ``dual_box``, ``to_cvxpy`` and
    ``in_units`` have the values of the loss; no constant is better than ``best_constant``.

    Parameters
    ----------
    loss : Loss
        With one output.
    y : array-like of shape (n_rows,), optional
        Targets that it takes; by default ±1 for classification, else normal numbers, or counts
        where the loss refuses these.
    random_state : int, default=0
        For targets, outputs and slopes.

    Raises
    ------
    CheckError
        With the method, a row, and what was expected there.
    TypeError
        If it is no :class:`Loss`.
    """
    if not isinstance(loss, Loss):
        raise TypeError(f"check_loss takes a Loss, such as Huber(1.5), got {loss!r}")
    if loss.n_outputs != 1:
        raise TypeError(f"check_loss takes a loss of one output, {loss!r} has {loss.n_outputs}")
    rng = np.random.default_rng(random_state)
    target = _targets(loss, rng) if y is None else np.asarray(y, dtype=np.float64)
    check = _Check(loss, target, rng)
    check.value_and_gradient()
    for name in ("hessian_diag", "dual_box", "conjugate", "to_cvxpy", "best_constant"):
        if name in loss.abilities:
            getattr(check, name)()
    check.units()


def _targets(loss: Loss, rng: np.random.Generator) -> Vector:
    if loss.classification:
        return np.where(np.arange(N_ROWS) % 2, 1.0, -1.0)
    numbers: Vector = rng.normal(size=N_ROWS)
    try:
        loss.check_target(numbers)
    except ValueError:
        return rng.poisson(2.0, N_ROWS).astype(np.float64)
    return numbers


class _Check:
    """One loss on targets, at some outputs."""

    def __init__(self, loss: Loss, y: Vector, rng: np.random.Generator) -> None:
        if loss.of_residuals and len(y):  # digits of targets far from 0 are lost in differences
            y = y - np.median(y)
        self.loss, self.y, self.rng = loss, y, rng
        self.unit = max(1.0, float(np.abs(y).max(initial=0.0)))
        self.step = DIFFERENCE * self.unit
        self.f = (
            2.0 * self.unit * rng.normal(size=len(y))
            if loss.of_residuals
            else rng.normal(scale=2.0, size=len(y))
        )
        steps = (self.step, *(0.1, 1.0, 5.0))
        self.others = [self.f + size * rng.normal(size=len(y)) for size in steps]

    def rows(self, name: str, *arguments: Any) -> Vector:
        """What a method gives, which must be a finite number a row."""
        found = np.asarray(getattr(self.loss, name)(*arguments))
        if found.shape != self.y.shape:
            raise self.error(f"{name} must have the shape {self.y.shape}, got {found.shape}")
        if not np.isfinite(found).all():
            i = int(np.flatnonzero(~np.isfinite(found))[0])
            raise self.error(f"{name} must be finite, got {found[i]!r} at {self.at(i)}")
        return found.astype(np.float64)

    def value_and_gradient(self) -> None:
        """Convexity, by ℓ(g) ≥ ℓ(f) + s·(g − f) in both directions."""
        points = [self.f, *self.others, self.y.copy(), np.zeros(len(self.y))]
        values = [self.rows("value", self.y, point) for point in points]
        slopes = [self.rows("gradient", self.y, point) for point in points]
        for f, value, slope in zip(points, values, slopes, strict=True):
            for g, other in zip(points, values, strict=True):
                below = value + slope * (g - f)
                self.compare_below(
                    below, other, "gradient must be a subgradient of a convex value at f={f}", f
                )

    def hessian_diag(self) -> None:
        """The slope of the gradient."""
        low, high = (self.rows("gradient", self.y, self.f + s * self.step) for s in (-1.0, 1.0))
        found = self.rows("hessian_diag", self.y, self.f)
        self.alike("hessian_diag", found, (high - low) / (2.0 * self.step), "the slope of gradient")

    def conjugate(self) -> None:
        """Fenchel and Young, and the domain."""
        lower, upper = (np.asarray(end, dtype=np.float64) for end in self.loss.domain(self.y))
        for f in (self.f, *self.others):
            slope, value = self.loss.gradient(self.y, f), self.loss.value(self.y, f)
            outside = (slope < lower - SAME_LOSS) | (slope > upper + SAME_LOSS)
            if outside.any():
                i = int(np.flatnonzero(outside)[0])
                raise self.error(
                    f"domain must contain every slope: gradient is {slope[i]:g} at "
                    f"{self.at(i, f)}, outside [{lower[i]:g}, {upper[i]:g}]"
                )
            own = self.loss.conjugate(self.y, np.clip(slope, lower, upper))
            size = np.abs(own) + np.abs(slope * f) + np.abs(value)
            self.alike(
                "conjugate", own, slope * f - value, "s·f − ℓ(y, f) at s = gradient", size, f
            )
            wild = np.clip(slope + self.rng.normal(size=len(f)), lower, upper)
            least = wild * f - value
            above = np.asarray(self.loss.conjugate(self.y, wild), dtype=np.float64)
            self.compare_below(least, above, "conjugate must be at least s·f − ℓ(y, f) at f={f}", f)

    def dual_box(self) -> None:
        """The same loss."""
        box = self.loss.dual_box(self.y, np.ones(len(self.y)))
        for f in (self.f, *self.others):
            own, value = float(box.value(f)), float(self.loss.value(self.y, f).sum())
            if abs(own - value) > SAME_LOSS * (1.0 + abs(value)):
                raise self.error(f"dual_box must be the same loss: {own:g} for Σℓ = {value:g}")

    def to_cvxpy(self) -> None:
        """The same values, convex for CVXPY."""
        cp = import_cvxpy()
        variable = cp.Variable(len(self.y), value=self.f)
        expression = self.loss.to_cvxpy(self.y, variable)
        if not expression.is_convex():
            raise self.error("to_cvxpy must be convex by the rules of CVXPY")
        found, value = np.asarray(expression.value), self.loss.value(self.y, self.f)
        self.alike("to_cvxpy", found, value, "value")

    def best_constant(self) -> None:
        """No constant nearby is better."""
        weights = self.rng.uniform(0.5, 2.0, len(self.y))
        best = float(np.asarray(self.loss.best_constant(self.y, weights)))

        def of(constant: float) -> float:
            return float(weights @ self.loss.value(self.y, np.full(len(self.y), constant)))

        for other in best + np.array([-1.0, -0.01, 0.01, 1.0]):
            if of(best) > of(float(other)) + SAME_LOSS * (1.0 + abs(of(best))):
                raise self.error(
                    f"best_constant must be the best one: Σwℓ is {of(best):g} at {best:g}, and "
                    f"{of(float(other)):g} at {other:g}"
                )

    def units(self) -> None:
        """Other units of y, and targets that are moved with the output."""
        value = self.loss.value(self.y, self.f)
        if (known := self.loss.in_units(8.0)) is not None:
            other, factor = known
            found = factor * other.value(self.y / 8.0, self.f / 8.0)
            self.alike("in_units(8)", found, value, "value in other units")
        if self.loss.of_residuals:
            moved = self.loss.value(self.y + 3.0, self.f + 3.0)
            self.alike("value of y + 3 and f + 3", moved, value, "value, as of_residuals says")

    # ------------------------------------------------------------------ comparisons

    def alike(
        self,
        name: str,
        found: Vector,
        expected: Vector,
        what: str,
        size: Vector | None = None,
        f: Vector | None = None,
    ) -> None:
        """Numbers of all rows but few, which may be at kinks."""
        exact = size is not None or "slope" not in what
        allowed = SAME_LOSS if exact else 100.0 * SAME_LOSS
        apart = np.abs(found - expected) > allowed * (
            1.0 + (np.abs(expected) if size is None else size)
        )
        if np.count_nonzero(apart) > (0.0 if exact else FEW * len(apart)):
            i = int(np.flatnonzero(apart)[0])
            raise self.error(
                f"{name} must be {what}: {found[i]:g} for {expected[i]:g} at {self.at(i, f)}"
            )

    def compare_below(self, low: Vector, high: Vector, what: str, f: Vector) -> None:
        """Numbers that must be at most others."""
        over = low > high + SAME_LOSS * (1.0 + np.abs(low))
        if over.any():
            i = int(np.flatnonzero(over)[0])
            words = what.format(f=f"{f[i]:g}")
            raise self.error(f"{words}, y={self.y[i]:g}: {high[i]:g} is below {low[i]:g}")

    def at(self, i: int, f: Vector | None = None) -> str:
        """A row, for a message."""
        return f"y={self.y[i]:g}, f={(self.f if f is None else f)[i]:g}"

    def error(self, words: str) -> CheckError:
        """The error of this loss."""
        return CheckError(f"{self.loss!r}: {words}")
