"""What users give: groups in frames and arrays, columns that are no features, contradictions."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.tree import DecisionTreeClassifier

from cgboost import RBF, ConstrainedBoostClassifier, ConstrainedBoostRegressor
from cgboost.constraints import (
    Concave,
    Convex,
    GroupBudget,
    GroupLoss,
    MeanCalibration,
    Monotone,
    ParityGap,
)
from cgboost.exceptions import DataWarning, InfeasibleConstraintsError


@pytest.fixture(scope="module")
def frame():
    """A frame with a column of words, and a target."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 2)), columns=["income", "age"])
    table["sex"] = np.where(table["income"] + rng.normal(size=80) > 0, "m", "f")
    return table, (table["income"] + table["age"] + 0.3 * rng.normal(size=80) > 0).to_numpy()


def test_words_as_groups_are_dropped_and_not_needed_at_predict(frame, tmp_path):
    """A column of words is a grouping; predictions take frames with it and without it."""
    X, y = frame
    model = ConstrainedBoostClassifier([ParityGap("sex", 0.05)], drop=["sex"])
    model.fit(X, y, eval_set=(X[:40], y[:40]))
    assert list(model.feature_names_in_) == ["income", "age"]
    np.testing.assert_array_equal(model.predict(X), model.predict(X[["income", "age"]]))
    report = model.constraints_report_
    assert report["part"][0] == "sex: m − f"
    assert abs(report["value"][0]) <= 0.05 + 1e-6
    assert np.isfinite(report["held_out"][0])
    values = model.constraint_values(X[:40], y[:40])
    assert values["value"][0] == pytest.approx(report["held_out"][0])
    assert "ParityGap" in model.constraint_table()
    page = model.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Constraints</h2>" in page
    assert "sex: m − f" in page


def test_groups_of_fit_are_those_of_a_column(frame):
    """Groups given to fit, or a column of an array by number, make the same model."""
    X, y = frame
    numbers = X.assign(sex=(X["sex"] == "m").astype(float)).to_numpy()
    by_column = ConstrainedBoostClassifier([ParityGap(2, 0.05)], drop=[2]).fit(numbers, y)
    given = ConstrainedBoostClassifier([ParityGap("s", 0.05)])
    given.fit(numbers[:, :2], y, groups={"s": numbers[:, 2]})
    np.testing.assert_allclose(
        by_column.decision_function(numbers), given.decision_function(numbers[:, :2])
    )


def test_monotone_learners_and_kernels_obey(frame):
    """Trees with monotone features and a limit obey without a bound; kernels keep to limits."""
    X, y = frame
    trees = ConstrainedBoostClassifier(
        [Monotone("age", 1), ParityGap("sex", 0.1)],
        columns=DecisionTreeClassifier(max_depth=2),
        drop=["sex"],
        random_state=0,
        max_columns=10,
    ).fit(X, y)
    assert not np.isfinite(trees.gap_)
    grid = pd.DataFrame({"income": 0.0, "age": np.linspace(-3, 3, 50)})
    assert (np.diff(trees.decision_function(grid)) >= -1e-9).all()
    assert abs(trees.constraints_report_["value"][1]) <= 0.1 + 1e-6
    kernels = ConstrainedBoostClassifier([ParityGap("sex", 0.1)], columns=RBF(0.5), drop=["sex"])
    kernels.fit(X, y)
    assert kernels.converged_
    assert abs(kernels.constraints_report_["value"][0]) <= 0.1 + 1e-6


@pytest.mark.parametrize("shape", [Convex, Concave])
def test_shapes_are_shapes(frame, shape):
    """The part of a feature bends one way, between training rows and beyond them."""
    X, _ = frame
    y = X["age"].to_numpy() ** 2 * (1 if shape is Convex else -1)
    model = ConstrainedBoostRegressor([shape("age")], C=10.0, drop=["sex"]).fit(X, y)
    grid = pd.DataFrame({"income": 0.0, "age": np.linspace(-4, 4, 81)})
    bend = np.diff(model.predict(grid), 2) * (1 if shape is Convex else -1)
    assert bend.min() >= -1e-7
    assert np.abs(model.predict(X) - y).max() < 0.5


CONTRADICTIONS = [
    ([MeanCalibration("sex", 0.0), ParityGap("sex", 0.01)], "MeanCalibration.*ParityGap"),
    ([lambda f, a, b, data: [f[0] >= 1.0, f[0] <= 0.5]], "Own"),
    ([GroupLoss("sex", 0.0), GroupBudget(["income", "age"], 0.0)], "Group"),
]


