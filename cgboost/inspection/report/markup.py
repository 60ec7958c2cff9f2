"""Pieces of HTML. Whatever comes from the user is escaped here, and only here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape as _escape
from numbers import Integral, Real
from typing import Any


def escaped(text: object) -> str:
    """A text that may stand anywhere in HTML, also in quotes."""
    return _escape(str(text), quote=True)


def cell(value: Any) -> str:
    """A value as a table shows it: numbers with six digits at most, a dash for none."""
    if isinstance(value, Real) and not isinstance(value, (bool, Integral)):
        return f"{float(value):.6g}" if math.isfinite(value) else "–"
    return str(value)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in a box of its own that can be scrolled sideways; numbers to the right.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences
        One value for each name of the header.
    """
    rows = list(rows)
    numeric = [
        bool(rows) and all(isinstance(row[k], Real) for row in rows) for k in range(len(header))
    ]
    kinds = [' class="number"' if right else "" for right in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{escaped(name)}</th>'
        for name, kind in zip(header, kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{escaped(cell(value))}</td>" for value, kind in zip(row, kinds, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def pairs(facts: Iterable[tuple[str, Any]]) -> str:
    """Names and values, a line each."""
    lines = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(cell(value))}</dd></div>"
        for name, value in facts
    )
    return f"<dl>{lines}</dl>"


def paragraph(text: str) -> str:
    """Plain text."""
    return f"<p>{escaped(text)}</p>"


def folded(summary: str, content: str) -> str:
    """Something that is shown on demand; ``content`` is HTML."""
    return f"<details><summary>{escaped(summary)}</summary>{content}</details>"


def figure(picture: str, caption: str) -> str:
    """A picture, which is HTML, with words below it."""
    return (
        f'<figure><div class="wide picture">{picture}</div>'
        f"<figcaption>{escaped(caption)}</figcaption></figure>"
    )
