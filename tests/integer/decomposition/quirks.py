"""Small model files, each with something that programs may take for different things."""

from __future__ import annotations


def mps(*sections: str, head: str = "", rows: str = "", kind: str = "G") -> str:
    """``min 2x + 3y + i`` with a row r of x, y, i and a row s of x and y; i is integer."""
    columns = (
        " x cost 2 r 1\n x s 1\n y cost 3 r 1\n y s -1\n"
        " M 'MARKER' 'INTORG'\n i cost 1 r 1\n N 'MARKER' 'INTEND'\n"
    )
    own = {part.split("\n")[0]: part for part in sections}
    right, bounds = (
        own.pop("RHS", "RHS\n V r 5\n V s 2\n"),
        own.pop("BOUNDS", "BOUNDS\n UP B i 9\n"),
    )
    columns += own.pop("COLUMNS", "COLUMNS\n").partition("\n")[2]
    rest = "".join(own.values())
    return (
        f"NAME t\n{head}ROWS\n N cost\n {kind} r\n L s\n{rows}COLUMNS\n{columns}{right}{rest}"
        f"{bounds}ENDATA\n"
    )


def bounds(*lines: str) -> str:
    """The file with other bounds, of which one is of the integer variable."""
    return mps("BOUNDS\n" + "".join(f" {line}\n" for line in lines))


FIXED = """NAME          FIXED
ROWS
 N  COST
 G  {row}
COLUMNS
    {x}  COST               2.0   {row}            1.0
    Y         COST               3.0   {row}            1.0
RHS
    V         {row}            5.0
BOUNDS
 UP B         {x}            4.0
ENDATA
"""

