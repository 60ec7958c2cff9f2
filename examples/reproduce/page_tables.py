"""Refreshes the tables of pages from the CSV files next to them.

    python examples/reproduce/page_tables.py [STUDY ...]

A person writes the page; a table in it stands between two markers:

    <!-- table: NAME -->
    ...
    <!-- /table -->

What is between them is replaced, everything else is left alone. A study has a module with a
function ``tables(folder)``, which makes all its tables from the CSV files in ``folder``. Nothing is
measured here.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import re
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPRODUCE, DOCS = ROOT / "examples" / "reproduce", ROOT / "docs"
STUDIES = {
    "classical_boosters": (REPRODUCE / "classical_boosters", "booster_page"),
    "constrained": (ROOT / "benchmarks" / "constrained", "constrained_page"),
    "defaults": (REPRODUCE / "defaults", "default_page"),
    "free_centres": (ROOT / "benchmarks", "free_centres_page"),
    "frontier": (REPRODUCE / "frontier", "frontier_page"),
    "latent_factors": (REPRODUCE / "latent_factors", "latent_page"),
    "logitboost": (REPRODUCE / "logitboost", "logit_page"),
    "mnist": (REPRODUCE / "mnist", "mnist_page"),
    "peers": (ROOT / "benchmarks" / "peers", "peers_page"),
    "simple_mkl": (ROOT / "benchmarks" / "multiple_kernels", "mkl_page"),
    "something_else": (ROOT / "benchmarks" / "peers" / "today", "today_page"),
    "sparse_linear": (ROOT / "benchmarks" / "sparse_linear", "sparse_page"),
    "thinning": (ROOT / "benchmarks" / "thinning", "thinning_page"),
    "transform_regression": (REPRODUCE / "transform_regression", "transform_page"),
}
"""Folder and module of the tables of each study."""
RECORDED = {
    "performance": DOCS / "development" / "performance.md",
    "boosted_linear_trees": DOCS / "methods" / "boosted_linear_trees.md",
}
"""Pages whose tables are the CSV files, as such, of the folder of their name next to them."""
MARKED = re.compile(r"<!-- table: (\S+) -->\n(.*?)<!-- /table -->", re.S)
OPENING = re.compile(r"<!-- table: (\S+) -->")


def table(rows: Iterable[Sequence[str]], head: str) -> str:
    """Markdown table; ``head`` has its columns with bars between them."""
    lines = [f"| {head} |", "|" + " --- |" * (head.count("|") + 1)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def plus_minus(numbers: Sequence[float], digits: int = 2) -> str:
    """Mean ± standard deviation; of a single number the number alone."""
    mean = statistics.mean(numbers)
    if len(numbers) == 1:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {statistics.stdev(numbers):.{digits}f}"


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file by the names in its first; none without the file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def csv_tables(folder: Path) -> dict[str, str]:
    """Every CSV file of a folder as the table of its name."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        found[path.stem] = table(rows, " | ".join(head))
    return found


def refreshed(text: str, tables: Mapping[str, str]) -> str:
    """The page with new tables.

    Raises
    ------
    ValueError
        If a table has no markers, or markers have no table or no end.
    """
    marked = [name for name, _ in MARKED.findall(text)]
    wrong = [f"no markers for the table {name}" for name in tables if name not in marked]
    wrong += [f"no table for the markers of {name}" for name in marked if name not in tables]
    opened = set(OPENING.findall(text)) - set(marked)
    wrong += [f"no end marker after the table {name}" for name in sorted(opened)]
    if wrong:
        raise ValueError("; ".join(wrong))

    def anew(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n\n{tables[found[1]]}\n\n<!-- /table -->"

    return MARKED.sub(anew, text)


def refresh(page: Path, tables: Mapping[str, str]) -> None:
    """Write the page with new tables; a page that is not there becomes one of tables alone."""
    bare = "\n\n".join(f"<!-- table: {name} -->\n<!-- /table -->" for name in tables) + "\n"
    text = page.read_text(encoding="utf-8") if page.is_file() else bare
    page.write_text(refreshed(text, tables), encoding="utf-8")


def tables_of(study: str) -> tuple[Path, dict[str, str]]:
    """The page of a study, or another one of this name, and its tables made anew."""
    if study in RECORDED:
        return RECORDED[study], csv_tables(RECORDED[study].with_suffix(""))
    sources, module = STUDIES[study]
    sys.path[:0] = [str(path) for path in (sources, REPRODUCE) if str(path) not in sys.path]
    folder = DOCS / "studies" / study
    return folder / "page.md", importlib.import_module(module).tables(folder)


def main() -> None:
    """Refresh the pages of the named studies, or all."""
    pages = [*STUDIES, *RECORDED]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(pages))
    for study in parser.parse_args().studies or pages:
        refresh(*tables_of(study))


if __name__ == "__main__":
    main()
