"""Single precision may only narrow the choice, never make it."""

import numpy as np
import pytest

from cgboost.losses import SquaredError
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.features import correlation as screening
from cgboost.pricing.features.correlation import CentredFeatures, ScreenedPricer, feature_of
from tests.pricing.checked import WEIGHTS, X, Y, features


def chosen(X: np.ndarray) -> tuple[int, int]:
    """The feature taken first, and the scans in double precision that it took."""
    pricer = ScreenedPricer(CentredFeatures(X, WEIGHTS, centre=True), repeats=False)
    state = StagewiseMaster(SquaredError().on(Y, WEIGHTS), start="constant").solve()
    return feature_of(pricer.price(state, 1).columns[0]), pricer.scans


def test_features_alike_in_single_precision_are_told_apart() -> None:
    """The best of six features that differ by 1e-10 is found, without a scan."""
    best, _ = chosen(X)
    alike = X[:, [best] * 6] + 1e-10 * np.array([0, 1, 2, 5, 4, 3]) * Y[:, None]
    assert chosen(alike) == (3, 0)
    assert len(np.unique(alike.astype(np.float32), axis=1).T) < 6


@pytest.mark.parametrize("seed", range(20))
def test_what_single_precision_puts_in_the_wrong_order(seed: int) -> None:
    """Among features that differ by less than it can tell, the choice is that of double."""
    noise = np.random.default_rng(seed).normal(size=(len(Y), 20))
    alike = X[:, [chosen(X)[0]] * 20] + 1e-7 * noise
    exact = CentredFeatures(alike, WEIGHTS, centre=True)
    state = StagewiseMaster(SquaredError().on(Y, WEIGHTS), start="constant").solve()
    best = np.argmax(np.abs(exact.scores(state.pseudo_response)) / exact.lengths)
    assert chosen(alike) == (best, 0)


def test_too_many_alike_are_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit on candidates the choice is the same, by one scan."""
    best, _ = chosen(X)
    alike = X[:, [best] * 6] + 1e-10 * np.array([0, 1, 2, 5, 4, 3]) * Y[:, None]
    monkeypatch.setattr(screening, "MOST_CANDIDATES", 5)
    assert chosen(alike) == (3, 1)


def test_sizes_beyond_single_precision() -> None:
    """Features of size 1e±60 are normalised before they are rounded."""
    scale = 10.0 ** np.where(np.arange(X.shape[1]) % 2, 60.0, -60.0)
    assert chosen(X * scale) == (chosen(X)[0], 0)


def test_the_error_bound_holds() -> None:
    """Coarse correlations of random directions are within half of the margin that is left."""
    pricer, matrix = ScreenedPricer(features(), repeats=False), features()
    for direction in np.random.default_rng(1).normal(size=(20, len(Y))):
        unit = direction / np.linalg.norm(direction / np.sqrt(WEIGHTS))
        coarse = pricer._coarse.T @ unit.astype(np.float32)
        exact = np.array([matrix.column(j) @ unit for j in range(X.shape[1])]) / matrix.lengths
        assert np.abs(coarse - exact).max() <= pricer._error
