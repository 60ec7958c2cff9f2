"""The members of an ensemble: what each of them says of rows, in one form for all libraries.

    f(x) = constant + Σ_j weights_j h_j(x)

h_j has one output for each class (probabilities), one score for each class or one for two classes
(the trees of boosting), or one number (regression).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property
from cgboost.pricing.learners.trees import check_width

Cube = NDArray[np.float32]
MemberKind = Literal["probability", "score", "value"]


@dataclass(frozen=True)
class Member:
    """A fitted member: a classifier, a regressor or a function of the rows, and what it sees.

    Attributes
    ----------
    estimator : object with ``predict``, or callable
    features : ndarray of shape (n_seen,) or None
        The features it was fitted to (bagging over features); None for all.
    """

    estimator: Any
    features: NDArray[np.intp] | None = None

    @property
    def classes(self) -> list[Any] | None:
        """What it predicts, None if that is a number."""
        classes = getattr(self.estimator, "classes_", None)
        return None if classes is None else np.asarray(classes).tolist()

    @property
    def is_model(self) -> bool:
        """Whether it is an estimator of scikit-learn or like one, not a function."""
        return hasattr(self.estimator, "__sklearn_tags__")

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions on the rows of X, shape (n_rows,)."""
        predict: Callable[[Any], Any] = getattr(self.estimator, "predict", self.estimator)
        return np.ravel(predict(self.seen(X)))

    def seen(self, X: Any) -> Any:
        """The rows as the member wants them."""
        if hasattr(self.estimator, "predict") and not hasattr(self.estimator, "feature_names_in_"):
            X = np.asarray(X)
        return X if self.features is None else np.asarray(X)[:, self.features]

    def probabilities(self, X: Any, places: dict[Any, int]) -> Cube:
        """Probabilities, or votes of a member without them; shape (n_rows, n_classes).

        Parameters
        ----------
        places : dict
            The column of each of the member's labels.
        """
        if hasattr(self.estimator, "predict_proba"):
            found, labels = self.estimator.predict_proba(self.seen(X)), self.classes or ()
            values = np.zeros((len(found), max(places.values()) + 1), dtype=np.float32)
            values[:, [places[label] for label in labels]] = found
            return values
        said = self.predict(X)
        values = np.zeros((len(said), max(places.values()) + 1), dtype=np.float32)
        values[np.arange(len(said)), [places[label] for label in said.tolist()]] = 1.0
        return values


class Members(ABC):
    """The members of an ensemble as columns.

    Attributes
    ----------
    kind : {"probability", "score", "value"}
    classes : ndarray of shape (n_classes,) or None
    weights : ndarray of shape (n_members,)
        Those that the members have in the ensemble.
    adds_up : bool
        Whether the ensemble's output is the weighted sum of its members'.
    """

    kind: MemberKind
    classes: NDArray[Any] | None = None
    weights: Vector
    adds_up: ClassVar[bool] = False
    has_link: bool = False
    """Whether scores are log-odds, or logarithms of probabilities."""

    def __len__(self) -> int:
        """The number of members."""
        return len(self.weights)

    @abstractmethod
    def outputs(self, X: Any, indices: Indices | None = None) -> Cube:
        """h_j of some members (None: all), shape (n_rows, n_members, n_outputs)."""

    @abstractmethod
    def of(self, index: int) -> Any:
        """A member, as the library has it: an estimator, or the number of a tree."""

    def total(self, X: Any, outputs: Cube) -> Vector:
        """What the ensemble makes of its members' outputs, shape (n_rows, n_outputs)."""
        return np.einsum("nmk,m->nk", outputs, self.weights).astype(np.float64)


