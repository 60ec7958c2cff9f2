"""Exact pricing of whole RKHSs, with training rows as centres.

For a pseudo-response r all functions of the RKHS H_p score at most σ_p = √(rᵀK_p r/w_p) for their
norm, and K_p r/w_p is the direction of the largest. One pass K_p r over all rows therefore prices
every function of every kernel, those with centres that are no rows too: the bound follows from Σσ².

New columns K_p(·, x_j) are those that help most to make what K_p r/w_p has beyond the span of the
columns in the master. They are chosen by orthogonal matching pursuit in the RKHS of each kernel:
the new part of kernel p is g = (K_p r − its projection)/w_p, and the column of a centre z lowers
the objective by at most

    g(z)²/2d(z),      d(z) = (K_p(z, z) − squared length within the span)/w_p.

Once z is taken, g and d of all other centres of the kernel lose their part along it, so that
columns that are nearly equal do not come together.

For the solver of a support vector machine all functions of the RKHS of S = Σ_p K_p/w_p are priced
by one pass S r, without a matrix in memory: σ² = rᵀS r. Where the master goes on with columns
S(·, x_j), they come from an :class:`RKHSPricer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.exceptions import IndefiniteKernelError
from cgboost.forks import cached_property
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.kernels.scores import likely_share
from cgboost.pricing.scans.candidates import BLUR, NEAR_END, OutOfTimeError, largest
from cgboost.tolerances import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from cgboost.pricing.kernels.kernel_pool import KernelPool
    from cgboost.pricing.rkhs.summed import SummedKernel
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from cgboost.generation.packed import PackedMatrix
from cgboost.kernels.kernel_family import KernelExpansion, KernelSpace
from cgboost.kernels.numeric.distances import RBF
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.pricing.kernels.kernel_pool import KernelPool
from cgboost.pricing.rkhs.summed import SummedKernel

SAME_CENTRE = 1e-6
"""A centre of which the others leave this share of its squared length is not taken next to them."""


@dataclass
class CentresOfKernel:
    """Candidates of one kernel; the arrays change as centres are chosen.

    Parameters
    ----------
    residual : ndarray of shape (n_candidates,)
        g.
    lengths : ndarray of shape (n_candidates,)
        d, positive.
    products : callable
        ``products(place)`` for one of them, shape (n_candidates,): K_p(z, z')/w_p less the products
        within the span, d(z) for itself.
    """

    residual: Vector
    lengths: Vector
    products: Callable[[int], Vector]

    def __post_init__(self) -> None:
        self.residual, self.lengths = self.residual.copy(), self.lengths.copy()
        self._least = SAME_CENTRE * self.lengths
        self._directions = np.empty((8, len(self.lengths)))
        self._taken = 0
        self.gains = self.residual**2 / self.lengths

    def take(self, place: int) -> None:
        """Take a centre: the others keep what is orthogonal to it."""
        earlier = self._directions[: self._taken]
        length = np.sqrt(self.lengths[place])
        along = (self.products(place) - earlier[:, place] @ earlier) / length
        along[place] = length  # which values in float32 would miss
        if self._taken == len(self._directions):
            self._directions = np.vstack([self._directions, np.empty_like(self._directions)])
        self._directions[self._taken] = along
        self._taken += 1
        self.residual -= along * (self.residual[place] / along[place])
        self.lengths -= along**2
        open_ = self.lengths > self._least
        open_[place] = False
        self.gains = np.where(
            open_ & (self.gains > 0),
            self.residual**2 / np.where(open_, self.lengths, 1.0),
            0.0,
        )


def select_centres(kernels: Sequence[CentresOfKernel], limit: int) -> list[tuple[int, int]]:
    """At most ``limit`` pairs (kernel, candidate), greedily by what is gained after the others."""
    best = np.array([own.gains.max(initial=0.0) for own in kernels])
    chosen: list[tuple[int, int]] = []
    while len(chosen) < limit and best.max(initial=0.0) > 0:
        kernel = int(np.argmax(best))
        place = int(np.argmax(kernels[kernel].gains))
        chosen.append((kernel, place))
        kernels[kernel].take(place)
        best[kernel] = kernels[kernel].gains.max(initial=0.0)
    return chosen


NEW_SHARE = 1e-10
"""A row is no centre if this share of the squared length of its column, or less, lies outside the
span: a hundred times what the master takes for rounding error."""


COMPARED = 4000
"""Rows that are compared with each other, those of the largest gains: all of them, where rows are
few. Measured on 1000 digits: with 60 rows objectives at 100 columns are 5 to 20 % higher."""

NEGATIVE_LENGTH, NEGATIVE_LENGTH_NARROW = 1e-6, 1e-2
"""Squared lengths below 0 by this share are no rounding errors of values in float64, or of given
values in float32: the kernel is then not positive semi-definite. The directions of columns that are
nearly dependent leave an error of 1e-8. It is what the master allows."""


class KernelBasis(Protocol):
    """An orthonormal basis of the span of a kernel's columns."""

    @property
    def values(self) -> Vector:
        """On the training rows, shape (n_rows, n_functions)."""
        ...

    @property
    def squares(self) -> Vector:
        """Sums of squares over the basis, shape (n_rows,)."""
        ...


@runtime_checkable
class SpannedState(Protocol):
    """A state of a master whose columns are functions of RKHSs."""

    @property
    def bases(self) -> Mapping[str, KernelBasis]:
        """By kernel."""
        ...


class Pass(NamedTuple):
    """What one pass over all rows has shown.

    Attributes
    ----------
    scores, errors : ndarray of shape (n_strata, n_rows)
        K_p r, and bounds on the errors.
    squares, doubts : ndarray of shape (n_strata,)
        σ_p², and bounds on the errors.
    residual : ndarray of shape (n_strata, n_rows)
        K_p r/w_p less its projection on the span of the columns in the master.
    left : ndarray of shape (n_strata,)
        σ_p² of the residual.
    """

    scores: Vector
    errors: Vector
    squares: Vector
    doubts: Vector
    residual: Vector
    left: Vector


class RKHSPricer(Memoryless):
    """Pricer of the RKHSs of all kernels of a pool; exact in every round.

    Parameters
    ----------
    pool : KernelPool or SummedKernel
        A :class:`KernelPool`, or the sum of its kernels, a
        :class:`~cgboost.pricing.rkhs.summed.SummedKernel`.
    weight : callable, optional
        The weight w_p of a kernel by its name; by default 1.
    tol : float
        Gaps below this do not matter: errors of scores need not be smaller.

    Attributes
    ----------
    seconds_left : float or None
        Time for the next call. One that takes longer ends with no columns, and certifies nothing.
    """

    def __init__(
        self,
        pool: KernelPool | SummedKernel,
        weight: Callable[[str], float] | None = None,
        *,
        tol: float = 1e-4,
    ) -> None:
        self.pool, self.tol = pool, tol
        self.weights = np.array([1.0 if weight is None else weight(name) for name in pool.strata])
        self.seconds_left: float | None = None
        self._deadline = np.inf

    def price(self, state: MasterState, limit: int) -> Priced:
        """The scores of all RKHSs, and at most ``limit`` columns of training rows."""
        if not isinstance(state, SpannedState):
            raise TypeError("this pricer needs a master of norms of functions (RKHSMaster)")
        left = self.seconds_left
        self._deadline = np.inf if left is None else time.perf_counter() + left
        try:
            return self._priced(state, [state.bases.get(name) for name in self.pool.strata], limit)
        except OutOfTimeError:
            return Priced(columns=())

    def _priced(self, state: MasterState, bases: list[KernelBasis | None], limit: int) -> Priced:
        found = self._sharp_pass(state, bases, near=limit == 0)
        columns: list[Column] = []
        while limit > 0 and not (columns := self._columns(state, bases, found, limit)):
            if not self.pool.sharpen():
                break
            response = state.pseudo_response
            found = self._pass(response, bases, self._scores(response))
        excess = state.rule.excess(np.sqrt(np.maximum(found.squares + found.doubts, 0.0)))
        return Priced(
            columns=columns,
            exact=True,
            max_excess=float(excess.max(initial=0.0)),
            total_excess=float(excess.sum()),
            n_evaluated=found.scores.size,
            stratum=columns[0].stratum if columns else "",
        )

    # ------------------------------------------------------------------ scores

    def _scores(self, response: Vector) -> tuple[Vector, Vector]:
        return self.pool.all_scores(response, self._deadline)

    def _sharp_pass(
        self, state: MasterState, bases: list[KernelBasis | None], *, near: bool
    ) -> Pass:
        """A pass whose rounding errors do not hide the gap."""
        response = state.pseudo_response
        while True:
            found = self._pass(response, bases, self._scores(response))
            left = float(state.rule.excess(np.sqrt(np.maximum(found.left, 0.0))).sum())
            wide = state.rule.excess(np.sqrt(np.maximum(found.squares + found.doubts, 0.0)))
            own = state.rule.excess(np.sqrt(np.maximum(found.squares, 0.0)))
            blur = float(wide.sum() - own.sum())
            if left > NEAR_END * self.tol and not near:
                blur *= likely_share(response)
            if blur <= BLUR * max(left, self.tol):
                return found
            if not self.pool.sharpen():
                near_end = left <= NEAR_END * self.tol
                extended = self.pool.extended_scores(response) if near_end else None
                return found if extended is None else self._pass(response, bases, extended)

    def _pass(
        self, response: Vector, bases: list[KernelBasis | None], found: tuple[Vector, Vector]
    ) -> Pass:
        scores, errors = found
        size, weights = np.abs(response), self.weights
        squares = scores @ response / weights
        rounding = (len(response) + 4) * UNIT_ROUNDOFF
        doubts = (errors + rounding * np.abs(scores)) @ size / weights
        residual, left = scores / weights[:, None], squares.copy()
        for p, basis in enumerate(bases):
            if basis is not None:
                shares = (response @ basis.values) / weights[p]
                residual[p] -= basis.values @ shares
                left[p] -= weights[p] * float(shares @ shares)
        return Pass(scores, errors, squares, doubts, residual, left)

    # ------------------------------------------------------------------ columns

    @cached_property
    def _diagonals(self) -> Vector:
        """K_p(x, x)/w_p, shape (n_strata, n_rows)."""
        rows = [self.pool.diagonal(p) / weight for p, weight in enumerate(self.weights)]
        return np.array(rows)

    def _columns(
        self, state: MasterState, bases: list[KernelBasis | None], found: Pass, limit: int
    ) -> list[Column]:
        """Columns of the rows that promise most, and that do not do the same work twice."""
        lengths = self._diagonals.copy()
        for p, basis in enumerate(bases):
            if basis is not None:
                lengths[p] -= basis.squares / self.weights[p]
                self._check_lengths(p, lengths[p], state)
        open_ = lengths > NEW_SHARE * self._diagonals
        for p, name in enumerate(self.pool.strata):
            open_[p, self._rows_held(state, name)] = False
        noise = likely_share(state.pseudo_response) * found.errors / self.weights[:, None]
        size = np.maximum(np.abs(found.residual) - noise, 0.0)
        gains = np.where(open_, size**2 / np.where(open_, lengths, 1.0), 0.0)
        order = largest(gains.ravel(), max(COMPARED, limit))
        strata, rows = np.divmod(order, gains.shape[1])
        if len(order) > limit:
            strata, rows = self._unlike(strata, rows, bases, found.residual, lengths, limit)
        return self.pool.columns(strata.tolist(), rows.tolist(), wide=True)

    def _check_lengths(self, stratum: int, lengths: Vector, state: MasterState) -> None:
        """Raise IndefiniteKernelError where a column is longer within the span than it is."""
        name, narrow = self.pool.strata[stratum], self.pool.is_narrow(stratum)
        allowed = NEGATIVE_LENGTH_NARROW if narrow else NEGATIVE_LENGTH
        worst = int(np.argmin(lengths + allowed * self._diagonals[stratum]))
        if lengths[worst] + allowed * self._diagonals[stratum, worst] >= 0:
            return
        rows = np.append(self._rows_held(state, name), worst)
        gram = self.pool.values_on(np.full(len(rows), stratum), rows, rows).astype(np.float64)
        eigenvalues = np.linalg.eigvalsh(0.5 * (gram + gram.T))
        raise IndefiniteKernelError(
            name,
            f"the smallest eigenvalue of its values for {len(rows)} rows is "
            f"{eigenvalues[0]:.3g}, the largest {eigenvalues[-1]:.3g}",
        )

    def _rows_held(self, state: MasterState, name: str) -> Indices:
        """The training rows that are centres of a kernel's columns in the master."""
        own = [column.hypothesis for column in state.columns if column.stratum == name]
        rows = np.array([getattr(one, "row", -1) for one in own], dtype=np.intp)
        return rows[rows >= 0]

    def _unlike(
        self,
        strata: Indices,
        rows: Indices,
        bases: list[KernelBasis | None],
        residual: Vector,
        lengths: Vector,
        limit: int,
    ) -> tuple[Indices, Indices]:
        """As many of some rows as are wanted, chosen one after the other."""
        kernels, places = [], []
        for p in np.unique(strata).tolist():
            own, basis = rows[strata == p], bases[p]
            span = None if basis is None else basis.values[own]
            products = partial(self._products, p, own, span)
            kernels.append(CentresOfKernel(residual[p, own], lengths[p, own], products))
            places.append((p, own))
        picked = [(places[k][0], places[k][1][j]) for k, j in select_centres(kernels, limit)]
        own_strata, own_rows = np.array(picked, dtype=np.intp).reshape(-1, 2).T
        return own_strata, own_rows

    def _products(self, stratum: int, rows: Indices, span: Vector | None, place: int) -> Vector:
        """Products of one of some rows with all of them, less those within the span."""
        one = np.array([stratum], dtype=np.intp)
        values = self.pool.values_on(one, rows[[place]], rows)[0]
        products = values.astype(np.float64)
        if span is not None:
            products -= span @ span[place]
        products /= self.weights[stratum]
        return products


class SummedKernelOfMachine:
    """S = Σ_p K_p/w_p over the training rows of a pool.

    Parameters
    ----------
    weight : callable
        The weight w_p of a kernel by its name.
    """

    def __init__(self, pool: KernelPool, weight: Callable[[str], float]) -> None:
        self.pool = pool.without_memory()
        self._sum = SummedKernel(self.pool, weight)
        self._known_for: Vector | None = None  # the last r
        self._scores = np.zeros(0), np.zeros(0)
        self._spaces = [
            KernelSpace(own, partial(self._gram, number), pool.X)
            for number, own in enumerate(pool.families)
        ]

    def _gram(self, kernel: int) -> PackedMatrix:
        """The values of a kernel on all pairs of training rows; its sums do not need them."""
        rows = np.arange(self.pool.data.n_rows)
        return PackedMatrix.of(np.asarray(self.pool.values(kernel, rows), dtype=np.float64))

    def fits(self, megabytes: float) -> bool:
        """Whether libsvm knows the kernel, or memory holds two copies of its matrix."""
        return self._known is not None or 16.0 * self.pool.data.n_rows**2 <= megabytes * 2**20

    @property
    def _known(self) -> Mapping[str, Any] | None:
        """Parameters of libsvm for a kernel that it has."""
        kernel: Any = self.pool.data.kernels[0]
        if len(self.pool.strata) > 1:
            return None
        if type(kernel) is RBF:
            return {"kernel": "rbf", "gamma": kernel.gamma}
        if type(kernel) is Polynomial:
            own = {"degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
            return {"kernel": "poly", **own}
        return {"kernel": "linear"} if type(kernel) is Linear else None

    @property
    def machine(self) -> tuple[Mapping[str, Any], Any, float]:
        """Parameters of libsvm, the rows that it takes, and S relative to its kernel."""
        if (known := self._known) is not None:
            return known, self.pool.X, float(self._sum.shares[0])
        rows = np.arange(self.pool.data.n_rows)
        return {"kernel": "precomputed"}, self._sum.values_on(0 * rows, rows, rows), 1.0

    def scores(self, response: Vector) -> tuple[Vector, Vector]:
        """S r on all rows, and bounds on the errors: one pass for the solver and for the proof."""
        if self._known_for is None or not np.array_equal(response, self._known_for):
            scores, errors = self._sum.all_scores(response)
            self._known_for, self._scores = response.copy(), (scores[0], errors[0])
        return self._scores

    def sums(self, response: Vector) -> Vector:
        """S r on all rows."""
        return self.scores(response)[0]

    def function(self, response: Vector, values: Vector, key: Hashable) -> Column:
        """S r, of the norm √(rᵀS r), as a column of the norm 1; 0 where it is 0."""
        size = float(np.sqrt(max(0.0, float(response @ values))))
        factor = 1.0 / size if size > 0 else 0.0
        expansion = KernelExpansion(self._spaces, factor * self._sum.shares[:, None] * response)
        (name,) = self._sum.strata
        return Column(factor * values, key, hypothesis=expansion, stratum=name)


class MachinePricer(Memoryless):
    """The pricer of a :class:`~cgboost.masters.rkhs.rkhs_master.MachineMaster`.

    Parameters
    ----------
    columns : RKHSPricer
        Where there are columns.
    """

    def __init__(self, kernel: SummedKernelOfMachine, columns: RKHSPricer) -> None:
        self.kernel, self._columns = kernel, columns

    @property
    def seconds_left(self) -> float | None:
        """Time for the next call, where there are columns."""
        return self._columns.seconds_left

    @seconds_left.setter
    def seconds_left(self, seconds: float | None) -> None:
        self._columns.seconds_left = seconds

    def price(self, state: MasterState, limit: int) -> Priced:
        """σ of the whole RKHS; the best columns too, where the master has columns."""
        if isinstance(state, SpannedState):
            return self._columns.price(state, limit)
        response = state.pseudo_response
        scores, errors = self.kernel.scores(response)
        rounding = (len(response) + 4) * UNIT_ROUNDOFF * np.abs(scores)
        square = float(response @ scores + np.abs(response) @ (errors + rounding))
        excess = state.rule.excess(np.sqrt([max(0.0, square)]))
        return Priced(
            columns=(),
            exact=True,
            max_excess=float(excess.max()),
            total_excess=float(excess.sum()),
            n_evaluated=len(response),
        )
