"""Which rows and variables make blocks: given by rows, by files of GCG, or detected."""

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import decompose
from cgboost.integer.decomposition.blocks import MASTER, structure_of
from cgboost.integer.decomposition.detection import candidates, detect, row_types
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.structure_files import (
    StructureError,
    StructureFile,
    read_structure,
)
from solvers import Program

from .cases import BLOCKS, assignment, program

ROWS = ("link", "a", "b", "c")
NAMES = ("x1", "x2", "y1", "y2", "z1", "z2", "free")
INF = np.inf


def model(third: float = 2.0) -> Model:
    """Three knapsacks, of which the last may be another, and one linking row."""
    matrix = np.zeros((4, 7))
    matrix[0] = 1
    matrix[1, :2] = matrix[2, 2:4] = [2, 3]
    matrix[3, 4:6] = [third, 3]
    sides = [4, -INF, -INF, -INF], [4, 5, 5, 5]
    return Model(Program(np.ones(7), matrix, *sides, 0, 3, None, np.ones(7)), ROWS, NAMES)


def test_rows_give_variables_their_block() -> None:
    """Rows without a block are linking rows, variables in linking rows alone are in no block."""
    structure = structure_of(model(), {"a": "A", "b": "B", "c": "C"})
    assert structure.block_of_row.tolist() == [MASTER, 0, 1, 2]
    assert structure.block_of_variable.tolist() == [0, 0, 1, 1, 2, 2, MASTER]
    assert structure.linking_rows.tolist() == [0]
    assert structure.master_variables.tolist() == [6]


def test_variables_give_rows_their_block() -> None:
    """A row is in the block of all its variables."""
    given = StructureFile(variables={"x1": 1, "x2": 1, "y1": 2, "y2": 2})
    structure = structure_of(model(), given)
    assert structure.block_of_row.tolist() == [MASTER, 0, 1, MASTER]


@pytest.mark.parametrize(("third", "groups"), [(2.0, [(0, 1, 2)]), (2.5, [(0, 1), (2,)])])
def test_equal_blocks_are_found(third: float, groups: list[tuple[int, ...]]) -> None:
    """Blocks are in one group if and only if all their data are equal."""
    structure = structure_of(model(third), {"a": 1, "b": 2, "c": 3})
    assert structure.groups() == groups


@pytest.mark.parametrize(
    ("blocks", "kind", "words"),
    [
        ({"r9": 0}, StructureError, "no row 'r9'"),
        ({9: 0}, StructureError, "no row 9"),
        ({"r1": [0]}, StructureError, r"row 'r1' has the block \[0\]"),
        ([0, 1], TypeError, "blocks must be a mapping .* got list"),
        (3, TypeError, "got int"),
        (False, TypeError, "{} for no blocks, got bool"),
    ],
)
def test_wrong_blocks(blocks: Any, kind: type[Exception], words: str) -> None:
    """The row, the variable or the type is named."""
    with pytest.raises(kind, match=words):
        decompose(program(), blocks)


@pytest.mark.parametrize("none", [None, False, np.False_, "", math.nan])
def test_a_row_without_a_block_links(none: Any) -> None:
    """Given as a mapping or by a function, whatever says that there is none; 0 is a block."""
    for blocks in (
        {"r0": 0, "r1": 1, "r2": none},
        lambda row: none if row == "r2" else int(row[1]),
    ):
        structure = decompose(program(), blocks).structure
        assert structure is not None
        assert structure.labels == ("0", "1")
        assert structure.block_of_row[:3].tolist() == [0, 1, -1]
    assert decompose(program(), lambda _: none).structure is None


# ------------------------------------------------------------------ structure files

OLD = "PRESOLVED\n0\nNBLOCKS\n2\nBLOCK 1\na\nBLOCK 2\nb\nMASTERCONSS\nm\n"
NEW = "\\ of a tool\nNBLOCKS 2\nCONSDEFAULTMASTER\n1\nBLOCKCONSS 1\na \\ one\nBLOCKCONSS 2\nb\n"
VARIABLES = "Presolved\n 0\nNBlocks\n 2\nBlock 1\n x\nBlock 2\n y\nMasterconss\n m\n"


def found(folder: Path, data: str | bytes, name: str = "s.dec") -> StructureFile:
    """What a structure file says of a model with the rows a, b, m, BLOCK and variables x, y."""
    path = folder / name
    text = data if isinstance(data, bytes) else data.encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    return read_structure(path, ["a", "b", "m", "BLOCK"], ["x", "y"])


@pytest.mark.parametrize("name", ["s.dec", "s.dec.gz"])
@pytest.mark.parametrize(
    ("data", "rows", "master"),
    [
        (OLD, {"a": 1, "b": 2}, "m"),
        (NEW, {"a": 1, "b": 2}, ""),
        (b"\xef\xbb\xbf" + OLD.encode(), {"a": 1, "b": 2}, "m"),
        (OLD.replace("\n", "\r\n"), {"a": 1, "b": 2}, "m"),
        ("BLOCK 1\nBLOCK\na\n", {"BLOCK": 1, "a": 1}, ""),  # a row called as a keyword
    ],
)
def test_rows_of_blocks(tmp_path: Path, data: Any, rows: Any, master: str, name: str) -> None:
    """Both dialects give the rows their blocks, zipped or not, with any ends of lines."""
    given = found(tmp_path, data, name)
    assert given.rows == rows
    assert given.master == frozenset(master)


