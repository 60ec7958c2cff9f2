"""Scanning strata: exact against brute force, priorities, and honest counts."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from cgboost import RBF, CGBoostClassifier, ColumnGeneration, KernelLibrary, Linear, Polynomial
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import FeaturePricer, KernelPool, StrataPricer
from cgboost.pricing.scans.scan import CANDIDATES
from tests.effort import examples
from tests.pricing import states

LIBRARY = KernelLibrary(
    {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True
)


def state_of(response: np.ndarray, *, slack: np.ndarray | None = None, two_sided: bool = True):
    """A state of a master with a 1-norm."""
    return states.state_of(response, OneNormEntry(two_sided), slack)


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6), limit=st.integers(1, 8), two_sided=st.booleans())
def test_full_pricing_equals_brute_force(seed: int, limit: int, two_sided: bool) -> None:
    """The best column, the largest and the summed excess are those of all the scores.

    Further columns come from the best few, unlike each other; all that price out if they fit.
    """
    rng = np.random.default_rng(seed)
    H, response = rng.normal(size=(9, 20)), rng.normal(size=9)
    priced = FeaturePricer(H).price(state_of(response, two_sided=two_sided), limit)
    scores = np.abs(H.T @ response) if two_sided else H.T @ response
    order = [j for j in np.argsort(-scores) if scores[j] > 1]
    found = [column.key[1] for column in priced.columns]
    assert found[:1] == order[:1]
    assert set(found) <= set(order[: CANDIDATES * limit])
    assert len(found) <= limit
    if len(order) <= limit:
        assert found == order
    assert priced.exact
    assert priced.n_evaluated == 20
    assert priced.max_excess == pytest.approx(max(0.0, scores.max() - 1))
    assert priced.total_excess == pytest.approx(np.maximum(scores - 1, 0).sum())


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


def test_the_next_kernel_comes_only_when_the_earlier_have_nothing() -> None:
    """A first kernel that never prices out hands on to the second, then to all points."""
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


def test_nothing_found_is_a_certificate_and_counts_every_column_once() -> None:
    """The certifying pass counts all columns, including those of error points, exactly once."""
    X = np.random.default_rng(3).normal(size=(20, 3))
    slack = np.ones(20)
    priced = StrataPricer(KernelPool(LIBRARY, X), priority="stratified").price(
        state_of(np.full(20, 1e-6), slack=slack), 5
    )
    assert priced.exact
    assert not priced.columns
    assert priced.n_evaluated == 60
    assert priced.max_excess == 0.0


@pytest.mark.parametrize("master", [OneNormMaster, TwoNormMaster])
def test_all_priorities_reach_the_same_objective(master: type) -> None:
    """The order of generation changes the path, never the certified optimum."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5))
    loss = hinge(np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0), np.ones(60))
    objectives, evaluated = {}, {}
    for priority in ("full", "stratified", "round_robin"):
        pricer = StrataPricer(KernelPool(LIBRARY, X), priority=priority, tol=1e-7)
        result = ColumnGeneration(master(loss), pricer, tol=1e-7, columns_per_round=2).run()
        assert result.gap <= 1e-7
        objectives[priority] = result.objective
        evaluated[priority] = result.history["evaluated"].mean()
    assert evaluated["full"] == 180
    for priority in ("stratified", "round_robin"):
        assert objectives[priority] == pytest.approx(objectives["full"], rel=1e-6)
        assert evaluated[priority] < 180


def test_a_stratified_run_certifies_now_and_then() -> None:
    """Every certify_every-th pass scores all columns, yet takes its columns from the same group."""
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
    with pytest.raises(ValueError, match="'full', 'stratified', 'round_robin'.*got 'random'"):
        StrataPricer(FeaturePricer(np.eye(2)).pool, priority="random")


def test_near_columns_come_along_only_with_others() -> None:
    """Within reach they fill up the round; where nothing prices out, nothing is offered."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(40, 60))
    scale = np.abs(H.T @ np.ones(40)).max()
    out = states.state_of(np.full(40, 1.05 / scale), OneNormEntry(two_sided=True))
    plain = StrataPricer(FeaturePricer(H).pool).price(out, 10)
    near = StrataPricer(FeaturePricer(H).pool, reach=0.5).price(out, 10)
    assert 0 < len(plain.columns) < len(near.columns) <= 10
    assert [c.key for c in near.columns[: len(plain.columns)]] == [c.key for c in plain.columns]
    assert near.max_excess == plain.max_excess
    inside = states.state_of(np.full(40, 0.95 / scale), OneNormEntry(two_sided=True))
    assert not StrataPricer(FeaturePricer(H).pool, reach=0.5).price(inside, 10).columns
