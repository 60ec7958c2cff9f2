"""Newton steps on a proximal problem: where they converge, it is solved."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.optimizers.active_set.active_set_method import RELEASED, ProximalProblem
from cgboost.optimizers.active_set.quadratic_dual import KeptProducts
from tests.effort import examples
from tests.optimizers.duals.quadratic_duals import at_zero, random_loss, whole


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["hinge", "tube", "absolute"]),
    two_sided=st.booleans(),
    offset=st.sampled_from(["none", "penalized", "free"]),
)
def test_where_nothing_moves_the_proximal_problem_is_solved(
    seed: int, kind: str, two_sided: bool, offset: str
) -> None:
    """With a strong proximal term the steps converge, and r is its own proximal point."""
    rng = np.random.default_rng(seed)
    loss, columns = random_loss(rng, 12, kind, 3.0), rng.normal(size=(12, 8))
    problem = whole(loss, columns, two_sided=two_sided, offset=offset)
    centre, products, proximity = at_zero(problem), KeptProducts(), 5.0
    attempt = ProximalProblem(problem, centre, proximity)
    for _ in range(40):
        attempt.step(products)
        if not attempt.move():
            break
    else:
        pytest.fail("the steps have not converged")
    end = attempt.result(converged=True)
    # r minimises ½p|r − r₀|² − (gain − pull·r) over its box: one gradient step comes back to it
    stiffness = proximity * problem.unit
    pull = end.output + end.offset
    there = centre.r - pull / stiffness
    slope = {"hinge": (0.0, 0.0), "tube": (loss.epsilon, -loss.epsilon), "absolute": (0.0, 0.0)}
    low, high = (there + (loss.target + bend) / stiffness for bend in slope[kind])
    nearest = np.where(high > 0, high, np.where(low < 0, low, 0.0))
    np.testing.assert_allclose(end.r, np.clip(nearest, loss.lower, loss.upper), atol=1e-9)
    if offset == "free":
        assert end.r.sum() == pytest.approx(proximity / problem.unit * end.offset, abs=1e-9)


def test_few_rows_leave_their_corners_at_once() -> None:
    """Of many rows that should be inside, a tenth go in one step, so that systems stay small."""
    rng = np.random.default_rng(3)
    loss, columns = random_loss(rng, 400, "hinge", 1.0), rng.normal(size=(400, 30))
    problem = whole(loss, columns, offset="none")
    attempt = ProximalProblem(problem, at_zero(problem), 1e-2)
    attempt.step(KeptProducts())
    assert attempt.move() == 400
    inside = np.count_nonzero(attempt._status % 2 == 1)
    assert inside == RELEASED * 400


def test_an_unsettled_result_is_a_feasible_point() -> None:
    """Steps that go out of the boxes end inside them, with the scores of what is left of r."""
    rng = np.random.default_rng(4)
    loss, columns = random_loss(rng, 40, "tube", 1e-2), rng.normal(size=(40, 5))
    problem = whole(loss, columns, offset="none")
    attempt = ProximalProblem(problem, at_zero(problem), 1e-8)
    products = KeptProducts()
    for _ in range(3):
        attempt.step(products)
        attempt.move()
    assert np.any(np.abs(attempt.r) > loss.upper)
    end = attempt.result(converged=False)
    assert np.all(np.abs(end.r) <= loss.upper)
    np.testing.assert_allclose(end.s, problem.scores(end.r))
