"""Laws of every estimator about its rows, weights and targets, and about being fitted again."""

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import PartialDependenceDisplay, permutation_importance
from sklearn.utils import get_tags

from cgboost.persistence import trusted_types
from tests.cases import law
from tests.estimators.cases import (
    CASES,
    NOT_HERE,
    ONE_EACH,
    PUBLIC,
    STOPPING,
    THINNED,
    EstimatorCase,
    outputs,
)
from tests.estimators.data import three_classes, two_classes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

MATRIX = [*ONE_EACH, THINNED]
"""Every public estimator, with what other packages ask of it."""

WORDS = np.array(["ant", "bee", "cow"])


def precise(case: EstimatorCase) -> dict[str, Any]:
    """A tolerance that two fits of one problem agree by."""
    return {"tol": 1e-8} if case.has("tol") else {}


def assert_same(case: EstimatorCase, first: Any, second: Any, X: Any, atol: float = 1e-8) -> None:
    """Objectives agree, and outputs where the optimum is one model."""
    objectives = [getattr(model, "objective_", 0.0) for model in (first, second)]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-6)
    if case.unique:
        np.testing.assert_allclose(outputs(first, X), outputs(second, X), atol=atol)


def test_every_public_estimator_is_a_case() -> None:
    """A new one is a case, or says why it cannot be."""
    assert {case.kind() for case in CASES} | set(NOT_HERE) == set(PUBLIC.values())


@law(CASES)
def test_whole_weights_are_repeated_rows(case: EstimatorCase) -> None:
    """Rows of weight w count as w rows in any order, those of weight 0 as none, wherever."""
    rng = np.random.default_rng(0)
    X, y = case.data(48)
    weights = np.tile([1.0, 2.0, 0.0, 3.0], 12)
    times = rng.permutation(np.repeat(np.arange(len(y)), weights.astype(int)))
    far = (weights == 0) & (np.arange(len(y)) % 8 < 4)  # the others lie among those that count
    moved = np.where(far[:, None], 1e3 * X + 5e3, X)
    weighted = case.make(**precise(case)).fit(moved, y, sample_weight=weights)
    repeated = case.make(**precise(case)).fit(X[times], y[times])
    assert_same(case, weighted, repeated, X[:20], atol=1e-5)
    plain = case.make(**precise(case)).fit(X, y)
    same = getattr(weighted, "objective_", 0.0) == getattr(plain, "objective_", 0.0)
    assert not (same and np.allclose(outputs(weighted, X), outputs(plain, X)))


@law(CASES)
def test_single_precision_gives_the_model_of_the_same_numbers(case: EstimatorCase) -> None:
    """float32 rows, fitted and predicted, are their copies in float64, up to rounding."""
    X, y = case.data(60)
    single = X.astype(np.float32)
    one, other = (
        case.make(**precise(case)).fit(rows, y) for rows in (single, single.astype(np.float64))
    )
    close = 1e-9 if case.blocks else 1e-4
    np.testing.assert_allclose(outputs(one, single), outputs(other, single), rtol=close, atol=close)


@law(CASES)
def test_data_frames_are_arrays_with_names(case: EstimatorCase) -> None:
    """Pandas and polars: names become feature_names_in_, others are refused; outputs agree."""
    plain, X, y = case.fitted()
    assert not hasattr(plain, "feature_names_in_")
    names = [f"x{j}" for j in range(X.shape[1])]
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame(dict(zip(names, X.T, strict=True)))
        model = case.make().fit(table, y)
        assert list(model.feature_names_in_) == names
        np.testing.assert_allclose(outputs(model, table), outputs(plain, X), atol=1e-10)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame(dict(zip(reversed(names), X.T, strict=True))))


