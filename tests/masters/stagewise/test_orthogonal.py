"""The orthogonal master is least squares over all columns, and knows every model on the way."""

import numpy as np
import pytest

from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.losses import SquaredError
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster

RNG = np.random.default_rng(0)
N_ROWS, N_COLUMNS = 60, 25
H = RNG.normal(size=(N_ROWS, N_COLUMNS)) + 1.0
WEIGHTS = RNG.uniform(0.5, 2.0, N_ROWS)
Y = H[:, :3] @ [1.0, -2.0, 3.0] + RNG.normal(size=N_ROWS) + 4.0
LOSS = SquaredError().on(Y, WEIGHTS)


def columns(H: np.ndarray) -> list[Column]:
    """The columns of a matrix, by number."""
    return [Column(values, j) for j, values in enumerate(H.T)]


def least_squares(places: list[int], *, offset: bool) -> tuple[np.ndarray, float]:
    """Weighted coefficients (the intercept first) and ½ Σ w u² of some columns of H."""
    design = np.column_stack([*([np.ones(N_ROWS)] if offset else []), H[:, places]])
    roots = np.sqrt(WEIGHTS)
    coef = np.linalg.lstsq(design * roots[:, None], Y * roots, rcond=None)[0]
    return coef, LOSS.value(design @ coef)


@pytest.mark.parametrize("offset", ["free", "none"])
def test_every_solve_is_weighted_least_squares(offset: str) -> None:
    """Coefficients, intercept, objective, output and r after every column, past one growth of Q."""
    master = OrthogonalMaster(LOSS, offset=offset)
    for size, column in enumerate(columns(H), start=1):
        master.add([column])
        state = master.solve()
        coef, objective = least_squares(list(range(size)), offset=offset == "free")
        found = [state.intercept, *state.coef] if offset == "free" else state.coef
        np.testing.assert_allclose(found, coef, rtol=1e-9, atol=1e-11)
        assert state.objective == pytest.approx(objective, rel=1e-11)
        np.testing.assert_allclose(state.output, H[:, :size] @ state.coef + state.intercept)
        np.testing.assert_allclose(state.pseudo_response, LOSS.pseudo_response(state.output))
        np.testing.assert_allclose(H[:, :size].T @ state.pseudo_response, 0.0, atol=1e-10)


@pytest.mark.parametrize("offset", ["free", "none"])
@pytest.mark.parametrize("size", [1, 4, N_COLUMNS])
def test_leaving_out_each_column(offset: str, size: int) -> None:
    """‖u‖² without column j of any earlier model, against as many least-squares problems."""
    master = OrthogonalMaster(LOSS, offset=offset)
    master.add(columns(H))
    wanted = [
        2 * least_squares([k for k in range(size) if k != j], offset=offset == "free")[1]
        for j in range(size)
    ]
    np.testing.assert_allclose(master.squares_without(size), wanted, rtol=1e-10)


@pytest.mark.parametrize("offset", ["free", "none"])
@pytest.mark.parametrize("places", [[], [2], [0, 5, 17]])
def test_refitting_some_of_the_columns(offset: str, places: list[int]) -> None:
    """Least squares on a subset, none of it included, from R alone."""
    master = OrthogonalMaster(LOSS, offset=offset)
    master.add(columns(H))
    coef, intercept, objective = master.refitted(places)
    wanted, value = least_squares(places, offset=offset == "free")
    found = [intercept, *coef] if offset == "free" else coef
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert objective == pytest.approx(value, rel=1e-11)


def test_q_stays_orthogonal_for_columns_that_are_nearly_alike() -> None:
    """Columns that differ by 1e-7 leave r orthogonal to all of them, to rounding."""
    near = H[:, :1] + 1e-7 * H[:, 1:11]
    master = OrthogonalMaster(LOSS)
    master.add(columns(near))
    state = master.solve()
    angles = near.T @ state.pseudo_response
    sizes = np.linalg.norm(near, axis=0) * np.linalg.norm(state.pseudo_response)
    assert (np.abs(angles) <= 1e-14 * sizes).all()


def test_a_combination_of_columns_is_refused() -> None:
    """A column in the span of the others has no coefficient of its own."""
    master = OrthogonalMaster(LOSS, offset="free")
    master.add(columns(H[:, :3]))
    with pytest.raises(MasterError, match="column 'sum' is a combination"):
        master.add([Column(H[:, 0] + 2 * H[:, 2] - 5.0, "sum")])
