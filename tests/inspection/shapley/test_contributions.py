"""What contributions are given, what they are called, and what they refuse."""

import tracemalloc
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.tree import DecisionTreeRegressor

from cgboost import (
    RBF,
    AnyBoostRegressor,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KernelLibrary,
    Laplacian,
    Linear,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    LPBoostClassifier,
    Matern,
    MultiQuantileRegressor,
    RuleSetClassifier,
    SparseLinearClassifier,
    SparseLinearRegressor,
    Spectrum,
    ThinnedEnsemble,
    compress,
    load,
)
from cgboost.inspection import contributions, plot_contributions, shap_trees
from cgboost.inspection.shapley import parts
from cgboost.inspection.shapley.contributions import scores_of
from cgboost.inspection.shapley.sampled import sampled
from tests.inspection.shapley.games import interventional

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)).astype(np.float32).astype(np.float64)
F = X[:, 0] + X[:, 1] * X[:, 2]
LABELS = np.array(["low", "mid", "high"])[np.digitize(F, [-0.5, 0.5])]
TABLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 200),
        "town": RNG.choice(["Ulm", "Bonn", "Kiel"], 200),
        "score": np.where(RNG.uniform(size=200) < 0.1, np.nan, RNG.normal(size=200)),
    }
)
TARGET = 0.05 * TABLE["age"] + 2.0 * (TABLE["town"] == "Kiel") + TABLE["score"].fillna(0.0)


def adds_up(found: Any, outputs: np.ndarray) -> None:
    """The base values and contributions are the outputs."""
    sums = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(sums, outputs, rtol=0, atol=1e-12 * np.abs(outputs).max())


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda table: pl.from_pandas(table)])
def test_columns_of_a_table_have_one_contribution_each(frame: Any) -> None:
    """Words, gaps and numbers, in pandas and polars, with the names of the columns."""
    table = frame(TABLE)
    model = LinearTreeBoostingRegressor(n_estimators=20).fit(table, TARGET)
    found = contributions(model, table[:9], table)
    adds_up(found, model.predict(table[:9]))
    assert found.feature_names == ["age", "town", "score"]
    assert found.data.shape == found.values.shape == (9, 3)
    assert found.data[0, 1] == TABLE["town"][0]
    rules = RuleSetClassifier(max_bins=5, max_rules=3).fit(table, TARGET > 3.0)
    adds_up(contributions(rules, table), rules.decision_function(table))


def test_outputs_have_names_and_a_third_axis() -> None:
    """Classes, quantiles and responses; of two classes there is one output, that of the second."""
    model = GradientBoostingClassifier(n_estimators=9).fit(X, LABELS)
    for background in (None, X):
        found = contributions(model, X[:7], background)
        assert found.values.shape == (7, 4, 3)
        assert found.base_values.shape == (7, 3)
        assert found.output_names == ["high", "low", "mid"]
        adds_up(found, model.decision_function(X[:7]))
    quantiles = MultiQuantileRegressor([0.2, 0.8]).fit(X, F)
    assert contributions(quantiles, X).output_names == ["0.2", "0.8"]
    responses = BLFRegressor().fit(X, np.column_stack([F, -F, X[:, 3]]))
    found = contributions(responses, X)
    assert found.output_names == ["0", "1", "2"]
    adds_up(found, responses.predict(X))
    two = contributions(LPBoostClassifier().fit(X, LABELS == "mid"), X[:7])
    assert two.values.shape == (7, 4)
    assert two.output_names is None


def test_links_are_not_in_it() -> None:
    """Of the Poisson loss contributions add up to the log of the prediction."""
    model = GradientBoostingRegressor(loss="poisson", n_estimators=9).fit(X, np.exp(F).round())
    adds_up(contributions(model, X, X), np.log(model.predict(X)))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_sparse_rows_are_dense_ones() -> None:
    """A linear model takes either, and says the same."""
    model = SparseLinearClassifier().fit(X, LABELS)
    dense, found = contributions(model, X, X), contributions(model, sparse.csr_array(X))
    np.testing.assert_allclose(found.values, dense.values, rtol=0, atol=1e-14)
    assert sparse.issparse(found.data)
    np.testing.assert_allclose(contributions(model.sparsify(), X).values, dense.values, atol=1e-14)


def test_kernels_of_sparse_rows_and_loaded_models_say_the_same(tmp_path: Path) -> None:
    """Parts are found by the kinds of basis functions, which files and sparse rows keep."""
    library = KernelLibrary({"linear": Linear(), "rbf": RBF(0.3)})
    model = CGBoostRegressor(library).fit(X, F)
    found = contributions(model, X[:9], X[::9])
    rows, background = sparse.csr_array(X[:9]), sparse.csr_array(X[::9])
    own = contributions(CGBoostRegressor(library).fit(sparse.csr_array(X), F), rows, background)
    np.testing.assert_allclose(own.values, found.values, rtol=0, atol=1e-6)
    loaded = load(model.save(tmp_path / "model.zip"))
    np.testing.assert_array_equal(contributions(loaded, X[:9], X[::9]).values, found.values)


