"""Fitted models as ONNX graphs: ``graph`` has operators, ``kernels`` and ``columns`` formulas."""
