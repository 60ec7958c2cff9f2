"""MPS files that programs take for different models: each dialect is what its program reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import decompose
from cgboost.exceptions import DataWarning
from cgboost.integer.decomposition.model import as_model
from cgboost.integer.decomposition.model_parts import ModelError
from solvers import Program
from tests.integer.decomposition.answers import PACKAGES, ask, told

N_FILES = 60
BOUNDS = (
    (), (), (), ("UP",), ("UP",), ("LO",), ("LO", "UP"), ("UP", "LO"), ("MI",), ("MI", "UP"),
    ("FX",), ("FR",), ("PL",), ("BV",), ("LI",), ("UI",), ("LO", "PL"),
)  # fmt: skip


def random_file(rng: np.random.Generator, program: str) -> str:
    """What the program takes: bounds of all types, ranges, free rows, several vectors, senses."""

    def number(low: float, high: float) -> str:
        value = f"{rng.integers(low * 4, high * 4 + 1) / 4:g}"
        return f"{value}D0" if program == "highs" and rng.random() < 0.2 else value

    names = [f"x{j}" for j in range(rng.integers(2, 7))]
    rows = [(f"r{i}", str(rng.choice(list("LGEN")))) for i in range(rng.integers(1, 6))]
    sense = "" if program == "glpk" else str(rng.choice(["", "OBJSENSE\n MAX\n", "OBJSENSE MIN\n"]))
    lines = [
        "NAME model",
        sense + "ROWS",
        " N cost",
        *(f" {kind} {row}" for row, kind in rows),
        "COLUMNS",
    ]
    for j, name in enumerate(names):
        whole = rng.random() < 0.5
        lines += [f" M{j} 'MARKER' 'INTORG'"] * whole
        lines += [f" {name} cost {number(1, 5)}"]
        lines += [f" {name} {row} {number(1, 5)}" for row, _ in rows if rng.random() < 0.7]
        lines += [f" N{j} 'MARKER' 'INTEND'"] * whole
    vectors = ("first", "second") if program in ("highs", "scip") and rng.random() < 0.3 else ("V",)
    for section, numbers in (("RHS", (-9, 9)), ("RANGES", (-4, 4))):
        lines.append(section)
        for vector in vectors:
            own = [row for row, kind in rows if kind != "N"] + ["cost"] * (section == "RHS")
            lines += [f" {vector} {row} {number(*numbers)}" for row in own if rng.random() < 0.6]
    lines.append("BOUNDS")
    for vector in vectors:
        for name in names:
            kinds = BOUNDS[rng.integers(len(BOUNDS))]
            if program == "scip":  # it forgets an upper bound of at most 1 before a lower one
                kinds = tuple(sorted(kinds))
            for kind in kinds:
                low = -5 if kind == "LO" or rng.random() < 0.2 else 0
                value = rng.integers(low, 1 if kind == "LO" else 6)
                has_value = kind in ("UP", "LO", "FX", "LI", "UI")
                lines.append(f" {kind} {vector} {name}" + f" {value}" * has_value)
    return "\n".join([*lines, "ENDATA", ""])


def is_empty(read: dict[str, Any]) -> bool:
    """Whether bounds of a variable leave it no number: we refuse such files, and so does CBC."""
    return any(low > high for low, high, *_ in read["columns"].values())


@pytest.mark.parametrize("program", PACKAGES)
def test_a_dialect_reads_what_its_program_reads(program: str, tmp_path: Path) -> None:
    """Bounds, sides, coefficients, integrality, sense and constant, in files of all sections."""
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{number}.mps" for number in range(N_FILES)]
    for path in paths:
        path.write_text(random_file(rng, program))
    read = ask(program, paths, tmp_path / "answers")
    for path, theirs in zip(paths, read, strict=True):
        assert theirs is not None or program == "cbc", path.read_text()
        if theirs is None or is_empty(theirs):
            with pytest.raises(ModelError, match="has the lower bound"):
                as_model(path, program)
        else:
            assert told(as_model(path, program)) == theirs, path.read_text()
    assert 0 < sum(each is None or is_empty(each) for each in read) < N_FILES / 2


def file(bounds: str = "", *, rhs: str = "", head: str = "") -> str:
    """``min i + j + x`` with i + j + x ≥ 5, i and j between markers, two more rows of type N."""
    return (
        f"NAME\n{head}ROWS\n N cost\n G r\n N a\n N b\nCOLUMNS\n M 'MARKER' 'INTORG'\n"
        " i cost 1 r 1\n j cost 1 r 1\n M 'MARKER' 'INTEND'\n x cost 1 r 1\n x a 1 b 2\n"
        f"RHS\n V r 5\n{rhs}BOUNDS\n{bounds}ENDATA\n"
    )


def bounds_of(path: Path, text: str, dialect: Any = None) -> dict[str, tuple[float, float]]:
    """The bounds of each variable of a file."""
    path.write_text(text)
    model = as_model(path, dialect)
    ends = zip(model.program.lower.tolist(), model.program.upper.tolist(), strict=True)
    return dict(zip(model.names, ends, strict=True))


def test_a_negative_upper_bound_alone(tmp_path: Path) -> None:
    """An error without a dialect; CPLEX and CBC open the interval, for others it is empty."""
    path, text = tmp_path / "a.mps", file(" UP B x -2\n UP B i 3\n")
    with pytest.raises(ModelError, match=r"upper bound of 'x' is below 0 .* dialect='cplex'"):
        bounds_of(path, text)
    expected = {"i": (0, 3), "j": (0, 1), "x": (-np.inf, -2)}
    assert bounds_of(path, text, "cplex") == expected
    assert bounds_of(path, text, "cbc") == expected
    for dialect in ("highs", "scip", "glpk"):
        with pytest.raises(ModelError, match="'x' has the lower bound 0 above the upper one -2"):
            bounds_of(path, text, dialect)
    assert bounds_of(path, file(" UP B x 0\n"))["x"] == (0, 0)
    for lower in (" LO B x -4\n", " MI B x\n"):
        text = file(f" UP B x -2\n{lower}")
        assert len({str(bounds_of(path, text, each)) for each in (None, "cplex", *PACKAGES)}) == 1


def test_a_model_says_what_was_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Sense, constant, free rows, defaults and vectors, in notes and in one line of the log."""
    path = tmp_path / "a.mps"
    path.write_text(file(rhs=" V cost -7\n"))
    with caplog.at_level("INFO", "cgboost.integer.decomposition"):
        model = decompose(path, {}).model
    assert model.notes == (
        "the objective is the row 'cost', to be minimised, since the file gives no sense",
        "rows of type N after the objective are left out: 'a', 'b'",
        "the constant is 7, minus the right-hand side of 'cost'",
        "integer variables without bound end at 1: 'i', 'j'",
    )
    assert [each.getMessage() for each in caplog.records] == [
        "read a model: " + "; ".join(model.notes)
    ]
    path.write_text(file(" UP x -1\n FR i\n PL j\n", head="OBJSENSE MAX\n"))
    assert as_model(path, "cplex").notes == (
        "the objective is the row 'cost', to be maximised",
        "rows of type N after the objective are left out: 'a', 'b'",
        "with an upper bound below 0 alone, the lower one is -inf: 'x'",
    )
    path.write_text(file(" LO B i 1\n", rhs=" V cost -7\n"))
    *_, constant, ends = as_model(path, "glpk").notes
    assert constant == "the constant is -7, the right-hand side of 'cost'"
    assert ends == "integer variables without upper bound end at 1: 'i', 'j'"
    path.write_text(file(rhs=" W r 9\n"))
    said = [as_model(path, each).notes[2] for each in ("scip", "highs")]
    assert said[0] == "RHS has the vector 'V'; 'W' is left out"
    assert said[1] == "RHS has the vector 'V'; 'W' counts where no earlier one does"


