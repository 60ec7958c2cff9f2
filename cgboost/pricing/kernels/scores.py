"""What kernel scores belong to, what must be added for other duals, and how far off they may be.

Scores are linear in r: where few of its entries have changed since the last pass, only these are
priced. Changes that are negligible compared with the rounding of the scores wait until they add up.
The error of the scores is bounded from pass to pass (:mod:`cgboost.kernels.expansions`). Columns
that rounding leaves undecided, the few whose errors hide the gap, are named to be scored again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.kernels.expansions import Rounding
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
    restart : bool
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
    strata : sequence of int
    scores, errors : ndarray of shape (n_strata, n_columns)
        Of all columns, and bounds on their errors.
    request : PricingRequest
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