MPS = {
    "plain": mps(),
    "integer without bounds": bounds(),
    "integer with LO": bounds("LO B i 2"),
    "integer with LO 0": bounds("LO B i 0"),
    "integer with MI": bounds("MI B i"),
    "integer with UP": bounds("UP B i 7"),
    "integer with UP 0": bounds("UP B i 0"),
    "integer with PL": bounds("PL B i"),
    "integer with FR": bounds("FR B i"),
    "integer with MI and UP": bounds("MI B i", "UP B i 4"),
    "BV": bounds("BV B i"),
    "BV of another": bounds("UP B i 9", "BV B x"),
    "LI and UI": bounds("UP B i 9", "LI B x 2", "UI B y 4"),
    "negative UP": bounds("UP B i 9", "UP B x -2"),
    "negative UP of an integer": bounds("UP B i -2"),
    "negative UP after LO": bounds("UP B i 9", "LO B x -4", "UP B x -2"),
    "LO after negative UP": bounds("UP B i 9", "UP B x -2", "LO B x -4"),
    "UP 0": bounds("UP B i 9", "UP B x 0"),
    "LO above UP": bounds("UP B i 9", "LO B x 3", "UP B x 1"),
    "UP twice": bounds("UP B i 9", "UP B x 3", "UP B x 1"),
    "FX and UP": bounds("UP B i 9", "FX B x 3", "UP B x 4"),
    "FR and LO": bounds("UP B i 9", "FR B x", "LO B x 1"),
    "1e30": bounds("UP B i 9", "UP B x 1e30", "LO B y -1e30"),
    "inf": bounds("UP B i 9", "UP B x inf", "LO B y -Infinity"),
    "bound of nobody": bounds("UP B i 9", "UP B z 3"),
    "bounds without a vector": bounds("UP i 9", "LO x 1"),
    "constant": mps("RHS\n V r 5\n V cost -7\n"),
    "constant of a maximum": mps("RHS\n V r 5\n V cost -7\n", head="OBJSENSE\n MAX\n"),
    "no RHS": mps("RHS"),
    "RHS of a free row": mps("RHS\n V r 5\n V other 3\n", rows=" N other\n"),
    "RHS without a vector": mps("RHS\n r 5\n s 2\n"),
    "RHS twice": mps("RHS\n V r 5\n V r 6\n"),
    "RHS of 1e30": mps("RHS\n V r 5\n V s 1e30\n"),
    "two vectors of RHS": mps("RHS\n V r 5\n W r 6\n W s 3\n"),
    "two vectors of RANGES": mps("RANGES\n V r 5\n W r 6\n W s 3\n"),
    "two vectors of BOUNDS": bounds("UP B i 9", "UP B x 3", "UP C x 4", "UP C y 5"),
    "range of E": mps("RANGES\n V r 3\n", kind="E"),
    "negative range of E": mps("RANGES\n V r -3\n", kind="E"),
    "range 0 of E": mps("RANGES\n V r 0\n", kind="E"),
    "negative range of G": mps("RANGES\n V r -3\n"),
    "negative range of L": mps("RANGES\n V s -3\n"),
    "range 0 of L": mps("RANGES\n V s 0\n"),
    "range of the objective": mps("RANGES\n V cost 3\n"),
    "range twice": mps("RANGES\n V r 3\n V r 4\n"),
    "RANGES before RHS": mps("RHS\n V s 2\nRANGES\n V r 3\nRHS\n V r 5\n"),
    "free rows": mps("COLUMNS\n z other 3\n z s 1\n", rows=" N other\n N third\n"),
    "a column without entries": mps("COLUMNS\n z cost 4\n"),
    "a column of 0": mps("COLUMNS\n z cost 0\n"),
    "a row without entries": mps(rows=" L empty\n"),
    "an entry twice": mps("COLUMNS\n z s 4\n z s 5\n"),
    "an entry of 0": mps("COLUMNS\n z s 0 r 1\n"),
    "a tiny entry": mps("COLUMNS\n z s 1e-10 r 1\n"),
    "three pairs in a line": mps("COLUMNS\n z cost 1 s 1 r 1\n"),
    "a row of nobody": mps("COLUMNS\n z cost 1 q 1\n"),
    "numbers": mps("COLUMNS\n z cost +1. s .5\n w cost 1E+1 s -5e0\n"),
    "exponents of Fortran": mps("COLUMNS\n z cost 0.5D1\n z s 2\n"),
    "hexadecimal": mps("COLUMNS\n z cost 0x10\n z s 2\n"),
    "$ behind data": mps("COLUMNS\n z cost 1 $ s 2\n"),
    "* in front": mps("COLUMNS\n* z cost 1\n z s 2\n"),
    "markers without quotes": mps("COLUMNS\n O MARKER INTORG\n z cost 1\n P MARKER INTEND\n"),
    "an open marker": mps("COLUMNS\n O 'MARKER' 'INTORG'\n z cost 1\n"),
    "MAX below": mps(head="OBJSENSE\n MAX\n"),
    "MAX behind": mps(head="OBJSENSE MAX\n"),
    "MAXIMIZE": mps(head="OBJSENSE\n MAXIMIZE\n"),
    "max": mps(head="OBJSENSE\n max\n"),
    "Max behind": mps(head="OBJSENSE Max\n"),
    "MIN": mps(head="OBJSENSE\n MIN\n"),
    "OBJSENSE at the end": mps("OBJSENSE\n MAX\n"),
    "OBJSENSE with a colon": mps(head="OBJSENSE: MAX\n"),
    "OBJNAME": mps("COLUMNS\n z other 1\n", head="OBJNAME\n other\n", rows=" N other\n"),
    "a name of two words": mps().replace("NAME t", "NAME two words"),
    "no name": mps().replace("NAME t\n", "NAME\n"),
    "no line of the name": mps().replace("NAME t\n", ""),
    "small letters": mps().replace("ROWS", "rows").replace("COLUMNS", "columns"),
    "tabs": mps().replace(" ", "\t"),
    "empty lines": mps().replace("COLUMNS", "\n\nCOLUMNS"),
    "ends of lines of Windows": mps().replace("\n", "\r\n"),
    "nothing at the end": mps().replace("ENDATA\n", ""),
    "more at the end": mps() + "ROWS\n L more\n",
    "QUADOBJ": mps("QUADOBJ\n x x 2\n"),
    "QMATRIX": mps("QMATRIX\n x x 2\n"),
    "SOS": mps("SOS\n S1 SOS s1\n x 1\n y 2\n"),
    "fixed": FIXED.format(x="X1      ", row="R1   "),
    "fixed, with blanks in a column": FIXED.format(x="X 1     ", row="R1   "),
    "a variable called RHS": mps().replace(" y ", " RHS "),
    "a variable called BOUNDS": mps().replace(" y ", " BOUNDS "),
    "a variable called NAME": mps().replace(" y ", " NAME "),
    "a row called RHS": mps().replace(" s", " RHS"),
    "a row like its vector": mps("RHS\n r r 5\n r s 2\n"),
    "a variable like its vector": bounds("UP x i 9", "UP x x 3"),
    "a row called 7": mps().replace(" s", " 7"),
    "a long name": mps().replace(" y ", f" {'y' * 100} "),
}


