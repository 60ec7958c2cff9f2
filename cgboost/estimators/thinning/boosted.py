"""The trees of boosting as members: their raw scores add up to that of the model.

    F(x) = constant + Σ_k h_k(x)

Each library has its own way to evaluate a range of trees; nothing here imports one.
"""

from __future__ import annotations

import copy
import re
from abc import abstractmethod
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.members import Cube, MemberKind, Members

LOGISTIC = ("binary", "multiclass", "binary:logistic", "multi:softprob", "multi:softmax")
"""Objectives of LightGBM and XGBoost whose raw scores are log-odds or their like."""


NOT_CONSTANT = 1e-4
"""What is left besides the stages varies by more, relative to the scores: more than their rounding
in float32."""


SAME_PREDICTIONS = 1e-3
"""Predictions that differ by less, relative to the largest, are those of the sum of the trees."""


class BoostedMembers(Members):
    """The stages of a boosting model, each with a weight of 1.

    Parameters
    ----------
    model : fitted model
    classes : ndarray or None
    """

    adds_up: ClassVar[bool] = True
    n_stages: int

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        self.model, self.classes = model, classes
        self.kind: MemberKind = "value" if classes is None else "score"
        self.weights: Vector = np.ones(self.n_stages)
        self.has_link = classes is not None

    def of(self, index: int) -> Any:
        """The number of the stage."""
        return int(index)

    def outputs(self, X: Any, indices: Indices | None = None) -> Cube:
        """See :meth:`Members.outputs`."""
        chosen = range(len(self)) if indices is None else indices.tolist()
        each = [self._stage(X, int(k)) for k in chosen]
        each = [values[:, None] if values.ndim == 1 else values for values in each]
        if not each:
            width = len(self.classes) if self.classes is not None and len(self.classes) > 2 else 1
            return np.zeros((len(X), 0, width), dtype=np.float32)
        return np.stack(each, axis=1).astype(np.float32)

    def total(self, X: Any, outputs: Cube) -> Vector:
        """The raw score of the model.

        Raises
        ------
        ValueError
            If it is not a constant and the sum of the stages.
        """
        raw = np.asarray(self._raw(X), dtype=np.float64)
        raw = raw[:, None] if raw.ndim == 1 else raw
        rest = raw - outputs.sum(axis=1, dtype=np.float64)
        if (spread := float(np.ptp(rest, axis=0).max())) > NOT_CONSTANT * (np.abs(raw).max() + 1.0):
            raise ValueError(
                f"estimator has a part besides its trees that differs by {spread:.3g} from row to "
                "row (an init model, or trees that are rescaled): only a constant one can be kept"
            )
        return raw

    def check(self, X: Any) -> None:
        """Whether predictions are the sum of the trees, or the usual function of it.

        Raises
        ------
        ValueError
            If there is a link besides (a logarithm), or the trees are averaged.
        """
        raw = np.asarray(self._raw(X), dtype=np.float64)
        if self.classes is None:
            said = np.ravel(np.asarray(self._predict(X), dtype=np.float64))
            expected = np.ravel(raw)
        elif self.has_link and hasattr(self.model, "predict_proba"):
            said = np.asarray(self.model.predict_proba(X), dtype=np.float64)
            flat = raw.ndim == 1 or raw.shape[1] == 1
            second = expit(np.ravel(raw))
            expected = np.column_stack([1 - second, second]) if flat else softmax(raw, axis=1)
        else:
            return
        allowed = SAME_PREDICTIONS * (1.0 + float(np.abs(expected).max(initial=0.0)))
        if said.shape != expected.shape or np.abs(said - expected).max(initial=0.0) > allowed:
            raise ValueError(
                f"predictions of {self.model!r} are not the sum of its trees: it has a link "
                "(Poisson, gamma, Tweedie; a Booster of classes: give the classifier instead) or "
                "averages its trees (boosting='rf'), and cannot be thinned"
            )

    def _predict(self, X: Any) -> Any:
        return self.model.predict(X)

    @abstractmethod
    def _raw(self, X: Any) -> NDArray[Any]:
        """Raw score of the model, shape (n_rows,) or (n_rows, n_classes)."""

    @abstractmethod
    def _stage(self, X: Any, k: int) -> NDArray[Any]:
        """Raw score of stage k, shape (n_rows,) or (n_rows, n_classes)."""


class GradientTrees(BoostedMembers):
    """scikit-learn's GradientBoosting: ``learning_rate`` times a tree for each class."""

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        self.n_stages = len(model.estimators_)
        super().__init__(model, classes)
        self.has_link = classes is not None and model.loss == "log_loss"

    def _raw(self, X: Any) -> NDArray[Any]:
        model = self.model
        return np.asarray(model.predict(X) if self.classes is None else model.decision_function(X))

    def _stage(self, X: Any, k: int) -> NDArray[Any]:
        rows = np.asarray(X, dtype=np.float32)
        trees = self.model.estimators_[k]
        rate: float = self.model.learning_rate
        return rate * np.column_stack([tree.predict(rows) for tree in trees])


class HistogramTrees(BoostedMembers):
    """scikit-learn's HistGradientBoosting: one stage at a time, without its baseline."""

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        self.n_stages = len(model._predictors)
        super().__init__(model, classes)
        self.has_link = classes is not None and model.loss == "log_loss"

    def _raw(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.model._raw_predict(X))

    def _stage(self, X: Any, k: int) -> NDArray[Any]:
        part = copy.copy(self.model)
        part._predictors = self.model._predictors[k : k + 1]
        part._baseline_prediction = np.zeros_like(self.model._baseline_prediction)
        return np.asarray(part._raw_predict(X))


