"""What a sample of columns tells: scales, and which kernels are symmetric."""

import warnings

import numpy as np
import pytest

from cgboost import RBF, Linear, Polynomial
from cgboost.exceptions import KernelScaleWarning
from cgboost.kernels import FunctionKernel, ProductKernel
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.pricer import KernelSample

X = np.random.default_rng(0).uniform(size=(600, 5))


class Weighted(ProductKernel):
    """x·z ‖x‖², which is made of products and not symmetric."""

    def fill(self, out, products, x_norms, z_norms):
        out[...] = products * x_norms[:, None]

    def diagonal_from_norms(self, norms):
        return norms**2


def test_symmetry_is_seen_not_believed() -> None:
    """Kernels of products are symmetric if their values are; functions are never taken for it."""
    kernels = [Linear(), Weighted(), RBF(0.5), FunctionKernel(lambda A, B: A @ B.T)]
    sample = KernelSample(KernelData(X, tuple("abcd"), kernels, 64))
    assert sample.symmetric == [True, False, True, False]


def test_typical_norms_are_those_of_columns_on_all_rows() -> None:
    """From a few columns on some of the rows, within a quarter."""
    kernels = [Linear(), Polynomial(3)]
    sample = KernelSample(KernelData(X, ("linear", "cubic"), kernels, 64))
    for kernel, norm in zip(kernels, sample.norms.values(), strict=True):
        assert norm == pytest.approx(np.median(np.linalg.norm(kernel(X, X), axis=0)), rel=0.25)


def test_only_wild_differences_are_warned_about() -> None:
    """A factor of 10⁵ passes, one of 10⁷ does not, and columns of zeros do not count."""
    zero, small = 0.0 * Linear(), 1e-5 * Linear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelSample(KernelData(X, tuple("abc"), [Linear(), small, zero], 64)).warn_about_scales()
    tiny = KernelSample(KernelData(X, ("a", "b"), [Linear(), 1e-7 * Linear()], 64))
    with pytest.warns(KernelScaleWarning, match=r"a \d\.\de\+\d\d, b \d"):
        tiny.warn_about_scales()
