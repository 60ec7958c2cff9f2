"""What kernel scores belong to, what must be added for other duals, and how far off they may be.

Scores are linear in r: where few of its entries have changed since the last pass, only these are
priced. Changes that are negligible compared with the rounding of the scores wait until they add up.
The error of the scores is bounded from pass to pass (:mod:`cgboost.kernels.expansions`). Columns
that rounding leaves undecided, the few whose errors hide the gap, are named to be scored again.

Where kernel values are as large as 1e12, as those of a polynomial of raw features, the scores of
the optimum are sums of large terms that cancel, and float64 leaves too few digits to prove a gap.
NumPy's widest number type has eleven bits more on most machines. It has no fast linear algebra, so
only the columns that float64 leaves undecided are scored with it, near the end of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.kernels.expansions import Arithmetic, Rounding
from cgboost.pricing.kernels.blocks import SharedKernelProducts
from cgboost.pricing.scans.candidates import Candidates, PricingRequest, adds_up, doubts
from cgboost.tolerances import UNIT_ROUNDOFF

NEGLIGIBLE = 1e-11
"""Changes of r that are smaller than this in total, relative to Σ|r|, wait: their error is counted,
and far below every tolerance of a gap; …"""

WAITING_SHARE = 0.1
"""… so do changes of this share of the rounding of the scores."""

STALE = 2.0
"""Errors that have grown by this factor through many passes are worth a fresh start."""


@dataclass(frozen=True)
class Reference:
    """The pseudo-response that the scores of a stratum belong to.

    Attributes
    ----------
    response : ndarray of shape (n_rows,) or None
        None: there are no scores yet.
    error : float
        A score is off by at most this times the size of its centre.
    first_error : float
        The same after the last fresh start.
    """

    response: Vector | None = None
    error: float = 0.0
    first_error: float = 0.0

    @property
    def is_stale(self) -> bool:
        """Whether many passes have made scores much less exact than a fresh start would."""
        return self.error > STALE * self.first_error


@dataclass(frozen=True)
class ResponseChange:
    """How to come from a reference to a pseudo-response.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        What is added, or with ``restart`` begun with.
    scored : ndarray of shape (n_rows,)
        What the scores will belong to: the pseudo-response without negligible changes.
    response : ndarray of shape (n_rows,)
        The pseudo-response.
    """

    weights: Vector
    restart: bool
    scored: Vector
    response: Vector

    def errors(self, reference: Reference, rounding: Rounding) -> tuple[float, float]:
        """Errors of the new scores, relative to the size of their centres.

        Parameters
        ----------
        reference : Reference
        rounding : Rounding
            Of the terms that are added.

        Returns
        -------
        kept, now : float
            As those of ``scored``, and as scores of the pseudo-response.
        """
        added = float(np.abs(self.weights) @ rounding.size)
        kept = 0.0 if self.restart else reference.error
        kept += (rounding.relative + (np.count_nonzero(self.weights) + 4) * UNIT_ROUNDOFF) * added
        kept += 2.0 * UNIT_ROUNDOFF * float(np.abs(self.response) @ rounding.size)
        return kept, kept + float(np.abs(self.response - self.scored) @ rounding.size)


def change(reference: Reference, response: Vector, rounding: Rounding | None) -> ResponseChange:
    """The cheaper way to new scores: add what has changed, or begin anew."""
    cut = np.zeros_like(response)
    if rounding is not None:
        total = float(np.abs(response) @ rounding.size)
        waiting = max(NEGLIGIBLE, WAITING_SHARE * rounding.relative) * total / max(1, len(response))
        cut = np.divide(waiting, rounding.size, out=cut, where=rounding.size > 0)
    support = np.abs(response) > cut
    old = reference.response
    if old is not None:
        difference = response - old
        changed = np.abs(difference) > cut
        if np.count_nonzero(changed) < np.count_nonzero(support):
            scored = np.where(changed, response, old)
            return ResponseChange(np.where(changed, difference, 0.0), False, scored, response)
    scored = np.where(support, response, 0.0)
    return ResponseChange(scored, True, scored, response)


REST = 0.5
"""Columns that are not scored again may widen the gap by this share of what is tolerated."""


def undecided(
    strata: Sequence[int],
    scores: Vector,
    errors: Vector,
    request: PricingRequest,
    candidates: Candidates,
) -> Indices:
    """Centres of the columns that have to be scored more exactly, as few as will do.

    Parameters
    ----------
    scores, errors : ndarray of shape (n_strata, n_columns)
        Of all columns, and bounds on their errors.
    candidates : Candidates
        What these scores show.

    Returns
    -------
    ndarray of int
        Ascending. Errors of all other columns widen the excess that the bound rests on by at most
        ``REST`` of what is tolerated.
    """
    widened = doubts(strata, scores, errors, request)
    tolerated = REST * candidates.tolerated(request)
    if not adds_up(request.rule):
        return np.flatnonzero((widened > tolerated).any(axis=0))
    by_centre = widened.sum(axis=0)
    ascending = np.argsort(by_centre, kind="stable")
    harmless = int(np.searchsorted(np.cumsum(by_centre[ascending]), tolerated, side="right"))
    return np.sort(ascending[harmless:])


UNLIKELY = 3.0
"""Standard deviations that an error will hardly exceed."""


def likely_share(response: Vector) -> float:
    """The share of its bound that the error of a score will hardly exceed.

    The errors of different rows are as good as independent, so that they add up like their squares
    (Higham, Mary, *A new approach to probabilistic rounding error analysis*, SIAM J. Sci. Comput.
    41, 2019), whereas the bound has to add up their sizes.
    """
    total = float(np.abs(response).sum())
    return min(1.0, UNLIKELY * float(np.linalg.norm(response)) / total) if total > 0 else 1.0


EXTENDED_UNIT = 0.5 * float(np.finfo(np.longdouble).eps)
"""Unit roundoff of NumPy's widest type; on some machines that of float64."""

