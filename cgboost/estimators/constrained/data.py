"""What constraints see: features and groups by name, and the problem that they add to."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.exceptions import see
from cgboost.losses import Loss


@dataclass(frozen=True)
class Features:
    """The features of a model by name and number.

    Attributes
    ----------
    names : sequence of str or None
        Of the features; None where X had no names.
    count : int
        How many features there are.
    dropped : sequence of int
        Columns of X that are no features: numbers are those of X, as it is given.
    """

    names: Sequence[str] | None
    count: int
    dropped: Sequence[int] = ()

    def index(self, feature: Any, by: str) -> int:
        """The number of a feature.

        Raises
        ------
        ValueError
            If there is none of this name or number; the message says which are like it.
        """
        if isinstance(feature, Integral) and not isinstance(feature, bool):
            return self._of_number(int(feature), by)
        if not isinstance(feature, str):
            raise ValueError(f"{by}: a feature is a name or a number, got {feature!r}")
        if self.names is None:
            raise ValueError(
                f"{by}: X has no feature names, {feature!r} is therefore unknown: give its number, "
                f"or a data frame{see('constraints')}"
            )
        if feature in self.names:
            return list(self.names).index(feature)
        raise ValueError(
            f"{by}: there is no feature {feature!r}{_alike(feature, self.names)}"
            f"{see('constraints')}"
        )

    def _of_number(self, number: int, by: str) -> int:
        """The place among the features of a column of X."""
        width = self.count + len(self.dropped)
        if not -width <= number < width:
            raise ValueError(
                f"{by}: X has {width} columns, there is no feature {number}{see('constraints')}"
            )
        place = number % width
        if place in self.dropped:
            raise ValueError(
                f"{by}: column {number} of X is dropped and is not a feature{see('constraints')}"
            )
        return place - sum(other < place for other in self.dropped)

    def name(self, index: int) -> str:
        """How a feature is called in words; without names by its number in X."""
        if self.names is not None:
            return str(self.names[index])
        kept = [k for k in range(self.count + len(self.dropped)) if k not in self.dropped]
        return f"feature {kept[index]}"


def _alike(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, [str(other) for other in names], n=3, cutoff=0.5)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; there are {', '.join(map(repr, list(names)[:10]))}{' …' * (len(names) > 10)}"


@dataclass(frozen=True)
class Grouping:
    """Groups of rows.

    Attributes
    ----------
    labels : ndarray of shape (n_groups,)
        Sorted.
    codes : ndarray of int, shape (n_rows,)
        The place of each row's group in ``labels``.
    """

    name: str
    labels: NDArray[Any]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, values: Any, labels: NDArray[Any] | None = None) -> Grouping:
        """The groups of an array; ``labels``: those of the training rows, others are an error.

        Raises
        ------
        ValueError
            If a value is missing or, with ``labels``, unknown; if there is one group alone.
        """
        values = np.asarray(values)
        missing = values != values if values.dtype.kind == "f" else _is_missing(values)
        if missing.any():
            raise ValueError(
                f"groups {name!r}: {int(missing.sum())} rows have no group (missing values): give "
                f"them their own group{see('constraints')}"
            )
        mixed = values.dtype.kind == "O" and len({type(value) for value in values.ravel()}) > 1
        if mixed or (labels is not None and labels.dtype.kind == "U"):
            values = values.astype(str)  # of several types there is no order
        found, codes = np.unique(values, return_inverse=True)
        if labels is None:
            if len(found) < 2:
                raise ValueError(
                    f"groups {name!r}: all rows are in one group, {found.tolist()}: a constraint "
                    f"compares at least two{see('constraints')}"
                )
            return cls(name, found, codes.ravel())
        unknown = [value for value in found.tolist() if value not in labels.tolist()]
        if unknown:
            raise ValueError(
                f"groups {name!r}: {unknown[:5]} are no groups of the training rows, which have "
                f"{labels.tolist()[:10]}{see('constraints')}"
            )
        return cls(name, labels, np.searchsorted(labels, found)[codes.ravel()])

    def members(self, place: int) -> NDArray[np.bool_]:
        """The rows of a group."""
        members: NDArray[np.bool_] = self.codes == place
        return members

    def take(self, places: NDArray[np.intp]) -> Grouping:
        """The groups of some of the rows."""
        return Grouping(self.name, self.labels, self.codes[places])

    def part(self, place: int) -> str:
        """A group in words."""
        return f"{self.name}={self.labels[place]}"


class Groupings(dict[Any, Grouping]):
    """The groupings of a problem by name; a name that is none of them is an error that says so."""

    def __missing__(self, name: Any) -> Grouping:
        """Raise ValueError."""
        known = ", ".join(map(repr, self)) or "none"
        raise ValueError(
            f"there are no groups {name!r} (there are: {known}): give them to fit as "
            f"groups={{{name!r}: array}}, or as a column of X that is in drop{see('constraints')}"
        )


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.array([value is None or value != value for value in values.ravel()], dtype=bool)


def mean_of(members: NDArray[np.bool_], weights: Vector, what: str) -> Vector:
    """The a with a·f the mean of f over some rows.

    Raises
    ------
    ValueError
        If there are no such rows.
    """
    share = np.where(members, weights, 0.0)
    if not share.any():
        raise ValueError(f"{what}: there are no such training rows{see('constraints')}")
    return share / share.sum()


@dataclass(frozen=True)
class OutputLimit:
    """A limit a·f ≤ d on the output of the training rows.

    Attributes
    ----------
    owner : int
        The constraint that it belongs to.
    part : str
        What the constraint calls it.
    vector : ndarray of shape (n_rows,)
        a.
    limit : float
        d.
    from_below : bool
        Whether it is the lower end of an interval, −a·f ≤ −d, for the same part.
    """

    owner: int
    part: str
    vector: Vector
    limit: float
    from_below: bool = False

    @property
    def words(self) -> str:
        """The limit as a reader writes it."""
        if self.from_below:
            return f"mean output of {self.part} ≥ {0.0 - self.limit:.4g}"
        return f"mean output of {self.part} ≤ {self.limit:.4g}"


@dataclass(frozen=True)
class Budget:
    """Σ|α| ≤ limit over the columns of some features."""

    owner: int
    part: str
    features: frozenset[int]
    limit: float


@dataclass(frozen=True)
class ConvexLimit:
    """g(f) ≤ limit for a convex g, as a function that makes a CVXPY expression of f."""

    owner: int
    part: str
    expression: Callable[[Any], Any]
    limit: float


@dataclass
class Declarations:
    """A problem that constraints add to.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        The target; ±1 of two classes.
    weights : ndarray of shape (n_rows,)
        Sample weights, without those of classes.
    groups : mapping of str to Grouping
    X : ndarray of shape (n_rows, n_features)
    owner : int
        The constraint that declares at present.
    """

    features: Features
    y: Vector
    weights: Vector
    groups: Mapping[Any, Grouping]
    loss: Loss
    is_classifier: bool
    X: Any = None
    owner: int = 0
    rows: list[OutputLimit] = field(default_factory=list)
    budgets: list[Budget] = field(default_factory=list)
    convex: list[ConvexLimit] = field(default_factory=list)
    own: list[tuple[int, Callable[..., Any]]] = field(default_factory=list)
    also: list[tuple[Loss, float]] = field(default_factory=list)
    minimax: list[tuple[int, Grouping]] = field(default_factory=list)
    signs: dict[int, tuple[bool, bool]] = field(default_factory=dict)
    shapes: dict[int, int] = field(default_factory=dict)

    def within(self, part: str, vector: Vector, least: float, most: float) -> None:
        """Add least ≤ a·f ≤ most, for a mean a·f of outputs."""
        self.rows.append(OutputLimit(self.owner, part, vector, most))
        self.rows.append(OutputLimit(self.owner, part, -vector, -least, from_below=True))

    @property
    def needs_cvxpy(self) -> bool:
        """Whether something is no row, no sign and no budget."""
        return bool(self.convex or self.own or self.also or self.minimax)


@dataclass(frozen=True)
class MeasuredModel:
    """A fitted model on some rows, as constraints measure it.

    Attributes
    ----------
    output : ndarray of shape (n_rows,)
    y : ndarray of shape (n_rows,)
        ±1 of two classes.
    weights : ndarray of shape (n_rows,)
    groups : mapping of str to Grouping
    table : mapping of str to ndarray
        The columns of the model.
    """

    output: Vector
    y: Vector
    weights: Vector
    groups: Mapping[Any, Grouping]
    loss: Loss
    features: Features
    table: Mapping[str, NDArray[Any]]

    def mean(self, values: Vector, members: NDArray[np.bool_]) -> float:
        """The mean over some rows, nan if there are none."""
        weights = self.weights[members]
        if not weights.any():
            return float("nan")
        return float(np.average(values[members], weights=weights))

    def coefficients(self, feature: int) -> Vector:
        """Coefficients of the columns of a feature; none where columns are of no feature."""
        if "feature" not in self.table:
            return np.zeros(0)
        own: Vector = self.table["coefficient"][self.table["feature"] == feature]
        return own
