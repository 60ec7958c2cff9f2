"""Kernels of numbers: their widths, families and parameters, and what only one of them does."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    Chi2,
    KernelLibrary,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
)
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel
from cgboost.kernels.numeric import differences

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 4))
SHARES = RNG.dirichlet(np.ones(5), size=12)
SHARES[3, 2] = 0.0


def test_widths_are_one_over_the_mean_squared_distance() -> None:
    """gamma=None follows the paper's rule, over all pairs of rows, i = j included.

    It is 1 where all rows are equal, the same for the other kernels of the distance, and the
    Laplacian's default is that of scikit-learn.
    """
    mean = 2 * pdist(X, "sqeuclidean").sum() / len(X) ** 2
    gamma = pytest.approx(1 / mean)
    assert RBF().fit(X).gamma == Matern().fit(X).gamma == gamma
    assert RBF(factor=3.0).fit(X).gamma == pytest.approx(3 / mean)
    assert 0.5 / RationalQuadratic(alpha=1e7).fit(X).length_scale ** 2 == gamma
    assert RBF().fit(np.ones((3, 2))).gamma == Matern().fit(np.ones((3, 2))).gamma == 1.0
    np.testing.assert_allclose(Laplacian().fit(X)(X, X), laplacian_kernel(X, X))


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_a_length_scale_is_that_of_scikit_learn(nu: float) -> None:
    """Matern(length_scale=l, nu=nu) is scikit-learn's Matern(l, nu=nu), fitted or not."""
    kernel, expected = Matern(length_scale=1.7, nu=nu), gaussian_process.Matern(1.7, nu=nu)(X)
    np.testing.assert_allclose(kernel(X, X), expected, rtol=1e-7, atol=1e-12)
    assert kernel.fit(X) == Matern(0.5 / 1.7**2, nu)


def test_families_name_their_kernels() -> None:
    """A family is a part of a library: widths, multiples of the default width, or degrees."""
    assert RBF.family([0.01, 2]) == {"rbf 0.01": RBF(0.01), "rbf 2": RBF(2)}
    assert RBF.family((0.5,), name="wide") == {"wide 0.5": RBF(0.5)}
    assert RBF.family(factors=[0.5, 3]) == {"rbf x0.5": RBF(factor=0.5), "rbf x3": RBF(factor=3)}
    assert Polynomial.family(np.array([2, 4]), gamma=0.5, coef0=1.0, name="p") == {
        "p 2": Polynomial(2, 0.5, 1.0),
        "p 4": Polynomial(4, 0.5, 1.0),
    }
    library = KernelLibrary({"linear": Linear(), **RBF.family(factors=[1, 2])}, normalize=True)
    assert library.names == ("linear", "rbf x1", "rbf x2")
    widths = [kernel.kernel.gamma for kernel in list(library.fit(X).values())[1:]]
    assert widths == pytest.approx([RBF().fit(X).gamma, 2 * RBF().fit(X).gamma])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Polynomial(0), "degree must be a positive whole number, got 0"),
        (lambda: Polynomial("2"), "degree must be a positive whole number, got '2'"),
        (lambda: Polynomial(2, gamma=-1), "gamma must be a positive number, got -1"),
        (lambda: Polynomial(2, coef0=None), "coef0 must be a number, got None"),
        (lambda: RBF(0.0), "gamma must be a positive number or None, got 0.0"),
        (lambda: RBF("scale"), "gamma must be a positive number or None, got 'scale'"),
        (lambda: RBF(factor=0), "factor must be a positive number, got 0"),
        (lambda: RBF(0.5, factor=2.0), r"factor=2.0 multiplies.*gamma is 0.5: give one"),
        (lambda: RBF.family(), "give gammas or factors, got gammas=None, factors=None"),
        (lambda: RBF.family([1], factors=[1]), r"give gammas or factors, got gammas=\[1\]"),
        (lambda: RBF.family(0.02), "gammas must be a list of numbers, got 0.02"),
        (lambda: RBF.family([]), r"gammas must be one or more different numbers, got \[\]"),
        (lambda: RBF.family([1, 1.0]), r"one or more different numbers, got \[1, 1.0\]"),
        (lambda: RBF.family(factors=[-1]), "factor must be a positive number, got -1"),
        (lambda: Polynomial.family("23"), "degrees must be a list of numbers, got '23'"),
        (lambda: Polynomial.family([2.5]), "degree must be a positive whole number, got 2.5"),
        (lambda: Matern(nu=1.0), "nu must be 0.5, 1.5 or 2.5, got 1.0"),
        (lambda: Matern(gamma=-1.0), "gamma must be a positive number or None, got -1.0"),
        (lambda: Matern(length_scale=0.0), "length_scale must be a positive number or None"),
        (lambda: Matern(gamma=1.0, length_scale=1.0), "give one of them"),
        (lambda: RationalQuadratic(-1.0), "length_scale must be a positive number or None"),
        (lambda: RationalQuadratic(alpha=0.0), "alpha must be a positive number, got 0.0"),
        (lambda: Laplacian(-1), r"gamma must be a positive number.*got -1"),
        (lambda: Chi2(-1), r"gamma must be a positive number.*got -1"),
        (lambda: Periodic(0.0), "length_scale must be a positive number, got 0.0"),
        (lambda: Periodic(1.0, 0.0), "periodicity must be a positive number, got 0.0"),
    ],
)
def test_bad_parameters_are_refused_with_their_value(
    make: Callable[[], Kernel], words: str
) -> None:
    """Each error names the argument and the value."""
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("kernel", [RBF(), Matern(), RationalQuadratic(), Laplacian()], ids=str)
def test_an_unfitted_width_is_an_error(kernel: Kernel) -> None:
    """Without a width there are no values."""
    with pytest.raises(KernelError, match="no width yet"):
        kernel(X, X)


def test_histograms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are made in blocks of any size, and a model over both kernels is certified."""
    labels = SHARES[:, 0] > SHARES[:, 1]
    library = KernelLibrary({"chi2": Chi2(), "laplacian": Laplacian()})
    model = CGBoostClassifier(library, penalty="l1", C=10.0).fit(SHARES, labels)
    assert model.converged_
    assert model.score(SHARES, labels) > 0.9
    monkeypatch.setattr(differences, "NUMBERS_AT_ONCE", 1)
    expected = chi2_kernel(SHARES, SHARES[:7], 2.0)
    np.testing.assert_allclose(Chi2(2.0)(SHARES, SHARES[:7]), expected, rtol=1e-12)
    with pytest.raises(KernelError, match="needs numbers of at least 0, X has -1"):
        Chi2()(SHARES, -np.ones((1, 5)))


def test_whole_periods_change_nothing() -> None:
    """Rows that are many periods apart are the same, in large numbers too; a model learns them."""
    days = 738_000.0 + np.arange(7.0)[:, None]
    kernel = Periodic(0.5, periodicity=7.0)
    np.testing.assert_allclose(kernel(days, days + 7.0 * 52), kernel(days, days), atol=1e-9)
    t = np.linspace(0.0, 12.0, 120)[:, None]
    y = np.sin(t[:, 0]) + 0.5 * np.cos(3 * t[:, 0])
    library = KernelLibrary({"season": Periodic(0.7, periodicity=2 * np.pi)})
    model = CGBoostRegressor(library, C=100.0, epsilon=0.01).fit(t, y)
    assert model.converged_
    assert np.abs(model.predict(t + 4 * np.pi) - y).max() < 0.05
