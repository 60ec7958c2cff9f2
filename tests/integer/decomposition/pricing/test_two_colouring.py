"""Two-colourings against enumeration."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cgboost.integer.decomposition.pricing.two_colouring import two_colouring

EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=9)


@given(edges=EDGES)
def test_colours(edges: list[tuple[int, int, bool]]) -> None:
    """A colouring keeps to every edge, and where none is found there is none."""
    first, second, different = (np.array([edge[k] for edge in edges], dtype=int) for k in range(3))
    found = two_colouring(5, first, second, different.astype(bool))

    def keeps(colours: tuple[bool, ...]) -> bool:
        return all((colours[a] != colours[b]) == other for a, b, other in edges)

    if found is None:
        assert not any(keeps(each) for each in product((False, True), repeat=5))
    else:
        assert keeps(tuple(found.tolist()))
