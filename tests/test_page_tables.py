"""Tables of the pages are those of the CSV files, and refreshing leaves the prose alone."""

import importlib
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

REPRODUCE = Path(__file__).parents[1] / "examples" / "reproduce"
TOOL = runpy.run_path(str(REPRODUCE / "page_tables.py"))
STUDIES = [*TOOL["STUDIES"], *TOOL["RECORDED"]]


@pytest.fixture
def page_tables() -> Iterator[ModuleType]:
    """The tool, with the path as it was afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPRODUCE))
        yield importlib.import_module("page_tables")


PAGE = "Before\n\n<!-- table: a -->\nold\n<!-- /table -->\n\nBetween | x |\n<!-- /table --> after\n"


def test_only_what_is_between_the_markers_changes(page_tables: ModuleType) -> None:
    """The prose stays to the letter, and refreshing twice is refreshing once."""
    once = page_tables.refreshed(PAGE, {"a": "| new |"})
    assert once == PAGE.replace("old", "\n| new |\n")
    assert page_tables.refreshed(once, {"a": "| new |"}) == once


@pytest.mark.parametrize(
    ("page", "tables", "message"),
    [
        (PAGE, {"a": "", "b": ""}, "no markers for the table b"),
        (PAGE, {}, "no table for the markers of a"),
        ("<!-- table: c -->\n| x |\n", {}, "no end marker after the table c"),
    ],
)
def test_a_missing_marker_or_table_is_named(
    page_tables: ModuleType, page: str, tables: dict[str, str], message: str
) -> None:
    """Nothing is refreshed by half."""
    with pytest.raises(ValueError, match=message):
        page_tables.refreshed(page, tables)


def test_a_folder_without_a_page_gets_the_tables_alone(
    page_tables: ModuleType, tmp_path: Path
) -> None:
    """Records measured into another folder are shown there."""
    page_tables.refresh(tmp_path / "page.md", {"a": "| 1 |", "b": "| 2 |"})
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page.index("table: a") < page.index("| 1 |") < page.index("table: b")


def test_a_csv_file_is_a_table_of_its_name(page_tables: ModuleType, tmp_path: Path) -> None:
    """Its first line is the head."""
    (tmp_path / "times.csv").write_text('rows,s\n"1,000",2\n', encoding="utf-8")
    expected = "| rows | s |\n| --- | --- |\n| 1,000 | 2 |"
    assert page_tables.csv_tables(tmp_path) == {"times": expected}


@pytest.mark.parametrize("study", STUDIES)
def test_the_tables_of_a_page_are_those_of_its_records(study: str, page_tables: ModuleType) -> None:
    """A page is what refreshing makes of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPRODUCE))
        page, tables = page_tables.tables_of(study)
        text = page.read_text(encoding="utf-8")
        assert page_tables.refreshed(text, tables) == text
