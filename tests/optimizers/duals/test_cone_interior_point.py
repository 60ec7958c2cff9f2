"""The dual of the group penalty: right optima, optimality conditions, degenerate kernels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses import epsilon_insensitive, hinge, one_class
from cgboost.optimizers.cones.cone_blocks import FactorBlock, GramBlock
from cgboost.optimizers.cones.cone_interior_point import ConeSession
from solvers import LimitError
from tests.effort import examples
from tests.optimizers.duals.cone_problems import (
    KINDS,
    WITH_MASS,
    GroupProblem,
    random_group_problem,
)

OFFSETS = ("none", "penalized", "free")


def check_answer(problem: GroupProblem, optimum: float, accuracy: float = 1e-6) -> None:
    """Objective and bound, computed anew, lie about the optimum and close to it."""
    answer = problem.session().solve()
    allowed = accuracy * max(abs(optimum), 1e-3)
    assert problem.objective(answer) == pytest.approx(answer.objective, rel=1e-9, abs=1e-12)
    assert problem.bound(answer) == pytest.approx(answer.bound, rel=1e-7, abs=1e-12)
    assert problem.bound(answer) >= answer.bound - 1e-9 * abs(optimum)
    assert answer.bound - 1e-8 * abs(optimum) <= optimum + allowed
    assert answer.objective == pytest.approx(optimum, abs=allowed)
    assert answer.bound == pytest.approx(optimum, abs=allowed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("squared", [False, True])
def test_the_optimum_is_that_of_clarabel(kind: str, offset: str, squared: bool) -> None:
    """For every loss with weights, every offset and both penalties the optimum is Clarabel's."""
    for seed, price in ((0, 0.1), (1, 1.0), (2, 10.0)):
        problem = random_group_problem(
            seed, kind, offset, squared=squared, n_kernels=2 + seed, price=price
        )
        check_answer(problem, problem.optimum())


@pytest.mark.parametrize(
    ("kind", "offset"),
    [
        (kind, offset)
        for kind in WITH_MASS
        for offset in OFFSETS
        if (kind, offset) != ("one_class", "free")  # where all rows have one sign
    ],
)
def test_the_optimum_with_a_mass_is_that_of_clarabel(kind: str, offset: str) -> None:
    """Losses with a mass, in the squared penalty, have Clarabel's optimum too."""
    problem = random_group_problem(3, kind, offset, squared=True)
    check_answer(problem, problem.optimum())


@settings(max_examples=examples(25))
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    offset=st.sampled_from(OFFSETS),
    squared=st.booleans(),
    price=st.sampled_from([1e-3, 0.1, 1.0, 100.0]),
)
def test_answers_meet_the_optimality_conditions(
    seed: int, kind: str, offset: str, squared: bool, price: float
) -> None:
    """The response is feasible, weights are at least 0, and the gap of the model is closed."""
    problem = random_group_problem(seed, kind, offset, squared=squared, price=price)
    answer = problem.session().solve()
    r, loss = answer.response, problem.loss
    assert np.all((r >= loss.lower) & (r <= loss.upper))
    assert np.all(answer.weights >= 0)
    np.testing.assert_allclose(loss.variables.response(answer.u), r, atol=1e-12 * price)
    if offset == "free":
        assert abs(r.sum()) <= 1e-12 * np.abs(r).sum()
    sizes = np.sqrt([max(r @ K @ r, 0.0) for K in problem.kernels]) / problem.limits
    height = sizes.max() if squared else 1.0
    assert np.all(sizes <= height * (1 + 1e-12))
    share = answer.weights * problem.limits**2 * (height - sizes)
    assert share.sum() * height <= answer.gap + 1e-8 * max(1.0, abs(answer.objective))
    at_nothing = loss.value(np.zeros(loss.n_rows))  # far above the objective where prices are large
    assert answer.gap <= max(1e-6 * abs(answer.objective), 1e-9, 1e-7 * at_nothing)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("squared", [False, True])
