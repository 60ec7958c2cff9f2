"""Shared numbers: each has a reason and several users, and one name has one value."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SHARED = ["cgboost/tolerances.py", "solvers/tolerances.py"]


def numbers(path: Path) -> dict[str, tuple[float, bool]]:
    """The numeric constants of a module: their values, and whether a text follows."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    found: dict[str, tuple[float, bool]] = {}
    for line, after in zip(body, [*body[1:], None], strict=True):
        if not (isinstance(line, ast.Assign) and ast.unparse(line.targets[0]).isupper()):
            continue
        known = {"np": np, "float": float} | {name: value for name, (value, _) in found.items()}
        try:
            value = eval(ast.unparse(line.value), {"__builtins__": {}}, known)
        except (NameError, AttributeError):
            continue
        if isinstance(value, (int, float)):
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found[ast.unparse(line.targets[0])] = (value, said)
    return found


@pytest.mark.parametrize("name", SHARED)
def test_shared_numbers_have_reasons_and_users(name: str) -> None:
    """Each is explained below it, and imported by at least two modules of its package."""
    package = Path(name).parent
    modules = [path for path in (ROOT / package).rglob("*.py") if path != ROOT / name]
    place = r"\.+" if package.name == "solvers" else rf"{package}\."  # relative imports there
    imports = re.compile(rf"from {place}tolerances import (\([^)]*\)|[^\n]*)")
    texts = [imports.findall(path.read_text(encoding="utf-8")) for path in modules]
    users = [set(re.findall(r"\w+", " ".join(found))) for found in texts]
    for number, (_, said) in numbers(ROOT / name).items():
        if number != "EPSILON":
            assert said, number
            assert sum(number in used for used in users) >= 2, number


def test_one_name_has_one_value() -> None:
    """A number that means something else has another name; one that means the same is shared."""
    values: dict[str, set[float]] = defaultdict(set)
    for package in ("cgboost", "solvers"):
        for path in (ROOT / package).rglob("*.py"):
            for name, (value, _) in numbers(path).items():
                values[name].add(value)
    assert {name for name, seen in values.items() if len(seen) > 1} == set()
