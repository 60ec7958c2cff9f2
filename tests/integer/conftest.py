"""Searches of tests: what they do depends on no clock, unless a test says so."""

import pytest

from cgboost.integer import tree_search
from cgboost.integer.decomposition import decomposition

LATE = 60.0
"""Seconds that no search of these tests takes."""


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given blocks are solved by decomposition alone, roots end without combinations between."""
    monkeypatch.setattr(decomposition, "SHARE_OF_GIVEN", 0.0)
    monkeypatch.setattr(tree_search, "FIRST_COMBINATION", LATE)
