"""From inside the optimal face to a vertex, coordinate by coordinate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.optimizers.simplex.purification import Face, purified
from tests.effort import examples


def random_face(seed: int) -> Face:
    """Rows on their margin and off it, coordinates that can be moved along it, and some of 0."""
    rng = np.random.default_rng(seed)
    n_variables, n_coordinates = int(rng.integers(1, 30)), int(rng.integers(1, 20))
    slopes = rng.standard_normal((n_variables, n_coordinates))
    slopes[:, rng.random(n_coordinates) < 0.3] = slopes[:, [0]]  # columns that repeat another
    rate = rng.standard_normal(n_variables)
    rate[rng.random(n_variables) < 0.4] = 0.0
    priced = np.ones(n_coordinates, dtype=bool)
    priced[-1] = rng.random() < 0.5
    return Face(rng.standard_normal(n_coordinates), rate, slopes, priced)


@settings(max_examples=examples(200))
@given(seed=st.integers(0, 10**6))
def test_it_ends_on_a_vertex_of_the_face(seed: int) -> None:
    """Nothing crosses 0, the margin stays, and what is left makes a basis with the rows named."""
    face = random_face(seed)
    point, tight = purified(face)
    rate = face.rate + face.slopes @ (point - face.point)
    small = 1e-9 * (1.0 + np.abs(face.slopes).sum() * np.abs([*point, *face.point]).max())
    assert not np.any(face.priced & (point * face.point < 0))
    assert np.all(np.abs(rate[face.rate == 0.0]) <= small)
    assert np.all(rate * np.sign(face.rate) >= -small)
    assert np.all(np.abs(rate[tight]) <= small)
    used = point != 0.0
    bases = face.slopes[np.ix_(tight, used)]
    assert np.linalg.matrix_rank(bases) == len(tight)
    # a free offset alone may be left over where no row can stop it
    assert len(tight) == used.sum() or (not face.priced[-1] and not used[:-1].any())


def test_small_coordinates_go_first() -> None:
    """Of two columns that are alike the smaller one goes, and its share moves to the other."""
    slopes = -np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0]])
    face = Face(np.array([0.2, 0.7, 1.0]), np.zeros(2), slopes, np.ones(3, dtype=bool))
    point, tight = purified(face)
    assert point == pytest.approx([0.0, 0.9, 1.0])
    assert sorted(tight) == [0, 1]
