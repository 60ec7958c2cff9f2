"""Options named and typed by their defaults, and medians of seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgboost.studies.scripts import medians, options, timed

DEFAULTS = {"data": Path, "rows": 1000, "C": [0.1, 1.0], "only": ("a", "b"), "skip_it": False}


def test_options_have_the_types_of_their_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """A type is required, a list takes many, a tuple is a choice, and False is a flag."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    words = "script --data here --rows 5 --C 3 4 --only b --skip-it"
    monkeypatch.setattr("sys.argv", words.split())
    found = options("About.", **DEFAULTS, out=None)
    assert vars(found) == {
        "data": Path("here"),
        "rows": 5,
        "C": [3.0, 4.0],
        "only": ["b"],
        "skip_it": True,
        "out": None,
    }
    monkeypatch.setattr("sys.argv", ["script", "--data", "here"])
    plain = options("About.", **DEFAULTS)
    assert (plain.rows, plain.C, plain.only, plain.skip_it) == (1000, [0.1, 1.0], ("a", "b"), False)


@pytest.mark.parametrize("words", [[], ["--data", "here", "--only", "c"]])
def test_a_missing_option_or_an_unknown_choice_is_refused(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As argparse refuses it."""
    monkeypatch.setattr("sys.argv", ["script", *words])
    with pytest.raises(SystemExit):
        options("About.", **DEFAULTS)


@pytest.mark.parametrize("warm", [True, False])
def test_runs_take_turns(warm: bool) -> None:
    """Each is run as often as asked, and once before if it is to be warm."""
    calls: list[str] = []
    runs = {name: lambda name=name: calls.append(name) or name for name in "ab"}
    seconds, answers = medians(runs, 3, warm=warm)
    assert calls == ["a", "b"] * (3 + warm)
    assert answers == {"a": "a", "b": "b"}
    assert min(seconds.values()) >= 0.0
    assert timed(max, 3, 7)[1] == 7
