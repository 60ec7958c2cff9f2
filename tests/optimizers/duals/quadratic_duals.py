"""Restricted duals of the 2-norm over random columns, and the problem they are dual to."""

import cvxpy as cp
import numpy as np

from cgboost.losses import SupportVectorLoss, epsilon_insensitive, hinge
from cgboost.optimizers.active_set.quadratic_dual import (
    DualIterate,
    QuadraticDual,
    RowBoxes,
    WeightedSubmatrix,
)
from tests.problems import optimum as full_optimum

KINDS = ("hinge", "tube", "absolute")
OFFSETS = ("none", "penalized", "free")


def random_loss(
    rng: np.random.Generator, n_rows: int, kind: str, price: float
) -> SupportVectorLoss:
    """Hinge, tube or absolute error, with a weight for each row."""
    prices = price * rng.uniform(0.2, 2.0, size=n_rows)
    target = rng.normal(size=n_rows)
    if kind == "hinge":
        return hinge(np.where(target > 0, 1.0, -1.0), prices)
    return epsilon_insensitive(target, prices, 0.3 if kind == "tube" else 0.0)


def whole(
    loss: SupportVectorLoss, columns: np.ndarray, *, two_sided: bool = True, offset: str = "free"
) -> QuadraticDual:
    """The dual with all variables and all columns in it; columns are centred where b is free."""
    if offset == "free":
        columns = columns - columns.mean(axis=0)
    scales = np.abs(columns).max(axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    base = loss.variables.response(np.zeros(len(loss.variables)))
    boxes = RowBoxes.of(loss.variables, np.arange(len(loss.variables)), base)
    others = base.copy()
    others[boxes.row] = 0.0
    middle = others.copy()
    middle[boxes.row] = boxes.corners[:, 1]
    return QuadraticDual(
        block=WeightedSubmatrix((columns / scales)[boxes.row], boxes.row, scales**2),
        constant=others @ columns / scales,
        boxes=boxes,
        gain=loss.gain(middle),
        total=float(others.sum()),
        two_sided=two_sided,
        offset=offset,
    )


def at_zero(problem: QuadraticDual) -> DualIterate:
    """The point nearest to r = 0."""
    return problem.point(problem.boxes.clip(np.zeros(len(problem.boxes))), 0.0)


def primal(
    loss: SupportVectorLoss, columns: np.ndarray, coef: np.ndarray, offset: float, *, charged: bool
) -> float:
    """½|α|² [+ ½b²] + loss(Hα + b)."""
    penalty = 0.5 * float(coef @ coef) + (0.5 * offset**2 if charged else 0.0)
    return penalty + loss.value(columns @ coef + offset)


def optimum(loss: SupportVectorLoss, columns: np.ndarray, *, two_sided: bool, offset: str) -> float:
    """Optimal value by CVXPY, from the loss written out row by row."""
    coef = "free" if two_sided else "nonneg"
    return full_optimum(
        columns if columns.size else np.zeros((loss.n_rows, 1)),
        lambda f: (
            loss.upper @ cp.pos(loss.target - f - loss.epsilon)
            - loss.lower @ cp.pos(f - loss.target - loss.epsilon)
        ),
        lambda a: cp.sum_squares(a) / 2,
        coef=coef,
        offset=offset,
    )
