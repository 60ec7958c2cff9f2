"""Conditions and conjunctions on rows with missing and unknown values."""

import numpy as np
import pytest

from cgboost.generation.columns import evaluate
from cgboost.pricing.rules import Condition, Conjunction, Relation

X = np.array([[1.0], [2.0], [np.nan], [-1.0]])


@pytest.mark.parametrize(
    ("relation", "value", "held"),
    [
        (Relation.AT_MOST, 1.0, [1, 0, 0, 1]),
        (Relation.ABOVE, 1.0, [0, 1, 0, 0]),
        (Relation.IS, 2.0, [0, 1, 0, 0]),
        (Relation.IS_NOT, 2.0, [1, 0, 0, 1]),
        (Relation.MISSING, 0.0, [0, 0, 1, 0]),
        (Relation.PRESENT, 0.0, [1, 1, 0, 1]),
    ],
)
def test_a_condition_holds_where_it_should(relation, value, held):
    """No comparison holds for a missing value, and a negation holds for an unknown category."""
    assert Condition(0, relation, value).holds(X).tolist() == [bool(h) for h in held]


def test_a_conjunction_holds_where_all_conditions_do():
    """Its values are 1/scale there and 0 elsewhere."""
    above, at_most = Condition(0, Relation.ABOVE, 0.5), Condition(0, Relation.AT_MOST, 1.5)
    values = evaluate([Conjunction((above, at_most), 2.0), Conjunction((above,))], X)
    assert values.tolist() == [[0.5, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_importances_are_shares_of_conditions():
    """Two conditions on the first feature and one on the third."""
    conditions = [Condition(j, Relation.ABOVE, float(k)) for j, k in ((0, 0), (0, 1), (2, 0))]
    shares = Conjunction(tuple(conditions)).importances(4)
    np.testing.assert_allclose(shares, [2 / 3, 0, 1 / 3, 0])
