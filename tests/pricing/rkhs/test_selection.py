"""The choice of centres is orthogonal matching pursuit in each RKHS."""

import numpy as np
import pytest

from cgboost import RBF
from cgboost.pricing.rkhs.selection import CentresOfKernel, select_centres

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))


def candidates(scale: float = 1.0) -> tuple[np.ndarray, np.ndarray, CentresOfKernel]:
    """Of one kernel, before any column: g = K r and d = K(x, x)."""
    gram, r = scale * RBF(0.5)(X, X), RNG.normal(size=len(X))
    return gram, gram @ r, CentresOfKernel(gram @ r, np.diag(gram).copy(), gram.__getitem__)


def test_each_choice_gains_most_after_those_before() -> None:
    """As by projecting on the span of the chosen anew each time."""
    gram, g, own = candidates()
    chosen = [place for _, place in select_centres([own], 8)]
    for count in range(8):
        held = chosen[:count]
        inverse = np.linalg.pinv(gram[np.ix_(held, held)])
        residual = g - gram[:, held] @ inverse @ g[held]
        length = np.diag(gram) - np.einsum("ij,jk,ik->i", gram[:, held], inverse, gram[:, held])
        length[held] = np.inf
        gains = residual**2 / length
        assert gains[chosen[count]] == pytest.approx(gains.max())


def test_kernels_compete() -> None:
    """The kernel of the larger gains is served first, and the choice ends where nothing is left."""
    _, _, small = candidates(1e-6)
    _, _, large = candidates()
    first = select_centres([small, large], 3)
    assert {kernel for kernel, _ in first} == {1}
    assert select_centres([], 3) == []


def test_the_same_centre_twice_is_taken_once() -> None:
    """What the others leave nothing of is no column."""
    own = CentresOfKernel(np.ones(3), np.ones(3), lambda place: np.ones(3))
    assert len(select_centres([own], 3)) == 1
