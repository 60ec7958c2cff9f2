"""Who solves the same problem: partial least squares by four algorithms, and LPBoost's program.

Each entrant has one candidate; what is compared is the model, or the objective, that it reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from entrants import Entrant, column_booster, columns, nonzero_weights
from sklearn.cross_decomposition import PLSRegression
from sklearn.tree import DecisionTreeClassifier

import cgboost


def latent_entrants(n_components: int) -> tuple[Entrant, ...]:
    """Partial least squares by four algorithms; the coefficients are compared."""

    def fast(algorithm: int) -> Any:
        from ikpls.sklearn import PLS

        return PLS(n_components, algorithm=algorithm, scale_X=False, scale_Y=False)

    makers: list[tuple[str, str, Callable[..., Any]]] = [
        ("BLFRegressor", "cgboost", lambda: cgboost.BLFRegressor(n_components)),
        ("PLSRegression", "scikit-learn", lambda: PLSRegression(n_components, scale=False)),
        ("ikpls PLS, algorithm 1", "ikpls", lambda: fast(1)),
        ("ikpls PLS, algorithm 2", "ikpls", lambda: fast(2)),
    ]
    return tuple(
        Entrant(
            name, package, make, [{}], lambda _: float(n_components), "factors", "numbers", distance
        )
        for name, package, make in makers
    )


def distance(model: Any, rows: Any) -> float:
    """Largest difference from the reference coefficients, relative to the largest of them."""
    coef = np.ravel(model.coef_)
    return float(np.abs(coef - rows.reference).max() / np.abs(rows.reference).max())


def program_entrants(formulation: str, solver: str, C: float, most: int) -> tuple[Entrant, ...]:
    """One program by cgboost over all stumps, over greedy ones, and by colboost over the same."""

    def booster(estimator: Any) -> Any:
        return cgboost.LPBoostClassifier(estimator, formulation=formulation, C=C, tol=1e-6)

    stump = DecisionTreeClassifier(max_depth=1, random_state=0)

    def reached(model: Any, _: Any) -> float:
        return float(model.objective_)

    return (
        Entrant(
            "LPBoostClassifier, all stumps",
            "cgboost",
            lambda: booster(None),
            [{}],
            columns,
            "stumps",
            compared=reached,
        ),
        Entrant(
            "LPBoostClassifier, CART stumps",
            "cgboost",
            lambda: booster(stump),
            [{}],
            columns,
            "stumps",
            compared=reached,
        ),
        Entrant(
            f"colboost {solver}",
            "colboost",
            lambda: column_booster(
                solver, tradeoff_hyperparam=C, max_iter=most, early_stopping=False
            ),
            [{}],
            nonzero_weights,
            "stumps",
            compared=lambda model, _: float(model.objective_values_[-1]),
        ),
    )
