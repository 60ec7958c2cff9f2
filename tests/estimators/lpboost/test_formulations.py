"""The formulations of LPBoostClassifier, of two classes and of all classes in one problem.

Against their definitions and one-shot solutions over all columns.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from cgboost import LPBoostClassifier
from cgboost.pricing.univariate.stumps import StumpPool
from tests.estimators.data import three_classes, two_classes
from tests.problems import least

X, CLASSES = two_classes(40)
Y = 2.0 * CLASSES - 1.0
JOINT_X, JOINT_Y = three_classes(30)
PAIRS = [(i, c) for i, c in product(range(30), range(3)) if c != JOINT_Y[i]]
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


def all_stumps(rows: np.ndarray) -> np.ndarray:
    """Every stump on the rows, shape (n_rows, n_stumps)."""
    pool = StumpPool(rows)
    return pool.values(0, np.arange(pool.size(0))).T


def margins_of_all_columns() -> np.ndarray:
    """What every (stump, class) adds to f_y − f_c on every pair, shape (n_pairs, n_columns)."""
    H = all_stumps(JOINT_X)
    blocks = [
        np.array([H[i] * (int(JOINT_Y[i] == k) - int(c == k)) for i, c in PAIRS], dtype=float)
        for k in range(3)
    ]
    return np.hstack(blocks)


def with_own_margin(margins: Any, level: Any) -> Any:
    """Σ max(0, ρ − m_i) − νnρ."""
    return cp.sum(cp.pos(level - margins)) - NU * margins.size * level


def primal(M: np.ndarray, build: Callable[[Any, Any], tuple[Any, list[Any]]]) -> float:
    """Optimum of a problem in the weights w of all columns; the margins are Mw."""
    weights = cp.Variable(M.shape[1])
    return least(*build(weights, M @ weights))


def regularised_dual(M: np.ndarray, regulariser: Callable[[Any], Any]) -> float:
    """−νn·min over d in the capped simplex of max_j |edge_j| + regulariser(d)/η."""
    n_rows = len(M)
    d = cp.Variable(n_rows, nonneg=True)
    limits = [cp.sum(d) == 1, d <= 1 / (NU * n_rows)]
    return -NU * n_rows * least(cp.norm_inf(M.T @ d) + regulariser(d) / ETA, limits)


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


def joint(**options: Any) -> LPBoostClassifier:
    """A joint classifier, not yet fitted."""
    return LPBoostClassifier(multi_class="joint", **options)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("name", OPTIONS)
def test_reaches_the_one_shot_optimum_over_all_columns(name: str, multi_class: str) -> None:
    """Certified, and equal to the problem over all stumps (and classes) solved at once."""
    rows, labels = (X, CLASSES) if multi_class == "ovr" else (JOINT_X, JOINT_Y)
    model = fitted(name, multi_class=multi_class, tol=1e-7).fit(rows, labels)
    M = Y[:, None] * all_stumps(X) if multi_class == "ovr" else margins_of_all_columns()
    optimum = OPTIMA[name](M)
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert model.dual_bound_ <= optimum + 1e-6 * max(1.0, abs(optimum))
    if name not in ("lp", "qp", "qp-nu"):
        assert np.abs(model.column_weights_).sum() <= (C if name == "md" else 1.0) + 1e-7


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_row_of_weight_2_counts_as_two_rows(name: str, multi_class: str) -> None:
    """Sample weights and repeated rows make the same problem; several classes are told apart."""
    rows, labels = (X, CLASSES) if multi_class == "ovr" else (JOINT_X, JOINT_Y)
    model = fitted(name, multi_class=multi_class, tol=1e-7)
    weights = np.where(np.arange(len(rows)) < 8, 2.0, 1.0)
    weighted = model.fit(rows, labels, sample_weight=weights).objective_
    twice = np.r_[: len(rows), :8]
    assert weighted == pytest.approx(model.fit(rows[twice], labels[twice]).objective_, rel=1e-5)
    assert model.fit(JOINT_X, JOINT_Y).score(JOINT_X, JOINT_Y) > 0.6


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


def test_one_run_has_an_output_a_class() -> None:
    """Outputs and intercepts are per class, all about the run is there once; ν bounds pairs."""
    labels = np.array(["ant", "bee", "cow"])[JOINT_Y]
    model = joint(nu=0.3, tol=1e-9).fit(JOINT_X, labels)
    f = model.decision_function(JOINT_X)
    assert f.shape == (30, 3)
    assert set(model.predict(JOINT_X)) == set(labels)
    np.testing.assert_array_equal(model.intercept_, np.zeros(3))
    assert set(model.columns_["class"]) <= set(labels)
    assert "class" not in model.history_
    assert set(model.history_["stratum"]) <= {"", *(f"class {label}: stump" for label in labels)}
    assert isinstance(model.stop_reason_, str)
    margins = np.array([f[i, JOINT_Y[i]] - f[i, c] for i, c in PAIRS])
    assert model.margin_ > 0
    assert np.mean(margins < model.margin_ - 1e-6) <= 0.3
    assert np.mean(margins <= model.margin_ + 1e-6) >= 0.3


@pytest.mark.parametrize("options", [{}, {"formulation": "qp"}, {"nu": 0.3}], ids=str)
def test_two_classes_are_the_binary_problem(options: dict[str, Any]) -> None:
    """With two classes the joint form is the same fit as without it."""
    together = joint(**options).fit(X, CLASSES)
    plain = LPBoostClassifier(**options).fit(X, CLASSES)
    np.testing.assert_array_equal(together.decision_function(X), plain.decision_function(X))
    assert together.objective_ == plain.objective_


@pytest.mark.parametrize("options", [{}, {"nu": 0.2}, {"nu": 0.2, "offset": "free"}], ids=str)
def test_a_dense_norm_takes_all_stumps_at_once(options: dict[str, Any]) -> None:
    """Nearly every stump has a weight: rounds by the dozen would be as many as the stumps.

    The answer does not depend on how they come, not even where there are few rows and many stumps.
    """
    rows, labels = load_breast_cancer(return_X_y=True)
    rows, labels = rows[:60, :6], labels[:60]
    qp = {"formulation": "qp", "tol": 1e-7} | options
    model = LPBoostClassifier(**qp).fit(rows, labels)
    few = LPBoostClassifier(columns_per_round=40, **qp).fit(rows, labels)
    assert model.converged_
    assert few.converged_
    assert model.n_columns_ > 4 * len(rows)
    assert model.n_iter_ <= 3 < few.n_iter_
    assert model.objective_ == pytest.approx(few.objective_, rel=1e-6)


def test_a_class_without_weight_still_has_an_output() -> None:
    """Rows of weight 0 are left out, but their class is one to be told from."""
    model = joint().fit(JOINT_X, JOINT_Y, sample_weight=(JOINT_Y != 2).astype(float))
    assert model.decision_function(JOINT_X).shape == (30, 3)
    assert 2 not in model.predict(JOINT_X[JOINT_Y != 2])


def test_digits_are_certified() -> None:
    """Ten classes are certified, with fewer columns than one against the rest needs."""
    rows, digits = load_digits(return_X_y=True)
    model = joint(C=0.1, tol=1e-6).fit(rows[:300], digits[:300])
    apart = LPBoostClassifier(C=0.1, tol=1e-6).fit(rows[:300], digits[:300])
    assert model.converged_
    assert model.score(rows[:300], digits[:300]) == 1.0
    assert model.score(rows[300:], digits[300:]) > 0.7
    assert model.n_columns_ < apart.n_columns_
    assert model.feature_importances_.sum() == pytest.approx(1.0)
