"""Kernels and libraries of kernels; ``kernel.py`` describes the structure a kernel may declare."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
