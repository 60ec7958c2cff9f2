"""The ℓ1 support vector machine: min over β, b of Σ_i max(0, 1 − y_i (x_i·β + b)) + λ Σ_j |β_j|."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    """λ is a share of a penalty from which on β = 0 is optimal; the intercept is free.

    A solver runs once, to the accuracy that it is asked for.
    """

    name = "L1 SVM"
    min_benchopt_version = "1.10"
    sampling_strategy = "run_once"
    parameters = {"reg": [0.5, 0.1, 0.05]}
    test_dataset_name = "Two Gaussians"

    def set_data(self, X, y):
        """Rows of shape (n_rows, n_features), dense or CSC, and labels ±1."""
        self.X, self.y = X, y
        self.lmbd = self.reg * self._largest_penalty()

    def _largest_penalty(self):
        """‖Xᵀ(a∘y)‖_∞ at the dual point that is 1 on the smaller class, with yᵀa = 0."""
        ahead, behind = np.count_nonzero(self.y > 0), np.count_nonzero(self.y < 0)
        shares = min(1.0, behind / ahead), min(1.0, ahead / behind)
        return np.abs(self.X.T @ np.where(self.y > 0, shares[0], -shares[1])).max()

    def get_one_result(self):
        """The zero model."""
        return {"beta": np.zeros(self.X.shape[1]), "intercept": 0.0}

    def evaluate_result(self, beta, intercept):
        """Objective in float64, and how many coefficients there are."""
        margins = self.y * (self.X @ beta + intercept)
        value = np.maximum(0.0, 1.0 - margins).sum() + self.lmbd * np.abs(beta).sum()
        return {"value": float(value), "nonzeros": int(np.count_nonzero(beta))}

    def get_objective(self):
        """What a solver is given."""
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd}
