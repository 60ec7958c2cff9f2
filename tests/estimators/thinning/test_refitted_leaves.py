"""New values for the leaves of the trees kept."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMModel, LGBMRegressor
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

import cgboost
from cgboost import ThinnedEnsemble
from cgboost.estimators.thinning.boosted import LightGBMTrees
from cgboost.estimators.thinning.fitting import members_of
from cgboost.estimators.thinning.refitted_leaves import (
    COST,
    RefittedLeaves,
    is_refittable,
    leaves_of,
    refitted,
)
from cgboost.exceptions import DataWarning

DIGITS, DIGIT = load_digits(return_X_y=True)
CANCER, MALIGN = load_breast_cancer(return_X_y=True)
SHUFFLED = np.random.default_rng(0).permutation(MALIGN)


def small(n_classes: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """A forest of four small trees, and its rows."""
    X = np.random.default_rng(n_classes).normal(size=(60, 3))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], np.linspace(-0.5, 0.5, n_classes - 1))
    return RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y), X, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_values_are_the_optimum_of_the_ridge(n_classes: int) -> None:
    """CVXPY finds the same scores of every class against the rest, up to the common unit."""
    forest, X, y = small(n_classes)
    places, weights = np.array([0, 2, 3]), np.random.default_rng(9).uniform(0.5, 2.0, 60)
    own = refitted(members_of(forest), places, X, y, weights)
    found = own.outputs(X).sum(axis=1)
    leaves = leaves_of(members_of(forest), X, places)
    Z = np.hstack([leaves[:, [t]] == np.unique(leaves[:, t]) for t in range(3)]).astype(float)
    expected = []
    for positive in range(n_classes) if n_classes > 2 else [1]:
        v = cp.Variable(Z.shape[1])
        signs = np.where(y == positive, 1.0, -1.0)
        errors = cp.multiply(weights, cp.square(cp.pos(1 - cp.multiply(signs, Z @ v))))
        cp.Problem(cp.Minimize(1.5 * cp.sum_squares(v) + COST * cp.sum(errors))).solve("CLARABEL")
        expected.append(Z @ v.value)
    wanted = np.column_stack(expected)
    unit = float(np.sum(found * wanted) / np.sum(wanted**2))
    assert unit > 0
    np.testing.assert_allclose(found, unit * wanted, atol=1e-3 * np.abs(found).max())
    assert 0 <= own.gap < 1e-4


def test_leaves_without_rows_say_nothing_and_classes_without_rows_are_not_predicted() -> None:
    """A value of 0, and a score of −1 of the class that no row has; a weight of 2 is two rows."""
    forest, X, y = small(3)
    part = np.flatnonzero(y != 1)[:12]
    own = refitted(members_of(forest), np.arange(4), X[part], y[part], np.ones(12))
    outputs = own.outputs(X)
    assert (np.abs(outputs).sum(axis=2) == 0).any()
    total = own.outputs(X[part]).sum(axis=1)
    assert (total[:, 1] < 0).all()
    assert not (total.argmax(axis=1) == 1).any()
    with pytest.raises(ValueError, match="two classes at least, y has one"):
        refitted(members_of(forest), np.arange(4), X[:3], np.zeros(3, dtype=int), np.ones(3))
    forest, X, y = small(2)
    members, places = members_of(forest), np.arange(4)
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    once = refitted(members, places, X, y, weights).outputs(X).sum(axis=1)[:, 0]
    twice = refitted(members, places, np.vstack([X, X[:20]]), np.r_[y, y[:20]], np.ones(80))
    found = twice.outputs(X).sum(axis=1)[:, 0]  # in a unit that other folds have chosen
    np.testing.assert_allclose(found / np.std(found), once / np.std(once), atol=2e-3)


@pytest.mark.parametrize(
    ("make", "rows", "wanted"),
    [
        (lambda: RandomForestClassifier(40, random_state=0), (DIGITS, DIGIT), "refit"),
        (lambda: ExtraTreesClassifier(40, random_state=0), (CANCER, MALIGN), "refit"),
        (lambda: AdaBoostClassifier(n_estimators=30, random_state=0), (CANCER, MALIGN), "refit"),
        (
            lambda: HistGradientBoostingClassifier(max_iter=10, random_state=0),
            (DIGITS, DIGIT),
            "refit",
        ),
        (lambda: GradientBoostingClassifier(random_state=0), (CANCER, MALIGN), "keep"),
        (
            lambda: RandomForestClassifier(40, random_state=0),
            (CANCER, SHUFFLED),
            "keep",
        ),
        (lambda: RandomForestRegressor(20, random_state=0), (CANCER, 1.0 * MALIGN), "keep"),
    ],
)
@pytest.mark.slow
def test_by_default_trees_that_have_learnt_their_task_get_new_values(
    make: Any, rows: Any, wanted: str
) -> None:
    """Neither where labels are noise, nor of two classes of boosting, nor for numbers."""
    X, y = rows
    ensemble = make().fit(X, y)
    model = ThinnedEnsemble(ensemble, size=0.2).fit(X, y)
    assert model.leaf_values_ == wanted
    assert np.isfinite(model.leaf_gap_) == (wanted == "refit")
    assert ("new values in their leaves" in repr(model)) == (wanted == "refit")
    kept = clone(model).set_params(leaf_values="keep").fit(X, y)
    assert kept.leaf_values_ == "keep"
    np.testing.assert_array_equal(kept.indices_, model.indices_)
    held = ThinnedEnsemble(ensemble, size=0.2, training_rows=False).fit(X, y)
    assert held.leaf_values_ == "keep"


def test_new_values_are_refused_where_there_are_none() -> None:
    """Regression, and members that are no trees on all features.

    A metric, a target or weights of the user's leave the values as they are.
    """
    bagging = BaggingClassifier(DecisionTreeClassifier(), 10, max_features=0.5, random_state=0)
    for ensemble in (RandomForestRegressor(10, random_state=0), bagging):
        ensemble.fit(CANCER, MALIGN)
        assert not is_refittable(members_of(ensemble))
        with pytest.raises(ValueError, match="leaf_values='refit' needs a classifier of trees"):
            ThinnedEnsemble(ensemble, leaf_values="refit").fit(CANCER, MALIGN)
    forest = RandomForestClassifier(30, random_state=0).fit(CANCER, MALIGN)
    for given in ({"metric": "log_loss"}, {"target": "y"}, {"weights": "refit"}):
        assert ThinnedEnsemble(forest, **given).fit(CANCER, MALIGN).leaf_values_ == "keep"


@pytest.mark.parametrize("kind", ["forest", "adaboost", "histograms"])
@pytest.mark.slow
def test_predictions_probabilities_and_copies_agree(kind: str, tmp_path: Path) -> None:
    """The class has the largest probability, these are nearly calibrated, and copies are equal."""
    make = {
        "forest": RandomForestClassifier(60, random_state=0),
        "adaboost": AdaBoostClassifier(n_estimators=60, random_state=0),
        "histograms": HistGradientBoostingClassifier(max_iter=20, random_state=0),
    }
    X, y, X_test, y_test = DIGITS[:1200], DIGIT[:1200], DIGITS[1200:], DIGIT[1200:]
    labels = np.array([f"digit {k}" for k in range(10)])
    ensemble = make[kind].fit(X, labels[y])
    model = ThinnedEnsemble(ensemble, size=0.25, leaf_values="refit")
    model.fit(X, labels[y])
    kept = clone(model).set_params(leaf_values="keep").fit(X, labels[y])
    said, shares = model.predict(X_test), model.predict_proba(X_test)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], said)
    right = said == labels[y_test]
    assert right.mean() >= kept.score(X_test, labels[y_test]) - 0.01
    assert abs(shares.max(axis=1).mean() - right.mean()) < 0.08
    copies = [pickle.loads(pickle.dumps(model))]
    if kind != "histograms":  # which scikit-learn compiles, and which cannot be stored
        model.save(tmp_path / "thin.cgb")
        copies.append(cgboost.load(tmp_path / "thin.cgb"))
    for copy in copies:
        np.testing.assert_array_equal(copy.predict_proba(X_test), shares)


def test_a_forest_with_new_values_can_be_exported() -> None:
    """It predicts the same classes; boosting whose leaves serve all classes cannot."""
    for X, y in ((DIGITS, DIGIT), (CANCER, MALIGN)):
        forest = RandomForestClassifier(40, random_state=0).fit(X, y)
        model = ThinnedEnsemble(forest, size=10).fit(X, y)
        assert isinstance(model._members, RefittedLeaves)
        with pytest.warns(DataWarning, match="close to equal shares"):
            exported = model.to_sklearn()
        np.testing.assert_array_equal(exported.predict(X), model.predict(X))
        shares = exported.predict_proba(X)
        assert (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    boosted = HistGradientBoostingClassifier(max_iter=8, random_state=0).fit(DIGITS, DIGIT)
    model = ThinnedEnsemble(boosted, size=4).fit(DIGITS, DIGIT)
    with pytest.raises(ValueError, match="fit with leaf_values='keep' to export it"):
        model.export()


def test_a_path_has_new_values_at_every_size() -> None:
    """Each model of the path is what a fit of this size is."""
    forest = RandomForestClassifier(40, random_state=0).fit(CANCER, MALIGN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = ThinnedEnsemble(forest).path(CANCER, MALIGN, [4, 10])
    for size, model in zip((4, 10), path, strict=True):
        alone = ThinnedEnsemble(forest, size=size).fit(CANCER, MALIGN)
        assert model.leaf_values_ == alone.leaf_values_ == "refit"
        assert np.mean(model.predict(CANCER) == alone.predict(CANCER)) > 0.99


@pytest.mark.parametrize("estimator", [LGBMClassifier, LGBMRegressor])
def test_linear_trees_of_lightgbm(estimator: type[LGBMModel]) -> None:
    """Slopes are weighted as values are, so that the export predicts as the model."""
    y = MALIGN if estimator is LGBMClassifier else CANCER[:, 0]
    booster = estimator(n_estimators=12, num_leaves=4, linear_tree=True, verbose=-1).fit(CANCER, y)
    model = ThinnedEnsemble(booster, size=4, weights="program").fit(CANCER, y)
    exported = model.export().predict(CANCER, raw_score=True)
    np.testing.assert_allclose(exported, model._outputs(CANCER).ravel(), rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="without linear models in its leaves"):
        clone(model).set_params(leaf_values="refit").fit(CANCER, y)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_leaves_of_lightgbm(n_classes: int) -> None:
    """A booster of the stages kept has their leaves, alone and among all, and equal predictions."""
    X, y = (DIGITS, DIGIT) if n_classes == 10 else (CANCER, MALIGN)
    booster = LGBMClassifier(n_estimators=12, num_leaves=7, verbose=-1, random_state=0).fit(X, y)
    members, places = members_of(booster), np.array([1, 4, 7])
    found = leaves_of(members, X, places)
    assert found.shape == (len(X), 3 * (1 if n_classes == 2 else 10))
    assert isinstance(members, LightGBMTrees)
    part = members.part(places)
    np.testing.assert_array_equal(leaves_of(part, X, np.arange(3)), found)
    np.testing.assert_allclose(part.outputs(X), members.outputs(X, places), atol=1e-6)
    model = ThinnedEnsemble(booster, size=3, leaf_values="refit").fit(X, y)
    kept = clone(model).set_params(leaf_values="keep").fit(X, y)
    assert model.score(X, y) > kept.score(X, y)
    total = model._members.outputs(X).sum(axis=1)
    np.testing.assert_allclose(model._outputs(X), total, atol=1e-4)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    same = kept.export().predict(X)
    said = (same > 0.5).astype(int) if n_classes == 2 else same.argmax(axis=1)
    assert np.mean(said == kept.predict(X)) > 0.999


@pytest.mark.slow
def test_what_boosting_says_of_rows_it_has_seen_is_not_believed() -> None:
    """With a third of the labels at random its training errors are few, and its leaves stay."""
    rng = np.random.default_rng(0)
    X, y = DIGITS[:700], DIGIT[:700].copy()
    clean = LGBMClassifier(n_estimators=20, verbose=-1).fit(X, y)
    assert ThinnedEnsemble(clean).fit(X, y).leaf_values_ == "refit"
    noise = rng.random(700) < 0.4
    y[noise] = rng.integers(0, 10, noise.sum())
    noisy = LGBMClassifier(n_estimators=60, verbose=-1).fit(X, y)
    assert noisy.score(X, y) > 0.9
    assert ThinnedEnsemble(noisy).fit(X, y).leaf_values_ == "keep"
