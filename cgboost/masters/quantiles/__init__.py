"""Master of several quantiles whose outputs must not cross."""
