"""Columns from features: the features themselves, stumps, lines, correlations."""
