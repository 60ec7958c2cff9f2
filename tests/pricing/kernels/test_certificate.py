"""What a kernel pool certifies: no less than exact arithmetic shows, and sharp where it matters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from cgboost import RBF, ColumnGeneration, KernelLibrary, Linear, Polynomial
from cgboost.generation.history import Result, StopReason
from cgboost.generation.protocols import EntryRule
from cgboost.kernels import Normalized, ProductKernel
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.masters.support_vector.support_vector_master import Offset
from cgboost.penalties.l1 import OneNormEntry
from cgboost.penalties.l1_ball import BudgetEntry
from cgboost.penalties.l2 import TwoNormEntry
from cgboost.pricing import KernelPool, StrataPricer
from tests.effort import examples
from tests.pricing.cases import state_of

LIBRARY = KernelLibrary(
    {
        "linear": Linear(),
        "quadratic": Polynomial(2, coef0=0.5),
        "both": Linear() + 0.1 * RBF(2.0),
        "rbf": RBF(0.05),
        "own": lambda A, B: np.exp(-((A[:, :1].astype(float) - 2.0 * B[:, 0]) ** 2)),
    }
)

RULES = [
    OneNormEntry(True),
    OneNormEntry(False),
    TwoNormEntry(True, 3.0),
    TwoNormEntry(False, 3.0),
    BudgetEntry(two_sided=True, largest=0.7, cut=1e-9, budget=2.0, scale=1.0),
]


def responses(rng: np.random.Generator, n_rows: int) -> list[np.ndarray]:
    """Pseudo-responses that change in some rows, by much or by next to nothing, or altogether."""
    response = rng.normal(size=n_rows) * (rng.uniform(size=n_rows) < 0.6)
    found = [response]
    for kind in rng.integers(4, size=6):
        response = response.copy()
        rows = rng.permutation(n_rows)[: rng.integers(1, n_rows)]
        if kind == 0:
            response[rows[:5]] = rng.normal(size=len(rows[:5]))
        elif kind == 1:
            response[rows] += 1e-12 * rng.normal(size=len(rows))
        elif kind == 2:
            response[rows] = 0.0
        else:
            response = 10.0 * rng.normal(size=n_rows)
        found.append(response)
    return found


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(RULES),
    dtype=st.sampled_from([np.float32, np.float64]),
    megabytes=st.sampled_from([0.0, 0.02, 10.0]),
    normalize=st.booleans(),
    n_features=st.sampled_from([2, 90]),
    tol=st.sampled_from([1e12, 1e-2, 1e-5]),  # the largest: float32 is good enough
)
def test_the_excess_is_never_below_that_of_exact_arithmetic(
    seed: int,
    rule: EntryRule,
    dtype: type,
    megabytes: float,
    normalize: bool,
    n_features: int,
    tol: float,
) -> None:
    """Over many passes, in float32 or as it gives way, the excess covers long double arithmetic."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=1.0, size=(35, n_features)).astype(dtype)
    library = KernelLibrary(LIBRARY.kernels, normalize=normalize)
    pool = KernelPool(library, X, cache_size=megabytes, block_size=8)
    pricer = StrataPricer(pool, tol=tol)
    wide = X.astype(np.longdouble)
    rows = {name: X if name == "own" else wide for name in library.names}  # taken as it is
    grams = [kernel(rows[name], rows[name]) for name, kernel in library.fit(X).items()]
    for response in responses(rng, len(X)):
        priced = pricer.price(state_of(response, rule), int(rng.integers(3)))
        exact = response.astype(np.longdouble)
        scores = [(gram.T.astype(np.longdouble) @ exact).astype(float) for gram in grams]
        excess = np.concatenate([rule.excess(own) for own in scores])
        assert priced.exact
        assert priced.max_excess >= excess.max() * (1 - 1e-15)
        assert priced.total_excess >= excess.sum() * (1 - 1e-13)


