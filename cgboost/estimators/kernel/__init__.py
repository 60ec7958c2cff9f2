"""Models over libraries of kernels."""
