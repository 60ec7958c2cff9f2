"""The bound of `ConvexMaster` in exact arithmetic: never above the objective of any model."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.generation.history import Result
from cgboost.masters import ConvexMaster
from cgboost.masters.convex import bound
from cgboost.masters.convex.bound import ConeProgram, ConeSizes
from cgboost.pricing import FeaturePricer
from tests.effort import examples

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

DIGITS = 50


def exactly(values: Any) -> list[Fraction]:
    """The float64 numbers as they are."""
    return [Fraction(float(value)) for value in np.ravel(values)]


def softplus(value: Fraction) -> Fraction:
    """log(1 + exp(value)) to 50 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        number = Decimal(value.numerator) / Decimal(value.denominator)
        return Fraction((1 + number.exp()).ln())


def huber(value: Fraction) -> Fraction:
    """CVXPY's huber(x): x² up to 1, 2|x| − 1 beyond."""
    return value**2 if abs(value) <= 1 else 2 * abs(value) - 1


@dataclass(frozen=True)
class Loss:
    """The same loss for CVXPY and, of one row, in exact arithmetic."""

    expression: Callable[[Any, np.ndarray], Any]
    exact: Callable[[Fraction, Fraction], Fraction]


LOSSES = {
    "huber": Loss(lambda f, t: cp.sum(cp.huber(t - f)), lambda f, t: huber(t - f)),
    "squared": Loss(lambda f, t: cp.sum_squares(t - f), lambda f, t: (t - f) ** 2),
    "absolute": Loss(lambda f, t: cp.norm1(t - f), lambda f, t: abs(t - f)),
    "quantile": Loss(
        lambda f, t: cp.sum(cp.maximum(0.75 * (t - f), -0.25 * (t - f))),
        lambda f, t: max(3 * (t - f), f - t) / 4,
    ),
    "logistic": Loss(
        lambda f, t: cp.sum(cp.logistic(-cp.multiply(np.where(t > 0, 1.0, -1.0), f))),
        lambda f, t: softplus(-f if t > 0 else f),
    ),
}
PENALTIES = ("1-norm", "elastic net", "budget")


@dataclass(frozen=True)
class Model:
    """λ·loss + penalty over the columns of H, in CVXPY and exactly."""

    H: np.ndarray
    t: np.ndarray
    loss: str
    penalty: str
    weight: float
    offset: bool

    def options(self) -> dict[str, Any]:
        """What `ConvexMaster` is told."""
        options: dict[str, Any] = {"offset": "free" if self.offset else "none"}
        if self.penalty == "elastic net":
            options["penalty"] = lambda a, b: cp.norm1(a) + 0.5 * cp.sum_squares(a)
            options |= {"threshold": 1.0, "curvature": 1.0}
        if self.penalty == "budget":
            options["penalty"] = lambda a, b: 0.0
            options |= {"constraints": lambda a, b, f: [cp.norm1(a) <= 2], "reach": 2.0}
        return options

    def run(self) -> Result:
        """Column generation to 1e-6."""
        loss = lambda f: self.weight * LOSSES[self.loss].expression(f, self.t)  # noqa: E731
        master = ConvexMaster(loss, n_rows=len(self.t), **self.options())
        return ColumnGeneration(master, FeaturePricer(self.H), tol=1e-6).run()

    def exact_objective(self, coef: np.ndarray, intercept: float) -> Fraction:
        """The objective of a model, its coefficients shrunk into the budget where there is one."""
        a, b = exactly(coef), Fraction(float(intercept))
        size = sum(map(abs, a), Fraction(0))
        if self.penalty == "budget":
            a = [value * min(Fraction(1), 2 / size) if size else value for value in a]
            size = Fraction(0)
        total = size
        if self.penalty == "elastic net":
            total += sum((value**2 for value in a), Fraction(0)) / 2
        for row, target in zip(self.H, exactly(self.t), strict=True):
            output = b + sum((h * x for h, x in zip(exactly(row), a, strict=True)), Fraction(0))
            total += Fraction(self.weight) * LOSSES[self.loss].exact(output, target)
        return total

    def coefficients(self, result: Result) -> np.ndarray:
        """Those of a run, in the order of H."""
        coef = np.zeros(self.H.shape[1])
        for column, value in zip(result.columns, result.coef, strict=True):
            coef[column.key[1]] = value
        return coef

    def other_model(self) -> tuple[np.ndarray, float] | None:
        """A model by CVXPY alone, nearly optimal; None where its solver gives up."""
        a, b = cp.Variable(self.H.shape[1]), cp.Variable()
        penalty = self.options().get("penalty", lambda a, b: cp.norm1(a))
        limits = [] if self.offset else [b == 0]
        limits += [cp.norm1(a) <= 2] if self.penalty == "budget" else []
        loss = self.weight * LOSSES[self.loss].expression(self.H @ a + b, self.t)
        try:
            cp.Problem(cp.Minimize(loss + penalty(a, b)), limits).solve(solver=cp.CLARABEL)
        except cp.SolverError:
            return None
        if a.value is None:
            return None
        return a.value, float(b.value) if self.offset else 0.0


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Small models with data of any scale; some with targets that a column fits exactly."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    scale, size = (10.0 ** draw(st.integers(-3, 4)) for _ in range(2))
    H = np.round(scale * rng.normal(size=(n, m)), 4)
    t = size * rng.normal(size=n)
    if draw(st.booleans()):
        t = H[:, 0] * draw(st.sampled_from([1.0, -0.5]))
    return Model(
        H,
        t,
        draw(st.sampled_from(sorted(LOSSES))),
        draw(st.sampled_from(PENALTIES)),
        draw(st.sampled_from([1e-3, 0.1, 1.25, 10.0, 1e3])),
        draw(st.booleans()),
    )


