"""AdaBoost against transcriptions of the published algorithms and scikit-learn's."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier as Reference
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from cgboost import AdaBoostClassifier
from tests.estimators.boosting.boosting_data import breast_cancer, iris, overlapping, wine
from tests.estimators.data import three_classes, two_classes, without_ties

TREE = DecisionTreeClassifier(max_depth=1, random_state=0)
DEEPER = DecisionTreeClassifier(max_depth=2, random_state=0)


def odd_even():
    """Digits, pixels of few values, odd against even."""
    X, y = load_digits(return_X_y=True)
    return X[:600], 2 * (y[:600] % 2) - 1


BINARY = [breast_cancer, odd_even, overlapping]


class BestStump:
    """The stump with the fewest weighted errors, by trying every value of every feature."""

    def fit(self, X, y, sample_weight):
        total, best = sample_weight.sum(), np.inf
        for f, t in [(f, t) for f, x in enumerate(X.T) for t in np.unique(x)[:-1]]:
            wrong = sample_weight[np.where(X[:, f] > t, 1, -1) != y].sum()
            for sign, error in ((1, wrong), (-1, total - wrong)):
                if error < best - 1e-9 * total:
                    best, self.rule = error, (f, t, sign)
        return self

    def predict(self, X):
        f, t, sign = self.rule
        return np.where(X[:, f] > t, sign, -sign)


def transcribed(learner, X, y, n_rounds):
    """[N], p. 1, line by line: Σ α_m G_m(x) after every round, and all α and err."""
    w = np.full(len(y), 1 / len(y))
    votes, sums, alphas, errors = np.zeros(len(y)), [], [], []
    for _ in range(n_rounds):
        G = learner().fit(X, y, sample_weight=w).predict(X)
        err = w[y != G].sum() / w.sum()
        alpha = np.log((1 - err) / err)
        w = w * np.exp(alpha * (y != G))
        votes = votes + alpha * G
        sums, alphas, errors = [*sums, votes], [*alphas, alpha], [*errors, err]
    return np.array(sums), np.array(alphas), np.array(errors)


@pytest.mark.parametrize("data", BINARY)
@pytest.mark.parametrize("learner", [TREE, DEEPER, GaussianNB()], ids=str)
def test_equal_to_the_published_algorithm(learner, data):
    """With any classifier: α, err and Σ α G of every round, the latter twice our f."""
    X, y = data()
    X = without_ties(X)
    sums, alphas, errors = transcribed(lambda: clone(learner), X, y, 12)
    model = AdaBoostClassifier(learner, n_estimators=12, random_state=0).fit(X, y)
    n = model.n_iter_
    np.testing.assert_allclose(model.estimator_weights_, alphas[:n], rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.estimator_errors_, errors[:n], rtol=0, atol=1e-10)
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(2 * np.array(stages), sums[:n], rtol=0, atol=1e-10)
    np.testing.assert_allclose(alphas[n:], 0.0, atol=1e-12)  # guessing: nothing is added


@pytest.mark.parametrize("data", BINARY)
def test_default_stumps_are_the_published_algorithm_with_the_best_stump(data):
    """The same as with a stump that tries every threshold: |α| and Σ α G of every round."""
    X, y = data()
    X = without_ties(X[:, :10])
    sums, alphas, _ = transcribed(BestStump, X, y, 8)
    model = AdaBoostClassifier(n_estimators=8, max_bins=1000).fit(X, y)
    np.testing.assert_allclose(np.abs(model.estimator_weights_), alphas, rtol=0, atol=1e-10)
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(2 * np.array(stages), sums, rtol=0, atol=1e-10)


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize("data", [breast_cancer, overlapping, three_classes, iris, wine])
def test_equal_to_scikit_learn(data, learning_rate):
    """Weights, errors and labels of every round; SAMME with several classes."""
    X, y = data()
    X = without_ties(X)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, size=len(y))
    parameters = {"n_estimators": 15, "learning_rate": learning_rate, "random_state": 0}
    reference = Reference(TREE, **parameters).fit(X, y, weights)
    model = AdaBoostClassifier(TREE, **parameters).fit(X, y, weights)
    assert model.n_iter_ == len(reference.estimator_weights_)
    for name in ("estimator_weights_", "estimator_errors_"):
        np.testing.assert_allclose(getattr(model, name), getattr(reference, name), atol=1e-10)
    for ours, theirs in zip(model.staged_predict(X), reference.staged_predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_learner_worse_than_guessing_is_turned_round():
    """An error above ½ gives a negative α, and the loss falls all the same."""

    class Contrary(DecisionTreeClassifier):
        def predict(self, X):
            return -super().predict(X)

    X, y = overlapping()
    model = AdaBoostClassifier(Contrary(max_depth=1), n_estimators=10, random_state=0).fit(X, y)
    plain = AdaBoostClassifier(TREE, n_estimators=10, random_state=0).fit(X, y)
    assert np.all(model.estimator_weights_ < 0)
    assert np.all(model.estimator_errors_ > 0.5)
    assert np.all(np.diff(model.history_["objective"]) < 0)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier()], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_perfect_learner_ends_the_run(n_classes, estimator):
    """One round, error 0, every label right."""
    X = np.arange(12.0)[:, None]
    y = np.arange(12) // (12 // n_classes)
    model = AdaBoostClassifier(estimator, random_state=0).fit(X, y)
    if n_classes == 2 or estimator is not None:
        assert (model.n_iter_, model.stop_reason_) == (1, "unbounded")
        np.testing.assert_array_equal(model.estimator_errors_, [0.0])
    assert model.score(X, y) == 1.0


def test_nothing_better_than_guessing():
    """Where every stump errs on half of the weights the model has no column."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = AdaBoostClassifier().fit(X, [0, 1, 1, 0])
    assert (model.n_iter_, model.n_columns_, model.stop_reason_) == (0, 0, "no_column")
    assert len(model.estimator_weights_) == len(model.estimator_errors_) == 0
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)
    np.testing.assert_array_equal(model.feature_importances_, 0.0)


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_importances_are_shares_of_the_loss(data):
    """Of several classes p_k ∝ exp(f_k/(K − 1)), and the largest output decides."""
    X, y = data()
    model = AdaBoostClassifier(n_estimators=12).fit(X, y)
    table, outputs = model.columns_, model.decision_function(X)
    if "class" in table:
        np.testing.assert_allclose(outputs.sum(axis=1), 0.0, atol=1e-12)
        np.testing.assert_allclose(model.predict_proba(X), softmax(outputs / 2, axis=1))
        np.testing.assert_array_equal(model.predict(X), outputs.argmax(axis=1))
    gains = -np.diff(model.history_["objective"])
    shares = np.bincount(table["feature"][:12], weights=gains, minlength=X.shape[1])
    np.testing.assert_allclose(model.feature_importances_, shares / shares.sum())
    assert not hasattr(model, "estimators_")
    trees = AdaBoostClassifier(DEEPER, n_estimators=3).fit(X, y)
    assert trees.feature_importances_.sum() == pytest.approx(1.0)
    assert not hasattr(AdaBoostClassifier(GaussianNB()).fit(X, y), "feature_importances_")
