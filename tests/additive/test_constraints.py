"""Which sets of features terms and outputs may belong to, and the parts of a stage."""

import numpy as np

from cgboost.additive.feature_constraints import Constraints, choices
from cgboost.additive.stage import Stage
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import Intervals

GROUPS = Intervals(np.array([0.0]), -1.0, 1.0)


def term(number: int, *outputs: int) -> Transformation:
    """A function of an input that uses some outputs in its first leaf."""
    coef = np.zeros((3, 1 + max(outputs, default=-1)))
    coef[0, list(outputs)] = 1.0
    return Transformation(number, GROUPS, np.arange(3), np.arange(3.0), np.zeros(3), coef)


def stage(*terms: Transformation) -> Stage:
    """All of weight 1."""
    return Stage(5.0, [(1.0, own) for own in terms])


PAIRS = Constraints((frozenset([0, 1]), frozenset([0, 2]), frozenset([1, 2])))


def test_terms_of_the_same_sets_are_one_part() -> None:
    """Of pairs: every feature alone, then pairs that have met; the sum is the stage."""
    known = PAIRS.belongings([], 3)
    first = PAIRS.parts(stage(term(0), term(1), term(2), term(0)), known, 3)
    assert [[own.feature for _, own in part.terms] for part in first] == [[0, 0], [1], [2]]
    assert sum(part.intercept for part in first) == 5.0
    known = PAIRS.belongings(first, 3)
    second = PAIRS.parts(stage(term(0, 1), term(1, 0), term(1, 2), term(3)), known, 3)
    assert [[own.feature for _, own in part.terms] for part in second] == [[0, 1], [1], [3]]
    known = PAIRS.belongings([*first, *second], 3)
    np.testing.assert_array_equal(known[3:6], known[:3])
    np.testing.assert_array_equal(known[6:], [[1, 0, 0], [0, 0, 1], [1, 1, 0]])


def test_one_set_has_one_part() -> None:
    """That is no constraint: every output may be used by every term."""
    whole = stage(term(0), term(1, 0))
    known = Constraints().belongings([whole], 2)
    np.testing.assert_array_equal(known, np.ones((3, 1)))
    assert Constraints().parts(whole, known, 2) == [whole]
    ((regressors, members),) = choices(known, 2, 1)
    assert (regressors.tolist(), members.tolist()) == ([0], [0, 1, 2])


def test_outputs_of_monotone_features_are_used_by_none() -> None:
    """They are no inputs and no regressors, of the feature itself neither."""
    rules = Constraints((frozenset([0]), frozenset([1, 2])), {0: 1})
    known = rules.belongings([stage(term(0)), stage(term(1))], 3)
    assert not known[3].any()
    np.testing.assert_array_equal(known[4], known[1])
    found = {tuple(used.tolist()): own.tolist() for used, own in choices(known, 3, 2)}
    assert found == {(): [0], (1,): [1, 2, 4]}
