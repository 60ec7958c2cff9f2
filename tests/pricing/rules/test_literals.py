"""All conditions on training rows."""

import numpy as np
from hypothesis import given, settings

from cgboost.generation.columns import evaluate
from cgboost.pricing.rules import Literals
from tests.effort import examples
from tests.pricing.rules.cases import enumerated, tables


@given(tables())
@settings(max_examples=examples(30), deadline=None)
def test_covers_are_values_of_conjunctions(case):
    """A column on the training rows equals its conjunction there, rows put together or not."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=20)
    for places, inside in enumerated(literals, 2):
        column = literals.column(places, 2.0)
        np.testing.assert_array_equal(column.values, inside / 2.0)
        np.testing.assert_array_equal(evaluate([column.hypothesis], X)[:, 0], inside / 2.0)
        held = literals.matrix[:, list(places)].all(axis=1)
        np.testing.assert_allclose(literals.sums(response) @ held, response[inside].sum())


def test_equal_rows_are_put_together():
    """Four kinds of rows are four rows of the matrix, with their numbers."""
    X = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (25, 1))
    literals = Literals(X, (False, True), max_bins=20)
    assert literals.matrix.shape == (4, 4)
    assert literals.sizes.tolist() == [25.0] * 4


def test_conditions_differ_and_are_not_constant():
    """A constant feature makes none, and a copy of another feature no more."""
    x = np.arange(6.0)
    literals = Literals(np.column_stack([np.ones(6), x, 2 * x]), (False,) * 3, max_bins=20)
    assert {condition.feature for condition in literals.conditions} == {1}
    assert len(literals) == 10


def test_bins_and_support_limit_conditions():
    """With four bins there are three thresholds; half of the rows leave those in the middle."""
    X = np.arange(40.0)[:, None]
    assert len(Literals(X, (False,), max_bins=4)) == 6
    kept = Literals(X, (False,), max_bins=40, min_support=20)
    assert all(20 <= kept.cover([j]).sum() < 40 for j in range(len(kept)))


def test_no_condition_at_all():
    """Constant features and features without a value leave nothing to search."""
    X = np.column_stack([np.ones(5), np.full(5, np.nan)])
    assert len(Literals(X, (False, True), max_bins=20)) == 0
