"""Constraints on f hold everywhere: which features meet in it, and along which it is monotone."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import LinearTreeBoostingRegressor, TransformClassifier, TransformRegressor
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.losses import Quantile
from tests.effort import examples
from tests.estimators.transform.transform_data import mixed

NUMBERS = [0, 1, 2, 5]
"""The features of ``mixed`` that are numbers; 3 and 4 are categories."""

CHOICES: list[dict[str, Any]] = [
    {},
    {"n_holdouts": 2},
    {"learning_rate": 0.3, "n_estimators": 20},
    {"early_stopping": False, "n_estimators": 3},
    {"variant": "gradient"},
    {"loss": Quantile(0.8), "learning_rate": 0.3},
    {"loss": "poisson"},
    {"classes": 2},
]
OTHERS: list[dict[str, Any]] = [
    {"classes": 4},
    {"trees": True, "learning_rate": 0.5, "n_estimators": 30},
]
"""Several classes jointly, and boosted trees, know no directions."""


def fitted(seed: int, choices: dict[str, Any], **rules: Any) -> tuple[pd.DataFrame, Any]:
    """A model of features that all meet, on rows with gaps, categories and weights."""
    X, y, weights = mixed(seed, 500)
    y = y + 2 * np.nan_to_num(X["x"]) * X["far"].sub(1e6) * (X["gaps"] == "p")
    own = {"n_estimators": 6} | choices | rules
    n_classes, trees = own.pop("classes", 0), own.pop("trees", False)
    if n_classes:
        labels = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
        return X, TransformClassifier(**own).fit(X, labels, weights)
    target = np.round(np.exp(np.clip(y, -5, 4) / 2)) if own.get("loss") == "poisson" else y
    kind = LinearTreeBoostingRegressor if trees else TransformRegressor
    return X, kind(**own).fit(X, target, weights)


def f_of(model: TransformRegressor | TransformClassifier, X: pd.DataFrame) -> np.ndarray:
    """The function that is constrained: half log-odds of classes, the log of a mean."""
    if isinstance(model, TransformClassifier):
        return model.decision_function(X)
    values = model.predict(X)
    return np.log(values) if model.loss == "poisson" else values


def with_column(X: pd.DataFrame, j: int, other: pd.DataFrame) -> pd.DataFrame:
    """The rows with a feature of other rows."""
    name = X.columns[j]
    return X.assign(**{name: other[name].to_numpy()})


def moved(X: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs of rows at random, of all values with their gaps, and some beyond the range."""
    far = X.assign(x=X["x"] * 3, few=X["few"] * 3 - 5, twice=X["twice"] * 3)
    rows = pd.concat([X, far])
    return tuple(rows.sample(300, random_state=seed + k).reset_index(drop=True) for k in (0, 1))


@settings(max_examples=examples(20))
@given(
    seed=st.integers(0, 99),
    choices=st.sampled_from(CHOICES + OTHERS),
    sets=st.one_of(
        st.sampled_from(["pairwise", "no_interactions"]),
        st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=3), min_size=1, max_size=4),
    ),
)
def test_features_of_no_common_set_do_not_meet(
    seed: int, choices: dict[str, Any], sets: Any
) -> None:
    """Mixed differences f(a, b) − f(a', b) − f(a, b') + f(a', b') are 0 to rounding.

    Of pairs those of three features are.
    """
    X, model = fitted(seed, choices, interaction_cst=sets)
    first, second = moved(X, seed)
    allowed: set[frozenset[int]] = set()
    if not isinstance(sets, str):
        rest = set(range(6)).difference(*sets)
        pairs = (itertools.combinations(own, 2) for own in [*sets, rest])
        allowed = {frozenset(pair) for own in pairs for pair in own}
    for features in itertools.combinations(range(6), 3 if sets == "pairwise" else 2):
        if frozenset(features) in allowed:
            continue
        corners, signs = [first], [1]
        for j in features:
            corners += [with_column(own, j, second) for own in corners]
            signs += [-sign for sign in signs]
        f = np.array([f_of(model, own) for own in corners])
        apart = np.tensordot(signs, f, 1)
        np.testing.assert_allclose(apart, 0.0, atol=1e-11 * (1 + np.abs(f).max()))