def test_factors_give_what_grams_give(kind: str, offset: str, squared: bool) -> None:
    """By factors, by Gram matrices and by both, in one solve each, the optimum is the same."""
    problem = random_group_problem(5, kind, offset, squared=squared, low_rank=True, n_kernels=4)
    factors = [FactorBlock(H) for H in problem.factors]
    grams = [GramBlock(K) for K in problem.kernels]
    optima = [
        problem.session(blocks).solve().objective
        for blocks in (factors, grams, [*factors[:2], *grams[2:]])
    ]
    assert optima[1:] == pytest.approx([optima[0]] * 2, rel=1e-6)


def test_blocks_may_come_and_grow() -> None:
    """A session that is extended between solves ends where one with all in it begins."""
    problem = random_group_problem(6, low_rank=True, n_kernels=4)
    blocks = [FactorBlock(H) for H in problem.factors]
    session = ConeSession(problem.loss, offset="free")
    session.add(
        [FactorBlock(problem.factors[0]), FactorBlock(problem.factors[2][:, :1])],
        problem.limits[[0, 2]],
    )
    first = session.solve()
    session.extend(1, problem.factors[2][:, 1:])
    second = session.solve()
    session.add([blocks[1], blocks[3]], problem.limits[[1, 3]])
    third = session.solve()
    assert first.objective > second.objective > third.objective
    assert third.objective == pytest.approx(problem.session(blocks).solve().objective, rel=1e-7)


def test_kernels_that_are_there_twice_share_their_weight() -> None:
    """Duplicates change nothing but the split of a weight that is not unique."""
    problem = random_group_problem(7)
    twice = replace(
        problem, kernels=problem.kernels * 2, limits=np.concatenate([problem.limits] * 2)
    )
    once, both = problem.session().solve(), twice.session().solve()
    assert both.objective == pytest.approx(once.objective, rel=1e-7)
    split = both.weights[:3] + both.weights[3:]
    np.testing.assert_allclose(split, once.weights, rtol=1e-2, atol=1e-3 * once.weights.max())


@pytest.mark.parametrize("squared", [False, True])
def test_a_kernel_of_zeros_gets_no_weight_or_costs_nothing(squared: bool) -> None:
    """A zero kernel beside others changes nothing, and alone leaves the best constant."""
    problem = random_group_problem(8, squared=squared)
    zero = np.zeros_like(problem.kernels[0])
    more = replace(problem, kernels=[*problem.kernels, zero], limits=np.append(problem.limits, 1.0))
    optimum = problem.session().solve().objective
    assert more.session().solve().objective == pytest.approx(optimum, rel=1e-7)
    alone = replace(problem, kernels=[zero], limits=np.ones(1)).session().solve()
    constants = [problem.loss.value(np.full(problem.loss.n_rows, b)) for b in (-1.0, 1.0)]
    assert alone.objective == pytest.approx(min(constants), rel=1e-7)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("squared", [False, True])
