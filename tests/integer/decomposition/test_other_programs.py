"""Other programs and we read the same: small files with quirks, what we write, what they write."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost.exceptions import DataWarning
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.model_parts import ModelError
from solvers import Program
from tests.integer.decomposition.answers import PACKAGES, ask, told
from tests.integer.decomposition.quirks import LP, MPS

N_MODELS = 40
ODD_NAMES = """
    st free inf infinity end max min rhs bounds binary general obj cost e1 x.1 x[0,1] x_1 naïve ROWS
    RHS MARKER subject 1e5 -3 7 x#2 x! semi nan FR R0 ENDATA COLUMNS RANGES BOUND objective st. s.t.
    objective_ such int MAX x->y x:1 <x> x=1 x+y a/b (x) {x} x^2 x;y x|y ~x %x `x`"""
LP_NAMES = """
    r1 st free inf infinity end max min rhs bounds binary general obj cost e1 x.1 x_1 subject such
    to semi nan int MAX x#2 x! x(1) _x R0 objective"""
"""Names that LP files can have; some of them are words of the format."""


def model(seed: int, words: str) -> Model:
    """Rows and bounds of all kinds, some numbers with all digits, either sense, a constant."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 7)), int(rng.integers(1, 6))

    def number() -> float:
        size = 10.0 ** rng.integers(-4, 6)
        return float(rng.normal() * size if rng.random() < 0.6 else rng.integers(-9, 10) / 4)

    matrix = np.array([[number() for _ in range(n)] for _ in range(m)])
    matrix *= (rng.random((m, n)) < 0.7) & (np.abs(matrix) > 1e-6)
    matrix[:, 0] = 1.0
    sides, ends = np.empty((m, 2)), np.empty((n, 2))
    for i in range(m):
        low, high = sorted((number(), number()))
        kinds = ((low, low), (low, math.inf), (-math.inf, high), (low, low + 2.5 * (1 + abs(low))))
        sides[i] = kinds[rng.integers(4)]
    whole = rng.random(n) < 0.4
    for j in range(n):
        low, high = sorted((number(), number()))
        if whole[j]:
            low, high = math.floor(low), math.ceil(high)
        kinds = (
            *((0.0, math.inf), (-math.inf, math.inf), (-math.inf, high), (low, math.inf)),
            *((low, high), (low, low), (0.0, 1.0), (0.0, abs(high)), (-math.inf, 0.0), (0.0, 0.0)),
        )
        ends[j] = kinds[rng.integers(len(kinds))]
    names = rng.permutation(words.split())[: n + m].tolist()
    cost = [number() * (rng.random() < 0.8) for _ in range(n)]
    program = Program(
        cost,
        sp.csr_array(matrix),
        *sides.T,
        *ends.T,
        integrality=whole,
        constant=number() * (rng.random() < 0.6),
    )
    return Model(program, (*names[n:],), (*names[:n],), maximize=bool(rng.random() < 0.5))


def negated(said: dict[str, Any]) -> dict[str, Any]:
    """The maximisation as a minimisation."""
    columns = {name: [*rest, 0.0 - cost] for name, (*rest, cost) in said["columns"].items()}
    return {**said, "maximize": False, "constant": 0.0 - said["constant"], "columns": columns}


def by_place(said: dict[str, Any]) -> list[Any]:
    """The same without names."""
    place = {name: j for j, name in enumerate(said["columns"])}
    rows = [
        [*ends, {place[name]: value for name, value in terms.items()}]
        for *ends, terms in said["rows"].values()
    ]
    return [said["maximize"], said["constant"], [*said["columns"].values()], rows]


def near(one: Any, other: Any, rounding: float, scale: float = 0.0) -> bool:
    """Whether two answers are equal, numbers up to a rounding relative to what is beside them."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() == other.keys()
        return keys and all(near(one[k], other[k], rounding) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        scale = max((abs(x) for x in one if isinstance(x, float) and abs(x) < 1e20), default=0.0)
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(near(a, b, rounding, scale) for a, b in pairs)
    if isinstance(one, float) and isinstance(other, float) and rounding:
        return math.isclose(one, other, rel_tol=rounding, abs_tol=rounding * scale)
    return bool(one == other)


def agrees(ours: dict[str, Any], theirs: dict[str, Any], program: str) -> bool:
    """Whether two say the same model; CBC reads a decimal up to two units in the last place.

    Rows that have no name, and in CBC's LP files more, have other names in each program.
    """
    if theirs["constant"] is None:  # CBC's library does not tell that of LP files
        theirs = {**theirs, "constant": ours["constant"]}
    rounding = 5e-16 if program == "cbc" else 0.0
    if near(ours, theirs, rounding):
        return True
    numbered = any(name.startswith(("cons", "r.", "row ", "x0")) for name in theirs["rows"])
    numbered |= "x0" in theirs["columns"]
    return numbered and near(by_place(ours), by_place(theirs), rounding)


def quirk(path: Path, program: str, theirs: dict[str, Any] | None) -> str:
    """What becomes of a file: ``same``, ``refused`` by us, by ``both``, ``read`` by us alone."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        try:
            own = as_model(path, program)
        except ModelError:
            return "both" if theirs is None else "refused"
    if theirs is None:
        return "read"
    if said:  # coefficients that HiGHS, which is to solve the model, takes for 0
        for row in theirs["rows"].values():
            row[2] = {name: value for name, value in row[2].items() if abs(value) > 1e-9}
    return "same" if agrees(told(own), theirs, program) else "OTHER"


@pytest.mark.parametrize("program", PACKAGES)
def test_quirks_are_read_as_by_their_program_or_refused(program: str, tmp_path: Path) -> None:
    """No file of any program is taken for another model than the one that it takes it for."""
    files = {f"{name}.mps": text for name, text in MPS.items()}
    files |= {f"{name}.lp": text for name, text in LP.items()}
    paths = [tmp_path / f"{k}{name[name.rindex('.') :]}" for k, name in enumerate(files)]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_bytes(text.encode())
    answers = ask(program, paths, tmp_path / "answers")
    found = {
        name: quirk(path, program, theirs)
        for name, path, theirs in zip(files, paths, answers, strict=True)
    }
    assert [name for name, said in found.items() if said == "OTHER"] == []
    assert Counter(found.values())["same"] > len(files) / 3


@pytest.mark.parametrize("program", PACKAGES)
def test_what_is_written_is_read_as_the_same_model(program: str, tmp_path: Path) -> None:
    """Rows, bounds, senses, constants, keywords as names, to the bit but in CBC.

    GLPK knows no maximisation: what is written for it is the opposite.
    """
    models = [model(seed, ODD_NAMES) for seed in range(N_MODELS)]
    paths = [tmp_path / f"{seed}.mps" for seed in range(N_MODELS)]
    for own, path in zip(models, paths, strict=True):
        own.write(path, "glpk" if program == "glpk" else None)
    answers = ask(program, paths, tmp_path / "answers")
    for own, path, theirs in zip(models, paths, answers, strict=True):
        expected = told(own)
        if own.maximize and program == "glpk":
            expected = negated(expected)
        assert theirs is not None, path.read_text()
        assert near(expected, theirs, 5e-16 if program == "cbc" else 0.0), path.read_text()
        assert told(as_model(path, "glpk" if program == "glpk" else None)) == expected


@pytest.mark.parametrize("program", PACKAGES)
def test_what_programs_write_is_read_as_they_read_it(program: str, tmp_path: Path) -> None:
    """MPS files with odd names, LP files with those that such files can have; or an error."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for words in (ODD_NAMES, LP_NAMES):
        paths = [tmp_path / f"{words.split()[0]}{seed}.mps" for seed in range(N_MODELS)]
        for seed, path in enumerate(paths):
            model(seed, words).write(path, "glpk" if program == "glpk" else None)
        ask(program, paths, tmp_path / "answers", folder)
    written = [*folder.glob("*.mps*"), *folder.glob("*r1*.lp")]
    assert len(written) == 3 * N_MODELS
    found = [
        quirk(path, program, theirs)
        for path, theirs in zip(written, ask(program, written, tmp_path / "again"), strict=True)
    ]
    assert not [path for path, said in zip(written, found, strict=True) if said == "OTHER"]
    assert Counter(found)["same"] >= 2 * N_MODELS


def small(name: str = "x", row: str = "r") -> Model:
    """``min x + 2y`` with x + y ≥ 1, under other names."""
    return Model(Program([1.0, 2.0], [[1.0, 1.0]], 1.0), (row,), (name, "y"))


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (small("x 1"), "programs would misread the name 'x 1' of a variable"),
        (small(""), "the name '' of a variable"),
        (small("$x"), "the name '\\$x' of a variable"),
        (small(row="$"), "the name '\\$' of a row"),
        (small("ObjSense"), "the name 'ObjSense' of a variable"),
        (small(row="'MARKER'"), """the name "'MARKER'" of a row"""),
        (small("-"), "the name '-' of a variable"),
        (small("ä" * 80), "has 160 bytes, and the programs that are to read it keep 159"),
    ],
)
def test_names_that_programs_misread_are_refused(own: Model, words: str, tmp_path: Path) -> None:
    """Blanks, signs of comments, words at which HiGHS begins a section, long names."""
    with pytest.raises(ModelError, match=words):
        own.write(tmp_path / "a.mps")


def test_files_that_are_written(tmp_path: Path) -> None:
    """Zipped or not, for MPS alone; a row whose sides no length of a range joins is told."""
    own = small("ä" * 80)
    own.write(tmp_path / "a.mps.gz", "scip")
    assert told(as_model(tmp_path / "a.mps.gz")) == told(own)
    with pytest.raises(ValueError, match=r"a\.lp' must end in \.mps or \.mps\.gz"):
        own.write(tmp_path / "a.lp")
    with pytest.raises(ValueError, match="dialect must be 'highs'"):
        own.write(tmp_path / "a.mps", cast("Any", "gurobi"))
    sides = -(1 + 2.0**-52), 1.0
    far = Model(Program([1.0], [[1.0]], *sides), ("r",), ("x",))
    with pytest.warns(DataWarning, match="none gives both sides of the row 'r': one is off by"):
        far.write(tmp_path / "a.mps")
    read = as_model(tmp_path / "a.mps").program
    assert abs(float(read.row_lower[0]) - sides[0]) + abs(float(read.row_upper[0]) - 1) < 3e-16
