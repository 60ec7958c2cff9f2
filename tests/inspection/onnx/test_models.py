"""ONNX graphs say what the models say, in two runtimes."""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import (
    RBF,
    AdaBoostClassifier,
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFClassifier,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostRegressor,
    Chi2,
    ConstrainedBoostClassifier,
    Cosine,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KernelLibrary,
    L2BoostRegressor,
    Laplacian,
    Linear,
    LinearTreeRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    LPBoostRegressor,
    Matern,
    On,
    OrthogonalGreedyRegressor,
    Periodic,
    Polynomial,
    RationalQuadratic,
    RuleSetClassifier,
    SparseLinearClassifier,
    SparseLinearRegressor,
    Spectrum,
    StagewiseRegressor,
    ThinnedEnsemble,
    TransformRegressor,
    linear,
)
from cgboost.exceptions import ExportError
from cgboost.inspection.model_forms import tree_of
from cgboost.inspection.onnx import graph as graphs
from cgboost.inspection.onnx import models

RNG = np.random.default_rng(0)
X = RNG.uniform(0.05, 1, size=(80, 3))
NEW = np.vstack([X[:20], RNG.uniform(0, 1.2, size=(200, 3))])
Y = 3 * X[:, 0] + np.abs(X[:, 1] - 0.5) + 0.1 * RNG.normal(size=80)
LABELS = np.where(np.median(Y) < Y, "yes", "no")
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.6])) * 10
COUNTS = np.round(np.exp(Y / 2))
TREE = DecisionTreeRegressor(max_depth=3, random_state=0)


def kernels(**own: Any) -> KernelLibrary:
    """A library of them, normalised or standardised on request."""
    options = {k: own.pop(k) for k in ("normalize", "standardize") if k in own}
    return KernelLibrary(own, **options)


MODELS: dict[str, tuple[Any, Any]] = {
    **{
        type(kernel).__name__ + f" {getattr(kernel, 'nu', '')}": (
            CGBoostClassifier(kernels(own=kernel), max_columns=15),
            LABELS,
        )
        for kernel in (
            Linear(), Polynomial(3, 0.5, 1.0), RBF(), Laplacian(), Chi2(), Matern(nu=0.5),
            Matern(nu=1.5), Matern(nu=2.5), Periodic(), RationalQuadratic(alpha=0.5), Cosine(),
        )
    },
    "kernels, numbers": (CGBoostRegressor(kernels(a=Linear(), b=RBF(2.0)), C=100.0), Y),
    "kernels, classes": (
        CGBoostClassifier(kernels(a=Polynomial(2), b=RBF()), max_columns=30),
        THREE,
    ),
    "normalised": (
        CGBoostRegressor(
            kernels(a=Polynomial(2), b=0.5 * RBF() + Linear(), c=Linear() * RBF(), normalize=True),
            max_columns=25,
        ),
        Y,
    ),
    "standardised": (
        CGBoostRegressor(kernels(a=RBF(), b=Linear(), standardize=True), max_columns=25),
        Y,
    ),
    "in float64": (CGBoostRegressor(kernels(a=RBF()), penalty="group"), Y),
    "on columns": (
        CGBoostRegressor(kernels(a=On(RBF(), [2, 0]), b=On(Linear(), 1)), max_columns=25),
        Y,
    ),
    "log loss": (CGBoostClassifier(kernels(a=RBF()), loss="log_loss", max_columns=20), THREE),
    "stumps": (LPBoostClassifier(max_columns=30), LABELS),
    "stumps, joint": (LPBoostClassifier(multi_class="joint", max_columns=30), THREE),
    "stumps, numbers": (LPBoostRegressor(max_columns=30), Y),
    "stumps, counts": (LPBoostRegressor(loss="poisson", max_columns=20), COUNTS),
    "trees": (LPBoostClassifier(TREE, max_columns=10), LABELS),
    "a leaf alone": (LPBoostClassifier(DecisionTreeRegressor(min_samples_leaf=60)), X[:, 0] > 0.3),
    "constrained": (ConstrainedBoostClassifier(max_columns=20), LABELS),
    "linear": (SparseLinearRegressor(alpha=0.01), Y),
    "linear, counts": (SparseLinearRegressor(alpha=0.01, loss="poisson"), COUNTS),
    "linear, standardised": (SparseLinearClassifier(standardize=True), THREE),
    "linear, log loss": (SparseLinearClassifier(loss="log_loss", probability=True), LABELS),
    "linear, log loss, classes": (SparseLinearClassifier(loss="log_loss"), THREE),
    "linear, log loss, CV": (linear.SparseLinearClassifierCV(loss="log_loss", n_Cs=3), THREE),
    "linear, exponential": (SparseLinearClassifier(loss="exponential"), LABELS),
    "linear, quantile": (linear.QuantileRegressor(alpha=0.01), Y),
    "linear, SVC": (linear.L1LinearSVC(), LABELS),
    "factors": (BLFRegressor(2, scale=True), Y),
    "factors, counts": (BLFRegressor(2, loss="poisson"), COUNTS),
    "factors, responses": (BLFRegressor(2), np.column_stack([Y, COUNTS])),
    "factors, labels": (BLFClassifier(2), LABELS),
    "factors, classes": (BLFClassifier(2, loss="multinomial"), THREE),
    "L2": (L2BoostRegressor(), Y),
    "orthogonal greedy": (OrthogonalGreedyRegressor(), Y),
    "logit": (LogitBoostClassifier(n_estimators=8), LABELS),
    "logit, classes": (LogitBoostClassifier(n_estimators=8), THREE),
    "logit, one against the rest": (LogitBoostClassifier(n_estimators=8, multi_class="ovr"), THREE),
    "ada, stumps": (AdaBoostClassifier(), THREE),
    "ada, trees": (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6), THREE),
    "gradient": (GradientBoostingClassifier(n_estimators=8), LABELS),
    "gradient, classes": (GradientBoostingClassifier(n_estimators=8), THREE),
    "gradient, numbers": (GradientBoostingRegressor(n_estimators=20), Y),
    "any": (AnyBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8), LABELS),
    "any, classes": (AnyBoostClassifier(TREE, n_estimators=8), THREE),
    "stagewise": (StagewiseRegressor(TREE, n_estimators=8), Y),
    "whole numbers": (LPBoostClassifier(max_columns=10), (LABELS == "yes").astype(int)),
    "truth values": (LPBoostClassifier(max_columns=10), LABELS == "yes"),
    "nothing but a constant": (CGBoostRegressor(kernels(a=RBF()), C=1e-9), Y),
}  # fmt: skip


