"""Names of the rows of a master, as messages and files have them."""

from __future__ import annotations

from typing import NamedTuple


class LinkingRow(NamedTuple):
    """Name of a row of the master: a linking row with two sides has two of them."""

    row: str
    sense: str

    def __repr__(self) -> str:
        """As messages name it."""
        return repr(self.row)


class BlockName(NamedTuple):
    """Name of a block and of its convexity row."""

    kind: str
    number: int
    label: str

    def __repr__(self) -> str:
        """As messages name it."""
        return f"{self.kind} {self.label!r}"
