"""What every booster and every kernel model promises, whatever its loss and learners."""

import contextlib
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cgboost
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
    Linear,
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    LPBoostRegressor,
    Matern,
    MultiQuantileRegressor,
    On,
    OrthogonalGreedyRegressor,
    RationalQuadratic,
    RuleSetClassifier,
    RuleSetRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
    StagewiseRegressor,
    TransformClassifier,
    TransformRegressor,
    linear,
)
from cgboost.constraints import Convex, Monotone
from cgboost.linear import L1LinearSVC, L1LinearSVR, LADRegressor, QuantileRegressor
from tests.estimators.data import (
    at_round,
    classifier,
    curve,
    regressor,
    three_classes,
    two_classes,
)

Data = Callable[[int], tuple[np.ndarray, np.ndarray]]

TREE = DecisionTreeRegressor(max_depth=2)
STUMP = DecisionTreeClassifier(max_depth=1)


def lines(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Three of forty features, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 40))
    return X, X[:, :3].sum(axis=1) + 2.0 * rng.normal(size=n_rows)


LINEAR_TREES = {
    "linear trees": (LinearTreeBoostingClassifier(early_stopping=False), two_classes),
    "linear trees, classes": (LinearTreeBoostingClassifier(early_stopping=False), three_classes),
    "linear trees, numbers": (LinearTreeBoostingRegressor(early_stopping=False), curve),
}
"""Their early stopping is that of models of blocks of rows: tests/estimators/transform."""
MODELS = {
    "any, classes": (AnyBoostClassifier(TREE), three_classes),
    "any, corrective": (AnyBoostClassifier(TREE, corrective=True), two_classes),
    "any, numbers": (AnyBoostRegressor(TREE), curve),
    "ada": (AdaBoostClassifier(), two_classes),
    "ada, classes": (AdaBoostClassifier(), three_classes),
    "ada, trees": (AdaBoostClassifier(STUMP), three_classes),
    "gradient": (GradientBoostingClassifier(learning_rate=0.5), two_classes),
    "gradient, classes": (GradientBoostingClassifier(learning_rate=0.5), three_classes),
    "gradient, numbers": (GradientBoostingRegressor(learning_rate=0.5), curve),
    "L2": (L2BoostRegressor(learning_rate=0.5), lines),
    **LINEAR_TREES,
    "logit": (LogitBoostClassifier(), two_classes),
    "logit, classes": (LogitBoostClassifier(), three_classes),
    "orthogonal greedy": (OrthogonalGreedyRegressor(criterion=None), lines),
    "LP": (LPBoostClassifier(columns_per_round=1), two_classes),
    "LP, classes": (LPBoostClassifier(columns_per_round=1), three_classes),
    "LP, joint": (LPBoostClassifier(multi_class="joint", columns_per_round=1), three_classes),
    "LP, trees": (LPBoostClassifier(TREE, C=1.0, max_columns=20), two_classes),
    "constrained": (
        ConstrainedBoostClassifier([Monotone(0, 1)], columns_per_round=1),
        two_classes,
    ),
    "constrained, numbers": (
        ConstrainedBoostRegressor([Convex(0)], C=1.0, columns_per_round=1),
        curve,
    ),
    "LP, numbers": (LPBoostRegressor(C=1.0, columns_per_round=1), curve),
    **{
        f"stagewise, {orthogonalize}, {feed_forward}": (
            StagewiseRegressor(TREE, orthogonalize=orthogonalize, feed_forward=feed_forward),
            curve,
        )
        for orthogonalize in (False, True)
        for feed_forward in (False, True)
    },
}
KERNELS = {  # with solvers whose answers do not depend on how a run goes on
    name: (make(C=C, columns_per_round=1, penalty=penalty, solver=solver), data)
    for name, make, C, penalty, solver, data in (
        ("kernels", classifier, 10.0, "l1", "highs", two_classes),
        ("kernels, 2-norm", classifier, 10.0, "l2", "piqp", two_classes),
        ("kernels, classes", classifier, 10.0, "l1", "highs", three_classes),
        ("kernels, numbers", regressor, 1e4, "l1", "highs", curve),
    )
}