def lp(
    objective: str = "obj: 2 x + 3 y", rows: str = "r: x + y >= 5\n s: x - y <= 2", rest: str = ""
) -> str:
    """``min 2x + 3y`` with two rows, or something else instead."""
    return f"Minimize\n {objective}\nSubject To\n {rows}\n{rest}End\n"


WORDS = (
    "st", "s.t.", "ST", "free", "inf", "infinity", "end", "max", "min", "bin", "int", "gen",
    "bounds", "binary", "general", "semi", "sos", "nan", "e1", "subject", "such", "to", "rhs",
    "x[1]", "x(1)", "x_1", "x.1", "x#1", "1x", "_", "x!",
)  # fmt: skip

LP = {
    "plain": lp(),
    "no name of the objective": lp("2 x + 3 y"),
    "no objective": lp(""),
    "an objective of 0": lp("obj: 0"),
    "a constant": lp("obj: 2 x + 3 y + 7"),
    "a constant in front": lp("obj: 7 + 2 x + 3 y"),
    "a constant of a maximum": lp("obj: 2 x + 3 y + 7").replace("Minimize", "Maximize"),
    "2 x y": lp("obj: 2 x y"),
    "2 * x": lp("obj: 2 * x + 3 y"),
    "two signs": lp("obj: 2 x - -3 y"),
    "a term twice": lp("obj: 2 x + 3 y + x"),
    "a term of 0": lp("obj: 0 x + 3 y"),
    "a quadratic term": lp("obj: x + [ x ^ 2 ] / 2"),
    "an exponent": lp("obj: 2e1 x + 3E-1 y"),
    "a row with two sides": lp(rows="r: 1 <= x + y <= 5"),
    "R": lp(rows="r: x + y >= 5\n r: x + y <= 9"),
    "rows without names": lp(rows="x + y >= 5\n x - y <= 2"),
    "a row whose name is a number": lp(rows="1: x + y >= 5"),
    "a constant in a row": lp(rows="r: x + y + 3 >= 10"),
    "variables on both sides": lp(rows="r: x >= 10 - y"),
    "a number on the left": lp(rows="r: 10 <= x + y"),
    "=>": lp(rows="r: x + y => 5\n s: x - y =< 2"),
    "<": lp(rows="r: x + y > 5\n s: x - y < 2"),
    "a term twice in a row": lp(rows="r: x + y + x >= 5"),
    "a sum of sides": lp(rows="r: x + y >= 5 + 2"),
    "a row of nobody": lp(rows="r: x + y >= 5\n s: 0 x <= 2"),
    "a row over two lines": lp(rows="r: x\n + y\n >= 5"),
    "two rows in a line": lp(rows="r: x + y >= 5 s: x - y <= 2"),
    "a side of inf": lp(rows="r: x + y >= 5\n s: x - y <= inf"),
    "a side of 1e30": lp(rows="r: x + y >= 5\n s: x - y <= 1e30"),
    "a negative side": lp(rows="r: x + y >= - 5"),
    "free": lp(rest="Bounds\n x free\n"),
    "free after a bound": lp(rest="Bounds\n x <= 3\n x free\n"),
    "a bound after free": lp(rest="Bounds\n x free\n x <= 3\n"),
    "a negative upper bound": lp(rest="Bounds\n x <= -3\n"),
    "a negative upper bound and a lower one": lp(rest="Bounds\n x <= -3\n x >= -5\n"),
    "-inf and a negative upper bound": lp(rest="Bounds\n -inf <= x <= -3\n"),
    "an upper bound of 0": lp(rest="Bounds\n x <= 0\n"),
    "two upper bounds": lp(rest="Bounds\n x <= 5\n x <= 3\n"),
    "bounds that cross": lp(rest="Bounds\n 5 <= x <= 3\n"),
    "a fixed variable": lp(rest="Bounds\n x = 3\n"),
    "a bound from the left": lp(rest="Bounds\n 3 >= x\n"),
    "two bounds, downwards": lp(rest="Bounds\n 3 >= x >= 1\n"),
    "a bound with a coefficient": lp(rest="Bounds\n 2 x <= 6\n"),
    "a bound of a variable that is new": lp(rest="Bounds\n z <= 6\n"),
    "bounds of inf": lp(rest="Bounds\n x <= inf\n y >= -infinity\n"),
    "bounds of 1e30": lp(rest="Bounds\n x <= 1e30\n y >= -1e30\n"),
    "two bounds in a line": lp(rest="Bounds\n x <= 3 y <= 4\n"),
    "integers": lp(rest="General\n x\n"),
    "integers with bounds": lp(rest="Bounds\n x <= 4\n y >= -2\nGeneral\n x y\n"),
    "a new integer": lp(rest="General\n z\n"),
    "Integers": lp(rest="Integers\n x\n"),
    "INT": lp(rest="INT\n x\n"),
    "binaries": lp(rest="Binary\n x\n"),
    "binaries with bounds": lp(rest="Bounds\n -5 <= x <= 3\nBinary\n x\n"),
    "a binary that is fixed": lp(rest="Bounds\n x = 1\nBinary\n x\n"),
    "a binary with a lower bound": lp(rest="Bounds\n x >= 1\nBinary\n x\n"),
    "a binary that is free": lp(rest="Bounds\n x free\nBinary\n x\n"),
    "binary and general": lp(rest="Binary\n x\nGeneral\n x\n"),
    "bounds behind": lp(rest="Binary\n x\nBounds\n y <= 4\n"),
    "semi-continuous": lp(rest="Bounds\n x <= 5\nSemi-Continuous\n x\n"),
    "st": lp().replace("Subject To", "st"),
    "such that": lp().replace("Subject To", "such that"),
    "S.T.": lp().replace("Subject To", "S.T."),
    "capitals": lp().upper(),
    "one line": "min 2 x + 3 y st r: x + y >= 5 end",
    "max:": lp().replace("Minimize", "max:"),
    "a comment": lp(rows="r: x + y >= 5 \\ s: x <= 1"),
    "a comment in front": "\\ a model\n" + lp(),
    "no End": lp().replace("End\n", ""),
    "more behind End": lp() + "Bounds\n x <= 1\n",
    "no rows": "Minimize\n obj: 2 x + 3 y\nSubject To\nBounds\n x >= 1\n y >= 1\nEnd\n",
    "a large number": lp("obj: 1e400 x + y"),
    "nan": lp("obj: nan x + y"),
}
LP |= {f"a variable called {word}": lp().replace("x", word) for word in WORDS}
LP |= {f"a row called {word}": lp().replace("s:", f"{word}:") for word in WORDS}
LP |= {f"a bound of {word}": lp(rest="Bounds\n x <= 4\n").replace("x", word) for word in WORDS[:16]}
LP |= {
    f"an integer called {word}": lp(rest="General\n x\n").replace("x", word) for word in WORDS[:16]
}
