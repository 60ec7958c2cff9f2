"""What is compared: a method fits rows for a C, and says how it decides and what it keeps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from mkl_data import Grams, Rows, Vector
from simple_mkl import SimpleMKL
from sklearn.svm import SVC

from cgboost import CGBoostClassifier
from cgboost.exceptions import TrivialModelWarning
from cgboost.penalties import Penalty, SquaredGroupNorm

KEPT = 1e-5
"""A weight below this share of the largest one is not counted as a kernel kept, by any method."""

TOLS = {"l1": 1e-3, "l2": 1e-3}
"""Certified relative gaps at which our fits end; the others have the default, 1e-4, and SimpleMKL
1e-2."""

MACHINE_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""C of methods that end with a support vector machine."""

BEST_KERNELS = 10
"""Kernels, chosen with C = 1, for which every C is tried."""

EASY_LAMBDAS = (0.1, 0.5, 0.9)
"""λ of EasyMKL, between 0 (the largest margin) and 1 (the centres of the classes)."""

L1_COSTS = (0.03, 0.1, 0.3, 1.0)
"""C of the 1-norm of coefficients."""

L2_COSTS = (1e-6, 1e-5, 1e-4, 1e-3)
"""C of the 2-norm of coefficients, whose kernel Σ_p K_p K_pᵀ has a diagonal of some 10^4."""

GROUP_COSTS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 1.0)
"""C of the group norm, close together where the first kernels enter: there Σ‖f_p‖ grows fast."""

SQUARED_COSTS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
"""C of half its square, and so of SimpleMKL."""

PAPERS_COST = 100.0
"""C of the SimpleMKL paper, for Gram matrices of trace 1: C/n for ours, whose trace is n."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model.

    Attributes
    ----------
    outputs : ndarray of shape (n_test,)
        Decision values of the test rows.
    kernels : int
        How many have a part in it.
    objective, gap : float
        Where the method has them; the gap is relative.
    """

    outputs: Vector
    kernels: int
    objective: float = float("nan")
    gap: float = float("nan")


@dataclass(frozen=True)
class Method:
    """A method and the choices that cross-validation has.

    Attributes
    ----------
    fit : callable
        Of rows and a choice.
    choices : tuple
        What is tried on the folds, in order: the first of the best is taken. The best kernel has
        its own way, see :func:`mkl_fits.chosen_kernel`.
    validate : callable, optional
        Of rows and choices: decision values of the test rows for each choice, found faster than by
        a fit for each.
    needs_grams : bool
        Whether the time of the Gram matrices is to be added to that of ``fit``.
    """

    fit: Callable[[Rows, Any], Fit]
    choices: tuple[Any, ...]
    validate: Callable[[Rows, Sequence[Any]], list[Vector]] | None = None
    needs_grams: bool = True

    def outputs(self, rows: Rows, choices: Sequence[Any]) -> list[Vector]:
        """Decision values of the test rows for each choice."""
        if self.validate is not None:
            return self.validate(rows, choices)
        return [self.fit(rows, choice).outputs for choice in choices]


def kept(weights: Vector) -> int:
    """How many weights are not almost nothing."""
    return int(np.sum(weights > KEPT * weights.max(initial=0.0)))


def machine(gram: Any, cross: Any, y: Vector, C: float) -> Vector:
    """Decision values of a support vector machine."""
    fitted = SVC(C=C, kernel="precomputed", cache_size=500).fit(gram, y)
    return np.asarray(fitted.decision_function(cross))


def weighted(grams: Grams, weights: Vector) -> Vector:
    """Σ_p d_p K_p."""
    some = np.flatnonzero(weights)
    return np.tensordot(weights[some], grams[some], 1)


def uniform(rows: Rows, C: float) -> Fit:
    """The mean of all kernels."""
    gram, cross = rows.grams.mean(axis=0), rows.cross.mean(axis=0)
    return Fit(machine(gram, cross, rows.y, C), len(rows.grams))


def single(rows: Rows, choice: tuple[int, float]) -> Fit:
    """One kernel."""
    p, C = choice
    return Fit(machine(rows.grams[p], rows.cross[p], rows.y, C), 1)


