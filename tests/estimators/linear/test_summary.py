"""Summaries of sparse linear models, and the names of features in their tables."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from cgboost import (
    IntervalRegressor,
    L2BoostRegressor,
    LPBoostRegressor,
    MultiQuantileRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
from cgboost.linear import LADRegressor, SparseLinearRegressorCV
from tests.estimators.data import three_classes

NAMES = ["a_1", "b & c", "50%", "d"]


def rows() -> tuple[pd.DataFrame, np.ndarray]:
    """Rows with names that LaTeX would take for commands."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=NAMES)
    X["50%"] *= 100.0
    return X, 3.0 * X["b & c"].to_numpy() + 0.02 * X["50%"].to_numpy() + rng.normal(size=60)


@pytest.mark.parametrize(
    "model",
    [
        SparseLinearRegressor(alpha=0.1, standardize=True),
        SparseLinearRegressorCV(n_alphas=4, cv=3),
        LADRegressor(alpha=0.1),
        MultiQuantileRegressor(alpha=0.05, noncrossing="box"),
        IntervalRegressor(alpha=0.05),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_summary_has_the_coefficients_and_the_certificate(model: Any) -> None:
    """Frame, text and LaTeX have each feature in the model once, and its certificate."""
    X, y = rows()
    summary = model.fit(X, y).summary()
    model = getattr(model, "model_", model)  # of intervals that of all three quantiles
    coef = np.atleast_2d(model.coef_)
    frame = summary.to_frame()
    used = [NAMES[j] for j in np.flatnonzero(coef.any(axis=0))]
    assert sorted(frame.index) == sorted([*used, "(intercept)"])
    for j, name in enumerate(NAMES):
        if name in used:
            np.testing.assert_array_equal(frame.loc[name], coef[:, j])
    np.testing.assert_array_equal(frame.loc["(intercept)"], np.ravel(model.intercept_))
    text = str(summary)
    assert f"objective {model.objective_:.6g}" in text
    assert f"proven lower bound {model.dual_bound_:.6g}, gap {model.gap_:.1e}" in text
    assert f"{len(used)} of 4 features" in text
    assert re.search(r"assumed: .*alpha = ", text)
    latex = summary.to_latex()
    assert latex.count(r"\\") == len(used) + 3
    assert ("b & c" in used) == (r"b \& c" in latex)
    assert ("50%" in used) == (r"50\%" in latex)


def test_constraints_are_part_of_the_problem() -> None:
    """A summary says which there were, as given."""
    X, y = rows()
    model = SparseLinearRegressor(alpha=0.05, constraints=["sum == 0"]).fit(X, y)
    assert "constraint sum == 0" in model.summary().assumed


def test_the_order_is_that_of_what_features_do() -> None:
    """With standardize the coefficient times the deviation counts, without it the coefficient."""
    X, y = rows()
    scaled = SparseLinearRegressor(alpha=0.05, standardize=True).fit(X, y)
    assert scaled.summary().names[:2] == ["b & c", "50%"]
    assert SparseLinearRegressor(alpha=0.01).fit(X, y).summary().names[-1] == "50%"


def test_columns_of_classes_are_named_and_numbers_stand_for_names() -> None:
    """A column for each class, x0, x1, … without a frame; nothing before the fit."""
    X, y = three_classes()
    model = SparseLinearClassifier(C=1.0, class_weight="balanced")
    with pytest.raises(NotFittedError):
        model.summary()
    summary = model.fit(X, y).summary()
    assert summary.outputs == [f"class {label}" for label in model.classes_]
    assert set(summary.names) <= {f"x{j}" for j in range(X.shape[1])}
    assert "class_weight='balanced'" in str(summary)


@pytest.mark.parametrize(
    "model",
    [
        SparseLinearRegressor(alpha=0.1),
        SparseLinearRegressorCV(n_alphas=4, cv=3),
        MultiQuantileRegressor(alpha=0.05),
        L2BoostRegressor(n_estimators=5),
        LPBoostRegressor(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_tables_of_features_have_their_names(model: Any) -> None:
    """Each row of columns_ has the name of its feature; without a frame there are none."""
    X, y = rows()
    columns = model.fit(X, y).columns_
    known = columns["feature"] >= 0
    assert known.any()
    expected = np.array(NAMES)[columns["feature"][known]]
    np.testing.assert_array_equal(columns["name"][known], expected)
    assert (columns["name"][~known] == "").all()
    assert "name" not in model.fit(X.to_numpy(), y).columns_