class LightGBMTrees(BoostedMembers):
    """LightGBM: the raw score of one iteration."""

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        self.booster = getattr(model, "booster_", model)
        per_stage = self.booster.num_model_per_iteration()
        self.n_stages = self.booster.num_trees() // per_stage
        super().__init__(model, classes)
        objective = str(self.booster.params.get("objective", "")) or str(
            getattr(model, "objective_", "")
        )
        self.has_link = classes is not None and objective.split(" ")[0] in LOGISTIC

    @property
    def are_linear(self) -> bool:
        """Whether the leaves have linear models."""
        return "\nis_linear=1\n" in self.booster.model_to_string(num_iteration=1)

    def _raw(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.booster.predict(X, raw_score=True))

    def _stage(self, X: Any, k: int) -> NDArray[Any]:
        found = self.booster.predict(X, raw_score=True, start_iteration=k, num_iteration=1)
        return np.asarray(found)

    def leaves(self, X: Any, indices: Indices) -> NDArray[np.intp]:
        """The number of the leaf of each row in each tree of some stages, stage by stage."""
        if np.array_equal(indices, np.arange(len(self))):
            found = self.booster.predict(X, pred_leaf=True)
            return np.asarray(found, dtype=np.intp).reshape(len(X), -1)
        own = [
            self.booster.predict(X, pred_leaf=True, start_iteration=int(k), num_iteration=1)
            for k in indices
        ]
        return np.hstack([np.asarray(one, dtype=np.intp).reshape(len(X), -1) for one in own])

    def part(self, indices: Indices) -> LightGBMTrees:
        """Some of the stages."""
        part = copy.copy(self)
        part.booster = part.model = self.weighed(indices, np.ones(len(indices)))
        part.n_stages, part.weights = len(indices), np.ones(len(indices))
        return part

    def weighed(
        self, indices: Indices, weights: Vector, intercept: NDArray[np.float64] | None = None
    ) -> Any:
        """A booster of some stages with weighted leaves, from its own text."""
        head, *trees, tail = _parts(self.booster.model_to_string(num_iteration=-1))
        per_stage = self.booster.num_model_per_iteration()
        kept: list[str] = []
        for place, (stage, weight) in enumerate(zip(indices, weights, strict=True)):
            for k in range(per_stage):
                shift = 0.0 if intercept is None or place else float(intercept[k])
                text = _weighted(trees[stage * per_stage + k], float(weight), shift)
                kept.append(re.sub(r"^Tree=\d+", f"Tree={len(kept)}", text))
        head = re.sub(r"^tree_sizes=.*\n", "", head, flags=re.MULTILINE)
        return type(self.booster)(model_str=head + "".join(kept) + tail)


def _parts(text: str) -> list[str]:
    """Head, trees and tail of a model file of LightGBM."""
    starts = [found.start() for found in re.finditer(r"^Tree=\d+$", text, flags=re.MULTILINE)]
    end = text.index("end of trees")
    places = [0, *starts, end, len(text)]
    return [text[a:b] for a, b in pairwise(places)]


def _weighted(tree: str, weight: float, shift: float) -> str:
    """A tree times a weight, plus a shift; with leaf_const and leaf_coeff where it is linear."""

    def scaled(found: re.Match[str]) -> str:
        shifted = 0.0 if found[1] == "leaf_coeff" else shift
        values = [repr(weight * float(own) + shifted) for own in found[2].split()]
        return f"{found[1]}={' '.join(values)}"

    return re.sub(r"^(leaf_(?:value|const|coeff))=(.*)$", scaled, tree, flags=re.MULTILINE)


class XGBoostTrees(BoostedMembers):
    """XGBoost: the margin of one iteration, which has the base score in it each time."""

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        best = getattr(model, "best_iteration", None)  # of early stopping: predictions end there
        rounds = int(model.get_booster().num_boosted_rounds())
        self.n_stages = rounds if best is None else int(best) + 1
        super().__init__(model, classes)
        self.has_link = classes is not None

    def _raw(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.model.predict(X, output_margin=True))

    def _stage(self, X: Any, k: int) -> NDArray[Any]:
        found = self.model.predict(X, output_margin=True, iteration_range=(k, k + 1))
        return np.asarray(found)


class CatBoostTrees(BoostedMembers):
    """CatBoost: the raw value of one tree."""

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        self.n_stages = int(model.tree_count_)
        super().__init__(model, classes)

    def _raw(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.model.predict(X, prediction_type="RawFormulaVal"))

    def _stage(self, X: Any, k: int) -> NDArray[Any]:
        found = self.model.predict(
            X, prediction_type="RawFormulaVal", ntree_start=k, ntree_end=k + 1
        )
        return np.asarray(found)


def library_of(model: Any) -> str:
    """The package that a model comes from."""
    return type(model).__module__.split(".")[0]


def boosted_members(model: Any) -> BoostedMembers | None:
    """The trees of a fitted boosting model of a library; None if it is of another kind."""
    classes = getattr(model, "classes_", None)
    if classes is not None:
        classes = np.asarray(classes)
        classes = classes if len(classes) else None
    library = library_of(model)
    if library == "sklearn":
        if hasattr(model, "_predictors"):
            return HistogramTrees(model, classes)
        trees = getattr(model, "estimators_", None)
        if isinstance(trees, np.ndarray) and hasattr(model, "learning_rate"):
            return GradientTrees(model, classes)
        return None
    if library == "lightgbm":
        return LightGBMTrees(model, classes)
    if library == "xgboost" and hasattr(model, "get_booster"):
        return XGBoostTrees(model, classes)
    if library == "catboost":
        return CatBoostTrees(model, classes)
    return None
