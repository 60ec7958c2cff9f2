"""Certificates of cgboost's own models: the optimum lies between what they say."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    LPBoostClassifier,
    LPBoostRegressor,
    RuleSetClassifier,
    SparseLinearClassifier,
    SparseLinearRegressor,
    certify,
    polish,
)
from cgboost.exceptions import CertificateError
from cgboost.penalties import GroupNorm

RNG = np.random.default_rng(3)
N = 36
X = RNG.normal(size=(N, 4))
LINE = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * X[:, 0] * X[:, 1]
NUMBERS = LINE + 0.5 * RNG.standard_t(3, N)
LABELS = np.where(LINE + 0.7 * RNG.normal(size=N) > 0, "yes", "no")
THREE = np.digitize(LINE + 0.3 * RNG.normal(size=N), [-1.0, 1.0])
ONE = KernelLibrary({"rbf": RBF(0.3)})
TWO = KernelLibrary({"rbf": RBF(0.3), "linear": Linear()})

Make = Callable[[], Any]

CASES: dict[str, tuple[Make, Any]] = {
    "LPBoost": (lambda: LPBoostClassifier(C=0.2), LABELS),
    "LPBoost nu": (lambda: LPBoostClassifier(nu=0.4), LABELS),
    "LPBoost hard margin": (lambda: LPBoostClassifier(nu=1e-3), LABELS),
    "LPBoost qp": (lambda: LPBoostClassifier(C=0.2, formulation="qp"), LABELS),
    "LPBoost erlp": (lambda: LPBoostClassifier(nu=0.4, formulation="erlp"), LABELS),
    "LPBoost md": (lambda: LPBoostClassifier(formulation="md"), LABELS),
    "LPBoost log loss": (lambda: LPBoostClassifier(C=0.3, loss="log_loss"), LABELS),
    "LPBoost one against the rest": (lambda: LPBoostClassifier(C=0.3), THREE),
    "LPBoost joint": (lambda: LPBoostClassifier(C=0.3, multi_class="joint"), THREE),
    "LPBoost joint nu": (lambda: LPBoostClassifier(nu=0.4, multi_class="joint"), THREE),
    "LPBoost numbers": (lambda: LPBoostRegressor(C=0.3), NUMBERS),
    "LPBoost tube nu": (lambda: LPBoostRegressor(C=0.3, nu=0.3), NUMBERS),
    "rules": (lambda: RuleSetClassifier(max_total_conditions=None, C=0.2), LABELS),
    "kernels nu": (lambda: CGBoostClassifier(TWO, nu=0.4), LABELS),
    "rkhs": (lambda: CGBoostClassifier(TWO, penalty="rkhs"), LABELS),
    "rkhs, column by column": (
        lambda: CGBoostClassifier(ONE, penalty="rkhs", columns_per_round=5),
        LABELS,
    ),
    "rkhs nu": (lambda: CGBoostClassifier(ONE, penalty="rkhs", nu=0.4), LABELS),
    "rkhs log loss": (lambda: CGBoostClassifier(TWO, penalty="rkhs", loss="log_loss"), LABELS),
    "rkhs, offset": (
        lambda: CGBoostClassifier(ONE, penalty="rkhs", offset="penalized"),
        LABELS,
    ),
    "rkhs numbers": (lambda: CGBoostRegressor(TWO, penalty="rkhs"), NUMBERS),
    "rkhs, free centres": (
        lambda: CGBoostClassifier(ONE, penalty="rkhs", centers="free", max_columns=12),
        LABELS,
    ),
    "group": (lambda: CGBoostClassifier(TWO, penalty="group"), LABELS),
    "group nu": (lambda: CGBoostClassifier(TWO, penalty="group", nu=0.4), LABELS),
    "group log loss": (lambda: CGBoostClassifier(TWO, penalty="group", loss="log_loss"), LABELS),
    "group shared": (lambda: CGBoostClassifier(TWO, penalty="group"), THREE),
    "group by class": (
        lambda: CGBoostClassifier(TWO, penalty=GroupNorm(shared=False)),
        THREE,
    ),
    "group numbers": (lambda: CGBoostRegressor(TWO, penalty="group"), NUMBERS),
    "one class": (lambda: CGBoostOutlierDetector(ONE, nu=0.2), None),
    "one class, rkhs": (lambda: CGBoostOutlierDetector(ONE, nu=0.2, penalty="rkhs"), None),
    "one class, group": (lambda: CGBoostOutlierDetector(TWO, nu=0.2, penalty="group"), None),
}

ROUNDING = 1e-7


def changed(model: Any, share: float) -> Any:
    """The model with its largest coefficient made smaller, and the objective that goes with it."""
    own = copy.copy(model)
    runs = list(model._runs)
    output = runs[0].outputs[0]
    coef = output.coef.copy()
    coef[np.argmax(np.abs(coef))] *= share
    output = replace(output, path=[*output.path[:-1], (coef, output.intercept)])
    runs[0] = replace(runs[0], outputs=[output, *runs[0].outputs[1:]])
    own._runs = runs
    return own


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_the_optimum_is_between_bound_and_objective(name: str) -> None:
    """Of a coarse fit, of a fine one and of one whose coefficients are another's."""
    make, y = CASES[name]
    given = () if y is None else (y,)
    fine = make().set_params(tol=1e-6).fit(X, *given)
    coarse = make().set_params(tol=1e-2).fit(X, *given)
    size = abs(fine.objective_)
    least, most = fine.dual_bound_ - ROUNDING * size, fine.objective_ + ROUNDING * size
    gaps = []
    for model in (fine, coarse):
        found = certify(model, X, y)
        assert found.objective == pytest.approx(model.objective_, rel=1e-6)
        assert found.bound <= most
        assert found.best >= least
        assert found.best <= found.objective + ROUNDING * size
        parts = found.of_rows.sum() + found.of_features.sum()
        gap = max(found.objective - found.bound, 0.0)
        assert parts == pytest.approx(gap, rel=1e-6, abs=ROUNDING * size)
        gaps.append(found.gap)
    assert gaps[0] * size <= 3.0 * (fine.objective_ - fine.dual_bound_) + ROUNDING * size
    other = changed(fine, 0.5)
    with pytest.raises(CertificateError, match="coefficients are as the fit"):
        certify(other, X, y)
    other.objective_ = objective_of(other, y)
    forged = certify(other, X, y)
    assert forged.bound <= most
    assert forged.objective > most
    assert forged.gap > gaps[0] + 1e-4
    assert forged.best < forged.objective


