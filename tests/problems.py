"""Random small problems of every formulation, and their optima by CVXPY: all columns at once."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.generation.history import Result
from cgboost.losses import (
    entropic_nu_hinge,
    epsilon_insensitive,
    get_loss,
    hinge,
    margin_distribution,
    negative_margin,
    nu_hinge,
    nu_insensitive,
    one_class,
)
from cgboost.losses.registry import LOSSES
from cgboost.masters import BudgetMaster, EntropyMaster, OneNormMaster, TwoNormMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L1, L2, ElasticNet, L1Ball, Penalty

RADIUS, NU, ETA = 1.5, 0.4, 8.0

PENALTIES: dict[str, tuple[Penalty, Callable[[cp.Expression], cp.Expression]]] = {
    "l1": (L1(), cp.norm1),
    "l2": (L2(), lambda a: cp.sum_squares(a) / 2),
    "elasticnet": (ElasticNet(0.4), lambda a: 0.4 * cp.norm1(a) + 0.3 * cp.sum_squares(a)),
    "ball": (L1Ball(RADIUS), lambda a: cp.transforms.indicator([cp.norm1(a) <= RADIUS])),
}
"""Every penalty, and what CVXPY is told of it (of all coefficients, and a penalized offset)."""


def least(cost: Any, limits: Sequence[Any] = ()) -> float:
    """The minimum of a convex cost, as exactly as CVXPY's solvers find it."""
    problem = cp.Problem(cp.Minimize(cost), list(limits))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        for tolerance in (1e-10, 1e-9, 1e-8):  # the finer one is not always reached
            names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
            try:
                problem.solve(solver=cp.CLARABEL, **dict.fromkeys(names, tolerance))
            except cp.SolverError:
                continue
            if problem.status != cp.OPTIMAL and problem.is_lp():
                problem.solve(solver=cp.HIGHS)  # a vertex, where an interior point stops short
            if problem.status == cp.OPTIMAL:
                break
        if problem.value is None:  # Clarabel gives up on a few problems of norms
            problem.solve(solver=cp.SCS, eps_abs=1e-9, eps_rel=1e-9, max_iters=200_000)
    return float(problem.value)


def optimum(
    H: np.ndarray,
    loss: Callable[[Any], Any],
    penalty: Callable[[Any], Any],
    *,
    coef: str = "free",
    offset: str = "free",
    n_free: int = 0,
) -> float:
    """Least penalty(α) + loss(Hα + b) over all columns.

    The output is a variable of its own: CVXPY 1.9 takes a product of labels and Hα to be 0 and
    hands that to every solver that takes bounds, see ``docs/development/solvers.md``.

    Parameters
    ----------
    H : ndarray of shape (n_rows, n_columns)
    loss, penalty : callable
        CVXPY expressions, of the output and of the coefficients.
    coef, offset : str
        As masters take them; a penalized offset is one more coefficient.
    n_free : int
        So many columns, the first ones, cost nothing and are free in sign.
    """
    alpha = cp.Variable(H.shape[1] - n_free, nonneg=coef == "nonneg")
    b = cp.Variable() if offset != "none" else cp.Constant(0.0)
    f, output = cp.Variable(len(H)), H[:, n_free:] @ alpha + b
    if n_free:
        output += H[:, :n_free] @ cp.Variable(n_free)
    charged = cp.hstack([alpha, b]) if offset == "penalized" else alpha
    return least(penalty(charged) + loss(f), [f == output])


@dataclass(frozen=True)
class Formulation:
    """A loss, a penalty and the rules for signs and offset; 24 of them are the main job."""

    loss: str
    penalty: str
    coef: str
    offset: str

    def __str__(self) -> str:
        return f"{self.loss}-{self.penalty}-{self.coef}-{self.offset}"

    def master(self, loss: Any, solver: str = "auto") -> SupportVectorMaster:
        """An empty restricted master of this formulation."""
        options: dict[str, Any] = {"coef": self.coef, "offset": self.offset, "solver": solver}
        if self.loss == "entropic":
            return EntropyMaster(loss, budget=RADIUS, **options)
        if self.penalty == "ball":
            return BudgetMaster(loss, budget=RADIUS, **options)
        if self.penalty in NAMED:
            return NAMED[self.penalty](loss, **options)
        return SupportVectorMaster(loss, PENALTIES[self.penalty][0], **options)


NAMED = {"l1": OneNormMaster, "l2": TwoNormMaster}
"""Penalties whose masters have names."""


