"""The pages of `docs/` run as they are printed, and their numbers are true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
ELSEWHERE = {"column_generation.md": "tests/test_examples.py"}
"""Pages that another test runs."""
PAGES = sorted(
    page.name
    for page in DOCS.glob("*.md")
    if page.name not in ELSEWHERE and "```python" in page.read_text(encoding="utf-8")
)
NUMBER = r"-?\d+\.\d+"


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints_what_it_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every block, one after the other: the same words, and numbers equal to half a per mille."""
    page = (DOCS / name).read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.S)
    assert len(examples) == page.count("```python") > 0
    space: dict[str, Any] = {"__name__": "page"}
    for code, expected in examples:
        exec(compile(code, name, "exec"), space)
        printed = capsys.readouterr().out
        assert re.sub(NUMBER, "#", printed) == re.sub(NUMBER, "#", expected)
        found, wanted = ([float(n) for n in re.findall(NUMBER, t)] for t in (printed, expected))
        assert found == pytest.approx(wanted, rel=5e-4, abs=1.1e-3)