AT_ONCE = 2**20
"""Kernel values that are held at a time, at most."""


def extended_scores(
    kernels: Sequence[Any], X: NDArray[np.floating[Any]], centres: Indices, response: Vector
) -> tuple[Vector, Vector]:
    """r·K(·, x_j) of some centres, and bounds on the errors.

    Parameters
    ----------
    kernels : sequence of Kernel
        Fitted, of products: they share them.
    X : ndarray of shape (n_rows, n_features)
    centres : ndarray of int
    response : ndarray of shape (n_rows,)

    Returns
    -------
    scores, errors : ndarray of shape (n_kernels, n_centres)
        A kernel whose rounding is not known counts as off by the rounding of each value to float64.
    """
    rows = np.flatnonzero(response)
    wide, weights = X.astype(np.longdouble), response[rows].astype(np.longdouble)
    norms = np.einsum("ij,ij->i", X, X)
    arithmetic = Arithmetic(norms, X.shape[1] + 1, EXTENDED_UNIT)
    sums = (len(rows) + 4) * EXTENDED_UNIT
    scores, errors = np.empty((2, len(kernels), len(centres)))
    step = max(1, AT_ONCE // max(1, len(rows)))
    roundings = [kernel.rounding(arithmetic) for kernel in kernels]
    for start in range(0, len(centres), step):
        block = slice(start, start + step)
        own = centres[block]
        shared = SharedKernelProducts(wide[rows], wide[own])
        for k, (kernel, rounding) in enumerate(zip(kernels, roundings, strict=True)):
            values = shared.values(kernel)
            found = weights @ values
            if rounding is not None:
                size = float(np.abs(response[rows]) @ rounding.size[rows]) * rounding.size[own]
                off = (rounding.relative + sums) * size
            else:
                off = (UNIT_ROUNDOFF + sums) * (np.abs(weights) @ np.abs(values))
            scores[k, block] = found
            errors[k, block] = off + UNIT_ROUNDOFF * np.abs(found)
    return scores, errors
