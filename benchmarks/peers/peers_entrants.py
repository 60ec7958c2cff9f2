"""Who takes part in which task: how each class is made, what is tried, how its size is counted.

Every package but cgboost and scikit-learn is imported when a model is made, so that one that is not
installed becomes a record with an error. All use one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as ScikitAdaBoost
from sklearn.tree import DecisionTreeClassifier

import cgboost
from cgboost import RBF, KernelLibrary, Linear
from cgboost.studies.odd_even import parse_library

COLBOOST = "colboost.ensemble.EnsembleClassifier"
"""Its default learners are stumps."""

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


def made(path: str, *first: Any, **fixed: Any) -> Callable[..., Any]:
    """A class, imported when a model is made, with the parameters that are the same for all."""

    def make(**own: Any) -> Any:
        module, _, name = path.rpartition(".")
        return getattr(import_module(module), name)(*first, **fixed, **own)

    return make


def number(name: str) -> Callable[[Any], float]:
    """A number that a fitted model has."""
    return lambda model: float(attrgetter(name)(model))


def length(name: str) -> Callable[[Any], float]:
    """How many of something a fitted model has."""
    return lambda model: float(len(attrgetter(name)(model)))


columns = number("n_columns_")


def nonzero_weights(model: Any) -> float:
    """Members of a colboost ensemble that have a weight."""
    return float(np.count_nonzero(model.weights))


def ours(
    name: str,
    candidates: Sequence[Parameters],
    unit: str = "columns",
    form: str = "numbers",
    size: Callable[[Any], float] = columns,
    **fixed: Any,
) -> Entrant:
    """A class of cgboost."""
    make = made(f"cgboost.{name}", **fixed)
    return Entrant(name, "cgboost", make, candidates, size, unit, form)


def kernel_machine(kernels: str, C: float, penalty: Any) -> Any:
    """CG-Boost over the kernel of the SVC, or over three kernels of which it is one."""
    library = parse_library(kernels) if kernels != "R" else KernelLibrary({"R": RBF(RBF_GAMMA)})
    return cgboost.CGBoostClassifier(library, C=C, penalty=penalty, tol=1e-3)


def additive_logistic(lam: float, is_number: Sequence[bool]) -> Any:
    """A classifier of pygam: a spline of each number, a coefficient for each category."""
    import pygam

    terms = [pygam.s(j, n_splines=10) if own else pygam.f(j) for j, own in enumerate(is_number)]
    return pygam.LogisticGAM(sum(terms[1:], start=terms[0]), lam=lam)


def histogram(kind: str, form: str, **values: Sequence[int]) -> Entrant:
    """scikit-learn's histogram boosting with small and with default trees."""
    name = f"HistGradientBoosting{kind}"
    fixed = {"categorical_features": "from_dtype"} if form == "categories" else {}
    make = made(f"sklearn.ensemble.{name}", random_state=0, early_stopping=False, **fixed)
    tried = grid(max_leaf_nodes=(7, 31), **values)
    return Entrant(name, "scikit-learn", make, tried, number("n_iter_"), "trees", form)


def light_gbm(kind: str, form: str, **values: Sequence[int]) -> Entrant:
    """LightGBM with small and with default trees."""
    make, tried = (
        made(f"lightgbm.LGBM{kind}", n_jobs=1, verbose=-1),
        grid(num_leaves=(7, 31), **values),
    )

    def size(model: Any) -> float:
        return float(model.booster_.num_trees())

    return Entrant(f"LGBM{kind}", "lightgbm", make, tried, size, "trees", form)


def explainable_boosting(kind: str, form: str = "numbers") -> Entrant:
    """EBM without pairs, and with as many as by default; fewer bags and larger steps than that."""
    name = f"ExplainableBoosting{kind}"
    fixed = {"n_jobs": 1, "outer_bags": 2, "learning_rate": 0.04, "random_state": 0}
    make, tried = made(f"interpret.glassbox.{name}", **fixed), [{"interactions": 0}, {}]
    return Entrant(name, "interpret-core", make, tried, length("term_features_"), "terms", form)


