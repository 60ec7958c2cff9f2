"""Masters of a support-vector loss and a norm: their dual over the training rows."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