def test_no_kernels_at_all(offset: str, squared: bool) -> None:
    """Without blocks the model is a constant."""
    problem = random_group_problem(9, offset=offset, squared=squared)
    none = replace(problem, kernels=[], limits=np.zeros(0))
    answer = none.session().solve()
    assert answer.weights.shape == (0,)
    assert answer.objective == pytest.approx(none.objective(answer), rel=1e-9)
    assert answer.gap <= 1e-7 * answer.objective


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
def test_a_kernel_and_its_limit_have_no_scale(scale: float) -> None:
    """A kernel times s with √s times the limit is the same block, with 1/s times the weight."""
    problem = random_group_problem(10, offset="none")
    scaled = replace(
        problem,
        kernels=[problem.kernels[0] * scale, *problem.kernels[1:]],
        limits=problem.limits * np.array([np.sqrt(scale), 1.0, 1.0]),
    )
    one, other = problem.session().solve(), scaled.session().solve()
    assert other.objective == pytest.approx(one.objective, rel=1e-7)
    np.testing.assert_allclose(other.weights[0] * scale, one.weights[0], rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("squared", [False, True])
def test_one_kernel_may_be_much_larger_than_the_others(scale: float, squared: bool) -> None:
    """With limits of 1 a kernel of another scale is dear or cheap, and the gap still closes."""
    problem = random_group_problem(11, squared=squared)
    problem = replace(
        problem, kernels=[problem.kernels[0] * scale, *problem.kernels[1:]], limits=np.ones(3)
    )
    answer = problem.session().solve()
    at_nothing = problem.loss.value(np.zeros(problem.loss.n_rows))
    assert problem.bound(answer) <= problem.objective(answer)
    assert answer.gap <= max(1e-6 * answer.objective, 1e-8 * at_nothing)


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    offset=st.sampled_from(OFFSETS),
    squared=st.booleans(),
    exponents=st.lists(st.floats(-9.0, 9.0), min_size=1, max_size=4),
    price=st.sampled_from([1e-3, 1.0, 1e3]),
    low_rank=st.booleans(),
)
def test_kernels_of_any_scales_have_an_answer(
    seed: int,
    kind: str,
    offset: str,
    squared: bool,
    exponents: list[float],
    price: float,
    low_rank: bool,
) -> None:
    """Side by side they end with a feasible r and a model whose objectives are near each other."""
    problem = random_group_problem(
        seed,
        kind,
        offset,
        squared=squared,
        price=price,
        n_kernels=len(exponents),
        low_rank=low_rank,
    )
    scaled = [10.0**e * K for e, K in zip(exponents, problem.kernels, strict=True)]
    problem = replace(problem, kernels=scaled, limits=np.ones(len(scaled)))
    answer, loss = problem.session().solve(), problem.loss
    at_nothing = loss.value(np.zeros(loss.n_rows))
    assert np.all((answer.response >= loss.lower) & (answer.response <= loss.upper))
    assert answer.bound - 1e-12 * at_nothing <= answer.objective <= at_nothing * (1 + 1e-12)
    assert problem.objective(answer) <= answer.objective + 1e-6 * at_nothing
    assert answer.gap <= 1e-3 * at_nothing


def test_where_no_digit_is_left_there_is_an_answer() -> None:
    """Kernels that differ by 10³⁰ give a model no worse than none, and a bound."""
    problem = random_group_problem(11, price=1e6)
    kernels = [s * K for s, K in zip((1e30, 1.0, 1e-30), problem.kernels, strict=True)]
    answer = replace(problem, kernels=kernels, limits=np.ones(3)).session().solve()
    at_nothing = problem.loss.value(np.zeros(problem.loss.n_rows))
    assert 0.0 <= answer.bound <= answer.objective <= at_nothing


@pytest.mark.parametrize("price", [1e-8, 1e3, 1e5])
def test_prices_may_be_small_or_large(price: float) -> None:
    """Without an active cone all u are at their caps; with a huge price the data are met."""
    problem = random_group_problem(12, offset="none", price=price)
    answer = problem.session().solve()
    at_nothing = problem.loss.value(np.zeros(problem.loss.n_rows))
    if price < 1.0:
        np.testing.assert_allclose(answer.u, problem.loss.variables.cap, rtol=1e-7)
        assert answer.objective == pytest.approx(at_nothing, rel=1e-7)
    else:
        assert answer.objective < 1e-1 * at_nothing
        assert answer.gap <= 1e-9 * at_nothing


