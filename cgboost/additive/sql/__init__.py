"""Fits of additive models inside a database: only sums over the rows leave it."""
