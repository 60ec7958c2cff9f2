"""Formulas by MathJax, from the site itself: one script of the package in the extra ``docs``.

A page writes them in fences named ``math``, which other readers of Markdown show too. Only pages
with a formula load the script.
"""

from __future__ import annotations

import shutil
from importlib.metadata import files
from pathlib import Path
from typing import Any

PACKAGE, SCRIPT = "django-static-mathjax", "es5/tex-svg.js"
"""Where MathJax comes from, and the part that has the fonts within."""


def copy_script(app: Any, failure: Exception | None) -> None:
    """Put the script next to the theme's."""
    if failure is None and app.builder.format == "html":
        found = next(path for path in files(PACKAGE) or () if str(path).endswith(SCRIPT))
        target = Path(app.outdir) / "_static" / app.config.mathjax_path
        shutil.copyfile(str(found.locate()), target)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.mathjax")
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True}
