"""Columns of additive models: transformed features, backfitted."""
