"""The dual of the group penalty: right optima, optimality conditions, degenerate kernels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cgboost.losses import epsilon_insensitive, hinge, one_class
from cgboost.optimizers.cones.cone_blocks import FactorBlock, GramBlock
from cgboost.optimizers.cones.cone_interior_point import ConeSession, ConeSolution
from solvers import LimitError
from tests.effort import examples
from tests.optimizers.duals.cone_problems import (
    KINDS,
    WITH_MASS,
    GroupProblem,
    random_group_problem,
)
from tests.problems import Problem

OFFSETS = ("none", "penalized", "free")
FORMS = [
    *((kind, offset, squared) for kind in KINDS for offset in OFFSETS for squared in (False, True)),
    *((kind, offset, True) for kind in WITH_MASS for offset in OFFSETS),
]


def check_feasible(problem: GroupProblem, answer: ConeSolution) -> None:
    """R is in its box, balanced where it has to be, and inside all cones."""
    r, loss, sizes = answer.response, problem.loss, problem.sizes(answer.response)
    assert np.all((r >= loss.lower) & (r <= loss.upper))
    np.testing.assert_allclose(
        loss.variables.response(answer.u), r, atol=1e-12 * problem.rows.price.max()
    )
    if problem.offset == "free":
        assert abs(r.sum()) <= 1e-12 * np.abs(r).sum()
    height = sizes.max() if problem.squared else 1.0
    assert np.all(sizes <= height * (1 + 1e-12))
    assert np.all(answer.weights >= 0)
    kernels = sizes[: len(problem.kernels)]
    share = answer.weights * problem.limits**2 * (height - kernels)
    assert share.sum() * height <= answer.gap + 1e-8 * max(1.0, abs(answer.objective))


@pytest.mark.parametrize(("kind", "offset", "squared"), FORMS)
@settings(max_examples=examples(9))
@given(seed=st.integers(0, 10**6), price=st.sampled_from([0.1, 1.0, 10.0]))
@example(seed=1, price=0.1)  # r became longer where it was made feasible
def test_the_optimum_is_that_of_clarabel(
    kind: str, offset: str, squared: bool, seed: int, price: float
) -> None:
    """For every loss, offset and penalty: objective and bound, computed anew, lie about it."""
    if (kind, offset) == ("one_class", "free"):
        return  # all rows have one sign
    problem = random_group_problem(
        seed, kind, offset, squared=squared, n_kernels=2 + seed % 3, price=price
    )
    answer, optimum = problem.session().solve(), problem.optimum()
    check_feasible(problem, answer)
    allowed = 3e-6 * max(abs(optimum), 1e-3)  # one draw of thousands ends at 2e-6, and says so
    assert problem.objective(answer) == pytest.approx(answer.objective, rel=1e-9, abs=1e-12)
    assert problem.bound(answer) >= answer.bound - 1e-9 * abs(optimum)
    assert problem.bound(answer) == pytest.approx(answer.bound, rel=1e-7, abs=1e-12)
    assert answer.objective == pytest.approx(optimum, abs=allowed)
    assert answer.bound == pytest.approx(optimum, abs=allowed)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("squared", [False, True])
def test_factors_give_what_grams_give(offset: str, squared: bool) -> None:
    """By factors, by Gram matrices and by both, in one solve each, the optimum is the same."""
    for number, kind in enumerate(KINDS):
        problem = random_group_problem(
            5 + number, kind, offset, squared=squared, low_rank=True, n_kernels=4
        )
        factors = [FactorBlock(H) for H in problem.factors]
        grams = [GramBlock(K) for K in problem.kernels]
        one, *others = (
            problem.session(blocks).solve().objective
            for blocks in (factors, grams, [*factors[:2], *grams[2:]])
        )
        assert others == pytest.approx([one] * 2, rel=1e-6)


def test_blocks_may_come() -> None:
    """A session that is extended between solves ends where one with all in it begins."""
    problem = random_group_problem(6, low_rank=True, n_kernels=4)
    blocks = [FactorBlock(H) for H in problem.factors]
    session = ConeSession(problem.loss, offset="free")
    session.add(blocks[:2], problem.limits[:2])
    first = session.solve()
    session.add(blocks[2:], problem.limits[2:])
    second = session.solve()
    assert first.objective > second.objective
    assert second.objective == pytest.approx(problem.session(blocks).solve().objective, rel=1e-7)


def with_kernels(
    problem: GroupProblem, kernels: list[np.ndarray], limits: np.ndarray | None = None
) -> GroupProblem:
    """The problem with other kernels, with limits of 1 if nothing is said."""
    return replace(
        problem, kernels=kernels, limits=np.ones(len(kernels)) if limits is None else limits
    )


@pytest.mark.parametrize("squared", [False, True])
def test_kernels_that_are_there_twice_are_zero_or_are_not_there(squared: bool) -> None:
    """Duplicates share a weight, zeros change nothing, without any the model is a constant."""
    problem = random_group_problem(7, squared=squared)
    kernels, limits = problem.kernels, problem.limits
    zero = np.zeros_like(kernels[0])
    once = problem.session().solve()
    twice = with_kernels(problem, kernels * 2, np.tile(limits, 2)).session().solve()
    assert twice.objective == pytest.approx(once.objective, rel=1e-7)
    split = twice.weights[:3] + twice.weights[3:]
    np.testing.assert_allclose(split, once.weights, rtol=1e-2, atol=1e-3 * once.weights.max())
    more = with_kernels(problem, [*kernels, zero], np.append(limits, 1.0)).session().solve()
    assert more.objective == pytest.approx(once.objective, rel=1e-7)
    alone = with_kernels(problem, [zero]).session().solve()
    constants = [problem.loss.value(np.full(problem.loss.n_rows, b)) for b in (-1.0, 1.0)]
    assert alone.objective == pytest.approx(min(constants), rel=1e-7)
    for offset in OFFSETS:
        none = with_kernels(replace(problem, offset=offset), [])
        answer = none.session().solve()
        assert answer.weights.shape == (0,)
        assert answer.objective == pytest.approx(none.objective(answer), rel=1e-9)
        assert answer.gap <= 1e-7 * answer.objective


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
def test_a_kernel_and_its_limit_have_no_scale(scale: float) -> None:
    """A kernel times s with √s times the limit is the same block, with 1/s times the weight.

    With limits of 1 a kernel of another scale is dear or cheap, and the gap still closes.
    """
    problem = random_group_problem(10, offset="none")
    kernels = [problem.kernels[0] * scale, *problem.kernels[1:]]
    limits = problem.limits * np.array([np.sqrt(scale), 1.0, 1.0])
    one, other = problem.session().solve(), with_kernels(problem, kernels, limits).session().solve()
    assert other.objective == pytest.approx(one.objective, rel=1e-7)
    np.testing.assert_allclose(other.weights[0] * scale, one.weights[0], rtol=1e-3)
    at_nothing = problem.loss.value(np.zeros(problem.loss.n_rows))
    for squared in (False, True):
        unlike = with_kernels(replace(problem, squared=squared, offset="free"), kernels)
        answer = unlike.session().solve()
        assert unlike.bound(answer) <= unlike.objective(answer)
        assert answer.gap <= max(1e-6 * answer.objective, 1e-8 * at_nothing)


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    form=st.sampled_from([form for form in FORMS if form[0] in KINDS]),
    exponents=st.lists(st.floats(-9.0, 9.0), min_size=1, max_size=4),
    price=st.sampled_from([1e-3, 1.0, 1e3]),
    low_rank=st.booleans(),
)
def test_kernels_of_any_scales_have_an_answer(
    seed: int,
    form: tuple[str, str, bool],
    exponents: list[float],
    price: float,
    low_rank: bool,
) -> None:
    """Side by side they end with a feasible r and a model whose objectives are near each other."""
    kind, offset, squared = form
    size = {"n_kernels": len(exponents), "low_rank": low_rank}
    problem = random_group_problem(seed, kind, offset, squared=squared, price=price, **size)
    scaled = [10.0**e * K for e, K in zip(exponents, problem.kernels, strict=True)]
    problem = with_kernels(problem, scaled)
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
    answer = with_kernels(problem, kernels).session().solve()
    at_nothing = problem.loss.value(np.zeros(problem.loss.n_rows))
    assert 0.0 <= answer.bound <= answer.objective <= at_nothing


@pytest.mark.parametrize("price", [1e-8, 1e-3, 1e2, 1e3, 1e5])
def test_prices_may_be_small_or_large(price: float) -> None:
    """Without an active cone all u are at their upper bound; with a huge price the data are met."""
    problem = random_group_problem(12, offset="none", price=price)
    answer = problem.session().solve()
    check_feasible(problem, answer)
    at_nothing = problem.loss.value(np.zeros(problem.loss.n_rows))
    if price < 1e-3:
        np.testing.assert_allclose(answer.u, problem.loss.variables.costs, rtol=1e-7)
        assert answer.objective == pytest.approx(at_nothing, rel=1e-7)
    elif price > 1e2:
        assert answer.objective < 1e-1 * at_nothing
        assert answer.gap <= 1e-9 * at_nothing


def test_rows_without_a_price_have_no_response() -> None:
    """A row of weight 0 is out, and the others are as they would be without it."""
    problem = random_group_problem(13)
    rows = problem.rows
    free = replace(rows, price=np.where(np.arange(len(rows.price)) < 4, 0.0, rows.price))
    part = Problem(rows.H[4:], rows.target[4:], rows.price[4:], 0.2)
    answer = replace(problem, rows=free).session().solve()
    assert not answer.response[:4].any()
    fewer = replace(problem, rows=part, kernels=[K[4:, 4:] for K in problem.kernels])
    assert answer.objective == pytest.approx(fewer.session().solve().objective, rel=1e-7)


def test_rows_that_need_no_model_or_one_function() -> None:
    """One row, one class with a free offset, and targets inside the tube, in numbers by hand."""
    for offset in OFFSETS:
        session = ConeSession(hinge(np.ones(1), np.ones(1)), offset=offset)
        session.add([GramBlock(np.full((1, 1), 4.0))], np.ones(1))
        answer = session.solve()
        assert answer.objective == pytest.approx(0.0 if offset == "free" else 0.5, abs=1e-8)
        assert answer.gap <= 1e-8
    for label in (-1.0, 1.0):
        session = ConeSession(hinge(np.full(5, label), np.ones(5)), offset="free")
        session.add([GramBlock(np.eye(5))], np.ones(1))
        answer = session.solve()
        assert answer.intercept == label
        assert answer.objective == answer.bound == 0.0
    session = ConeSession(epsilon_insensitive(np.full(6, 0.1), np.ones(6), 0.5), offset="none")
    session.add([GramBlock(np.eye(6))], np.ones(1))
    answer = session.solve()
    assert answer.objective == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_allclose(answer.response, 0.0, atol=1e-7)


def test_a_coarse_answer_takes_fewer_steps_and_no_time_is_an_error() -> None:
    """With an accuracy it ends at that gap, sooner."""
    session = random_group_problem(14, n_rows=60, n_kernels=5).session()
    fine, coarse = session.solve(), session.solve(accuracy=1e-3)
    assert coarse.steps < fine.steps
    assert coarse.gap <= 1e-3 * abs(coarse.objective)
    assert coarse.bound <= fine.objective
    assert fine.bound <= coarse.objective
    with pytest.raises(LimitError):
        session.solve(time_limit=0.0)


def test_what_is_refused() -> None:
    """Bad blocks, boxes without 0, hard margins and own margins are errors that say so."""
    session = ConeSession(hinge(np.array([1.0, -1.0]), np.ones(2)), offset="none")
    loss = session.loss
    for block, limit, message in (
        (GramBlock(np.eye(3)), 1.0, "2 rows and columns"),
        (FactorBlock(np.ones((3, 1))), 1.0, "2 rows"),
        (GramBlock(np.full((2, 2), np.nan)), 1.0, "not finite"),
        (GramBlock(np.eye(2)), 0.0, "must be positive, got 0.0"),
    ):
        with pytest.raises(ValueError, match=message):
            session.add([block], [limit])
    session.add([GramBlock(np.eye(2))], np.ones(1))
    for wrong, message in (
        (replace(loss, lower=np.full(2, 0.5), upper=np.ones(2)), "must contain 0"),
        (replace(loss, upper=np.full(2, np.inf)), "no hard margin"),
        (one_class(np.ones(2), 0.5), "needs the square"),
    ):
        with pytest.raises(ValueError, match=message):
            ConeSession(wrong, offset="none")
