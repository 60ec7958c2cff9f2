"""Two normal classes in many dimensions, after Dedieu, Mazumder and Wang (JMLR 23, 2022)."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Means 1 and −1 in the first ten features, correlation rho, columns of length 1."""

    name = "Two Gaussians"
    parameters = {
        "n_samples, n_features": [(100, 1_000), (100, 10_000), (500, 500), (1_000, 100)],
        "rho": [0.1],
        "random_state": [27],
    }
    test_parameters = {"n_samples, n_features": [(20, 30)]}

    def get_data(self):
        """Rows and labels ±1."""
        rng = np.random.default_rng(self.random_state)
        y = np.where(np.arange(self.n_samples) < self.n_samples // 2, 1.0, -1.0)
        X = np.sqrt(1.0 - self.rho) * rng.standard_normal((self.n_samples, self.n_features))
        X += np.sqrt(self.rho) * rng.standard_normal((self.n_samples, 1))
        X[:, :10] += y[:, None]
        return {"X": np.asfortranarray(X / np.linalg.norm(X, axis=0)), "y": y}
