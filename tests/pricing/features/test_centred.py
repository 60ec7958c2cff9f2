"""Features taken from their means, without a centred copy of the matrix."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost.generation.columns import evaluate
from cgboost.pricing.features.correlation import ENTRIES_AT_ONCE, CentredFeatures

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 7)) * (RNG.uniform(size=(50, 7)) < 0.6) + [0, 0, 0, 1, 2, 3, 1e4]
WEIGHTS = RNG.uniform(0.5, 2.0, 50)
R = RNG.normal(size=50)
FORMS: dict[str, Any] = {
    "C": X,
    "F": np.asfortranarray(X),
    "csc": sparse.csc_matrix(X),
    "csr": sparse.csr_array(X),
    "float32": X.astype(np.float32),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("centre", [True, False])
def test_lengths_scores_and_gram_rows_are_those_of_a_centred_copy(form: str, centre: bool) -> None:
    """Everything agrees with the copy, for dense and sparse matrices of either order."""
    features = CentredFeatures(FORMS[form], WEIGHTS, centre=centre)
    Z = X - np.average(X, axis=0, weights=WEIGHTS) if centre else X
    # float32 has rounded a feature of mean 1e4 to 1e-3
    wanted = 1e-3 if form == "float32" else 1e-10
    size = np.linalg.norm(Z, axis=0)
    close = {"rtol": wanted, "atol": wanted}
    np.testing.assert_allclose(features.lengths, np.sqrt(WEIGHTS @ Z**2), **close)
    np.testing.assert_allclose(features.scores(R) / size, R @ Z / size, **close)
    gram = (Z[:, [2, 5]] * WEIGHTS[:, None]).T @ Z
    scale = np.outer(size[[2, 5]], size)
    np.testing.assert_allclose(features.gram([2, 5]) / scale, gram / scale, **close)
    hypotheses = [features.hypothesis(5), features.hypothesis(0)]
    np.testing.assert_allclose(evaluate(hypotheses, FORMS[form]), Z[:, [5, 0]], **close)
    np.testing.assert_allclose(features.column(5), Z[:, 5], **close)


def test_a_feature_asked_for_again_is_the_same_array() -> None:
    """Repeated columns share their memory."""
    features = CentredFeatures(X, WEIGHTS, centre=True)
    assert features.column(3) is features.column(3)


def test_more_rows_than_fit_into_a_block() -> None:
    """Means and lengths add up over blocks of rows."""
    long = RNG.normal(size=(ENTRIES_AT_ONCE // 7 + 100, 7)) + 5.0
    features = CentredFeatures(long, np.ones(len(long)), centre=True)
    np.testing.assert_allclose(features.centres, long.mean(axis=0))
    np.testing.assert_allclose(features.lengths, np.linalg.norm(long - long.mean(axis=0), axis=0))


def test_constants_have_no_length() -> None:
    """Whatever rounding leaves of a constant minus its weighted mean, its length is exactly 0."""
    constants = np.outer(np.ones(50), RNG.normal(size=40) * 10.0 ** np.arange(-20, 20))
    features = CentredFeatures(np.column_stack([X, constants]), WEIGHTS, centre=True)
    assert (constants != features.centres[7:]).any()
    np.testing.assert_array_equal(features.lengths[7:], 0.0)
    assert (features.lengths[:7] > 0).all()


def test_importances_of_a_feature_are_its_own() -> None:
    """1 in its place, 0 elsewhere."""
    hypothesis = CentredFeatures(X, WEIGHTS, centre=True).hypothesis(2)
    np.testing.assert_array_equal(hypothesis.importances(4), [0, 0, 1, 0])
