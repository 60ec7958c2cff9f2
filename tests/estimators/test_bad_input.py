"""Bad input of every estimator: one error that names the argument, and nothing half-fitted."""

import inspect
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import (
    RBF,
    AdaBoostClassifier,
    AdditiveRegressor,
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFClassifier,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    ConstrainedBoostClassifier,
    ConstrainedBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KernelLibrary,
    L2BoostRegressor,
    Laplacian,
    Linear,
    LinearTreeBoostingRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    LPBoostRegressor,
    MultiQuantileRegressor,
    OrthogonalGreedyRegressor,
    Precomputed,
    RuleSetClassifier,
    RuleSetRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
    Spectrum,
    StagewiseRegressor,
    ThinnedEnsemble,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.constraints import (
    AlsoLoss,
    Concave,
    Convex,
    EqualOpportunity,
    GroupBudget,
    Monotone,
    ParityGap,
    Sign,
)
from cgboost.estimators.common import parameters
from cgboost.exceptions import KernelError
from cgboost.linear import (
    L1LinearSVC,
    L1LinearSVR,
    QuantileRegressor,
    SparseLinearClassifierCV,
    SparseLinearRegressorCV,
)
from cgboost.losses import AbsoluteError, Exponential, Hinge, LogLoss, Multinomial, Quantile
from cgboost.penalties import RKHS, ElasticNet, Entropy
from cgboost.sources import Partitions, SQLSource
from tests.cases import law
from tests.estimators.cases import ONE_EACH, THINNED, EstimatorCase
from tests.estimators.data import curve, three_classes, two_classes
from tests.estimators.transform.transform_data import mixed

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

Arguments = dict[str, Any]

X, Y = two_classes()
T = X[:, 0] - 0.5 * X[:, 1]
NOBODY = np.zeros(40)
ONES = np.ones(40)
MASK = np.arange(40) < 3
DAYS = np.datetime64("2020-01-01") + np.arange(40)
FRAME = pd.DataFrame(X, columns=["income", "age", "height"])
PEOPLE = FRAME.assign(sex=np.where(X[:, 0] > 0.3, "m", "f"))
K = X @ X.T
TREE = DecisionTreeClassifier(max_depth=1)
LINE = LinearRegression()
FOREST = RandomForestClassifier(10, random_state=0).fit(X, Y)


def with_value(array: Any, value: Any) -> Any:
    """A copy with one entry replaced: of a sparse matrix, of its data."""
    changed = array.astype(np.result_type(array, type(value)))
    (changed.data if sparse.issparse(changed) else changed.flat)[3] = value
    return changed


def assert_refused(model: Any, words: str, arguments: Arguments) -> None:
    """A fit that is an error with these words, and leaves parameters alone."""
    with pytest.raises((ValueError, TypeError, KernelError), match=words):
        model.fit(**arguments)
    assert set(vars(model)) == set(model.get_params(deep=False)), words


# ---------------------------------------------------------------------- parameters

NO_NUMBERS = [np.nan, np.inf, "1", True, [1], None]
ONE_OF = {"choices": ["b", "a"]}
SOME = {"optional": True, "words": ["all"]}
SEED = np.random.RandomState(0)
A_DICT = r"(a dict of weights|\[0\] must be a finite number ≥ 0), got"

CHECKS: list[tuple[str, Arguments, list[Any], list[Any], str]] = [
    ("number", {"above": 0}, [1, 1e-300, np.float32(2)], [0, -1.5, *NO_NUMBERS], "r > 0, got"),
    ("number", {"at_least": 0}, [0, 0.0, 3], [-1e-9, *NO_NUMBERS], "a finite number ≥ 0, got"),
    ("number", {"above": 0, "below": 1}, [0.5], [0, 1.0, *NO_NUMBERS], "> 0 and < 1, got"),
    ("number", {"optional": True}, [None, -1], NO_NUMBERS[:-1], "a finite number, got"),
    ("count", SOME, [None, 1, np.int64(9), "all"], [0, -1, 2.5, True, "some"], "≥ 1 or 'all', got"),
    ("choice", ONE_OF, ["a", "b"], ["c", ["a"], 3, None], r"one of \['a', 'b'\], got"),
    ("bool", {}, [True, np.False_], [1, None, "no"], "True or False, got"),
    ("early_stopping", {}, [True, "validation_error"], [3, "", "true", None], "True or False, got"),
    ("jobs", {}, [1, -2], [0, 1.5, True], "whole number ≥ 1, or −1 for all cores"),
    ("verbose", {}, [0, 2, True], [-1, "yes", 1.5], "a whole number ≥ 0, got"),
    ("random_state", {}, [None, 0, SEED], [-1, "a", 1.5], "a whole number from 0 .*, got"),
    ("callbacks", {}, [None, [print], (len,)], [print, [3]], "a list of callables or None, got"),
    ("class_weight", {}, [None, "balanced", {"a": 0.0}], ["even", {0: -1.0}, {0: np.nan}], A_DICT),
]
"""Checks that all estimators share, with values that are good, bad ones, and words."""


@pytest.mark.parametrize(("name", "how", "good", "bad", "words"), CHECKS, ids=range(len(CHECKS)))
def test_checks_of_parameters_take_what_they_say(
    name: str, how: Arguments, good: list[Any], bad: list[Any], words: str
) -> None:
    """What all estimators check by: good values pass, bad ones are shown in the message."""
    check = partial(getattr(parameters, f"check_{name}"), "it", **how)
    for value in good:
        check(value)
    for value in bad:
        shown = re.escape(repr(next(iter(value.values())) if isinstance(value, dict) else value))
        with pytest.raises(ValueError, match=f"{words}.*{shown}"):
            check(value)


@pytest.mark.parametrize(
    ("check", "good", "words"),
    [
        (parameters.check_nu, [1, 0.5], "> 0 and ≤ 1, got"),
        (parameters.check_learning_rate, [1, 1.9], "> 0 and < 2, got"),
    ],
)
def test_shares_and_rates_are_bounded(check: Any, good: list[float], words: str) -> None:
    """Bad ones are shown, those with hundreds of digits by their length."""
    for value in good:
        check(value)
    for value in [0, -1, 2.01, *NO_NUMBERS]:
        with pytest.raises(ValueError, match=f"{words} {re.escape(repr(value))}"):
            check(value)
    with pytest.raises(ValueError, match="got a whole number of 1329 bits"):
        check(10**400)


NEVER: dict[Any, str] = {
    -1: "alpha cache_size condition_cost epsilon l2_regularization margin max_columns rule_cost "
    "tol verbose",
    0: "C columns_per_round delta eta intercept_scaling max_components max_conditions max_depth "
    "max_features max_iter max_regressors max_rules max_total_conditions min_samples_leaf n_Cs "
    "n_alphas n_components n_estimators n_holdouts n_iter_no_change newton_steps nu quantile "
    "search_limit size time_limit tolerance",
    1: "max_bins max_leaf_nodes min_samples_split newton_damping positive refit scale "
    "training_rows",
    2.0: "eps l1_ratio learning_rate min_support subsample validation_fraction",
    3: "early_stopping feed_forward interaction_cst monotonic_cst orthogonalize penalty_weights "
    "smoother solver solver_options",
    "nonsense": "centers class_weight coef corrective criterion deflate dual faithful "
    "fit_intercept form formulation kernel leaf_values leaves loss members method metric "
    "multi_class noncrossing offset penalty pricing priority probability random_state rule "
    "selection standardize start step subgradient target to_the_letter trim variant weights",
}
"""Values that no estimator takes, with the parameters that they are given to."""

BAD_VALUES: Arguments = {name: bad for bad, names in NEVER.items() for name in names.split()} | {
    "Cs": ([1.0, -1.0], "Cs must be a finite number > 0, got -1.0"),
    "alphas": ([0.1, -1.0], "alphas must be a finite number > 0, got -1.0"),
    "positive_class": (
        "nobody",
        "is the class that rules without weights are for: give form='dnf'",
    ),
    "callbacks": ([3], r"callbacks must be a list of callables or None, got \[3\]"),
    "categorical_features": ("group", "categorical_features must be 'from_dtype' or a list"),
    "columns": ("trees", "columns must be 'stumps', 'features'"),
    "constraints": (
        ["parity"],
        "an object of cgboost.constraints or a function|'parity' needs <=, == or >=",
    ),
    "coverage": (1.0, "coverage must be a finite number > 0 and < 1, got 1.0"),
    "cv": (1, "cv must be a finite number ≥ 2, got 1|n_splits=1"),
    "drop": (["six"], "X has no feature names, 'six' is therefore unknown"),
    "estimator": ("stump", "estimator must be .*got 'stump'"),
    "executor": (3, "executor must be None, an Executor .*; got 3"),
    "library": (3, "library must be a KernelLibrary, a mapping .* got 3"),
    "n_jobs": (0, "n_jobs must be a whole number ≥ 1.*got 0|n_jobs == 0"),
    "quantiles": ([0.5, 0.1], "quantiles must be increasing.*got 0.1 after 0.5"),
    "scoring": (3, "scoring must be the name of a scorer, .* got 3"),
}
"""A bad value of every parameter; with words where the message is not "NAME … got VALUE"."""

UNUSED = {("L2BoostRegressor", "cv"): "folds are for criterion='cv' alone"}


@law([*ONE_EACH, THINNED])
def test_bad_parameters_are_named(case: EstimatorCase) -> None:
    """Each parameter is checked: the error has its name and its value, and nothing is fitted."""
    X, y = case.data(40)
    for name in case.make().get_params(deep=False):
        if (case.kind().__name__, name) in UNUSED:
            continue
        bad = BAD_VALUES[name]
        value, words = bad if isinstance(bad, tuple) else (bad, "")
        words = words or rf"(?s){name}.*[gG]ot {re.escape(repr(value))}"
        assert_refused(case.make(**{name: value}), words, {"X": X, "y": y})


NUMBERS: Arguments = {"X": X, "y": T}
LABELS: Arguments = {"X": X, "y": Y}
ON_PEOPLE: Arguments = {"X": PEOPLE, "y": Y}
ON_FRAME: Arguments = {"X": FRAME, "y": Y}
MATRICES = {"linear": K, "rbf": RBF(0.5)(X, X)}
ROW_NUMBERS = np.arange(40)[:, None]


def kernels(kind: Any = CGBoostClassifier, **library: Any) -> Any:
    """A kernel model over these kernels."""
    return kind(KernelLibrary(library), penalty="l1")


def fair(*constraints: Any, **own: Any) -> Any:
    """A constrained classifier of people."""
    return ConstrainedBoostClassifier(list(constraints), **{"drop": ["sex"]} | own)


def same(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """1 for equal words."""
    return (A[:, None] == B).astype(float)


def negative(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """No kernel: all its values have the wrong sign."""
    return -(A @ B.T)


def sigmoid(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """No kernel either, though most of its values look like one."""
    return np.tanh(0.1 * A @ B.T - 1.0)


def raising(A: Any, B: Any) -> Any:
    """A kernel with a mistake in it."""
    raise ZeroDivisionError("a mistake in my kernel")


POSITIVE = SparseLinearRegressor(alpha=0.1, positive=True)
MIXED = mixed(0, 60)
CST: list[tuple[Arguments, str]] = [
    ({"interaction_cst": "triples"}, "interaction_cst must be .* got 'triples'"),
    ({"interaction_cst": 3}, "interaction_cst must be .* a list of sets .* got 3"),
    ({"interaction_cst": ["x"]}, r"interaction_cst must be .* got \['x'\]"),
    ({"interaction_cst": [("x", "colour")]}, "names the feature 'colour'.*'group'"),
    ({"interaction_cst": [(0, 6)]}, "names the feature 6; numbers go from 0 to 5"),
    ({"interaction_cst": [(0, True)]}, "names the feature True"),
    ({"monotonic_cst": [1, 0]}, r"a value for each of the 6 features.* got \[1, 0\]"),
    ({"monotonic_cst": 1}, "a value for each of the 6 features.* got 1"),
    ({"monotonic_cst": {"colour": 1}}, "monotonic_cst names the feature 'colour'"),
    ({"monotonic_cst": {"x": 2}}, "values of -1, 0 and 1, got 2 for feature 'x'"),
    ({"monotonic_cst": {"x": "up"}}, "values of -1, 0 and 1, got 'up' for feature 'x'"),
    (
        {"monotonic_cst": {"group": 1}},
        "feature 'group' has categories, which have no order",
    ),
    (
        {"monotonic_cst": {"x": 1}, "variant": "initial"},
        "monotonic_cst does not work .*'initial'",
    ),
    (
        {"interaction_cst": "pairwise", "variant": "orthogonal"},
        "interaction_cst does not work",
    ),
]
THREE = dict(zip("Xy", three_classes(), strict=True))
AT_ODDS: list[tuple[Any, ...]] = [
    # words and objects in place of others
    (CGBoostClassifier(library="rfb"), "library='rfb' is none of the words .*mean 'rbf'"),
    (CGBoostClassifier(library=RBF), "library must be a KernelLibrary.* got <class"),
    (CGBoostClassifier(library={"rbf": 3}), r"kernel 'rbf' must be a Kernel .* got 3"),
    (CGBoostClassifier(penalty=ElasticNet), r"got <class .*>: write ElasticNet\(\)"),
    (CGBoostClassifier(penalty=Entropy(8.0)), "chooses its margin.* set nu="),
    (CGBoostClassifier(loss=LogLoss), r"got <class .*>: write LogLoss\(\)"),
    (CGBoostClassifier(loss="huber"), "loss must be one of .*, or a Loss, got 'huber'"),
    (CGBoostClassifier(columns_per_round="some"), "columns_per_round .* or 'all', got"),
    (CGBoostRegressor(loss=Hinge()), "Hinge is for labels ±1: use a classifier"),
    (AnyBoostRegressor(loss=Hinge), "Hinge is for labels ±1"),
    (BLFRegressor(loss=Hinge()), "Hinge is for labels ±1: use a"),
    (AnyBoostRegressor(loss=Multinomial(3)), "has 3 outputs a row, which only"),
    (BLFRegressor(loss=lambda y, w: None), "must return a DifferentiableLoss, got None"),
    (LPBoostClassifier(DecisionTreeClassifier), "estimator must be a scikit-learn"),
    (LPBoostClassifier(KMeans()), "estimator must be .*got KMeans"),
    (LPBoostClassifier(TREE, max_depth=3), "depth of our own trees, for .*DecisionTree"),
    (LPBoostClassifier(StandardScaler()), "estimator must be .*got StandardScaler"),
    (LPBoostClassifier(KNeighborsClassifier()), "sample_weight in its fit,"),
    (BLFRegressor("all"), "n_components must be a whole number ≥ 1 or 'cv', got 'all'"),
    (SparseLinearRegressor(columns_per_round="all"), "columns_per_round .* got 'all'"),
    (SparseLinearRegressor(penalty="l2"), "penalty must be one of .* got 'l2'"),
    (L1LinearSVC(penalty="l2"), r"penalty must be one of \['l1'\], got 'l2'"),
    (L1LinearSVR(loss="hinge"), "loss must be one of .* got 'hinge'"),
    # solvers
    (CGBoostClassifier(solver="cplex"), "'cplex'.*highs.*clarabel"),
    (CGBoostClassifier(solver="HIGHS"), "'HIGHS'; did you mean 'highs'"),
    (CGBoostClassifier(solver="highs", penalty="l2"), "'highs' cannot solve a QP; .*piqp"),
    (LPBoostClassifier(formulation="qp", solver="highs"), "'highs' cannot solve a QP"),
    (BLFRegressor(solver="abacus"), "solver.*'abacus'"),
    (CGBoostClassifier(solver_options={"presolve": "on"}), "presolve.* got solver='auto'"),
    (BLFRegressor(solver_options={"presolve": "on"}), "presolve.* got solver='auto'"),
    (LPBoostClassifier(solver="scipy", solver_options={"no": 1}), "rejects an option: .*n"),
    (QuantileRegressor(solver="simplex"), "solver must be one of .* got 'simplex'"),
    (QuantileRegressor(solver_options={"maxiter": 0}), "maxiter.* must be .* got 0"),
    (QuantileRegressor(solver_options={"time_limit": 0}), r"time_limit'\] must be .* 0"),
    # what does not go together
    (CGBoostClassifier(nu=0.3, C=50.0), "nu=0.3 takes the place of C, so C=50 has no"),
    (LPBoostClassifier(nu=0.3, C=50.0), "nu=0.3 takes the place of C, so C=50 has no"),
    (CGBoostClassifier(loss="log_loss", nu=0.2), "nu=0.2 belongs to loss='hinge'"),
    (CGBoostClassifier(nu=0.5), {"y": np.arange(40) < 4}, "smaller class, 0\\.2"),
    (LPBoostClassifier(formulation="erlp"), "formulation='erlp' needs nu, got nu=None"),
    (LPBoostClassifier(formulation="qrlp"), "formulation='qrlp' needs nu, got nu=None"),
    (LPBoostClassifier(multi_class="joint", offset="free"), 'needs offset="none", got \'f'),
    (BLFRegressor("cv", early_stopping=True), "both choose the number of factors"),
    (AnyBoostRegressor(loss=Quantile(0.3), step="newton"), 'step="newton" needs hessian'),
    (AnyBoostClassifier(loss="hinge", step="newton"), 'step="newton" needs hessian_diag'),
    (AnyBoostClassifier(step="confidence"), 'exponential loss.*take loss="exponential"'),
    (GradientBoostingClassifier(loss=Exponential()), THREE, "is for two clas"),
    (SparseLinearRegressor(l1_ratio=0.0, penalty="elasticnet"), "l1_ratio .* got 0.0"),
    (clone(POSITIVE).set_params(alpha=0), "positive=True needs alpha above 0, got 0: "),
    (clone(POSITIVE).set_params(penalty_weights=[1.0, 1.0, 0.0]), "got 0 for feature 2"),
    *[
        (SparseLinearRegressor(penalty_weights=value), f"penalty_weights must .*{words}")
        for value, words in (
            ([1.0] * 5, "have one entry .* 3 features, got 5"),
            ([1.0, -2.0, 1.0], "got -2 for feature 1"),
            ([1.0, 1.0, np.nan], "got nan for feature 2"),
            ("ones", "got 'ones'"),
            ([[1.0] * 3], r"got \[\["),
            (np.ones(3) * 1j, "be one number for each feature"),
        )
    ],
    *[
        (MultiQuantileRegressor(**own), words)
        for own, words in (
            ({"quantiles": [0.5, 0.5]}, "quantiles must be increasing.*got 0.5 after 0.5"),
            ({"quantiles": [0.0, 0.5]}, "quantiles must be between 0 and 1, got 0.0"),
            ({"quantiles": [0.5, np.nan]}, "quantiles must be between 0 and 1, got nan"),
            ({"quantiles": ["0.5"]}, "quantiles must be between 0 and 1, got '0.5'"),
            ({"quantiles": []}, "quantiles must be a sequence of numbers"),
            ({"quantiles": 0.5}, "quantiles must be a sequence of numbers, got 0.5"),
            ({"noncrossing": "rows", "alpha": 0.0}, "needs alpha above 0, got 0.0"),
            ({"noncrossing": "rows", "penalty_weights": np.arange(3.0)}, "got 0 for feature 0"),
            ({"noncrossing": "hull"}, "noncrossing must be True, False or one of .*, got 'hull'"),
            ({"noncrossing": "box", "solver": "highs"}, "needs solver='auto', got 'highs'"),
            ({"noncrossing": "box", "max_columns": 2}, "max_columns of at least 3, .* got 2"),
            ({"noncrossing": True, "fit_intercept": False}, "needs fit_intercept=True, got False"),
            ({"noncrossing": True, "penalty": "elasticnet"}, "needs penalty='l1', got 'elasticnet"),
        )
    ],
    (SparseLinearRegressorCV(quantile=2.0), "quantile must be .* got 2.0"),
    (SparseLinearRegressorCV(scoring=["r2", "neg_max_error"]), "scoring must be one scor"),
    (SparseLinearRegressorCV(scoring="r3"), "scoring='r3' is no scorer"),
    (SparseLinearClassifierCV(Cs=[0.1, 1.0], cv=2, scoring="neg_log_loss"), "asks for wha"),
    # scores, held-out rows and probabilities
    (CGBoostClassifier(scoring="no_such"), "scoring='no_such' is no scorer"),
    (CGBoostClassifier(scoring=SVC), "scoring must be the name of a scorer"),
    (CGBoostClassifier(scoring=[len, len]), "scoring has two scorers of the name 'len'"),
    (CGBoostClassifier(scoring={"": len}), "scoring must have names that are words, got '"),
    (CGBoostClassifier(early_stopping=True), {"X": X[:3], "y": Y[:3]}, "of 3 rows .*eval_set"),
    (kernels(k=Precomputed()).set_params(early_stopping=True), {"X": K}, "give an eval_se"),
    (BLFRegressor(2, kernel=Precomputed(), early_stopping=True), {"X": K}, "hold out rows"),
    (CGBoostOutlierDetector(early_stopping=True), {"X": X}, "needs an eval_set with outliers"),
    (CGBoostOutlierDetector(), {"X": X, "eval_set": (X, np.arange(40))}, "must be 1 or −1"),
    (TransformRegressor(early_stopping="validation_r2"), "early_stopping must be True or"),
    (SparseLinearClassifier(probability=True), {"X": [(X, Y)]}, "probability=True cannot hold out"),
    # weights of classes
    (CGBoostClassifier(class_weight={0: -1.0}), r"class_weight\[0\] must be .* got -1.0"),
    (CGBoostClassifier(class_weight={"no": 1.0}), "has 'no', but the labels of y are 0, 1"),
    (CGBoostClassifier(class_weight={0: 0, 1: 0}), "must not be 0 for every row together"),
    (LPBoostClassifier(class_weight={0: 2.0, 7: 1.0}), "class_weight has 7, but the"),
    # kernels
    (kernels(a=lambda A, B: np.ones(len(A))), "kernel 'a' returned shape"),
    (kernels(a=lambda A, B: np.ones((len(A), len(B) + 1))), "kernel 'a' returned shape"),
    (kernels(a=lambda A, B: A @ B.T * np.nan), "kernel 'a' returned nan"),
    (kernels(a=lambda A, B: A @ B.T + np.inf), "kernel 'a' returned inf"),
    (kernels(b=Linear(), a=raising), "'a' failed on two sets .*: ZeroDivisionError: a"),
    (kernels(a=lambda x, z: float(np.dot(x, z))), r"'a' failed .*\(\d+, 3\) and"),
    (BLFRegressor(2, kernel=negative), "is not positive semi-definite: rKr = -"),
    (BLFRegressor(2, kernel=Precomputed()), {"X": K + np.triu(K)}, "is not symmetric"),
    (BLFRegressor(2, kernel=KernelLibrary({"a": Linear(), "b": RBF()})), "library of 2"),
    # what kernels read
    (kernels(k=Precomputed("rfb")), {"X": MATRICES}, "X has no matrix 'rfb'"),
    (kernels(k=Precomputed("a")), {"X": {"a": K[:, :9]}}, r"X\['a'\] must be square in"),
    (kernels(k=Precomputed("a")), {"X": {"a": K, "b": K[:5]}}, "numbers of rows: {'a'"),
    (kernels(k=Precomputed("a")), {"X": {"a": K * np.nan}}, r"X\['a'\]: Input .* NaN"),
    (kernels(k=Precomputed("linear"), rbf=RBF()), {"X": MATRICES}, "given kernel values"),
    (kernels(k=Precomputed("linear", K), rbf=RBF()), {"X": ROW_NUMBERS}, "row numbers for"),
    (kernels(k=Precomputed("linear", K)), {"X": np.hstack([ROW_NUMBERS, X])}, "4 columns:"),
    (kernels(k=RBF(), t=(same, "sex")), ON_PEOPLE, "kernel 'k' takes numbers"),
    (kernels(k=RBF()), {"X": pl.from_pandas(PEOPLE)}, "column 'sex' of X has words, such"),
    (
        kernels(k=RBF()),
        {"X": FRAME.assign(day=pd.Series(DAYS)).to_numpy(dtype=object)},
        "column 3 of X has dates or times, such as Timestamp",
    ),
    (
        kernels(k=(RBF(), "day")),
        {"X": PEOPLE.assign(day=pd.Series(DAYS))},
        "kernel 'k' takes numbers, but column 'day' of X has dates or times, such as Timestamp"
        ".*days since a first day",
    ),
    (
        kernels(k=(RBF(), "age"), t=(same, "sex")),
        {"X": PEOPLE.assign(age=[None, *range(1, 40)])},
        "column 'age' must hold finite numbers, 1",
    ),
    (kernels(k=Spectrum()), {"X": list(range(40))}, "Expected 2D array, got 1D"),
    (kernels(k=Spectrum()), {"X": ["ab"] * 40, "y": None}, "requires y to be passed"),
    # constraints
    (fair(Monotone("incom", 1)), ON_PEOPLE, "did you mean 'income'"),
    (fair(Monotone(7, 1)), ON_PEOPLE, "there is no feature 7"),
    (fair(Monotone("age", 0)), ON_PEOPLE, "direction must be 1"),
    (fair(Monotone(0, 1), drop=[0]), ON_FRAME, "column 0 of X is dropped"),
    (fair(ParityGap("sxe", 0.1)), ON_PEOPLE, "did you mean 'sex'.*groups="),
    (fair(ParityGap("sex", -0.1)), ON_PEOPLE, "at least 0, got -0.1"),
    (fair(ParityGap("sex", float("nan"))), ON_PEOPLE, "at least 0, got nan"),
    (fair(ParityGap("sex", 0.1, of="rates")), ON_PEOPLE, "'score' or 'rate'"),
    (fair(GroupBudget([], 1.0)), ON_PEOPLE, "features must be a list"),
    (fair(AlsoLoss("hinges")), ON_PEOPLE, "AlsoLoss: loss must be one of"),
    (fair(Monotone), ON_PEOPLE, "give an object"),
    (fair(lambda f: []), ON_PEOPLE, r"function\(f, a, b, data"),
    (fair(lambda f, a, b, data: 3), ON_PEOPLE, "must return a list of CVXPY constraints"),
    (fair(lambda f, a, b, data: [f[0] ** 2 >= 1]), ON_PEOPLE, "is not convex"),
    (fair(lambda f, a, b, data: [f[data.groups["g"].codes == 1] <= 0.5]), ON_PEOPLE, "no groups"),
    (fair(Convex("age"), Concave("age")), ON_PEOPLE, "a straight line alone"),
    (fair(Monotone("age"), columns=RBF(1.0)), ON_PEOPLE, "cannot obey Monotone and Sign"),
    (fair(Convex("age"), columns=TREE), ON_PEOPLE, "cannot obey Convex"),
    (fair(drop=["six"]), ON_PEOPLE, "there is no feature 'six'; did you mean 'sex'"),
    (fair(offset="penalized"), ON_PEOPLE, "offset must be one of"),
    (fair(ParityGap("sex", 0.1), drop=None), ON_PEOPLE, "which cannot be a feature"),
    (fair(ParityGap("sex", 0.1)), {"X": PEOPLE.assign(sex="m")}, "are in one group"),
    (
        fair(ParityGap("sex", 0.1)),
        {"X": PEOPLE.assign(sex=PEOPLE["sex"].where(PEOPLE.index > 2))},
        "3 rows have no group",
    ),
    (fair(ParityGap("g", 0.1), drop=None), ON_FRAME | {"groups": {"g": [0, 1]}}, "one entry a row"),
    (fair(ParityGap("g", 0.1), drop=None), ON_FRAME | {"groups": X[:, 0]}, "got a ndarray"),
    (fair(EqualOpportunity("sex", 0.1)), {"X": PEOPLE, "y": PEOPLE["sex"] == "m"}, "no such"),
    (fair(ParityGap("sex", 0.1)), {"X": PEOPLE, "y": np.arange(40) % 3}, "two classes, got 3"),
    *[
        (ConstrainedBoostRegressor([rule], drop=["sex"]), ON_PEOPLE, "a regression has")
        for rule in (EqualOpportunity("sex", 0.1), ParityGap("sex", 0.1, of="rate"))
    ],
    (
        ConstrainedBoostRegressor(
            [Monotone("age", 1), Sign("age", -1)], columns=DecisionTreeRegressor(), drop=["sex"]
        ),
        ON_PEOPLE,
        "in both directions",
    ),
    # boosting
    (AdaBoostClassifier(DecisionTreeRegressor()), "must be a classifier, got Dec"),
    (AdaBoostClassifier(KNeighborsClassifier()), "must take sample_weight in its"),
    (AnyBoostClassifier(loss="huber"), "loss must be one of .* got 'huber'"),
    (AnyBoostClassifier(loss=lambda *_: 1.0), "must return a DifferentiableLoss, got"),
    (AnyBoostClassifier(KNeighborsRegressor(), step="newton"), "KNeighborsRegressor must t"),
    (AnyBoostRegressor(loss="log_loss"), "loss must be one of .* got 'log_loss'"),
    (AnyBoostRegressor(loss=lambda *_: 1.0), "must return a DifferentiableLoss, got"),
    (AnyBoostRegressor(step=-1.0), "step must be a finite number > 0, got -1.0"),
    (AnyBoostRegressor(loss="absolute_error", step="newton"), "needs hessian_diag"),
    (
        AnyBoostRegressor(KNeighborsRegressor()),
        {"sample_weight": np.linspace(1, 2, 40)},
        "or must take sample_weight",
    ),
    *[
        (kind(**own), words)
        for kind in (GradientBoostingClassifier, GradientBoostingRegressor)
        for own, words in (
            ({"subsample": 0}, "subsample must be a finite number > 0, got 0"),
            ({"max_features": "two"}, "max_features must be one of .*, got 'two'"),
            ({"min_samples_leaf": 0.6}, "min_samples_leaf must be a count, or a share ≤ 0.5"),
            ({"loss": "hinge"}, "loss must be one of .*got 'hinge'"),
        )
    ],
    (GradientBoostingRegressor(loss="log_loss"), "loss must be one of .*got 'log_loss'"),
    (
        GradientBoostingRegressor(),
        {"X": np.vstack([X[1:], [1e300, 0.0, 0.0]])},
        r"X must fit into float32, .* got 1e\+300",
    ),
    (L2BoostRegressor(criterion="aicc", early_stopping=True), "'aicc' and early.* both"),
    (L2BoostRegressor(), {"X": X * 0 + 1}, "that varies, but each of 3 is constant"),
    (
        L2BoostRegressor(fit_intercept=False),
        {"X": X * 0},
        "that varies, but each of 3 is 0 throughout",
    ),
    (L2BoostRegressor(criterion="hdbic"), {"X": X[:, :1]}, "at least 2 features, got"),
    (L2BoostRegressor(criterion="aicc"), {"X": X[:2], "y": T[:2]}, "'aicc' needs at least 3 rows"),
    (L2BoostRegressor(), {"X": X * [1, 1e200, 1]}, "too large to be squared in feature 1"),
    (OrthogonalGreedyRegressor(criterion="aicc"), "one of .*'hdic'.*, got 'aicc'"),
    (OrthogonalGreedyRegressor(early_stopping=True), "'hdbic' and early_stopping=True bot"),
    (OrthogonalGreedyRegressor(), {"X": X[:2], "y": T[:2]}, "3 rows, got n_samples=2"),
    (
        OrthogonalGreedyRegressor(),
        {"sample_weight": ONES / 40},
        "n_samples=1 .the sum of sample_weight.",
    ),
    (LogitBoostClassifier(BaseEstimator), "estimator must be 'linear'"),
    (LogitBoostClassifier(KNeighborsRegressor()), "takes sample_weight, got KNei"),
    (StagewiseRegressor(TREE), "estimator must be a regressor, got Decision"),
    (StagewiseRegressor(LinearRegression), "must be a scikit-learn classifier or"),
    (StagewiseRegressor(learning_rate=0.5, orthogonalize=True), "must be 1.0 with orth"),
    # rules
    (RuleSetClassifier(condition_cost=0, rule_cost=0), "must not both be 0"),
    (RuleSetClassifier(loss="squared_error"), "loss must be one of .*got 'squared_error'"),
    (RuleSetClassifier(max_total_conditions=None, selection="errors"), "'errors' needs a budg"),
    (
        RuleSetClassifier(),
        {"X": np.array([["a"], ["b"]], dtype=object), "y": [0, 1]},
        "words .*pandas.Data",
    ),
    (RuleSetClassifier(), {"X": [["1", "x"], ["2", "y"]], "y": [0, 1]}, "'x' in column 1"),
    (RuleSetClassifier(), {"X": [(X[:1], [1]), (X[:1], [0])]}, "searches all rows at once"),
    # latent factors
    (BLFClassifier(l2_regularization=1.0, to_the_letter=True), "set l2_regularization to 0, "),
    (BLFClassifier(loss="multinomial", to_the_letter=True), "multinomial"),
    (BLFRegressor(refit=False), {"X": X, "y": X[:, :2]}, "refit must be True, got False"),
    (BLFClassifier(loss="multinomial", refit=False), THREE, "refit must be True, got False"),
    # kernels of functions
    (CGBoostClassifier({"rbf": RBF(0.03)}, penalty="rkhs", coef="nonneg"), "norm of functions"),
    (CGBoostClassifier({"rbf": RBF(0.03)}, penalty=RKHS({"linear": 1.0})), "name kernel 'linear'"),
    (CGBoostClassifier({"tanh": sigmoid}, penalty="rkhs"), "'tanh' is not positive semi-definite"),
    (CGBoostClassifier(penalty="l1", centers="free"), "goes with penalty='rkhs' alone"),
    *[
        (CGBoostClassifier(library, penalty="rkhs", centers="free"), {"X": rows}, words)
        for library, rows, words in (
            (Laplacian(0.1), X, "no gradient by its centre"),
            (lambda A, B: A @ B.T, X, "no gradient by its centre"),
            (Precomputed(), K, "no gradient by its centre"),
            (RBF(0.1), sparse.csr_matrix(X), "X is sparse"),
        )
    ],
    # blocks of rows
    (LinearTreeBoostingRegressor(interaction_cst=[[0, 9]]), "names the feature 9;"),
    (LinearTreeBoostingRegressor(loss="log_loss"), "use a classifier"),
    (TransformRegressor(loss="hinge"), "use a classifier"),
    (TransformRegressor(n_holdouts=2, early_stopping=False), "=2 needs early_stopping=True"),
    (TransformRegressor(loss=lambda target, weights: None), "or a Loss"),
    (TransformRegressor(loss="quantile", variant="orthogonal"), "no second derivative"),
    (TransformRegressor(learning_rate=0.5, variant="orthogonal"), "learning_rate must be 1"),
    *[(TransformRegressor(**own), {"X": MIXED[0], "y": MIXED[1]}, words) for own, words in CST],
    (TransformRegressor(monotonic_cst={"a": 1}), "'a'; numbers go from 0 to 2, and the features h"),
    (TransformClassifier(monotonic_cst=[1, 0]), THREE, "and two classes.* y has 3 classes"),
    (AdditiveRegressor(smoother=LINE), ON_PEOPLE, r"\['sex'\] are categories.*smoother=None"),
    (
        AdditiveRegressor(smoother=LINE),
        {"X": FRAME.mask(FRAME > 1.0)},
        "feature 'income' has .* missing values.*smoother=None",
    ),
    # thinning
    (ThinnedEnsemble(FOREST, size=11), "size must be a whole number from 1 to 10.*got 11"),
    (ThinnedEnsemble(FOREST, size=1.5), "or a share of them in"),
    (ThinnedEnsemble(FOREST, size=True), "size must be"),
    (ThinnedEnsemble(FOREST, solver="highs", solver_options={"x": 1}), "the option x = 1"),
    (ThinnedEnsemble(FOREST, C=1e-12), "no member is worth .* at C=1e-12.*take C above"),
    # responses
    (
        BLFClassifier("cv", cv=KFold(2)),
        {"y": np.sort(Y)},
        "cv=KFold.* leaves a single class .*Strat",
    ),
    (BLFClassifier("cv"), {"X": X, "y": np.arange(40) == 1}, "needs 2 rows, of each class"),
    (BLFRegressor(2), {"X": X, "y": with_value(X[:, :2], np.nan)}, "response 1 has no value in 1"),
    (
        BLFRegressor(2),
        {"X": X, "y": pd.DataFrame(with_value(X[:, :2], np.nan), columns=["fat", "protein"])},
        "response 'protein' has no val",
    ),
    (AnyBoostRegressor(loss="poisson"), "must not be negative for the"),
    (LPBoostRegressor(loss="poisson"), "must not be negative for the"),
]


@pytest.mark.parametrize("row", AT_ODDS, ids=range(len(AT_ODDS)))
def test_what_does_not_go_together_is_refused(row: tuple[Any, ...]) -> None:
    """Parameters, and data for them: the error says which, and nothing is fitted."""
    model, *own, words = row
    data = {"X": X, "y": Y if is_classifier(model) else T}
    assert_refused(model, words, data | own[0] if own else data)


# ---------------------------------------------------------------------- rows, targets and weights


def bad_data(case: EstimatorCase) -> dict[str, tuple[Arguments, str]]:
    """Arguments of fit that the estimator refuses, with words of the message."""
    X, y = case.data(40)
    days = np.broadcast_to(DAYS[:, None], X.shape)
    frame = pd.DataFrame(X).rename(columns=str)
    far, gaps = frame.copy(), frame.copy()
    far.iloc[5], gaps.iloc[:3] = -np.inf, np.nan
    none = np.array([*y[:5], None, *y[6:]], dtype=object)
    names = ["a", "a", *frame.columns[2:]]
    text = r"(has|with) words(, such as| \('a')"
    rows: dict[str, tuple[Arguments, str]] = {
        "X inf": ({"X": with_value(X, np.inf)}, r"X contains infinity .*: column \d has inf in ro"),
        "X -inf": ({"X": far}, "(column|feature) '0'.* has (the value )?-inf"),
        "X complex": ({"X": with_value(X, 1j)}, "column 0 of X has .* of type complex"),
        "X 1d": ({"X": X[:, 0]}, "Expected 2D array, got 1D array"),
        "X 3d": ({"X": X[:, :, None]}, "dim 3"),
        "X scalar": ({"X": 5}, "Expected 2D array, got scalar array"),
        "no rows": ({"X": X[:0], "y": y[:0]}, "0 sample"),
        "no features": ({"X": X[:, :0]}, "0 feature"),
        "no columns": ({"X": frame[[]]}, r"rows and columns, got a data frame of shape \(40, 0\)"),
        "X masked": ({"X": np.ma.masked_array(X, mask=X > 1.0)}, r"X has \d+ masked values of"),
        "X dates": ({"X": days}, "of X has dates or times|X has dates or times"),
        "X words": ({"X": np.full(X.shape, "a")}, text),
        "X twice": ({"X": frame.set_axis(names, axis=1)}, "X has 2 columns called 'a': give every"),
        "X lazy": ({"X": pl.DataFrame({"a": y}).lazy()}, r"LazyFrame: give X\.collect\(\)"),
        "w nan": ({"sample_weight": with_value(ONES, np.nan)}, "sample_weight contains NaN"),
        "w inf": ({"sample_weight": with_value(ONES, np.inf)}, "sample_weight contains infinity"),
        "w < 0": ({"sample_weight": with_value(ONES, -2.0)}, "weight must not be negative, got -2"),
        "w 0": ({"sample_weight": NOBODY}, "(?i)sample.weights? must .*(non-zero|not be 0)"),
        "w short": ({"sample_weight": ONES[:7]}, r"weight.shape == \(7,\), expected \(40,\)"),
        "w masked": ({"sample_weight": np.ma.masked_array(ONES, mask=MASK)}, "sample_weight has 3"),
        "w dates": ({"sample_weight": DAYS}, "sample_weight must be numbers, got dates or times"),
        "w words": ({"sample_weight": ["a"] * 40}, "could not convert string to float"),
        "w complex": ({"sample_weight": ONES * 1j}, "supported: sample_weight must .* has .*1j"),
        "w tiny": ({"sample_weight": 1e-300 * ONES}, "largest sample_weight must be from 1e-100 t"),
        "w huge": ({"sample_weight": 1e300 * ONES}, "largest sample_weight must be from 1e-100 to"),
    }
    if not case.make().__sklearn_tags__().input_tags.allow_nan:
        rows |= {
            "X nan": ({"X": with_value(X, np.nan)}, r"X contains NaN: column \d has no value in 1"),
            "X none": ({"X": np.full(X.shape, None)}, "X contains NaN: .* no value in 40 of 40 ro"),
            "X gaps": ({"X": gaps}, "'0' has no value in 3 .*: .*rule sets"),
            "X day": ({"X": frame.assign(day=days[:, 0])}, "column 'day'.* has dates or times"),
            "X town": ({"X": frame.assign(town="west")}, "column 'town' of X has words, such as '"),
        }
    if case.kind() is CGBoostOutlierDetector:
        return rows
    rows |= {
        "lengths": ({"X": X[:-1]}, r"inconsistent numbers of samples: \[39, 40\]"),
        "no y": ({"y": None}, "requires y to be passed, but the target y is None"),
        "y nan": ({"y": with_value(y, np.nan)}, "y contains NaN"),
        "y inf": ({"y": with_value(y, np.inf)}, "y contains infinity"),
        "y masked": ({"y": np.ma.masked_array(y, mask=MASK)}, "y has 3 masked values of 40"),
        "y none": ({"y": none}, "no value in 1 of 40 rows .5., row 5 has None"),
    }
    if case.kind() is not BLFRegressor:
        words = (
            r"y should be a 1d array, got an array of shape \(40, 2\) instead.* has one response"
        )
        rows["y two"] = {"y": np.column_stack([y, y])}, words
    if is_classifier(case.make()):
        one = "must have at least two classes, got only one class: "
        alone = (y == y[0]).astype(float)
        rows |= {
            "y one": ({"y": np.ones(40)}, f"y {one}1.0"),
            "y word": ({"y": np.array(["a"] * 40)}, f"y {one}'a'"),
            "y real": ({"y": np.linspace(0, 1, 40)}, "Unknown label type: continuous"),
            "w one": ({"sample_weight": alone}, f"{one}.*; rows of weight 0 do not count"),
        }
    else:
        words = "y must be numbers, but has words, such as b?'low'"
        rows |= {
            "y dates": ({"y": DAYS}, "y must be numbers, got dates or times"),
            "y complex": ({"y": with_value(y, 1j)}, "Complex data not supported: y must"),
            **{
                f"y {kind}": ({"y": np.array(["low", "high"] * 20, dtype=kind)}, words)
                for kind in ("U4", "S4", "O")
            },
        }
    return rows


OF_FORESTS = {"X -inf", "X day", "X words", "y one", "y word", "w one"}
"""What ThinnedEnsemble leaves to the forest that it fits, whose words are others."""


@law([*ONE_EACH, THINNED])
def test_bad_data_are_refused(case: EstimatorCase) -> None:
    """The error names X, y or the weights and where they are wrong; nothing is fitted."""
    X, y = case.data(40)
    left_out = OF_FORESTS if case is THINNED else set()
    for name, (own, words) in bad_data(case).items():
        if name not in left_out:
            assert_refused(case.make(), words, {"X": X, "y": y} | own)
    with pytest.raises(NotFittedError):
        case.make().predict(X)


@law(ONE_EACH, lambda case: "class_weight" in inspect.signature(case.kind()).parameters)
def test_classes_without_weight_do_not_count(case: EstimatorCase) -> None:
    """With a weight of 0 for all classes but one it is an error, as with one class."""
    X, y = case.data(40)
    weights = {label: float(label == y[0]) for label in np.unique(y)}
    words = "only one class: .*; rows of weight 0 do not count"
    assert_refused(case.make(class_weight=weights), words, {"X": X, "y": y})


@law(ONE_EACH, lambda case: "eval_set" in inspect.signature(case.kind().fit).parameters)
def test_bad_sets_of_held_out_rows_are_refused(case: EstimatorCase) -> None:
    """The error says eval_set, of which name where there are names, and what is wrong."""
    X, y = case.data(40)
    pair = (
        r"eval_set must be a pair \(X, y\), a list of such pairs, or a dict of them by name, got "
    )
    rows = [
        ((X[:, :1], y), "eval_set: X has 1 features, but .* is expecting"),
        ({"test": (X[:, :1], y)}, "eval_set 'test': X has 1 features, but .* is expecting"),
        ((with_value(X, np.inf), y), "eval_set: .*has.*inf"),
        ((X, with_value(y, np.nan)), "eval_set: .*y contains NaN"),
        ((X, np.ma.masked_array(y, mask=MASK)), "eval_set: y has 3 masked values"),
        ((X, y[:3]), "eval_set: .*inconsistent numbers of samples"),
        ((X,), f"{pair}a tuple of length 1"),
        (X, f"{pair}a ndarray"),
        ([(X, y), X], f"{pair}a ndarray"),
        ([], f"{pair}none"),
        ({"test": (X, None)}, f"{pair}no y"),
        ({1: (X, y)}, "eval_set must have names that are words, got 1"),
    ]
    if is_classifier(case.make()):
        rows.append(((X, y + 5), r"eval_set has labels that y does not have: \[5, 6"))
    for held_out, words in rows:
        assert_refused(case.make(), words, {"X": X, "y": y, "eval_set": held_out})


@law(ONE_EACH, lambda case: not case.name.startswith("Transform"))
def test_rows_elsewhere_are_refused_by_name(case: EstimatorCase) -> None:
    """In partitions or a database, with y or without: the message says what can take them."""
    model, X, y = case.fitted(40)
    with closing(sqlite3.connect(":memory:")) as connection:
        for rows in (Partitions([(X, y)]), SQLSource(connection, "t", target="y")):
            kind, name = type(rows).__name__, case.kind().__name__
            for given in ({"X": rows, "y": y}, {"X": rows}):
                only = f"{name} cannot be fitted to a {kind}, only Transform|.X is a {kind}"
                assert_refused(case.make(), only, given)
            with pytest.raises(ValueError, match=f"must be one table here.* {kind}"):
                model.predict(rows)


@law(ONE_EACH)
def test_bad_new_rows_are_refused(case: EstimatorCase) -> None:
    """Rows to be predicted are checked as those of the fit, and against them."""
    model, X, _ = case.fitted(40)
    name = case.kind().__name__
    refused = [
        (X[:, :1], f"X has 1 features, but {name} is expecting {X.shape[1]} features"),
        (X[0], "Expected 2D array, got 1D array"),
        (X[:0], "0 sample"),
        (X.astype(complex), "column 0 of X has .* of type complex|Complex data not supported"),
        (np.ma.masked_array(X, mask=X > 1.0), "X has .* masked values"),
        (np.broadcast_to(DAYS[:, None], X.shape), "has dates or times"),
        (pl.DataFrame(X).lazy(), r"LazyFrame: give X\.collect\(\)"),
        (with_value(X, np.inf), r"X contains infinity .*: column \d has inf in row"),
    ]
    if not model.__sklearn_tags__().input_tags.allow_nan:
        refused.append((with_value(X, np.nan), "X contains NaN"))
    methods = ["predict", "decision_function", "predict_proba", "staged_predict", "transform"]
    for method in methods:
        for rows, words in refused if method == "predict" else refused[:1]:
            if hasattr(model, method):
                with pytest.raises(ValueError, match=words):
                    list(getattr(model, method)(rows))


VALUES = {
    "huge integer": 10**400,
    "signaling": Decimal("sNaN"),
    "period": pd.Period("2020"),
    "interval": pd.Interval(0, 1),
    "list": [0, 1],
    "complex": 1j,
    "set": {1},
    "object": object(),
}


@pytest.mark.parametrize("estimator", [CGBoostRegressor, LPBoostRegressor, TransformRegressor])
@pytest.mark.parametrize("name", VALUES)
def test_values_that_are_no_numbers_are_named(estimator: Any, name: str) -> None:
    """Columns, responses and weights of them, in fits and predictions: no error of others."""
    value, size = VALUES[name], 8
    column = pd.Series([value] * size, dtype=object)
    odd = pd.DataFrame({"a": column, "b": np.arange(size)})
    good, y = pd.DataFrame({"a": np.arange(size) % 3, "b": np.arange(size)}), np.arange(size) / size
    model = estimator().fit(good, y)
    told = r"column '?[a0]'? of X has .* of type|feature 'a' (has|was)|builtins\.list of something"
    as_categories = ("period", "interval", "object", "signaling")
    if estimator is not TransformRegressor or name not in as_categories:
        with pytest.raises((ValueError, TypeError), match=told):
            estimator().fit(odd, y)
    if estimator is not TransformRegressor or name != "signaling":
        with pytest.raises((ValueError, TypeError), match=told):
            model.predict(odd)
    if name != "list":  # several responses
        with pytest.raises(ValueError, match=r"y must be numbers|contains NaN|Complex data"):
            estimator().fit(good, column)
        with pytest.raises(ValueError, match=r"sample_weight (must be numbers|contains)|NaN"):
            estimator().fit(good, y, sample_weight=column)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_labels_are_counted(missing: Any) -> None:
    """Whatever stands for a missing label among objects: the message says in which rows."""
    y = np.array(["a", "b"] * 20, dtype=object)
    y[[2, 7]] = missing
    for model in (CGBoostClassifier(), LPBoostClassifier()):
        assert_refused(model, r"no value in 2 of 40 rows \(2, 7\)", {"X": X, "y": y})


SEVERAL = pl.DataFrame({"a": T, "c": [{"u": value} for value in T]})
NAN_SPARSE = pd.DataFrame({"a": pd.arrays.SparseArray(T, fill_value=np.nan)})
STORED = sparse.csr_array(X)
ROWS_ONCE = (row for row in X)
WORD_SOURCE = [(FRAME, np.array(["a", "b"] * 20))]
OTHER = FRAME.rename(columns={"age": "years"})

ODD_TABLES: dict[str, tuple[Any, Arguments, str]] = {
    "several values": (TransformRegressor(), {"X": SEVERAL}, "'c' has several values in a row, of"),
    "several, rules": (RuleSetRegressor(), {"X": SEVERAL}, "'c' has several values in a row, of"),
    "sparse nan": (LPBoostRegressor(), {"X": NAN_SPARSE}, "column 'a' of X is sparse"),
    "complex": (TransformRegressor(), {"X": FRAME * 1j}, "feature 'income' has complex numbers:"),
    "sparse inf": (CGBoostRegressor(), {"X": with_value(STORED, np.inf)}, "has inf in row 1: give"),
    "stored nan": (SparseLinearRegressor(), {"X": with_value(STORED, np.nan)}, "X contains NaN"),
    "stored inf": (QuantileRegressor(), {"X": with_value(STORED, np.inf)}, "X contains infinity"),
    "sparse complex": (SparseLinearRegressor(), {"X": STORED * 1j}, "Complex data not supported"),
    "rows once": (
        CGBoostRegressor(),
        {"X": ROWS_ONCE},
        "a row for each item, got .*generator",
    ),
    "bytes": (LPBoostRegressor(), {"X": np.full((40, 2), b"a")}, "column 0 of X has words, such"),
    "numbers as words": (LPBoostRegressor(), {"X": PEOPLE.assign(age="1")}, "column 'sex' of X"),
    "large": (TransformRegressor(), {"X": FRAME * 1e200}, "feature 'income' has the value .*e.200"),
    "large y": (TransformRegressor(), {"y": 1e200 * T}, r"y must be at most 1e\+100 in size"),
    "one row": (TransformRegressor(), {"X": FRAME[:1], "y": T[:1]}, "at least 2 rows are needed,"),
    "unknown": (TransformRegressor(categorical_features=["colour"]), {}, r"categorical_features"),
    "sizes": (SparseLinearRegressor(), {"X": X * 1e200}, "X must .* between 1e-120 .*e.200: take"),
    "small sizes": (SparseLinearClassifier(), LABELS | {"X": X * 1e-200}, "X must .* 1e-120 .*e-"),
    "sparse sizes": (QuantileRegressor(), {"X": sparse.csr_array(X * 1e200)}, "X must .* 1e-120"),
    "sizes of y": (SparseLinearRegressor(), {"y": T * 1e-200}, "y must .* between 1e-120 .*e-200:"),
    # sources of blocks
    "generator": (TransformRegressor(), {"X": iter([(FRAME, T)]), "y": None}, "can be read only"),
    "number": (TransformRegressor(), {"X": 5, "y": None}, "X must be an array, a data frame or a"),
    "empty": (TransformRegressor(), {"X": [], "y": None}, "the source of blocks is empty"),
    "no pairs": (TransformRegressor(), {"X": [FRAME], "y": None}, "block 0 of the source must be"),
    "other columns": (
        TransformRegressor(),
        {"X": [(FRAME, T), (OTHER, T)], "y": None},
        r"new: \['years'\], missing: \['age'\]",
    ),
    "nan": (TransformRegressor(), {"X": [(FRAME, T * np.nan)], "y": None}, "y must be finite"),
    "infinite": (TransformRegressor(), {"X": [(X * np.inf, T)], "y": None}, "a feature of X has"),
    "weights": (TransformRegressor(), {"X": [(FRAME, T, -ONES)], "y": None}, "in the blocks must"),
    "words": (TransformRegressor(), {"X": WORD_SOURCE, "y": None}, "y must be numbers, but has"),
    "weights beside": (
        TransformRegressor(),
        {"X": [(FRAME, T)], "y": None, "sample_weight": ONES},
        "weights of a source belong in",
    ),
    "y beside": (SparseLinearRegressor(), {"X": [(X, T)]}, "y of a source of blocks belongs in"),
    "no blocks": (SparseLinearRegressor(), {"X": [], "y": None}, "X must have rows, or blocks"),
    "widths": (SparseLinearRegressor(), {"X": [(X, T), (X[:, :2], T)], "y": None}, "a block has 2"),
    "sparse blocks": (
        SparseLinearRegressor(),
        {"X": [(sparse.csr_matrix(X), T)], "y": None},
        "got a csr matrix: give the whole sparse matrix",
    ),
    "held out of blocks": (
        SparseLinearRegressor(early_stopping=True),
        {"X": [(X, T)], "y": None},
        "give an ev",
    ),
    "drop-in": (QuantileRegressor(), {"X": [(X, T)], "y": None}, "QuantileRegressor needs all"),
    "drop-in for classes": (L1LinearSVC(), {"X": [(X, Y)], "y": None}, "L1LinearSVC needs all"),
}


@pytest.mark.parametrize("name", ODD_TABLES)
def test_odd_tables_and_sources_are_refused(name: str) -> None:
    """Each error names the column, the block or the size, and what to do; nothing is fitted."""
    model, own, words = ODD_TABLES[name]
    assert_refused(model, words, {"X": FRAME, "y": T} | own)


def test_costs_beyond_float64_are_refused() -> None:
    """C·Σw outside of 1e-100 to 1e300 is an error that has C and the sum of the weights."""
    words = r"from 1e-100 to 1e\+300, got C=1e.* a sum of 40"
    for C in (1e300, 10**305, 1e-302):
        for formulation in ("lp", "qp", "nm"):
            assert_refused(LPBoostClassifier(formulation=formulation, C=C), words, LABELS)
        assert_refused(CGBoostRegressor(C=C), words, NUMBERS)


# ---------------------------------------------------------------------- after the fit


PATHS: list[tuple[Any, Arguments, str]] = [
    (CGBoostClassifier(), {"C_values": []}, "at least one value"),
    (CGBoostClassifier(), {"C_values": [1.0, -1.0]}, "C_values"),
    (CGBoostClassifier(nu=0.5), {"C_values": [1.0]}, r"nu=0\.5 .* give nu_values"),
    (CGBoostClassifier(), {}, "one of the two"),
    (CGBoostClassifier(), {"C_values": [1.0], "nu_values": [0.5]}, "one of the two"),
    (CGBoostClassifier(), {"nu_values": [0.5, 1.5]}, r"nu_values must be .* got 1\.5"),
    (LPBoostClassifier(formulation="nm"), {"nu_values": [0.5]}, r"no use for nu=0\.5"),
    (SparseLinearRegressor(), {"alphas": []}, "alphas must have at least one value"),
    (SparseLinearRegressor(), {"alphas": [0.1, -1.0]}, "alphas must be .* > 0, got -1"),
    (SparseLinearRegressor(), {"alphas": 0.1}, "alphas must be a sequence"),
    (SparseLinearRegressor(), {"n_alphas": 0}, "n_alphas must be a whole number"),
    (SparseLinearRegressor(), {"eps": 1.0}, "eps must be a finite number > 0 and < 1"),
]


@pytest.mark.parametrize(("model", "own", "words"), PATHS, ids=range(len(PATHS)))
def test_what_cannot_be_a_path_is_named(model: Any, own: Arguments, words: str) -> None:
    """Values that are none, of the wrong parameter or of two."""
    with pytest.raises(ValueError, match=words):
        model.path(X, T if is_regressor(model) else Y, **own)


WORDS = ["".join(np.random.default_rng(k).choice(list("acgt"), 12)) for k in range(40)]


class CubedError(AbsoluteError):
    """A loss whose predictions are the cubes of outputs."""

    def inverse_link(self, f: np.ndarray) -> np.ndarray:
        """f³."""
        return f**3


@cache
def fitted(name: str) -> Any:
    """A small fitted model, or one that is not fitted."""
    return {
        "matrices": lambda: kernels(k=Precomputed("linear")).fit(MATRICES, Y),
        "people": lambda: kernels(k=(RBF(), "age"), t=(same, "sex")).fit(PEOPLE, Y),
        "words": lambda: kernels(k=Spectrum()).fit(WORDS, Y),
        "table": lambda: TransformRegressor().fit(FRAME, T),
        "rules": lambda: RuleSetRegressor().fit(pl.DataFrame({"a": T, "c": T}), T),
        "classes": lambda: TransformClassifier().fit(FRAME, np.array([*"abc"])[np.arange(40) % 3]),
        "two": lambda: TransformClassifier().fit(FRAME, T > 0),
        "fair": lambda: fair(ParityGap("sex", 0.1)).fit(PEOPLE, Y),
        "additive": lambda: AdditiveRegressor(smoother=LINE).fit(FRAME, T),
        "factors": lambda: BLFRegressor(2).fit(X, X[:, :2]),
        "path": lambda: CGBoostClassifier().path(X, Y, [1.0]),
        "cubed": lambda: TransformRegressor(loss=CubedError(), n_estimators=1).fit(FRAME, T),
        "nothing": TransformRegressor,
    }[name]()


YEARS = PEOPLE.rename(columns={"age": "years"})
AFTERWARDS: list[tuple[str, Callable[[Any], Any], str]] = [
    ("matrices", lambda m: m.predict({"linear": K}), "have the matrices of the training rows, 'li"),
    ("matrices", lambda m: m.predict(K), "must be a mapping of names to matrices"),
    ("people", lambda m: m.predict(YEARS), "feature names should match"),
    ("words", lambda m: m.predict("acgt"), "must be a list or a column of objects"),
    ("words", lambda m: m.predict(FRAME), "must be a list or a column of objects"),
    ("words", lambda m: m.predict([]), "at least one row"),
    ("table", lambda m: m.predict(FRAME.assign(income="a")), "'income' was numeric and now has"),
    ("table", lambda m: m.predict(FRAME[FRAME.columns[::-1]]), "same order"),
    ("rules", lambda m: m.predict(SEVERAL[:1]), "feature 'c' has several values in a row"),
    ("classes", lambda m: m.to_sql("t", label="z"), r"label must be one of \['a', 'b', 'c'\], got"),
    ("two", lambda m: m.to_sql("t", label=False), r"one of \[True\] .*1 minus this\), got False"),
    ("table", lambda m: m.to_sql("t", label=1), "label is for classifiers: leave it out, got 1"),
    ("cubed", lambda m: m.to_sql("t"), r"loss=CubedError\(\) cannot be written in SQL"),
    ("nothing", lambda m: m.to_sql("t"), "not fitted"),
    ("nothing", lambda m: m.transformation(0, 0), "not fitted"),
    ("nothing", lambda m: m.stage_graph(), "not fitted"),
    ("additive", lambda m: m.predict(with_value(X, np.nan)), "feature 'income' has 1 missing"),
    ("additive", lambda m: m.partial("weight", [1.0]), r"\['income', 'age', 'height'\], got 'weig"),
    ("additive", lambda m: m.partial("age", [[1.0]]), "one dimension"),
    ("factors", lambda m: m.transform(X, scaled=True), "scaled=True"),
    ("fair", lambda m: m.constraint_values(PEOPLE.assign(sex="x"), Y), r"\['x'\] are no groups of"),
    ("fair", lambda m: m.constraint_values(PEOPLE, ["a"] * 40), "y has labels that the training r"),
    ("path", lambda path: path.best, "eval_set"),
]


@pytest.mark.parametrize(("name", "call", "words"), AFTERWARDS, ids=range(len(AFTERWARDS)))
def test_what_a_model_cannot_answer_is_refused(
    name: str, call: Callable[[Any], Any], words: str
) -> None:
    """New rows of another kind, unknown labels and groups: the error says what to give."""
    model = fitted(name)
    with pytest.raises(ValueError, match=words):
        call(model)


HELD: Arguments = LABELS | {"eval_set": {"master": (X, Y), "b": (X, Y)}}
SCORERS: list[tuple[Arguments, str]] = [
    ({"scoring": "neg_log_loss"}, "scoring='neg_log_loss' needs something .*predict_proba"),
    ({"scoring": lambda m, A, b: m.predict(A[:3]).mean()}, "may only predict the X that it is giv"),
    ({"scoring": {"two": lambda m, A, b: [1, 2]}}, r"must return a number, got \[1, 2\]"),
    ({"scoring": {"seconds": lambda m, A, b: 0.0}}, "make a second column 'master_seconds'"),
    ({"scoring": "roc_auc", "early_stopping": "error"}, "early_stopping='error' is no score .*mas"),
]


@pytest.mark.parametrize(("own", "words"), SCORERS, ids=range(len(SCORERS)))
def test_what_cannot_be_scored_is_refused(own: Arguments, words: str) -> None:
    """Scorers that ask for what a round does not have, and names of no score."""
    assert_refused(CGBoostClassifier(**own), words, HELD)


def test_a_failed_refit_keeps_the_old_model() -> None:
    """After a fit that failed late, in a kernel, every attribute is the one from before."""
    X, t = curve()
    for model, y in ((kernels(a=RBF()), t > 0), (BLFRegressor(2, kernel=RBF()), t)):
        model.fit(X, y)
        before, output = dict(vars(model)), model.predict(X)
        broken = lambda A, B: A @ B.T * np.nan  # noqa: E731
        name = "kernel" if hasattr(model, "kernel") else "library"
        good = getattr(model, name)
        model.set_params(**{name: broken if name == "kernel" else KernelLibrary({"a": broken})})
        with pytest.raises(ValueError, match="kernel"):
            model.fit(X[:, :1], y)
        assert vars(model.set_params(**{name: good})) == before
        np.testing.assert_array_equal(model.predict(X), output)
