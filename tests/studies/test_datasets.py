"""Readers, splits and their errors; the real MNIST only where ``CGBOOST_DATA`` names a folder."""

import gzip
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cgboost.studies import datasets
from cgboost.studies.datasets import (
    DataError,
    data_folder,
    load_digits,
    load_mnist,
    odd_even_labels,
    odd_even_split,
)

ROWS = {"train": 12, "t10k": 5}
TRAIN_IMAGES, TRAIN_LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
TEST_IMAGES, TEST_LABELS = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
FILES = (TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS)

real_data = pytest.mark.skipif("CGBOOST_DATA" not in os.environ, reason="CGBOOST_DATA is not set")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a sound MNIST of twelve training and five test images."""
    monkeypatch.setattr(datasets, "MNIST_ROWS", ROWS)
    rng = np.random.default_rng(0)
    for part, rows in ROWS.items():
        pixels = rng.integers(0, 256, rows * 784, dtype=np.uint8)
        pixels[:2] = 0, 255
        images = struct.pack(">4I", 2051, rows, 28, 28) + pixels.tobytes()
        labels = struct.pack(">2I", 2049, rows) + bytes(i % 10 for i in range(rows))
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(images))
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    return tmp_path


def test_reads_images_and_labels(tiny: Path) -> None:
    """Pixels come as float32 in [0, 1], one image a row, and labels as bytes."""
    X_train, y_train, X_test, y_test = load_mnist(tiny)
    assert X_train.shape == (12, 784)
    assert X_test.shape == (5, 784)
    assert X_train.dtype == np.float32
    assert y_train.dtype == np.uint8
    assert X_train[0, :2].tolist() == [0.0, 1.0]
    assert y_train.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    assert y_test.tolist() == [0, 1, 2, 3, 4]


def test_finds_the_sub_folder_and_the_variable(
    tiny: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are found in ``mnist`` below the folder that ``CGBOOST_DATA`` names."""
    root = tmp_path_factory.mktemp("data")
    tiny.rename(root / "mnist")
    monkeypatch.setenv("CGBOOST_DATA", str(root))
    assert data_folder() == root
    assert load_mnist()[0].shape == (12, 784)


def test_no_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder, or with one that does not exist, the error says which was looked at."""
    monkeypatch.delenv("CGBOOST_DATA", raising=False)
    with pytest.raises(DataError, match="set the variable CGBOOST_DATA"):
        data_folder()
    with pytest.raises(DataError, match="nowhere' does not exist"):
        data_folder(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="file' is not a folder"):
        data_folder(tmp_path / "file")
    monkeypatch.setenv("CGBOOST_DATA", str(tmp_path / "gone"))
    with pytest.raises(DataError, match=r"gone' \(from .* CGBOOST_DATA\) does not exist"):
        data_folder()


@pytest.mark.parametrize("name", FILES)
def test_missing_file(tiny: Path, name: str) -> None:
    """Each of the four files is named when it is missing."""
    (tiny / name).unlink()
    with pytest.raises(DataError, match=f"{name}: no such file"):
        load_mnist(tiny)


def _flip_a_byte(packed: bytes) -> bytes:
    middle = len(packed) // 2
    return packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: b"not gzip at all",
        lambda packed: packed[:-9],
        _flip_a_byte,
        lambda packed: b"",
    ],
    ids=["not gzip", "cut short", "flipped byte", "empty"],
)
def test_damaged_gzip(tiny: Path, name: str, damage: Callable[[bytes], bytes]) -> None:
    """A file that does not unpack is named, and the native exception does not leak."""
    (tiny / name).write_bytes(damage((tiny / name).read_bytes()))
    with pytest.raises(DataError, match=name):
        load_mnist(tiny)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (TRAIN_IMAGES, lambda raw: raw[:10], "header of 16 bytes, found 10"),
        (TRAIN_LABELS, lambda raw: raw[:-1], "expected 20 bytes after unpacking, found only 19"),
        (TEST_IMAGES, lambda raw: raw + b"x", "expected 3936 bytes after unpacking, found more"),
        (TRAIN_IMAGES, lambda raw: b"\0\0\x08\x01" + raw[4:], "magic number 2051, found 2049"),
        (TEST_LABELS, lambda raw: b"\0\0\x08\x03" + raw[4:], "magic number 2049, found 2051"),
        (TEST_LABELS, lambda raw: raw[:7] + b"\x06" + raw[8:], "expected 5 values, found 6"),
        (
            TRAIN_IMAGES,
            lambda raw: raw[:7] + b"\x0b" + raw[8:],
            "12 × 28 × 28 .*found 11 × 28 × 28",
        ),
        (TEST_IMAGES, lambda raw: raw[:11] + b"\x1d" + raw[12:], "5 × 28 × 28 .*found 5 × 29 × 28"),
        (TEST_LABELS, lambda raw: raw[:-2] + b"\x0a\x04", "labels 0 to 9, found 10 in row 3"),
    ],
)
def test_wrong_content(
    tiny: Path, name: str, change: Callable[[bytes], bytes], message: str
) -> None:
    """A header, count, size or label that is not MNIST's is reported with both values."""
    raw = gzip.decompress((tiny / name).read_bytes())
    (tiny / name).write_bytes(gzip.compress(change(raw)))
    with pytest.raises(DataError, match=f"{name}: .*{message}"):
        load_mnist(tiny)


