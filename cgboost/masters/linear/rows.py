"""The rows of a linear master: names, senses and right-hand sides."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

SENSES = {"<=": "<=", "≤": "<=", "==": "==", "=": "==", ">=": ">=", "≥": ">="}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows Σ h_j x_j  ≤ | = | ≥  rhs.

    Attributes
    ----------
    names : sequence of hashable
    senses : ndarray of str
        ``"<="``, ``"=="`` or ``">="`` for each.
    rhs : ndarray of shape (n_rows,)
    """

    names: Sequence[Hashable]
    senses: NDArray[np.str_]
    rhs: Vector

    @classmethod
    def checked(
        cls, rows: int | Sequence[Hashable], sense: str | Sequence[str], rhs: ArrayLike
    ) -> Self:
        """The rows, or a ValueError that says what is wrong with them."""
        names: Sequence[Hashable] = tuple(rows) if isinstance(rows, Iterable) else range(rows)
        if len(set(names)) != len(names):
            raise ValueError("rows must have names that differ")
        senses = _checked_senses(sense, len(names))
        given = np.asarray(rhs, dtype=np.float64)
        if given.shape not in ((), (len(names),)):
            raise ValueError(f"rhs has shape {given.shape}, there are {len(names)} rows")
        values = np.array(np.broadcast_to(given, (len(names),)))
        if not np.isfinite(values).all():
            raise ValueError(f"rhs must be finite, got {values}")
        return cls(names, senses, values)

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def lower(self) -> Vector:
        """Lower bounds of the rows."""
        return np.where(self.senses != "<=", self.rhs, -np.inf)

    @property
    def upper(self) -> Vector:
        """Upper bounds of the rows."""
        return np.where(self.senses != ">=", self.rhs, np.inf)

    def missed_by_zero(self) -> Indices:
        """The rows that x = 0 does not meet."""
        return np.flatnonzero((self.lower > 0) | (self.upper < 0))

    def signed(self, duals: Vector) -> Vector:
        """The duals with wrong signs, which are rounding errors, set to 0: bounds need that."""
        least = np.where(self.senses == ">=", 0.0, -np.inf)
        most = np.where(self.senses == "<=", 0.0, np.inf)
        return np.clip(duals, least, most)


def _checked_senses(sense: str | Sequence[str], n_rows: int) -> NDArray[np.str_]:
    senses = [sense] * n_rows if isinstance(sense, str) else list(sense)
    if len(senses) != n_rows:
        raise ValueError(f"sense has {len(senses)} entries, there are {n_rows} rows")
    if unknown := set(senses) - set(SENSES):
        raise ValueError(f'sense must be "<=", "==" or ">=", got {unknown.pop()!r}')
    return np.array([SENSES[each] for each in senses], dtype="<U2")
