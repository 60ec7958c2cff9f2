"""Landing pages: their lists of links are the table of contents of the site.

A page named in ``landing_pages`` reads well wherever Markdown is shown, and needs no directive:
every list item that begins with a link to another page of the site becomes an entry of a hidden
toctree, under the words of the link. Pages that no landing page names come under
``landing_page_for_the_rest``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

ENTRY = re.compile(r"^\s*[-*] \[([^\]]*)\]\((?!\w+:)([^)#]+)\)", re.M)
MADE = ("gallery/", "api/", "project/")
"""Folders whose pages are made when the site is built, and name each other."""


def entries(text: str, docname: str, elsewhere: dict[str, str]) -> dict[str, str]:
    """Names, from the root of the site, and titles of the pages that a landing page lists.

    Parameters
    ----------
    text : str
        Markdown.
    docname : str
        Name of the landing page.
    elsewhere : dict of str to str
        Names in the site of what stands outside its folder: ``root_pages`` and ``made_pages``.
    """
    folder = PurePosixPath(docname).parent
    found = {}
    for title, target in ENTRY.findall(text):
        path = os.path.normpath(folder / target).replace(os.sep, "/")
        name = path.removesuffix(".md").removesuffix(".rst")
        name = elsewhere.get(name.removeprefix("../"), name)
        found.setdefault(name.removesuffix(".rst"), title)
    return found


def contents(
    docs: Path, landing: list[str], elsewhere: dict[str, str]
) -> dict[str, dict[str, str]]:
    """The entries of every landing page; what several list is the first one's."""
    table: dict[str, dict[str, str]] = {}
    for name in landing:
        text = (docs / f"{name}.md").read_text(encoding="utf-8")
        taken = {page for listed in table.values() for page in listed}
        found = entries(text, name, elsewhere)
        table[name] = {page: title for page, title in found.items() if page not in taken}
    return table


def toctree(titles: dict[str, str]) -> str:
    """A hidden toctree, in Markdown; without a title a page has its own."""
    lines = "\n".join(
        f"{title} </{name}>" if title else f"/{name}" for name, title in titles.items()
    )
    return f"\n\n```{{toctree}}\n:hidden:\n\n{lines}\n```\n"


def add_toctree(app: Any, docname: str, source: list[str]) -> None:
    """Give a landing page its toctree when Sphinx reads it."""
    landing = app.config.landing_pages
    if docname not in landing:
        return
    elsewhere = app.config.root_pages | app.config.made_pages
    table = contents(Path(app.srcdir), landing, elsewhere)
    titles = table[docname]
    if docname == app.config.landing_page_for_the_rest:
        named = {name for listed in table.values() for name in listed} | {"index"}
        rest = {name for name in app.env.found_docs if not name.startswith(MADE)} - named
        titles |= dict.fromkeys(sorted(rest), "")
    source[0] += toctree(titles)


def always_read(app: Any, env: Any, *changes: set[str]) -> list[str]:
    """The page of the rest depends on which pages there are."""
    return [app.config.landing_page_for_the_rest]


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("landing_pages", [], "env")
    app.add_config_value("landing_page_for_the_rest", "", "env")
    app.connect("source-read", add_toctree)
    app.connect("env-get-outdated", always_read)
    return {"parallel_read_safe": True}
