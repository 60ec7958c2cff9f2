"""Training and validation rows: sample weights, ``eval_set``, the part that is held out.

Arrays are checked; data frames keep their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from cgboost.arrays import Matrix, Vector
from cgboost.estimators.common.input_checks import check_here, check_y, read_weights, validate_data
from cgboost.exceptions import see, without_hint
from cgboost.tables.binning import check_weight_size, numbers_of, read_source
from cgboost.tables.date_features import with_date_features
from cgboost.tables.frames import check_frame, is_frame
from cgboost.tables.row_blocks import SourceRows
from cgboost.tables.table_encoding import Schema, SchemaMaker

if TYPE_CHECKING:
    from cgboost.additive.places.partitions import PartitionedRows
    from cgboost.additive.sql.place import SQLPlace


EvalSet = tuple[ArrayLike, ArrayLike]

EvalSets = EvalSet | Sequence[EvalSet] | Mapping[str, EvalSet]
"""One pair (X, y), a list or tuple of several, or several by name."""

Learn = Callable[[Any, Vector], NDArray[Any]]
"""Makes numbers of y, given the weights of its rows."""

VALIDATION = "validation"
"""The name of a set that the user gives no name."""

FORMS = "a pair (X, y), a list of such pairs, or a dict of them by name"


class HeldRows(NamedTuple):
    """Rows that are scored and not trained on.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Encoded as the training y is.
    weights : ndarray of shape (n_rows,) or None
        Those of rows that were training rows.
    """

    X: Any
    y: NDArray[Any]
    weights: Vector | None = None


HeldSets = dict[str, HeldRows]
"""Sets of held-out rows by their names."""

FLOATS = [np.float64, np.float32]
"""What X may be; anything else becomes float64."""


@dataclass(frozen=True)
class TrainingRows:
    """Training rows, and where they stand in the X that the user gave.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Numbers to predict, or numbers of the classes.
    weights : ndarray of shape (n_rows,)
    numbers : ndarray of shape (n_rows,) or None
        Row numbers in the user's X; None for a source of blocks, whose rows all count.
    """

    X: Matrix
    y: NDArray[Any]
    weights: Vector
    numbers: NDArray[np.intp] | None

    @classmethod
    def of(cls, X: Matrix, y: NDArray[Any], sample_weight: ArrayLike | None) -> TrainingRows:
        """All rows of X, with checked weights."""
        return cls(X, y, read_weights(sample_weight, X), np.arange(X.shape[0]))

    def take(self, places: NDArray[np.intp]) -> TrainingRows:
        """A part of the rows, in the order of their places."""
        numbers = places if self.numbers is None else self.numbers[places]
        y = self.y[places] if len(self.y) else self.y  # an outlier detector has none
        return TrainingRows(self.X[places], y, self.weights[places], numbers)

    def counting(self) -> TrainingRows:
        """The rows that cost anything: those of a positive weight."""
        places = np.flatnonzero(self.weights)
        return self if len(places) == len(self.weights) else self.take(places)

    def split(
        self, fraction: float, random_state: Any, *, stratify: bool
    ) -> tuple[TrainingRows, HeldSets]:
        """The rows without a random ``fraction`` of them, and that fraction as a held-out set.

        ``random_state=None`` draws fresh randomness and leaves NumPy's global state alone.
        """
        from sklearn.model_selection import train_test_split

        try:
            stay, leave = train_test_split(
                np.arange(self.X.shape[0]),
                test_size=fraction,
                random_state=np.random.RandomState() if random_state is None else random_state,
                stratify=self.y if stratify else None,
            )
        except ValueError as error:
            raise ValueError(
                f"early_stopping=True cannot hold out validation_fraction={fraction:g} of "
                f"{self.X.shape[0]} rows ({error}); give an eval_set"
                f"{see('eval-set')}"
            ) from error
        held = HeldRows(self.X[leave], self.y[leave], self.weights[leave])
        return self.take(np.sort(stay)), {VALIDATION: held}


def named_sets(eval_set: EvalSets | None) -> dict[str, EvalSet]:
    """The pairs of an ``eval_set`` by name; those of a list are validation_0, validation_1 etc.

    Raises
    ------
    ValueError
        If it is none of the forms that there are, or a pair has no y.
    """
    if eval_set is None:
        return {}
    pairs: dict[str, Any]
    if isinstance(eval_set, Mapping):
        pairs = dict(eval_set)
    elif isinstance(eval_set, (list, tuple)) and _is_of_pairs(eval_set):
        lone = len(eval_set) == 1
        pairs = {VALIDATION if lone else f"{VALIDATION}_{k}": p for k, p in enumerate(eval_set)}
    else:
        pairs = {VALIDATION: eval_set}
    if not pairs:
        raise ValueError(f"eval_set must be {FORMS}, got none{see('eval-set')}")
    for name, pair in pairs.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"eval_set must have names that are words, got {name!r}")
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            size = f" of length {len(pair)}" if isinstance(pair, (tuple, list)) else ""
            raise ValueError(
                f"eval_set must be {FORMS}, got a {type(pair).__name__}{size}{see('eval-set')}"
            )
        if pair[1] is None:
            raise ValueError(f"eval_set must be {FORMS}, got no y{see('eval-set')}")
    return {name: (X, y) for name, (X, y) in pairs.items()}


def _is_of_pairs(eval_set: Sequence[Any]) -> bool:
    """Whether a list, or a tuple, is one of pairs (X, y) rather than a pair itself.

    A list is a pair if it has two items that are neither lists nor tuples, a tuple unless it has
    pairs with a matrix first.
    """
    if isinstance(eval_set, list):
        return len(eval_set) != 2 or any(isinstance(item, (tuple, list)) for item in eval_set)
    return len(eval_set) > 0 and all(
        isinstance(pair, tuple) and len(pair) == 2 and getattr(pair[0], "ndim", 0) == 2
        for pair in eval_set
    )


@contextmanager
def errors_of_set(name: str) -> Iterator[None]:
    """Errors of reading one pair of an ``eval_set`` say which it is."""
    try:
        yield
    except ValueError as error:
        which = "" if name == VALIDATION else f" {name!r}"
        raise ValueError(f"eval_set{which}: {without_hint(error)}{see('eval-set')}") from error


def is_table(X: Any) -> bool:
    """Whether X is an array or a data frame, and neither a number nor a source of blocks."""
    return getattr(X, "shape", ()) != () or is_frame(X)


def is_source(X: Any) -> bool:
    """Whether X yields blocks (X, y): a list of such pairs, or an object that only iterates."""
    if is_table(X) or hasattr(X, "__array__") or not hasattr(X, "__iter__"):
        return False
    if not isinstance(X, (list, tuple)):
        return not hasattr(X, "__getitem__")
    first = X[0] if len(X) else None
    return isinstance(first, (list, tuple)) and len(first) in (2, 3) and is_table(first[0])


def table_of(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    """A checked array, float32 or float64, or the data frame with its dates as features, and y.

    Raises
    ------
    ValueError
        As scikit-learn's ``validate_data``; nan is allowed in X. If X is a source of blocks, or a
        frame whose rows have not been read.
    """
    check_here(estimator, X, reset=reset)
    if is_source(X):
        raise ValueError(
            f"X must be one table here, an array or a data frame, got a {type(X).__name__} of "
            "blocks: give one block after another, each without its y"
        )
    check_frame(X)
    numeric = estimator._y_numeric
    if numeric and y is not None:
        check_y(estimator, y)
        y = _numbers(y)
    if not is_frame(X):
        how: dict[str, Any] = {"dtype": FLOATS, "ensure_all_finite": "allow-nan"}
        if y is None:
            return validate_data(estimator, X, reset=reset, **how), None
        checked: tuple[Any, Any] = validate_data(
            estimator, X, y, reset=reset, y_numeric=numeric, **how
        )
        return checked
    named = getattr(estimator, "categorical_features", ())
    kept = () if named is None or isinstance(named, str) else named
    known = () if reset else getattr(estimator, "feature_names_in_", ())
    X = with_date_features(X, kept, expected=known)
    if 0 in X.shape:
        raise ValueError(f"X must have rows and columns, got a data frame of shape {X.shape}")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if y is None:
        return X, None
    y = checked_y(estimator, y)
    check_consistent_length(X, y)
    return X, y


def checked_y(estimator: Any, y: Any) -> NDArray[Any]:
    """The y of a data frame or of a source: finite numbers for a regressor.

    Raises
    ------
    ValueError
        If they are not, or have two dimensions.
    """
    check_y(estimator, y)
    y = column_or_1d(y, warn=True)
    if not estimator._y_numeric:
        return np.asarray(y)
    return numbers_of(y)


def rows_of(
    estimator: Any, X: Any, y: Any, sample_weight: Any, learn: Learn
) -> tuple[Schema, TrainingRows]:
    """What the columns are, and the training rows: encoded, or as their source gives them.

    Parameters
    ----------
    estimator : estimator
        With ``categorical_features``; it gets ``n_features_in_`` and ``feature_names_in_``.
    X, y, sample_weight
        As ``fit`` was given them: a table, or a source of blocks and no ``y``.
    learn : callable
        Makes numbers of y and the weights of its rows.

    Raises
    ------
    ValueError
        If ``y`` is missing, y or weights are given besides a source, or the rows are
        elsewhere.
    """
    check_here(estimator, X, reset=True)
    if y is not None and is_source(X):
        raise ValueError("y of a source of blocks belongs in its blocks, (X, y): leave y out")
    if is_table(X) or y is not None:
        if y is None:
            raise ValueError(
                f"{type(estimator).__name__} requires y to be passed, but the target y is None"
            )
        X, y = table_of(estimator, X, y, reset=True)
        maker = SchemaMaker(estimator.categorical_features)
        maker.see(X)
        schema = maker.schema()
        rows = TrainingRows.of(schema.encode(X), y, sample_weight)
        rows = replace(rows, y=learn(rows.y, rows.weights)).counting()
        check_weight_size("sample_weight", rows.weights)
        return schema, rows
    if sample_weight is not None:
        raise ValueError("weights of a source belong in its blocks: (X, y, weights)")
    summary = read_source(X, estimator.categorical_features)
    schema = summary.schema
    _note_features(estimator, schema)
    source: Any = SourceRows(X, schema, summary.y)
    target = learn(checked_y(estimator, summary.y), summary.weights)
    return schema, TrainingRows(source, target, summary.weights, None)


def of_rows_that_count(learn: Callable[[Any], NDArray[Any]], y: Any, weights: Vector) -> Any:
    """Numbers of the y of rows of positive weight: the others make no class, and have 0.

    Raises
    ------
    ValueError
        As ``learn``, which makes the numbers.
    """
    there = weights > 0
    if there.all():
        return learn(y)
    try:
        numbers = learn(y[there])
    except ValueError as error:
        raise ValueError(f"{error}; rows of weight 0 do not count") from error
    target = np.zeros(len(y), dtype=numbers.dtype)
    target[there] = numbers
    return target


def rows_in(
    estimator: Any, place: SQLPlace | PartitionedRows, learn: Callable[[Any], NDArray[Any]]
) -> tuple[Schema, TrainingRows]:
    """What the columns of rows elsewhere are, and instead of the rows where they are.

    Its y are the numbers of the classes, each once; of a regressor there are none.
    """
    _note_features(estimator, place.schema)
    y = learn(np.array([] if place.classes is None else place.classes))
    return place.schema, TrainingRows(cast("Any", place), y, np.ones(len(y)), None)


def _note_features(estimator: Any, schema: Schema) -> None:
    estimator.n_features_in_ = schema.n_features
    if schema.names is not None:
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


def _numbers(y: Any) -> Any:
    """Y as it is, if it has numbers or can be read as some."""
    if np.asarray(y).dtype.kind in "OUS":
        try:
            return np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must be numbers ({error})") from error
    return y