@pytest.fixture(params=[*MODELS, *KERNELS])
def booster(request: pytest.FixtureRequest) -> tuple[Any, Data]:
    """An estimator with few rounds, and data for it."""
    model, data = (MODELS | KERNELS)[request.param]
    settings = {"n_estimators": 6, "random_state": 0}
    return clone(model).set_params(**{k: settings[k] for k in settings if k in vars(model)}), data


def outputs(model: Any, X: Any) -> np.ndarray:
    """Scores of classes, or numbers."""
    return np.asarray(model.decision_function(X) if is_classifier(model) else model.predict(X))


def test_stages_end_in_the_model_and_copies_predict_the_same(booster: Any) -> None:
    """As many stages as rounds, the last is the model; a copy that was pickled is the same."""
    model, data = booster
    X, y = data(60)
    with pytest.raises(NotFittedError):
        list(model.staged_predict(X))
    model.fit(X, y)
    stages = list(model.staged_decision_function(X))
    offset = hasattr(model, "columns_per_round")  # the round without columns is a stage, too
    assert len(stages) == np.max(model.best_round_) + offset > 1
    np.testing.assert_allclose(stages[-1], outputs(model, X), atol=1e-9)
    np.testing.assert_allclose(list(model.staged_predict(X))[-1], model.predict(X), atol=1e-9)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(outputs(copy, X), outputs(model, X))


def test_rows_of_weight_zero_are_left_out(booster: Any) -> None:
    """They change neither learners, centres, widths nor constants, and the other weights count."""
    model, data = booster
    X, y = data(60)
    weights = np.tile([1.0, 2.0, 0.0, 0.5], 15)
    there = weights > 0
    weighted = outputs(clone(model).fit(X, y, weights), X)
    alone = clone(model).fit(X[there], y[there], weights[there])
    np.testing.assert_allclose(weighted, outputs(alone, X), atol=1e-8)
    assert not np.allclose(weighted, outputs(clone(model).fit(X, y), X))


LIBRARY = KernelLibrary(
    {
        "some": On(RBF(), [0, 1]),
        "sum": Matern() + 0.5 * RationalQuadratic(),
        "product": Linear() * RBF(),
        "power": RBF() ** 2,
    },
    normalize=True,
    standardize=True,
)
PLAIN = {"early_stopping": False, "n_estimators": 5, "random_state": 0, "tol": 1e-8}
"""Held-out rows are drawn at random, and learners break ties so."""
WEIGHTED = [
    CGBoostClassifier(),
    CGBoostRegressor(LIBRARY),
    CGBoostRegressor("linear", loss="squared_error"),
    CGBoostRegressor("rbf", penalty="rkhs"),
    CGBoostRegressor(LIBRARY, penalty="group"),
    CGBoostOutlierDetector(nu=0.3, penalty="l1"),
    BLFClassifier(kernel=RBF()),
    BLFRegressor(kernel=Matern()),
    AdaBoostClassifier(max_bins=5),
    RuleSetClassifier(max_bins=5),
    RuleSetRegressor(max_bins=5),
    ConstrainedBoostClassifier([Monotone(0, 1)]),
    ConstrainedBoostRegressor([Convex(0)], C=1.0),
    LPBoostClassifier(),
    LPBoostRegressor(),
    SparseLinearClassifier(standardize=True),
    SparseLinearRegressor(standardize=True),
    MultiQuantileRegressor(),
    L1LinearSVC(),
    L1LinearSVR(),
    LADRegressor(),
    QuantileRegressor(alpha=0.01),
    AnyBoostClassifier(TREE),
    AnyBoostRegressor(TREE),
    StagewiseRegressor(TREE),
    GradientBoostingClassifier(),
    GradientBoostingRegressor(),
    LogitBoostClassifier(),
    L2BoostRegressor(),
    OrthogonalGreedyRegressor(),
    TransformClassifier(),
    TransformRegressor(),
    AdditiveRegressor(),
    LinearTreeRegressor(validation_fraction=0.0),
    LinearTreeBoostingClassifier(),
    LinearTreeBoostingRegressor(),
]
FOLDS = {"SparseLinearClassifierCV", "SparseLinearRegressorCV"}
"""Rows are dealt out to folds one by one, whatever their weights."""
MEMBERS = {"ThinnedEnsemble"}
"""Chooses among models that others fit: tests/estimators/thinning."""
SEVERAL_OPTIMA = (
    LPBoostClassifier,
    LPBoostRegressor,
    ConstrainedBoostClassifier,
    ConstrainedBoostRegressor,
    AnyBoostClassifier,
    AnyBoostRegressor,
)


