"""Linear, polynomial and Gaussian kernels: their formulas, parameters and families."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from cgboost import RBF, KernelLibrary, Linear, Polynomial
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Linear(), X @ Z.T),
        *[(Polynomial(degree), (X @ Z.T) ** degree) for degree in range(1, 12)],
        (Polynomial(3, gamma=0.5, coef0=1.0), (0.5 * X @ Z.T + 1) ** 3),
        (RBF(0.7), np.exp(-0.7 * cdist(X, Z, "sqeuclidean"))),
    ],
    ids=str,
)
def test_values_follow_the_formula(kernel: Kernel, expected: np.ndarray) -> None:
    """Each kernel gives the values of its formula."""
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)


def test_rbf_width_is_one_over_the_mean_squared_distance() -> None:
    """gamma=None follows the paper's rule, over all pairs of training rows, i = j included."""
    mean = 2 * pdist(X, "sqeuclidean").sum() / len(X) ** 2
    assert RBF().fit(X).gamma == pytest.approx(1 / mean)
    assert RBF(factor=3.0).fit(X).gamma == pytest.approx(3 / mean)
    assert RBF().fit(np.ones((3, 2))).gamma == 1.0
    assert RBF(0.5).fit(X).gamma == 0.5


def test_an_unfitted_width_is_an_error() -> None:
    """RBF(gamma=None) cannot be evaluated before it has seen training rows."""
    with pytest.raises(KernelError, match="no width yet"):
        RBF()(X, Z)


def test_families_name_their_kernels() -> None:
    """A family is a part of a library: widths, multiples of the default width, or degrees."""
    assert RBF.family([0.01, 2]) == {"rbf 0.01": RBF(0.01), "rbf 2": RBF(2)}
    assert RBF.family((0.5,), name="wide") == {"wide 0.5": RBF(0.5)}
    assert RBF.family(factors=[0.5, 3]) == {"rbf x0.5": RBF(factor=0.5), "rbf x3": RBF(factor=3)}
    assert Polynomial.family([2, 3], gamma=0.5, coef0=1.0, name="p") == {
        "p 2": Polynomial(2, 0.5, 1.0),
        "p 3": Polynomial(3, 0.5, 1.0),
    }
    assert list(Polynomial.family(np.array([2, 4]))) == ["polynomial 2", "polynomial 4"]
    library = KernelLibrary({"linear": Linear(), **RBF.family(factors=[1, 2])}, normalize=True)
    assert library.names == ("linear", "rbf x1", "rbf x2")
    widths = [kernel.kernel.gamma for kernel in list(library.fit(X).values())[1:]]
    assert widths == pytest.approx([RBF().fit(X).gamma, 2 * RBF().fit(X).gamma])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(0), "degree must be a positive whole number, got 0"),
        (lambda: Polynomial(2, gamma=-1), "gamma must be a positive number, got -1"),
        (lambda: RBF(0.0), "gamma must be a positive number or None, got 0.0"),
        (lambda: RBF("scale"), "gamma must be a positive number or None, got 'scale'"),
        (lambda: RBF(factor=0), "factor must be a positive number, got 0"),
        (lambda: RBF(0.5, factor=2.0), r"factor=2.0 multiplies.*gamma is 0.5: give one"),
        (lambda: Polynomial("2"), "degree must be a positive whole number, got '2'"),
        (lambda: Polynomial(2, gamma="auto"), "gamma must be a positive number, got 'auto'"),
        (lambda: Polynomial(2, coef0=None), "coef0 must be a number, got None"),
        (lambda: RBF.family(), "give gammas or factors, got gammas=None, factors=None"),
        (lambda: RBF.family([1], factors=[1]), r"give gammas or factors, got gammas=\[1\]"),
        (lambda: RBF.family(0.02), "gammas must be a list of numbers, got 0.02"),
        (lambda: RBF.family([]), r"gammas must be one or more different numbers, got \[\]"),
        (lambda: RBF.family([1, 1.0]), r"one or more different numbers, got \[1, 1.0\]"),
        (lambda: RBF.family(["a"]), "gamma must be a positive number or None, got 'a'"),
        (lambda: RBF.family(factors=[-1]), "factor must be a positive number, got -1"),
        (lambda: Polynomial.family("23"), "degrees must be a list of numbers, got '23'"),
        (lambda: Polynomial.family([2.5]), "degree must be a positive whole number, got 2.5"),
    ],
)
def test_bad_parameters_are_refused_with_their_value(make: object, message: str) -> None:
    """Each error names the argument and the value."""
    with pytest.raises(ValueError, match=message):
        make()
