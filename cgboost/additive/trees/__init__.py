"""Trees: transformations of one feature, and multivariate model trees."""
