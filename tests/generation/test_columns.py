"""Ensembles evaluate as Σ α_j h_j + b."""

from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import cgboost.generation.columns
from cgboost import RBF, KernelLibrary, Linear
from cgboost.generation.columns import Ensemble, evaluate, multiple
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


def test_an_empty_ensemble_is_its_intercept() -> None:
    """Without columns the output is b."""
    np.testing.assert_array_equal(Ensemble(intercept=2.0).decision_function(np.ones((3, 2))), 2.0)


class Powers:
    """A family of x^k."""

    def outputs(self, X, hypotheses):
        return np.column_stack([X[:, 0] ** hypothesis.power for hypothesis in hypotheses])


class CountedPowers(Powers):
    """The same with a sum of its own, which notes how many hypotheses it is asked for."""

    asked: ClassVar[list[list[int]]] = []

    @staticmethod
    def weighted_sum(X, terms):
        CountedPowers.asked.append([len(hypotheses) for _, hypotheses, _ in terms])
        return sum(
            coef @ [X[:, 0] ** hypothesis.power for hypothesis in hypotheses]
            for _, hypotheses, coef in terms
        )


class Power(NamedTuple):
    """x^power."""

    family: Powers
    power: int


def test_blocks_do_not_change_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluating few rows at a time gives the same output, and holds few numbers at once."""
    sizes = []

    class WatchedPowers(Powers):
        def outputs(self, X, hypotheses):
            sizes.append(len(X) * len(hypotheses))
            return super().outputs(X, hypotheses)

    family = WatchedPowers()
    ensemble = Ensemble([Power(family, k) for k in range(4)], np.ones(4), 0.75)
    X = np.random.default_rng(2).normal(size=(50, 1))
    whole = ensemble.decision_function(X)
    monkeypatch.setattr(cgboost.generation.columns, "PREDICTION_BLOCK", 9)
    np.testing.assert_allclose(ensemble.decision_function(X), whole)
    assert sizes[0] == 200
    assert max(sizes[1:]) <= 9


def test_families_that_know_their_sum_are_asked_for_it_once() -> None:
    """Families with the same ``weighted_sum`` are summed together, others through their values."""
    first, second, plain = CountedPowers(), CountedPowers(), Powers()
    hypotheses = [Power(family, k) for k in range(4) for family in (first, plain, second)]
    coef = np.linspace(-1.0, 1.2, 12)
    coef[5] = 0.0
    X = np.random.default_rng(3).normal(size=(20, 1))
    CountedPowers.asked.clear()
    output = Ensemble(hypotheses, coef, 0.25).decision_function(X)
    np.testing.assert_allclose(output, 0.25 + evaluate(hypotheses, X) @ coef)
    assert CountedPowers.asked == [[4, 3]]


def test_the_factor_between_two_responses() -> None:
    """Found to the last digits where one is a multiple of the other, and not where it nearly is."""
    rng = np.random.default_rng(0)
    response = rng.normal(size=50)
    assert multiple(1.07 * response, response) == pytest.approx(1.07, rel=1e-14)
    assert multiple(response + 1e-10 * rng.normal(size=50), response) is None
    assert multiple(response, np.zeros(50)) is None
