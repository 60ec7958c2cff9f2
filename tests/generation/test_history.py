"""What a run leaves behind."""

from dataclasses import replace

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.history import StopReason, relative_gap
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import FeaturePricer
from tests.generation.loop_mocks import CountingMaster, Supply, run


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
    second = replace(result, columns=tuple(replace(c, output=1) for c in result.columns))
    with pytest.raises(ValueError, match="several outputs"):
        _ = second.ensemble
    bare = replace(result, columns=tuple(replace(c, hypothesis=None) for c in result.columns))
    with pytest.raises(ValueError, match="no hypothesis"):
        _ = bare.ensemble


@pytest.mark.parametrize("excess", [1e-8, 1e-15, 0.0])
def test_a_bound_above_the_objective_is_never_shown_as_a_gap_of_0(excess: float) -> None:
    """The gap is the size of the contradiction, in the result and its history."""
    bound = 7.0 * (1.0 + excess)
    result = run(CountingMaster(bound=bound), Supply(3), tol=1e-6)
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    assert result.bound == bound
    assert result.gap == result.history["gap"][-1] == relative_gap(result.objective, bound)
    assert (result.gap > 0) is (bound > result.objective)
    assert result.gap == pytest.approx(excess, rel=0.2, abs=0.0)


def test_an_excess_of_the_bound_above_the_tolerance_is_no_convergence() -> None:
    """With tol below the contradiction the run says that it stalled."""
    result = run(CountingMaster(bound=7.0 * (1.0 + 1e-8)), Supply(3), tol=1e-9)
    assert result.stop_reason is StopReason.STALLED
    assert result.gap == pytest.approx(1e-8, rel=1e-6)


def test_the_repr_is_short() -> None:
    """Its length does not depend on the number of columns and rounds."""
    result = run(CountingMaster(bound=7.0), Supply(3))
    history = {name: np.tile(own, 1000) for name, own in result.history.items()}
    large = replace(
        result,
        columns=1000 * result.columns,
        coef=np.tile(result.coef, 1000),
        history=history,
        path=1000 * result.path,
    )
    assert repr(large) == repr(result)
    assert f"objective={result.objective!r}" in repr(result)
    assert len(repr(result)) < 500
