"""What all penalties promise: duality, their numbers, and entry rules that bound the gap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cgboost.generation.protocols import Priced
from cgboost.penalties import (
    L1,
    L2,
    ElasticNet,
    Entropy,
    GroupNorm,
    L1Ball,
    Penalty,
    SquaredGroupNorm,
)
from cgboost.penalties.base import DualForm
from cgboost.pricing import FeaturePricer
from tests.effort import examples
from tests.problems import PENALTIES, SMOOTH, Formulation, random_problem

ALL = [penalty for penalty, _ in PENALTIES.values()]
ALL += [ElasticNet(0.0), Entropy(8.0, radius=0.5), GroupNorm(), SquaredGroupNorm()]

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


@pytest.mark.parametrize("penalty", ALL, ids=repr)
@given(coef=vectors, seed=st.integers(0, 1000), two_sided=st.booleans())
def test_fenchel_and_young(penalty: Penalty, coef: np.ndarray, seed: int, two_sided: bool) -> None:
    """Ω(α) + Ω*(s) ≥ α·s for all α that are allowed and all s."""
    scores = in_domain(penalty, np.random.default_rng(seed).normal(size=len(coef)))
    coef = inside(penalty, coef if two_sided else np.abs(coef))
    value = penalty.value(coef) + penalty.conjugate(scores, two_sided=two_sided)
    assert value >= coef @ scores - 1e-12


@pytest.mark.parametrize("penalty", ALL, ids=repr)
@pytest.mark.parametrize("two_sided", [True, False])
@given(scores=vectors)
def test_the_conjugate_is_the_supremum(
    penalty: Penalty, two_sided: bool, scores: np.ndarray
) -> None:
    """Ω*(s) is what a solver finds to be the maximum of α·s − Ω(α)."""
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


@pytest.mark.parametrize("penalty", ALL, ids=repr)
@given(coef=vectors)
def test_the_value_follows_from_the_three_numbers(penalty: Penalty, coef: np.ndarray) -> None:
    """Ω(α) = threshold·Σ|α| + ½·quadratic·Σα² inside the ball, inf outside."""
    outside = penalty.radius is not None and np.abs(coef).sum() > 1.001 * penalty.radius
    value = penalty.threshold * np.abs(coef).sum() + 0.5 * penalty.quadratic * coef @ coef
    if isinstance(penalty, SquaredGroupNorm):  # which has a number of its own
        value = 0.5 * np.abs(coef).sum() ** 2
    assert penalty.value(inside(penalty, coef)) <= value + 1e-12
    if outside:
        assert penalty.value(coef) == np.inf
    elif penalty.radius is None:
        assert penalty.value(coef) == pytest.approx(value)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["hinge", *SMOOTH])
@pytest.mark.parametrize("coef", ["free", "nonneg"])
@settings(max_examples=examples(10))
@given(seed=st.integers(0, 10**4))
def test_the_excess_bounds_the_gap(penalty: str, loss: str, coef: str, seed: int) -> None:
    """The bound that rests on the excess of the columns left out is below the full optimum."""
    problem = random_problem(seed)
    formulation = Formulation(loss, penalty, coef, "none")
    bound_loss = problem.loss(formulation)
    everything, few = formulation.master(bound_loss), formulation.master(bound_loss)
    pool = FeaturePricer(problem.H).pool
    columns = [pool.column(0, j) for j in range(problem.H.shape[1])]
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
    if not PENALTIES[penalty][0].is_positively_homogeneous:  # there it is relative to the bound
        assert worth * state.gap_scale >= state.objective - optimum - accuracy


@pytest.mark.parametrize("two_sided", [True, False])
@given(score=st.floats(-3, 3))
def test_a_settled_score_adds_nothing(two_sided: bool, score: float) -> None:
    """The score at which a column no longer prices out has no excess."""
    for penalty in ALL:
        rule = penalty.entry(two_sided=two_sided, scale=2.0, largest=0.7, noise=1e-12)
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
        (lambda: L1Ball(0.0), "radius must be positive and finite, got 0.0"),
        (lambda: Entropy(0.0), "eta must be positive and finite, got 0.0"),
        (lambda: Entropy(1.0, radius=np.inf), "radius must be positive and finite, got inf"),
        (lambda: ElasticNet("a"), "l1_ratio must be at least 0 .*got 'a'"),
        (lambda: L1Ball(None), "radius must be positive and finite, got None"),
        (lambda: Entropy("a"), "eta must be positive and finite, got 'a'"),
    ],
)
def test_parameters_out_of_range_are_refused(make: object, message: str) -> None:
    """The error names the parameter, its range and its value."""
    with pytest.raises(ValueError, match=message):
        make()


def test_penalties_are_values() -> None:
    """They compare, hash and print by their parameters."""
    assert ElasticNet(0.3) == ElasticNet(0.3) != ElasticNet(0.4)
    assert len({L1(), L1(), L2(), L1Ball(2.0), L1Ball(2.0)}) == 3
    assert repr(Entropy(8.0, radius=2.0)) == "Entropy(radius=2.0, eta=8.0)"
