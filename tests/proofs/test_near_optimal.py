"""Ranges over all near-optimal models, against CVXPY on problems with every column written out."""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgboost
from cgboost import (
    AdaBoostClassifier,
    CGBoostClassifier,
    CGBoostRegressor,
    LPBoostClassifier,
    LPBoostRegressor,
    RuleSetClassifier,
    SparseLinearClassifier,
    SparseLinearRegressor,
    load,
)
from cgboost.exceptions import CertificateError, MasterError
from cgboost.inspection import plot_ranges
from cgboost.optimizers.linear import tangent_program
from cgboost.optimizers.simplex.primal_simplex import PrimalSimplex
from cgboost.proofs.near_ends import Ends
from cgboost.proofs.near_profiles import MOST_LOST, Profile, Profiles
from cgboost.proofs.near_search import Search
from solvers import SolverFailure
from tests.proofs.near_families import CASES, LABELS, NEW, WEIGHTS, N, P, X, Y, features

near_optimal = partial(cgboost.near_optimal, tol=1e-6)
EPSILON = 0.05
MASK = X[:, 0] > 0
LINEAR = [name for name, case in CASES.items() if case.functions is features]


def linked(model: Any, ends: Any) -> np.ndarray:
    """Predictions of outputs."""
    if hasattr(model, "classes_"):
        return np.asarray(ends)
    return model._target_kind.predicted(np.asarray(ends))


def own(model: Any, rows: np.ndarray) -> np.ndarray:
    """What the model says of rows."""
    return (model.decision_function if hasattr(model, "classes_") else model.predict)(rows)


@pytest.mark.parametrize("name", CASES)
def test_predictions_and_rates_are_those_of_cvxpy(name):
    """Both ends of predictions and of a mean output are those over all columns, to 1e-6."""
    case = CASES[name]
    model = case.fit()
    near = near_optimal(model, X, case.y, EPSILON, case.weights)
    problem = case.written_out(model, EPSILON)
    found = near.range("prediction", NEW[:2])
    for k in range(2):
        expected = linked(model, problem.range(problem.output(NEW[[k]])[0]))
        np.testing.assert_allclose(found[k], expected, rtol=2e-6, atol=2e-6)
    mean = cp.sum(problem.output(X[MASK])) / MASK.sum()
    np.testing.assert_allclose(near.range("rate", MASK), problem.range(mean), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", LINEAR)
def test_coefficients_and_importances_are_those_of_cvxpy(name):
    """So are coefficients, the least importance of two features, and the largest by its signs."""
    case = CASES[name]
    model = case.fit()
    near = near_optimal(model, X, case.y, EPSILON, case.weights)
    problem = case.written_out(model, EPSILON)
    for j in (0, 1):
        np.testing.assert_allclose(
            near.range("coef", j), problem.range(problem.a[j]), rtol=2e-6, atol=2e-6
        )
    low = cp.Problem(
        cp.Minimize(cp.norm1(problem.a[:2])), [problem.objective <= problem.level]
    ).solve(solver="CLARABEL")
    signs = [(1, 1)] if getattr(model, "positive", False) else [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    high = max(problem.range(np.array(s) @ problem.a[:2])[1] for s in signs)
    np.testing.assert_allclose(near.range("importance", [0, 1]), (low, high), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_ranges_grow_with_epsilon_and_hold_the_model(name):
    """A larger ε never narrows a range, each has the model's own value, and its ends are attained.

    At ε = 0 only optimal models are left.
    """
    case = CASES[name]
    model = case.fit()
    before = None
    for epsilon in (0.0, 0.01, 0.2):
        near = near_optimal(model, X, case.y, epsilon, case.weights)
        found = near.details("prediction", NEW[0])
        value = own(model, NEW[:1])[0]
        assert found.low <= found.lowest_attained <= found.highest_attained <= found.high
        assert found.low <= value <= found.high
        if epsilon:
            width = max(found.high - found.low, abs(value))
            assert found.gap <= 1e-5 * width
        if before is not None:
            assert found.low <= before.lowest_attained
            assert before.highest_attained <= found.high
        before = found


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].functions is features])
def test_without_room_only_the_optimum_is_left(name):
    """At ε = 0 the coefficients of an optimum that is unique are the only ones."""
    case = CASES[name]
    model = case.fit()
    near = near_optimal(model, X, case.y, 0.0, case.weights)
    coef = np.ravel(model.coef_)
    for j in range(P):
        assert near.range("coef", j) == pytest.approx((coef[j], coef[j]), abs=1e-2)


