"""Estimators inside the rest of the ecosystem: clone, pickle, pipelines, searches, data frames."""

import pickle
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import cgboost
import cgboost.linear
from cgboost import RBF, BLFRegressor, CGBoostClassifier, CGBoostRegressor
from cgboost.kernels.library import DEFAULT_LIBRARY
from tests.estimators.data import (
    LIBRARY,
    PENALTIES,
    classifier,
    curve,
    regressor,
    two_classes,
)


def reachable(value, seen):
    """Every object that a fitted model holds, through dicts, sequences and dataclasses."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    inside = list(vars(value).values()) if hasattr(value, "__dict__") else []
    if isinstance(value, dict):
        inside += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set)):
        inside += list(value)
    elif is_dataclass(value) and not isinstance(value, type):
        inside += [getattr(value, f.name) for f in fields(value)]
    for item in inside:
        reachable(item, seen)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_fitted_model_holds_neither_solver_nor_training_matrix(penalty):
    """Nothing that a model reaches comes from solvers, or is an array of n_rows × anything."""
    X, y = two_classes(150)
    model = classifier(penalty=penalty, max_columns=20).fit(X, y)
    seen = {}
    reachable(model, seen)
    assert len(seen) > 50
    for value in seen.values():
        assert not type(value).__module__.startswith(("solvers", "highspy", "piqp", "clarabel"))
        array = value if value is None or not isinstance(value, np.ndarray) else value.base
        for held in (value, array):
            assert not isinstance(held, np.ndarray) or len(X) not in held.shape


def test_several_classes_and_kernels_share_their_centres():
    """A training row is pickled at most once, however many columns are centred on it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 500)), np.arange(40) % 4
    model = classifier(C=100.0, columns_per_round=20).fit(X, y)
    n_columns = sum(len(output.hypotheses) for run in model._runs for output in run.outputs)
    assert n_columns > 2 * len(X)
    assert len(pickle.dumps(model)) < 1.5 * X.nbytes


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (classifier, {"penalty": "group"}),
        (classifier, {"penalty": "rkhs", "centers": "free", "max_columns": 3}),
        (classifier, {"nu": 0.2}),
        (regressor, {"nu": 0.5}),
        (BLFRegressor, {"n_components": "cv", "cv": 3, "random_state": 0}),
        (BLFRegressor, {"kernel": RBF(0.1)}),
    ],
)
def test_a_refit_with_other_parameters_keeps_no_attribute_of_the_first(make, first):
    """What is named by the last fit is there, and nothing else.

    Kernel weights, centres, margins, tubes, coefficients of features or of a kernel, errors
    of cross-validation come and go.
    """
    X, y = two_classes() if make is classifier else curve()
    loss = "log_loss" if make is classifier else "squared_error"
    last = {"penalty": "l2", "centers": "rows", "nu": None, "max_columns": None, "loss": loss}
    if make is BLFRegressor:
        last = {"n_components": 2, "kernel": None}
    again = make(**first).fit(X, y).set_params(**last).fit(X, y)
    assert set(vars(again)) == set(vars(make(**last).fit(X, y)))


def test_the_default_library():
    """Without a library the kernels are linear, quadratic and RBF, in this order."""
    X, y = two_classes()
    model = CGBoostClassifier(penalty="l1").fit(X, y)
    assert list(model.columns_per_kernel_) == ["linear", "quadratic", "rbf"]
    assert LIBRARY.names == ("linear", "rbf")
    for estimator in (CGBoostClassifier, CGBoostRegressor):
        literal = re.search(r"``(KernelLibrary\(.*?)``", estimator.__doc__, re.DOTALL).group(1)
        written = eval(literal, {name: getattr(cgboost, name) for name in cgboost.__all__})
        assert written.kernels == DEFAULT_LIBRARY.kernels
        assert repr(written) == repr(DEFAULT_LIBRARY)
