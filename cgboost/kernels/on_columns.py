"""Kernels on some columns of X, and descriptions of these columns.

    k(x, z) = k_inner(x[columns], z[columns])

X is a matrix of numbers, or a table of objects (an array of dtype object) created from a data
frame with mixed types. A kernel of a library is prepared for the columns of one X by
:func:`for_columns`: names and selectors become positions, and non-numeric columns are rejected for
kernels that need numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Matrix
from cgboost.exceptions import KernelError, see
from cgboost.kernels.checked_values import failed
from cgboost.kernels.expansions import Weights
from cgboost.kernels.gradients import no_gradient
from cgboost.kernels.kernel import Kernel, KernelFunction, Norms, fitted, rebuilt
from cgboost.kernels.precomputed import FunctionKernel, Precomputed
from cgboost.tables.frames import DAYS, is_frame, some_columns

SHOWN_VALUES = 3
"""Values or names that a message shows."""

SEE = see("kernels-on-columns")

ColumnPlaces = tuple[int, ...]


@dataclass(frozen=True)
class Header:
    """A description of the columns of X.

    Attributes
    ----------
    numeric : tuple of bool
        For every column, whether it is numeric.
    groups : mapping of str to tuple of int
        The columns of each name: one for a data frame, all of a matrix for a mapping of matrices.
    frame : object
        The X passed by the user, for selectors.
    gram : frozenset of int
        Columns with kernel values, which only :class:`Precomputed` may read.
    examples : tuple
        An example value of every non-numeric column, for messages; None for the others.
    """

    numeric: tuple[bool, ...]
    groups: Mapping[str, ColumnPlaces] = field(default_factory=dict)
    frame: Any = None
    gram: frozenset[int] = frozenset()
    examples: tuple[Any, ...] = ()

    @classmethod
    def of_array(cls, X: NDArray[Any]) -> Header:
        """The header of a matrix or of a table of objects, without names."""
        numeric = [X.dtype != object or are_numbers(X[:, j]) for j in range(X.shape[1])]
        examples = [None if ok else X[0, j] for j, ok in enumerate(numeric)]
        return cls(tuple(numeric), frame=X, examples=tuple(examples))

    def label(self, place: int) -> str:
        """The name of a column, or its position."""
        for name, places in self.groups.items():
            if place in places:
                return repr(name)
        return str(place)

    def places(self, columns: Any) -> ColumnPlaces:
        """Positions of the chosen columns.

        Raises
        ------
        ValueError
            Names what is missing.
        """
        if callable(columns):
            columns = columns(self.frame)
        if isinstance(columns, slice):
            return tuple(range(*self._positions(columns).indices(len(self.numeric))))
        if isinstance(columns, (str, Integral)):
            columns = [columns]
        if not isinstance(columns, Iterable):
            raise ValueError(
                "columns must be a position, a name, a list of them, a slice or a function of X, "
                f"got {columns!r}{SEE}"
            )
        chosen = list(columns)
        if chosen and all(isinstance(c, (bool, np.bool_)) for c in chosen):
            if len(chosen) != len(self.numeric):
                raise ValueError(
                    f"columns has {len(chosen)} truth values, X has {len(self.numeric)} columns"
                    f"{SEE}"
                )
            chosen = np.flatnonzero(chosen).tolist()
        places = [place for one in chosen for place in self._of_one(one)]
        if not places:
            raise ValueError(f"columns={columns!r} chooses no column of X{SEE}")
        return tuple(places)

    def _of_one(self, column: Any) -> ColumnPlaces:
        if isinstance(column, str):
            if column not in self.groups:
                known = ", ".join(map(repr, list(self.groups)[:10]))
                has = f"it has {known}" if known else "its columns have no names: give a data frame"
                raise ValueError(f"X has no column {column!r}: {has}{SEE}")
            return self.groups[column]
        if not isinstance(column, Integral) or isinstance(column, (bool, np.bool_)):
            raise ValueError(f"columns are positions or names, got {column!r}{SEE}")
        count, place = len(self.numeric), int(column)
        if not -count <= place < count:
            raise ValueError(f"X has {count} columns, there is no column {place}{SEE}")
        return (place % count,)

    def _positions(self, chosen: slice) -> slice:
        """A slice of positions; one of names includes its end."""
        start, stop = chosen.start, chosen.stop
        if isinstance(start, str):
            start = self._of_one(start)[0]
        if isinstance(stop, str):
            stop = self._of_one(stop)[-1] + 1
        return slice(start, stop, chosen.step)

    def part(self, places: ColumnPlaces) -> Header:
        """The header of some columns."""
        new = {old: number for number, old in enumerate(places)}
        groups = {
            name: own
            for name, wanted in self.groups.items()
            if (own := tuple(new[j] for j in wanted if j in new))
        }
        frame = self.frame
        if is_frame(frame) or isinstance(frame, np.ndarray):
            frame = some_columns(frame, places)
        return Header(
            tuple(self.numeric[j] for j in places),
            groups,
            frame,
            frozenset(new[j] for j in self.gram if j in new),
            tuple(self.examples[j] for j in places) if self.examples else (),
        )


@dataclass(frozen=True)
class Columns:
    """Some columns of X, by position: the input of a kernel on these columns.

    Attributes
    ----------
    places : tuple of int
    labels : tuple of str
        Their names, or their positions, for messages.
    numeric : bool
        Whether all of them are numeric in the training rows.
    kernel : str
        The kernel of the library that reads them, for messages.
    """

    places: ColumnPlaces
    labels: tuple[str, ...]
    numeric: bool
    kernel: str = field(default="", compare=False)  # kernels on the same columns share products

    @classmethod
    def of(cls, columns: Any, header: Header, kernel: str = "") -> Columns:
        """The columns chosen by a user."""
        if isinstance(columns, Columns):
            return columns
        places = header.places(columns)
        numeric = all(header.numeric[j] for j in places)
        return cls(places, tuple(header.label(j) for j in places), numeric, kernel)

    def __call__(self, X: NDArray[Any]) -> NDArray[Any]:
        """Their values in the rows of X.

        Returns
        -------
        ndarray
            Floats of shape (n_rows, n_columns) for columns of numbers; else objects, of shape
            (n_rows,) for one column and (n_rows, n_columns) for several.

        Raises
        ------
        KernelError
            Naming a column of numbers that now has other values.
        """
        if self.places[-1] >= X.shape[1]:
            raise KernelError(f"X has {X.shape[1]} columns, there is no column {self.labels[-1]}")
        if X.dtype != object:
            return X[:, self._index]
        if not self.numeric:
            return X[:, self.places[0]] if len(self.places) == 1 else X[:, self._index]
        return self._floats(X[:, self._index])

    @contextmanager
    def naming(self, X: NDArray[Any], Z: NDArray[Any]) -> Iterator[None]:
        """Context that adds the kernel and its input to errors raised on these columns.

        Parameters
        ----------
        X, Z : ndarray
            The rows, with all columns.
        """
        plural = "s" if len(self.labels) > 1 else ""
        whose = f"kernel {self.kernel!r}" if self.kernel else "the kernel"
        called = f"{whose} on column{plural} {', '.join(self.labels)} of X"
        try:
            yield
        except MemoryError:
            raise
        except KernelError as error:
            raise KernelError(f"{called}: {error}") from error
        except Exception as error:
            whence = f", parts of rows of shapes {X.shape} and {Z.shape}"
            raise failed(called, error, self(X), self(Z), whence) from error

    @property
    def _index(self) -> Any:
        first, last = self.places[0], self.places[-1]
        consecutive = self.places == tuple(range(first, last + 1))
        return slice(first, last + 1) if consecutive else list(self.places)

    def _floats(self, table: NDArray[np.object_]) -> Matrix:
        """A table of objects as a float matrix: the one place where this is done."""
        try:
            values = table.astype(np.float64)
        except (TypeError, ValueError):
            values = None
        if values is not None and np.isfinite(values).all():
            return values
        for j, label in enumerate(self.labels):
            wrong = [value for value in table[:, j].tolist() if not _is_finite_number(value)]
            if wrong:
                shown = ", ".join(map(repr, wrong[:SHOWN_VALUES]))
                raise KernelError(
                    f"column {label} must hold finite numbers, {len(wrong)} of {len(table)} rows "
                    f"do not: {shown}{SEE}"
                )
        assert values is not None
        return values


def _widened(part: Matrix) -> Matrix:
    """Few features take little time, and float32 may be too narrow for them."""
    return part.astype(np.float64) if part.dtype == np.float32 else part


@dataclass(frozen=True)
class On(Kernel):
    """A kernel on some columns of X: k(x, z) = kernel(x[columns], z[columns]).

    Columns of numbers reach the kernel as a float matrix. All others reach it as objects: one
    column as an array of shape (n_rows,), several as a table of shape (n_rows, n_columns).

    Parameters
    ----------
    kernel : Kernel or callable
        Its widths are set from its own columns. A callable ``k(A, B)`` receives the columns.
    columns : int, str, list, slice or callable
        Positions; names, for data frames; a slice of either (names include the end); booleans;
        or a function of X that returns one of these, such as
        ``sklearn.compose.make_column_selector(dtype_include="number")``.

    Examples
    --------
    >>> from cgboost import RBF, KernelLibrary, On
    >>> KernelLibrary({f"feature {j}": On(RBF(), j) for j in range(3)})
    KernelLibrary(feature 0, feature 1, feature 2)
    """

    kernel: Kernel | KernelFunction
    columns: Any

    def __post_init__(self) -> None:
        kernel, columns = self.kernel, self.columns
        if not isinstance(kernel, Kernel):
            if not callable(kernel) or isinstance(kernel, type):
                raise ValueError(f"On takes a Kernel or a callable k(A, B), got {kernel!r}{SEE}")
            object.__setattr__(self, "kernel", FunctionKernel(kernel))
        elif kernel.is_precomputed:
            raise ValueError(
                f"On({kernel}, …) has no rows to look up: give it the matrix, "
                'On(Precomputed("name", matrix), columns="row"), or name its first column'
                f"{see('precomputed-kernels')}"
            )
        if isinstance(columns, (list, np.ndarray)):
            plain = tuple(c.item() if isinstance(c, np.generic) else c for c in columns)
            object.__setattr__(self, "columns", plain)

    @property
    def _inner(self) -> Kernel:
        assert isinstance(self.kernel, Kernel)
        return self.kernel

    def __hash__(self) -> int:
        return hash((self.kernel, repr(self.columns)))

    @property
    def takes_objects(self) -> bool:
        return True

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        own = self
        if not isinstance(self.columns, Columns):
            own = _on_columns("", self, Header.of_array(X))
        return replace(own, kernel=fitted(own._inner, own.columns(X), sample_weight))

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        chosen = self._chosen(X)
        A, B = _widened(chosen(X)), _widened(chosen(Z))
        with chosen.naming(X, Z):
            return self._inner(A, B)

    def diagonal(self, X: Matrix) -> Norms:
        chosen = self._chosen(X)
        part = _widened(chosen(X))
        with chosen.naming(X, X):
            return self._inner.diagonal(part)

    def centre_gradient(self, X: Matrix, Z: Matrix, weights: Matrix) -> Matrix:
        chosen = self._chosen(X)
        if not chosen.numeric or X.dtype == object:
            raise no_gradient(self)
        gradient = np.zeros(Z.shape)
        with chosen.naming(X, Z):
            own = self._inner.centre_gradient(_widened(chosen(X)), _widened(chosen(Z)), weights)
        gradient[:, list(chosen.places)] = own
        return gradient

    def restricted(self) -> tuple[Callable[[Matrix], Matrix], Kernel] | None:
        if not (isinstance(self.columns, Columns) and self._inner.of_products):
            return None
        return self.columns, self._inner

    def _chosen(self, X: Matrix) -> Columns:
        if isinstance(self.columns, Columns):
            return self.columns
        return Columns.of(self.columns, Header.of_array(X))


def for_columns(name: str, kernel: Kernel, header: Header) -> Kernel:
    """A kernel of a library, for an X with this header.

    Raises
    ------
    ValueError
        Naming a column that is not there, or that is not for this kernel.
    """
    if isinstance(kernel, On):
        return _on_columns(name, kernel, header)
    if isinstance(kernel, Precomputed):
        return _given(name, kernel, header)
    changed = rebuilt(kernel, lambda part: for_columns(name, part, header))
    if changed is kernel and not any(True for _ in kernel.parts()):
        _check_leaf(name, kernel, header)
    return changed


def check_row_numbers(kernels: Mapping[str, Kernel], header: Header) -> None:
    """No kernel of features may read a column of row numbers.

    Parameters
    ----------
    kernels : mapping of str to Kernel
        As :func:`for_columns` made them.

    Raises
    ------
    ValueError
        Naming the kernel.
    """
    numbers = row_numbers(kernels, header) - header.gram
    everything = tuple(range(len(header.numeric)))
    found = [(name, *own) for name, k in kernels.items() for own in _leaves(k, everything)]
    for name, leaf, places in found:
        if numbers & set(places) and not isinstance(leaf, Precomputed) and not leaf.takes_objects:
            raise ValueError(
                f"kernel {name!r} would take row numbers for features: choose its columns, "
                f"On({leaf}, columns=…){see('precomputed-kernels')}"
            )


def row_numbers(kernels: Mapping[str, Kernel], header: Header) -> frozenset[int]:
    """Columns that given kernel values are looked up by, or that hold them."""
    numbers = {
        place
        for kernel in kernels.values()
        for leaf, places in _leaves(kernel, tuple(range(len(header.numeric))))
        if isinstance(leaf, Precomputed) and leaf.matrix is not None
        for place in places
    }
    return header.gram.union(numbers)


def _leaves(kernel: Kernel, places: ColumnPlaces) -> Iterator[tuple[Kernel, ColumnPlaces]]:
    """Kernels that are made of no others, with their columns."""
    if isinstance(kernel, On):
        places = tuple(places[j] for j in kernel.columns.places)
    parts = list(kernel.parts())
    for part in parts:
        yield from _leaves(part, places)
    if not parts:
        yield kernel, places


def _on_columns(name: str, kernel: On, header: Header) -> On:
    columns = Columns.of(kernel.columns, header, name)
    return On(for_columns(name, kernel._inner, header.part(columns.places)), columns)


def _check_leaf(name: str, kernel: Kernel, header: Header) -> None:
    if header.gram:
        raise ValueError(
            f"kernel {name!r} would take given kernel values for features: choose its columns, "
            f"On({kernel}, columns=…){see('precomputed-kernels')}"
        )
    wrong = [j for j, numeric in enumerate(header.numeric) if not numeric]
    if wrong and not kernel.takes_objects:
        example = header.examples[wrong[0]] if header.examples else None
        shown = f", such as {example!r}" if header.examples else ""
        todo = f"choose columns of numbers, On({kernel}, columns=…), or a kernel of objects"
        raise ValueError(
            f"kernel {name!r} takes numbers, but column {header.label(wrong[0])} of X has "
            f"{kind_of_value(example)}{shown}: {DAYS if is_time(example) else todo}{SEE}"
        )


def _given(name: str, kernel: Precomputed, header: Header) -> Kernel:
    """A precomputed kernel, with its place among the columns of X."""
    where = see("precomputed-kernels")
    if kernel.matrix is not None:
        if len(header.numeric) != 1 or not header.numeric[0] or header.gram:
            raise ValueError(
                f"kernel {name!r} needs row numbers, X has {len(header.numeric)} columns: say "
                f'which has them, On(Precomputed("{kernel.first}", matrix), columns=…){where}'
            )
        return kernel
    if isinstance(kernel.first, int):
        return kernel
    if not header.gram:
        return Precomputed(0)  # X is the matrix itself
    return Precomputed(header.groups[kernel.first][0])


def is_time(value: Any) -> bool:
    """Whether a value is a date, a time or a difference of these."""
    return isinstance(value, (date, time, timedelta, np.datetime64, np.timedelta64))


def kind_of_value(value: Any) -> str:
    """What a column with this value has, in words."""
    return "dates or times" if is_time(value) else "words" if isinstance(value, str) else "objects"


def are_numbers(values: Iterable[Any]) -> bool:
    """Whether all values are numbers: real ones, or truth values."""
    return all(map(_is_number, set(map(type, values))))


def _is_number(kind: type) -> bool:
    return issubclass(kind, (int, float, np.integer, np.floating, np.bool_))


def _is_finite_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False
