"""Fitted models as ONNX graphs: ``graph`` has operators, ``kernels`` and ``columns`` formulas."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
