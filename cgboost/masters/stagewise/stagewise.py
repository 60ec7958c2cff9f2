"""Forward stagewise master: a coefficient is chosen when its column comes, and stays.

    f ← f + Σ c_k h_k     over the columns of one round, each with its own step c_k
    f ← f + c h + b       with a free offset: the constant is chosen anew with every step

This is AnyBoost (Momma, Bennett 2006, Alg. 1) and forward stagewise modelling. There is no
restricted problem to re-optimise, so there is no bound: ``solve`` only reports where f stands.

The best step along a column together with the best change of the constant is

    min over c, b   loss(f + c·h + b),        |c·h_i + b| ≤ most for every row

A line search along h alone leaves Σr ≠ 0 where h has no constant in it that is right for f + c·h.
c·h + b is linear in its values u, v where h is least and where it is largest, so that the bounds
are a box in (u, v): :mod:`cgboost.optimizers.refits.descent`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, gap_scale
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.exponential import WeightedExponential
from cgboost.losses.loss import DifferentiableLoss, UnboundedStepError
from cgboost.losses.registry import require_targets
from cgboost.losses.second_order_model import Quadratic
from cgboost.optimizers.refits.descent import descended, within


def offset_step(
    loss: DifferentiableLoss, output: Vector, values: Vector, most: float
) -> tuple[float, float]:
    """The step c along a column and the change b of the constant.

    Parameters
    ----------
    loss : DifferentiableLoss
        Smooth, with one output.
    output, values : ndarray of shape (n_rows,)
        f, and the column h.
    most : float
        May be inf. Where the loss then falls without end, f is followed until r is next to 0.

    Returns
    -------
    step, shift : float
    """
    lowest = float(values.min())
    width = float(values.max()) - lowest or 1.0
    share = (values - lowest) / width
    basis = np.column_stack([1.0 - share, share])

    def surface(ends: Vector) -> Quadratic:
        here = output + basis @ ends
        gradient = -(basis.T @ loss.pseudo_response(here))
        return Quadratic(loss.value(here), gradient, loss.hessian(here, basis))

    ends, _ = descended(surface, np.zeros(2), within(most), most=most)
    step = float(ends[1] - ends[0]) / width
    return step, float(ends[0]) - step * lowest


def confidence_step(loss: DifferentiableLoss, output: Vector, direction: Vector) -> float:
    """The step of ConfidenceBoost, an inexact line search of the exponential loss.

    It is the best step along ±1 columns that agree with r in the shares (1 ± ρ)/2 of its weight,
    ρ = r·h/(Σ|r| max|h|). By convexity the loss of f + c·h is at most that of these (Schapire,
    Singer, *Improved Boosting Algorithms Using Confidence-rated Predictions*, 1999, eq. 5 and 6).

    Raises
    ------
    UnboundedStepError
        For ρ = ±1, a column that is right on every row.
    """
    response = loss.pseudo_response(output)
    largest = float(np.abs(direction).max(initial=0.0))
    total = float(np.abs(response).sum()) * largest
    agreed = float(response @ direction) / total if total > 0 else 0.0
    if abs(agreed) >= 1.0:
        raise UnboundedStepError("the loss falls without end along this column")
    return float(np.arctanh(agreed)) / largest if largest > 0 else 0.0


StepRule = Literal["line-search", "newton", "confidence"] | float

PERFECT = 1.0
"""Coefficient of a column along which the loss falls without end; the run ends with it."""


@dataclass(frozen=True)
class DescentEntry:
    """Every column with r·h ≠ 0 is a way down; more of it is better.

    One-sided, where steps are always positive: only those with r·h > 0.
    """

    scale: float
    two_sided: bool = True
    additive: ClassVar[bool] = False

    def excess(self, scores: Vector) -> Vector:
        """|s|, or the positive part of s, relative to the scale of the gap."""
        sizes = np.abs(scores) if self.two_sided else np.maximum(scores, 0.0)
        return sizes / self.scale

    def settled(self, score: float) -> float:
        """0, where the column leads nowhere."""
        return 0.0


class DescentMaster:
    """What masters without a penalty share: no bound but at the optimum, and what a state says."""

    proves = False

    columns: list[Column]
    _empty: float
    """The loss of the model without columns."""

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """The objective, where an exact search has found r·h = 0 for every column; else None.

        The loss is convex and nothing limits the coefficients: f is then the best in the span of
        all columns.
        """
        settled = priced.exact and priced.max_excess == 0.0 and state.bounded
        return state.objective if settled else None

    def _state(
        self,
        coef: Vector,
        intercept: Any,
        output: Vector,
        response: Vector,
        objective: float,
        *,
        two_sided: bool = True,
        curvature: Vector | None = None,
        bounded: bool = True,
    ) -> MasterState:
        """Where f stands; a loss that falls without end has no pseudo-response."""
        scale = gap_scale(objective, self._empty)
        response = response if bounded else np.zeros_like(response)
        return MasterState(
            columns=tuple(self.columns),
            coef=coef,
            intercept=intercept,
            output=output,
            pseudo_response=response,
            objective=objective,
            slack=np.abs(response),
            entry=DescentEntry(scale, two_sided),
            scale=scale,
            curvature=curvature,
            bounded=bounded,
        )


class StagewiseMaster(DescentMaster):
    """Master of forward stagewise boosting.

    A step that is not searched for may raise the loss.

    Parameters
    ----------
    loss : DifferentiableLoss
        ``loss.on(y, weights)``, or your own.
    step : {"line-search", "newton", "confidence"} or float
        The best step along the column, one Newton step, that of ``confidence_step`` (for the
        exponential loss), or always the same.
    learning_rate : float, default=1.0
        Multiplies the first three.
    start : {"zero", "constant"}
        f before the first column; the best constant becomes the intercept.
    offset : {"fixed", "free"}, default="fixed"
        Whether the intercept moves with every step, so that c·h + b is best
        (:mod:`cgboost.masters.stagewise.stagewise`). For pricers that make no column of a
        constant: of losses other than the squared error Σr = 0 is lost in a step along h alone.
        Needs a smooth loss with one output and ``step="line-search"``; columns of one round step
        one after the other.
    most : float, default=inf
        What a step changes an output by, at most. Where a column is right on every training row,
        the loss falls without end along it, and the best step would be sure of what it is not.
    keep : {"last", "lowest"}, default="last"
        The round that makes the model: the last one, or that of the lowest loss.
    """

    def __init__(
        self,
        loss: DifferentiableLoss,
        *,
        step: StepRule = "line-search",
        learning_rate: float = 1.0,
        start: Literal["zero", "constant"] = "zero",
        offset: Literal["fixed", "free"] = "fixed",
        most: float = np.inf,
        keep: Literal["last", "lowest"] = "last",
    ) -> None:
        require_targets(loss)
        if keep not in ("last", "lowest"):
            raise ValueError(f"keep must be 'last' or 'lowest', got {keep!r}")
        self.descends = keep == "lowest"
        if isinstance(step, str) and step not in ("line-search", "newton", "confidence"):
            raise ValueError(
                f"step must be 'line-search', 'newton', 'confidence' or a number, got {step!r}"
            )
        if step == "confidence" and not isinstance(loss, WeightedExponential):
            raise ValueError(
                f"step='confidence' needs the exponential loss, got {type(loss).__name__}"
            )
        if start not in ("zero", "constant"):
            raise ValueError(f"start must be 'zero' or 'constant', got {start!r}")
        if not most > 0:
            raise ValueError(f"most must be positive, got {most!r}")
        if offset not in ("fixed", "free"):
            raise ValueError(f"offset must be 'fixed' or 'free', got {offset!r}")
        if offset == "free":
            _check_free_offset(loss, step)
        self.offset = offset
        self.loss, self.step, self.learning_rate, self.most = loss, step, learning_rate, most
        self.columns: list[Column] = []
        self.intercept = loss.constant() if start == "constant" else 0.0
        self.output = np.zeros(loss.shape) + self.intercept
        self._coef: list[float] = []
        self._finished = False
        self._empty = loss.value(self.output)

    def add(self, columns: Sequence[Column]) -> None:
        """Choose the steps along the columns, all from the present f, and take them."""
        for column in columns:
            column.check(self.loss.n_rows)
        if self.offset == "free":
            steps = [self._step_with_offset(column) for column in columns]
        else:
            steps = [self._step_along(column) for column in columns]
            for column, step in zip(columns, steps, strict=True):
                self._output_of(column)[:] += step * column.values
        self.columns.extend(columns)
        self._coef.extend(steps)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Where f stands: loss, pseudo-response, Newton weights."""
        response, curvature = self.loss.derivatives(self.output)
        return self._state(
            np.array(self._coef),
            self.intercept,
            self.output.copy(),
            response,
            self.loss.value(self.output),
            two_sided=isinstance(self.step, str),
            curvature=curvature,
            bounded=not self._finished,
        )

    def _step_along(self, column: Column) -> float:
        if not isinstance(self.step, str):
            return float(self.step)
        if self.loss.n_outputs == 1:
            direction = np.asarray(column.values, dtype=np.float64)
        else:
            direction = np.zeros(self.loss.shape)
            direction[:, column.output] = column.values
        try:
            search: dict[str, Callable[[Vector, Vector], float]] = {
                "newton": self.loss.newton_step,
                "line-search": self.loss.line_search,
                "confidence": partial(confidence_step, self.loss),
            }
            step = self.learning_rate * search[self.step](self.output, direction)
        except UnboundedStepError:
            score = float(np.vdot(self.loss.pseudo_response(self.output), direction))
            self._finished = self.most == np.inf
            step = float(np.copysign(PERFECT if self._finished else np.inf, score))
        if self.most == np.inf or step == 0.0:
            return step
        longest = self.most / max(float(np.abs(direction).max()), np.finfo(float).tiny)
        return float(np.clip(step, -longest, longest))

    def _step_with_offset(self, column: Column) -> float:
        """Take the best step with the best constant; the intercept moves."""
        values = np.asarray(column.values, dtype=np.float64)
        most = self.most / max(1.0, self.learning_rate)
        best = offset_step(self.loss, self.output, values, most)
        step, shift = (self.learning_rate * part for part in best)
        self.output += step * values + shift
        self.intercept += shift
        return step

    def _output_of(self, column: Column) -> Vector:
        return self.output if self.loss.n_outputs == 1 else self.output[:, column.output]


def _check_free_offset(loss: DifferentiableLoss, step: StepRule) -> None:
    if step != "line-search" or loss.n_outputs != 1 or isinstance(loss, PiecewiseLinearLoss):
        raise ValueError(
            "offset='free' needs step='line-search' and a smooth loss with one output, got "
            f"step={step!r} and {type(loss).__name__}"
        )
