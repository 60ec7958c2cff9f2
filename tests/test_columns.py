"""Ensembles evaluate as Σ α_j h_j + b."""

from __future__ import annotations

import numpy as np
import pytest

import cgboost.columns
from cgboost import RBF, KernelLibrary, Linear
from cgboost.columns import Ensemble, evaluate
from cgboost.pricing import KernelPool


@pytest.fixture
def ensemble() -> Ensemble:
    """Four hypotheses of two kernels, one with a zero coefficient."""
    X = np.random.default_rng(0).normal(size=(10, 3))
    pool = KernelPool(KernelLibrary({"linear": Linear(), "rbf": RBF(0.5)}), X)
    picks = [(0, 1), (1, 2), (0, 5), (1, 9)]
    hypotheses = [pool.column(*pick).hypothesis for pick in picks]
    return Ensemble(hypotheses, np.array([1.5, -2.0, 0.0, 0.25]), 0.75)


def test_decision_function_is_the_weighted_sum(ensemble: Ensemble) -> None:
    """Mixed families, evaluated together, add up column by column."""
    X = np.random.default_rng(1).normal(size=(6, 3))
    by_hand = 0.75 + sum(
        weight * evaluate([hypothesis], X)[:, 0]
        for weight, hypothesis in zip(ensemble.coef, ensemble.hypotheses, strict=True)
    )
    np.testing.assert_allclose(ensemble.decision_function(X), by_hand)


def test_blocks_do_not_change_the_output(
    ensemble: Ensemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evaluating few rows at a time gives the same output."""
    X = np.random.default_rng(2).normal(size=(50, 3))
    whole = ensemble.decision_function(X)
    monkeypatch.setattr(cgboost.columns, "PREDICTION_BLOCK", 9)
    np.testing.assert_allclose(ensemble.decision_function(X), whole)


def test_an_empty_ensemble_is_its_intercept() -> None:
    """Without columns the output is b."""
    np.testing.assert_array_equal(Ensemble(intercept=2.0).decision_function(np.ones((3, 2))), 2.0)
