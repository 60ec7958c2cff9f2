"""The scaling of second-order cones, through inner products alone."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.optimizers.cones.cone_blocks import BlockStore, FactorBlock, GramBlock
from cgboost.optimizers.cones.cone_scaling import Cones, ConeVector, Scaling
from tests.effort import examples

N_ROWS = 6


def cones_at(seed: int) -> tuple[BlockStore, ConeVector, ConeVector, ConeVector]:
    """A store of both kinds of blocks, two points inside the cones and a vector."""
    rng = np.random.default_rng(seed)
    store = BlockStore(N_ROWS)
    for kind in (0, 1, 0):
        H = rng.normal(size=(N_ROWS, 3))
        store.add(FactorBlock(H) if kind else GramBlock(H @ H.T), rng.uniform(0.5, 2.0))

    def inside(margin: float) -> ConeVector:
        body = store.images(rng.normal(size=N_ROWS))
        return ConeVector(np.sqrt(store.products(body, body)) + margin, body)

    free = ConeVector(rng.normal(size=3), store.images(rng.normal(size=N_ROWS)))
    return store, inside(rng.uniform(1e-3, 2.0)), inside(rng.uniform(1e-3, 2.0)), free


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6))
def test_both_points_have_one_image(seed: int) -> None:
    """W takes the multiplier to where W⁻¹ takes the slack, and W⁻¹ undoes W."""
    store, slack, dual, vector = cones_at(seed)
    cones = Cones(store)
    scaling = Scaling(cones, store, slack, dual)
    one, other = scaling.apply(dual), scaling.undo(slack)
    back = scaling.undo(scaling.apply(vector))
    size = np.abs(one.head).max()
    for left, right in ((one, other), (back, vector)):
        np.testing.assert_allclose(left.head, right.head, rtol=1e-6, atol=1e-8 * size)
        np.testing.assert_allclose(
            store.in_rows(left.body), store.in_rows(right.body), rtol=1e-6, atol=1e-6 * size
        )


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6))
def test_division_undoes_the_jordan_product(seed: int) -> None:
    """With x ∘ v for a point x inside its cone, dividing by x gives v."""
    store, point, _, vector = cones_at(seed)
    cones = Cones(store)
    found = cones.divided(point, cones.jordan(point, vector))
    np.testing.assert_allclose(found.head, vector.head, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        store.in_rows(found.body), store.in_rows(vector.body), rtol=1e-6, atol=1e-7
    )


@settings(max_examples=examples(50))
@given(seed=st.integers(0, 10**6))
def test_a_move_may_go_to_the_boundary(seed: int) -> None:
    """Just before the length found all points are inside their cones, just after one is not."""
    store, point, _, move = cones_at(seed)
    cones = Cones(store)
    length = cones.reach(point, move)

    def room(t: float) -> float:
        at = cones.combination((1.0, point), (t, move))
        return float((at.head - np.sqrt(store.products(at.body, at.body))).min())

    if np.isfinite(length):
        assert room(0.999 * length) > 0
        assert room(1.001 * length) < 0
    else:
        assert room(1e6) > 0
