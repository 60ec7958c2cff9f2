"""LPBoost: exact stumps with a certificate, greedy learners without one."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import (
    ConstrainedBoostClassifier,
    ConstrainedBoostRegressor,
    LPBoostClassifier,
    LPBoostRegressor,
)
from cgboost.exceptions import TrivialModelWarning
from cgboost.losses import AbsoluteError, EpsilonInsensitive, Huber, Quantile
from cgboost.pricing.univariate.stumps import StumpPool
from tests.estimators.cases import by_table, outputs
from tests.estimators.data import curve, three_classes, two_classes
from tests.estimators.lpboost.test_formulations import all_stumps
from tests.problems import Formulation, Problem

TREE = DecisionTreeClassifier(max_depth=2)
REGRESSION_TREE = DecisionTreeRegressor(max_depth=2)


@pytest.fixture(params=["binary", "multi-class", "joint", "regression"])
def kind(request):
    """A class and rows for it."""
    return {
        "binary": (LPBoostClassifier, two_classes()),
        "multi-class": (LPBoostClassifier, three_classes()),
        "joint": (partial(LPBoostClassifier, multi_class="joint"), three_classes()),
        "regression": (LPBoostRegressor, curve()),
    }[request.param]


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "epsilon"])
def test_stumps_reach_the_one_shot_optimum(loss, offset, penalty):
    """The certified objective is that of the full problem over all stumps, solved at once."""
    X, y = two_classes() if loss == "hinge" else curve()
    problem = Problem(all_stumps(X), 2.0 * y - 1.0 if loss == "hinge" else y, np.full(40, 0.6), 0.1)
    optimum = problem.optimum(Formulation(loss, penalty, "free", offset))
    make = LPBoostClassifier if loss == "hinge" else LPBoostRegressor
    formulation = {"l1": "lp", "l2": "qp"}[penalty]
    model = make(C=0.6, offset=offset, formulation=formulation, tol=1e-8).fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.dual_bound_ <= optimum * (1 + 1e-6)


def test_breast_cancer_is_certified_in_few_rounds():
    """The whole data set is solved to 1e-6 with a fraction of its stumps."""
    X, y = load_breast_cancer(return_X_y=True)
    model = LPBoostClassifier(C=1.0, tol=1e-6).fit(X, y)
    assert model.converged_
    assert model.n_iter_ <= 45
    assert model.history_["columns"][-1] < 0.1 * StumpPool(X).size(0)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("learner", [TREE, REGRESSION_TREE, LogisticRegression()], ids=str)
def test_greedy_learners_prove_nothing(kind, learner):
    """No bound, an infinite gap, and never "optimal"; the fit is better than none all the same."""
    make, (X, y) = kind
    model = make(learner, C=2.0, max_columns=30, random_state=0).fit(X, y)
    reasons = np.atleast_1d(model.stop_reason_)
    assert set(reasons) <= {"no_column", "max_columns"}
    assert (model.dual_bound_, model.gap_, model.converged_) == (-np.inf, np.inf, False)
    assert model.score(X, y) > (0.05 if make is LPBoostRegressor else 0.7)
    np.testing.assert_allclose(by_table(model, X), outputs(model, X), atol=1e-9)
    np.testing.assert_array_equal(model.columns_["coefficient"], model.column_weights_)
    assert not hasattr(model, "columns_per_kernel_")


def test_importances_are_shares_of_the_coefficients():
    """They add up to 1, ignore the constant, and exist for stumps only."""
    X, y = two_classes()
    X = np.column_stack([X, np.zeros(40)])
    model = LPBoostClassifier().fit(X, y)
    assert model.feature_importances_.shape == (4,)
    assert not hasattr(model, "estimators_")
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[3] == 0.0
    table = pd.DataFrame(model.columns_).query("feature == 0")
    sizes = pd.DataFrame(model.columns_).query("feature >= 0")["coefficient"].abs()
    share = table["coefficient"].abs().sum() / sizes.sum()
    assert model.feature_importances_[0] == pytest.approx(share)
    np.testing.assert_array_equal(LPBoostClassifier(C=1e-9).fit(X, y).feature_importances_, 0.0)
    assert not hasattr(LPBoostClassifier(TREE).fit(X, y), "feature_importances_")
    with pytest.raises(NotFittedError):
        _ = LPBoostClassifier().feature_importances_


@pytest.mark.parametrize(
    "change",
    [
        {"C": 0.2},
        {"formulation": "qp"},
        {"nu": 0.3},
        {"formulation": "md", "C": 2.0},
        {"formulation": "nm", "C": 0.3},
        {"formulation": "qrlp", "nu": 0.3, "eta": 1.0},
        {"formulation": "erlp", "nu": 0.3, "eta": 5.0},
        {"offset": "free"},
        {"columns_per_round": 3},
        {"max_columns": 4},
        {"tol": 0.9},
        {"estimator": TREE},
    ],
    ids=str,
)
def test_every_parameter_changes_something(change):
    """A parameter that changed nothing would be dead."""
    X, y = two_classes()
    base = LPBoostClassifier(C=1.0).fit(X, y)
    cost = {} if "nu" in change else {"C": 1.0}
    changed = LPBoostClassifier(**cost | change).fit(X, y)
    assert (base.objective_, base.n_iter_) != (changed.objective_, changed.n_iter_)


def test_the_seed_reaches_the_learners():
    """Random learners repeat with the same seed and differ with another."""
    X, y = two_classes()
    learner = DecisionTreeClassifier(max_depth=1, splitter="random", max_features=1)
    fits = [
        LPBoostClassifier(learner, max_columns=8, columns_per_round=2, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(fits[0].column_weights_, fits[1].column_weights_)
    assert fits[0].history_["objective"].tolist() != fits[2].history_["objective"].tolist()


@pytest.mark.parametrize(
    "make", [LPBoostRegressor, ConstrainedBoostRegressor], ids=lambda m: m.__name__
)
def test_c_by_default_follows_rows_and_units(make) -> None:
    """1.5/√Σw, or 1.5/(σ√Σw) for the squared error; as C it makes the same fit."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:200], y[:200]
    model = make().fit(X, y)
    assert np.isclose(model.C_, 1.5 / np.sqrt(200), rtol=0.02)
    given = make(C=model.C_).fit(X, y)
    np.testing.assert_array_equal(given.predict(X), model.predict(X))
    assert given.C_ == model.C_
    assert np.isclose(make().fit(X, y, np.full(200, 4.0)).C_, model.C_ / 2)
    squared = make(loss="squared_error").fit(X, y).C_
    assert squared == pytest.approx(1.5 / (np.std(y) * np.sqrt(200)))


