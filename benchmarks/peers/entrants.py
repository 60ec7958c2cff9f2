"""Who is compared: how each class is made, what is tried with it, and how its size is counted.

Every package but cgboost and scikit-learn is imported when a model is made, so that one that is not
installed becomes a record with an error. All use one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import cgboost
from cgboost import RBF, KernelLibrary
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