@dataclass(eq=False)
class EstimatorMembers(Members):
    """Members that are estimators or functions: forests, bagging, AdaBoost, voting, lists.

    Parameters
    ----------
    members : list of Member
    weights : ndarray of shape (n_members,)
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    encoded : bool
        Whether the members know the classes by their places, as the trees of a forest do.
    """

    members: list[Member]
    weights: Vector
    classes: NDArray[Any] | None = None
    encoded: bool = False
    original: Any = None

    def __post_init__(self) -> None:
        self.kind: MemberKind = "value" if self.classes is None else "probability"
        if self.classes is not None and not any(member.classes for member in self.members):
            self.kind = "score"

    @property
    def places(self) -> dict[Any, int]:
        """The column of each label, as members know it."""
        assert self.classes is not None
        known = range(len(self.classes)) if self.encoded else self.classes.tolist()
        return {label: place for place, label in enumerate(known)}

    def of(self, index: int) -> Any:
        """The estimator or function."""
        return self.members[index].estimator

    def outputs(self, X: Any, indices: Indices | None = None) -> Cube:
        """See :meth:`Members.outputs`."""
        chosen = range(len(self)) if indices is None else indices.tolist()
        if self.are_trees:
            return self._of_trees(X, chosen)
        if self.kind != "probability":
            each = [self._number(j, X) for j in chosen]
        else:
            places = self.places
            each = [self.members[j].probabilities(X, places) for j in chosen]
        width = len(self.classes) if self.kind == "probability" else 1  # type: ignore[arg-type]
        empty = np.zeros((len(X), 0, width), dtype=np.float32)
        return np.stack(each, axis=1) if each else empty

    @cached_property
    def are_trees(self) -> bool:
        """Whether all members are scikit-learn's trees, on all features."""
        whole = all(member.features is None for member in self.members)
        if not whole or not all(hasattr(member.estimator, "tree_") for member in self.members):
            return False
        known = None if self.classes is None else list(self.places)
        return all(known is None or member.classes == known for member in self.members)

    def _of_trees(self, X: Any, chosen: Sequence[int]) -> Cube:
        """The same without the checks of each tree."""
        rows = np.ascontiguousarray(np.asarray(X), dtype=np.float32)
        width = 1 if self.classes is None else len(self.classes)
        values = np.empty((len(rows), len(chosen), width), dtype=np.float32)
        for place, j in enumerate(chosen):
            tree = self.members[j].estimator.tree_
            check_width(tree, rows)
            values[:, place] = tree.predict(rows).reshape(-1, width)
        return values

    def votes(self) -> EstimatorMembers:
        """Copies of trees whose leaves vote: 1 for the class with the largest share."""
        voters = [Member(copy.deepcopy(member.estimator)) for member in self.members]
        for voter in voters:
            values = voter.estimator.tree_.value
            values[:, 0] = np.eye(values.shape[2])[values[:, 0].argmax(axis=1)]
        return EstimatorMembers(voters, self.weights, self.classes, self.encoded, self.original)

    def part(self, indices: Indices) -> EstimatorMembers:
        """Some of the members."""
        own = [self.members[j] for j in indices.tolist()]
        shell = copy.copy(self.original)
        if hasattr(shell, "estimators_"):
            shell.estimators_ = [member.estimator for member in own]
        if hasattr(shell, "estimators_features_"):
            shell.estimators_features_ = [member.features for member in own]
        return EstimatorMembers(own, self.weights[indices], self.classes, self.encoded, shell)

    def _number(self, j: int, X: Any) -> Cube:
        values = self.members[j].predict(X).astype(np.float32)
        if len(values) != len(X):
            raise ValueError(
                f"member {j} gives {len(values)} values for {len(X)} rows: a function must give "
                "one number a row, shape (n_rows,)"
            )
        return values[:, None]


def listed(estimators: Sequence[Any], ensemble: Any = None) -> list[Member]:
    """Members of a sequence of fitted estimators or functions, checked.

    Parameters
    ----------
    ensemble : fitted ensemble or None
        That they are of, which knows the features that each of them sees.
    """
    for member in estimators:
        if not hasattr(member, "predict") and not callable(member):
            raise ValueError(f"estimators has a member that cannot predict: {member!r}")
    features = getattr(ensemble, "estimators_features_", None)
    if features is None:
        return [Member(member) for member in estimators]
    if len(features) != len(estimators):
        raise ValueError(
            f"estimator has {len(estimators)} estimators_ and {len(features)} "
            "estimators_features_, of which one belongs to each: take members out of both, or give "
            "a list of the members"
        )
    every = np.arange(getattr(ensemble, "n_features_in_", 0))
    return [
        Member(member, None if np.array_equal(seen, every) else seen)
        for member, seen in zip(estimators, features, strict=True)
    ]


def inner_estimators(ensemble: Any) -> list[Any]:
    """The fitted members of an ensemble with ``estimators_``, or of a list of them."""
    inner = getattr(ensemble, "estimators_", ensemble)
    if isinstance(inner, np.ndarray):
        inner = inner.ravel().tolist()
    if not isinstance(inner, Sequence) or not len(inner):
        raise ValueError(
            "estimators must be a fitted ensemble with estimators_ or a list of fitted members, "
            f"got {ensemble!r}"
        )
    return list(inner)
