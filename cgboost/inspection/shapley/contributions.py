"""Contributions of features to the outputs of a fitted model.

The value of feature j for a row is its Shapley value in the game whose value for a set S of
features is the mean output with the features in S from the row and the others from elsewhere: from
the rows of a background (interventional), or from the training rows that went the same way through
a tree (path-dependent, as of ``shap.TreeExplainer``). Values are linear in the model, so that
those of an ensemble are Σ coefficient × those of its basis functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_methods import StoredEstimator
from cgboost.estimators.thinning.members import EstimatorMembers
from cgboost.estimators.thinning.predictions import ThinnedModel
from cgboost.estimators.thinning.refitted_leaves import RefittedLeaves
from cgboost.estimators.transform.linear_tree import LinearTreeRegressor
from cgboost.generation.columns import weighted_sum
from cgboost.inspection.model_forms import is_balanced, table_of_features, way_of
from cgboost.inspection.pipelines import last_step
from cgboost.inspection.shapley.basis_functions import Sum, linear_trees, sum_of, trees
from cgboost.inspection.shapley.parts import Boxes, Slopes, is_counted
from cgboost.inspection.shapley.sampled import sampled
from cgboost.optional import require
from cgboost.tables.frames import frame_of, is_frame

if TYPE_CHECKING:
    from shap import Explanation

Perturbation = Literal["interventional", "tree_path_dependent"]


@dataclass(frozen=True)
class Contributions:
    """What each feature contributes to each output, as a ``shap.Explanation`` has it.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features) or (n_rows, n_features, n_outputs)
        ``base_values + values.sum(axis=1)`` are the outputs of the model.
    base_values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The output where nothing is known of a row; the same for all of them.
    data : array of shape (n_rows, n_features)
        The rows, after the earlier steps of a pipeline.
    feature_names : list of str
    output_names : list of str or None
        Of several outputs: classes, quantiles or responses.
    feature_perturbation : {"interventional", "tree_path_dependent"}
    exact : bool
        False where shap has gone through random orders of the features.
    """

    values: Vector
    base_values: Vector
    data: Any
    feature_names: list[str]
    output_names: list[str] | None
    feature_perturbation: Perturbation
    exact: bool

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.values)

    def __getitem__(self, rows: Any) -> Contributions:
        """Those of some rows: a slice, a mask or a list."""
        if isinstance(rows, (int, np.integer)):
            rows = [int(rows)]
        return replace(
            self,
            values=self.values[rows],
            base_values=self.base_values[rows],
            data=self.data[rows],
        )

    def to_shap(self) -> Explanation:
        """The same for the pictures of the package shap.

        Raises
        ------
        ImportError
            Without the package shap.
        """
        require("shap", "an Explanation")
        from shap import Explanation

        data = self.data.toarray() if sparse.issparse(self.data) else self.data
        return Explanation(
            self.values,
            base_values=self.base_values,
            data=data,
            feature_names=self.feature_names,
            output_names=self.output_names,
        )


def contributions(model: Any, X: Any, background: Any = None) -> Contributions:
    """Shapley values of the features for the predictions of rows.

    They add up, with ``base_values``, to ``decision_function``, or for a regressor to the output f
    that it predicts (of the Poisson loss the log of the prediction). No sets of features are
    enumerated:

    * linear models, lines, curves of one feature, stumps: h_j(x_j) less its mean over the
      background, as of ``shap.LinearExplainer``;
    * trees, linear trees and rules: exact by the conditions that a row fulfils, as of
      ``shap.TreeExplainer``;
    * linear kernels, and those that are products over the features (RBF, Laplacian): exact, each
      row against each of the background;
    * all else (other kernels, factors of kernels, stages that read earlier ones or are bounded,
      other learners): the package shap evaluates the model, exactly with up to 10 features, and
      else over random orders of them (``exact`` says which).

    Sums agree to rounding: of float64, or of float32 where a model computes its outputs in it.

    Parameters
    ----------
    model : fitted estimator of cgboost, or a pipeline that ends in one
        Of a pipeline, contributions are those of the features that the last step is given; of a
        search over parameters, such as ``GridSearchCV``, those of its best model.
    X : array-like or data frame of shape (n_rows, n_features)
        As ``predict`` takes it. Of a table, every column has one contribution, categories and words
        too.
    background : array-like or data frame of shape (n_background, n_features), optional
        Rows that features which are not known come from, such as some 100 training rows. Without
        it, models of trees that keep numbers of rows (gradient boosting, trees of scikit-learn as
        learners, thinned forests) have path-dependent values; for all others X is the background,
        of two rows at least.

    Returns
    -------
    Contributions

    Raises
    ------
    TypeError
        If the model is none of cgboost.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    ValueError
        If X or the background are not rows of the model, or have no rows; if X is one row that
        would be its own background: all contributions would be 0.
    ImportError
        Without the package shap, where it has to evaluate the model.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import GradientBoostingRegressor
    >>> from cgboost.inspection import contributions
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = GradientBoostingRegressor(n_estimators=20).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    >>> found = contributions(model, X[:5], background=X)
    >>> found.values.shape
    (5, 3)
    >>> bool(np.allclose(found.base_values + found.values.sum(axis=1), model.predict(X[:5])))
    True
    """
    model, (X, background), names = last_step(model, X, background)
    if not isinstance(model, StoredEstimator):
        raise TypeError(
            f"contributions explains fitted models of cgboost, got a {type(model).__module__}."
            f"{type(model).__qualname__}: shap.Explainer(model.predict, background) takes any"
        )
    check_is_fitted(model)
    for name, given in (("X", X), ("background", X if background is None else background)):
        if not _count(given):
            raise ValueError(f"{name} must have at least one row, got none")
    rows = _numbers(model, X)
    form = _form_of(model, rows)
    total, exact = np.zeros((len(form.sums), rows.shape[1], rows.shape[0])), True
    counted = form.counted_boxes if background is None else None
    if counted is None and background is None and rows.shape[0] == 1 and form.has_terms:
        raise ValueError(
            f"one row has nothing to be compared with, and this {type(model).__name__} keeps no "
            "numbers of training rows: give background=, some 100 of them"
        )
    if counted is not None:
        means = np.array(form.intercepts)
        for k, boxes in enumerate(counted):
            means[k] += sum(part.add_by_covers(rows, total[k]) for part in boxes)
        base = form.decided(means)
    else:
        others = rows if background is None else _numbers(model, background)
        base = scores_of(model, X if background is None else background).mean(axis=0)
        for own, values in zip(form.sums, total, strict=True):
            for part in own.parts:
                part.add(rows, others, values)
        if form.rest is not None:
            found, exact = sampled(form.rest, rows, others, form.what)
            total += found
    values = form.decided(total.transpose(2, 1, 0))
    several = values.shape[2] > 1
    base = np.tile(base, (len(values), 1))
    return Contributions(
        values=values if several else values[:, :, 0],
        base_values=base if several else base[:, 0],
        data=_data(table_of_features(model, X)),
        feature_names=_names(model, X) if names is None else names,
        output_names=_output_names(model, values.shape[2]) if several else None,
        feature_perturbation="interventional" if counted is None else "tree_path_dependent",
        exact=exact,
    )


def scores_of(model: Any, X: Any) -> Vector:
    """What contributions add up to, shape (n_rows, n_outputs): f, before any link."""
    if hasattr(model, "decision_function"):
        found = model.decision_function(X)
    else:
        found = model._outputs(X) if hasattr(model, "_outputs") else model.predict(X)
    scores: Vector = np.asarray(found, dtype=np.float64)
    return scores.reshape(len(scores), -1)


@dataclass(frozen=True)
class _Form:
    """What the outputs of a model are made of.

    Attributes
    ----------
    sums : list of Sum
        One for each output.
    decided : callable
        Scores of outputs, along the last axis.
    rest : callable or None
        What is in no part, of rows: shape (n_rows, n_outputs).
    what : str
        What that is.
    """

    sums: list[Sum]
    intercepts: list[float]
    decided: Callable[[Vector], Vector] = np.asarray
    rest: Callable[[Any], Vector] | None = None
    what: str = ""

    @property
    def has_terms(self) -> bool:
        """Whether outputs depend on the features at all, as far as can be seen."""
        return self.rest is not None or any(own.parts for own in self.sums)

    @property
    def counted_boxes(self) -> list[list[Boxes]] | None:
        """The parts, where all of them are trees that keep numbers of rows."""
        boxes = [[part for part in own.parts if is_counted(part)] for own in self.sums]
        n_parts = sum(len(own.parts) for own in self.sums)
        whole = 0 < n_parts == sum(map(len, boxes)) and self.rest is None
        return boxes if whole else None


def _form_of(model: Any, rows: Any) -> _Form:
    if isinstance(model, LinearTreeRegressor):
        tree = model.tree_
        boxes = linear_trees([(tree, 1.0)], tree.groups, tree.regressors)
        return _Form([Sum([boxes], [], [])], [0.0])
    if isinstance(model, ThinnedModel):
        return _form_of_forest(model) or _whole(model, rows)
    way = way_of(model)
    if way == "linear":
        coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
        sums = [Sum([Slopes(own)], [], []) for own in np.atleast_2d(coef).astype(np.float64)]
        return _Form(sums, np.broadcast_to(model.intercept_, len(sums)).tolist())
    if way == "machine" and not getattr(model, "_pairwise", False):
        outputs = [(model.hypotheses_, coef) for coef in model.dual_coef_.T]
        intercepts = model.intercept_.tolist()
    elif way == "sum":
        fitted = [output for run in model._runs for output in run.outputs]
        outputs = [(output.hypotheses, output.coef) for output in fitted]
        intercepts = [output.intercept for output in fitted]
    else:
        return _whole(model, rows)
    sums = [sum_of(hypotheses, coef, rows.shape[1]) for hypotheses, coef in outputs]
    form = _Form(sums, intercepts)
    if way == "sum" and is_balanced(model):
        form = replace(form, decided=lambda f: f - f.mean(axis=-1, keepdims=True))
    kinds = sorted({type(rest).__name__ for own in sums for rest in own.rest})
    if not kinds:
        return form

    def rest(X: Any) -> Vector:
        return np.column_stack([weighted_sum(own.rest, np.array(own.rest_coef), X) for own in sums])

    return replace(
        form, rest=rest, what=f"contributions to a {type(model).__name__} ({', '.join(kinds)})"
    )


def _form_of_forest(model: ThinnedModel) -> _Form | None:
    """The kept trees of a forest with their weights; None of other ensembles."""
    members, places = model._members, model._places
    refitted = members if isinstance(members, RefittedLeaves) else None
    if refitted is not None:
        members, places = refitted.members, refitted.places[places]
    if not isinstance(members, EstimatorMembers) or not members.are_trees:
        return None
    kept = [members.members[j].estimator.tree_ for j in places.tolist()]
    if refitted is not None:
        numbered = zip(model._places.tolist(), kept, strict=True)
        values = [refitted.node_values(j, tree.node_count).T for j, tree in numbered]
    else:  # members say what they say in float32
        values = [tree.value[:, 0].astype(np.float32).astype(np.float64).T for tree in kept]
    if members.classes is None:
        values = [value[:1] for value in values]
    weighed = list(zip(kept, values, model.weights_.tolist(), strict=True))
    width = len(values[0]) if values else len(np.atleast_1d(model.intercept_))
    sums = [
        Sum([trees([(tree, weight * value[k]) for tree, value, weight in weighed])], [], [])
        for k in range(width)
    ]
    intercepts = np.broadcast_to(model.intercept_, width).tolist()
    if width == 2:
        return _Form(sums, intercepts, lambda f: f[..., 1:] - f[..., :1])
    return _Form(sums, intercepts)


def _whole(model: Any, rows: Any) -> _Form:
    """A model of which nothing is known but what it says."""
    nameless = object.__new__(type(model))  # of features: rows without names lead to no warning
    vars(nameless).update({k: v for k, v in vars(model).items() if k != "feature_names_in_"})
    n_outputs = scores_of(nameless, rows[:1]).shape[1]
    return _Form(
        [Sum([], [], [])] * n_outputs,
        [0.0] * n_outputs,
        rest=lambda X: scores_of(nameless, X),
        what=f"contributions to a {type(model).__name__}",
    )


# ------------------------------------------------------------------ rows and names


def _numbers(model: Any, X: Any) -> Any:
    """Rows as the basis functions see them: an array or a sparse matrix of numbers."""
    rows = model._rows(X) if hasattr(model, "_rows") else model._read_new(X)
    if sparse.issparse(rows):
        return rows.tocsr()
    try:
        values = np.asarray(rows)
        return values if values.dtype.kind == "f" else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"contributions needs rows of numbers, which those of this {type(model).__name__} are "
            f"not: its features are objects ({error})"
        ) from error


def _count(X: Any) -> int:
    """Number of rows, whatever they are in."""
    return len(frame_of(X)) if is_frame(X) else int(np.shape(X)[0]) if np.ndim(X) else 1


def _data(X: Any) -> Any:
    """The rows as an array."""
    if sparse.issparse(X):
        return X.tocsr()
    return frame_of(X).to_numpy() if is_frame(X) else np.asarray(X)


def _names(model: Any, X: Any) -> list[str]:
    """Of the features: those of the fit, those of a frame, or x0, x1 and so on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and is_frame(X):
        names = frame_of(X).columns
    return (
        [f"x{j}" for j in range(model.n_features_in_)] if names is None else list(map(str, names))
    )


def _output_names(model: Any, count: int) -> list[str]:
    """Classes, quantiles, or numbers of responses."""
    for attribute in ("classes_", "quantiles"):
        found: Sequence[Any] | NDArray[Any] = getattr(model, attribute, ())
        if len(found) == count:
            return [str(own) for own in found]
    return [str(k) for k in range(count)]
