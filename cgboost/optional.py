"""Packages that not every installation has: they come with the extras of ``pip install``."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "jinja2": "report",
    "matplotlib": "plots",
    "onnx": "onnx",
    "rich": "progress",
}
"""The extra that each package comes with."""


def is_installed(*packages: str) -> bool:
    """Whether all of these packages are there."""
    return all(find_spec(package) is not None for package in packages)


def require(package: str, what: str) -> None:
    """Raise an error with the command to install a package, if it is not there.

    Parameters
    ----------
    package : str
        One of ``EXTRAS``.
    what : str
        What needs it: the beginning of the message.

    Raises
    ------
    ImportError
    """
    if not is_installed(package):
        extra = EXTRAS[package]
        raise ImportError(
            f"{what} needs the package {package}, which is not installed: "
            f'pip install "cgboost[{extra}]", or pip install {package}'
        )
