"""Who takes part in which task: how each class is made, what is tried, how its size is counted.

Every package but cgboost and scikit-learn is imported when a model is made, so that one that is not
installed becomes a record with an error. All use one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import AdaBoostClassifier as ScikitAdaBoost
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cgboost
from cgboost import RBF, KernelLibrary, Linear
from cgboost.studies.odd_even import parse_library

MOST_CANDIDATES = 6
RBF_GAMMA = 0.03
"""Where the RBF of MNIST pixels in [0, 1] is good; "scale" would be 0.013."""

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Entrant:
    """One class on one task.

    Attributes
    ----------
    name, package : str
        As in the tables; the distribution that is installed.
    make : callable
        An estimator of the parameters of a candidate.
    candidates : sequence of mappings
        At most six, one of which the validation rows choose.
    size, unit : callable and str
        A number of a fitted model, and what it counts.
    form : str
        Which form of the rows it is given.
    compared : callable or None
        What is compared beyond accuracy, of a fitted model and the rows.
    """

    name: str
    package: str
    make: Callable[..., Any]
    candidates: Sequence[Parameters]
    size: Callable[[Any], float]
    unit: str
    form: str = "numbers"
    compared: Callable[[Any, Any], float] | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is a class of cgboost."""
        return self.package == "cgboost"


def grid(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """All combinations."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def columns(model: Any) -> float:
    """Columns of a model of ours."""
    return float(model.n_columns_)


def ours(
    name: str, candidates: Sequence[Parameters], unit: str = "columns", **fixed: Any
) -> Entrant:
    """A class of cgboost that counts columns."""
    maker = getattr(cgboost, name)
    form = fixed.pop("form", "numbers")
    return Entrant(
        name, "cgboost", lambda **own: maker(**fixed, **own), candidates, columns, unit, form
    )


def kernel_machine(kernels: str, C: float, penalty: Any) -> Any:
    """CG-Boost over the kernel of the SVC, or over three kernels of which it is one."""
    library = parse_library(kernels) if kernels != "R" else KernelLibrary({"R": RBF(RBF_GAMMA)})
    return cgboost.CGBoostClassifier(library, C=C, penalty=penalty, tol=1e-3)


def column_booster(solver: str, **own: Any) -> Any:
    """A booster of colboost with its default learners, stumps, and its default stopping rule."""
    from colboost.ensemble import EnsembleClassifier

    return EnsembleClassifier(solver, **({"max_iter": 200} | own))


def nonzero_weights(model: Any) -> float:
    """Members of a colboost ensemble that have a weight."""
    return float(np.count_nonzero(model.weights))


def light(kind: str, **own: Any) -> Any:
    """LightGBM."""
    import lightgbm

    return getattr(lightgbm, f"LGBM{kind}")(n_jobs=1, verbose=-1, **own)


def light_trees(model: Any) -> float:
    """Trees of LightGBM."""
    return float(model.booster_.num_trees())


def explainable(kind: str, **own: Any) -> Any:
    """An explainable boosting machine, with fewer bags and larger steps than by default."""
    from interpret import glassbox

    maker = getattr(glassbox, f"ExplainableBoosting{kind}")
    return maker(n_jobs=1, outer_bags=2, learning_rate=0.04, random_state=0, **own)


def additive_logistic(lam: float, is_number: Sequence[bool]) -> Any:
    """A classifier of pygam: a spline of each number, a coefficient for each category."""
    import pygam

    terms = [pygam.s(j, n_splines=10) if own else pygam.f(j) for j, own in enumerate(is_number)]
    return pygam.LogisticGAM(sum(terms[1:], start=terms[0]), lam=lam)


def additive_linear(lam: float) -> Any:
    """A regressor of pygam: a spline of each feature."""
    import pygam

    return pygam.LinearGAM(lam=lam)


def histogram(maker: Any, form: str, **values: Sequence[int]) -> Entrant:
    """scikit-learn's histogram boosting with small and with default trees."""
    fixed = {"categorical_features": "from_dtype"} if form == "categories" else {}
    return Entrant(
        maker.__name__,
        "scikit-learn",
        lambda **own: maker(random_state=0, early_stopping=False, **fixed, **own),
        grid(max_leaf_nodes=(7, 31), **values),
        lambda model: float(model.n_iter_),
        "trees",
        form,
    )


def light_gbm(kind: str, form: str, **values: Sequence[int]) -> Entrant:
    """LightGBM with small and with default trees."""
    candidates = grid(num_leaves=(7, 31), **values)
    return Entrant(
        f"LGBM{kind}",
        "lightgbm",
        lambda **own: light(kind, **own),
        candidates,
        light_trees,
        "trees",
        form,
    )


def explainable_boosting(kind: str, form: str = "numbers") -> Entrant:
    """EBM without pairs, and with as many as it takes by default."""
    return Entrant(
        f"ExplainableBoosting{kind}",
        "interpret-core",
        lambda **own: explainable(kind, **own),
        [{"interactions": 0}, {}],
        lambda model: float(len(model.term_features_)),
        "terms",
        form,
    )


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
