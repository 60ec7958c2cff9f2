"""Scanning strata: who is asked when, honest counts, and columns that are unlike each other."""

import warnings
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from cgboost import RBF, CGBoostClassifier, ColumnGeneration, KernelLibrary, Linear, Polynomial
from cgboost.generation.history import Result
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.penalties.l1 import OneNormEntry
from cgboost.penalties.l2 import TwoNormEntry
from cgboost.pricing import FeaturePricer, KernelPool, StrataPricer
from cgboost.pricing.scans.candidates import (
    Candidates,
    HeldColumns,
    PricingRequest,
    ScoredPool,
    SearchablePool,
)
from cgboost.pricing.scans.scan import Priority, select_unlike
from cgboost.pricing.scans.shortlist import Shortlist
from tests.pricing import cases
from tests.pricing.cases import Plain

RNG = np.random.default_rng(0)
LIBRARY = KernelLibrary(
    {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True
)


def state_of(response: np.ndarray, *, slack: np.ndarray | None = None, two_sided: bool = True):
    """A state of a master with a 1-norm."""
    return cases.state_of(response, OneNormEntry(two_sided), slack)


def test_error_points_come_first_and_only_they_are_scored() -> None:
    """With error points that price out, no other column is evaluated: at first of all kernels."""
    X = np.random.default_rng(1).normal(size=(30, 4))
    slack = np.zeros(30)
    slack[[3, 8, 20]] = 1.0
    response = np.zeros(30)
    response[[3, 8, 20]] = [5.0, -4.0, 3.0]
    pricer = StrataPricer(KernelPool(LIBRARY, X), priority="stratified")
    passes = [pricer.price(state_of(response, slack=slack), 10) for _ in range(2)]
    assert passes[0].n_evaluated == 9
    assert passes[1].n_evaluated < 9
    for priced in passes:
        assert not priced.exact
        assert {column.key[1] for column in priced.columns} <= {3, 8, 20}
        assert np.isnan(priced.max_excess)


@pytest.mark.parametrize("scale", [0.9, 0.3])
def test_a_kernel_is_left_when_it_falls_behind(scale: float) -> None:
    """The first kernel has the turn while its best violation is half of the largest, or more."""
    X = np.random.default_rng(1).normal(size=(30, 4))
    library = KernelLibrary({"first": scale * Linear(), "other": Linear()})
    pricer = StrataPricer(KernelPool(library, X), priority="stratified")
    response = 5.0 * X[:, 0]
    passes = [pricer.price(state_of(response, slack=np.ones(30)), 3) for _ in range(2)]
    assert [priced.stratum for priced in passes] == ["first" if scale == 0.9 else "other"] * 2
    assert passes[0].n_evaluated == 60


def test_what_a_complete_scan_shows_decides_who_is_served() -> None:
    """A kernel that has come to violate more is found at the next complete scan, not before."""
    X = np.linalg.qr(np.random.default_rng(1).normal(size=(40, 2)))[0]
    library = KernelLibrary(
        {
            "first": lambda X, Z: 100 * X[:, :1] @ Z[:, :1].T,
            "other": lambda X, Z: 400 * X[:, 1:] @ Z[:, 1:].T,
        }
    )
    pricer = StrataPricer(KernelPool(library, X), priority="stratified", certify_every=4)
    responses = [X[:, 0]] + [X.sum(axis=1)] * 4
    passes = [pricer.price(state_of(r, slack=np.ones(40)), 3) for r in responses]
    assert [priced.stratum for priced in passes] == ["first"] * 4 + ["other"]
    assert [priced.exact for priced in passes] == [False] * 3 + [True, False]


def test_a_limit_on_columns_still_gives_a_mixture() -> None:
    """Cut short, a stratified run has columns of all kernels, where it had those of one."""
    X, y = load_digits(return_X_y=True)
    model = CGBoostClassifier(
        LIBRARY, C=3.0, penalty="l2", priority="stratified", max_columns=150, columns_per_round=10
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        counts = model.fit(X[:300] / 16, y[:300] % 2).columns_per_kernel_
    assert min(counts.values()) > 0
    assert sum(counts.values()) == 150


@pytest.mark.parametrize("master", [OneNormMaster, TwoNormMaster])
def test_strict_is_the_order_of_the_paper(master: type) -> None:
    """Every column is the best of the first group that has any, by the paper's section 5 alone.

    The groups: error points of the first kernel, all its points, error points of the second, …
    """
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    y = np.where(np.sin(3 * X[:, 0]) + X[:, 1] > 0, 1.0, -1.0)
    K = {"linear": X @ X.T, "quadratic": (X @ X.T) ** 2, "rbf": np.exp(-0.5 * cdist(X, X) ** 2)}
    kernels = {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF(0.5)}
    pool = KernelPool(KernelLibrary(kernels), X)
    served = set()

    class Watched(StrataPricer):
        def price(self, state: MasterState, limit: int) -> Priced:
            priced = super().price(state, limit)
            held = {column.key for column in state.columns}
            violation = {
                (name, j): state.entry.excess(np.array([state.pseudo_response @ K[name][:, j]]))[0]
                for name in K
                for j in range(40)
                if (name, j) not in held
            }
            errors = np.flatnonzero(state.slack > 0)
            for name in K:
                for number, rows in enumerate((errors, range(40))):
                    group = [violation[name, j] for j in rows if (name, j) in violation]
                    if max(group, default=0.0) > self.tol:
                        (column,) = priced.columns
                        served.add((name, number))
                        assert column.key[0] == name
                        assert violation[column.key] == pytest.approx(max(group), abs=1e-9)
                        return priced
            assert priced.exact
            return priced

    pricer = Watched(pool, priority="strict", tol=1e-6)
    loss = hinge(y, np.full(40, 5.0))
    ColumnGeneration(master(loss), pricer, tol=1e-6, columns_per_round=1).run()
    assert served == {(name, number) for name in K for number in (0, 1)}


def test_nothing_found_is_a_certificate_and_counts_every_column_once() -> None:
    """The certifying pass counts all columns, including those of error points, exactly once.

    Error points that show nothing are not scored again among all the columns.
    """
    X = np.random.default_rng(3).normal(size=(20, 3))
    slack = np.ones(20)
    priced = StrataPricer(KernelPool(LIBRARY, X), priority="stratified").price(
        state_of(np.full(20, 1e-6), slack=slack), 5
    )
    assert priced.exact
    assert not priced.columns
    assert priced.n_evaluated == 60
    assert priced.max_excess == 0.0
    pool = Plain(RNG.normal(size=(30, 30)))
    response, slack = np.full(30, 1e-6), np.zeros(30)
    slack[:12] = 1.0
    priced = StrataPricer(pool, priority="stratified").price(state_of(response, slack=slack), 3)
    assert priced.exact
    assert pool.scored == priced.n_evaluated == 30


@pytest.mark.parametrize("master", [OneNormMaster, TwoNormMaster])
def test_all_priorities_reach_the_same_objective(master: type) -> None:
    """The order of generation changes the path, never the certified optimum."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5))
    loss = hinge(np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0), np.ones(60))
    objectives, evaluated = {}, {}
    for priority in get_args(Priority):
        pricer = StrataPricer(KernelPool(LIBRARY, X), priority=priority, tol=1e-7)
        result = ColumnGeneration(master(loss), pricer, tol=1e-7, columns_per_round=2).run()
        assert result.gap <= 1e-7
        objectives[priority] = result.objective
        evaluated[priority] = result.history["evaluated"].mean()
    assert evaluated["full"] == 180
    for priority in ("stratified", "strict", "round_robin"):
        assert objectives[priority] == pytest.approx(objectives["full"], rel=1e-6)
        assert evaluated[priority] < 180


def test_a_stratified_run_goes_on_and_certifies_now_and_then() -> None:
    """Every certify_every-th pass scores all columns, yet takes its columns from the same group.

    A first kernel that never prices out hands on to the second, then to all points.
    """
    X = np.random.default_rng(1).normal(size=(30, 4))
    slack = np.zeros(30)
    slack[[3, 8, 20]] = 1.0
    response = 5.0 * slack
    pool = KernelPool(LIBRARY, X)
    pricer = StrataPricer(pool, priority="stratified", certify_every=3)
    passes = [pricer.price(state_of(response, slack=slack), 10) for _ in range(6)]
    assert [priced.exact for priced in passes] == [False, False, True] * 2
    assert [priced.n_evaluated <= 9 for priced in passes] == [True, True, False] * 2
    assert passes[2].n_evaluated == passes[5].n_evaluated == 90
    assert len({tuple(column.key for column in priced.columns) for priced in passes}) == 1
    X = np.random.default_rng(2).normal(size=(20, 3))
    library = KernelLibrary({"tiny": 1e-5 * Linear(), "rbf": RBF(1e-3)})
    slack = np.zeros(20)
    slack[:4] = 1.0
    priced = StrataPricer(KernelPool(library, X), priority="stratified").price(
        state_of(np.ones(20), slack=slack), 2
    )
    assert priced.stratum == "rbf"
    assert priced.n_evaluated == 8
    assert not priced.exact


def test_round_robin_stays_with_a_stratum_until_it_has_nothing() -> None:
    """It begins where columns were found last, scans that stratum alone, and comes around."""
    X = np.random.default_rng(2).normal(size=(20, 3))
    library = KernelLibrary({"tiny": 1e-5 * Linear(), "rbf": RBF(1e-3), "linear": Linear()})
    pricer = StrataPricer(KernelPool(library, X), priority="round_robin")
    passes = [pricer.price(state_of(np.full(20, 1.0)), 1) for _ in range(3)]
    assert [priced.stratum for priced in passes] == ["rbf"] * 3
    assert [priced.n_evaluated for priced in passes] == [40, 20, 20]
    response = X[:, 0] - X[:, 0].mean()  # the nearly constant columns of "rbf" have nothing here
    passes = [pricer.price(state_of(response), 1) for _ in range(2)]
    assert [priced.stratum for priced in passes] == ["linear"] * 2
    assert [priced.n_evaluated for priced in passes] == [40, 20]
    assert not any(priced.exact for priced in passes)
    assert pricer.price(state_of(np.full(20, 1e-9)), 1).exact


def test_unknown_priority_is_refused() -> None:
    """The error names the value and the choices."""
    choices = "'full', 'stratified', 'strict', 'round_robin'"
    with pytest.raises(ValueError, match=f"{choices}.*got 'random'"):
        StrataPricer(FeaturePricer(np.eye(2)).pool, priority="random")


def test_near_columns_come_along_only_with_others() -> None:
    """Within reach they fill up the round; where nothing prices out, nothing is offered."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(40, 60))
    scale = np.abs(H.T @ np.ones(40)).max()
    out = cases.state_of(np.full(40, 1.05 / scale), OneNormEntry(two_sided=True))
    plain = StrataPricer(FeaturePricer(H).pool).price(out, 10)
    near = StrataPricer(FeaturePricer(H).pool, reach=0.5).price(out, 10)
    assert 0 < len(plain.columns) < len(near.columns) <= 10
    assert [c.key for c in near.columns[: len(plain.columns)]] == [c.key for c in plain.columns]
    assert near.max_excess == plain.max_excess
    inside = cases.state_of(np.full(40, 0.95 / scale), OneNormEntry(two_sided=True))
    assert not StrataPricer(FeaturePricer(H).pool, reach=0.5).price(inside, 10).columns


# ---------------------------------------------------------------------------- any pool


def test_a_scored_pool_is_searched_like_any_other() -> None:
    """Parts, the whole, several columns and their values on a few rows are those of the pool."""
    H, response = RNG.normal(size=(20, 15)), RNG.normal(size=20)
    pool = ScoredPool(Plain(H))
    assert isinstance(pool, SearchablePool)
    assert not isinstance(Plain(H), SearchablePool)
    request = PricingRequest(response, OneNormEntry(True), [HeldColumns(np.array([2]))], 4)
    some = pool.search([0], np.array([1, 2, 9]), request)
    everything = pool.search([0], None, request)
    scores = np.abs(H.T @ response)
    assert some.max_excess == pytest.approx(max(0.0, scores[[1, 2, 9]].max() - 1))
    assert everything.max_excess == pytest.approx(scores.max() - 1)
    assert (some.n_evaluated, everything.n_evaluated) == (3, 15)
    strata, indices = np.zeros(3, dtype=np.intp), np.array([7, 0, 7])
    assert [column.key[1] for column in pool.columns(strata, indices)] == [7, 0, 7]
    rows = np.array([3, 5])
    np.testing.assert_array_equal(pool.values_on(strata, indices, rows), H[rows][:, indices].T)


def test_columns_found_on_a_few_rows_are_as_unlike_as_on_all() -> None:
    """Of many columns that are nearly the same, a pass takes one, also from a sample of rows.

    Whatever the rest are compared with, the largest score comes first.
    """
    kinds = RNG.normal(size=(3000, 4))
    H = np.repeat(kinds, 3, axis=1) + 1e-3 * RNG.normal(size=(3000, 12))
    response = kinds @ np.array([1.0, 0.9, 0.8, 0.7])
    priced = FeaturePricer(H).price(state_of(response), 4)
    assert sorted(column.key[1] // 3 for column in priced.columns) == [0, 1, 2, 3]
    assert priced.columns[0].key[1] == np.abs(H.T @ response).argmax()
    few = np.where(np.arange(3000) < 5, 10.0, 0.0)  # too few rows to tell columns apart
    priced = FeaturePricer(H).price(state_of(few), 3)
    assert priced.columns[0].key[1] == np.abs(H.T @ few).argmax()
    assert len({column.key[1] // 3 for column in priced.columns}) == len(priced.columns)


def test_a_twin_of_a_chosen_column_is_passed_over() -> None:
    """Of two nearly equal columns the better is taken, then a weaker one that is different.

    Columns that have nothing in common do not disturb each other.
    """
    apart = np.eye(8)[[0, 2, 4, 6]] - np.eye(8)[[1, 3, 5, 7]]
    chosen = select_unlike(apart, np.array([2.0, -5.0, 3.0, 0.5]), OneNormEntry(True), 4)
    np.testing.assert_array_equal(chosen, [1, 2, 0])
    rng = np.random.default_rng(0)
    first, other = rng.normal(size=(2, 50))
    values = np.stack([first, first + 1e-3 * rng.normal(size=50), other])
    scores = np.array([5.0, 4.9, 2.0])
    chosen = select_unlike(values, scores, OneNormEntry(True), 2)
    np.testing.assert_array_equal(chosen, [0, 2])


@given(seed=st.integers(0, 10**6), limit=st.integers(1, 6), quadratic=st.booleans())
def test_the_first_is_the_best_and_none_comes_twice(seed: int, limit: int, quadratic: bool) -> None:
    """The largest excess leads, choices are distinct, and nothing that prices out is invented."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 9))
    values[5] = values[6] = 0.0
    scores = 3 * rng.normal(size=12)
    entry = TwoNormEntry(True, 1.0) if quadratic else OneNormEntry(True)
    excess = entry.excess(scores)
    chosen = select_unlike(values, scores, entry, limit)
    assert len(set(chosen.tolist())) == len(chosen) <= limit
    if excess.max() > 0:
        assert chosen[0] == np.argmax(excess)
    else:
        assert chosen.size == 0


# ---------------------------------------------------------------------------- shortlists


class Counting(KernelPool):
    """A pool that counts complete passes."""

    passes = 0

    def search(self, strata: Any, indices: Any, request: PricingRequest) -> Candidates:
        """As the pool does."""
        self.passes += 1
        return super().search(strata, indices, request)


def listed(enough: float = 0.0) -> Shortlist:
    """Three columns of two strata, with scores 3, 2 and −4 for r = 1."""
    strata, indices = np.array([0, 0, 1]), np.array([4, 7, 4])
    return Shortlist(strata, indices, np.array([[3.0], [2.0], [-4.0]]), enough)


def asked(*held: list[int], limit: int = 2) -> PricingRequest:
    """A request of a 1-norm master that holds these columns of each stratum."""
    own = [HeldColumns(np.array(indices, dtype=np.intp)) for indices in held]
    return PricingRequest(np.ones(1), OneNormEntry(True), own, limit)


def test_the_best_columns_that_are_not_held_are_offered() -> None:
    """Largest violation first, and at most as many as were asked for."""
    found, places = listed().search(asked([], []))
    assert places.tolist() == [2, 0]
    assert found.scores.tolist() == [-4.0, 3.0]
    found, places = listed().search(asked([4], [4]))
    assert (found.strata.tolist(), found.indices.tolist()) == ([0], [7])
    # used up where the best violation is not more than what was said to be enough
    assert len(listed(enough=3.5).search(asked([], []))[1]) == 0
    assert len(listed(enough=2.5).search(asked([], []))[1]) > 0


def test_earlier_columns_stay_behind_newer_ones() -> None:
    """Columns of both lists, each once, and no more than there is room for."""
    later = Shortlist(np.array([0, 1]), np.array([7, 9]), np.array([[2.0], [1.5]]), 0.0)
    both = later.joined(listed(), 10)
    pairs = list(zip(both.strata.tolist(), both.indices.tolist(), strict=True))
    assert pairs == [(0, 7), (1, 9), (0, 4), (1, 4)]
    assert both.values.ravel().tolist() == [2.0, 1.5, 3.0, -4.0]
    assert len(later.joined(listed(), 3).strata) == 3


def test_the_optimum_is_certified_with_fewer_passes() -> None:
    """A run over many kernels ends at the same objective, certified, with fewer complete passes."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 3)), np.where(rng.uniform(size=60) < 0.5, -1.0, 1.0)

    def column(feature: int, gamma: float):
        return lambda A, B: np.exp(-gamma * (A[:, [feature]] - B[:, feature]) ** 2)

    kernels = {f"{j} {g}": column(j, g) for j in range(3) for g in 2.0 ** np.arange(-3, 5)}
    passes: dict[int, int] = {}
    results: dict[int, Result] = {}
    for shortlist in (0, 200):
        pool = Counting(KernelLibrary({**kernels, "rbf": RBF(0.5)}), X, cache_size=0.0)
        pricer = StrataPricer(pool, tol=1e-6, shortlist=shortlist)
        master = OneNormMaster(hinge(labels, np.ones(60)))
        results[shortlist] = ColumnGeneration(master, pricer, tol=1e-6, columns_per_round=10).run()
        passes[shortlist] = pool.passes
    assert all(result.gap <= 1e-6 for result in results.values())
    objectives = [result.objective for result in results.values()]
    np.testing.assert_allclose(objectives[0], objectives[1], rtol=3e-6)
    assert passes[200] < passes[0]
