"""Decomposition alone: how it does depends on no clock."""

import pytest

from cgboost.integer.decomposition import decomposition


@pytest.fixture(autouse=True)
def given_blocks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given blocks are solved by decomposition, unless a test gives branch and cut a share."""
    monkeypatch.setattr(decomposition, "SHARE_OF_GIVEN", 0.0)
