"""The command that explains messages."""

from typing import get_args

from cgboost import explain
from cgboost.exceptions import Section
from cgboost.studies.cli import main


def test_sections_are_those_that_messages_name(capsys) -> None:
    """All of them, in the order of the page, each on a line with its heading."""
    assert list(explain.sections()) == list(get_args(Section))
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(get_args(Section))
    assert "Kernels and libraries" in lines[0]


def test_a_section_is_printed_and_no_other(capsys) -> None:
    """With its heading, up to the next one."""
    assert main(["explain", "eval-set"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("## ")
    assert "eval_set" in text
    assert text.count("\n## ") == 0


def test_a_name_that_is_wrong_is_answered_with_the_nearest(capsys) -> None:
    """And with all there are; the status is that of wrong arguments."""
    assert main(["explain", "evalset"]) == 2
    error = capsys.readouterr().err
    assert "did you mean 'eval-set'?" in error
    assert "stored-models" in error


def test_a_damaged_installation_is_told_apart(monkeypatch, capsys, tmp_path) -> None:
    """Without the page there is an error and no traceback."""
    monkeypatch.setattr(explain, "PLACES", (tmp_path / "messages.md",))
    assert main(["explain", "eval-set"]) == 2
    assert "install cgboost again" in capsys.readouterr().err
