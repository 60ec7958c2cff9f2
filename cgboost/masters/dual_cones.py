"""Dual cones of CVXPY's standard form: moving a solver's duals into them.

The parts of z follow each other in CVXPY's order: equations (any z), inequalities (z ≥ 0),
second-order cones, semidefinite cones (upper triangle by columns, times √2 off the diagonal),
exponential cones and power cones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import MasterError

Vector = NDArray[np.float64]

INSIDE = 1e-14
"""A dual is moved into its cone by this more than it must, relative to its size."""

TINY = float(np.finfo(np.float64).tiny)
"""More than what an exponential that underflows to 0 can be."""


@dataclass(frozen=True)
class Cones:
    """Sizes of the parts of z: of a second-order cone, orders of matrices, exponents of powers."""

    zero: int
    nonneg: int
    soc: list[int] = field(default_factory=list)
    psd: list[int] = field(default_factory=list)
    exp: int = 0
    p3d: list[float] = field(default_factory=list)

    @classmethod
    def of_cvxpy(cls, dims: Any) -> Cones:
        """The cones of a problem for Clarabel."""
        if getattr(dims, "pnd", None):
            raise MasterError("there is no bound for power cones of more than three dimensions")
        return cls(dims.zero, dims.nonneg, dims.soc, dims.psd, dims.exp, dims.p3d)

    def parts(self) -> Iterator[slice]:
        """Where each cone's part of z is, those of equations and inequalities left out."""
        sizes = [*self.soc, *(k * (k + 1) // 2 for k in self.psd)]
        sizes += [3] * (self.exp + len(self.p3d))
        start = self.zero + self.nonneg
        for size in sizes:
            yield slice(start, start + size)
            start += size

    def raised(self, z: Vector) -> Vector:
        """Move z into the dual cone by raising one entry of each part, or a diagonal."""
        z = z.copy()
        inequalities = slice(self.zero, self.zero + self.nonneg)
        z[inequalities] = np.maximum(z[inequalities], 0.0)
        parts = self.parts()
        for _ in self.soc:
            _raise_second_order(z[next(parts)])
        for order in self.psd:
            _raise_semidefinite(z[next(parts)], order)
        for _ in range(self.exp):
            _raise_exponential(z[next(parts)])
        for exponent in self.p3d:
            _lower_power(z[next(parts)], exponent)
        return z

    def room(self, z: Vector) -> Vector:
        """How far each dual may go, roughly: as far as it or its cone's part is long."""
        room = np.abs(z)
        room[: self.zero] = room.max(initial=1.0)
        round_cones = len(self.soc) + len(self.psd)
        for part in list(self.parts())[:round_cones]:
            room[part] = np.linalg.norm(z[part])
        return room


def _raise_second_order(z: Vector) -> None:
    """Make ‖(z_1, …)‖ ≤ z_0."""
    z[0] = max(z[0], (1.0 + INSIDE * z.size) * float(np.linalg.norm(z[1:])))


def _raise_semidefinite(z: Vector, order: int) -> None:
    column, row = np.tril_indices(order)
    matrix = np.zeros((order, order))
    matrix[row, column] = matrix[column, row] = z / np.where(row == column, 1.0, np.sqrt(2.0))
    values = np.linalg.eigvalsh(matrix)
    missing = INSIDE * order * float(np.abs(values).max()) - float(values[0])
    z[row == column] += max(0.0, missing)


def _raise_exponential(z: Vector) -> None:
    """Make −u·exp(v/u − 1) ≤ w with u < 0, or u = 0 ≤ v, w."""
    u, v, w = z
    if u >= 0:
        z[:] = 0.0, max(v, 0.0), max(w, 0.0)
        return
    with np.errstate(over="ignore"):
        least = -u * np.exp(v / u - 1.0)
    z[2] = max(w, least * (1.0 + INSIDE * (1.0 + abs(v / u))) + TINY)


def _lower_power(z: Vector, exponent: float) -> None:
    """Make (u/α)^α·(v/(1 − α))^(1 − α) ≥ |w|, u ≥ 0, v ≥ 0."""
    z[:2] = np.maximum(z[:2], 0.0)
    largest = (z[0] / exponent) ** exponent * (z[1] / (1.0 - exponent)) ** (1.0 - exponent)
    z[2] = np.clip(z[2], -largest * (1.0 - INSIDE), largest * (1.0 - INSIDE))