def test_float32_gives_way_where_it_hides_the_gap() -> None:
    """Scores far from pricing out are left in float32; near the boundary float64 decides.

    While these columns are few, they alone are scored in float64; then all columns are.
    """
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 40)).astype(np.float32)
    gram = RBF(0.01)(X.astype(float), X.astype(float))
    response = rng.normal(size=50)
    response /= np.abs(gram @ response).max()  # the largest score is 1
    pricer = StrataPricer(KernelPool(KernelLibrary({"rbf": RBF(0.01)}), X), tol=1e-6)
    rule = OneNormEntry(True)
    assert pricer.price(state_of(3.0 * response, rule), 0).max_excess > 2.0 + 1e-6
    assert pricer.price(state_of(response, rule), 0).max_excess < 1e-6
    assert pricer.price(state_of(3.0 * response, rule), 0).max_excess > 2.0 + 1e-6
    for _ in range(50):
        assert pricer.price(state_of(response, rule), 0).max_excess < 1e-6
    sharp = pricer.price(state_of(3.0 * response, rule), 0)
    assert sharp.max_excess == pytest.approx(2.0, abs=1e-9)


def test_float32_gives_way_where_sums_of_errors_hide_the_gap() -> None:
    """With a 2-norm, where all scores are tiny beside their errors, float64 decides."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 40)).astype(np.float32)
    response = 100.0 * np.linalg.svd(X.astype(float))[0][:, -1]  # all scores are 0
    rough, sharp = (
        StrataPricer(KernelPool(KernelLibrary({"linear": Linear()}), X), tol=tol).price(
            state_of(response, TwoNormEntry(True, 1.0)), 0
        )
        for tol in (1e3, 1e-6)
    )
    assert rough.total_excess > 1e-6
    assert sharp.total_excess < 1e-9


@pytest.mark.parametrize(
    ("master", "coef", "price", "offset"),
    [
        (OneNormMaster, "free", 1.0, "free"),
        (OneNormMaster, "nonneg", 1.0, "penalized"),
        (TwoNormMaster, "free", 1.0, "free"),
        (TwoNormMaster, "nonneg", 100.0, "free"),
        (TwoNormMaster, "nonneg", 10.0, "penalized"),
    ],
)
def test_a_run_in_float32_reaches_a_gap_that_float32_cannot_show(
    master: Any, coef: str, price: float, offset: Offset
) -> None:
    """On float32 digits it is certified to 10⁻⁶, with a bound that float64 confirms.

    With a 2-norm and α ≥ 0 few columns count, and their errors add up.
    """
    X, digit = load_digits(return_X_y=True)
    X, labels = (X[:300] / 16).astype(np.float32), np.where(digit[:300] % 2, 1.0, -1.0)
    library = KernelLibrary(
        {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True
    )
    loss = hinge(labels, np.full(300, price))

    def run(rows: np.ndarray, tol: float) -> Result:
        own = master(loss, coef=coef, offset=offset)
        pricer = StrataPricer(KernelPool(library, rows), tol=tol)
        return ColumnGeneration(own, pricer, tol=tol, columns_per_round=25).run()

    narrow, wide = run(X, 1e-6), run(X.astype(np.float64), 1e-9)
    assert narrow.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    assert narrow.gap <= 1e-6
    # columns of the master are rounded: with many of them the problem is another by that
    rounded = 1e-8 if master is OneNormMaster else 2 * np.finfo(np.float32).eps
    assert narrow.bound <= wide.objective * (1 + rounded)
    assert narrow.objective == pytest.approx(wide.objective, rel=2e-6)


class OwnCauchy(ProductKernel):
    """1 / (1 + ‖x − z‖²) from inner products, without a bound on its rounding."""

    def fill(self, out, products, x_norms, z_norms):
        """Values from squared distances."""
        np.multiply(products, -2.0, out=out)
        out += x_norms[:, None] + z_norms
        np.divide(1.0, 1.0 + np.maximum(out, 0.0), out=out)

    def diagonal_from_norms(self, norms):
        """One for every row."""
        return np.ones_like(norms)


class OwnLinear(OwnCauchy):
    """x·z, with an expansion, and no bound on its rounding either."""

    def fill(self, out, products, x_norms, z_norms):
        """The products themselves."""
        out[...] = products

    def diagonal_from_norms(self, norms):
        """‖x‖²."""
        return norms

    def expansion_cost(self, n_centres, n_features, n_rows):
        """That of two products with a vector."""
        return Linear().expansion_cost(n_centres, n_features, n_rows)

    def expanded(self, centres, weights):
        """As a linear kernel's."""
        return Linear().expanded(centres, weights)


