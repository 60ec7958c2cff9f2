"""The section of a version in CHANGELOG.md, for the release of its tag.

python .ci/release_notes.py 0.2.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes(version: str, changes: str) -> str:
    """The text below the heading of a version.

    Raises
    ------
    ValueError
        If there is no such section, or nothing in it.
    """
    found = re.search(rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## \[|\Z)", changes, re.M | re.S)
    if found is None or not found[1].strip():
        known = ", ".join(re.findall(r"^## \[(.+?)\]", changes, re.M))
        raise ValueError(f"CHANGELOG.md has no section of version {version!r}; it has {known}")
    return found[1].strip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(notes(sys.argv[1], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
