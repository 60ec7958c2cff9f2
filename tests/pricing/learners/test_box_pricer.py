"""Scores of features for outputs that must not cross in a box: against the linear program."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cgboost.masters.quantiles.noncrossing_masters import BoxMaster
from cgboost.pricing.learners.box_pricer import BoxPricer
from cgboost.pricing.learners.joint_pricer import OutputRowPairs
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from tests.effort import examples


def least_limit(scores: np.ndarray, mu: np.ndarray, *, positive: bool) -> float:
    """The least λ with scores + differences of t up to λ for some |t| ≤ μ, by HiGHS."""
    count = len(scores)
    shift = np.zeros((count, count))  # columns: t of the pairs of neighbours, and λ
    for k in range(count - 1):
        shift[k, k], shift[k + 1, k] = -1.0, 1.0
    below = np.ones((count, 1))
    shift = shift[:, :-1]
    rows = [np.hstack([shift, -below])]
    sides = [-scores]
    if not positive:
        rows.append(np.hstack([-shift, -below]))
        sides.append(scores)
    bounds = [(-m, m) for m in mu] + [(None, None)]
    cost = np.append(np.zeros(count - 1), 1.0)
    solved = linprog(cost, np.vstack(rows), np.concatenate(sides), bounds=bounds)
    assert solved.status == 0
    return float(solved.fun)


@given(seed=st.integers(0, 10_000), positive=st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_the_score_is_the_least_limit_of_a_feasible_dual(seed: int, positive: bool) -> None:
    """The best run of outputs and the program over the multipliers t have the same value."""
    rng = np.random.default_rng(seed)
    (n, p), count = (12, 6), int(rng.integers(1, 6))
    X = np.round(rng.normal(size=(n, p)), 1) + 3.0
    X[:, -1] = 2.0  # which has no width
    centres, scales = rng.normal(size=p), rng.uniform(0.5, 2.0, p)
    pool = FeaturePool(X, centres=centres, scales=scales)
    mu = np.concatenate(
        [[0.0], rng.uniform(0, 2, count - 1) * (rng.random(count - 1) < 0.8), [0.0]]
    )
    responses = rng.normal(size=(n, count))
    responses += (np.diff(mu) - responses.sum(axis=0)) / n
    pricer = BoxPricer(OutputRowPairs(count, n), pool, np.zeros(0, dtype=np.intp))
    found = pricer._scores(responses, two_sided=not positive)
    h = (X - centres) / scales
    middle, half = (h.max(axis=0) + h.min(axis=0)) / 2, np.ptp(h, axis=0) / 2
    for j in range(p):
        scores = (h[:, j] - middle[j]) @ responses
        best = least_limit(scores, half[j] * mu[1:-1], positive=positive)
        np.testing.assert_allclose(found[j], best, atol=1e-7)


def test_features_come_with_a_column_for_every_output() -> None:
    """A master takes whole features, and the pricer finds none that it has or that cost nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    y = 5.0 * X[:, :3].sum(axis=1) + rng.normal(size=40)
    pool, pairs = FeaturePool(X), OutputRowPairs(2, 40)
    pricer = BoxPricer(pairs, pool, np.array([1]))
    master = BoxMaster([0.2, 0.7], y, np.ones(40), free_columns=pricer.columns(np.array([1])))
    found = pricer.price(master.solve(), 3).columns
    assert [column.output for column in found] == [0, 1, 0, 1]
    assert {column.hypothesis.index for column in found} == {0, 2}
    master.add(found)
    again = pricer.price(master.solve(), 100)
    assert not {column.hypothesis.index for column in again.columns} & {0, 1, 2}
