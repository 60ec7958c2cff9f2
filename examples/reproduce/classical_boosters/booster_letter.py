"""The orthogonal greedy algorithm as the notes write it, and what they say of orthogonal features.

[N] divides x_j·u by ‖x_j‖ where it derives the rule, and by ‖x_j‖² where it lists the algorithm.
Both are written out here, to see which one finds the true features where their scales differ.
"""

from __future__ import annotations

import numpy as np
from booster_support import N_TRUE, draw_model
from numpy.typing import NDArray
from transform_regression.measured import Record

from cgboost import L2BoostRegressor, OrthogonalGreedyRegressor

Vector = NDArray[np.float64]

ROWS, FEATURES = 200, 500
DATA = f"scaled features, n {ROWS}, p {FEATURES}"


def greedy(X: Vector, y: Vector, steps: int, power: int) -> list[int]:
    """OGA of [N] p. 10 with arg max |x_j·u| / ‖x_j‖^power: the features in their order."""
    norms = np.linalg.norm(X, axis=0) ** power
    Q, residual, path = np.zeros((len(y), 0)), y.copy(), []
    for _ in range(steps):
        scores = np.abs(X.T @ residual) / norms
        scores[path] = -1.0
        path.append(int(np.argmax(scores)))
        q = X[:, path[-1]] - Q @ (Q.T @ X[:, path[-1]])
        q = q - Q @ (Q.T @ q)
        Q = np.column_stack([Q, q / np.linalg.norm(q)])
        residual = residual - Q[:, -1] * (Q[:, -1] @ residual)
    return path


def statements(seed: int) -> list[Record]:
    """True features among the first ten by either rule, agreement with ours, and orthogonality."""
    X, y, true = draw_model("independent", ROWS, FEATURES, seed)
    X = X * np.exp(np.random.default_rng(seed).uniform(-2, 2, FEATURES))
    by_norm, by_square = (greedy(X, y, N_TRUE, power) for power in (1, 2))
    ours = OrthogonalGreedyRegressor(fit_intercept=False).fit(X, y).path_[:N_TRUE].tolist()
    counts = [len(set(path) & set(true.tolist())) for path in (by_norm, by_square)]
    Q, _ = np.linalg.qr(X[:, :50])
    model = L2BoostRegressor(n_estimators=50, learning_rate=1.0, fit_intercept=False).fit(Q, y)
    off = np.abs(model.coef_ - Q.T @ y).max() / np.abs(y).max()
    repeats = len(model.selected_) - len(set(model.selected_.tolist()))
    values = (*map(float, counts), float(ours == by_norm), float(repeats))
    return [
        Record("letter", DATA, "greedy rules", seed, values, 0.0),
        Record("letter", DATA, "deviations", seed, (float(np.log10(max(off, 1e-16))),), 0.0),
    ]