@law(CASES, lambda case: case.make().__sklearn_tags__().input_tags.sparse)
def test_sparse_matrices_are_dense_ones(case: EstimatorCase) -> None:
    """In rows or columns, for the fit and for predictions, with weights and rows held out."""
    X, y = case.data(60)
    X, weights = np.where(np.abs(X) < 0.5, 0.0, X), np.linspace(0.5, 2.0, 60)
    stops = case.has("early_stopping") and STOPPING not in case.but
    for own in [{}, {"early_stopping": True}][: 1 + stops]:
        dense = case.make(**precise(case) | own).fit(X, y, sample_weight=weights)
        for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix):
            model = case.make(**precise(case) | own).fit(form(X), y, sample_weight=weights)
            assert_same(case, model, dense, X, atol=1e-5)
            for method in {"transform", "predict"} & set(dir(model)):
                found, wanted = (getattr(model, method)(rows) for rows in (form(X), X))
                np.testing.assert_allclose(found, wanted, atol=1e-9)
            if hasattr(model, "staged_predict"):
                both = [list(model.staged_predict(rows)) for rows in (form(X), X)]
                np.testing.assert_allclose(*both, atol=1e-9)
            np.testing.assert_allclose(outputs(model, form(X)), outputs(model, X), atol=1e-9)


