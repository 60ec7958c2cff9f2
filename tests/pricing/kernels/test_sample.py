"""What a sample of columns tells: scales, and which kernels are symmetric."""

import warnings
from typing import Any

import numpy as np
import pytest

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear, Matern, On, Polynomial
from cgboost.exceptions import KernelScaleWarning
from cgboost.kernels import FunctionKernel, ProductKernel
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.sample import KernelSample

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


@pytest.mark.parametrize("kernel", [RBF(0.5), On(RBF(0.5), [0, 1, 2]), Matern()], ids=str)
def test_float32_rows_far_from_the_origin_are_predicted_as_they_were_fitted(kernel: Any) -> None:
    """The outputs of the training rows cost what the objective says, whatever their mean."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    rows = (X + 1e3).astype(np.float32)
    model = CGBoostClassifier({"k": kernel}).fit(rows, y)
    errors = np.maximum(0.0, 1.0 - y * model.decision_function(rows)).sum()
    assert errors + np.abs(model.dual_coef_).sum() == pytest.approx(model.objective_, rel=1e-6)


def test_powers_that_overflow_in_float32_are_taken_in_float64() -> None:
    """A normalised polynomial of large float32 rows is that of float64 rows."""
    rng = np.random.default_rng(0)
    X = 1e10 * (rng.normal(size=(100, 3)) + 1)
    y = X[:, 0] * X[:, 1] > 0
    library = KernelLibrary({"q": Polynomial(2)}, normalize=True)
    narrow, wide = (
        CGBoostClassifier(library, C=5).fit(X.astype(dtype), y) for dtype in (np.float32, float)
    )
    assert narrow.n_columns_ == wide.n_columns_ > 0
    assert narrow.objective_ == pytest.approx(wide.objective_, rel=1e-5)
