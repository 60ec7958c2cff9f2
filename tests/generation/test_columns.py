"""Ensembles evaluate as Σ α_j h_j + b; bounds on reduced costs are put together."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import cgboost.generation.columns
from cgboost import RBF, ColumnGeneration, KernelLibrary, Linear
from cgboost.generation.columns import Ensemble, combined, evaluate, least_of, multiple
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import FeaturePricer, KernelPool


class Powers:
    """A family of x^k, which notes how many numbers it holds at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def outputs(self, X, hypotheses):
        self.sizes.append(len(X) * len(hypotheses))
        return np.column_stack([X[:, 0] ** hypothesis.power for hypothesis in hypotheses])


class SummedPowers(Powers):
    """The same with a sum of its own, which notes how many hypotheses it is asked for."""

    @staticmethod
    def weighted_sum(X, terms):
        ASKED.append([len(hypotheses) for _, hypotheses, _ in terms])
        return sum(
            coef @ [X[:, 0] ** hypothesis.power for hypothesis in hypotheses]
            for _, hypotheses, coef in terms
        )


ASKED: list[list[int]] = []


class Power(NamedTuple):
    """x^power."""

    family: Powers
    power: int


def test_outputs_are_the_weighted_sum() -> None:
    """Kernels and families that know their sum, which are asked once and without zeros: all add up.

    Without columns the output is b.
    """
    rng = np.random.default_rng(0)
    library = KernelLibrary({"linear": Linear(), "rbf": RBF(0.5)})
    pool = KernelPool(library, rng.normal(size=(10, 3)))
    families = [SummedPowers(), Powers(), SummedPowers()]
    hypotheses = [pool.column(*pick).hypothesis for pick in [(0, 1), (1, 2), (0, 5), (1, 9)]]
    hypotheses += [Power(family, k) for k in range(4) for family in families]
    coef = np.linspace(-1.0, 1.2, 16)
    coef[[2, 9]] = 0.0
    X = rng.normal(size=(6, 3))
    by_hand = 0.75 + sum(
        weight * evaluate([hypothesis], X)[:, 0]
        for weight, hypothesis in zip(coef, hypotheses, strict=True)
    )
    ASKED.clear()
    np.testing.assert_allclose(Ensemble(hypotheses, coef, 0.75).decision_function(X), by_hand)
    assert ASKED == [[4, 3]]
    np.testing.assert_array_equal(Ensemble(intercept=2.0).decision_function(X), 2.0)


def test_blocks_do_not_change_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluating few rows at a time gives the same output, and holds few numbers at once."""
    family = Powers()
    ensemble = Ensemble([Power(family, k) for k in range(4)], np.ones(4), 0.75)
    X = np.random.default_rng(2).normal(size=(50, 1))
    whole = ensemble.decision_function(X)
    monkeypatch.setattr(cgboost.generation.columns, "PREDICTION_BLOCK", 9)
    np.testing.assert_allclose(ensemble.decision_function(X), whole)
    assert family.sizes[0] == 200
    assert max(family.sizes[1:]) <= 9


def test_the_ensemble_of_a_result_predicts_new_rows() -> None:
    """It is Σ α_j h_j + b on any rows; several outputs, or columns of no meaning, are refused."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(40, 6))
    labels = np.where(np.arange(40) % 2, 1.0, -1.0)
    result = ColumnGeneration(OneNormMaster(hinge(labels, np.ones(40))), FeaturePricer(H)).run()
    places = [column.key[1] for column in result.columns]
    new = rng.normal(size=(5, 6))
    np.testing.assert_allclose(
        result.ensemble.decision_function(new), new[:, places] @ result.coef + result.intercept
    )
    for change, words in (({"output": 1}, "several outputs"), ({"hypothesis": None}, "no hypo")):
        other = replace(result, columns=tuple(replace(c, **change) for c in result.columns))
        with pytest.raises(ValueError, match=words):
            _ = other.ensemble


def test_the_factor_between_two_responses() -> None:
    """Found to the last digits where one is a multiple of the other, and not where it nearly is."""
    rng = np.random.default_rng(0)
    response = rng.normal(size=50)
    assert multiple(1.07 * response, response) == pytest.approx(1.07, rel=1e-14)
    assert multiple(response + 1e-10 * rng.normal(size=50), response) is None
    assert multiple(response, np.zeros(50)) is None


@pytest.mark.parametrize(
    ("bounds", "expected", "least"),
    [
        ([-1.0, -3.0, 0.5], -3.0, -3.0),
        ([{"a": -1.0}, {"b": -2.0}], {"a": -1.0, "b": -2.0}, -2.0),
        ([{"a": -1.0}, {"a": -2.0, "b": 0.0}], {"a": -2.0, "b": 0.0}, -2.0),
        ([{"a": -1.0, "b": 1.0}, -0.5], -1.0, -1.0),
        ([-1.0, math.nan], math.nan, math.nan),
        ([{"a": math.nan}, {"a": -2.0}], {"a": math.nan}, math.nan),
        ([{"a": -2.0}, {"a": math.nan}], {"a": math.nan}, math.nan),
        ([{}, -1.0], math.nan, math.nan),
        ([{}], {}, math.nan),
    ],
)
def test_the_combined_bound_holds_for_every_column(
    bounds: Any, expected: Any, least: float
) -> None:
    """Per row where all are, else the least; what one part does not know, the whole does not."""
    np.testing.assert_equal(combined(bounds), expected)
    np.testing.assert_equal(least_of(combined(bounds)), least)
