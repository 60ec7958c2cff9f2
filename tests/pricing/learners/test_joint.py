"""Pricers of several classes: of pairs of rows and classes, and class by class."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses import hinge, nu_hinge
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.multinomial import Multinomial, log_odds
from cgboost.masters import BudgetMaster, OneNormMaster, TwoNormMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing import JointPricer, Pairs, StrataPricer, StumpPool
from cgboost.pricing.learners.joint_pricer import ClassByClassPricer
from cgboost.pricing.univariate.lines import LinePool, LinePricer
from tests.effort import examples

N_CLASSES = 3
LABELS = np.arange(24) % N_CLASSES
X = np.random.default_rng(0).normal(size=(24, 2)) + LABELS[:, None] * [1.0, -0.5]
PAIRS = Pairs(LABELS, N_CLASSES)
ONES = np.ones(len(PAIRS))


def pricer(pool: StumpPool) -> JointPricer:
    """Exact pricing of all stumps for all classes."""
    return JointPricer(PAIRS, [StrataPricer(pool) for _ in range(N_CLASSES)], names="abc")


MASTERS = {
    "1-norm": lambda: OneNormMaster(hinge(ONES, 0.4 * ONES), offset="none"),
    "2-norm": lambda: TwoNormMaster(hinge(ONES, 0.4 * ONES), offset="none"),
    "budget": lambda: BudgetMaster(nu_hinge(ONES, ONES, 0.3, balanced=False), offset="none"),
}


@pytest.fixture(params=MASTERS)
def state(request: Any) -> MasterState:
    """A master with a few columns, at its optimum."""
    master = MASTERS[request.param]()
    result = ColumnGeneration(
        master, pricer(StumpPool(X)), columns_per_round=4, max_rounds=3, tol=0.0
    ).run()
    assert result.n_rounds == 3
    return master.solve()


def test_pairs_by_hand() -> None:
    """Row by row, the classes other than its own; a column counts for its class and against."""
    pairs = Pairs(np.array([0, 2]), 3)
    assert list(zip(pairs.row, pairs.against, strict=True)) == [(0, 1), (0, 2), (1, 0), (1, 1)]
    h = np.array([5.0, 7.0])
    np.testing.assert_array_equal(pairs.spread(h, 0), [5, 5, -7, 0])
    np.testing.assert_array_equal(pairs.spread(h, 1), [-5, 0, 0, -7])
    np.testing.assert_array_equal(pairs.spread(h, 2), [0, -5, 7, 7])
    np.testing.assert_array_equal(
        pairs.fold(np.array([1.0, 2.0, 3.0, 4.0])), [[3, -3], [-1, -4], [-2, 7]]
    )
    with pytest.raises(ValueError, match="labels must be between 0 and 1"):
        Pairs(np.array([0, 2]), 2)


@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_fold_is_the_adjoint_of_spread(n_classes: int, n_rows: int, seed: int) -> None:
    """u·spread(h, k) = fold(u)[k]·h, and the folded responses of a row cancel over the classes."""
    rng = np.random.default_rng(seed)
    pairs = Pairs(rng.integers(n_classes, size=n_rows), n_classes)
    u, h = rng.normal(size=len(pairs)), rng.normal(size=n_rows)
    folded = pairs.fold(u)
    for k in range(n_classes):
        assert u @ pairs.spread(h, k) == pytest.approx(folded[k] @ h, abs=1e-9)
    np.testing.assert_allclose(folded.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("limit", [1, 4, 6])
def test_columns_belong_to_classes_and_the_best_comes_first(state: MasterState, limit: int) -> None:
    """Over all classes, those of largest excess first, and named by class and stratum."""
    priced = pricer(StumpPool(X)).price(state, limit)
    scores = [column.values @ state.pseudo_response for column in priced.columns]
    excess = state.rule.excess(np.array(scores))
    assert (np.diff(excess) <= 1e-9 * excess[0]).all()  # equal ones come in any order
    assert 1 <= len(priced.columns) <= limit
    for column in priced.columns:
        stump = StumpPool(X).column(0, column.key[1][1])
        np.testing.assert_array_equal(column.values, PAIRS.spread(stump.values, column.output))
        assert column.stratum == f"class {'abc'[column.output]}: stump"
    assert priced.stratum == priced.columns[0].stratum


class Listener:
    """A pricer that keeps what it is asked and offers one column."""

    def __init__(self, *, exact: bool = True) -> None:
        self.exact = exact

    def price(self, state: MasterState, limit: int) -> Priced:
        self.state, self.limit = state, limit
        column = Column(np.ones(24), "one", stratum="heard")
        excess = 1.0 if self.exact else np.nan
        return Priced([column], exact=self.exact, max_excess=excess, total_excess=excess)


def test_what_the_pricer_of_a_class_sees(state: MasterState) -> None:
    """Rows instead of pairs: the class's own columns, output, pseudo-response and errors.

    Without an exact search in every class there is no certificate.
    """
    listeners = [Listener(), Listener(exact=False), Listener()]
    priced = JointPricer(PAIRS, listeners).price(state, 3)
    assert not priced.exact
    assert np.isnan([priced.max_excess, priced.total_excess]).all()
    listeners = [Listener() for _ in range(N_CLASSES)]
    JointPricer(PAIRS, listeners).price(state, 3)
    outputs = np.array([listener.state.output for listener in listeners])
    margins = outputs[LABELS[PAIRS.row], PAIRS.row] - outputs[PAIRS.against, PAIRS.row]
    np.testing.assert_allclose(margins, state.output, atol=1e-9)
    for k, listener in enumerate(listeners):
        seen = listener.state
        mine = [column for column in state.columns if column.output == k]
        assert [(k, column.key) for column in seen.columns] == [column.key for column in mine]
        assert len(seen.coef) == len(seen.columns)
        np.testing.assert_array_equal(seen.pseudo_response, PAIRS.fold(state.pseudo_response)[k])
        concerned = (LABELS[PAIRS.row] == k) | (PAIRS.against == k)
        slack = np.bincount(PAIRS.row, weights=np.where(concerned, state.slack, 0.0))
        np.testing.assert_allclose(seen.slack, slack)


def test_every_class_needs_a_pricer() -> None:
    """Too few pricers are an error that says how many are wanted."""
    with pytest.raises(ValueError, match="3 outputs need as many pricers, got 1"):
        JointPricer(PAIRS, [Listener()])


@pytest.mark.parametrize(("limit", "share"), [(1, 1), (3, 1), (4, 2), (6, 2), (7, 3)])
def test_the_share_of_a_class_is_rounded_up(state: MasterState, limit: int, share: int) -> None:
    """Each class is asked for an equal share of the columns, and sees no offset."""
    listeners = [Listener() for _ in range(N_CLASSES)]
    JointPricer(PAIRS, listeners).price(replace(state, intercept=3.0), limit)
    assert [own.limit for own in listeners] == [share] * 3
    assert all(own.state.intercept == 0.0 for own in listeners)


def problem(seed: int, n_classes: int) -> tuple[StagewiseMaster, ClassByClassPricer, np.ndarray]:
    """A master at arbitrary scores, its pricer over lines, and the rows."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 5)), rng.integers(n_classes, size=40)
    weights = rng.uniform(0.5, 2.0, size=40)
    master = StagewiseMaster(Multinomial(n_classes).on(y, weights), step=0.5)
    master.output[:] = rng.normal(size=master.output.shape)
    pool = LinePool(X)
    losses = [LogLoss().on(np.where(y == k, 1.0, -1.0), weights) for k in range(n_classes)]
    return master, ClassByClassPricer([LinePricer(pool, loss) for loss in losses], losses), X