def test_variables_of_blocks(tmp_path: Path) -> None:
    """A .blk file gives the variables their blocks."""
    given = found(tmp_path, VARIABLES, "s.blk")
    assert given.variables == {"x": 1, "y": 2}
    assert given.master == {"m"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("NBLOCKS\ntwo\n", r"line 2: .*'two'"),
        ("NBLOCKS", "line 1: after NBLOCKS"),
        ("NBLOCKS\n2\nBLOCKCONSS", "line 3: after BLOCKCONSS"),
        ("BLOCK one\na\n", r"line 1: .*.one."),
        ("a\n", r"line 1: 'a' stands before"),
        ("BLOCK 1\na\nBLOCK 2\na\n", r"line 4: 'a' is in block 1 and in block 2"),
        ("BLOCK 1\na\nMASTERCONSS\na\n", r"line 4: 'a' is in block 1 and in the master"),
        ("NBLOCKS 1\nBLOCK 2\na\n", r"line 2: block 2 of 1"),
        ("BLOCK 1\nz\n", r"line 2: the model has no (row|variable) 'z'"),
        ("PRESOLVED 1\nBLOCK 1\nt_z\n", r"no (row|variable) 't_z'.*presolving"),
        ("LINKINGVARS\nx\n", r"line 1: the section LINKINGVARS"),
        ("NBLOCKS 1\n", "assigns nothing"),
        ("", "assigns nothing"),
        (b"\0" * 9, "line 1"),
        (bytes(range(256)), "cannot be read"),
        (OLD.encode("utf-16"), "cannot be read"),
    ],
)
def test_damaged_structure_files(tmp_path: Path, data: str | bytes, words: str) -> None:
    """What does not fit is refused with the file, the line and the name."""
    for kind in ("dec", "blk"):
        own = data.replace("a\n", "x\n") if isinstance(data, str) and kind == "blk" else data
        if kind == "dec" or "'a'" not in words:
            with pytest.raises(StructureError, match=rf"s\.{kind}.*{words}"):
                found(tmp_path, own, f"s.{kind}")


def test_other_files_are_refused(tmp_path: Path) -> None:
    """Files of other kinds, missing ones, half a zipped one, and one of another model."""
    for name, words in (("a.txt", "neither"), ("a.dec", "no file")):
        with pytest.raises(StructureError, match=words):
            read_structure(tmp_path / name, [], [])
    path = tmp_path / "b.dec.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00abcdefghijkl")
    with pytest.raises(StructureError, match="cannot be read"):
        decompose(program(), path)
    (tmp_path / "c.dec").write_text("NBLOCKS\n2\nBLOCK 1\nr1\nBLOCK 2\nr2\n")
    structure = decompose(program(), str(tmp_path / "c.dec")).structure
    assert structure is not None
    assert structure.groups() == decompose(program(), BLOCKS).structure.groups()


# ------------------------------------------------------------------ blocks that nobody names


@pytest.mark.parametrize(("n_agents", "n_jobs"), [(3, 6), (3, 30), (5, 50), (2, 300)])
def test_knapsacks_become_blocks(n_agents: int, n_jobs: int) -> None:
    """The jobs link, each agent is a block, though more than nine of ten rows may link."""
    best = detect(assignment(0, n_agents, n_jobs)[0])
    assert best is not None
    assert best.structure.linking_rows.tolist() == list(range(n_jobs))
    assert best.structure.n_blocks == n_agents
    assert 0 < best.score < 1


def test_models_without_blocks_and_without_links() -> None:
    """Dense rows, with two short ones or not, fall into nothing; separate models need no link."""
    dense = np.arange(1.0, 401.0).reshape(20, 20) % 7 + 1.0
    for matrix, low in ((np.r_[dense, np.eye(20)[:2]], 1), ([[2, 3, 4, 5, 6]], -INF)):
        n = len(matrix[0])
        assert (
            detect(as_model(Program(np.ones(n), matrix, low, INF, 0, 1, None, np.ones(n)))) is None
        )
    matrix = np.kron(np.eye(4), [[2, 3, 4]])
    best = candidates(as_model(Program(-np.ones(12), matrix, -INF, 5, 0, 1, None, np.ones(12))))[0]
    assert best.structure.n_blocks == 4
    assert best.structure.n_entries == 3  # the blocks are equal
    assert not best.structure.linking_rows.size


def test_types_of_rows() -> None:
    """Rows have the types of their coefficients and right-hand sides, with either sign."""
    matrix = [[1, 1], [-1, -1], [1, 1], [1, 1], [2, 3], [-2, 3]]
    low = [1, -INF, -INF, 2, -INF, 0]
    high = [1, -1, 1, 2, 7, 4]
    typed = as_model(Program([1, 1], matrix, low, high, 0, 1, None, [1, 1]))
    types = ["partition", "cover", "pack", "sum", "knapsack", "other"]
    assert row_types(typed).tolist() == types
