"""Masters of convex models written in CVXPY."""
