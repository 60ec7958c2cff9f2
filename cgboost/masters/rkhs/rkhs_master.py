"""The master of a loss and the norms of functions, over columns K_p(·, z).

Primal   min F(Σ_p f_p + b) + ½Σ_p w_p‖f_p‖²       f_p = K_p(·, Z_p)α_p
Dual     max gain(r) − ½Σ_p rᵀP_p r/w_p            P_p: K_p projected on the span of its columns

Inside, columns are orthonormal in the RKHS of their kernel, so that it is the 2-norm's restricted
problem, whatever the loss; outside, coefficients are those of the columns K_p(·, z) themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.masters.support_vector.support_vector_master import (
    Offset,
    SignRule,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.optimizers.rkhs.orthonormal_basis import OrthonormalBasis
from cgboost.penalties.function_norm import NO_SIGN_RULE
from cgboost.penalties.rkhs import RKHS

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class RKHSState(MasterState):
    """The optimum of the restricted problem, and the spans of the columns in it.

    Attributes
    ----------
    bases : mapping of str to OrthonormalBasis
        By kernel. They grow with the columns of the master: what they show is that of the last
        state.
    """

    bases: Mapping[str, OrthonormalBasis] = field(default_factory=dict)


class RKHSMaster(SupportVectorMaster):
    """Restricted master of ½Σ_p w_p‖f_p‖²; parameters as :class:`SupportVectorMaster`.

    Parameters
    ----------
    penalty : RKHS, default=RKHS()
        The weights of the kernels. A column belongs to the kernel of its ``stratum``.
    """

    penalty: RKHS

    def __init__(
        self,
        loss: Any,
        penalty: RKHS | None = None,
        *,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        if coef == "nonneg":
            raise ValueError(NO_SIGN_RULE)
        super().__init__(
            loss,
            RKHS() if penalty is None else penalty,
            coef=coef,
            offset=offset,
            solver=solver,
            solver_options=solver_options,
        )
        self.bases: dict[str, OrthonormalBasis] = {}
        self._columns_of: dict[str, list[int]] = {}  # places in self.columns
        self._inside_of: dict[str, list[int]] = {}  # places of orthonormal columns in the dual
        self._n_inside = 0

    def add(self, columns: Sequence[Column]) -> None:
        """Take in new columns, made orthonormal to those of the same kernel."""
        groups: dict[str, list[int]] = {}
        for place, column in enumerate(columns):
            self._check_shape(column)
            groups.setdefault(column.stratum, []).append(place)
        first = len(self.columns)
        self.columns.extend(columns)
        for name, places in groups.items():
            if name not in self.bases:
                self.bases[name] = OrthonormalBasis(name, self.loss.n_rows)
            basis = self.bases[name]
            self._columns_of.setdefault(name, []).extend(first + place for place in places)
            held = len(basis)
            basis.add([columns[place] for place in places])
            new = basis.values[:, held:].T / np.sqrt(self.penalty.weight(name))
            inside = range(self._n_inside, self._n_inside + len(new))
            self._inside_of.setdefault(name, []).extend(inside)
            self._n_inside += len(new)
            if len(new):
                self._dual.add(new)

    def start_from(self, start: WarmStart) -> None:
        """Take in the columns of a similar problem, before the first :meth:`solve`."""
        self.add(start.columns)
        if start.columns:
            self._expect(start.coef, start.intercept)

    def _expect(self, coef: Vector, intercept: Any) -> None:
        self._dual.expect(self._inside(coef), intercept - self._centre)

    @property
    def warm_start(self) -> WarmStart:
        """The columns with a nonzero coefficient in the last answer, for a similar problem."""
        if self._best is None:
            return WarmStart()
        coef = self._outside(self._best.coef)
        used, intercept = np.flatnonzero(coef), self._best.intercept + self._centre
        return WarmStart([self.columns[j] for j in used], coef[used], intercept)

    def solve(self, *, time_limit: float | None = None) -> RKHSState:
        """Re-optimise; the coefficients are those of the columns as they were added."""
        state = super().solve(time_limit=time_limit)
        own = {each.name: getattr(state, each.name) for each in fields(state)}
        return RKHSState(**own | {"coef": self._outside(state.coef), "bases": self.bases})

    def _outside(self, beta: Vector) -> Vector:
        """Coefficients of the columns, for those of orthonormal ones that were there already."""
        coef = np.zeros(len(self.columns))
        for name, basis in self.bases.items():
            own = np.zeros(len(basis))
            inside = np.array(self._inside_of[name], dtype=np.intp)
            there = inside < len(beta)
            own[there] = beta[inside[there]]
            coef[self._columns_of[name]] = basis.expansion(own)
            coef[self._columns_of[name]] /= np.sqrt(self.penalty.weight(name))
        return coef

    def _inside(self, coef: Vector) -> Vector:
        """Coefficients of the orthonormal columns for those of the columns."""
        beta = np.zeros(self._n_inside)
        for name, basis in self.bases.items():
            own = basis.coefficients(coef[self._columns_of[name]])
            beta[self._inside_of[name]] = np.sqrt(self.penalty.weight(name)) * own
        return beta
