"""The public names: what users may import, pass and call stands in one list.

    python -m tests.test_public_names > tests/public_names.txt

writes the list anew. A name that is gone, or a parameter, is a line of the CHANGELOG (Removed).
"""

import enum
import functools
import importlib
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

LIST = Path(__file__).parent / "public_names.txt"
PACKAGE = Path(__file__).parent.parent / "cgboost"
PAGES = Path(__file__).parent.parent / "docs" / "api"

FACES = (
    *("cgboost", "cgboost.constraints", "cgboost.generation", "cgboost.inspection"),
    *("cgboost.integer", "cgboost.integer.decomposition", "cgboost.kernels", "cgboost.linear"),
    *("cgboost.losses", "cgboost.masters", "cgboost.parallel", "cgboost.penalties"),
    *("cgboost.persistence", "cgboost.pricing", "cgboost.routing", "cgboost.sources", "solvers"),
)
"""Packages and modules of which every name is public; of others, the names in the reference."""

OF_SCIKIT_LEARN = re.compile(r"set_\w+_request")
"""Methods that scikit-learn adds, which differ between its versions."""


@functools.cache
def documented() -> dict[str, set[str]]:
    """The names in the reference, by module."""
    found = defaultdict(set)
    for page in sorted(PAGES.glob("*.rst")):
        module = ""
        for line in page.read_text("utf-8").splitlines():
            if line.startswith(".. currentmodule::"):
                module = line.split()[-1]
            elif re.fullmatch(r"   \w+", line):
                found[module].add(line.strip())
    return found


@functools.cache
def words() -> set[str]:
    """All words of the reference."""
    text = "\n".join(page.read_text("utf-8") for page in PAGES.glob("*.rst"))
    return set(re.findall(r"\w+", text))


def public(module: str) -> dict[str, Any]:
    """The public names of a module, and what they are."""
    room = importlib.import_module(module)
    names = set(room.__all__) if module in FACES else documented()[module]
    things = {name: getattr(room, name) for name in sorted(names)}
    return {name: thing for name, thing in things.items() if not inspect.ismodule(thing)}


def lines_of(module: str) -> list[str]:
    """One line a name, with its parameters; and one for the methods of each class in cgboost."""
    own = public(module)
    lines = [" ".join([module, name, *parameters(thing)]) for name, thing in own.items()]
    if module == "cgboost":
        classes = [(name, kind) for name, kind in own.items() if isinstance(kind, type)]
        lines += [" ".join(["methods", name, *methods(kind)]) for name, kind in classes]
    return lines


def parameters(thing: Any) -> list[str]:
    """What a function or class takes."""
    made = (thing.__init__, thing.__new__) if inspect.isclass(thing) else (thing,)
    if isinstance(thing, enum.EnumType) or not any(map(inspect.isfunction, made)):
        return []  # what a call takes is Python's or NumPy's, and differs between their versions
    accepted = inspect.signature(thing).parameters.values()
    any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [own.name for own in accepted if own.kind not in any_number]
    return [name for name in names if not name.startswith("_")]


def methods(kind: type) -> list[str]:
    """Methods, properties and class attributes that are cgboost's."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("cgboost")]
    names = {name for base in ours for name in vars(base) if not name.startswith("_")}
    return sorted(name for name in names if not OF_SCIKIT_LEARN.fullmatch(name))


MODULES = sorted({*FACES, *documented()})


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_those_of_the_list(module: str) -> None:
    """None is lost, none is new without a line, and they are those of the reference."""
    of = ("methods", "cgboost") if module == "cgboost" else (module,)
    listed = [line for line in LIST.read_text("utf-8").splitlines() if line.split()[0] in of]
    now = lines_of(module)
    lost, new = sorted({*listed} - {*now}), sorted({*now} - {*listed})
    assert not lost + new, f"lost: {lost}\nnew: {new}\npython -m tests.test_public_names > {LIST}"
    assert documented()[module] <= {*public(module)} <= words() | {"__version__"}


def test_every_object_has_one_door() -> None:
    """No class or function is reached by two public names."""
    doors = defaultdict(list)
    for module in MODULES:
        for name, thing in public(module).items():
            if inspect.isclass(thing) or inspect.isfunction(thing):
                doors[thing].append(f"{module}.{name}")
    assert [names for names in doors.values() if len(names) > 1] == []


def test_no_package_is_forgotten() -> None:
    """What passes on names, right below cgboost, is public."""
    stubs = {f"cgboost.{stub.parent.name}" for stub in PACKAGE.glob("*/__init__.pyi")}
    assert stubs <= {*FACES}


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for known in MODULES for line in lines_of(known))