@settings(max_examples=examples(20))
@given(
    seed=st.integers(0, 99),
    choices=st.sampled_from(CHOICES),
    signs=st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4).filter(any),
    sets=st.sampled_from([None, "pairwise", [(0, 3), (1, 2, 4)]]),
)
def test_f_is_monotone(seed: int, choices: dict[str, Any], signs: list[int], sets: Any) -> None:
    """Along lines at random, across all edges and beyond the range; with interactions of others."""
    cst = np.zeros(6, dtype=int)
    cst[NUMBERS] = signs
    X, model = fitted(seed, choices, monotonic_cst=cst, interaction_cst=sets)
    rng = np.random.default_rng(seed)
    for j in np.flatnonzero(cst):
        name = X.columns[j]
        known = X[name].dropna().to_numpy()
        width = np.ptp(known)
        ends = known.min() - width, known.max() + width
        line = np.sort(np.concatenate([rng.uniform(*ends, 200), known, np.nextafter(known, -9e9)]))
        for row in X.sample(3, random_state=seed).index:
            points = X.loc[[row] * len(line)].reset_index(drop=True).assign(**{name: line})
            f = f_of(model, points)
            assert (cst[j] * np.diff(f)).min() >= -1e-12 * (1 + np.abs(f).max())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sets", [[range(6)], [{0, 1}, list(range(6)), ("x", "few")]])
def test_one_set_of_all_is_no_constraint(variant: str, sets: Any) -> None:
    """To the last digit, whatever is named beside it; nor are signs of 0."""
    X, y, _ = mixed(0, 600)
    plain = TransformRegressor(variant=variant).fit(X, y)
    rules = {"interaction_cst": sets, "monotonic_cst": {"x": 0}}
    model = TransformRegressor(variant=variant, **rules).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(model.feature_importances_, plain.feature_importances_)


def test_names_and_numbers_are_the_same() -> None:
    """Features in no set are a set of their own, as in scikit-learn."""
    X, y, _ = mixed(1, 600)
    sets = ([(0, 3), (1, 4)], [("x", "group"), ("few", "gaps")], [(0, 3), (1, 4), (2, 5)])
    models = [TransformRegressor(interaction_cst=own).fit(X, y).predict(X) for own in sets]
    np.testing.assert_array_equal(models[0], models[1])
    np.testing.assert_array_equal(models[0], models[2])
    signs = ([1, 0, -1, 0, 0, 0], {"x": 1, "far": -1}, {0: 1, 2: -1})
    models = [TransformRegressor(monotonic_cst=own).fit(X, y).predict(X) for own in signs]
    np.testing.assert_array_equal(models[0], models[1])
    np.testing.assert_array_equal(models[0], models[2])


@pytest.mark.parametrize("kind", [TransformRegressor, LinearTreeBoostingRegressor])
def test_what_may_meet_does(kind: type) -> None:
    """A product is found where its features have a set, and not where they have none.

    What features say alone is found whatever their sets, of a sum in all of them.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 4))
    noise = 0.1 * rng.normal(size=3000)
    y = X[:, 0] + X[:, 1] + 3 * X[:, 0] * X[:, 1] + X[:, 2] + noise
    met, pairs, apart, alone = (
        kind(interaction_cst=sets).fit(X[:2000], target[:2000]).score(X[2000:], target[2000:])
        for sets, target in (
            ([(0, 1)], y),
            ("pairwise", y),
            ([(0, 2), (1, 3)], y),
            ("no_interactions", X.sum(axis=1) + noise),
        )
    )
    assert apart < 0.6 < 0.95 < min(met, pairs, alone)


def test_monotone_curves_follow_monotone_truth() -> None:
    """With slopes and jumps, beside noise of 0.25; a wrong sign leaves nothing."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 2))
    truth = np.exp(X[:, 0]) + (X[:, 0] > 0.3) - 2 * X[:, 1]
    y = truth + 0.5 * rng.normal(size=3000)
    errors = {
        signs: np.mean((TransformRegressor(monotonic_cst=signs).fit(X, y).predict(X) - truth) ** 2)
        for signs in ((0, 0), (1, -1), (-1, -1))
    }
    assert errors[1, -1] < 0.02
    assert errors[-1, -1] > 0.3 > errors[0, 0]
