"""The family of columns that goes with the penalty and the centres of a kernel model."""

from __future__ import annotations

from typing import Any

from cgboost.estimators.kernel.kernel_columns import KernelColumns
from cgboost.penalties import RKHS, GroupNorm, get_penalty


def family_of(estimator: Any) -> KernelColumns:
    """Kernel columns, of rows or free centres; whole kernels for a norm of whole functions."""
    try:
        penalty = get_penalty(estimator.penalty)
    except ValueError:  # which check() raises
        return KernelColumns.of(estimator)
    if isinstance(penalty, GroupNorm):
        from cgboost.estimators.kernel.multiple_kernel_learning import WholeKernels

        return WholeKernels.of(estimator)
    if isinstance(penalty, RKHS) and estimator.centers == "free":
        from cgboost.estimators.kernel.free_centres import FreeCentres

        return FreeCentres.of(estimator)
    return KernelColumns.of(estimator)
