"""Modules that have moved can be imported by their old names."""

import subprocess
import sys
from importlib import import_module

import pytest

from cgboost._moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_module_under_its_new_name(old: str) -> None:
    """One module with two names, which keeps its own; a warning has both and says until when."""
    sys.modules.pop(old, None)
    new = import_module(MOVED[old])
    with pytest.warns(
        FutureWarning, match=f"{old} is now called {MOVED[old]}; the old name goes in 0.4"
    ) as told:
        assert import_module(old) is new
    assert len(told) == 1
    assert new.__name__ == MOVED[old]
    assert new.__spec__ is not None
    assert new.__spec__.name == MOVED[old]


def test_names_in_old_modules_are_imported_as_ever() -> None:
    """In a fresh process, and the warning points at the line that imports."""
    code = "from cgboost.history import StopReason\nprint(StopReason.GAP)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "gap\n"
    assert "<string>:1: FutureWarning" in found.stderr
