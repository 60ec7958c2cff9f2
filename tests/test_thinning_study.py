"""The study of thinned ensembles: its rows, methods, records and tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier, RandomForestRegressor

from tests.studies.modules import modules

parts = modules("benchmarks/thinning", "thinning_data thinning_methods thinning_page thinning_runs")
"""Those of the study."""


@pytest.mark.parametrize("name", ["breast cancer", "diabetes"])
def test_every_method_keeps_few_members(parts: dict[str, Any], name: str) -> None:
    """Errors are finite, and no method keeps more than was asked for."""
    regression = name == "diabetes"
    data, methods = parts["thinning_data"], parts["thinning_methods"]
    if regression:
        rows = data.divided(*load_diabetes(return_X_y=True), 0)
        models = [RandomForestRegressor(20, random_state=0)]
    else:
        rows = data.DATA[name](None, 0)
        models = [
            RandomForestClassifier(20, random_state=0),
            AdaBoostClassifier(n_estimators=20, random_state=0),
        ]
    for model in models:
        case = methods.Case.of(model.fit(rows.X, rows.y), rows, 0.3, regression=regression)
        for method, thin in methods.METHODS.items():
            outcome = thin(case)
            if outcome is None:
                assert regression
                continue
            assert np.isfinite(outcome.score)
            assert outcome.members <= (len(case.weights) if method == methods.WHOLE else 6)


def test_records_are_means_of_seeds(parts: dict[str, Any], tmp_path: Path) -> None:
    """Losses are points of accuracy, or percent of the RMSE, and tables say who is within."""
    page = parts["thinning_page"]
    store = page.measured(tmp_path)
    for data, whole, own in (("digits", 97.0, 96.95), ("boston", 3.0, 3.06)):
        for seed in (0, 1):
            for method, score in ((page.WHOLE, whole), (page.OURS, own)):
                values = (score, float("nan"), 10, 1.0, 0.1)
                store.extend([page.Measured(data, "forest", seed, method, *values)])
    means = page.Means(page.measured(tmp_path).rows)
    assert means.loss(("digits", "forest"), page.OURS) == pytest.approx(0.05)
    assert means.loss(("boston", "forest"), page.OURS) == pytest.approx(2.0)
    tables = page.tables(tmp_path)
    assert "1 of 2" in tables["thinning_means"]
    assert "**no**" in tables["thinning_scores"]
