"""Lines in one feature: the closed form, the bound, and the choice that it must not change."""

import numpy as np
import pytest

from cgboost.generation.protocols import MasterState
from cgboost.losses import LogLoss, WeightedLoss
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.univariate.lines import LinePool, LinePricer

RNG = np.random.default_rng(0)
N_ROWS, N_FEATURES = 70, 12


def problem(seed: int = 0, *, far: float = 1.0) -> tuple[np.ndarray, WeightedLoss, MasterState]:
    """Rows, a weighted loss, and the state of a master somewhere away from 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) * rng.uniform(0.1, 10, N_FEATURES) + 5.0
    y = np.where(X[:, 0] / X[:, 0].std() + rng.normal(size=N_ROWS) > 5 / X[:, 0].std(), 1.0, -1.0)
    loss = LogLoss().on(y, rng.uniform(0.0, 2.0, N_ROWS))
    master = StagewiseMaster(loss, step=1.0)
    master.output = far * rng.normal(size=N_ROWS)
    return X, loss, master.solve()


def by_lstsq(X: np.ndarray, state: MasterState) -> np.ndarray:
    """Weighted least-squares lines on every feature, shape (n_features, 2)."""
    w = np.sqrt(state.curvature)
    z = np.divide(state.pseudo_response, state.curvature, out=np.zeros(N_ROWS), where=w > 0)
    designs = [np.column_stack([np.ones(N_ROWS), x]) * w[:, None] for x in X.T]
    return np.array([np.linalg.lstsq(design, w * z)[0] for design in designs])


@pytest.mark.parametrize("far", [0.0, 1.0, 8.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_line_is_the_best_of_all_least_squares_lines(seed: int, far: float) -> None:
    """Skipping features by the bound chooses what evaluating all of them chooses.

    Of equal features the first comes.
    """
    X, loss, state = problem(seed, far=far)
    fits = by_lstsq(X, state)
    losses = [loss.value(state.output + u @ [np.ones(N_ROWS), x]) for u, x in zip(fits, X.T)]  # noqa: B905
    [column] = LinePricer(LinePool(X), loss).price(state, 1).columns
    best = int(np.argmin(losses))
    line = column.hypothesis
    assert line.feature == best
    np.testing.assert_allclose([line.offset, line.slope], fits[best], rtol=1e-9)
    np.testing.assert_allclose(column.values, line.offset + line.slope * X[:, best])
    [again] = LinePricer(LinePool(np.hstack([X, X])), loss).price(state, 1).columns
    assert again.hypothesis == line


@pytest.mark.parametrize("far", [0.0, 1.0, 8.0, 400.0])
def test_no_line_lowers_the_loss_by_more_than_its_bound(far: float) -> None:
    """Also where rows have lost their Newton weight (f beyond 350) but not their loss."""
    X, loss, state = problem(far=far)
    pool = LinePool(X)
    lines = LinePricer(pool, loss)._fitted(state)
    falls = np.array(
        [
            state.objective - loss.value(state.output + pool.values(pool.line(lines, j)))
            for j in range(N_FEATURES)
        ]
    )
    assert (falls <= lines.drop + 1e-9 * state.objective).all()
    assert (state.curvature == 0).any() == (far == 400.0)


def test_the_bound_counts_rows_that_the_fit_does_not_see() -> None:
    """A row without a Newton weight, far out on a feature, may make most of what a line gains."""
    X, loss, _ = problem()
    master = StagewiseMaster(loss, step=1.0)
    master.output[0] = -400.0 * loss.target[0]
    X[0] = 1e3 * loss.target[0] * np.sign(loss.target @ (X - X.mean(axis=0)))
    state, pool = master.solve(), LinePool(X)
    lines = LinePricer(pool, loss)._fitted(state)
    values = pool.values(pool.line(lines, 0))
    fall = state.objective - loss.value(state.output + values)
    seen = np.where(state.curvature > 0, state.pseudo_response, 0.0)
    assert seen @ values < fall / 10
    assert fall <= lines.drop[0]


def test_the_bound_skips_most_features() -> None:
    """Of many features only few are evaluated."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 400))
    y = np.where(X[:, 3] + 0.5 * rng.normal(size=300) > 0, 1.0, -1.0)
    loss = LogLoss().on(y, np.ones(300))
    calls, value = [], loss.value
    state = StagewiseMaster(loss, step=1.0).solve()
    loss.value = lambda output: calls.append(1) or value(output)  # type: ignore[method-assign]
    [column] = LinePricer(LinePool(X), loss).price(state, 1).columns
    assert column.hypothesis.feature == 3
    assert 1 <= len(calls) < 10


def test_what_has_no_slope_or_no_line() -> None:
    """Where a c = b² the intercept comes alone, d/a, whether the constant is large or small.

    There is no column without room, pseudo-response or Newton weight.
    """
    X, loss, state = problem()
    for value in (0.0, 1.0, 0.1, 1e9):
        X[:] = value
        [column] = LinePricer(LinePool(X), loss).price(state, 1).columns
        assert column.hypothesis.slope == 0.0
        step = state.pseudo_response.sum() / state.curvature.sum()
        np.testing.assert_allclose(column.values, step, rtol=1e-9)
    X, loss, state = problem()
    pricer = LinePricer(LinePool(X), loss)
    assert not pricer.price(state, 0).columns
    nothing, flat = StagewiseMaster(loss, step=1.0), StagewiseMaster(loss, step=1.0)
    nothing.output, flat.output = 1e4 * loss.target, -1e4 * loss.target
    assert not pricer.price(nothing.solve(), 1).columns
    assert flat.solve().pseudo_response.any()
    assert not pricer.price(flat.solve(), 1).columns


@pytest.mark.parametrize(("block", "width"), [(1, 1), (7, 5), (2**17, 5), (7, 2**13)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_do_not_depend_on_the_blocks(
    block: int, width: int, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Σ wx, Σ wx² and Σ rx of the centred features, in float64, however X is cut."""
    monkeypatch.setattr("cgboost.pricing.univariate.lines.SQUARES_AT_ONCE", block * N_FEATURES)
    monkeypatch.setattr("cgboost.pricing.univariate.lines.FEATURES_IN_BLOCK", width)
    X = RNG.normal(size=(N_ROWS, N_FEATURES)).astype(dtype)
    w, r = RNG.uniform(size=N_ROWS), RNG.normal(size=N_ROWS)
    pool = LinePool(X)
    Z = X.astype(float) - X.astype(float).mean(axis=0)
    for found, wanted in zip(pool.moments(w, r), (w @ Z, w @ Z**2, r @ Z), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert pool.X.dtype == dtype


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), r"X must be a finite, non-empty matrix, got shape \(3,\)"),
        (np.array([[np.nan]]), r"finite"),
        (np.array([[1e200], [-1e200]]), r"must not spread over more than 1e\+150, got 1e\+200"),
        (np.ones((69, 1)), "X has 69 rows, the loss has 70"),
    ],
)
def test_bad_features(X: np.ndarray, message: str) -> None:
    """The error says what X is; it is of the same rows as the loss."""
    with pytest.raises(ValueError, match=message):
        LinePricer(LinePool(X), problem()[1])
