"""The examples in docstrings print what stands below them."""

import doctest
import importlib
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("cgboost", "solvers")
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def test_there_are_modules_with_examples() -> None:
    """The search for them has not lost its place."""
    assert len(MODULES) >= 30


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_are_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every example of a module runs in an empty folder and prints what it says."""
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
