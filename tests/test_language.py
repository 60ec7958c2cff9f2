"""Pages, docstrings and messages are in plain technical English, without the idioms listed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BANNED = {
    r"of (its|their|his|your|our|one's) own\b(?! \w)": "its own …, your own …, a separate …",
    r"\bin place of\b": "instead of",
    r"\bbeside\b": "next to, compared with, besides",
    r"\b(errs|erred|err) on\b": "has an error of …, is wrong on …",
    r"\bas ever\b": "as usual",
    r"\bonce more\b": "again",
    r"\bfor ever\b": "without end, never finishes",
    r"\bnext to nothing\b": "almost nothing",
    r"\b(by|learns?|knows?|known) by heart\b": "memorises",
    r"\bevery so manieth\b": "every k-th",
    r"\bas good as (no|none|nothing)\b": "almost",
    r"\bnowise|\bthereof\b|\bhereby\b": "plain words",
    r"\bthat is the question\b": "say what is asked",
    r"\bno more no less\b|\bto and fro\b": "plain words",
}
"""Regular expressions of idioms, and what to write instead."""

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
PAGES += sorted(
    path
    for end in ("*.md", "*.rst")
    for path in (ROOT / "docs").rglob(end)
    if not {"_build", "generated", "gallery", "project"} & set(path.relative_to(ROOT).parts)
)
MODULES = sorted(path for top in ("cgboost", "solvers") for path in (ROOT / top).rglob("*.py"))
LONGEST = 120
"""Words of a paragraph of the user guide."""


def prose_of_page(text: str) -> str:
    """A page without its code."""
    text = re.sub(r"```.*?```|<!--.*?-->|`[^`\n]+`|\]\([^)\s]*\)", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", text)


def prose_of_module(text: str) -> Iterator[str]:
    """Docstrings and messages: all strings with a space in them, without their code."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield re.sub(r"\s+", " ", re.sub(r"``[^`]*``", " ", node.value))


def found(text: str) -> list[str]:
    """The idioms of a text, with some of what stands around them and the advice."""
    return [
        f"…{text[max(0, hit.start() - 40) : hit.end() + 20]}… : {advice}"
        for idiom, advice in BANNED.items()
        for hit in re.finditer(idiom, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_have_no_banned_idiom(path: Path) -> None:
    """Code and links left out."""
    assert found(prose_of_page(path.read_text(encoding="utf-8"))) == []


def test_docstrings_and_messages_have_no_banned_idiom() -> None:
    """Of both packages."""
    hits = [
        f"{path.relative_to(ROOT)}: {hit}"
        for path in MODULES
        for text in prose_of_module(path.read_text(encoding="utf-8"))
        for hit in found(text)
    ]
    assert hits == []


def test_idioms_are_found() -> None:
    """Over line breaks and in capitals, and not where the words mean something else."""
    bad = ["Beside\nthe others", "in a process of its own, which", "it errs on 5 % of the rows"]
    assert all(found(prose_of_page(text)) for text in bad)
    assert found(prose_of_page("`beside` in the weight of its own class, besides the rest")) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "user_guide").glob("*.md")), ids=lambda path: path.stem
)
def test_paragraphs_of_the_user_guide_are_short(path: Path) -> None:
    """Of at most 120 words; tables and code do not count."""
    code = re.compile(r"```.*?```|<!--.*?-->", re.DOTALL)
    text = code.sub("\n\n", path.read_text(encoding="utf-8"))
    for paragraph in re.split(r"\n\s*\n|\n(?=[-*:|#] |\d+\. )", text):
        if not paragraph.lstrip().startswith(("|", "<")):
            assert len(paragraph.split()) <= LONGEST, f"{len(paragraph.split())}: {paragraph[:200]}"
