"""ThinnedEnsemble: few members, a certified program, predictions by the members kept alone."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, mean_pinball_loss

from cgboost import ThinnedEnsemble
from cgboost.estimators.thinning.fitting import columns_of, members_of, problem_of
from cgboost.estimators.thinning.problem import solve
from cgboost.exceptions import TrivialModelWarning
from cgboost.losses import Hinge
from tests.estimators.data import two_classes
from tests.estimators.thinning.thinning_data import CLASSIFIERS, REGRESSORS, classes, numbers
from tests.problems import Formulation, Problem


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, count):
    """Whether fitted or not, few members are left that are nearly as good as all; pickled, too."""
    X, y = classes(count)
    whole = clone(CLASSIFIERS[name]).fit(X[:160], y[:160])
    size = 1 if name == "voting" else 6
    for given in (whole, clone(whole)):
        model = ThinnedEnsemble(given, size=size, random_state=0)
        assert "members" not in repr(model)
        model.fit(X[:160], y[:160])
        assert model.n_members_ == len(model.members_) == len(model.weights_) <= size
        assert model.converged_
        assert model.dual_bound_ <= model.objective_ * (1 + 1e-9)
        assert set(model.predict(X)) <= set(y)
        assert model.score(X[160:], y[160:]) >= whole.score(X[160:], y[160:]) - 0.12
        assert model.decision_function(X).shape == ((len(X),) if count == 2 else (len(X), 3))
        shares = model.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)
    assert f"{model.n_members_} of " in repr(model)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), shares)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    """The same for numbers."""
    X, y = numbers()
    whole = clone(REGRESSORS[name]).fit(X[:160], y[:160])
    for given in (whole, clone(whole)):
        model = ThinnedEnsemble(given, size=6, random_state=0).fit(X[:160], y[:160])
        assert model.n_members_ <= 6
        assert model.converged_
        assert model.score(X[160:], y[160:]) >= whole.score(X[160:], y[160:]) - 0.1


@pytest.mark.parametrize("count", [2, 3])
def test_the_program_is_solved(count):
    """The certified objective is the optimum over all members by an independent solver."""
    X, y = classes(count)
    forest = RandomForestClassifier(15, random_state=0).fit(X, y)
    model = ThinnedEnsemble(forest, C=0.02).fit(X, y)
    members, places = members_of(forest), np.searchsorted(forest.classes_, y)
    ones, rng = np.ones(len(y)), np.random.RandomState(0)
    columns = columns_of(
        forest, members, X, places, weights=ones, training=True, is_given=True, aim="y", rng=rng
    )
    weights = np.ones(len(columns.rows))
    problem = problem_of(members, columns, X, places[columns.rows], weights, loss=Hinge(), aim="y")
    n, m = problem.H.shape
    answer = linprog(
        np.concatenate([np.ones(m), np.full(n, 0.02)]),
        A_ub=-np.hstack([problem.H.astype(float), np.eye(n)]),
        b_ub=-np.ones(n),
    )
    assert model.objective_ == pytest.approx(answer.fun, rel=1e-6)
    assert model.dual_bound_ == pytest.approx(answer.fun, rel=1e-5)
    assert model.rows_ == "out_of_bag"
    assert solve(problem, 0.02, tol=1e-8)[0].size == len(model.indices_)


@pytest.mark.parametrize("coef", ["free", "nonneg"])
@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
def test_functions_solve_any_program_of_lpboost(coef, offset):
    """Negated functions are weights of any sign, ±1 a penalized offset: CVXPY's optimum."""
    X, y = two_classes()
    forest = RandomForestClassifier(20, max_depth=3, random_state=0).fit(X, y)
    members = [lambda X, t=t: np.where(t.predict(X) == 1, 1.0, -1.0) for t in forest.estimators_]
    H, costs = np.stack([h(X) for h in members], axis=1), np.linspace(0.5, 2.0, 40)
    optimum = Problem(H, 2.0 * y - 1.0, 0.3 * costs, 0.0).optimum(
        Formulation("hinge", "l1", coef, offset)
    )
    if coef == "free":
        members += [lambda X, h=h: -h(X) for h in members]
    if offset == "penalized":
        members += [lambda X: np.ones(len(X)), lambda X: -np.ones(len(X))]
    model = ThinnedEnsemble(
        members,
        C=0.3 * costs.mean(),
        metric="accuracy",
        weights="program",
        fit_intercept=offset == "free",
    ).fit(X, y, costs)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
    assert model.dual_bound_ <= optimum * (1 + 1e-6)
    outputs = np.stack([h(X) for h in model.members_], axis=1) @ model.weights_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), outputs, atol=1e-6)


