"""The study of transform regression, on a coarse grid and few rows of made data."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from tests.studies.modules import modules

parts = modules(
    "examples/reproduce/transform_regression",
    "study_jobs study_data transform_models transform_page",
    {
        "transform_models.SHARES": (0.3,),
        "transform_page.SHARES": (0.3,),
        "transform_page.PICTURE_SEED": 0,
        "transform_models.ROUNDS": 20,
    },
)
"""Those of the study, with one share of rows held out and few rounds."""


@pytest.fixture(scope="module")
def data(parts: dict[str, Any]) -> Any:
    """Rows with a category, a number with gaps, and a 0/1 target that follows both."""
    rng = np.random.default_rng(0)
    town = rng.choice(["here", "there", "away"], 1200)
    age = rng.uniform(20, 60, 1200)
    y = (rng.random(1200) < 0.1 + 0.4 * (town == "there") + 0.3 * (age > 45)).astype(float)
    age[::9] = np.nan
    X = pd.DataFrame({"age": age, "town": town, "noise": rng.random(1200)})
    return parts["study_data"].Data("Adult", X[:800], y[:800], X[800:], y[800:])


def test_everything_is_measured_and_the_tables_and_pictures_are_made(
    parts: dict[str, Any], data: Any, tmp_path: Path
) -> None:
    """Nothing is lost between memory and disk, and what is known is not measured again."""
    measured, models = parts["study_jobs"], parts["transform_models"]
    points = models.surface(step=0.05, test_step=0.25)
    store = measured.Measured(tmp_path / "transform_results.csv")
    store.extend(models.surface_records(points, (0, 1), store.known()))
    store.extend(models.gini_records([data], (0, 1), store.known()))
    assert len(store.rows) == 2 * (6 + len(models.available()))
    again = measured.Measured(tmp_path / "transform_results.csv")
    assert again.rows == store.rows
    assert not list(models.surface_records(points, (0, 1), again.known()))
    assert not list(models.gini_records([data], (0, 1), again.known()))
    for run in store.rows:
        if run.study == "gini":
            assert 0.25 < run.values[0] < 0.8, run
    last = {run.model: run.values[-1] for run in store.rows if run.study == "surface"}
    assert last["transform"] < 0.5 * last["initial"] < last["gradient"]

    page = parts["transform_page"]
    fitted = page.picture_models(points)
    page.draw_surfaces(fitted, points, tmp_path / "surface.png")
    page.draw_views(fitted["initial"], points, tmp_path / "views.png")
    page.draw_errors(store, tmp_path / "errors.png")
    page.draw_gains([data, data], tmp_path / "gains.png")
    page.draw_functions(data, tmp_path / "functions.png")
    assert sum(path.stat().st_size > 10_000 for path in tmp_path.glob("*.png")) == 5
    found = page.tables(tmp_path)
    assert "| Adult | transform regression | 0.655 |" in found["gini"]
    assert found["benchmark"].count("\n") == 1
    assert "nan" not in "".join(found.values())


def test_the_grid_is_the_paper_s(parts: dict[str, Any]) -> None:
    """201 × 201 points, of which 21 × 21 are tested, and values between −5 and 7."""
    points = parts["transform_models"].surface()
    assert len(points.z_test) == 21**2
    assert len(points.z) == 201**2 - 21**2
    assert points.z_test.max() == pytest.approx(7)
    assert np.abs(points.X_test * 10 - np.round(points.X_test * 10)).max() < 1e-9
    np.testing.assert_array_equal(points.X_test[:21, 0], points.X_test[21:42, 0])
    off = np.abs(points.X * 10 - np.round(points.X * 10)).max(axis=1)
    assert off.min() > 1e-9


def test_stepwise_regression_is_linear(parts: dict[str, Any], data: Any) -> None:
    """Where all columns help, it is close to ordinary least squares on the same columns."""
    models = parts["transform_models"]
    known = data.X.assign(age=data.X["age"].fillna(40.0))
    given = parts["study_data"].Data("x", known, data.y, known, data.y)
    scores = models.stepwise_linear(given, 0)
    X, _ = models.numbers(known, known)
    assert X.shape[1] == 2 + 4
    plain = LinearRegression().fit(X, data.y).predict(X)
    assert np.corrcoef(scores, plain)[0, 1] > 0.95


def test_files_are_read(parts: dict[str, Any], tmp_path: Path) -> None:
    """A question mark is missing, the last column the target; types of customers are no numbers."""
    adult, coil = tmp_path / "adult", tmp_path / "coil2000"
    adult.mkdir()
    coil.mkdir()
    row = "39, ?, 77516, Bachelors, 13, Single, Sales, Own-child, White, Male, 0, 0, 40, Cuba, "
    (adult / "adult.data").write_text(f"{row}<=50K\n{row}>50K\n", encoding="utf-8")
    (adult / "adult.test").write_text(f"|1x3 Cross validator\n{row}>50K.\n", encoding="utf-8")
    train, test = "33\t1\t2\t3\t8\t5\t", "9\t1\t2\t3\t2\t6"
    (coil / "ticdata2000.txt").write_text(f"{train}0\r\n{train}1\r\n", encoding="utf-8")
    (coil / "ticeval2000.txt").write_text(f"{test}\r\n{test}\r\n", encoding="utf-8")
    (coil / "tictgts2000.txt").write_text("0\r\n1\r\n", encoding="utf-8")
    first, second = parts["study_data"].read_data(tmp_path)
    assert first.X["workclass"].isna().all()
    assert first.X["education"].tolist() == ["Bachelors", "Bachelors"]
    np.testing.assert_array_equal(first.y, [0, 1])
    np.testing.assert_array_equal(first.y_test, [1])
    assert second.X.iloc[1].tolist() == ["type 33", 1, 2, 3, "type 8", 5]
    np.testing.assert_array_equal(second.y, [0, 1])
    assert second.X_test.iloc[0].tolist() == ["type 9", 1, 2, 3, "type 2", 6]
    np.testing.assert_array_equal(second.y_test, [0, 1])


def test_near_is_counted_seed_by_seed(parts: dict[str, Any], tmp_path: Path) -> None:
    """Within a factor 1.5 of 0.239, and no further."""
    store = parts["study_jobs"].Measured(tmp_path / "transform_results.csv")
    make = parts["study_jobs"].Record
    store.extend(
        make("surface", "0.3", "initial", k, (1.0, error), 0.1)
        for k, error in enumerate((0.2, 0.358, 0.36))
    )
    assert list(parts["transform_page"].near_rows(store)) == [("30%", "3", "2")]
    filled = parts["transform_page"].filled((1.0, 0.2))
    assert filled.tolist() == [1.0] + [0.2] * 9


def test_the_text_has_the_numbers_of_the_tables() -> None:
    """The first conclusions of the page, and its row among the claims."""
    docs = Path(__file__).resolve().parents[1] / "docs" / "studies"
    page = (docs / "transform_regression" / "page.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    means = {(row[0], row[1]): row for row in rows if len(row) in (5, 8)}
    ends = {
        name: [means[share, name][6] for share in ("30%", "50%")]
        for name in ("transform regression (Table 8)", "initial algorithm (Table 4)")
    }
    text = " ".join(page.split("<!-- /table -->")[2].split("##")[0].split())
    assert "({} and {} after ten)".format(*ends["transform regression (Table 8)"]) in text
    assert "ends at {} and {},".format(*ends["initial algorithm (Table 4)"]) in text
    for data, model in (("Adult", "LightGBM"), ("Adult", "scikit-learn"), ("COIL", "LightGBM")):
        assert f"{model} ({means[data, model][3].split()[0]})" in text
    for data in ("Adult", "COIL"):
        assert f"({means[data, 'transform regression'][3].split()[0]}" in text
    (near,) = {row[2] for row in rows if len(row) == 3 and row[1] == "10"}
    claims = (docs / "claims" / "page.md").read_text(encoding="utf-8")
    assert f"{near} of 10 seeds come within a factor of 1.5" in claims
