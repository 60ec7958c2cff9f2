"""Pools and pricers on a few rows, with all of their columns by brute force.

A new pool or exact pricer is a case: ``tests/pricing/test_laws.py`` then compares its scores,
columns, choices, bounds and the optimum that it leads to with the enumeration.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from cgboost import RBF, KernelLibrary, Linear, Polynomial
from cgboost.arrays import blocks_of
from cgboost.generation.protocols import EntryRule, MasterState, Pricer
from cgboost.kernels import ProductKernel
from cgboost.parallel import ThreadExecutor
from cgboost.pricing import JointPricer, KernelPool, Pairs, StrataPricer
from cgboost.pricing.constrained.hinges import HingePool, ShapePool
from cgboost.pricing.rules import Literals, RuleList, RulePricer, all_rules
from cgboost.pricing.scans.candidates import ColumnPool
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.pricing.univariate.matrices import BlockFeatures
from cgboost.pricing.univariate.stumps import StumpPool
from tests.cases import Case
from tests.pricing.rules.cases import enumerated

RNG = np.random.default_rng(0)
N_ROWS = 25
X = np.round(RNG.normal(size=(N_ROWS, 4)), 1)
X[:, 2] = X[:, 2] > 0
X[:, 3] = np.where(RNG.random(N_ROWS) < 0.5, 0.0, X[:, 3])
CENTRES, SCALES = RNG.normal(size=4), RNG.uniform(0.5, 2.0, size=4)


def state_of(response: np.ndarray, rule: EntryRule, slack: np.ndarray | None = None) -> MasterState:
    """A state with a pseudo-response, an entry rule and error points (slack > 0)."""
    zeros = np.zeros(len(response))
    return MasterState(
        columns=(),
        coef=np.zeros(0),
        intercept=0.0,
        output=zeros,
        pseudo_response=response,
        objective=1.0,
        slack=zeros if slack is None else slack,
        entry=rule,
    )


# ---------------------------------------------------------------------------- pools


@dataclass(frozen=True, kw_only=True)
class PoolCase(Case[ColumnPool]):
    """A pool over the rows of X.

    Parameters
    ----------
    columns : callable
        For each stratum all of its columns, as the rows of an array, in any order.
    rows : ndarray
        What hypotheses are evaluated on.
    off : float
        By what its scores may be off, relative to Σ|r_i h_i|.
    """

    columns: Callable[[], list[np.ndarray]]
    rows: Any = field(default_factory=lambda: X)
    off: float = 1e-12


class Blocks:
    """Rows of a matrix, ten at a time."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        yield from ((rows, self.X[rows]) for rows in blocks_of(len(self.X), 10))


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "dense": lambda X: X,
    "by columns": np.asfortranarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "blocks": lambda X: BlockFeatures(Blocks(X), X.shape),
}


def stumps() -> np.ndarray:
    """Every ±1 column that a threshold at or below a value of X can make."""
    made = [
        np.where(feature > threshold, 1.0, -1.0)
        for feature in X.T
        for threshold in np.unique(feature)[:-1]
    ]
    return np.array([*made, np.ones(N_ROWS)])


def hinges(features: list[int], sign: float) -> np.ndarray:
    """max(0, ±(x − t)) over the range, t all values but that where it is 0."""
    made = []
    for x in sign * X[:, features].T:
        made += [np.maximum(0.0, x - t) / np.ptp(x) for t in np.unique(x)[:-1]]
    return np.array(made)


