"""Losses of pairs of rows."""
