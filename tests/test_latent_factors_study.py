"""The study of Boosted Latent Factors, on few rows of data that scikit-learn ships."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import KernelPCA

from tests.studies.modules import modules

parts = modules(
    "examples/reproduce/latent_factors",
    "study_data study_jobs latent_models latent_outliers latent_page latent_ridge latent_ranking "
    "latent_shared",
    {
        "latent_models.FOLDS": 3,
        "latent_models.MOST": 5,
        "latent_models.MOST_FOR_NUMBERS": 5,
        "latent_models.AREA_LENGTH": 4,
    },
)
"""Those of the study; few inner folds."""


@pytest.fixture(scope="module")
def data(parts: dict[str, Any]) -> dict[str, Any]:
    """Stand-ins for a data set of classes and one of numbers."""
    X, y = load_breast_cancer(return_X_y=True)
    Z, t = load_diabetes(return_X_y=True)
    make = parts["latent_models"].Data
    return {
        "WBC": make("WBC", X[:90], 1.0 - 2.0 * y[:90], 9.0),
        "Boston": make("Boston", Z[:60], t[:60] / 10, 4.24),
    }


def test_everything_is_measured_and_the_tables_and_pictures_are_made(
    parts: dict[str, Any], data: dict[str, Any], tmp_path: Path
) -> None:
    """Nothing is lost between memory and disk, and what is known is not measured again."""
    models, Store = parts["latent_models"], parts["study_jobs"].Store
    store = Store(tmp_path / "blf_splits.csv", models.Record)
    for rows in models.table_records(data, 2, models.known(store)):
        store.extend(rows)
    assert len(store.rows) == 2 * (2 * 4 + 3 + 2 * 3)
    assert models.known(store) == {(name, split) for name in data for split in (0, 1)}
    again = Store(tmp_path / "blf_splits.csv", models.Record)
    assert again.rows == store.rows
    assert not list(models.table_records(data, 2, models.known(again)))
    assert all(1 <= row.size <= 60 for row in store.rows if row.model != "svm")
    assert all(row.test > 60 for row in store.rows if row.data == "WBC")

    curves = Store(tmp_path / "blf_curves.csv", models.Curve)
    for rows in models.error_curves(data["WBC"], 2, set()):
        curves.extend(rows)
    for rows in models.auc_curves(sparse_rows(), 1, models.known(curves)):
        curves.extend(rows)
    assert Store(tmp_path / "blf_curves.csv", models.Curve).rows == curves.rows
    assert len(curves.rows) == 2 * 4 + 7

    page = parts["latent_page"]
    page.draw_objectives(data["WBC"], tmp_path / "objectives.png")
    page.draw_factors(data["WBC"], tmp_path / "factors.png")
    page.draw_results(store.rows, curves.rows, tmp_path)
    assert sum(path.stat().st_size > 10_000 for path in tmp_path.glob("*.png")) == 5
    found = page.tables(tmp_path)
    assert "| Boston | squared error |" in found["table-1"]
    assert "| WBC | log loss |" in found["table-4"]
    assert "nan" not in "".join(found.values())


def sparse_rows() -> tuple[Any, Any]:
    """200 rows of 300 binary features, a few of which tell 40 active rows from the others."""
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], [40, 160])
    X = (rng.random((200, 300)) < 0.05).astype(float)
    X[:40, :10] += rng.random((40, 10)) < 0.4
    return csr_matrix(np.minimum(X, 1.0)), y


def test_splits_have_the_shares_of_the_paper(parts: dict[str, Any]) -> None:
    """Half of the active and a seventh of the inactive rows are held out; weights balance them."""
    thrombin = parts["latent_models"]
    _, y = sparse_rows()
    train, held = thrombin.rows_held(y, 3)
    assert (np.sum(y[held] > 0), np.sum(y[held] < 0)) == (21, 22)
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(len(y)))
    weights = thrombin.balance(y[train])
    assert weights[y[train] > 0].sum() == pytest.approx(1)
    assert weights[y[train] < 0].sum() == pytest.approx(1)


def test_files_are_read(parts: dict[str, Any], tmp_path: Path) -> None:
    """The last column is the target, a question mark is missing, features count from 1."""
    (tmp_path / "uci").mkdir()
    file = tmp_path / "uci" / "breast_cancer_wisconsin_original.csv"
    file.write_text("a,b,class\n5,?,2\n1,3,4\n", encoding="utf-8")
    cancer = parts["latent_models"].read_file("Cancer", tmp_path)
    np.testing.assert_array_equal(cancer.X, [[5, np.nan], [1, 3]])
    np.testing.assert_array_equal(cancer.y, [-1, 1])
    (tmp_path / "rows.data").write_text("1 3 \n\n2 \n", encoding="utf-8")
    rows = parts["study_data"].read_rows(tmp_path / "rows.data", 4)
    np.testing.assert_array_equal(rows.toarray(), [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]])


def test_scales_come_from_the_training_rows(parts: dict[str, Any]) -> None:
    """Mean 0 and variance 1 there; what is missing is the mean, what is constant is 0."""
    X = np.array([[1.0, 7.0, 1.0], [3.0, 7.0, np.nan], [5.0, 7.0, 3.0]])
    train, held = parts["latent_models"].standardised(X, X[:1] + 1)
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(train.std(axis=0), [1, 0, np.sqrt(2 / 3)])
    np.testing.assert_allclose(held, [[-1 / np.sqrt(8 / 3), 1.0, 0.0]])


def test_components_are_those_of_scikit_learn(parts: dict[str, Any], data: dict[str, Any]) -> None:
    """Kernel PCA, on training and on other rows, but for signs and lengths."""
    given = parts["latent_models"].problem(data["WBC"], 0, "rbf")
    own, held = parts["latent_models"].components(given.gram, given.held_gram, 4)
    theirs = KernelPCA(4, kernel="precomputed").fit(given.gram)
    for k in range(4):
        train, other = theirs.transform(given.gram)[:, k], theirs.transform(given.held_gram)[:, k]
        scale = np.linalg.norm(train) * np.sign(train @ own[:, k])
        np.testing.assert_allclose(own[:, k], train / scale, atol=1e-8)
        np.testing.assert_allclose(held[:, k], other / scale, atol=1e-8)


def test_verdicts_know_which_way_is_better(parts: dict[str, Any]) -> None:
    """More accuracy or less error is better, if the splits agree on it."""
    report, Record = parts["latent_page"], parts["latent_models"].Record
    rng = np.random.default_rng(0)

    def results(mean: float) -> list[Any]:
        values = mean + rng.random(10)
        return [Record("WBC", "rbf", "svm", k, 0.0, float(v), 1, 0) for k, v in enumerate(values)]

    good, bad = results(5), results(3)
    assert report.verdict(good, bad) == 1
    assert report.verdict(good, bad, lower=True) == -1
    assert report.verdict(good, good) == 0
    assert report.verdict(results(3), bad) == 0
    assert report.is_away((5.0, 1.0), (3.0, 1.9))
    assert not report.is_away((5.0, 1.0), (3.0, 2.0))


def test_moved_targets_are_those_of_training_rows_and_make_a_table(
    parts: dict[str, Any], tmp_path: Path
) -> None:
    """Every model of a split has a record, and the absolute error withstands outliers."""
    outliers = parts["latent_outliers"]
    rng = np.random.default_rng(0)
    images = rng.random((700, 1)) * rng.random(784) + 0.1 * rng.random((700, 784))
    records = list(outliers.split_records(images, 0))
    assert len(records) == 2 * len(outliers.SHARES) * len(outliers.LOSSES)
    store = parts["study_jobs"].Measured(tmp_path / "blf_outliers.csv")
    store.extend(records)
    assert (outliers.STUDY, "rbf, 20%", "huber", 0) in store.known()
    found = {(row.data, row.model): row.values[0] for row in store.rows}
    assert found["linear, 20%", "absolute_error"] < found["linear, 20%", "squared_error"]
    store.extend([replace(row, seed=1) for row in records])
    assert len(list(outliers.outlier_rows(store.rows))) == 2 * len(outliers.SHARES)


def test_penalties_rankings_and_shared_factors_have_records_and_tables(
    parts: dict[str, Any], data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One record for each way on a split, and a row of the table for each of them."""
    ridge, ranking, shared = (
        parts[name] for name in ("latent_ridge", "latent_ranking", "latent_shared")
    )
    monkeypatch.setattr(ridge, "MOST", 3)
    given = parts["latent_models"].problem(data["WBC"], 0, "rbf")
    penalised = list(ridge.split_records("WBC, log_loss", given, 0))
    assert [record.model for record in penalised] == list(ridge.WAYS)
    assert len(list(ridge.ridge_rows(penalised))) == len(ridge.WAYS)
    boston = data["Boston"]
    ranked = list(ranking.split_records("Boston", boston.X, boston.y, ranking.NUMBERS, 0))
    assert [record.model for record in ranked] == [*ranking.NUMBERS, "ranking"]
    assert all(0 <= record.values[0] <= 100 for record in ranked)
    assert len(list(ranking.ranking_rows(ranked))) == 3
    train, held = ranking.rows_of(np.repeat([1.0, -1.0], [50, 100]), 0, rare=True)
    assert len(held) == 50
    assert np.count_nonzero(train < 50) <= 0.06 * len(train)
    rng = np.random.default_rng(0)
    images = rng.random((200, 1)) * rng.random(784) + 0.1 * rng.random((200, 784))
    for name, value in {"N_CLASSES": 60, "N_TEST": 100, "SIZES": (3, 1, 2, 1)}.items():
        monkeypatch.setattr(shared, name, value)
    labels = np.arange(200) % 3
    together = [
        *shared.response_records(images[:194], 0),
        *shared.class_records(images[:160], labels[:160], 0),
    ]
    assert len(list(shared.shared_rows(together))) == len(together) == 8