def perturbed(case: Any, seed: int) -> Any:
    """A fit of the same family to weights that are a little different."""
    rng = np.random.default_rng(seed)
    weights = np.ones(N) if case.weights is None else case.weights
    model = case.make()
    if "C" in model.get_params() and model.C is None:
        model.set_params(C=case.fit().C_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, case.y, sample_weight=weights * rng.uniform(0.8, 1.25, N))


@pytest.mark.parametrize("name", ["absolute", "log loss", "stumps, hinge", "kernels, tube"])
def test_other_fits_within_the_level_are_inside(name):
    """Models of perturbed weights whose objective on the rows is within the level are inside."""
    case = CASES[name]
    model = case.fit()
    near = near_optimal(model, X, case.y, 0.3, case.weights)
    problem, inside = case.written_out(model, 0.3), 0
    found = near.range("prediction", NEW)
    for seed in range(5):
        other = perturbed(case, seed)
        outputs = np.asarray(own(other, X), dtype=float)
        a, b = problem.a, problem.b
        fitted = cp.Problem(
            cp.Minimize(problem.objective), [case.functions(X) @ a + b == outputs]
        ).solve(solver="CLARABEL")
        if fitted <= problem.level:
            inside += 1
            said = own(other, NEW)
            assert np.all((found[:, 0] <= said) & (said <= found[:, 1]))
    assert inside


def test_a_bound_holds_for_any_dual_point():
    """Whatever multiplier and response are offered, no bound is below the end."""
    case = CASES["stumps, tube"]
    near = near_optimal(case.fit(), X, case.y, EPSILON)
    problem = near._problem
    (value,) = near._values_of_rows(NEW[:1])
    end = near._ends.end(value, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        response = problem.response + rng.normal(size=N) * rng.choice([1e-3, 0.1, 1.0])
        multiplier = float(10.0 ** rng.uniform(-4, 4))
        _, bound = problem.bound(value, 1.0, multiplier, response, problem.columns)
        assert bound >= end.attained


def test_tilts_and_tangents_agree():
    """Both ways to an end of a piecewise linear loss lead to the same one."""
    case = CASES["kernels, hinge"]
    near = near_optimal(case.fit(), X, case.y, EPSILON)
    ends: Ends = near._ends
    for value in near._values_of_rows(NEW):
        for sign in (-1.0, 1.0):
            by_tilts = ends._tilts.end(value, sign)
            by_tangents = ends._tangents.end(value, sign)
            assert by_tilts.bound == pytest.approx(by_tangents.bound, rel=5e-6, abs=5e-6)


@pytest.mark.parametrize("loss", ["absolute_error", "hinge"])
def test_profiles_of_many_rows(loss):
    """Newton's method finds the ends of piecewise linear losses as near as is asked for.

    Its bounds hold what the simplex attains, and what it attains is inside the simplex's bounds.
    """
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 8))
    y = rows[:, 0] + rng.standard_t(3, size=600)
    if loss == "hinge":
        model: Any = SparseLinearClassifier(loss=loss, C=0.05).fit(rows, y > 0)
    else:
        model = SparseLinearRegressor(loss=loss, alpha=0.02).fit(rows, y)
    given = (model, rows, y > 0 if loss == "hinge" else y)
    loose, tight = cgboost.near_optimal(*given, tol=1e-2), near_optimal(*given)
    assert loose._ends._profiles is not None
    assert tight._ends._profiles is None
    for kind, of in (("coef", 0), ("coef", 1), ("prediction", rows[0])):
        found, exact = loose.details(kind, of), tight.details(kind, of)
        assert found.low <= exact.lowest_attained <= exact.highest_attained <= found.high
        assert exact.low <= found.lowest_attained <= found.highest_attained <= exact.high
        assert found.gap <= 0.02 * max(found.high - found.low, abs(found.high), abs(found.low))
    assert loose._ends._profiles._failures == 0


def test_profiles_and_tangents_agree():
    """Both ways to an end of a curved loss lead to the same one."""
    case = CASES["poisson"]
    ends: Ends = near_optimal(case.fit(), X, case.y, EPSILON)._ends
    near = near_optimal(case.fit(), X, case.y, EPSILON)
    for value in near._values_of_rows(NEW):
        for sign in (-1.0, 1.0):
            by_profile = ends._profiles.end(value, sign)
            by_tangents = ends._tangents.end(value, sign)
            assert by_profile.bound == pytest.approx(by_tangents.bound, rel=5e-6, abs=5e-6)


