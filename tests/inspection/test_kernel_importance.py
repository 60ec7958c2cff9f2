"""What kernels, centres and features of a kernel model are worth."""

from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.metrics import get_scorer
from sklearn.tree import DecisionTreeClassifier

from cgboost import (
    RBF,
    AdaBoostClassifier,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    Precomputed,
)
from cgboost.inspection import feature_relevance, kernel_importance, relevant_centres
from cgboost.inspection.kernel_importance import MOST_CENTRES, centre_rows, column_shares
from cgboost.inspection.model_pictures import plot_kernel_importance
from tests.estimators.data import LIBRARY, three_classes, two_classes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = 3.0 * X[:, 1] + np.cos(3.0 * X[:, 2])
KERNELS = {"linear": Linear(), "rbf": RBF(0.5), "unused": RBF(1e-9)}
MODEL = CGBoostRegressor(KernelLibrary(KERNELS), C=5.0, tol=1e-6).fit(X, Y)


def test_importance_is_the_fall_of_the_score() -> None:
    """By hand: of a permutation of what the linear kernel adds, with the columns of the table.

    The kernel that makes most of the output matters most, one without columns not at all.
    """
    found = kernel_importance(MODEL, X, Y, n_repeats=3, random_state=3)
    assert found.kernels.tolist() == ["linear", "rbf", "unused"]
    np.testing.assert_allclose(found.importances_mean, found.importances.mean(axis=1))
    np.testing.assert_allclose(found.importances_std, found.importances.std(axis=1))
    assert found.importances_mean[0] > found.importances_mean[1] > 0
    assert MODEL.columns_per_kernel_["unused"] == 0
    assert found.importances_mean[2] == found.shares[2] == 0
    assert found.score == pytest.approx(MODEL.score(X, Y))
    table = MODEL.columns_
    mine = table["kernel"] == "linear"
    part = X @ X[table["row"][mine]].T @ table["coefficient"][mine]
    order = np.random.RandomState(3).permutation(len(X))
    moved = MODEL.predict(X) - part + part[order]
    fall = MODEL.score(X, Y) - (1.0 - np.sum((Y - moved) ** 2) / np.sum((Y - Y.mean()) ** 2))
    assert found.importances[0, 0] == pytest.approx(fall, rel=1e-9)


def test_shares_add_up_to_the_variance_of_the_output() -> None:
    """Over kernels, over columns and over classes alike; each is a covariance."""
    found = kernel_importance(MODEL, X, Y, n_repeats=1)
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.columns["share"].sum() == pytest.approx(1.0)
    output, table = MODEL.predict(X), MODEL.columns_
    j = int(np.argmax(np.abs(found.columns["share"])))
    column = KERNELS[table["kernel"][j]](X, X[[table["row"][j]]])[:, 0]
    share = np.cov(table["coefficient"][j] * column, output, bias=True)[0, 1] / output.var()
    assert found.columns["share"][j] == pytest.approx(share)
    A, labels = three_classes()
    several = CGBoostClassifier(LIBRARY).fit(A, labels)
    shares = kernel_importance(several, A, labels, n_repeats=1).shares
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_any_scorer_judges(classes: int) -> None:
    """Scorers of labels and of outputs take the permuted outputs, and the model stays."""
    A, labels = two_classes() if classes == 2 else three_classes()
    model = CGBoostClassifier(LIBRARY, loss="log_loss").fit(A, labels)
    before = model.decision_function(A)
    for scoring in (None, "balanced_accuracy", "neg_log_loss", get_scorer("accuracy")):
        found = kernel_importance(model, A, labels, scoring=scoring, random_state=0)
        assert found.importances_mean.max() > 0
    np.testing.assert_array_equal(model.decision_function(A), before)
    same = kernel_importance(model, A, labels, random_state=0).importances
    np.testing.assert_array_equal(
        kernel_importance(model, A, labels, random_state=0).importances, same
    )


def test_relevant_centres_are_rows_with_labels() -> None:
    """Each row once, with its kernels and the share of all its columns, the largest first."""
    A, labels = three_classes()
    model = CGBoostClassifier(LIBRARY).fit(A, labels)
    found = relevant_centres(model, A, labels, top=1000)
    assert len(set(found["row"].tolist())) == len(found["row"])
    np.testing.assert_array_equal(found["label"], labels[found["row"]])
    assert found["columns"].sum() == model.n_columns_
    assert found["share"].sum() == pytest.approx(1.0)
    assert (np.diff(np.abs(found["share"])) <= 0).all()
    with pytest.raises(ValueError, match="the rows that the model was fitted to.*y has 2"):
        relevant_centres(model, A[:2], labels[:2])
    for row, names in zip(found["row"], found["kernels"], strict=True):
        mine = model.columns_["kernel"][model.columns_["row"] == row]
        assert names.split(", ") == list(dict.fromkeys(mine.tolist()))
    first = relevant_centres(model, A, top=2)
    assert "label" not in first
    np.testing.assert_array_equal(first["row"], found["row"][:2])


