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
from cgboost.pricing.learners.tree_growth import TreeLimits
from cgboost.pricing.learners.trees import TreePricer, as_single, newton_leaves, search_leaves
from tests.pricing.learners.reference_trees import reference_tree

RNG = np.random.default_rng(0)
N_ROWS = 90
X = RNG.normal(size=(N_ROWS, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=N_ROWS)
WEIGHTS = RNG.integers(0, 3, N_ROWS).astype(float)
SMALL = TreeLimits(max_depth=2)


def pricer(leaves=None, **arguments) -> TreePricer:
    """Trees of depth 2 with Newton leaves."""
    leaves = newton_leaves() if leaves is None else leaves
    return TreePricer(X, WEIGHTS, leaves, **{"limits": SMALL, "random_state": 0} | arguments)


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
    even = TreePricer(np.sign(Y)[:, None], np.ones(N_ROWS), newton_leaves(), limits=SMALL)
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
    grown = TreePricer(X, np.ones(N_ROWS), newton_leaves(2 / 3), limits=SMALL, random_state=0)
    priced = grown.price(state, 3)
    assert [column.output for column in priced.columns] == [0, 1, 2]
    assert (priced.n_evaluated, priced.exact) == (3, False)
    for k, column in enumerate(priced.columns):
        tree = column.hypothesis.estimator
        own = reference_tree(X, (labels[:, None] == k) - 1 / 3, np.ones(N_ROWS), 2)(X)
        leaves = np.column_stack([own, tree.apply(X)])  # their numbers differ
        assert len(np.unique(leaves, axis=0)) == len(np.unique(own)) == tree.get_n_leaves()
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
            X, loss.weights, newton_leaves(), subsample=1 / 3, limits=SMALL, random_state=0
        )
        rounds = [part.price(state, 1).columns[0].values for _ in range(2)]
        values.append(rounds[0])
        assert not np.array_equal(*rounds)
    np.testing.assert_array_equal(*values)


def residual_tree(target: np.ndarray, weights: np.ndarray, rows: np.ndarray = X, **arguments):
    """The column of the first tree for the squared error, and its tree."""
    loss = SquaredError().on(target, weights)
    state = StagewiseMaster(loss, step=0.1).solve()
    [column] = TreePricer(rows, weights, newton_leaves(), **arguments).price(state, 1).columns
    return column.values, column.hypothesis.estimator


@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": None},
        {"max_depth": None, "min_samples_leaf": 0.1, "min_samples_split": 0.25},
        {"max_depth": None, "max_leaf_nodes": 7},
        {"max_depth": 3, "max_leaf_nodes": 6, "min_samples_leaf": 4},
        {"max_depth": 5, "min_samples_split": 20},
    ],
)
def test_limits_mean_what_they_mean_in_scikit_learn(limits) -> None:
    """The leaves are those of scikit-learn's tree with the same limits, and so are impurities."""
    ones, few = np.ones(N_ROWS), X[:, :1]  # one feature: no ties between features
    values, tree = residual_tree(Y, ones, few, limits=TreeLimits(**limits))
    own = DecisionTreeRegressor(**limits).fit(few, Y)
    np.testing.assert_allclose(values, own.predict(few), atol=1e-12)
    np.testing.assert_allclose(np.sort(tree.tree_.impurity), np.sort(own.tree_.impurity), atol=1e-9)
    assert (tree.get_depth(), tree.get_n_leaves()) == (own.get_depth(), own.get_n_leaves())


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_nodes_done_in_parts_make_the_same_tree(share: float, monkeypatch) -> None:
    """Where few nodes fit in memory at once they are divided one after the other."""
    chosen = {"limits": TreeLimits(max_depth=None), "subsample": share, "random_state": 0}
    whole, _ = residual_tree(Y, np.ones(N_ROWS), **chosen)
    monkeypatch.setattr("cgboost.pricing.learners.tree_growth.NODES_AT_ONCE", 1)
    parts, _ = residual_tree(Y, np.ones(N_ROWS), **chosen)
    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize(("unit", "heavy"), [(1e-150, 1.0), (1e60, 1e150), (1.0, 1e-100)])
def test_units_leave_the_leaves_as_they_are(unit: float, heavy: float) -> None:
    """Of targets and of weights; X has the range of float32."""
    weights = 1.0 + WEIGHTS
    values, tree = residual_tree(Y, weights, limits=SMALL)
    scaled, other = residual_tree(unit * Y, heavy * weights, 1e30 * X, limits=SMALL)
    np.testing.assert_allclose(scaled, unit * values, rtol=1e-12)
    np.testing.assert_array_equal(tree.tree_.feature, other.tree_.feature)


def test_joint_leaves_serve_all_outputs() -> None:
    """One tree takes most off the residuals of all classes together; each has its own values."""
    labels = np.digitize(Y, [-0.5, 0.5])
    state = StagewiseMaster(Multinomial(3).on(labels, WEIGHTS), step=0.1).solve()
    columns = pricer(newton_leaves(2 / 3), joint=True).price(state, 3).columns
    assert [column.output for column in columns] == [0, 1, 2]
    assert len({id(column.hypothesis.estimator) for column in columns}) == 1
    residual = np.eye(3)[labels] - 1 / 3
    apply = reference_tree(X, residual, WEIGHTS, 2)
    found = evaluate([column.hypothesis for column in columns], X)
    np.testing.assert_array_equal(found.T, [column.values for column in columns])
    for region in np.unique(apply(X)):
        here = (apply(X) == region) & (WEIGHTS > 0)
        mean = WEIGHTS[here] @ residual[here] / WEIGHTS[here].sum()
        np.testing.assert_allclose(found[here], np.broadcast_to(3 * mean, found[here].shape))


@pytest.mark.parametrize("most", [1, 0.4, "sqrt", "log2"])
def test_features_are_drawn_of_those_that_vary(most) -> None:
    """One of three is looked at; where only one varies, it is found."""
    limits = TreeLimits(max_depth=1, max_features=most)
    rounds = [residual_tree(Y, WEIGHTS, limits=limits, random_state=k)[1] for k in range(9)]
    assert {int(tree.tree_.feature[0]) for tree in rounds} == {0, 1, 2}
    alone = np.column_stack([np.ones((N_ROWS, 2)), X[:, 0]])
    assert residual_tree(Y, WEIGHTS, alone, limits=limits)[1].tree_.feature[0] == 2


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
