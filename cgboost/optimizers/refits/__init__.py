"""Coefficients of all columns refitted for a loss."""
