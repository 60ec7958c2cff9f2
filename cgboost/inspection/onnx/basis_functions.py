"""Weighted sums of basis functions as ONNX operators: stumps, lines, features, trees, kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.exceptions import ExportError
from cgboost.inspection.onnx.graph import ML, Name, OperatorGraph
from cgboost.inspection.onnx.kernels import kernel_values
from cgboost.kernels.kernel_family import KernelHypothesis
from cgboost.kernels.scaling import Widened
from cgboost.kernels.sparse_rows import SparseScaler
from cgboost.pricing.learners.class_learners import (
    ClassStump,
    CodePlace,
    FittedClassifier,
    class_codes,
)
from cgboost.pricing.learners.learners import LearnerHypothesis
from cgboost.pricing.learners.trees import TreeHypothesis
from cgboost.pricing.univariate.feature_pricer import Feature
from cgboost.pricing.univariate.lines import Line
from cgboost.pricing.univariate.stumps import Stump

StumpValues = tuple[int, float, float, float]
"""A feature, a threshold, the value below (and at it) and the value above."""


def weighted_sum(graph: OperatorGraph, x: Name, hypotheses: Sequence[Any], coef: Vector) -> Name:
    """Σ_j coef_j h_j(x), shape (n_rows, 1), or (n_rows, n_outputs) of that many columns in coef.

    Raises
    ------
    ExportError
        For a basis function that cannot be written.
    """
    groups: dict[Any, list[tuple[Any, Any]]] = {}
    for hypothesis, weight in zip(hypotheses, coef.tolist(), strict=True):
        if np.any(weight):
            groups.setdefault(_group(hypothesis), []).append((hypothesis, weight))
    if not groups:
        return graph.op("Mul", graph.columns(x, [0]), 0.0)
    parts = [
        write(graph, x, [own for own, _ in terms], np.array([weight for _, weight in terms]))
        for (write, *_), terms in groups.items()
    ]
    return reduce(lambda one, other: graph.op("Add", one, other), parts)


GRAPH_ROWS = 16
"""Rows on which a graph is compared with its model."""


def known_rows(hypotheses: Sequence[Any], n_features: int) -> Vector:
    """Rows like those that a model was fitted to, shape (n_rows, n_features).

    Of kernels, means of two centres, which every kernel is defined for. Of stumps and trees, values
    from a little below the smallest threshold of a feature to a little above the largest. Features
    of which nothing is known are standard normal.
    """
    rng = np.random.default_rng(0)
    of_kernels = [one for one in hypotheses if type(one) is KernelHypothesis]
    if of_kernels:
        chosen = [of_kernels[j] for j in rng.integers(len(of_kernels), size=2 * GRAPH_ROWS)]
        rows = np.vstack([_row_of(one) for one in chosen])
        return 0.5 * (rows[:GRAPH_ROWS] + rows[GRAPH_ROWS:])
    rows = rng.normal(size=(GRAPH_ROWS, n_features))
    known: dict[int, list[float]] = {}
    for one in hypotheses:
        if (step := _step(one)) is not None:
            known.setdefault(step[0], []).append(step[1])
        elif (found := _tree(one)) is not None:
            tree, inner = found[0], found[0].children_left >= 0
            for j, threshold in zip(tree.feature[inner], tree.threshold[inner], strict=True):
                known.setdefault(int(j), []).append(float(threshold))
    for j, thresholds in known.items():  # feature −1 is a constant
        if j < 0:
            continue
        low, high = min(thresholds), max(thresholds)
        margin = 0.25 * (high - low) or 0.25 * abs(low) or 1.0
        rows[:, j] = rng.uniform(low - margin, high + margin, GRAPH_ROWS)
    return rows


def _row_of(hypothesis: KernelHypothesis) -> Vector:
    """The centre of a kernel column as the features that it was made of."""
    centre: Any = hypothesis.centre
    scaler: Any = hypothesis.family.scaler
    row: Any = centre.toarray() if sparse.issparse(centre) else np.asarray(centre)
    row = row.reshape(1, -1).astype(np.float64)
    return row if scaler is None else np.asarray(scaler.inverse_transform(row))


def _group(hypothesis: Any) -> tuple[Any, ...]:
    """What writes a basis function, and what those have in common that are written together."""
    kind = type(hypothesis)
    if kind is KernelHypothesis:
        return _kernels, id(hypothesis.family)
    if kind in SIMPLE:
        return (SIMPLE[kind],)
    if _step(hypothesis) is not None:
        return (_steps,)
    if _tree(hypothesis) is not None:
        return (_trees,)
    raise ExportError(
        f"a column of the kind {kind.__name__} cannot be written in ONNX: kernels of features, "
        "linear terms, stumps and scikit-learn's decision trees can. Models of blocks of rows have "
        "to_sql"
    )


def _features(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    slopes = coef / [feature.scale for feature in own]
    shift = float(slopes @ [feature.centre for feature in own])
    part = graph.columns(x, [feature.index for feature in own])
    return graph.op("Sub", graph.op("MatMul", part, graph.constant(slopes[:, None])), shift)


def _lines(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    slopes = coef * [line.slope for line in own]
    shift = float(coef @ [line.offset for line in own])
    part = graph.columns(x, [max(0, line.feature) for line in own])
    return graph.op("Add", graph.op("MatMul", part, graph.constant(slopes[:, None])), shift)


def _kernels(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    family = own[0].family
    scaler = family.scaler.scaler if isinstance(family.scaler, Widened) else family.scaler
    if scaler is not None:
        x = _scaled(graph, x, scaler)
    rows = [one.centre for one in own]
    if any(np.asarray(row).dtype.kind == "O" for row in rows if not sparse.issparse(row)):
        raise ExportError(f"kernel {family.name!r} takes objects, which ONNX has no input for")
    centres = np.vstack([row.toarray() if sparse.issparse(row) else row for row in rows])
    values = kernel_values(graph, family.kernel, x, centres.astype(np.float64))
    return graph.op("MatMul", values, graph.constant(coef.reshape(len(own), -1)))


def _scaled(graph: OperatorGraph, x: Name, scaler: Any) -> Name:
    """(x − mean)/std, in this order: features may be far from 0."""
    from sklearn.preprocessing import StandardScaler  # with half of scikit-learn behind it

    places = slice(None) if scaler.columns is None else list(scaler.columns.places)
    means, scales = np.zeros(graph.n_features), np.ones(graph.n_features)
    if isinstance(scaler.scaler, SparseScaler):
        scales[places] = scaler.scaler.scale
    elif isinstance(scaler.scaler, StandardScaler) and hasattr(scaler.scaler, "scale_"):
        means[places], scales[places] = scaler.scaler.mean_, scaler.scaler.scale_
    elif places:
        raise ExportError("the scaling of these rows cannot be written in ONNX")
    centred = graph.op("Sub", x, graph.constant(means[None]))
    return graph.op("Div", centred, graph.constant(scales[None]))


def _step(hypothesis: Any) -> StumpValues | None:
    """A basis function with two values, if it is one."""
    if isinstance(hypothesis, Stump):
        return hypothesis.feature, hypothesis.threshold, -1.0, 1.0
    if isinstance(hypothesis, CodePlace) and isinstance(hypothesis.learner, ClassStump):
        own, codes = hypothesis.learner, class_codes(hypothesis.n_classes)[:, hypothesis.place]
        return own.cut.feature, own.cut.threshold, codes[own.below], codes[own.above]
    return None


def _steps(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    steps = [step for one in own if (step := _step(one)) is not None]
    features, thresholds, below, above = (np.array(part) for part in zip(*steps, strict=True))
    part = graph.columns(x, np.maximum(features, 0))
    larger = graph.op("Greater", part, graph.constant(thresholds[None].astype(np.float64)))
    jumps = graph.constant((coef * (above - below))[:, None])
    return graph.op(
        "Add", graph.op("MatMul", graph.cast(larger, np.float64), jumps), float(coef @ below)
    )


def _tree(hypothesis: Any) -> tuple[Any, Vector] | None:
    """A tree of scikit-learn's and the value of each of its nodes, if it is one."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if isinstance(hypothesis, TreeHypothesis):
        return hypothesis.estimator.tree_, hypothesis.node_values
    if isinstance(hypothesis, LearnerHypothesis):
        own, scale = hypothesis.estimator, hypothesis.scale
        if type(own) is DecisionTreeRegressor and own.n_outputs_ == 1:
            return own.tree_, scale * own.tree_.value[:, 0, 0]
        if type(own) is DecisionTreeClassifier and own.n_outputs_ == 1:
            labels = np.asarray(own.classes_, dtype=np.float64)
            return own.tree_, scale * labels[own.tree_.value[:, 0].argmax(axis=1)]
    if isinstance(hypothesis, CodePlace) and isinstance(hypothesis.learner, FittedClassifier):
        own = hypothesis.learner.estimator
        if type(own) is DecisionTreeClassifier:
            codes = class_codes(hypothesis.n_classes)[:, hypothesis.place]
            numbers = np.asarray(own.classes_, dtype=np.intp)
            return own.tree_, codes[numbers[own.tree_.value[:, 0].argmax(axis=1)]]
    return None


