"""The optimum over functions of kernels under a penalty of their norms, without columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from tests.problems import least

Vector = NDArray[np.float64]


def roots(gram: Vector) -> Vector:
    """A matrix L with K = LLᵀ, of full column rank."""
    sizes, vectors = np.linalg.eigh(gram)
    kept = sizes > 1e-13 * max(float(sizes.max()), 1e-300)
    root: Vector = vectors[:, kept] * np.sqrt(sizes[kept])
    return root


def optimum(
    grams: Mapping[str, Vector],
    loss: Callable[[Any], Any],
    penalty: Callable[[list[Any]], Any],
    *,
    offset: str = "free",
) -> float:
    """Minimum of penalty(‖f_p‖, …) + loss(f) over functions f = Σ f_p + b.

    Parameters
    ----------
    grams : mapping of str to ndarray
        K_p(x_i, x_j).
    loss, penalty : callable
        CVXPY expressions, of the output and of the norms.
    offset : {"none", "penalized", "free"}
        A penalized one is one more norm.
    """
    b = cp.Variable()
    parts = [(root := roots(gram), cp.Variable(root.shape[1])) for gram in grams.values()]
    norms = [cp.norm(beta) for _, beta in parts]
    if offset == "penalized":
        norms.append(cp.abs(b))
    output = sum((root @ beta for root, beta in parts), b if offset != "none" else 0.0 * b)
    return least(penalty(norms) + loss(output))
