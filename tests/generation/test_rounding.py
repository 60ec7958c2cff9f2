"""What float64 leaves of a certificate is said, and no bound exceeds what a model costs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import MasterState
from cgboost.generation.rounding import (
    allowance,
    lost_digits,
    rounding_of,
    score_errors,
)
from cgboost.generation.termination import check_bound
from cgboost.losses import AbsoluteError, SquaredError
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L1, L2
from cgboost.pricing import FeaturePricer
from cgboost.tolerances import EPSILON, UNMOVED
from tests.effort import examples
from tests.generation.bound_fuzz import ALLOWED, fuzz


def test_no_bound_exceeds_what_any_model_costs() -> None:
    """In some rounds of hostile problems in all masters, no bound is above an upper value.

    ``python -m tests.generation.bound_fuzz`` makes 100000.
    """
    tally = fuzz(examples(2000))
    assert not tally.false
    assert tally.worst <= ALLOWED
    assert len(tally.rounds) >= 7


@settings(max_examples=examples(20))
@given(seed=st.integers(0, 10**6), size=st.floats(-6, 6))
def test_errors_of_scores_are_those_of_a_long_sum(seed: int, size: float) -> None:
    """A score differs from the exact one by less than the estimate times the length of the sum."""
    rng = np.random.default_rng(seed)
    h, r = 10.0**size * rng.normal(size=50), rng.normal(size=50)
    estimate = float(score_errors([Column(h, "h")], r)[0])
    exact = np.sum(h.astype(np.longdouble) * r.astype(np.longdouble))
    assert abs(float(exact - np.longdouble(h @ r))) <= 50 * estimate
    assert estimate == pytest.approx(EPSILON * np.abs(h) @ np.abs(r))


@pytest.mark.parametrize("penalty", [L1(), L2()], ids=repr)
def test_a_common_offset_of_a_million_shows_in_the_rounding(penalty: object) -> None:
    """The same problem with all targets moved by 1e6 has the same gap and more rounding in it."""
    rng = np.random.default_rng(0)
    H, y = rng.normal(size=(40, 10)), rng.normal(size=40)
    found = []
    for shift in (0.0, 1e6):
        loss = AbsoluteError().on(y + shift, np.ones(40))
        run = ColumnGeneration(SupportVectorMaster(loss, penalty), FeaturePricer(H), tol=1e-6)
        found.append(run.run())
    assert all(result.gap <= 1e-6 for result in found)
    assert found[0].rounding < 1e-13
    assert found[1].rounding > 1e4 * found[0].rounding
    assert "rounding" in found[1].summary()


def test_a_state_without_an_objective_has_no_estimate() -> None:
    """While rows are not met the objective is inf, and so is what rounding may do."""
    loss = SquaredError().on(np.array([1.0, 2.0]), np.ones(2))
    state = SupportVectorMaster(loss, L1()).solve()
    assert rounding_of(state) < 1e-12
    assert rounding_of(replace(state, objective=np.inf)) == np.inf


def test_columns_beyond_what_duals_can_tell_are_named() -> None:
    """Entries of 1e13 leave scores an error worth a word, and entries of 1 do not.

    With duals of 1e-5 and entries of 1e11 the ninth digit of a dual is an error of 0.1 in a score.
    """
    r = np.array([1.0, -1.0])
    assert lost_digits([Column(np.ones(2), "small")], r) == ""
    assert "entries up to 1e+13" in lost_digits([Column(np.full(2, 1e13), "large")], r)
    response = np.full(100, 1e-5)
    large = Column(np.full(100, 1e11), "large", None, "s")
    words = lost_digits([large], response, least=np.inf)
    assert "entries up to 1e+11" in words
    assert "right to 1e-09" in words
    assert "error of 1e-01" in words
    assert not lost_digits([replace(large, values=np.ones(100))], response, least=np.inf)
    assert not lost_digits([], response, least=np.inf)


def _of_constant(value: float) -> SupportVectorMaster:
    """A master of 44 weighted rows of one response, and no column, with the sizes of y itself."""
    weights = np.random.default_rng(0).uniform(0.05, 3.0, 44)
    loss = AbsoluteError().on(np.full(44, value), weights)
    master = SupportVectorMaster(loss, L1())
    solve = master.solve

    def solved(*, time_limit: float | None = None) -> MasterState:
        state = solve(time_limit=time_limit)
        assert state.magnitude == 0.0  # inside, y is less a constant
        sizes = loss.box.magnitude(state.output, state.pseudo_response)
        return replace(state, magnitude=sizes, scale=UNMOVED * sizes)

    master.solve = solved  # type: ignore[method-assign]
    return master


@pytest.mark.parametrize("value", [0.1, 5.0, -1e6])
def test_the_allowance_for_rounding_is_from_the_sizes_of_y_and_lets_no_false_bound_pass(
    value: float,
) -> None:
    """A loss of 0 allows a bound of some roundings of Σ w|y| above it, not twice these."""
    state = _of_constant(value).solve()
    weights = np.random.default_rng(0).uniform(0.05, 3.0, 44)
    sizes = float(weights.sum()) * (abs(value) + abs(state.intercept))
    assert state.magnitude == pytest.approx(sizes)
    assert allowance(state.magnitude) == pytest.approx(10.0 * EPSILON * sizes)
    check_bound(state.objective + 0.9 * allowance(sizes), state)
    with pytest.raises(BoundError, match="above the objective"):
        check_bound(state.objective + 2.0 * allowance(sizes), state)


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_a_bound_that_is_wrong_by_more_than_rounding_ends_the_run(share: float) -> None:
    """With a constant response, half the allowance above 0 is a gap of 0, twice it a BoundError."""
    master = _of_constant(3.3)
    master.bound = lambda state, priced: state.objective + share * allowance(state.magnitude)
    run = ColumnGeneration(master, FeaturePricer(np.random.default_rng(1).normal(size=(44, 3))))
    if share < 1.0:
        result = run.run()
        assert result.gap == 0.0
        assert result.stop_reason is StopReason.OPTIMAL
    else:
        with pytest.raises(BoundError):
            run.run()


def test_large_columns_make_no_gap_a_closed_one() -> None:
    """Entries of 1e16 leave sums no digit, but the answer may be far off: the gap stays open."""
    rng = np.random.default_rng(0)
    H, y = 1e16 * rng.normal(size=(40, 3)), rng.normal(size=40)
    master = SupportVectorMaster(AbsoluteError().on(y, np.ones(40)), L2())
    master.bound = lambda state, priced: 0.5 * state.objective
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-6).run()
    assert result.gap == pytest.approx(0.5, rel=0.1)
