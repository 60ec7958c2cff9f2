"""A graph of ONNX operators on float64 tensors, written as calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.optional import require

OPSET, IR_VERSION = 17, 8
"""Versions of operators and of the file that runtimes since 2022 know."""

ML_OPSET = 5
"""The version that has trees of float64, of March 2024; onnxruntime runs them from 1.21 on."""

ML = "ai.onnx.ml"

Name = str
"""Of a tensor."""


def onnx_package() -> Any:
    """The package onnx.

    Raises
    ------
    ImportError
        If it is not installed, with what to do.
    """
    require("onnx", "to_onnx")
    import onnx
    import onnx.helper
    import onnx.numpy_helper

    return onnx


class OperatorGraph:
    """Operators on the rows ``X``, in the order in which they are computed.

    Parameters
    ----------
    has_trees : bool, default=True
        Whether there is an operator for trees, of version 5 of ``ai.onnx.ml``.
    """

    def __init__(self, n_features: int, *, has_trees: bool = True) -> None:
        self.onnx, self.n_features, self.has_trees = onnx_package(), n_features, has_trees
        self.nodes: list[Any] = []
        self.outputs: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: ArrayLike) -> Name:
        """A tensor of float64 numbers, or of what an array of other numbers has."""
        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype.kind == "f" else array
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def words(self, values: list[str]) -> Name:
        """A tensor of strings."""
        name = f"constant_{len(self.constants)}"
        kind = self.onnx.TensorProto.STRING
        encoded = [value.encode() for value in values]
        self.constants.append(self.onnx.helper.make_tensor(name, kind, [len(values)], encoded))
        return name

    def op(self, kind: str, *inputs: Name | float, domain: str = "", **attributes: Any) -> Name:
        """The output of an operator; numbers among the inputs become constants."""
        names = [own if isinstance(own, str) else self.constant(float(own)) for own in inputs]
        output = f"{kind.lower()}_{len(self.nodes)}"
        node = self.onnx.helper.make_node(kind, names, [output], domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def sum(self, tensor: Name, axis: int, *, keep: bool = False) -> Name:
        """Σ along an axis."""
        return self.op("ReduceSum", tensor, self.constant(np.array([axis])), keepdims=int(keep))

    def columns(self, tensor: Name, places: ArrayLike) -> Name:
        """Some columns of a matrix."""
        return self.op("Gather", tensor, self.constant(np.asarray(places, dtype=np.int64)), axis=1)

    def cast(self, tensor: Name, dtype: Any) -> Name:
        """The same numbers in another precision."""
        return self.op(
            "Cast", tensor, to=self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        )

    def output(self, name: str, tensor: Name, dtype: Any, *, width: int | None = None) -> None:
        """Give a tensor a name that users see."""
        kinds, helper = self.onnx.TensorProto, self.onnx.helper
        kind = kinds.STRING if dtype is str else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.nodes.append(helper.make_node("Identity", [tensor], [name]))
        shape = ["rows"] if width is None else ["rows", width]
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def model(self, dtype: Any, description: str) -> Any:
        """The checked model whose input ``X`` has this dtype."""
        from cgboost._version import __version__

        helper = self.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        rows = helper.make_tensor_value_info("X", kind, ["rows", self.n_features])
        graph = helper.make_graph(self.nodes, "cgboost", [rows], self.outputs, self.constants)
        versions = {"": OPSET, ML: ML_OPSET}
        used = {"", *(node.domain for node in self.nodes)}
        sets = [helper.make_opsetid(domain, versions[domain]) for domain in sorted(used)]
        model = helper.make_model(
            graph, opset_imports=sets, ir_version=IR_VERSION, producer_name="cgboost",
            producer_version=__version__, doc_string=description,
        )  # fmt: skip
        self.onnx.checker.check_model(model)
        return model
