"""Your own kernel: a class with a parameter learned from the training rows.

python examples/own_parts/kernel.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from cgboost import CGBoostClassifier, KernelLibrary, Linear
from cgboost.kernels import Kernel


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, z) = exp(−gamma·‖x − z‖₁); gamma=None: one over the median distance of the rows."""

    gamma: float | None = None

    def __call__(self, X, Z):
        """Values of every row of X with every centre in Z, in the precision of X."""
        return np.exp(-self.gamma * cdist(X, Z, "cityblock")).astype(X.dtype)

    def fit(self, X):
        """The kernel with its width set; called once, with the training rows."""
        if self.gamma is not None:
            return self
        return replace(self, gamma=1.0 / np.median(pdist(X[:500], "cityblock")))

    def diagonal(self, X):
        """k(x, x): optional, but cheaper than computing k for every single row."""
        return np.ones(len(X), dtype=X.dtype)


if __name__ == "__main__":
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    library = KernelLibrary({"linear": Linear(), "laplacian": Laplacian()}, normalize=True)
    model = CGBoostClassifier(library, penalty="l1").fit(X[::2], y[::2])
    print(f"{model.columns_per_kernel_}, certified: {model.converged_}")
    print(f"test accuracy {model.score(X[1::2], y[1::2]):.3f}")
