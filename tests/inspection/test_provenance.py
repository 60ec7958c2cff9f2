"""Versions and machine, as pages and reports name them."""

import platform

import numpy as np

from cgboost.inspection.report.page import machine, made_with, versions


def test_versions_are_those_that_are_installed() -> None:
    """Python first, then the packages in the order asked for; unknown ones are left out."""
    found = versions("scipy", "no-such-package", "numpy")
    assert list(found) == ["Python", "scipy", "numpy"]
    assert found["Python"] == platform.python_version()
    assert found["numpy"] == np.__version__


def test_one_line_says_both() -> None:
    """Versions, and then the machine."""
    line = made_with("numpy")
    assert line == f"Python {platform.python_version()}, numpy {np.__version__}; {machine()}"
    assert platform.system() in line