@settings(max_examples=examples(30), deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 6))
def test_the_line_of_a_class_lowers_the_deviance_most(seed: int, n_classes: int) -> None:
    """No other feature's Newton line, added to that class's score alone, has a lower deviance."""
    master, pricer, X = problem(seed, n_classes)
    state, loss = master.solve(), master.loss
    priced = pricer.price(state, n_classes)
    assert [column.output for column in priced.columns] == list(range(n_classes))
    assert len({column.key for column in priced.columns}) == n_classes
    for column in priced.columns:
        k = column.output
        r, w = state.pseudo_response[:, k], state.curvature[:, k]
        moved = state.output.copy()
        moved[:, k] += 2.0 * column.values
        reached = loss.value(moved)
        for x in X.T:
            moved = state.output.copy()
            moved[:, k] += np.polyval(np.polyfit(x, r / w, 1, w=np.sqrt(w)), x)
            assert reached <= loss.value(moved) + 1e-9


@settings(max_examples=examples(50), deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1.0, 30.0, 600.0]))
def test_log_odds(seed: int, scale: float) -> None:
    """They are each score less the logarithm of the sum over the others, with huge scores too."""
    f = scale * np.random.default_rng(seed).normal(size=(5, 4))
    for k in range(4):
        others = logsumexp(np.delete(f, k, axis=1), axis=1)
        np.testing.assert_allclose(log_odds(f)[:, k], f[:, k] - others, rtol=1e-12, atol=1e-12)


def test_each_class_needs_a_pricer_and_has_its_turn() -> None:
    """Another number of pricers is an error; for two columns the first two classes are asked."""
    master, pricer, _ = problem(0, 3)
    assert [column.output for column in pricer.price(master.solve(), 2).columns] == [0, 1]
    with pytest.raises(ValueError, match="3 classes need as many pricers, got 2"):
        ClassByClassPricer(pricer.pricers[:2], pricer.losses)
