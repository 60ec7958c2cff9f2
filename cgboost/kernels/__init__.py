"""Kernels and libraries of kernels; ``base.py`` describes the structure a kernel may declare."""

from cgboost.kernels.base import (
    Kernel,
    KernelFunction,
    Power,
    Product,
    Sum,
)
from cgboost.kernels.checks import checked_values, kernel_values
from cgboost.kernels.columns import Columns, Header, On
from cgboost.kernels.combinations import Cosine, Normalized
from cgboost.kernels.expansions import Arithmetic, Expansion, Matrix, Rounding
from cgboost.kernels.features.laplacian import Chi2, Laplacian
from cgboost.kernels.features.matern import Matern
from cgboost.kernels.features.periodic import Periodic
from cgboost.kernels.features.products import Linear, Polynomial, ProductKernel
from cgboost.kernels.features.rational_quadratic import RationalQuadratic
from cgboost.kernels.features.rbf import RBF
from cgboost.kernels.library import AnyLibrary, KernelLibrary, as_library
from cgboost.kernels.objects import (
    CountKernel,
    FeatureCounts,
    Jaccard,
    PairwiseKernel,
    Spectrum,
    Tanimoto,
    WeisfeilerLehman,
)
from cgboost.kernels.precomputed import FunctionKernel, Precomputed
from cgboost.kernels.rows import squared_norms

__all__ = [
    "Kernel",
    "ProductKernel",
    "Linear",
    "Polynomial",
    "RBF",
    "Matern",
    "RationalQuadratic",
    "Periodic",
    "Cosine",
    "Laplacian",
    "Chi2",
    "On",
    "Precomputed",
    "FunctionKernel",
    "PairwiseKernel",
    "Spectrum",
    "Jaccard",
    "Tanimoto",
    "WeisfeilerLehman",
    "Sum",
    "Product",
    "Power",
    "Normalized",
    "KernelLibrary",
    "as_library",
    "AnyLibrary",
    "Expansion",
    "Matrix",
    "KernelFunction",
    "CountKernel",
    "FeatureCounts",
    "Header",
    "Columns",
    "Arithmetic",
    "Rounding",
    "squared_norms",
    "kernel_values",
    "checked_values",
]