def test_a_size_with_a_cost_is_the_most_members():
    """They come in one by one; the objective falls to the optimum, the bound is of all members."""
    X, y = classes(3)
    forest = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X, y)
    thin = ThinnedEnsemble(forest, C=0.1, weights="program", leaf_values="keep")
    whole = clone(thin).set_params(estimator=FrozenEstimator(forest)).fit(X, y)
    objectives = []
    for size in (1, 3, 6):
        model = ThinnedEnsemble(forest, C=0.1, size=size, weights="program").fit(X, y)
        assert model.n_members_ <= size < whole.n_members_
        assert model.dual_bound_ <= whole.objective_ * (1 + 1e-9)
        objectives.append(model.objective_)
    assert objectives[0] > objectives[1] > objectives[2] > whole.objective_


def test_predictions_are_those_of_the_members_kept():
    """The weighted mean of the kept trees' probabilities, and nothing else.

    The score is that of members that have not seen a row, far below that on rows known by heart.
    """
    X, y = classes(3)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    model = ThinnedEnsemble(forest, C=0.05, weights="program").fit(X, y)
    kept = list(zip(model.indices_, model.weights_, strict=True))
    expected = sum(weight * forest.estimators_[j].predict_proba(X) for j, weight in kept)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-6)
    assert model.members_ == [forest.estimators_[j] for j in model.indices_]
    assert len(model._members.members) == model.n_members_ < 20
    model = ThinnedEnsemble(forest, size=8).fit(X, y)
    votes = np.zeros((len(y), 3))
    for j in model.indices_:
        out = np.setdiff1d(np.arange(len(y)), forest.estimators_samples_[j])
        votes[out] += forest.estimators_[j].predict_proba(X[out])
    known = votes.any(axis=1)
    own = accuracy_score(y[known], forest.classes_[votes[known].argmax(axis=1)])
    assert model.own_score_ == pytest.approx(own)
    assert model.score(X, y) > own


def test_boosting_aims_at_its_own_output_unless_there_is_a_metric():
    """With all stages the thinned model is the whole one; without an intercept it has none."""
    X, y = numbers()
    whole = REGRESSORS["gradient boosting"].fit(X, y)
    model = ThinnedEnsemble(whole, size=20).fit(X, y)
    assert model.target_ == "ensemble"
    error = np.sqrt(np.mean((model.predict(X) - whole.predict(X)) ** 2))
    assert error < 0.02 * whole.predict(X).std()
    assert ThinnedEnsemble(whole, size=5, metric="rmse").fit(X, y).target_ == "y"
    forest = REGRESSORS["forest"]
    assert ThinnedEnsemble(forest, size=5, target="ensemble").fit(X, y).target_ == "ensemble"
    for ensemble, target in ((forest, "y"), (whole, "y"), (whole, "ensemble")):
        model = ThinnedEnsemble(ensemble, size=5, target=target, fit_intercept=False).fit(X, y)
        assert not np.any(model.intercept_)
        assert model.set_params(fit_intercept=True).fit(X, y).intercept_ != 0


def test_quantiles():
    """A thinned forest for the 90 % quantile has a lower pinball loss than one for the mean."""
    X, y = numbers(400)
    y = y + np.random.default_rng(1).exponential(2.0, len(y))
    losses = {}
    for metric in ("rmse", "mae", "quantile"):
        model = ThinnedEnsemble(REGRESSORS["forest"], size=8, metric=metric, quantile=0.9)
        model.fit(X[:250], y[:250])
        losses[metric] = mean_pinball_loss(y[250:], model.predict(X[250:]), alpha=0.9)
    assert losses["quantile"] < min(losses["rmse"], losses["mae"])


