"""Vehicle routing: a pricer of routes, and readers of instances."""
