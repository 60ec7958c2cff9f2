"""Readers for real data: MNIST from a folder, and the digits that scikit-learn ships.

The study of Bi, Zhang and Bennett (KDD 2004) separates odd from even digits on mutually exclusive
random training, validation and test rows; :func:`odd_even_split` draws such rows.
"""

from __future__ import annotations

import gzip
import operator
import os
import zlib
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.exceptions import CGBoostError, see

Folder = str | os.PathLike[str] | None
Images = NDArray[np.float32]
Bytes = NDArray[np.uint8]

MNIST_ROWS = {"train": 60000, "t10k": 10000}
IMAGE_SHAPE = (28, 28)
IMAGE_MAGIC, LABEL_MAGIC = 2051, 2049


class DataError(CGBoostError, ValueError):
    """A data folder or file is missing or damaged, or holds fewer rows than were asked for."""


@dataclass(frozen=True, eq=False)
class Split:
    """Mutually exclusive training, validation and test rows.

    Attributes
    ----------
    X_train, X_validation, X_test : ndarray of shape (n_rows, n_pixels)
        Pixels scaled to [0, 1].
    y_train, y_validation, y_test : ndarray of shape (n_rows,)
        +1 for an odd digit, −1 for an even one.
    """

    X_train: NDArray[Any]
    y_train: NDArray[np.int64]
    X_validation: NDArray[Any]
    y_validation: NDArray[np.int64]
    X_test: NDArray[Any]
    y_test: NDArray[np.int64]


def data_folder(folder: Folder = None) -> Path:
    """Return the folder of real data sets: the argument, else the variable ``CGBOOST_DATA``.

    Raises
    ------
    DataError
        If neither names a folder, or the one named is not a folder.
    """
    source = "" if folder is not None else " (from the environment variable CGBOOST_DATA)"
    chosen = folder if folder is not None else os.environ.get("CGBOOST_DATA")
    if not chosen:
        raise DataError(
            f"no data folder: pass folder=… or set the variable CGBOOST_DATA{see('data-files')}"
        )
    path = Path(chosen).expanduser()
    if not path.is_dir():
        wrong = "is not a folder" if path.exists() else "does not exist"
        raise DataError(f"the data folder {str(path)!r}{source} {wrong}{see('data-files')}")
    return path


def load_mnist(folder: Folder = None) -> tuple[Images, Bytes, Images, Bytes]:
    """Read MNIST from its four gzipped idx files.

    Parameters
    ----------
    folder : path, optional
        The folder with the files, or one whose sub-folder ``mnist`` has them; by default the
        environment variable ``CGBOOST_DATA``.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarray
        Pixels in [0, 1], float32, shapes (60000, 784) and (10000, 784); labels 0…9, uint8.

    Raises
    ------
    DataError
        If a file is missing, damaged, or not what its name says; it names the file.
    """
    location = _mnist_folder(folder)
    train, train_labels = _read_mnist_part(location, "train")
    test, test_labels = _read_mnist_part(location, "t10k")
    return _unit_pixels(train), train_labels, _unit_pixels(test), test_labels


