"""scikit-learn estimators: each only assembles a master and a pricer and runs the common loop.

The classes stand in ``__init__.pyi``; a module is imported when a class of it is asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
