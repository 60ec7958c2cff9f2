"""Minimiser of a convex quadratic plus a weighted 1-norm, followed from a problem solved already.

    min ½xᵀQx + (c + (1−t)δ)·x + Σ λ_j|x_j|       t = 0 → 1,  x_j ≥ 0 where asked for

At t = 0 the shift δ makes the start a minimiser. From there x and the gradient are linear in t up
to where a coordinate becomes 0 or the gradient of one that is 0 reaches λ: that one leaves or
enters, and the inverse of Q_AA over the active coordinates A changes by a matrix of rank one. There
is no line search and no choice of an exchange, and no step depends on how well Q is conditioned.
(Ferreau, Bock, Diehl, *An online active set strategy to overcome the limitations of explicit MPC*,
Int. J. Robust and Nonlinear Control 18, 2008; Osborne, Presnell, Turlach, *A new approach to
variable selection in least squares problems*, IMA J. Numerical Analysis 20, 2000.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cgboost.arrays import Indices, Mask, Vector
from cgboost.optimizers.solver_options import NEWTON, check_time
from cgboost.tolerances import SMALLEST

MARGIN = 0.1
"""Gradients of coordinates that are 0 begin this share of λ below it: at λ all of them would be in
one another's way at t = 0. Of 689 coordinates, 0 took 498 exchanges, 1e-6 134, 0.1 90."""

EXCHANGES = 10
"""Exchanges at most, for each coordinate. From 0 there is about one for each."""

FIRST_ROOM = 16
"""Coordinates that there is room for at first. The room doubles when it is full, so that exchanges
take no fresh memory: over 300 coordinates they took twice as long with it."""

CHANGES = 32
"""Exchanges that are added to the inverse at once."""

MOST_RESIDUAL = 1e-9
"""The inverse is made anew where it misses what it is multiplied with by this share. Of a thousand
exchanges in a matrix of condition 1e10 one led to more."""


