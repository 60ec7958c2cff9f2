"""Order in which strata are asked: by priority, or round robin."""

from __future__ import annotations

from collections.abc import Iterator


class StratumOrder:
    """The numbers of the strata, in the order in which they are asked.

    By priority: the first stratum first, every time. Or round robin: first the stratum where the
    last call found something, so that a stratum is left only when it has nothing; after the last
    stratum comes the first.

    Parameters
    ----------
    count : int
        Number of strata.
    round_robin : bool
    """

    def __init__(self, count: int, *, round_robin: bool) -> None:
        self.count = count
        self.round_robin = round_robin
        self.first = 0

    def __iter__(self) -> Iterator[int]:
        first = self.first
        return ((first + step) % self.count for step in range(self.count))

    def found_in(self, stratum: int) -> None:
        """Take note of the stratum that had columns."""
        if self.round_robin:
            self.first = stratum
