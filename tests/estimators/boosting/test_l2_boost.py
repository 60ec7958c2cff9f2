"""Componentwise L2-Boosting is what was published, whatever the shortcuts."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from cgboost import L2BoostRegressor
from tests.estimators.boosting.linear_data import DATA, l2_boosting
from tests.estimators.scikit_learn_checks import scikit_learn_checks


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_every_round_is_that_of_the_published_algorithm(name: str, rate: float) -> None:
    """Features and coefficients agree with the literal transcription, round by round."""
    X, y = DATA[name]
    chosen, path = l2_boosting(X, y, 80, rate)
    model = L2BoostRegressor(n_estimators=80, learning_rate=rate, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(model.selected_, chosen)
    np.testing.assert_allclose(model.coef_path_[:, 1:].T, path, rtol=0, atol=1e-10)
    assert model.intercept_ == 0.0


def test_predictions_are_linear_and_staged() -> None:
    """Stage m is X·coef + intercept after m steps, the last one is predict, and so is the table."""
    X, y = DATA["tall"]
    model = L2BoostRegressor(n_estimators=30).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_ == 30
    np.testing.assert_allclose(stages[-1], model.predict(X), atol=1e-12)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, atol=1e-12)
    losses = [0.5 * np.sum((y - stage) ** 2) for stage in stages]
    np.testing.assert_allclose(losses, model.history_["objective"][1:], rtol=1e-10)
    table = np.bincount(model.columns_["feature"], model.columns_["coefficient"], X.shape[1])
    np.testing.assert_allclose(table, model.coef_, atol=1e-12)


def test_many_steps_lead_to_least_squares() -> None:
    """Without a criterion the coefficients converge to the least-squares solution."""
    X, y = DATA["tall"]
    model = L2BoostRegressor(n_estimators=3000, learning_rate=1.0).fit(X, y)
    exact = np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y, rcond=None)[0]
    np.testing.assert_allclose([*model.coef_, model.intercept_], exact, rtol=1e-9, atol=1e-9)
    assert model.stop_reason_ == "no_column"


def test_a_constant_feature_is_never_chosen() -> None:
    """Constants far from 0 have no direction of their own, and the model is that without them."""
    X, y = DATA["tall"]
    wide = np.column_stack([np.full(len(y), 1e6 / 3), X, np.full(len(y), -7.7)])
    model = L2BoostRegressor().fit(wide, y)
    np.testing.assert_array_equal(model.coef_[[0, -1]], 0.0)
    np.testing.assert_allclose(model.coef_[1:-1], L2BoostRegressor().fit(X, y).coef_)


def test_degrees_of_freedom_and_aicc_are_those_of_the_boosting_operator() -> None:
    """The trace kept in O(k²) a step is that of the n × n product of the published definition."""
    X, y = DATA["wide"]
    n, rate = len(y), 0.4
    settings = {"n_estimators": 150, "learning_rate": rate}
    model = L2BoostRegressor(**settings).fit(X, y)
    chosen_by = L2BoostRegressor(**settings, criterion="aicc").fit(X, y)
    Z = X - X.mean(axis=0)
    rest = np.eye(n) - 1.0 / n
    freedom, aicc = [], []
    for j in model.selected_:
        q = Z[:, j] / np.linalg.norm(Z[:, j])
        rest = rest - rate * np.outer(q, q @ rest)
        trace = n - np.trace(rest)
        freedom.append(trace)
        sigma = np.mean((rest @ y) ** 2)
        aicc.append(np.log(sigma) + (1 + trace / n) / (1 - (trace + 2) / n))
    np.testing.assert_allclose(chosen_by.history_["df"][1:], freedom, rtol=1e-10)
    np.testing.assert_allclose(chosen_by.criterion_, aicc, rtol=1e-9)
    assert chosen_by.n_iter_ == 1 + np.argmin(aicc) < 150
    np.testing.assert_allclose(chosen_by.coef_, model.coef_path_[:, chosen_by.n_iter_])


@pytest.mark.parametrize(
    ("kind", "price"),
    [("hdic", 3.0), ("hdbic", np.log(60)), ("hdhq", 3.0 * np.log(np.log(60)))],
)
def test_hdic_counts_features_and_not_steps(kind: str, price: float) -> None:
    """N log ‖U‖² + |J| c log p with the distinct features J; the lowest is kept."""
    X, y = DATA["wide"]
    _, path = l2_boosting(X - X.mean(axis=0), y - y.mean(), 100, 0.2)
    values = []
    for beta in path:
        U = y - y.mean() - (X - X.mean(axis=0)) @ beta
        values.append(60 * np.log(U @ U) + np.count_nonzero(beta) * price * np.log(200))
    settings = {"n_estimators": 100, "learning_rate": 0.2, "criterion": kind, "C": 3.0}
    model = L2BoostRegressor(**settings).fit(X, y)
    np.testing.assert_allclose(model.criterion_, values, rtol=1e-10)
    assert model.n_iter_ == 1 + np.argmin(values)
    np.testing.assert_array_equal(model.support_, [0, 1, 2])


def test_cross_validation_chooses_the_round_of_the_lowest_error() -> None:
    """The criterion is the error of every number of steps on rows left out, by hand."""
    X, y = DATA["wide"]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    folds = KFold(4, shuffle=True, random_state=0)
    settings = {"n_estimators": 60, "learning_rate": 0.3}
    model = L2BoostRegressor(criterion="cv", cv=folds, **settings).fit(X, y, weights)
    errors = np.zeros(60)
    for train, test in folds.split(X):
        fold = L2BoostRegressor(**settings).fit(X[train], y[train], weights[train])
        errors += [weights[test] @ (y[test] - f) ** 2 for f in fold.staged_predict(X[test])]
    np.testing.assert_allclose(model.criterion_, errors / weights.sum())
    assert model.n_iter_ == 1 + np.argmin(errors) < 60


def test_a_fold_that_ends_early_keeps_its_last_error() -> None:
    """Where the training rows of a fold have one feature only, one step is all there is to do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X[10:, 1] = 0.0
    settings = {"n_estimators": 8, "learning_rate": 1.0, "criterion": "cv"}
    folds = [(np.arange(10, 40), np.arange(10))]
    model = L2BoostRegressor(cv=folds, **settings).fit(X, X.sum(axis=1) + rng.normal(size=40))
    assert len(model.criterion_) == 8
    assert model.criterion_[0] > 0
    np.testing.assert_array_equal(model.criterion_, model.criterion_[0])


