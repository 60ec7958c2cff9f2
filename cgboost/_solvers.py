"""The package ``solvers`` that stands next to this one, whatever else has that name.

A script with a module of that name in its folder gets that one with ``import solvers``. The modules
of cgboost therefore import from here: the package that is meant, under its usual name where that is
free, so that its classes are the same for everybody, and under the name of this module otherwise.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

FOLDER = Path(__file__).resolve().parents[1] / "solvers"


def is_ours(found: Any) -> bool:
    """Whether a module or its specification is the package next to this one."""
    place = getattr(found, "__file__", None) or getattr(found, "origin", None)
    return place is not None and Path(place).resolve() == FOLDER / "__init__.py"


def load() -> ModuleType:
    """The package ``solvers`` of this installation.

    Raises
    ------
    ImportError
        If it is not there.
    """
    if not (FOLDER / "__init__.py").exists():
        raise ImportError(
            f"cgboost needs its package solvers, which should be in {FOLDER}: the installation is "
            "damaged. Install it again: pip install --force-reinstall cgboost"
        )
    if is_ours(sys.modules["solvers"] if "solvers" in sys.modules else find_spec("solvers")):
        return import_module("solvers")
    own = spec_from_file_location(
        __name__, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    assert own is not None
    assert own.loader is not None
    module = module_from_spec(own)
    sys.modules[__name__] = module
    own.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from solvers import *  # noqa: F403
    from solvers import BACKENDS as BACKENDS
    from solvers import put_back as put_back
    from solvers import quiet_highs as quiet_highs
    from solvers import run_highs as run_highs
    from solvers import run_interruptible as run_interruptible
else:
    sys.modules[__name__] = load()
