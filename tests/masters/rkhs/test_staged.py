"""The master of a run in stages."""

from typing import Any

import numpy as np
import pytest

from cgboost import RBF, KernelLibrary
from cgboost.generation.columns import Column
from cgboost.kernels.kernel_family import KernelFamily, KernelHypothesis
from cgboost.losses import Hinge
from cgboost.masters.rkhs.rkhs_master import RKHSMaster, StagedMaster
from cgboost.penalties import RKHS
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
KERNEL = RBF(0.5)
FAMILY = KernelFamily("rbf", KERNEL)


def columns(Z: np.ndarray, first: int) -> list[Column]:
    """Columns of free centres."""
    return [
        Column(
            values,
            key=("rbf", -first - j),
            hypothesis=KernelHypothesis(FAMILY, -1, z),
            stratum="rbf",
        )
        for j, (z, values) in enumerate(zip(Z, KERNEL(X, Z).T, strict=True))
    ]


def make() -> RKHSMaster:
    """A master of a support vector machine."""
    return RKHSMaster(Hinge().dual_box(Y, np.full(40, 2.0)), RKHS())


def test_the_columns_of_a_stage_replace_those_before() -> None:
    """Those that left keep their places with the coefficient 0, and do not count as held."""
    master: Any = StagedMaster(make)
    first, second = columns(X[:5] + 0.1, 1), columns(X[5:13] + 0.1, 11)
    assert master.solve().n_held == 0
    master.replace(first)
    early = master.solve()
    assert (early.left, early.n_held) == (0, 5)
    master.replace(second)
    state = master.solve()
    assert (state.left, state.n_held) == (5, 8)
    assert [column.key for column in state.columns] == [c.key for c in [*first, *second]]
    assert not state.coef[:5].any()
    fresh = make()
    fresh.add(second)
    assert state.objective == pytest.approx(fresh.solve().objective)
    np.testing.assert_allclose(
        state.output, KERNEL(X, X[5:13] + 0.1) @ state.coef[5:] + state.intercept, atol=1e-8
    )


def test_columns_can_be_added_to_a_stage_too() -> None:
    """``add`` keeps what is there; the warm start has the columns of the stage alone."""
    master: Any = StagedMaster(make)
    master.replace(columns(X[:5], 1))
    master.replace(columns(X[5:9], 11))
    lower = master.solve().objective
    master.add(columns(X[9:20], 31))
    state = master.solve()
    assert (state.left, state.n_held) == (5, 15)
    assert state.objective < lower
    keys = {column.key[1] for column in master.warm_start.columns}
    assert keys <= {*range(-14, -10), *range(-41, -30)}
    again: Any = StagedMaster(make)
    again.start_from(master.warm_start)
    assert again.solve().objective == pytest.approx(state.objective)


def test_the_bound_is_that_of_the_whole_space() -> None:
    """The bound of a stage is below the objective over all rows as centres."""
    master: Any = StagedMaster(make)
    pool = KernelPool(KernelLibrary({"rbf": KERNEL}), X)
    pricer = RKHSPricer(pool)
    whole = make()
    whole.add(columns(X, 1))
    optimum = whole.solve().objective
    for stage in (X[:3], X[:10] + 0.2, X[:30]):
        master.replace(columns(stage, 100 * len(stage)))
        state = master.solve()
        assert master.bound(state, pricer.price(state, 0)) <= optimum + 1e-8
        assert state.objective >= optimum - 1e-8
