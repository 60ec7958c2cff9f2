"""A file is replaced as a whole or not at all."""

import errno
import os
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from cgboost.exceptions import FileError
from cgboost.persistence import read, replacing, write, write_picture, write_text
from tests.persistence.models import fitted


def no_space(*_: Any) -> None:
    """What a full disk says."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    """Until then the old one is there; its permissions stay, and nothing is left beside it."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Of text, reports and models; no half file is left."""
    model, _ = fitted("Matern")
    path = model.save(tmp_path / "model.cgb")
    old = path.read_bytes()
    monkeypatch.setattr(os, name, no_space)
    for again in (model.save, model.report, lambda to: write_text(to, "x")):
        with pytest.raises(OSError, match="No space left on device.* is as it was") as caught:
            again(path)
        assert isinstance(caught.value, FileError)
        assert isinstance(caught.value, ValueError)
        assert path.read_bytes() == old
    with pytest.raises(FileError, match="No file was made"):
        model.save(tmp_path / "other.cgb")
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    """An object that cannot be stored, or Ctrl-C while it is written."""
    path = tmp_path / "a"
    write(path, "test", 1)
    with pytest.raises(ValueError, match="generator"):
        write(path, "test", (x for x in "a"))
    with pytest.raises(KeyboardInterrupt):
        _interrupted(path)
    assert read(path, "test") == 1
    assert list(tmp_path.iterdir()) == [path]


def _interrupted(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_what_a_killed_process_has_left_is_deleted(tmp_path: Path) -> None:
    """At the next time the file is written; not what another writer is at, or other files."""
    left = tmp_path / ".model.0123456789ab.part"
    left.write_bytes(b"half")
    others = [tmp_path / ".model.part", tmp_path / ".other.0123456789ab.part"]
    for other in others:
        other.write_bytes(b"")
    with replacing(tmp_path / "model") as first, replacing(tmp_path / "model") as second:
        assert not left.exists()
        first.write(b"1")
        second.write(b"2")
    assert (tmp_path / "model").read_bytes() == b"1"
    assert sorted(tmp_path.iterdir()) == sorted([*others, tmp_path / "model"])


def test_a_link_is_followed(tmp_path: Path) -> None:
    """What it points at is replaced, and it stays a link."""
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "new"


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    """A folder, a file in a folder that is not there, a device."""
    with pytest.raises(FileError, match="is a folder"):
        write_text(tmp_path, "")
    with pytest.raises(FileError, match="folder of path does not exist"):
        write_text(tmp_path / "none" / "a", "")
    with pytest.raises(FileError, match="is a device"):
        write_text("/dev/null", "")


def test_pictures(tmp_path: Path) -> None:
    """In the format that the name ends in."""
    figure, _ = plt.subplots()
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a", b"\x89PNG")):
        write_picture(figure, tmp_path / name, dpi=30)
        assert (tmp_path / name).read_bytes().startswith(start)
    plt.close(figure)
