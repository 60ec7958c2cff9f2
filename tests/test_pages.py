"""The pages of `docs/` run as they are printed, and their numbers are true."""

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
MADE = {"gallery", "project", "generated", "backreferences"}
"""Folders of docs/ that the build of the site fills."""
ELSEWHERE = {
    "CONTRIBUTING.md": "tests/test_own_parts.py",  # excerpts of tested files, and a class
    "README.md": "tests/test_documentation.py",  # every block by itself
}
"""Pages that another test runs."""
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n?)?", re.S | re.M)
NUMBER = r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?"


def all_pages() -> list[Path]:
    """Every Markdown page that somebody has written."""
    inside = [p for p in (ROOT / "docs").rglob("*.md") if not MADE & set(p.parts)]
    return sorted([*ROOT.glob("*.md"), *inside])


PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in all_pages()
    if "```python" in page.read_text(encoding="utf-8") and page.name not in ELSEWHERE
]


def numbers(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(number) for number in re.findall(NUMBER, text)]


def tolerance(number: str) -> float:
    """Half a per cent of decimals, and of shares near 1 a hundredth; a fifth of counts.

    An optimum need not be unique: on another machine a model may have a few columns more. Nor do
    the last rounds: one processor needed 13 rounds where another needed 15.
    """
    size = abs(float(number))
    return max(1.0, 0.2 * size) if number.lstrip("-").isdigit() else max(0.011, 0.005 * size)


def check_printed(printed: str, expected: str) -> None:
    """Words must be the same, numbers nearly so, small ones at most ten times what is said.

    A gap of another machine may be smaller, and below 1e-9 it is rounding.
    """
    assert re.sub(NUMBER, "#", printed) == re.sub(NUMBER, "#", expected)
    for found, said in zip(numbers(printed), re.findall(NUMBER, expected), strict=True):
        assert found == pytest.approx(float(said), abs=tolerance(said)), printed
        assert "e-" not in said or abs(found) <= max(10 * abs(float(said)), 1e-9), printed


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints_what_it_says(
    name: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every block runs, one after the other; with a text below, it prints that."""
    page = (ROOT / name).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(page)
    assert len(blocks) == page.count("```python") > 0
    space: dict[str, Any] = {"__name__": "page"}
    for code, expected in blocks:
        exec(compile(code, name, "exec", dont_inherit=True), space)
        printed = capsys.readouterr().out
        if not expected:
            continue
        check_printed(printed, expected)
    plt.close("all")


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_no_code_escapes(page: Path) -> None:
    """Code is in ```python blocks, which run: no other fence, no fence without a name."""
    text = page.read_text(encoding="utf-8")
    assert "~~~" not in text
    fences = re.findall(r"^[ >]*```[ ]*(\S+)", text, re.M)
    assert set(fences) <= {"python", "text", "sh", "sql", "math", "{literalinclude}"}
    elsewhere = re.sub(r"^```python\n.*?^```$", "", text, flags=re.S | re.M)
    assert not re.search(r"^\s*(>>>|import \w+|from [\w.]+ import )", elsewhere, re.M)


def test_text_blocks_belong_to_code() -> None:
    """A printed result without the code above it would be compared with nothing."""
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        results = [expected for _, expected in BLOCK.findall(text) if expected]
        assert len(results) == len(re.findall(r"^```text$", text, re.M)), name
