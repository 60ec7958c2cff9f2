"""The restricted primal of a linear program."""
