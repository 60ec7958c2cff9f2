"""The whole linear program, by HiGHS."""

import highspy
import numpy as np
from benchopt import BaseSolver
from scipy.sparse import csc_matrix, diags_array, hstack, identity


class Solver(BaseSolver):
    """min λ Σ(β⁺ + β⁻) + Σ ξ with y_i (x_i·(β⁺ − β⁻) + b) + ξ_i ≥ 1, β⁺, β⁻, ξ ≥ 0."""

    name = "HiGHS full LP"
    requirements = ("pip::highspy", "scipy")

    def set_objective(self, X, y, lmbd):
        """Make the program."""
        n, p = X.shape
        signs = diags_array(y)
        signed = csc_matrix(signs @ X if hasattr(X, "tocsc") else y[:, None] * X)
        matrix = hstack(
            [signed, -signed, csc_matrix(y[:, None]), identity(n, format="csc")], format="csc"
        )
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_ = np.concatenate([np.full(2 * p, lmbd), [0.0], np.ones(n)])
        lower = np.zeros(2 * p + 1 + n)
        lower[2 * p] = -np.inf
        lp.col_lower_, lp.col_upper_ = lower, np.full(len(lower), np.inf)
        lp.row_lower_, lp.row_upper_ = np.ones(n), np.full(n, np.inf)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
        lp.a_matrix_.value_ = matrix.data
        self.lp, self.n_features = lp, p

    def run(self, _):
        """Solve on one thread, with the default tolerances."""
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.passModel(self.lp)
        highs.run()
        self.values = np.array(highs.getSolution().col_value)

    def get_result(self):
        """Coefficients and intercept."""
        p = self.n_features
        beta = self.values[:p] - self.values[p : 2 * p]
        return {"beta": beta, "intercept": float(self.values[2 * p])}
