"""Latent factors: orthogonal combinations of features, or of the centres of a kernel.

``LinearFactorSpace`` and ``KernelFactorSpace`` hold training rows; a ``LinearFactorSearch`` or
``KernelFactorSearch`` finds factors in them, one after another; ``LinearFactors`` and
``KernelFactors`` are what a fitted model keeps of factors, and evaluate them on new rows.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