def test_rows_without_a_price_have_no_response() -> None:
    """A row of weight 0 is out, and the others are as they would be without it."""
    problem = random_group_problem(13)
    weights = np.where(np.arange(problem.loss.n_rows) < 4, 0.0, problem.loss.upper)
    labels = problem.loss.target
    prices = np.where(np.arange(len(labels)) < 4, 0.0, np.maximum(weights, -problem.loss.lower))
    whole = replace(problem, loss=hinge(labels, prices))
    part = replace(
        problem,
        loss=hinge(labels[4:], prices[4:]),
        kernels=[K[4:, 4:] for K in problem.kernels],
    )
    answer = whole.session().solve()
    assert not answer.response[:4].any()
    assert answer.objective == pytest.approx(part.session().solve().objective, rel=1e-7)


@pytest.mark.parametrize("offset", OFFSETS)
def test_one_row(offset: str) -> None:
    """One row is met by a constant where that is free, otherwise by the kernel."""
    session = ConeSession(hinge(np.ones(1), np.ones(1)), offset=offset)
    session.add([GramBlock(np.full((1, 1), 4.0))], np.ones(1))
    answer = session.solve()
    assert answer.objective == pytest.approx(0.0 if offset == "free" else 0.5, abs=1e-8)
    assert answer.gap <= 1e-8


def test_one_class_with_a_free_offset_is_a_constant() -> None:
    """With labels all alike nothing but u = 0 has Σr = 0, and the offset meets all rows."""
    for label in (-1.0, 1.0):
        session = ConeSession(hinge(np.full(5, label), np.ones(5)), offset="free")
        session.add([GramBlock(np.eye(5))], np.ones(1))
        answer = session.solve()
        assert answer.intercept == label
        assert answer.objective == answer.bound == 0.0


def test_targets_inside_the_tube_need_no_model() -> None:
    """Where the loss without a model is 0, so are response and objective."""
    session = ConeSession(epsilon_insensitive(np.full(6, 0.1), np.ones(6), 0.5), offset="none")
    session.add([GramBlock(np.eye(6))], np.ones(1))
    answer = session.solve()
    assert answer.objective == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_allclose(answer.response, 0.0, atol=1e-7)


def test_a_coarse_answer_takes_fewer_steps() -> None:
    """With an accuracy it ends at that gap, sooner."""
    session = random_group_problem(14, n_rows=60, n_kernels=5).session()
    fine, coarse = session.solve(), session.solve(accuracy=1e-3)
    assert coarse.steps < fine.steps
    assert coarse.gap <= 1e-3 * abs(coarse.objective)
    assert coarse.bound <= fine.objective
    assert fine.bound <= coarse.objective


def test_what_is_refused() -> None:
    """Bad blocks, boxes without 0, hard margins and own margins are errors that say so."""
    session = ConeSession(hinge(np.array([1.0, -1.0]), np.ones(2)), offset="none")
    for block, limit, message in (
        (GramBlock(np.eye(3)), 1.0, "2 rows and columns"),
        (FactorBlock(np.ones((3, 1))), 1.0, "2 rows"),
        (GramBlock(np.full((2, 2), np.nan)), 1.0, "not finite"),
        (GramBlock(np.eye(2)), 0.0, "must be positive, got 0.0"),
    ):
        with pytest.raises(ValueError, match=message):
            session.add([block], [limit])
    session.add([GramBlock(np.eye(2))], np.ones(1))
    with pytest.raises(ValueError, match="no factor"):
        session.extend(0, np.ones((2, 1)))
    loss = session.loss
    with pytest.raises(ValueError, match="must contain 0"):
        ConeSession(replace(loss, lower=np.full(2, 0.5), upper=np.ones(2)), offset="none")
    with pytest.raises(ValueError, match="no hard margin"):
        ConeSession(replace(loss, upper=np.full(2, np.inf)), offset="none")
    with pytest.raises(ValueError, match="needs the square"):
        ConeSession(one_class(np.ones(2), 0.5), offset="none")


def test_a_time_limit_is_kept() -> None:
    """Out of time is an error of its own kind."""
    with pytest.raises(LimitError):
        random_group_problem(15).session().solve(time_limit=0.0)
