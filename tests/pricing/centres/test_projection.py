"""Variable projection: v(Z) and its gradient."""

import numpy as np
import pytest

from cgboost import RBF, Matern, Polynomial
from cgboost.kernels import Kernel, Normalized
from cgboost.losses import Hinge, LogLoss, SquaredError
from cgboost.pricing.centres.projection import Projection
from cgboost.pricing.centres.smoothing import smoothed

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0, 1.0, -1.0)
LIBRARIES: list[list[Kernel]] = [
    [RBF(0.3)],
    [Normalized(Polynomial(3, coef0=1.0))],
    [RBF(0.3), Normalized(Matern(0.2, nu=2.5)), Polynomial(2)],
]


@pytest.mark.parametrize("loss", [Hinge(), SquaredError(), LogLoss()], ids=repr)
@pytest.mark.parametrize("kernels", LIBRARIES, ids=len)
def test_the_gradient_is_that_of_differences(kernels: list[Kernel], loss) -> None:
    """The envelope theorem: ∂v/∂Z with the optimal coefficients held fixed, kernels weighted."""
    cost = RNG.uniform(0.5, 2.0, size=60)
    bound = loss.on(Y, cost) if loss == LogLoss() else loss.dual_box(Y, cost)
    weights = np.linspace(1.0, 2.0, len(kernels))
    projection = Projection(kernels, X, smoothed(bound), weights)
    centres = [RNG.normal(size=(count, 3)) for count in (4, 3, 0)[: len(kernels)]]
    found = projection.gradient(centres, projection.best(centres, decrease=1e-13))

    def value(p: int, place: tuple[int, int], shift: float) -> float:
        moved = [Z.copy() for Z in centres]
        moved[p][place] += shift
        return projection.best(moved, decrease=1e-13).objective

    for p, Z in enumerate(centres):
        assert found[p].shape == Z.shape
        for place in np.ndindex(Z.shape):
            slope = (value(p, place, 1e-5) - value(p, place, -1e-5)) / 2e-5
            assert found[p][place] == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_the_penalty_is_the_norm_in_the_kernels_space() -> None:
    """With all rows as centres v(Z) is the SVM's optimum: ½αᵀKα and the loss, for any α no less."""
    kernel, cost = RBF(0.5), np.full(60, 2.0)
    projection = Projection([kernel], X, smoothed(Hinge().dual_box(Y, cost)), np.ones(1))
    best, K = projection.best([X], decrease=1e-12), kernel(X, X)
    for _ in range(20):
        coef = best.coef + 0.1 * RNG.normal(size=60)
        other = 0.5 * coef @ K @ coef + projection.loss.value(K @ coef + best.intercept)
        assert best.objective <= other + 1e-6
