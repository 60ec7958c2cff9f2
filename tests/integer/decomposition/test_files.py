"""LP and MPS files that readers of solvers take for another model: read rightly, or refused."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from cgboost import decompose
from cgboost.exceptions import DataWarning
from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import as_model, quiet_highs
from cgboost.integer.decomposition.model_parts import ModelError
from solvers import Program


def optimum(text: str | bytes, folder: Path, name: str) -> float:
    """The optimum of the model in a file."""
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    return Decomposition(as_model(path), None, "").solve().objective


ROW = "c: x + y >= 10"


def lp(rows: str = ROW, rest: str = "", objective: str = "obj: x + 2 y") -> str:
    """``min x + 2y`` with x + y ≥ 10, or something else instead."""
    return f"Minimize\n {objective}\nSubject To\n {rows}\n{rest}End\n"


LP_RIGHT: list[tuple[str | bytes, float]] = [
    # variables twice in a row, names that begin as numbers do, rows with two sides
    (lp("c: x + y + x >= 10"), 5.0),
    (lp("c: x + y - x >= 10"), 20.0),
    (lp(objective="obj: 3 x - 2 x + 2 y"), 10.0),
    (lp(objective="obj: 1 + x + 2 y + 5"), 16.0),
    (lp("c: 2 inflow + nanny + x >= 10", objective="inflow + 2 nanny + x"), 5.0),
    (lp("c: x + 0x1 + 0 y >= 10"), 10.0),
    (lp("c: 2 <= x + y <= 8"), 2.0),
    (lp("2 <= x + y <= 8", objective="- x - y"), -8.0),
    (lp("c: 8 >= x + y >= 2", objective="- x - y"), -8.0),
    (lp("c: -8 <= - x - y <= -2"), 2.0),
    (lp("c: e1 + 3x >= 10\n y >= 1 d: x <= 2", objective="2 e1 + 2e1x + y"), 21.0),
    (lp("c: x + y > 10\n d: = 0\n 4: y => 4"), 14.0),
    (lp(rest="Bounds\n 2 >= x >= -1\n z <= 4\n"), 18.0),
    (lp("c: x + y >= 2", rest="Bounds\n x = 0\nBinaries\n x\nBounds\n y free\n"), 4.0),
    (lp(rest="semi\n", objective=""), 0.0),
    ("min x + 2 y\nst\nbounds\n x >= 3\n y >= 1\nend", 5.0),
    (lp("c: - x <-10"), 10.0),
    (lp("c: 9.5 >= x + y >= 2\n 0 <= 3 x - y <= 3", "Int\n x y\n"), 3.0),
    (lp("-1 <= x + y <= 4\n 2 <= - 1 x + y d: 0 <= 5\n x >= 1"), 7.0),
    (lp("-inf <= x + y <= 20\n d: 3 <= x + y <= +Infinity"), 3.0),
    (lp("c: - infinity <= x + y\n d: x + y >= 4"), 4.0),
    (lp(rest="Bounds\n x <= 3\n x <= 4\n y free\n y >= 1\n"), 16.0),
    (lp().replace("Subject To", "Subject To:"), 10.0),
    ("min x + 2 y st c: x + y >= 9.5 \\ d: y >= 4\ngen x end", 10.0),
    # comments may be Latin-1
    (lp().encode() + "\\ caf\xe9\n".encode("latin-1"), 10.0),
]

LP_WRONG: list[tuple[str | bytes, str]] = [
    (lp("c: x + y + 3 >= 10"), "line 4: the constant 3 in a row: take it to the right-hand side"),
    (lp("c: x + y\n - 3 >= 10"), "line 5: the constant 3 in a row"),
    (lp("c: 3 + x + y >= 10"), "line 4: the constant 3 in a row"),
    (lp("c: 1 <= 3 x - y + 1 <= 4"), "line 4: the constant 1 in a row"),
    # what readers drop or take for something else
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
    (lp(rest="Bounds\n x <= -2\n"), "variable 'x' has the lower bound 0 above the upper one -2"),
    (lp(rest="Bounds\n x <= -inf\n"), "variable 'x' must be from 0 to -inf"),
    (lp(rest="SOS\n s1: S1:: x:1 y:2\n"), "line 6: the section 'SOS' is not supported"),
    (lp(rest="Lazy Constraints\n d: y >= 2\n"), "line 6: .*'Lazy Constraints' is not"),
    (lp(rest="Bounds\n 2 x <= 6\n"), "line 6: 'x' is out of place after '2'"),
    (
        lp("c: x + bin >= 1", rest="General\n x bin y\n"),
        "'bin' begins a section, and is a variable here",
    ),
    (lp("c: y + st >= 10", objective="2 y + 3 st"), "'st' begins a section, and is a variable"),
    (lp(rest="Bounds\n 2 >= x\n End <= 4\n"), "'End' begins a section, and is a variable here"),
    (
        lp("c: x + y >= 2", rest="Bounds\n -5 <= x <= 3\nBinaries\n x\n"),
        "the bounds of the binary variable 'x', -5 and 3, go beyond 0 and 1",
    ),
    (lp(rest="Bounds\n x free\n y <= 3\nBinary\n x\n"), "variable 'x', -inf and inf, go beyond"),
    (lp(rest="Bounds\n x <= 3\n x free\n"), "line 7: 'x' has bounds, which SCIP and CBC keep"),
    (lp("c: x + y >= 1\n st + y <= 4"), "line 5: there are both 'Subject To' and 'st'"),
    (lp(rest="End\n x\n"), "line 6: 'x' is out of place after 'End'"),
    (lp("c: nan x + y >= 10"), "line 4: 'x' is out of place after 'nan'"),
    (lp("c: inf x + y >= 10"), "line 4: inf is no coefficient"),
    (lp("c: x + y >= 10\n c: x >= 1"), "two rows have the name 'c'"),
    (lp("l\xefnk: x + y >= 10").encode("latin-1"), "no UTF-8 text"),
    (lp(rest="Bounds\n 2 <= x <= 1\n"), "variable 'x' has the lower bound 2 above the upper one 1"),
    (
        lp(rest="Bounds\n x <= 5\nSemi-Continuous\n x\n"),
        "the section 'Semi-Continuous' is not supp",
    ),
]

HEAD = "ROWS\n N cost\n {} r\n G s\n N other\n"
COLUMNS = "COLUMNS\n x cost 1 r 1\n y cost 2 r 1\n z cost 5 s 1\n z other 1\n"
RHS, INTEGER = "RHS\n R r 5\n", " M 'MARKER' 'INTORG'\n{} M 'MARKER' 'INTEND'\n"


def mps(*sections: str, kind: str = "G") -> str:
    """``min x + 2y + 5z`` with a row x + y that is at least, at most or equal to, and z ≥ 0."""
    return "".join((HEAD.format(kind), COLUMNS, *sections, "ENDATA\n"))


MPS_RIGHT: list[tuple[str | bytes, float]] = [
    # any order of sections, names of vectors, fixed format, ranges of the objective
    (mps("RANGES\n G r 2\n", RHS, kind="L"), 3.0),
    (mps("RANGES\n G r -2\n", RHS, kind="E"), 3.0),
    (mps(RHS, "RANGES\n G r 2\n", "OBJSENSE\n MAX\nBOUNDS\n FX B z 0\n", kind="E"), 14.0),
    (RHS + "BOUNDS\n UP B x 2\n" + COLUMNS + HEAD.format("G") + "ENDATA\n", 8.0),
    (mps("RHS\n R r 5 cost -7\n"), 12.0),
    (mps("RHS\n R r 5 other 3\n"), 5.0),
    ("OBJSENSE\n max\n" + mps(RHS, "BOUNDS\n FX B z 0\n", kind="L"), 10.0),
    (mps(RHS, "RANGES\n G r -2\n", "OBJSENSE\n MAX\nBOUNDS\n FX B z 0\n"), 14.0),
    (mps(RHS, "RANGES\n G cost 2 other 1\n"), 5.0),
    ("OBJSENSE MAXIMIZE\n" + mps(RHS, "BOUNDS\n FX B z 0\n", kind="L"), 10.0),
    (mps("RHS\n s r 5 s 1\n"), 10.0),
    (mps(RHS, "BOUNDS\n UP y x 2\n"), 8.0),
    (mps(RHS, "BOUNDS\n FR y x\n LO y y 7\n"), 12.0),
    (mps("RHS\n r 0.5D1\nBOUNDS\n UP x 2\n"), 8.0),
    (mps(" inf1 cost 1 r 2\n nan cost 9 r 1\n", RHS), 2.5),
    (mps(INTEGER.format(" w cost -1 r 1\n"), RHS), 3.0),
    (mps(INTEGER.format(" w cost 1 r 2\n"), RHS, "BOUNDS\n LO B w 2\n"), 3.0),
    (mps(RHS, " R s -inf\n"), 5.0),
    ("ROWS\n N cost\nCOLUMNS\n x cost 2\nBOUNDS\n LO x 3\nENDATA\n", 6.0),
    ("ROWS\n G r\nCOLUMNS\n x r 1\nRHS\n R r 5\nENDATA\n", 0.0),
    (mps(" w cost 1 r 1 $ r 9 s 9\n", "RHS\n r 5 $ cost 3\nBOUNDS\n UP B x 2 $ 1\n"), 5.0),
    (mps(RHS).replace(" s", " $"), 5.0),
    (mps(RHS).replace(" z", " $"), 5.0),
    (
        "OBJSENSE\n    MIN\nROWS\n N  C\n G  R\nCOLUMNS\n"
        "    X 1 a     C                  3     R                   1\n"
        "RHS\n    B         R                  4\n"
        "BOUNDS\n UP B         X 1 a              5\nENDATA\n",
        12.0,
    ),
    (
        "ROWS\n N  C\n G  MY ROW\nCOLUMNS\n"
        "    X 1       C                  3     MY ROW              1\n"
        "RHS\n    B         MY ROW             4\nENDATA\n",
        12.0,
    ),
    ("* caf\xe9\n".encode("latin-1") + mps(RHS).encode(), 5.0),
]

MPS_WRONG: list[tuple[str | bytes, str]] = [
    ("NAME a\nOBJSENSE: MAX\n" + mps(), "line 2: 'OBJSENSE:' is no section, and belongs to none"),
    # what readers merge, drop or take for another number
    (mps("RHS\n R r 5\n S cost 3\n"), "line 13: a second vector 'S' of RHS after 'R'"),
    (mps(RHS, "BOUNDS\n UP B x 2\n UP C y 9\n"), "line 15: a second vector 'C' of BOUNDS"),
    (mps(RHS, "RANGES\n G r 2\n H s 9\n"), "line 15: a second vector 'H' of RANGES"),
    (mps(RHS, "BOUNDS\n UP B x 2\n", "RHS\n R r 3\n"), "line 16: RHS has the row 'r' twice"),
    (mps("BOUNDS\n UP B x 2\n FX B x 1\n"), "line 13: the upper bound of 'x' is given twice"),
    (mps(" w cost 1 r 1 s 1\n"), "line 11: a column has a name and one or two pairs"),
    (mps(" w cost 1 r\n"), "line 11: a column has a name and one or two pairs"),
    (mps(" w cost 1 r 1\n w r 2\n"), "line 12: the column 'w' has the row 'r' twice"),
    (mps("RHS\n R r five s 0\n"), "line 12: 'five' is no number"),
    (mps(" w cost 0x1 r 1\n"), "line 11: '0x1' is no number"),
    ("OBJSENSE BEST\n" + mps(), "line 1: the sense 'BEST' is neither MAX nor MIN"),
    ("OBJSENSE\n  BEST\n" + mps(), "line 2: the sense 'BEST' is neither MAX nor MIN"),
    ("OBJSENSE MIN\n" + mps("OBJSENSE\n MAX\n"), "line 13: a second sense 'MAX': leave one"),
    ("ROWS\n N  z\n G  r1\nCOLUMNS\n    x y  z 1  r1 1\nENDATA\n", "read by fixed places"),
    (
        "ROWS\n N  C\n G  MY ROW\nCOLUMNS\n"
        "    X         C       2            3   MY ROW              1\nENDATA\n",
        "line 3: a row is N, L, G or E and a name, got 'G MY ROW'",
    ),
    ("OBJNAME\n other\n" + mps(), "line 1: the section 'OBJNAME' is not supported"),
    (mps("SOS\n S1 SOS s1\n x:1\n"), "line 11: the section 'SOS' is not supported"),
    (mps("INDICATORS\n IF r x 1\n"), "the section 'INDICATORS' is not supported"),
    (mps("QUADOBJ\n x x 2\n"), "line 11: QUADOBJ: only linear models"),
    (mps("BOUNDS\n SC B x 2\n"), "line 12: a variable is semi-continuous"),
    (mps("BOUNDS\n UP B x -2\n"), "the upper bound of 'x' is below 0 and the file"),
    (mps("RHS\n R q 5\n"), "line 12: there is no row 'q'"),
    (mps(RHS, "BOUNDS\n UP b q 3\n"), "line 14: there is no variable 'q' to have a bound"),
    (mps("RHS\n R r 5 s 2\n R r 6\n"), "line 13: .*'r' twice"),
    (mps().replace(" z cost", " x cost"), "line 9: the column 'x' is given in two places"),
    (mps(" w cost nan r 1\n"), "line 11: 'nan' is no number"),
    (mps().replace(" G s", " G r"), r"line 4: two rows have the name 'r'"),
    (mps().replace("x cost", "\xe9 cost").encode("latin-1"), "no UTF-8 text"),
]

RIGHT = [(text, best, "lp") for text, best in LP_RIGHT]
RIGHT += [(text, best, "mps") for text, best in MPS_RIGHT]
WRONG = [(text, words, "lp") for text, words in LP_WRONG]
WRONG += [(text, words, "qps") for text, words in MPS_WRONG]


@pytest.mark.parametrize(("text", "best", "kind"), RIGHT, ids=range(len(RIGHT)))
def test_files_that_are_right(text: str | bytes, best: float, kind: str, tmp_path: Path) -> None:
    """As they are and zipped."""
    assert optimum(text, tmp_path, f"a.{kind}") == pytest.approx(best)
    assert optimum(text, tmp_path, f"a.{kind}.gz") == pytest.approx(best)


@pytest.mark.parametrize(("text", "words", "kind"), WRONG, ids=range(len(WRONG)))
def test_files_that_are_refused(text: str | bytes, words: str, kind: str, tmp_path: Path) -> None:
    """The line, row or variable is named, or the file at least."""
    with pytest.raises(ModelError, match=words):
        optimum(text, tmp_path, f"a.{kind}")


@pytest.mark.parametrize("size", [1e-9, -1e-12])
def test_specks(size: float, tmp_path: Path) -> None:
    """Coefficients that HiGHS leaves out are left out with a warning, in files and programs."""
    text = lp(f"c: x {size:+} y >= 10", objective="obj: x + 1e-12 y")
    with pytest.warns(DataWarning, match=rf"1 coefficients of .*'y' in the row 'c', {size:g}"):
        assert optimum(text, tmp_path, "a.lp") == 10.0
    program = Program([1.0, 1e-12], [[1.0, size]], 10.0, np.inf, 0.0, np.inf)
    with pytest.warns(DataWarning, match="'x1' in the row 'r0'"):
        assert as_model(program).matrix.nnz == 1


def test_truncated_files(tmp_path: Path) -> None:
    """Cut off anywhere before the last line, a file is an error with its name."""
    (tmp_path / "whole.lp").write_text(lp(rest="Bounds\n x <= 3\nBinaries\n y\n"))
    highs = quiet_highs()
    highs.readModel(str(tmp_path / "whole.lp"))
    highs.writeModel(str(tmp_path / "whole.mps"))
    for kind in ("lp", "mps"):
        text = (tmp_path / f"whole.{kind}").read_text()
        for length in range(0, len(text.rstrip()) - 6, 7):
            with pytest.raises(ModelError, match=rf"cut\.{kind}"):
                optimum(text[:length], tmp_path, f"cut.{kind}")


@pytest.mark.parametrize("kind", ["lp", "mps", "lp.gz", "mps.gz"])
@pytest.mark.parametrize(
    "data",
    [b"", bytes(range(256)) * 20, lp().encode("utf-16"), b"\x1f\x8b\x08\x00abc"],
    ids=["empty", "bytes", "UTF-16", "half a gzip header"],
)
def test_files_that_are_no_models(tmp_path: Path, kind: str, data: bytes) -> None:
    """An error with the name of the file, which may not be there at all."""
    path = tmp_path / f"odd.{kind}"
    with pytest.raises(ModelError, match=re.escape(f"no file {str(path)!r}")):
        decompose(path)
    path.write_bytes(data)
    with pytest.raises(ModelError, match="odd"):
        decompose(path, {"a": 0})
