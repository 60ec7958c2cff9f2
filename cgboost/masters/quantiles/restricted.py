"""Restricted dual of several outputs, with working sets of rows, crossings and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cgboost.generation.columns import FloatArray
from cgboost.losses.dual.noncrossing import NoncrossingLoss
from cgboost.losses.dual.support_vector import Indices, Vector
from cgboost.masters.quantiles.joint_columns import JointColumns
from cgboost.masters.quantiles.joint_session import JointSession, JointSolution
from cgboost.masters.quantiles.joint_simplex import JointSimplexSession
from cgboost.masters.support_vector.working_set import (
    NEAREST_SHARE,
    REPEATS,
    DualPoint,
    RestrictedDual,
)
from cgboost.penalties.base import DualForm


class RestrictedQuantiles(RestrictedDual):
    """Live restricted problem of several outputs that must not cross.

    The multiplier of a crossing comes into the session when the outputs cross there, and leaves it
    as any variable does whose rate says that it stays at 0.

    Parameters
    ----------
    loss : NoncrossingLoss
    form : DualForm
        Of the 1-norm, with free offsets.
    solver : str
    options : mapping of str to object, optional
        The solver's own.
    """

    loss: NoncrossingLoss
    columns: JointColumns  # type: ignore[assignment]

    def __init__(
        self,
        loss: NoncrossingLoss,
        form: DualForm,
        solver: str,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.loss, self.variables, self.form = loss, loss.variables, form
        self.columns = JointColumns(loss.n_outputs, loss.variables.n_rows)
        self._solver, self._options = solver, options
        self.session: Any
        if solver == "auto":
            self.session = JointSession(loss, self.columns, form)
        else:
            self.session = self._backend_session()
            crossing = loss.variables.crossing
            self.session.fix(crossing, np.zeros(len(crossing), dtype=bool))
        self.ends_inside = solver == "auto"
        self.rate = self.variables.gain()
        self._slack_for: Indices = np.zeros(0, dtype=np.intp)
        self._repeats = 0

    def take(self, values: Sequence[FloatArray], owner: Indices) -> None:
        """Take in new columns, each of shape (n_training_rows,), that add to these outputs."""
        first = self.columns.count
        self._repeats = 0
        self.columns.append(values, owner)
        self._slack_for = np.append(self._slack_for, np.zeros(len(values), dtype=np.intp))
        self.activate(np.arange(first, self.columns.count))

    def expect(self, coef: Vector, intercept: Any, near: float = NEAREST_SHARE) -> None:
        """Columns of a similar problem are all that is taken from it."""

    def _point(self, solution: JointSolution) -> DualPoint:  # type: ignore[override]
        """What a solution is for all rows; its offsets are moved until no outputs cross."""
        u, coef, offsets = solution
        size = self.columns.n_rows
        combined = self.columns.combine(coef)
        output = combined + np.repeat(offsets, size)
        moved = self.loss.uncrossed(output, offsets)
        return DualPoint(
            coef,
            moved - self.columns.shift(coef),  # type: ignore[arg-type]
            combined + np.repeat(moved, size),
            response=self.loss.balanced_response(u),
            rate=self.variables.rate(output),
            solved=(self.session.solved and not self._simplex_can) or self._repeats > REPEATS,
        )

    def _fix_idle(self, rate: Vector) -> None:
        """As for any variable, but that no multiplier is ever fixed at the end of its range."""
        rate = rate.copy()
        crossing = self.variables.crossing  # type: ignore[attr-defined]
        rate[crossing] = np.minimum(rate[crossing], 0.0)
        super()._fix_idle(rate)

    def _backend_session(self) -> JointSimplexSession:
        return JointSimplexSession(self.loss, self.columns, self.form, self._solver, self._options)
