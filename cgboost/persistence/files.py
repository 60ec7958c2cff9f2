"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from cgboost.exceptions import FileError

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be deleted anyway
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of ``path`` when the block ends without an error.

    It is written next to ``path``, brought to the disk (fsync) and moved there by ``os.replace``: a
    full disk, an error or the end of the process leave an old file as it was. What killed processes
    have left of the same file is deleted.

    Parameters
    ----------
    path : str or path
        A link is followed: what it points at is replaced.

    Yields
    ------
    file
        Open for writing and reading.

    Raises
    ------
    FileError
        If the file cannot be written. Other errors of the block pass through.
    """
    check_target(Path(path))
    target = Path(os.path.realpath(path))
    begins = f".{target.name[:100]}."
    _sweep(target.parent, begins)
    temporary = target.parent / f"{begins}{secrets.token_hex(6)}.part"
    try:
        with _refusing(target):
            with temporary.open("x+b") as file:
                _take(file)
                if target.exists():
                    temporary.chmod(target.stat().st_mode & 0o777)
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
            _sync_folder(target.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _sweep(folder: Path, begins: str) -> None:
    """Delete temporary files whose names begin so and that no process is writing."""
    for old in folder.glob(f"{glob.escape(begins)}{'[0-9a-f]' * 12}.part"):
        with contextlib.suppress(OSError), old.open("r+b") as file:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            old.unlink()


def _take(file: IO[bytes]) -> None:
    """Lock a file as long as it is open; a system without locks never sweeps."""
    if fcntl:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, as a whole or not at all.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def write_picture(figure: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Save a figure of matplotlib, in the format that the name ends in, as a whole or not at all.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    kind = Path(path).suffix.removeprefix(".") or "png"
    with replacing(path) as file:
        figure.savefig(file, **{"format": kind} | options)


def check_target(path: Path) -> None:
    """Raise a FileError where no file can be."""
    with _refusing(path):
        if path.is_dir():
            raise FileError(f"path must be a file to write, {str(path)!r} is a folder")
        if path.exists() and not path.is_file():
            raise FileError(f"path must be a file that can be replaced, {str(path)!r} is a device")
        if not path.parent.is_dir():
            raise FileError(
                f"the folder of path does not exist: {str(path.parent)!r}. Make it, or take another"
            )


@contextlib.contextmanager
def _refusing(target: Path) -> Iterator[None]:
    """Raise a FileError for what the operating system says."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        there = os.path.lexists(target)
        raise FileError(
            f"path {str(target)!r} cannot be written: {error.strerror or error}. "
            + ("The file that stood there is as it was" if there else "No file was made")
        ) from error


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where folders can be opened for that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
