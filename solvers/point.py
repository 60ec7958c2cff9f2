"""A primal and dual point."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Point:
    """A primal and dual point in the project's dual convention."""

    x: FloatArray
    row_duals: FloatArray
