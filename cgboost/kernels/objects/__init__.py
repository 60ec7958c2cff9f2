"""Kernels over objects: functions of two objects, strings, sets and graphs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
