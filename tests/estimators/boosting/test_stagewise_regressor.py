"""Forward stagewise additive modelling of squared error."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeRegressor

from cgboost import AnyBoostRegressor, StagewiseRegressor
from tests.estimators.boosting.boosting_data import OneInput
from tests.estimators.data import curve

LEARNERS = [DecisionTreeRegressor(max_depth=2, random_state=0), KNeighborsRegressor(20)]


OPTIONS = [
    {"orthogonalize": orthogonalize, "feed_forward": feed_forward}
    for orthogonalize in (False, True)
    for feed_forward in (False, True)
]


def test_it_is_anyboost_with_constant_steps():
    """The same model as AnyBoostRegressor with step=learning_rate, weights included.

    Of losses without a best step it is that of shares of the best one.
    """
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).uniform(size=len(y))
    parameters = {"n_estimators": 5, "random_state": 0}
    for start in ("constant", "zero"):
        model = StagewiseRegressor(LEARNERS[0], learning_rate=0.3, start=start, **parameters)
        other = AnyBoostRegressor(LEARNERS[0], step=0.3, start=start, **parameters)
        found, wanted = (each.fit(X, y, weights).predict(X) for each in (model, other))
        np.testing.assert_array_equal(found, wanted)
    shares = parameters | {"loss": "huber", "learning_rate": 0.3}  # of steps that are searched for
    models = [kind(LEARNERS[0], **shares) for kind in (StagewiseRegressor, AnyBoostRegressor)]
    np.testing.assert_array_equal(*(model.fit(X, y, weights).predict(X) for model in models))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("loss", ["squared_error", "huber", "absolute_error"])
def test_a_number_added_to_y_is_added_to_predictions(loss, options):
    """The constant is there from the beginning: no share of it is left over after any round."""
    X, y = curve(120)
    model = StagewiseRegressor(LEARNERS[0], loss=loss, n_estimators=10, random_state=0, **options)
    plain = model.fit(X, y, np.linspace(0.5, 2.0, 120)).predict(X)
    for shift in (1e4, -1e8):
        found = model.fit(X, y + shift, np.linspace(0.5, 2.0, 120)).predict(X) - shift
        assert np.abs(found - plain).mean() <= 0.02 * np.std(y)
    if loss == "squared_error" and not options["orthogonalize"]:
        assert model.intercept_ == pytest.approx(
            np.average(y, weights=np.linspace(0.5, 2.0, 120)) + shift
        )


def test_least_squares_leaves_nothing_to_add():
    """After one exact fit the residuals are orthogonal to every fit, so that the loss stays."""
    X, y = load_diabetes(return_X_y=True)
    model = StagewiseRegressor(LinearRegression(), learning_rate=1.0, n_estimators=3).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X))
    objective = model.history_["objective"]
    np.testing.assert_allclose(objective[1:], objective[1])


def test_the_default_rate_is_a_tenth_or_all_of_a_corrected_fit():
    """learning_rate=None is 0.1, and 1 where all coefficients are refitted."""
    X, y = load_diabetes(return_X_y=True)
    for orthogonalize, rate in ((False, 0.1), (True, 1.0)):
        options = {"orthogonalize": orthogonalize, "n_estimators": 4, "random_state": 0}
        model = StagewiseRegressor(**options).fit(X, y)
        given = StagewiseRegressor(learning_rate=rate, **options).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), given.predict(X))


def transcribed(
    learner,
    X,
    y,
    n_rounds,
    *,
    weights=None,
    first=0.0,
    rate=1.0,
    orthogonalize=False,
    feed_forward=False,
):
    """[P] Tables 1, 5, 6, 7: the model on the training rows after every round."""
    named = {} if weights is None else {"sample_weight": weights}
    roots = np.ones(len(y)) if weights is None else np.sqrt(weights)
    f, outputs, models = np.full(len(y), first), [], []
    for _ in range(n_rounds):
        inputs = np.column_stack([X, *outputs]) if feed_forward else X
        outputs.append(clone(learner).fit(inputs, y - f, **named).predict(inputs))
        R = np.column_stack(outputs)
        if orthogonalize:
            f = R @ np.linalg.lstsq(roots[:, None] * R, roots * y, rcond=None)[0]
        else:
            f = f + rate * outputs[-1]
        models.append(f)
    return np.array(models)


@pytest.mark.parametrize(
    "options", [*OPTIONS, {"rate": 0.1}, {"rate": 0.1, "feed_forward": True}], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "learner",
    [DecisionTreeRegressor(max_depth=2, min_samples_leaf=8, random_state=0), OneInput()],
    ids=str,
)
def test_equal_to_each_of_the_published_tables(learner, weighted, options):
    """Every round of gradient boosting, orthogonalised, feed-forward, and both.

    From 0, or with shares of steps from the mean.
    """
    X, y = load_diabetes(return_X_y=True)
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)  # no two splits equally good
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y)) if weighted else None
    shrunk = "rate" in options
    first = np.average(y, weights=weights) if shrunk else 0.0
    wanted = transcribed(learner, X, y, 8, weights=weights, first=first, **options)
    own = {name: value for name, value in options.items() if name != "rate"}
    own |= {"learning_rate": options.get("rate", 1.0), "start": "constant" if shrunk else "zero"}
    model = StagewiseRegressor(learner, n_estimators=8, **own).fit(X, y, weights)
    stages = np.array(list(model.staged_predict(X)))
    assert len(stages) == 8
    np.testing.assert_allclose(stages, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_coordinate_descent_and_orthogonalised(correlation):
    """Of f = x + y and the best single input ([P] §5): two stages are all, if orthogonalised.

    Plain boosting is coordinate descent, whose error falls by the correlation in every stage.
    """
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 2)))[0]
    X = basis @ np.array([[1.0, correlation], [0.0, np.sqrt(1 - correlation**2)]])
    X[:, 1] *= 1.5
    y = X.sum(axis=1)
    for feed_forward in (False, True):
        options = {"orthogonalize": True, "feed_forward": feed_forward, "start": "zero"}
        model = StagewiseRegressor(OneInput(), **options)
        model.fit(X, y)
        assert (model.n_iter_, model.stop_reason_) == (2, "no_column")
        np.testing.assert_allclose(model.predict(X), y, atol=1e-13)
    plain = StagewiseRegressor(OneInput(), learning_rate=1.0, n_estimators=8, start="zero")
    plain.fit(X, y)
    errors = np.sqrt(2 * plain.history_["objective"])
    if correlation == 0.0:
        assert errors[2] < 1e-14
    else:
        np.testing.assert_allclose(errors[2:] / errors[1:-1], correlation, rtol=1e-6)
        assert errors[2] > 0.1 * errors[1]


@pytest.mark.parametrize(
    "learner",
    [LinearRegression(), LinearRegression(fit_intercept=False), DecisionTreeRegressor()],
    ids=str,
)
@pytest.mark.parametrize("feed_forward", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_a_stage_that_says_nothing_new_ends_the_run(learner, feed_forward, exact):
    """One fit has said it all; a second is a combination, which is no failure and no warning."""
    X, y = load_diabetes(return_X_y=True)
    y = X @ np.arange(1.0, 11.0) if exact else y
    options = {"orthogonalize": True, "feed_forward": feed_forward, "random_state": 0}
    model = StagewiseRegressor(learner, **options).fit(X, y)
    assert (model.n_iter_, model.stop_reason_) == (1, "no_column")
    assert model.column_weights_ == pytest.approx([1.0])


def test_a_function_of_a_sum_makes_a_product():
    """Additive models leave xy of x + y + xy; fed with the sum the next one has (x + y)² ([P] §4).

    In other words feeding forward makes more of the learner than a sum of what it can be.
    """
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    y = X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1]
    smoother = make_pipeline(SplineTransformer(n_knots=3, degree=2), LinearRegression())
    model = StagewiseRegressor(smoother, learning_rate=1.0, n_estimators=2, feed_forward=True)
    plain = StagewiseRegressor(smoother, learning_rate=1.0, n_estimators=2)
    assert plain.fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.9
    assert model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.99


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_fed_stages_are_wider_and_weights_count_in_the_loss(options):
    """A stage is kept for every round, its inputs the features and what is fed forward."""
    X, y = curve(120)
    learner = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = StagewiseRegressor(learner, n_estimators=60, early_stopping=True, n_iter_no_change=4)
    model.set_params(random_state=0, **options).fit(X, y)
    scores = model.history_["validation_mae"]
    assert model.stop_reason_ == "early_stopping"
    assert np.nanargmin(scores) == model.best_round_ == model.n_iter_ == len(model.estimators_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.shape == (2,)
    widths = [estimator.n_features_in_ for estimator in model.estimators_]
    assert widths == [2 + options["feed_forward"] * k for k in range(model.n_iter_)]
    weights = np.tile([1.0, 2.0, 0.0, 0.5], 30)
    model.set_params(early_stopping=False, n_estimators=5).fit(X, y, weights)
    loss = 0.5 * np.sum(weights * (y - model.predict(X)) ** 2)
    assert model.objective_ == pytest.approx(loss)
