"""What models of kernel columns share: how X is read, the library, the family of columns.

X is a matrix of numbers, a table, objects, or several matrices:

==========  ======================================================  =============================
kind        what the user gives                                     what kernels are given
==========  ======================================================  =============================
floats      whatever scikit-learn makes a matrix of numbers         the matrix
table       a data frame or an array with other things as well      an array of objects, 2-d
objects     a list, a 1-d array or a series, not of numbers         an array of objects, one column
matrices    a mapping of names to matrices                          the matrices side by side
==========  ======================================================  =============================

Only a library with kernels of objects, kernels on some columns, or named matrices has another kind
than floats. The kind is that of the training X; new rows are read in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from cgboost.arrays import Matrix
from cgboost.estimators.common.certified import BoostOverCosts, Certified, Proven
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.input_checks import is_float, validate_data
from cgboost.estimators.common.plan import Plan
from cgboost.estimators.common.reading import RowReader
from cgboost.estimators.common.training_rows import FLOATS, TrainingRows, checked_y
from cgboost.estimators.kernel.kernel_columns import (
    TO_THE_END,
    KernelColumns,
    Priority,
    kernels_at_once,
)
from cgboost.estimators.kernel.kernel_parameters import HasKernels
from cgboost.exceptions import DataWarning, see, warn_caller
from cgboost.kernels import AnyLibrary, Header, as_library
from cgboost.kernels.library import DEFAULT_LIBRARY, KernelLibrary, given
from cgboost.kernels.on_columns import On, are_numbers, is_time, kind_of_value
from cgboost.kernels.precomputed import Precomputed
from cgboost.kernels.sparse_rows import is_sparse
from cgboost.penalties import RKHS, GroupNorm, Penalty, get_penalty
from cgboost.pricing import KernelPool
from cgboost.tables.frames import (
    DAYS,
    check_frame,
    check_unmasked,
    filled,
    frame_of,
    has_numbers,
    is_frame,
    objects_of,
)


@dataclass(eq=False, repr=False)
class BaseKernelBoost(HasKernels, BoostOverCosts):
    """A model over the columns K(·, z) of a library of kernels."""

    library: AnyLibrary = None
    penalty: Literal["l1", "l2", "elasticnet", "rkhs", "group"] | Penalty = field(
        default="l1", kw_only=True
    )
    coef: Literal["free", "nonneg"] = field(default="free", kw_only=True)
    centers: Literal["rows", "free"] = field(default="rows", kw_only=True)
    priority: Priority = field(default="full", kw_only=True)
    cache_size: float = field(default=1000.0, kw_only=True)
    executor: Any = field(default=None, kw_only=True)

    _default_library: ClassVar[KernelLibrary] = DEFAULT_LIBRARY

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients of the columns, in the order of ``columns_``."""
        return self.column_weights_

    @property
    def _family(self) -> KernelColumns:
        """Kernel columns, of rows or free centres; whole kernels for a norm of functions."""
        kind: type[KernelColumns] = KernelColumns
        library, penalty = self.library, self.penalty
        with suppress(ValueError):  # check() raises it
            penalty = get_penalty(penalty)
            library = as_library(library, self._default_library)
        if isinstance(penalty, GroupNorm):
            from cgboost.estimators.kernel.multiple_kernel_learning import WholeKernels

            kind = WholeKernels
        elif isinstance(penalty, RKHS) and self.centers == "free":
            from cgboost.estimators.kernel.free_centres import FreeCentres

            kind = FreeCentres
        # where no round but the last is of use, None means as many columns as make the fit quick
        ends = self.early_stopping or self.max_columns is not None or self.priority != "full"
        to_the_end = self.columns_per_round is None and not ends
        per_round = TO_THE_END if to_the_end else self.columns_per_round
        return kind.of(self, library=library, penalty=penalty, per_round=per_round)

    def _validated(self, X: Any, y: Any) -> tuple[Matrix, Any]:
        self._input, matrix, y = read_training(self, self._family, X, y)
        default = self.library is None and self._default_library is DEFAULT_LIBRARY
        if default and is_sparse(matrix) and matrix.shape[1] > matrix.shape[0]:
            warn_caller(
                f"X is sparse, {matrix.shape[1]} features for {matrix.shape[0]} rows, as words of "
                "texts are: the default library is for fewer features; library='linear', Linear() "
                "or Cosine() had fewer errors on texts, and library='default' says that you want "
                f"it{see('kernels-and-libraries')}",
                DataWarning,
            )
        return matrix, y

    def _read_new(self, X: Any, y: Any = None) -> Any:
        return read_new(self, self._family, self._input, X, y)

    def _fold(
        self, rows: TrainingRows, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[TrainingRows, Matrix]:
        part, X = super()._fold(rows, train, test)
        if not self._family.is_pairwise:
            return part, X
        assert rows.numbers is not None
        kernel: Any
        (kernel,) = self._input.library.kernels.values()
        first = kernel.first_column  # in a mapping, other matrices may stand before it
        columns = np.concatenate([np.arange(first), first + rows.numbers[train]])
        return replace(part, X=part.X[:, columns], numbers=np.arange(len(train))), X[:, columns]

    def _pool(self, rows: TrainingRows) -> KernelPool:
        """The kernel columns; ``library_`` has the widths that kernels took from the rows."""
        library = self._input.library
        pool: KernelPool = replace(self._family, library=library).pool(rows)
        as_given = given if library.normalize else (lambda kernel: kernel)
        kernels = {family.name: as_given(family.kernel) for family in pool.families}
        self.library_ = library.with_kernels(kernels)
        return pool

    def _master_options(self) -> dict[str, Any]:
        return {"coef": self._family.sign, "solver": self.solver}

    @property
    def _is_watched(self) -> bool:
        return super()._is_watched or self.executor is not None

    def _runs_at_once(self, plan: Certified) -> list[FittedRun] | None:
        return kernels_at_once(plan)

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        assert isinstance(plan, Proven)
        assert isinstance(plan.family, KernelColumns)
        self.columns_per_kernel_ = plan.family.counts(self.columns_)


InputKind = Literal["floats", "table", "objects", "matrices"]

ColumnGroups = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class KernelInput:
    """How X is read, learned from the training rows.

    Attributes
    ----------
    kind : {"floats", "table", "objects", "matrices"}
    library : KernelLibrary
        Prepared for the columns of X.
    groups : dict of str to tuple of int
        Columns of each matrix of a mapping.
    """

    kind: InputKind
    library: KernelLibrary
    groups: ColumnGroups


def read_training(
    estimator: RowReader, family: KernelColumns, X: Any, y: Any
) -> tuple[KernelInput, NDArray[Any], Any]:
    """How X is read, and the training rows and their y as kernels are given them.

    The estimator gets ``n_features_in_``, and ``feature_names_in_`` for data frames.

    Parameters
    ----------
    family : KernelColumns
        With the library of the parameters.
    X, y : as given to ``fit``
    """
    check_unmasked("X", X)
    library = family.library
    kind = kind_of(library, X)
    groups: ColumnGroups = {}
    if kind == "floats":
        matrix, y = _floats(estimator, X, y, reset=True)
        names = getattr(estimator, "feature_names_in_", ())
        groups = {name: (j,) for j, name in enumerate(names)}
        header = Header((True,) * matrix.shape[1], groups, X)
    elif kind == "matrices":
        matrix, groups = _side_by_side(X)
        _check_matrices(library, X, len(matrix))
        gram = frozenset(j for name in _named_matrices(library) for j in groups[name])
        header = Header((True,) * matrix.shape[1], groups, matrix, gram)
        estimator.n_features_in_ = matrix.shape[1]
    elif kind == "table":
        header, matrix = _table(estimator, X, reset=True)
    else:
        matrix = _objects(X)
        header = Header((False,), {}, matrix, examples=(matrix[0, 0],))
        estimator.n_features_in_ = 1
    if kind in ("objects", "matrices") and hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit
    if kind != "floats":
        y = _target(estimator, matrix, y)
    own = KernelInput(kind, library.for_columns(header), groups)
    return own, family.readable(matrix, own.library) if kind == "table" else matrix, y


def read_new(estimator: RowReader, family: KernelColumns, own: KernelInput, X: Any, y: Any) -> Any:
    """Rows to be predicted, or (X, y) to be scored, read as the training rows were."""
    check_unmasked("X", X)
    if own.kind == "floats":
        read = _floats(estimator, X, y, reset=False)
        return read[0] if y is None else read
    if own.kind == "matrices":
        matrix, groups = _side_by_side(X)
        if groups != own.groups:
            raise ValueError(
                f"X must have the matrices of the training rows, {_shapes(own.groups)}, got "
                f"{_shapes(groups)}{see('precomputed-kernels')}"
            )
    elif own.kind == "table":
        matrix = family.readable(_table(estimator, X, reset=False)[1], own.library)
    else:
        matrix = _objects(X)
    return matrix if y is None else (matrix, _target(estimator, matrix, y))


def kind_of(library: KernelLibrary, X: Any) -> InputKind:
    """What the X of a fit is."""
    if isinstance(X, Mapping):
        chosen = any(isinstance(kernel, On) for kernel in library.kernels.values())
        return "matrices" if chosen or _named_matrices(library) else "floats"
    if len(getattr(X, "shape", ())) != 1:
        check_frame(X)
    if not library.takes_objects or hasattr(X, "toarray"):
        return "floats"
    if is_frame(X):
        return "floats" if 0 in X.shape or all(_numeric_columns(X)) else "table"
    if isinstance(X, (list, tuple)):
        return _kind_of_list(X)
    if not (isinstance(X, np.ndarray) or hasattr(X, "to_list")):
        return "floats"
    values = X if isinstance(X, np.ndarray) else filled(X.to_list())  # of a series
    if values.dtype.kind in "fiubc" or values.ndim not in (1, 2) or not values.size:
        return "floats"
    if values.dtype.kind == "O" and are_numbers(values.ravel().tolist()):
        return "floats"
    return "objects" if values.ndim == 1 or values.shape[1] == 1 else "table"


def _kind_of_list(X: Sequence[Any]) -> InputKind:
    if not X or are_numbers(X):
        return "floats"
    if not all(isinstance(row, (list, tuple, np.ndarray)) and np.ndim(row) == 1 for row in X):
        return "objects"
    if len({len(row) for row in X}) > 1:
        return "objects"
    return "floats" if all(are_numbers(row) for row in X) else "table"


# ---------------------------------------------------------------------- readers


def _floats(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    how: dict[str, Any] = {"reset": reset, "dtype": FLOATS}
    how["accept_sparse"] = estimator._accept_sparse
    try:
        if y is None and not (reset and _needs_target(estimator)):
            return validate_data(estimator, X, **how), None
        if reset:
            how["y_numeric"] = estimator._y_numeric
        checked: tuple[Any, Any] = validate_data(estimator, X, y, **how)
    except (ValueError, TypeError) as error:
        if (wrong := _wrong_column(X)) is None:
            raise
        column, value = wrong
        todo = (
            DAYS
            if is_time(value)
            else "encode them as numbers (OneHotEncoder), or give each kernel its columns, "
            'library={"numbers": (RBF(), ["age", "fare"]), "words": (k, "town")} with a function '
            "k(A, B) or a kernel of objects"
        )
        raise ValueError(
            f"the kernels of this library take numbers, but column {column} of X has "
            f"{kind_of_value(value)}, such as {value!r}: {todo}{see('kernels-on-columns')}"
        ) from error
    return checked


def _wrong_column(X: Any) -> tuple[str, Any] | None:
    """The first column with words or dates that are no numbers, and one of these."""
    check_frame(X)
    if not is_frame(X):
        with suppress(ValueError):
            X = np.asarray(X, dtype=object)
        if np.ndim(X) != 2:
            return None
    named = _columns(X) if is_frame(X) else [(str(j), X[:, j]) for j in range(X.shape[1])]
    for name, values in named:
        for value in values:
            if is_time(value) or (isinstance(value, str) and not is_float(value)):
                return name, value
    return None


def _objects(X: Any) -> NDArray[Any]:
    """Objects as the rows of a table of one column."""
    if is_frame(X):
        values: Any = _columns(X)[0][1] if X.shape[1] == 1 else None
    elif isinstance(X, np.ndarray):
        values = X if X.ndim == 1 else X[:, 0] if X.ndim == 2 and X.shape[1] == 1 else None
    elif isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__len__"):
        values = None
    else:
        values = list(X)
    if values is None:
        shape = f" of shape {X.shape}" if hasattr(X, "shape") else ""
        raise ValueError(
            f"X must be a list or a column of objects, got a {type(X).__name__}{shape}"
            f"{see('kernels-on-columns')}"
        )
    if not len(values):
        raise ValueError("X must have at least one row, got none")
    return filled(values)[:, None]


def _table(estimator: Any, X: Any, *, reset: bool) -> tuple[Header, NDArray[Any]]:
    """What the columns of a table are, and the table as an array of objects."""
    check_frame(X)
    if not is_frame(X):
        X = check_array(X, dtype=object, ensure_all_finite=False)
    elif 0 in X.shape:
        raise ValueError(f"X must have rows and columns, got a data frame of shape {X.shape}")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if isinstance(X, np.ndarray):
        return Header.of_array(X), X
    columns = [values for _, values in _columns(X)]
    names = getattr(estimator, "feature_names_in_", ())
    numeric = _numeric_columns(X)
    examples = [None if ok else own[0] for ok, own in zip(numeric, columns, strict=True)]
    groups = {name: (j,) for j, name in enumerate(names)}
    return Header(numeric, groups, X, examples=tuple(examples)), np.column_stack(columns)


def _side_by_side(X: Any) -> tuple[NDArray[Any], ColumnGroups]:
    """The matrices of a mapping as one, and the columns of each."""
    if not isinstance(X, Mapping) or not X:
        raise ValueError(
            "X must be a mapping of names to matrices, as the training rows were, got "
            f"{type(X).__name__}{see('precomputed-kernels')}"
        )
    blocks: list[NDArray[Any]] = []
    groups: ColumnGroups = {}
    start = 0
    for name, own in X.items():
        try:
            block = check_array(own, dtype=FLOATS, input_name=f"X[{name!r}]")
        except ValueError as error:
            raise ValueError(f"X[{name!r}]: {error}{see('precomputed-kernels')}") from error
        groups[name] = tuple(range(start, start + block.shape[1]))
        start += block.shape[1]
        blocks.append(block)
    sizes = {name: len(block) for name, block in zip(X, blocks, strict=True)}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            f"the matrices of X have different numbers of rows: {sizes}{see('precomputed-kernels')}"
        )
    return np.hstack(blocks), groups


def _check_matrices(library: KernelLibrary, X: Mapping[str, Any], n_rows: int) -> None:
    for name in _named_matrices(library):
        if name not in X:
            raise ValueError(
                f"X has no matrix {name!r}, it has {', '.join(map(repr, X))}"
                f"{see('precomputed-kernels')}"
            )
        if np.shape(X[name])[1] != n_rows:
            raise ValueError(
                f"X[{name!r}] must be square in fit, kernel values of all training rows, got shape "
                f"{np.shape(X[name])}{see('precomputed-kernels')}"
            )


def _target(estimator: Any, X: NDArray[Any], y: Any) -> Any:
    if y is None and _needs_target(estimator):
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    if y is None:
        return None
    y = checked_y(estimator, y)
    check_consistent_length(X, y)
    return y


# ---------------------------------------------------------------------- what X is made of


def _needs_target(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().target_tags.required)


def _named_matrices(library: KernelLibrary) -> list[str]:
    """Names of precomputed kernels that look for their matrix in X."""
    return [
        leaf.first
        for leaf in library.leaves()
        if isinstance(leaf, Precomputed) and leaf.matrix is None and isinstance(leaf.first, str)
    ]


def _numeric_columns(frame: Any) -> tuple[bool, ...]:
    """For every column of a data frame, whether it holds numbers."""
    return tuple(map(has_numbers, frame_of(frame).iter_columns()))


def _columns(frame: Any) -> list[tuple[str, NDArray[Any]]]:
    """The names of the columns of a data frame, for messages, and their values."""
    return [(repr(own.name), objects_of(own)) for own in frame_of(frame).iter_columns()]


def _shapes(groups: ColumnGroups) -> str:
    return ", ".join(f"{name!r} with {len(places)} columns" for name, places in groups.items())
