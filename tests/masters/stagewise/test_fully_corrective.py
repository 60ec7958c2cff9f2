"""The corrective master against independent fits."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import LinearRegression, LogisticRegression

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.losses.loss import DifferentiableLoss
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from tests.masters.stagewise.test_stagewise import LABELS, LOSSES, N_ROWS, RESPONSE, WEIGHTS, H


def refitted(loss: DifferentiableLoss, offset: str, columns: np.ndarray = H) -> MasterState:
    """State after all columns came, one a round."""
    master = CorrectiveMaster(loss, offset=offset)  # type: ignore[arg-type]
    for j in range(columns.shape[1]):
        master.add([Column(columns[:, j], j)])
        state = master.solve()
    return state


@pytest.mark.parametrize("offset", ["free", "none"])
def test_squared_error_is_least_squares(offset: str) -> None:
    """Coefficients and intercept are those of a weighted linear regression."""
    state = refitted(LOSSES["squared_error"], offset)
    reference = LinearRegression(fit_intercept=offset == "free").fit(H, RESPONSE, WEIGHTS)
    np.testing.assert_allclose(state.coef, reference.coef_, rtol=1e-9)
    assert state.intercept == pytest.approx(reference.intercept_, abs=1e-10)


def test_log_loss_is_logistic_regression() -> None:
    """Twice the coefficients are those of an unpenalised logistic regression."""
    state = refitted(LOSSES["log_loss"], "free")
    reference = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
    reference.fit(H, LABELS, WEIGHTS)
    np.testing.assert_allclose(2 * state.coef, reference.coef_[0], rtol=1e-5)
    assert 2 * state.intercept == pytest.approx(reference.intercept_[0], rel=1e-4)


def test_absolute_error_is_the_linear_program() -> None:
    """The objective is that of SciPy's solution of min Σ w|y − Hα − b|."""
    state = refitted(LOSSES["absolute_error"], "free")
    D = np.column_stack([H, np.ones(N_ROWS)])
    identity = np.eye(N_ROWS)
    reference = linprog(
        np.concatenate([np.zeros(4), WEIGHTS, WEIGHTS]),
        A_eq=np.hstack([D, identity, -identity]),
        b_eq=RESPONSE,
        bounds=[(None, None)] * 4 + [(0, None)] * (2 * N_ROWS),
    )
    assert state.objective == pytest.approx(reference.fun, rel=1e-9)


@pytest.mark.parametrize("offset", ["free", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_pseudo_response_is_orthogonal_to_every_column(name: str, offset: str) -> None:
    """At the optimum r·h = 0 for the columns in the master, duplicates and zeros included."""
    columns = np.column_stack([H, H[:, 0], np.zeros(N_ROWS), 1e6 * H[:, 1]])
    state = refitted(LOSSES[name], offset, columns)
    size = np.abs(columns).T @ np.abs(state.pseudo_response) + 1e-12
    assert np.all(np.abs(columns.T @ state.pseudo_response) <= 1e-6 * size)
    if offset == "free":
        assert abs(state.pseudo_response.sum()) <= 1e-6 * np.abs(state.pseudo_response).sum()


def test_separated_classes_end_with_finite_coefficients() -> None:
    """A loss without a minimum is followed only so far."""
    state = refitted(LOSSES["exponential"], "none", LABELS[:, None])
    assert np.isfinite(state.coef).all()
    assert state.coef[0] > 0
    assert state.objective <= WEIGHTS.sum()