@pytest.mark.parametrize(("constraints", "named"), CONTRADICTIONS, ids=["means", "own", "loss"])
def test_contradictions_are_named(frame, constraints, named):
    """Constraints that cannot hold together are an error with their names and a certificate."""
    X, y = frame
    with pytest.raises(InfeasibleConstraintsError, match=named) as error:
        ConstrainedBoostClassifier(constraints, drop=["sex"]).fit(X, y)
    assert "cannot hold" in str(error.value)
    assert "·[" in str(error.value)


@pytest.mark.parametrize(
    "rule",
    [Monotone("x", -1), Concave("x"), GroupBudget(["x"], 0.0)],
    ids=["sign", "shape", "size"],
)
def test_a_contradiction_names_what_acts_on_columns(rule):
    """Signs, shapes and budgets are named beside the limits that they contradict."""
    X = pd.DataFrame({"x": np.arange(40.0)})
    y = np.where(X.x < 20, 0.0, 10.0) if not isinstance(rule, Concave) else (X.x - 20.0) ** 2
    groups = np.where(X.x < 10, "a", np.where(X.x < 30, "b", "c"))
    model = ConstrainedBoostRegressor([MeanCalibration("g", 0.01), rule])
    with pytest.raises(InfeasibleConstraintsError, match=type(rule).__name__) as caught:
        model.fit(X, y, groups={"g": groups})
    assert "MeanCalibration" in str(caught.value)
    assert "mean output of g=" in str(caught.value)


def test_a_fit_that_ends_early_is_no_contradiction():
    """The message says which limit has ended it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y, groups = X[:, 0] + X[:, 1] > 0, (X[:, 2] > 0).astype(int)
    model = ConstrainedBoostClassifier([GroupLoss("g", 0.2)], C=0.1, max_columns=1)
    with pytest.raises(InfeasibleConstraintsError, match="max_columns"):
        model.fit(X, y, groups={"g": groups})


def test_held_out_rows_of_an_unknown_group_have_no_value():
    """A group that the training rows do not have costs no fit: nan, and a warning."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y, held = X[:, 0] > 0, X.copy()
    X[:, 2], held[:, 2] = np.arange(60) % 2, np.arange(60) % 3
    model = ConstrainedBoostClassifier([ParityGap(2, 0.1)], C=0.1, drop=[2])
    with pytest.warns(DataWarning, match="no groups of the training rows"):
        model.fit(X, y, eval_set=(held, y))
    assert np.isnan(model.constraints_report_["held_out"]).all()
    assert np.isfinite(model.constraints_report_["value"]).all()


def test_sparse_rows_are_refused_with_groups_in_them():
    """As by a model without groups, in each method: TypeError, not an error of NumPy."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 2)), np.arange(40) % 2])
    model = ConstrainedBoostClassifier(ParityGap(2, 0.1), C=0.1, drop=[2])
    y, few = X[:, 0] > 0, csr_array(X)
    model.fit(X, y)
    for method, given in ((model.fit, y), (model.constraint_values, y), (model.score, y)):
        with pytest.raises(TypeError, match="Sparse data was passed"):
            method(few, given)


def test_groups_of_several_types_are_known_again():
    """New rows may have a part of them: numbers and words are told apart as in training."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(80, 2)), np.array([1, "a"] * 40, dtype=object)
    model = ConstrainedBoostClassifier([GroupLoss("g", 1.0), ParityGap("g", 0.1)], C=0.1)
    model.fit(X, X[:, 0] > 0, groups={"g": groups})
    assert abs(model.constraints_report_["value"][-1]) <= 0.1 + 1e-6
    values = model.constraint_values(X, X[:, 0] > 0, groups={"g": groups})
    np.testing.assert_allclose(values["value"], model.constraints_report_["value"])
    ones = model.constraint_values(X[::2], X[::2, 0] > 0, groups={"g": [1] * 40})
    assert ones["value"][0] == pytest.approx(values["value"][0])


def test_importances_are_for_columns_of_one_feature():
    """A model of trees says that it has none."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = ConstrainedBoostClassifier(columns=DecisionTreeClassifier(max_depth=2), max_columns=3)
    with pytest.raises(AttributeError, match="columns='stumps' and columns='features'"):
        _ = model.fit(X, X[:, 0] > 0).feature_importances_
