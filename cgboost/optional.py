"""Packages that not every installation has: they come with the extras of ``pip install``."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

EXTRAS = {
    "jinja2": "report",
    "matplotlib": "plots",
    "numba": "fast",
    "onnx": "onnx",
    "pandas": "frames",
    "rich": "progress",
    "shap": "explain",
    "skops": "skops",
    "vrplib": "routing",
    "sqlglot": "sql",
}
"""The extra that each package comes with; others, such as skl2onnx, come with none."""


def is_installed(*packages: str) -> bool:
    """Whether all of these packages are there."""
    return all(find_spec(package) is not None for package in packages)


def require(package: str, what: str) -> None:
    """Raise an error with the command to install a package, if it is not there.

    Parameters
    ----------
    what : str
        What needs it: the beginning of the message.

    Raises
    ------
    ImportError
    """
    if not is_installed(package):
        extra = f'pip install "cgboost[{EXTRAS[package]}]", or ' if package in EXTRAS else ""
        raise ImportError(
            f"{what} needs the package {package}, which is not installed: {extra}"
            f"pip install {package}"
        )


class OnDemand:
    """A module of such a package, which is imported when something of it is first used.

    Parameters
    ----------
    what : str
        What needs it, as of :func:`require`.
    """

    def __init__(self, module: str, what: str) -> None:
        self._module, self._what = module, what

    def __getattr__(self, name: str) -> Any:
        require(self._module.partition(".")[0], self._what)
        value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value
