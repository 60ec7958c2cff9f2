"""Whole kernels as columns of multiple kernel learning.

The column of a kernel is the function of the unit ball of its space that has the best score against
a pseudo-response r:

    h_p = K_p r / (w_p √(rᵀK_p r)),     h_p·r = √(rᵀK_p r)/w_p,      w_p‖h_p‖ = 1

It changes with r (:mod:`cgboost.generation.spaces`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.spaces import SpaceColumn
from cgboost.kernels.expansions import Matrix
from cgboost.kernels.precomputed import KernelFamily, KernelHypothesis
from cgboost.kernels.rows import single

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """h(x) = Σ_i weight_i k(x, x_i) over training rows x_i.

    Attributes
    ----------
    family : ExpansionFamily
    centres : sequence of KernelHypothesis
        k(·, x_i).
    weights : ndarray of shape (n_centres,)
    """

    family: ExpansionFamily
    centres: Sequence[KernelHypothesis]
    weights: Vector

    def terms(self) -> tuple[Sequence[KernelHypothesis], Vector]:
        """The basis functions that it is a combination of, and their weights."""
        return self.centres, self.weights


class ExpansionFamily:
    """Evaluates expansions of one kernel.

    Parameters
    ----------
    kernel : KernelFamily
    """

    def __init__(self, kernel: KernelFamily) -> None:
        self.kernel = kernel

    def outputs(self, X: Matrix, hypotheses: Sequence[KernelExpansion]) -> Matrix:
        """Values of the expansions on the rows of X, shape (len(X), n_hypotheses)."""
        values = np.zeros((X.shape[0], len(hypotheses)))
        for place, hypothesis in enumerate(hypotheses):
            if len(hypothesis.centres):
                own = self.kernel.outputs(X, hypothesis.centres)
                values[:, place] = own.astype(np.float64, copy=False) @ hypothesis.weights
        return values


class KernelSpace:
    """The functions of one kernel over the training rows.

    Parameters
    ----------
    functions : KernelFamily
    gram : ndarray of shape (n_rows, n_rows)
        K_p(x_i, x_j) of all training rows.
    rows : matrix of n_rows rows
        The training rows as kernels see them, from which centres are taken.
    weight : float
        w_p, what a unit of the norm costs.
    """

    def __init__(
        self, functions: KernelFamily, gram: Vector, rows: Any, weight: float = 1.0
    ) -> None:
        self.functions, self.gram, self.rows, self.weight = functions, gram, rows, weight
        self._expansions = ExpansionFamily(functions)
        self._centres: dict[int, KernelHypothesis] = {}

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.functions.name

    def norm(self, vector: Vector) -> float:
        """w_p√(aᵀK_p a), the norm of a function by its vector a."""
        return self.weight * float(np.sqrt(max(0.0, float(vector @ self.gram @ vector))))

    def best(self, response: Vector, key: Hashable) -> Column:
        """The function of the unit ball with the best score; 0 where every function scores 0."""
        values, size, hypothesis = self._maximiser(response)
        return Column(values / size, key, hypothesis=hypothesis, stratum=self.name)

    def whole(self, response: Vector) -> SpaceColumn:
        """The kernel as a column, with the function of the best score for its values."""
        values, size, hypothesis = self._maximiser(response)
        key = ("kernel", self.name)
        return SpaceColumn(values / size, key, hypothesis, self.name, space=self)

    def _maximiser(self, response: Vector) -> tuple[Vector, float, KernelExpansion]:
        """K r, its norm, and the function of the norm 1."""
        values = self.gram @ response
        size = self.weight * float(np.sqrt(max(0.0, float(values @ response))))
        if size == 0:
            return np.zeros(len(response)), 1.0, KernelExpansion(self._expansions, (), response[:0])
        support = np.flatnonzero(response)
        centres = [self._centre(row) for row in support.tolist()]
        return values, size, KernelExpansion(self._expansions, centres, response[support] / size)

    def _centre(self, row: int) -> KernelHypothesis:
        known = self._centres.get(row)
        if known is None:
            centres = self.functions.kernel.centres(self.rows, slice(row, row + 1))
            known = self._centres[row] = KernelHypothesis(self.functions, row, single(centres))
        return known