def objective_of(model: Any, y: Any) -> float:
    """What the message of the refusal says."""
    try:
        certify(model, X, y)
    except CertificateError as error:
        return float(str(error).split("has the objective ")[1].split(" ")[0])
    raise AssertionError


@pytest.mark.filterwarnings("ignore")
def test_nothing_of_the_fit_is_copied() -> None:
    """Bound and gap of the fit may say what they like."""
    model = LPBoostClassifier(nu=0.4).fit(X, LABELS)
    before = certify(model, X, LABELS)
    model.dual_bound_, model.gap_, model.history_ = model.objective_, 0.0, {}
    after = certify(model, X, LABELS)
    with pytest.raises(CertificateError, match="give the same X"):
        certify(model, X[::-1], LABELS)
    assert (before.objective, before.bound) == (after.objective, after.bound)


TRIVIAL: dict[str, Make] = {
    "stumps": lambda: LPBoostClassifier(C=1e-3),
    "stumps, nu": lambda: LPBoostClassifier(nu=0.1, max_columns=1),
    "stumps, joint nu": lambda: LPBoostClassifier(nu=0.1, max_columns=1, multi_class="joint"),
    "kernels": lambda: CGBoostClassifier(ONE, C=1e-4, offset="none"),
    "rkhs nu": lambda: CGBoostClassifier(ONE, nu=0.1, offset="none", penalty="rkhs", max_columns=1),
    "group": lambda: CGBoostClassifier(ONE, C=1e-4, offset="none", penalty="group"),
    "features": lambda: SparseLinearClassifier(C=1e-4, fit_intercept=False),
    "features, log loss": lambda: SparseLinearClassifier(
        C=1e-4, fit_intercept=False, loss="log_loss"
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("y", [np.arange(N) % 3 // 2, np.maximum(np.arange(N) % 5, 2)])
@pytest.mark.parametrize("name", TRIVIAL)
def test_a_lean_to_the_larger_class_is_no_part_of_the_problem(name: str, y: Any) -> None:
    """A model without columns has the objective of 0, and no bound is above it."""
    model = TRIVIAL[name]().fit(X, y)
    assert 0.0 < np.max(np.abs(model.intercept_)) <= 2e-6
    found = certify(model, X, y)
    assert found.objective == pytest.approx(model.objective_, rel=1e-12, abs=1e-15)
    assert found.bound <= found.objective + 1e-12 * abs(found.objective)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weights", [None, np.arange(N) % 3])
@pytest.mark.parametrize("options", [{"nu": 0.4}, {"loss": "log_loss"}], ids=["nu", "log loss"])
def test_no_model_is_below_the_optimum_of_summed_kernels(options: Any, weights: Any) -> None:
    """A model of few columns of two kernels is made better over their sums, not next to them."""
    few = CGBoostClassifier(TWO, penalty="rkhs", max_columns=2, **options)
    fine = CGBoostClassifier(TWO, penalty="rkhs", tol=1e-6, **options)
    found = certify(few.fit(X, LABELS, sample_weight=weights), X, LABELS, weights)
    least = certify(fine.fit(X, LABELS, sample_weight=weights), X, LABELS, weights).bound
    assert found.best >= least - ROUNDING * abs(least)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model", [OneClassSVM(nu=0.2), CGBoostOutlierDetector(ONE, nu=0.2)], ids=str
)
def test_models_without_targets_take_any(model: Any) -> None:
    """As their ``fit`` does: pipelines and searches give one."""
    model.fit(X)
    alone = certify(model, X)
    for y in (LABELS, [1, 2], np.full(N, np.nan)):
        found = certify(model, X, y)
        assert (found.objective, found.bound) == (alone.objective, alone.bound)
    polished = polish(model, X, LABELS).certificate_
    assert polished.objective <= alone.objective


@pytest.mark.filterwarnings("ignore")
def test_weights_count_as_copies() -> None:
    """Rows of a weight of 0 do not count."""
    weights = np.arange(N) % 3
    copies = np.repeat(np.arange(N), weights)
    for make in (CASES["rkhs"][0], CASES["LPBoost"][0]):
        model = make().set_params(tol=1e-7).fit(X, LABELS, sample_weight=weights)
        whole = certify(model, X, LABELS, weights)
        again = make().set_params(tol=1e-7).fit(X[copies], LABELS[copies])
        alone = certify(again, X[copies], LABELS[copies])
        assert whole.objective == pytest.approx(alone.objective, rel=1e-4)
        assert whole.bound <= alone.objective * (1.0 + ROUNDING)
        assert not whole.of_rows[weights == 0].any()


@pytest.mark.filterwarnings("ignore")
def test_own_models_are_polished_by_a_finer_fit() -> None:
    """With the parameters that they had, in their pipeline, and with their certificate."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    line = make_pipeline(StandardScaler(), LPBoostClassifier(C=0.2, tol=0.1)).fit(frame, LABELS)
    better = polish(line, frame, LABELS)
    assert better.certificate_.gap <= 1e-7
    assert better[-1].get_params() == line[-1].get_params()
    assert better.certificate_.objective <= certify(line, frame, LABELS).objective
    sparse = SparseLinearRegressor(alpha=0.05, tol=0.1).fit(frame, NUMBERS)
    assert polish(sparse, frame, NUMBERS).certificate_.gap <= 1e-7


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LPBoostClassifier(max_depth=2), "SignTreePricer"),
        (lambda: RuleSetClassifier(max_total_conditions=4), "budget of rules"),
        (lambda: CGBoostClassifier(ONE, penalty="rkhs", early_stopping=True), "early_stopping"),
    ],
)
def test_what_has_no_bound_is_refused(make: Make, words: str) -> None:
    """With the reason."""
    with pytest.raises(CertificateError, match=words):
        certify(make().fit(X, LABELS), X, LABELS)


@pytest.mark.filterwarnings("ignore")
def test_the_worst_part_has_a_name() -> None:
    """Of stumps, of kernels, and of columns that are not there."""
    model = LPBoostClassifier(C=0.2, max_columns=3).fit(X, LABELS)
    found = certify(model, X, LABELS)
    assert found.names[-1] == "columns that are not in the model"
    assert all(name.startswith(("stumps on feature", "the constant")) for name in found.names[:-1])
    assert len(found.of_features) == len(found.names)
    both = certify(CASES["group"][0]().fit(X, LABELS), X, LABELS)
    assert set(both.names[:-1]) <= {"rbf", "linear"}
    assert str(found).count("\n") == 2