@pytest.mark.parametrize("value", [0.0, 5.0, 0.1, 1e-9, -1e30])
@pytest.mark.parametrize(
    "make", [LPBoostRegressor, ConstrainedBoostRegressor], ids=lambda m: m.__name__
)
def test_c_of_a_constant_y_is_no_rounding_noise(make, value) -> None:
    """There is no noise to compare with: C is 1.5/√Σw, and no larger one is advised."""
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.full(60, value)
    for loss in ("squared_error", "absolute_error", Huber(1.0)):
        with pytest.warns(TrivialModelWarning, match="C=0.193649; every y is met by a constant"):
            model = make(loss=loss).fit(X, y)
        assert np.isclose(model.C_, 1.5 / np.sqrt(60))
        assert model.gap_ <= model.tol
        np.testing.assert_allclose(model.predict(X), value, rtol=1e-12)
    with pytest.warns(TrivialModelWarning, match="epsilon=0.1 of a constant: unless all are equal"):
        make(epsilon=0.1).fit(X, y)


@pytest.mark.parametrize("shift", [1e3, -1e6, 1e8])
def test_c_by_default_does_not_depend_on_a_shift(shift) -> None:
    """Rows on a kink of the loss at its best constant stay there, up to rounding."""
    X, y = np.random.default_rng(1).normal(size=(2, 60, 1))
    for loss in (EpsilonInsensitive(0.3), Quantile(0.35), "squared_error", Huber(0.5)):
        found = [LPBoostRegressor(loss=loss).fit(X, y[:, 0] + by).C_ for by in (0.0, shift)]
        assert found[1] == pytest.approx(found[0], rel=1e-6)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_c_by_default_suits_every_loss(size) -> None:
    """Each has columns: Huber's loss of any δ, counts, half of the absolute error as the whole."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], size * y[:150]
    for loss in ("huber", Huber(size * 50.0), "poisson", "squared_error", Quantile(0.9)):
        assert 5 < LPBoostRegressor(loss=loss).fit(X, y).n_columns_ < 100, loss
    half, whole = (LPBoostRegressor(loss=loss).fit(X, y) for loss in (Quantile(), AbsoluteError()))
    assert np.isclose(half.C_, 2 * whole.C_)
    assert half.objective_ == pytest.approx(whole.objective_, rel=2e-4)


def test_default_stumps_of_numbers_do_not_fit_the_noise() -> None:
    """Without a parameter, R² on new rows is that of a linear model, not below 0 as at C = 1."""
    X, y = load_diabetes(return_X_y=True)
    model = LPBoostRegressor().fit(X[::2], y[::2])
    assert model.converged_
    assert model.score(X[1::2], y[1::2]) > 0.35
    path = LPBoostRegressor(formulation="qp").fit(X[:50], y[:50])
    assert path.C_ == 1.0
    models = LPBoostRegressor().path(X[:50], y[:50], [0.1, 0.2])
    assert [m.C_ for m in models] == [0.1, 0.2]


@pytest.mark.parametrize("kind", [LPBoostClassifier, ConstrainedBoostClassifier])
def test_the_default_cost_of_classes_is_a_share_of_what_noise_gains(kind):
    """C = 3/√(4·n_1·n_2/n), weights are repeated rows; fewer errors and stumps than with C = 1."""
    X, y = make_classification(1200, 10, n_informative=5, flip_y=0.15, random_state=7)
    train, test = slice(200), slice(200, None)
    n = np.bincount(y[train])
    model = kind().fit(X[train], y[train])
    np.testing.assert_allclose(model.C_, 3 / np.sqrt(4 * n[0] * n[1] / 200))
    one = kind(C=1.0).fit(X[train], y[train])
    assert one.C_ == 1.0
    assert model.score(X[test], y[test]) > one.score(X[test], y[test])
    assert model.n_columns_ < one.n_columns_
    weights = np.arange(200) % 3
    weighted = kind().fit(X[train], y[train], sample_weight=weights)
    repeated = kind().fit(np.repeat(X[train], weights, axis=0), np.repeat(y[train], weights))
    np.testing.assert_allclose(weighted.C_, repeated.C_)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-3)
    heavy = kind(class_weight="balanced").fit(X[train], y[train])
    np.testing.assert_allclose(heavy.C_, 3 / np.sqrt(200))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss", "exponential"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_the_default_cost_learns_few_separable_rows_of_any_loss(loss, multi_class):
    """Four rows of two classes, and a separable problem of three, have no error."""
    model = LPBoostClassifier(loss=loss, multi_class=multi_class)
    few = np.arange(4.0)[:, None]
    assert model.fit(few, [0, 0, 1, 1]).score(few, [0, 0, 1, 1]) == 1.0
    X = np.eye(3).repeat(10, axis=0)
    assert model.fit(X, np.arange(3).repeat(10)).score(X, np.arange(3).repeat(10)) == 1.0


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-3])
@pytest.mark.parametrize("kind", [LPBoostClassifier, LPBoostRegressor])
def test_trees_say_of_their_rows_what_the_fit_saw(unit, kind):
    """Features that differ beyond float32, which trees read: the objective is that of outputs."""
    rng = np.random.default_rng(0)
    X = unit * (1.0 + rng.integers(0, 40, (60, 2)) * 2.0**-26)
    y = (X[:, 0] > np.median(X[:, 0])).astype(float)
    model = kind(max_depth=2, C=1.0, max_columns=15).fit(X, y)
    size = np.abs(model.columns_["coefficient"]).sum()
    if kind is LPBoostClassifier:
        errors = np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * model.decision_function(X))
    else:
        errors = np.maximum(0.0, np.abs(y - model.predict(X)) - model.epsilon_)
    assert size + errors.sum() == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("solver", ["auto", "highs"])
def test_stumps_on_few_rows_end_at_a_vertex(solver) -> None:
    """As the simplex does: a gap of rounding, at a ``tol`` that allows more."""
    X, y = two_classes()
    for make, target in ((LPBoostClassifier, y), (LPBoostRegressor, X[:, 0])):
        model = make(C=1.0, tol=1e-2, solver=solver).fit(X, target)
        assert 0.0 <= model.gap_ <= 1e-12


def test_learners_follow_the_prices_of_an_interior_point() -> None:
    """Fifteen trees found so cost less than fifteen by the prices of vertices."""
    costs = {"auto": 0.0, "highs": 0.0}
    for seed in (4, 8, 9):
        X, y = make_classification(140, 10, n_informative=5, flip_y=0.1, random_state=seed)
        for solver in costs:
            tree = DecisionTreeClassifier(max_depth=2 + seed % 2, random_state=0)
            model = LPBoostClassifier(C=1.0, estimator=tree, max_columns=15, solver=solver)
            costs[solver] += model.fit(X, y).objective_
    assert costs["auto"] < 0.9 * costs["highs"]


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_a_vertex_does_not_lose_its_digits_beside_huge_costs(seed: int) -> None:
    """A gap of 0 was said of an objective of ten times its bound."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
    weights = np.where(rng.random(60) < 0.5, 1e8, 1.0)
    model = LPBoostClassifier(C=1e7, offset="none").fit(X, y, sample_weight=weights)
    assert model.objective_ == pytest.approx(model.dual_bound_, rel=1e-4)