def load_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the 1797 digits of 8×8 pixels that scikit-learn ships, scaled to [0, 1].

    Returns
    -------
    X : ndarray of shape (1797, 64), float64
    y : ndarray of shape (1797,)
        The digits 0…9.
    """
    from sklearn.datasets import load_digits as bundled_digits

    X, y = bundled_digits(return_X_y=True)
    return np.asarray(X, dtype=np.float64) / 16.0, np.asarray(y, dtype=np.int64)


def odd_even_labels(y: ArrayLike) -> NDArray[np.int64]:
    """Return +1 where ``y`` is odd and −1 where it is even.

    Raises
    ------
    ValueError
        If ``y`` holds anything but integers.
    """
    digits = np.asarray(y)
    if not np.issubdtype(digits.dtype, np.integer):
        raise ValueError(f"y must hold integers to be odd or even, got dtype {digits.dtype}")
    return np.where(digits % 2 == 1, np.int64(1), np.int64(-1))


def odd_even_split(
    folder: Folder = None,
    *,
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
    seed: int = 0,
) -> Split:
    """Draw mutually exclusive random rows for the odd/even task.

    All three parts come from one pool of rows, so that another seed gives another test set too.
    With a folder, the pool is the 60000 training images of MNIST; its 10000 test images are
    neither read nor drawn. Without one, it is the digits bundled with scikit-learn (the
    environment variable ``CGBOOST_DATA`` is not looked at).

    Parameters
    ----------
    folder : path, optional
        Where :func:`load_mnist` would find MNIST; None for the bundled digits.
    train, validation, test : int, optional
        Rows of each part, at least 1. By default 1000, 2000 and 10000 as in the paper; with the
        bundled digits 600, 400 and the rest.
    seed : int
        Seed of the draw.

    Raises
    ------
    DataError
        If the data cannot be read, or there are fewer rows than were asked for.
    ValueError
        If a size is not a whole number of at least 1, or the seed not one of at least 0.
    """
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number ≥ 0, got {seed!r}")
    X: NDArray[Any]
    y: NDArray[Any]
    if folder is None:
        X, y = load_digits()
        defaults: tuple[int, int, int | None] = (600, 400, None)
    else:
        X, y = _read_mnist_part(_mnist_folder(folder), "train")
        defaults = (1000, 2000, 10000)
    sizes = _part_sizes((train, validation, test), defaults, len(y))
    order = np.random.default_rng(seed).permutation(len(y))[: sum(sizes)]
    arrays: list[NDArray[Any]] = []
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        arrays += [X[rows] if folder is None else _unit_pixels(X[rows]), odd_even_labels(y[rows])]
    return Split(*arrays)


def _part_sizes(
    asked: tuple[int | None, int | None, int | None],
    defaults: tuple[int, int, int | None],
    available: int,
) -> list[int]:
    """Fill in the default sizes (a default of None takes the rest) and check that they fit."""
    sizes: list[int] = []
    for name, size, default in zip(("train", "validation", "test"), asked, defaults, strict=True):
        if size is None:
            size = max(1, available - sum(sizes)) if default is None else default
        try:
            sizes.append(operator.index(size))
        except TypeError:
            raise ValueError(f"{name} must be a whole number of rows, got {size!r}") from None
        if sizes[-1] < 1:
            raise ValueError(f"{name} must be at least 1 row, got {size}")
    if sum(sizes) > available:
        raise DataError(
            f"{sum(sizes)} rows were asked for (train {sizes[0]}, validation {sizes[1]}, "
            f"test {sizes[2]}), but there are only {available}"
        )
    return sizes


def _mnist_folder(folder: Folder) -> Path:
    root = data_folder(folder)
    return root / "mnist" if (root / "mnist").is_dir() else root


def _read_mnist_part(folder: Path, part: str) -> tuple[Bytes, Bytes]:
    """Read and check the images and labels of ``"train"`` or ``"t10k"``, still as bytes."""
    rows = MNIST_ROWS[part]
    images = _read_idx(folder / f"{part}-images-idx3-ubyte.gz", IMAGE_MAGIC, (rows, *IMAGE_SHAPE))
    path = folder / f"{part}-labels-idx1-ubyte.gz"
    labels = _read_idx(path, LABEL_MAGIC, (rows,))
    if labels.max() > 9:
        row = int(np.argmax(labels > 9))
        raise DataError(f"{path}: expected labels 0 to 9, found {labels[row]} in row {row}")
    return images.reshape(rows, -1), labels


def _read_idx(path: Path, magic: int, shape: tuple[int, ...]) -> Bytes:
    """Read a gzipped idx file of bytes; its header and size must be those of ``shape``."""
    start = 4 + 4 * len(shape)
    size = start + int(np.prod(shape))
    content = _unzip(path, size + 1)
    if len(content) < start:
        raise DataError(f"{path}: expected a header of {start} bytes, found {len(content)}")
    header = np.frombuffer(content, ">u4", count=1 + len(shape)).tolist()
    if header[0] != magic:
        raise DataError(f"{path}: expected the magic number {magic}, found {header[0]}")
    if tuple(header[1:]) != shape:
        raise DataError(f"{path}: expected {_times(shape)} values, found {_times(header[1:])}")
    if len(content) != size:
        found = f"only {len(content)}" if len(content) < size else "more"
        raise DataError(f"{path}: expected {size} bytes after unpacking, found {found}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _unzip(path: Path, limit: int) -> bytes:
    """Unpack at most ``limit`` bytes; the checksum is verified when the end is reached."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected this file of MNIST, gzipped")
    try:
        with gzip.open(path) as file:
            return file.read(limit)
    except (EOFError, zlib.error, OSError) as error:
        raise DataError(f"{path}: expected a sound gzip file, but: {error}") from error


def _times(shape: tuple[int, ...] | list[int]) -> str:
    return " × ".join(map(str, shape))


def _unit_pixels(pixels: NDArray[Any]) -> Images:
    return pixels.astype(np.float32) / np.float32(255)