def easy(rows: Rows, choice: tuple[float, float]) -> Fit:
    """A support vector machine with the weights of EasyMKL."""
    lam, C = choice
    weights = easy_weights(rows, lam)
    gram, cross = weighted(rows.grams, weights), weighted(rows.cross, weights)
    return Fit(machine(gram, cross, rows.y, C), kept(weights))


@lru_cache(maxsize=1)
def easy_weights(rows: Rows, lam: float) -> Vector:
    """Weights of EasyMKL, by MKLpy; those of the last call are kept for the next C."""
    import torch
    from MKLpy.algorithms import EasyMKL

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has renamed what MKLpy calls
        combined = EasyMKL(lam=lam, learner=SVC()).combine_kernels(
            [torch.from_numpy(gram) for gram in rows.grams], rows.y
        )
    return np.asarray(combined.weights.numpy(), dtype=np.float64)


def simple(rows: Rows, choice: tuple[float, bool]) -> Fit:
    """SimpleMKL with a C, as its paper has it; or on kernels of unit variance, as ours are."""
    C, standardize = choice
    grams, cross = rows.grams, rows.cross
    if standardize:
        variances = np.einsum("pii->p", grams) / len(rows.y) - grams.mean(axis=(1, 2))
        grams, cross = (values / variances[:, None, None] for values in (grams, cross))
    found = SimpleMKL(grams, rows.y, C).solve()
    objective = found.machine.objective
    return Fit(found.outputs(cross), kept(found.weights), objective, found.gap)


def classifier(penalty: str | Penalty, C: float, rows: Rows) -> CGBoostClassifier:
    """Our classifier, not fitted."""
    model = CGBoostClassifier(rows.library, penalty=penalty, C=C)
    if isinstance(penalty, str) and penalty in TOLS:
        model.set_params(tol=TOLS[penalty])
    if penalty == "l2":
        model.set_params(columns_per_round="all")
    return model


def ours(penalty: str | Penalty, rows: Rows, C: float) -> Fit:
    """Our classifier, from features to the fitted model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialModelWarning)  # some C are too small
        model = classifier(penalty, C, rows).fit(rows.X, rows.y)
    if hasattr(model, "kernel_weights_"):
        count = kept(np.array(list(model.kernel_weights_.values())))
    else:
        count = sum(n > 0 for n in model.columns_per_kernel_.values())
    return Fit(model.decision_function(rows.X_test), count, model.objective_, model.gap_)


def path(penalty: str | Penalty, rows: Rows, costs: Sequence[float]) -> list[Vector]:
    """Decision values of the test rows along a path of C, in ascending order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialModelWarning)  # some C are too small
        found = classifier(penalty, costs[0], rows).path(rows.X, rows.y, costs)
    return [model.decision_function(rows.X_test) for model in found.models]


def all_columns(rows: Rows, costs: Sequence[float]) -> list[Vector]:
    """½‖α‖² over all columns of all kernels: the support vector machine with Σ_p K_p K_pᵀ."""
    gram = sum(own @ own.T for own in rows.grams)
    cross = sum(own @ columns.T for own, columns in zip(rows.cross, rows.grams, strict=True))
    return [machine(gram, cross, rows.y, C) for C in costs]


UNIFORM, SINGLE, EASY = "uniform sum, SVC", "best kernel, SVC", "EasyMKL, SVC"
L1, L2, GROUP = (f"CGBoostClassifier, {penalty}" for penalty in ("l1", "l2", "group"))
SQUARED = "CGBoostClassifier, SquaredGroupNorm()"
SIMPLE, SIMPLE_PAPER = "SimpleMKL, same kernels and C", "SimpleMKL, as in its paper"


def our_method(penalty: str | Penalty, costs: tuple[float, ...]) -> Method:
    """One that finds C along a path."""
    return Method(partial(ours, penalty), costs, partial(path, penalty), needs_grams=False)


METHODS = {
    UNIFORM: Method(uniform, MACHINE_COSTS),
    SINGLE: Method(single, MACHINE_COSTS),
    EASY: Method(easy, tuple((lam, C) for lam in EASY_LAMBDAS for C in MACHINE_COSTS)),
    L1: our_method("l1", L1_COSTS),
    L2: Method(partial(ours, "l2"), L2_COSTS, all_columns, needs_grams=False),
    GROUP: our_method("group", GROUP_COSTS),
    SQUARED: our_method(SquaredGroupNorm(), SQUARED_COSTS),
}
"""Methods that choose C on the folds."""
