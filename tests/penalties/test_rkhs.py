"""The norm of functions as a penalty: that of coefficients of orthonormal columns."""

import numpy as np
import pytest

from cgboost.penalties import L1, L2, PENALTIES, RKHS, get_penalty


def test_it_is_the_two_norm_of_functions() -> None:
    """Value and conjugate are those of the 2-norm; only it says that it is of functions."""
    coef = np.array([1.0, -2.0])
    assert RKHS().value(coef) == L2().value(coef)
    assert RKHS().conjugate(coef) == L2().conjugate(coef)
    assert [penalty.of_functions for penalty in (L1(), L2(), RKHS())] == [False, False, True]
    assert get_penalty("rkhs") == RKHS()
    assert PENALTIES["rkhs"] is RKHS
    assert {RKHS({"a": 2.0}): 1}[RKHS({"a": 2.0})] == 1


def test_weights_are_those_of_kernels() -> None:
    """A kernel without a weight has 1; a name that no kernel has is an error that names it."""
    penalty = RKHS({"linear": 0.5})
    assert (penalty.weight("linear"), penalty.weight("rbf")) == (0.5, 1.0)
    penalty.check_names(("linear", "rbf"))
    with pytest.raises(ValueError, match="'linear', the library has 'rbf', 'poly'"):
        penalty.check_names(("rbf", "poly"))


@pytest.mark.parametrize("weight", [0.0, -1.0, np.inf, np.nan])
def test_a_weight_is_positive(weight: float) -> None:
    """A weight of 0 would make a function free, and its model without bound."""
    with pytest.raises(ValueError, match="weight of kernel 'rbf' must be positive"):
        RKHS({"rbf": weight})
