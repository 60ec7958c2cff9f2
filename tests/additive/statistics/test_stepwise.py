"""Stepwise regression from statistics is stepwise regression on rows."""

import numpy as np
import pytest

from cgboost.additive.statistics.moments import (
    Moments,
    full,
    mean_squares,
    stepwise,
    stepwise_signed,
)
from cgboost.additive.statistics.products import SharedGroupProducts


def errors(Z: np.ndarray, r: np.ndarray, columns: list[int]) -> tuple[float, np.ndarray, float]:
    """Least squares on some columns: squared error, coefficients of all, intercept."""
    A = np.column_stack([np.ones(len(r)), Z[:, columns]])
    solution = np.linalg.lstsq(A, r, rcond=None)[0]
    coef = np.zeros(Z.shape[1])
    coef[columns] = solution[1:]
    return float(((r - A @ solution) ** 2).sum()), coef, float(solution[0])


def textbook(
    training: tuple[np.ndarray, np.ndarray], holdout: tuple[np.ndarray, np.ndarray], price: float
) -> tuple[np.ndarray, float]:
    """Forward selection by least squares; the number of regressors by the holdout error."""
    (Z, r), (Z_out, r_out) = training, holdout
    inside: list[int] = []
    best = (np.inf, np.zeros(Z.shape[1]), 0.0)
    for step in range(Z.shape[1] + 1):
        _, coef, level = errors(Z, r, inside)
        cost = ((r_out - level - Z_out @ coef) ** 2).sum() + (step + 1) * price
        best = min(best, (cost, coef, level), key=lambda found: found[0])
        outside = [j for j in range(Z.shape[1]) if j not in inside]
        if outside:
            inside.append(min(outside, key=lambda j: errors(Z, r, [*inside, j])[0]))
    return best[1], best[2]


def rows(
    seed: int, n_rows: int, coef: list[float], *, offset: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Correlated regressors and a response with noise."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, len(coef))) + 0.7 * rng.normal(size=(n_rows, 1)) + offset
    return Z, Z @ np.array(coef) + rng.normal(size=n_rows)


def moments(Z: np.ndarray, r: np.ndarray) -> Moments:
    """Statistics of one group."""
    return Moments.of(np.column_stack([Z, r]), np.ones(len(r)))


COEF = [2.0, 0.0, -1.0, 0.3, 0.0, 0.05]


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("price", [0.0, 4.0])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_textbook_method(seed: int, price: float, offset: float) -> None:
    """The same regressors, coefficients and errors as forward selection by least squares."""
    training = rows(seed, 60, COEF, offset=offset)
    holdout = rows(seed + 100, 40, COEF, offset=offset)
    found = stepwise(moments(*training), moments(*holdout), price=price)
    coef, intercept = textbook(training, holdout, price)
    np.testing.assert_array_equal(found.coef[0] != 0, coef != 0)
    np.testing.assert_allclose(found.coef[0], coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.intercept[0], intercept, rtol=1e-6, atol=1e-8)
    for name, (Z, r), extra in (("training", training, 0.0), ("holdout", holdout, price)):
        wanted = ((r - intercept - Z @ coef) ** 2).sum() + extra * (1 + np.count_nonzero(coef))
        np.testing.assert_allclose(getattr(found, name)[0], wanted, rtol=1e-6)


def test_every_group_has_its_own_model() -> None:
    """Many groups at once are as each alone; an empty group has the mean 0 and no regressor."""
    parts = [rows(k, 30 + 10 * k, np.roll(COEF, k).tolist()) for k in range(4)]
    codes = np.repeat([0, 1, 2, 4], [len(r) for _, r in parts])
    Z, r = np.vstack([Z for Z, _ in parts]), np.concatenate([r for _, r in parts])
    batch = SharedGroupProducts(np.column_stack([Z, r]), np.ones(len(r))).grouped(codes, 5)
    found = stepwise(batch, batch, price=3.0)
    for group, part in zip([0, 1, 2, 4], parts, strict=True):
        alone = stepwise(moments(*part), moments(*part), price=3.0)
        np.testing.assert_allclose(found[[group]].coef, alone.coef, atol=1e-10)
        np.testing.assert_allclose(found.training[group], alone.training[0], rtol=1e-9)
    assert not found.coef[3].any()
    assert found.intercept[3] == 0.0
    assert (found.training[3], found.holdout[3]) == (0.0, 3.0)


def test_collinear_regressors_enter_once() -> None:
    """Copies, negatives and sums of regressors are left out, and the first of copies is taken."""
    Z, r = rows(0, 80, [2.0, -1.0])
    wide = np.column_stack([Z, Z[:, 0], -Z[:, 1], Z.sum(axis=1), np.full(80, 3.0)])
    found = stepwise(moments(wide, r), moments(wide, r))
    _, coef, _ = errors(Z, r, [0, 1])
    np.testing.assert_allclose(np.count_nonzero(found.coef), 2)
    np.testing.assert_allclose(wide @ found.coef[0], Z @ coef, atol=1e-8)
    copies = np.column_stack([Z[:, 0], Z[:, 0], Z[:, 0]])
    assert np.flatnonzero(stepwise(moments(copies, r), moments(copies, r)).coef[0]).tolist() == [0]


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4])
def test_fewer_rows_than_regressors(n_rows: int) -> None:
    """There are always more rows than coefficients, so that no model fits by having too many."""
    training, holdout = rows(0, n_rows, COEF), rows(1, 40, COEF)
    found = stepwise(moments(*training), moments(*holdout))
    assert np.count_nonzero(found.coef) <= max(0, n_rows - 2)
    assert np.isfinite(found.coef).all()
    assert np.isfinite(full(moments(*training), 1e-6)).all()


