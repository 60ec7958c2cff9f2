"""Shortlists: fewer passes, the same certificate."""

from typing import Any

import numpy as np

from cgboost import RBF, ColumnGeneration, KernelLibrary
from cgboost.generation.history import Result
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import KernelPool, StrataPricer
from cgboost.pricing.scans.candidates import Candidates, Held, PricingRequest
from cgboost.pricing.scans.shortlist import Shortlist


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
    own = [Held(np.array(indices, dtype=np.intp)) for indices in held]
    return PricingRequest(np.ones(1), OneNormEntry(True), own, limit)


def test_the_best_columns_that_are_not_held_are_offered() -> None:
    """Largest violation first, and at most as many as were asked for."""
    found, places = listed().search(asked([], []))
    assert places.tolist() == [2, 0]
    assert found.scores.tolist() == [-4.0, 3.0]
    found, places = listed().search(asked([4], [4]))
    assert (found.strata.tolist(), found.indices.tolist()) == ([0], [7])


def test_a_list_is_used_up_when_little_is_left() -> None:
    """Nothing is offered when the best violation is not more than what was said to be enough."""
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
