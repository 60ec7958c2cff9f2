"""Fitted models as columns, and a threshold for each group: optima over all thresholds."""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from cgboost import ConstrainedBoostClassifier, ConstrainedBoostRegressor, load
from cgboost.constraints import EqualOpportunity, Monotone, ParityGap
from cgboost.estimators.constrained.thresholds import best_thresholds
from cgboost.exceptions import TrivialModelWarning


def scored(seed, n_rows, n_groups):
    """Outputs with ties, groups, labels, and weights of some seeds."""
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n_rows - n_groups)])
    f = np.round(rng.normal(size=n_rows) + 0.8 * groups, 1)
    y = np.where(f + rng.normal(size=n_rows) > 0.5, 1.0, -1.0)
    return f, groups, y, rng.exponential(size=n_rows) if seed % 2 else np.ones(n_rows)


def rate_vectors(groups, counting, w):
    """What each row adds to the difference of each group's rate from that of all."""
    total = np.where(counting, w, 0.0)
    own = [np.where(groups == k, total, 0.0) for k in range(groups.max() + 1)]
    return np.array([one / one.sum() - total / total.sum() for one in own])


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_no_thresholds_have_a_larger_gain_within_the_limits(seed, limit, n_groups):
    """Against every combination of thresholds, with limits on one rate or on two at once."""
    f, groups, y, w = scored(seed, 36, n_groups)
    vectors = rate_vectors(groups, np.ones(len(f), bool), w)
    if seed % 3 == 0:
        vectors = np.vstack([vectors, rate_vectors(groups, y > 0, w)])
    limits = np.full(len(vectors), limit)
    found = best_thresholds(f, groups, w * y, vectors, limits)
    best = 0.0
    for cuts in product(*(np.append(np.unique(f[groups == k]), -9) for k in range(n_groups))):
        positive = f > np.array(cuts)[groups]
        if (np.abs(vectors @ positive) <= limit + 1e-12).all():
            best = max(best, float(w * y @ positive))
    positive = f > found.thresholds[groups]
    assert (np.abs(vectors @ positive) <= limit + 1e-12).all()
    assert found.gain == pytest.approx(w * y @ positive)
    assert found.gain == pytest.approx(best)
    assert found.gain - 1e-9 <= found.bound


def test_a_limit_may_be_met_exactly():
    """Rates of small groups are often the limit itself, as rounded sums: 0.6 − 0.5 for 0.1."""
    groups = np.arange(20) % 2
    vectors = rate_vectors(groups, np.ones(20, bool), np.ones(20))
    for seed in (7, 12):
        rng = np.random.default_rng(seed)
        f, y = rng.normal(size=20), rng.choice([-1.0, 1.0], 20)
        found = best_thresholds(f, groups, y, vectors, np.full(2, 0.1))
        cuts = [np.append(np.unique(f[groups == k]), -9) for k in (0, 1)]
        positive = np.array([f > np.array(pair)[groups] for pair in product(*cuts)])
        within = (np.abs(positive @ vectors.T) <= 0.1 + 1e-9).all(axis=1)
        assert found.gain == pytest.approx(max(positive[within] @ y), abs=1e-9)


