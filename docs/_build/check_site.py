"""Looks at every page of the built site for what is missing.

    python docs/_build/check_site.py build/site [--screenshots FOLDER]

In the files: links to pages, anchors, pictures, scripts and styles that are not there, and anything
a page would load from the network. Then, where Chromium is installed, in the browser, from a server
on this machine: pictures that do not show, requests that fail, errors of scripts, pages that are
wider than a phone. The interactive page is walked through, step by step.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.append(str(Path(__file__).parent / "extensions"))

import check_in_browser  # noqa: E402
import check_interactive  # noqa: E402
import interactive_page  # noqa: E402

LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a page loads by itself; anchors are only followed by readers."""
METADATA = {"canonical", "alternate", "author", "license", "prev", "next", "search", "index"}


class Page(HTMLParser):
    """Links, loads and anchors of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.path = path
        self.anchors: set[str] = {"", "top"}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names or leads to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        relation = set(values.get("rel", "").split())
        target = values.get(LOADS.get(tag, ""), "")
        if target and not relation & METADATA:
            self.loads.append(target)
        elif target:
            self.links.append(target)


def faults(site: Path) -> Iterator[str]:
    """One line for each thing that is missing."""
    pages = {path: Page(path) for path in check_in_browser.pages_of(site)}
    if not pages:
        yield f"{site}: no pages; build the site first"
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in page.loads:
            if urlsplit(target).netloc:
                yield f"{name}: loads {target} from the network"
        for target in dict.fromkeys(page.links + page.loads):
            if wrong := missing(target, path, pages):
                yield f"{name}: {wrong}"


def missing(target: str, path: Path, pages: dict[Path, Page]) -> str:
    """What is not there of a link's target; nothing for links to the network."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return ""
    place = path if not parts.path else Path(normpath(path.parent / unquote(parts.path)))
    if not place.is_file():
        return f"no file for {target}"
    if place in pages and unquote(parts.fragment) not in pages[place].anchors:
        return f"no anchor for {target}"
    return ""


def main() -> int:
    """Look, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--screenshots", type=Path, help="folder for pictures of the main pages")
    arguments = parser.parse_args()
    site = arguments.site.resolve()
    found = list(faults(site))
    count = len(check_in_browser.pages_of(site))
    print(f"{count} pages: {len(found)} links or pictures are missing")
    browser = check_in_browser.find_browser()
    if browser is None:
        print("No Chromium on this machine: the pages were NOT looked at in a browser, and the steps")
        print("of the interactive page NOT compared. Install one (Debian: apt install")
        print("chromium-headless-shell).")
    else:
        with check_in_browser.opened(browser) as running:
            shown = list(check_in_browser.faults(site, running, arguments.screenshots))
            steps = list(check_interactive.faults(site / interactive_page.PLACE, running))
        print(f"{count} pages in {Path(browser).name}: {len(shown)} faults")
        print(f"every step of the interactive page: {len(steps)} faults")
        found += [*shown, *steps]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