def test_notes_of_other_sources(tmp_path: Path) -> None:
    """LP files say sense, constant and names that we gave; of arrays there are specks to tell."""
    path = tmp_path / "a.lp"
    path.write_text("max x + y + 3\nst\n x + y <= 4\n c: x <= 3\nend\n")
    assert as_model(path).notes == (
        "the objective is to be maximised",
        "the constant is 3",
        "rows without a name are called 'HiGHS_R0'",
    )
    program = Program([1.0, 1.0], [[1.0, 1e-12]], 10.0)
    assert as_model(Program([1.0])).notes == ()
    with pytest.warns(DataWarning, match="use other units"):
        (note,) = as_model(program).notes
    assert note.startswith("1 coefficients of at most 1e-09 are taken for 0")
    fixed = "ROWS\n N  C\n G  MY ROW\nCOLUMNS\n    X 1       C                  3     MY ROW"
    path = tmp_path / "a.mps"
    path.write_text(f"{fixed}              1\nENDATA\n")
    assert (
        as_model(path).notes[-1] == "names and numbers were read at the places of the fixed format"
    )


@pytest.mark.parametrize(
    ("source", "dialect", "words"),
    [
        (
            "a.mps",
            "gurobi",
            "dialect must be 'highs', 'cplex', 'scip', 'cbc', 'glpk' or None, got 'gurobi'",
        ),
        (
            Program([1.0]),
            "scip",
            "dialect='scip' says whose reader a file is for, and the model is",
        ),
    ],
)
def test_dialects_are_of_files(source: Any, dialect: Any, words: str, tmp_path: Path) -> None:
    """One that is not known, or of something else, is an error that says so."""
    if isinstance(source, str):
        source = tmp_path / source
        source.write_text(file())
    with pytest.raises(ValueError, match=words):
        decompose(source, {}, dialect=dialect)
