"""The master that knows rows by sums does as those that have them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from cgboost.additive.places.memory import MemoryAggregates, MemoryOutput
from cgboost.additive.stage import Stage
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.trees.transformation import Transformation
from cgboost.generation.columns import Column
from cgboost.generation.protocols import Priced
from cgboost.losses import Huber, LogLoss, SquaredError
from cgboost.losses.loss import Loss
from cgboost.losses.multinomial import Multinomial
from cgboost.masters.stagewise.aggregate import AggregateMaster
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.tables.binning import intervals_of
from cgboost.tables.row_blocks import TableRows

N_ROWS = 200
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N_ROWS, 3))
HELD = np.arange(N_ROWS) % 4 == 0
WEIGHTS = RNG.uniform(0.0, 2.0, N_ROWS)
TRAINING = np.where(HELD, 0.0, WEIGHTS)
SCORES = X @ np.array([1.0, -2.0, 0.5]) + RNG.normal(size=N_ROWS)
CASES: dict[str, tuple[Loss, np.ndarray]] = {
    "squared_error": (SquaredError(), 7.0 + SCORES),
    "huber": (Huber(0.5), 7.0 + SCORES),
    "log_loss": (LogLoss(), np.where(SCORES > 0.4, 1.0, -1.0)),
}


def sums_of(loss: Loss, target: np.ndarray) -> MemoryAggregates:
    """Rows with three features."""
    groups = [intervals_of(X[:, j], WEIGHTS, 8) for j in range(3)]
    passes = Passes(TableRows(X), WEIGHTS, HELD)
    return MemoryAggregates(passes, loss, target, WEIGHTS, groups, np.arange(N_ROWS))


def feature(sums: MemoryOutput, j: int) -> Stage:
    """A feature as a stage."""
    groups, n_groups = sums.groups[j], sums.groups[j].n_groups
    leaf, level = np.zeros(n_groups, dtype=np.intp), np.array([groups.origin])
    term = Transformation(j, groups, leaf, level, np.ones(1), np.zeros((1, 0)))
    return Stage(0.0, [(1.0, term)])


def run(
    loss: Loss, target: np.ndarray, **choices: float
) -> tuple[AggregateMaster, list[np.ndarray]]:
    """The master with all three features, one after the other, and their values."""
    sums = sums_of(loss, target)
    master, (own,) = AggregateMaster(sums, **choices), sums.parts
    for j in range(3):
        own.append(feature(own, j))
        master.add([Column(own.values(j), ("feature", j), None)])
    return master, [own.values(j) for j in range(3)]


@pytest.mark.parametrize("most", [np.inf, 0.3])
@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_the_stagewise_master(name: str, most: float) -> None:
    """With an intercept that moves with every step, and with bounds."""
    loss, target = CASES[name]
    master, values = run(loss, target, most=most)
    wanted = StagewiseMaster(loss.on(target, TRAINING), start="constant", offset="free", most=most)
    for j, column in enumerate(values):
        wanted.add([Column(column, ("feature", j), None)])
    state, known = master.solve(), wanted.solve()
    np.testing.assert_allclose(state.coef, known.coef, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(state.intercept, known.intercept, rtol=1e-7)
    np.testing.assert_allclose(state.objective, known.objective, rtol=1e-10)
    np.testing.assert_allclose(state.output, known.output, rtol=1e-6, atol=1e-8)
    outside = loss.on(target[HELD], WEIGHTS[HELD]).value(known.output[HELD])
    np.testing.assert_allclose(master.holdout_loss(), outside / WEIGHTS[HELD].sum(), rtol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_all_coefficients_are_those_of_the_corrective_master(name: str) -> None:
    """Chosen anew in every round."""
    loss, target = CASES[name]
    master, values = run(loss, target, corrective=True)
    wanted = CorrectiveMaster(loss.on(target, TRAINING), offset="free")
    wanted.add([Column(column, ("feature", j), None) for j, column in enumerate(values)])
    state, known = master.solve(), wanted.solve()
    np.testing.assert_allclose(state.coef, known.coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(state.objective, known.objective, rtol=1e-10)


def test_a_learning_rate_takes_a_part_of_every_step() -> None:
    """Of the change of the constant too; the loss is that of where f stands."""
    loss, target = CASES["squared_error"]
    sums = sums_of(loss, target)
    masters = [AggregateMaster(sums, learning_rate=rate) for rate in (1.0, 0.25)]
    constant = masters[0].solve().intercept
    (own,) = sums.parts
    own.append(feature(own, 1))
    steps = []
    for master in masters:
        master.add([Column(own.values(0), "first", None)])
        state = master.solve()
        steps.append((state.coef[0], state.intercept - constant))
        value = loss.on(target, TRAINING).value(state.output)
        assert state.objective == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(steps[1], 0.25 * np.array(steps[0]), rtol=1e-12)
    moves = []
    for rate in (1.0, 0.25):  # of several outputs; the constants of the start stay whole
        joint = joint_sums()
        several = AggregateMaster(joint, learning_rate=rate)
        start = several.solve()
        several.add([joint_column(joint, k) for k in range(3)])
        moves.append(several.solve().output - start.output)
        assert several.solve().objective < start.objective
    np.testing.assert_allclose(moves[1], 0.25 * moves[0], atol=1e-12)


def test_ends_of_a_run() -> None:
    """All rows are right: there is no minimum and nothing to price. The bound of an exact search.

    It is the objective where such a search found nothing, and otherwise there is none.
    """
    master, _ = run(LogLoss(), np.where(X[:, 0] > 0, 1.0, -1.0), corrective=True)
    state = master.solve()
    assert not state.bounded
    assert not state.pseudo_response.any()
    master, _ = run(*CASES["squared_error"])
    state = master.solve()
    settled = Priced(columns=(), exact=True, max_excess=0.0, total_excess=0.0)
    assert master.bound(state, settled) == state.objective
    assert master.bound(state, Priced(columns=())) is None


def test_columns_that_come_together_take_one_step() -> None:
    """That of their sum as one column."""
    loss, target = CASES["huber"]
    both_sums = sums_of(loss, target), sums_of(loss, target)
    whole, alone = map(AggregateMaster, both_sums)
    (sums,), (rows,) = (own.parts for own in both_sums)
    for j in range(2):
        sums.append(feature(sums, j))
    whole.add([Column(sums.values(j), ("feature", j), None) for j in range(2)])
    both = Stage(0.0, [*feature(rows, 0).terms, *feature(rows, 1).terms])
    rows.append(both)
    alone.add([Column(rows.values(0), "both", None)])
    np.testing.assert_allclose(whole.solve().coef, np.repeat(alone.solve().coef, 2), rtol=1e-7)
    assert whole.solve().objective == pytest.approx(alone.solve().objective, rel=1e-10)


@pytest.mark.parametrize("positive", [False, True])
def test_a_negative_step_is_not_taken_where_none_may_be(positive: bool) -> None:
    """The second feature lowers the loss by a negative coefficient alone."""
    loss, target = CASES["squared_error"]
    sums = sums_of(loss, target)
    master = AggregateMaster(sums, positive=positive)
    before = master.solve()
    (own,) = sums.parts
    own.append(feature(own, 1))
    master.add([Column(own.values(0), "second", None)])
    after = master.solve()
    assert (after.coef[0] < 0.0) == (not positive)
    assert (after.objective < before.objective) == (not positive)
    if positive:
        np.testing.assert_array_equal(after.output, before.output)


def joint_sums() -> MemoryAggregates:
    """Three classes, each with one of the three features as a column."""
    return sums_of(Multinomial(3), np.digitize(SCORES, [-1.0, 1.0]).astype(float))


def joint_column(sums: MemoryAggregates, k: int) -> Column:
    """The feature of a class, as its next column."""
    part = sums.parts[k]
    part.append(feature(part, k))
    number = part.n_outputs - 1
    return Column(part.values(number), (k, number), output=k)


@pytest.mark.parametrize("classes", [(0, 1, 2), (0, 2), (1,)])
@pytest.mark.parametrize("most", [np.inf, 0.5])
def test_steps_of_several_outputs_are_the_best_together(
    most: float, classes: tuple[int, ...]
) -> None:
    """L-BFGS-B over what each output changes by at the ends of its column finds no less."""
    sums = joint_sums()
    master = AggregateMaster(sums, most=most)
    start = master.solve()
    columns = [joint_column(sums, k) for k in classes]
    master.add(columns)
    state = master.solve()
    loss = Multinomial(3).on(np.digitize(SCORES, [-1.0, 1.0]).astype(float), TRAINING)
    assert start.objective == pytest.approx(loss.value(np.zeros((N_ROWS, 3)) + loss.constant()))
    assert state.objective == pytest.approx(loss.value(state.output), rel=1e-12)
    shares = np.zeros((N_ROWS, 3))
    counts = WEIGHTS > 0
    for column in columns:
        low, high = column.values[counts].min(), column.values[counts].max()
        shares[:, column.output] = (column.values - low) / (high - low)

    def at(ends: np.ndarray) -> tuple[float, np.ndarray]:
        f = start.output + ends[:3] * (1.0 - shares) + ends[3:] * shares
        r = -loss.pseudo_response(f)
        slopes = [(r * (1.0 - shares)).sum(axis=0), (r * shares).sum(axis=0)]
        return loss.value(f), np.concatenate(slopes)

    bounds = [(-most, most)] * 6
    best = minimize(at, np.zeros(6), jac=True, bounds=bounds, options={"ftol": 1e-15})
    assert state.objective == pytest.approx(best.fun, rel=1e-9)
    assert state.objective < start.objective
    assert np.abs(state.intercept.sum()) < 1e-12
    if most < np.inf:
        assert np.isclose(np.abs(best.x), most).any()


def test_several_outputs_are_corrected_together() -> None:
    """Columns that came class by class, in two rounds: the gradient by every coefficient is 0."""
    sums = joint_sums()
    master = AggregateMaster(sums, corrective=True)
    for classes in ((0, 1, 2), (0, 2)):
        columns = [joint_column(sums, (k + 1) % 3) for k in classes]
        master.add(columns)
    state = master.solve()
    for column, own in zip(state.columns, state.pseudo_response.T[[1, 2, 0, 1, 0]], strict=True):
        size = np.abs(own) @ np.abs(column.values)
        assert abs(own @ column.values) <= 1e-7 * size
    assert state.coef.shape == (5,)
    f = state.output
    for k in range(3):
        own = [
            (c, column)
            for c, column in zip(state.coef, state.columns, strict=False)
            if column.output == k
        ]
        wanted = state.intercept[k] + sum(c * column.values for c, column in own)
        np.testing.assert_allclose(f[:, k], wanted, atol=1e-10)
