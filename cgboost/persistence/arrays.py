"""Arrays in a stored file: the bytes of all of them one after the other, described elsewhere.

There are often thousands of small ones (centres of kernels, leaves of trees), for which a member of
the archive each would take more room than the numbers. Each starts at a multiple of 16 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import CorruptFileError, PersistenceError

ALIGNMENT = 16
KINDS = frozenset("biufcSUmM")
MOST_DIMENSIONS = 64
MOST_BYTES = 1 << 62
BYTES_AT_ONCE = 1 << 20
Description = tuple[Any, ...]


def describe_dtype(dtype: np.dtype[Any]) -> Any:
    """A dtype as JSON: a string, or names, formats, offsets and size of a structured one.

    Raises
    ------
    PersistenceError
        For a dtype that has no fixed bytes, such as object.
    """
    if dtype.names is not None and dtype.fields is not None:
        fields = [dtype.fields[name] for name in dtype.names]
        formats = tuple(describe_dtype(field[0]) for field in fields)
        return (dtype.names, formats, tuple(int(field[1]) for field in fields), dtype.itemsize)
    if dtype.kind not in KINDS or dtype.itemsize == 0 or dtype.subdtype is not None:
        raise PersistenceError(f"arrays of dtype {dtype} cannot be stored; convert them first")
    return dtype.str


def read_dtype(given: Any) -> np.dtype[Any]:
    """The dtype that :func:`describe_dtype` has described.

    Raises
    ------
    CorruptFileError
        For anything else.
    """
    try:
        if isinstance(given, str):
            dtype = np.dtype(given)
            if dtype.str != given:
                raise ValueError(f"{given!r} is no dtype in its plain form")
        else:
            names, formats, offsets, size = given
            own = [read_dtype(one) for one in formats]
            spans = sorted(zip(offsets, (one.itemsize for one in own), strict=True))
            ends = [start + length for start, length in spans]
            if any(end > start for end, (start, _) in zip(ends, spans[1:], strict=False)):
                raise ValueError("fields of a dtype overlap")
            dtype = np.dtype(
                {"names": list(names), "formats": own, "offsets": offsets, "itemsize": size}
            )
        if describe_dtype(dtype) != _tuples(given):
            raise ValueError("a dtype is not described in full")
    except (TypeError, ValueError, SyntaxError, OverflowError) as error:
        raise CorruptFileError(f"{given!r:.80} is no dtype of a stored array") from error
    return dtype


def describe(array: NDArray[Any]) -> Description:
    """Dtype, shape and order of memory of an array."""
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return describe_dtype(array.dtype), array.shape, order


def size_of(description: Any) -> tuple[np.dtype[Any], tuple[int, ...], str, int]:
    """Dtype, shape, order and number of bytes of a described array, without making it.

    Raises
    ------
    CorruptFileError
        If it describes none.
    """
    if not isinstance(description, list) or len(description) != 3:
        raise CorruptFileError(f"{description!r:.80} describes no array")
    given, shape, order = description
    if order not in ("C", "F") or not is_shape(shape):
        raise CorruptFileError(f"shape {shape!r:.80} and order {order!r:.20} are of no array")
    dtype = read_dtype(given)
    return dtype, tuple(shape), order, math.prod(shape) * dtype.itemsize


def is_shape(shape: Any) -> bool:
    """Whether it is a list of lengths that an array may have."""
    return (
        isinstance(shape, list)
        and len(shape) <= MOST_DIMENSIONS
        and all(type(length) is int and 0 <= length <= MOST_BYTES for length in shape)
        and math.prod(length for length in shape if length) <= MOST_BYTES
    )


def padding(position: int) -> int:
    """Bytes up to the next place where an array may start."""
    return -position % ALIGNMENT


def total_size(arrays: Iterable[NDArray[Any]]) -> int:
    """Bytes of these arrays in a file."""
    return sum(array.nbytes + padding(array.nbytes) for array in arrays)


def write_arrays(file: IO[bytes], arrays: Iterable[NDArray[Any]]) -> None:
    """Write their bytes, each filled up to a multiple of 16."""
    for array in arrays:
        if array.nbytes:
            own = array.T if describe(array)[2] == "F" else np.ascontiguousarray(array)
            file.write(own.reshape(-1).view(np.uint8).data)
        file.write(bytes(padding(array.nbytes)))


def read_arrays(file: IO[bytes], n_bytes: int, descriptions: list[Any]) -> list[NDArray[Any]]:
    """The arrays with these descriptions, in this order.

    Parameters
    ----------
    n_bytes : int
        All that it has. Nothing is allocated for arrays that do not fit.

    Raises
    ------
    CorruptFileError
        If descriptions and bytes do not belong together.
    """
    layouts = [size_of(description) for description in descriptions]
    needed = sum(size + padding(size) for *_, size in layouts)
    if needed != n_bytes:
        raise CorruptFileError(f"arrays of {needed} bytes are described, {n_bytes} are there")
    arrays = []
    for dtype, shape, order, size in layouts:
        flat, done = np.empty(size, dtype=np.uint8), 0
        while part := file.read(min(size - done, BYTES_AT_ONCE)):
            flat[done : done + len(part)] = np.frombuffer(part, dtype=np.uint8)
            done += len(part)
        if done < size:
            raise CorruptFileError("the file ends inside of an array")
        file.read(padding(size))
        arrays.append(_shaped(flat, dtype, shape, order))
    return arrays


def _shaped(
    flat: NDArray[np.uint8], dtype: np.dtype[Any], shape: tuple[int, ...], order: Any
) -> NDArray[Any]:
    if dtype.kind == "b" and (flat > 1).any():
        raise CorruptFileError("an array of truth values has other bytes than 0 and 1")
    try:
        return flat.view(dtype).reshape(shape, order=order) if flat.size else np.empty(shape, dtype)
    except ValueError as error:
        raise CorruptFileError(f"an array of shape {shape} cannot be made") from error


def _tuples(given: Any) -> Any:
    return tuple(_tuples(one) for one in given) if isinstance(given, (list, tuple)) else given
