"""Joint polishing: L-BFGS over all centres at once, growing in stages.

Each stage adds centres where rows are still wrong (:func:`means`), and minimises v(Z)
(:mod:`~cgboost.pricing.centres.projection`) over old and new ones together. Stages with few centres
see a part of the rows, if there are many: their centres will move again.

Centres start at weighted k-means of the rows that ask for more, and of those for less. The
pseudo-response r tells them apart: r > 0 asks for a larger output, r < 0 for a smaller one. At the
best constant these are the two classes of a classifier, and the rows above and below the constant
of a regressor; later, the rows that are still wrong in either direction.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import RandomState

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.exceptions import KernelError, see
from cgboost.kernels import Kernel
from cgboost.pricing.centres.coefficients import Coefficients
from cgboost.pricing.centres.projection import CentreFunction, CentreSets

MEANS_ROWS = 50
"""Rows that k-means sees for each centre, at most: means of more change little."""

LIKE_NONE = 0.05
"""A mean whose values with all rows are below this, where they can be 1, is out of reach."""

MEANS_ITERATIONS = 10
"""Iterations of k-means: the centres move on anyway."""


def means(X: Matrix, response: Vector, n_centres: int, random: np.random.RandomState) -> Matrix:
    """Starting centres, shape (at most n_centres, n_features), in float64.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    response : ndarray of shape (n_rows,)
        Pseudo-response: its sign makes the two groups, its size weighs the rows.
    """
    up, down = np.flatnonzero(response > 0), np.flatnonzero(response < 0)
    share = _shares(up, down, n_centres)
    parts = [
        _means_of(X, response, rows, count, random)
        for rows, count in zip((up, down), share, strict=True)
        if count
    ]
    if not parts:
        return np.zeros((0, X.shape[1]))
    return np.concatenate(parts)


def within_reach(kernel: Kernel, X: Matrix, centres: Matrix) -> Matrix:
    """The centres, those that no row is like replaced by the row nearest to them.

    Of a narrow kernel a mean may be far from all rows: its column is 0 then, and so is its
    gradient.
    """
    if not len(centres):
        return centres
    Z = centres.astype(X.dtype)
    lengths = np.sqrt(np.abs(kernel.diagonal(Z)))
    largest = np.abs(kernel(X, Z)).max(axis=0)
    row = float(np.sqrt(np.abs(kernel.diagonal(X)).max()))
    lost = np.flatnonzero(largest < LIKE_NONE * row * lengths)
    if len(lost):
        from scipy.spatial.distance import cdist

        centres = centres.copy()
        centres[lost] = X[cdist(centres[lost], X).argmin(axis=1)]
    return centres


def _shares(up: Indices, down: Indices, n_centres: int) -> tuple[int, int]:
    """Half the centres each, but no group gets more than it has rows."""
    first = min(len(up), n_centres - min(len(down), n_centres // 2))
    return first, min(len(down), n_centres - first)


def _means_of(
    X: Matrix, response: Vector, rows: Indices, count: int, random: np.random.RandomState
) -> Matrix:
    most = MEANS_ROWS * count
    if len(rows) > most:
        rows = np.sort(random.permutation(rows)[:most])
    part, weights = X[rows], np.abs(response[rows])
    if len(rows) <= count:
        return part.astype(np.float64)
    from sklearn.cluster import KMeans  # with half of scikit-learn behind it
    from sklearn.exceptions import ConvergenceWarning

    search = KMeans(count, n_init=1, max_iter=MEANS_ITERATIONS, random_state=random)
    with warnings.catch_warnings():  # equal rows make fewer means
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(part, sample_weight=weights / weights.mean())
    return np.asarray(search.cluster_centers_, dtype=np.float64)


ITERATIONS = 40
"""Iterations of L-BFGS a stage. On MNIST odd/even twice as many lower the objective by one to five
per cent, and errors by less than their spread over splits."""

MEMORY = 10
"""Pairs of steps and changes of the gradient that L-BFGS keeps, as is usual."""

FEWEST_FIRST = 20
"""Centres of the first stage at least, unless fewer are wanted."""

POLISHING_STAGES = 4
"""Stages, each with twice as many centres as the one before."""

POLISHING_ROWS = 200
"""Rows that a stage but the last sees for each centre, at most."""


@dataclass(frozen=True, eq=False)
class Polished:
    """Centres at the end of a stage, with their coefficients.

    Attributes
    ----------
    centres : sequence of ndarray
        Of every kernel, shape (n_centres of the kernel, n_features).
    best : Coefficients
        Optimal for the smoothed loss.
    evaluations : int
        Of v(Z), in this stage.
    """

    centres: CentreSets
    best: Coefficients
    evaluations: int


def stage_sizes(n_centres: int) -> list[int]:
    """Numbers of centres, stage by stage: each about twice the one before, up to ``n_centres``."""
    sizes = [n_centres]
    while len(sizes) < POLISHING_STAGES and (half := sizes[0] // 2) >= FEWEST_FIRST:
        sizes.insert(0, half)
    return sizes


def polished_stages(
    projection: CentreFunction,
    sizes: Sequence[int],
    *,
    random: RandomState,
    stop: Callable[[], bool] | None = None,
    start: CentreSets | None = None,
    renewed: Callable[[Any], CentreFunction] | None = None,
) -> Iterator[Polished]:
    """Centres after every stage.

    Parameters
    ----------
    sizes : sequence of int
        Centres of all kernels together, stage by stage, rising.
    random : RandomState
        For k-means, and the rows of the first stages.
    stop : callable, optional
        Asked after every iteration; true ends the polishing of this stage.
    start : sequence of ndarray, optional
        Centres of every kernel to begin with.
    renewed : callable, optional
        What becomes of the projection before a stage: its loss may have learned something.
    """
    nothing = np.zeros((0, projection.X.shape[1]))
    centres = [nothing for _ in projection.kernels] if start is None else start
    best = projection.best(centres)
    for size in sizes:
        if renewed is not None:
            projection = renewed(projection)
            best = projection.best(centres, _start(best))
        rows = POLISHING_ROWS * size if size < sizes[-1] else len(projection.X)
        centres = _grown(projection, centres, best, size, random)
        if rows < len(projection.X):
            part = np.sort(random.permutation(len(projection.X))[:rows])
            polished = polish(projection.on_part(part), centres, stop)
            best = projection.best(polished.centres, _start(polished.best))
            polished = Polished(polished.centres, best, polished.evaluations)
        else:
            polished = polish(projection, centres, stop)
        centres, best = polished.centres, polished.best
        yield polished


def polish(
    projection: CentreFunction,
    centres: CentreSets,
    stop: Callable[[], bool] | None = None,
    *,
    iterations: int = ITERATIONS,
) -> Polished:
    """Centres that minimise v(Z), from these on; the best that were seen."""
    from scipy.optimize import minimize

    shapes = [Z.shape for Z in centres]
    unit = max(map(_unit, map(projection.seen, projection.kernels)))
    search = _CentreObjective(projection)

    def function(flat: Vector) -> tuple[float, Vector]:
        value, gradient = search(_unflattened(unit * flat, shapes))
        return value, unit * _flattened(gradient)

    def callback(intermediate_result: Any) -> None:
        if stop is not None and stop():
            raise StopIteration

    options = {"maxiter": iterations, "maxcor": MEMORY}
    start = _flattened(centres) / unit
    if start.size:
        minimize(function, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
    else:
        search(centres)
    if search.best is None:
        raise KernelError(
            "kernel values of the centres are so large that their squares overflow: scale the "
            f"features, or normalise the kernels{see('kernel-scales')}"
        )
    return Polished(search.centres, search.best, search.evaluations)


@dataclass(eq=False)
class _CentreObjective:
    """V(Z) and its gradient, from the last coefficients on; remembers the best Z."""

    projection: CentreFunction
    centres: CentreSets = ()
    best: Coefficients | None = None
    last: Coefficients | None = field(default=None)
    evaluations: int = 0

    def __call__(self, centres: CentreSets) -> tuple[float, list[Matrix]]:
        self.evaluations += 1
        if not self.projection.is_finite(centres):  # a step too far, which is taken back
            return np.inf, [np.zeros(Z.shape) for Z in centres]
        own, gradient = self.projection.evaluated(centres, _start(self.last))
        if self.best is None or own.objective < self.best.objective:
            self.best, self.centres = own, centres
        self.last = own
        return own.objective, gradient


def _start(best: Coefficients | None) -> tuple[Vector, float] | None:
    return None if best is None else (best.coef, best.intercept)


def _grown(
    projection: CentreFunction,
    centres: CentreSets,
    best: Coefficients,
    size: int,
    random: RandomState,
) -> list[Matrix]:
    """The centres, and new ones where rows are wrong: as many for every kernel."""
    r = projection.response(best)
    missing = max(0, size - sum(map(len, centres)))
    shares = np.diff(np.linspace(0, missing, len(centres) + 1).round().astype(int))
    grown: list[Matrix] = []
    for kernel, old, count in zip(projection.kernels, centres, shares.tolist(), strict=True):
        X = projection.seen(kernel)
        grown.append(np.concatenate([old, within_reach(kernel, X, means(X, r, count, random))]))
    return grown


def _unit(X: Matrix) -> float:
    """Typical distance of a row from the mean: what a step of 1 means to L-BFGS."""
    return float(np.sqrt(np.var(X, axis=0, dtype=np.float64).sum())) or 1.0


def _flattened(matrices: CentreSets) -> Vector:
    return np.concatenate([matrix.ravel() for matrix in matrices])


def _unflattened(flat: Vector, shapes: Sequence[tuple[int, ...]]) -> list[Matrix]:
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    parts = np.split(flat, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
