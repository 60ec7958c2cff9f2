"""The strength of a penalty chosen by cross-validation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.estimators.linear.cross_validation import chosen
from cgboost.linear import SparseLinearClassifierCV, SparseLinearRegressorCV
from tests.estimators.linear.test_sparse_linear import rows

pytestmark = pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")


def test_small_classes_are_split_as_by_logistic_regression() -> None:
    """A rare class is a warning, a fold without it has no score; too many folds are an error."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    mine, theirs = SparseLinearClassifierCV(n_Cs=3), LogisticRegressionCV(Cs=3, cv=5)
    for count in (3, 1):
        y = (np.arange(30) < count).astype(int)
        for model in (mine, theirs):
            with pytest.warns(UserWarning, match=f"class in y has only {count} members"):
                model.fit(X, y)
        assert np.isnan(mine.scores_).any(axis=0).sum() == (count == 1)
    y = np.arange(30) % 10
    for model in (clone(mine).set_params(cv=5), theirs):
        with pytest.raises(ValueError, match="cannot be greater than the number of members"):
            model.fit(X, y)
    assert mine.fit(X, y).scores_.shape == (3, 3)
    one_class = [(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))]
    with pytest.raises(ValueError, match="must have a fold with a score"):
        clone(mine).set_params(cv=one_class).fit(X, np.arange(30) < 15)


def test_alpha_is_that_of_a_grid_search() -> None:
    """The α, its scores and the model of all rows are those of as many separate fits."""
    X, y = rows(1, n_features=30)
    folds, alphas = KFold(4, shuffle=True, random_state=0), np.geomspace(0.5, 0.01, 6)
    model = SparseLinearRegressorCV(quantile=0.7, alphas=alphas, cv=folds, tol=1e-9).fit(X, y)

    def scorer(fitted: Any, X: Any, y: Any) -> float:
        error = y - fitted.predict(X)
        return -float(np.maximum(0.7 * error, -0.3 * error).mean())

    search = GridSearchCV(
        SparseLinearRegressor(quantile=0.7, tol=1e-9), {"alpha": alphas}, cv=folds, scoring=scorer
    ).fit(X, y)
    assert model.alpha_ == search.best_params_["alpha"]
    np.testing.assert_array_equal(model.alphas_, alphas)
    results = [search.cv_results_[f"split{k}_test_score"] for k in range(4)]
    np.testing.assert_allclose(model.scores_, np.transpose(results), atol=1e-7)
    np.testing.assert_allclose(model.coef_, search.best_estimator_.coef_, atol=1e-9)
    assert model.objective_ == pytest.approx(search.best_estimator_.objective_)
    assert model.dual_bound_ <= model.objective_
    named = SparseLinearRegressorCV(alphas=alphas, cv=folds, scoring="r2").fit(X, y)
    by_name = GridSearchCV(SparseLinearRegressor(), {"alpha": alphas}, cv=folds).fit(X, y)
    assert named.alpha_ == by_name.best_params_["alpha"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_cost_is_that_of_the_least_mean_loss(loss: Any, n_classes: int) -> None:
    """Scores are minus the mean loss of the held-out rows, of all classes, weighted."""
    X, y = rows(2, n_features=20)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [3.0] if n_classes == 2 else [2.0, 5.0])]
    weights = 1.0 + np.arange(len(y)) % 2
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    model = SparseLinearClassifierCV(loss=loss, Cs=[0.02, 0.2, 2.0], cv=folds, tol=1e-9)
    model.fit(X, labels, weights)
    for k, (train, held) in enumerate(folds):
        for place, C in enumerate(model.Cs_):
            own = SparseLinearClassifier(loss=loss, C=C, tol=1e-9)
            own.fit(X[train], labels[train], weights[train])
            output = own.decision_function(X[held]).reshape(len(held), -1)
            positive = own.classes_[1:] if n_classes == 2 else own.classes_
            margin = np.where(labels[held][:, None] == positive, 1.0, -1.0) * output
            values = np.maximum(0, 1 - margin) if loss == "hinge" else np.logaddexp(0, -margin)
            expected = -np.average(values.sum(axis=1), weights=weights[held])
            assert model.scores_[place, k] == pytest.approx(expected, rel=1e-4)
    assert model.C_ in model.Cs_


def test_one_standard_error_prefers_fewer_features() -> None:
    """The rule picks the first value whose mean is near enough to the best; folds have weights."""
    scores = -np.array([[3.0, 3.2], [2.0, 2.4], [1.9, 2.3], [2.5, 2.2]])
    even = np.ones(2)
    assert chosen(scores, even, "min") == 2
    assert chosen(scores, even, "1se") == 1
    assert chosen(scores, np.array([0.1, 0.9]), "min") == 3
    assert chosen(np.column_stack([scores[:, 0], np.full(4, np.nan)]), np.eye(2)[0], "1se") == 2
    X, y = rows(4, 100, 20)
    models = [
        SparseLinearRegressorCV(n_alphas=25, eps=0.005, rule=rule).fit(X, y)
        for rule in ("min", "1se")
    ]
    assert models[1].alpha_ > models[0].alpha_
    assert np.count_nonzero(models[1].coef_) < np.count_nonzero(models[0].coef_)
    assert models[0].alphas_[0] == pytest.approx(models[0].model_.alpha_max_)


