"""The exponential loss of pairs of rows in the wrong order, used in RankBoost.

    L(f) = 1/Σw · Σ over pairs with y_i > y_j of  w_i w_j exp(−(f_i − f_j))

Freund, Iyer, Schapire, Singer, *An Efficient Boosting Algorithm for Combining Preferences*, JMLR
2003. The sum over pairs is computed as a sum over rows, with sums over lower and higher rows: rows
are sorted once by their targets, and value, gradient and Hessian then take time linear in the rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Vector
from cgboost.losses.loss import DifferentiableLoss

LARGEST_PAIR_EXPONENT = 300.0
"""Exponents are cut here: products of two such numbers, and sums of them, stay finite."""

COMPARED_ROWS = 1000
"""Rows that are compared with all others at once where errors are counted."""


class PairwiseExponential(DifferentiableLoss):
    """Ranking loss: only the order of the outputs matters.

    Pass the class itself to estimators: ``BLFRegressor(3, loss=PairwiseExponential)``. The loss
    does not change if a constant is added to the output, or if the target is replaced by an
    increasing function of it; ties are not pairs. It is divided by the sum of the weights, and
    therefore grows with the number of rows like other losses.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
        Rows with higher targets should have higher outputs.
    weights : ndarray of shape (n_rows,)
        Not negative; the weight of a pair is the product of the weights of its rows.
    """

    attains_minimum = False

    def __init__(self, target: Vector, weights: Vector) -> None:
        super().__init__(target, weights)
        self._order = np.argsort(target, kind="stable")
        levels = np.asarray(target)[self._order]
        self._starts = np.flatnonzero(np.append(True, levels[1:] != levels[:-1]))
        self._level = np.repeat(
            np.arange(len(self._starts)), np.diff(np.append(self._starts, len(levels)))
        )
        self._total = float(weights.sum()) or 1.0

    def value(self, output: Vector) -> float:
        """Σ of the pairs."""
        down, _, lower, _ = self._sums(output)
        return float(down @ lower) / self._total

    def pseudo_response(self, output: Vector) -> Vector:
        """The sum over pairs with lower rows, minus the sum over pairs with higher rows."""
        down, up, lower, higher = self._sums(output)
        return self._unsorted(down * lower - up * higher)

    def curvature(self, output: Vector) -> Vector:
        """The diagonal of the Hessian."""
        down, up, lower, higher = self._sums(output)
        return self._unsorted(down * lower + up * higher)

    def hessian(self, output: Vector, columns: Vector) -> Vector:
        """Σ over pairs of the loss times (h_i − h_j)(h_i − h_j)ᵀ."""
        down, up, lower, higher = self._sums(output)
        H = columns[self._order]
        own = (H * (down * lower + up * higher)[:, None]).T @ H
        below = self._below(np.add.reduceat(up[:, None] * H, self._starts, axis=0))
        cross = np.add.reduceat(down[:, None] * H, self._starts, axis=0).T @ below
        return np.asarray((own - cross - cross.T) / self._total, dtype=np.float64)

    def newton_step(self, output: Vector, direction: Vector) -> float:
        """By the Hessian, which is far from its diagonal."""
        bend = float(self.hessian(output, direction[:, None])[0, 0])
        return float(self.pseudo_response(output) @ direction) / bend if bend > 0 else 0.0

    def constant(self) -> float:
        """0; the loss does not depend on the constant."""
        return 0.0

    @staticmethod
    def row_errors(y: ArrayLike, output: ArrayLike) -> Vector:
        """The share of wrong pairs among the pairs of each row, shape (n_rows,); ties count half.

        The mean over all pairs, for two classes, is 1 minus the area under the ROC curve.
        """
        y, output = np.asarray(y, dtype=np.float64), np.asarray(output, dtype=np.float64)
        errors = np.zeros(len(y))
        for first in range(0, len(y), COMPARED_ROWS):
            part = slice(first, first + COMPARED_ROWS)
            order = np.sign(y[part, None] - y)
            wrong = np.where(
                order != 0, 0.5 * (1.0 - order * np.sign(output[part, None] - output)), 0
            )
            errors[part] = wrong.sum(axis=1) / np.maximum(np.count_nonzero(order, axis=1), 1)
        return errors

    def _sums(self, output: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """By sorted row: w e^(−f), w e^f, and Σ w e^f of the lower, Σ w e^(−f) of the higher."""
        f, w = output[self._order], self.weights[self._order]
        f = np.clip(f - 0.5 * (f.min() + f.max()), -LARGEST_PAIR_EXPONENT, LARGEST_PAIR_EXPONENT)
        down, up = w * np.exp(-f), w * np.exp(f)
        lower = self._below(np.add.reduceat(up, self._starts))
        fall = np.add.reduceat(down, self._starts)
        higher = self._below(fall[::-1])[::-1]
        return down, up, lower[self._level], higher[self._level]

    @staticmethod
    def _below(sums: Vector) -> Vector:
        """Of each level, the sum of all levels before it."""
        return np.concatenate([np.zeros_like(sums[:1]), np.cumsum(sums, axis=0)[:-1]])

    def _unsorted(self, values: Vector) -> Vector:
        found = np.empty_like(values)
        found[self._order] = values
        return found / self._total
