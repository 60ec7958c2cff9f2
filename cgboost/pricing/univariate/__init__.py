"""Columns of one feature each: the features themselves, stumps, lines, correlations."""
