"""What errors and warnings mean, from the page that explains them: ``cgboost explain SECTION``."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

PLACES = (
    Path(__file__).with_name("messages.md"),  # in an installed package
    Path(__file__).parents[1] / "docs" / "user_guide" / "messages.md",  # in a checkout
)


def sections() -> dict[str, str]:
    """The sections of the page by the names that messages have for them, each with its heading.

    Raises
    ------
    FileNotFoundError
        If the page is not there.
    """
    for place in PLACES:
        if place.is_file():
            parts = re.split(r"^(?=## )", place.read_text(encoding="utf-8"), flags=re.MULTILINE)
            return {name_of(part.partition("\n")[0]): _without_links(part) for part in parts[1:]}
    raise FileNotFoundError(
        f"the page that explains messages is not in {PLACES[0].parent}: install cgboost again"
    )


def _without_links(text: str) -> str:
    """The words of links alone: a terminal cannot follow them."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).strip()


def name_of(heading: str) -> str:
    """The name of a section, as links have it."""
    return re.sub(r"[^\w -]", "", heading.lstrip("# ")).lower().replace(" ", "-")


def explanation(section: str) -> str:
    """The text of a section.

    Raises
    ------
    ValueError
        If there is no such section, with those that there are.
    """
    known = sections()
    if section not in known:
        alike = get_close_matches(section.lower(), known, n=1)
        meant = f"did you mean {alike[0]!r}? There are" if alike else "there are"
        raise ValueError(f"no section is called {section!r}; {meant} {', '.join(known)}")
    return known[section]