def assert_certified(result: Result, optimum: float) -> None:
    """The optimum is reached, and bound ≤ optimum ≤ objective at every round."""
    slack = 3e-7 * max(1.0, abs(optimum))  # the reference may be 1.3e-7 too high
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert result.gap <= 1e-6
    assert np.all(result.history["objective"] >= optimum - slack)
    bounds = result.history["bound"]
    assert np.all(bounds[np.isfinite(bounds)] <= optimum + slack)


@dataclass(frozen=True)
class Problem:
    """A column matrix H (rows × columns), targets, prices and the loss they make."""

    H: np.ndarray
    target: np.ndarray
    price: np.ndarray
    epsilon: float

    def loss(self, formulation: Formulation) -> Any:
        """The loss of a formulation on this problem's rows."""
        return LOSSES[formulation.loss][0](self, formulation.offset == "free")

    def optimum(self, formulation: Formulation, scales: Any = 1.0) -> float:
        """Optimal value of the full problem by CVXPY; of columns H·scales, which it does not see.

        With α = β/scales the output is Hβ, and no number is large.
        """
        written, penalty = LOSSES[formulation.loss][1], PENALTIES[formulation.penalty][1]
        n_columns = self.H.shape[1]
        units = np.append(1.0 / (scales * np.ones(n_columns)), 1.0)  # the last one is the offset's
        return optimum(
            self.H,
            lambda f: written(self, f),
            lambda a: penalty(cp.multiply(units[: a.size], a) if np.any(scales != 1.0) else a),
            coef=formulation.coef,
            offset=formulation.offset,
        )

    @property
    def signs(self) -> np.ndarray:
        """±1, perhaps all alike."""
        return np.where(self.target > 0, 1.0, -1.0)

    @property
    def labels(self) -> np.ndarray:
        """±1, of both classes, so that a free offset has an optimum."""
        labels = self.signs
        labels[0] = -labels[1]
        return labels

    @property
    def evenly(self) -> np.ndarray:
        """±1 in turn: with the prices ``even`` each class has a share of at least a third."""
        return np.where(np.arange(len(self.target)) % 2, 1.0, -1.0) * np.sign(self.target[0] or 1)

    @property
    def even(self) -> np.ndarray:
        """Prices with which ν = 0.4 is possible with a free offset."""
        return np.where(self.price > np.median(self.price), 1.5, 1.0)

    @property
    def counts(self) -> np.ndarray:
        """Whole numbers, not all 0, so that a free offset has an optimum."""
        counts = np.round(np.abs(self.target))
        counts[0] = max(counts[0], 1.0)
        return counts


Written = Callable[[Problem, Any], Any]
Kind = tuple[Callable[[Problem, bool], Any], Written]


def registered(name: str) -> Kind:
    """A loss of the registry; that its expression is right is a law of ``tests/losses``."""

    def bound(p: Problem, _: bool = False) -> Any:
        loss = get_loss(name)
        target = p.labels if loss.classification else p.counts if name == "poisson" else p.target
        return loss.on(target, p.price)

    return bound, lambda p, f: bound(p).to_cvxpy(f)


def of_margins(least_margin: Callable[[Problem, Any, Any], Any]) -> Written:
    """The least over ρ of a loss of how far margins are below ρ, less what ρ is worth."""

    def written(p: Problem, f: Any) -> Any:
        level = cp.Variable()
        below = level - cp.multiply(p.evenly, f)
        return least_margin(p, below, cp.Variable(len(p.target))) - NU * p.even.sum() * level

    return written


def _tube(p: Problem, f: Any) -> Any:
    tube = cp.Variable(nonneg=True)
    return p.price @ cp.pos(cp.abs(p.target - f) - tube) + NU * p.price.sum() * tube


def _one_class(p: Problem, f: Any) -> Any:
    level = cp.Variable()
    return p.price @ cp.pos(level - f) - NU * p.price.sum() * level


MAIN: dict[str, Kind] = {
    "hinge": (
        lambda p, _: hinge(p.signs, p.price),
        lambda p, f: p.price @ cp.pos(1 - cp.multiply(p.signs, f)),
    ),
    "epsilon": (
        lambda p, _: epsilon_insensitive(p.target, p.price, p.epsilon),
        lambda p, f: p.price @ cp.pos(cp.abs(p.target - f) - p.epsilon),
    ),
}
"""The two losses of the main job."""

