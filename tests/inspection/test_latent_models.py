"""Loadings, importances and jackknife intervals of latent factor models."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cgboost import RBF, BLFClassifier, BLFRegressor, SparseLinearRegressor
from cgboost.inspection import jackknife, plot_loadings, plot_vip
from cgboost.inspection.model_pictures import plot_factors

DIABETES, TARGET = load_diabetes(return_X_y=True, as_frame=True)


def test_errors_without_each_row_are_those_of_least_squares() -> None:
    """With all factors b_(i) = b − (XᵀX)⁻¹x_i e_i/(1 − h_i), in closed form."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, -2.0, 0.0] + rng.normal(size=30)
    found = jackknife(BLFRegressor(3).fit(X, y), X, y, cv=30)
    A = np.column_stack([np.ones(30), X])
    inverse = np.linalg.inv(A.T @ A)
    b = inverse @ A.T @ y
    shift = (A @ inverse) * ((y - A @ b) / (1.0 - np.sum((A @ inverse) * A, axis=1)))[:, None]
    without = (b - shift)[:, 1:]
    error = np.sqrt(29 / 30 * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
    np.testing.assert_allclose(found.std_error[0], error)
    low, high = found.intervals(0.9)
    np.testing.assert_allclose(0.5 * (high - low)[0], stats.t.ppf(0.95, 29) * error)
    np.testing.assert_allclose(0.5 * (high + low)[0], b[1:])
    frame = found.to_frame(0.9)
    assert frame["feature"].tolist() == ["x0", "x1", "x2"]
    np.testing.assert_allclose(frame["low"], low[0])


def test_pipelines_classes_and_chosen_numbers() -> None:
    """The other steps stay; a chosen number of factors is kept; of classes each has a row."""
    y = TARGET.to_numpy()
    chosen = BLFRegressor("cv", random_state=0, cv=5)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), chosen).fit(DIABETES, y)
    found = jackknife(model, DIABETES, y, random_state=0)
    fixed = make_pipeline(StandardScaler(), BLFRegressor(model[-1].n_components_)).fit(DIABETES, y)
    same = jackknife(fixed, DIABETES, y, random_state=0)
    np.testing.assert_array_equal(found.std_error, same.std_error)
    assert found.names == [*DIABETES]
    kinds = np.digitize(y, [100, 200])
    several = jackknife(BLFClassifier(1).fit(DIABETES, kinds), DIABETES, kinds, cv=3)
    assert several.coefs.shape == (3, 3, 10)
    assert [*several.to_frame()][1:3] == ["coefficient, 0", "std_error, 0"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"y": TARGET[:30]}, r"inconsistent numbers of samples: \[40, 30, 30\]"),
        ({"sample_weight": np.ones(30)}, r"inconsistent numbers of samples: \[40, 40, 30\]"),
        ({"cv": ShuffleSplit(9, random_state=0)}, "cv=ShuffleSplit.* leaves out rows 0 to . times"),
        ({"cv": RepeatedKFold(n_splits=4, n_repeats=2)}, "leaves out rows 2 to 2 times"),
        ({"cv": [(np.arange(20), np.arange(20, 40))]}, "leaves out rows 0 to 1 times"),
    ],
    ids=str,
)
def test_parts_are_of_all_rows(more: dict[str, Any], words: str) -> None:
    """The factor (K − 1)/K is for parts: with others errors were four times as large."""
    X = DIABETES[:40]
    model = BLFRegressor(2).fit(X, TARGET[:40])
    with pytest.raises(ValueError, match=words):
        jackknife(model, X, **({"y": TARGET[:40]} | more))
    assert jackknife(model, X, TARGET[:40], cv=KFold(8)).coefs.shape == (8, 1, 10)


@pytest.mark.parametrize(
    "model", [SparseLinearRegressor(), BLFRegressor(1, kernel=RBF(0.1))], ids=str
)
def test_other_models_are_refused(model: Any) -> None:
    """The message says which models there are, and what is for the others."""
    X, y = DIABETES.to_numpy()[:40], TARGET.to_numpy()[:40]
    with pytest.raises(ValueError, match=r"without a kernel, got a .*stability\(\)"):
        jackknife(model.fit(X, y), X, y)
    for draw in (plot_loadings, plot_vip):
        with pytest.raises(ValueError, match=r"x_loadings_.* got a"):
            draw(model)