def scikit_ada_boost(rounds: Sequence[int], form: str = "numbers") -> Entrant:
    """scikit-learn's AdaBoost over its stumps."""

    def make(**own: Any) -> Any:
        return ScikitAdaBoost(DecisionTreeClassifier(max_depth=1), **own)

    name, tried = "AdaBoostClassifier of scikit-learn", grid(n_estimators=rounds)
    return Entrant(name, "scikit-learn", make, tried, length("estimators_"), "stumps", form)


def digit_entrants() -> tuple[Entrant, ...]:
    """Odd against even digits."""
    rounds, prices = (25, 50, 100, 200, 300, 400), (0.005, 0.01, 0.02, 0.03, 0.05, 0.08)

    def machine(title: str, penalty: str, *costs: float) -> Entrant:
        def make(**own: Any) -> Any:
            return kernel_machine(penalty=penalty, **own)

        tried = grid(kernels=("R", "L,Q,R"), C=costs)
        return Entrant(f"CGBoostClassifier, {title}", "cgboost", make, tried, columns, "columns")

    def booster(solver: str, *values: float) -> Entrant:
        make, tried = made(COLBOOST, solver, max_iter=200), grid(tradeoff_hyperparam=values)
        return Entrant(f"colboost {solver}", "colboost", make, tried, nonzero_weights, "stumps")

    return (
        machine("2-norm", "l2", 1, 10, 100),
        machine("1-norm", "l1", 0.3, 1, 3),
        ours("LPBoostClassifier", grid(C=prices), "stumps", tol=1e-3),
        ours("AdaBoostClassifier", grid(n_estimators=rounds), "stumps"),
        Entrant(
            "SVC, RBF",
            "scikit-learn",
            made("sklearn.svm.SVC"),
            grid(gamma=("scale", RBF_GAMMA), C=(1, 10, 100)),
            length("support_"),
            "support vectors",
        ),
        histogram("Classifier", "numbers", max_iter=(50, 100, 200)),
        light_gbm("Classifier", "numbers", n_estimators=(50, 100, 200)),
        scikit_ada_boost(rounds),
        booster("lp_boost", *prices),
        booster("nm_boost", 0.0001, 0.001, 0.01, 0.1, 1, 10),
        booster("cg_boost", 0.01),
        booster("md_boost", 3),
        booster("erlp_boost", 50),
        booster("qrlp_boost", 50),
    )


def table_entrants(is_number: Sequence[bool]) -> tuple[Entrant, ...]:
    """Classes of rows with categories."""
    rounds, stumps = (50, 100, 200), (25, 50, 100, 200, 300, 400)
    stages = grid(n_estimators=(3, 10), max_bins=(32, 64, 128))
    trees = grid(max_depth=(3, 5), n_estimators=rounds)
    return (
        ours("TransformClassifier", stages, "stages", "text", random_state=0),
        ours("GradientBoostingClassifier", trees, "trees", "codes", random_state=0),
        ours("AdaBoostClassifier", grid(n_estimators=stumps), "stumps", "codes"),
        scikit_ada_boost(stumps, "codes"),
        histogram("Classifier", "categories", max_iter=rounds),
        light_gbm("Classifier", "categories", n_estimators=rounds),
        explainable_boosting("Classifier", "text"),
        Entrant(
            "LogisticGAM",
            "pygam",
            lambda **own: additive_logistic(is_number=is_number, **own),
            grid(lam=(0.1, 0.6, 3)),
            length("coef_"),
            "coefficients",
            "codes",
        ),
    )


