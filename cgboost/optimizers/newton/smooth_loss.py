"""Smooth losses, as the master over the primal sees them.

A loss on its rows needs ``n_rows``, ``value(output)``, ``pseudo_response(output)`` = −∂F/∂f,
``gain(response)`` = −F*(−r), ``feasible(response)``, the nearest r with a finite gain, and
``curvature(output)``, the diagonal of its Hessian. Every row's set of r must contain 0. A loss
whose Hessian is no diagonal matrix gives ``hessian(output, factors, softened=…)`` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.exceptions import UnsupportedLossError
from cgboost.forks import cached_property
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import ZERO_SUM
from cgboost.losses.loss import PROOF

Factors = Callable[[Indices], Vector]
"""The derivatives of the outputs of some rows by the coefficients and, last, by the offset."""

ROWS_AT_A_TIME = 2**14
"""Rows whose factors are held at once: with 50 columns 6 MB, and what they are multiplied to."""

NEEDED = ("n_rows", "value", "pseudo_response", "gain", "feasible")
"""What a smooth loss must have, besides a Hessian."""


OFFSET_STEPS = 5
"""Steps at most that bring Σr to 0 between Newton steps. Each but the first takes about as many
digits as there were."""

BENT_SHARE = 0.5
"""Rows that bend at their median, of a loss in a box, from which on Newton's method is the quicker
one where coefficients are sparse. With Huber's loss at 10000 × 100 it took 30 instead of 180 ms,
and at 3000 × 5931, sparse, 1.1 instead of 3.7 s; where δ is a tenth of what leaves half of the rows
bent, up to five times as long as the dual, and more with more features than rows."""

SUM_BALANCE = 1e-12
"""Σr is 0 at this share of Σ|r|: its rounding over many rows, and a thousandth of what a gap
allows."""


class RowwiseLoss:
    """A smooth loss with a diagonal Hessian, with all that a master asks of its loss."""

    shrinks: ClassVar[bool] = True
    chooses_margin: ClassVar[bool] = False
    level_is_offset: ClassVar[bool] = False

    def __init__(self, loss: Any) -> None:
        self.on_rows = loss

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.on_rows.n_rows

    @property
    def parts(self) -> Sequence[RowwiseLoss]:
        """The losses of the outputs that its rows belong to, one after the other: itself."""
        return [self]

    def value(self, output: Vector) -> float:
        """F(f)."""
        with np.errstate(over="ignore"):  # a step too far costs inf, and is taken back
            return self.on_rows.value(output)

    def empty(self, *, offset: bool) -> float:
        """The loss at 0; with an offset, of a constant that is nearly the best one."""
        return self._of_constants if offset else self.value(np.zeros(self.n_rows))

    @cached_property
    def _of_constants(self) -> float:
        nothing = np.zeros(self.n_rows)
        least = self.value(nothing)
        return min(least, self.value(nothing + balancing_shift(self, nothing)))

    def magnitude(self, output: Vector, response: Vector) -> float:
        """Sizes of the numbers that the loss is a difference of; of a loss without any, Σ|r f|."""
        if hasattr(self.on_rows, "magnitude"):
            return float(self.on_rows.magnitude(output, response))
        return float(np.abs(response) @ np.abs(output))

    def pseudo_response(self, output: Vector) -> Vector:
        """R = −∂F/∂f."""
        return self.on_rows.pseudo_response(output)

    def weights(self, output: Vector, *, softened: bool = False) -> Vector:
        """The diagonal of W; softened, the largest curvature of all rows in every row."""
        weights = self.on_rows.curvature(output)
        if softened:
            return np.full(len(weights), float(weights.max(initial=0.0)) or 1.0)
        return weights

    def hessian(self, output: Vector, factors: Factors, *, softened: bool = False) -> Vector:
        """JᵀWJ."""
        weights = self.weights(output, softened=softened)
        counting = np.flatnonzero(weights > 0)
        product: Vector = np.zeros((1, 1))
        for start in range(0, max(1, len(counting)), ROWS_AT_A_TIME):
            rows = counting[start : start + ROWS_AT_A_TIME]
            part = factors(rows)
            product = product + (part.T * weights[rows]) @ part
        return product

    def gain(self, response: Vector) -> float:
        """−F*(−r)."""
        return self.on_rows.gain(response)

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """Inside every row's set; for Σr = 0 the entries of the heavier sign are scaled down."""
        inside = self.on_rows.feasible(response)
        total = float(inside.sum())
        if not balanced or abs(total) <= ZERO_SUM * float(np.abs(inside).sum()):
            return inside
        heavy = inside > 0 if total > 0 else inside < 0
        weight = abs(float(inside[heavy].sum()))
        return np.where(heavy, inside * (1.0 - abs(total) / weight), inside)

    def slack(self, output: Vector) -> Vector:
        """|r|: how strongly a row pulls."""
        return np.abs(self.on_rows.pseudo_response(output))

    def level(self, output: Vector) -> float:
        """0: no separate margin."""
        return 0.0


def balancing_shift(loss: RowwiseLoss, output: Vector) -> float:
    """What to add to all outputs so that Σr is 0, by Newton's method for the offset alone."""
    least, best, shift = np.inf, 0.0, 0.0
    for _ in range(OFFSET_STEPS):
        response = loss.pseudo_response(output + shift)
        total, size = float(response.sum()), float(np.abs(response).sum())
        if not abs(total) < least:
            break
        least, best = abs(total), shift
        curvature = float(loss.weights(output + shift).sum())
        if least <= SUM_BALANCE * size or not curvature > 0:
            break
        shift += total / curvature
    return best


def _bends(loss: Any) -> bool:
    """Whether most rows have a curvature where the output is the median target."""
    if "hessian_diag" not in loss.abilities or not hasattr(loss, "curvature"):
        return False
    bent = loss.curvature(np.full(loss.n_rows, np.median(loss.target))) > 0
    counts = np.count_nonzero(loss.weights > 0)
    return bool(np.count_nonzero(bent) >= BENT_SHARE * counts)


def as_master_loss(loss: Any, *, sparse: bool = False) -> Any:
    """A loss on its rows as a master takes it: a SupportVectorLoss, its dual box, or a RowwiseLoss.

    A loss that says what it can do (``abilities``) is taken by its dual box, if it has one, and
    else as a smooth loss, for which it needs a Hessian and a conjugate. One that has both is taken
    as smooth where its box has no ends, as that of the squared error: then there is no row to fix
    at an end, and the primal has fewer variables than the dual. Under a penalty with ``sparse``
    solutions it is so, too, where most rows are inside their box.

    Raises
    ------
    UnsupportedLossError
        Naming what the loss lacks.
    """
    if isinstance(loss, SupportVectorLoss):
        return loss
    if hasattr(loss, "abilities"):
        missing: list[str] = [name for name in PROOF if name not in loss.abilities]
        if "dual_box" in loss.abilities:
            box: SupportVectorLoss = loss.box
            closed = bool(np.isfinite([box.lower, box.upper]).all())
            if missing or (closed and not (sparse and _bends(loss))):
                return box
    else:
        missing = [name for name in (*NEEDED, "curvature") if not hasattr(loss, name)]
    if not missing and all(hasattr(loss, name) for name in (*NEEDED, "curvature")):
        return RowwiseLoss(loss)
    raise UnsupportedLossError(
        f"a support-vector master needs a SupportVectorLoss, or a smooth loss on its rows; "
        f"{getattr(loss, 'loss', type(loss).__name__)} lacks {', '.join(missing)}"
    )
