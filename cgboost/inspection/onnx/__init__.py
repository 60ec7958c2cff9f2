"""Fitted models as ONNX graphs: ``graph`` has operators, ``kernels`` and ``columns`` formulas."""

from cgboost.inspection.onnx.models import to_onnx

__all__ = ["to_onnx"]
