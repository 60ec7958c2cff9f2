"""Kernels and libraries of kernels; ``base.py`` says what a kernel may tell of its structure."""

from cgboost.kernels.base import Kernel, KernelFunction, Sum, squared_norms
from cgboost.kernels.checks import checked_values, kernel_values
from cgboost.kernels.expansions import Expansion, Matrix
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.matern import Matern
from cgboost.kernels.normalized import Normalized
from cgboost.kernels.precomputed import FunctionKernel, Precomputed
from cgboost.kernels.products import Linear, Polynomial, ProductKernel
from cgboost.kernels.rbf import RBF
from cgboost.kernels.rounding import Arithmetic, Rounding

__all__ = [
    "Kernel",
    "ProductKernel",
    "Linear",
    "Polynomial",
    "RBF",
    "Matern",
    "Precomputed",
    "FunctionKernel",
    "Sum",
    "Normalized",
    "KernelLibrary",
    "Expansion",
    "Matrix",
    "KernelFunction",
    "Arithmetic",
    "Rounding",
    "squared_norms",
    "kernel_values",
    "checked_values",
]
