"""What a result was made with: the versions and the machine that pages and reports name."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python and of the packages that are installed, in the order asked for.

    Parameters
    ----------
    *packages : str
        Names as they are installed under; those that are not there are left out.
    """
    found = {"Python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Cores, processor and system in a few words."""
    return f"{os.cpu_count()} cores, {_processor()}, {platform.system()}"


def made_with(*packages: str) -> str:
    """Versions and machine in one line, as pages print it."""
    words = ", ".join(f"{name} {number}" for name, number in versions(*packages).items())
    return f"{words}; {machine()}"


def _processor() -> str:
    """The model name that Linux tells, else the kind of processor."""
    table = Path("/proc/cpuinfo")
    if table.is_file():
        for line in table.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
