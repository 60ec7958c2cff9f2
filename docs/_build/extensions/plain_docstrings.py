"""Docstrings as they were meant: |x| is an absolute value, and ``gap_`` a name.

Docstrings are written to be read in a terminal. reStructuredText would take ``|x|`` for a
substitution and a word that ends in an underscore for a link. Outside literals the bar is replaced
by one that looks the same (and is as wide, for tables), and the underscore is escaped.
"""

from __future__ import annotations

import re
from typing import Any

LITERAL = re.compile(r"(``.*?``|`[^`]*`)", re.S)
ENDING = re.compile(r"(?<=\w)_(?!\w)")


def escaped(lines: list[str]) -> list[str]:
    """The lines without ``|`` and links by underscore; literals and examples as they are."""
    prose, blocks, literal = [], [], None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        is_code = literal is not None or line.lstrip().startswith((">>>", "...", ".. "))
        blocks.append(is_code)
        prose.append("" if is_code else line)
        if literal is None and line.rstrip().endswith("::"):
            literal = indent
    parts = LITERAL.split("\n".join(prose))
    parts[::2] = [ENDING.sub(r"\_", part.replace("|", "∣")) for part in parts[::2]]
    plain = "".join(parts).split("\n")
    return [line if code else text for line, text, code in zip(lines, plain, blocks, strict=True)]


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape one docstring, after numpydoc has made sections of it."""
    lines[:] = escaped(lines)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=900)
    return {"parallel_read_safe": True}
