"""The formulations of LPBoostClassifier against their definitions and one-shot solutions."""

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.preprocessing import StandardScaler

from cgboost import LPBoostClassifier, LPBoostRegressor
from cgboost.exceptions import DataWarning, TrivialModelWarning
from cgboost.pricing.features.stumps import StumpPool
from tests.estimators.data import curve, regressor, three_classes, two_classes

X, CLASSES = two_classes(40)
Y = 2.0 * CLASSES - 1.0
NU, ETA, C, MARGIN = 0.3, 20.0, 1.5, 0.2
OPTIONS: dict[str, dict[str, float]] = {
    "lp": {"C": C},
    "lp-nu": {"nu": NU},
    "qp": {"C": C},
    "qp-nu": {"nu": NU},
    "erlp": {"nu": NU, "eta": ETA},
    "qrlp": {"nu": NU, "eta": ETA},
    "md": {"C": C},
    "nm": {"C": C, "margin": MARGIN},
}


def all_stumps() -> np.ndarray:
    """Every stump on X, shape (n_rows, n_stumps)."""
    pool = StumpPool(X)
    return pool.values(0, np.arange(pool.size(0))).T


def with_own_margin(margins: Any, level: Any) -> Any:
    """Σ max(0, ρ − m_i) − νnρ."""
    return cp.sum(cp.pos(level - margins)) - NU * margins.size * level


def primal(M: np.ndarray, build: Callable[[Any, Any], tuple[Any, list[Any]]]) -> float:
    """Optimum of a problem in the weights w of all columns; the margins are Mw."""
    weights = cp.Variable(M.shape[1])
    objective, limits = build(weights, M @ weights)
    problem = cp.Problem(cp.Minimize(objective), limits)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return float(problem.value)


def regularised_dual(M: np.ndarray, regulariser: Callable[[Any], Any]) -> float:
    """−νn·min over d in the capped simplex of max_j |edge_j| + regulariser(d)/η."""
    n_rows = len(M)
    d = cp.Variable(n_rows, nonneg=True)
    problem = cp.Problem(
        cp.Minimize(cp.norm_inf(M.T @ d) + regulariser(d) / ETA),
        [cp.sum(d) == 1, d <= 1 / (NU * n_rows)],
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return -NU * n_rows * float(problem.value)


OPTIMA: dict[str, Callable[[np.ndarray], float]] = {
    "lp": lambda M: primal(M, lambda w, m: (cp.norm1(w) + C * cp.sum(cp.pos(1 - m)), [])),
    "lp-nu": lambda M: primal(
        M, lambda w, m: (with_own_margin(m, cp.Variable()), [cp.norm1(w) <= 1])
    ),
    "qp": lambda M: primal(M, lambda w, m: (cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - m)), [])),
    "qp-nu": lambda M: primal(
        M, lambda w, m: (cp.sum_squares(w) / 2 + with_own_margin(m, cp.Variable()), [])
    ),
    "erlp": lambda M: regularised_dual(M, lambda d: cp.sum(cp.kl_div(d, 1 / len(M)))),
    "qrlp": lambda M: regularised_dual(M, lambda d: len(M) / 2 * cp.sum_squares(d)),
    "md": lambda M: primal(M, lambda w, m: (cp.sum_squares(1 - m) / 2, [cp.norm1(w) <= C])),
    "nm": lambda M: primal(
        M, lambda w, m: (cp.sum(cp.pos(MARGIN - m) + C * (MARGIN - m)), [cp.norm1(w) <= 1])
    ),
}
"""Optimum of each formulation, given the margins of each column as the columns of M."""


def fitted(name: str, **options: Any) -> LPBoostClassifier:
    """A classifier of the formulation, not yet fitted."""
    formulation = name.removesuffix("-nu")
    return LPBoostClassifier(formulation=formulation, **OPTIONS[name] | options)


@pytest.mark.parametrize("name", OPTIONS)
def test_reaches_the_one_shot_optimum_over_all_stumps(name: str) -> None:
    """Certified, and equal to the problem over all stumps solved at once."""
    model = fitted(name, tol=1e-7).fit(X, CLASSES)
    assert model.converged_
    M = Y[:, None] * all_stumps()
    assert model.objective_ == pytest.approx(OPTIMA[name](M), rel=1e-6, abs=1e-6)
    if name not in ("lp", "qp", "qp-nu"):
        assert np.abs(model.column_weights_).sum() <= (C if name == "md" else 1.0) + 1e-7


@pytest.mark.parametrize("name", OPTIONS)
def test_several_classes_and_weights(name: str) -> None:
    """One against the rest works for each, and a row of weight 2 counts as two rows."""
    rows, labels = three_classes()
    assert fitted(name).fit(rows, labels).score(rows, labels) > 0.6
    weights = np.where(np.arange(40) < 10, 2.0, 1.0)
    weighted = fitted(name, tol=1e-7).fit(X, CLASSES, sample_weight=weights)
    repeated = fitted(name, tol=1e-7).fit(np.vstack([X, X[:10]]), np.append(CLASSES, CLASSES[:10]))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


def test_regularisation_costs_little_and_fades_as_eta_grows() -> None:
    """The soft margin ρ − Σξ/νn comes within δ/2 of LPBoost's with the default η, then closer."""

    def soft_margin(name: str, **options: Any) -> float:
        model = fitted(name, tol=1e-6, **options).fit(X, CLASSES)
        assert model.gap_ <= 1e-5
        short = np.maximum(0.0, model.margin_ - Y * model.decision_function(X))
        return float(model.margin_ - short.sum() / (NU * len(Y)))

    best = soft_margin("lp-nu")
    for name in ("erlp", "qrlp"):
        strong, weak = soft_margin(name, eta=2.0), soft_margin(name, eta=2000.0)
        assert strong < weak <= best + 1e-6
        assert weak == pytest.approx(best, abs=1e-3)
    assert soft_margin("erlp", eta=None) >= best - 0.005


# ---------------------------------------------------------------------- the scale of y


def test_a_y_below_the_tube_is_not_silent():
    """A standard deviation below epsilon warns, and a trivial model says how y is scaled."""
    X, y = curve()
    narrow = 0.05 * y
    narrow[0] = 0.3  # outside of the tube, so that there is something to fit
    options = {"C": 1000.0, "tol": 1e-2}
    for make in (regressor, LPBoostRegressor):
        with pytest.warns(DataWarning, match=r"standard deviation of y, 0\.\d+, is below epsilon"):
            assert make(**options).fit(X, narrow).n_columns_ > 0
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            make(**options).fit(X, y)
            make(**options, epsilon=0.01).fit(X, narrow)
    with pytest.warns(TrivialModelWarning, match=r"within epsilon=0.1 .*TransformedTargetRegr"):
        regressor().fit(X, 0.01 * y)
    with pytest.warns(TrivialModelWarning, match=r"larger value .*TransformedTargetRegressor"):
        regressor(C=1e-6).fit(X, y)


def test_scaling_y_gives_the_model_back():
    """With TransformedTargetRegressor a y in other units is predicted as well as before."""
    X, y = curve()
    scaled = TransformedTargetRegressor(regressor(C=100.0), transformer=StandardScaler())
    scores = [scaled.fit(X, unit * y).score(X, unit * y) for unit in (1.0, 1e-4, 1e4)]
    assert scores == pytest.approx([scores[0]] * 3, abs=1e-3)
    assert scores[0] > 0.6
