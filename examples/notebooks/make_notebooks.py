"""Notebooks of three tutorials, from the pages of the user guide.

    python examples/notebooks/make_notebooks.py

Text is text, code is code, and what a page prints below its code is the output of the cell: the
tests of the pages run the same code and compare.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
GUIDE = HERE.parents[1] / "docs" / "user_guide"
PAGES = ("column_generation", "sparse_linear_models", "branch_and_price_tutorial")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n?)?", re.DOTALL | re.MULTILINE)
TO_GUIDE = "../../docs/user_guide/"
FIRST = "%pip install -q cgboost[plots]"


def notebook(page: str) -> dict[str, Any]:
    """A notebook in the format 4.5, as Jupyter writes it.

    Parameters
    ----------
    page : str
        The text of a page in Markdown.
    """
    cells, place = [code(FIRST, None)], 0
    for block in BLOCK.finditer(page):
        cells += text(page[place : block.start()])
        cells.append(code(block[1], block[2]))
        place = block.end()
    cells += text(page[place:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def text(words: str) -> list[dict[str, Any]]:
    """A cell of Markdown, none for blank lines; links lead from here to what the page links to."""
    words = re.sub(r"\]\((?!https?:|#|/)([^)]+)\)", rf"]({TO_GUIDE}\1)", words)
    words = re.sub(r'(href|src|srcset)="(?!https?:|#)', rf'\1="{TO_GUIDE}', words).strip()
    return [{"cell_type": "markdown", "metadata": {}, "source": lines(words)}] if words else []


def code(source: str, printed: str | None) -> dict[str, Any]:
    """A cell of code with what it prints."""
    output = {"name": "stdout", "output_type": "stream", "text": lines(printed or "")}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [output] if printed else [],
        "source": lines(source.rstrip()),
    }


def lines(words: str) -> list[str]:
    """Lines with their ends."""
    return words.splitlines(keepends=True)


def written(name: str) -> str:
    """The file of a page, as text."""
    page = (GUIDE / f"{name}.md").read_text(encoding="utf-8")
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in PAGES:
        (HERE / f"{name}.ipynb").write_text(written(name), encoding="utf-8")
        print(f"wrote {name}.ipynb")