def number_entrants() -> tuple[Entrant, ...]:
    """Regression on standardised numbers; partial least squares by three packages."""
    rounds, bins = (50, 100, 300), (16, 32, 64)
    library = KernelLibrary({"L": Linear(), "R wide": RBF(0.02), "R": RBF(0.1)})
    stages = grid(n_estimators=(3, 10), max_bins=bins)
    additive = grid(method=("one-pass", "backfitting"), max_bins=bins)
    leaves = grid(max_depth=(1, 3, 6), min_samples_leaf=(10, 30))
    costs = grid(C=(0.1, 1, 10), epsilon=(0.05, 0.2))
    trees = grid(max_depth=(2, 3), n_estimators=rounds)
    splines = made("pygam.LinearGAM"), grid(lam=(0.1, 0.6, 3, 10, 30, 100))
    factors, seed = grid(n_components=(1, 2, 3, 4, 6, 8)), {"random_state": 0}
    plain, fast = made(PLS, scale=False), made(FAST_PLS, scale_X=False, scale_Y=False)
    count = number("n_components")
    return (
        ours("TransformRegressor", stages, "stages", **seed),
        ours("AdditiveRegressor", additive, "terms", size=length("functions_"), **seed),
        ours("LinearTreeRegressor", leaves, "leaves", size=number("n_leaves_"), **seed),
        ours("CGBoostRegressor", costs, library=library, tol=1e-3),
        ours("GradientBoostingRegressor", trees, "trees", **seed),
        histogram("Regressor", "numbers", max_iter=rounds),
        light_gbm("Regressor", "numbers", n_estimators=rounds),
        explainable_boosting("Regressor"),
        Entrant("LinearGAM", "pygam", *splines, length("coef_"), "coefficients"),
        ours("BLFRegressor", factors, "factors", size=count),
        Entrant("PLSRegression", "scikit-learn", plain, factors, count, "factors"),
        Entrant("ikpls PLS", "ikpls", fast, factors, count, "factors"),
    )


PLS, FAST_PLS = "sklearn.cross_decomposition.PLSRegression", "ikpls.sklearn.PLS"


def latent_entrants(n_components: int) -> tuple[Entrant, ...]:
    """Partial least squares by four algorithms; the coefficients are compared."""
    fast = {"n_components": n_components, "scale_X": False, "scale_Y": False}
    makers = (
        ("BLFRegressor", "cgboost", made("cgboost.BLFRegressor", n_components)),
        ("PLSRegression", "scikit-learn", made(PLS, n_components, scale=False)),
        ("ikpls PLS, algorithm 1", "ikpls", made(FAST_PLS, algorithm=1, **fast)),
        ("ikpls PLS, algorithm 2", "ikpls", made(FAST_PLS, algorithm=2, **fast)),
    )
    size = number("n_components")
    return tuple(Entrant(*own, [{}], size, "factors", compared=distance) for own in makers)


def distance(model: Any, rows: Any) -> float:
    """Largest difference from the reference coefficients, relative to the largest of them."""
    coef = np.ravel(model.coef_)
    return float(np.abs(coef - rows.reference).max() / np.abs(rows.reference).max())


def program_entrants(formulation: str, solver: str, C: float, most: int) -> tuple[Entrant, ...]:
    """One program by cgboost over all stumps, over greedy ones, and by colboost over the same."""
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    lp_boost, fixed = "cgboost.LPBoostClassifier", {"formulation": formulation, "C": C, "tol": 1e-6}
    limits = {"tradeoff_hyperparam": C, "max_iter": most, "early_stopping": False}
    found = [
        Entrant(
            f"LPBoostClassifier, {title} stumps",
            "cgboost",
            made(lp_boost, learner, **fixed),
            [{}],
            columns,
            "stumps",
            compared=lambda model, _: float(model.objective_),
        )
        for title, learner in (("all", None), ("CART", stump))
    ]
    theirs = Entrant(
        f"colboost {solver}",
        "colboost",
        made(COLBOOST, solver, **limits),
        [{}],
        nonzero_weights,
        "stumps",
        compared=lambda model, _: float(model.objective_values_[-1]),
    )
    return (*found, theirs)
