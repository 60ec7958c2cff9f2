"""Targets: class labels with their encoding, and numbers with their scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.scoring import bare
from cgboost.estimators.common.sklearn_bases import ClassifierMixin, RegressorMixin
from cgboost.estimators.common.training_rows import TrainingRows, Vector
from cgboost.exceptions import see
from cgboost.generation.callbacks import Score, error_rate, mean_absolute_error, mean_squared_error
from cgboost.losses import LogLoss, Loss
from cgboost.losses.registry import known_loss
from cgboost.tolerances import LARGEST_HALF_LOG_ODDS

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
"""The parameter ``class_weight`` of classifiers that have one: those in which light rows count
little. Trees and stumps find leaves of light rows alone, which then have their say all the same."""


@dataclass(frozen=True)
class Labels:
    """The labels of classes, which outputs decide between: one of two, or one a class of more."""

    classes: NDArray[Any]

    def one_or_all(self, outputs: Vector) -> Vector:
        """Outputs of shape (n_rows, n_outputs), or (n_rows,) of the one for two classes."""
        return outputs[:, 0] if len(self.classes) == 2 else outputs

    def decided(self, outputs: Vector) -> NDArray[Any]:
        """The label of every row, from outputs of shape (n_rows, n_outputs)."""
        if len(self.classes) == 2:
            return self.classes[(outputs[:, 0] > 0).astype(np.intp)]
        return self.classes[outputs.argmax(axis=1)]


@dataclass(eq=False, repr=False)
class Classification(ClassifierMixin, BaseEnsemble):
    """One output decides between two classes by its sign, one a class between more.

    More than two classes are one problem with an output for each ("joint"), or each class is a
    problem against the rest ("ovr"): by the parameter ``multi_class``, where there is one.
    """

    _scores: ClassVar[dict[str, Score]] = {"error": error_rate}
    _learned: ClassVar[tuple[str, ...]] = (*BaseEnsemble._learned, "_fitted_jointly")
    _fitted_jointly = False

    @property
    def _log_odds(self) -> float:
        """Log-odds of a class in one unit of its output, for losses that have them."""
        loss = getattr(self, "_known_loss", None) or getattr(self, "loss", LogLoss.name)
        return log_odds_of(loss) or LogLoss.log_odds

    @property
    def _link(self) -> Link | None:
        """How probabilities follow from outputs; None where they are calibrated."""
        return Link(self._log_odds, self._is_joint)

    def _probabilities(self, outputs: Vector) -> Vector:
        """Class probabilities of outputs, shape (n_rows, n_classes)."""
        assert self._link is not None  # what is calibrated has its own
        return self._link.probabilities(outputs)

    @property
    def _is_joint(self) -> bool:
        """As it was fitted, whatever the parameter is now."""
        return self._fitted_jointly and len(self.classes_) > 2

    def decision_function(self, X: ArrayLike) -> Vector:
        """Model output f: shape (n_rows,), or (n_rows, n_classes) with more than two classes."""
        return self._one_or_all(self._outputs(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label with the largest output, shape (n_rows,)."""
        return self._labels(self._outputs(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output after every round up to the best one, like :meth:`decision_function`.

        The last one is the output of the model. A class that needed fewer rounds than the others
        stays at its last.
        """
        return map(self._one_or_all, self._staged_outputs(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Labels after every round up to the best one."""
        return map(self._labels, self._staged_outputs(X))

    def _one_or_all(self, outputs: Vector) -> Vector:
        return Labels(self.classes_).one_or_all(outputs)

    def _labels(self, outputs: Vector) -> NDArray[Any]:
        return Labels(self.classes_).decided(outputs)

    def _learn(self, y: NDArray[Any]) -> NDArray[np.intp]:
        try:
            check_classification_targets(y)
            self.classes_, encoded = np.unique(y, return_inverse=True)
        except TypeError as error:
            raise ValueError(f"y must have labels of one kind, got a mixture ({error})") from error
        if len(self.classes_) < 2:
            raise _one_class(self.classes_)
        if hasattr(self, "multi_class"):
            self._fitted_jointly = self.multi_class == "joint"
        return encoded

    def _encode(self, y: NDArray[Any]) -> NDArray[np.intp]:
        unknown = sorted(set(y.tolist()) - set(self.classes_.tolist()), key=str)
        if unknown:
            raise ValueError(
                f"eval_set has labels that y does not have: {unknown[:5]}{see('eval-set')}"
            )
        return np.searchsorted(self.classes_, y)

    def _weighted(self, rows: TrainingRows) -> TrainingRows:
        if hasattr(self, "class_weight"):
            self.class_weight_ = class_weights(self.class_weight, self.classes_, rows)
            if self.class_weight is not None:
                rows = replace(rows, weights=rows.weights * self.class_weight_[rows.y])
        left = np.unique(rows.y[rows.weights > 0])
        if not len(left):
            raise ValueError("class_weight and sample_weight must not be 0 for every row together")
        if len(left) < 2:
            raise _one_class(self.classes_[left], "; rows of weight 0 do not count")
        return rows

    def _without_class_weights(self, weights: Vector, y: NDArray[Any]) -> Vector:
        """The weights of rows without ``class_weight``, as shares and probabilities need them."""
        if getattr(self, "class_weight", None) is None:
            return weights
        own = self.class_weight_[y]
        return np.where(own > 0, weights / np.where(own > 0, own, 1.0), 0.0)

    def _seen_by_scorers(self, target: Vector, n_runs: int) -> tuple[Any, NDArray[Any]]:
        """In one of several runs a class against the rest: the labels are 1 and 0."""
        view = bare(self)
        if n_runs > 1:
            view.classes_ = np.array([0, 1])
        numbers = (target > 0).astype(np.intp) if target.ndim == 1 else target.argmax(axis=1)
        return view, view.classes_[numbers]

    def _targets(self, encoded: NDArray[np.intp]) -> list[Vector]:
        targets = self._signs(encoded)
        return [np.column_stack(targets)] if self._is_joint else targets

    def _signs(self, encoded: NDArray[np.intp]) -> list[Vector]:
        """Labels ±1 of the second of two classes, or of each class against the rest."""
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [np.where(encoded == k, 1.0, -1.0) for k in positives]

    @property
    def _output_labels(self) -> NDArray[Any] | None:
        return None if len(self.classes_) == 2 else self.classes_

    def _leaning(self, runs: list[FittedRun], rows: TrainingRows) -> list[FittedRun]:
        """The runs, those of f = 0 with a tiny offset towards the larger class.

        A model without columns and offset would predict the first class, however few rows it has.
        """
        sizes = np.bincount(rows.y, rows.weights, len(self.classes_)) / rows.weights.sum()
        leans = iter(LEAN * (2.0 * sizes - 1.0)[1 if len(sizes) == 2 else 0 :])
        outputs = [[output.leaning(next(leans)) for output in run.outputs] for run in runs]
        return [
            replace(run, outputs=own) if run.is_trivial else run
            for run, own in zip(runs, outputs, strict=True)
        ]

    @property
    def _said_by_constants(self) -> str:
        if not all(run.is_trivial for run in self._runs):
            return ""
        label = self._labels(np.atleast_1d(self.intercept_)[None, :]).tolist()[0]
        return f", and predicts {label!r} for every row"


LEAN = 1e-6
"""Offset of a model without columns and offset, times how much larger than the rest a class is."""


def _one_class(classes: NDArray[Any], reason: str = "") -> ValueError:
    return ValueError(
        f"y must have at least two classes, got only one class: {classes.tolist()[0]!r}{reason}"
    )


def class_weights(
    class_weight: Mapping[Any, float] | str | None, classes: NDArray[Any], rows: TrainingRows
) -> Vector:
    """The weight of each class, shape (n_classes,), as in scikit-learn.

    "balanced" is W/(K·W_k) for the weight W_k of the rows of class k, W of all rows, K classes: the
    number of rows where there are no sample weights. A dict gives 1 to classes that it leaves out.
    """
    if isinstance(class_weight, str):
        sizes = np.bincount(rows.y, weights=rows.weights, minlength=len(classes))
        return sizes.sum() / (len(classes) * np.where(sizes > 0, sizes, np.inf))
    given = None if class_weight is None else dict(class_weight)
    labels = classes.tolist()
    unknown = [label for label in given or () if label not in labels]
    without = [label for label in labels if given is not None and label not in given]
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


@dataclass(eq=False, repr=False)
class ProbabilisticClassification(Classification):
    """One whose outputs are always log-odds."""

    def predict_proba(self, X: Any) -> Vector:
        """Class probabilities, shape (n_rows, n_classes)."""
        return self._probabilities(self._outputs(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Vector]:
        """Class probabilities after every round up to the best one."""
        return map(self._probabilities, self._staged_outputs(X))


def balanced(outputs: Vector) -> Vector:
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


@dataclass(eq=False, repr=False)
class Regression(RegressorMixin, BaseEnsemble):
    """The output is the prediction."""

    _y_numeric: ClassVar[bool] = True

    @property
    def _known_loss(self) -> Loss | None:
        """The loss; None where it is the squared error or no :class:`Loss`."""
        return None

    def predict(self, X: ArrayLike) -> Vector:
        """The model output f, shape (n_rows,); e^f for the Poisson loss."""
        return self._predicted(self._outputs(X)[:, 0])

    def staged_predict(self, X: ArrayLike) -> Iterator[Vector]:
        """Predictions after every round up to the best one; the last are those of the model."""
        return map(self._predicted, self.staged_decision_function(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output f after every round up to the best one."""
        return (outputs[:, 0] for outputs in self._staged_outputs(X))

    def _predicted(self, output: Vector) -> Vector:
        loss = self._known_loss
        return output if loss is None else loss.inverse_link(output)

    @property
    def _scores(self) -> dict[str, Score]:  # type: ignore[override]
        """Errors of predictions; where the loss is the score, its mean comes first."""
        scores: dict[str, Score] = {
            "mae": lambda y, f: mean_absolute_error(y, self._predicted(f)),
            "mse": lambda y, f: mean_squared_error(y, self._predicted(f)),
        }
        loss = self._known_loss
        if loss is not None and loss.is_score:
            return {"loss": lambda y, f: float(np.mean(loss.value(y, f)))} | scores
        return scores

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _encode(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]
