"""The methods: ours through the public interface of cgboost, the others as tuned as ours.

Each yields ``(C, columns, output on the held rows, gap)`` of every model it tries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from kernel_values import Matrix, Values
from sklearn.svm import SVC, LinearSVC

from cgboost import CGBoostClassifier, ColumnGeneration, KernelLibrary, Precomputed
from cgboost.generation import Column
from cgboost.losses import hinge
from cgboost.masters import TwoNormMaster
from cgboost.pricing import FeaturePricer

Model = tuple[float, int, Matrix, float]

EXACT_C = (1.0, 3.0, 10.0, 30.0)
PATH_C = (0.15, 0.3, 0.6, 1.0, 2.0, 5.0)
GREEDY_C = 30.0
REFIT_C = (3.0, 10.0, 30.0)
SVC_C = (1.0, 2.0, 4.0, 8.0, 16.0, 100.0)
LINEAR_C = (0.01, 0.1, 1.0, 10.0)
COLUMNS_PER_ROUND = 5
PATH_TOL = 1e-3


def exact_two_norm(parts: Sequence[Values], y: Matrix) -> Iterator[Model]:
    """The certified optimum over the columns of all kernels: its implied kernel is K Kᵀ."""
    train = np.hstack([part.train for part in parts])
    held = np.hstack([part.held for part in parts])
    library = KernelLibrary(
        {f"kernel {k}": Precomputed(first=k * len(train)) for k in range(len(parts))}
    )
    model = CGBoostClassifier(
        library, penalty="l2", priority="full", columns_per_round=train.shape[1]
    )
    for fitted in model.path(train, y, EXACT_C).models:
        yield fitted.C, fitted.n_columns_, fitted.decision_function(held), fitted.gap_


def greedy_two_norm(
    values: Values, y: Matrix, sizes: Sequence[int], start: Matrix
) -> Iterator[tuple[Model, Matrix]]:
    """The 2-norm model at each size with its certified gap, and the places of its columns.

    The columns at ``start`` are in the model from the beginning; the others are generated.
    """
    master = TwoNormMaster(hinge(y, np.full(len(y), GREEDY_C)))
    pricer = FeaturePricer(values.train)
    master.add([pricer.pool.column(0, place) for place in start])
    result = ColumnGeneration(
        master, pricer, columns_per_round=COLUMNS_PER_ROUND, max_columns=sizes[-1]
    ).run()
    places = places_of(result.columns)
    columns = result.history["columns"]
    rounds = np.searchsorted(columns, sizes, side="right") - 1
    for turn in np.unique(rounds[(rounds >= 0) & (columns[rounds] > len(start))]):
        coef, intercept = result.path[turn]
        own = places[: len(coef)]
        output = values.held[:, own] @ coef + intercept
        yield (GREEDY_C, len(own), output, float(result.history["gap"][turn])), own


def one_norm_path(values: Values, y: Matrix) -> Iterator[tuple[Model, Matrix]]:
    """Models of growing C, and the places of their columns."""
    model = CGBoostClassifier(
        KernelLibrary({"kernel": Precomputed()}), penalty="l1", priority="full", tol=PATH_TOL
    )
    for fitted in model.path(values.train, y, PATH_C).models:
        output = fitted.decision_function(values.held)
        yield (fitted.C, fitted.n_columns_, output, fitted.gap_), fitted.columns_["row"]


def refitted(values: Values, y: Matrix) -> Iterator[Model]:
    """The 2-norm over the centres that are the columns of ``values``, and C tuned again.

    Their columns are replaced by K(·, Z) K(Z, Z)^(−1/2): then the penalty ½Σα² is the norm of the
    model in the kernel's own space, which suits a few centres better than that of coefficients.
    """
    train, held = nystroem_features(values)
    for C in REFIT_C:
        master = TwoNormMaster(hinge(y, np.full(len(y), C)))
        pricer = FeaturePricer(train)
        result = ColumnGeneration(master, pricer, columns_per_round=train.shape[1]).run()
        output = held[:, places_of(result.columns)] @ result.coef + result.intercept
        yield C, train.shape[1], output, np.nan


def support_vector_machine(
    train: Matrix, held: Matrix, y: Matrix, rows: Matrix | None = None
) -> Iterator[Model]:
    """scikit-learn's SVC on the symmetric part of a kernel; ``rows`` trains it on a few rows."""
    rows = np.arange(len(train)) if rows is None else rows
    square = train[np.ix_(rows, rows)]
    for C in SVC_C:
        model = SVC(C=C, kernel="precomputed").fit((square + square.T) / 2, y[rows])
        output = held[:, rows[model.support_]] @ model.dual_coef_[0] + model.intercept_[0]
        yield C, len(model.support_), output, np.nan


def nystroem(values: Values, y: Matrix) -> Iterator[Model]:
    """A linear SVM on the Nyström features of the centres that are the columns of ``values``."""
    train, held = nystroem_features(values)
    for C in LINEAR_C:
        model = LinearSVC(C=C, dual=False).fit(train, y)
        yield C, train.shape[1], model.decision_function(held), np.nan


def nystroem_features(values: Values) -> tuple[Matrix, Matrix]:
    """K(·, Z) K(Z, Z)^(−1/2), as scikit-learn's ``Nystroem`` makes it, on both sets of rows."""
    left, singular, right = np.linalg.svd((values.between + values.between.T) / 2)
    root = (left / np.sqrt(np.maximum(singular, 1e-12))) @ right
    return values.train @ root, values.held @ root


def places_of(columns: Sequence[Column]) -> Matrix:
    """Which columns of the matrix given to a ``FeaturePricer`` these are."""
    hypotheses: list[Any] = [column.hypothesis for column in columns]
    return np.array([hypothesis.index for hypothesis in hypotheses], dtype=np.intp)
