"""Several outputs in one dual."""