HOSTILE = np.array([-1210.0, 1080.0])


@given(models())
@example(Model(HOSTILE[:, None], HOSTILE, "huber", "1-norm", 1.25, offset=True))
@example(Model(HOSTILE[:, None], HOSTILE, "huber", "1-norm", 1.25, offset=False))
@settings(deadline=None, max_examples=examples(60), suppress_health_check=list(HealthCheck))
@pytest.mark.slow
def test_no_bound_exceeds_the_exact_objective_of_any_model(model: Model) -> None:
    """Every bound of a run is at most the exact objective of its model, and of another one."""
    result = model.run()
    found = [model.exact_objective(model.coefficients(result), result.intercept)]
    if (other := model.other_model()) is not None:
        found.append(model.exact_objective(*other))
    bounds = result.history["bound"]
    highest = float(np.max(bounds[np.isfinite(bounds)], initial=-np.inf))
    assert str(result.stop_reason) != "invalid_bound"
    assert highest <= min(found), float(Fraction(highest) - min(found))


def test_the_example_that_had_a_bound_above_its_objective() -> None:
    """The gap is positive and within the tolerance, and the end "optimal"."""
    model = Model(HOSTILE[:, None], HOSTILE, "huber", "1-norm", 1.25, offset=True)
    result = model.run()
    assert str(result.stop_reason) == "optimal"
    assert 0 < result.gap <= 1e-8
    assert result.bound < model.exact_objective(model.coefficients(result), result.intercept)


def test_a_refined_answer_is_nearly_stationary() -> None:
    """One step takes a dual that is off by 1e-6 to 1e-12, and gives a better bound."""
    rng = np.random.default_rng(0)
    A, z = rng.normal(size=(12, 6)), np.append(rng.normal(size=4), rng.uniform(0.5, 1, size=8))
    p = rng.normal(size=6)
    program = ConeProgram(
        sp.csc_array(np.eye(6)),
        -(p + A.T @ z),
        sp.csc_array(A),
        rng.normal(size=12),
        ConeSizes(zero=4, nonneg=8),
        0.0,
    )
    off = z + 1e-6 * rng.normal(size=12)
    better = program.refined(p, off)
    assert np.abs(program.residual(p, off)).max() > 1e-7
    assert np.abs(program.residual(*better)).max() < 1e-12
    assert program.dual_value(*better, 100.0) > program.dual_value(p, off, 100.0)
    matrix, empty = sp.csc_array([[2.0, 0.0], [0.0, 4.0]]), sp.csc_array((2, 2))
    program = ConeProgram(empty, np.array([1.0, 3.0]), matrix, np.ones(2), ConeSizes(2, 0), 0.0)
    p, z = program.refined(np.zeros(2), np.zeros(2))  # duals of equations move from 0
    np.testing.assert_allclose(z, [-0.5, -0.75], rtol=1e-9)
    assert np.abs(program.residual(p, z)).max() < 1e-9


UNIT = Fraction(2) ** -52
"""Relative rounding of a float64, as the margin counts it."""


