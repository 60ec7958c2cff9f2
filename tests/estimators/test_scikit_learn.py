"""scikit-learn's own checks of what an estimator must do, for one estimator of each class.

Estimators of one class differ in how they fit: for all cases there are laws of ours
(`test_data_laws.py` and its neighbours), also of what is left out here, that weights are repeated
rows, which each case says whether it holds for.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    estimator_checks_generator,
)

from cgboost import (
    AdaBoostClassifier,
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    ConstrainedBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    MultiQuantileRegressor,
    Precomputed,
    RuleSetClassifier,
    RuleSetRegressor,
    StagewiseRegressor,
    ThinnedEnsemble,
    TransformClassifier,
)
from cgboost.linear import (
    LADRegressor,
    SparseLinearClassifierCV,
    SparseLinearRegressorCV,
)
from tests.estimators.cases import PUBLIC

SMALLER = [
    CGBoostClassifier(penalty="l1"),
    CGBoostRegressor(penalty="l1"),
    CGBoostOutlierDetector(penalty="l1"),
    AnyBoostClassifier(n_estimators=10, learning_rate=1.0),
    AnyBoostRegressor(n_estimators=10, learning_rate=1.0),
    GradientBoostingClassifier(n_estimators=10),
    GradientBoostingRegressor(n_estimators=10),
    LinearTreeBoostingRegressor(n_estimators=10, validation_fraction=0.3),
    LinearTreeBoostingClassifier(n_estimators=10, validation_fraction=0.3),
    LogitBoostClassifier(n_estimators=20),
    StagewiseRegressor(n_estimators=10),
    LADRegressor(alpha=0.1),
    MultiQuantileRegressor(alpha=0.01),
    SparseLinearRegressorCV(n_alphas=2, cv=2),
    SparseLinearClassifierCV(n_Cs=2, cv=2),
    RuleSetClassifier(3, max_conditions=2, max_bins=4),
    RuleSetRegressor(3, max_conditions=2, max_bins=4),
    ThinnedEnsemble(RandomForestClassifier(4, random_state=0)),
    ThinnedEnsemble(RandomForestRegressor(4, random_state=0)),
]
"""In place of the defaults, for time."""

ESTIMATORS = [
    *(kind() for kind in PUBLIC.values() if kind not in map(type, SMALLER)),
    *SMALLER,
    BLFRegressor(kernel=Precomputed()),  # takes other input
]
LEFT_OUT = ("check_array_api", "check_sample_weight_equivalence")
"""The first is run where the variable SCIPY_ARRAY_API is set: the estimators do not claim this."""

STUMP = (
    "the constant costs what any stump costs, and of those on which all rows of the heavy class "
    "agree the optimum takes the one that is best for the light ones; not with offset='free'"
)
LEAVES = (
    "leaves and intervals of light rows alone have the values of these rows, whatever they weigh: "
    "with weights of 1000 and 0.0001 the light classes keep theirs"
)
ONE_OUTPUT = "it expects predictions of the shape (n_rows,), these have a column for each quantile"
FAILURES: dict[type, dict[str, str]] = {
    LPBoostClassifier: {"check_class_weight_classifiers": STUMP},
    ConstrainedBoostClassifier: {"check_class_weight_classifiers": STUMP},
    AdaBoostClassifier: {"check_class_weight_classifiers": LEAVES},
    AnyBoostClassifier: {"check_class_weight_classifiers": LEAVES},
    GradientBoostingClassifier: {"check_class_weight_classifiers": LEAVES},
    TransformClassifier: {"check_class_weight_classifiers": LEAVES},
    # No tag says that one y has several predictions: of ``single_output=False`` the checks
    # make a y of two columns, and with ``multi_output=True`` they want a prediction for each.
    MultiQuantileRegressor: {
        f"check_{name}": ONE_OUTPUT
        for name in ("regressors_train", "estimator_sparse_array", "estimator_sparse_matrix")
    },
}
"""Checks that a class cannot pass, with the reason."""


def checks() -> Iterator[Any]:
    """Every estimator with each of its checks, and an id that says what it is."""
    for own in ESTIMATORS:
        for estimator, check in estimator_checks_generator(own):
            name = check.func.__name__
            if name.startswith(LEFT_OUT):
                continue
            reason = FAILURES.get(type(estimator), {}).get(name)
            marks = [pytest.mark.xfail(reason=reason, strict=False)] if reason else []
            options = ",".join(f"{key}={value}" for key, value in check.keywords.items())
            words = f"{' '.join(repr(estimator).split())}-{name}"
            called = f"{words}({options})" if options else words
            yield pytest.param(estimator, check, marks=marks, id=called)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), checks())
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    """Every check passes, apart from the expected failures with their reason."""
    check(estimator)


@pytest.mark.parametrize("kind", [LPBoostClassifier, ConstrainedBoostClassifier])
def test_class_weights_decide_where_the_constant_is_free(kind: Any) -> None:
    """With a free offset the check of class weights passes too."""
    check_class_weight_classifiers(kind.__name__, kind(offset="free"))
