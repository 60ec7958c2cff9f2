"""Trees with leaves chosen for the loss, one for each output."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from cgboost.generation.columns import evaluate
from cgboost.losses import (
    AbsoluteError,
    Huber,
    LogLoss,
    Multinomial,
    Quantile,
    SquaredError,
    SupportVectorLoss,
    WeightedLoss,
)
from cgboost.losses.dual.support_vector import weighted_median
from cgboost.losses.loss import DifferentiableLoss
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.trees import TreePricer, as_single, newton_leaves, search_leaves

RNG = np.random.default_rng(0)
N_ROWS = 90
X = RNG.normal(size=(N_ROWS, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=N_ROWS)
WEIGHTS = RNG.integers(0, 3, N_ROWS).astype(float)
SMALL = {"max_depth": 2}


def pricer(leaves=None, **arguments) -> TreePricer:
    """Trees of depth 2 with Newton leaves."""
    leaves = newton_leaves() if leaves is None else leaves
    return TreePricer(X, WEIGHTS, leaves, **{"parameters": SMALL, "random_state": 0} | arguments)


def test_newton_leaves_are_newton_steps_of_the_loss() -> None:
    """The value of a leaf is the Newton step along its indicator."""
    loss = LogLoss().on(np.sign(Y), WEIGHTS)
    master = StagewiseMaster(loss, step=0.1)
    master.output = 0.5 * Y
    [column] = pricer().price(master.solve(), 1).columns
    assert len(np.unique(column.values)) == 4
    for value in np.unique(column.values):
        step = loss.newton_step(master.output, (column.values == value).astype(float))
        assert value == pytest.approx(step, rel=1e-10)


class Own(DifferentiableLoss):
    """A user's loss: the absolute error."""

    def __init__(self, target: np.ndarray, weights: np.ndarray) -> None:
        super().__init__(target, weights)
        self.same = AbsoluteError().on(target, weights)

    def value(self, output: np.ndarray) -> float:
        return self.same.value(output)

    def pseudo_response(self, output: np.ndarray) -> np.ndarray:
        return self.same.pseudo_response(output)

    def curvature(self, output: np.ndarray) -> np.ndarray:
        return self.same.curvature(output)

    def constant(self) -> float:
        return float(self.same.constant())

    def line_search(self, output: np.ndarray, direction: np.ndarray) -> float:
        return self.same.line_search(output, direction)


@pytest.mark.parametrize(
    "loss",
    [AbsoluteError().on(Y, WEIGHTS), Huber(0.1).on(Y, WEIGHTS), Own(Y, WEIGHTS)],
    ids=["absolute_error", "huber", "own"],
)
def test_searched_leaves_are_the_best_steps(loss: DifferentiableLoss) -> None:
    """The value of a leaf is the best constant for its rows, of the absolute error their median."""
    master = StagewiseMaster(loss, step=0.1, start="constant")
    [column] = pricer(search_leaves(loss)).price(master.solve(), 1).columns
    leaves = np.unique(column.values)
    assert len(leaves) > 1
    for value in leaves:
        here = column.values == value
        assert value == pytest.approx(loss.line_search(master.output, here.astype(float)))
        if not isinstance(loss, WeightedLoss) or loss.loss == AbsoluteError():
            residual = (Y - master.output)[here]
            assert value == pytest.approx(weighted_median(residual, WEIGHTS[here]))


class Falling(Quantile):
    """A loss that falls without end: r is never 0."""

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> SupportVectorLoss:
        return SupportVectorLoss(y, lower=cost, upper=2.0 * cost)


def test_where_there_is_no_step() -> None:
    """Where the loss falls without end nothing is added to f, and 0/0 is no step.

    Without room, or without a pseudo-response, there is no column.
    """
    loss = Falling().on(Y, WEIGHTS)
    [column] = pricer(search_leaves(loss)).price(StagewiseMaster(loss, step=0.1).solve(), 1).columns
    assert not column.values[WEIGHTS > 0].any()
    state = StagewiseMaster(LogLoss().on(np.sign(Y), np.ones(N_ROWS)), step=0.1)
    state.output = np.where(Y > 0, 400.0, 0.1)
    even = TreePricer(np.sign(Y)[:, None], np.ones(N_ROWS), newton_leaves(), parameters=SMALL)
    [column] = even.price(state.solve(), 1).columns
    assert not column.values[Y > 0].any()
    assert column.values[Y < 0].all()
    loss = SquaredError().on(Y, WEIGHTS)
    assert not pricer().price(StagewiseMaster(loss).solve(), 0).columns
    done = StagewiseMaster(loss)
    done.output = Y.copy()
    assert not pricer().price(done.solve(), 1).columns


def test_a_tree_for_every_output() -> None:
    """Tree k is grown on the residuals of class k and adds to its scores; columns are functions."""
    labels = np.digitize(Y, [-0.5, 0.5])
    loss = Multinomial(3).on(labels, np.ones(N_ROWS))
    state = StagewiseMaster(loss, step=0.1).solve()
    grown = TreePricer(X, np.ones(N_ROWS), newton_leaves(2 / 3), parameters=SMALL, random_state=0)
    priced = grown.price(state, 3)
    assert [column.output for column in priced.columns] == [0, 1, 2]
    assert (priced.n_evaluated, priced.exact) == (3, False)
    for k, column in enumerate(priced.columns):
        tree = column.hypothesis.estimator
        own = DecisionTreeRegressor(max_depth=2, random_state=tree.random_state)
        own.fit(X.astype(np.float32), (labels == k) - 1 / 3)
        np.testing.assert_array_equal(own.tree_.feature, tree.tree_.feature)
        np.testing.assert_array_equal(evaluate([column.hypothesis], X)[:, 0], column.values)
        np.testing.assert_array_equal(tree.predict(X), column.values)
    assert [column.output for column in grown.price(state, 2).columns] == [0, 1]


def test_trees_see_only_their_rows() -> None:
    """What is not drawn changes neither splits nor leaves; every round draws anew."""
    loss = SquaredError().on(Y, np.ones(N_ROWS))
    drawn = np.sort(np.random.RandomState(0).permutation(N_ROWS)[:30])
    wild = np.full(N_ROWS, 1e6)
    wild[drawn] = Y[drawn]
    values = []
    for target in (Y, wild):
        state = StagewiseMaster(SquaredError().on(target, loss.weights), step=0.1).solve()
        part = TreePricer(
            X, loss.weights, newton_leaves(), subsample=1 / 3, parameters=SMALL, random_state=0
        )
        rounds = [part.price(state, 1).columns[0].values for _ in range(2)]
        values.append(rounds[0])
        assert not np.array_equal(*rounds)
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TreePricer(X, np.ones(3), newton_leaves()), "X has 90 rows, weights have 3"),
        (lambda: pricer(subsample=1.5), "subsample must be a number > 0 and ≤ 1, got 1.5"),
        (lambda: as_single(np.array([[1e39]])), r"X must fit into float32, .* got 1e\+39"),
    ],
)
def test_bad_arguments(make, words) -> None:
    """Rows, subsample and features are checked by name."""
    with pytest.raises(ValueError, match=words):
        make()
