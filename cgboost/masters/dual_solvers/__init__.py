"""Solvers of the restricted dual: simplex, interior point and active set methods."""