def test_importances_are_shares_of_the_loss_that_went() -> None:
    """Each feature has the fall of the loss in the rounds that chose it."""
    X, y = DATA["tall"]
    model = L2BoostRegressor(n_estimators=50).fit(X, y)
    falls = -np.diff(model.history_["objective"])
    wanted = np.bincount(model.selected_, falls, X.shape[1]) / falls.sum()
    np.testing.assert_allclose(model.feature_importances_, wanted)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 2.0}, "learning_rate must be .* < 2, got 2.0"),
        ({"criterion": "bic"}, "criterion must be one of .*'aicc'.*, got 'bic'"),
        ({"C": 0}, "C must be a finite number > 0, got 0"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False, got 'yes'"),
        ({"n_estimators": None}, "n_estimators must be a whole number ≥ 1, got None"),
        (
            {"criterion": "aicc", "early_stopping": True},
            "criterion='aicc' and early_stopping=True both choose",
        ),
    ],
)
def test_bad_parameters(settings: dict[str, object], message: str) -> None:
    """Each error names the parameter and its value."""
    with pytest.raises(ValueError, match=message):
        L2BoostRegressor(**settings).fit(*DATA["tall"])


def test_data_that_no_model_can_be_made_of() -> None:
    """Nothing but constants, one feature under a price of log p, too few rows, sizes past 1e154."""
    y = np.arange(5.0)
    with pytest.raises(ValueError, match="feature that varies, but each of 2 is constant"):
        L2BoostRegressor().fit(np.ones((5, 2)), y)
    with pytest.raises(ValueError, match="feature that varies, but each of 2 is 0 throughout"):
        L2BoostRegressor(fit_intercept=False).fit(np.zeros((5, 2)), y)
    with pytest.raises(ValueError, match="'hdbic' needs at least 2 features, got n_features=1"):
        L2BoostRegressor(criterion="hdbic").fit(y[:, None], y)
    with pytest.raises(ValueError, match="'aicc' needs at least 3 rows, got n_samples=2"):
        L2BoostRegressor(criterion="aicc").fit(np.eye(2), y[:2])
    with pytest.raises(ValueError, match="too large to be squared in feature 1"):
        L2BoostRegressor().fit(np.column_stack([y, 1e200 * y]), y)


def test_a_constant_response_needs_no_feature() -> None:
    """The model is the constant, and says that there was nothing to find."""
    X, y = DATA["tall"]
    model = L2BoostRegressor().fit(X, np.full(len(y), 3.5))
    assert (model.n_iter_, model.intercept_, model.stop_reason_) == (0, 3.5, "no_column")
    np.testing.assert_array_equal(next(model.staged_predict(X)), 3.5)
    assert not model.feature_importances_.any()


@scikit_learn_checks([L2BoostRegressor()], variants=[L2BoostRegressor(criterion="aicc")])
def test_scikit_learn_check(estimator, check):
    """Every check of scikit-learn passes."""
    check(estimator)
