"""Constraints on models, one family a file."""
