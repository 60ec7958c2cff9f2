"""Pricing of whole RKHSs: exact scores, bounds on their rounding, and what makes columns."""

import numpy as np
import pytest

from cgboost import RBF, ColumnGeneration, KernelLibrary, Linear, On, Polynomial
from cgboost.generation.protocols import MasterState
from cgboost.kernels.base import Kernel
from cgboost.losses import Hinge
from cgboost.masters.rkhs.master import RKHSMaster
from cgboost.penalties import L2, RKHS
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs.pricer import RKHSPricer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0, 1.0, -1.0)
KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.5),
    "poly": Polynomial(2, coef0=1.0),
    "part": On(RBF(1.0), [0]),
}
WEIGHTS = {"rbf": 2.0, "part": 0.5}


def master_and_pricer(
    rows: np.ndarray = X, tol: float = 1e-6, **options: object
) -> tuple[RKHSMaster, RKHSPricer]:
    """A hinge over three kernels."""
    penalty = RKHS(WEIGHTS)
    pool = KernelPool(KernelLibrary(KERNELS), rows, **options)  # type: ignore[arg-type]
    return RKHSMaster(Hinge().on(Y, np.ones(60)), penalty), RKHSPricer(
        pool, penalty.weight, tol=tol
    )


@pytest.mark.parametrize("options", [{}, {"cache_size": 0.0, "block_size": 7}], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_excess_covers_all_functions(dtype: type, options: dict[str, object]) -> None:
    """The summed excess is ½Σ rᵀK_p r/w_p over the scale: never less, hardly more."""
    rows = X.astype(dtype)
    master, pricer = master_and_pricer(rows, **options)
    for _ in range(4):
        state = master.solve()
        priced = pricer.price(state, 3)
        r, wide = state.pseudo_response, rows.astype(np.float64)
        energy = sum(
            0.5 * r @ kernel(wide, wide) @ r / WEIGHTS.get(name, 1.0)
            for name, kernel in KERNELS.items()
            if name != "part"
        )
        part = RBF(1.0)(wide[:, :1], wide[:, :1])
        energy = (energy + 0.5 * r @ part @ r / 0.5) / state.gap_scale
        assert priced.exact
        assert energy * (1 - 1e-12) <= priced.total_excess <= energy * 1.25
        assert priced.max_excess <= priced.total_excess
        assert priced.n_evaluated == 180
        master.add(priced.columns)


def test_columns_are_new_and_in_float64() -> None:
    """No column comes twice, and float32 rows have columns of all digits."""
    master, pricer = master_and_pricer(X.astype(np.float32))
    seen: set[object] = set()
    for _ in range(5):
        columns = pricer.price(master.solve(), 6).columns
        assert 0 < len(columns) <= 6
        assert all(column.values.dtype == np.float64 for column in columns)
        assert not seen & {column.key for column in columns}
        seen |= {column.key for column in columns}
        master.add(columns)


def test_the_certificate_alone() -> None:
    """Without room for columns there is a pass, and no column."""
    master, pricer = master_and_pricer()
    priced = pricer.price(master.solve(), 0)
    assert priced.exact
    assert not priced.columns
    assert priced.total_excess > 0


def test_nothing_is_offered_once_the_span_is_whole() -> None:
    """A linear kernel has three columns; then the search is exact and empty."""
    pool = KernelPool(KernelLibrary({"linear": Linear()}), X)
    master = RKHSMaster(Hinge().on(Y, np.ones(60)))
    pricer = RKHSPricer(pool)
    master.add(pricer.price(master.solve(), 60).columns)
    assert len(master.bases["linear"]) == 3
    priced = pricer.price(master.solve(), 10)
    assert not priced.columns
    assert master.bound(master.solve(), priced) == pytest.approx(master.solve().objective)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_gap_closes_to_rounding(dtype: type) -> None:
    """Errors of float32 scores do not keep a gap open: the pool goes on in float64."""
    master, pricer = master_and_pricer(X.astype(dtype), tol=1e-10)
    result = ColumnGeneration(master, pricer, tol=1e-10, columns_per_round=6).run()
    assert result.gap <= 1e-10
    bounds = result.history["bound"]
    assert np.nanmax(bounds) <= result.objective * (1 + 1e-12)


def test_rounding_of_large_exponents_hides_no_gap() -> None:
    """Errors of γ‖x − z‖² grow with γ: near the end scores have more digits, if there are such."""
    master = RKHSMaster(Hinge().on(Y, np.ones(60)))
    pool = KernelPool(KernelLibrary({"narrow": RBF(1e8)}), X)
    result = ColumnGeneration(master, RKHSPricer(pool, tol=1e-6), tol=1e-6).run()
    can = pool.extended_scores(Y) is not None
    assert result.bound is not None
    assert result.bound <= result.objective * (1 + 1e-12)
    assert result.gap <= 1e-6 or not can


def test_zero_kernels_and_equal_ones() -> None:
    """A kernel that is 0 has no column; a kernel twice counts twice, as one of half the weight."""
    loss = Hinge().on(Y, np.ones(60))
    objectives = []
    for kernels, weights in (
        ({"a": RBF(0.5), "b": RBF(0.5), "zero": 0.0 * RBF(0.5)}, None),
        ({"a": RBF(0.5)}, {"a": 0.5}),
    ):
        penalty = RKHS(weights)
        pricer = RKHSPricer(KernelPool(KernelLibrary(kernels), X), penalty.weight, tol=1e-9)
        result = ColumnGeneration(
            RKHSMaster(loss, penalty), pricer, tol=1e-9, columns_per_round=8
        ).run()
        assert all(column.stratum != "zero" for column in result.columns)
        objectives.append(result.objective)
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-7)


def test_it_needs_a_master_of_functions() -> None:
    """The state of another master says nothing of spans."""
    zeros = np.zeros(60)
    entry = L2().entry(two_sided=True)
    state = MasterState((), np.zeros(0), 0.0, zeros, zeros, 0.0, zeros, entry=entry)
    with pytest.raises(TypeError, match="RKHSMaster"):
        RKHSPricer(KernelPool(KernelLibrary(KERNELS), X)).price(state, 1)
