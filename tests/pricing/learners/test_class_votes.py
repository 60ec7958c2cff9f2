"""Columns that vote for one of several classes."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.losses import Exponential
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.class_learners import (
    CODES,
    ClassLearners,
    ClassStumps,
    CodePlace,
    VotePricer,
    class_codes,
)
from cgboost.pricing.learners.learners import LearnerPricer
from tests.estimators.data import three_classes, two_classes
from tests.pricing.features.test_stumps import state_of


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_codes(n_classes):
    """A code sums to 0; its product with itself and others gives the two margins."""
    codes = class_codes(n_classes)
    np.testing.assert_allclose(codes.sum(axis=1), 0.0, atol=1e-15)
    margins = codes @ codes.T / n_classes
    np.testing.assert_allclose(np.diag(margins), 1 / (n_classes - 1))
    others = margins[~np.eye(n_classes, dtype=bool)]
    np.testing.assert_allclose(others, -1 / (n_classes - 1) ** 2)


def test_a_column_is_the_margins_of_its_parts():
    """The values on the master's rows are e_y·f/K for the outputs f that the parts add."""
    X, y = three_classes()
    pricer = VotePricer(ClassStumps(X, y, 3), X, y, 3)
    [column] = pricer.price(state_of(np.ones(len(y))), 1).columns
    assert [output for output, _ in column.parts] == [0, 1, 2]
    outputs = evaluate([hypothesis for _, hypothesis in column.parts], X)
    np.testing.assert_allclose(column.values, (class_codes(3)[y] * outputs).sum(axis=1) / 3)
    np.testing.assert_allclose(outputs.sum(axis=1), 0.0, atol=1e-15)


def test_a_learner_is_evaluated_once_for_all_outputs():
    """The places of one learner's code share its predictions."""

    class Counting:
        calls = 0

        def predict(self, X):
            self.calls += 1
            return np.zeros(len(X), dtype=int)

    learner = Counting()
    CODES.outputs(np.ones((2, 1)), [CodePlace(learner, k, 3) for k in range(3)])
    assert learner.calls == 1


def test_with_two_classes_it_is_the_pricer_of_labels():
    """Steps and margins are those of boosting with the labels −1 and 1."""
    X, y = two_classes(80)
    learner, signs = DecisionTreeClassifier(max_depth=2, random_state=0), 2.0 * y - 1.0

    def run(target, pricer):
        master = StagewiseMaster(Exponential().on(target, np.ones(80)))
        return ColumnGeneration(master, pricer, tol=0.0, max_rounds=11).run()

    votes = run(np.ones(80), VotePricer(ClassLearners(learner, X, y, random_state=0), X, y, 2))
    plain = run(signs, LearnerPricer(learner, X, repeats=True, tol=0.0, random_state=0))
    np.testing.assert_allclose(votes.coef, plain.coef, rtol=1e-10)
    np.testing.assert_allclose(votes.output, signs * plain.output, rtol=1e-10)


def test_guessing_is_not_offered():
    """A learner whose share of the weights is that of chance ends the search."""
    X, y = np.ones((3, 1)), np.arange(3)
    pricer = VotePricer(ClassStumps(X, y, 3), X, y, 3)
    assert not pricer.price(state_of(np.ones(3)), 1).columns
    assert not pricer.price(state_of(np.zeros(3)), 1).columns
    assert not pricer.price(state_of(np.array([1.0, 1.0, 2.0])), 0).columns
    assert len(pricer.price(state_of(np.array([1.0, 1.0, 2.0])), 1).columns) == 1


def test_importances_are_those_of_the_learner():
    """A learner without any raises an AttributeError, as scikit-learn does."""
    X, y = three_classes()
    tree = ClassLearners(DecisionTreeClassifier(max_depth=2), X, y)(np.ones(len(y)))
    np.testing.assert_array_equal(
        CodePlace(tree, 0, 3).importances(2), tree.estimator.feature_importances_
    )
    bayes = ClassLearners(GaussianNB(), X, y)(np.ones(len(y)))
    with pytest.raises(AttributeError, match="feature_importances_"):
        CodePlace(bayes, 0, 3).importances(2)
