"""Kernels of numeric features."""
