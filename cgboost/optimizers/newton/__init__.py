"""Smooth losses by proximal Newton steps, each a quadratic model along its path."""
