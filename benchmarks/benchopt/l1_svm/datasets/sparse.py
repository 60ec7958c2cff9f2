"""Sparse rows with labels by a sparse model and noise."""

import numpy as np
from benchopt import BaseDataset
from scipy.sparse import random_array


class Dataset(BaseDataset):
    """Normal numbers in a share of the places; 50 features have a coefficient."""

    name = "Sparse"
    parameters = {
        "n_samples, n_features": [(500, 5_000)],
        "density": [0.01],
        "random_state": [27],
    }

    def get_data(self):
        """CSC matrix and labels ±1 of two classes of one size."""
        rng = np.random.default_rng(self.random_state)
        shape = (self.n_samples, self.n_features)
        X = random_array(
            shape,
            density=self.density,
            format="csc",
            rng=rng,
            data_sampler=lambda size: rng.standard_normal(size),
        )
        coef = np.zeros(self.n_features)
        coef[rng.choice(self.n_features, 50, replace=False)] = rng.standard_normal(50)
        outputs = X @ coef
        outputs += rng.standard_normal(self.n_samples) * outputs.std() / 3.0
        return {"X": X, "y": np.where(outputs > np.median(outputs), 1.0, -1.0)}
