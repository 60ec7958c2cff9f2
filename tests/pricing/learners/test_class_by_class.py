"""The pricer of LogitBoost for K classes: each class against the rest at the present scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from cgboost.losses.log_loss import LogLoss
from cgboost.losses.multinomial import Multinomial, log_odds
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.features.lines import LinePool, LinePricer
from cgboost.pricing.learners.class_by_class import ClassByClassPricer
from tests.effort import examples


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
