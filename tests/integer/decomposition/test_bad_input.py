"""Models and blocks that are odd or wrong: the right answer, or an error that names what it is."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import decompose
from cgboost.generation.history import StopReason
from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import Model, as_model, quiet_highs
from cgboost.integer.decomposition.model_text import ModelError
from cgboost.integer.decomposition.pricing.block import BlockError
from cgboost.integer.decomposition.structure_files import StructureError
from solvers import Program, ProgramError

INF = np.inf
LINK, FIRST, SECOND = [1.0, 1, 1, 1], [2.0, 3, 0, 0], [0, 0, 2.0, 3]
BLOCKS = {"r1": 0, "r2": 1}


def program(**changed: Any) -> Program:
    """Two knapsacks of two 0/1 variables, and a row that links them."""
    own: dict[str, Any] = {
        "cost": [-3.0, -2, -2, -3],
        "matrix": [LINK, FIRST, SECOND],
        "row_lower": -INF,
        "row_upper": [3.0, 4, 4],
        "lower": 0,
        "upper": 1,
        "integrality": np.ones(4),
    }
    return Program(**{**own, **changed})


@pytest.mark.parametrize(
    "blocks",
    [{}, {"r1": None}, {"r1": 0}, dict.fromkeys(("r0", "r1", "r2"), 0), {"r1": "a", "r2": 1}],
    ids=["none", "None", "one", "everything", "labels of two kinds"],
)
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"cost": [-3.3, -2.71, -2.5, -3.14159]},
        {"constant": -7.5},
        {"matrix": [LINK, FIRST, SECOND], "row_lower": [2.0, -INF, -INF]},
    ],
    ids=["plain", "fractional costs", "a constant", "a lower side"],
)
@pytest.mark.parametrize("maximize", [False, True])
def test_few_blocks(blocks: Mapping[str, object], changed: Any, maximize: bool) -> None:
    """With no, one or all rows in blocks the answer is that of branch and cut."""
    plain = as_model(program(**changed))
    model = Model(plain.program, plain.row_names, plain.names, maximize)
    result, compact = decompose(model, blocks).solve(), Decomposition(model, None, "").solve()
    assert result.objective == pytest.approx(compact.objective)
    assert result.bound == pytest.approx(compact.objective)


@pytest.mark.parametrize(
    "changed",
    [
        {"matrix": [LINK, FIRST, SECOND], "row_lower": [-INF, 9, -INF], "row_upper": [3, 10, 4]},
        {"row_lower": [7.0, -INF, -INF], "row_upper": [7.0, 4, 4]},
        {"row_lower": [1.5, -INF, -INF], "row_upper": [1.5, 4, 4]},
    ],
    ids=["a block without points", "an equation that no column meets", "a fractional one"],
)
def test_infeasible_models(changed: Any) -> None:
    """They have no solution, and the reason is that."""
    result = decompose(program(**changed), BLOCKS).solve()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert result.objective == INF


def test_solutions_of_branch_and_cut_are_whole() -> None:
    """HiGHS alone returns x0 = 0.9999995 here, and an x1 that belongs to it."""
    rows = [[1.0, 1.0], [1.0, 3.0], [3.0, 3.0]]
    own = Program(
        cost=[-2.0, -3.0], matrix=rows, row_lower=-INF, row_upper=[2.3, 4.7, 5.7],
        lower=0.0, upper=[5.0, 3.7], integrality=np.array([1.0, 0.0]),
    )  # fmt: skip
    result = Decomposition(as_model(own), None, "").solve()
    assert result.x["x0"] in (0.0, 1.0)  # two solutions are optimal
    assert result.x["x1"] == pytest.approx((4.7 - 2.0 * result.x["x0"]) / 3.0, abs=1e-9)
    assert result.bound is not None
    assert result.bound <= result.objective == pytest.approx(-4.7, abs=1e-9)


@pytest.mark.parametrize("block", [None, 0, 2])
def test_rows_without_entries(block: int | None) -> None:
    """They change nothing where 0 is between their sides, in the master, a block, or as a block."""
    matrix, blocks = [LINK, FIRST, SECOND, [0.0] * 4], {**BLOCKS, "r3": block}
    best = decompose(program(), BLOCKS).solve().objective
    free = program(matrix=matrix, row_upper=[3.0, 4, 4, 5])
    assert decompose(free, blocks).solve().objective == best
    missed = program(matrix=matrix, row_lower=[-INF, -INF, -INF, 1], row_upper=[3.0, 4, 4, 5])
    result = decompose(missed, blocks).solve()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert "'r3' has no entries" in result.message


def test_free_integer_variables() -> None:
    """Bounded by rows they are right; unbounded ones are an error that names the block."""
    rows = [LINK, FIRST, [1.0, -1, 0, 0], SECOND, [0, 0, 1.0, -1]]
    own = program(
        cost=[3.0, 2, 2, 3], matrix=rows, row_lower=[-4, -9, -5, -9, -5],
        row_upper=[9, 4, 5, 4, 5], lower=-INF, upper=INF,
    )  # fmt: skip
    blocks = {"r1": 0, "r2": 0, "r3": 1, "r4": 1}
    best = Decomposition(as_model(own), None, "").solve().objective
    assert decompose(own, blocks).solve().objective == pytest.approx(best)
    with pytest.raises(BlockError, match=r"block \('block', 0\), with the variables 'x0', 'x1'"):
        decompose(program(row_lower=-9.0, lower=-INF, upper=INF), BLOCKS).solve()


@pytest.mark.parametrize(
    ("blocks", "kind", "words"),
    [
        ({"r9": 0}, StructureError, "no row 'r9'"),
        ({9: 0}, StructureError, "no row 9"),
        ({"r0": 0, "r1": 1}, StructureError, "'x0' is in two blocks, by the rows 'r0' and 'r1'"),
        ({"r1": [0]}, StructureError, r"row 'r1' has the block \[0\]"),
        ([0, 1], TypeError, "blocks must be a mapping .* got list"),
        (3, TypeError, "got int"),
    ],
)
def test_wrong_blocks(blocks: Any, kind: type[Exception], words: str) -> None:
    """The row, the variable or the type is named."""
    with pytest.raises(kind, match=words):
        decompose(program(), blocks)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"cost": [np.nan, -2, -2, -3]}, r"cost\[0\] = nan"),
        ({"cost": [INF, -2, -2, -3]}, r"cost\[0\] = inf"),
        ({"matrix": [[np.nan, 1, 1, 1], FIRST, SECOND]}, r"matrix\[0, 0\] = nan"),
        ({"matrix": [LINK, [0, INF, 0, 0], SECOND]}, r"matrix\[1, 1\] = inf"),
        ({"upper": [np.nan, 1, 1, 1]}, r"upper\[0\] is nan"),
        ({"lower": [0, 2, 0, 0]}, r"lower\[1\] = 2.0 and upper\[1\] = 1.0"),
        ({"row_lower": [5, -INF, -INF]}, r"row_lower\[0\] = 5.0 and row_upper\[0\] = 3.0"),
        ({"constant": np.nan}, "constant = nan"),
    ],
)
def test_wrong_programs(changed: Any, words: str) -> None:
    """A program is refused where it is made, with the entry."""
    with pytest.raises(ProgramError, match=words):
        decompose(program(**changed), BLOCKS)


def test_crossed_bounds_of_a_model_of_highs() -> None:
    """The row or variable is named."""
    for crossed, words in (((2.0, 1.0), "variable 'x0'"), ((0.0, 1.0), "row 'r0'")):
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_, lp.col_cost_ = 1, 1, np.ones(1)
        lp.col_lower_, lp.col_upper_ = np.array([crossed[0]]), np.array([crossed[1]])
        lp.row_lower_ = np.array([0.0 if crossed[0] else 3.0])
        lp.row_upper_ = np.array([2.0])
        lp.a_matrix_.start_, lp.a_matrix_.index_ = np.array([0, 1]), np.array([0])
        lp.a_matrix_.value_ = np.ones(1)
        highs = quiet_highs()
        highs.passModel(lp)
        with pytest.raises(ModelError, match=f"{words} has the lower bound"):
            as_model(highs)


LP = """Minimize
 obj: - 3 x1 - 2 x2 - 2 x3 - 3 x4 + 10
