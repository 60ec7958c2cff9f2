"""README and examples run as they are printed."""

import importlib
import re
import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.test_pages import check_printed

ROOT = Path(__file__).parents[1]
BUILT = {"gallery", "project"}
"""Folders of docs/ that the build of the site fills."""
SOURCES = ("cgboost", "solvers", "examples", "benchmarks", "docs", "tests")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_readme_code_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the README runs by itself."""
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


def test_the_example_of_the_readme_is_five_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """The first block stays as short as it claims to be, and prints what stands below it."""
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 5
    exec(compile(BLOCKS[0], "README.md", "exec"), {"__name__": "readme"})
    printed, text = capsys.readouterr().out, re.findall(r"```text\n(.*?)```", README, re.S)[0]
    check_printed(printed, text)


def test_every_section_of_the_readme_says_something() -> None:
    """No heading stands above a pointer alone: two lines of text at least."""
    for section in re.split(r"^## ", README, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        assert len([line for line in body.splitlines() if line.strip()]) >= 2, title


def test_odd_even_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script to copy runs on the bundled digits, certifies and draws its picture."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["mnist_odd_even.py"])
    runpy.run_path(str(ROOT / "examples" / "mnist_odd_even.py"))
    printed = capsys.readouterr().out
    error = float(re.search(r"test error ([\d.]+) %", printed).group(1))
    assert error < 6.0
    assert (tmp_path / "mnist_odd_even" / "history.png").exists()


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link in the Markdown pages points to a file of the repository."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in (page for page in pages if not BUILT & set(page.parts)):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def paths_in_tables(page: str) -> list[tuple[str, list[str]]]:
    """Rows of a page's tables, and the paths from the root of the repository that each names."""
    text = (ROOT / "docs" / "development" / page).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    path = r"`((?:cgboost|solvers|examples|benchmarks|docs|tests|findings)/[\w/.]*)`"
    return [(row, re.findall(path, row)) for row in rows]


@pytest.mark.parametrize("page", ["architecture.md", "behaviour.md", "glossary.md", "decisions.md"])
def test_tables_of_the_code_name_files_that_exist(page: str) -> None:
    """Modules, questions and words lead to files and folders of today's tree."""
    for row, paths in paths_in_tables(page):
        for path in paths:
            assert (ROOT / path).exists(), row


@pytest.mark.parametrize("page", ["architecture.md", "behaviour.md", "glossary.md", "decisions.md"])
def test_tables_of_the_code_name_files_and_functions_of_their_folders(page: str) -> None:
    """A file without a folder is in that of the row; a name after a file is in that file."""
    for row, paths in paths_in_tables(page):
        for name in re.findall(r"`((?:\w+/)?\w+\.py)`", row):
            folders = [ROOT / path for path in paths if path.endswith("/")]
            folders += [folder.parent for folder in folders]
            assert any(list(folder.rglob(name)) for folder in folders or [ROOT]), (name, row)
        for path, name in re.findall(r"`([\w/]+/[\w.]+\.py)`, `(\w+)", row):
            if (ROOT / path).exists():
                assert name in (ROOT / path).read_text(encoding="utf-8"), (path, name)


def test_every_hop_of_the_architecture_is_there() -> None:
    """The file of each ``file: function`` is one file, and has the function, or the method."""
    text = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
    hops = re.findall(r"`([\w/]+\.py): ([\w.]+)`", text)
    assert len(hops) > 30
    roots = (ROOT / "cgboost", ROOT / "cgboost" / "estimators", ROOT / "cgboost" / "optimizers")
    for file, name in hops:
        (found,) = [root / file for root in roots if (root / file).is_file()]
        code = found.read_text(encoding="utf-8")
        assert all(re.search(rf"(def|class) {part}\b", code) for part in name.split(".")), name


def test_every_fact_of_another_program_is_proved() -> None:
    """Each row ends with tests, which are there, or scripts; each script has a row."""
    rows = [re.split(r"(?<!\\)\|", row)[1:-1] for row, _ in paths_in_tables("behaviour.md")]
    facts = [
        [cell.strip() for cell in row]
        for row in rows
        if row[-1].strip() not in ("proved by", "---")
    ]
    assert len(facts) >= 60
    scripts = set()
    for fact in facts:
        assert len(fact) == 5, fact
        assert all(fact), fact
        for proof in fact[-1].split("; "):
            path, *names = re.findall(r"`([^`]+)`", proof)
            assert (ROOT / path).is_file(), fact
            scripts.add(path)
            text = (ROOT / path).read_text(encoding="utf-8")
            assert bool(names) == path.startswith("tests/"), fact
            assert all(f"def {name}(" in text for name in names), fact
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "findings").iterdir()}
    assert found <= scripts, found - scripts


def test_every_module_has_a_row_in_the_architecture() -> None:
    """A new folder of sources, and each file at the root of the package, is in the table."""
    named = {path.rstrip("/") for _, paths in paths_in_tables("architecture.md") for path in paths}
    folders = {init.parent for init in (ROOT / "cgboost").rglob("__init__.py")}
    rooms = [folder for folder in folders if folder.name != "cgboost"]
    for room in [*rooms, ROOT / "solvers"]:
        own = room.relative_to(ROOT)
        assert any(str(part) in named for part in [own, *own.parents, *inside(room)]), own
    for file in (ROOT / "cgboost").glob("[!_]*.py"):
        assert str(file.relative_to(ROOT)) in named


def sources(*packages: str) -> list[Path]:
    """The modules of packages."""
    return [module for package in packages for module in sorted((ROOT / package).rglob("*.py"))]


def pages() -> list[Path]:
    """The pages that people write; the history of changes has names of its time."""
    written = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    found = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    return written + [page for page in found if not {*BUILT, "generated"} & set(page.parts)]


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or a thing in one, or a field of its class."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if part in getattr(thing, "__annotations__", {}):
                return True
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def test_dotted_names_lead_to_things_of_the_packages() -> None:
    """A name in a docstring, a comment or a page can be imported, or read from what can."""
    dotted = re.compile(r"(?<![\w./-])(?:cgboost|solvers)(?:\.[A-Za-z_]\w*)+")
    endings = (".py", ".md", ".rst")
    for path in [*sources("cgboost", "solvers"), *pages()]:
        found = set(dotted.findall(path.read_text(encoding="utf-8")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # names of before have their page
            lost = [name for name in found if not (name.endswith(endings) or is_there(name))]
        assert not lost, (path, lost)


def test_packages_list_files_that_they_have() -> None:
    """A file that a docstring or a comment names is one of today's tree."""
    files = {module.relative_to(ROOT).as_posix() for module in sources(*SOURCES)}
    for path in sources("cgboost", "solvers"):
        for name in re.findall(r"[\w/]*\w\.py\b", path.read_text(encoding="utf-8")):
            assert any(f"/{file}".endswith(f"/{name}") for file in files), (path, name)
    for init in (path for path in sources("cgboost", "solvers") if path.name == "__init__.py"):
        for name in re.findall(r"^ {4}([\w/]+\.py) ", init.read_text(encoding="utf-8"), re.M):
            assert (init.parent / name).is_file(), (init, name)


def inside(folder: Path) -> list[Path]:
    """The folders of sources in a folder."""
    return [init.parent.relative_to(ROOT) for init in folder.glob("*/__init__.py")]
