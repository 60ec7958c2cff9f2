"""Parameters of kernels by name: reading them, changing them, cloning."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from cgboost import RBF, Cosine, Linear, Precomputed
from cgboost.kernels import Kernel, Normalized
from cgboost.kernels.parameters import changed, grouped, with_nested


@dataclass(frozen=True)
class Product(Kernel):
    """A kernel of two others."""

    factors: tuple[Kernel, ...]
    shift: float = 0.0

    def __call__(self, X, Z):
        return self.factors[0](X, Z) * self.factors[1](X, Z) + self.shift


class Shifted(Kernel):
    """A kernel that is no dataclass, and keeps one of its arguments under another name."""

    def __init__(self, shift: float, hidden: float = 0.0) -> None:
        self.shift = shift
        self._hidden = hidden

    def __call__(self, X, Z):
        return X @ Z.T + self.shift + self._hidden


def test_parts_of_composites_have_names():
    """Terms of a sum by position, with weights; parameters of parts after two underscores.

    Names of parts may hold the separator themselves.
    """
    sum_ = 0.5 * Linear() + Normalized(RBF(0.1))
    params = sum_.get_params()
    assert (params["w1"], params["k1"]) == (0.5, Linear())
    assert params["k2__kernel__gamma"] == 0.1
    changed_sum = sum_.set_params(w1=2, k2__kernel__gamma=3.0)
    assert changed_sum == 2.0 * Linear() + Normalized(RBF(3.0))
    assert sum_.set_params(k1=RBF(1.0), k1__gamma=2.0) == 0.5 * RBF(2.0) + Normalized(RBF(0.1))
    assert (RBF(0.3) ** 2).set_params(kernel__gamma=2.0, exponent=3) == RBF(2.0) ** 3
    assert Cosine().get_params() == {}
    given = Precomputed(4)
    assert given.set_params(**given.get_params()) == given
    product = Product((Linear(), RBF(0.1)))
    assert product.set_params(k2__gamma=1.0, shift=2.0) == Product((Linear(), RBF(1.0)), 2.0)
    groups = grouped({"a__b__c": 1, "a__d": 2, "a": 3}, ["a", "a__b"], "it")
    assert groups == {"a__b": {"c": 1}, "a": {"d": 2, "": 3}}
    assert changed(1, {"": 2}) == 2
    assert with_nested({"x": RBF(1.0), "y": 3})["x__gamma"] == 1.0


def test_kernels_that_can_change_are_copied():
    """A class that is no frozen dataclass has its parameters by name, and clone copies it."""
    kernel = Shifted(1.0)
    assert kernel.get_params() == {"shift": 1.0}
    assert kernel.set_params(shift=2.0)(np.ones((1, 1)), np.ones((1, 1))) == 3.0
    copy = clone(kernel)
    copy.shift = 5.0
    assert kernel.shift == 1.0


@pytest.mark.parametrize(
    ("kernel", "name", "message"),
    [
        (RBF(0.1), "gama", r"'gama' for RBF\(.*Valid parameters are: \['factor', 'gamma'\]"),
        (RBF(0.1), "gamma__x", r"0.1 has no parameters by name, got \['x'\]"),
        (Linear() + RBF(), "k3__gamma", r"'k3__gamma' .*'k1', 'k2', 'terms', 'w1', 'w2'"),
        (RBF(0.1), "gamma", "gamma must be a positive number"),
    ],
)
def test_bad_names_and_values(kernel, name, message):
    """A name that does not exist is an error with those that do; values are checked as ever."""
    with pytest.raises(ValueError, match=message):
        kernel.set_params(**{name: -1.0})
