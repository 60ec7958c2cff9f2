"""Progress: a live line on a terminal, plain lines elsewhere, a line for every round."""

import io
import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from cgboost.generation import live_line
from cgboost.generation.callbacks import EarlyStopping
from cgboost.generation.history import StopReason
from cgboost.generation.progress import IN_WORDS, ProgressLine

from .cases import scripted, watched

LIVE = {"force_terminal": True, "force_jupyter": False, "legacy_windows": False}


def terminal(width: int = 100) -> tuple[io.StringIO, Console]:
    """A stream that is taken for a terminal."""
    stream = io.StringIO()
    return stream, Console(file=stream, width=width, no_color=True, _environ={}, **LIVE)


def words(stream: io.StringIO) -> str:
    """What was written, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def frames(stream: io.StringIO) -> list[str]:
    """The drawings of a live line, and what came after it."""
    return [text.strip("\r\n") for text in re.split(r"\x1b\[2K", words(stream))]


def turn(**numbers: Any) -> Any:
    """A round of these numbers."""
    common = {
        "number": 0,
        "columns": 0,
        "objective": 1.0,
        "bound": np.nan,
        "gap": np.inf,
        "scores": {},
    }
    state = SimpleNamespace(columns=())
    return SimpleNamespace(**common | {"seconds": 0.0, "evaluated": 0, "state": state} | numbers)


@pytest.fixture
def every_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw each round, however quick the rounds are."""
    monkeypatch.setattr(live_line, "REDRAWN", 0.0)


def test_every_stop_reason_has_words() -> None:
    """No way to stop is shown by its identifier."""
    assert set(IN_WORDS) == set(StopReason)


def test_progress_in_a_file_is_one_line_per_interval() -> None:
    """Without a terminal there are no control codes: a line per interval, and one at the end."""
    stream = io.StringIO()
    console = Console(file=stream, width=40)
    watched(ProgressLine("toy: ", interval=0.0, console=console))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 8
    assert lines[2].startswith("toy: round    2      2 columns  objective            8  bound ")
    assert lines[-1].startswith("toy: no column found after 7 rounds")
    assert "\x1b" not in stream.getvalue()
    for _ in range(2):  # each run begins afresh
        stream.truncate(0)
        line = ProgressLine(interval=1e9, console=console, tol=1e-4)
        watched(line)
        assert len(stream.getvalue().splitlines()) == 1
        assert [share for _, share in line._shares] == [0.0] * 7


def test_the_closing_line_describes_the_round_that_was_kept() -> None:
    """After early stopping the columns and objective at the end are those of the kept round."""
    stream = io.StringIO()
    line = ProgressLine(interval=1e9, console=Console(file=stream, width=40))
    watched(scripted(3, 2, 1, 2, 2), EarlyStopping("validation_error", patience=2), line)
    written = stream.getvalue()
    assert written.startswith("stopped early after 5 rounds, ")
    assert written.endswith(" s; round 2 kept: 2 columns, objective 8, gap unknown\n")


@pytest.mark.usefixtures("every_frame")
def test_progress_on_a_terminal_is_one_line() -> None:
    """Every round takes the place of the one before, in one line; the closing line is left."""
    for width in (30, 60, 100):
        stream, console = terminal(width)
        watched(ProgressLine("[red]toy[/] ", console=console, max_rounds=20))
        *rounds, last = frames(stream)
        assert len(rounds) >= 7
        assert all(len(text.replace("\x1b[?25l", "")) <= width for text in rounds[:-1])
        assert last.startswith("[red]toy[/] no column found after 7 rounds")
        assert ("━" in rounds[3]) == (width > 30)
        assert words(stream).count("\x1b[?25l") == words(stream).count("\x1b[?25h") == 1


@pytest.mark.usefixtures("every_frame")
def test_progress_shows_scores_and_survives_an_error() -> None:
    """Scores appear with their names; after an error in the run the cursor is back."""
    stream, console = terminal(200)

    def fail(current: Any) -> None:
        if current.number == 2:
            raise RuntimeError("a mistake in my callback")

    with pytest.raises(RuntimeError, match="my callback"):
        watched(scripted(2, 12345, 0.123456), ProgressLine(console=console), fail)
    assert "validation error 0.1235" in words(stream)
    hidden, shown = words(stream).rindex("\x1b[?25l"), words(stream).rindex("\x1b[?25h")
    assert hidden < shown


