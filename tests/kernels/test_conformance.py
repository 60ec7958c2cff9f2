"""The kernels of cgboost keep the promises of a kernel."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from cgboost import RBF, Linear, Polynomial, RationalQuadratic, Tanimoto
from cgboost.kernels import FunctionKernel, Kernel, Normalized
from tests.kernels.conformance import check_kernel
from tests.kernels.formulas import by_formula


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(3, gamma=0.3, coef0=1.0),
        RBF(0.05),
        RBF(20.0),
        0.5 * Linear() + 2.0 * RBF(0.3),
        Normalized(Polynomial(2, coef0=2.0)),
        RBF(0.05) * Linear(),
        (0.3 * Polynomial(2, coef0=1.0) + RBF(2.0)) ** 2,
        Normalized(Linear() * RationalQuadratic(2.0)),
        Tanimoto(),
    ],
    ids=str,
)
def test_kernels_of_the_package_conform(kernel: Kernel) -> None:
    """Values, sums, rounding and prices of every kernel agree with its formula."""
    check_kernel(kernel, partial(by_formula, kernel))


def cityblock(A, B):
    """exp(−½‖x − z‖₁): at module level, so that it can be pickled."""
    return np.exp(-0.5 * cdist(A, B, "cityblock")).astype(A.dtype)


def test_a_function_conforms() -> None:
    """A callable is a kernel without structure."""
    check_kernel(FunctionKernel(cityblock, "own"), cityblock)