def wave(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A function that is not symmetric, and calculates in the precision of its rows."""
    return np.cos(A[:, :1] - 2.0 * B[:, 0])


class OddProducts(ProductKernel):
    """x·z (1 + ‖x‖²), which is made of products and yet not symmetric."""

    def fill(self, out: Any, products: Any, x_norms: Any, z_norms: Any) -> None:
        out[...] = products * (1.0 + x_norms)[:, None]

    def diagonal_from_norms(self, norms: Any) -> Any:
        return norms * (1.0 + norms)


LIBRARY = KernelLibrary(
    {
        "linear": Linear(),
        "quadratic": Polynomial(2, coef0=0.5),
        "rbf": RBF(0.3),
        "wide": RBF(0.05),
        "own": wave,
        "odd": OddProducts(),
    }
)


class Parts(ThreadExecutor):
    """Threads that divide even a small pool."""

    @property
    def here(self) -> bool:
        """As if elsewhere, for the division into parts; tasks run on threads all the same."""
        return False


def kernel_pool(
    dtype: type = np.float64, megabytes: float = 10.0, threads: int = 1, width: int = 1
) -> KernelPool:
    """All kernels, on so many copies of the features side by side."""
    executor = Parts(threads) if threads > 1 else None
    rows = np.tile(X, width).astype(dtype)
    return KernelPool(LIBRARY, rows, cache_size=megabytes, block_size=7, executor=executor)


def kernel_columns(width: int) -> list[np.ndarray]:
    """K(·, x_j) of all kernels and rows, from differences where products lose digits."""
    A = np.tile(X, width)
    squares = ((A[:, None] - A) ** 2).sum(axis=2)
    products = A @ A.T
    grams = [
        products,
        (products + 0.5) ** 2,
        np.exp(-0.3 * squares),
        np.exp(-0.05 * squares),
        np.cos(A[:, :1] - 2.0 * A[:, 0]),
        products * (1.0 + np.diag(products))[:, None],
    ]
    return [gram.T for gram in grams]


class Plain:
    """Features that belong to rows, without a search of their own, and how many were scored."""

    strata = ("feature",)

    def __init__(self, H: np.ndarray) -> None:
        self._features, self.scored = FeaturePool(H), 0

    def size(self, stratum: int) -> int:
        return self._features.size(stratum)

    def rows(self, stratum: int) -> Any:
        return np.arange(self.size(stratum))

    def scores(self, stratum: int, indices: Any, response: np.ndarray) -> np.ndarray:
        found = self._features.scores(stratum, indices, response)
        self.scored += len(found)
        return found

    def values(self, stratum: int, indices: Any) -> np.ndarray:
        return self._features.values(stratum, indices)

    def column(self, stratum: int, index: int) -> Any:
        return self._features.column(stratum, index)


POOLS = [
    *(
        PoolCase(
            name=f"features, {name}",
            make=lambda form=form: FeaturePool(form(X), centres=CENTRES, scales=SCALES),
            columns=lambda: [((X - CENTRES) / SCALES).T],
        )
        for name, form in FORMS.items()
    ),
    PoolCase(
        name="features, float32",
        make=lambda: FeaturePool(X.astype(np.float32)),
        columns=lambda: [X.astype(np.float32).astype(np.float64).T],
        rows=X.astype(np.float32),
    ),
    PoolCase(name="plain", make=lambda: Plain(X), columns=lambda: [X.T]),
    PoolCase(name="stumps", make=lambda: StumpPool(X), columns=lambda: [stumps()]),
    PoolCase(
        name="stumps, float32",
        make=lambda: StumpPool(X.astype(np.float32)),
        columns=lambda: [stumps()],
        rows=X.astype(np.float32),
    ),
    PoolCase(
        name="shapes",
        make=lambda: ShapePool(StumpPool(X), HingePool(X, [1, 3])),
        columns=lambda: [stumps(), hinges([1, 3], 1.0), hinges([1, 3], -1.0)],
    ),
    *(
        PoolCase(
            name=f"kernels, {dtype.__name__}, {megabytes} MB, {threads} threads, {width}",
            make=partial(kernel_pool, dtype, megabytes, threads, width),
            columns=partial(kernel_columns, width),
            rows=np.tile(X, width).astype(dtype),
            off=1e-12 if dtype is np.float64 else 1e-5,
        )
        for dtype, megabytes, threads, width in [
            (np.float64, 0.0, 1, 1),
            (np.float64, 0.01, 1, 1),
            (np.float64, 0.04, 3, 8),
            (np.float64, 10.0, 1, 1),
            (np.float32, 0.0, 1, 1),
            (np.float32, 0.04, 3, 1),
            (np.float32, 10.0, 1, 8),
        ]
    ),
]

# ---------------------------------------------------------------------------- pricers


@dataclass(frozen=True, kw_only=True)
class PricerCase(Case[Pricer]):
    """An exact pricer; its maker takes ``tol``.

    Parameters
    ----------
    columns : callable
        Key and values of all of its columns.
    off : float
        By what bounds may be above the exact ones.
    additive : bool
        Whether it serves rules that add violations up.
    complete : bool
        Whether all columns that price out are offered where there is room for them.
    counts : bool
        Whether it counts all columns.
    """

    columns: Callable[[], dict[Any, np.ndarray]]
    off: float = 1e-9
    additive: bool = True
    complete: bool = True
    counts: bool = True


def columns_of_pool(pool: ColumnPool) -> dict[Any, np.ndarray]:
    """Key and values of all columns, as the pool has them."""
    return {
        (name, j): values
        for stratum, name in enumerate(pool.strata)
        for j, values in enumerate(pool.values(stratum, np.arange(pool.size(stratum))))
    }


LABELS = np.arange(N_ROWS) % 3
PAIRS = Pairs(LABELS, 3)


def joint_pricer(tol: float = 1e-4) -> JointPricer:
    """Exact pricing of all stumps for all classes."""
    return JointPricer(PAIRS, [StrataPricer(StumpPool(X), tol=tol) for _ in range(3)], names="abc")


def joint_columns() -> dict[Any, np.ndarray]:
    """Key and values of every (stump, class)."""
    family = columns_of_pool(StumpPool(X))
    return {(k, key): PAIRS.spread(h, k) for k in range(3) for key, h in family.items()}


LITERALS = Literals(X, (False,) * 4, max_bins=4)
COSTS = np.array([0.0, 1.0, 1.5])


def rule_columns() -> dict[Any, np.ndarray]:
    """Every conjunction of at most two conditions, over what it costs."""
    return {p: inside / COSTS[len(p)] for p, inside in enumerated(LITERALS, 2)}


LISTED = all_rules(LITERALS, COSTS, np.inf)

PRICERS = [
    *(
        PricerCase(
            name=case.name,
            make=lambda tol=1e-4, case=case: StrataPricer(case.make(), tol=tol),
            columns=lambda case=case: columns_of_pool(case.make()),
            off=max(1e-10, 100 * case.off),
        )
        for case in POOLS
    ),
    PricerCase(
        name="joint",
        make=joint_pricer,
        columns=joint_columns,
        complete=False,
        but={"another_number_of_rows_is_refused": "its rows are pairs, as the master's"},
    ),
    PricerCase(
        name="rules",
        make=lambda tol=1e-4: RulePricer(LITERALS, COSTS, tol=0.1 * tol),
        columns=rule_columns,
        additive=False,
        complete=False,
        counts=False,
        but={
            "what_is_offered_is_the_best_of_all_columns": "a beam search answers while it finds any"
        },
    ),
    PricerCase(
        name="list of rules",
        make=lambda tol=1e-4: RuleList(LISTED),
        columns=lambda: {column.key: column.values for column in LISTED},
        but={
            "what_is_offered_is_the_best_of_all_columns": "all are offered at once",
            "nothing_is_offered_where_nothing_prices_out": "all are offered at once",
            "another_number_of_rows_is_refused": "its columns are given",
            "the_loop_ends_at_the_optimum_over_all_columns": "only 2-norms are bounded by a sum",
        },
    ),
]