def test_profiles_that_fail_are_left_to_others(monkeypatch):
    """Where Newton's equations have no solution the next way finds the end, and soon at once."""
    case = CASES["log loss"]
    model = case.fit()
    expected = near_optimal(model, X, case.y, EPSILON).range("prediction", NEW)
    monkeypatch.setattr(Profile, "_newton", lambda *given: (np.zeros(N), 1.0, np.inf))
    near = near_optimal(model, X, case.y, EPSILON)
    np.testing.assert_allclose(near.range("prediction", NEW), expected, rtol=1e-5, atol=1e-5)
    assert near._ends._profiles._failures == MOST_LOST


def test_what_a_program_leaves_out_does_not_count(monkeypatch):
    """Tangents that have no say may be left out after each end, and simplexes may fail."""
    monkeypatch.setattr(Profiles, "takes", lambda *given: False)
    case = CASES["log loss"]
    model = case.fit()
    expected = near_optimal(model, X, case.y, EPSILON).range("prediction", NEW)
    monkeypatch.setattr(tangent_program, "MOST_TANGENTS", 0)
    found = near_optimal(model, X, case.y, EPSILON).range("prediction", NEW)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)

    case = CASES["tube"]
    model = case.fit()
    expected = near_optimal(model, X, case.y, EPSILON).range("prediction", NEW)

    def fails(*given: Any) -> None:
        raise SolverFailure("lost its digits")

    monkeypatch.setattr(PrimalSimplex, "tilt", fails)
    found = near_optimal(model, X, case.y, EPSILON).range("prediction", NEW)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_a_program_that_fails_once_is_made_anew(monkeypatch):
    """A simplex that has lost its digits over other ends costs no end: a new one finds it."""
    monkeypatch.setattr(Profiles, "takes", lambda *given: False)
    case = CASES["log loss"]
    near = near_optimal(case.fit(), X, case.y, EPSILON)
    expected = near.range("prediction", NEW)
    failed: list[int] = []
    solve = tangent_program.TangentProgram.solve

    def fails_once(self: Any, *given: Any) -> Any:
        failed.append(1)
        if len(failed) == 3:
            raise MasterError("iteration limit")
        return solve(self, *given)

    monkeypatch.setattr(tangent_program.TangentProgram, "solve", fails_once)
    np.testing.assert_allclose(near.range("prediction", NEW), expected, rtol=1e-5, atol=1e-5)
    assert len(failed) > 3


@pytest.mark.parametrize("far", [1.0, 1e6, 1e15])
@pytest.mark.parametrize("name", ["squared, positive", "log loss", "absolute"])
def test_the_last_model_on_a_way_is_at_the_level(name, far):
    """However far the other end is, the last model within the level has used up all the room."""
    case = CASES[name]
    problem = near_optimal(case.fit(), X, case.y, EPSILON)._problem
    best = problem.best
    output = best.output + far * (1.0 + np.arange(N))
    end = problem.model(best.coef, best.intercept, output)
    found = problem.between(best, end, problem.set_level)
    assert problem.set_level - 1e-6 * problem.room <= found.objective <= problem.set_level


@pytest.mark.parametrize("epsilon", [10.0, 1000.0])
def test_far_levels_of_a_loss_that_grows_beyond_all_numbers(epsilon):
    """Where e^−yf would overflow two steps out, ends are those of CVXPY all the same."""
    model = SparseLinearClassifier(loss="exponential", C=1.0).fit(X, LABELS)
    near = near_optimal(model, X, LABELS, epsilon)
    a, b, signs = cp.Variable(P), cp.Variable(), np.where(LABELS == "yes", 1.0, -1.0)
    objective = cp.norm1(a) + cp.sum(cp.exp(-cp.multiply(signs, X @ a + b)))
    inside, output = [objective / near.level <= 1], NEW[0] @ a + b
    ends = [cp.Problem(way(output), inside) for way in (cp.Minimize, cp.Maximize)]
    expected = [end.solve(solver="CLARABEL") for end in ends]
    np.testing.assert_allclose(near.range("prediction", NEW[0]), expected, rtol=1e-4)


