"""scikit-learn's checks of what an estimator must do: all of them once a class, and what differs.

Estimators of one class differ in how they fit. Checks of parameters, tags, kinds of input, shapes
and messages see the code that they share, so that one estimator of a class stands for all of them;
its variants repeat the checks of `FITTING`, whose outcome depends on the fit, on plain arrays only,
in `make slow`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

ARRAY_API = "check_array_api"
"""Only run where the variable SCIPY_ARRAY_API is set: the estimators do not claim this support."""

FITTING = {
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_outliers_fit_predict",
    "check_outliers_train",
    "check_readonly_memmap_input",
    "check_regressors_int",
    "check_regressors_train",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_not_overwritten",
    "check_transformer_general",
}
"""Checks of fitted models: what they predict, for which rows, and what fitting leaves alone."""


def scikit_learn_checks(
    estimators: Iterable[BaseEstimator],
    *,
    variants: Iterable[BaseEstimator] = (),
    expected_failed_checks: Callable[[BaseEstimator], Mapping[str, str]] = lambda _: {},
    xfail_strict: bool | None = None,
) -> pytest.MarkDecorator:
    """Parametrise a test of ``(estimator, check)``.

    Parameters
    ----------
    estimators : iterable of estimators
        They go through every check.
    variants : iterable of estimators
        They go through those of `FITTING`.
    expected_failed_checks : callable
        The checks that an estimator cannot pass, each with the reason.
    xfail_strict : bool, optional
        Whether an expected failure that passes is an error; by default the setting of pytest.
    """
    return pytest.mark.parametrize(
        ("estimator", "check"),
        [
            *_cases(estimators, None, expected_failed_checks, xfail_strict),
            *_cases(variants, FITTING, expected_failed_checks, xfail_strict),
        ],
    )


def _cases(
    estimators: Iterable[BaseEstimator],
    names: set[str] | None,
    expected: Callable[[BaseEstimator], Mapping[str, str]],
    strict: bool | None,
) -> Iterator[Any]:
    """The checks of these names, or all, each with an id that says what it is."""
    for estimator in estimators:
        cases = estimator_checks_generator(
            estimator,
            expected_failed_checks=dict(expected(estimator)),
            mark="xfail",
            xfail_strict=strict,
        )
        for case in cases:
            marks = getattr(case, "marks", ())
            check = (case.values if marks else case)[1]
            name = check.func.__name__
            if name.startswith(ARRAY_API):
                continue
            if names is not None and (name not in names or "readonly_memmap" in check.keywords):
                continue
            own = marks if names is None else [*marks, pytest.mark.slow]
            yield pytest.param(estimator, check, marks=own, id=_identifier(estimator, check))


def _identifier(estimator: BaseEstimator, check: Any) -> str:
    options = ",".join(f"{name}={value}" for name, value in check.keywords.items())
    words = " ".join(repr(estimator).split())
    return f"{words}-{check.func.__name__}{f'({options})' if options else ''}"
