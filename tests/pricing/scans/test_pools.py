"""Any pool can be searched: no column is scored twice, candidates are compared on a few rows."""

from typing import Any

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import FeaturePricer, StrataPricer
from cgboost.pricing.features.features import FeaturePool
from cgboost.pricing.scans.candidates import Held, PricingRequest, ScoredPool, SearchablePool
from cgboost.pricing.scans.scan import TELLING_ROWS, TELLING_SHARE, _telling_rows
from tests.pricing.states import state_of

RNG = np.random.default_rng(0)


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

    def column(self, stratum: int, index: int) -> Column:
        return self._features.column(stratum, index)


def test_a_pass_scores_no_column_twice() -> None:
    """Error points that show nothing are not scored again among all the columns."""
    pool = Plain(RNG.normal(size=(30, 30)))
    response, slack = np.full(30, 1e-6), np.zeros(30)
    slack[:12] = 1.0
    state = state_of(response, OneNormEntry(True), slack)
    priced = StrataPricer(pool, priority="stratified").price(state, 3)
    assert priced.exact
    assert pool.scored == priced.n_evaluated == 30


def test_a_scored_pool_is_searched_like_any_other() -> None:
    """Parts, the whole, several columns and their values on a few rows are those of the pool."""
    H, response = RNG.normal(size=(20, 15)), RNG.normal(size=20)
    pool = ScoredPool(Plain(H))
    assert isinstance(pool, SearchablePool)
    assert not isinstance(Plain(H), SearchablePool)
    request = PricingRequest(response, OneNormEntry(True), [Held(np.array([2]))], 4)
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


def test_candidates_are_compared_on_rows_that_may_move() -> None:
    """Few rows: on all. Many: on some with r ≠ 0, or on some of all where these are too few."""
    assert _telling_rows(np.ones(TELLING_ROWS), 10) is None
    response = np.zeros(20 * TELLING_ROWS)
    response[::10] = 1.0
    rows = _telling_rows(response, 10)
    assert len(rows) == TELLING_ROWS
    assert (response[rows] == 1.0).all()
    assert len(_telling_rows(response, 800)) == 1600
    response[:] = 0.0
    response[: TELLING_SHARE * 10 - 1] = 1.0
    spread = _telling_rows(response, 10)
    assert len(spread) == TELLING_ROWS
    assert spread[0] == 0
    assert spread[-1] == len(response) - 1


def test_columns_found_on_a_few_rows_are_as_unlike_as_on_all() -> None:
    """Of many columns that are nearly the same, a pass takes one, also from a sample of rows."""
    kinds = RNG.normal(size=(3000, 4))
    H = np.repeat(kinds, 3, axis=1) + 1e-3 * RNG.normal(size=(3000, 12))
    response = kinds @ np.array([1.0, 0.9, 0.8, 0.7])
    priced = FeaturePricer(H).price(state_of(response, OneNormEntry(True)), 4)
    assert sorted(column.key[1] // 3 for column in priced.columns) == [0, 1, 2, 3]


def test_the_first_of_several_columns_is_the_best() -> None:
    """Whatever the rest are compared with, the largest score comes first."""
    H, response = RNG.normal(size=(3000, 40)), RNG.normal(size=3000)
    priced = FeaturePricer(H).price(state_of(response, OneNormEntry(True)), 5)
    assert priced.columns[0].key[1] == np.abs(H.T @ response).argmax()
