"""Models and checkpoints in files, without pickle: nothing that is read is run.

``files`` replaces a file as a whole, ``archive`` is the container, ``encoding`` and ``decoding``
take objects apart and put them together, ``classes`` and ``foreign`` say which there may be.
"""

from cgboost.persistence.archive import Manifest
from cgboost.persistence.checkpoint import Checkpoint
from cgboost.persistence.codec import read, read_manifest, write
from cgboost.persistence.files import replacing, write_picture, write_text
from cgboost.persistence.models import load, save
from cgboost.persistence.skops import trusted_types

__all__ = [
    "Checkpoint",
    "Manifest",
    "load",
    "read",
    "read_manifest",
    "replacing",
    "save",
    "trusted_types",
    "write",
    "write_picture",
    "write_text",
]