@pytest.mark.parametrize("loss", ["absolute_error", "squared_error", "huber"])
def test_targets_far_from_zero_move_the_ranges_alone(loss):
    """With y + c all predictions are c more, and nothing is wider but for the rounding of y."""
    model = SparseLinearRegressor(loss=loss, alpha=0.05)
    y, far = np.round(8.0 * Y) / 8.0, 2.0**27  # y + c has no rounding
    here = near_optimal(clone(model).fit(X, y), X, y, EPSILON)
    there = near_optimal(clone(model).fit(X, y + far), X, y + far, EPSILON)
    for kind, of in (("prediction", NEW[0]), ("rate", MASK)):
        low, high = here.range(kind, of)
        found = np.array(there.range(kind, of)) - far
        np.testing.assert_allclose(found, (low, high), atol=2e-5 * (high - low))
    np.testing.assert_allclose(there.range("coef", 0), here.range("coef", 0), rtol=1e-5)


def test_a_search_that_stalls_is_told_from_one_that_moves():
    """A search ends after some rounds in which neither bound nor what is attained has moved."""
    case = CASES["absolute"]
    near = near_optimal(case.fit(), X, case.y, EPSILON)
    (value,) = near._values_of_rows(NEW[:1])
    search = Search(near._problem, value, 1.0, 0.0)
    assert not search.stalled
    for step in range(20):
        search.bound = search.attained + 1.0 / (1.0 + step)
        assert not search.stalled
    assert [search.stalled for _ in range(7)][-1]


def test_importance_of_stumps_is_a_bound():
    """The largest Σ|α| over the stumps on a feature is bounded, and the least is exact."""
    case = CASES["stumps, hinge"]
    model = case.fit()
    near = near_optimal(model, X, case.y, EPSILON)
    problem = case.written_out(model, EPSILON)
    on_first = np.zeros(problem.a.size, dtype=bool)
    on_first[1 : len(np.unique(X[:, 0]))] = True
    size = cp.norm1(problem.a[on_first])
    low = cp.Problem(cp.Minimize(size), [problem.objective <= problem.level])
    found = near.details("importance", 0)
    assert found.low == pytest.approx(low.solve(solver="CLARABEL"), abs=1e-6)
    assert found.low <= found.lowest_attained <= found.highest_attained <= found.high
    assert near.range("importance", [0]) == pytest.approx((found.low, found.high))


def test_flips_are_attained():
    """Rows flip where models on both sides of 0 are at hand; their share is that of the rows."""
    case = CASES["log loss"]
    near = near_optimal(case.fit(), X, case.y, 0.1)
    flips = near.flips(X[:8])
    found = near.range("prediction", X[:8])
    both = (found[:, 0] <= 0) & (found[:, 1] > 0)
    np.testing.assert_array_equal(flips.rows | flips.undecided, both)
    assert flips.share == flips.rows.mean()
    assert 0 < flips.share < 1
    assert repr(flips).startswith(f"Flips({flips.rows.sum()} of 8 rows")


def test_tables_of_features():
    """A table has a row for each feature, with the model's own value inside its range."""
    frame = pd.DataFrame(X, columns=["a", "b b", "c", "d"])
    model = SparseLinearRegressor(loss="absolute_error", alpha=0.1).fit(frame, Y)
    near = near_optimal(model, frame, Y)
    table = near.to_frame()
    assert list(table.index) == list(frame)
    np.testing.assert_allclose(table["value"], model.coef_)
    assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()
    assert near.range("coef", "b b") == pytest.approx(tuple(table.loc["b b", ["low", "high"]]))
    importance = near.table("importance")
    np.testing.assert_allclose(importance["value"], np.abs(model.coef_))
    stumps = LPBoostClassifier(C=0.3, tol=1e-9).fit(frame, LABELS)
    sizes = near_optimal(stumps, frame, LABELS, 0.02).table()
    shares = np.array(sizes["value"])
    np.testing.assert_allclose(shares / shares.sum(), stumps.feature_importances_)
    with pytest.raises(CertificateError, match="'coef' or 'importance'"):
        near.table("rate")


def test_a_frame_without_pandas_is_refused_with_its_command(monkeypatch):
    """The ranges of a table need no package."""
    model = SparseLinearRegressor(loss="absolute_error", alpha=0.1).fit(X, Y)
    near = near_optimal(model, X, Y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install \"cgboost\[frames\]\""):
        near.to_frame()
    assert len(near.table()["low"]) == X.shape[1]


@pytest.mark.parametrize("make", [np.asarray, lambda mask: np.flatnonzero(mask)])
def test_rows_may_be_a_mask_or_numbers(make: Callable[[np.ndarray], np.ndarray]):
    """A rate counts rows of weight 0 too, which are none of the fit."""
    model = SparseLinearRegressor(quantile=0.8, alpha=0.05).fit(X, Y, WEIGHTS)
    near = near_optimal(model, X, Y, EPSILON, WEIGHTS)
    wanted = WEIGHTS < 1
    low, high = near.range("rate", make(wanted))
    assert low < model.predict(X[wanted]).mean() < high


