"""AnyBoost against a transcription of the published algorithm, and its optima."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import AnyBoostClassifier, AnyBoostRegressor
from cgboost.losses import Exponential, LogLoss, SquaredError, get_loss
from tests.estimators.boosting.boosting_data import OneInput, breast_cancer, overlapping
from tests.estimators.cases import by_table, outputs
from tests.estimators.data import curve, three_classes, two_classes, without_ties

TREE = DecisionTreeRegressor(max_depth=2, random_state=0)
WEIGHTS = np.tile([1.0, 2.0, 0.0, 0.5], 20)


def best_step(loss, f, t):
    """The c with the least loss of f + c·t, by cutting an interval of slopes in half."""

    def slope(c):
        return loss.pseudo_response(f + c * t) @ t

    low, high = 0.0, 1.0
    while slope(high) > 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


def transcribed(loss, learner, X, n_rounds):
    """[M] Alg. 1 with exact steps: f after every round, starting from the best constant."""
    f, stages = np.full(len(X), loss.constant()), []
    for _ in range(n_rounds):
        u = loss.pseudo_response(f)
        t = clone(learner).fit(X, u).predict(X)
        if u @ t <= 0:
            break
        f = f + best_step(loss, f, t) * t
        stages.append(f)
    return np.array(stages)


def diabetes():
    """442 rows, the response scaled."""
    X, y = load_diabetes(return_X_y=True)
    return X, (y - y.mean()) / y.std()


@pytest.mark.parametrize(
    "learner",
    [KernelRidge(alpha=3.0, kernel="rbf"), DecisionTreeRegressor(max_depth=2, min_samples_leaf=9)],
    ids=str,
)
@pytest.mark.parametrize(
    ("data", "model", "loss"),
    [
        (breast_cancer, AnyBoostClassifier(loss="log_loss", learning_rate=1.0), LogLoss),
        (overlapping, AnyBoostClassifier(loss="exponential", learning_rate=1.0), Exponential),
        (overlapping, AnyBoostClassifier(loss="log_loss", learning_rate=1.0), LogLoss),
        (diabetes, AnyBoostRegressor(learning_rate=1.0), SquaredError),
    ],
)
def test_equal_to_the_published_algorithm(data, model, loss, learner):
    """The output of every round to 1e-10, for three data sets and losses."""
    X, y = data()
    X, y = without_ties(X[:, :10]), y.astype(float)
    learner = make_pipeline(StandardScaler(), learner)
    wanted = transcribed(loss().on(y, np.ones(len(y))), learner, X, 15)
    model = clone(model).set_params(estimator=learner, n_estimators=15).fit(X, y)
    stages = np.array(list(model.staged_decision_function(X)))
    np.testing.assert_allclose(stages, wanted, rtol=0, atol=1e-10)
    assert len(stages) == 15


def test_a_full_rank_corrective_refit_is_least_squares():
    """With as many independent columns as features allow, the model is the linear regression."""
    X, y = diabetes()
    model = AnyBoostRegressor(OneInput(), corrective=True, n_estimators=10).fit(X, y)
    assert model.n_columns_ == 10
    reference = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), reference.predict(X), atol=1e-8)
    assert model.objective_ == pytest.approx(0.5 * np.sum((y - reference.predict(X)) ** 2))


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("corrective", [False, True])
@pytest.mark.parametrize("step", ["line-search", "newton", 0.5])
@pytest.mark.parametrize("learner", [TREE, Ridge(), DecisionTreeClassifier(max_depth=1)], ids=str)
def test_every_combination_of_a_classifier_lowers_the_loss(learner, step, corrective, loss):
    """Any loss, learner and step rule, under weights; corrected coefficients leave no more."""
    X, y = two_classes(80)
    model = AnyBoostClassifier(learner, loss=loss, step=step, corrective=corrective, random_state=0)
    model.set_params(n_estimators=6, callbacks=None).fit(X, y, WEIGHTS)
    objective = model.history_["objective"]
    assert model.objective_ < objective[0]
    if corrective or step == "line-search":
        assert np.all(np.diff(objective) <= 1e-9)
    made = get_loss(loss).on(2.0 * y - 1, WEIGHTS)
    assert made.value(model.decision_function(X)) == pytest.approx(model.objective_, rel=1e-9)


def test_a_learner_that_points_the_wrong_way_ends_a_run_of_constant_steps():
    """With step=1.0 nothing is added where r·h ≤ 0; a line search turns the column round."""

    class Contrary(Ridge):
        def predict(self, X):
            return -super().predict(X)

    X, y = diabetes()
    constant = AnyBoostRegressor(Contrary(), step=1.0).fit(X, y)
    assert (constant.n_columns_, constant.stop_reason_) == (0, "no_column")
    searched = AnyBoostRegressor(Contrary(), n_estimators=3).fit(X, y)
    assert np.all(searched.column_weights_ < 0)
    assert searched.objective_ < constant.objective_


@pytest.mark.parametrize("corrective", [False, True])
def test_importances_are_there_if_learners_have_them(corrective):
    """Shares; of a single feature that matters nearly all."""
    for make, (X, y) in ((AnyBoostClassifier, three_classes(60)), (AnyBoostRegressor, curve(60))):
        y = X[:, 0] if make is AnyBoostRegressor else y
        model = make(TREE, corrective=corrective, n_estimators=5, random_state=0).fit(X, y)
        np.testing.assert_allclose(by_table(model, X), outputs(model, X), atol=1e-9)
        np.testing.assert_array_equal(model.columns_["coefficient"], model.column_weights_)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        assert make is AnyBoostClassifier or model.feature_importances_[0] > 0.99
        assert not hasattr(make(Ridge(), n_estimators=5).fit(X, y), "feature_importances_")


def test_single_precision_reaches_the_learners():
    """They are fitted to float32 rows as they come."""
    X, y = curve()
    seen = []

    class Looking(Ridge):
        def fit(self, X, y):
            seen.append(X.dtype)
            return super().fit(X, y)

    AnyBoostRegressor(Looking(), n_estimators=2).fit(X.astype(np.float32), y)
    assert set(seen) == {np.dtype(np.float32)}


def test_a_run_keeps_its_last_round_even_where_the_loss_went_up() -> None:
    """A step that is not searched for may overshoot; all n_estimators rounds stay in the model."""
    X, y = curve(60)
    model = AnyBoostRegressor(step=2.5, n_estimators=12, random_state=0).fit(X, y)
    assert model.n_iter_ == model.best_round_ == 12
    assert model.history_["objective"][-1] > model.history_["objective"][1]


def test_rounding_is_no_way_down() -> None:
    """After an exact fit r is orthogonal to what the learner can say, and the run ends."""
    X, y = curve(60)
    for options in ({"corrective": True}, {"step": 1.0}):
        model = AnyBoostRegressor(LinearRegression(), **options).fit(X, y)
        assert model.n_iter_ <= 2
        assert model.stop_reason_ == "no_column"
        assert np.abs(model.column_weights_).max() < 1e3


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("learner", [TREE, LinearRegression(), DecisionTreeClassifier(max_depth=1)])
def test_learners_that_predict_constants_correct_the_first_one(learner, loss: str) -> None:
    """Probabilities are the shares of cells; a line through 0 leaves it, unless it is corrective.

    The cells are those of a binary feature.
    """
    x, place = np.arange(4000) % 2, np.arange(4000) // 2 / 2000
    X, y = x[:, None].astype(float), np.where(x == 1, place < 0.9, place < 0.02).astype(int)
    model = AnyBoostClassifier(learner, loss=loss, learning_rate=1.0).fit(X, y)
    found = model.predict_proba([[0.0], [1.0]])[:, 1]
    np.testing.assert_allclose(found, [0.02, 0.9], atol=1e-3)
    if isinstance(learner, LinearRegression) and loss == "log_loss":
        through = AnyBoostClassifier(LinearRegression(fit_intercept=False))
        stays = through.fit(X, y).predict_proba([[0.0]])[0, 1]
        moves = through.set_params(corrective=True).fit(X, y).predict_proba([[0.0]])[0, 1]
        np.testing.assert_allclose([stays, moves], [0.46, 0.02], atol=1e-3)
