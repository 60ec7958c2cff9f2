"""The study of accuracy and sparsity, on few of the digits that scikit-learn ships."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from cgboost.studies.datasets import Split, odd_even_split
from tests.studies.modules import modules

parts = modules("examples/reproduce/frontier", "frontier_models frontier_page kernel_values")
"""Those of the study."""


@pytest.fixture(scope="module")
def split() -> Split:
    """A split small enough for a test."""
    return odd_even_split(train=120, validation=100, test=200, seed=0)


def test_every_method_is_measured_and_the_tables_and_picture_are_made(
    parts: dict[str, Any], split: Split, tmp_path: Path
) -> None:
    """Sizes and seeds are as asked for, nothing is lost between memory and disk."""
    study, page = parts["frontier_models"], parts["frontier_page"]
    records = list(study.Study(split, 3, "cosine", sizes=(20, 60)).records())
    methods = {record.method for record in records}
    assert methods >= {*page.CURVES[1:5], "Nyström, random rows", "SVC"}
    assert methods >= {"2-norm, greedy from means, refitted", "Nyström, class means"}
    assert all(record.seed == 3 and 0 <= record.test < 60 for record in records)
    greedy = [record for record in records if record.method == "2-norm, greedy"]
    assert {record.columns for record in greedy} == {20, 60}
    assert all(0 < record.gap < 1 for record in greedy)
    exact = [record for record in records if record.method == "2-norm, exact"]
    assert max(record.gap for record in exact) < 1e-4

    page.records_of(tmp_path).replace(records)
    read = page.records_of(tmp_path).rows
    assert [(r.method, r.columns) for r in read] == [(r.method, r.columns) for r in records]
    assert page.merged(read, read) == page.merged(read, [])
    page.draw(read, tmp_path / "frontier.png")
    found = "\n".join(page.tables(tmp_path).values())
    assert (tmp_path / "frontier.png").stat().st_size > 10_000
    assert "| normalised polynomials | SVC |" in found
    assert "inf" not in found


def test_the_choice_is_made_on_the_validation_set(parts: dict[str, Any]) -> None:
    """Lowest validation error for each seed, whatever the test error; of equals the smallest."""
    results = parts["frontier_page"]

    def record(seed: int, columns: int, validation: float, test: float) -> Any:
        return results.Record(seed, "rbf", "0.1", "SVC", 1.0, columns, validation, test, np.nan)

    records = [record(0, 9, 5.0, 1.0), record(0, 8, 4.0, 7.0), record(0, 5, 4.0, 8.0)]
    other = record(1, 7, 6.0, 6.0)
    assert results.best([*records, other], lambda r: True) == [records[2], other]
    assert results.best(records, lambda r: r.columns > 5) == [records[1]]


def test_the_exact_model_is_the_svm_on_its_implied_kernel(
    parts: dict[str, Any], split: Split
) -> None:
    """α free over the columns K is a machine with the kernel K Kᵀ: the same outputs."""
    methods = parts["frontier_models"]
    images = parts["kernel_values"].Images(split, "cosine", ())
    values = images.values(5, "rows")
    ours = {C: output for C, _, output, _ in methods.exact_two_norm([values], split.y_train)}
    train, held = values.train @ values.train.T, values.held @ values.train.T
    for C, _, output, _ in methods.support_vector_machine(train, held, split.y_train):
        if C in ours:
            assert np.mean((ours[C] > 0) == (output > 0)) > 0.99


def test_nystroem_features_are_those_of_scikit_learn(parts: dict[str, Any], split: Split) -> None:
    """The same kernel between transformed rows, for the same centres."""
    values = parts["kernel_values"].Images(split, "rbf", ()).values(0.1, "rows")
    theirs = Nystroem(kernel="rbf", gamma=0.1, n_components=30, random_state=0)
    features = theirs.fit_transform(split.X_train)
    ours, _ = parts["frontier_models"].nystroem_features(values.chosen(theirs.component_indices_))
    np.testing.assert_allclose(ours @ ours.T, features @ features.T, atol=1e-6)


def test_jitter_looks_at_nine_positions(parts: dict[str, Any], split: Split) -> None:
    """An image moved by a pixel is as like as the image itself, and no likeness gets smaller."""
    kernels = parts["kernel_values"]
    image = np.zeros((1, 8, 8))
    image[0, 3:5, 2:4] = [[1.0, 0.5], [0.25, 0.75]]
    flat = image.reshape(1, -1)
    beside = kernels.moved(flat, 1, -1)
    assert beside[0].reshape(8, 8)[4, 1] == 1.0
    assert kernels.jittered_cosines(beside, flat) == pytest.approx(1.0)
    assert kernels.cosines(beside, flat)[0, 0] < 0.9
    X = split.X_train[:20]
    assert np.all(kernels.jittered_cosines(X, X) >= kernels.cosines(X, X) - 1e-12)


def test_balanced_columns_weigh_a_crowd_as_one(parts: dict[str, Any], split: Split) -> None:
    """Rows have length 1, and a training row that is there twice halves its columns."""
    kernels = parts["kernel_values"]
    values = kernels.Images(split, "cosine", ()).values(9, "rows")
    even = kernels.balanced(values)
    np.testing.assert_allclose(np.linalg.norm(even.held, axis=1), 1.0)
    ratio = even.train[0] / values.train[0]
    np.testing.assert_allclose(
        ratio * values.train.sum(axis=0), ratio[0] * values.train[:, 0].sum()
    )
