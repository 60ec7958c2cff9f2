"""Which features matter? Greedy methods and the lasso on linear models of which the truth is known.

y = Σ β_j x_j + noise of variance 1, with ten true features. Three designs, all features of
variance 1:

* "independent": normal features, β = ±1;
* "alike": the same with a common part, so that any two correlate by 0.8;
* "decoys": each feature that does *not* matter correlates by √(3/4) with the sum of those that do,
  and more than any of them (√(1/10)); β = 3, 3.75, …, 9.75.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoLarsCV, LassoLarsIC
from transform_regression.measured import Record

from cgboost import L2BoostRegressor, OrthogonalGreedyRegressor

Vector = NDArray[np.float64]

ROWS, FEATURES = (100, 200, 400), (50, 200, 1000)
DESIGNS = ("independent", "alike", "decoys")
N_TRUE = 10
COMMON, DECOY = 0.8, 0.75
TRIMMED, UNTRIMMED = "OGA + HDBIC + trimming", "OGA + HDBIC"
HDIC = "OGA + HDIC + trimming"
BOOSTING = "L2-Boosting, HDBIC"
LASSO_CV, LASSO_IC = "lasso, cross-validation", "lasso, BIC, noise known"
METHODS = (TRIMMED, UNTRIMMED, HDIC, BOOSTING, LASSO_CV, LASSO_IC)


def cells() -> list[str]:
    """Names of all designs with all sizes."""
    return [cell(design, n, p) for design in DESIGNS for n in ROWS for p in FEATURES]


def cell(design: str, n: int, p: int) -> str:
    """The name of a design with n rows and p features."""
    return f"{design}, n {n}, p {p}"


def support(name: str, seed: int) -> list[Record]:
    """True features missed and others chosen, by every method, on one draw."""
    design, n, p = (part.split()[-1] for part in name.split(", "))
    X, y, true = draw_model(design, int(n), int(p), seed)
    records = []
    for method in METHODS:
        clock = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = make(method).fit(X, y)
        seconds = time.process_time() - clock
        found, wanted = set(np.flatnonzero(model.coef_)), set(true)
        counts = (float(len(wanted - found)), float(len(found - wanted)))
        records.append(Record("support", name, method, seed, counts, seconds))
    return records


def draw_model(design: str, n: int, p: int, seed: int) -> tuple[Vector, Vector, NDArray[np.intp]]:
    """Features, response, and which features are true."""
    rng = np.random.default_rng([seed, n, p, DESIGNS.index(design)])
    X = rng.normal(size=(n, p))
    true = np.sort(rng.choice(p, N_TRUE, replace=False))
    beta = rng.choice([-1.0, 1.0], N_TRUE)
    if design == "alike":
        X = np.sqrt(1 - COMMON) * X + np.sqrt(COMMON) * rng.normal(size=(n, 1))
    if design == "decoys":
        beta = 3 + 0.75 * np.arange(N_TRUE)
        sums = X[:, true].sum(axis=1, keepdims=True)
        mixed = np.sqrt(1 - DECOY) * X + np.sqrt(DECOY / N_TRUE) * sums
        mixed[:, true] = X[:, true]
        X = mixed
    return X, X[:, true] @ beta + rng.normal(size=n), true


def make(method: str) -> Any:
    """A model; the lasso's information criterion is told the true variance of the noise."""
    return {
        TRIMMED: OrthogonalGreedyRegressor(),
        UNTRIMMED: OrthogonalGreedyRegressor(trim=False),
        HDIC: OrthogonalGreedyRegressor(criterion="hdic"),
        BOOSTING: L2BoostRegressor(n_estimators=1000, criterion="hdbic"),
        LASSO_CV: LassoLarsCV(cv=5),
        LASSO_IC: LassoLarsIC("bic", noise_variance=1.0),
    }[method]
