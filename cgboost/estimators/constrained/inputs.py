"""Groups and columns of X that are no features, as fit and predictions read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from cgboost.estimators.constrained.constraints.constraint import Constraint, Own
from cgboost.estimators.constrained.data import Features, Grouping
from cgboost.exceptions import DataWarning, see, warn_caller, without_hint
from cgboost.tables.frames import frame_of, is_frame, some_columns


@dataclass
class ConstraintInputs:
    """What a fit is given besides features and target.

    Attributes
    ----------
    groups : mapping of str to array-like
        As the user gives them.
    values : dict of str to ndarray
        The groups of the training rows that constraints ask for.
    held_values : dict of str to dict
        The same of each set of an ``eval_set``, where its X has them.
    held : dict or None
        The sets themselves.
    """

    groups: Mapping[Any, Any]
    values: dict[Any, NDArray[Any]] = field(default_factory=dict)
    held_values: dict[str, dict[Any, NDArray[Any]]] = field(default_factory=dict)
    held: Any = None


def names_of(X: Any) -> Features:
    """The columns of what the user gives as X."""
    if is_frame(X):
        names = frame_of(X).columns
        words = names if all(isinstance(name, str) for name in names) else None
        return Features(words, len(names))
    shape = np.shape(X)
    return Features(None, shape[1] if len(shape) == 2 else 0)


def dropped_places(X: Any, drop: Sequence[Any] | None) -> list[int]:
    """The places of the columns that are no features.

    Raises
    ------
    ValueError
        If there is no such column, or no other.
    """
    if drop is None:
        return []
    wanted = [drop] if isinstance(drop, (str, int)) else list(drop)
    features = names_of(X)
    places = sorted({features.index(name, "drop") for name in wanted})
    if len(places) == features.count:
        raise ValueError("drop leaves no feature")
    return places


def without(X: Any, places: Sequence[int]) -> Any:
    """X without some columns."""
    if not places:
        return X
    X = X if is_frame(X) or issparse(X) else np.asarray(X)
    return some_columns(X, [place for place in range(X.shape[1]) if place not in places])


def _one_a_row(X: Any, name: Any, given: Any) -> NDArray[Any]:
    values = np.asarray(given)
    if values.shape != (np.shape(X)[0],):
        raise ValueError(
            f"groups[{name!r}] must have one entry a row: shape {values.shape} for "
            f"{np.shape(X)[0]} rows{see('constraints')}"
        )
    return values


def _column(X: Any, place: int) -> NDArray[Any]:
    if issparse(X):  # which is refused later, with a reason
        return np.asarray(X.tocsc()[:, [place]].toarray()).ravel()
    return frame_of(X)[:, place].to_numpy() if is_frame(X) else np.asarray(X)[:, place]


def _groups_that_are_dropped(X: Any, dropped: Sequence[int]) -> dict[Any, NDArray[Any]]:
    """The columns of X that are no features, as far as they are groups: by name, or number."""
    found: dict[Any, NDArray[Any]] = {}
    for place in dropped:
        name, values = frame_of(X).columns[place] if is_frame(X) else place, _column(X, place)
        try:
            Grouping.of(str(name), values)
        except ValueError:  # missing values, or one group alone
            continue
        found[name] = values
    return found


def known_groups(
    values: Mapping[Any, NDArray[Any]], labels: Mapping[Any, NDArray[Any]], called: str
) -> dict[Any, NDArray[Any]]:
    """The groups of held-out rows that are all groups of the training rows.

    Warns
    -----
    DataWarning
        For others: what is asked of them has no value.
    """
    known: dict[Any, NDArray[Any]] = {}
    for name, own in values.items():
        try:
            Grouping.of(str(name), own, labels[name])
        except ValueError as error:
            warn_caller(f"{called}: in eval_set, {error}; its values are nan", DataWarning)
            continue
        known[name] = own
    return known


def check_labels(y: Any, classes: NDArray[Any] | None) -> None:
    """Raise ValueError for labels that are none of the training rows."""
    if classes is None:
        return
    unknown = sorted(set(np.asarray(y).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise ValueError(
            f"y has labels that the training rows do not have: {unknown[:5]}; these have "
            f"{classes.tolist()}"
        )


def group_values(
    X: Any, constraints: Sequence[Constraint], given: Mapping[Any, Any], dropped: Sequence[int]
) -> dict[Any, NDArray[Any]]:
    """The groups that constraints ask for, one value a row.

    Raises
    ------
    ValueError
        If a grouping is neither given nor a column of X, or has the wrong length.
    """
    found: dict[Any, NDArray[Any]] = {}
    if any(isinstance(constraint, Own) for constraint in constraints):  # it may ask for any
        found = _groups_that_are_dropped(X, dropped)
        found |= {name: _one_a_row(X, name, values) for name, values in given.items()}
    for constraint in constraints:
        name = constraint.groups_of
        if name is None or name in found:
            continue
        if name in given:
            found[name] = _one_a_row(X, name, given[name])
            continue
        try:
            place = names_of(X).index(name, repr(constraint))
        except ValueError as error:
            raise ValueError(
                f"{without_hint(error)}; groups are a column of X, or given to fit as "
                f"groups={{{name!r}: array}}{see('constraints')}"
            ) from error
        values = _column(X, place)
        if values.dtype.kind in "OUS" and place not in dropped:
            words = [value for value in values.tolist() if not isinstance(value, Real)]
            if words:
                raise ValueError(
                    f"the groups of {constraint!r} are words ({words[0]!r}), which cannot be a "
                    f"feature: give drop=[{name!r}], or numbers{see('constraints')}"
                )
            values = values.astype(np.float64)  # numbers among columns of other types
        found[name] = values
    return found
