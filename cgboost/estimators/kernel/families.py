"""The family of columns that goes with the parameters of a kernel model."""

from __future__ import annotations

from typing import Any

from cgboost.estimators.kernel.free_centres import FreeCentres
from cgboost.estimators.kernel.kernel_columns import KernelColumns
from cgboost.penalties import RKHS, get_penalty


def family_of(estimator: Any) -> KernelColumns:
    """Kernel columns of training rows, or with free centres."""
    try:
        penalty = get_penalty(estimator.penalty)
    except ValueError:  # which check() raises
        return KernelColumns.of(estimator)
    free = isinstance(penalty, RKHS) and estimator.centers == "free"
    return (FreeCentres if free else KernelColumns).of(estimator)