def test_no_holdout_rows_leave_the_mean() -> None:
    """Where nothing can be judged, the simplest model is taken."""
    Z, r = rows(0, 50, COEF)
    found = stepwise(moments(Z, r), Moments.empty(1, 7))
    assert not found.coef.any()
    np.testing.assert_allclose(found.intercept, r.mean())


def test_means_that_differ_by_rounding_are_no_regressor() -> None:
    """A regressor that is constant but for rounding errors of merged means cannot tell parts apart.

    Otherwise a response that differs between the parts would be "explained" by such an error.
    """
    half = np.ones(50)
    parts = [
        Moments(
            np.array([50.0]),
            np.array([[1.0 + shift * 2e-16, level]]),
            np.array([[[0.0, 0.0], [0.0, 1.0]]]),
        )
        for shift, level in ((0, -1.0), (1, 1.0))
    ]
    merged = parts[0].merged(parts[1])
    assert merged.scatter[0, 0, 0] > 0
    assert not stepwise(merged, merged).coef.any()
    np.testing.assert_allclose(full(merged, 1e-6), merged.scatter[0, 1, 1])
    varying = moments(np.r_[half, 1 + 1e-3 * np.arange(50)][:, None], np.r_[half, -half])
    assert stepwise(varying, varying).coef.all()


def test_the_full_model_is_least_squares() -> None:
    """Without a ridge, and without constant regressors; mean squares are over all groups."""
    Z, r = rows(0, 60, COEF)
    found = full(moments(np.column_stack([Z, np.full(60, 0.1)]), r), 1e-14)
    np.testing.assert_allclose(found[0], errors(Z, r, list(range(6)))[0], rtol=1e-9)
    batch = SharedGroupProducts(np.column_stack([Z, r]), np.ones(60)).grouped(np.arange(60) % 7, 9)
    np.testing.assert_allclose(mean_squares(batch), (Z**2).mean(axis=0))


def test_coefficients_of_the_wrong_sign_are_left_out() -> None:
    """The others are those of a regression without them; without signs nothing is."""
    training, holdout = (moments(*rows(seed, 300, COEF)) for seed in (0, 1))
    free = stepwise_signed(training, holdout, price=4.0, signs=[0] * 6)
    np.testing.assert_array_equal(free.coef, stepwise(training, holdout, price=4.0).coef)
    np.testing.assert_array_equal(
        stepwise_signed(training, holdout, price=4.0, signs=[1, 0, -1, 1, 0, 0]).coef, free.coef
    )
    found = stepwise_signed(training, holdout, price=4.0, signs=[1, 0, 1, 0, 0, 0])
    some = [0, 1, 3, 4, 5, 6]
    wanted = stepwise(training.of_variables(some), holdout.of_variables(some), price=4.0)
    assert found.coef[0, 2] == 0.0
    np.testing.assert_array_equal(found.coef[:, some[:-1]], wanted.coef)
    np.testing.assert_array_equal(found.holdout, wanted.holdout)