def test_every_round_may_have_a_line() -> None:
    """With the columns that are new in it, by stratum, on a terminal too."""
    plain = io.StringIO()
    watched(ProgressLine(every_round=True, console=Console(file=plain, width=40)))
    assert len(plain.getvalue().splitlines()) == 8
    first, third = (plain.getvalue().splitlines()[k] for k in (0, 2))
    assert first.startswith("round    0      0 columns")
    assert third.startswith("round    2      2 columns  objective            8  bound ")
    assert third.endswith("  +1")
    stream, console = terminal()
    watched(ProgressLine(every_round=True, console=console))
    assert "round    6      6 columns  objective            4" in words(stream)
    stream, console = terminal()  # otherwise quick rounds cost no drawing
    watched(ProgressLine(console=console))
    assert words(stream).count("round 0") >= 1
    assert "round 3" not in words(stream)
    columns = [SimpleNamespace(stratum=s) for s in ("rbf", "linear", "rbf")]
    line = ProgressLine(every_round=True, console=Console(file=plain, width=200))
    line(turn(number=0))
    line(turn(number=1, columns=3, state=SimpleNamespace(columns=columns)))
    assert plain.getvalue().endswith(" s  +3 (rbf 2, linear 1)\n")


def test_the_bar_is_logarithmic_in_the_gap() -> None:
    """Half of the digits from the widest gap to tol is half of the bar; limits count too."""
    line = ProgressLine(console=Console(file=io.StringIO()), tol=1e-4)
    assert [line._share(turn(gap=g)) for g in (np.inf, 1.0, 1e-2)] == pytest.approx([0, 0, 0.5])
    assert line._share(turn(gap=1e-6)) == 1.0
    line.max_columns, line.max_rounds, line.time_limit = 10, 20, 40.0
    assert line._share(turn(gap=1e-2, columns=8)) == 0.8
    assert line._share(turn(gap=1e-2, number=17)) == 0.9
    assert line._share(turn(gap=1e-2, seconds=30.0)) == 0.75
    none = ProgressLine(console=Console(file=io.StringIO()))
    assert none._share(turn(gap=1e-9, columns=5)) == 0.0


def test_the_time_left_follows_the_pace() -> None:
    """As long as the second half has taken for its share, and never beyond the time limit."""
    stream = io.StringIO()
    line = ProgressLine(interval=0.0, console=Console(file=stream, width=200), tol=1e-4)
    for number, gap in enumerate((1.0, 1e-1, 1e-2, 1e-3)):
        line(turn(number=number, gap=gap, seconds=10.0 * number))
    lines = stream.getvalue().splitlines()
    assert "left" not in lines[0]
    assert [text.rsplit("  ", 1)[1] for text in lines[2:]] == ["about 20 s left", "about 10 s left"]
    line.time_limit = 33.0
    assert line._left(30.0) == pytest.approx(3.0)
    shown = [live_line.duration(s) for s in (59, 90.7, 599.9, 640, 7300)]
    assert shown == ["59 s", "1 min 30 s", "9 min 59 s", "11 min", "2 h 02 min"]


def test_what_callbacks_print_does_not_break_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirected standard output stays where it is while the line is live."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    stream, console = terminal()
    watched(lambda current: out.write("mine\n") and None, ProgressLine(console=console))
    assert out.getvalue() == "mine\n" * 7
    assert sys.stdout is out
    assert "mine" not in stream.getvalue()


def test_a_notebook_without_widgets_has_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line cannot be drawn again there; with them it can."""
    notebook = Console(file=io.StringIO(), force_jupyter=True)
    for found in (None, object()):
        monkeypatch.setattr(live_line, "find_spec", lambda name, found=found: found)
        assert live_line.can_redraw(notebook) == (found is not None)
    dumb = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    assert not live_line.can_redraw(dumb)
