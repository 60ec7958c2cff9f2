"""Several quantiles without crossings, against the linear program with all rows and columns."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.history import Result, StopReason
from cgboost.losses import Quantile
from cgboost.masters import OneNormMaster
from cgboost.masters.quantiles.noncrossing_masters import NoncrossingMaster
from cgboost.optimizers.quantiles.joint_session import JointSession
from cgboost.optimizers.quantiles.restricted_quantiles import JointSimplexSession
from cgboost.pricing import FeaturePricer, JointPricer
from cgboost.pricing.learners.joint_pricer import OutputRowPairs
from tests.effort import examples


class Problem(NamedTuple):
    """Rows, costs and quantiles."""

    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    quantiles: np.ndarray

    def run(self, **options: Any) -> tuple[NoncrossingMaster, Result]:
        """Column generation to a gap of 1e-8."""
        own = {name: options.pop(name) for name in ("coef", "solver") if name in options}
        master = NoncrossingMaster(self.quantiles, self.y, self.cost, **own)
        count = len(self.quantiles)
        pricer = JointPricer(
            OutputRowPairs(count, len(self.y)), [FeaturePricer(self.X) for _ in range(count)]
        )
        loop = {"tol": 1e-8, "columns_per_round": 10} | options
        return master, ColumnGeneration(master, pricer, **loop).run()

    def optimum(self, *, noncrossing: bool = True, positive: bool = False) -> float:
        """Of the linear program in β⁺, β⁻, b, e⁺, e⁻ of each output, by HiGHS."""
        (n, p), k = self.X.shape, len(self.quantiles)
        one = sparse.hstack(
            [self.X, -self.X, np.ones((n, 1)), sparse.eye(n), -sparse.eye(n)], format="csr"
        )
        cost = [
            np.concatenate([np.ones(2 * p), [0.0], q * self.cost, (1 - q) * self.cost])
            for q in self.quantiles
        ]
        nothing = sparse.csr_matrix((n, 2 * n))
        model = sparse.hstack([one[:, : 2 * p + 1], nothing], format="csr")
        counting = self.cost > 0
        crossing = None
        if noncrossing and k > 1:
            shift = sparse.eye(k - 1, k) - sparse.eye(k - 1, k, k=1)
            crossing = sparse.kron(shift, model[counting], format="csr")
        negative = (0, 0) if positive else (0, None)
        free = [(0, None)] * p + [negative] * p + [(None, None)] + [(0, None)] * (2 * n)
        solved = linprog(
            np.concatenate(cost),
            A_ub=crossing,
            b_ub=None if crossing is None else np.zeros(crossing.shape[0]),
            A_eq=sparse.block_diag([one] * k, format="csr"),
            b_eq=np.tile(self.y, k),
            bounds=free * k,
        )
        assert solved.status == 0
        return float(solved.fun)

    def outputs(self, result: Result) -> np.ndarray:
        """Model outputs of a result, shape (n_outputs, n_rows)."""
        coef = np.zeros((len(self.quantiles), self.X.shape[1]))
        for column, value in zip(result.columns, result.coef, strict=True):
            coef[column.output, column.hypothesis.index] = value  # type: ignore[union-attr]
        return coef @ self.X.T + np.asarray(result.intercept)[:, None]


def random_problem(seed: int, **shape: int) -> Problem:
    """Heteroscedastic rows, so that separate fits cross; some with ties, duplicates and weights."""
    rng = np.random.default_rng(seed)
    n, p = shape.get("n", int(rng.integers(5, 50))), shape.get("p", int(rng.integers(1, 20)))
    k = int(rng.integers(2, 6))
    X = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p))
    y = X[:, 0] + (0.2 + np.abs(X[:, -1])) * rng.standard_t(3, size=n)
    if seed % 3 == 0:
        X, y = np.round(X), np.round(y)
    cost = rng.uniform(0.2, 2.0, size=n) * float(np.exp(rng.uniform(-2, 3)))
    if seed % 4 == 0:
        cost[rng.random(n) < 0.3] = 0.0
        cost[0] = 1.0
    quantiles = np.sort(rng.choice(np.arange(1, 20) / 20, size=k, replace=False))
    return Problem(X, y, cost, quantiles)


def assert_vertex(problem: Problem, result: Result) -> None:
    """Residuals and crossings that are 0 leave no direction to the coefficients in use."""
    used, outputs = np.flatnonzero(result.coef), problem.outputs(result)
    scale = 1e-9 * (1.0 + np.abs(problem.y).max() + np.abs(outputs).max())
    count, n_rows = outputs.shape
    counting = problem.cost > 0
    model = np.zeros((count, n_rows, len(used) + count))
    for place, j in enumerate(used):
        column = result.columns[j]
        model[column.output, :, place] = problem.X[:, column.hypothesis.index]
    for k in range(count):
        model[k, :, len(used) + k] = 1.0
    rows = model[(np.abs(outputs - problem.y) <= scale) & counting]
    crossings = (np.abs(np.diff(outputs, axis=0)) <= scale) & counting
    equations = np.vstack([rows, np.diff(model, axis=0)[crossings]])
    size = np.abs(equations).max(axis=0, initial=0.0)
    assert (size > 0).all()
    assert np.linalg.matrix_rank(equations / size, tol=1e-9) == len(used) + count


@pytest.mark.parametrize("options", [{}, {"coef": "nonneg"}, {"solver": "highs"}], ids=str)
@settings(max_examples=examples(24))
@given(seed=st.integers(0, 10**6), at_once=st.sampled_from([3, 10]))
def test_it_finds_the_optimum_of_the_linear_program(
    options: dict[str, str], seed: int, at_once: int
) -> None:
    """Bound ≤ optimum ≤ objective in every round, on a vertex, and outputs do not cross.

    With coefficients of one sign, too, and with HiGHS behind the session.
    """
    problem = random_problem(seed)
    _, result = problem.run(columns_per_round=at_once, **options)
    best = problem.optimum(positive="coef" in options)
    scale = max(1.0, best)
    bounds, objectives = result.history["bound"], result.history["objective"]
    assert np.all(bounds[np.isfinite(bounds)] <= best + 1e-8 * scale)
    assert np.all(objectives >= best - 1e-8 * scale)
    assert np.all(np.diff(objectives) <= 1e-9 * scale)
    assert result.objective == pytest.approx(best, rel=1e-7, abs=1e-7)
    assert result.bound == pytest.approx(best, rel=1e-7, abs=1e-7)
    outputs = problem.outputs(result)[:, problem.cost > 0]
    assert np.diff(outputs, axis=0).min() >= -1e-9 * max(1.0, np.abs(problem.y).max())
    assert "coef" not in options or result.coef.min(initial=0.0) >= 0
    if not options:
        assert_vertex(problem, result)


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_repeat_each_other(seed: int) -> None:
    """Of a feature and its copy, at most one is in an output of the model."""
    problem = random_problem(17 + seed, n=40, p=5)
    doubled = problem._replace(X=np.hstack([problem.X, problem.X]))
    _, result = doubled.run()
    assert result.objective == pytest.approx(problem.optimum(), rel=1e-7)
    used = [result.columns[j] for j in np.flatnonzero(result.coef)]
    assert len({(column.output, column.hypothesis.index % 5) for column in used}) == len(used)


@pytest.mark.parametrize("seed", range(4))
def test_a_simplex_takes_over_where_the_interior_point_method_fails(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the columns and rows that are in the session then, to the same optimum."""
    problem = random_problem(300 + seed, n=40, p=15)
    attempt, count = JointSession._attempt, 0

    def failing(self: JointSession, deadline: float | None) -> bool:
        nonlocal count
        count += 1
        return count < 4 and attempt(self, deadline)

    monkeypatch.setattr(JointSession, "_attempt", failing)
    monkeypatch.setattr(JointSession, "_reached", np.inf, raising=False)
    master, result = problem.run()
    assert isinstance(master._live.session, JointSimplexSession)
    assert result.objective == pytest.approx(problem.optimum(), rel=1e-8)
    assert result.gap <= 1e-8