def own_cauchy(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The same kernel as a function that calculates in the precision of its rows."""
    return 1.0 / (1.0 + np.maximum((A**2).sum(1)[:, None] + (B**2).sum(1) - 2.0 * A @ B.T, 0.0))


@pytest.mark.parametrize(
    ("kernel", "same"),
    [
        (OwnCauchy(), own_cauchy),
        (Normalized(OwnCauchy()), own_cauchy),
        (own_cauchy, own_cauchy),
        (OwnLinear(), lambda A, B: A @ B.T),
    ],
    ids=["products", "normalised", "function", "expansion"],
)
@pytest.mark.parametrize("megabytes", [0.0, 10.0])
@pytest.mark.parametrize("tol", [1e12, 1e-6])
def test_kernels_without_a_bound_on_rounding_lose_no_digits_of_float32(
    kernel, same, megabytes, tol
) -> None:
    """Far from the origin float32 has no digits left for distances: own kernels get float64."""
    rng = np.random.default_rng(3)
    X = (100.0 + rng.normal(size=(60, 8))).astype(np.float32)
    gram = same(X.astype(np.longdouble), X.astype(np.longdouble))
    pool = KernelPool(KernelLibrary({"own": kernel}), X, cache_size=megabytes, block_size=16)
    pricer, rule = StrataPricer(pool, tol=tol), OneNormEntry(True)
    for response in responses(rng, len(X)):
        exact = max(0.0, float(np.abs(gram @ response.astype(np.longdouble)).max()) - 1.0)
        terms = float((np.abs(gram) @ np.abs(response)).max())
        priced = pricer.price(state_of(response, rule), 2)
        assert exact - 1e-10 * terms <= priced.max_excess <= exact + 1e-6 * terms


@pytest.mark.parametrize("rule", RULES)
def test_values_kept_in_float32_certify_no_less_than_there_is(rule: EntryRule) -> None:
    """With room for all values in float32 alone, the excess is at least that of exact scores.

    And what is asked for with a tolerance is sharp: rounding widens it by no more than that.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    library = KernelLibrary({"rbf": RBF(0.02), "cubic": Polynomial(3, 0.02)}, normalize=True)
    pool = KernelPool(library, X, cache_size=1.2, block_size=32)
    assert pool._precision.kept == np.float32
    exact = KernelPool(library, X, cache_size=0.0, block_size=32)
    for response in responses(rng, 300):
        state = state_of(response, rule)
        found, wanted = (StrataPricer(own, tol=1e-9).price(state, 5) for own in (pool, exact))
        assert found.max_excess >= wanted.max_excess * (1 - 1e-12) - 1e-12
        assert found.total_excess == pytest.approx(wanted.total_excess, rel=1e-4, abs=1e-9)
        assert {c.key for c in found.columns} <= {c.key for c in wanted.columns} or (
            found.max_excess == pytest.approx(wanted.max_excess, rel=1e-4)
        )
        for column in found.columns:
            assert column.values.dtype == np.float64
            same = exact.column(list(pool.strata).index(column.key[0]), column.key[1])
            np.testing.assert_allclose(column.values, same.values, rtol=1e-12, atol=1e-14)


def test_values_of_many_kernels_of_ones_own_are_priced_together() -> None:
    """Scores from one block are K(·, x_j)·r, for functions that are not symmetric, all at once."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 4))
    kernels = {
        str(k): lambda A, B, k=k: np.cos((1 + k) * A[:, [k % 4]] - 2.0 * B[:, 0]) for k in range(30)
    }
    pool = KernelPool(KernelLibrary(kernels), X, block_size=16)
    for response in responses(rng, 50):
        priced = StrataPricer(pool).price(state_of(response, OneNormEntry(True)), 5)
        scores = np.concatenate([kernel(X, X).T @ response for kernel in kernels.values()])
        excess = np.maximum(np.abs(scores) - 1.0, 0.0)
        assert priced.max_excess == pytest.approx(excess.max(), rel=1e-9, abs=1e-9)
        assert priced.total_excess == pytest.approx(excess.sum(), rel=1e-9, abs=1e-9)
    assert len(pool._states[0].together) == 30
