"""`docs/convex_masters.md` runs as it is printed, and its numbers are true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "convex_masters.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
NUMBER = r"-?\d+\.\d+"


def test_the_page_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Every block, one after the other: the same words, and numbers equal to half a per mille."""
    assert len(EXAMPLES) == PAGE.count("```python") == 6
    space: dict[str, Any] = {"__name__": "page"}
    for code, expected in EXAMPLES:
        exec(compile(code, "convex_masters.md", "exec"), space)
        printed = capsys.readouterr().out
        assert re.sub(NUMBER, "#", printed) == re.sub(NUMBER, "#", expected)
        found, wanted = ([float(n) for n in re.findall(NUMBER, t)] for t in (printed, expected))
        assert found == pytest.approx(wanted, rel=5e-4, abs=1.1e-3)
