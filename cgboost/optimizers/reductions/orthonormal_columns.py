"""Columns K_p(·, z) made orthonormal in the RKHS of their kernel, at a weight w_p.

    ½ w_p‖f_p‖² = ½Σβ²      f_p = K_p(·, Z_p)α_p = U_p β_p/√w_p

(:mod:`cgboost.optimizers.rkhs.orthonormal_basis`), so that a norm of functions is the 2-norm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.reduction import Reduction
from cgboost.optimizers.rkhs.orthonormal_basis import OrthonormalBasis


class OrthonormalColumns(Reduction):
    """The columns of each kernel in its basis; a column that depends on others adds nothing.

    Parameters
    ----------
    weight : callable
        w_p by the name of the kernel.

    Attributes
    ----------
    bases : dict of str to OrthonormalBasis
        By kernel.
    """

    def __init__(self, weight: Callable[[str], float]) -> None:
        self.bases: dict[str, OrthonormalBasis] = {}
        self._weight = weight
        self._columns_of: dict[str, list[int]] = {}  # places of the columns as they come
        self._inside_of: dict[str, list[int]] = {}  # places of orthonormal columns
        self._n_columns = self._n_inside = 0

    def columns(self, new: Sequence[Column]) -> Sequence[Column]:
        """The orthonormal columns that are new."""
        groups: dict[str, list[int]] = {}
        for place, column in enumerate(new):
            groups.setdefault(column.stratum, []).append(place)
        first, made = self._n_columns, list[Column]()
        self._n_columns += len(new)
        for name, places in groups.items():
            if name not in self.bases:
                self.bases[name] = OrthonormalBasis(name, len(new[places[0]].values))
            basis = self.bases[name]
            self._columns_of.setdefault(name, []).extend(first + place for place in places)
            held = len(basis)
            basis.add([new[place] for place in places])
            values = basis.values[:, held:].T / np.sqrt(self._weight(name))
            inside = range(self._n_inside, self._n_inside + len(values))
            self._inside_of.setdefault(name, []).extend(inside)
            self._n_inside += len(values)
            made += [Column(u, (name, place)) for u, place in zip(values, inside, strict=True)]
        return made

    def start(self, coef: Vector, intercept: Any) -> tuple[Vector, Any]:
        """Coefficients of the orthonormal columns."""
        beta = np.zeros(self._n_inside)
        for name, basis in self.bases.items():
            own = basis.coefficients(coef[self._columns_of[name]])
            beta[self._inside_of[name]] = np.sqrt(self._weight(name)) * own
        return beta, intercept

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """Coefficients of the columns, for those of orthonormal ones that were there already."""
        coef, beta = np.zeros(self._n_columns), point.coef
        for name, basis in self.bases.items():
            own = np.zeros(len(basis))
            inside = np.array(self._inside_of[name], dtype=np.intp)
            there = inside < len(beta)
            own[there] = beta[inside[there]]
            places = self._columns_of[name]
            coef[places] = basis.expansion(own) / np.sqrt(self._weight(name))
        return replace(point, coef=coef)
