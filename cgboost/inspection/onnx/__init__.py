"""Fitted models as ONNX graphs: operators, and formulas of kernels and basis functions."""