def close(own: Any, other: Any) -> None:
    """Equal to 1e-6, what a distance near 0 is off by."""
    np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_runtimes_say_what_the_model_says(name: str, dtype: str) -> None:
    """Of rows in either precision: the model is given the same rows as float64."""
    model, y = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    made = model.to_onnx(dtype=dtype)
    given = NEW.astype(dtype)
    rows = given.astype(np.float64)
    names = [output.name for output in made.graph.output]
    session = onnxruntime.InferenceSession(made.SerializeToString())
    for values in (
        session.run(None, {"X": given}),
        ReferenceEvaluator(made).run(None, {"X": given}),
    ):
        said = dict(zip(names, values, strict=True))
        if "prediction" in said:
            close(said["prediction"], model.predict(rows))
            continue
        decision = model.decision_function(rows)
        close(said["decision"], decision)
        sure = np.abs(decision) > 1e-5 if decision.ndim == 1 else _gap(decision) > 1e-5
        own = np.array([str(label) for label in said["label"]])[sure]
        known = model.predict(rows)[sure]
        known = known.astype(int) if known.dtype == bool else known
        np.testing.assert_array_equal(own, known.astype(str))
        if hasattr(model, "predict_proba"):
            close(said["probabilities"], model.predict_proba(rows))


def _gap(decision: np.ndarray) -> np.ndarray:
    """How much larger the largest output is than the next."""
    ordered = np.sort(decision, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def test_graphs_are_written_to_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the names of inputs and outputs, and what made them; wrong calls are refused.

    The package is no requirement of the library: without it the message says what to install.
    """
    with pytest.raises(ValueError, match="not fitted"):
        LPBoostRegressor().to_onnx()
    model = LPBoostRegressor(max_columns=9).fit(X, Y)
    with pytest.raises(ValueError, match="dtype must be 'float32' or 'float64', got 'int8'"):
        model.to_onnx(dtype="int8")
    model.to_onnx(tmp_path / "model.onnx")
    own = onnx.load(tmp_path / "model.onnx")
    assert own.producer_name == "cgboost"
    assert [tensor.name for tensor in own.graph.input] == ["X"]
    assert [tensor.name for tensor in own.graph.output] == ["prediction"]
    assert own.doc_string == "LPBoostRegressor of cgboost"
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "cgboost\[onnx\]"'):
        graphs.onnx_package()


WORDS = np.array(["apple", "pear", "plum", "fig"] * 20, dtype=object)
CANNOT: dict[str, tuple[Any, Any, Any, str]] = {
    "objects": (CGBoostClassifier(kernels(a=Spectrum(2)), max_columns=3), WORDS, LABELS, "objects"),
    "own": (
        CGBoostClassifier(kernels(a=lambda A, B: A @ B.T), max_columns=3), X, LABELS, "kernel 'a'"
    ),
    "blocks": (TransformRegressor(), X, Y, "StageOutput cannot .* to_sql"),
    "model tree": (LinearTreeRegressor(), X, Y, "LinearTreeRegressor cannot .* to_sql"),
    "factors": (BLFRegressor(kernel=RBF(1.0)), X, Y, "FactorHypothesis cannot be written in ONNX"),
    "rules": (RuleSetClassifier(), X, LABELS, "Conjunction|RuleSetClassifier"),
    "learners": (AnyBoostRegressor(Ridge(), n_estimators=2), X, Y, "LearnerHypothesis"),
    "thinned": (
        ThinnedEnsemble(RandomForestClassifier(5, random_state=0), size=2), X, LABELS, "to_sklearn"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CANNOT)
def test_what_onnx_cannot_say_is_an_error(name: str) -> None:
    """It names the part, and another way where there is one."""
    model, rows, y, words = CANNOT[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, y)
    with pytest.raises(ExportError, match=words):
        model.to_onnx()


class Turned(LPBoostClassifier):
    """A model with a decision of its own."""

    def decision_function(self, X: Any) -> Any:
        """With the other sign."""
        return -super().decision_function(X)


def test_a_graph_that_contradicts_its_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime says so before anything is written; without it there is no comparison."""
    model = Turned(max_columns=5).fit(X, LABELS)
    with pytest.raises(ExportError, match="wrong: decision is .* where decision_function says"):
        model.to_onnx()
    monkeypatch.setattr(models, "is_installed", lambda package: False)
    assert model.to_onnx().graph.output


def test_probabilities_that_are_no_formula_are_left_out() -> None:
    """Calibrated ones, and those of a subclass."""

    class Own(SparseLinearClassifier):
        def predict_proba(self, X: Any) -> Any:
            """Always even."""
            return np.full((len(X), 2), 0.5)

    for model in (Own(loss="log_loss"), SparseLinearClassifier(probability=True)):
        made = model.fit(X, LABELS).to_onnx()
        assert [output.name for output in made.graph.output] == ["label", "decision"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_trees_keep_all_digits(dtype: str) -> None:
    """Sums of leaves are those of float64, of rows at thresholds, too.

    Missing values, which the model refuses, go where scikit-learn's trees send them.
    """
    model = StagewiseRegressor(TREE, n_estimators=20).fit(X, 1e9 * Y)
    session = onnxruntime.InferenceSession(model.to_onnx(dtype=dtype).SerializeToString())
    ((fitted,),) = ([*run.outputs] for run in model._runs)
    trees = [
        (*tree_of(own), coef) for own, coef in zip(fitted.hypotheses, fitted.coef, strict=True)
    ]
    splits = [(j, t) for own, *_ in trees for j, t in zip(own.feature, own.threshold, strict=True)]
    rows = np.tile(X[:1], (len(splits), 1))
    for row, (j, t) in zip(rows, splits, strict=True):
        row[max(j, 0)] = t if j >= 0 else np.nan
    rows = rows.astype(dtype)
    (found,) = session.run(None, {"X": rows})
    assert found.dtype == np.float64
    single = rows.astype(np.float32)
    known = np.sum([coef * values[own.apply(single)] for own, values, coef in trees], axis=0)
    np.testing.assert_allclose(found, model.intercept_ + known, rtol=1e-14)
    full = ~np.isnan(rows).any(axis=1)
    np.testing.assert_allclose(found[full], model.predict(rows[full].astype(float)), rtol=1e-14)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_features_far_from_zero(tmp_path: Path, sparse_rows: bool) -> None:
    """Seconds since 1970 within a minute: the mean is taken off before anything is divided."""
    rng = np.random.default_rng(0)
    seconds = 1.7e9 + rng.uniform(0, 60, 200)
    X = np.column_stack([seconds, rng.normal(size=200)])
    y = np.sin((seconds - 1.7e9) / 30) + X[:, 1]
    rows = csr_array(X) if sparse_rows else X
    model = CGBoostRegressor(C=10.0).fit(rows, y)
    path = tmp_path / "far.onnx"
    model.to_onnx(path, dtype="float64")
    (found,) = onnxruntime.InferenceSession(str(path)).run(None, {"X": X})[:1]
    np.testing.assert_allclose(np.ravel(found), model.predict(rows), atol=1e-5 * np.ptp(y))
