"""The convex problem that a model was fitted to: its objective, its bound, and where the gap is.

    min over w, b of   unit · [ L(f) + Ω(w) ],     f = factor·(Xw + b)

Ω is ½‖w‖², ‖w‖₁, or a mixture; the intercept b is free, absent, or charged as one more coefficient
(liblinear: b = scale·w₀). For every feasible r, with s = factor·Xᵀr, the gap is a sum of parts that
are not negative, one for each row and one for each feature (Fenchel–Young):

    L(f) + Ω(w) − D(r) = Σ_i [ℓ_i(f_i) − g_i(r_i) + r_i f_i] + Σ_j [φ(w_j) + φ*(s_j) − w_j s_j]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar

from cgboost.arrays import Vector
from cgboost.forks import cached_property
from cgboost.generation.rounding import allowance
from cgboost.penalties import Penalty
from cgboost.proofs.rows import Rows, rows_of

NEARLY_WHOLE = 0.999
"""A dual point that is no better when it is this much shorter is not too long."""

SHARE_FOUND = 1e-3
"""Relative accuracy of the best share of a dual point: what is missed is of its square."""

MIDDLE, SMALLEST_SHARE = 0.1, 1e-12
"""A share below this part of an interval is looked for again in a smaller one, which ends here."""

Intercept = Literal["free", "charged", "none"]


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients, and what they cost.

    Attributes
    ----------
    coef : ndarray of shape (n_features,) or (n_features, n_outputs)
    intercept : float or ndarray of shape (n_outputs,)
    output : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        f.
    objective : float
        In the units of the package that fitted the model.
    """

    coef: Vector
    intercept: Any
    output: Vector
    objective: float


