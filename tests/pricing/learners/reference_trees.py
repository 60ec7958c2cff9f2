"""Regression trees by enumeration, to compare fast ones with."""

from itertools import pairwise

import numpy as np

SAME = 1e-14


def reference_tree(X, targets, weights, depth: int, leaf: int = 1, first: int = 0):
    """The tree that takes most off Σ w (t − mean)²; in ties ``first`` is the first feature.

    Returns a function of rows that says the leaf of each, as a number.
    """
    squares = (weights[:, None] * targets**2).sum()

    def worth(inside) -> float:
        own = weights[inside]
        return float(((own @ targets[inside]) ** 2).sum() / own.sum())

    def grow(inside, depth: int):
        spread = (weights[inside][:, None] * targets[inside] ** 2).sum()
        flat = 1e-16 * (targets**2).max() * weights[inside].sum()
        best = None
        if depth and inside.sum() >= 2 * leaf and spread - worth(inside) > flat:
            for feature in (first + np.arange(X.shape[1])) % X.shape[1]:
                values = np.unique(X[inside, feature])
                for low, high in pairwise(values):
                    left = inside & (X[:, feature] <= low)
                    right = inside & ~left
                    if min(left.sum(), right.sum()) < leaf:
                        continue
                    gain = worth(left) + worth(right)
                    if best is None or gain > best[0] + SAME * spread:
                        best = gain, feature, low / 2 + high / 2, left, right
        if best is None:
            return None
        _, feature, threshold, left, right = best
        return feature, threshold, grow(left, depth - 1), grow(right, depth - 1)

    tree = grow(weights > 0, depth) if squares else None

    def place(row, node, number: int) -> int:
        if node is None:
            return number
        feature, threshold, left, right = node
        first = row[feature] <= threshold
        return place(row, left if first else right, 2 * number + (1 if first else 2))

    return lambda rows: np.array([place(row, tree, 0) for row in rows])
