"""What a run leaves behind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import FeaturePricer


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
