"""Joint polishing: L-BFGS over all centres at once, growing in stages.

Each stage adds centres where rows are still wrong (:mod:`~cgboost.pricing.centres.starts`), and
minimises v(Z) (:mod:`~cgboost.pricing.centres.projection`) over old and new ones together. Stages
with few centres see a part of the rows, if there are many: their centres will move again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import RandomState

from cgboost.arrays import Matrix, Vector
from cgboost.exceptions import KernelError, see
from cgboost.pricing.centres.coefficients import Coefficients
from cgboost.pricing.centres.projection import CentreFunction, CentreSets
from cgboost.pricing.centres.starts import means, within_reach

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
    iterations: int = ITERATIONS,
    random: RandomState,
    stop: Callable[[], bool] | None = None,
    start: CentreSets | None = None,
    renewed: Callable[[Any], CentreFunction] | None = None,
) -> Iterator[Polished]:
    """Centres after every stage.

    Parameters
    ----------
    projection : CentreFunction
    sizes : sequence of int
        Centres of all kernels together, stage by stage, rising.
    iterations : int
        Of L-BFGS a stage.
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
            polished = polish(projection.on_part(part), centres, iterations, stop)
            best = projection.best(polished.centres, _start(polished.best))
            polished = Polished(polished.centres, best, polished.evaluations)
        else:
            polished = polish(projection, centres, iterations, stop)
        centres, best = polished.centres, polished.best
        yield polished


def polish(
    projection: CentreFunction,
    centres: CentreSets,
    iterations: int = ITERATIONS,
    stop: Callable[[], bool] | None = None,
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
        own = self.projection.best(centres, _start(self.last))
        if self.best is None or own.objective < self.best.objective:
            self.best, self.centres = own, centres
        self.last = own
        return own.objective, self.projection.gradient(centres, own)


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