def cone_program(seed: int, cancelling: bool) -> tuple[ConeProgram, np.ndarray, np.ndarray]:
    """A random program, p and z ≥ 0; perhaps large terms with small sums."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(0, 5))
    root = rng.integers(-3, 4, (n, n)) * (rng.uniform(size=(n, n)) < 0.6)
    P, A = (root @ root.T).astype(float), rng.integers(-3, 4, (m, n)).astype(float)
    p, z = rng.integers(-4, 5, n) * 1e3, rng.integers(0, 4, m) * 1e5
    q = -(P @ p + A.T @ z) if cancelling else rng.normal(size=n)
    b = rng.integers(-3, 4, m) * 1e4
    equations = m if seed % 2 else 0
    cones = ConeSizes(zero=equations, nonneg=m - equations)
    return ConeProgram(sp.csc_array(P), q, sp.csc_array(A), b, cones, 0.0), p, z


def value_and_margin(
    program: ConeProgram, p: np.ndarray, z: np.ndarray, radius: float
) -> tuple[Fraction, Fraction]:
    """−½p'Pp − b'z − R·‖d‖₁ exactly, and what roundings of its terms can add.

    A coefficient has four roundings, and a sum one for each of its terms.
    """
    P, A = program.P.toarray(), program.A.toarray()
    n, m = len(p), len(z)
    R, x, y = Fraction(radius), exactly(p), exactly(z)
    p_terms = [[Fraction(P[i, j]) * x[j] for j in range(n)] for i in range(n)]
    value = margin = Fraction(0)
    longest = max(np.count_nonzero(P, axis=0))
    for i in range(n):
        own = [*p_terms[i], Fraction(program.q[i]), *(Fraction(A[k, i]) * y[k] for k in range(m))]
        count = np.count_nonzero(P[:, i]) + np.count_nonzero(A[:, i]) + 4
        value -= x[i] * sum(p_terms[i]) / 2 + R * abs(sum(own))
        margin += UNIT * (int(count) * R * sum(map(abs, own)))
        margin += UNIT * int(longest + 4) * abs(x[i]) * sum(map(abs, p_terms[i])) / 2
        margin += UNIT * int(longest + 4) * (R * abs(sum(own)) + abs(x[i] * sum(p_terms[i])) / 2)
    for k in range(m):
        value -= Fraction(program.b[k]) * y[k]
        margin += UNIT * int(longest + 4) * abs(Fraction(program.b[k]) * y[k])
    return value, margin


@pytest.mark.parametrize("cancelling", [False, True])
@settings(max_examples=examples(100))
@given(seed=st.integers(0, 10**6), radius=st.sampled_from([0.0, 1.0, 1e3]))
def test_the_margin_is_what_rounding_may_add(cancelling: bool, seed: int, radius: float) -> None:
    """The dual value is below the exact one by the roundings of all terms, and not by much more."""
    program, p, z = cone_program(seed, cancelling)
    value, margin = value_and_margin(program, p, z, radius)
    less = value - Fraction(program.dual_value(p, z, radius))
    slack = Fraction(1, 100) * margin + 8 * UNIT * abs(value)  # of the last sum and difference
    assert less >= 0
    assert margin - slack <= less <= margin + slack


@given(st.integers(0, 2**32 - 1), st.integers(0, 8), st.sampled_from([0.0, 100.0]))
@settings(max_examples=examples(100))
def test_rounding_never_raises_a_dual_value(seed: int, digits: int, radius: float) -> None:
    """Large terms of b'z that cancel: the computed value is at most the exact one, and near it."""
    rng = np.random.default_rng(seed)
    root, A, p, z = (rng.normal(size=shape) for shape in ((5, 5), (7, 5), 5, 7))
    z *= 10.0**digits
    b = rng.normal(size=7)
    b[-1] = -(b[:-1] @ z[:-1]) / z[-1]
    q = -(root @ root.T @ p + A.T @ z) if seed % 2 else rng.normal(size=5)
    program = ConeProgram(sp.csc_array(root @ root.T), q, sp.csc_array(A), b, ConeSizes(7, 0), 0.0)
    exact, computed = value_and_margin(program, p, z, radius)[0], program.dual_value(p, z, radius)
    assert computed <= exact
    assert float(exact) - computed <= 1e-10 * (10.0**digits + abs(float(exact)))


@pytest.mark.parametrize("factor", [1.0, 10.0])
def test_the_bound_holds_for_all_x_of_the_declared_size(
    monkeypatch: pytest.MonkeyPatch, factor: float
) -> None:
    """A residual costs ‖d‖₁ times ``factor`` times the size, or the largest right-hand side."""
    for size, largest in ((3.0, 3.0), (1.0, 2.0)):
        program = ConeProgram(
            sp.csc_array((1, 1)), np.array([0.25]), sp.csc_array([[0.0]]), np.array([-2.0]),
            ConeSizes(0, 1), 7.0,
        )  # fmt: skip
        monkeypatch.setattr(ConeProgram, "refined", lambda own, p, z: (p, z))
        answer = program, np.zeros(1), np.zeros(1)
        monkeypatch.setattr(bound, "_by_solvers", lambda problem, own=answer: own)
        found = bound.lower_bound(SimpleNamespace(is_qp=lambda: True), factor, size)
        assert found == pytest.approx(7.0 - 0.25 * factor * largest, rel=1e-12)
