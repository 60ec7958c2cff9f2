"""scikit-learn's scorers as scores of a round, and the rows on which rounds are scored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.exceptions import DataWarning, see, warn_caller

Scorer = Callable[[Any, Any, Any], Any]
"""``scorer(estimator, X, y)``, greater is better."""

FEW_ROWS = 20
"""Of fewer held-out rows an error rate has steps of more than 5 %: its best round is chance."""

OTHER_COLUMNS = ("master_seconds", "pricing_seconds", "holdout_loss", "weighted_error")
"""Columns of a history that a set and a score could be called like."""


def scorers_of(scoring: Any) -> dict[str, Scorer]:
    """The scorers of a parameter ``scoring``, by name; none for None.

    Raises
    ------
    ValueError
        For what is no scorer, a name that scikit-learn does not know, or two of one name.
    """
    if scoring is None:
        return {}
    if isinstance(scoring, Mapping):
        named = list(scoring.items())
    else:
        listed = list(scoring) if isinstance(scoring, (list, tuple, set)) else [scoring]
        named = [(_name_of(scorer), scorer) for scorer in listed]
    found: dict[str, Scorer] = {}
    for name, scorer in named:
        if not isinstance(name, str) or not name:
            raise ValueError(f"scoring must have names that are words, got {name!r}")
        if name in found:
            raise ValueError(
                f"scoring has two scorers of the name {name!r}: give a dict of names and scorers"
            )
        found[name] = _scorer(scorer)
    return found


def _name_of(scorer: Any) -> str:
    """What a scorer without its own name is called: as its function, or "score"."""
    return scorer if isinstance(scorer, str) else str(getattr(scorer, "__name__", "score"))


def _scorer(scorer: Any) -> Scorer:
    if isinstance(scorer, str):
        from sklearn.metrics import get_scorer, get_scorer_names

        if scorer not in get_scorer_names():
            raise ValueError(
                f"scoring={scorer!r} is no scorer of scikit-learn; "
                "sklearn.metrics.get_scorer_names() lists them"
            )
        found: Scorer = get_scorer(scorer)
        return found
    if not callable(scorer) or isinstance(scorer, type):
        raise ValueError(
            "scoring must be the name of a scorer, a callable scorer(estimator, X, y), or a list "
            f"or dict of them, got {scorer!r}"
        )
    own: Scorer = scorer
    return own


class RoundScore:
    """A scorer on one set of rows, as a score of a :class:`~cgboost.generation.ValidationMonitor`.

    The scorer is given an estimator whose outputs on these rows are those of the round, which the
    monitor knows: nothing is evaluated again.

    Parameters
    ----------
    name : str
        For messages.
    estimator : estimator
        Predicts from its method ``_outputs``. It is the score's own, and changed by it.
    X : array-like of n_rows rows
        For the scorer; the only rows that it may have predicted.
    labels : ndarray of shape (n_rows,)
        The y of the scorer.
    unit : float
        Of the outputs of a run, in which the estimator does not know them.
    """

    def __init__(
        self, name: str, scorer: Scorer, estimator: Any, X: Any, labels: Any, unit: float = 1.0
    ) -> None:
        self.name = name
        self.scorer = scorer
        self.estimator = estimator
        self.X = X
        self.labels = labels
        self.unit = unit
        self._known = np.empty((0, 1))
        estimator._outputs = self._outputs

    def __call__(self, target: Any, output: Vector) -> float:
        """The score of these outputs; nan where the scorer has none."""
        self._known = self.unit * output.reshape(len(output), -1)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", category=_undefined())
                score = self.scorer(self.estimator, self.X, self.labels)
        except AttributeError as error:
            raise ValueError(
                f"scoring={self.name!r} needs something that a round of this model does not have: "
                f"{error} (calibrated probabilities exist only after the fit)"
                f"{see('eval-set')}"
            ) from error
        if np.ndim(score) != 0:
            raise ValueError(f"scoring={self.name!r} must return a number, got {score!r}")
        return float(score)

    def _outputs(self, X: Any) -> Vector:
        if X is not self.X:
            raise ValueError(
                f"scoring={self.name!r} may only predict the X that it is given, unchanged: the "
                "outputs of a round are only known for these rows"
            )
        return self._known


def _undefined() -> type[Warning]:
    """The warning of a score that has no value yet, as r and f1 of a constant model."""
    from sklearn.exceptions import UndefinedMetricWarning

    category: type[Warning] = UndefinedMetricWarning
    return category


def bare(estimator: Any) -> Any:
    """An estimator of the same parameters and features, without anything else of a fit.

    Scorers ask it during the runs: its outputs are theirs (:class:`RoundScore`).
    """
    copied = object.__new__(type(estimator))
    own = {name: value for name, value in vars(estimator).items() if name in estimator._learned}
    vars(copied).update(estimator.get_params(deep=False) | own)
    return copied


def column_names(sets: Iterable[str], scores: Mapping[str, bool]) -> dict[str, bool]:
    """The history's columns of all sets and scores, and whether greater is better.

    Raises
    ------
    ValueError
        If one would have the name of another column.
    """
    columns: dict[str, bool] = {}
    for name in sets:
        for score, rising in scores.items():
            column = f"{name}_{score}"
            if column in OTHER_COLUMNS or column in columns:
                raise ValueError(
                    f"eval_set {name!r} and score {score!r} make a second column {column!r} of the "
                    f"history: choose another name{see('eval-set')}"
                )
            columns[column] = rising
    return columns


def watched(early_stopping: bool | str, columns: Mapping[str, Any]) -> str:
    """The column that early stopping watches: the one it names, or the first.

    Raises
    ------
    ValueError
        For a name that no column has.
    """
    if not isinstance(early_stopping, str):
        return next(iter(columns))
    if early_stopping not in columns:
        raise ValueError(
            f"early_stopping={early_stopping!r} is no score of this fit; it has "
            f"{', '.join(columns)}{see('eval-set')}"
        )
    return early_stopping


def warn_of_few(name: str, y: NDArray[Any], classes: NDArray[Any] | None) -> None:
    """Warn of held-out rows that can hardly tell one round from another.

    Parameters
    ----------
    name : str
        Of the set.
    y : ndarray of shape (n_rows,)
    classes : ndarray or None
        Labels, of which y has the numbers; None where y is no label.
    """
    faults = []
    if len(y) < FEW_ROWS:
        faults.append(f"has {len(y)} row{'s' * (len(y) != 1)}")
    if classes is not None and (missing := set(range(len(classes))) - set(np.unique(y).tolist())):
        faults.append(f"lacks the classes {classes[sorted(missing)][:5].tolist()}")
    if faults:
        warn_caller(
            f"early stopping watches the held-out set {name!r}, which {' and '.join(faults)}: the "
            f"round that scores best there may do so by chance{see('eval-set')}",
            DataWarning,
        )


Rule = Literal["min", "1se"]
"""Which of several values cross-validation chooses: see :func:`chosen`."""


def chosen(scores: Vector, shares: Vector, rule: Rule) -> int:
    """The number of the value to choose.

    Parameters
    ----------
    scores : ndarray of shape (n_values, n_folds)
        Greater is better, the simplest model first.
    shares : ndarray of shape (n_folds,)
        Weights of the folds; one of 0 has no scores.
    rule : {"min", "1se"}
        The best mean, of equals the first; or the first within one standard error of it (Breiman,
        Friedman, Olshen, Stone, Classification and Regression Trees, 1984, section 3.4.3).
    """
    scored = shares > 0
    scores, shares = scores[:, scored], shares[scored]
    means = scores @ (shares / shares.sum())
    best = int(np.argmax(means))
    if rule == "min" or scores.shape[1] < 2:
        return best
    error = float(np.std(scores[best], ddof=1)) / np.sqrt(scores.shape[1])
    return int(np.argmax(means >= means[best] - error))
