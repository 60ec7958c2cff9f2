"""Kernel machines without rounds: linear programs of few numbers, which nobody watches."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    Polynomial,
)
from cgboost.arrays import Vector
from cgboost.masters.support_vector import priced_points
from cgboost.optimizers.simplex.primal_simplex import PrimalSimplex
from solvers import SolverFailure
from tests.effort import examples

RAW = KernelLibrary({"cubic": Polynomial(3), "fifth": Polynomial(5)})
PLAIN = KernelLibrary({"linear": Linear(), "rbf": RBF(0.5)}, negation=False)


def watch(current: Any) -> None:
    """A callback: with one, a fit has rounds."""


def rows_of(seed: int, n_rows: int, kind: str) -> tuple[Vector, Vector]:
    """Rows with what makes vertices degenerate or numbers large, and outputs with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    if kind == "rounded":
        X = np.round(X)
    elif kind == "repeated":
        X = X[rng.integers(0, max(2, n_rows // 4), n_rows)]
    elif kind == "scaled":
        X = X * np.array([1e-3, 1.0, 1e3])
    return X, X[:, 0] / max(1e-3, float(X[:, 0].std())) + 0.5 * rng.normal(size=n_rows)


@given(
    seed=st.integers(0, 1000),
    n_rows=st.integers(4, 40),
    kind=st.sampled_from(["plain", "rounded", "repeated", "scaled"]),
    library=st.sampled_from([None, PLAIN, RAW]),
    C=st.sampled_from([1e-2, 1.0, 100.0, 1e5]),
    coef=st.sampled_from(["free", "nonneg"]),
    weighted=st.booleans(),
    labels=st.booleans(),
)
@settings(max_examples=examples(6), deadline=None)
def test_a_fit_without_rounds_is_that_of_the_loop(
    seed, n_rows, kind, library, C, coef, weighted, labels
) -> None:
    """Where digits are lost it is the loop's; no bound is above the objective of the other."""
    X, output = rows_of(seed, n_rows, kind)
    y = output if not labels else (output > np.median(output)).astype(int)
    weights = np.random.default_rng(seed).integers(1, 4, n_rows).astype(float)
    made = CGBoostClassifier if labels else CGBoostRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scales, and of models without columns
        at_once, looped = (
            made(library, C=C, coef=coef, tol=1e-6, callbacks=callbacks).fit(
                X, y, sample_weight=weights if weighted else None
            )
            for callbacks in (None, [watch])
        )
    scale = max(abs(looped.objective_), 1e-6)
    for one, other in ((at_once, looped), (looped, at_once)):
        assert one.dual_bound_ <= other.objective_ + 1e-9 * scale
    assert at_once.objective_ <= looped.objective_ + max(looped.gap_, 1e-8) * scale
    assert list(at_once.history_) == list(looped.history_)


@pytest.mark.parametrize("offset", ["free", "none"])
@pytest.mark.parametrize("coef", ["free", "nonneg"])
def test_its_optimum_is_that_of_a_solver(offset, coef) -> None:
    """The whole program, of all kernel columns, by HiGHS."""
    X, output = rows_of(1, 40, "plain")
    y, C, n = (output > 0).astype(int), 2.0, len(X)
    model = CGBoostClassifier(PLAIN, C=C, coef=coef, offset=offset).fit(X, y)
    assert model.n_iter_ == 1
    assert model.gap_ <= 1e-12
    margins = np.hstack([X @ X.T, np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))])
    margins *= np.where(y > 0, 1.0, -1.0)[:, None]
    sign = np.where(y > 0, 1.0, -1.0)[:, None]
    p, free = margins.shape[1], None if offset == "free" else 0.0
    answer = linprog(
        np.concatenate([np.ones(2 * p), [0.0], np.full(n, C)]),
        A_ub=-np.hstack([margins, -margins, sign, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * p
        + [(0, None if coef == "free" else 0)] * p
        + [(free if free is None else 0, free)]
        + [(0, None)] * n,
    )
    assert model.objective_ == pytest.approx(answer.fun, rel=1e-9)
    losses = np.maximum(0.0, 1.0 - np.where(y > 0, 1.0, -1.0) * model.decision_function(X))
    value = np.abs(model.dual_coef_).sum() + C * losses.sum()
    assert value == pytest.approx(model.objective_, rel=1e-9)  # of the model that is returned


def test_classes_have_a_run_each() -> None:
    """With the columns that are in use, and one round."""
    X, output = rows_of(2, 60, "plain")
    y = np.digitize(output, [-0.5, 0.5])
    model = CGBoostClassifier().fit(X, y)
    assert model.n_iter_ == 3
    assert set(model.stop_reason_) == {"optimal"}
    assert model.n_columns_ == len(model.columns_["coefficient"]) > 0
    assert np.abs(model.columns_["coefficient"]).min() > 0
    assert (model.history_["columns"] == 180).all()
    looped = CGBoostClassifier(callbacks=[watch]).fit(X, y)
    assert model.objective_ == pytest.approx(looped.objective_, rel=1e-9)


@pytest.mark.parametrize(
    "own",
    [
        {"columns_per_round": 20},
        {"max_columns": 30},
        {"time_limit": 60.0},
        {"early_stopping": True},
        {"priority": "stratified"},
        {"nu": 0.3},
        {"offset": "penalized"},
        {"penalty": "l2"},
        {"callbacks": [watch]},
    ],
    ids=lambda own: "-".join(own),
)
def test_what_is_asked_of_rounds_leaves_them(own, monkeypatch) -> None:
    """Limits, callbacks and other problems."""
    monkeypatch.setattr(priced_points, "solved_at_vertex", lambda *args: 1 / 0)
    X, output = rows_of(3, 40, "plain")
    CGBoostClassifier(PLAIN, **own).fit(X, output > 0)


def test_a_vertex_without_digits_is_left_to_the_loop(monkeypatch) -> None:
    """One that is not found, and one with a gap."""
    X, output = rows_of(4, 40, "plain")
    optimum = CGBoostClassifier(PLAIN).fit(X, output > 0).objective_
    monkeypatch.setattr(priced_points, "VERTEX_GAP", 0.0)
    model = CGBoostClassifier(PLAIN).fit(X, output > 0)
    assert model.n_iter_ > 1
    assert model.objective_ == pytest.approx(optimum, rel=1e-9)
    monkeypatch.undo()
    solve, asked = PrimalSimplex.solve, []

    def fails_once(self: Any, *args: Any) -> Any:
        asked.append(1)
        if len(asked) == 1:
            raise SolverFailure("no digits")
        return solve(self, *args)

    monkeypatch.setattr(PrimalSimplex, "solve", fails_once)
    model = CGBoostClassifier(PLAIN).fit(X, output > 0)
    assert model.n_iter_ > 1
    assert model.objective_ == pytest.approx(optimum, rel=1e-9)
