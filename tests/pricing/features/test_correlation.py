"""Every way to look for the best feature finds it, round by round."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import SquaredError
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.features.correlation import (
    CorrelationPricer,
    GramPricer,
    ScreenedPricer,
    feature_of,
)
from tests.pricing.checked import WEIGHTS, Y, correct_rounds, features

PRICERS = [CorrelationPricer, GramPricer, ScreenedPricer]


@pytest.mark.parametrize("pricer", PRICERS)
def test_stagewise_steps_take_the_best_feature(pricer: type[CorrelationPricer]) -> None:
    """In 200 steps, features coming back again and again."""
    master = StagewiseMaster(SquaredError().on(Y, WEIGHTS), step="newton", start="constant")
    assert correct_rounds(master, pricer(features(), repeats=True), 200) == 200


@pytest.mark.parametrize("pricer", PRICERS)
def test_corrected_steps_take_the_best_of_the_other_features(
    pricer: type[CorrelationPricer],
) -> None:
    """In 40 steps, none of them coming back."""
    master = OrthogonalMaster(SquaredError().on(Y, WEIGHTS), offset="free")
    assert correct_rounds(master, pricer(features(), repeats=False), 40) == 40


@pytest.mark.parametrize("pricer", PRICERS)
def test_one_pricer_serves_one_run_after_another(pricer: type[CorrelationPricer]) -> None:
    """A new run forgets what the last one has left behind."""
    served = pricer(features(), repeats=True)
    for sign in (1.0, -1.0):
        loss = SquaredError().on(sign * np.sort(Y), WEIGHTS)
        master = StagewiseMaster(loss, step="newton", start="constant")
        assert correct_rounds(master, served, 30) == 30


@pytest.mark.parametrize("pricer", PRICERS)
def test_the_search_ends_when_only_rounding_is_left(pricer: type[CorrelationPricer]) -> None:
    """A response of three features is fitted before all rows are, and a constant one at once."""
    matrix = features()
    response = sum((matrix.column(j) for j in (4, 7, 11)), np.full(80, 3.0))
    for target in (response, np.ones(80)):
        master = OrthogonalMaster(SquaredError().on(target, WEIGHTS), offset="free")
        loop = ColumnGeneration(master, pricer(matrix, repeats=False), tol=0.0, max_rounds=70)
        result = loop.run()
        assert result.stop_reason == "no_column"
        np.testing.assert_allclose(result.output, target, atol=1e-9)
        assert len(result.coef) < 60


def test_keys_carry_the_step_where_features_may_come_again() -> None:
    """(feature, step), or the feature alone."""
    state = StagewiseMaster(SquaredError().on(Y, WEIGHTS), start="constant").solve()
    again = CorrelationPricer(features(), repeats=True).price(state, 1).columns[0]
    once = CorrelationPricer(features(), repeats=False).price(state, 1).columns[0]
    index = feature_of(again)
    assert again.key == ("feature", (index, 1))
    assert once.key == ("feature", index)
