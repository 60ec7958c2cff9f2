"""The columns of a matrix as a pool."""

import numpy as np
import pytest

from cgboost.generation.columns import evaluate
from cgboost.pricing import FeaturePricer


def test_feature_columns_evaluate_to_the_features() -> None:
    """Hypotheses of features read their column of new rows, in the order asked."""
    H = np.arange(12.0).reshape(3, 4)
    pool = FeaturePricer(H).pool
    columns = [pool.column(0, 3), pool.column(0, 1)]
    np.testing.assert_array_equal(evaluate([c.hypothesis for c in columns], H), H[:, [3, 1]])


@pytest.mark.parametrize(
    ("H", "words"),
    [(np.ones(3), "two-dimensional"), (np.array([[1.0, np.nan]]), "finite, but feature 1")],
)
def test_bad_matrices_are_refused(H: np.ndarray, words: str) -> None:
    """X must be two-dimensional and finite; the error names the shape or the feature."""
    with pytest.raises(ValueError, match=words):
        FeaturePricer(H)