class ActiveInverse:
    """Inverse of Q over the active coordinates: V + PᵀDP, where each exchange is a row of P.

    A sum of many such rows is as few passes over V as that of one.

    Parameters
    ----------
    Q : ndarray of shape (n, n)
    places : ndarray of int, shape (k,)
        Active coordinates.

    Raises
    ------
    LinAlgError
        If Q is not positive definite there.
    """

    def __init__(self, Q: Vector, places: Indices) -> None:
        self._Q, self._active, self._count = Q, places, len(places)
        self._settled, self._changes = np.zeros((0, 0)), np.zeros((CHANGES, 0))  # V, P
        self._signs, self._pending = np.zeros(CHANGES), 0  # D, and its size
        self._rows = np.zeros((0, len(Q)))  # of Q, of the active coordinates
        self._renew()

    @property
    def places(self) -> Indices:
        """Active coordinates, in any order."""
        return self._active[: self._count]

    def _renew(self) -> None:
        k, places = self._count, self.places
        self._grow(k)
        self._rows[:k], self._pending = self._Q[places], 0
        if k:
            factor = cho_factor(self._rows[:k, places], check_finite=False)
            self._settled[:k, :k] = cho_solve(factor, np.eye(k))

    def _grow(self, k: int) -> None:
        """Make room for k coordinates."""
        if k <= (before := len(self._settled)):
            return
        room = min(len(self._Q), max(k, 2 * before, FIRST_ROOM))
        settled, changes = np.zeros((room, room)), np.zeros((CHANGES, room))
        rows, active = np.empty((room, len(self._Q))), np.zeros(room, dtype=np.intp)
        settled[:before, :before], changes[:, :before] = self._settled, self._changes
        rows[:before], active[: len(self._active)] = self._rows, self._active
        self._settled, self._changes, self._rows, self._active = settled, changes, rows, active

    def _applied(self, right: Vector) -> Vector:
        k, pending = len(right), self._pending
        changes = self._changes[:pending, :k]
        found: Vector = self._settled[:k, :k] @ right
        found += (self._signs[:pending] * (changes @ right)) @ changes
        return found

    def _change(self, vector: Vector, sign: float) -> None:
        """Add sign·vvᵀ to the inverse."""
        k = len(vector)
        if self._pending == CHANGES:
            changes = self._changes[:, :k]
            self._settled[:k, :k] += (changes.T * self._signs) @ changes
            self._pending = 0
        self._changes[self._pending, :k], self._signs[self._pending] = vector, sign
        self._pending += 1

    def times(self, right: Vector) -> tuple[Vector, Vector]:
        """x_A = Q_AA⁻¹·right_A, in the order of ``places``, and Qx, of shape (n,)."""
        places = self.places
        wanted = right[places]
        for renewed in (False, True):
            x = self._applied(wanted)
            product = x @ self._rows[: len(x)]
            missed = product[places] - wanted
            if renewed or missed @ missed <= MOST_RESIDUAL**2 * (wanted @ wanted):
                break
            self._renew()
        return x, product

    def enter(self, j: int) -> None:
        """Take in coordinate j, by the Schur complement of Q_AA."""
        k, border = self._count, self._Q[j, self.places]
        change = np.empty(k + 1)
        change[:k] = self._applied(border)
        complement = float(self._Q[j, j] - border @ change[:k])
        self._grow(k + 1)
        self._active[k], self._count = j, k + 1
        if not complement > 0:
            self._renew()
            return
        self._rows[k] = self._Q[j]
        self._settled[k, : k + 1] = self._settled[: k + 1, k] = self._changes[:, k] = 0.0
        change[k] = -1.0
        self._change(change / np.sqrt(complement), 1.0)

    def leave(self, j: int) -> None:
        """Leave out coordinate j; the last one comes into its place."""
        at, last = int(np.flatnonzero(self.places == j)[0]), self._count - 1
        unit = np.zeros(last + 1)
        unit[at] = 1.0
        column = self._applied(unit)
        if regular := bool(column[at] > 0):
            self._change(column / np.sqrt(column[at]), -1.0)
        settled, changes = self._settled, self._changes
        settled[at, : last + 1] = settled[last, : last + 1]
        settled[: last + 1, at] = settled[: last + 1, last]
        changes[:, at], self._rows[at] = changes[:, last], self._rows[last]
        self._active[at], self._count = self._active[last], last
        if not regular:
            self._renew()


def follow(
    Q: Vector,
    c: Vector,
    charge: Vector,
    start: Vector,
    *,
    positive: Mask,
    deadline: float = np.inf,
) -> Vector:
    """The minimiser up to rounding, shape (n,); or the start, after very many exchanges.

    Parameters
    ----------
    Q : ndarray of shape (n, n)
        Positive definite.
    c : ndarray of shape (n,)
    charge : ndarray of shape (n,)
        λ, at least 0.
    start : ndarray of shape (n,)
        Feasible; the more of its signs are right, the fewer exchanges.
    positive : ndarray of bool, shape (n,)
        Coordinates that must be at least 0.
    deadline : float
        In seconds of ``time.perf_counter``.

    Raises
    ------
    LinAlgError
        If Q is not positive definite up to rounding.
    LimitError
        Past the deadline.
    """
    x, smooth = start, (charge == 0) & ~positive
    active, sign = smooth | (x != 0), np.where(smooth, 0.0, np.sign(x))
    slope = Q @ x + c
    inside = MARGIN * max(float(charge.max(initial=0.0)), float(np.abs(c).max(initial=0.0)))
    within = (1.0 - MARGIN) * charge
    at_zero = np.where(
        positive, np.maximum(slope, inside - charge), np.clip(slope, -within, within)
    )
    gradient = np.where(active, -charge * sign, at_zero)
    shift = gradient - slope
    with np.errstate(divide="ignore", invalid="ignore"):
        for t, end in _breakpoints(Q, charge, x, gradient, shift, active, positive, deadline):
            if t >= 1.0:
                return np.where(positive, np.maximum(end, 0.0), end)
    return start


