"""Your own pricer: features and all products of two features, never written down.

python examples/own_parts/pricer.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from cgboost import ColumnGeneration
from cgboost.generation import Column
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import StrataPricer


class Products:
    """The family: evaluates products of two features on new rows."""

    def outputs(self, X, hypotheses):
        """Values of several products, shape (len(X), len(hypotheses))."""
        return np.column_stack([X[:, h.first] * X[:, h.second] for h in hypotheses])


PRODUCTS = Products()


@dataclass(frozen=True)
class Product:
    """h(x) = x[first]·x[second]; with ``first`` the column of ones it is a feature."""

    first: int
    second: int
    family = PRODUCTS


class ProductPool:
    """The columns x_a·x_b, in two strata; X has a last column of ones."""

    strata = ("feature", "product")

    def __init__(self, X):
        self.X = X
        p = X.shape[1] - 1
        self.pairs = [(np.full(p, p), np.arange(p)), np.triu_indices(p)]

    def size(self, stratum):
        """Number of columns."""
        return len(self.pairs[stratum][0])

    def scores(self, stratum, indices, response):
        """r·h of all products at once: the entries of Xᵀ diag(r) X."""
        first, second = self.pairs[stratum]
        scores = (self.X.T @ (response[:, None] * self.X))[first, second]
        return scores if indices is None else scores[indices]

    def values(self, stratum, indices):
        """Some columns on the training rows, as rows."""
        first, second = self.pairs[stratum]
        return (self.X[:, first[indices]] * self.X[:, second[indices]]).T

    def rows(self, stratum):
        """Columns belong to no training row (those of a kernel do)."""
        return None

    def column(self, stratum, index):
        """One column: values, an identity, and the hypothesis behind it."""
        first, second = (int(side[index]) for side in self.pairs[stratum])
        name = self.strata[stratum]
        values = self.X[:, first] * self.X[:, second]
        return Column(values, (name, index), Product(first, second), name)


def with_ones(X):
    """X and a last column of ones."""
    return np.column_stack([X, np.ones(len(X))])


def fit(X, y, price=0.1):
    """The 1-norm classifier over all features and products."""
    master = OneNormMaster(hinge(y, np.full(len(y), price)), offset="free")
    pricer = StrataPricer(ProductPool(with_ones(X)))
    return ColumnGeneration(master, pricer, tol=1e-6, columns_per_round=10).run()


if __name__ == "__main__":
    X, labels = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), 2.0 * labels - 1.0
    result = fit(X[::2], y[::2])
    output = result.ensemble.decision_function(with_ones(X[1::2]))
    print(result.summary())
    print(f"test accuracy {np.mean(np.sign(output) == y[1::2]):.3f}")
