"""Columns of kernels as functions of new rows: h(x) = k(x, centre)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from cgboost.generation.columns import Term
from cgboost.kernels.base import Kernel
from cgboost.kernels.checks import kernel_values
from cgboost.kernels.expansions import Matrix, Vector
from cgboost.kernels.sums import WeightedCentres, library_sum, stacked


@dataclass(frozen=True)
class KernelFamily:
    """One named kernel; evaluates its hypotheses together."""

    name: str
    kernel: Kernel

    def outputs(self, X: Matrix, hypotheses: Sequence[KernelHypothesis]) -> Matrix:
        """Kernel values of the rows of X with the centres, shape (len(X), n_hypotheses)."""
        centres = stacked([hypothesis.centre for hypothesis in hypotheses])
        return kernel_values(self.name, self.kernel, X, centres)

    @staticmethod
    def weighted_sum(X: Matrix, terms: Sequence[Term]) -> Vector:
        """Σ_j coef_j h_j on the rows of X, over hypotheses of any kernels, shape (len(X),)."""
        parts = [
            WeightedCentres(family.name, family.kernel, [h.centre for h in hypotheses], coef)
            for family, hypotheses, coef in terms
        ]
        return library_sum(X, parts)


@dataclass(frozen=True, eq=False)
class KernelHypothesis:
    """h(x) = k(x, centre), with the training row the centre came from."""

    family: KernelFamily
    row: int
    centre: NDArray[Any]