def follow_prices(
    Q: Vector,
    q: Vector,
    charge: Vector,
    prices: Vector,
    *,
    positive: Mask,
) -> Vector:
    """The minimisers x of t·(½xᵀQx − q·x) + Σ λ_j|x_j| at many prices t, one a row.

    z = t·x minimises ½zᵀQz − t q·z + Σ λ_j|z_j|, and is linear in t between two breakpoints.

    Parameters
    ----------
    Q, charge, positive
        As for :func:`follow`, with λ above 0.
    q : ndarray of shape (n,)
    prices : ndarray of shape (n_prices,)
        t, above 0.

    Returns
    -------
    ndarray of shape (n_prices, n)
        nan at prices that very many exchanges have not come to.

    Raises
    ------
    LinAlgError
        If Q is not positive definite up to rounding.
    """
    most, nothing = float(prices.max()), np.zeros(len(q))
    ends, points = [0.0], [nothing]
    none = np.zeros(len(q), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        for t, z in _breakpoints(Q, charge, nothing, nothing, most * q, none, positive):
            ends.append(t)
            points.append(z)
    at, knots, values = prices / most, np.array(ends), np.array(points)
    after = np.clip(np.searchsorted(knots, at), 1, max(1, len(knots) - 1))
    if len(knots) < 2:
        return np.full((len(prices), len(q)), np.nan)
    width = np.maximum(knots[after] - knots[after - 1], SMALLEST)
    share = np.clip((at - knots[after - 1]) / width, 0.0, 1.0)[:, None]
    found = (1.0 - share) * values[after - 1] + share * values[after]
    found[at > knots[-1]] = np.nan
    return np.asarray(np.where(positive, np.maximum(found, 0.0), found) / prices[:, None])


def _breakpoints(
    Q: Vector,
    charge: Vector,
    x: Vector,
    gradient: Vector,
    shift: Vector,
    active: Mask,
    positive: Mask,
    deadline: float = np.inf,
) -> Iterator[tuple[float, Vector]]:
    """The t at which a coordinate enters or leaves, up to 1, and x there; not all, if very many.

    ``gradient`` is that of the smooth part at the start, where x is a minimiser. Quotients of zeros
    are for the caller to ignore.
    """
    x, gradient, active, sign = x.copy(), gradient.copy(), active.copy(), np.sign(x)
    sign[(charge == 0) & ~positive] = 0.0
    inverse, t = ActiveInverse(Q, np.flatnonzero(active)), 0.0
    side, left = np.zeros(len(x)), False  # signs of those that left since t has moved
    one_sided = bool(positive.any())
    for _ in range(EXCHANGES * len(x)):
        check_time(deadline, NEWTON)
        move, bend = inverse.times(shift)
        bend -= shift
        places = inverse.places
        here = x[places]
        to_zero = np.where(move * sign[places] < 0.0, -here / move, np.inf)
        stays = active | (bend == 0.0)
        if one_sided:
            stays |= positive & (bend > 0.0)
        if left:  # only rounding lets them in again as they were
            stays |= bend * side < 0.0
        to_charge = np.where(stays, np.inf, (np.copysign(charge, bend) - gradient) / bend)
        entering, zero, leaving = int(to_charge.argmin()), np.inf, 0
        if len(places):
            first = int(to_zero.argmin())
            leaving, zero = int(places[first]), max(0.0, float(to_zero[first]))
        length = min(zero, max(0.0, float(to_charge[entering])), 1.0 - t)
        x[places] = here + length * move
        gradient += length * bend
        if left and t + length > t:
            side[:], left = 0.0, False
        t += length
        if t < 1.0 and length == zero:
            inverse.leave(leaving)
            side[leaving], left = sign[leaving], True
            active[leaving], x[leaving], sign[leaving] = False, 0.0, 0.0
        elif t < 1.0:
            inverse.enter(entering)
            active[entering], sign[entering] = True, -np.sign(bend[entering])
        yield t, x.copy()
        if t >= 1.0:
            return
