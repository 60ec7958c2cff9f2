"""Structure files of GCG."""

import gzip
from pathlib import Path

import pytest

from cgboost.integer.decomposition.structure_files import StructureError, read_structure

ROWS, NAMES = ["a", "b", "m", "BLOCK"], ["x", "y"]
OLD = "PRESOLVED\n0\nNBLOCKS\n2\nBLOCK 1\na\nBLOCK 2\nb\nMASTERCONSS\nm\n"
NEW = "\\ of a tool\nNBLOCKS 2\nCONSDEFAULTMASTER\n1\nBLOCKCONSS 1\na \\ one\nBLOCKCONSS 2\nb\n"
VARIABLES = "Presolved\n 0\nNBlocks\n 2\nBlock 1\n x\nBlock 2\n y\nMasterconss\n m\n"


def write(folder: Path, text: str, name: str = "s.dec") -> Path:
    """A structure file."""
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["s.dec", "s.dec.gz"])
@pytest.mark.parametrize("text", [OLD, NEW])
def test_rows_of_blocks(tmp_path: Path, text: str, name: str) -> None:
    """Both dialects give the rows their blocks, zipped or not."""
    found = read_structure(write(tmp_path, text, name), ROWS, NAMES)
    assert found.rows == {"a": 1, "b": 2}
    assert found.master == (frozenset("m") if text == OLD else frozenset())


def test_variables_of_blocks(tmp_path: Path) -> None:
    """A .blk file gives the variables their blocks."""
    found = read_structure(write(tmp_path, VARIABLES, "s.blk"), ROWS, NAMES)
    assert found.variables == {"x": 1, "y": 2}
    assert found.master == {"m"}


def test_a_row_may_be_called_as_a_keyword(tmp_path: Path) -> None:
    """A line with BLOCK alone is a name where a row has it."""
    found = read_structure(write(tmp_path, "BLOCK 1\nBLOCK\na\n"), ROWS, NAMES)
    assert found.rows == {"BLOCK": 1, "a": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NBLOCKS\ntwo\n", r"line 2: .*'two'"),
        ("BLOCK one\na\n", r"line 1: .*.one."),
        ("a\n", r"line 1: 'a' stands before"),
        ("BLOCK 1\na\nBLOCK 2\na\n", r"line 4: 'a' is in block 1 and in block 2"),
        ("BLOCK 1\na\nMASTERCONSS\na\n", r"line 4: 'a' is in block 1 and in the master"),
        ("NBLOCKS 1\nBLOCK 2\na\n", r"line 2: block 2 of 1"),
        ("BLOCK 1\nz\n", r"line 2: the model has no row 'z'"),
        ("PRESOLVED 1\nBLOCK 1\nt_z\n", r"no row 't_z'.*presolving"),
        ("LINKINGVARS\nx\n", r"line 1: the section LINKINGVARS"),
        ("NBLOCKS 1\n", "assigns nothing"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, words: str) -> None:
    """What does not fit is refused with the line and the name."""
    with pytest.raises(StructureError, match=words):
        read_structure(write(tmp_path, text), ROWS, NAMES)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """Files of other kinds, missing ones and bytes that are no text are errors."""
    with pytest.raises(StructureError, match="neither"):
        read_structure(tmp_path / "a.txt", ROWS, NAMES)
    with pytest.raises(StructureError, match="no file"):
        read_structure(tmp_path / "a.dec", ROWS, NAMES)
    (tmp_path / "b.dec").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StructureError, match="cannot be read"):
        read_structure(tmp_path / "b.dec", ROWS, NAMES)
