"""scikit-learn's own checks of what an estimator must do."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cgboost import (
    RBF,
    AdditiveRegressor,
    BLFClassifier,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    LinearTreeRegressor,
    Precomputed,
    TransformClassifier,
    TransformRegressor,
)

REASON = (
    "a row of weight 0 still offers its kernel columns, and a repeated row offers a repeated "
    "column, so weights and repetition are different problems"
)
HOLDOUT = "a row of weight 2 is held out whole, where of two equal rows each is by itself"
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"

ESTIMATORS = [
    CGBoostClassifier(penalty="l1"),
    CGBoostRegressor(penalty="l1"),
    # the checks need no certificate to 1e-4 of a dense quadratic program
    CGBoostClassifier(penalty="l2", tol=1e-2, max_columns=40),
    CGBoostRegressor(penalty="l2", tol=1e-2, max_columns=40),
    CGBoostOutlierDetector(penalty="l1"),
    CGBoostRegressor(penalty="l1", nu=0.5),
]
FACTORS = [
    BLFClassifier(),
    BLFClassifier(loss="exponential", kernel=RBF(0.5)),
    BLFRegressor(),
    BLFRegressor(loss="absolute_error", newton_steps=None),
    BLFRegressor(loss="huber", kernel=RBF(0.5)),
    BLFRegressor(kernel=Precomputed()),
]
ADDITIVE = [AdditiveRegressor(), AdditiveRegressor("backfitting"), LinearTreeRegressor()]
TRANSFORMS = [TransformRegressor(), TransformClassifier()]
WITHOUT_HOLDOUT = [
    TransformRegressor(variant="orthogonal_feed_forward", early_stopping=False),
    TransformClassifier(early_stopping=False),
    AdditiveRegressor(early_stopping=False),
    LinearTreeRegressor(validation_fraction=0.0),
]


def expected_failures(estimator):
    """Checks that cannot pass, with the reason."""
    if estimator in ESTIMATORS:
        return {WEIGHTS: REASON}
    return {WEIGHTS: HOLDOUT} if estimator in ADDITIVE + TRANSFORMS else {}


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.KernelScaleWarning")
@parametrize_with_checks(
    ESTIMATORS + FACTORS + ADDITIVE + TRANSFORMS + WITHOUT_HOLDOUT,
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    """Every check of scikit-learn passes, apart from the expected failures with their reason."""
    check(estimator)