def test_free_centres_are_no_rows() -> None:
    """Importance and relevance are known; that rows cannot be named is said."""
    labels = np.where(Y > 0, 1, -1)
    model = CGBoostClassifier(
        RBF(0.5), penalty="rkhs", centers="free", max_columns=6, random_state=0
    ).fit(X, labels)
    assert kernel_importance(model, X, labels, n_repeats=2).importances_mean[0] > 0
    assert feature_relevance(model, random_state=0).shape == (4,)
    with pytest.raises(ValueError, match="free centres"):
        relevant_centres(model, X, labels)


def test_features_that_matter() -> None:
    """Features that the target depends on come first; a constant one has 0.

    Over a linear kernel it is √2·|w_l|·std(x_l) over the centres, but for the permutation.
    """
    A = np.column_stack([X * [1.0, 10.0, 1.0, 1.0], np.full(80, 3.0)])
    for standardize in (False, True):
        library = KernelLibrary(KERNELS, standardize=standardize)
        model = CGBoostRegressor(library, C=5.0).fit(A, Y)
        relevance = feature_relevance(model)
        assert relevance.shape == (5,)
        assert np.argmax(relevance) == 1
        assert relevance[4] == 0
        np.testing.assert_array_equal(relevance, feature_relevance(model))
        assert not np.array_equal(relevance, feature_relevance(model, random_state=1))
    model = CGBoostRegressor(KernelLibrary({"linear": Linear()}), C=5.0, penalty="l2").fit(X, Y)
    weights = model.predict(np.eye(4)) - model.predict(np.zeros((1, 4)))
    rows = centre_rows(model)
    assert rows is not None
    expected = np.sqrt(2.0) * np.abs(weights) * rows.std(axis=0)
    np.testing.assert_allclose(feature_relevance(model, n_repeats=200), expected, rtol=0.05)


@pytest.mark.parametrize(
    "select",
    [
        lambda model: SelectFromModel(model, importance_getter=feature_relevance, max_features=1),
        lambda model: RFE(model, n_features_to_select=1, importance_getter=feature_relevance),
    ],
    ids=["SelectFromModel", "RFE"],
)
def test_selectors_choose_features(select: Any) -> None:
    """scikit-learn's selectors keep the feature that matters most."""
    chosen = select(CGBoostRegressor(KernelLibrary(KERNELS), C=5.0)).fit(X, Y)
    assert chosen.get_support().tolist() == [False, True, False, False]
    assert chosen.transform(X).shape == (80, 1)


@pytest.mark.parametrize("kind", [CGBoostClassifier, CGBoostRegressor, CGBoostOutlierDetector])
def test_coefficients_of_columns(kind: Any) -> None:
    """They are dual_coef_ and column_weights_; before a fit there is neither."""
    A, labels = two_classes()
    model = kind(LIBRARY)
    assert not hasattr(model, "dual_coef_")
    model.fit(A, labels)
    np.testing.assert_array_equal(model.dual_coef_, model.columns_["coefficient"])
    np.testing.assert_array_equal(model.column_weights_, model.dual_coef_)


def test_centres_of_large_models_and_of_precomputed_kernels() -> None:
    """At most MOST_CENTRES rows stand for the data; places of precomputed kernels are no rows."""
    many = RNG.normal(size=(300, 2))
    model = CGBoostRegressor(LIBRARY, penalty="l2", epsilon=0.0).fit(many, many[:, 0] ** 2)
    rows = centre_rows(model)
    assert rows is not None
    assert rows.shape == (MOST_CENTRES, 2)
    gram = CGBoostRegressor(KernelLibrary({"given": Precomputed()}), C=5.0).fit(X @ X.T, Y)
    assert centre_rows(gram) is None
    with pytest.raises(ValueError, match="no dense rows of features: use sklearn"):
        feature_relevance(gram)
    assert kernel_importance(gram, X @ X.T, Y, random_state=0).importances_mean[0] > 0


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
def test_a_model_without_columns() -> None:
    """Nothing matters, and nothing fails."""
    model = CGBoostRegressor(LIBRARY, C=1e-9).fit(X, Y)
    found = kernel_importance(model, X, Y)
    assert not found.importances.any()
    assert not found.shares.any()
    assert not feature_relevance(model).any()
    assert not len(relevant_centres(model, X, Y)["row"])
    assert column_shares(model, X).shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernel_importance(MODEL, X, Y, n_repeats=0), "n_repeats must be at least 1"),
        (lambda: relevant_centres(MODEL, X, top=0), "top must be at least 1, got 0"),
        (lambda: feature_relevance(trees()), "model must have kernels, as CGBoostClassifier has"),
        (lambda: feature_relevance(CGBoostRegressor()), "not fitted yet"),
    ],
)
def test_bad_arguments(call: Any, message: str) -> None:
    """Each error names the argument and its value."""
    with pytest.raises(ValueError, match=message):
        call()


def trees() -> AdaBoostClassifier:
    """A fitted model without kernels."""
    A, labels = two_classes()
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(A, labels)


def test_the_picture_has_a_bar_for_every_kernel() -> None:
    """Falls of the score with their spread, and shares in per cent, the most important first."""
    found = kernel_importance(MODEL, X, Y, random_state=0)
    left, right = plot_kernel_importance(found, top=2).axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["linear", "rbf"]
    np.testing.assert_allclose([b.get_width() for b in left.patches], found.importances_mean[:2])
    np.testing.assert_allclose([b.get_width() for b in right.patches], 100.0 * found.shares[:2])
