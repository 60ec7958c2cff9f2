"""From an ensemble and rows to the program: whose rows they are, what is aimed at, and the loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cgboost.arrays import Indices, Mask, Vector
from cgboost.estimators.common.parameters import check_choice
from cgboost.estimators.thinning.boosted import boosted_members
from cgboost.estimators.thinning.honest_rows import (
    check_training_rows,
    warn_of_known_rows,
    warn_of_memory,
)
from cgboost.estimators.thinning.leaves import LeafMembers
from cgboost.estimators.thinning.members import (
    Cube,
    EstimatorMembers,
    Member,
    Members,
    inner_estimators,
    listed,
)
from cgboost.estimators.thinning.problem import ThinningProblem, joint_margins
from cgboost.estimators.thinning.unseen_predictions import (
    drawn_entries,
    is_forest_of_all_rows,
    neutral,
    weights_of_the_fit,
    without_own,
)
from cgboost.losses import AbsoluteError, Hinge, LogLoss, Loss, Quantile, SquaredError
from cgboost.masters.support_vector.support_vector_master import Offset
from cgboost.tables.frames import some_rows

Aim = Literal["y", "ensemble"]
HowSeen = Literal["out_of_bag", "leave_one_out", "training", "held_out"]

CLASSIFICATION: dict[str, type[Loss]] = {"accuracy": Hinge, "log_loss": LogLoss}
REGRESSION: dict[str, type[Loss]] = {"rmse": SquaredError, "mae": AbsoluteError}
QUANTILE = "quantile"

MOST_ENTRIES = 60_000_000
"""Entries of the program at most, 240 MB: of more rows a sample is taken."""

LEFT_OUT = 0.5
"""Of the rows, some member has to have left out more than this share; else all count as seen."""

FOLDS_OF_CLONES = 3


def members_of(ensemble: Any) -> Members:
    """The members of a fitted ensemble, or of a list of fitted models or functions.

    Raises
    ------
    ValueError
        If there are no members in it that are known, or they disagree on classes.
    """
    boosted = boosted_members(ensemble)
    if boosted is not None:
        if len(boosted) == 1 and type(ensemble).__name__.startswith("XGBRF"):
            raise ValueError(
                f"estimator is a forest of XGBoost, whose trees cannot be evaluated one by one, "
                f"got {ensemble!r}: use a forest of scikit-learn or XGBoost's boosting"
            )
        return boosted
    if hasattr(ensemble, "final_estimator_"):
        raise ValueError(
            f"estimator is a stack, in which another model weighs the members, got {ensemble!r}: "
            "give a list of its fitted members, estimator.estimators_ (which know classes by their "
            "places), and new rows"
        )
    if not isinstance(ensemble, (list, tuple)) and not hasattr(ensemble, "estimators_"):
        raise ValueError(
            f"estimator must be an ensemble with estimators_, a boosting model of scikit-learn, "
            f"LightGBM, XGBoost or CatBoost, or a list of fitted models; got {ensemble!r}"
        )
    inner = inner_estimators(ensemble)
    classes = getattr(ensemble, "classes_", None)
    several = any(getattr(one, "n_outputs_", 1) > 1 for one in (ensemble, *inner))
    if several or isinstance(classes, list):
        raise ValueError("estimator has several outputs: thin an ensemble of one output")
    if isinstance(ensemble, (list, tuple)):
        members = [Member(one) for one in inner] if all(map(callable, inner)) else listed(inner)
        return EstimatorMembers(members, np.full(len(inner), 1.0 / len(inner)), _common(members))
    if getattr(ensemble, "voting", None) == "hard" or hasattr(ensemble, "named_estimators_"):
        weights = getattr(ensemble, "weights", None)
        own = np.ones(len(inner)) if weights is None else np.asarray(weights, dtype=float)
        own = own[: len(inner)]
    elif hasattr(ensemble, "estimator_weights_"):
        own = np.asarray(ensemble.estimator_weights_, dtype=float)[: len(inner)]
    else:
        own = np.ones(len(inner))
    members = listed(inner, ensemble)
    encoded = classes is not None and not hasattr(ensemble, "estimator_weights_")
    known = None if classes is None else np.asarray(classes)
    found = EstimatorMembers(members, own / own.sum(), known, encoded, ensemble)
    if known is not None:
        _check_known(members, found.places)
    return found


def _common(members: Sequence[Member]) -> NDArray[Any] | None:
    """The classes of a list of models: all that any of them knows, or none."""
    said = [member.classes for member in members]
    labelled = [classes for classes in said if classes is not None]
    if not labelled:
        return None
    if len(labelled) < len(said):
        raise ValueError(
            "estimator is a list of classifiers and of models without classes_ (regressors, "
            "functions): give members of one kind"
        )
    first = np.asarray(labelled[0])
    for number, classes in enumerate(labelled):
        if np.asarray(classes).dtype.kind != first.dtype.kind:
            raise ValueError(
                f"the members disagree on the classes: the first knows {labelled[0]}, member "
                f"{number} {classes}; fit all of them to labels of one type"
            )
    return np.unique(np.concatenate(labelled))


def _check_known(members: Sequence[Member], places: dict[Any, int]) -> None:
    for number, member in enumerate(members):
        strange = [label for label in member.classes or () if label not in places]
        if strange:
            raise ValueError(
                f"the members disagree on the classes: member {number} knows {strange[:3]}, which "
                f"are not among those of the ensemble, {list(places)[:10]}"
            )


def loss_of(metric: str | None, quantile: float, members: Members, aim: Aim) -> Loss:
    """The loss of a metric; the default of classifiers is the hinge, of all else squared error."""
    classifies = members.classes is not None and aim == "y"
    if metric is None:
        return Hinge() if classifies else SquaredError()
    if metric == QUANTILE and not classifies:
        return Quantile(quantile)
    choices = CLASSIFICATION if classifies else REGRESSION
    check_choice("metric", metric, [*choices, *([] if classifies else [QUANTILE])])
    return choices[metric]()


@dataclass(frozen=True, eq=False)
class MemberColumns:
    """What members say of the rows that the program is about.

    Attributes
    ----------
    outputs : ndarray of shape (n_rows, n_members, n_outputs)
        As the program sees them.
    unseen : ndarray of bool, shape (n_rows, n_members), or None
        Which entries are a member's own; None: all.
    rows : ndarray of int, shape (n_rows,)
        The rows used, of those given.
    seen : str
        How the members were asked.
    doubtful : bool
        Whether rows that are said to be new may be those of the fit.
    """

    outputs: Cube
    unseen: Mask | None
    rows: Indices
    seen: HowSeen
    doubtful: bool = False


def columns_of(
    ensemble: Any,
    members: Members,
    X: Any,
    y: NDArray[Any],
    *,
    weights: Vector,
    training: bool,
    is_given: bool,
    aim: Aim,
    rng: np.random.RandomState,
) -> MemberColumns:
    """What the members say of rows, in the fairest way that there is.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Numbers, or places of classes.
    weights : ndarray of shape (n_rows,)
        Of the rows; in the ensemble's fit, if it was fitted here.
    training : bool
        Whether the ensemble was fitted to these rows.
    is_given : bool
        Whether the ensemble was given fitted, so that this has only been said.

    Raises
    ------
    ValueError
        If these are not the rows of the fit, and are said to be.
    """
    n_rows, doubtful, unseen = len(y), False, None
    if training and is_given:
        check_training_rows(ensemble, members, X, weights)
    drawn = drawn_entries(ensemble, n_rows) if training else None
    if drawn is not None and (~drawn).any(axis=1).mean() > LEFT_OUT:
        unseen = ~drawn
    width = 1 if members.classes is None else max(1, len(members.classes) - 1)
    most = max(100, MOST_ENTRIES // (len(members) * width))
    rows = np.arange(n_rows)
    if n_rows > most:
        rows = np.sort(rng.choice(n_rows, most, replace=False))
    part = some_rows(X, rows) if len(rows) < n_rows else X
    if training and aim == "y" and unseen is None and is_forest_of_all_rows(ensemble, members):
        assert isinstance(members, EstimatorMembers)
        fitted = weights_of_the_fit(members, X, weights) if is_given else weights
        outputs = without_own(members, X, y, fitted, rows)
        return MemberColumns(outputs, None, rows, "leave_one_out")
    outputs = members.outputs(part)
    if unseen is None or aim == "ensemble":
        if not training:
            doubtful = warn_of_known_rows(ensemble, members, X, weights, outputs, y[rows])
        if aim == "y" and not doubtful and not isinstance(members, LeafMembers):
            warn_of_memory(members, outputs, y[rows])
        seen: HowSeen = "training" if training else "held_out"
        return MemberColumns(outputs, None, rows, seen, doubtful)
    own = unseen[rows]
    if isinstance(members, LeafMembers):
        return _of_leaves(members, outputs, own, rows)
    known = own.any(axis=1)
    return MemberColumns(neutral(outputs[known], own[known]), own[known], rows[known], "out_of_bag")


def _of_leaves(members: LeafMembers, outputs: Cube, unseen: Mask, rows: Indices) -> MemberColumns:
    """Leaves of the trees that have not seen a row, as much more as there are fewer of them."""
    shares = unseen.mean(axis=1)
    known = shares > 0
    factors = unseen[known] / shares[known, None]
    outputs = outputs[known] * factors[:, members.tree_of, None].astype(np.float32)
    return MemberColumns(outputs, None, rows[known], "out_of_bag")


def error_share(
    members: Members, columns: MemberColumns, X: Any, y: NDArray[Any], weights: Vector
) -> float:
    """Errors of the ensemble on the rows of its columns, as a share of those of a constant.

    Parameters
    ----------
    y : ndarray of int, shape (n_rows,)
        Places of classes.
    weights : ndarray of shape (n_rows,)
    """
    outputs, unseen = columns.outputs, columns.unseen
    if unseen is None:
        total = members.total(X, outputs)
    else:
        total = np.einsum("nmk,nm->nk", outputs, unseen * members.weights.astype(np.float32))
    said = (total[:, 0] > 0).astype(int) if total.shape[1] == 1 else total.argmax(axis=1)
    constant = weights.sum() - np.bincount(y, weights).max()
    errors = float(weights @ (said != y))
    return errors / float(constant) if constant > 0 else np.inf


def honest_error_share(ensemble: Any, X: Any, y: NDArray[Any], weights: Vector) -> float:
    """The same by clones of the ensemble, across folds; inf where it cannot be cloned and fitted.

    What boosting says of rows that it has seen says nothing of others.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS_OF_CLONES, shuffle=True, random_state=0)
    try:
        said = cross_val_predict(clone(ensemble), X, y, cv=folds)
    except Exception:  # whatever a library raises: the leaves then stay as they are
        return np.inf
    constant = weights.sum() - np.bincount(y, weights).max()
    return float(weights @ (np.ravel(said) != y)) / float(constant) if constant > 0 else np.inf


