"""cgboost's sparse linear classifier."""

from benchopt import BaseSolver

from cgboost import SparseLinearClassifier


class Solver(BaseSolver):
    """Column generation over the features.

    A fit ends when it has proven that its objective is within ``tol`` of the optimum, relatively.
    """

    name = "cgboost"
    parameters = {"tol": [1e-3, 1e-6]}
    requirements = ("pip::cgboost",)

    def set_objective(self, X, y, lmbd):
        """Keep the rows; Σ|β| + C Σ hinge with C = 1/λ is the objective over λ."""
        self.X, self.y = X, y
        self.model = SparseLinearClassifier(loss="hinge", C=1.0 / lmbd, tol=self.tol)

    def run(self, _):
        """Fit."""
        self.model.fit(self.X, self.y)

    def get_result(self):
        """Coefficients and intercept."""
        return {"beta": self.model.coef_.ravel(), "intercept": float(self.model.intercept_.item())}