def test_bundled_digits() -> None:
    """The bundled digits are 1797 rows of 64 pixels in [0, 1], with labels 0 to 9."""
    X, y = load_digits()
    assert X.shape == (1797, 64)
    assert X.dtype == np.float64
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert set(y) == set(range(10))


def test_odd_even_labels() -> None:
    """Odd digits become +1 and even ones −1, for unsigned bytes too; text is refused."""
    assert odd_even_labels(np.arange(5, dtype=np.uint8)).tolist() == [-1, 1, -1, 1, -1]
    with pytest.raises(ValueError, match="must hold integers"):
        odd_even_labels(["1", "2"])


def test_split_of_the_bundled_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default 600, 400 and all other bundled rows are drawn, whatever the variable says."""
    monkeypatch.setenv("CGBOOST_DATA", "nowhere")
    split = odd_even_split()
    assert (len(split.y_train), len(split.y_validation), len(split.y_test)) == (600, 400, 797)
    X, y = load_digits()
    parts = np.vstack([split.X_train, split.X_validation, split.X_test])
    labels = np.concatenate([split.y_train, split.y_validation, split.y_test])
    everything = np.column_stack([X, odd_even_labels(y)])
    assert sorted(np.column_stack([parts, labels]).tolist()) == sorted(everything.tolist())


def test_split_depends_on_the_seed_only() -> None:
    """The same seed draws the same rows; another seed draws other rows in all three parts."""
    first, again, other = (odd_even_split(seed=seed) for seed in (0, 0, 1))
    for part in ("X_train", "X_validation", "X_test"):
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
        assert not np.array_equal(getattr(first, part), getattr(other, part))


def test_split_of_a_folder(tiny: Path) -> None:
    """The three parts are distinct rows of the training images, with their own labels."""
    split = odd_even_split(tiny, train=5, validation=3, test=4)
    X, y, _, _ = load_mnist(tiny)
    label_of = {row.tobytes(): label for row, label in zip(X, odd_even_labels(y), strict=True)}
    parts = np.vstack([split.X_train, split.X_validation, split.X_test])
    labels = np.concatenate([split.y_train, split.y_validation, split.y_test])
    assert parts.dtype == np.float32
    assert {row.tobytes() for row in parts} == set(label_of)
    assert [label_of[row.tobytes()] for row in parts] == labels.tolist()


def test_split_that_does_not_fit(tiny: Path) -> None:
    """Too many rows, none, or half a row: the error gives what was asked and what there is."""
    with pytest.raises(DataError, match=r"13000 rows were asked for .* only 12"):
        odd_even_split(tiny)
    with pytest.raises(DataError, match=r"1798 .*train 1000, validation 797, test 1\).* only 1797"):
        odd_even_split(train=1000, validation=797)
    with pytest.raises(ValueError, match="validation must be at least 1 row, got 0"):
        odd_even_split(validation=0)
    with pytest.raises(ValueError, match="train must be a whole number of rows, got 0.5"):
        odd_even_split(train=0.5)  # type: ignore[arg-type]


@pytest.mark.data
@real_data
def test_real_mnist() -> None:
    """The real files have their published sizes, and every digit occurs in both parts."""
    X_train, y_train, X_test, y_test = load_mnist()
    assert X_train.shape == (60000, 784)
    assert X_test.shape == (10000, 784)
    assert (X_train.min(), X_train.max()) == (0.0, 1.0)
    assert np.bincount(y_train, minlength=10).min() > 5000
    assert np.bincount(y_test, minlength=10).min() > 800


@pytest.mark.data
@real_data
def test_real_split_has_the_sizes_of_the_paper() -> None:
    """With real data the default sizes are 1000, 2000 and 10000, about half of them odd."""
    split = odd_even_split(data_folder())
    sizes = len(split.X_train), len(split.X_validation), len(split.X_test)
    assert sizes == (1000, 2000, 10000)
    assert abs(split.y_test.mean()) < 0.1
