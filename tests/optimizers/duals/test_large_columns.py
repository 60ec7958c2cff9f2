"""Columns so large that they are free directions: how these are made, and certified."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.large_columns import LargeColumns, levelled
from cgboost.pricing import FeaturePricer
from tests.problems import Formulation, Problem, columns_of

LARGE = 1e4
"""Entries above which a column is large, here."""


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_graded_and_collinear_columns(penalty: str) -> None:
    """A quadratic kernel of raw features, of values from 1 to 1e13 and rank 6, is certified."""
    rng = np.random.default_rng(0)
    X = 1000.0 * rng.normal(size=(80, 2))
    labels = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5e6, 1.0, -1.0)
    K = (X @ X.T + 1.0) ** 2
    formulation = Formulation("hinge", penalty, "free", "free")
    problem = Problem(K, labels, np.ones(80), 0.0)
    master = formulation.master(problem.loss(formulation))
    result = ColumnGeneration(master, FeaturePricer(K), tol=1e-4, columns_per_round=5).run()
    assert result.gap <= 1e-4
    assert isinstance(master._live.session, InteriorSession)
    assert 0 < len(master._live.columns.large) <= 6
    plain = formulation.master(Problem(1e-10 * K, labels, np.ones(80), 0.0).loss(formulation))
    plain.add(columns_of(1e-10 * K))
    plain.solve()
    assert not len(plain._live.columns.large)


def test_directions_and_residuals_make_the_columns() -> None:
    """Restored coefficients give the output of directions and residuals, whatever came when."""
    rng = np.random.default_rng(1)
    store = ColumnStore(30, centred=True, large=LARGE)
    H = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 12)) * 1e7 + rng.normal(size=(30, 12))
    for some in np.split(H.T, 3):
        store.append(list(some))
    assert len(store.large) == 4
    rest = store.scaled(np.arange(12), np.arange(30)) * store.scales
    assert np.abs(rest).max() < LARGE
    assert not rest[:, store.large.pivots].any()
    coef, free = rng.normal(size=12), rng.normal(size=4)
    output = rest @ coef + store.large.basis @ free
    whole = store.combine(store.large.restore(coef, free))
    assert np.allclose(whole, output, atol=1e-6)


def test_couplings_give_the_scores_of_the_columns() -> None:
    """Scores of pivots and residuals determine all scores."""
    rng = np.random.default_rng(2)
    H = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 5)) * 1e6
    large = LargeColumns(20, LARGE)
    rest, _ = large.take(H, np.arange(5))
    r = rng.normal(size=20)
    w = H[:, large.pivots].T @ r
    in_directions, others, in_others = large.couplings()
    assert np.allclose(w @ in_directions, large.basis.T @ r)
    assert np.allclose((rest.T @ r)[others] + w @ in_others, (H.T @ r)[others])


def test_levelled_stays_in_the_box_and_hits_the_scores() -> None:
    """Rows at an end stay there, the others bring the scores to where they should be."""
    rng = np.random.default_rng(3)
    directions = np.linalg.qr(rng.normal(size=(40, 3)))[0]
    r = np.clip(rng.uniform(-0.3, 1.3, 40), 0.0, 1.0)
    r = np.where(rng.random(40) < 0.3, np.round(r), r)
    near = np.clip(r + 1e-6 * rng.normal(size=40) * (r * (1 - r)), 0.0, 1.0)
    wanted = directions.T @ r
    found = levelled(
        near, np.zeros(40), np.ones(40), directions, lambda at: directions.T @ at - wanted
    )
    assert np.abs(directions.T @ found - wanted).max() <= 1e-15
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    at_end = (near == 0.0) | (near == 1.0)
    assert np.array_equal(found[at_end], near[at_end])


def test_balanced_duals_have_the_scores_and_the_sum_of_the_optimum() -> None:
    """What a solver's tolerance leaves of Σr = 0, h·r = w of large columns is brought back."""
    rng = np.random.default_rng(4)
    store = ColumnStore(40, centred=True, large=LARGE)
    store.append(list(1e7 * rng.normal(size=(3, 40))))
    exact = rng.uniform(-0.5, 0.5, 40)
    exact -= exact.mean()
    pivots = store.whole(store.large.pivots)
    w, ends = pivots.T @ exact, np.ones(40)
    near = exact + 1e-6 * rng.normal(size=40)
    found = store.balanced(near, -ends, ends, w, summed=True)
    assert abs(near.sum()) > 1e-7
    assert abs(found.sum()) <= 1e-13
    np.testing.assert_allclose(pivots.T @ found, w, atol=1e-13 * np.abs(pivots).sum())
