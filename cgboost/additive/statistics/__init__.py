"""Statistics of groups of rows that can be merged, and regressions from them."""
