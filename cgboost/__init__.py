"""Optimisation by column generation; boosting is its main job.

A restricted master gives duals, a pricer finds the column that helps most, until nothing prices
out and the duality gap certifies the answer.

The public names stand in ``__init__.pyi``; a module is imported when a name of it is asked for.
"""

import lazy_loader

from cgboost._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
