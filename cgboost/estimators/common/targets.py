"""Targets: what y is to a fit, and what outputs say of it.

A fit has one run of the loop, or one for each class or quantile. A target kind encodes y, makes of
it what each run fits its outputs to, and scores these outputs on rows that are held out. There are
:class:`Labels`, one problem for all classes or one each, and :class:`Numbers`; quantiles, several
responses and rows without a y are with the estimators that have them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.utils import compute_class_weight

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.exceptions import see
from cgboost.generation.callbacks import Score, error_rate, mean_absolute_error, mean_squared_error
from cgboost.losses import Loss
from cgboost.losses.registry import known_loss
from cgboost.tolerances import LARGEST_HALF_LOG_ODDS

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
"""The parameter ``class_weight`` of classifiers. A leaf that only light rows reach decides for
them all the same."""

LEAN = 1e-6
"""The offset of a model that is 0 for every row, times the share of a class less that of the rest,
so that it predicts the larger class."""


class TargetKind(ABC):
    """What y is to the runs of a fit."""

    noun: ClassVar[str] = "class"
    """What the names of outputs are names of; the column of tables that has them."""

    unit: float = 1.0
    """One unit of the outputs of the runs, in that of y."""

    @property
    def names(self) -> NDArray[Any] | None:
        """What distinguishes the outputs of the model; None if there is only one."""
        return None

    @property
    def n_runs(self) -> int:
        """How many runs the fit has."""
        return 1

    @property
    def run_names(self) -> NDArray[Any] | None:
        """What distinguishes the runs; None where one makes all outputs."""
        return self.names if self.n_runs > 1 else None

    def label(self, run: int) -> str:
        """What a run is called, in words; nothing where there is only one."""
        names = self.run_names
        return "" if names is None else f"{self.noun} {names[run]}"

    @abstractmethod
    def encode(self, y: NDArray[Any]) -> NDArray[Any]:
        """The y of rows that are held out, as that of the training rows was encoded."""

    @abstractmethod
    def of_runs(self, encoded: NDArray[Any]) -> list[Vector]:
        """What each run fits its outputs to: shape (n_rows,), or (n_rows, n_outputs)."""

    @abstractmethod
    def scores(self, run: int | None = None) -> dict[str, Score]:
        """Scores of the outputs of a run (None: of any) against its target; the first counts."""

    def view(self, estimator: Any, target: Vector) -> NDArray[Any]:
        """What a scorer compares predictions with.

        Parameters
        ----------
        estimator : estimator
            The scorer's own, which predicts from the outputs of a run; it is made to predict what
            the run is about.
        target : ndarray
            That of the run.
        """
        return target * self.unit

    def leaning(self, runs: list[FittedRun], rows: TrainingRows) -> list[FittedRun]:
        """The runs; of labels those of output 0 with a small offset to the larger class."""
        return runs

    def of_constants(self, runs: list[FittedRun], intercept: Any) -> str:
        """What a model without columns predicts, in words."""
        return ""


@dataclass(frozen=True, eq=False)
class Labels(TargetKind):
    """Labels of classes: the sign of an output decides between two, the largest between more.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    joint : bool
        Whether more than two classes are one problem, with an output for each; otherwise each is a
        problem against the rest.
    log_odds : bool
        Whether outputs are log-odds, whose log loss is the first score.
    leans : bool
        Whether a model without columns and offset may get a tiny offset.
    """

    classes: NDArray[Any]
    joint: bool = False
    log_odds: bool = False
    leans: bool = True

    @property
    def names(self) -> NDArray[Any] | None:
        """The classes that have an output each."""
        return None if len(self.classes) == 2 else self.classes

    @property
    def n_runs(self) -> int:
        """One, or one for each class."""
        return 1 if self.joint or len(self.classes) == 2 else len(self.classes)

    def encode(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """The numbers of the classes."""
        unknown = sorted(set(y.tolist()) - set(self.classes.tolist()), key=str)
        if unknown:
            raise ValueError(
                f"eval_set has labels that y does not have: {unknown[:5]}{see('eval-set')}"
            )
        return np.searchsorted(self.classes, y)

    def signs(self, encoded: NDArray[np.intp]) -> list[Vector]:
        """Labels ±1 of the second of two classes, or of each class against the rest."""
        positives = [1] if len(self.classes) == 2 else range(len(self.classes))
        return [np.where(encoded == k, 1.0, -1.0) for k in positives]

    def of_runs(self, encoded: NDArray[np.intp]) -> list[Vector]:
        """Labels ±1; of a joint problem side by side."""
        signs = self.signs(encoded)
        return [np.column_stack(signs)] if self.joint and len(signs) > 1 else signs

    def scores(self, run: int | None = None) -> dict[str, Score]:
        """The error rate, after the log loss where outputs are log-odds."""
        first: dict[str, Score] = {"log_loss": mean_log_loss} if self.log_odds else {}
        return first | {"error": error_rate}

    def view(self, estimator: Any, target: Vector) -> NDArray[Any]:
        """In one of several runs a class against the rest: the labels are 1 and 0."""
        if self.n_runs > 1:
            estimator.classes_ = np.array([0, 1])
        numbers = (target > 0).astype(np.intp) if target.ndim == 1 else target.argmax(axis=1)
        labels: NDArray[Any] = estimator.classes_[numbers]
        return labels

    def leaning(self, runs: list[FittedRun], rows: TrainingRows) -> list[FittedRun]:
        """The runs, those of f = 0 with a tiny offset towards the larger class.

        A model without columns and offset would predict the first class, however few rows it has.
        """
        if not self.leans:
            return runs
        sizes = np.bincount(rows.y, rows.weights, len(self.classes)) / rows.weights.sum()
        leans = iter(LEAN * (2.0 * sizes - 1.0)[1 if len(sizes) == 2 else 0 :])
        outputs = [[output.leaning(next(leans)) for output in run.outputs] for run in runs]
        return [
            replace(run, outputs=own) if run.is_trivial else run
            for run, own in zip(runs, outputs, strict=True)
        ]

    def of_constants(self, runs: list[FittedRun], intercept: Any) -> str:
        """The label of every row."""
        if not all(run.is_trivial for run in runs):
            return ""
        label = self.decided(np.atleast_1d(intercept)[None, :]).tolist()[0]
        return f", and predicts {label!r} for every row"

    def one_or_all(self, outputs: Vector) -> Vector:
        """Outputs of shape (n_rows, n_outputs), or (n_rows,) of the one for two classes."""
        return outputs[:, 0] if len(self.classes) == 2 else outputs

    def decided(self, outputs: Vector) -> NDArray[Any]:
        """The label of every row, from outputs of shape (n_rows, n_outputs)."""
        if len(self.classes) == 2:
            return self.classes[(outputs[:, 0] > 0).astype(np.intp)]
        return self.classes[outputs.argmax(axis=1)]


@dataclass(frozen=True)
class Numbers(TargetKind):
    """Numbers to predict.

    Attributes
    ----------
    loss : Loss or None
        None where it is the squared error or no :class:`~cgboost.losses.Loss`.
    unit : float
        That in which they are fitted.
    """

    loss: Loss | None = None
    unit: float = 1.0

    def encode(self, y: NDArray[Any]) -> Vector:
        """The numbers themselves."""
        return np.asarray(y, dtype=np.float64)

    def of_runs(self, encoded: Vector) -> list[Vector]:
        """The numbers in their unit."""
        return [encoded if self.unit == 1.0 else encoded / self.unit]

    def predicted(self, output: Vector) -> Vector:
        """The prediction of an output, in the unit of y; e^f for the Poisson loss."""
        return output if self.loss is None else self.loss.inverse_link(output)

    def scores(self, run: int | None = None) -> dict[str, Score]:
        """Errors of predictions; where the loss is the score, its mean comes first."""
        scores: dict[str, Score] = {
            "mae": lambda y, f: mean_absolute_error(y, self.predicted(f)),
            "mse": lambda y, f: mean_squared_error(y, self.predicted(f)),
        }
        if (loss := self.loss) is not None and loss.is_score:
            scores = {"loss": lambda y, f: float(np.mean(loss.value(y, f)))} | scores
        return {name: in_unit(score, self.unit) for name, score in scores.items()}


def in_unit(score: Score, unit: float) -> Score:
    """A score of numbers and outputs, for both in a unit."""
    if unit == 1.0:
        return score
    return lambda target, output: score(unit * target, unit * output)


def class_weights(
    class_weight: Mapping[Any, float] | str | None, classes: NDArray[Any], rows: TrainingRows
) -> Vector:
    """The weight of each class, shape (n_classes,), as in scikit-learn.

    "balanced" is W/(K·W_k) for the weight W_k of the rows of class k, W of all rows, K classes: the
    number of rows where there are no sample weights. A dict gives 1 to classes that it leaves out.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        sizes = np.bincount(rows.y, weights=rows.weights, minlength=len(classes))
        return sizes.sum() / (len(classes) * np.where(sizes > 0, sizes, np.inf))
    given, labels = dict(class_weight), classes.tolist()
    unknown = [label for label in given if label not in labels]
    without = [label for label in labels if label not in given]
    if unknown and without:  # a fold may lack a class of all that are given
        raise ValueError(
            f"class_weight has {', '.join(map(repr, unknown[:5]))}, but the labels of y are "
            f"{', '.join(map(repr, labels[:20]))}"
        )
    weights: Vector = compute_class_weight(given, classes=classes, y=classes[rows.y])
    return weights.astype(np.float64)


