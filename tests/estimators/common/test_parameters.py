"""No parameter is dead: changing any one of them changes what it says it changes."""

import inspect
import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
)
from cgboost.losses import get_loss
from tests.estimators.cases import by_table
from tests.estimators.data import at_round, classifier, curve, regressor, two_classes

X, Y = two_classes(50)
EVAL_SET = X[40:], Y[40:]


def fit(**parameters):
    """A classifier fitted on 40 rows and validated on 10."""
    return classifier(**parameters).fit(X[:40], Y[:40], eval_set=EVAL_SET)


def differ(first, second):
    """Whether two models have different outputs."""
    return not np.allclose(first.decision_function(X), second.decision_function(X), atol=1e-6)


CHANGES_THE_MODEL = {
    "library": (KernelLibrary({"linear": Linear()}), KernelLibrary({"rbf": RBF()})),
    "C": (0.1, 10.0),
    "nu": (None, 0.2, 0.6),
    "penalty": ("l1", "l2"),
    "offset": ("none", "penalized", "free"),
    "max_columns": (1, 5),
    "tol": (1e-6, 0.5),
    "early_stopping": (False, True),
    "callbacks": (None, [at_round(1, lambda: True)]),
}


@pytest.mark.parametrize("name", CHANGES_THE_MODEL)
def test_parameter_changes_the_model(name):
    """Each value gives another decision function."""
    common = {"C": 5.0, "columns_per_round": 1, "n_iter_no_change": 1}
    if name == "nu":  # instead of C
        del common["C"]
    models = [fit(**common | {name: value}) for value in CHANGES_THE_MODEL[name]]
    assert all(differ(a, b) for a, b in pairwise(models))


def test_coef_changes_the_model_where_the_library_is_not_closed_under_negation():
    """Non-negative coefficients without negated columns restrict the model; with them, nothing."""
    library = KernelLibrary({"rbf": RBF()}, negation=False)
    options = {"library": library, "offset": "none"}
    free, nonneg = fit(**options), fit(**options, coef="nonneg")
    assert nonneg.objective_ > free.objective_ * 1.01
    assert (nonneg.dual_coef_ > 0).all()
    assert (nonneg.columns_["sign"] == 1).all()
    closed = KernelLibrary({"rbf": RBF()})
    negated = fit(library=closed, offset="none", coef="nonneg")
    assert negated.objective_ == pytest.approx(free.objective_, rel=1e-9)
    assert set(negated.columns_["sign"]) == {-1, 1}
    assert (negated.dual_coef_ > 0).all()
    np.testing.assert_allclose(by_table(negated, X[:40]), negated.decision_function(X[:40]))


def test_priority_changes_the_work_not_the_optimum():
    """Stratified pricing evaluates fewer columns a round and reaches the same objective."""
    full, stratified = (
        fit(priority=p, columns_per_round=1, tol=1e-8) for p in ("full", "stratified")
    )
    assert stratified.history_["evaluated"].mean() < full.history_["evaluated"].mean()
    assert stratified.objective_ == pytest.approx(full.objective_, rel=1e-6)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_by_default_a_limited_model_has_columns_of_several_kernels(penalty):
    """No kernel is preferred: 60 columns of the digits are not those of the first kernel alone."""
    X, digit = load_digits(return_X_y=True)
    model = CGBoostClassifier(penalty=penalty, max_columns=60).fit(X[:600] / 16, digit[:600] % 2)
    assert model.stop_reason_ == "max_columns"
    assert sum(count > 0 for count in model.columns_per_kernel_.values()) > 1


