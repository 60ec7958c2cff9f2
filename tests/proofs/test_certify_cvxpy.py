"""Certificates of CVXPY problems: solved well they leave no gap, solved badly their bound holds."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost import certify, polish
from cgboost.exceptions import CertificateError

RNG = np.random.default_rng(3)
N, P = 40, 6
X = RNG.normal(size=(N, P))
NUMBERS = X @ [2.0, -1.0, 0.0, 0.0, 1.0, 0.0] + 0.5 + RNG.standard_t(2, N)
SIGNS = np.sign(NUMBERS)
ROWS = RNG.uniform(0.5, 2, N)
BOTH = np.column_stack([NUMBERS, X[:, 0]])

w, b = cp.Variable(P, name="w"), cp.Variable(name="b")
last = cp.Variable(P + 1, name="u")
W = cp.Variable((P, 2), name="W")
nonneg = cp.Variable(P, nonneg=True)
residual = NUMBERS - X @ w - b
margin = cp.multiply(SIGNS, X @ w + b)
HINGE = cp.pos(1 - margin)
RIDGE = 0.5 * cp.sum_squares(w)

PROBLEMS: dict[str, tuple[Any, list[Any]]] = {
    "lasso, mean": (0.5 * cp.sum_squares(residual) / N + 0.1 * cp.norm1(w), []),
    "lasso, intercept the last": (
        cp.sum_squares(np.c_[X, np.ones(N)] @ last - NUMBERS) + 3 * cp.norm1(last[:-1]),
        [],
    ),
    "lasso, prices": (
        cp.sum_squares(residual) + cp.norm1(cp.multiply(np.arange(1, P + 1), w)),
        [],
    ),
    "lasso of two outputs": (cp.sum_squares(BOTH - X @ W) + cp.sum(cp.abs(W)), []),
    "lasso, signs": (cp.sum_squares(residual) + cp.norm1(w), [w >= 0]),
    "ridge, signs": (cp.sum_squares(NUMBERS - X @ nonneg) + cp.sum_squares(nonneg), []),
    "ridge": (cp.sum(cp.square(residual)) + 2 * cp.norm(w, 2) ** 2, []),
    "elastic net": (cp.sum_squares(X @ w - NUMBERS) + RIDGE + 2 * cp.norm(w, 1), []),
    "huber": (cp.sum(cp.huber(residual, 1.3)) + cp.norm1(w), []),
    "absolute": (cp.norm1(residual) + 0.5 * cp.norm1(w), []),
    "quantile": (cp.sum(cp.maximum(0.3 * residual, -0.7 * residual)) + cp.norm1(w), []),
    "tube": (cp.sum(cp.pos(cp.abs(residual) - 0.3)) + RIDGE, []),
    "squared tube": (ROWS @ cp.square(cp.pos(cp.abs(residual) - 0.3)) + cp.norm1(w), []),
    "hinge": (cp.sum(HINGE) / N + 0.05 * cp.norm1(w), []),
    "hinge, weights": (ROWS @ HINGE + RIDGE, []),
    "hinge of other margins": (cp.sum(cp.maximum(0, ROWS - X @ w)) + cp.norm1(w), []),
    "squared hinge": (cp.sum_squares(HINGE) + RIDGE, []),
    "logistic": (cp.sum(cp.multiply(ROWS, cp.logistic(-margin))) + 0.5 * cp.norm1(w), []),
}


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_bound_holds_and_is_the_optimum_of_a_good_solver(name: str) -> None:
    """Clarabel's answer has no gap; SCS's, stopped early, has a bound that is not above it."""
    objective, constraints = PROBLEMS[name]
    problem = cp.Problem(cp.Minimize(objective), constraints)
    optimum = problem.solve(solver="CLARABEL")
    good = certify(problem)
    assert good.objective == pytest.approx(optimum, rel=1e-7)
    assert good.gap < 1e-7
    problem.solve(solver="SCS", max_iters=15)
    rough = certify(problem)
    values = [variable.value for variable in problem.variables()]
    assert rough.bound <= optimum * (1 + 1e-8) <= rough.objective * (1 + 2e-8)
    assert rough.gap <= 1.3 * (1 - optimum / rough.objective) + 1e-8
    assert all(np.isfinite(value).all() for value in values)  # they are where they were


UNKNOWN: dict[str, tuple[Any, list[Any], str]] = {
    "no penalty": (cp.sum_squares(residual), [], "no penalty"),
    "two losses": (cp.sum_squares(residual) + cp.norm1(X @ w) + RIDGE, [], "has 2"),
    "no loss": (cp.norm1(w), [], "has 0"),
    "another atom": (cp.norm(residual) + cp.norm1(w), [], "does not know"),
    "a matrix of its own": (cp.sum_squares(residual) + cp.quad_form(w, 2 * np.eye(P)), [], "know"),
    "a constant": (cp.sum_squares(residual) + cp.norm1(w) + 1, [], "constant"),
    "part of the prices": (cp.sum_squares(residual) + cp.norm1(w[:3]), [], "without a penalty"),
    "mixed prices": (cp.sum_squares(residual) + cp.norm1(w) + cp.sum_squares(w[0]), [], "together"),
    "other constraints": (cp.sum_squares(residual) + cp.norm1(w), [cp.sum(w) == 1], "constraints"),
    "upper bounds": (cp.sum_squares(residual) + cp.norm1(w), [w <= 1], "constraints"),
    "half the signs": (cp.sum_squares(residual) + cp.norm1(w), [w[:2] >= 0], "signs of all"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_problems_are_refused_with_the_reason(name: str) -> None:
    """No bound is given for a problem of another form."""
    objective, constraints, words = UNKNOWN[name]
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver="CLARABEL")
    with pytest.raises(CertificateError, match=words):
        certify(problem)


def test_what_to_do_with_a_problem_without_values_a_maximum_and_polish() -> None:
    """Each message says it."""
    fresh = cp.Variable(P, name="fresh")
    loss = cp.sum_squares(X @ fresh - NUMBERS) + cp.norm1(fresh)
    with pytest.raises(CertificateError, match="fresh: solve it first"):
        certify(cp.Problem(cp.Minimize(loss)))
    with pytest.raises(CertificateError, match="Minimize"):
        certify(cp.Problem(cp.Maximize(-loss)))
    with pytest.raises(CertificateError, match="smaller tolerance"):
        polish(cp.Problem(cp.Minimize(loss)), X, NUMBERS)
