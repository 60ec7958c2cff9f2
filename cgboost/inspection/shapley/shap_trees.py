"""Sums of trees in the form that ``shap.TreeExplainer`` reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.inspection.model_forms import is_balanced, step_of, tree_of, way_of

LEAF = -1
"""The child of a leaf."""


def shap_trees(model: Any) -> dict[str, Any]:
    """The trees and stumps of a model as ``shap.TreeExplainer`` takes them.

    :func:`contributions` says the same in less time; this is for what else the explainer offers,
    such as interaction values.

    Parameters
    ----------
    model : fitted estimator of cgboost
        A sum of stumps, of our trees, or of scikit-learn's trees as learners: gradient boosting,
        AdaBoost, LPBoost, AnyBoost. A :class:`~cgboost.ThinnedEnsemble` has ``to_sklearn()``.

    Returns
    -------
    dict
        For ``shap.TreeExplainer(shap_trees(model), background)``. Stumps know no numbers of rows,
        so that a model of stumps needs a background.

    Raises
    ------
    ValueError
        If a basis function of the model is no tree.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import GradientBoostingRegressor
    >>> from cgboost.inspection import shap_trees
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = GradientBoostingRegressor(n_estimators=20).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    >>> len(shap_trees(model)["trees"])
    20
    """
    name = type(model).__name__
    check_is_fitted(model)
    if way_of(model) != "sum":
        raise ValueError(f"shap_trees needs a sum of trees, which {name} is not")
    outputs = [output for run in model._runs for output in run.outputs]
    shares = np.eye(len(outputs))
    if is_balanced(model):
        shares -= 1.0 / len(outputs)
    trees, rounded = [], False
    for output, share in zip(outputs, shares, strict=True):
        for hypothesis, weight in zip(output.hypotheses, output.coef.tolist(), strict=False):
            if not weight:
                continue
            own = _of_step(hypothesis) or _of_tree(hypothesis)
            if own is None:
                raise ValueError(
                    f"shap_trees needs a sum of trees; a {type(hypothesis).__name__} of this "
                    f"{name} is none: contributions(model, X, background) takes it"
                )
            rounded |= tree_of(hypothesis) is not None
            trees.append(own | {"values": np.outer(weight * own["values"], share)})
    intercepts = np.array([output.intercept for output in outputs]) @ shares
    return {
        "trees": trees,
        "base_offset": intercepts if len(outputs) > 1 else float(intercepts[0]),
        "internal_dtype": np.float64,
        "input_dtype": np.float32 if rounded else np.float64,  # as scikit-learn's trees round
        "objective": None,
        "tree_output": "raw_value",
    }


def _form(**arrays: Any) -> dict[str, Vector]:
    return {name: np.asarray(values) for name, values in arrays.items()}


def _of_step(hypothesis: Any) -> dict[str, Vector] | None:
    step = step_of(hypothesis)
    if step is None:
        return None
    feature, threshold, below, above = step
    return _form(
        children_left=[1, LEAF, LEAF],
        children_right=[2, LEAF, LEAF],
        children_default=[1, LEAF, LEAF],
        features=[max(0, feature), LEAF, LEAF],
        thresholds=[threshold, 0.0, 0.0],
        values=[0.0, below, above],
        node_sample_weight=[0.0, 0.0, 0.0],
    )


def _of_tree(hypothesis: Any) -> dict[str, Vector] | None:
    found = tree_of(hypothesis)
    if found is None:
        return None
    tree, values = found
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count)).astype(bool)
    return _form(
        children_left=tree.children_left,
        children_right=tree.children_right,
        children_default=np.where(missing, tree.children_left, tree.children_right),
        features=tree.feature,
        thresholds=tree.threshold.astype(np.float64),
        values=values,
        node_sample_weight=tree.weighted_n_node_samples,
    )
