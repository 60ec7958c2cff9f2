"""Learners that see earlier stages: what they are fitted to, and what they are on new rows."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import cgboost.pricing.learners.stage_learners as module
from cgboost import ColumnGeneration
from cgboost.generation.columns import Column, evaluate, weighted_sum
from cgboost.losses import SquaredError
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.learners import LearnerPricer
from cgboost.pricing.learners.stage_learners import FeedForwardFeatures, FeedForwardPricer
from tests.estimators.data import curve

X, Y = curve(90)
NEW, _ = curve(37, seed=1)
LOSS = SquaredError().on(Y, np.ones(len(Y)))

LEARNERS = [
    DecisionTreeRegressor(max_depth=2, random_state=0),
    KNeighborsRegressor(5),
    RandomForestRegressor(3, max_depth=3),
]


def pricer(learner, X=X, **options):
    """Learners on X that see each other."""
    return FeedForwardPricer(LearnerPricer(learner, X, tol=0.0, random_state=0, **options))


def stages(learner, count=6, X=X, per_round=1, **options):
    """The columns of a run of so many rounds."""
    loop = ColumnGeneration(
        StagewiseMaster(LOSS, step=0.5),
        pricer(learner, X, **options),
        tol=0.0,
        max_rounds=count + 1,
        columns_per_round=per_round,
    )
    return loop.run().columns


def by_hand(columns, rows, dtype=np.float64):
    """Values of the learners one after another, each on the features and all values so far."""
    inputs, values = rows, []
    for column in columns:
        n_more = column.hypothesis.n_inputs - rows.shape[1]
        inputs = np.column_stack([rows, *values[:n_more]]).astype(dtype)
        values.append(column.hypothesis.learner.scale * column.hypothesis.estimator.predict(inputs))
    return np.column_stack(values)


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_hypotheses_are_their_columns_and_composed_learners(learner, repeats):
    """On the training rows the columns, on new rows what a composition by hand gives."""
    columns = stages(learner, repeats=repeats)
    hypotheses = [column.hypothesis for column in columns]
    assert len(hypotheses) > 3
    assert [h.estimator.n_features_in_ - 2 for h in hypotheses] == list(range(len(hypotheses)))
    values = np.column_stack([column.values for column in columns])
    np.testing.assert_allclose(evaluate(hypotheses, X), values, rtol=1e-12)
    np.testing.assert_allclose(evaluate(hypotheses, NEW), by_hand(columns, NEW), rtol=1e-12)


def test_any_choice_of_hypotheses_in_any_order(monkeypatch):
    """One alone, the last without the others, a repeated one, and their weighted sum.

    Rows are evaluated a few at a time where the inputs would take much memory.
    """
    columns = stages(LEARNERS[0])
    hypotheses = [column.hypothesis for column in columns]
    wanted = by_hand(columns, NEW)
    for places in ([5], [0], [4, 1], [3, 3, 0], [5, 4, 3, 2, 1, 0]):
        chosen = [hypotheses[j] for j in places]
        np.testing.assert_allclose(evaluate(chosen, NEW), wanted[:, places])
    coef = np.array([0.0, 1.0, 0.0, -2.0, 0.5, 3.0])
    monkeypatch.setattr(module, "PREDICTION_BLOCK", 30)
    np.testing.assert_allclose(weighted_sum(hypotheses, coef, NEW), wanted @ coef)
    np.testing.assert_allclose(evaluate(hypotheses, NEW), wanted)


def test_columns_of_one_round_see_the_same_stages():
    """Several columns a round become several stages, each with the inputs of its round."""
    learner = DecisionTreeRegressor(max_depth=3, max_features=1)
    columns = stages(learner, count=3, per_round=2)
    widths = [column.hypothesis.n_inputs for column in columns]
    assert widths == [2, 2, 4, 4, 6, 6]
    values = np.column_stack([column.values for column in columns])
    hypotheses = [column.hypothesis for column in columns]
    np.testing.assert_allclose(evaluate(hypotheses, X), values)
    np.testing.assert_allclose(evaluate(hypotheses, NEW), by_hand(columns, NEW))


def test_single_precision_stays():
    """float32 features have float32 inputs beside them, in the fit and on new rows."""
    single = X.astype(np.float32)
    columns = stages(LEARNERS[0], X=single)
    values = np.column_stack([column.values for column in columns])
    np.testing.assert_array_equal(evaluate([own.hypothesis for own in columns], single), values)
    assert values.dtype == np.float64
    fed = pricer(LEARNERS[0], single)
    fed.price(StagewiseMaster(LOSS).solve(), 1)
    assert fed.learners.X.dtype == np.float32


def test_inputs_grow_past_their_room():
    """Outputs beyond the first room keep what was there.

    The best single input of the second fit is the first stage, where that is the target.
    """
    inputs = FeedForwardFeatures(X, room=1)
    outputs = np.random.default_rng(0).normal(size=(9, len(X)))
    for output in outputs:
        inputs.append(output)
    np.testing.assert_array_equal(inputs.values, np.column_stack([X, outputs.T]))
    columns = stages(LinearRegression(), count=2, repeats=True)
    second = columns[1].hypothesis
    assert second.n_inputs == 3
    np.testing.assert_allclose(
        second.predict(np.column_stack([X, columns[0].values])), columns[1].values
    )


def test_importances_hand_the_share_of_an_output_on():
    """They add up to 1, and equal a sum over all paths from the learner down to the features."""
    hypotheses = [column.hypothesis for column in stages(DecisionTreeRegressor(max_depth=3))]
    wanted = []
    for hypothesis in hypotheses:
        shares = hypothesis.estimator.feature_importances_
        wanted.append(shares[:2] + sum(s * w for s, w in zip(shares[2:], wanted, strict=True)))
    found = [hypothesis.importances(2) for hypothesis in hypotheses]
    np.testing.assert_allclose(found, wanted)
    np.testing.assert_allclose(np.sum(found, axis=1), 1.0)
    assert any(h.estimator.feature_importances_[2:].any() for h in hypotheses)
    with pytest.raises(AttributeError, match="feature_importances_"):
        stages(KNeighborsRegressor(3))[-1].hypothesis.importances(2)


def test_copies_are_the_same_functions():
    """The stages that a hypothesis needs travel with it, however many there are."""
    hypotheses = [column.hypothesis for column in stages(LEARNERS[0], 300, repeats=True)]
    assert len(hypotheses) == 300
    wanted = evaluate(hypotheses, NEW)
    for copied in (pickle.loads(pickle.dumps(hypotheses)), copy.deepcopy(hypotheses)):
        np.testing.assert_array_equal(evaluate(copied, NEW), wanted)


def test_a_column_from_elsewhere_is_refused():
    """New rows would have no such input."""
    master = OrthogonalMaster(LOSS)
    master.add([Column(X[:, 0], "foreign")])
    with pytest.raises(TypeError, match="column 'foreign' does not come from this FeedForward"):
        pricer(LEARNERS[0]).price(master.solve(), 1)
