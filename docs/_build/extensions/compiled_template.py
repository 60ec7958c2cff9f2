"""numpydoc's template of a docstring is compiled once.

numpydoc makes a new environment of jinja2, which compiles the template anew, for each of some five
thousand docstrings. Here all these environments share what was compiled.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from jinja2 import FileSystemBytecodeCache
from numpydoc import docscrape_sphinx


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    docscrape_sphinx.SandboxedEnvironment = partial(
        docscrape_sphinx.SandboxedEnvironment,
        bytecode_cache=FileSystemBytecodeCache(app.doctreedir),
    )
    return {"parallel_read_safe": True}
