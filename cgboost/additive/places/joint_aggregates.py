"""Sums over rows in memory for a loss of several classes, one output each.

    L(f_1, …, f_K) = Σ w (log Σ_l e^{f_l} − f_y),      p_k = e^{f_k} / Σ_l e^{f_l}

    −∂L/∂f_k = w ([y = k] − p_k),      ∂²L/∂f_k∂f_l = w (δ_kl p_k − p_k p_l)

Each class has its own aggregates for its stages, whose response is [y = k] − p_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from cgboost.additive.places.spilled import Made, slices
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.second_order_model import Quadratic

Vector = NDArray[np.float64]

JOINT_ROWS = 2**14
"""Rows of which scores, shares and new columns of all classes are held at once: 10 MB with ten
classes and a new column for each."""


class JointMemoryAggregates:
    """Sums over rows in memory, for all classes together.

    Parameters
    ----------
    parts : sequence of MemoryAggregates
        Of each class.
    loss : Multinomial
    target, weights : ndarray of shape (n_rows,)
        Numbers of the classes, and weights.
    held : ndarray of bool, shape (n_rows,)
        Holdout rows.
    """

    attains_minimum = False
    is_smooth = True

    def __init__(
        self,
        parts: Sequence[Any],
        loss: Multinomial,
        target: Vector,
        weights: Vector,
        held: NDArray[np.bool_],
    ) -> None:
        loss.check_target(target)
        self.parts, self._held = list(parts), held
        self._target, self._weights = target.astype(np.intp), weights
        self.weight = float(weights[~held].sum())
        self.holdout_weight = float(weights[held].sum())
        self._slices = slices(len(target), JOINT_ROWS)
        self._mapped = self.parts[0].passes.mapped
        self._responses = np.zeros((len(self.parts), 0))
        for k, part in enumerate(self.parts):
            part.respond = partial(self._response_of, k)
        self._respond()

    def quadratic(
        self, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int]
    ) -> Quadratic:
        """See :meth:`JointAggregates.quadratic`."""

        def on(rows: slice) -> Quadratic:
            return self._on(rows, coefs, intercepts, last)

        return reduce(Quadratic.merged, self._mapped(on, self._slices))

    def move(self, coefs: Sequence[Vector], intercepts: Vector) -> tuple[Vector, Vector]:
        """See :meth:`JointAggregates.move`."""
        for part, coef, intercept in zip(self.parts, coefs, intercepts.tolist(), strict=True):
            part.follow(coef, intercept)
        self._respond()
        if self.parts[0].spills:
            return np.zeros(0), np.zeros(0)
        output = np.array([part.output_on(slice(None)) for part in self.parts]).T
        return output, (np.where(self._held, 0.0, self._weights) * self._responses).T

    def _respond(self) -> None:
        """Make the responses of all classes, unless they are made by blocks."""
        if not self.parts[0].spills:
            made = list(self._mapped(self._responses_on, self._slices))
            self._responses = np.concatenate(made, axis=1)

    def _response_of(self, k: int) -> Any:
        if not self.parts[k].spills:
            return self._responses[k]
        return Made(lambda rows: self._responses_on(rows)[k], len(self._target))

    def _responses_on(self, rows: slice) -> Vector:
        """[y = k] − p_k on some rows, shape (n_classes, n_chosen)."""
        f = np.array([part.output_on(rows) for part in self.parts])
        return self._indicators(rows) - np.exp(f - logsumexp(f, axis=0))

    def _indicators(self, rows: slice) -> Vector:
        numbers = np.arange(len(self.parts))[:, None]
        return np.asarray(self._target[rows] == numbers, dtype=np.float64)

    def _on(
        self, rows: slice, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int]
    ) -> Quadratic:
        """The loss on some rows."""
        own = list(zip(self.parts, coefs, intercepts.tolist(), last, strict=True))
        f = np.array([part.output_at(coef, b, rows) for part, coef, b, _ in own])
        everything = logsumexp(f, axis=0)
        losses = everything - f[self._target[rows], np.arange(f.shape[1])]
        held, weights = self._held[rows], self._weights[rows]
        training = np.where(held, 0.0, weights)
        p = np.exp(f - everything)
        response = training * (self._indicators(rows) - p)
        classes = np.arange(len(own))
        owner = np.concatenate([classes, np.repeat(classes, last)])
        columns = [np.ones((len(own), f.shape[1]))]
        for part, coef, _, count in own:
            there = part.outputs.values[len(coef) - count : len(coef)]
            columns += [values[rows][None] for values in there]
        h = np.concatenate(columns)
        shared = p[owner] * h
        hessian = -(training * shared) @ shared.T
        for k in classes.tolist():
            mine = np.flatnonzero(owner == k)
            hessian[np.ix_(mine, mine)] += (training * shared[mine]) @ h[mine].T
        gradient = -(response[owner] * h).sum(axis=1)
        outside = float(weights[held] @ losses[held])
        return Quadratic(float(training @ losses), gradient, hessian, outside)