def test_functions_and_lists():
    """Functions are members of a regression, or scores of two classes; models vote.

    They may know different classes, one for every pair: together they know all three. Members that
    say the same everywhere are kept with equal weights, and a warning.
    """
    X, y = classes(2)
    stumps = [
        lambda X, j=j, s=s: np.where(X[:, j] > 0, s, -s) for j in range(4) for s in (1.0, -1.0)
    ]
    model = ThinnedEnsemble(stumps, size=4, metric="accuracy").fit(X, y)
    assert model.score(X, y) > 0.7
    assert not hasattr(model, "predict_proba")
    assert ThinnedEnsemble(stumps, size=4).fit(X, X[:, 0]).n_members_ <= 4
    models = [LogisticRegression(C=C).fit(X, y) for C in (0.01, 0.1, 1.0)]
    voting = ThinnedEnsemble(models, size=2, random_state=0).fit(X, y)
    assert voting.predict_proba(X).shape == (len(X), 2)
    X, y = classes(3)
    pairs = [np.isin(y, pair) for pair in (["a", "b"], ["b", "c"], ["a", "c"])]
    members = [LogisticRegression().fit(X[rows], y[rows]) for rows in pairs]
    model = ThinnedEnsemble(members, size=3, training_rows=False).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(X, y) > max(member.score(X, y) for member in members)
    constants = [lambda X: np.zeros(len(X)), lambda X: np.ones(len(X))]
    with pytest.warns(TrivialModelWarning, match="no member predicts better than a constant"):
        assert ThinnedEnsemble(constants, size=1).fit(X, X[:, 0]).n_members_ == 1


def test_data_frames_and_weights():
    """Names of features are kept and checked, and the numbers are those of arrays.

    Rows of a large weight count: the class that they are of gains.
    """
    X, y = classes(3)
    frame = pd.DataFrame(X, columns=list("pqrs"))
    model = ThinnedEnsemble(CLASSIFIERS["forest"], size=5).fit(frame, pd.Series(y))
    plain = ThinnedEnsemble(CLASSIFIERS["forest"], size=5).fit(X, y)
    assert list(model.feature_names_in_) == list("pqrs")
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"p": "z"}))
    X, y = classes(2)
    plain = ThinnedEnsemble(CLASSIFIERS["AdaBoost"], size=3, random_state=0)
    heavy = clone(plain).fit(X, y, np.where(y == "a", 20.0, 1.0)).predict(X)
    assert np.mean(heavy == "a") > np.mean(plain.fit(X, y).predict(X) == "a")


def test_leaves_are_members():
    """Leaves have weights of their own, and their sum is nearly as good as the forest."""
    X, y = numbers()
    forest = RandomForestRegressor(20, max_leaf_nodes=12, random_state=0).fit(X[:160], y[:160])
    model = ThinnedEnsemble(forest, members="leaves", size=40).fit(X[:160], y[:160])
    tree, node = model.members_[0]
    assert forest.estimators_[tree].tree_.children_left[node] == -1
    assert model.n_members_ <= 40
    assert model.score(X[160:], y[160:]) > 0.7 * forest.score(X[160:], y[160:])
    labels = np.where(y > np.median(y), "high", "low")
    forest = RandomForestClassifier(20, max_leaf_nodes=12, random_state=0).fit(X, labels)
    assert ThinnedEnsemble(forest, members="leaves", size=40).fit(X, labels).score(X, labels) > 0.8


def test_each_model_is_that_of_a_fit():
    """The same members and weights as a fit with this size."""
    X, y = classes(3)
    model = ThinnedEnsemble(CLASSIFIERS["forest"], random_state=0)
    path = model.path(X, y, sizes=[10, 3, 0.2])
    np.testing.assert_array_equal(path.sizes, [3, 6, 10])
    for size, own in zip(path.sizes, path, strict=True):
        single = ThinnedEnsemble(CLASSIFIERS["forest"], size=int(size), random_state=0).fit(X, y)
        assert own.n_members_ == size
        assert pytest.approx(single.C_) == own.C_
        assert own.objective_ == pytest.approx(single.objective_, rel=1e-6)
        assert own.score(X, y) == pytest.approx(single.score(X, y), abs=0.03)
    assert not hasattr(model, "weights_")


def test_scores_choose():
    """The best model is that of the best score, on rows of one's own or out of bag.

    Training rows alone say nothing; and a path has a size at least.
    """
    X, y = numbers()
    model = ThinnedEnsemble(REGRESSORS["forest"], random_state=0)
    path = model.path(X[:160], y[:160], eval_set=(X[160:], y[160:]))
    assert path.best.score(X[160:], y[160:]) == path.scores.max()
    assert path.score_name == "R² (eval set)"
    own = model.path(X, y)
    assert own.score_name == "R² (out of bag)"
    assert own.best.own_score_ == own.scores.max()
    assert len(own) == len(own.table()["n_members"])
    assert "of 30 members" in repr(own)
    with pytest.raises(ValueError, match="at least one size"):
        model.path(X, y, sizes=[])
    path = ThinnedEnsemble(REGRESSORS["gradient boosting"]).path(X, y, sizes=[2, 4])
    with pytest.raises(ValueError, match="give path\\(\\) an eval_set"):
        path.best  # noqa: B018