def test_constraints_are_what_keeps_outputs_apart() -> None:
    """Separate optima cross and cost less; the joint one costs more and does not cross."""
    problem = random_problem(1, n=30, p=12)
    _, result = problem.run()
    coef, outputs = 0.0, []
    for q in problem.quantiles:
        master = OneNormMaster(Quantile(q).on(problem.y, problem.cost))
        own = ColumnGeneration(master, FeaturePricer(problem.X), tol=1e-8).run()
        coef += own.objective
        outputs.append(own.output)
    assert np.diff(outputs, axis=0).min() < -1e-3
    assert coef < result.objective * (1 - 1e-4)
    assert coef == pytest.approx(problem.optimum(noncrossing=False), rel=1e-6)


def test_few_crossings_enter_the_problem() -> None:
    """Of n(K − 1) constraints those that would be violated, and no more, are in the session."""
    problem = random_problem(11, n=300, p=8)
    master, result = problem.run()
    session, variables = master._live.session, master.loss.variables
    held = np.count_nonzero(session.kept >= variables.n_boxes)
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    assert 0 < held < 0.2 * len(variables.crossing)


def test_one_quantile_and_a_constant_response() -> None:
    """With nothing to cross it is the plain problem; a constant needs no feature, at no cost."""
    problem = random_problem(5)._replace(quantiles=np.array([0.3]))
    _, result = problem.run()
    assert result.objective == pytest.approx(problem.optimum(), rel=1e-7)
    problem = random_problem(7)
    _, result = problem._replace(y=np.full(len(problem.y), 3.0)).run()
    assert result.objective == pytest.approx(0.0, abs=1e-7)
    assert np.asarray(result.intercept) == pytest.approx(np.full(len(problem.quantiles), 3.0))


def test_columns_must_be_on_the_pairs() -> None:
    """A column on the training rows alone is refused."""
    problem = random_problem(3)
    master = NoncrossingMaster(problem.quantiles, problem.y, problem.cost)
    with pytest.raises(ValueError, match="has shape"):
        master.add([Column(problem.X[:, 0], "own")])
