"""Shapley values by their definition: every set of features, one after the other."""

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np


def shapley(value: Callable[[np.ndarray], np.ndarray], n_features: int) -> np.ndarray:
    """Σ_S |S|!(p − |S| − 1)!/p! (v(S ∪ j) − v(S)), stacked over j; S is a mask of features."""
    masks = (np.arange(2**n_features)[:, None] >> np.arange(n_features) & 1).astype(bool)
    values = [value(mask) for mask in masks]
    total = []
    for j in range(n_features):
        gains = [
            (values[s | 1 << j] - values[s]) / (n_features * comb(n_features - 1, mask.sum()))
            for s, mask in enumerate(masks)
            if not mask[j]
        ]
        total.append(np.sum(gains, axis=0))
    return np.stack(total)


def interventional(
    f: Callable[[np.ndarray], np.ndarray], X: np.ndarray, background: np.ndarray
) -> np.ndarray:
    """Of mean outputs f with some features from the row, shape (n_rows, n_features, n_outputs)."""

    def value(mask: np.ndarray) -> np.ndarray:
        mixed = np.where(mask, X[:, None], background[None]).reshape(-1, X.shape[1])
        return f(mixed).reshape(len(X), len(background), -1).mean(axis=1)

    return shapley(value, X.shape[1]).transpose(1, 0, 2)


def path_dependent(tree: Any, values: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Of Algorithm 1 of Lundberg et al. (2020): unknown features go both ways, by the covers."""
    cover = tree.weighted_n_node_samples

    def expected(mask: np.ndarray, x: np.ndarray, node: int) -> float:
        ways = int(tree.children_left[node]), int(tree.children_right[node])
        if ways[0] < 0:
            return float(values[node])
        if mask[tree.feature[node]]:
            return expected(mask, x, ways[int(x[tree.feature[node]] > tree.threshold[node])])
        return sum(cover[way] * expected(mask, x, way) for way in ways) / cover[node]

    def value(mask: np.ndarray) -> np.ndarray:
        return np.array([expected(mask, x, 0) for x in X.astype(np.float32)])

    return shapley(value, X.shape[1]).T