def test_every_estimator_is_weighted() -> None:
    """No public estimator is missing among those whose weights are compared with repetitions."""
    public = {name for face in (cgboost, linear) for name in face.__all__}
    estimators = {
        n for n in public if hasattr(getattr(linear, n, getattr(cgboost, n, 0)), "predict")
    }
    assert {type(model).__name__ for model in WEIGHTED} == estimators - FOLDS - MEMBERS


@pytest.mark.parametrize("model", WEIGHTED, ids=repr)
def test_whole_weights_are_repeated_rows(model: Any) -> None:
    """Rows of weight w count as w rows, those of weight 0 as none, wherever they lie.

    The optimum of a linear program need not be unique, and trees of equal merit are chosen by the
    order of rows: then the objective alone is the same. ½‖α‖² and mixtures with it are left out,
    since a repeated row is a repeated column there, as are free centres, whose starts are random.
    """
    X, y = lines(48)
    X, new = X[:, :3], X[:20, :3]
    y = (y > 0).astype(int) if is_classifier(model) else y
    weights = np.tile([1.0, 2.0, 0.0, 3.0], 12)
    times = np.repeat(np.arange(len(y)), weights.astype(int))
    moved = np.where(weights[:, None] > 0, X, 1e3 * X + 5e3)
    model = clone(model).set_params(**{k: PLAIN[k] for k in PLAIN if k in model.get_params()})
    weighted = clone(model).fit(moved, y, sample_weight=weights)
    repeated = clone(model).fit(X[times], y[times])
    assert getattr(weighted, "objective_", 0.0) == pytest.approx(
        getattr(repeated, "objective_", 0.0), rel=1e-6
    )
    if not isinstance(model, SEVERAL_OPTIMA):
        np.testing.assert_allclose(outputs(weighted, new), outputs(repeated, new), atol=1e-5)


@pytest.mark.parametrize(
    "booster", sorted((MODELS | KERNELS).keys() - LINEAR_TREES.keys()), indirect=True
)
def test_early_stopping_keeps_the_round_with_the_best_score(booster: Any) -> None:
    """Of an eval_set, whose scores are those of the stages, or of rows that are held out."""
    model, data = booster
    X, y = data(120)
    model.set_params(early_stopping=True, n_iter_no_change=3)
    if hasattr(model, "n_estimators"):
        model.set_params(n_estimators=200)
    held_out = clone(model).fit(X, y)
    score = "validation_error" if is_classifier(model) else "validation_mae"
    score = "validation_log_loss" if "validation_log_loss" in held_out.history_ else score
    assert score in held_out.history_
    model.fit(X[:60], y[:60], eval_set=(X[60:], y[60:]))
    table = pd.DataFrame(model.history_)
    runs = [run for _, run in table.groupby("class")] if "class" in table else [table]
    for run, best in zip(runs, np.atleast_1d(model.best_round_), strict=True):
        assert best == np.nanargmin(run[score])
    assert "early_stopping" in np.atleast_1d(model.stop_reason_).tolist()
    if len(runs) == 1:
        stages = list(model.staged_predict(X[60:]))
        losses = [np.mean(s != y[60:] if is_classifier(model) else abs(s - y[60:])) for s in stages]
        name = "validation_error" if is_classifier(model) else "validation_mae"
        kept = table[name][: model.best_round_ + 1][-len(stages) :] if stages else []
        np.testing.assert_allclose(losses, kept, atol=1e-12)
        if name == "validation_mae":
            squares = [np.mean((y[60:] - stage) ** 2) for stage in stages]
            kept = table["validation_mse"][: model.best_round_ + 1][-len(stages) :]
            np.testing.assert_allclose(squares, kept if stages else [], atol=1e-12)
    if score == "validation_log_loss" and len(runs) == 1:
        shares = model.predict_proba(X[60:])[np.arange(60), y[60:]]
        assert table[score].min() == pytest.approx(-np.log(shares).mean())


