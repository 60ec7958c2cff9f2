"""The family of columns that goes with the penalty of a kernel model."""

from __future__ import annotations

from typing import Any

from cgboost.estimators.kernel.kernel_columns import KernelColumns
from cgboost.estimators.kernel.whole_kernels import WholeKernels
from cgboost.penalties import GroupNorm, get_penalty


def family_of(estimator: Any) -> KernelColumns:
    """Kernel columns; whole kernels for a norm of whole functions."""
    try:
        penalty = get_penalty(estimator.penalty)
    except ValueError:  # which check() raises
        return KernelColumns.of(estimator)
    return (WholeKernels if isinstance(penalty, GroupNorm) else KernelColumns).of(estimator)
