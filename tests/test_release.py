"""What a release is made with."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def script(name: str):
    """A script of .ci/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notes_of_a_release_are_its_section_of_the_changelog() -> None:
    """Up to the next heading; a version without a section is named with those that have one."""
    text = "# C\n\n## [Unreleased]\n\n## [0.2.0] - 2026-01-01\n\n- b\n\n## [0.1.0]\n\n- a\n"
    notes = script("release_notes").notes
    assert notes("0.2.0", text) == "- b\n"
    assert notes("0.1.0", text) == "- a\n"
    for version in ("Unreleased", "0.2"):
        with pytest.raises(ValueError, match=r"it has Unreleased, 0\.2\.0, 0\.1\.0"):
            notes(version, text)


def test_this_version_has_a_section() -> None:
    """The release notes of the version in pyproject.toml are not empty."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(script("release_notes").notes(version, changes)) > 1000


def test_the_check_runs_the_first_code_of_the_readme() -> None:
    """It has a model, and its output is in the next block."""
    code, printed = script("release_check").readme()
    assert "fit(" in code
    assert "gap" in printed


def test_the_matrix_has_every_python_that_is_supported() -> None:
    """Those of the classifiers, in the workflow and in the search for Pythons at hand."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python: \[(.+)\]", workflow)[1]
    assert re.findall(r"3\.\d+", matrix) == named
    check = script("release_check")
    assert named == [f"3.{minor}" for minor in range(check.OLDEST, check.NEWEST + 1)]


@pytest.mark.parametrize("words", ["AGPLv3", "GNU General Public License v3 (GPLv3)", "GPL-2.0"])
def test_licences_that_would_bind_users_are_seen(words: str) -> None:
    """The GPL is; the LGPL, and exceptions to the GPL, are not meant."""
    check = script("release_check")
    assert check.COPYLEFT.search(words)
    assert not check.MAY_STAND_FOR_ITSELF.search(words)
    assert check.MAY_STAND_FOR_ITSELF.search("GNU Lesser General Public License v3 (LGPLv3)")
