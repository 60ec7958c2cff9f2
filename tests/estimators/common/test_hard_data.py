"""Hard data: a certified optimum, or a warning that says why there is none."""

import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    LPBoostRegressor,
    Polynomial,
    SparseLinearRegressor,
)
from cgboost.exceptions import DataWarning, KernelScaleWarning, TrivialModelWarning
from solvers.api import BACKENDS
from solvers.backends.piqp import PIQP
from tests.estimators.data import LIBRARY, PENALTIES, classifier, curve, regressor, two_classes

X, Y = two_classes()


def test_the_scale_warning_points_at_the_caller_and_can_be_followed() -> None:
    """Columns of sizes far apart: it has both, names the caller's line, and its advice ends it."""
    raw = KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CGBoostClassifier(raw, max_columns=2).fit(1e4 * X, Y)
    [warning] = [w for w in caught if w.category is KernelScaleWarning]
    assert warning.filename == __file__
    assert re.search(r"linear 1\.7e\+09.*rbf \d\.\de\+00", str(warning.message))
    advice = re.search(r"KernelLibrary\(kernels, .*?\)", str(warning.message))
    library = eval(advice.group(), {"KernelLibrary": KernelLibrary, "kernels": raw.kernels})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CGBoostClassifier(library, max_columns=2).fit(1e4 * X, Y)
        CGBoostClassifier(max_columns=2).fit(1e4 * X, Y)
        CGBoostClassifier(raw, max_columns=2).fit(StandardScaler().fit_transform(1e4 * X), Y)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_one_and_two_rows(penalty: str) -> None:
    """Two rows of two classes are told apart; one row is enough for a regression."""
    model = classifier(penalty=penalty, C=100.0).fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    for n_rows in (1, 2):
        A, b = curve(n_rows)
        model = regressor(penalty=penalty).fit(A, b)
        assert model.converged_
        assert np.abs(model.predict(A) - b).max() < 2


DEGENERATE = {
    "duplicate rows": (np.repeat(X[:10], 4, axis=0), np.repeat(Y[:10], 4)),
    "opposite labels": (np.repeat(X[:10], 2, axis=0), np.tile([0, 1], 10)),
    "constant features": (np.full((40, 3), 2.5), Y),
    "zero features": (np.zeros((40, 3)), Y),
    "one zero feature": (X * [1, 0, 1], Y),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("make", [classifier, regressor])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_degenerate_rows(penalty: str, make: Any, case: str) -> None:
    """Repeated, constant, zero and contradictory rows are fitted to a certified optimum."""
    A, b = DEGENERATE[case]
    for normalize in (False, True):
        library = KernelLibrary(LIBRARY.kernels, normalize=normalize)
        model = make(penalty=penalty, library=library).fit(A, b)
        assert model.converged_
        assert np.isfinite(model.predict(A)).all()
        if case == "opposite labels" and make is classifier:
            assert model.objective_ >= len(b) - 1e-3  # each pair pays at least 2


@pytest.mark.parametrize("make", [classifier, regressor])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.filterwarnings("ignore::cgboost.exceptions.KernelScaleWarning")
def test_extreme_prices_and_features(penalty: str, make: Any) -> None:
    """A tiny C gives the constant; normalised kernels do not notice the scale of features."""
    A, b = (X, Y) if make is classifier else curve()
    model = assert_certified_or_says_why(make(penalty=penalty, C=1e-8), A, b)
    assert model.converged_
    assert model.objective_ <= 1e-8 * len(b) * 2
    assert_certified_or_says_why(make(penalty=penalty, C=1e8), A, b)
    library = KernelLibrary(LIBRARY.kernels, normalize=True)
    plain = make(penalty=penalty, library=library).fit(A, b)
    for scale in (1e-9, 1e9):
        assert_certified_or_says_why(make(penalty=penalty), A * scale, b)
        model = make(penalty=penalty, library=library)
        assert assert_certified_or_says_why(model, A * scale, b).converged_
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-3)


