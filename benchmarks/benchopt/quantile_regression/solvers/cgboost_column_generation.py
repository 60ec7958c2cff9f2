"""cgboost as a solver of benchopt's quantile regression benchmark: a file for its ``solvers/``."""

import numpy as np
from benchopt import BaseSolver

from cgboost import SparseLinearRegressor


class Solver(BaseSolver):
    """Column generation over the features.

    A fit ends when its objective is proven to be within ``tol`` of the optimum, relatively; one
    run is one fit.
    """

    name = "cgboost"
    sampling_strategy = "run_once"
    parameters = {"tol": [1e-3, 1e-6]}
    requirements = ("pip::cgboost",)

    def set_objective(self, X, y, lmbd, quantile, fit_intercept):
        """Keep the rows; λ multiplies Σ|β| besides the mean pinball loss, as alpha does."""
        self.X, self.y = X, y
        self.model = SparseLinearRegressor(
            loss="quantile",
            quantile=quantile,
            alpha=lmbd,
            fit_intercept=fit_intercept,
            tol=self.tol,
        )

    def run(self, _):
        """Fit."""
        self.model.fit(self.X, self.y)

    def get_result(self):
        """Coefficients, and the intercept behind them."""
        return {"params": np.append(self.model.coef_, self.model.intercept_)}
