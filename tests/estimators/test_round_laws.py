"""Laws of every estimator that is fitted in rounds: history, stages, limits, scores and paths."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from tests.cases import law
from tests.estimators.cases import CASES, EstimatorCase, by_table, outputs
from tests.estimators.data import at_round, interrupt

pytestmark = pytest.mark.filterwarnings("ignore::cgboost.exceptions.DataWarning")


def staged(case: EstimatorCase) -> bool:
    """Whether there is an output after every round."""
    return hasattr(case.kind(), "staged_predict")


def runs(model: Any) -> list[pd.DataFrame]:
    """The history of each run of a fit: of all classes, of one, or of a quantile."""
    table = pd.DataFrame(model.history_)
    keys = [name for name in ("class", "quantile") if name in table]
    return [run for _, run in table.groupby(keys)] if keys else [table]


def stages_of(model: Any, X: Any) -> list[np.ndarray]:
    """Outputs after every round."""
    scores = hasattr(model, "decision_function")
    return list(model.staged_decision_function(X) if scores else model.staged_predict(X))


@law(CASES)
def test_tables_describe_the_rounds_and_the_model(case: EstimatorCase) -> None:
    """A row a round and one a column, of plain arrays; bound ≤ optimum ≤ objective in each run."""
    model, *_ = case.fitted()
    for table in (model.columns_, model.history_):
        assert pl.DataFrame(table).shape == pd.DataFrame(table).shape
        assert all(array.dtype != object for array in table.values())
    assert {"round", "columns", "objective", "bound", "gap", "seconds"} <= set(model.history_)
    certified = hasattr(model, "dual_bound_")
    rounds = [len(run) for run in runs(model)]
    assert np.sum(model.n_iter_) == sum(rounds) if certified else model.n_iter_ == max(rounds) - 1
    if hasattr(model, "n_columns_"):
        assert model.n_columns_ == len(model.columns_["round"])
    bests = np.atleast_1d(getattr(model, "best_round_", 0))
    if certified and len(bests) == len(rounds):
        kept = [run["objective"].iloc[k] for run, k in zip(runs(model), bests, strict=True)]
        own = getattr(model, "model_", model)  # the history is that of what it is made of
        assert own.objective_ == pytest.approx(sum(kept), rel=1e-9)
    for run in runs(model):
        assert run["round"].tolist() == list(range(len(run)))
        assert (np.diff(run["objective"]) <= 1e-9 * np.abs(run["objective"]).max()).all()
        bounds = run["bound"].to_numpy()
        bounds = bounds[np.isfinite(bounds)]
        assert (np.diff(bounds) >= 0).all()
        assert bounds.max(initial=-np.inf) <= run["objective"].min() + 1e-9
    if certified:
        assert model.dual_bound_ <= model.objective_
        assert model.converged_ == (model.gap_ <= model.tol)


@law(CASES, lambda case: not case.blocks and not hasattr(case.kind(), "rules_table"))
def test_outputs_are_made_of_the_table_of_columns(case: EstimatorCase) -> None:
    """Kernels and rows, learners, stumps, features or factors, with their coefficients."""
    model, X, _ = case.fitted()
    np.testing.assert_allclose(by_table(model, X), outputs(model, X), atol=1e-9)
    names = model.columns_.get("kernel", np.zeros(0))
    for name, count in getattr(model, "columns_per_kernel_", {}).items():
        assert np.sum(count) == np.sum(names == name)


@law(CASES, staged)
def test_stages_end_in_the_model(case: EstimatorCase) -> None:
    """As many stages as rounds, the last is the model."""
    model, X, _ = case.fitted()
    stages = stages_of(model, X)
    offset = case.has("columns_per_round")  # the round without columns is a stage, too
    assert len(stages) == np.max(model.best_round_) + offset
    np.testing.assert_allclose(stages[-1], outputs(model, X), atol=1e-9)
    np.testing.assert_allclose(list(model.staged_predict(X))[-1], model.predict(X), atol=1e-9)
    if hasattr(model, "staged_predict_proba"):
        shares = model.predict_proba(X)
        np.testing.assert_allclose(list(model.staged_predict_proba(X))[-1], shares)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        if np.ndim(outputs(model, X)) == 1 and not case.blocks:
            np.testing.assert_allclose(shares[:, 1], expit(2 * outputs(model, X)))


@law(CASES, lambda case: case.has("early_stopping") and not case.blocks)
def test_early_stopping_keeps_the_round_with_the_best_score(case: EstimatorCase) -> None:
    """Of an eval_set, whose scores are those of the stages, or of rows that are held out.

    Objective and columns are those of that round.
    """
    X, y = case.data(120)
    own: dict[str, Any] = {"early_stopping": True, "n_iter_no_change": 3}
    own |= {"n_estimators": 200} if case.has("n_estimators") else {}
    held_out = case.make(**own).fit(X, y)
    model = case.make(**own).fit(X[:60], y[:60], eval_set=(X[60:], y[60:]))
    score = next(name for name in model.history_ if name.startswith("validation_"))
    assert score in held_out.history_
    ends = zip(
        runs(model),
        np.atleast_1d(model.best_round_),
        np.atleast_1d(model.stop_reason_),
        strict=True,
    )
    for run, best, reason in ends:
        assert best == np.nanargmin(run[score])
        waited = len(run) - 1 - best
        assert waited == 3 if reason == "early_stopping" else waited <= 3
    if len(runs(model)) > 1:
        return
    table, stages = runs(model)[0], list(model.staged_predict(X[60:]))
    assert model.objective_ == table["objective"][model.best_round_]
    assert (model.columns_["round"] <= model.best_round_).all()
    names = {"validation_error": np.not_equal, "validation_mae": lambda s, t: abs(s - t)}
    names["validation_mse"] = lambda s, t: (s - t) ** 2
    for name in table.columns.intersection(list(names)):
        losses = [np.mean(names[name](stage, y[60:])) for stage in stages]
        kept = table[name][: model.best_round_ + 1][-len(stages) :] if stages else []
        np.testing.assert_allclose(losses, kept, atol=1e-12)
    if score == "validation_log_loss":
        shares = model.predict_proba(X[60:])[np.arange(60), y[60:]]
        assert table[score].min() == pytest.approx(-np.log(shares).mean())


@law(CASES, lambda case: case.has("scoring") and case.has("callbacks"))
def test_scorers_see_the_model_of_each_round(case: EstimatorCase) -> None:
    """Of every set by its name; scores are those of the stages, if one run makes the model."""
    X, y = case.data(90)
    numbers = is_regressor(case.make())
    name, score = ("r2", r2_score) if numbers else ("balanced_accuracy", balanced_accuracy_score)
    model = case.make(scoring=[name])
    model.fit(X[:45], y[:45], eval_set={"test": (X[45:], y[45:]), "again": (X[45:], y[45:])})
    scores = model.history_[f"test_{name}"]
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores, model.history_[f"again_{name}"])
    outputs = [model.decision_function(X[45:])] if hasattr(model, "decision_function") else []
    tie = any(np.abs(output).min() < 1e-12 for output in outputs)  # whose sign is rounding
    if len(runs(model)) == 1 and not tie:
        expected = score(y[45:], model.predict(X[45:]))
        assert scores[model.best_round_] == pytest.approx(expected)
        stages = list(model.staged_predict(X[45:])) if staged(case) else []
        each = [score(y[45:], stage) for stage in stages]
        kept = scores[: model.best_round_ + 1][-len(each) :] if each else []
        np.testing.assert_allclose(kept, each, atol=1e-12)


@law(CASES, lambda case: case.has("callbacks"))
def test_a_fit_cut_short_says_so_and_keeps_the_rounds_before(case: EstimatorCase) -> None:
    """By a time limit, by Ctrl-C in the second round, or, without a warning, by a callback."""
    whole, X, y = case.fitted()
    with pytest.warns(ConvergenceWarning, match="stopped before.*time"):
        limited = case.make(time_limit=1e-9).fit(X, y)
    assert set(np.atleast_1d(limited.stop_reason_)) == {"time"}
    stages = stages_of(whole, X)
    for action, best, reason in ((interrupt, 1, "interrupted"), (lambda: True, 2, "callback")):
        stopped = case.make(callbacks=[at_round(2, action)])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            stopped.fit(X, y)
        told = [str(w.message) for w in caught if w.category is ConvergenceWarning]
        assert [reason in words for words in told] == [True] * (action is interrupt)
        first, *others = np.atleast_1d(stopped.best_round_)
        assert first == best
        assert set(np.atleast_1d(stopped.stop_reason_)) == {reason}
        assert action is not interrupt or not any(others)  # classes that follow are left empty
        if isinstance(whole.best_round_, int):
            stage = stages[best - (len(stages) == whole.best_round_)]
            np.testing.assert_allclose(outputs(stopped, X), stage, atol=1e-9)


@law(CASES, lambda case: case.has("callbacks"))
def test_what_breaks_in_the_first_round_leaves_nothing(case: EstimatorCase) -> None:
    """Neither Ctrl-C nor an error of a callback leaves a model, or changes one that was fitted."""
    model, X, y = case.fitted()
    before = dict(vars(model))

    def broken() -> None:
        raise OSError("my disk is full")

    for action, error in ((interrupt, KeyboardInterrupt), (broken, OSError)):
        callbacks = [at_round(0, action)]
        model.set_params(callbacks=callbacks)
        with pytest.raises(error):
            model.fit(X[:40], y[:40])
        assert vars(model) == before | {"callbacks": callbacks}
        fresh = case.make(callbacks=callbacks)
        with pytest.raises(error):
            fresh.fit(X, y)
        assert set(vars(fresh)) == set(fresh.get_params(deep=False))


@law(CASES, lambda case: hasattr(case.kind(), "path"))
def test_a_path_has_the_models_of_separate_fits(case: EstimatorCase) -> None:
    """Over α, C or ν: each model, in the order of the values, has the objective of its own fit."""
    X, y = case.data(40)
    default = case.kind()()
    for price, values in {"alpha": [0.05, 0.3], "C": [1.0, 0.1], "nu": [0.3, 0.15]}.items():
        usual = getattr(case.make(), "loss", "") == getattr(default, "loss", "")
        if not case.has(price) or (price == "nu" and not usual):
            continue
        own = {"C": default.C} if price == "nu" and case.has("C") else {}
        model = case.make(tol=1e-7, **own)
        path = model.path(X, y, nu_values=values) if price == "nu" else model.path(X, y, values)
        assert [getattr(fitted, price) for fitted in path] == values
        for value, fitted in zip(values, path, strict=True):
            alone = case.make(tol=1e-7, **own | {price: value}).fit(X, y)
            slack = 3e-7 * max(1.0, abs(alone.objective_))
            assert fitted.objective_ == pytest.approx(alone.objective_, abs=slack)
            assert fitted.dual_bound_ <= alone.objective_ + slack
            assert fitted.converged_
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
        assert path.table()["n_columns"].tolist() == [fitted.n_columns_ for fitted in path]
        np.testing.assert_array_equal(path.values, values)
