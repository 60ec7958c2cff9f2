"""Pricing of columns under limits on the model: further rows, signs, convex shapes."""
