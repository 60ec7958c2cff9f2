"""The law of reductions: what is solved in new variables is solved in the old ones.

A new reduction is one more case: a problem that it is for, and the reduction.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import cvxpy as cp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.columns import Column
from cgboost.losses import Huber, Quantile, epsilon_insensitive, hinge, nu_hinge
from cgboost.losses.dual.limited import Limits, with_penalised_limits
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.centred_targets import CentredTargets
from cgboost.optimizers.reductions.cost_units import CostUnits
from cgboost.optimizers.reductions.limited_costs import LimitedCosts
from cgboost.optimizers.reductions.merged_rows import MergedRows
from cgboost.optimizers.reductions.offset_column import OffsetColumn
from cgboost.optimizers.reductions.orthonormal_columns import OrthonormalColumns
from cgboost.optimizers.reductions.reduction import Chain, Problem, Reduction
from cgboost.penalties import L1, L2, L1Ball
from cgboost.penalties.penalty import DualForm
from tests.cases import Case, law
from tests.effort import examples
from tests.problems import least

N_ROWS = 12


@dataclass(frozen=True)
class Reduced:
    """A problem, its reduction, and what a reduction may change by a factor.

    Parameters
    ----------
    of_objective, of_scores : float
        What objectives and scores of the new problem are multiplied by.
    constant : ndarray or float
        What a unit of the offset is on the rows.
    charge : callable, optional
        Ω of the old problem, where it is none of the coefficients alone.
    """

    problem: Problem
    reduction: Reduction
    of_objective: float = 1.0
    of_scores: float = 1.0
    constant: Any = 1.0
    charge: Callable[[np.ndarray], float] | None = None

    @property
    def new(self) -> Problem:
        """The problem in new variables."""
        return self.reduction.apply(self.problem)

    def penalty(self, coef: np.ndarray, intercept: float) -> float:
        """Ω in old variables."""
        if self.charge is not None:
            return self.charge(coef)
        return self.problem.form.value(coef, intercept)


@dataclass(frozen=True)
class Sizes:
    """Of targets, columns and prices."""

    target: float = 1.0
    column: float = 1.0
    price: float = 1.0


Make = Callable[[np.random.Generator, Sizes], Reduced]


def matrix(problem: Problem) -> np.ndarray:
    """The columns side by side."""
    return np.column_stack([column.values for column in problem.columns])


def draw(rng: np.random.Generator, sizes: Sizes, n: int = 5) -> tuple[list[Column], np.ndarray]:
    """Columns, one of them twice, and prices, one of them 0."""
    H = sizes.column * rng.normal(size=(N_ROWS, n))
    H[:, -1] = H[:, 0]
    price = sizes.price * rng.uniform(0.2, 2.0, N_ROWS) * (np.arange(N_ROWS) != 3)
    return [Column(h, ("feature", j)) for j, h in enumerate(H.T)], price


def far_targets(rng: np.random.Generator, sizes: Sizes) -> Reduced:
    """Targets far from 0, under each penalty and several losses."""
    columns, price = draw(rng, sizes)
    y = sizes.target * (rng.normal(size=N_ROWS) + rng.choice([-30.0, 30.0]))
    loss = [
        Quantile(0.3).dual_box(y, price),
        epsilon_insensitive(y, price, 0.1 * sizes.target),
        Huber(sizes.target).dual_box(y, price),
    ][int(rng.integers(3))]
    form = DualForm([L1(), L2()][int(rng.integers(2))], bool(rng.integers(2)), "free")
    problem = Problem(loss, form, columns)
    return Reduced(problem, CentredTargets.of(problem) or Reduction())


def own_margin(rng: np.random.Generator, sizes: Sizes) -> Reduced:
    """ν-classification in a ball and under squares, smoothed or not, with a free offset or none."""
    columns, price = draw(rng, sizes)
    labels = np.where(np.arange(N_ROWS) % 2, 1.0, -1.0)
    free = bool(rng.integers(2))
    penalty, margin = [(L1Ball(1.5), sizes.column), (L2(), sizes.target)][int(rng.integers(2))]
    smoothing = [0.0, 0.5 * margin][int(rng.integers(2))]
    loss = nu_hinge(labels, price + sizes.price, 0.3, balanced=free, smoothing=smoothing)
    form = DualForm(penalty, bool(rng.integers(2)), "free" if free else "none")
    problem = Problem(loss, form, columns)
    reduction = CostUnits.of(problem)
    assert reduction is not None
    factor = reduction.unit ** (2 if reduction.scales_model else 1)
    return Reduced(problem, reduction, factor, reduction.unit)


def of_few_values(rng: np.random.Generator, sizes: Sizes) -> Reduced:
    """Rows of a hinge loss that no column distinguishes, with two limits behind them."""
    labels = rng.choice([-1.0, 1.0], N_ROWS)
    _, price = draw(rng, sizes)
    limits = Limits(np.array([0.1, 0.1]), np.zeros(2, dtype=bool))
    loss = with_penalised_limits(hinge(labels, price), limits, 30.0 * sizes.price)
    part = rng.random(N_ROWS) / N_ROWS
    values = [sizes.column * rng.choice([-1.0, 1.0], N_ROWS) for _ in range(2)]
    columns = [
        Column(np.append(h, [part @ h, -part @ h]), ("few", j)) for j, h in enumerate(values)
    ]
    merged = MergedRows(loss, N_ROWS)
    assert merged.take([column.values for column in columns])
    return Reduced(Problem(loss, DualForm(L1(), bool(rng.integers(2))), columns), merged)


def beside_limits(rng: np.random.Generator, sizes: Sizes) -> Reduced:
    """An offset that moves limits by more than 1, targets far from 0, and merged rows behind."""
    few = of_few_values(rng, sizes)
    assert isinstance(few.reduction, MergedRows)
    constant = np.append(np.ones(N_ROWS), [0.4, -0.4])
    centre = sizes.target * 7.0
    parts = [CentredTargets(centre, constant), OffsetColumn(Column(constant, ("offset", 0)))]
    problem = replace(few.problem, form=replace(few.problem.form, offset="free"))
    problem = replace(problem, loss=problem.loss.shifted(-centre * constant))
    merged = MergedRows(Chain(parts).apply(problem).loss, N_ROWS)
    merged.take([column.values for column in problem.columns])
    return Reduced(problem, Chain([*parts, merged]), constant=constant)


@dataclass(frozen=True)
class Centre:
    """A basis function of a kernel whose values are known."""

    row: int
    kernel: np.ndarray = field(repr=False)

    @property
    def family(self) -> "Centre":
        """Itself, which knows all products."""
        return self

    def inner_products(self, left: Any, right: Any) -> np.ndarray:
        """K(z, z′)."""
        return self.kernel[np.ix_([h.row for h in left], [h.row for h in right])]


def of_kernels(rng: np.random.Generator, sizes: Sizes) -> Reduced:
    """Columns of two kernels, one of which depends on the others."""
    _, price = draw(rng, sizes)
    loss = epsilon_insensitive(sizes.target * rng.normal(size=N_ROWS), price, 0.0)
    weights, columns, kernels = {"a": 2.0, "b": 0.3}, [], {}
    for name in weights:
        X = rng.normal(size=(N_ROWS, 3))
        kernels[name] = K = sizes.column * X @ X.T
        for row in range(4):  # of rank 3
            columns.append(Column(K[:, row], (name, row), Centre(row, K), stratum=name))

    def charge(coef: np.ndarray) -> float:
        parts = zip(weights, coef.reshape(2, 4), strict=True)
        return sum(0.5 * weights[p] * float(a @ kernels[p][:4, :4] @ a) for p, a in parts)

    problem = Problem(loss, DualForm(L2()), columns)
    return Reduced(problem, OrthonormalColumns(weights.__getitem__), charge=charge)


def served(rng: np.random.Generator, sizes: Sizes) -> Reduced:
    """Rows that a model serves, at a price that none of them ever has to pay."""
    columns, _ = draw(rng, sizes, 6)
    H = np.column_stack([column.values for column in columns])
    labels = np.sign(H @ rng.normal(size=6))
    loss = hinge(labels, np.full(N_ROWS, 1e5 / sizes.column))
    form = DualForm([L1(), L2()][int(rng.integers(2))])
    size = sizes.column if form.quadratic == 0 else sizes.column**2
    return Reduced(Problem(loss, form, columns), LimitedCosts(loss, form, 1e3 / size))


REDUCTIONS = [
    Case(name="centred targets", make=far_targets),
    Case(name="price units", make=own_margin),
    Case(name="merged rows", make=of_few_values),
    Case(name="centred targets, offset column, merged rows", make=beside_limits),
    Case(
        name="limited prices",
        make=served,
        but={"any_point_taken_back_is_the_same_point": "of most others, prices above it count"},
    ),
    Case(
        name="orthonormal columns",
        make=of_kernels,
        but={"the_optimum_is_that_of_the_old_problem": "its penalty is none of the coefficients"},
    ),
]

SIZE = st.integers(-9, 9).map(lambda exponent: 10.0**exponent)


@law(REDUCTIONS)
@settings(max_examples=examples(20))
@given(seed=st.integers(0, 10**6), sizes=st.builds(Sizes, SIZE, SIZE, SIZE))
def test_any_point_taken_back_is_the_same_point(case: Case[Any], seed: int, sizes: Sizes) -> None:
    """Its output, objective, gain and scores, and where it begins; at any size of all numbers."""
    rng = np.random.default_rng(seed)
    reduced = case.make(rng, sizes)
    old, new = reduced.problem, reduced.new
    coef = rng.normal(size=len(new.columns)) * sizes.target / sizes.column
    if not old.form.two_sided:
        coef[new.form.n_free :] = np.abs(coef[new.form.n_free :])
    if old.form.radius is not None:
        coef *= old.form.radius / np.abs(coef).sum()
    intercept = rng.normal() * sizes.target if new.form.offset == "free" else 0.0
    output = matrix(new) @ coef + intercept
    response = new.loss.upper.max() * rng.normal(size=len(output))
    response = new.loss.feasible(response, balanced=new.form.offset == "free")
    point = reduced.reduction.invert(RestrictedPoint(coef, intercept, output, response))
    there = matrix(old) @ point.coef + point.intercept * reduced.constant
    size = float(np.abs(point.output).max() + np.abs(old.loss.target).max())
    np.testing.assert_allclose(point.output, there, atol=1e-10 * size)
    inside = old.loss.feasible(point.response, balanced=False)
    r_size = float(np.abs(point.response).max())
    np.testing.assert_allclose(point.response, inside, atol=1e-10 * r_size)
    factor = reduced.of_objective
    objective = reduced.penalty(point.coef, point.intercept) + old.loss.value(point.output)
    expected = new.form.value(coef, intercept) + new.loss.value(output)
    rounding = 1e-9 * (abs(objective) + old.loss.magnitude(point.output, point.response))
    assert abs(objective - factor * expected) <= rounding
    lagrangian = old.loss.gain(point.response) - point.response @ point.output
    assert abs(lagrangian - factor * (new.loss.gain(response) - response @ output)) <= rounding
    scores, made = matrix(old).T @ point.response, matrix(new).T @ response
    if len(scores) == len(made) - new.form.n_free:
        made = reduced.of_scores * made[new.form.n_free :]
        np.testing.assert_allclose(scores, made, atol=1e-10 * r_size * np.abs(matrix(old)).sum())
    start = reduced.reduction.start(point.coef, point.intercept)
    rebuilt = matrix(new) @ start[0] + start[1]
    np.testing.assert_allclose(rebuilt, output, atol=1e-9 * size)


def written(problem: Problem, constant: Any) -> tuple[float, RestrictedPoint]:
    """The optimum of a problem by CVXPY, and a solution; of the loss by its dual variables.

    The largest over u of Σ rate·u − ½curvature·u² with Σu ≤ mass is the least of what it costs to
    split each rate into a level, a part inside the quadratic and a part beyond the upper bound.
    """
    H, loss, form = matrix(problem), problem.loss, problem.form
    v, (n_rows, n) = loss.variables, H.shape
    alpha, f, b = cp.Variable(n), cp.Variable(n_rows), cp.Variable()
    rate = cp.multiply(v.sign, v.target - f[v.row]) - v.epsilon
    cost = v.base @ (loss.target - f)
    if loss.mass is not None:
        level = cp.Variable(nonneg=loss.mass.at_most)
        rate, cost = rate - level, cost + loss.mass.amount * level
    if v.curvature.any():
        bent = cp.Variable(len(v))
        rate, cost = rate - bent, cost + cp.sum(cp.multiply(1.0 / v.curvature, bent**2)) / 2
    cost += v.costs @ cp.pos(rate)
    charged, limits = alpha[form.n_free :], []
    if form.radius is not None:
        limits.append(cp.norm1(charged) <= form.radius)
    elif form.quadratic:
        cost += cp.sum_squares(charged) / 2
    else:
        cost += cp.norm1(charged)
    if not form.two_sided:
        limits.append(charged >= 0)
    if form.offset == "none":
        limits.append(b == 0)
    tie = f == H @ alpha + b * np.broadcast_to(constant, n_rows)
    value = least(cost, [tie, *limits])
    return value, RestrictedPoint(alpha.value, float(b.value), f.value, tie.dual_value)


MODEST = st.integers(-2, 2).map(lambda exponent: 10.0**exponent)


@law(REDUCTIONS)
@settings(max_examples=examples(10))
@given(seed=st.integers(0, 10**6), sizes=st.builds(Sizes, MODEST, MODEST, MODEST))
def test_the_optimum_is_that_of_the_old_problem(case: Case[Any], seed: int, sizes: Sizes) -> None:
    """CVXPY's solution of the new problem, taken back, has its optimum and bound of the old one."""
    reduced = case.make(np.random.default_rng(seed), sizes)
    old = reduced.problem
    optimum, _ = written(old, reduced.constant)
    _, found = written(reduced.new, 1.0)
    point = reduced.reduction.invert(found)
    coef = point.coef if old.form.two_sided else np.maximum(point.coef, 0.0)
    if old.form.radius is not None:
        coef = coef * min(1.0, old.form.radius / np.abs(coef).sum())
    output = matrix(old) @ coef + point.intercept * reduced.constant
    objective = old.form.value(coef, point.intercept) + old.loss.value(output)
    unit = old.loss.empty(offset=False)
    if (mass := old.loss.mass) is not None:
        unit = old.form.penalty.conjugate(np.array([mass.amount * np.abs(matrix(old)).max()]))
    rounding = 1e-6 * abs(optimum) + 1e-7 * unit
    assert abs(objective - optimum) <= rounding
    balanced = old.form.offset == "free" and np.ndim(reduced.constant) == 0
    response = old.loss.feasible(point.response, balanced=balanced)
    scores = old.form.sizes(matrix(old).T @ response, 0.0)
    if old.form.penalty.degree == 1:
        response = response / max(1.0, scores.max())
        scores = scores / max(1.0, scores.max())
    bound = old.loss.gain(response) - old.form.penalty.conjugate(scores)
    assert bound <= optimum + rounding
    assert bound >= optimum - 100.0 * rounding
