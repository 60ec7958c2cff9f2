"""Columns that rounding leaves undecided: the few whose errors hide the gap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cgboost.pricing.scans.candidates import Candidates, PricingRequest, adds_up, doubts

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

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
    widened = np.array(
        [
            doubts(s, own, error, request)
            for s, own, error in zip(strata, scores, errors, strict=True)
        ]
    )
    tolerated = REST * candidates.tolerated(request)
    if not adds_up(request.rule):
        return np.flatnonzero((widened > tolerated).any(axis=0))
    by_centre = widened.sum(axis=0)
    ascending = np.argsort(by_centre, kind="stable")
    harmless = int(np.searchsorted(np.cumsum(by_centre[ascending]), tolerated, side="right"))
    return np.sort(ascending[harmless:])
