"""The files at the root say the same thing, and the lists of tests name what there is."""

import ast
import importlib
import re
import tomllib
from importlib.util import find_spec
from itertools import combinations, product
from pathlib import Path

import pytest

from tests.conftest import PAGES, QUICK, TESTS, covering, is_in
from tests.pages_needed import face, reason

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_is_of_this_version() -> None:
    """CITATION.cff has the name, version, licence and keywords of pyproject.toml."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    said = dict(re.findall(r"^([\w-]+): (.+)$", text, re.M))
    for ours, theirs in (("title", "name"), ("version", "version"), ("license", "license")):
        assert said[ours] == PROJECT[theirs]
    assert said["abstract"] == PROJECT["description"]
    assert re.findall(r"^  - ([a-z ]+)$", text, re.M) == PROJECT["keywords"]


def test_hooks_are_the_checks_of_make_lint() -> None:
    """Every command of `make lint` is a hook; none of them has to be fetched."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    recipe = re.search(r"^lint:.*?\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)[1]
    tools = re.findall(r"\$\(BIN\)/(ruff check|ruff format|mypy cgboost solvers)", recipe)
    assert len(tools) == recipe.count("\n") == 3
    for tool in tools:
        assert f"entry: .venv/bin/{tool}" in hooks
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]


def test_lists_of_tests_name_what_there_is() -> None:
    """Each pattern has a file or folder; pages are no part of the quick tests."""
    for pattern in (*QUICK, *PAGES):
        assert list(TESTS.glob(pattern)), pattern
    files = list(TESTS.rglob("test_*.py"))
    assert is_in(Path(__file__), QUICK)
    assert not [file for file in files if is_in(file, QUICK) and is_in(file, PAGES)]


@pytest.mark.parametrize("sizes", [(2, 3, 4, 2), (5, 5, 5)])
def test_a_part_of_a_grid_has_every_pair_of_values(sizes: tuple[int, ...]) -> None:
    """Of the whole grid, in much fewer cases; a list of cases without a grid is kept whole."""
    cases = [tuple(enumerate(values)) for values in product(*map(range, sizes))]
    named = [tuple((f"p{axis}", str(value)) for axis, value in case) for case in cases]
    kept = [named[number] for number in covering(named)]
    pairs = {frozenset(pair) for case in named for pair in combinations(case, 2)}
    assert {frozenset(pair) for case in kept for pair in combinations(case, 2)} == pairs
    assert len(kept) < 0.6 * len(cases)
    assert covering([(("only", str(value)),) for value in range(9)]) == set(range(9))


def test_pages_are_needed_where_what_they_show_differs(tmp_path: Path) -> None:
    """The parts of a module that pages show: docstrings, names and parameters of public things."""
    text = '"""A module."""\n\ndef f(x: int = 1) -> int:\n    """Twice."""\n    return 2 * x\n'
    assert face(text) == face(text.replace("2 * x", "x + x"))
    for old, new in (("Twice", "Double"), ("= 1", "= 2"), ("def f", "def g"), ("A module", "It")):
        assert face(text) != face(text.replace(old, new)), old
    private = "\n\ndef _g() -> None:\n    ...\n"
    assert face(text) == face(text + private)
    assert reason("") == "there is no merge base"


def test_scripts_import_names_that_exist() -> None:
    """What scripts, examples and pages' makers import from the packages is there."""
    missing = []
    for folder in ("benchmarks", "examples", "docs"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.ImportFrom) or node.level:
                    continue
                module = str(node.module)
                if module.split(".")[0] in ("cgboost", "solvers"):
                    there = importlib.import_module(module)
                    for alias in node.names:
                        name = f"{module}.{alias.name}"
                        if not hasattr(there, alias.name) and not find_spec(name):
                            missing.append(f"{path.relative_to(ROOT)}: {name}")
    assert not missing
