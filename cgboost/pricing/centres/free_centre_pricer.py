"""Pricer of free centres: each call a stage of polished centres, instead of those before.

The bound is that of the whole RKHSs, by the pricer over rows: it covers every centre.
With few columns the master's r is far from the dual optimum of the whole problem,

    D(r) = gain(r) − ½ rᵀK r,      K = Σ_p K_p/w_p,

though the model itself is near the primal one. Better dual points come from accelerated projected
gradient ascent in r, of which each step takes one pass K r over the rows (Beck, Teboulle, SIAM J.
Imaging Sci. 2, 2009: FISTA; by linearity the extrapolated point needs none).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.random import RandomState

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.exceptions import KernelError, see
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.kernels import Kernel, kernel_values
from cgboost.kernels.gradients import no_gradient
from cgboost.kernels.kernel_family import KernelHypothesis
from cgboost.kernels.sparse_rows import is_sparse
from cgboost.losses import SupportVectorLoss
from cgboost.pricing.centres.polishing import Polished, polished_stages, stage_sizes
from cgboost.pricing.centres.projection import CentreSets, Projection
from cgboost.pricing.centres.smoothing import smoothed
from cgboost.pricing.kernels.kernel_pool import KernelPool
from cgboost.pricing.scans.candidates import OutOfTimeError
from cgboost.pricing.scans.sequence import tell_time
from cgboost.tolerances import SMALLEST

MOST_PASSES = 30
"""Passes of an ascent at most: on 1000 rows of MNIST they close all but 1 % of the bound's part of
the gap, which is three quarters of it."""

PASSES_TIMES_ROWS = 180_000
"""With many rows there are fewer passes: each takes a time that grows with their square."""

LONGER_STEPS = 1.5
"""What the estimate of the largest eigenvalue of K grows by where a step has gone too far."""


def n_passes(n_rows: int) -> int:
    """Passes that an ascent may take."""
    return min(MOST_PASSES, PASSES_TIMES_ROWS // max(1, n_rows))


def ascended(
    product: Callable[[Vector], Vector],
    loss: SupportVectorLoss,
    response: Vector,
    *,
    balanced: bool,
    passes: int,
) -> Vector:
    """A feasible pseudo-response with a higher bound, or the given one.

    Parameters
    ----------
    product : callable
        K r of the rows for some r.
    loss : SupportVectorLoss
        Without a mass.
    response : ndarray of shape (n_rows,)
        Feasible.
    balanced : bool
        Whether Σr = 0.
    passes : int
        Products at most.
    """
    bent = np.zeros(loss.n_rows) if loss.curvature is None else loss.curvature
    r, image = response, product(response)
    best, highest = r, loss.ray_gain(r, float(r @ image))
    steepness = float(image @ image) / max(float(r @ image), SMALLEST) + float(bent.max(initial=0))
    if not 0 < steepness < np.inf:  # r is 0 up to rounding
        return best
    point, at, momentum = r, image, 1.0
    for _ in range(passes - 1):
        slope = loss.target - bent * point - at
        moved = point + slope / steepness
        soft = np.sign(moved) * np.maximum(np.abs(moved) - loss.epsilon / steepness, 0.0)
        new = loss.feasible(soft, balanced=balanced)
        new_image = product(new)
        if (value := loss.ray_gain(new, float(new @ new_image))) > highest:
            best, highest = new, value
        step = new - point
        bend = float(step @ (new_image - at)) + float(bent @ step**2)
        if bend > steepness * float(step @ step):  # K is steeper than was known
            steepness = max(LONGER_STEPS * steepness, bend / float(step @ step))
            momentum = 1.0
        further = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = (momentum - 1.0) / further
        point, at = new + ahead * (new - r), new_image + ahead * (new_image - image)
        r, image, momentum = new, new_image, further
    return best


CERTIFIED_ROWS = 6000
"""Up to so many rows every stage has a bound. With more, a pass over all pairs of rows takes longer
than a stage, and only the last one has."""

CHECKED_ROWS = 200
"""Rows whose kernel values in float32 and float64 are compared."""

NARROW_ERROR = 1e-4
"""Products are made in float32 where its kernel values are within this of those in float64,
relative to the largest: the line search of L-BFGS bears it, and they take half the time."""

LARGEST_IN_FLOAT32 = 1e12
"""Sums of squares of larger values come near the largest float32, 3e38."""

BLOCK_ROWS = 2048
"""Rows whose kernel values are made in float64 at a time."""

FIRST_LEVEL = -1.0
"""Level at which the first stage of a loss with its own margin is polished: a margin of 1, no
tube. Later stages have that of the model so far."""

SHARE_OF_TIME = 0.7
"""A stage may take this share of the time that is left: the master needs some too."""


class FreeCentrePricer:
    """Stages of polished centres, and the bound of a pricer over rows.

    Parameters
    ----------
    rows : Pricer
        Exact, over the same pool; it takes over when all stages are done.
    loss : SupportVectorLoss, or a smooth loss on its rows
    n_centres : int
        Of the last stage.
    weight : callable
        The weight w_p of a kernel by its name.
    offset : {"none", "penalized", "free"}

    Attributes
    ----------
    seconds_left : float or None
        Set by the loop.

    Raises
    ------
    KernelError
        For kernels without a gradient by their centre.
    """

    def __init__(
        self,
        pool: KernelPool,
        rows: Pricer,
        loss: Any,
        n_centres: int,
        *,
        weight: Callable[[str], float],
        offset: str,
        random: RandomState,
    ) -> None:
        kernels = [family.kernel for family in pool.families]
        check_gradients(kernels, pool.X)
        self.pool, self.rows, self.n_centres = pool, rows, n_centres
        weights = np.array([weight(name) for name in pool.strata])
        X, curved = narrowed(kernels, pool.X), smoothed(at_level(loss, FIRST_LEVEL))
        self._projection = Projection(kernels, X, weights, curved, offset)
        self._random, self._loss, self._ascended = random, loss, False
        self._stages: Any = None
        self._state: Any = None
        self._count = 0
        self._deadline = self._end = np.inf
        self.seconds_left: float | None = None

    def price(self, state: MasterState, limit: int) -> Priced:
        """The centres of the next stage; after the last one columns of training rows."""
        left, started = self.seconds_left, time.perf_counter()
        self._end = np.inf if left is None else started + left
        polished = None if limit == 0 else self._next(state)
        tell_time(self.rows, left, started)
        if polished is None:
            return self._certified(state, self.rows.price(state, limit))
        seen = Priced(columns=())
        if self.pool.X.shape[0] <= CERTIFIED_ROWS:
            seen = self.rows.price(state, 0)
        count = polished.evaluations * sum(map(len, polished.centres))
        columns = self._columns(polished)
        return replace(
            seen,
            columns=columns,
            n_evaluated=seen.n_evaluated + count,
            stratum=columns[0].stratum if columns else "",
            replaces=True,
        )

    def _certified(self, state: MasterState, found: Priced) -> Priced:
        """What was found, with the bound at a better pseudo-response; once, after the stages."""
        loss, rows = self._loss, self.pool.X.shape[0]
        done = self._ascended or self.seconds_left == 0.0
        if done or not isinstance(loss, SupportVectorLoss) or not state.n_held:
            return found
        self._ascended = True
        try:
            response = ascended(
                self._product,
                loss,
                state.pseudo_response,
                balanced=self._projection.offset == "free",
                passes=n_passes(rows),
            )
        except OutOfTimeError:
            return found
        if response is state.pseudo_response:
            return found
        better = self.rows.price(replace(state, pseudo_response=response), 0)
        count = found.n_evaluated + n_passes(rows) * found.n_evaluated + better.n_evaluated
        return replace(better, columns=found.columns, n_evaluated=count, response=response)

    def _product(self, response: Vector) -> Vector:
        """Σ_p K_p r/w_p."""
        scores, _ = self.pool.all_scores(response, self._end)
        product: Vector = (scores / self._projection.weights[:, None]).sum(axis=0)
        return product

    def _next(self, state: MasterState) -> Polished | None:
        if self._stages is None:
            start = self._held(state)
            numbers = [cast(tuple[str, int], column.key)[1] for column in state.columns]
            self._count = max(0, -min(numbers, default=0))  # keys of a warm start are taken
            many = self.n_centres if start is None else max(self.n_centres, sum(map(len, start)))
            sizes = stage_sizes(many) if start is None else [many]
            renewed = None
            if chooses_level(self._loss):
                renewed, sizes = self._renewed, [sizes[0], *sizes]  # again at its own level
            self._stages = polished_stages(
                self._projection,
                sizes,
                random=self._random,
                stop=self._is_late,
                start=start,
                renewed=renewed,
            )
        self._state = state
        left = np.inf if self.seconds_left is None else SHARE_OF_TIME * self.seconds_left
        self._deadline = time.perf_counter() + left
        polished: Polished | None = next(self._stages, None)
        return polished if polished is not None and any(map(len, polished.centres)) else None

    def _renewed(self, projection: Projection) -> Projection:
        """The projection with the margin or tube of the last model."""
        state = self._state
        level = self._loss.level(state.output) if state.n_held else FIRST_LEVEL
        return replace(projection, loss=smoothed(at_level(self._loss, level)))

    def _is_late(self) -> bool:
        return time.perf_counter() >= self._deadline

    def _held(self, state: MasterState) -> CentreSets | None:
        """The centres in the master, of each kernel; None where there are none."""
        held = state.columns[state.left :]
        if not held:
            return None
        centres: dict[str, list[Any]] = {name: [] for name in self.pool.strata}
        for column in held:
            centres[column.stratum].append(getattr(column.hypothesis, "centre", None))
        width = self.pool.X.shape[1]
        return [np.array(own, dtype=np.float64).reshape(-1, width) for own in centres.values()]

    def _columns(self, polished: Polished) -> list[Column]:
        """Columns of the centres, as they are in the precision of the rows."""
        columns = []
        for family, Z in zip(self.pool.families, polished.centres, strict=True):
            centres = Z.astype(self.pool.X.dtype)
            values = exact_values(family.name, family.kernel, self.pool.X, centres)
            for centre, own in zip(centres, values, strict=True):
                self._count += 1
                hypothesis = KernelHypothesis(family, -1, centre.copy())
                key = family.name, -self._count
                columns.append(Column(own, key=key, hypothesis=hypothesis, stratum=family.name))
        return columns


def chooses_level(loss: Any) -> bool:
    """Whether a loss has its own margin or tube choice."""
    return isinstance(loss, SupportVectorLoss) and loss.mass is not None


def at_level(loss: Any, level: float) -> Any:
    """The loss, with its margin or tube fixed at a level if it is of its own choice."""
    return loss.at_level(level) if chooses_level(loss) else loss


def check_gradients(kernels: Sequence[Kernel], X: Any) -> None:
    """Raise KernelError for kernels without a gradient by the centre on rows like these."""
    for kernel in kernels:
        if kernel.is_precomputed:
            raise no_gradient(kernel)
        if is_sparse(X) or X.dtype == object:
            kind = "sparse" if is_sparse(X) else "objects"
            raise KernelError(
                f"centers='free' needs rows of dense numbers, X is {kind}: make it dense, or take "
                f"centers='rows'{see('kernels-and-libraries')}"
            )
        kernel.centre_gradient(X[:1], X[:1].astype(np.float64), np.ones((1, 1)))


def narrowed(kernels: Sequence[Kernel], X: Matrix) -> Matrix:
    """The rows in float32, where that is enough for the values of the kernels; always row by row.

    Products of arrays of another layout are rounded in another way.
    """
    X = np.ascontiguousarray(X)
    if X.dtype == np.float32:
        return X
    part = X[:: max(1, len(X) // CHECKED_ROWS)]
    with np.errstate(all="ignore"):
        narrow = part.astype(np.float32)
        for kernel in kernels:
            exact = kernel(part, part)
            off = np.abs(kernel(narrow, narrow) - exact).max(initial=0.0)
            largest = np.abs(exact).max(initial=0.0)
            if not (off <= NARROW_ERROR * largest and largest <= LARGEST_IN_FLOAT32):
                return X
    return X.astype(np.float32)


def exact_values(name: str, kernel: Kernel, X: Matrix, centres: Matrix) -> Matrix:
    """Columns as rows of an array, shape (n_centres, n_rows), in float64 for centres as given."""
    values = np.empty((len(centres), len(X)))
    wide = centres.astype(np.float64)
    for rows in blocks_of(len(X), BLOCK_ROWS):
        values[:, rows] = kernel_values(name, kernel, X[rows].astype(np.float64), wide).T
    return values
