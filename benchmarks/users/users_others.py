"""Rows of the comparison: others."""

from __future__ import annotations

from pathlib import Path

from users_rows import Row


def rows(data: Path) -> list[Row]:
    """Rows of this part; ``data`` is the folder of public data sets."""
    return []
