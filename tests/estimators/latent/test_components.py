"""The number of latent factors by cross-validation inside the training rows."""

from typing import Any

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score

from cgboost import RBF, BLFClassifier, BLFRegressor, KernelLibrary, Linear, Precomputed
from cgboost.estimators.latent.latent_factors import error_curves, folds, smoothed
from tests.estimators.latent.latent_data import (
    noisy_line,
    overlapping,
    random_rows,
)


def test_curves_of_errors_are_smoothed() -> None:
    """A fold that stopped early stays at its last error, what is beyond the size is left out.

    Means are of three in the middle, of two at the ends; one or two values stay as they are.
    """
    curves = iter([[5.0, 4.0, 3.0, 2.0], [1.0]])
    pairs = [(np.array([0]), np.array([1])), (np.array([1]), np.array([0]))]
    found = error_curves(pairs, lambda train, test: next(curves), 3)
    np.testing.assert_array_equal(found, [[5.0, 1.0], [4.0, 1.0], [3.0, 1.0]])
    np.testing.assert_array_equal(smoothed(found), [[4.5, 1.0], [4.0, 1.0], [3.5, 1.0]])
    for errors, wanted in (
        ([3.0, 6.0, 0.0, 9.0], [4.5, 3.0, 5.0, 4.5]),
        ([2.0], [2.0]),
        ([2.0, 4.0], [2.0, 4.0]),
    ):
        np.testing.assert_allclose(smoothed(np.array(errors)), wanted)


@pytest.mark.parametrize("classes", [True, False])
def test_folds_hold_every_row_out_once(classes: bool) -> None:
    """Shuffled, repeatable, and for classes with all of them in every part.

    Their number is lowered to the smallest class, or the rows; of one there is nothing to hold out.
    """
    y = np.repeat([0, 1], [40, 10])
    pairs = folds(5, y, 0, classes=classes)
    assert len(pairs) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([t for _, t in pairs])), np.arange(50))
    again = folds(5, y, 0, classes=classes)
    for (train, test), (_, same) in zip(pairs, again, strict=True):
        np.testing.assert_array_equal(test, same)
        assert not set(train) & set(test)
        assert not classes or y[test].sum() == 2
    few, one = (np.repeat([0, 1], [40, 3]), [0, 0, 0, 1]) if classes else (np.arange(3.0), [1.0])
    assert len(folds(10, few, 0, classes=classes)) == 3
    what = "a class with 1 row" if classes else "1 row"
    with pytest.raises(ValueError, match=f"got {what}: give a number of components"):
        folds(10, np.array(one), 0, classes=classes)


def test_the_number_is_that_of_least_smoothed_error() -> None:
    """As computed with scikit-learn's PLS over the same folds."""
    X, y = random_rows(60, 12, rank=3)
    splitter = KFold(5, shuffle=True, random_state=3)
    errors = [
        -cross_val_score(
            PLSRegression(n, scale=False), X, y, cv=splitter, scoring="neg_mean_squared_error"
        ).mean()
        for n in range(1, 13)
    ]
    model = BLFRegressor("cv", cv=5, random_state=3).fit(X, y)
    np.testing.assert_allclose(model.cv_errors_, errors, rtol=1e-7)
    assert model.n_components_ == 1 + np.argmin(smoothed(np.array(errors)))
    fixed = BLFRegressor(model.n_components_).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), fixed.predict(X))
    same = BLFRegressor("cv", cv=splitter).fit(X, y)
    np.testing.assert_allclose(same.cv_errors_, model.cv_errors_)


def test_quantiles_are_judged_by_their_own_error() -> None:
    """For α = 0.95 the error of cross-validation is Σ max(αe, (α − 1)e)."""
    X, y = noisy_line()
    model = BLFRegressor("cv", loss="quantile", alpha=0.95, cv=3, random_state=0).fit(X, y)
    train, test = next(iter(folds(3, y, 0, classes=False)))
    assert model.cv_errors_.shape == (6,)
    errors = np.zeros(6)
    for train, test in folds(3, y, 0, classes=False):
        part = BLFRegressor(6, loss="quantile", alpha=0.95).fit(X[train], y[train])
        residuals = y[test] - np.array(list(part.staged_predict(X[test])))
        errors += np.maximum(0.95 * residuals, -0.05 * residuals).sum(axis=1)
    np.testing.assert_allclose(model.cv_errors_, errors / len(y))