@pytest.mark.parametrize("sizes", [(1009, 1013), (1000, 3000)])
@pytest.mark.parametrize("limit", [0.0, 1e-4, 0.05])
def test_thresholds_of_two_groups_are_proven(sizes, limit):
    """However many rows there are; at 0 coprime sizes have but the two constants."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], sizes)
    f = rng.normal(size=len(groups)) + 0.8 * groups
    y = np.where(f + rng.normal(size=len(f)) > 0.4, 1.0, -1.0)
    vectors = np.where(groups == 0, 1.0 / sizes[0], -1.0 / sizes[1])[None]
    found = best_thresholds(f, groups, y, vectors, np.array([limit]))
    assert found.bound == found.gain == pytest.approx(y @ (f > found.thresholds[groups]))
    if limit == 0.0 and sizes[0] == 1009:
        assert found.gain == max(0.0, y.sum())
    else:
        assert found.gain > max(0.0, y.sum())


@pytest.mark.parametrize("limit", [0.02, 0.1])
def test_the_prices_and_the_bound_are_those_of_the_linear_relaxation(limit):
    """The prices are the multipliers of the program over mixtures of thresholds, by HiGHS."""
    f, groups, y, w = scored(1, 200, 2)
    vectors = rate_vectors(groups, np.ones(len(f), bool), w)[:1]
    found = best_thresholds(f, groups, w * y, vectors, np.full(1, limit))
    cuts = [(k, t) for k in (0, 1) for t in np.append(np.unique(f[groups == k]), -9)]
    positive = np.array([(groups == k) & (f > t) for k, t in cuts])
    rates = positive @ vectors[0]
    whole = linprog(
        -(positive @ (w * y)),
        A_ub=[rates, -rates],
        b_ub=[limit, limit],
        A_eq=[[float(k == g) for k, _ in cuts] for g in (0, 1)],
        b_eq=[1.0, 1.0],
    )
    price = whole.ineqlin.marginals[1] - whole.ineqlin.marginals[0]
    assert found.prices[0] == pytest.approx(price)
    assert found.gain - 1e-9 <= found.bound <= -whole.fun + 1e-9


def rows(n_rows=300, n_groups=2):
    """Rows whose last column is a group that has more of the positive class."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = rng.integers(0, n_groups, n_rows) * 2.0
    y = X[:, 0] - X[:, 1] ** 2 + 0.6 * X[:, 3] + rng.logistic(size=n_rows) > 0
    return X, np.where(y, "yes", "no")


