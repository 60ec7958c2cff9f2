"""The files at the root say the same thing, and the lists of tests name what there is."""

import ast
import importlib
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

from tests.conftest import SLOW, TESTS, is_slow

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


def test_the_list_of_slow_tests_names_what_there_is() -> None:
    """Each pattern has a file or folder, and the fast tests are more files than the slow ones."""
    for pattern in SLOW:
        assert list(TESTS.glob(pattern)), pattern
    files = list(TESTS.rglob("test_*.py"))
    assert sum(is_slow(file) for file in files) < len(files) / 2
    assert not is_slow(Path(__file__))


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
