"""Contributions add up, are those of the explainers of shap, and take less time than these.

    PYTHONPATH=. python benchmarks/contributions.py --write

Needs the package shap. The first rows of ``benchmarks/contributions.csv`` are the estimators of
``tests/estimators/cases.py``, each in all its variants, with at most four features: whether they
have a closed form (else shap has evaluated the model), by how much the base value and the
contributions miss the output of the model (``sum_error``), and by how much they differ from
``shap.explainers.Exact`` (``difference``), both relative to the largest output. The last rows are
200 trees and 1000 rows with 20 features, against ``shap.TreeExplainer``: path-dependent, and
against a background of 100 rows; ``ratio`` is CPU time over its CPU time, each the best of three.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import shap

from cgboost import AdaBoostClassifier, GradientBoostingRegressor
from cgboost.inspection import contributions, shap_trees
from cgboost.inspection.shapley.contributions import _form_of, scores_of
from tests.estimators.cases import CASES, THINNED, EstimatorCase

FILE = Path(__file__).with_suffix(".csv")
COLUMNS = (
    *("model", "features", "background", "closed_form", "explainer", "n_fits"),
    *("sum_error", "shap_sum_error", "difference", "cpu_s", "shap_cpu_s", "ratio"),
)
N_TREES, N_ROWS, N_BACKGROUND, N_FEATURES, REPEATS = 200, 1000, 100, 20, 3


def worst(first: Any, second: Any, size: float) -> float:
    """The largest difference, relative to a size."""
    return float(np.abs(np.asarray(first) - np.asarray(second)).max()) / size


def of_definition(case: EstimatorCase) -> dict[str, Any]:
    """One variant of an estimator beside the exact explainer."""
    X, y = case.data(60)
    X = X[:, :4]
    model = case.make().fit(X, y)
    rows, background = X[:10], X[::4]
    found = contributions(model, rows, background)
    scores = scores_of(model, rows)
    size = float(np.abs(scores).max())
    masker = shap.maskers.Independent(background, max_samples=len(background))
    exact = shap.explainers.Exact(partial(scores_of, model), masker)(rows, silent=True).values
    values = found.values.reshape(*X[:10].shape, -1)
    base = found.base_values.reshape(len(rows), -1)
    return {
        "features": X.shape[1],
        "background": len(background),
        "closed_form": "no" if _form_of(model, X).rest is not None else "yes",
        "explainer": "Exact",
        "n_fits": 1,
        "sum_error": worst(base + values.sum(axis=1), scores, size),
        "difference": worst(values, exact.reshape(values.shape), size),
    }


def families() -> list[dict[str, Any]]:
    """A row for each class, and each answer to whether there is a closed form."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for case in [*CASES, THINNED]:
        own = {"model": case.kind().__name__} | of_definition(case)
        before = found.setdefault((own["model"], own["closed_form"]), own)
        if before is not own:
            before["n_fits"] += 1
            for name in ("sum_error", "difference", "features"):
                before[name] = max(before[name], own[name])
    return list(found.values())


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, the best of a few, and what was returned."""
    best = np.inf
    for _ in range(REPEATS):
        begun = time.process_time()
        result = call()
        best = min(best, time.process_time() - begun)
    return best, result


def times() -> list[dict[str, Any]]:
    """Sums of trees, beside the explainer of trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * N_ROWS, N_FEATURES)).astype(np.float32).astype(np.float64)
    f = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(X[:, 3])
    rows, others = X[:N_ROWS], X[-N_BACKGROUND:]
    table = []
    for name, model, y in (
        ("stumps", AdaBoostClassifier(n_estimators=N_TREES), f > 0),
        ("depth 1", GradientBoostingRegressor(n_estimators=N_TREES, max_depth=1), f),
        ("depth 3", GradientBoostingRegressor(n_estimators=N_TREES, max_depth=3), f),
        ("depth 6", GradientBoostingRegressor(n_estimators=N_TREES, max_depth=6), f),
    ):
        model.fit(X, y)
        form, scores = shap_trees(model), scores_of(model, rows)[:, 0]
        size = float(np.abs(scores).max())
        for background in (None, others):
            if background is None and name == "stumps":
                continue  # they know no numbers of rows
            cpu, found = timed(partial(contributions, model, rows, background))
            how = "interventional" if background is not None else "tree_path_dependent"

            def explained(form: Any = form, background: Any = background, how: str = how) -> Any:
                explainer = shap.TreeExplainer(form, background, feature_perturbation=how)
                values = np.squeeze(explainer.shap_values(rows, check_additivity=False))
                return values, np.ravel(explainer.expected_value)

            shap_cpu, (expected, expected_base) = timed(explained)
            sums = found.base_values + found.values.sum(axis=1)
            table.append(
                {
                    "model": f"{type(model).__name__}, {name}",
                    "features": N_FEATURES,
                    "background": 0 if background is None else len(background),
                    "closed_form": "yes",
                    "explainer": f"TreeExplainer, {how}",
                    "n_fits": 1,
                    "sum_error": worst(sums, scores, size),
                    "shap_sum_error": worst(expected_base + expected.sum(axis=1), scores, size),
                    "difference": worst(found.values, expected, size),
                    "cpu_s": cpu,
                    "shap_cpu_s": shap_cpu,
                    "ratio": cpu / shap_cpu,
                }
            )
    return table


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    rows = [*families(), *times()]
    for row in rows:
        row |= {k: float(f"{v:.2g}") for k, v in row.items() if isinstance(v, float)}
        print(", ".join(f"{name} {row[name]}" for name in COLUMNS if name in row))
    if write:
        with FILE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