def test_pipelines_sparse_rows_and_stored_models(tmp_path):
    """A pipeline is asked in its own units; sparse rows and a stored model say the same."""
    y = np.where(LABELS == "yes", 1, 0)
    pipe = make_pipeline(StandardScaler(), SparseLinearClassifier(C=0.5)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    model = SparseLinearClassifier(C=0.5).fit(scaled, y)
    expected = near_optimal(model, scaled, y).range("prediction", scaled[0])
    assert near_optimal(pipe, X, y).range("prediction", X[0]) == pytest.approx(expected, rel=1e-6)
    thin = sparse.csc_matrix(scaled)
    from_sparse = near_optimal(clone(model).fit(thin, y), thin, y)
    assert from_sparse.range("prediction", thin[[0]])[0] == pytest.approx(expected, rel=1e-6)
    model.save(tmp_path / "model.cgb")
    again = near_optimal(load(tmp_path / "model.cgb"), scaled, y)
    assert again.range("prediction", scaled[0]) == pytest.approx(expected, rel=1e-6)


def test_standardized_features_and_their_weights():
    """Coefficients are in the units of the features, importances in those of the penalty."""
    model = SparseLinearRegressor(
        loss="absolute_error", alpha=0.05, standardize=True, penalty_weights=[1.0, 2.0, 1.0, 0.5]
    ).fit(X, Y)
    near = near_optimal(model, X, Y, EPSILON)
    prices = X.std(axis=0) * [1.0, 2.0, 1.0, 0.5]
    a, b = cp.Variable(P), cp.Variable()
    objective = cp.norm1(Y - X @ a - b) / N + 0.05 * cp.norm1(cp.multiply(prices, a))
    inside = [objective <= (1 + EPSILON) * model.objective_]
    for j in range(P):
        high = cp.Problem(cp.Maximize(a[j]), inside).solve(solver="CLARABEL")
        assert near.range("coef", j)[1] == pytest.approx(high, rel=1e-5)
        own_size = np.abs(model.coef_[j]) * prices[j]
        assert near.table("importance")["value"][j] == pytest.approx(own_size)


def test_pictures_of_ranges():
    """A picture has an interval for each feature that is shown, the widest first."""
    model = SparseLinearRegressor(loss="absolute_error", alpha=0.1).fit(X, Y)
    near = near_optimal(model, X, Y)
    figure = plot_ranges(near, top=3)
    (axis,) = figure.axes
    assert len(axis.get_yticklabels()) == 3
    table = near.table()
    widths = np.array(table["high"]) - np.array(table["low"])
    first = axis.get_yticklabels()[0].get_text()
    assert first == table["feature"][int(widths.argmax())]
    words = [
        {text.get_text() for text in plot_ranges(near, kind=kind).axes[0].get_legend().get_texts()}
        for kind in ("coef", "importance")
    ]
    assert "of one sign" in words[0]
    assert "above 0" in words[1]
    with pytest.raises(ValueError, match="top must be at least 1"):
        plot_ranges(near, top=0)


# ---------------------------------------------------------------------------------- bad input


SQUARES = SparseLinearRegressor(loss="squared_error", alpha=0.1)
THREE = np.arange(N) % 3


@pytest.mark.parametrize(
    ("make", "y", "words"),
    [
        (lambda: SparseLinearRegressor(penalty="elasticnet"), Y, "1-norm"),
        (lambda: SparseLinearRegressor(constraints=["sum == 0"]), Y, "constraints of the Sparse"),
        (lambda: CGBoostRegressor(penalty="l2"), Y, "1-norm"),
        (lambda: LPBoostClassifier(formulation="qp"), LABELS, "1-norm"),
        (lambda: LPBoostClassifier(nu=0.4), LABELS, "nu|1-norm"),
        (lambda: LPBoostRegressor(nu=0.4), Y, "nu"),
        (lambda: LPBoostClassifier(Lasso(0.01)), LABELS, "does not know all|estimator=None"),
        (lambda: SparseLinearClassifier(), THREE, "several outputs"),
        (lambda: LPBoostClassifier(multi_class="joint"), THREE, "several outputs"),
        (lambda: RuleSetClassifier(), LABELS, "budget"),
        (lambda: AdaBoostClassifier(), LABELS, "takes sparse linear models"),
        (lambda: Lasso(), Y, "takes sparse linear models"),
        (lambda: GridSearchCV(SQUARES, {"alpha": [0.1]}, cv=2), Y, "best_estimator_"),
        (lambda: CGBoostClassifier(early_stopping=True, random_state=0), LABELS, "early_stopping"),
        (
            lambda: SparseLinearRegressor(penalty_weights=[1.0, 0.0, 1.0, 1.0]),
            Y,
            "without a penalty",
        ),
    ],
)
def test_models_that_have_no_ranges(make, y, words):
    """Each other model is refused by what it is that does not go."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X, y)
    with pytest.raises(CertificateError, match=words):
        near_optimal(model, X, y)


def test_other_rows_are_refused():
    """Rows, targets or weights other than those of the fit do not have its objective."""
    model = clone(SQUARES).fit(X, Y)
    for given in ((X, Y + 1.0), (X[:, ::-1], Y), (X, Y, np.linspace(0.5, 2.0, N))):
        with pytest.raises(CertificateError, match="give the same X, y and sample_weight"):
            near_optimal(model, *given[:2], 0.01, *given[2:])
    with pytest.raises(CertificateError, match="3 features"):
        near_optimal(model, X[:, :3], Y)
    with pytest.raises(NotFittedError):
        near_optimal(clone(SQUARES), X, Y)
    with pytest.raises(CertificateError, match="not the class"):
        near_optimal(SparseLinearRegressor, X, Y)
    with pytest.raises(CertificateError, match="class"):
        near_optimal(SparseLinearClassifier().fit(X, LABELS), X, np.full(N, "other"))


@pytest.mark.parametrize("name", ["epsilon", "tol"])
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "1", None, True])
def test_numbers_out_of_range(name, value):
    """ε and tol are numbers of at least 0."""
    with pytest.raises(ValueError, match=f"{name} must be a number of at least 0"):
        near_optimal(clone(SQUARES).fit(X, Y), X, Y, **{name: value})


def test_an_optimum_of_zero_is_refused():
    """Every multiple of 0 is 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseLinearRegressor(loss="absolute_error", alpha=0.1).fit(X, np.ones(N))
    with pytest.raises(CertificateError, match="every multiple"):
        near_optimal(model, X, np.ones(N))


@pytest.mark.parametrize(
    ("kind", "of", "words"),
    [
        ("coef", "a", "without names"),
        ("coef", 4, "the model has 4"),
        ("coef", 1.5, "a name or a number"),
        ("weight", 0, "kind must be one of"),
        ("importance", [], "at least one feature"),
        ("rate", np.zeros(N, dtype=bool), "got none"),
        ("rate", [N], "must be some of"),
        ("rate", np.ones(3), "a mask of the 40 rows"),
        ("rate", (LABELS == "yes").astype(int), r"astype\(bool\)"),
        ("rate", [0, 0, 1], "once each"),
    ],
)
def test_what_cannot_be_asked_for(kind, of, words):
    """Features, rows and kinds that are not there are named."""
    near = near_optimal(clone(SQUARES).fit(X, Y), X, Y)
    with pytest.raises(CertificateError, match=words):
        near.range(kind, of)


def test_values_that_other_families_lack():
    """Stumps have no coefficient of a feature, columns of kernels and rules no importance."""
    stumps, kernels = CASES["stumps, hinge"], CASES["kernels, hinge"]
    with pytest.raises(CertificateError, match="linear models"):
        near_optimal(stumps.fit(), X, stumps.y).range("coef", 0)
    with pytest.raises(CertificateError, match="no one feature"):
        near_optimal(kernels.fit(), X, kernels.y).range("importance", 0)
    with pytest.raises(ValueError, match="features"):
        near_optimal(stumps.fit(), X, stumps.y).range("prediction", X[0, :2])


def test_an_offset_that_the_rows_do_not_hold_has_no_bound():
    """Where no response has the sum that the value asks for, a dual point proves nothing."""
    case = CASES["tube"]
    near = near_optimal(case.fit(), X, case.y, EPSILON)
    problem = near._problem
    (value,) = near._values_of_rows(NEW[:1])
    few = 0.5 * value.offset / float(problem.master.loss.upper.sum())
    assert problem.bound(value, 1.0, few, problem.response, problem.columns)[1] == np.inf
    assert np.isfinite(problem.bound(value, 1.0, 4.0 * few, problem.response, problem.columns)[1])
