"""Masters of losses that choose their own margin or tube, against full problems in CVXPY."""

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cgboost.optimizers.working_set as restricted_dual
from cgboost import ColumnGeneration
from cgboost.generation.history import Result
from cgboost.losses import (
    SupportVectorLoss,
    hinge,
    margin_distribution,
    negative_margin,
    nu_hinge,
    nu_insensitive,
    one_class,
)
from cgboost.masters import BudgetMaster, OneNormMaster, TwoNormMaster
from cgboost.masters.support_vector.master import SupportVectorMaster
from cgboost.pricing import FeaturePricer
from tests import problems
from tests.effort import examples
from tests.problems import Problem, assert_certified, random_problem

NU = 0.4
BUDGET = 1.7


def labels_of(problem: Problem) -> np.ndarray:
    """Labels of which each sign has at least a third of the price."""
    return np.where(np.arange(len(problem.target)) % 2, 1.0, -1.0) * np.sign(problem.target[0] or 1)


def balanced_price(problem: Problem) -> np.ndarray:
    """Prices with which ν = 0.4 is possible with a free offset."""
    return np.where(problem.price > np.median(problem.price), 1.5, 1.0)


LOSSES: dict[str, Callable[[Problem, bool], SupportVectorLoss]] = {
    "nu_hinge": lambda p, free: nu_hinge(labels_of(p), balanced_price(p), NU, balanced=free),
    "smooth": lambda p, free: nu_hinge(
        labels_of(p), balanced_price(p), NU, balanced=free, smoothing=0.7
    ),
    "nu_tube": lambda p, free: nu_insensitive(p.target, p.price, NU),
    "one_class": lambda p, free: one_class(p.price, NU),
    "negative": lambda p, free: negative_margin(labels_of(p), p.price, margin=0.3, trade_off=0.2),
    "distribution": lambda p, free: margin_distribution(labels_of(p), p.price),
    "hinge": lambda p, free: hinge(labels_of(p), p.price),
}


def written_out(name: str, problem: Problem, f: Any) -> Any:
    """The same losses as CVXPY expressions, from their definitions."""
    margins = cp.multiply(labels_of(problem), f)
    even, price, level = balanced_price(problem), problem.price, cp.Variable()
    if name == "nu_hinge":
        return even @ cp.pos(level - margins) - NU * even.sum() * level
    if name == "smooth":
        u = cp.Variable(len(even))  # inf-convolution: max over r is min over a split of the margin
        return (
            even @ cp.pos(u)
            + even @ cp.square(level - margins - u) / (2 * 0.7)
            - NU * even.sum() * level
        )
    if name == "nu_tube":
        tube = cp.Variable(nonneg=True)
        return price @ cp.pos(cp.abs(problem.target - f) - tube) + NU * price.sum() * tube
    if name == "one_class":
        return price @ cp.pos(level - f) - NU * price.sum() * level
    if name == "negative":
        return price @ (cp.pos(0.3 - margins) + 0.2 * (0.3 - margins))
    if name == "distribution":
        return price @ cp.square(1 - margins) / 2
    return price @ cp.pos(1 - margins)


class Formulation(problems.Formulation):
    """A loss of this file, any penalty or a budget, and the rules for α and b."""

    def master(self, problem: Problem, solver: str = "auto") -> SupportVectorMaster:  # type: ignore[override]
        """An empty restricted master."""
        loss = LOSSES[self.loss](problem, self.offset == "free")
        options: dict[str, Any] = {"coef": self.coef, "offset": self.offset, "solver": solver}
        if self.penalty == "budget":
            return BudgetMaster(loss, budget=BUDGET, **options)
        return (OneNormMaster if self.penalty == "l1" else TwoNormMaster)(loss, **options)

    def optimum(self, problem: Problem) -> float:
        """Optimal value of the full problem, by an independent solver."""
        alpha = cp.Variable(problem.H.shape[1], nonneg=self.coef == "nonneg")
        b = cp.Variable() if self.offset != "none" else cp.Constant(0.0)
        penalised = cp.hstack([alpha, b]) if self.offset == "penalized" else alpha
        loss = written_out(self.loss, problem, problem.H @ alpha + b)
        limits = []
        if self.penalty == "budget":
            limits = [cp.norm1(penalised) <= BUDGET]
        else:
            loss += cp.norm1(penalised) if self.penalty == "l1" else cp.sum_squares(penalised) / 2
        full = cp.Problem(cp.Minimize(loss), limits)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            full.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        return float(full.value)


BUDGETED = ["nu_hinge", "smooth", "one_class", "negative", "distribution", "hinge", "nu_tube"]
PAIRS = [
    *(("budget", loss) for loss in BUDGETED),
    *(("l2", loss) for loss in ("nu_hinge", "smooth", "nu_tube", "one_class", "distribution")),
    *(("l1", loss) for loss in ("nu_tube", "distribution")),
]
FORMULATIONS = [
    Formulation(loss, penalty, coef, offset)
    for (penalty, loss), coef, offset in product(
        PAIRS, ("free", "nonneg"), ("none", "penalized", "free")
    )
    if not (loss == "one_class" and offset != "none")  # the level is its offset
]


def generate(problem: Problem, formulation: Formulation, **options: Any) -> Result:
    """Run the loop over the columns of H."""
    master = formulation.master(problem, options.pop("solver", "auto"))
    options = {"tol": 1e-8, "columns_per_round": 3} | options
    return ColumnGeneration(master, FeaturePricer(problem.H), **options).run()


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@settings(max_examples=examples(6))
@given(seed=st.integers(0, 10**6), eager=st.booleans())
def test_reaches_the_full_problem_with_valid_bounds(
    formulation: Formulation, seed: int, eager: bool
) -> None:
    """Every formulation reaches the full optimum, with and without extreme working sets."""
    problem = random_problem(seed)
    with pytest.MonkeyPatch.context() as patch:
        if eager:
            patch.setattr(restricted_dual, "CALM", 0.0)
            patch.setattr(restricted_dual, "LEAST_SHARE", 0.0)
            patch.setattr(restricted_dual, "SLACK_ROUNDS", 1)
        result = generate(problem, formulation)
    assert_certified(result, formulation.optimum(problem))