def test_other_parameters_reach_the_models() -> None:
    """Loss, signs, weights of features, scaling and forms of X are those of the model inside."""
    X, y = rows(5, n_features=25)
    own: dict[str, Any] = {
        "loss": "huber",
        "penalty": "elasticnet",
        "l1_ratio": 0.7,
        "penalty_weights": np.linspace(1.0, 2.0, 25),
        "positive": True,
        "standardize": True,
        "fit_intercept": False,
    }
    model = SparseLinearRegressorCV(**own, alphas=[0.2, 0.05], cv=3).fit(sparse.csr_matrix(X), y)
    alone = SparseLinearRegressor(**own, alpha=model.alpha_).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-5)
    two = SparseLinearRegressorCV(alphas=[0.2, 0.05], cv=3, n_jobs=2).fit(X, y)
    one = SparseLinearRegressorCV(alphas=[0.2, 0.05], cv=3).fit(X, y)
    np.testing.assert_array_equal(two.scores_, one.scores_)


def test_a_fold_whose_held_out_rows_weigh_nothing_has_no_scores() -> None:
    """Its scores are nan, and the choice is that of the other folds."""
    X, y = rows(7, n_features=20)
    folds = list(KFold(3).split(X))
    weights = np.ones(len(y))
    weights[folds[0][1]] = 0.0
    model = SparseLinearRegressorCV(alphas=[0.3, 0.1, 0.03], cv=folds).fit(X, y, weights)
    assert np.isnan(model.scores_[:, 0]).all()
    assert np.isfinite(model.scores_[:, 1:]).all()
    assert model.alphas_[model.scores_[:, 1:].mean(axis=1).argmax()] == model.alpha_


def test_probabilities_are_those_of_the_chosen_model() -> None:
    """With the log loss there are probabilities, with the hinge the method is not there."""
    X, y = rows(3, n_features=10)
    model = SparseLinearClassifierCV(loss="log_loss", n_Cs=3, cv=2).fit(X, y > 4.0)
    np.testing.assert_array_equal(model.predict_proba(X), model.model_.predict_proba(X))
    assert not hasattr(SparseLinearClassifierCV(), "predict_proba")


def test_groups_are_for_the_splitter() -> None:
    """fit(groups=…) with GroupKFold has the scores of its folds, and needs them."""
    X, y = rows(1)
    groups, own = np.arange(len(y)) % 7, {"alphas": [0.3, 0.03]}
    model = SparseLinearRegressorCV(cv=GroupKFold(3), **own).fit(X, y, groups=groups)
    folds = list(GroupKFold(3).split(X, y, groups))
    expected = SparseLinearRegressorCV(cv=folds, **own).fit(X, y)
    np.testing.assert_array_equal(model.scores_, expected.scores_)
    assert "_groups" not in vars(model)
    with pytest.raises(ValueError, match="groups"):
        model.fit(X, y)


def test_the_model_has_names_report_and_facts(tmp_path: Path) -> None:
    """Those of the sparse linear model inside, which knows the features by their names."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = SparseLinearRegressorCV(n_alphas=4, standardize=True)
    assert "certified" not in repr(model)
    assert not hasattr(model, "history_")
    model.fit(X, y)
    assert "certified" in repr(model)
    assert model.model_.feature_names_in_.tolist() == X.columns.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.model_.predict(X), model.predict(X))
    assert set(model.columns_) >= {"feature", "coefficient"}
    assert model.history_["objective"][-1] == model.objective_
    page = model.report(tmp_path / "model.html").read_text(encoding="utf-8")
    assert "bmi" in page
    assert "× standard deviation first" in page


def test_rows_count_with_the_weights_of_their_classes() -> None:
    """class_weight changes the scores as repeated rows do."""
    X, y = rows(3, n_features=15)
    labels, folds = y > 3.0, list(KFold(3, shuffle=True, random_state=1).split(X))
    own = {"Cs": [0.1, 1.0], "cv": folds, "tol": 1e-9}
    weighted = SparseLinearClassifierCV(class_weight={True: 2.0, False: 1.0}, **own).fit(X, labels)
    sampled = SparseLinearClassifierCV(**own).fit(X, labels, 1.0 + labels)
    np.testing.assert_allclose(weighted.scores_, sampled.scores_, rtol=1e-6)
