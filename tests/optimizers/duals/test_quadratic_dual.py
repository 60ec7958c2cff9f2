"""The restricted dual of the 2-norm: its gap is that of the problem it is dual to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.optimizers.duals.quadratic_duals import at_zero, primal, random_loss, whole


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["hinge", "tube", "absolute"]),
    two_sided=st.booleans(),
    offset=st.sampled_from(["none", "penalized", "free"]),
)
def test_the_gap_is_primal_less_dual(seed: int, kind: str, two_sided: bool, offset: str) -> None:
    """At any r with Σr = 0 where it must be, gap and scale follow from both objectives."""
    rng = np.random.default_rng(seed)
    loss, columns = random_loss(rng, 8, kind, 1.0), rng.normal(size=(8, 5))
    columns -= columns.mean(axis=0) if offset == "free" else 0.0
    problem = whole(loss, columns, two_sided=two_sided, offset=offset)
    r = loss.feasible(rng.uniform(loss.lower, loss.upper), balanced=offset == "free")
    given_offset = 0.7 if offset == "free" else 0.0
    point = problem.point(r[problem.boxes.row], given_offset)
    scores = columns.T @ r
    coef = scores if two_sided else np.maximum(scores, 0.0)
    b = r.sum() if offset == "penalized" else given_offset
    above = primal(loss, columns, coef, b, charged=offset == "penalized")
    below = loss.gain(r) - 0.5 * float(coef @ coef)
    below -= 0.5 * r.sum() ** 2 if offset == "penalized" else 0.0
    assert point.gap == pytest.approx(above - below, abs=1e-10)
    assert point.scale == pytest.approx(max(1.0, abs(above)))
    assert point.relative_gap == point.gap / point.scale
    assert point.offset == pytest.approx(b)


def test_a_sum_that_must_be_0_and_is_not_widens_the_gap() -> None:
    """With a free offset an unbalanced r is no feasible point, and does not pass for one."""
    rng = np.random.default_rng(0)
    loss = random_loss(rng, 8, "hinge", 1.0)
    problem = whole(loss, rng.normal(size=(8, 5)), offset="free")
    r = problem.boxes.corners[:, 2]
    free, none = problem.point(r, 0.0), replace(problem, offset="none").point(r, 0.0)
    assert free.gap == pytest.approx(none.gap + abs(r.sum()))


@pytest.mark.parametrize("two_sided", [True, False])
def test_coefficients_that_do_not_belong_to_r_widen_the_gap(two_sided: bool) -> None:
    """The mismatch of φ(s) is what other coefficients lose in ½|α|² − α·s; never negative."""
    rng = np.random.default_rng(1)
    problem = whole(random_loss(rng, 8, "tube", 1.0), rng.normal(size=(8, 6)), two_sided=two_sided)
    exact, s = rng.normal(size=(2, 6))
    weights, phi = problem.block.weights, problem.coefficients
    lost = weights @ (0.5 * phi(s) ** 2 + 0.5 * phi(exact) ** 2 - phi(s) * exact)
    assert problem.mismatch(s, exact) == pytest.approx(lost)
    assert problem.mismatch(s, exact) > 0
    assert problem.mismatch(exact, exact) == 0


def test_the_unit_is_a_row_or_a_box() -> None:
    """It grows with the square of the columns; without any it is the inverse of a box."""
    rng = np.random.default_rng(2)
    loss, columns = random_loss(rng, 9, "hinge", 50.0), rng.normal(size=(9, 4))
    centred = columns - columns.mean(axis=0)
    expected = (centred**2).sum(axis=1).mean()
    assert whole(loss, columns).unit == pytest.approx(expected)
    assert whole(loss, 1e3 * columns).unit == pytest.approx(1e6 * expected)
    assert whole(loss, columns[:, :0]).unit == pytest.approx(1 / loss.variables.cap.mean())
    assert at_zero(whole(loss, columns[:, :0])).gap > 0