@dataclass(frozen=True, eq=False)
class DualPoint:
    """A feasible pseudo-response, and the bound that it gives.

    Attributes
    ----------
    response : ndarray of the shape of f
    scores : ndarray of the shape of the coefficients
        s = factor·Xᵀr; of a charged intercept one more.
    bound : float
        In the units of the package.
    """

    response: Vector
    scores: Vector
    bound: float


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """A linear model's problem.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    loss : loss bound to its data, SupportVectorLoss or Rows
        Its costs over ``unit``.
    penalty : Penalty
        ``L1()``, ``L2()`` or ``ElasticNet(l1_ratio)``.
    unit : float
        What the objective is a multiple of.
    intercept : {"free", "charged", "none"}
    scale : float
        A charged intercept is ``scale`` times a coefficient.
    factor : float
        f over Xw + b.
    positive : bool
        Whether coefficients are at least 0.
    name : str
        Which of several problems it is: ``"class 2"``.
    numbers : ndarray of shape (n_rows,) or None
        Of the rows among those given; None: they are all.
    weights : ndarray of shape (n_features,) or None
        Of features in the penalty: X is divided by them, and coefficients are multiplied.
    given : ndarray, sparse matrix or None
        X before that.
    of_columns : bool
        Whether the features are such as nobody has as a table: columns of a kernel machine.
    """

    X: Any
    loss: Any
    penalty: Penalty
    unit: float
    intercept: Intercept = "free"
    scale: float = 1.0
    factor: float = 1.0
    positive: bool = False
    name: str = ""
    numbers: NDArray[np.intp] | None = None
    weights: Vector | None = None
    given: Any = None
    of_columns: bool = False

    @cached_property
    def rows(self) -> Rows:
        """The losses of the rows."""
        return rows_of(self.loss)

    @property
    def charged(self) -> bool:
        """Whether the intercept is in the penalty."""
        return self.intercept == "charged"

    def at(self, coef: Vector, intercept: Any) -> Point:
        """A point."""
        output = self.factor * (self.X @ coef + intercept)
        return self.with_output(coef, intercept, np.asarray(output))

    def with_output(self, coef: Vector, intercept: Any, output: Vector) -> Point:
        """A point whose output is known."""
        loss = float(self.rows.values(output).sum())
        penalty = self.penalty.value(self.charged_coefficients(coef, intercept).ravel())
        return Point(coef, intercept, output, self.unit * (loss + penalty))

    def nothing(self, given: Point) -> Point:
        """All coefficients and intercepts 0."""
        return self.with_output(0.0 * given.coef, 0.0 * given.intercept, 0.0 * given.output)

    def start(self, given: Point) -> Vector:
        """A pseudo-response that needs no solver: that of the outputs."""
        return self.rows.response(given.output)

    def charged_coefficients(self, coef: Vector, intercept: Any) -> Vector:
        """All that the penalty sees."""
        if not self.charged:
            return coef
        return np.concatenate([coef, np.atleast_1d(intercept / self.scale)])

    @cached_property
    def charged_columns(self) -> Any:
        """X, with the column of a charged intercept."""
        if not self.charged:
            return self.X
        ones = np.full((self.X.shape[0], 1), self.scale)
        if self.is_sparse:
            return sparse.hstack([self.X, ones], format=self.X.format)
        return np.hstack([self.X, ones])

    def dual_at(self, response: Vector) -> DualPoint:
        """The bound of the feasible point next to a pseudo-response."""
        response = self.rows.feasible(response, balanced=self.intercept == "free")
        scores = self.factor * np.asarray(self.X.T @ response)
        if self.charged:
            scores = np.append(scores, self.factor * self.scale * response.sum())
        share = self._share(response, scores)
        response, scores = share * response, share * scores
        bound = max(0.0, self._dual_objective(response, scores))  # no loss here is below 0
        return DualPoint(response, scores, self.unit * bound)

    def _dual_objective(self, response: Vector, scores: Vector) -> float:
        """D(r), of scores that the penalty allows."""
        gains = self.rows.gains(response)
        own = float(gains.sum()) - allowance(self.rows.rounding(response, gains))
        if not self.penalty.quadratic:
            return own
        return own - self.penalty.conjugate(scores.ravel(), two_sided=not self.positive)

    def _share(self, response: Vector, scores: Vector) -> float:
        """The t in [0, 1] for which t·r gives the best bound, or nearly so."""
        if not self.penalty.quadratic:
            size = np.maximum(scores, 0.0) if self.positive else np.abs(scores)
            return 1.0 / max(1.0, float(size.max(initial=0.0)) / self.penalty.threshold)

        if (own := self.rows.along(response)) is not None and not self.penalty.threshold:
            size = np.maximum(scores, 0.0) if self.positive else scores
            bend = own[1] + self.penalty.quadratic * float(np.vdot(size, size))
            return float(np.clip(own[0] / bend, 0.0, 1.0)) if bend > 0 else 1.0

        def loss(share: float) -> float:
            return -self._dual_objective(share * response, share * scores)

        if loss(1.0) <= loss(NEARLY_WHOLE):
            return 1.0
        share, high = 0.0, 1.0
        while share < MIDDLE * high and high > SMALLEST_SHARE:
            near = {"xatol": SHARE_FOUND * high}
            share = minimize_scalar(loss, bounds=(0.0, high), method="bounded", options=near).x
            high *= 2.0 * MIDDLE if share < MIDDLE * high else 1.0
        return float(share)

    def parts(self, point: Point, dual: DualPoint) -> tuple[Vector, Vector]:
        """The parts of the gap: of the rows, and of the features (of a charged intercept, last)."""
        of_rows = self.rows.parts(point.output, dual.response)
        w = self.charged_coefficients(point.coef, point.intercept)
        s, penalty = dual.scores, self.penalty
        own = penalty.threshold * np.abs(w) + 0.5 * penalty.quadratic * w**2
        over = np.maximum((s if self.positive else np.abs(s)) - penalty.threshold, 0.0)
        conjugate = 0.5 * over**2 / penalty.quadratic if penalty.quadratic else 0.0
        of_features = own + conjugate - w * s
        of_features = of_features if w.ndim == 1 else of_features.sum(axis=1)
        return self.unit * of_rows, self.unit * np.maximum(of_features, 0.0)

    @property
    def rows_used(self) -> Any:
        """The rows of X: all."""
        return np.arange(self.X.shape[0]) if self.numbers is None else self.numbers

    @property
    def is_sparse(self) -> bool:
        """Whether X is."""
        return sparse.issparse(self.X)
