"""Sparse linear models: the features themselves as columns."""