def _trees(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    """Trees of x, rounded to float32 as scikit-learn does; their sum is of float32, too."""
    parts: dict[str, list[Any]] = {name: [] for name in TREE_PARTS}
    for number, (hypothesis, weight) in enumerate(zip(own, coef.tolist(), strict=True)):
        found = _tree(hypothesis)
        assert found is not None
        tree, values = found
        leaf = tree.children_left < 0
        nodes = np.arange(tree.node_count)
        missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
        for name, entries in (
            ("nodes_treeids", np.full(tree.node_count, number)),
            ("nodes_nodeids", nodes),
            ("nodes_featureids", np.where(leaf, 0, tree.feature)),
            ("nodes_values", np.where(leaf, 0.0, _rounded_down(tree.threshold))),
            ("nodes_modes", np.where(leaf, "LEAF", "BRANCH_LEQ")),
            ("nodes_truenodeids", np.where(leaf, 0, tree.children_left)),
            ("nodes_falsenodeids", np.where(leaf, 0, tree.children_right)),
            ("nodes_missing_value_tracks_true", np.where(leaf, 0, missing).astype(np.int64)),
            ("target_treeids", np.full(leaf.sum(), number)),
            ("target_nodeids", nodes[leaf]),
            ("target_ids", np.zeros(leaf.sum(), dtype=np.int64)),
            ("target_weights", weight * values[leaf]),
        ):
            parts[name] += entries.tolist()
    single = graph.op(
        "TreeEnsembleRegressor", graph.cast(x, np.float32), domain=ML, n_targets=1,
        aggregate_function="SUM", post_transform="NONE", **parts,
    )  # fmt: skip
    return graph.cast(single, np.float64)


def _rounded_down(thresholds: Vector) -> Vector:
    """The largest float32 at most as large: x ≤ t says the same of all x of float32."""
    single = thresholds.astype(np.float32)
    below = np.nextafter(single, np.float32(-np.inf))
    return np.where(single > thresholds, below, single).astype(np.float64)


TREE_PARTS = (
    "nodes_treeids",
    "nodes_nodeids",
    "nodes_featureids",
    "nodes_values",
    "nodes_modes",
    "nodes_truenodeids",
    "nodes_falsenodeids",
    "nodes_missing_value_tracks_true",
    "target_treeids",
    "target_nodeids",
    "target_ids",
    "target_weights",
)
SIMPLE: dict[type, Callable[[OperatorGraph, Name, list[Any], Vector], Name]] = {
    Feature: _features,
    Line: _lines,
}
