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
NUMBER = r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?"


def numbers(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(number) for number in re.findall(NUMBER, text)]


def tolerance(number: str) -> float:
    """Half a per cent of decimals, and of shares near 1 a hundredth; a tenth of counts.

    An optimum need not be unique: on another machine a model may have a few columns more.
    """
    size = abs(float(number))
    return max(1.0, 0.1 * size) if number.lstrip("-").isdigit() else max(0.011, 0.005 * size)


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints_what_it_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every block, one after the other, prints the same words and, nearly, the same numbers."""
    page = (DOCS / name).read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.S)
    assert len(examples) == page.count("```python") > 0
    space: dict[str, Any] = {"__name__": "page"}
    for code, expected in examples:
        exec(compile(code, name, "exec"), space)
        printed = capsys.readouterr().out
        assert re.sub(NUMBER, "#", printed) == re.sub(NUMBER, "#", expected)
        allowed = [tolerance(number) for number in re.findall(NUMBER, expected)]
        triples = zip(numbers(printed), numbers(expected), allowed, strict=True)
        for found, wanted, distance in triples:
            assert found == pytest.approx(wanted, abs=distance), printed
