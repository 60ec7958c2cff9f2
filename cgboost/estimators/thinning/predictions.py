"""Predictions, scores and exports of a thinned ensemble: what needs the members kept alone."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.fitted_methods import StoredEstimator
from cgboost.estimators.common.input_checks import validate_data
from cgboost.estimators.thinning import ensemble_inputs as reading
from cgboost.estimators.thinning import export
from cgboost.estimators.thinning.boosted import library_of
from cgboost.estimators.thinning.faithful import TIED_SCORES
from cgboost.estimators.thinning.members import EstimatorMembers, Members
from cgboost.estimators.thinning.refitted_leaves import RefittedLeaves
from cgboost.tables.frames import is_frame


def _classifies(model: ThinnedModel) -> bool:
    return model._is_classifier


def _has_probabilities(model: ThinnedModel) -> bool:
    if not model._is_classifier:
        return False
    members = vars(model).get("_members")
    return members is None or members.kind == "probability" or members.has_link


class ThinnedModel(StoredEstimator):
    """The members kept and their weights, as a model."""

    estimator: Any
    indices_: Indices
    weights_: Vector
    intercept_: Any
    classes_: NDArray[Any]
    n_features_in_: int
    rows_: str
    leaf_values_: str
    faithful_: str | None
    tolerance: float | None
    n_members_: int
    n_members_in_: int
    gap_: float
    _members: Members
    _places: Indices
    _folded: Any

    @property
    def _is_classifier(self) -> bool:
        if "classes_" in vars(self):
            return True
        models = self.estimator if isinstance(self.estimator, (list, tuple)) else [self.estimator]
        return any(is_classifier(one) for one in models if hasattr(one, "__sklearn_tags__"))

    @property
    def _kept(self) -> export.Kept:
        return export.Kept(
            self._members,
            self.indices_,
            self.weights_,
            self.intercept_,
            self.n_features_in_,
            getattr(self, "feature_names_in_", None),
        )

    @property
    def _allowed(self) -> dict[str, Any]:
        """How arrays of features are checked."""
        nan = get_tags(self).input_tags.allow_nan
        nan = nan or library_of(self.estimator) in reading.LIBRARIES
        return {"dtype": "numeric", "ensure_all_finite": "allow-nan" if nan else True}

    def _read_new(self, X: Any) -> Any:
        """X of a prediction, checked against the training rows; a data frame stays one."""
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return validate_data(self, X, reset=False, **self._allowed)

    def _outputs(self, X: Any) -> Vector:
        """Σ_j w_j h_j(x) + b over the members kept, shape (n_rows, n_outputs)."""
        check_is_fitted(self, "weights_")
        X = self._read_new(X)
        if self._folded is not None:
            return np.asarray(self._folded(X), dtype=np.float64) + self.intercept_
        outputs = self._members.outputs(X, self._places)
        total: Vector = np.einsum("nmk,m->nk", outputs, self.weights_).astype(np.float64)
        return np.asarray(total + self.intercept_, dtype=np.float64)

    def _decided(self, outputs: Vector) -> NDArray[np.intp]:
        if outputs.shape[1] == 1:
            return (outputs[:, 0] > 0).astype(np.intp)
        least = TIED_SCORES if self.faithful_ else 0.0
        first: NDArray[np.intp] = np.argmax(
            outputs >= outputs.max(axis=1, keepdims=True) - least, axis=1
        )
        return first

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels or numbers, by the members kept; shape (n_rows,)."""
        outputs = self._outputs(X)
        return self.classes_[self._decided(outputs)] if self._is_classifier else outputs[:, 0]

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Vector:
        """Shape (n_rows,) for two classes, above 0 for the second; else (n_rows, n_classes)."""
        outputs = self._outputs(X)
        if len(self.classes_) > 2:
            return outputs
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs[:, 1] - outputs[:, 0]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of the classes, shape (n_rows, n_classes).

        The weighted mean of those of the members, or what the scores of boosting stand for.
        """
        outputs = self._outputs(X)
        if self._members.kind == "probability":
            outputs = np.maximum(outputs, 0.0)
            return outputs / outputs.sum(axis=1, keepdims=True)
        if outputs.shape[1] > 1:
            return np.asarray(softmax(outputs, axis=1))
        second = expit(outputs[:, 0])
        return np.column_stack([1.0 - second, second])

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of a classifier, R² of a regressor."""
        from sklearn.metrics import accuracy_score, r2_score

        score = accuracy_score if self._is_classifier else r2_score
        return float(score(y, self.predict(X), sample_weight=sample_weight))

    def to_sklearn(self) -> Any:
        """A model of scikit-learn that predicts the same, of the members kept.

        The weights are folded into the leaves, so that the mean (or sum) that the model forms is
        the weighted sum. AdaBoost of trees becomes a forest.

        Raises
        ------
        ValueError
            If there is none, saying why.
        """
        check_is_fitted(self, "weights_")
        return export.to_sklearn(self._kept)

    def export(self) -> Any:
        """The thinned model in its own library: scikit-learn's, or a ``lightgbm.Booster``.

        Raises
        ------
        ValueError
            If that cannot be, saying why.
        """
        check_is_fitted(self, "weights_")
        return export.export(self._kept)

    def compact(self) -> Self:
        """A copy that predicts and exports the same without the ensemble that was thinned.

        ``save`` and ``pickle`` of it hold the members kept, not all. Its ``estimator`` is a clone
        that is not fitted, so that ``fit`` would fit a new ensemble first; of a list it has the
        members kept.

        Raises
        ------
        ValueError
            For boosting, whose trees are evaluated by their library: ``export()`` leaves them out.
        """
        check_is_fitted(self, "weights_")
        own = self._members
        members = own.members if isinstance(own, RefittedLeaves) else own
        if not isinstance(members, EstimatorMembers):
            raise ValueError(
                "compact() needs members that are estimators, as in a forest or bagging: trees of "
                "boosting are evaluated by their library; export() gives a model of the kept ones"
            )
        model, given = copy.copy(self), reading.unwrapped(self.estimator)
        if isinstance(given, (list, tuple)):
            model.estimator = [member.estimator for member in members.members]
        else:
            model.estimator = clone(given)
        return model

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The line that makes it and, once fitted, how many members are left."""
        line = super().__repr__(N_CHAR_MAX)
        if "weights_" not in vars(self):
            return line
        kept = f"{line}\n  {self.n_members_} of {self.n_members_in_} members"
        if self.faithful_ is not None:
            same = "decision as before"
            if not self._is_classifier:
                same = f"number within {self.tolerance:g}"
            return f"{kept}, every {same}: {self.faithful_}"
        leaves = ", new values in their leaves" if self.leaf_values_ == "refit" else ""
        rows = self.rows_.replace("_", " ")
        return f"{kept}, gap {self.gap_:.1g}, chosen on {rows} rows{leaves}"

    def __sklearn_is_fitted__(self) -> bool:
        """Whether ``fit`` has been called."""
        return "weights_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """The kind of the ensemble that is thinned."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        if isinstance(self.estimator, (list, tuple)) or not hasattr(
            self.estimator, "__sklearn_tags__"
        ):
            return tags
        own = get_tags(self.estimator)
        tags.estimator_type, tags.target_tags = own.estimator_type, own.target_tags
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        tags.target_tags.multi_output = False
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags
