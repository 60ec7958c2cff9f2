"""Stability of sparse linear models: fits to samples, against single fits of the same rows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgboost import (
    IntervalRegressor,
    MultiQuantileRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
from cgboost.inspection import plot_stability, stability
from cgboost.inspection.resampling import Stability, _samples
from cgboost.linear import QuantileRegressor, SparseLinearClassifierCV
from tests.estimators.data import three_classes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 12)) + 5.0
Y = X[:, :3].sum(axis=1) + RNG.standard_t(3, size=120)


def samples(kinds: np.ndarray, n: int, sampling: Any) -> list[np.ndarray]:
    """The samples that a seed of 0 draws."""
    return list(_samples(kinds, n, sampling, np.random.RandomState(0)))


@pytest.mark.parametrize("sampling", ["halves", "bootstrap"])
@pytest.mark.parametrize(
    "model",
    [
        SparseLinearRegressor(alpha=0.05),
        SparseLinearRegressor(loss="squared_error", alpha=0.1, standardize=True),
        SparseLinearRegressor(alpha=0.05, fit_intercept=False),
        QuantileRegressor(quantile=0.3, alpha=0.05),
        MultiQuantileRegressor(alpha=0.05, noncrossing="box"),
        MultiQuantileRegressor(alpha=0.05),
    ],
    ids=lambda model: f"{type(model).__name__}",
)
def test_coefficients_are_those_of_fits_to_the_samples(model: Any, sampling: Any) -> None:
    """Rows that are drawn twice weigh two; warm starts change no coefficient."""
    model.fit(X, Y)
    found = stability(model, X, Y, 4, sampling=sampling, random_state=0)
    own = type(model)(**model.get_params())
    for counts, coef in zip(samples(np.zeros(120), 4, sampling), found.coefs, strict=True):
        assert counts.sum() == (60 if sampling == "halves" else 120)
        alone = own.fit(X[counts > 0], Y[counts > 0], counts[counts > 0])
        np.testing.assert_allclose(coef, np.atleast_2d(alone.coef_), atol=2e-3)
        assert (np.abs(coef) > 1e-3).sum() == (np.abs(alone.coef_) > 1e-3).sum()


def test_halves_are_in_pairs_of_all_rows_and_of_each_class() -> None:
    """A half and the other rows; of classes of 7, 8 and 9 rows 3, 4, 4 and the rest."""
    kinds = np.repeat([0, 1, 2], [7, 8, 9])
    first, second, third = samples(kinds, 3, "halves")
    np.testing.assert_array_equal(first + second, 1)
    assert np.bincount(kinds, first).tolist() == np.bincount(kinds, third).tolist() == [3, 4, 4]
    (drawn,) = samples(kinds, 1, "bootstrap")
    assert np.bincount(kinds, drawn).tolist() == [7, 8, 9]


def test_what_matters_enters_and_the_rest_is_bounded() -> None:
    """Three features always enter; the bound is that of Shah and Samworth, in their notation."""
    model = SparseLinearRegressor(alpha=0.08).fit(X, Y)
    found = stability(model, X, Y, 20, random_state=0)
    assert sorted(found.stable(0.9).tolist()) == [0, 1, 2]
    entering = (found.coefs != 0).sum(axis=(1, 2)).mean()
    assert found.false_entries(0.8) == pytest.approx(entering**2 / (0.6 * 12))
    assert (found.frequency[3:] < 0.9).all()
    low, high = found.intervals(0.8)
    inside = (found.coefs >= low) & (found.coefs <= high)
    assert (inside.mean(axis=0) >= 0.8).all()
    frame = found.to_frame()
    assert (np.diff(frame["frequency"]) <= 0).all()
    assert set(frame["feature"][:3]) == {"x0", "x1", "x2"}
    assert "false ≤" in str(found)
    assert np.isnan(stability(model, X, Y, 2, sampling="bootstrap").false_entries())


def test_a_pipeline_is_its_last_step_on_what_that_is_given() -> None:
    """The samples are those of the scaled rows, the names those that the step before gives."""
    frame = pd.DataFrame(X, columns=[f"feature {j}" for j in range(12)])
    pipeline = make_pipeline(StandardScaler(), SparseLinearRegressor(alpha=0.1)).fit(frame, Y)
    found = stability(pipeline, frame, Y, 4, random_state=0)
    alone = stability(pipeline[-1], pipeline[0].transform(frame), Y, 4, random_state=0)
    np.testing.assert_array_equal(found.coefs, alone.coefs)
    assert found.names == list(frame.columns)
    assert alone.names == [f"x{j}" for j in range(12)]


def test_words_say_how_many_samples_and_when_the_bound_says_nothing() -> None:
    """A bound of as many features as there are is no news; with few that enter it is."""
    few = SparseLinearRegressor(alpha=0.5).fit(X, Y)
    assert "says nothing" not in str(stability(few, X, Y, 10, random_state=0))
    many = SparseLinearRegressor(alpha=0.001).fit(X, Y)
    found = stability(many, X, Y, 10, random_state=0)
    assert found.false_entries() >= len(found.stable())
    assert str(found).endswith("which says nothing")
    samples = stability(few, X, Y, 2, sampling="bootstrap", random_state=0)
    assert str(samples).startswith("2 bootstrap samples; features")


def test_intervals_of_a_bootstrap_spread_as_samples_of_the_population_do() -> None:
    """Their width is between ⅔ and 1½ times that of models of new rows."""
    alone = []
    for seed in range(60):
        rng = np.random.default_rng(seed + 1)
        Z = rng.normal(size=X.shape) + 5.0
        y = Z[:, :3].sum(axis=1) + rng.standard_t(3, size=120)
        alone.append(SparseLinearRegressor(alpha=0.05).fit(Z, y).coef_[:3])
    true = np.ptp(np.quantile(alone, [0.1, 0.9], axis=0), axis=0)
    model = SparseLinearRegressor(alpha=0.05).fit(X, Y)
    low, high = stability(model, X, Y, 60, sampling="bootstrap", random_state=0).intervals(0.8)
    ratio = (high - low)[0, :3] / true
    assert (ratio > 2 / 3).all()
    assert (ratio < 1.5).all()


def test_classes_intervals_and_what_cross_validation_chose() -> None:
    """An output for each class, and the strength that the model has."""
    rows, labels = three_classes()
    for model in (SparseLinearClassifier(C=1.0), SparseLinearClassifierCV(n_Cs=3, cv=2)):
        found = stability(model.fit(rows, labels), rows, labels, 3, random_state=0)
        assert found.coefs.shape == (3, 3, rows.shape[1])
        assert found.outputs == [f"class {label}" for label in model.classes_]
        assert len(plot_stability(found).axes[1].get_legend().get_texts()) == 3
    found = stability(IntervalRegressor(alpha=0.1).fit(X, Y), X, Y, 2)
    assert found.coefs.shape == (2, 3, 12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": 0}, "n must be a whole number ≥ 1, got 0"),
        ({"sampling": "thirds"}, "sampling must be one of .*got 'thirds'"),
        ({"X": X[:, :3]}, "X has 3 features|must have 12 features"),
        ({"X": X[:1], "y": Y[:1]}, "at least 2 rows"),
        ({"model": Lasso().fit(X, Y)}, "must be a sparse linear model, got a Lasso"),
        ({"X": [(X, Y)], "y": None}, "X must be rows in memory, .*got a list"),
    ],
    ids=str,
)
def test_what_stability_does_not_take(given: dict[str, Any], words: str) -> None:
    """Each error names what is wrong."""
    own = {"model": SparseLinearRegressor(alpha=0.1).fit(X, Y), "X": X, "y": Y} | given
    with pytest.raises(ValueError, match=words):
        stability(**own)


def test_a_picture_of_nothing_is_refused() -> None:
    """No feature in any sample, and what is no Stability."""
    nothing = Stability(["a"], np.zeros((1, 1)), np.zeros((3, 1, 1)), "halves", ["coefficient"])
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_stability(nothing)
    with pytest.raises(ValueError, match=r"must be what stability\(\) returns, got a list"):
        plot_stability([1.0])  # type: ignore[arg-type]
