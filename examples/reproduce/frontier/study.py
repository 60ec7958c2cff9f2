"""Which kernels each method is tried with, and the records of one split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import numpy as np
from kernel_values import Images, Matrix, Values, balanced
from methods import (
    Model,
    exact_two_norm,
    greedy_two_norm,
    nystroem,
    one_norm_path,
    refitted,
    support_vector_machine,
)
from results import Record

from cgboost.studies.datasets import Split

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
