"""Latent factors as columns: each the direction of steepest descent, orthogonal to all before it.

The hypotheses are linear, t = X̃w with ‖w‖ = 1; the best one against the pseudo-response u has
w ∝ X̃ᵀu. Under the constraint tᵀΓtⱼ = 0 it has w ∝ (X̃ − TTᵀΓX̃)ᵀu: the same in deflated data, in
closed form. A search is therefore exact, and one that finds nothing proves something.

Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006: Algorithm 3 with
a ``LinearSpace``, Algorithm 5 with a ``KernelSpace``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.history import Round
from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.latent import Basis, FactorHypothesis, Space

Vector = NDArray[np.float64]

ROUNDING_UNITS = 1e3
"""Lengths of this many units of rounding, relative to what they came from, are 0."""

EXACT = 10.0 * float(np.finfo(np.float64).eps)
"""A response of this share of the output it is a residual of is 0."""

SPENT = 1e5
"""Of a factor as little as this, in units of rounding, may be new: the data span no more."""

SETTLED = 1e-7
"""A slope along a factor that is as small as this, relative to that of the response, is 0."""

OPTIMAL = Priced(columns=(), exact=True, max_excess=0.0, total_excess=0.0, n_evaluated=1)
"""Of a search that found all slopes to be 0."""

NO_FURTHER = Priced(columns=(), exact=True, n_evaluated=1, exhausted=True)
"""Of a search that found no further factor, though those there might have better coefficients."""


class LatentFactorPricer:
    """Prices out the next latent factor.

    Parameters
    ----------
    space : LinearSpace or KernelSpace
    deflate : bool, default=True
        Whether factors are made orthogonal to those in the master. Otherwise they are directions of
        steepest descent, of length 1 (gradient descent in function space).

    """

    def __init__(self, space: Space, *, deflate: bool = True) -> None:
        self.deflate = deflate
        self._search = space.search(deflate=deflate)
        self._steepest, self._first_response = 0.0, 0.0

    @property
    def family(self) -> Any:
        """The factors in the master, as functions of new rows (and perhaps one offered since)."""
        return self._search.family

    @property
    def basis(self) -> Basis:
        """The same on the training rows."""
        return self._search.basis

    def note(self, turn: Round) -> bool:
        """A callback of the loop: the last factor, too, is in the basis when a run has ended."""
        self._follow(turn.state)
        return False

    def price(self, state: MasterState, limit: int) -> Priced:
        """The next factor, at most one whatever the limit."""
        self._follow(state)
        response = state.pseudo_response
        size = float(np.linalg.norm(response))
        self._first_response = max(self._first_response, size)
        nothing = ROUNDING_UNITS * self._search.precision
        if size <= max(nothing * self._first_response, EXACT * _size_of_output(state)):
            return OPTIMAL
        direction = self._search.direction(response)
        self._steepest = max(self._steepest, direction.length / size)
        if direction.length <= nothing * self._steepest * size:
            return OPTIMAL if self._is_settled(response, size) else NO_FURTHER
        values, along = direction.values, np.zeros(0)
        if self.deflate:
            values, along = self.basis.without(values)
        length, before = self.basis.length(values), self.basis.length(direction.values)
        if length <= SPENT * self._search.precision * before:
            return NO_FURTHER
        factor = values / length
        excess = float(state.rule.excess(np.array([response @ factor]))[0])
        if limit == 0:
            return Priced((), exact=True, max_excess=excess, total_excess=excess, n_evaluated=1)
        number = self.basis.count
        self._search.offer(direction, along, length)
        column = Column(factor, ("factor", number), FactorHypothesis(self.family, number))
        return Priced([column], exact=True, max_excess=excess, total_excess=excess, n_evaluated=1)

    def _is_settled(self, response: Vector, size: float) -> bool:
        """Whether no intercept and no coefficients of the factors are better: uᵀe = 0, uᵀT = 0."""
        slopes = [response.sum() / np.sqrt(self.basis.weights.sum())]
        if self.deflate:  # otherwise T is in the span of the features, along which there is none
            slopes.extend(self.basis.factors.T @ response)
        return bool(np.abs(slopes).max() <= SETTLED * size)

    def _follow(self, state: MasterState) -> None:
        """Take note that the factor offered last is in the master."""
        if len(state.columns) > self.basis.count:
            self._search.accept(np.asarray(state.columns[-1].values, dtype=np.float64))


def _size_of_output(state: MasterState) -> float:
    """That of the output, in units of the response: how far rounding may move the latter."""
    return 0.0 if state.curvature is None else float(np.linalg.norm(state.curvature * state.output))
