"""Fitted models as ONNX graphs, for runtimes without Python.

All is computed in float64, whatever the input: the graph has the outputs of the model on rows of
float64, up to rounding.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from cgboost.exceptions import ExportError
from cgboost.inspection.model_forms import is_balanced, way_of
from cgboost.inspection.onnx.basis_functions import known_rows, weighted_sum
from cgboost.inspection.onnx.graph import Name, OperatorGraph
from cgboost.losses import Poisson
from cgboost.optional import is_installed
from cgboost.tolerances import LARGEST_HALF_LOG_ODDS

DECISIONS = ("Classification.predict", "LinearDecision.predict", "CompressedClassifier.predict")
DETECTIONS = ("CompressedOutlierDetector.predict",)
NUMBERS = (
    *("Regression.predict", "LinearPrediction.predict", "CompressedRegressor.predict"),
    "BLFRegressor.predict",
)

SAME_RESULT = 1e-6
"""Graph and model differ by less, relative to 1 and the largest output: square roots of distances
near 0, by some 1e-7, other formulas by 1e-12, a wrong one by far more."""


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: Literal["float32", "float64"] = "float32",
    has_trees: bool = True,
) -> Any:
    """The graph of a model, as :meth:`StoredEstimator.to_onnx` says.

    Parameters
    ----------
    has_trees : bool, default=True
        As of :class:`~cgboost.inspection.onnx.graph.OperatorGraph`.
    """
    check_is_fitted(model)
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    said = getattr(type(model).predict, "__qualname__", "")
    if said not in (*DECISIONS, *NUMBERS, *DETECTIONS) or way_of(model) is None:
        raise ExportError(
            f"{type(model).__name__} cannot be written in ONNX: kernel, linear, stump and tree "
            "models can. TransformRegressor and LinearTreeBoostingRegressor have to_sql; a "
            "ThinnedEnsemble of scikit-learn's trees has to_sklearn(), which skl2onnx takes where "
            "the members have equal weights (it loses others)"
        )
    graph = OperatorGraph(int(model.n_features_in_), has_trees=has_trees)
    x = graph.cast("X", np.float64)
    outputs = _outputs(graph, x, model)
    if said in NUMBERS:
        loss = getattr(getattr(model, "model_", model), "_known_loss", None)
        values = graph.op("Exp", outputs) if isinstance(loss, Poisson) else outputs
        width = width_of(model)
        values = values if width else _flat(graph, values)
        graph.output("prediction", values, np.float64, width=width or None)
    elif said in DETECTIONS:
        normal = graph.cast(graph.op("Greater", _flat(graph, outputs), -model._border), np.float64)
        labels = graph.op("Sub", graph.op("Mul", normal, 2.0), 1.0)
        graph.output("label", graph.cast(labels, np.int64), np.int64)
        graph.output("decision", _flat(graph, outputs), np.float64)
    else:
        _classes(graph, model, outputs)
    graph_model = graph.model(dtype, f"{type(model).__name__} of cgboost")
    if is_installed("onnxruntime"):
        _compare(graph_model, model, known_rows(_functions(model), graph.n_features).astype(dtype))
    if path is not None:
        from cgboost.persistence.files import replacing

        with replacing(path) as file:
            file.write(graph_model.SerializeToString())
    return graph_model


def width_of(model: Any) -> int:
    """Columns of the predictions of numbers; 0 where they have one dimension."""
    if way_of(model) == "machine":
        width = int(model.dual_coef_.shape[1])
        return width if width > 1 else 0
    return int(getattr(model, "_n_responses", 0))


def _outputs(graph: OperatorGraph, x: Name, model: Any) -> Name:
    """Model outputs, shape (n_rows, n_outputs)."""
    if way_of(model) == "linear":
        coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
        product = graph.op("MatMul", x, graph.constant(np.atleast_2d(coef).T.astype(np.float64)))
        return graph.op("Add", product, graph.constant(np.atleast_1d(model.intercept_)[None] * 1.0))
    if way_of(model) == "machine":
        sums = weighted_sum(graph, x, model.hypotheses_, model.dual_coef_)
        return graph.op("Add", sums, graph.constant(model.intercept_[None]))
    values = [
        graph.op("Add", weighted_sum(graph, x, own.hypotheses, own.coef), float(own.intercept))
        for run in model._runs
        for own in run.outputs
    ]
    if len(values) == 1:
        return values[0]
    outputs = graph.op("Concat", *values, axis=1)
    if not is_balanced(model):
        return outputs
    means = graph.op("Div", graph.sum(outputs, 1, keep=True), float(len(values)))
    return graph.op("Sub", outputs, means)


def _flat(graph: OperatorGraph, column: Name) -> Name:
    return graph.op("Squeeze", column, graph.constant(np.array([1])))


def _classes(graph: OperatorGraph, model: Any, outputs: Name) -> None:
    """Labels, decisions, and probabilities that are a formula of these."""
    classes: NDArray[Any] = model.classes_
    if len(classes) == 2:
        numbers = graph.cast(_flat(graph, graph.op("Greater", outputs, 0.0)), np.int64)
    else:
        votes = outputs
        if getattr(model, "_pairwise", False):
            votes, of_classes = _of_pairs(graph, model, outputs)
            votes = of_classes if model._breaks_ties else votes
            outputs = outputs if model._shows_pairs else of_classes
        numbers = graph.op("ArgMax", votes, axis=1, keepdims=0)
    whole = classes.dtype.kind in "biu"
    known = (
        graph.constant(classes.astype(np.int64))
        if whole
        else graph.words([str(label) for label in classes.tolist()])
    )
    graph.output("label", graph.op("Gather", known, numbers), np.int64 if whole else str)
    if len(classes) == 2:
        graph.output("decision", _flat(graph, outputs), np.float64)
    else:
        pairs = getattr(model, "_shows_pairs", False)
        width = model.dual_coef_.shape[1] if pairs else len(classes)
        graph.output("decision", outputs, np.float64, width=width)
    shares = _probabilities(graph, model, outputs)
    if shares is not None:
        graph.output("probabilities", shares, np.float64, width=len(classes))


def _of_pairs(graph: OperatorGraph, model: Any, outputs: Name) -> tuple[Name, Name]:
    """The votes for each class of outputs of pairs of classes, and these with their sums."""
    first, second = model.pairs
    won = graph.cast(graph.op("Greater", outputs, 0.0), np.float64)
    gained = graph.op("MatMul", won, graph.constant(first - second))
    votes = graph.op("Add", gained, graph.constant(second.sum(axis=0)[None]))
    sums = graph.op("MatMul", outputs, graph.constant(first - second))
    scale = graph.op("Mul", graph.op("Add", graph.op("Abs", sums), 1.0), 3.0)
    return votes, graph.op("Add", votes, graph.op("Div", sums, scale))


def _probabilities(graph: OperatorGraph, model: Any, outputs: Name) -> Name | None:
    """What ``predict_proba`` returns, where it is a formula of the outputs."""
    own = type(model)
    if (
        not hasattr(model, "predict_proba")
        or own.predict_proba.__module__.split(".")[0] != "cgboost"
    ):
        return None
    link = getattr(model, "model_", model)._link
    if link is None:
        return None
    half = graph.op("Mul", outputs, 0.5 * link.log_odds)
    if link.joint:
        return graph.op("Softmax", half, axis=1)
    half = graph.op("Min", graph.op("Max", half, -LARGEST_HALF_LOG_ODDS), LARGEST_HALF_LOG_ODDS)
    odds = graph.op("Exp", graph.op("Mul", half, -2.0))
    shares = graph.op("Div", 1.0, graph.op("Add", odds, 1.0))
    if len(model.classes_) == 2:
        return graph.op("Concat", graph.op("Sub", 1.0, shares), shares, axis=1)
    return graph.op("Div", shares, graph.sum(shares, 1, keep=True))


def _functions(model: Any) -> list[Any]:
    """The basis functions of a model that is a sum of them."""
    if way_of(model) == "linear":
        return []
    if way_of(model) == "machine":
        return list(model.hypotheses_)
    return [own for run in model._runs for output in run.outputs for own in output.active]


def _compare(made: Any, model: Any, rows: NDArray[Any]) -> None:
    """Raise ExportError unless a runtime says of the rows what the model says.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        In the precision of the input.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    names = [output.name for output in made.graph.output]
    try:
        session = onnxruntime.InferenceSession(made.SerializeToString(), options)
        said = dict(zip(names, session.run(names, {"X": rows}), strict=True))
    except Exception as error:  # its errors have no class in common
        raise ExportError(
            f"onnxruntime {onnxruntime.__version__} cannot run the graph of "
            f"{type(model).__name__}: {error}"
        ) from error
    nameless = object.__new__(type(model))  # of features: rows without them lead to no warning
    vars(nameless).update({k: v for k, v in vars(model).items() if k != "feature_names_in_"})
    methods = {
        "prediction": "predict", "decision": "decision_function", "probabilities": "predict_proba"
    }  # fmt: skip
    for name, method in methods.items():
        if name not in said:
            continue
        known = getattr(nameless, method)(rows.astype(np.float64))
        allowed = SAME_RESULT * (1.0 + np.abs(known).max())
        wrong = np.abs(said[name] - known) > allowed  # not for nan on both sides
        if wrong.any() or (np.isnan(said[name]) != np.isnan(known)).any():
            place = tuple(np.argwhere(wrong | np.isnan(said[name] + known))[0])
            raise ExportError(
                f"the graph of {type(model).__name__} is wrong: {name} is "
                f"{said[name][place]:.6g} where {method} says {known[place]:.6g}. Nothing was "
                "written; please report this"
            )
