"""What callbacks of a decomposed model see: its own objective and bound."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cgboost import Checkpoint, decompose
from cgboost.integer import BranchAndPriceResult, TreeProgress, TreeState

from .test_decomposition import assignment


class Seen:
    """A callback of every kind."""

    def __init__(self) -> None:
        self.states: list[TreeState] = []
        self.result: Any = None
        self.closed = 0

    def __call__(self, state: TreeState) -> None:
        """After a node."""
        self.states.append(state)

    def waiting(self, state: TreeState) -> None:
        """Within a node."""
        self.states.append(state)

    def finish(self, result: BranchAndPriceResult) -> None:
        """At the end."""
        self.result = result

    def close(self) -> None:
        """However it ends."""
        self.closed += 1


def test_values_are_those_of_the_model() -> None:
    """Of a model that is maximised the bound is above the solution, and both meet."""
    model, blocks = assignment(3)
    seen = Seen()
    result = decompose(model, blocks).solve(callbacks=[seen])
    assert result.tree is not None
    assert result.objective > 0 > result.tree.objective
    assert all(state.objective <= state.bound + 1e-6 for state in seen.states)
    assert seen.states[-1].objective == pytest.approx(result.objective)
    assert seen.result.objective == pytest.approx(result.objective)
    assert seen.result.bound == pytest.approx(result.bound)
    assert seen.closed == 1


def test_a_plain_callback_may_stop_the_search() -> None:
    """A function has no other methods, and its answer counts."""
    model, blocks = assignment(9)
    result = decompose(model, blocks).solve(callbacks=[lambda state: True], heuristics=[])
    assert result.stop_reason == "callback"


def test_a_progress_line() -> None:
    """Its last line has the objective of the model."""
    model, blocks = assignment(3)
    stream = io.StringIO()
    line = TreeProgress(console=Console(file=stream, width=200))
    result = decompose(model, blocks).solve(callbacks=[line])
    assert f"objective {result.objective:.8g}, bound {result.objective:.8g}" in stream.getvalue()


def test_a_search_of_a_model_is_kept(tmp_path: Path) -> None:
    """A checkpoint gets the records of the search behind the model."""
    model, blocks = assignment(3)
    decompose(model, blocks).solve(callbacks=[Checkpoint(tmp_path / "search.ckpt", every=0)])
    assert (tmp_path / "search.ckpt").stat().st_size > 0
