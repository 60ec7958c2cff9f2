"""What users could import, pass and call in version 0.1 they still can."""

import enum
import importlib
import inspect
import warnings
from pathlib import Path

import pytest

import cgboost

LINES = [
    line.split()
    for line in (Path(__file__).parent / "public_names.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
NAMES = [line for line in LINES if line[0] != "methods"]
METHODS = [line[1:] for line in LINES if line[0] == "methods"]


@pytest.mark.parametrize("line", NAMES, ids=lambda line: f"{line[0]}.{line[1]}")
def test_a_public_name_and_its_parameters_are_still_there(line: list[str]) -> None:
    """Imported from where it was, under a deprecated name perhaps, it takes what it took."""
    module, name, *parameters = line
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        thing = getattr(importlib.import_module(module), name)
    if isinstance(thing, enum.EnumType):
        return  # what a call of one takes is Python's, and differs between its versions
    if parameters:
        accepted = inspect.signature(thing).parameters
        takes_any = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
        assert takes_any or set(parameters) <= set(accepted)


@pytest.mark.parametrize("line", METHODS, ids=lambda line: str(line[1]))
def test_a_class_still_has_its_methods(line: list[str]) -> None:
    """Methods and properties, inherited ones included."""
    _, name, *methods = line
    assert set(methods) <= set(dir(getattr(cgboost, name)))
