"""MPS files that readers of solvers take for another model: read rightly, or refused by line."""

from pathlib import Path

import pytest

from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import as_model
from cgboost.integer.decomposition.model_text import ModelError

HEAD = "ROWS\n N cost\n {} r\n G s\n N other\n"
COLUMNS = "COLUMNS\n x cost 1 r 1\n y cost 2 r 1\n z cost 5 s 1\n z other 1\n"
RHS, INTEGER = "RHS\n R r 5\n", " M 'MARKER' 'INTORG'\n{} M 'MARKER' 'INTEND'\n"


def mps(*sections: str, kind: str = "G") -> str:
    """``min x + 2y + 5z`` with a row x + y that is at least, at most or equal to, and z ≥ 0."""
    return "".join((HEAD.format(kind), COLUMNS, *sections, "ENDATA\n"))


def optimum(text: str, folder: Path, name: str = "a.mps") -> float:
    """The optimum of the model in a text."""
    path = folder / name
    path.write_text(text)
    return Decomposition(as_model(path), None, "").solve().objective


@pytest.mark.parametrize(
    ("text", "best"),
    [
        (mps("RANGES\n G r 2\n", RHS, kind="L"), 3.0),
        (mps("RANGES\n G r -2\n", RHS, kind="E"), 3.0),
        (mps(RHS, "RANGES\n G r 2\n", "OBJSENSE\n MAX\nBOUNDS\n FX B z 0\n", kind="E"), 14.0),
        (RHS + "BOUNDS\n UP B x 2\n" + COLUMNS + HEAD.format("G") + "ENDATA\n", 8.0),
        (mps("RHS\n R r 5 cost -7\n"), 12.0),
        (mps("RHS\n R r 5 other 3\n"), 5.0),
        (mps(RHS, "RANGES\n G cost 2 other 1\n"), 5.0),
        ("OBJSENSE MAXIMIZE\n" + mps(RHS, "BOUNDS\n FX B z 0\n", kind="L"), 10.0),
        (mps("RHS\n s r 5 s 1\n"), 10.0),
        (mps(RHS, "BOUNDS\n UP y x 2\n"), 8.0),
        (mps(RHS, "BOUNDS\n FR y x\n LO y y 7\n"), 12.0),
        (mps("RHS\n r 0.5D1\nBOUNDS\n UP x 2\n"), 8.0),
        (mps(" w cost 5 r 1e-10\n", RHS), 5.0),
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
    ],
)
def test_files_that_are_right(text: str, best: float, tmp_path: Path) -> None:
    """Any order of sections, names of vectors, fixed format, ranges of the objective."""
    assert optimum(text, tmp_path) == pytest.approx(best)


@pytest.mark.parametrize(
    ("text", "words"),
    [
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
        (mps("BOUNDS\n UP B x -2\n"), "variable 'x' has the lower bound 0 above"),
    ],
)
def test_files_that_are_refused(text: str, words: str, tmp_path: Path) -> None:
    """What readers merge, drop or take for another number is an error with the line."""
    with pytest.raises(ModelError, match=words):
        optimum(text, tmp_path, "a.qps")
