"""What lives as long as the build is left out of the searches for garbage."""

from __future__ import annotations

import gc
from typing import Any


def keep(gallery_conf: dict[str, Any], fname: str) -> None:
    """Called by sphinx-gallery, which looks for garbage after each block of a script."""
    gc.freeze()