MODELS = {
    "probabilities": HistGradientBoostingClassifier(max_iter=10, random_state=0),
    "decisions": LogisticRegression(),
    "leaves": DecisionTreeClassifier(max_depth=3, random_state=0),
}


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize(("constraint", "n_groups"), [(ParityGap, 2), (EqualOpportunity, 3)])
@pytest.mark.parametrize("name", MODELS)
def test_a_threshold_for_each_group_of_a_given_model(name, n_groups, constraint, tmp_path):
    """Rates keep to the limit, the errors are those of the predictions, and files keep it all."""
    X, y = rows(n_groups=n_groups)
    given = FrozenEstimator(MODELS[name].fit(X, y))
    model = ConstrainedBoostClassifier(
        [constraint(3, 0.02, of="rate")], columns=given, offset="group"
    ).fit(X, y)
    positive, counting = model.predict(X) == "yes", (y == "yes") | (constraint is ParityGap)
    rates = [positive[counting & (X[:, 3] == g)].mean() for g in np.unique(X[:, 3])]
    middle = positive[counting].mean()
    gap = np.ptp(rates) if n_groups == 2 else np.abs(np.array(rates) - middle).max()
    assert gap <= 0.02 + 1e-12
    assert model.errors_ == pytest.approx(1.0 - model.score(X, y))
    assert model.errors_bound_ == pytest.approx(model.errors_)
    for g in np.unique(X[:, 3]):  # the order of the rows of a group is that of the given model
        own = X[:, 3] == g
        f, f_given = model.decision_function(X[own]), score_of(given.estimator, X[own])
        assert (np.diff(f[np.argsort(f_given, kind="stable")]) >= -1e-12).all()
    again = pickle.loads(pickle.dumps(model))
    if name != "probabilities":  # scikit-learn's histograms are not among what files may hold
        model.save(tmp_path / "model.cgboost")
        again = load(tmp_path / "model.cgboost")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def score_of(model, X):
    """Decision values or log-odds."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    p = np.clip(model.predict_proba(X)[:, 1], 1e-9, 1 - 1e-9)
    return np.log(p / (1 - p))


def test_given_models_and_stumps_are_at_the_optimum_of_the_whole_program():
    """Two models and all stumps, against one linear program with every column, by HiGHS."""
    X, y = rows(60)
    X[:, :3] = X[:, :3].round(0)
    models = [MODELS["decisions"].fit(X, y), MODELS["leaves"].fit(X, y)]
    columns = [*map(FrozenEstimator, models), "stumps"]
    model = ConstrainedBoostClassifier(columns=columns, C=0.2, tol=1e-8).fit(X, y)
    whole = [score_of(one, X) for one in models]
    whole = [one / np.abs(one).max() for one in whole]
    for j, x in enumerate(X.T):
        whole += [np.where(X[:, j] > t, 1.0, -1.0) for t in np.unique(x)[:-1]]
    H, sign, n = np.array(whole).T, np.where(y == "yes", 1.0, -1.0), len(y)
    A = np.hstack([-sign[:, None] * H, sign[:, None] * H, -sign[:, None], sign[:, None]])
    cost = np.concatenate([np.ones(2 * H.shape[1]), [0.0, 0.0], np.full(n, 0.2)])
    answer = linprog(cost, A_ub=np.hstack([A, -np.eye(n)]), b_ub=-np.ones(n))
    assert model.objective_ == pytest.approx(answer.fun, rel=1e-6)
    assert model.dual_bound_ == pytest.approx(answer.fun, rel=1e-6)
    assert {-1, 0, 1} >= set(model.columns_["estimator"].tolist())


@pytest.mark.parametrize("seed", [7, 17])
def test_a_limit_on_rates_leaves_a_model_of_few_columns(seed):
    """Of few columns models at neighbouring prices differ much: what is found is no constant."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, 250).astype(float)
    X = np.column_stack([rng.normal(size=250) + 0.8 * group, rng.normal(size=250), group])
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=250) > rng.choice([0.4, 1.2])
    given = FrozenEstimator(LogisticRegression().fit(X, y))
    limit = ParityGap(2, 0.02, of="rate")
    model = ConstrainedBoostClassifier([limit], columns=[given, "stumps"]).fit(X, y)
    positive = model.predict(X)
    assert abs(positive[group > 0].mean() - positive[group == 0].mean()) <= 0.02 + 1e-12
    assert model.score(X, y) > max(y.mean(), 1.0 - y.mean()) + 0.05


def test_the_constant_of_stumps_moves_next_to_given_models():
    """``offset="none"`` leaves the constant stump, given models or not: any cut can be had."""
    X, y = rows(150)
    given = FrozenEstimator(LogisticRegression().fit(X, y))
    scores = []
    for columns in ("stumps", [given, "stumps"]):
        model = ConstrainedBoostClassifier(
            [ParityGap(3, 0.02, of="rate")], columns=columns, offset="none"
        ).fit(X, y)
        scores.append(model.score(X, y))
    assert scores[1] >= scores[0] - 0.02


def test_a_given_regressor_is_a_column():
    """What it predicts, and the stumps next to it, under a limit on mean outputs."""
    X = rows(80)[0]
    target = X[:, 0] + 0.5 * X[:, 3]
    columns = [FrozenEstimator(Ridge().fit(X, target)), "stumps"]
    model = ConstrainedBoostRegressor([ParityGap(3, 0.1)], columns=columns, C=1.0).fit(X, target)
    f = model.predict(X)
    assert abs(f[X[:, 3] > 0].mean() - f[X[:, 3] == 0].mean()) <= 0.1 + 1e-6
    assert model.gap_ <= 1e-4


