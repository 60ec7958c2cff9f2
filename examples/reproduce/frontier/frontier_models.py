"""The methods, which kernels each is tried with, and the records of one split.

Ours are used through the public interface of cgboost, the others are as tuned as ours. Each yields
``(C, columns, output on the held rows, gap)`` of every model it tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from frontier_page import Record
from kernel_values import Images, Matrix, Values, balanced
from sklearn.svm import SVC, LinearSVC

from cgboost import CGBoostClassifier, ColumnGeneration, KernelLibrary, Precomputed
from cgboost.generation import Column
from cgboost.losses import hinge
from cgboost.masters import TwoNormMaster
from cgboost.pricing import FeaturePricer
from cgboost.studies.datasets import Split

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


Numbers = tuple[float, ...]

SIZES = (25, 50, 75, 100, 150, 200, 300, 400, 600)
MEANS = (50, 100, 200, 400)
"""Numbers of means that k-means is asked for."""

STARTS = (50, 100)
"""Class means that the greedy sequence starts from."""

SMALLEST = 10
"""Fewer columns than this are not refitted."""

EXACT: dict[str, list[Numbers]] = {
    "rbf": [(0.025,), (0.03,), (0.035,), (0.04,), (0.05,), (0.02, 0.04), (0.02, 0.04, 0.08)],
    "cosine": [(3,), (4,), (5,), (6,), (7,), (9,), (5, 9), (3, 5, 7)],
    "jittered": [(5,), (6,), (7,), (9,), (5, 9)],
}
BALANCED: dict[str, list[Numbers]] = {
    "rbf": [(0.04,), (0.06,)],
    "cosine": [(9,), (11,), (14,)],
    "jittered": [(9,), (11,), (14,)],
}
MACHINE_ALONE: dict[str, list[Numbers]] = {
    "rbf": [(0.005,), (0.01,), (0.015,), (0.02,)],
    "cosine": [],
    "jittered": [(8,)],
}
"""Beyond those of ``EXACT``, where a support vector machine has the sum of the kernels."""

SPARSE: dict[str, list[float]] = {"rbf": [], "cosine": [4, 6], "jittered": [5, 7]}
LIKENESSES = tuple(EXACT)


class Study:
    """All methods on one split with kernels of one likeness.

    Parameters
    ----------
    split : Split
    seed : int
    likeness : str
    sizes : sequence of int
        Numbers of columns that the sparse methods are asked for, growing.
    """

    def __init__(
        self, split: Split, seed: int, likeness: str, sizes: Sequence[int] = SIZES
    ) -> None:
        n_train = len(split.y_train)
        self.seed, self.likeness = seed, likeness
        self.sizes = [size for size in sizes if size < n_train]
        self.means = [size for size in MEANS if size <= self.sizes[-1] and SPARSE[likeness]]
        self.images = Images(split, likeness, self.means)
        self.y = split.y_train.astype(np.float64)
        self.held = split.y_validation, split.y_test
        self.order = np.random.default_rng(seed).permutation(n_train)

    def records(self) -> Iterator[Record]:
        """Every model, the best C of each on the validation set."""
        yield from self.dense()
        for number in SPARSE[self.likeness]:
            yield from self.sparse(number)

    def dense(self) -> Iterator[Record]:
        """The exact 2-norm over libraries of kernels, and the SVC on their sums."""
        for numbers in EXACT[self.likeness]:
            yield from self.exact(numbers, "2-norm, exact")
        for numbers in BALANCED[self.likeness]:
            yield from self.exact(numbers, "2-norm, exact, balanced", balanced)
        for numbers in EXACT[self.likeness] + MACHINE_ALONE[self.likeness]:
            yield from self.machine(numbers)

    def exact(
        self, numbers: Numbers, method: str, change: Callable[[Values], Values] = lambda same: same
    ) -> Iterator[Record]:
        """The exact 2-norm over kernels side by side."""
        parts = [change(self.images.values(number, "rows")) for number in numbers]
        yield self.best(method, numbers, exact_two_norm(parts, self.y))

    def machine(self, numbers: Numbers) -> Iterator[Record]:
        """The SVC on the sum of the kernels: all C, since they differ in support vectors."""
        parts = [self.images.values(number, "rows") for number in numbers]
        train = np.sum([part.train for part in parts], axis=0)
        held = np.sum([part.held for part in parts], axis=0)
        for model in support_vector_machine(train, held, self.y):
            yield self.record("SVC", numbers, model)

    def sparse(self, number: float) -> Iterator[Record]:
        """Every method that gives a model of few columns, with one kernel."""
        rows, numbers = self.images.values(number, "rows"), (number,)
        nothing = np.zeros(0, dtype=np.intp)
        yield from self.greedy(rows, numbers, "2-norm, greedy", nothing)
        for count in (count for count in STARTS if count < self.sizes[-1]):
            both = self.images.values(number, "rows", f"class means {count}")
            means = np.arange(len(self.y), both.train.shape[1])
            yield from self.greedy(both, numbers, "2-norm, greedy from means", means)
        for model, places in one_norm_path(rows, self.y):
            yield self.record("1-norm path", numbers, model)
            if SMALLEST <= len(places) <= self.sizes[-1]:
                refits = refitted(rows.chosen(places), self.y)
                yield self.best("1-norm, refitted", numbers, refits)
        for size in self.sizes:
            few = self.order[:size]
            random = nystroem(rows.chosen(few), self.y)
            yield self.best("Nyström, random rows", numbers, random)
            part = support_vector_machine(rows.train, rows.held, self.y, few)
            yield self.best("SVC on fewer rows", numbers, part)
        for kind, count in product(("means", "class means"), self.means):
            models = nystroem(self.images.values(number, f"{kind} {count}"), self.y)
            yield self.best(f"Nyström, {kind}", numbers, models)

    def greedy(
        self, values: Values, numbers: Numbers, method: str, start: Matrix
    ) -> Iterator[Record]:
        """The greedy sequence as it is, and each of its choices refitted."""
        sizes = [size for size in self.sizes if size > len(start)]
        for model, places in greedy_two_norm(values, self.y, sizes, start):
            yield self.record(method, numbers, model)
            if len(places) >= SMALLEST:
                refits = refitted(values.chosen(places), self.y)
                yield self.best(f"{method}, refitted", numbers, refits)

    def best(self, method: str, numbers: Numbers, models: Iterable[Model]) -> Record:
        """The record of the model with the lowest validation error."""
        records = [self.record(method, numbers, model) for model in models]
        return min(records, key=lambda record: record.validation)

    def record(self, method: str, numbers: Numbers, model: Model) -> Record:
        """What is kept of a model."""
        C, columns, output, gap = model
        n_validation = len(self.held[0])
        validation, test = (
            100.0 * float(np.mean(np.where(part > 0, 1, -1) != y))
            for part, y in zip(
                (output[:n_validation], output[n_validation:]), self.held, strict=True
            )
        )
        words = "+".join(f"{number:g}" for number in numbers)
        return Record(self.seed, self.likeness, words, method, C, columns, validation, test, gap)