def test_columns_per_round_changes_the_rounds_not_the_optimum():
    """More columns a round need fewer rounds; None needs as few as with 20."""
    one, ten = fit(columns_per_round=1, tol=1e-8), fit(columns_per_round=10, tol=1e-8)
    assert ten.n_iter_ < one.n_iter_
    assert ten.objective_ == pytest.approx(one.objective_, rel=1e-6)
    assert np.diff(ten.history_["columns"]).max() > 1
    assert fit(tol=1e-8).n_iter_ <= fit(columns_per_round=20, tol=1e-8).n_iter_ <= ten.n_iter_
    limited = fit(max_columns=9, tol=1e-8)  # then 2 % of 40 rows
    assert np.diff(limited.history_["columns"]).max() == 1


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_solver_options_reach_the_solver(penalty):
    """A limit of the solver's own ends the fit; other options leave the optimum where it is."""
    solver = "highs" if penalty == "l1" else "clarabel"
    own = {"presolve": "off"} if penalty == "l1" else {"max_iter": 90}
    plain, other = (
        fit(penalty=penalty, solver=solver, solver_options=options) for options in (None, own)
    )
    assert other.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    least = 0 if penalty == "l1" else 1  # the simplex goes on from where it was stopped
    with pytest.warns(ConvergenceWarning, match="stopped before reaching tol"):
        fit(penalty=penalty, solver=solver, solver_options={"max_iterations": least})


def test_validation_fraction_and_random_state_choose_the_held_out_rows():
    """The fraction sets how many rows are held out, the seed which."""
    counts = []

    def count(turn):
        counts.append(len(turn.state.output))

    for fraction in (0.2, 0.5):
        stopping = classifier(
            early_stopping=True, validation_fraction=fraction, random_state=0, callbacks=[count]
        )
        stopping.fit(X, Y)
    assert set(counts) == {40, 25}
    models = [classifier(early_stopping=True, random_state=s).fit(X, Y) for s in (0, 3)]
    assert differ(*models)


def test_cache_size_changes_how_often_kernels_are_evaluated():
    """Without room for columns they are computed again, to the same model."""
    calls = []

    def counting(A, B):
        calls.append(len(B))
        return A @ B.T

    library = KernelLibrary({"counted": counting})
    cached, in_cache = fit(library=library), sum(calls)
    calls.clear()
    bare = fit(library=library, cache_size=0)
    assert sum(calls) > 1.5 * in_cache
    assert not differ(cached, bare)


def test_every_loss_gives_its_certified_optimum() -> None:
    """By name, as an object or a class's default; another loss is another optimum."""
    found = set()
    for loss in ("hinge", "squared_hinge", "log_loss", "exponential"):
        model = fit(loss=loss, tol=1e-5)
        assert model.gap_ <= 1e-5
        assert fit(loss=get_loss(loss), tol=1e-5).objective_ == model.objective_
        found.add(round(model.objective_, 6))
        assert hasattr(model, "predict_proba") == (loss in ("log_loss", "exponential"))
    assert len(found) == 4
    A, b = curve()
    narrow, wide = (regressor(epsilon=e, C=10.0).fit(A, b) for e in (0.0, 0.5))
    assert wide.objective_ < narrow.objective_
    assert np.abs(wide.predict(A) - b).max() <= 0.5 + 1e-3


TESTED = {
    *CHANGES_THE_MODEL,
    "loss",
    *("coef", "priority", "columns_per_round", "time_limit", "solver", "validation_fraction"),
    "solver_options",
    *("random_state", "n_iter_no_change", "cache_size", "verbose", "epsilon", "executor"),
    "centers",  # kernel/test_rkhs
    *("scoring", "class_weight", "probability"),  # test_scoring, test_targets, test_calibration
}


@pytest.mark.parametrize("estimator", [CGBoostClassifier, CGBoostRegressor, CGBoostOutlierDetector])
def test_every_parameter_is_tested_and_documented(estimator):
    """The tests cover the signature; the docstring has all parameters and fitted attributes."""
    names = set(inspect.signature(estimator).parameters)
    assert names <= TESTED
    assert names == set(estimator().get_params())
    parameters, attributes = estimator.__doc__.split("Attributes\n")
    assert names <= set(re.findall(r"\w+", parameters))
    model = estimator(penalty="l1").fit(X, Y)
    assert not [name for name in vars(model) if name.endswith("_") and name not in attributes]
