"""Optimizers are tested each by itself: few numbers do not go to the vertex method here."""

from collections.abc import Iterator

import pytest

from cgboost.optimizers import solver_choice


@pytest.fixture(scope="package", autouse=True)
def every_optimizer_by_itself() -> Iterator[None]:
    """A table without the line of few numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver_choice, "FEW_NUMBERS", 0)
        yield
