"""LP files that readers of solvers take for another model: read rightly, or refused by line."""

from pathlib import Path

import pytest

from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import as_model
from cgboost.integer.decomposition.model_text import ModelError

ROW = "c: x + y >= 10"


def lp(rows: str = ROW, rest: str = "", objective: str = "obj: x + 2 y") -> str:
    """``min x + 2y`` with x + y ≥ 10, or something else instead."""
    return f"Minimize\n {objective}\nSubject To\n {rows}\n{rest}End\n"


def optimum(text: str, folder: Path) -> float:
    """The optimum of the model in a text."""
    path = folder / "a.lp"
    path.write_text(text)
    return Decomposition(as_model(path), None, "").solve().objective


@pytest.mark.parametrize(
    ("text", "best"),
    [
        (lp("c: x + y + 3 >= 10"), 7.0),
        (lp("c: - 3 + x + y >= 10"), 13.0),
        (lp("c: x + y + x >= 10"), 5.0),
        (lp("c: x + y - x >= 10"), 20.0),
        (lp(objective="obj: 3 x - 2 x + 2 y"), 10.0),
        (lp(objective="obj: 1 + x + 2 y + 5"), 16.0),
        (lp("c: 2 inflow + nanny + x >= 10", objective="inflow + 2 nanny + x"), 5.0),
        (lp("c: x + 0x1 + 1e-10 y >= 10"), 10.0),
        (lp("c: e1 + 3x >= 10\n y >= 1 d: x <= 2", objective="2 e1 + 2e1x + y"), 21.0),
        (lp("c: x + y > 10\n d: = 0\n 4: y => 4"), 14.0),
        (lp(rest="Bounds\n 2 >= x >= -1\n end <= 4\n"), 18.0),
        (lp("c: x + y >= 2", rest="Bounds\n -5 <= x <= 3\nBinaries\n x\n"), 3.0),
        (lp("c: x + y >= 2", rest="Bounds\n x = 0\nBinaries\n x\nBounds\n y free\n"), 4.0),
        (lp("c: y + st >= 10\n d: y <= 4", objective="2 y + 3 st"), 26.0),
        (lp(rest="semi\n", objective=""), 0.0),
        ("min x + 2 y\nst\nbounds\n x >= 3\n y >= 1\nend", 5.0),
        (lp("c: - x <-10"), 10.0),
        (lp("c: 9.5 >= x + y >= 2\n 1 <= 3 x - y + 1 <= 4", "Int\n x y\n"), 3.0),
        (lp("-1 <= x + y <= 4\n 2 <= - 1 x + y d: 0 <= 5\n x >= 1"), 7.0),
        (lp("-inf <= x + y <= 20\n d: 3 <= x + y <= +Infinity"), 3.0),
        (lp("c: - infinity <= x + y\n d: x + y >= 4"), 4.0),
        (lp(rest="Bounds\n x <= 3\n x <= 4\n y free\n y >= 1\n"), 16.0),
        (lp().replace("Subject To", "Subject To:"), 10.0),
        ("min x + 2 y st c: x + y >= 9.5 \\ d: y >= 4\ngen x end", 10.0),
    ],
)
def test_files_that_are_right(text: str, best: float, tmp_path: Path) -> None:
    """Numbers among the terms, variables twice in a row, names that begin as numbers do."""
    assert optimum(text, tmp_path) == pytest.approx(best)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (lp(objective="obj: 2 x y"), "line 2: 'y' is out of place after 'x': is a sign"),
        (lp(objective="obj: 2 3 x + y"), "line 2: '3' is out of place after '2'"),
        (lp("c: 3 x 2 y >= 10"), "line 4: '2' is out of place after 'x'"),
        (lp("x + y >= 2 + 8\n x >= 4"), r"line 4: '\+' is out of place after '2'"),
        (lp("c: x >= y + 10"), "line 4: 'y' is out of place after '>=': a number belongs here"),
        (lp("c: 2 <= x + y >= 5"), "line 4: a row with two sides needs two relations <=, or two"),
        (lp("c: 2 <= x + y <= z"), "line 4: 'z' is out of place after '<=': a number"),
        (lp("c: x + y >= 10; d: y >= 4"), "line 4: ';' is out of place after '10'"),
        (lp(objective="obj: 2 (x + y)"), r"line 2: '\(' is out of place"),
        (lp("c: x + y >= 10\n d: z = 1 -> y >= 12"), "line 5: '->' .*indicator constraints"),
        (lp("c: z = 1 <-> y >= 12"), "line 4: '<->' .*indicator constraints"),
        (lp(objective="obj: x + [ x ^ 2 ] / 2"), r"line 2: '\[' .*quadratic terms: only linear"),
        (lp("c: x[0,1] + y >= 1"), r"line 4: '\[' .*names of LP files have no brackets: rename"),
        (lp("c: 1e400 x + y >= 1"), "line 4: 1e400 is too large for a number"),
        (lp("c: inf <= x + y"), "row 'c' must be from inf to inf: no number is"),
        (lp(rest="Bounds\n x <= -inf\n"), "variable 'x' must be from 0 to -inf"),
        (lp(rest="SOS\n s1: S1:: x:1 y:2\n"), "line 6: the section 'SOS' is not supported"),
        (lp(rest="Lazy Constraints\n d: y >= 2\n"), "line 6: .*'Lazy Constraints' is not"),
        (lp(rest="Bounds\n 2 x <= 6\n"), "line 6: 'x' is out of place after '2'"),
        (lp("c: x + bin >= 1", rest="General\n x bin y\n"), "line 6: 'bin' begins a section"),
        (lp("c: x + y >= 1\n st + y <= 4"), "line 5: there are both 'Subject To' and 'st'"),
        (lp(rest="End\n x\n"), "line 6: 'x' is out of place after 'End'"),
    ],
)
def test_files_that_are_refused(text: str, words: str, tmp_path: Path) -> None:
    """What readers drop or take for something else is an error with the line."""
    with pytest.raises(ModelError, match=words):
        optimum(text, tmp_path)
