"""The box dual of a 1-norm by an interior point method."""