@dataclass(frozen=True)
class Link:
    """Class probabilities as a formula of the outputs.

    Attributes
    ----------
    log_odds : float
        Of a class, in one unit of its output.
    joint : bool
        Whether p_k = e^{h_k} / Σ_l e^{h_l} for half log-odds h. Otherwise 1/(1 + e^{−2h_k}) of each
        class against the rest, divided by their sum.
    """

    log_odds: float
    joint: bool = False

    def probabilities(self, outputs: Vector) -> Vector:
        """Of all classes, shape (n_rows, n_classes); one output decides between two classes."""
        half = 0.5 * self.log_odds * outputs
        if self.joint:
            joint: Vector = softmax(half, axis=1)
            return joint
        half = np.clip(half, -LARGEST_HALF_LOG_ODDS, LARGEST_HALF_LOG_ODDS)
        if outputs.shape[1] == 1:
            half = np.hstack([-half, half])
        shares = 1.0 / (1.0 + np.exp(-2.0 * half))
        return shares if outputs.shape[1] == 1 else shares / shares.sum(axis=1, keepdims=True)


def centred_outputs(outputs: Vector) -> Vector:
    """The scores of K classes, shifted so that those of a row add up to 0; one output as it is."""
    return outputs if outputs.shape[1] == 1 else outputs - outputs.mean(axis=1, keepdims=True)


def mean_log_loss(labels: Vector, output: Vector) -> float:
    """Mean of −log p of the right class.

    Labels are ±1; with one output a class they have the shape (n_rows, n_classes) and 1 for the
    row's class alone.
    """
    if output.ndim == 1:
        return float(np.mean(np.logaddexp(0.0, -2.0 * labels * output)))
    return -float(np.mean(log_softmax(output, axis=1)[labels > 0]))


def log_odds_of(loss: Any) -> float | None:
    """Log-odds of y = 1 in one unit of the output, None of losses whose outputs are none."""
    known = known_loss(loss)
    return None if known is None else known.log_odds
