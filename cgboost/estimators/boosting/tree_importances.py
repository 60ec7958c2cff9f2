"""Importance of each feature in a model of trees.

A split t of a tree T reduces the squared error by î²_t. The relevance of feature l is the sum over
its splits, I²_l(T) = Σ_t î²_t [v(t) = l], and in a model of M trees the mean over the trees. With K
classes and the trees T_km of each class k,

    I²_lk = 1/M Σ_m I²_l(T_km),     I²_l = 1/K Σ_k I²_lk.

Breiman, Friedman, Olshen, Stone, *Classification and Regression Trees*, 1984; Friedman, *Greedy
Function Approximation: A Gradient Boosting Machine*, Annals of Statistics 29, 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def importances(trees: Sequence[Any], n_features: int) -> Vector:
    """I²_l of every feature: the mean over scikit-learn trees, 0 without any."""
    gains = np.zeros(n_features)
    for tree in trees:
        inner = tree.tree_
        # scikit-learn divides the gains by the weight of all rows
        per_row = inner.compute_feature_importances(normalize=False)
        gains += inner.weighted_n_node_samples[0] * per_row
    return gains / max(1, len(trees))


def shares(squared: Vector) -> Vector:
    """Overall relevance from that of each output, shape (n_outputs, n_features), adding up to 1."""
    overall = squared.mean(axis=0)
    return overall / (overall.sum() or 1.0)
