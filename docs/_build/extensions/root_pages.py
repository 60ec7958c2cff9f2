"""README, CONTRIBUTING and CHANGELOG as pages of the site.

They stand in the root of the repository, where people look for them. When a build begins they are
copied to ``project/`` with their relative links led to the same files; links of other pages to them
are led to the copies. In the same way links to what ``made_pages`` names, the folder of the
examples, are led to the page that is made of it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)")


def relinked(text: str, here: Path, there: Path, moved: dict[Path, Path]) -> str:
    """Markdown whose relative links, right for a page ``here``, are right for one ``there``.

    Parameters
    ----------
    text : str
    here, there : Path
        The page as it was written, and where it will stand.
    moved : dict of Path to Path
        Files that stand elsewhere in the site.
    """

    def lead(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(here.parent / link[1]))
        target = moved.get(target, target)
        path = os.path.relpath(target, there.parent).replace(os.sep, "/")
        return f"]({path}{link[2] or ''})"

    return LINK.sub(lead, text)


def places(app: Any) -> dict[Path, Path]:
    """Where each page of the root stands, and where its copy does."""
    docs = Path(app.srcdir).resolve()
    return {
        docs.parent / f"{name}.md": docs / f"{place}.md"
        for name, place in app.config.root_pages.items()
    }


def moves(app: Any) -> dict[Path, Path]:
    """All that stands elsewhere in the site: the pages of the root, and what pages are made of."""
    docs = Path(app.srcdir).resolve()
    made = {docs.parent / name: docs / page for name, page in app.config.made_pages.items()}
    return places(app) | made


def copy_pages(app: Any) -> None:
    """Write the copies, where they have changed."""
    moved = moves(app)
    for here, there in places(app).items():
        text = relinked(here.read_text(encoding="utf-8"), here, there, moved)
        there.parent.mkdir(exist_ok=True)
        if not there.exists() or there.read_text(encoding="utf-8") != text:
            there.write_text(text, encoding="utf-8")


def lead_to_copies(app: Any, docname: str, source: list[str]) -> None:
    """Links of a page to the root, led to the copies."""
    page = Path(app.env.doc2path(docname)).resolve()
    moved = moves(app)
    if page.suffix == ".md" and page not in moved.values():
        source[0] = relinked(source[0], page, page, moved)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("root_pages", {}, "env")
    app.add_config_value("made_pages", {}, "env")
    app.connect("config-inited", lambda app, config: copy_pages(app))
    app.connect("source-read", lead_to_copies)
    return {"parallel_read_safe": True}