SMOOTH = {
    name: registered(name)
    for name in ("log_loss", "exponential", "poisson", "squared_error", "expectile")
}
"""Losses that are solved by Newton steps."""

BOXED = {name: registered(name) for name in LOSSES if name not in (*SMOOTH, "hinge")}
"""All other losses of the registry: they have a dual box."""

OWN_LEVEL: dict[str, Kind] = {
    "nu_hinge": (
        lambda p, free: nu_hinge(p.evenly, p.even, NU, balanced=free),
        of_margins(lambda p, below, _: p.even @ cp.pos(below)),
    ),
    # an inf-convolution: the largest over r is the least over a split of what margins lack
    "smooth_nu_hinge": (
        lambda p, free: nu_hinge(p.evenly, p.even, NU, balanced=free, smoothing=0.7),
        of_margins(
            lambda p, below, u: p.even @ cp.pos(u) + p.even @ cp.square(below - u) / (2 * 0.7)
        ),
    ),
    "entropic": (
        lambda p, free: entropic_nu_hinge(p.evenly, p.even, NU, eta=ETA, balanced=free),
        of_margins(
            lambda p, below, u: (
                p.even @ cp.pos(u) + NU * p.even @ cp.exp(ETA * (below - u) - 1) / ETA
            )
        ),
    ),
    "nu_tube": (lambda p, _: nu_insensitive(p.target, p.price, NU), _tube),
    "one_class": (lambda p, _: one_class(p.price, NU), _one_class),
}
"""Losses that choose a margin or a tube, and what CVXPY is told of them from their definitions."""

MARGINS: dict[str, Kind] = {
    "negative_margin": (
        lambda p, _: negative_margin(p.evenly, p.price, margin=0.3, trade_off=0.2),
        lambda p, f: (
            p.price
            @ (cp.pos(0.3 - cp.multiply(p.evenly, f)) + 0.2 * (0.3 - cp.multiply(p.evenly, f)))
        ),
    ),
    "margin_distribution": (
        lambda p, _: margin_distribution(p.evenly, p.price),
        lambda p, f: p.price @ cp.square(1 - cp.multiply(p.evenly, f)) / 2,
    ),
}
"""Losses of all margins."""

LOSSES: dict[str, Kind] = MAIN | SMOOTH | BOXED | OWN_LEVEL | MARGINS
"""Every loss on the rows of a problem (whether the offset is free), and as CVXPY has it."""

NO_SCALE = {
    "nu_hinge": {"ball", "l2"},
    "smooth_nu_hinge": {"ball", "l2"},
    "one_class": {"ball", "l2"},
    "entropic": {"ball"},
    "negative_margin": {"ball"},
}
"""Penalties of losses that fall with the scale of the model, so that it has to be held."""


def formulations(losses: Sequence[str], penalties: Sequence[str]) -> list[Formulation]:
    """Losses × penalties × rules for signs × rules for the offset, without those that cannot be."""
    found = [
        Formulation(*parts)
        for parts in product(losses, penalties, ["free", "nonneg"], ["none", "penalized", "free"])
    ]
    return [
        f
        for f in found
        if f.penalty in NO_SCALE.get(f.loss, PENALTIES)
        and (f.loss != "one_class" or f.offset == "none")  # the level is its offset
    ]


FORMULATIONS = formulations(list(MAIN), ["l1", "l2"])
"""Those of the main job."""

ALL_FORMULATIONS = formulations(list(LOSSES), list(PENALTIES))


def random_problem(seed: int) -> Problem:
    """Rows between 2 and 25, columns between 1 and 30, with correlated and duplicate columns."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(2, 26)), int(rng.integers(1, 31))
    rank = int(rng.integers(1, 8))
    H = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_columns))
    H += 0.3 * rng.normal(size=H.shape)
    if n_columns > 3:
        H[:, -1] = H[:, 0]
        H[:, -2] = 0.0
    target = H[:, : min(3, n_columns)].sum(axis=1) + 0.5 * rng.normal(size=n_rows)
    price = 10.0 ** rng.uniform(-1, 1) * rng.uniform(0.2, 2.0, size=n_rows)
    return Problem(H, target, price, float(rng.choice([0.0, 0.1, 0.5])))


def columns_of(H: np.ndarray) -> list[Column]:
    """All columns of a matrix."""
    return [Column(values=column, key=("feature", j)) for j, column in enumerate(H.T)]
