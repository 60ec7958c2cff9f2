"""Random problems over several kernels, and their optima by CVXPY: all functions at once."""

from collections.abc import Mapping
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from cgboost import RBF, KernelLibrary, Linear, Polynomial
from cgboost.kernels.kernel import Kernel
from cgboost.losses import Loss
from cgboost.losses.registry import CLASSIFICATION
from tests.function_norms import optimum

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.4),
    "linear": Linear(),
    "poly": Polynomial(2, gamma=0.5, coef0=1.0),
    "wide": RBF(0.02),
    "double": 2.0 * RBF(0.4),
}


@dataclass(frozen=True)
class Problem:
    """Rows, a target of the right kind for the loss, weights of rows and of kernels."""

    loss: Loss
    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    kernels: dict[str, Kernel]
    weights: Mapping[str, float]

    @classmethod
    def random(cls, loss: Loss, seed: int, n_rows: int = 25) -> "Problem":
        """Two to five kernels, in any order; some rows weigh nothing."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 3))
        f = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n_rows)
        y = f
        if loss.name in CLASSIFICATION:
            y = np.where(f > 0.2, 1.0, -1.0)
        elif loss.name == "poisson":
            y = np.floor(np.exp(f))
        names = rng.permutation(list(KERNELS))[: rng.integers(2, 6)].tolist()
        weights = {name: float(rng.uniform(0.2, 5.0)) for name in names[1:]}
        cost = rng.uniform(0.2, 3.0, size=n_rows) * (rng.random(n_rows) < 0.9)
        return cls(loss, X, y, cost, {name: KERNELS[name] for name in names}, weights)

    @property
    def library(self) -> KernelLibrary:
        """The kernels."""
        return KernelLibrary(self.kernels)

    def optimum(self, offset: str) -> float:
        """½Σ w_p‖f_p‖² + loss over functions, by CVXPY."""
        charges = [self.weights.get(name, 1.0) for name in self.kernels]
        return optimum(
            {name: kernel(self.X, self.X) for name, kernel in self.kernels.items()},
            self.loss.on(self.y, self.cost).to_cvxpy,
            lambda norms: sum(
                0.5 * charge * cp.square(norm)
                for charge, norm in zip([*charges, 1.0], norms, strict=False)
            ),
            offset=offset,
        )
