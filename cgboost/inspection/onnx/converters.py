"""Models inside pipelines as ONNX graphs: what skl2onnx needs to know of them.

skl2onnx (https://onnx.ai/sklearn-onnx) writes pipelines, column transformers and ensembles of
scikit-learn, and asks a table for the graph of every other estimator in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from cgboost.exceptions import ExportError
from cgboost.inspection.model_forms import way_of
from cgboost.inspection.onnx.graph import OPSET
from cgboost.inspection.onnx.models import DECISIONS, NUMBERS, to_onnx, width_of
from cgboost.optional import require
from cgboost.persistence.classes import classes_in

OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [False, True],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
}
"""Those that skl2onnx has for classifiers."""


def register_onnx_converters() -> list[str]:
    """Let skl2onnx write models of cgboost, in pipelines and whatever else it writes.

    Afterwards ``skl2onnx.to_onnx(make_pipeline(StandardScaler(), model), rows)`` works for every
    model that has a graph by ``model.to_onnx()``. Give rows of float64: with float32 the steps
    before the model lose digits. The second output of a classifier has the probabilities, or
    without a formula for them, or with skl2onnx's option ``raw_scores``, what
    ``decision_function`` returns, of two classes as −f and f.

    Returns
    -------
    names : list of str
        Of the classes that are registered.

    Raises
    ------
    ImportError
        Without the package skl2onnx.

    Examples
    --------
    ::

        import skl2onnx
        from cgboost.inspection import register_onnx_converters

        register_onnx_converters()
        pipeline = make_pipeline(StandardScaler(), LPBoostClassifier()).fit(X, y)
        graph = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
    """
    require("skl2onnx", "register_onnx_converters")
    from skl2onnx import update_registered_converter
    from skl2onnx.common import shape_calculator

    names = []
    for kind in _kinds():
        if said_by(kind) in DECISIONS:
            shapes = shape_calculator.calculate_linear_classifier_output_shapes
            convert, options = _write_classifier, OPTIONS
        else:
            shapes = shape_calculator.calculate_linear_regressor_output_shapes
            convert, options = _write_regressor, None
        alias = f"CGBoost{kind.__name__}"
        update_registered_converter(kind, alias, shapes, convert, options=options)
        names.append(kind.__name__)
    return names


def said_by(kind: type) -> str:
    """Whose ``predict`` an estimator has."""
    return str(getattr(getattr(kind, "predict", None), "__qualname__", ""))


ENDS = ("Classifier", "Regressor", "CV", "SVC", "SVR")
"""How estimators are called, and not their bases."""


def _kinds() -> Iterator[type]:
    """The estimators that may have graphs."""
    for module, name in classes_in(("estimators",)):
        kind = getattr(import_module(module), name)
        known = name.endswith(ENDS) and said_by(kind) in (*DECISIONS, *NUMBERS)
        if known and way_of(object.__new__(kind)) is not None:
            yield kind


def _write_regressor(scope: Any, operator: Any, container: Any) -> None:
    """Predictions, shape (n_rows, 1) or (n_rows, n_outputs), in the precision that is asked for."""
    made = _embedded(scope, operator, container)
    shape = _constant(scope, container, np.array([-1, width_of(operator.raw_operator) or 1]))
    column = scope.get_unique_variable_name("column")
    container.add_node("Reshape", [made["prediction"], shape], [column], op_version=OPSET)
    _cast(container, column, operator.outputs[0])


def _write_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Labels, and probabilities or scores."""
    model, made = operator.raw_operator, _embedded(scope, operator, container)
    options = scope.get_options(model, {"raw_scores": False, "nocl": False})
    if options["nocl"]:
        raise ExportError(
            "nocl=True, numbers of classes as labels, is not for models of cgboost: leave "
            "it out, or give y as numbers"
        )
    container.add_node(
        "Identity", [made["label"]], [operator.outputs[0].full_name], op_version=OPSET
    )
    if "probabilities" in made and not options["raw_scores"]:
        _cast(container, made["probabilities"], operator.outputs[1])
        return
    scores = made["decision"]
    if len(model.classes_) == 2:
        names = [scope.get_unique_variable_name(name) for name in ("column", "minus", "both")]
        shape = _constant(scope, container, np.array([-1, 1]))
        container.add_node("Reshape", [scores, shape], [names[0]], op_version=OPSET)
        container.add_node("Neg", [names[0]], [names[1]], op_version=OPSET)
        both = [names[1], names[0]]
        container.add_node("Concat", both, [names[2]], op_version=OPSET, axis=1)
        scores = names[2]
    _cast(container, scores, operator.outputs[1])


def _embedded(scope: Any, operator: Any, container: Any) -> dict[str, str]:
    """The graph of a model inside another one: what its outputs are called there."""
    import onnx.helper
    import onnx.numpy_helper

    # skl2onnx 1.20 refuses version 5 of ai.onnx.ml, the first with trees of float64
    graph = to_onnx(operator.raw_operator, dtype="float64", has_trees=False).graph
    names = {"X": operator.inputs[0].full_name}
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor).ravel().tolist()
        names[tensor.name] = scope.get_unique_variable_name(tensor.name)
        container.add_initializer(names[tensor.name], tensor.data_type, list(tensor.dims), values)
    for node in graph.node:
        for output in node.output:
            names[output] = scope.get_unique_variable_name(output)
        container.add_node(
            node.op_type,
            [names[name] for name in node.input],
            [names[name] for name in node.output],
            op_version=OPSET,
            **{own.name: onnx.helper.get_attribute_value(own) for own in node.attribute},
        )
    return {output.name: names[output.name] for output in graph.output}


def _constant(scope: Any, container: Any, values: Any) -> str:
    """A tensor of whole numbers."""
    import onnx

    name = str(scope.get_unique_variable_name("shape"))
    container.add_initializer(name, onnx.TensorProto.INT64, [len(values)], values.tolist())
    return name


def _cast(container: Any, name: str, output: Any) -> None:
    """An output in the precision that it was declared with."""
    from skl2onnx.common.data_types import guess_proto_type

    kind = guess_proto_type(output.type)
    container.add_node("Cast", [name], [output.full_name], op_version=OPSET, to=kind)