Subject To
 link: x1 + x2 + x3 + x4 <= 3
 a: 2 x1 + 3 x2 <= 4
 b: 2 x3 + 3 x4 <= 4
Binaries
 x1 x2 x3 x4
End
"""
NAMES = {"a": 0, "b": 1}


@pytest.fixture
def mps(tmp_path: Path) -> str:
    """The same as MPS."""
    path = tmp_path / "model.lp"
    path.write_text(LP)
    highs = quiet_highs()
    highs.readModel(str(path))
    highs.writeModel(str(tmp_path / "model.mps"))
    return (tmp_path / "model.mps").read_text()


def write(folder: Path, name: str, data: bytes | str) -> Path:
    """A file."""
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_files_that_are_right(tmp_path: Path, mps: str) -> None:
    """With the constant; a variable may be called nan, a comment may say it."""
    assert decompose(write(tmp_path, "a.lp", LP), NAMES).solve().objective == 4.0
    assert decompose(write(tmp_path, "a.mps", "* nothing\n" + mps), NAMES).solve().objective == 4.0
    assert decompose(write(tmp_path, "a.lp.gz", LP), NAMES).solve().objective == 4.0


def test_comments_may_be_no_utf_8(tmp_path: Path, mps: str) -> None:
    """Latin-1 in comments changes nothing; in a name it is an error, comments or not."""
    lp = LP.replace("End", "End \\ \xe4\xf6") + "\\ caf\xe9\n"
    for name, text in (("a.lp", lp), ("a.mps", "* caf\xe9\n" + mps)):
        found = decompose(write(tmp_path, name, text.encode("latin-1")), NAMES)
        assert found.solve().objective == 4.0
        wrong = text.replace("x1", "x\xe9").encode("latin-1")
        with pytest.raises(ModelError, match="no UTF-8 text"):
            decompose(write(tmp_path, name, wrong), NAMES)


@pytest.mark.parametrize("kind", ["lp", "mps"])
def test_truncated_models(tmp_path: Path, mps: str, kind: str) -> None:
    """Cut off anywhere before the last line, a file is an error with its name."""
    text = LP if kind == "lp" else mps
    for length in range(0, len(text.rstrip()) - 6, 7):
        path = write(tmp_path, f"cut.{kind}", text[:length])
        with pytest.raises(ModelError, match=rf"cut\.{kind}"):
            decompose(path, NAMES)


@pytest.mark.parametrize("kind", ["lp", "mps", "lp.gz", "mps.gz"])
@pytest.mark.parametrize(
    "data",
    [b"", bytes(range(256)) * 20, LP.encode("utf-16"), b"\x1f\x8b\x08\x00abc"],
    ids=["empty", "bytes", "UTF-16", "half a gzip header"],
)
def test_files_that_are_no_models(tmp_path: Path, kind: str, data: bytes) -> None:
    """An error with the name of the file."""
    with pytest.raises(ModelError, match="odd"):
        decompose(write(tmp_path, f"odd.{kind}", data))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda text: text.replace("2 x1 +", "nan x1 +"),
            "line 5: 'x1' is out of place after 'nan'",
        ),
        (lambda text: text.replace("2 x1 +", "inf x1 +"), "line 5: inf is no coefficient"),
        (lambda text: text.replace(" b: ", " a: "), "two rows have the name 'a'"),
        (lambda text: text.replace("link", "l\xefnk").encode("latin-1"), "no UTF-8 text"),
        (
            lambda text: text.replace("Binaries\n x1", "Bounds\n 2 <= x1 <= 1\nBinaries\n"),
            "variable 'x1' has the lower bound 2 above the upper one 1",
        ),
        (
            lambda text: text.replace(
                "Binaries\n x1", "Bounds\n x1 <= 5\nSemi-Continuous\n x1\nBinaries\n"
            ),
            "line 10: the section 'Semi-Continuous' is not supported",
        ),
    ],
    ids=["nan", "inf", "names", "encoding", "bounds", "semi-continuous"],
)
def test_damaged_lp_files(tmp_path: Path, change: Callable[[str], str | bytes], words: str) -> None:
    """The line, row or variable is named, or the file at least."""
    with pytest.raises(ModelError, match=words):
        decompose(write(tmp_path, "m.lp", change(LP)), NAMES)


@pytest.mark.parametrize(
    ("pattern", "by", "words"),
    [
        (r"(x1 +a +)2", r"\1nan", r"line \d+: 'nan' is no number"),
        (r"(x1 +a +)2", r"\1two", r"line \d+: 'two' is no number"),
        (r"(RHS_V +b +)4", r"\1x4", r"line \d+: 'x4' is no number"),
        (r" L  b *\n", r" L  a\n", r"line \d+: two rows have the name 'a'"),
        ("x4", "x1", r"line \d+: the column 'x1' is given in two places"),
        ("ENDATA", "", r"m\.mps"),
    ],
)
def test_damaged_mps_files(tmp_path: Path, mps: str, pattern: str, by: str, words: str) -> None:
    """The line is named, or the file at least."""
    damaged = re.sub(pattern, by, mps)
    assert damaged != mps
    with pytest.raises(ModelError, match=words):
        decompose(write(tmp_path, "m.mps", damaged), NAMES)


@pytest.mark.parametrize("kind", ["dec", "blk"])
def test_damaged_structure_files(tmp_path: Path, kind: str) -> None:
    """Truncated, empty, of another model or no text: the file is named, and the line if any."""
    model, names = write(tmp_path, "m.lp", LP), ("a", "b") if kind == "dec" else ("x1", "x3")
    text = "NBLOCKS\n2\nBLOCK 1\n{}\nBLOCK 2\n{}\n".format(*names)
    for data, words in (
        ("", "assigns nothing"),
        ("NBLOCKS", "line 1: after NBLOCKS"),
        (text[:10] + "BLOCK", "line 3: after BLOCK"),
        (text.replace(names[0], "z"), "line 4: the model has no (row|variable) 'z'"),
        (bytes(range(256)), "cannot be read"),
        (text.encode("utf-16"), "cannot be read"),
        (b"\0" * 9, "line 1"),
    ):
        path = write(tmp_path, f"s.{kind}", data)
        with pytest.raises(StructureError, match=rf"s\.{kind}.*{words}"):
            decompose(model, path)
    for good in (b"\xef\xbb\xbf" + text.encode(), text.replace("\n", "\r\n")):
        structure = decompose(model, write(tmp_path, f"s.{kind}", good)).structure
        assert structure is not None
        assert structure.n_blocks == 2
    with pytest.raises(StructureError, match="cannot be read"):
        decompose(model, write(tmp_path, f"s.{kind}.gz", b"\x1f\x8b\x08\x00abcdefghijkl"))


def test_many_equal_blocks() -> None:
    """Ten thousand of them are one pricing problem; all have their part of the answer."""
    n = 10_000
    rows = [
        sp.csr_array(np.tile([[1.0, 2.0]], n)),
        sp.kron(sp.eye_array(n), sp.csr_array([[2.0, 3.0]])),
    ]
    own = Program(
        -np.tile([1.0, 2.0], n), sp.csr_array(sp.vstack(rows)), -INF,
        np.r_[n / 2, np.full(n, 4.0)], 0, 1, None, np.ones(2 * n),
    )  # fmt: skip
    result = decompose(own, {f"r{1 + k}": k for k in range(n)}).solve()
    assert result.structure is not None
    assert result.structure.groups() == [tuple(range(n))]
    assert result.objective == -n / 2
