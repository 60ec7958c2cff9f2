"""Vertices: sessions of a simplex solver, the path simplex, crossover and purification."""
