"""Places: where the rows of a fit are, and how sums over them are made there."""
