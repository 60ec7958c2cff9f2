"""Certificates of CVXPY problems: solved well they leave no gap, solved badly their bound holds."""

import json
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from cgboost import certify, polish
from cgboost.exceptions import CertificateError
from cgboost.proofs.cvxpy_problems import reading_of_cvxpy

RNG = np.random.default_rng(3)
N, P = 40, 6
X = RNG.normal(size=(N, P))
NUMBERS = X @ [2.0, -1.0, 0.0, 0.0, 1.0, 0.0] + 0.5 + RNG.standard_t(2, N)
SIGNS = np.sign(NUMBERS)
ROWS = RNG.uniform(0.5, 2, N)
SOME = ROWS * (np.arange(N) % 5 > 0)
BOTH = np.column_stack([NUMBERS, X[:, 0]])

w, b = cp.Variable(P, name="w"), cp.Variable(name="b")
last = cp.Variable(P + 1, name="u")
W = cp.Variable((P, 2), name="W")
slack = cp.Variable(N, nonneg=True, name="slack")
nonneg = cp.Variable(P, nonneg=True)
residual = NUMBERS - X @ w - b
WEIGHED = cp.multiply(ROWS, residual)
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
    "absolute, weights inside": (cp.norm1(cp.multiply(ROWS, residual)) + RIDGE, []),
    "squares, weights inside": (
        cp.sum_squares(cp.multiply(SOME * SIGNS, -residual)) + cp.norm1(w),
        [],
    ),
    "squares of margins": (cp.sum_squares(margin - 1) + RIDGE, []),
    "ridge, prices": (cp.sum_squares(residual) + ROWS[:P] @ cp.square(w), []),
    "quantile, weights inside": (
        cp.sum(cp.maximum(0.3 * WEIGHED, -0.7 * WEIGHED)) + cp.norm1(w),
        [],
    ),
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
    assert rough.gap <= 1.5 * (1 - optimum / rough.objective) + 1e-8
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
    "half the signs": (cp.sum_squares(residual) + cp.norm1(w), [w[:5] >= 0], r"w\[5\] may be"),
    "slack variables": (cp.sum(slack) + RIDGE, [margin >= 1 - slack], r"linear.*pos\(1 − m\)"),
    "squared slacks": (
        cp.sum_squares(slack) + RIDGE,
        [margin >= 1 - slack],
        r"constraints other.*pos\(1 − m\)",
    ),
    "a sum of what is not negative": (
        cp.sum_squares(NUMBERS - X @ nonneg) + cp.sum(nonneg),
        [],
        r"norm1\(w\)",
    ),
    "weights inside Huber's loss": (
        cp.sum(cp.huber(WEIGHED, 1.3)) + RIDGE,
        [],
        "Weights of rows go outside",
    ),
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
        polish(cp.Problem(cp.Minimize(loss)))
    with pytest.raises(CertificateError, match="has its data in it"):
        certify(cp.Problem(cp.Minimize(loss)), X, NUMBERS)


def test_a_parameter_without_a_value_is_missed_and_a_changed_one_is_said() -> None:
    """The present values count; where they are not those of the solution, the certificate says."""
    price = cp.Parameter(nonneg=True, name="price")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(residual) + price * cp.norm1(w)))
    w.value, b.value = np.zeros(P), 0.0
    with pytest.raises(CertificateError, match="no value of the parameter price"):
        certify(problem)
    price.value = 1.0
    problem.solve(solver="CLARABEL")
    assert len(certify(problem).assumed) == 2
    price.value = 100.0
    changed = certify(problem)
    assert changed.gap > 0.05
    assert "parameters as they are now" in changed.assumed[-1]


@pytest.mark.parametrize(
    "error",
    [residual, -residual, cp.multiply(SIGNS, residual), cp.multiply(2.0**SIGNS, residual)],
    ids=["y − f", "f − y", "signs", "weights"],
)
def test_the_table_of_a_certificate_is_the_users_own(error: Any, tmp_path: Path) -> None:
    """X and y, whatever their signs, weights and prices: these are in the file of the proof."""
    prices = np.linspace(0.1, 0.3, P)
    objective = cp.sum_squares(error) + cp.norm1(cp.multiply(prices, w))
    problem = cp.Problem(cp.Minimize(objective))
    problem.solve(solver="CLARABEL")
    certificate = certify(problem)
    assert certificate.assumed[1] == "penalty L1 times 0.1 to 0.3"
    proof = json.loads(certificate.save(tmp_path / "proof.json").read_text(encoding="utf-8"))
    assert np.array_equal(np.load(tmp_path / "proof.npy"), np.column_stack([X, NUMBERS]))
    assert_allclose(proof["w"], w.value, rtol=1e-12)
    assert_allclose(np.multiply(proof["weights"], proof["unit"]), prices, rtol=1e-12)
    assert proof["gap"] < 1e-6


def test_the_sign_of_a_table_without_an_intercept_is_as_written() -> None:
    """Xw − y has the table X, y, as y − Xw has."""
    for error in (X @ w - NUMBERS, NUMBERS - X @ w, -(X @ w) + NUMBERS):
        problem = cp.Problem(cp.Minimize(cp.sum_squares(error) + cp.norm1(w)))
        problem.solve(solver="CLARABEL")
        reading, data = reading_of_cvxpy(problem)
        assert np.array_equal(reading.problems[0].X.toarray(), X)
        assert np.array_equal(data.y, NUMBERS)