def interrupt() -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def test_a_fit_cut_short_says_so_and_keeps_the_rounds_before(booster: Any) -> None:
    """By a time limit, by Ctrl-C in the second round, or, without a warning, by a callback."""
    model, data = booster
    X, y = data(60)
    with pytest.warns(ConvergenceWarning, match="stopped before.*time"):
        limited = clone(model).set_params(time_limit=1e-9).fit(X, y)
    assert set(np.atleast_1d(limited.stop_reason_)) == {"time"}
    whole = clone(model).fit(X, y)
    stages = list(whole.staged_decision_function(X))
    one_run = isinstance(whole.best_round_, int)
    for action, best, reason in ((interrupt, 1, "interrupted"), (lambda: True, 2, "callback")):
        stopped = clone(model).set_params(callbacks=[at_round(2, action)])
        with (
            pytest.warns(ConvergenceWarning, match=reason)
            if action is interrupt
            else contextlib.nullcontext()
        ):
            stopped.fit(X, y)
        assert set(np.atleast_1d(stopped.stop_reason_)) == {reason}
        first, *others = np.atleast_1d(stopped.best_round_)
        assert first == best
        assert action is not interrupt or not any(others)  # classes that follow are left empty
        if one_run:
            stage = stages[best - (len(stages) == whole.best_round_)]
            np.testing.assert_allclose(outputs(stopped, X), stage, atol=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames_are_arrays_with_names(booster: Any, frame: Callable[..., Any]) -> None:
    """Names of the columns become feature_names_in_, others are refused; predictions agree."""
    model, data = booster
    X, y = data(60)
    names = [f"x{j}" for j in range(X.shape[1])]
    table = frame(dict(zip(names, X.T, strict=True)))
    fitted = clone(model).fit(table, y)
    assert list(fitted.feature_names_in_) == names
    np.testing.assert_allclose(outputs(fitted, table), outputs(model.fit(X, y), X))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame(dict(zip(reversed(names), X.T, strict=True))))


@pytest.mark.parametrize("booster", MODELS, indirect=True)  # kernel models only nearly so
def test_single_precision_gives_the_model_of_the_same_numbers(booster: Any) -> None:
    """float32 rows, fitted and predicted, are their copies in float64, up to rounding."""
    model, data = booster
    X, y = data(60)
    single = X.astype(np.float32)
    one, other = (clone(model).fit(rows, y) for rows in (single, single.astype(np.float64)))
    np.testing.assert_allclose(outputs(one, single), outputs(other, single), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        partial(AnyBoostClassifier, n_estimators=5),
        partial(AdaBoostClassifier, n_estimators=5),
        partial(GradientBoostingClassifier, n_estimators=5),
        partial(LogitBoostClassifier, n_estimators=5),
        partial(BLFClassifier, 2),
    ],
    ids=lambda make: make.func.__name__,
)
def test_probabilities_are_those_of_half_the_log_odds(make: Callable[[], Any]) -> None:
    """1/(1 + e^{−2f}) of two classes; several add up to 1; the last stage is the model's."""
    X, y = two_classes()
    model = make().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(2 * model.decision_function(X)))
    for X, y in (two_classes(), three_classes()):
        model = make().fit(X, y)
        np.testing.assert_allclose(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
