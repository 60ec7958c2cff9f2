"""Quadratic duals by an active set method, and proximal Newton steps for smooth ones."""
