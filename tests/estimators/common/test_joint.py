"""LPBoostClassifier(multi_class="joint"): all classes in one problem."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from cgboost import LPBoostClassifier
from cgboost.pricing import StumpPool
from tests.estimators.common.test_formulations import OPTIMA, OPTIONS, fitted
from tests.estimators.data import three_classes, two_classes

X, Y = three_classes(30)
PAIRS = [(i, c) for i, c in product(range(30), range(3)) if c != Y[i]]


def joint(**options: Any) -> LPBoostClassifier:
    """A joint classifier, not yet fitted."""
    return LPBoostClassifier(multi_class="joint", **options)


def margins_of_all_columns() -> np.ndarray:
    """What every (stump, class) adds to f_y − f_c on every pair, shape (n_pairs, n_columns)."""
    pool = StumpPool(X)
    H = pool.values(0, np.arange(pool.size(0))).T
    blocks = [
        np.array([H[i] * (int(Y[i] == k) - int(c == k)) for i, c in PAIRS], dtype=float)
        for k in range(3)
    ]
    return np.hstack(blocks)


@pytest.mark.parametrize("name", OPTIONS)
def test_reaches_the_one_shot_optimum_over_all_stumps_and_classes(name: str) -> None:
    """Every formulation is certified, and equal to its problem over all columns at once."""
    model = fitted(name, multi_class="joint", tol=1e-7).fit(X, Y)
    optimum = OPTIMA[name](margins_of_all_columns())
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert model.dual_bound_ <= optimum + 1e-6 * abs(optimum)


@pytest.mark.parametrize("options", [{"formulation": "lp"}, {"formulation": "qp"}], ids=str)
def test_objective_is_the_formula(options: dict[str, Any]) -> None:
    """objective_ is Ω(α) + C Σ w_i Σ max(0, 1 − (f_y − f_c)) at the outputs of the model."""
    weights = np.linspace(0.5, 2.0, 30)
    model = joint(C=0.3, **options).fit(X, Y, sample_weight=weights)
    f = model.decision_function(X)
    slack = [weights[i] * max(0.0, 1.0 - (f[i, Y[i]] - f[i, c])) for i, c in PAIRS]
    sizes = {
        "lp": np.abs(model.column_weights_).sum(),
        "qp": 0.5 * np.sum(model.column_weights_**2),
    }
    size = sizes[options["formulation"]]
    assert model.objective_ == pytest.approx(size + 0.3 * np.sum(slack), rel=1e-9)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_row_of_weight_2_counts_as_two_rows(name: str) -> None:
    """Sample weights and repeated rows make the same problem."""
    model = fitted(name, multi_class="joint", tol=1e-7)
    weighted = model.fit(X, Y, sample_weight=np.where(np.arange(30) < 8, 2.0, 1.0)).objective_
    repeated = model.fit(np.vstack([X, X[:8]]), np.append(Y, Y[:8])).objective_
    assert weighted == pytest.approx(repeated, rel=1e-5)


def test_one_run_with_an_output_a_class() -> None:
    """Outputs and intercepts are per class, everything about the run is there once."""
    labels = np.array(["ant", "bee", "cow"])[Y]
    model = joint(nu=0.3).fit(X, labels)
    assert model.decision_function(X).shape == (30, 3)
    assert set(model.predict(X)) == set(labels)
    np.testing.assert_array_equal(model.intercept_, np.zeros(3))
    assert set(model.columns_["class"]) <= set(labels)
    assert "class" not in model.history_
    assert set(model.history_["stratum"]) <= {"", *(f"class {label}: stump" for label in labels)}
    assert isinstance(model.stop_reason_, str)
    assert isinstance(model.margin_, float)
    assert len(model.history_["round"]) == model.n_iter_ == model.best_round_ + 1


def test_nu_bounds_the_share_of_pairs() -> None:
    """At most a share ν of the pairs has a margin below ρ, at least ν one of at most that."""
    model = joint(nu=0.3, tol=1e-9).fit(X, Y)
    f = model.decision_function(X)
    margins = np.array([f[i, Y[i]] - f[i, c] for i, c in PAIRS])
    assert model.margin_ > 0
    assert np.mean(margins < model.margin_ - 1e-6) <= 0.3
    assert np.mean(margins <= model.margin_ + 1e-6) >= 0.3


@pytest.mark.parametrize("options", [{}, {"formulation": "qp"}, {"nu": 0.3}], ids=str)
def test_two_classes_are_the_binary_problem(options: dict[str, Any]) -> None:
    """With two classes the joint form is the same fit as without it."""
    rows, labels = two_classes()
    together = joint(**options).fit(rows, labels)
    plain = LPBoostClassifier(**options).fit(rows, labels)
    np.testing.assert_array_equal(together.decision_function(rows), plain.decision_function(rows))
    assert together.objective_ == plain.objective_


def test_a_greedy_learner_has_no_bound_and_votes_for_classes() -> None:
    """Trees are fitted for each class until none helps; that proves nothing."""
    tree = DecisionTreeClassifier(max_depth=2)
    model = joint(estimator=tree, C=0.2, random_state=0).fit(X, Y)
    assert (model.dual_bound_, model.gap_, model.converged_) == (-np.inf, np.inf, False)
    assert model.stop_reason_ == "no_column"
    assert model.score(X, Y) > 0.8
    assert set(model.columns_["class"]) == {0, 1, 2}
    assert len(model.estimators_) == model.n_columns_


def test_a_class_without_weight_still_has_an_output() -> None:
    """Rows of weight 0 are left out, but their class is one to be told from."""
    model = joint().fit(X, Y, sample_weight=(Y != 2).astype(float))
    assert model.decision_function(X).shape == (30, 3)
    assert 2 not in model.predict(X[Y != 2])


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