@law(CASES)
def test_fits_and_copies_can_be_repeated(case: EstimatorCase) -> None:
    """The same fit has the same bits, as has a pickle; a clone has the parameters alone.

    What is written into X after the fit changes nothing.
    """
    X, y = case.data(60)
    for order in ("F", "C"):
        given = np.array(X, order=order)
        model = case.make().fit(given, y)
        before = outputs(model, X)
        given[:] = 0.0
        np.testing.assert_array_equal(outputs(model, X), before)
    for other in (case.make().fit(X, y), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(outputs(other, X), before)
    copy = clone(model)
    assert repr(copy.get_params()) == repr(model.get_params())
    assert set(vars(copy)) == set(copy.get_params(deep=False))


@law(CASES)
def test_rows_are_predicted_each_by_itself(case: EstimatorCase) -> None:
    """In any order, all at once or few of them, in memory that may not be written to."""
    X, y = case.data(60)
    for array in (X, y):
        array.setflags(write=False)
    model = case.make().fit(X, y)
    wanted, order = outputs(model, X), np.random.default_rng(0).permutation(60)
    np.testing.assert_allclose(outputs(model, X[order]), wanted[order], atol=1e-8)
    parts = [outputs(model, part) for part in np.split(X, [1, 7, 30])]
    np.testing.assert_allclose(np.concatenate(parts), wanted, atol=1e-8)


@law(CASES)
def test_another_fit_replaces_everything(case: EstimatorCase) -> None:
    """After a fit to a frame of other columns and other labels nothing of it is left."""
    fresh, X, y = case.fitted()
    wide = pd.DataFrame(np.column_stack([X, X[:, :1] ** 2])).rename(columns=str)
    model = case.make().fit(wide, WORDS[y] if is_classifier(fresh) else y + 1.0)
    model.fit(X, y)
    assert set(vars(model)) == set(vars(fresh))
    assert model.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(outputs(model, X), outputs(fresh, X))


@law(CASES, lambda case: is_classifier(case.make()))
def test_class_weights_are_sample_weights(case: EstimatorCase) -> None:
    """A dict is the weights row by row, times others; "balanced" counts rows by their weights."""
    X, y = (three_classes if case.data is three_classes else two_classes)(60)
    rows = np.flatnonzero((y == 1) | (np.arange(len(y)) % 4 > 0))
    X, labels = X[rows], WORDS[y[rows]]
    own = np.linspace(0.5, 2.0, len(labels))
    by_class = {"ant": 1.0, "bee": 3.0, "cow": 0.5}
    names, codes, totals = np.unique(labels, return_inverse=True, return_counts=True)
    sums = np.bincount(codes, own)
    for given, values in (
        ({name: by_class[name] for name in names}, [by_class[name] for name in names]),
        ("balanced", sums.sum() / (len(sums) * sums)),
    ):
        first = case.make(class_weight=given).fit(X, labels, sample_weight=own)
        second = case.make().fit(X, labels, sample_weight=own * np.asarray(values)[codes])
        np.testing.assert_allclose(getattr(first, "class_weight_", values), values)
        np.testing.assert_allclose(outputs(first, X), outputs(second, X), atol=1e-9)
        assert first.objective_ == pytest.approx(second.objective_)
        assert first.objective_ != case.make().fit(X, labels, sample_weight=own).objective_
    assert len(set(totals)) > 1
    np.testing.assert_array_equal(getattr(second, "class_weight_", 1.0), 1.0)


ALONE = (
    "AnyBoostClassifier",
    "CGBoostClassifier",
    "LPBoostClassifier",
    "LogitBoostClassifier",
)


@law(CASES, lambda case: case.data is three_classes and case.kind().__name__ in ALONE)
def test_one_against_the_rest_is_a_model_for_each_class(case: EstimatorCase) -> None:
    """An output is that of the class alone against all others, the objective is the sum."""
    X, y = case.data(60)
    own = case.make(**{"multi_class": "ovr"} if case.has("multi_class") else {}).fit(X, y)
    alone = [case.make().fit(X, y == label) for label in own.classes_]
    scores = np.transpose([outputs(model, X) for model in alone])
    assert not case.unique or outputs(own, X) == pytest.approx(scores, abs=1e-9)
    assert own.objective_ == pytest.approx(sum(model.objective_ for model in alone))


@law(CASES, lambda case: is_classifier(case.make()))
def test_labels_of_any_kind_come_back(case: EstimatorCase) -> None:
    """Numbers, words and truth values, sorted in classes_; the largest score is the prediction."""
    model, X, y = case.fitted()
    several = y.max() > 1
    for labels in ([7, 3, 5], ["no", "yes", "maybe"], [True, False]):
        if several and len(labels) == 2:
            continue
        named = np.array(labels)[y]
        own = case.make().fit(X, named)
        np.testing.assert_array_equal(own.classes_, np.unique(named))
        scores = own.decision_function(X)
        places = scores.argmax(axis=1) if several else (scores > 0).astype(int)
        np.testing.assert_array_equal(own.predict(X), own.classes_[places])
    assert model.score(X, y) > 0.6


@law(MATRIX)
def test_coef_is_a_number_for_each_feature(case: EstimatorCase) -> None:
    """Selectors find what matters by it or by importances, or refuse; the error names the other."""
    model, X, y = fitted_to_two_features(case)
    wanted = [False, False, True, False, False, True]
    if not hasattr(model, "coef_"):
        words = "use column_weights_" if hasattr(model, "columns_") else "no attribute 'coef_'"
        with pytest.raises(AttributeError, match=words):
            model.coef_  # noqa: B018
    elif (shape := np.shape(model.coef_)) != (6,):
        assert shape[1:] == (6,)
    for select in (
        SelectFromModel(model, threshold=-np.inf, max_features=2, prefit=True),
        RFE(model, n_features_to_select=2, step=4),
    ):
        if hasattr(model, "coef_") or hasattr(model, "feature_importances_"):
            assert select.fit(X, y).get_support().tolist() == wanted
        else:
            with pytest.raises(ValueError, match="importance_getter"):
                select.fit(X, y).get_support()


@law(MATRIX)
def test_shap_takes_linear_models_alone_for_linear(case: EstimatorCase) -> None:
    """What it adds up to is the output of the model; it asks for a function of other models."""
    shap = pytest.importorskip("shap")
    model, X, _ = fitted_to_two_features(case)
    if not hasattr(model, "coef_"):
        with pytest.raises(TypeError, match="callable"):
            shap.Explainer(model, X)
        return
    found = shap.Explainer(model, X)(X[:3])
    np.testing.assert_allclose(
        found.base_values + found.values.sum(axis=1), outputs(model, X[:3]), atol=1e-6
    )


@law(MATRIX)
def test_permutation_importances_find_what_matters(case: EstimatorCase) -> None:
    """Of six features the two that y depends on; without a score scikit-learn asks for one."""
    model, X, y = fitted_to_two_features(case)
    if not hasattr(model, "score"):
        with pytest.raises(TypeError, match="should have a 'score' method"):
            permutation_importance(model, X, y)
        return
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean
    assert sorted(np.argsort(found)[-2:]) == [2, 5]


@law(MATRIX)
def test_partial_dependence_is_the_mean_output(case: EstimatorCase) -> None:
    """scikit-learn's display draws the mean over the rows with a feature set to a value."""
    model, X, _ = fitted_to_two_features(case)
    if not (is_classifier(model) or is_regressor(model)) or model.predict(X).ndim > 1:
        with pytest.raises(ValueError, match="regressor or classifier|target must be specified"):
            PartialDependenceDisplay.from_estimator(model, X, [5])
        return
    display = PartialDependenceDisplay.from_estimator(model, X, [5], grid_resolution=4)
    [drawn], Z, wanted = display.pd_results, X.copy(), []
    for Z[:, 5] in drawn["grid_values"][0]:
        chances = hasattr(model, "predict_proba")
        wanted.append(np.mean(model.predict_proba(Z)[:, 1] if chances else outputs(model, Z)))
    np.testing.assert_allclose(drawn["average"], [wanted], rtol=1e-12)
    plt.close(display.figure_)


@pytest.mark.slow  # shap compiles first
@law(MATRIX)
def test_shap_explains_the_predictions_of_every_model(case: EstimatorCase) -> None:
    """What it makes of ``predict`` and some rows adds up to the predictions."""
    shap = pytest.importorskip("shap")
    model, X, _ = fitted_to_two_features(case)
    explain = shap.Explainer(model.predict, X[:4], algorithm="permutation")
    found = explain(X[:2], silent=True)
    sums = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(sums, np.asarray(model.predict(X[:2]), float), atol=1e-9)


@law(MATRIX)
def test_mlflow_stores_models_as_skops_does(case: EstimatorCase, tmp_path: Path) -> None:
    """On its default path, with the types that are listed for it; without them it asks for them."""
    mlflow = pytest.importorskip("mlflow")
    model, X, _ = fitted_to_two_features(case)
    how = {"pip_requirements": ["cgboost"], "skops_trusted_types": trusted_types()}
    mlflow.sklearn.save_model(model, tmp_path / "model", **how)
    same = mlflow.sklearn.load_model(tmp_path / "model")
    np.testing.assert_array_equal(same.predict(X), model.predict(X), strict=True)
    with pytest.raises(mlflow.exceptions.MlflowException, match="skops_trusted_types"):
        mlflow.sklearn.save_model(model, tmp_path / "other", pip_requirements=["cgboost"])


@law(ONE_EACH, lambda case: not get_tags(case.make()).input_tags.sparse)
def test_sparse_rows_are_right_or_somebody_is_named_who_takes_them(case: EstimatorCase) -> None:
    """A model that does not take sparse matrices says so, and which do."""
    X, y = case.data(40)
    with pytest.raises(TypeError, match=r"dense numpy array: \w+ has no use .* kernel models"):
        case.make().fit(sparse.csr_array(X), y)


def fitted_to_two_features(case: EstimatorCase) -> tuple[Any, np.ndarray, np.ndarray]:
    """A class with its defaults, fitted to rows of six features: the last and the third matter."""
    return _fitted_to_two_features(case.make if case is THINNED else case.kind())


@cache
def _fitted_to_two_features(make: Callable[[], Any]) -> tuple[Any, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = 2 * X[:, 5] - 2 * X[:, 2] + 0.1 * rng.normal(size=90)
    model = make()
    small = {"max_columns": 60, "n_estimators": 6, "n_alphas": 3, "n_Cs": 3, "cv": 2}
    model.set_params(**{k: v for k, v in small.items() if k in model.get_params()})
    if type(model).__name__ == "QuantileRegressor":
        model.set_params(alpha=0.05)  # 1, as scikit-learn's, leaves no feature
    y = (y > 0).astype(int) if is_classifier(model) else y
    return model.fit(X, y), X, y
