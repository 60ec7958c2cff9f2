"""The interactive page: one file of docs/interactive/, with its style, scripts and scenes inside.

It asks for nothing, so that it works without a server and without a network, and can be saved. Without
the rest of the site, with nothing but Python:

    python docs/_build/extensions/interactive_page.py build/column_generation.html
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

PLACE = "interactive/index.html"
"""Where the page stands in the site."""
PICTURES = ("column_generation.webp", "column_generation.png")
"""Next to it: the moving picture, and the still one for readers who want no motion."""
SCRIPTS = ("charts", "scenes", "page")


def assembled(folder: Path) -> str:
    """The page as one HTML text.

    Parameters
    ----------
    folder : Path
        With ``index.html``, ``page.css``, ``js/`` and ``scenes/``.

    Raises
    ------
    ValueError
        If a script or scene would end the element that holds it.
    """
    scenes = {
        f"scene-{path.stem}": path.read_text(encoding="utf-8").strip()
        for path in sorted((folder / "scenes").glob("*.json"))
    }
    code = "\n".join((folder / "js" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    for name, text in {**scenes, "js": code}.items():
        if "</" + "script" in text.lower():
            raise ValueError(f"{name} has a closing script tag: write it in two parts")
    elements = [f'<script type="application/json" id="{i}">{text}</script>' for i, text in scenes.items()]
    elements.append(f'<script>\n"use strict";\n(() => {{\n{code}\n}})();\n</script>')
    style = (folder / "page.css").read_text(encoding="utf-8")
    page = (folder / "index.html").read_text(encoding="utf-8")
    return page.replace("/*! style */", style).replace("<!-- scripts -->", "\n".join(elements))


def write_page(app: Any, failure: Exception | None) -> None:
    """Put the page and its pictures into the site, once the other pages are there."""
    if failure is None and app.builder.format == "html":
        folder, target = Path(app.srcdir) / "interactive", Path(app.outdir) / PLACE
        target.parent.mkdir(exist_ok=True)
        target.write_text(assembled(folder), encoding="utf-8")
        for name in PICTURES:
            shutil.copy(folder / name, target.parent)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(assembled(Path(__file__).parents[2] / "interactive"), encoding="utf-8")
    print(f"Open {target}")