@pytest.mark.parametrize("first", [0, 4])
@pytest.mark.parametrize("named", [False, True])
def test_a_precomputed_kernel_is_cut_on_both_sides(first: int, named: bool) -> None:
    """The errors are those of the kernel itself, also in a library and beside other columns."""
    X, y = overlapping()
    K = np.hstack([np.full((len(X), first), 1e3), RBF(0.1)(X, X)])
    kernel: Any = KernelLibrary({"rbf": Precomputed(first)}) if named else Precomputed(first)
    how = {"cv": 4, "max_components": 5, "random_state": 0}
    given = BLFClassifier("cv", kernel=kernel, **how).fit(K, y)
    direct = BLFClassifier("cv", kernel=RBF(0.1), **how).fit(X, y)
    np.testing.assert_allclose(given.cv_errors_, direct.cv_errors_)
    assert given.n_components_ == direct.n_components_
    np.testing.assert_allclose(given.predict_proba(K), direct.predict_proba(X), atol=1e-9)


def test_weights_count_in_the_errors() -> None:
    """A row of weight 0 neither trains nor tests."""
    X, y = noisy_line(40)
    wild = np.where(np.arange(40) == 7, 1e3, y)
    weights = (np.arange(40) != 7).astype(float)
    ends = [
        BLFRegressor("cv", cv=5, random_state=0).fit(X, response, sample_weight=weights).cv_errors_
        for response in (y, wild)
    ]
    np.testing.assert_allclose(ends[0], ends[1])


def test_more_factors_than_rows_or_features_are_not_tried() -> None:
    """The curve ends with the features, or one short of the rows of the smallest part."""
    X, y = random_rows(12, 40)
    assert BLFRegressor("cv", cv=3, random_state=0).fit(X, y).cv_errors_.shape == (7,)
    assert BLFRegressor("cv", cv=3).fit(X[:, :2], y).cv_errors_.shape == (2,)
    kernel = BLFRegressor("cv", cv=3, kernel=Linear()).fit(X[:, :2], y)
    assert kernel.cv_errors_.shape == (7,)
    assert kernel.n_components_ <= 2


def test_fits_of_the_cross_validation_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six fits have a sixth of the limit each, and say once that it cut them short."""
    limits, fit = [], BLFRegressor.fit

    def noted(self: BLFRegressor, *args: Any, **named: Any) -> BLFRegressor:
        limits.append(self.time_limit)
        return fit(self, *args, **named)

    monkeypatch.setattr(BLFRegressor, "fit", noted)
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(ConvergenceWarning) as caught:
        BLFRegressor("cv", cv=5, time_limit=6e-9, random_state=0).fit(X, y)
    assert limits == [6e-9, *[pytest.approx(1e-9)] * 5]
    assert len([w for w in caught if "cross-validation" in str(w.message)]) == 1
    assert len(caught) == 2


def test_one_standard_error_is_worth_fewer_factors() -> None:
    """The first number whose smoothed mean is within one standard error of the least, by hand."""
    X, y = (own[3::6][:70] for own in load_diabetes(return_X_y=True))
    how = {"cv": 5, "random_state": 3}
    best, few = (BLFRegressor("cv", rule=rule, **how).fit(X, y) for rule in ("min", "1se"))
    curves = few.cv_fold_errors_
    assert curves.shape == (10, 5)
    np.testing.assert_array_equal(curves, best.cv_fold_errors_)
    np.testing.assert_allclose(curves.mean(axis=1), few.cv_errors_)
    folds_alone = np.transpose([smoothed(own) for own in curves.T])
    means, at = folds_alone.mean(axis=1), best.n_components_ - 1
    assert at == np.argmin(means)
    allowed = means[at] + folds_alone[at].std(ddof=1) / np.sqrt(5)
    assert few.n_components_ == 1 + np.flatnonzero(means <= allowed)[0] < best.n_components_
