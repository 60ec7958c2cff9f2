"""Offers that least squares has no room for are left out, and all others come through."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.losses import SquaredError
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.pricing.learners.learners import IndependentPricer, LearnerPricer, residuals
from tests.pricing.scripted import Scripted

RNG = np.random.default_rng(0)
N_ROWS = 80
HELD = RNG.normal(size=(6, N_ROWS)) + 1.0
WEIGHTS = 10.0 ** RNG.uniform(-4, 2, size=N_ROWS)


def columns(rows: np.ndarray, name: str) -> list[Column]:
    """The rows of an array as columns."""
    return [Column(values, (name, k)) for k, values in enumerate(rows)]


@pytest.mark.parametrize("leftover", [1.0, 1e-4, 1e-9])
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_combinations_are_left_out_and_new_columns_stay(size: float, leftover: float) -> None:
    """However small the residual is, whatever the units of the columns, with uneven weights."""
    target = RNG.normal(size=6) @ HELD + leftover * RNG.normal(size=N_ROWS)
    loss = SquaredError().on(target, WEIGHTS)
    master = OrthogonalMaster(loss)
    master.add(columns(HELD, "held"))
    dependent = columns(size * RNG.normal(size=(5, 6)) @ HELD, "dependent")
    residual = target - master.solve().output
    new = columns(size * np.array([residual, *RNG.normal(size=(2, N_ROWS))]), "new")
    offered = [*dependent[:3], *new, *dependent[3:]]
    pricer = IndependentPricer(Scripted(offered, exact=False), loss)
    priced = pricer.price(master.solve(), 8)
    assert list(priced.columns) == new
    assert priced.n_evaluated == 10
    master.add(priced.columns)  # which raises where a column is a combination of the others


def test_rounding_errors_of_an_exact_model_are_no_residual() -> None:
    """A fit to what is left of an exact model has a large cosine with it, and is left out."""
    loss = SquaredError().on(RNG.normal(size=6) @ HELD, np.ones(N_ROWS))
    master = OrthogonalMaster(loss)
    master.add(columns(HELD, "held"))
    state = master.solve()
    assert state.pseudo_response.any()
    fit = columns(state.pseudo_response[None], "fit")
    assert IndependentPricer(Scripted(fit, exact=False), loss).price(state, 1).columns == []


def test_a_run_ends_where_nothing_is_new() -> None:
    """The second fit of a linear model is a combination: no column, instead of a failed master."""
    X = RNG.normal(size=(N_ROWS, 3))
    loss = SquaredError().on(X @ [1.0, 2.0, 3.0], WEIGHTS)
    learners = {"working": residuals(WEIGHTS), "tol": 0.0, "repeats": True}
    reasons = []
    for wrap in (lambda pricer: pricer, lambda pricer: IndependentPricer(pricer, loss)):
        pricer = wrap(LearnerPricer(LinearRegression(fit_intercept=False), X, **learners))
        run = ColumnGeneration(OrthogonalMaster(loss), pricer, tol=0.0, max_rounds=5).run()
        reasons.append(str(run.stop_reason))
        assert len(run.columns) <= 2
    assert reasons[1] == "no_column"
    assert reasons[0] != "no_column"