GIVEN = FrozenEstimator(LogisticRegression().fit(*rows()))
RATE = ParityGap(3, 0.02, of="rate")
WRONG = {
    "no rates": ([ParityGap(3, 0.02)], {"columns": GIVEN}, "needs limits on the rates of one"),
    "two": ([RATE, ParityGap(0, 0.1, of="rate")], {"columns": GIVEN}, "of one grouping"),
    "broken": ([RATE, ParityGap(3, 0.1)], {"columns": GIVEN}, "would break limits"),
    "sign": ([RATE, Monotone(3, 1)], {}, "would break limits"),
    "family": ([RATE], {"columns": "features"}, "columns='stumps' or a FrozenEstimator"),
    "dropped": ([RATE], {"columns": "stumps", "drop": [3]}, "dropped and is not a feature"),
    "beside": ([RATE], {"columns": [GIVEN, "features"]}, "there may be further ones and 'stumps'"),
    "unfitted": ([RATE], {"columns": FrozenEstimator(Ridge())}, "is not fitted"),
    "shape": ([Monotone(0, 1)], {"columns": GIVEN, "offset": "auto"}, "cannot obey Monotone"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_had_says_why(name):
    """Of thresholds of groups and of given columns."""
    constraints, parameters, words = WRONG[name]
    model = ConstrainedBoostClassifier(constraints, **{"offset": "group", **parameters})
    with pytest.raises(ValueError, match=words):
        model.fit(*rows())


@pytest.mark.parametrize("weights", [None, {"yes": 10.0}])
def test_thresholds_of_one_model_have_no_use_for_its_size(weights):
    """C decides how large the score is, down to 0; its best thresholds are the same."""
    X, y = rows(n_groups=3)
    given = FrozenEstimator(LogisticRegression().fit(X, y))
    errors = []
    for C in (1e-3, 10.0):
        model = ConstrainedBoostClassifier(
            ParityGap(3, 0.05, of="rate"),
            columns=given,
            offset="group",
            C=C,
            class_weight=weights,
        ).fit(X, y)
        errors.append(model.errors_)
        costs = np.where(y == "yes", 10.0, 1.0) if weights else None
        assert model.errors_ == pytest.approx(1.0 - model.score(X, y, costs))
    assert errors == pytest.approx([errors[-1]] * 2)
    with pytest.warns(TrivialModelWarning, match=r"for C=0\.001 is a constant"):
        ConstrainedBoostClassifier(
            ParityGap(3, 0.05, of="rate"), columns=[given, "stumps"], offset="group", C=1e-3
        ).fit(X, y)


@pytest.mark.parametrize(
    "numbers", [[0.0, 5e-324, 1e-323], [-2.0, 1.0, np.nextafter(1.0, 2.0)], [1.0, 1e308, 1.7e308]]
)
def test_thresholds_do_not_depend_on_how_groups_are_numbered(numbers):
    """Steps are between groups, however near or large their numbers are."""
    X, y = rows(n_groups=3)
    X[:, 3] /= 2.0
    given = FrozenEstimator(LogisticRegression().fit(X * [1.0, 1.0, 1.0, 0.0], y))
    model = ConstrainedBoostClassifier(ParityGap(3, 0.05, of="rate"), columns=given, offset="group")
    positive = model.fit(X, y).predict(X)
    other = np.column_stack([X[:, :3], np.array(numbers)[X[:, 3].astype(int)]])
    np.testing.assert_array_equal(model.fit(other, y).predict(other), positive)
    same = other.astype(object)  # numbers, as a table with other columns has them
    np.testing.assert_array_equal(model.fit(same, y).predict(same), positive)


def test_groups_that_are_not_in_x_have_no_thresholds():
    """New rows would have no group; and a model of other features says so, as a ValueError."""
    X, y = rows()
    by_name = ParityGap("sex", 0.02, of="rate")
    with pytest.raises(ValueError, match="as a column of X instead of groups"):
        ConstrainedBoostClassifier(by_name, columns=GIVEN, offset="group").fit(
            X, y, groups={"sex": X[:, 3]}
        )
    with pytest.raises(ValueError, match="does not predict these rows"):
        ConstrainedBoostClassifier(columns=GIVEN).fit(X[:, :2], y)
