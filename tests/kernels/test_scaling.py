"""Standardised features: which columns are scaled, and which are left alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    On,
    Polynomial,
    Precomputed,
)
from cgboost.exceptions import DataWarning
from cgboost.kernels import Kernel

RNG = np.random.default_rng(7)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(50.0, 20.0, size=90),
        "fare": RNG.normal(1e4, 1e3, size=90),
        "sex": RNG.choice(["m", "f"], size=90),
    }
)
LABELS = ((FRAME["age"] > 50) ^ (FRAME["sex"] == "m")).to_numpy().astype(int)


def same_word(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """1 where two words are the same."""
    return (A[:, None] == B[None, :]).astype(float)


def test_numbers_of_a_data_frame_are_scaled_and_words_are_not() -> None:
    """The model equals that of a frame whose numbers were standardised before."""
    kernels = {"both": (RBF(), ["age", "fare"]), "sex": (same_word, "sex")}
    scaled = FRAME.copy()
    for name in ("age", "fare"):
        scaled[name] = (FRAME[name] - FRAME[name][:60].mean()) / FRAME[name][:60].std(ddof=0)
    inside = CGBoostClassifier(KernelLibrary(kernels, standardize=True)).fit(
        FRAME[:60], LABELS[:60]
    )
    before = CGBoostClassifier(KernelLibrary(kernels)).fit(scaled[:60], LABELS[:60])
    assert inside.objective_ == pytest.approx(before.objective_, rel=1e-9)
    np.testing.assert_allclose(
        inside.decision_function(FRAME), before.decision_function(scaled), atol=1e-6
    )


def test_row_numbers_are_not_scaled_and_sparse_rows_not_centred() -> None:
    """A column that a given matrix is looked up by stays as it is beside scaled features.

    Zeros stay zeros; the other numbers of a feature have a mean square of 1, or stay too.
    """
    features = FRAME[["age", "fare"]].to_numpy()
    given = np.corrcoef(RNG.normal(size=(90, 4)))
    X = np.column_stack([np.arange(90), features])
    scaler = KernelLibrary(
        {"given": On(Precomputed("given", given), 0), "rbf": (RBF(), [1, 2])}, standardize=True
    ).scaler(X)
    seen = scaler.transform(X)
    np.testing.assert_array_equal(seen[:, 0], X[:, 0])
    np.testing.assert_allclose(seen[:, 1:].mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(seen[:, 1:].std(axis=0), 1.0)
    dense = RNG.normal(size=(30, 5)) * (RNG.random((30, 5)) < 0.4) * [1, 10, 100, 1000, 0]
    X = csr_array(dense)
    seen = KernelLibrary({"linear": Linear()}, standardize=True).scaler(X).transform(X)
    scale = np.sqrt((dense**2).sum(axis=0) / np.maximum(1, (dense != 0).sum(axis=0)))
    np.testing.assert_allclose(seen.toarray(), dense / np.where(scale > 0, scale, 1.0))
    row_numbers = Precomputed("given", np.eye(30))
    kernels = {"given": On(row_numbers, 0), "linear": (Linear(), [1, 2])}
    own = KernelLibrary(kernels, standardize=True).scaler(X).transform(X)
    np.testing.assert_allclose(own.toarray()[:, 0], dense[:, 0])
    np.testing.assert_allclose(own.toarray()[:, 1:], seen.toarray()[:, 1:])


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)])
def test_float32_rows_with_large_kernel_values_are_taken_in_float64(kernel: Kernel) -> None:
    """The objective is that of the model's own outputs, and that of float64 rows."""
    X = (RNG.normal(size=(60, 3)) * [1.0, 50.0, 700.0]).astype(np.float32)
    y = np.where(X[:, 1] * X[:, 0] + X[:, 2] > 0, 1, -1)
    model = CGBoostClassifier(KernelLibrary({"k": kernel}), C=1e-2).fit(X, y)
    hinge = np.maximum(0.0, 1.0 - y * model.decision_function(X)).sum()
    objective = np.abs(model.dual_coef_).sum() + 1e-2 * hinge
    assert objective == pytest.approx(model.objective_, rel=1e-7)
    assert model.converged_
    wide = CGBoostClassifier(KernelLibrary({"k": kernel}), C=1e-2).fit(X.astype(float), y)
    assert model.objective_ == pytest.approx(wide.objective_, rel=1e-4)


def test_new_rows_with_words_among_numbers_are_refused_by_name() -> None:
    """The error names the column and the value."""
    library = KernelLibrary({"age": (RBF(), "age"), "sex": (same_word, "sex")}, standardize=True)
    model = CGBoostClassifier(library).fit(FRAME[:60], LABELS[:60])
    new = FRAME[60:].astype({"age": object})
    new.iloc[0, 0] = "old"
    with pytest.raises(ValueError, match="'age' must hold finite numbers.*'old'"):
        model.predict(new)


def test_rows_come_back_from_what_kernels_see() -> None:
    """The inverse gives the rows, of all columns and of a frame with words among them."""
    numbers = FRAME[["age", "fare"]].to_numpy()
    library = KernelLibrary({"r": RBF()}, standardize=True)
    scaler = library.scaler(numbers)
    assert scaler is not None
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(numbers)), numbers)
    rows = csr_array(numbers * (numbers > numbers.mean(axis=0)))
    scaler = library.scaler(rows)
    assert scaler is not None
    np.testing.assert_allclose(
        scaler.inverse_transform(scaler.transform(rows)).toarray(), rows.toarray()
    )
    mixed = FRAME.to_numpy(dtype=object)
    scaler = KernelLibrary({"r": On(RBF(), [0, 1])}, standardize=True).scaler(mixed)
    assert scaler is not None
    back = scaler.inverse_transform(scaler.transform(mixed))
    np.testing.assert_allclose(back[:, :2].astype(float), numbers)
    np.testing.assert_array_equal(back[:, 2], mixed[:, 2])


def test_rows_far_from_all_training_rows_are_told() -> None:
    """A feature with one value in nearly all rows: another makes all predictions the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    rare = np.full(200, 0.49)
    rare[:2] = 0.48, 0.5
    rows = np.column_stack([X, rare])
    model = CGBoostRegressor(KernelLibrary({"rbf": RBF()}, standardize=True), max_columns=20)
    model.fit(rows, X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        model.predict(rows)
    with pytest.warns(DataWarning, match=r"feature 2 has a value of .* none is farther than 10"):
        far = model.predict(np.column_stack([X, np.full(200, 0.83)]))
    assert np.ptp(far) < 1e-6
