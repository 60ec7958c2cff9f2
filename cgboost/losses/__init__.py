"""Losses: the cost of the model's output, and the resulting pseudo-response."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
