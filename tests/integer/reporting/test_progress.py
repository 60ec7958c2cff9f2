"""Progress of a tree search: a live line on a terminal, plain lines elsewhere."""

import io
import math
import re
from typing import Any

import pytest
from rich.console import Console

from cgboost.generation import live_line
from cgboost.integer import TreeProgress, TreeState
from cgboost.integer.reporting.progress import WIDTHS
from tests.generation.test_progress import frames, terminal

from ..tree_problems import cutting_stock

SEED = 3


def test_lines_in_a_file() -> None:
    """A table with a line per interval, also within a node; at the end the result and totals."""
    stream = io.StringIO()
    problem = cutting_stock(SEED)
    line = TreeProgress("cut: ", interval=0.0, console=Console(file=stream, width=40))
    result = problem.search(heuristics=[], callbacks=[line]).run()
    lines = stream.getvalue().splitlines()
    assert len(lines) > result.n_nodes + 3  # the rounds of nodes have lines of their own
    assert lines[0].split() == ["cut:", *WIDTHS, "found", "by"]
    assert lines[1].split()[:5] == ["cut:", *lines[1].split()[1:3], "0", "0"]  # nodes, open
    assert lines[-2].startswith(f"cut: optimal after {result.n_nodes} nodes, ")
    assert f"objective {result.objective:g}, bound {result.objective:g}, gap 0.0e+00" in lines[-2]
    assert f"{sum(result.tree['status'] == 'branched')} branched" in lines[-1]
    assert f"solution of {len(result.columns)} columns" in lines[-1]
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("label", ["", "demo", "demo: "])
def test_a_label_stands_apart(label: str) -> None:
    """There is a space between it and the words, and none without it."""
    stream = io.StringIO()
    line = TreeProgress(label, console=Console(file=stream, width=200))
    cutting_stock(SEED).search(callbacks=[line]).run()
    last = stream.getvalue().splitlines()[-2]
    assert last.startswith(f"{label.strip()} optimal after ".lstrip())


def test_who_finds_a_better_solution() -> None:
    """A better solution has a line at once, with the name of what found it; others wait."""
    stream = io.StringIO()
    line = TreeProgress(interval=60.0, console=Console(file=stream, width=200))
    for seconds, objective, by in ((1.0, 9.0, "start"), (2.0, 9.0, "start"), (3.0, 8.0, "diving")):
        line.waiting(TreeState(1, 2, 3.0, objective, 0.5, 4, seconds, by))
    _, *rows = (row.split() for row in stream.getvalue().splitlines())
    assert [(row[0], row[-2], row[-1]) for row in rows] == [
        ("1.0", "5.0e-01", "start"),
        ("3.0", "5.0e-01", "diving"),
    ]


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_the_log_that_is_asked_for(verbose: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing by default; the result; a line for every node."""
    search = cutting_stock(SEED).search(heuristics=[], verbose=verbose)
    result = search.run()
    lines = capsys.readouterr().err.splitlines()
    if verbose == 0:
        assert lines == []
        return
    assert any("optimal after" in line for line in lines)
    nodes = [line for line in lines if re.match(r"\s+[0-9.]+ s\s", line)]
    assert len(nodes) >= (result.n_nodes if verbose == 2 else 1)


def test_a_silent_while_between_lines() -> None:
    """No more than a line every ``interval`` seconds; a new run begins afresh."""
    stream = io.StringIO()
    line = TreeProgress(interval=2.0, console=Console(file=stream, width=40))
    for number, seconds in enumerate((0.5, 2.5, 3.0, 4.6, 0.1, 2.2)):
        line(TreeState(number, 2, 3.0, math.inf, math.inf, 4, seconds))
    shown = [text.split() for text in stream.getvalue().splitlines()]
    rows = [parts for parts in shown if parts[0] != "time"]
    assert [(parts[0], parts[2]) for parts in rows] == [("2.5", "1"), ("4.6", "3"), ("2.2", "5")]


class Bounds:
    """Keeps the bounds shown between the rounds of the root."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, state: TreeState) -> None:
        """A node is done."""

    def waiting(self, state: TreeState) -> None:
        """A round is done."""
        if state.n_nodes == 0:
            self.seen.append(state.bound)


@pytest.mark.parametrize("heuristics", ["auto", []])
def test_the_bound_of_the_root_while_it_is_solved(heuristics: Any) -> None:
    """It rises from round to round, also through the heuristics, and never exceeds the optimum."""
    bounds = Bounds()
    problem = cutting_stock(SEED)
    result = problem.search(heuristics=heuristics, callbacks=[bounds]).run()
    finite = [bound for bound in bounds.seen if math.isfinite(bound)]
    assert len(set(finite)) > 1
    assert finite == sorted(finite)
    assert finite[0] < result.tree["bound"][0] == finite[-1] <= result.objective


def test_a_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the line is drawn again, and gives way to the last one."""
    monkeypatch.setattr(live_line, "REDRAWN", 0.0)
    stream, console = terminal(width=120)
    line = TreeProgress(console=console)
    cutting_stock(SEED).search(heuristics=[], callbacks=[line]).run()
    drawn = [frame for frame in frames(stream) if "nodes, " in frame]
    assert len(drawn) > 3
    assert "open, bound" in drawn[0]
    assert "optimal after" in frames(stream)[-1]


def test_an_error_gives_the_terminal_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The live line is erased however the search ends."""
    monkeypatch.setattr(live_line, "REDRAWN", 0.0)
    _, console = terminal(width=120)
    line = TreeProgress(console=console)
    search = cutting_stock(SEED).search(heuristics=[], callbacks=[line, lambda state: 1 / 0])
    with pytest.raises(ZeroDivisionError):
        search.run()
    assert line._live is None
