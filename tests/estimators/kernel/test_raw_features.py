"""Raw features: models of kernels of very different sizes end with a proof or with a reason."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.exceptions import ConvergenceWarning

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear, Polynomial
from cgboost.estimators.common import fitted_runs
from cgboost.estimators.common.fitted_runs import _beaten
from cgboost.generation.history import Round, StopReason
from cgboost.losses import SquaredHinge, hinge, one_class
from cgboost.penalties import GroupNorm, SquaredGroupNorm

TWO = {"linear": Linear(), "rbf": RBF()}
PLAIN = [GroupNorm(standardize=False), SquaredGroupNorm(standardize=False)]
THREE = {"l": Linear(), "q": Polynomial(2), "r": RBF()}


def moons() -> tuple[np.ndarray, np.ndarray]:
    """200 rows of two features that differ by a factor of a thousand."""
    X, y = make_moons(200, noise=0.2, random_state=0)
    return X * [1.0, 1000.0], y


def far_from_zero() -> tuple[np.ndarray, np.ndarray]:
    """200 rows of features around 1000."""
    X, y = make_classification(200, 2, n_informative=2, n_redundant=0, random_state=1)
    return 100.0 * X + 1000.0, y


def apart() -> tuple[np.ndarray, np.ndarray]:
    """300 rows of two features around 3000 and 5, one a thousand times as wide as the other."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 2))
    noise = 0.3 * rng.normal(size=300)
    return Z * [1000.0, 1.0] + [3000.0, 5.0], Z.sum(axis=1) + noise > 0


DATA = {
    "apart": apart,
    "breast": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "moons": moons,
    "far": far_from_zero,
}

CASES = [
    ("breast", TWO, 100.0),
    ("moons", TWO, 1.0),
    ("moons", THREE, 1.0),
    ("far", TWO, 1.0),
    ("apart", TWO, 100.0),
]


def proven(model: CGBoostClassifier | CGBoostRegressor, X: np.ndarray, y: np.ndarray) -> bool:
    """Whether a fit without a warning of its convergence has a gap below 1e-4."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(X, y)
    return bool(model.converged_) and bool(np.all(np.asarray(model.gap_) <= 1e-4))


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize(("name", "kernels", "C"), CASES)
@pytest.mark.slow
def test_raw_features_end_with_a_certified_gap(
    name: str, kernels: dict, C: float, penalty: str
) -> None:
    """No solver gives up, whatever the sizes of the kernels' values."""
    assert proven(CGBoostClassifier(KernelLibrary(kernels), penalty=penalty, C=C), *DATA[name]())


@pytest.mark.parametrize("penalty", PLAIN, ids=repr)
@pytest.mark.parametrize("name", ["breast", "wine", "moons", "far"])
def test_whole_kernels_of_raw_features_end_with_a_certified_gap(
    name: str, penalty: GroupNorm
) -> None:
    """A linear kernel with values up to 10⁷ beside a Gaussian one does not stop the cone method."""
    assert proven(CGBoostClassifier(TWO, penalty=penalty), *DATA[name]())


@pytest.mark.parametrize("penalty", PLAIN, ids=repr)
@pytest.mark.parametrize("C", [1e3, 1e9])
@pytest.mark.slow
def test_whole_kernels_of_raw_features_have_a_model_at_any_price(
    C: float, penalty: GroupNorm
) -> None:
    """Where digits are lost the fit ends all the same, no worse than a constant, with its gap."""
    X, y = moons()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CGBoostClassifier(TWO, penalty=penalty, C=C).fit(X, y)
    assert model.score(X, y) > (0.8 if C < 1e5 else 0.4)
    assert 0.0 <= model.objective_ <= C * len(y)
    assert 0.0 <= model.gap_ <= 1.0


@pytest.mark.parametrize(("kernels", "C"), [(TWO, 1.0), (TWO, 100.0), (THREE, 1.0)])
def test_raw_regression_ends_with_a_certified_gap(kernels: dict, C: float) -> None:
    """Features from 1 to 300, with and without prices that leave the penalty next to no weight."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    assert proven(CGBoostRegressor(KernelLibrary(kernels), C=C, epsilon=10.0), X, y)


def test_where_float64_has_too_few_digits_the_message_says_so() -> None:
    """Kernel values near 1e13 under the 2-norm: proven, or the digits that are lost are named."""
    X, y = far_from_zero()
    model = CGBoostClassifier(KernelLibrary(THREE), penalty="l2")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert model.score(X, y) > 0.8
    if not model.converged_:
        assert model.stop_reason_ in {StopReason.STALLED, StopReason.MASTER_FAILED}
        assert any("float64 leaves their scores an error" in str(w.message) for w in caught)


LABELS = np.array([1.0, 1.0, 1.0, -1.0])
PRICES = np.array([1.0, 1.0, 1.0, 2.0])
OUTPUTS: list[tuple[Any, list[float], bool]] = [
    (hinge(LABELS, PRICES), [1.0, 1.0, 1.0, 1.0], False),
    (hinge(LABELS, PRICES), [-1.0, 1.0, 1.0, -1.0], False),
    (hinge(LABELS, PRICES), [-1.0, 1.0, 1.0, 1.0], True),
    (hinge(np.ones(4), np.ones(4)), [-1.0, 1.0, 1.0, 1.0], False),  # of pairs
    (one_class(np.ones(4), 0.5), [-1.0, 1.0, 1.0, 1.0], False),
]


@pytest.mark.parametrize(("loss", "output", "beaten"), OUTPUTS)
def test_a_model_worse_than_a_constant_is_recognised(
    loss: Any, output: list[float], beaten: bool
) -> None:
    """What counts are the prices of the rows that are wrong, against those of the smaller class.

    Of rows and classes in pairs, or of normal rows, no constant is a model that errs less.
    """
    result = SimpleNamespace(output=np.array(output), intercept=0.0)
    assert _beaten(SimpleNamespace(loss=loss), result) is beaten
    assert not _beaten(SimpleNamespace(), result)


@pytest.mark.parametrize(("own", "beaten"), [(2.0, True), (3.0, False)])
def test_prices_of_boxes_without_ends_are_in_their_curvature(own: float, beaten: bool) -> None:
    """The squared hinge: an error at a price of 3 outweighs the one at 2 that a constant makes."""
    loss = SquaredHinge().on(np.array([-1.0, 1.0, 1.0, 1.0]), np.array([own, 1.0, 1.0, 5.0 - own]))
    wrong = SimpleNamespace(output=np.array([-1.0, 1.0, 1.0, -1.0]), intercept=0.0)
    assert _beaten(SimpleNamespace(loss=loss.box), wrong) is beaten


class Halt:
    """Ends a run after its fourth round as the time limit would."""

    stop_reason = StopReason.TIME

    def __call__(self, current: Round) -> bool:
        return current.number == 3


def test_a_model_worse_than_a_constant_is_not_returned_in_silence(monkeypatch) -> None:
    """Where a fit is cut short, the warning says so."""
    monkeypatch.setattr(fitted_runs, "_beaten", lambda master, result: True)
    cut_short = {"columns_per_round": 2, "callbacks": [Halt()]}
    model = CGBoostClassifier(KernelLibrary(TWO), penalty="l2", **cut_short)
    with pytest.warns(ConvergenceWarning, match="a constant makes fewer errors"):
        model.fit(*moons())