def test_linear_contributions_are_products_about_the_mean_of_the_background() -> None:
    """coef_j (x_j − mean_j)."""
    model = SparseLinearRegressor(alpha=0.01).fit(X, F)
    expected = model.coef_ * (X - X[:10].mean(axis=0))
    np.testing.assert_allclose(contributions(model, X, X[:10]).values, expected, atol=1e-14)


@pytest.mark.parametrize(
    "model",
    [
        CGBoostRegressor(KernelLibrary({"one": Laplacian(), "rbf": RBF()}, normalize=True)),
        CGBoostClassifier(KernelLibrary({"l": Linear(), "r": RBF(0.3)}, standardize=True)),
        SVC(),
        SVR(),
        OneClassSVM(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_products_of_kernels_have_the_values_of_the_definition(model: Any) -> None:
    """Without shap: Gaussian, Laplacian and linear kernels, and what support vectors become."""
    model.fit(X, F > 0)
    if type(model).__module__.startswith("sklearn"):
        model = compress(model, X, size=10)
    scores = partial(scores_of, model)
    found = contributions(model, X[:5], X[::20]).values
    expected = interventional(scores, X[:5], X[::20])[..., 0]
    size = np.abs(scores(X)).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size)


def test_a_pipeline_has_those_of_its_last_step() -> None:
    """With the names that the steps before give, or numbers where they give none."""
    pipe = make_pipeline(StandardScaler(), PCA(3), GradientBoostingRegressor(n_estimators=5))
    found = contributions(pipe.fit(X, F), X, X[:20])
    adds_up(found, pipe.predict(X))
    assert found.feature_names == ["pca0", "pca1", "pca2"]
    np.testing.assert_array_equal(found.data, pipe[:-1].transform(X))
    plain = make_pipeline(FunctionTransformer(np.tanh), GradientBoostingRegressor(n_estimators=5))
    assert contributions(plain.fit(X, F), X).feature_names == ["x0", "x1", "x2", "x3"]
    named = make_pipeline(FunctionTransformer(), LinearTreeBoostingRegressor(n_estimators=5))
    found = contributions(named.fit(TABLE, TARGET), TABLE)
    assert found.feature_names == ["age", "town", "score"]
    alone = make_pipeline(GradientBoostingRegressor(n_estimators=5)).fit(X, F)
    adds_up(contributions(alone, X), alone.predict(X))


def test_searches_and_pipelines_in_pipelines_are_looked_into() -> None:
    """The best model of a search is explained; steps that do nothing, and steps of steps, count."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    inner = make_pipeline(StandardScaler(), SparseLinearRegressor(alpha=0.01))
    grid = {"sparselinearregressor__alpha": [0.1, 0.01]}
    for model in (
        GridSearchCV(inner, grid, cv=2),
        make_pipeline("passthrough", inner),
        make_pipeline("passthrough", SparseLinearRegressor(alpha=0.01)),
    ):
        found = contributions(model.fit(frame, F), frame, frame[:9])
        adds_up(found, model.predict(frame))
        assert found.feature_names == ["a", "b", "c", "d"]


def test_one_row_needs_a_background_unless_trees_have_counted() -> None:
    """Against itself every contribution would be 0, which is no answer; nothing is, of nothing."""
    for model in (SparseLinearRegressor(alpha=0.01), CGBoostRegressor(Linear())):
        model.fit(X, F)
        with pytest.raises(ValueError, match=f"one row .* this {type(model).__name__} .* give bac"):
            contributions(model, X[:1])
        adds_up(contributions(model, X[:1], X), model.predict(X[:1]))
    trees = GradientBoostingRegressor(n_estimators=5)
    assert contributions(trees.fit(X, F), X[:1]).values.any()
    found = contributions(trees.fit(X, np.full(80, 2.0)), X[:1])
    assert not found.values.any()
    adds_up(found, np.full(1, 2.0))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("leaf_values", ["keep", "refit"])
def test_thinned_forests_have_a_closed_form_with_new_leaves_too(
    n_classes: int, leaf_values: str
) -> None:
    """With more features than shap can enumerate, with and without a background."""
    wide = np.column_stack([X, RNG.normal(size=(80, 9))])
    y = np.digitize(F, [0.0] if n_classes == 2 else [-0.5, 0.5])
    forest = RandomForestClassifier(10, random_state=0)
    model = ThinnedEnsemble(forest, size=5, leaf_values=leaf_values).fit(wide, y)
    for background, kind in ((wide[::9], "interventional"), (None, "tree_path_dependent")):
        found = contributions(model, wide, background)
        adds_up(found, model.decision_function(wide))
        assert found.exact
        assert found.feature_perturbation == kind


def test_rows_can_be_chosen() -> None:
    """By a number, a slice or a mask."""
    found = contributions(GradientBoostingRegressor(n_estimators=5).fit(X, F), X)
    assert len(found) == 80
    for rows in (3, slice(3, 4), np.arange(80) == 3):
        np.testing.assert_array_equal(found[rows].values, found.values[[3]])
        np.testing.assert_array_equal(found[rows].data, X[[3]])
        assert len(found[rows].base_values) == 1


def test_what_cannot_be_explained_is_refused_by_name() -> None:
    """Other packages, models without a fit, rows of another width, no rows, objects."""
    model = GradientBoostingRegressor(n_estimators=5).fit(X, F)
    with pytest.raises(TypeError, match=r"sklearn\.linear_model.*Ridge: shap\.Explainer"):
        contributions(Ridge().fit(X, F), X)
    with pytest.raises(TypeError, match="PCA"):
        contributions(make_pipeline(StandardScaler(), PCA()).fit(X), X)
    with pytest.raises(NotFittedError):
        contributions(GradientBoostingRegressor(), X)
    with pytest.raises(ValueError, match="X has 3 features, but .* 4"):
        contributions(model, X[:, :3])
    with pytest.raises(ValueError, match="X has 3 features, but .* 4"):
        contributions(model, X, X[:, :3])
    with pytest.raises(ValueError, match="background must have at least one row"):
        contributions(model, X, X[:0])
    with pytest.raises(ValueError, match="X must have at least one row"):
        contributions(model, X[:0])
    words = np.array(["abab", "baba", "bbbb", "aaaa"] * 5)
    strings = CGBoostClassifier(Spectrum(2)).fit(words, np.arange(20) % 4 < 2)
    with pytest.raises(ValueError, match="rows of numbers"):
        contributions(strings, words)


def test_without_shap_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a model has no closed form, and for an Explanation."""
    monkeypatch.setattr("cgboost.optional.is_installed", lambda *packages: False)
    model = CGBoostRegressor(Matern()).fit(X, F)
    with pytest.raises(ImportError, match=r"KernelHypothesis.*cgboost\[explain\]"):
        contributions(model, X)
    found = contributions(GradientBoostingRegressor(n_estimators=5).fit(X, F), X)
    with pytest.raises(ImportError, match=r"cgboost\[explain\]"):
        found.to_shap()


def test_pictures_show_a_row_or_the_mean_over_rows() -> None:
    """Bars run from the base value to the output; features beyond top are one bar."""
    from matplotlib.figure import Figure

    model = GradientBoostingClassifier(n_estimators=9).fit(X, LABELS)
    found = contributions(model, X, X)
    axis = Figure().subplots()
    assert plot_contributions(found, 5, output="low", top=2, ax=axis) is axis.get_figure()
    bars = axis.patches
    assert len(bars) == 3
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert ends[0] == pytest.approx(model.decision_function(X[[5]])[0, 1])
    assert bars[-1].get_x() == pytest.approx(found.base_values[5, 1])
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names[0].startswith("x")
    assert names[-1] == "2 more"
    (sizes,) = plot_contributions(found, output=2).axes
    widths = np.sort(np.abs(found.values[..., 2]).mean(axis=0))[::-1]
    np.testing.assert_allclose([bar.get_width() for bar in sizes.patches], widths[widths > 0])
    with pytest.raises(ValueError, match="top must be at least 1, got 0"):
        plot_contributions(found, top=0)
    with pytest.raises(IndexError, match="row must be below 80"):
        plot_contributions(found, 80)
    with pytest.raises(IndexError, match="output must be one of"):
        plot_contributions(found, output="none")


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=5),
        AnyBoostRegressor(DecisionTreeRegressor(max_depth=13), n_estimators=2),
        LinearTreeBoostingRegressor(n_estimators=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_background_counts_in_blocks(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values over two halves have the mean of theirs over all, also of leaves of ten features."""
    monkeypatch.setattr(parts, "ENTRIES", 2**14)  # blocks of some 300 rows
    rows = RNG.normal(size=(700, 12))
    model.fit(rows, rows[:, 0] + np.sin(3.0 * rows).sum(axis=1))
    first, second, both = (
        contributions(model, rows[:20], own).values for own in (rows[:350], rows[350:], rows)
    )
    np.testing.assert_allclose(both, (first + second) / 2.0, rtol=0, atol=1e-13)


def test_a_large_background_takes_no_more_memory_than_a_small_one() -> None:
    """Ten times the rows: less than twice the memory at its highest."""
    rows = RNG.normal(size=(20_000, 4))
    model = GradientBoostingRegressor(n_estimators=100).fit(rows[:500], rows[:500, 0])
    highest = []
    for background in (rows[:2000], rows):
        tracemalloc.start()
        contributions(model, rows[:5], background)
        highest.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert highest[1] < 2 * highest[0]


# ------------------------------------------------------------------ beside the package shap


def explained(explainer: Any, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Values of an explainer of shap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(explainer.shap_values(rows, check_additivity=False)).reshape(shape)


@pytest.mark.parametrize("depth", [1, 3, 7])
def test_trees_have_the_values_of_shap_tree_explainer(depth: int) -> None:
    """Path-dependent ones to 1e-12; its interventional ones are single-precision sums."""
    shap = pytest.importorskip("shap")
    learner = AnyBoostRegressor(DecisionTreeRegressor(max_depth=depth), n_estimators=5)
    for model, y in (
        (GradientBoostingRegressor(n_estimators=9, max_depth=depth), F),
        (GradientBoostingClassifier(n_estimators=5, max_depth=depth), LABELS),
        (learner, F),
    ):
        model.fit(X, y)
        form = shap_trees(model)
        found = contributions(model, X[:20])
        other = shap.TreeExplainer(form, feature_perturbation="tree_path_dependent")
        expected = explained(other, X[:20], found.values.shape)
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.base_values[0], other.expected_value, atol=1e-12)
        found = contributions(model, X[:20], X[40:])
        expected = explained(shap.TreeExplainer(form, X[40:]), X[:20], found.values.shape)
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-6)


def test_other_models_have_the_values_of_shap_exact_and_linear_explainers() -> None:
    """To 1e-12; an Explanation has all that its pictures need."""
    shap = pytest.importorskip("shap")
    masker = shap.maskers.Independent(X[40:], max_samples=100)
    model = LinearTreeBoostingRegressor(n_estimators=20).fit(X, F)
    found = contributions(model, X[:20], X[40:]).to_shap()
    expected = shap.explainers.Exact(model.predict, masker)(X[:20], silent=True)
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.base_values, expected.base_values, rtol=0, atol=1e-12)
    assert isinstance(found, shap.Explanation)
    assert found.feature_names == ["x0", "x1", "x2", "x3"]
    linear = SparseLinearRegressor(alpha=0.01).fit(X, F)
    own = (linear.coef_, linear.intercept_)
    expected = shap.LinearExplainer(own, X[40:]).shap_values(X[:20])
    np.testing.assert_allclose(contributions(linear, X[:20], X[40:]).values, expected, atol=1e-12)


def test_many_features_without_a_closed_form_are_sampled_and_still_add_up() -> None:
    """Permutations of shap: it says that they are not exact, and the same seed is the same."""
    pytest.importorskip("shap")
    wide = RNG.normal(size=(40, 12))
    model = CGBoostRegressor(Matern()).fit(wide, wide[:, 0])
    found = contributions(model, wide[:3], wide[10:15])
    assert not found.exact
    adds_up(found, model.predict(wide[:3]))
    np.testing.assert_array_equal(found.values, contributions(model, wide[:3], wide[10:15]).values)


@pytest.mark.parametrize("unit", [(1e-10, 0.0), (1.0, 1e6)])
@pytest.mark.parametrize("n_features", [3, 12])
def test_small_numbers_and_small_differences_are_not_equal(
    unit: tuple[float, float], n_features: int
) -> None:
    """Of values that differ by less than 1e-8, or by 1e-5 of their size, each has its share."""
    pytest.importorskip("shap")
    scale, start = unit
    rows = RNG.normal(size=(60, n_features))
    model = CGBoostRegressor(Matern()).fit(rows, rows[:, 0])
    expected = contributions(model, rows[:3], rows[10:15])

    def said(Z: np.ndarray) -> np.ndarray:
        return scores_of(model, (Z - start) / scale)

    moved = scale * rows + start
    values, _ = sampled(said, moved[:3], moved[10:15], "a test")
    np.testing.assert_allclose(values[0].T, expected.values, rtol=0, atol=1e-7)


def test_only_sums_of_trees_are_trees_for_shap() -> None:
    """Linear models, rules and models without a fit are refused by name."""
    with pytest.raises(ValueError, match="SparseLinearRegressor is not"):
        shap_trees(SparseLinearRegressor(alpha=0.01).fit(X, F))
    with pytest.raises(ValueError, match="a Conjunction of this RuleSetClassifier"):
        shap_trees(RuleSetClassifier(max_bins=3, max_rules=2).fit(X, F > 0))
    with pytest.raises(ValueError, match="LinearTreeRegressor is not"):
        shap_trees(LinearTreeRegressor().fit(X, F))
    with pytest.raises(ValueError, match="Ridge is not"):
        shap_trees(Ridge().fit(X, F))
    with pytest.raises(NotFittedError):
        shap_trees(GradientBoostingRegressor())
