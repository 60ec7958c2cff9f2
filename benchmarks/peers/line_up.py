"""Who takes part in which task, and what is tried.

The packages of the peers are imported when a model is made; see :mod:`entrants`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from entrants import (
    RBF_GAMMA,
    Entrant,
    additive_linear,
    additive_logistic,
    column_booster,
    columns,
    explainable_boosting,
    grid,
    histogram,
    kernel_machine,
    light_gbm,
    nonzero_weights,
    ours,
)
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import AdaBoostClassifier as ScikitAdaBoost
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cgboost
from cgboost import RBF, KernelLibrary, Linear


def digit_entrants() -> tuple[Entrant, ...]:
    """Odd against even digits."""
    rounds, prices = (25, 50, 100, 200, 300, 400), (0.005, 0.01, 0.02, 0.03, 0.05, 0.08)
    machines = [
        Entrant(
            f"CGBoostClassifier, {title}",
            "cgboost",
            lambda penalty=penalty, **own: kernel_machine(penalty=penalty, **own),
            grid(kernels=("R", "L,Q,R"), C=costs),
            columns,
            "columns",
        )
        for title, penalty, costs in (
            ("2-norm", "l2", (1, 10, 100)),
            ("1-norm", "l1", (0.3, 1, 3)),
        )
    ]
    boosters = [
        Entrant(
            f"colboost {solver}",
            "colboost",
            lambda solver=solver, **own: column_booster(solver, **own),
            [{"tradeoff_hyperparam": value} for value in values],
            nonzero_weights,
            "stumps",
        )
        for solver, values in (
            ("lp_boost", prices),
            ("nm_boost", (0.0001, 0.001, 0.01, 0.1, 1, 10)),
            ("cg_boost", (0.01,)),
            ("md_boost", (3,)),
            ("erlp_boost", (50,)),
            ("qrlp_boost", (50,)),
        )
    ]
    return (
        *machines,
        ours("LPBoostClassifier", grid(C=prices), "stumps", tol=1e-3),
        ours("AdaBoostClassifier", grid(n_estimators=rounds), "stumps"),
        Entrant(
            "SVC, RBF",
            "scikit-learn",
            SVC,
            grid(gamma=("scale", RBF_GAMMA), C=(1, 10, 100)),
            lambda model: float(model.n_support_.sum()),
            "support vectors",
        ),
        histogram(HistGradientBoostingClassifier, "numbers", max_iter=(50, 100, 200)),
        light_gbm("Classifier", "numbers", n_estimators=(50, 100, 200)),
        scikit_ada_boost(rounds),
        *boosters,
    )


def scikit_ada_boost(rounds: Sequence[int], form: str = "numbers") -> Entrant:
    """scikit-learn's AdaBoost over its stumps."""
    return Entrant(
        "AdaBoostClassifier of scikit-learn",
        "scikit-learn",
        lambda **own: ScikitAdaBoost(DecisionTreeClassifier(max_depth=1), **own),
        grid(n_estimators=rounds),
        lambda model: float(len(model.estimators_)),
        "stumps",
        form,
    )


def table_entrants(is_number: Sequence[bool]) -> tuple[Entrant, ...]:
    """Classes of rows with categories."""
    rounds, stumps = (50, 100, 200), (25, 50, 100, 200, 300, 400)
    return (
        ours(
            "TransformClassifier",
            grid(n_estimators=(3, 10), max_bins=(32, 64, 128)),
            "stages",
            form="text",
            random_state=0,
        ),
        ours(
            "GradientBoostingClassifier",
            grid(max_depth=(3, 5), n_estimators=rounds),
            "trees",
            form="codes",
            random_state=0,
        ),
        ours("AdaBoostClassifier", grid(n_estimators=stumps), "stumps", form="codes"),
        scikit_ada_boost(stumps, "codes"),
        histogram(HistGradientBoostingClassifier, "categories", max_iter=rounds),
        light_gbm("Classifier", "categories", n_estimators=rounds),
        explainable_boosting("Classifier", "text"),
        Entrant(
            "LogisticGAM",
            "pygam",
            lambda **own: additive_logistic(is_number=is_number, **own),
            grid(lam=(0.1, 0.6, 3)),
            lambda model: float(len(model.coef_)),
            "coefficients",
            "codes",
        ),
    )


def number_entrants() -> tuple[Entrant, ...]:
    """Regression on standardised numbers."""
    rounds = (50, 100, 300)
    library = KernelLibrary({"L": Linear(), "R wide": RBF(0.02), "R": RBF(0.1)})
    return (
        ours(
            "TransformRegressor",
            grid(n_estimators=(3, 10), max_bins=(16, 32, 64)),
            "stages",
            random_state=0,
        ),
        Entrant(
            "AdditiveRegressor",
            "cgboost",
            lambda **own: cgboost.AdditiveRegressor(random_state=0, **own),
            grid(method=("one-pass", "backfitting"), max_bins=(16, 32, 64)),
            lambda model: float(len(model.functions_)),
            "terms",
        ),
        Entrant(
            "LinearTreeRegressor",
            "cgboost",
            lambda **own: cgboost.LinearTreeRegressor(random_state=0, **own),
            grid(max_depth=(1, 3, 6), min_samples_leaf=(10, 30)),
            lambda model: float(model.n_leaves_),
            "leaves",
        ),
        ours(
            "CGBoostRegressor",
            grid(C=(0.1, 1, 10), epsilon=(0.05, 0.2)),
            library=library,
            tol=1e-3,
        ),
        ours(
            "GradientBoostingRegressor",
            grid(max_depth=(2, 3), n_estimators=rounds),
            "trees",
            random_state=0,
        ),
        histogram(HistGradientBoostingRegressor, "numbers", max_iter=rounds),
        light_gbm("Regressor", "numbers", n_estimators=rounds),
        explainable_boosting("Regressor"),
        Entrant(
            "LinearGAM",
            "pygam",
            additive_linear,
            grid(lam=(0.1, 0.6, 3, 10, 30, 100)),
            lambda model: float(len(model.coef_)),
            "coefficients",
        ),
        *(
            Entrant(
                name,
                package,
                maker,
                grid(n_components=(1, 2, 3, 4, 6, 8)),
                lambda model: float(model.n_components),
                "factors",
            )
            for name, package, maker in FACTOR_MODELS
        ),
    )


def fast_pls(n_components: int) -> Any:
    """Partial least squares of ikpls."""
    from ikpls.sklearn import PLS

    return PLS(n_components, scale_X=False, scale_Y=False)


FACTOR_MODELS: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("BLFRegressor", "cgboost", cgboost.BLFRegressor),
    (
        "PLSRegression",
        "scikit-learn",
        lambda n_components: PLSRegression(n_components, scale=False),
    ),
    ("ikpls PLS", "ikpls", fast_pls),
)
"""The same model by three packages; the features are standardised already."""
