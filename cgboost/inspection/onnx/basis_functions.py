"""Weighted sums of basis functions as ONNX operators: stumps, lines, features, trees, kernels.

Kernels of features are values of rows with fixed centres.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.exceptions import ExportError
from cgboost.inspection.model_forms import step_of, tree_of
from cgboost.inspection.onnx.graph import ML, Name, OperatorGraph
from cgboost.kernels import Normalized
from cgboost.kernels.combinations import Cosine
from cgboost.kernels.kernel import Kernel, Product, Sum
from cgboost.kernels.kernel_family import KernelHypothesis
from cgboost.kernels.numeric.differences import Chi2, Laplacian, Periodic
from cgboost.kernels.numeric.distances import RBF, Matern, RationalQuadratic
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.kernels.on_columns import On
from cgboost.kernels.scaling import Widened
from cgboost.kernels.sparse_rows import SparseScaler
from cgboost.pricing.latent.factors import FactorHypothesis, LinearFactors
from cgboost.pricing.univariate.feature_pricer import Feature
from cgboost.pricing.univariate.lines import Line

Centres = NDArray[np.float64]
LEAST = 1e-300
"""Instead of 0 where a root is divided by, or a sum of features: what it divides is 0 there."""


def kernel_values(graph: OperatorGraph, kernel: Any, x: Name, centres: Centres) -> Name:
    """k(x, z) for all rows x and centres z, shape (n_rows, n_centres).

    Raises
    ------
    ExportError
        For kernels of objects, precomputed ones, and functions of the user's.
    """
    own = VALUES.get(type(kernel))
    if own is None:
        raise ExportError(
            f"the kernel {kernel} cannot be written in ONNX: kernels of features can ("
            f"{', '.join(sorted(kind.__name__ for kind in VALUES))}), and their sums and products"
        )
    return own(graph, kernel, x, centres)


def _linear(graph: OperatorGraph, kernel: Linear, x: Name, centres: Centres) -> Name:
    return graph.op("MatMul", x, graph.constant(np.ascontiguousarray(centres.T)))


def _polynomial(graph: OperatorGraph, kernel: Polynomial, x: Name, centres: Centres) -> Name:
    return _power(graph, kernel, _linear(graph, Linear(), x, centres))


def _power(graph: OperatorGraph, kernel: Polynomial, products: Name) -> Name:
    base = graph.op("Add", graph.op("Mul", products, kernel.gamma), kernel.coef0)
    return graph.op("Pow", base, float(kernel.degree))


def _squared_distances(graph: OperatorGraph, x: Name, centres: Centres) -> Name:
    """‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z, at least 0."""
    products = graph.op("Mul", _linear(graph, Linear(), x, centres), -2.0)
    sums = graph.op("Add", products, _squared_norms(graph, x))
    norms = graph.constant((centres**2).sum(axis=1)[None])
    return graph.op("Max", graph.op("Add", sums, norms), 0.0)


def _squared_norms(graph: OperatorGraph, x: Name) -> Name:
    return graph.sum(graph.op("Mul", x, x), 1, keep=True)


def _differences(graph: OperatorGraph, x: Name, centres: Centres) -> Name:
    """X − z, shape (n_rows, n_centres, n_features), for kernels that lose digits without it."""
    rows = graph.op("Unsqueeze", x, graph.constant(np.array([1])))
    return graph.op("Sub", rows, graph.constant(centres[None]))


def _distances(graph: OperatorGraph, x: Name, centres: Centres) -> Name:
    own = _differences(graph, x, centres)
    return graph.op("Sqrt", graph.sum(graph.op("Mul", own, own), 2))


def _rbf(graph: OperatorGraph, kernel: RBF, x: Name, centres: Centres) -> Name:
    squares = _squared_distances(graph, x, centres)
    return graph.op("Exp", graph.op("Mul", squares, -kernel._width))


def _laplacian(graph: OperatorGraph, kernel: Laplacian, x: Name, centres: Centres) -> Name:
    own = graph.sum(graph.op("Abs", _differences(graph, x, centres)), 2)
    assert kernel.gamma is not None
    return graph.op("Exp", graph.op("Mul", own, -kernel.gamma))


def _chi2(graph: OperatorGraph, kernel: Chi2, x: Name, centres: Centres) -> Name:
    own = _differences(graph, x, centres)
    rows = graph.op("Unsqueeze", x, graph.constant(np.array([1])))
    sums = graph.op("Max", graph.op("Add", rows, graph.constant(centres[None])), LEAST)
    terms = graph.sum(graph.op("Div", graph.op("Mul", own, own), sums), 2)
    return graph.op("Exp", graph.op("Mul", terms, -kernel.gamma))


def _matern(graph: OperatorGraph, kernel: Matern, x: Name, centres: Centres) -> Name:
    scaled = graph.op("Mul", _distances(graph, x, centres), math.sqrt(kernel._rate))
    decay = graph.op("Exp", graph.op("Neg", scaled))
    if kernel.nu == 0.5:
        return decay
    factor = scaled
    if kernel.nu == 2.5:
        factor = graph.op("Mul", scaled, graph.op("Add", graph.op("Div", scaled, 3.0), 1.0))
    return graph.op("Mul", graph.op("Add", factor, 1.0), decay)


def _periodic(graph: OperatorGraph, kernel: Periodic, x: Name, centres: Centres) -> Name:
    angle = graph.op("Mul", _distances(graph, x, centres), math.pi / kernel.periodicity)
    sine = graph.op("Sin", angle)
    square = graph.op("Mul", sine, sine)
    return graph.op("Exp", graph.op("Mul", square, -2.0 / kernel.length_scale**2))


def _rational_quadratic(
    graph: OperatorGraph, kernel: RationalQuadratic, x: Name, centres: Centres
) -> Name:
    rate = 0.5 / (kernel.alpha * kernel._length**2)
    base = graph.op("Mul", _squared_distances(graph, x, centres), rate)
    return graph.op("Pow", graph.op("Add", base, 1.0), -float(kernel.alpha))


def _normalized(graph: OperatorGraph, kernel: Normalized, x: Name, centres: Centres) -> Name:
    values = kernel_values(graph, kernel.kernel, x, centres)
    rows = diagonal(graph, kernel.kernel, x)
    if rows is None:
        return values
    own = np.asarray(kernel.kernel.diagonal(centres), dtype=np.float64)
    scale = np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
    roots = graph.op("Sqrt", graph.op("Max", rows, LEAST))
    return graph.op("Mul", graph.op("Div", values, roots), graph.constant(scale[None]))


def diagonal(graph: OperatorGraph, kernel: Any, x: Name) -> Name | None:
    """k(x, x), shape (n_rows, 1); None where it is 1.

    Raises
    ------
    ExportError
        For a kernel that cannot be written.
    """
    if isinstance(kernel, Normalized):
        return None
    if isinstance(kernel, Linear):
        return _squared_norms(graph, x)
    if isinstance(kernel, Polynomial):
        return _power(graph, kernel, _squared_norms(graph, x))
    if isinstance(kernel, On):
        return diagonal(graph, kernel.kernel, _chosen(graph, kernel, x))
    if isinstance(kernel, Sum):
        ones = graph.constant(np.ones((1, 1)))
        parts = [(w, diagonal(graph, own, x) or ones) for w, own in kernel.terms]
        return reduce(
            lambda one, other: graph.op("Add", one, other),
            [graph.op("Mul", part, float(weight)) for weight, part in parts],
        )
    if isinstance(kernel, Product):
        own = [part for one in kernel.factors if (part := diagonal(graph, one, x)) is not None]
        return reduce(lambda one, other: graph.op("Mul", one, other), own) if own else None
    return None


def _sum(graph: OperatorGraph, kernel: Sum, x: Name, centres: Centres) -> Name:
    parts = [
        graph.op("Mul", kernel_values(graph, own, x, centres), float(weight))
        for weight, own in kernel.terms
    ]
    return reduce(lambda one, other: graph.op("Add", one, other), parts)


def _product(graph: OperatorGraph, kernel: Product, x: Name, centres: Centres) -> Name:
    parts = [kernel_values(graph, own, x, centres) for own in kernel.factors]
    return reduce(lambda one, other: graph.op("Mul", one, other), parts)


def _chosen(graph: OperatorGraph, kernel: On, x: Name) -> Name:
    if not kernel.columns.numeric:
        raise ExportError(
            f"{kernel} takes columns that are no numbers, which ONNX has no input for"
        )
    return graph.columns(x, kernel.columns.places)


def _on(graph: OperatorGraph, kernel: On, x: Name, centres: Centres) -> Name:
    own = centres[:, list(kernel.columns.places)]
    return kernel_values(graph, kernel.kernel, _chosen(graph, kernel, x), own)


VALUES: dict[type[Kernel], Callable[[OperatorGraph, Any, Name, Centres], Name]] = {
    Linear: _linear,
    Polynomial: _polynomial,
    RBF: _rbf,
    Laplacian: _laplacian,
    Chi2: _chi2,
    Matern: _matern,
    Periodic: _periodic,
    RationalQuadratic: _rational_quadratic,
    Normalized: _normalized,
    Cosine: _normalized,
    Sum: _sum,
    Product: _product,
    On: _on,
}


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
        if (step := step_of(one)) is not None:
            known.setdefault(step[0], []).append(step[1])
        elif (found := tree_of(one)) is not None:
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
    if kind is FactorHypothesis and isinstance(hypothesis.family, LinearFactors):
        return _factors, id(hypothesis.family)
    if kind in SIMPLE:
        return (SIMPLE[kind],)
    if step_of(hypothesis) is not None:
        return (_steps,)
    if tree_of(hypothesis) is not None:
        return (_trees,)
    raise ExportError(
        f"a column of the kind {kind.__name__} cannot be written in ONNX: kernels and factors of "
        "features, linear terms, stumps and scikit-learn's decision trees can. Models of blocks of "
        "rows have to_sql"
    )


def _features(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    slopes = coef / [feature.scale for feature in own]
    shift = float(slopes @ [feature.centre for feature in own])
    part = graph.columns(x, [feature.index for feature in own])
    return graph.op("Sub", graph.op("MatMul", part, graph.constant(slopes[:, None])), shift)


def _factors(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    family: LinearFactors = own[0].family
    slopes = family.coef([factor.number for factor in own], coef)
    centred = graph.op("Sub", x, graph.constant(family.means[None]))
    return graph.op("MatMul", centred, graph.constant(slopes[:, None]))


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


def _steps(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    steps = [step for one in own if (step := step_of(one)) is not None]
    features, thresholds, below, above = (np.array(part) for part in zip(*steps, strict=True))
    part = graph.columns(x, np.maximum(features, 0))
    larger = graph.op("Greater", part, graph.constant(thresholds[None].astype(np.float64)))
    jumps = graph.constant((coef * (above - below))[:, None])
    return graph.op(
        "Add", graph.op("MatMul", graph.cast(larger, np.float64), jumps), float(coef @ below)
    )


def _trees(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    """Trees of x, rounded to float32 as scikit-learn does; thresholds and sums are of float64.

    Nodes that branch and leaves are numbered on their own, through all trees.
    """
    x = graph.cast(graph.cast(x, np.float32), np.float64)
    if not graph.has_trees:
        return _walks(graph, x, own, coef)
    roots: list[int] = []
    parts: list[tuple[Any, ...]] = []
    n_nodes = n_leaves = 0
    for hypothesis, weight in zip(own, coef.tolist(), strict=True):
        found = tree_of(hypothesis)
        assert found is not None
        tree, values = found
        leaf = tree.children_left < 0
        inner = np.flatnonzero(~leaf) if tree.node_count > 1 else np.zeros(1, dtype=np.intp)
        place = np.where(leaf, n_leaves + np.cumsum(leaf), n_nodes + np.cumsum(~leaf)) - 1
        # a leaf alone, whose feature and children are negative, is on both sides of a node
        below, above = (
            np.maximum(child[inner], 0) for child in (tree.children_left, tree.children_right)
        )
        missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))[inner]
        parts.append(
            (
                *(np.maximum(tree.feature[inner], 0), tree.threshold[inner], missing),
                *(place[below], leaf[below], place[above], leaf[above], weight * values[leaf]),
            )
        )
        roots.append(n_nodes)
        n_nodes, n_leaves = n_nodes + inner.size, n_leaves + int(leaf.sum())
    features, thresholds, missing, *sides, values = map(np.concatenate, zip(*parts, strict=True))
    names = ("nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids", "nodes_falseleafs")
    whole = dict(zip(names, sides, strict=True))
    whole |= {"nodes_featureids": features, "nodes_missing_value_tracks_true": missing}
    tensors = {
        "nodes_splits": thresholds.astype(np.float64),
        "nodes_modes": np.full(n_nodes, LESS_OR_EQUAL, dtype=np.uint8),
        "leaf_weights": values.astype(np.float64),
    }
    from_array = graph.onnx.numpy_helper.from_array
    return graph.op(
        "TreeEnsemble", x, domain=ML,
        n_targets=1, aggregate_function=SUM, post_transform=NONE, tree_roots=roots,
        leaf_targetids=[0] * n_leaves,
        **{name: own.astype(np.int64).tolist() for name, own in whole.items()},
        **{name: from_array(own, name) for name, own in tensors.items()},
    )  # fmt: skip


def _walks(graph: OperatorGraph, x: Name, own: list[Any], coef: Vector) -> Name:
    """The same by a step down all trees at once, as often as the deepest one has levels.

    A leaf is below itself. Models refuse missing values: none is sent to where x ≤ t.
    """
    parts: list[tuple[Any, ...]] = []
    roots: list[int] = []
    n_nodes, depth = 0, 1
    for hypothesis, weight in zip(own, coef.tolist(), strict=True):
        found = tree_of(hypothesis)
        assert found is not None
        tree, values = found
        leaf, place = tree.children_left < 0, n_nodes + np.arange(tree.node_count)
        children = (tree.children_left, tree.children_right)
        sides = (np.where(leaf, place, n_nodes + child) for child in children)
        parts.append((np.maximum(tree.feature, 0), *sides, tree.threshold, weight * values))
        roots.append(n_nodes)
        n_nodes, depth = n_nodes + tree.node_count, max(depth, tree.max_depth)
    *whole, thresholds, values = map(np.concatenate, zip(*parts, strict=True))
    tables = [*(table.astype(np.int64) for table in whole), thresholds]
    constant = cache(lambda place: graph.constant(tables[place]))
    node = ""

    def at_node(place: int) -> Name:
        """What a table has at the nodes of this level: at first the roots, alike for all rows."""
        if node:
            return graph.op("Gather", constant(place), node)
        return graph.constant(tables[place][roots][None])

    for _ in range(depth):
        if node:
            value = graph.op("GatherElements", x, at_node(FEATURE), axis=1)
        else:
            value = graph.columns(x, tables[FEATURE][roots])
        goes = graph.op("LessOrEqual", value, at_node(THRESHOLD))
        node = graph.op("Where", goes, at_node(BELOW), at_node(ABOVE))
    leaves = graph.op("Gather", graph.constant(values.astype(np.float64)), node)
    return graph.sum(leaves, 1, keep=True)


FEATURE, BELOW, ABOVE, THRESHOLD = range(4)
"""What is known of a node: its feature, the nodes below it where x ≤ t and where not, and t."""

LESS_OR_EQUAL, SUM, NONE = 0, 1, 0
"""What ``TreeEnsemble`` calls x ≤ t, the sum of trees, and an output as it is."""

SIMPLE: dict[type, Callable[[OperatorGraph, Name, list[Any], Vector], Name]] = {
    Feature: _features,
    Line: _lines,
}
