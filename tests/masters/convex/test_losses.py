"""`ConvexMaster` with the losses of the package, certified."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import Huber, Loss
from cgboost.masters import ConvexMaster, OneNormMaster
from cgboost.pricing import FeaturePricer
from tests.losses.cases import LOSSES, target

N_ROWS = 24


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_every_loss_is_certified(loss: Loss) -> None:
    """The gap closes; the objective is loss and 1-norm; masters with a box agree."""
    rng = np.random.default_rng(1)
    H, y = rng.normal(size=(N_ROWS, 8)), target(loss, rng, N_ROWS)
    bound = loss.on(y, rng.uniform(0.5, 2.0, N_ROWS))
    master = ConvexMaster(bound)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-6, columns_per_round=4).run()
    assert result.gap <= 1e-6
    state = master.solve()
    value = bound.value(state.output) + np.abs(state.coef).sum()
    assert result.objective == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert result.bound <= result.objective
    if "dual_box" in loss.abilities and bound.box.curvature is None:
        other = OneNormMaster(bound.box, offset="free")
        found = ColumnGeneration(other, FeaturePricer(H), tol=1e-6, columns_per_round=4).run()
        assert found.objective == pytest.approx(result.objective, rel=1e-5)


def test_a_loss_needs_its_targets() -> None:
    """A loss without data, another number of rows, or a function without one is refused."""
    bound = Huber().on(np.zeros(3), np.ones(3))
    assert ConvexMaster(bound, n_rows=3).n_rows == 3
    with pytest.raises(ValueError, match=r"needs targets: give Huber\(delta=1.0\).on"):
        ConvexMaster(Huber(), n_rows=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_rows=4, but the loss is of 3 rows"):
        ConvexMaster(bound, n_rows=4)
    with pytest.raises(ValueError, match="n_rows is needed"):
        ConvexMaster(lambda f: f)
