"""Losses by their dual: a box of pseudo-responses, a tube, a quadratic term, a sum constraint."""
