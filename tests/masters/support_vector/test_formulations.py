"""Every loss under every penalty, sign rule and offset, against an independent solver."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cgboost import ColumnGeneration
from cgboost.generation.history import Result
from cgboost.losses import Hinge
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster, WarmStart
from cgboost.penalties import L1
from cgboost.pricing import FeaturePricer
from solvers import available_backends, get_backend
from tests.effort import examples
from tests.optimizers.cases import eager
from tests.problems import (
    ALL_FORMULATIONS,
    FORMULATIONS,
    Formulation,
    Problem,
    assert_certified,
    columns_of,
    random_problem,
)

BACKENDS = {"l1": "highs", "l2": "piqp"}


def generate(problem: Problem, formulation: Formulation, **options: Any) -> Result:
    """Run the loop over the columns of H."""
    solver, start = options.pop("solver", "auto"), options.pop("start", None)
    options = {"tol": 1e-8, "columns_per_round": 3} | options
    master = formulation.master(problem.loss(formulation), solver)
    if start is not None:
        master.start_from(start)
    return ColumnGeneration(master, FeaturePricer(problem.H), **options).run()


def wrong_start(problem: Problem, rng: np.random.Generator) -> WarmStart:
    """Some columns with random coefficients, so that all the wrong rows are expected."""
    some = [c for c in columns_of(problem.H) if rng.random() < 0.5]
    return WarmStart(some, 10.0 ** rng.uniform(-2, 2) * rng.normal(size=len(some)), rng.normal())


@pytest.mark.parametrize("formulation", ALL_FORMULATIONS, ids=str)
@settings(max_examples=examples(9))
@given(
    seed=st.integers(0, 10**6),
    columns=st.sampled_from([1, 3, 5, 50]),
    is_eager=st.booleans(),
    starts=st.booleans(),
    own=st.booleans(),
)
@example(seed=34462, columns=1, is_eager=False, starts=True, own=False)  # a start with an offset
def test_reaches_the_full_problem_with_valid_bounds(
    formulation: Formulation, seed: int, columns: int, is_eager: bool, starts: bool, own: bool
) -> None:
    """Bound ≤ optimum ≤ objective in every round, and both close.

    With any number of columns a round, with working sets as small as can be, by the own method or
    by a backend, from nothing or from a wrong start. No coefficient is negative where none may be.
    """
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    options: dict[str, Any] = {"columns_per_round": columns}
    if starts:
        options["start"] = wrong_start(problem, rng)
    if not own and formulation in FORMULATIONS:
        options["solver"] = BACKENDS[formulation.penalty]
    if is_eager:
        with eager():
            result = generate(problem, formulation, **options)
    else:
        result = generate(problem, formulation, **options)
    assert_certified(result, problem.optimum(formulation))
    assert np.all(np.diff(result.history["objective"]) <= 1e-12)
    if formulation.coef == "nonneg" and not starts:
        assert all((coef >= 0).all() for coef, _ in result.path)


@pytest.mark.parametrize(
    ("formulation", "solver"),
    [
        (formulation, solver)
        for formulation in FORMULATIONS
        for solver in available_backends("lp")  # all masters begin without a quadratic cost
        if formulation.penalty == "l1" or "qp" in get_backend(solver).capabilities
    ],
    ids=str,
)
def test_every_backend_reaches_the_same_objective(formulation: Formulation, solver: str) -> None:
    """Each backend that can solve a formulation finds its optimum within its own tolerance."""
    problem = random_problem(7)
    tol = 1e-5 if "exact" in get_backend(solver).capabilities else 2e-3
    result = generate(problem, formulation, solver=solver, tol=tol)
    assert result.objective == pytest.approx(problem.optimum(formulation), rel=2 * tol, abs=tol)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_optimality_conditions_hold_at_the_end(formulation: Formulation) -> None:
    """R stays in the loss's box, balances a free offset, and prices every column correctly."""
    problem = random_problem(3)
    loss = problem.loss(formulation)
    states: list[Any] = []
    generate(problem, formulation, callbacks=[lambda turn: states.append(turn.state)])
    state = states[-1]
    response, scores = state.pseudo_response, problem.H.T @ state.pseudo_response
    assert np.all((loss.lower <= response) & (response <= loss.upper))
    if formulation.offset == "free":
        assert abs(response.sum()) < 1e-9 * max(1.0, np.abs(response).sum())
    if formulation.penalty == "l1":
        largest = np.abs(scores).max() if formulation.coef == "free" else scores.max()
        assert largest <= 1.0 + 1e-6
    else:
        coef = np.zeros(problem.H.shape[1])
        coef[[column.key[1] for column in state.columns]] = state.coef
        wanted = scores if formulation.coef == "free" else np.maximum(scores, 0.0)
        np.testing.assert_allclose(coef, wanted, atol=2e-4 * max(1.0, np.abs(scores).max()))
    outside_tube = state.slack > 1e-4
    ends = np.where(response > 0, loss.upper, loss.lower)
    np.testing.assert_allclose(response[outside_tube], ends[outside_tube], atol=1e-3)


def test_sample_weights_multiply_the_price_row_by_row() -> None:
    """An integer price on a row is the same problem as repeating the row."""
    problem = random_problem(21)
    counts = np.arange(len(problem.target)) % 3 + 1
    weighted = Problem(problem.H, problem.target, 1.0 * counts, 0.1)
    repeated = Problem(
        np.repeat(problem.H, counts, axis=0),
        np.repeat(problem.target, counts),
        np.ones(counts.sum()),
        0.1,
    )
    for formulation in FORMULATIONS:
        expected = generate(repeated, formulation).objective
        assert generate(weighted, formulation).objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("coef", ["free", "nonneg"])
def test_one_column_a_round_is_the_algorithm_of_the_paper(coef: str) -> None:
    """[B] section 3.1: every restricted LP at its optimum, then the column of the largest score.

    With more rows than a vertex method would take, and from all kinds of columns.
    """
    rng = np.random.default_rng(0)
    H, C, rounds = rng.normal(size=(250, 120)), 0.3, []
    y = np.where(H[:, :5].sum(axis=1) + 2.0 * rng.normal(size=250) > 0, 1.0, -1.0)
    ColumnGeneration(
        SupportVectorMaster(Hinge().on(y, np.full(250, C)), L1(), coef=coef),
        FeaturePricer(H),
        columns_per_round=1,
        max_columns=12,
        callbacks=[lambda current: rounds.append(current.state)],
    ).run()
    for state, after in pairwise(rounds):
        D = np.stack([H[:, 0], *(column.values for column in state.columns)], axis=1)[:, 1:]
        D = D if coef == "nonneg" else np.hstack([D, -D])
        margins = -y[:, None] * np.column_stack([D, np.ones(250), -np.ones(250)])
        cost = np.concatenate([np.ones(D.shape[1]), [0.0, 0.0], np.full(250, C)])
        wanted = linprog(cost, np.hstack([margins, -np.eye(250)]), -np.ones(250)).fun
        assert state.objective == pytest.approx(wanted, rel=1e-9)
        scores = H.T @ state.pseudo_response
        (new,) = after.columns[len(state.columns) :]
        own, largest = float(new.values @ state.pseudo_response), scores.max()
        if coef == "free":
            own, largest = abs(own), np.abs(scores).max()
        assert own == pytest.approx(largest, rel=1e-9)
    assert len(rounds) == 13
