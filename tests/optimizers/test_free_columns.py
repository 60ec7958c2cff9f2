"""Free columns: a matrix read where it lies, and directions that span its columns."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from cgboost.generation.columns import Column
from cgboost.masters import FreeColumns, MatrixColumns
from cgboost.pricing.univariate.matrices import BlockFeatures
from tests.effort import examples


def free_columns(X: np.ndarray, matrix: MatrixColumns | None = None) -> FreeColumns:
    """All columns of X."""
    return FreeColumns([Column(values, ("feature", j)) for j, values in enumerate(X.T)], matrix)


PLACES = [slice(0, 4), slice(4, 200), slice(200, 300)]
KINDS = {
    "C": lambda X, path: X,
    "F": lambda X, path: np.asfortranarray(X),
    "float32": lambda X, path: X.astype(np.float32),
    "integers": lambda X, path: X.astype(np.int64),
    "sparse": lambda X, path: csc_array(X),
    "mapped": lambda X, path: mapped(X, path),
    "blocks": lambda X, path: BlockFeatures([(place, X[place]) for place in PLACES], X.shape),
}


def mapped(X: np.ndarray, path: Path) -> np.ndarray:
    """The numbers in a file."""
    file = np.memmap(path / "X", dtype=np.float32, mode="w+", shape=X.shape)
    file[:] = X
    return file


@pytest.mark.parametrize("kind", [*KINDS, "standardised"])
def test_products_are_those_of_the_matrix(kind: str, tmp_path: Path) -> None:
    """Whatever its type and order are, and with a centre and a scale that are not applied."""
    rng = np.random.default_rng(0)
    X = np.round(4.0 * rng.normal(size=(300, 7)))
    centre, scale = np.zeros(7), np.ones(7)
    if kind == "standardised":
        centre, scale = X.mean(axis=0), X.std(axis=0)
    given_matrix = KINDS.get(kind, KINDS["C"])(X, tmp_path)
    matrix = MatrixColumns(given_matrix, centre, scale)
    F = (X - centre) / scale
    coef, response = rng.normal(size=7), rng.normal(size=300)
    rows = np.array([2, 5, 299])
    np.testing.assert_allclose(matrix.combine(coef), F @ coef, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(matrix.scores(response), F.T @ response, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(matrix.rows(rows), F[rows], rtol=1e-12, atol=1e-12)
    places, blocks = zip(*matrix, strict=True)
    assert [place.start for place in places[1:]] == [place.stop for place in places[:-1]]
    np.testing.assert_allclose(np.vstack(blocks), F, rtol=1e-12, atol=1e-12)


@settings(max_examples=examples(100))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 30),
    p=st.integers(1, 8),
    rank=st.integers(1, 8),
    centred=st.booleans(),
)
def test_directions_span_the_columns(seed: int, n: int, p: int, rank: int, centred: bool) -> None:
    """They are orthogonal, as many as the rank, and make every column again, at any scale."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, rank)) @ rng.integers(-2, 3, (rank, p)).astype(float)
    X *= 10.0 ** rng.integers(-9, 10, p)
    free = free_columns(X)
    free.span(centred=centred)
    F = X - X.mean(axis=0) if centred else X
    whole = F / np.maximum(np.abs(X).max(axis=0), 1e-300)
    directions = np.arange(free.n_directions)
    Q = free.rows(np.arange(n), directions)
    assert free.n_directions == np.linalg.matrix_rank(whole, tol=1e-9)
    np.testing.assert_allclose(Q.T @ Q / n, np.eye(len(directions)), atol=1e-9)
    np.testing.assert_allclose(Q @ (Q.T @ whole) / n, whole, atol=1e-9)
    coef = rng.normal(size=len(directions))
    of_columns = free.to_columns[:, directions] @ coef
    np.testing.assert_allclose(free.combine(of_columns), Q @ coef, atol=1e-9)
    np.testing.assert_allclose(free.of_columns(of_columns)[directions], coef, atol=1e-9)
    response = rng.normal(size=n)
    np.testing.assert_allclose(free.scores(response)[directions], Q.T @ response, atol=1e-8)


def test_columns_that_are_nearly_the_same_are_told_apart() -> None:
    """Where F'F has lost all digits, the triangular factor has not."""
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 400))
    free = free_columns(np.stack([x, x + 1e-9 * noise], axis=1))
    free.span(centred=False)
    assert free.n_directions == 2
    Q = free.rows(np.arange(400), np.arange(2))
    np.testing.assert_allclose(Q.T @ Q / 400, np.eye(2), atol=1e-5)


def test_columns_must_fit_together() -> None:
    """Columns of different length, or of another matrix, are none."""
    with pytest.raises(ValueError, match="one length"):
        FreeColumns([Column(np.ones(3), 0), Column(np.ones(4), 1)])
    with pytest.raises(ValueError, match="those of their matrix"):
        free_columns(np.ones((3, 2)), MatrixColumns(np.ones((3, 4))))
    with pytest.raises(ValueError, match="two dimensions"):
        MatrixColumns(np.ones(3))
