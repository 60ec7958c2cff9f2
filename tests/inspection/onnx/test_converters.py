"""Models inside pipelines as graphs of skl2onnx; trees without an operator for them."""

from typing import Any

import numpy as np
import onnxruntime
import pytest
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgboost import CGBoostClassifier, LPBoostClassifier, TransformRegressor
from cgboost.exceptions import ExportError
from cgboost.inspection import register_onnx_converters
from cgboost.inspection.onnx.graph import ML_OPSET
from cgboost.inspection.onnx.models import to_onnx
from cgboost.optional import is_installed
from tests.inspection.onnx.test_models import LABELS, MODELS, NEW, X, Y

TREES = ["trees", "a leaf alone", "ada, trees", "gradient, classes", "stagewise"]


@pytest.mark.parametrize("name", TREES)
def test_walks_down_trees_end_where_their_operator_does(name: str) -> None:
    """In plain operators, which runtimes without version 5 of ai.onnx.ml have too."""
    model, y = MODELS[name]
    made = to_onnx(model.fit(X, y), has_trees=False, dtype="float64")
    assert {node.domain for node in made.graph.node} == {""}
    session = onnxruntime.InferenceSession(made.SerializeToString())
    found = session.run(["prediction" if name == "stagewise" else "decision"], {"X": NEW})[0]
    wanted = model.predict(NEW) if name == "stagewise" else model.decision_function(NEW)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def converted(model: Any, rows: Any = X) -> list[Any]:
    """Outputs of the graph of a fitted model on new rows."""
    skl2onnx = pytest.importorskip("skl2onnx")
    names = register_onnx_converters()
    assert len(names) == len(set(names)) > 25
    options = {"zipmap": False} if is_classifier(model) else None
    made = skl2onnx.to_onnx(model, rows[:1], options=options).SerializeToString()
    return list(onnxruntime.InferenceSession(made).run(None, {"X": NEW.astype(rows.dtype)}))


IN_PIPELINES = (
    "RBF ", "kernels, classes", "stumps", "stumps, counts", "gradient", "gradient, classes",
    "linear", "linear, standardised", "linear, log loss, CV", "factors", "factors, responses",
    "logit, classes", "ada, trees", "truth values",
)  # fmt: skip


@pytest.mark.parametrize("name", IN_PIPELINES)
def test_pipelines_become_graphs(name: str) -> None:
    """Labels, and probabilities or decisions; predictions have a column for each output."""
    model, y = MODELS[name]
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    first, *rest = converted(pipeline)
    wanted = pipeline.predict(NEW)
    if not is_classifier(model):
        np.testing.assert_allclose(first, wanted.reshape(len(NEW), -1), rtol=1e-6)
        return
    own = wanted.astype(int) if wanted.dtype == bool else wanted
    assert (first == own).mean() > 0.99  # the rest is at a border
    if hasattr(model, "predict_proba"):
        scores = pipeline.predict_proba(NEW)
    else:
        scores = pipeline.decision_function(NEW)
        scores = scores if scores.ndim > 1 else np.column_stack([-scores, scores])
    np.testing.assert_allclose(rest[0], scores, atol=1e-6)


def test_the_operator_for_trees_is_beyond_skl2onnx() -> None:
    """Its newest version of ai.onnx.ml is below that of TreeEnsemble: else no walk is needed."""
    parsing = pytest.importorskip("skl2onnx.common._topology")
    assert parsing.get_default_opset_for_domain("ai.onnx.ml") < ML_OPSET


def test_whatever_else_is_composed_of_models_becomes_one() -> None:
    """Votes, columns, rows of float32; scores on request."""
    skl2onnx = pytest.importorskip("skl2onnx")
    kernels = CGBoostClassifier(loss="log_loss", max_columns=10)
    vote = VotingClassifier(
        [("a", kernels), ("b", LogisticRegression())], voting="soft", flatten_transform=False
    )
    model = make_pipeline(make_column_transformer((StandardScaler(), [2, 0])), vote)
    model.fit(X, LABELS)
    np.testing.assert_allclose(converted(model)[1], model.predict_proba(NEW), atol=1e-6)
    model = make_pipeline(StandardScaler(), LPBoostClassifier(max_columns=10)).fit(X, LABELS)
    single = converted(model, X.astype(np.float32))
    assert (single[0] == model.predict(NEW.astype(np.float32))).mean() > 0.95
    kernels.fit(X, LABELS)
    options = {id(kernels): {"zipmap": False, "raw_scores": True}}
    made = skl2onnx.to_onnx(kernels, X[:1], options=options).SerializeToString()
    found = onnxruntime.InferenceSession(made).run(None, {"X": NEW})[1]
    np.testing.assert_allclose(found[:, 1], kernels.decision_function(NEW), atol=1e-6)
    np.testing.assert_array_equal(found[:, 0], -found[:, 1])


def test_what_cannot_be_written_is_said_by_the_model() -> None:
    """With the same message as alone."""
    skl2onnx = pytest.importorskip("skl2onnx")
    register_onnx_converters()
    model = make_pipeline(StandardScaler(), TransformRegressor()).fit(X, Y)
    with pytest.raises(ExportError, match="StageOutput cannot .* to_sql"):
        skl2onnx.to_onnx(model, X[:1])


@pytest.mark.skipif(is_installed("skl2onnx"), reason="skl2onnx is installed")
def test_without_the_package_the_message_says_what_to_install() -> None:
    """It comes with no extra."""
    with pytest.raises(ImportError, match="needs the package skl2onnx, .*: pip install skl2onnx"):
        register_onnx_converters()
