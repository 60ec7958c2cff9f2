"""Masters of models with limits on their output: by their dual, or in CVXPY."""
