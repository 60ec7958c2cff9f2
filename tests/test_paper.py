"""The paper in JOSS's form, and the reviewers' checklist: form, references, numbers, evidence."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "paper"
PAPER = (FOLDER / "paper.md").read_text(encoding="utf-8")
BODY = PAPER.split("---\n", 2)[2]
CHECKLIST = ROOT / "docs" / "development" / "release_checklist.md"
SECTIONS = [
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
]
"""Those that the journal asks for."""

FEWEST, MOST = 750, 1750
"""Words that the journal allows."""


def table(page: str, name: str) -> list[list[str]]:
    """Cells of a marked table of a page, without its head; bold is dropped."""
    text = (ROOT / page).read_text(encoding="utf-8").replace("**", "")
    (marked,) = re.findall(rf"<!-- table: {name} -->(.*?)<!-- /table -->", text, re.DOTALL)
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in marked.strip().splitlines()[2:]
    ]


def missing_paths(text: str) -> list[str]:
    """Files and folders of the repository that a text names in code and that do not exist."""
    named = re.findall(
        r"(?<![\w/])((?:docs|benchmarks|examples|tests|\.github|\.ci)/[\w./-]*\w)", text
    )
    return [path for path in named if not (ROOT / path).exists()]


def test_it_has_the_sections_and_the_length_that_the_journal_asks_for() -> None:
    """All eight, in their order."""
    assert re.findall(r"^# (.+)$", BODY, re.MULTILINE) == SECTIONS
    assert FEWEST <= len(BODY.split()) <= MOST


def test_citations_and_references_are_the_same() -> None:
    """Each key that is cited is in paper.bib, and the other way round."""
    cited = set(re.findall(r"@(\w+)", BODY))
    keys = re.findall(r"^@\w+\{(\w+),", (FOLDER / "paper.bib").read_text("utf-8"), re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert cited == set(keys)


def test_the_figure_and_all_that_is_named_exist() -> None:
    """One figure, the script that draws it, and the folders and files in the text."""
    (figure,) = re.findall(r"!\[.*?\]\(([^)]+)\)", BODY, re.DOTALL)
    assert (FOLDER / figure).is_file()
    assert missing_paths(BODY) == []
    assert missing_paths("see docs/nowhere/page.md and `benchmarks/front_page.py`") == [
        "docs/nowhere/page.md"
    ]


def test_the_numbers_are_those_of_the_front_page() -> None:
    """Seconds, errors, vectors, columns and areas of the README's table."""
    quantiles, digits, adult = table("README.md", "front page")
    shown = re.findall(r"([\d.]+) s", " ".join(quantiles[1:]))
    shown += re.findall(r"([\d.]+) % errors", " ".join(digits))
    shown += re.findall(r"(\d+) (?:vectors|columns)", " ".join(digits))
    shown += re.findall(r"predictions ([\d.]+) s", " ".join(digits))
    shown += re.findall(r"AUC ([\d.]+)", " ".join(adult)) + re.findall(
        r"([\d.]+) s\b", " ".join(adult)
    )
    assert len(shown) == 12
    for number in shown:
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", BODY), number


def test_the_numbers_are_those_of_the_study() -> None:
    """Errors at 100 columns, and the support vectors, of the frontier."""
    page = "docs/studies/frontier/page.md"
    lowest = {row[3].split()[0] for row in table(page, "lowest") if row[1] == "100"}
    vectors = {row[2] for row in table(page, "chosen") if row[1] == "SVC"} - {"666"}
    assert len(lowest) == 4
    assert len(vectors) == 2
    for number in lowest | vectors:
        assert f"{number} " in BODY.replace("\n", " "), number


@pytest.mark.parametrize("heading", ["Journal of Open Source Software", "scikit-learn-contrib"])
def test_every_box_has_its_evidence(heading: str) -> None:
    """A tick names a file, a link or a command; an open box says what is missing."""
    text = CHECKLIST.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    boxes = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
    assert len(boxes) > 6
    for box in boxes:
        demand, _, evidence = box.partition("**: ")
        assert demand.startswith(("[x] **", "[ ] **"))
        assert evidence.strip(), box
        assert box.startswith("[ ]") or "`" in evidence or "](" in evidence, box
    assert missing_paths(text) == []