def aim_of(target: str, metric: str | None, members: Members) -> Aim:
    """What the weights aim at: "auto" is the ensemble's own output where it adds up."""
    if target != "auto":
        return "y" if target == "y" else "ensemble"
    return "ensemble" if members.adds_up and metric is None else "y"


def problem_of(
    members: Members,
    columns: MemberColumns,
    X: Any,
    y: NDArray[Any],
    weights: Vector,
    *,
    loss: Loss,
    aim: Aim,
    fit_intercept: bool = True,
) -> ThinningProblem:
    """The program over the members.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Numbers, or places of classes; of the rows of ``columns``.
    weights : ndarray of shape (n_rows,)
    """
    outputs = columns.outputs
    width = outputs.shape[2]
    if aim == "ensemble":
        total = members.total(X, outputs)
        if width > 2:  # what all classes have in common decides nothing
            outputs = outputs - outputs.mean(axis=2, keepdims=True)
            total = total - total.mean(axis=1, keepdims=True)
        means = np.average(outputs, axis=0, weights=weights).astype(np.float64)
        centre = np.average(total, axis=0, weights=weights)
        if not fit_intercept:
            means, centre = np.zeros_like(means), np.zeros_like(centre)
        entries = _stacked(outputs - means.astype(np.float32))
        costs = _of_mean_one(np.repeat(weights, _used(width)))
        return ThinningProblem(
            entries, _ravelled(total - centre), costs, loss, "none", (means, centre)
        )
    offset: Offset = "free" if fit_intercept else "none"
    if members.classes is None:
        H = np.ascontiguousarray(outputs[:, :, 0])
        return ThinningProblem(H, y.astype(np.float64), _of_mean_one(weights), loss, offset)
    if width == 1:
        signs = np.where(y == 1, 1.0, -1.0)
        return ThinningProblem(outputs[:, :, 0], signs, _of_mean_one(weights), loss, offset)
    entries, rows = joint_margins(outputs, y)
    costs = _of_mean_one(weights[rows])
    return ThinningProblem(entries, np.ones(len(entries)), costs, loss, "none")


def _used(width: int) -> int:
    return 1 if width == 2 else width


def _stacked(outputs: Cube) -> NDArray[np.float32]:
    """Rows and outputs below each other; of two classes the second says it all."""
    outputs = outputs[:, :, 1:] if outputs.shape[2] == 2 else outputs
    return np.ascontiguousarray(outputs.transpose(0, 2, 1)).reshape(-1, outputs.shape[1])


def _ravelled(total: Vector) -> Vector:
    return np.ravel(total[:, 1:] if total.shape[1] == 2 else total)


def _of_mean_one(weights: Vector) -> Vector:
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def is_averaging(ensemble: Any, members: Members) -> bool:
    """Whether the ensemble is a mean of members that are alike: a forest, or bagging."""
    if isinstance(members, LeafMembers):
        return False
    alike = hasattr(ensemble, "bootstrap") and hasattr(ensemble, "n_estimators")
    return alike and not np.ptp(members.weights)
