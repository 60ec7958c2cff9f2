"""What a master hands on, and what the next one does with it: another way, the same answer."""

from dataclasses import replace

import numpy as np
import pytest

from cgboost.losses import Huber, LogLoss, Loss, SquaredError, hinge
from cgboost.masters import OneNormMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L1, ElasticNet
from cgboost.penalties.penalty import Penalty
from tests.problems import FORMULATIONS, columns_of, random_problem


@pytest.mark.parametrize("solver", ["auto", "highs"])
def test_only_rows_near_their_margin_start_in_the_session(solver: str) -> None:
    """With the optimum of the same problem as its start, most rows are left out at once."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 20))
    loss = hinge(np.sign(H[:, 0] + 0.5 * rng.normal(size=300)), np.ones(300))
    first = OneNormMaster(loss, solver=solver)
    first.add(columns_of(H))
    optimum = first.solve()
    again = OneNormMaster(loss, solver=solver)
    again.start_from(replace(first.warm_start, loss=None))  # not along a path
    assert len(again._live.session.kept) <= 0.5 * len(loss.variables)
    again.add([c for c in columns_of(H) if c.key not in {own.key for own in again.columns}])
    assert again.solve().objective == pytest.approx(optimum.objective, rel=1e-7)


def test_what_a_master_hands_on() -> None:
    """The used columns with their coefficients; nothing before the first answer."""
    problem = random_problem(3)
    master = FORMULATIONS[0].master(problem.loss(FORMULATIONS[0]))
    assert len(master.warm_start.columns) == 0
    master.add(columns_of(problem.H))
    state = master.solve()
    start = master.warm_start
    used = np.flatnonzero(state.coef)
    assert [column.key for column in start.columns] == [state.columns[j].key for j in used]
    np.testing.assert_array_equal(start.coef, state.coef[used])
    assert start.intercept == state.intercept


@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.5)], ids=repr)
@pytest.mark.parametrize("loss", [SquaredError(), LogLoss(), Huber(0.5)], ids=repr)
def test_another_price_of_a_smooth_loss_goes_on(loss: Loss, penalty: Penalty) -> None:
    """With the columns and the restricted problem of the last price, to the same optimum."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(60, 15))
    y = np.sign(H[:, 0] + 0.5 * rng.normal(size=60))

    def made(price: float) -> SupportVectorMaster:
        return SupportVectorMaster(loss.on(y, np.full(60, price)), penalty)

    first = made(0.3)
    first.add(columns_of(H))
    first.solve()
    start = first.warm_start
    for price in (0.5, 0.6, 0.2):
        master, cold = made(price), made(price)
        master.start_from(start)
        held = {own.key for own in master.columns}
        master.add([column for column in columns_of(H) if column.key not in held])
        cold.add(columns_of(H))
        assert master.solve().objective == pytest.approx(cold.solve().objective, rel=1e-7)
        assert start.live is None or master._live is start.live[0]
        start = master.warm_start
        assert start.live is not None


def test_a_problem_of_another_form_starts_anew() -> None:
    """Another penalty or sign rule takes the coefficients over, not the restricted problem."""
    rng = np.random.default_rng(0)
    H, loss = rng.normal(size=(40, 5)), SquaredError().on(rng.normal(size=40), np.ones(40))
    first = SupportVectorMaster(loss, L1())
    first.add(columns_of(H))
    first.solve()
    start = first.warm_start
    for other in (
        SupportVectorMaster(loss, ElasticNet(0.5)),
        SupportVectorMaster(loss, L1(), coef="nonneg"),
        SupportVectorMaster(LogLoss().on(np.sign(H[:, 0]), np.ones(40)), L1(), offset="none"),
    ):
        other.start_from(start)
        assert start.live is not None
        assert other._live is not start.live[0]
        assert other.anticipated() is None


def test_columns_of_the_next_price_show_before_it_is_solved() -> None:
    """The scores of all columns in use at the next price exceed 1 where the last one ended."""
    rng = np.random.default_rng(3)
    H = rng.normal(size=(80, 30))
    y = H[:, :8] @ np.ones(8) + rng.normal(size=80)
    first = SupportVectorMaster(SquaredError().on(y, np.full(80, 0.1)), L1())
    first.add(columns_of(H))
    first.solve()
    second = SupportVectorMaster(SquaredError().on(y, np.full(80, 0.15)), L1())
    second.start_from(first.warm_start)
    state = second.anticipated()
    assert state is not None
    scores = np.abs(H.T @ state.pseudo_response)
    shown = {column.key for column, score in zip(columns_of(H), scores, strict=True) if score > 1.0}
    second.solve()
    used, now = ({column.key for column in master.warm_start.columns} for master in (first, second))
    assert used < now <= shown