def test_pictures_have_the_loadings_and_importances() -> None:
    """Bars are columns of length 1 and ``vip_``, the largest first; PLSRegression has loadings."""
    model = BLFRegressor(3, scale=True).fit(DIABETES, TARGET)
    axis = plot_loadings(model, top=4).axes[0]
    P = model.x_loadings_[:, :2] / np.linalg.norm(model.x_loadings_[:, :2], axis=0)
    order = np.argsort(-np.abs(P).max(axis=1), kind="stable")[:4]
    drawn = [[bar.get_width() for bar in own] for own in axis.containers]
    np.testing.assert_allclose(drawn, P[order].T)
    share = model.explained_variance_ratio_[0]
    assert axis.get_legend_handles_labels()[1][0] == f"factor 1 ({share:.0%} of X)"
    assert [own.get_text() for own in axis.get_yticklabels()] == [
        DIABETES.columns[j] for j in order
    ]
    axis = plot_vip(make_pipeline(StandardScaler(), BLFRegressor(2)).fit(DIABETES, TARGET)).axes[0]
    widths = [bar.get_width() for bar in axis.patches]
    assert widths == sorted(widths, reverse=True)
    assert np.mean(np.square(widths)) == pytest.approx(1.0)
    plain = PLSRegression(2).fit(DIABETES, TARGET)
    assert len(plot_loadings(plain, n_factors=1).axes[0].containers) == 1
    with pytest.raises(ValueError, match=r"vip_.* got a PLSRegression"):
        plot_vip(plain)
    with pytest.raises(ValueError, match="n_factors must be a whole number ≥ 1, got 0"):
        plot_loadings(model, n_factors=0)


def test_rows_of_weight_zero_are_no_rows_of_the_jackknife() -> None:
    """Parts, and so standard errors, are those of the others."""
    weights = np.where(np.arange(len(TARGET)) % 3, 2.0, 0.0)
    model = BLFRegressor(2).fit(DIABETES, TARGET, weights)
    found = jackknife(model, DIABETES, TARGET, cv=5, sample_weight=weights, random_state=0)
    kept = weights > 0
    same = jackknife(
        model, DIABETES[kept], TARGET[kept], cv=5, sample_weight=weights[kept], random_state=0
    )
    np.testing.assert_array_equal(found.coefs, same.coefs)


def test_a_biplot_of_a_pipeline_has_the_features_of_its_last_step() -> None:
    """By the names that the steps before give them."""
    line = make_pipeline(PolynomialFeatures(), BLFRegressor(2, scale=True))
    own = DIABETES[["bmi", "bp"]]
    axis = plot_factors(line.fit(own, TARGET), own, TARGET, biplot=9).axes[0]
    names = {text.get_text() for text in axis.texts if text.get_text()}
    assert names == {*line[:-1].get_feature_names_out()}


def test_a_biplot_has_the_features_that_go_most_with_the_factors() -> None:
    """Tips are correlations times the reach of the rows; a constant feature has none."""
    frame = pd.DataFrame(DIABETES).assign(constant=1.0)
    model = BLFRegressor(2, scale=True).fit(frame, TARGET)
    axis = plot_factors(model, frame, TARGET, biplot=3).axes[0]
    T = model.transform(frame)
    texts = [own for own in axis.texts if own.get_text()]
    assert len(texts) == 3
    sizes = []
    for own in texts:
        along = [np.corrcoef(frame[own.get_text()], t)[0, 1] for t in T.T]
        np.testing.assert_allclose(own.xy, along * np.abs(T).max(axis=0))
        sizes.append(np.hypot(*along))
    others = [np.hypot(*(np.corrcoef(frame[k], t)[0, 1] for t in T.T)) for k in DIABETES]
    np.testing.assert_allclose(sizes, sorted(others, reverse=True)[:3])
    assert axis.get_xlabel() == f"factor 1 ({model.explained_variance_ratio_[0]:.0%} of X)"
    for wrong in (-1, 2.5):
        with pytest.raises(ValueError, match=f"biplot must be a whole number .* got {wrong}"):
            plot_factors(model, frame, TARGET, biplot=wrong)
    with pytest.raises(ValueError, match=r"biplot=2 needs dense rows, got a csr_array"):
        plot_factors(model, csr_array(frame.to_numpy()), TARGET, biplot=2)
