"""The examples of docs/lpboost.md print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "lpboost.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\s*prints `(.*?)`", PAGE, re.S)


def test_every_example_says_what_it_prints():
    """No block of the page is without its result."""
    assert len(BLOCKS) == PAGE.count("```python") == 3


@pytest.mark.parametrize(("code", "printed"), BLOCKS, ids=["stumps", "learners", "reweight"])
def test_the_page_is_right(code, printed, capsys):
    """The first line that the example prints is the one on the page."""
    exec(compile(code, "lpboost.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out.splitlines()[0] == printed
