"""A stage is the one-pass additive model: trees of all inputs, then a stepwise regression."""

import numpy as np
import pytest

from cgboost.additive.builder import StageBuilder
from cgboost.additive.places.memory import MemoryAggregates, MemoryOutput
from cgboost.additive.stage import Stage
from cgboost.additive.statistics.passes import Passes
from cgboost.losses import SquaredError
from cgboost.tables.binning import intervals_of
from cgboost.tables.row_blocks import TableRows

RNG = np.random.default_rng(0)
N_ROWS = 3000
X = RNG.uniform(-1, 1, size=(N_ROWS, 3))
HELD = np.arange(N_ROWS) % 3 == 0
SUM = np.abs(X[:, 0]) + 2 * X[:, 1]
PRODUCT = X[:, 0] * X[:, 1]


def builder(**choices: bool) -> StageBuilder:
    """With few intervals."""
    return StageBuilder(20, **choices)


def sums(
    response: np.ndarray, *outputs: np.ndarray, weights: np.ndarray | None = None
) -> MemoryOutput:
    """Of rows with three features, of which the last is noise, and with outputs of stages."""
    counts = np.ones(N_ROWS) if weights is None else weights
    groups = [intervals_of(X[:, j], counts, 20) for j in range(3)]
    passes = Passes(TableRows(X), counts, HELD)
    rows = np.arange(N_ROWS)
    (found,) = MemoryAggregates(passes, SquaredError(), response, counts, groups, rows).parts
    found.outputs.values.extend(outputs)
    return found


def values_of(stage: Stage, *outputs: np.ndarray) -> np.ndarray:
    """What a stage is on all rows."""
    return stage(X, np.array(outputs).T.reshape(N_ROWS, len(outputs)))


def inputs(stage: Stage) -> list[int]:
    """Numbers of the inputs that a stage uses."""
    return [term.feature for _, term in stage.terms]


def test_an_additive_function_takes_one_stage() -> None:
    """Features that matter have a term with a weight near 1, noise has none."""
    there = sums(SUM)
    stage = builder().stage(there)
    assert inputs(stage) == [0, 1]
    np.testing.assert_allclose([weight for weight, _ in stage.terms], [1, 1], atol=0.1)
    there.append(stage)
    values = there.values(0)
    assert np.mean((values - SUM) ** 2) < 5e-3 * SUM.var()
    np.testing.assert_array_equal(values, stage(X, np.zeros((N_ROWS, 0))))


def test_the_combination_is_least_squares_on_the_terms() -> None:
    """On the training rows: residuals are orthogonal to every term and to 1."""
    stage = builder().stage(sums(SUM + PRODUCT))
    columns = [term(X[:, term.feature], np.zeros((N_ROWS, 0))) for _, term in stage.terms]
    left = (SUM + PRODUCT - values_of(stage))[~HELD]
    for column in (*columns, np.ones(N_ROWS)):
        assert abs(left @ column[~HELD]) < 1e-9 * N_ROWS


@pytest.mark.parametrize(("feed_forward", "regressors"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_earlier_outputs_are_used_as_they_may_be(feed_forward: int, regressors: int) -> None:
    """As inputs of their own, in leaves, both, or not at all."""
    maker = builder(feed_forward=bool(feed_forward), regressors=bool(regressors))
    output = X[:, 0] + X[:, 1]
    stage = maker.stage(sums(PRODUCT + output**2, output))
    assert (3 in inputs(stage)) == bool(feed_forward)
    used = [term.coef.any() for _, term in stage.terms if term.feature < 3]
    assert any(used) == bool(regressors)
    assert all(term.coef.shape[1] == regressors for _, term in stage.terms)


def test_a_link_takes_systematic_errors_off_the_sum() -> None:
    """Without one, a function of the sum stays what it was: the product of [P] Figure 2."""
    surface = X[:, 0] + X[:, 1] + 3 * PRODUCT
    errors = []
    for link in (False, True):
        maker = builder(feed_forward=False, regressors=False, link=link)
        stage = maker.stage(sums(surface))
        assert (stage.link is not None) == link
        errors.append(np.mean((surface - values_of(stage))[HELD] ** 2))
    assert errors[1] < 0.6 * errors[0]


def test_a_response_of_zero_makes_no_terms() -> None:
    """Nor does any other constant."""
    for level in (0.0, 0.1):
        stage = builder(link=True).stage(sums(np.full(N_ROWS, level)))
        assert not stage.terms
        np.testing.assert_allclose(stage.intercept, level)


def test_intervals_of_outputs_count_weights() -> None:
    """A row of weight 3 is three rows."""
    values, weights = RNG.normal(size=N_ROWS), RNG.integers(1, 4, size=N_ROWS).astype(float)
    there = sums(PRODUCT, values, weights=weights)
    builder().stage(there)
    found = there.groups[3]
    wanted = intervals_of(np.repeat(values, weights.astype(int)), np.ones(int(weights.sum())), 20)
    np.testing.assert_array_equal(found.edges, wanted.edges)
