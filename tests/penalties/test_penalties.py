"""What all penalties promise: duality, their numbers, and entry rules that bound the gap."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cgboost.generation.protocols import Priced
from cgboost.penalties import (
    L1,
    L2,
    RKHS,
    ElasticNet,
    Entropy,
    GroupNorm,
    L1Ball,
    Penalty,
    SquaredGroupNorm,
    get_penalty,
)
from cgboost.penalties import PENALTIES as NAMES
from cgboost.penalties.penalty import DualForm
from tests.cases import Case, law
from tests.effort import examples
from tests.problems import PENALTIES, SMOOTH, columns_of, formulations, random_problem

ALL: list[Case[Penalty]] = [
    Case(name=repr(penalty), make=lambda own=penalty: own)
    for penalty in (
        *(penalty for penalty, _ in PENALTIES.values()),
        *(ElasticNet(0.0), Entropy(8.0, radius=0.5), GroupNorm(), SquaredGroupNorm(), RKHS()),
    )
]

vectors = st.lists(st.integers(-40, 40), min_size=1, max_size=6).map(lambda v: np.array(v) / 8.0)


def inside(penalty: Penalty, coef: np.ndarray) -> np.ndarray:
    """Coefficients that the penalty allows."""
    size = np.abs(coef).sum()
    if penalty.radius is None or size <= penalty.radius:
        return coef
    return coef * (penalty.radius / size)


def in_domain(penalty: Penalty, scores: np.ndarray) -> np.ndarray:
    """Scores for which the conjugate is finite: at most the threshold, where that is hard."""
    largest = np.abs(scores).max()
    if not penalty.is_positively_homogeneous or largest <= penalty.threshold:
        return scores
    inside = scores * (penalty.threshold / largest)
    return np.clip(inside, -penalty.threshold, penalty.threshold)  # not beyond it by rounding


@law(ALL)
@given(coef=vectors, seed=st.integers(0, 1000), two_sided=st.booleans())
@settings(max_examples=examples(100))
def test_value_and_conjugate(
    case: Case[Penalty], coef: np.ndarray, seed: int, two_sided: bool
) -> None:
    """Ω(α) is what its three numbers say, inf outside the ball, and at least α·s − Ω*(s)."""
    penalty = case.make()
    value = penalty.threshold * np.abs(coef).sum() + 0.5 * penalty.quadratic * coef @ coef
    if isinstance(penalty, SquaredGroupNorm):  # which has a number of its own
        value = 0.5 * np.abs(coef).sum() ** 2
    assert penalty.value(inside(penalty, coef)) <= value + 1e-12
    if penalty.radius is None:
        assert penalty.value(coef) == pytest.approx(value)
    elif np.abs(coef).sum() > 1.001 * penalty.radius:
        assert penalty.value(coef) == np.inf
    scores = in_domain(penalty, np.random.default_rng(seed).normal(size=len(coef)))
    coef = inside(penalty, coef if two_sided else np.abs(coef))
    both = penalty.value(coef) + penalty.conjugate(scores, two_sided=two_sided)
    assert both >= coef @ scores - 1e-12


@law(ALL)
@pytest.mark.parametrize("two_sided", [True, False])
@settings(max_examples=examples(60))
@given(scores=vectors)
def test_the_conjugate_is_the_supremum(
    case: Case[Penalty], two_sided: bool, scores: np.ndarray
) -> None:
    """Ω*(s) is what a solver finds to be the maximum of α·s − Ω(α)."""
    penalty = case.make()
    scores = in_domain(penalty, scores)
    n = len(scores)
    limits = []
    if penalty.radius is not None:
        limits = [{"type": "ineq", "fun": lambda x: penalty.radius - x.sum()}]

    def cost(parts: np.ndarray) -> float:  # α = p − q with p, q ≥ 0
        coef = parts[:n] - parts[n:]
        size = parts.sum() * penalty.threshold + 0.5 * penalty.quadratic * coef @ coef
        if isinstance(penalty, SquaredGroupNorm):
            size = 0.5 * parts.sum() ** 2
        return float(size - coef @ scores)

    bounds = [(0.0, 100.0)] * n + [(0.0, 100.0 if two_sided else 0.0)] * n
    start = np.full(2 * n, 1e-3)
    found = minimize(cost, start, bounds=bounds, constraints=limits, method="SLSQP", tol=1e-12)
    assert penalty.conjugate(scores, two_sided=two_sided) == pytest.approx(-found.fun, abs=1e-5)


def test_the_conjugate_of_the_norm_is_infinite_outside() -> None:
    """A score above 1 makes α·s − Σ|α| unbounded; below −1 only where α may be negative."""
    assert L1().conjugate(np.array([0.5, -1.5])) == np.inf
    assert L1().conjugate(np.array([0.5, -1.5]), two_sided=False) == 0.0


@pytest.mark.parametrize(
    "formulation",
    [f for f in formulations(["hinge", *SMOOTH], list(PENALTIES)) if f.offset == "none"],
    ids=str,
)
@settings(max_examples=examples(10))
@given(seed=st.integers(0, 10**4))
def test_the_excess_bounds_the_gap(formulation: Any, seed: int) -> None:
    """The bound that rests on the excess of the columns left out is below the full optimum."""
    problem = random_problem(seed)
    loss = problem.loss(formulation)
    everything, few = formulation.master(loss), formulation.master(loss)
    columns = columns_of(problem.H)
    everything.add(columns)
    few.add(columns[::2])
    state = few.solve()
    excess = state.rule.excess(problem.H.T @ state.pseudo_response)
    rest = range(1, len(columns), 2)
    worth = excess[rest].sum() if state.rule.additive else excess[rest].max(initial=0.0)
    optimum = everything.solve().objective
    accuracy = 1e-6 * max(1.0, abs(optimum))
    priced = Priced((), exact=True, max_excess=excess.max(), total_excess=excess.sum())
    assert few.bound(state, priced) <= optimum + accuracy
    penalty = PENALTIES[formulation.penalty][0]
    if not penalty.is_positively_homogeneous:  # there it is relative to the bound
        assert worth * state.gap_scale >= state.objective - optimum - accuracy


@law(ALL)
@settings(max_examples=examples(60))
@given(score=st.floats(-3, 3), two_sided=st.booleans())
def test_a_settled_score_adds_nothing(case: Case[Penalty], score: float, two_sided: bool) -> None:
    """The score at which a column no longer prices out has no excess."""
    rule = case.make().entry(two_sided=two_sided, scale=2.0, largest=0.7, noise=1e-12)
    if rule.excess(np.array([score]))[0] > 0:
        assert rule.excess(np.array([rule.settled(score)]))[0] == 0.0


def test_the_offset_is_one_more_coefficient_where_it_is_penalized() -> None:
    """It costs what a column of ones would, and a ball is shared with it."""
    coef = np.array([1.0, -2.0])
    norms = (L1(), L2(), ElasticNet(0.3), L1Ball(4.0), L1Ball(3.5), SquaredGroupNorm())
    for penalty in norms:
        form = DualForm(penalty, True, "penalized")
        assert form.value(coef, 1.0) == penalty.value(np.append(coef, 1.0))
        assert DualForm(penalty, True, "free").value(coef, 1.0) == penalty.value(coef)
    assert DualForm(L2(), False, "penalized").sizes(coef, -3.0).tolist() == [1.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ElasticNet(1.0), r"below 1 \(use L1\(\) for 1\), got 1.0"),
        (lambda: ElasticNet(-0.1), "at least 0"),
        (lambda: ElasticNet("a"), "l1_ratio must be at least 0 .*got 'a'"),
        (lambda: L1Ball(0.0), "radius must be positive and finite, got 0.0"),
        (lambda: L1Ball(None), "radius must be positive and finite, got None"),
        (lambda: Entropy(0.0), "eta must be positive and finite, got 0.0"),
        (lambda: Entropy("a"), "eta must be positive and finite, got 'a'"),
        (lambda: Entropy(1.0, radius=np.inf), "radius must be positive and finite, got inf"),
        (lambda: RKHS({"rbf": 0.0}), "weight of kernel 'rbf' must be positive"),
        (lambda: RKHS({"rbf": np.nan}), "weight of kernel 'rbf' must be positive"),
        (lambda: RKHS({"rbf": np.inf}), "weight of kernel 'rbf' must be positive"),
        (
            lambda: RKHS({"linear": 0.5}).check_names(("rbf", "poly")),
            "'linear', the library has 'rbf', 'poly'",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(make: Callable[[], Any], message: str) -> None:
    """The error names the parameter, its range and its value."""
    with pytest.raises(ValueError, match=message):
        make()


def test_penalties_are_values() -> None:
    """They compare, hash and print by their parameters, and are found by name."""
    assert ElasticNet(0.3) == ElasticNet(0.3) != ElasticNet(0.4)
    assert len({L1(), L1(), L2(), L1Ball(2.0), L1Ball(2.0)}) == 3
    assert repr(Entropy(8.0, radius=2.0)) == "Entropy(radius=2.0, eta=8.0)"
    assert {RKHS({"a": 2.0}): 1}[RKHS({"a": 2.0})] == 1
    assert {name: type(get_penalty(name)) for name in NAMES} == NAMES


def test_the_norm_of_functions_is_a_two_norm_with_weights() -> None:
    """Only it says that it is of functions; a kernel without a weight has 1."""
    assert [penalty.of_functions for penalty in (L1(), L2(), RKHS())] == [False, False, True]
    assert RKHS().value(np.array([1.0, -2.0])) == L2().value(np.array([1.0, -2.0]))
    penalty = RKHS({"linear": 0.5})
    assert (penalty.weight("linear"), penalty.weight("rbf")) == (0.5, 1.0)
    penalty.check_names(("linear", "rbf"))
