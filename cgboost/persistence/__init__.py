"""Models and checkpoints in files, without pickle: nothing that is read is run.

``files`` replaces a file as a whole, ``archive`` is the container, ``encoding`` and ``decoding``
take objects apart and put them together, ``classes`` and ``foreign`` say which there may be, and
``attributes`` what theirs are called.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
