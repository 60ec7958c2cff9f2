"""Kernels of features as ONNX operators: values of rows with fixed centres."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import ExportError
from cgboost.inspection.onnx.graph import Name, OperatorGraph
from cgboost.kernels import Normalized
from cgboost.kernels.combinations import Cosine
from cgboost.kernels.kernel import Kernel, Product, Sum
from cgboost.kernels.numeric.differences import Chi2, Laplacian, Periodic
from cgboost.kernels.numeric.distances import RBF, Matern, RationalQuadratic
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.kernels.on_columns import On

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