def assert_certified_or_says_why(model, A, b):
    """Fit; without a certificate there is a warning, and the model beats the constant one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(A, b)
    told = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert model.converged_ != bool(told), (model.stop_reason_, model.gap_)
    assert not [w for w in caught if issubclass(w.category, RuntimeWarning)]
    assert np.isfinite(model.predict(A)).all()
    assert model.objective_ <= model.history_["objective"][0] * (1 + 1e-9)
    return model


def test_a_tube_that_is_wide_for_y_is_named():
    """A standard deviation below epsilon warns; a trivial model says how y is scaled."""
    A, b = curve()
    narrow = 0.05 * b
    narrow[0] = 0.3  # outside of the tube, so that there is something to fit
    options = {"C": 1000.0, "tol": 1e-2}
    for make in (regressor, LPBoostRegressor):
        with pytest.warns(DataWarning, match=r"standard deviation of y, 0\.\d+, is below epsilon"):
            assert make(**options).fit(A, narrow).n_columns_ > 0
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            make(**options).fit(A, b)
            make(**options, epsilon=0.01).fit(A, narrow)
    with pytest.warns(TrivialModelWarning, match=r"within epsilon=0.1 .*: unless.*TransformedTarg"):
        regressor().fit(A, 0.01 * b)
    with pytest.warns(TrivialModelWarning, match=r"larger value .*TransformedTargetRegressor"):
        regressor(C=1e-6).fit(A, b)


def test_a_solver_of_quadratic_programs_alone(monkeypatch):
    """Masters begin without columns, with a linear program: the message says so, before a fit."""
    own = replace(PIQP, capabilities=frozenset({"qp"}))
    monkeypatch.setitem(BACKENDS, "mine", own)
    with pytest.raises(ValueError, match="solver='mine' cannot solve a LP, with which a master b"):
        classifier(solver="mine", penalty="l2").fit(X, Y)
    with pytest.raises(ValueError, match="solver='mine' cannot solve a LP; these can: .*highs"):
        classifier(solver="mine", penalty="l1").fit(X, Y)
    with pytest.raises(ValueError, match="cannot solve a QP; these can: ") as caught:
        classifier(solver="highs", penalty="l2").fit(X, Y)
    assert "piqp" in str(caught.value)
    assert "mine" not in str(caught.value)


LINEAR_KERNEL = KernelLibrary({"linear": Linear()})
SPREAD = 10.0 ** np.linspace(-4.0, 4.0, 5)

FAR_OFF: list[Any] = [
    (SparseLinearRegressor(loss="squared_error", alpha=0.01), 1e6, SPREAD),
    (SparseLinearRegressor(quantile=0.5, alpha=0.01), 1e8, 1.0),
    (CGBoostRegressor(LINEAR_KERNEL, loss="absolute_error"), 1e6, 1.0),
    (CGBoostRegressor(LINEAR_KERNEL, loss="absolute_error", penalty="l2"), 0.0, 1e8),
    (CGBoostRegressor(LINEAR_KERNEL, loss="absolute_error", penalty="rkhs"), 1e6, 1.0),
    (CGBoostRegressor(KernelLibrary({"poly": Polynomial(2)}), loss="absolute_error"), 0.0, SPREAD),
]
"""Fits of shifted and badly scaled features whose restricted problems are not solved to the end."""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("model", "shift", "scales"), FAR_OFF)
def test_a_fit_that_is_far_off_says_so(model: Any, shift: float, scales: Any) -> None:
    """Masters do not scale all of their columns: the gap stays above tol, and a warning says it.

    Rows that would be easy without shift and scales; the bound is below the objective all the same.
    """
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 5))
    y = features[:, 0] - 0.5 * features[:, 2] + 0.3 * rng.normal(size=60)
    with pytest.warns(ConvergenceWarning, match="stopped before reaching tol"):
        model.fit((features + shift) * scales, y)
    assert not model.converged_
    assert model.gap_ > model.tol
    assert model.dual_bound_ <= model.objective_


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet", "rkhs", "group"])
def test_tiny_costs(penalty: str) -> None:
    """With next to no costs the optimum is 0 for every penalty, and most rows decide the class."""
    for C in (1e-90, 1e-99):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = CGBoostClassifier(penalty=penalty, C=C).fit(X, Y)
        assert model.converged_
        assert 0.0 <= model.objective_ <= 40.0 * C * (1.0 + 1e-12)
        assert model.score(X, Y) >= max(np.mean(Y), 1.0 - np.mean(Y)) - 1e-9


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_raw_features_end_soon_with_a_certified_model(load: Any, penalty: str) -> None:
    """Kernel columns of size 10⁶ beside some of size 1: few rounds to the optimum, no failure."""
    A, b = load(return_X_y=True)
    library = KernelLibrary({"linear": Linear(), "rbf": RBF()})
    model = CGBoostClassifier(library, penalty=penalty).fit(A, b)
    assert model.converged_
    assert model.n_iter_ <= 120 * len(np.atleast_1d(model.intercept_))
    assert model.score(A, b) > 0.9
    assert model.n_columns_ > 0
