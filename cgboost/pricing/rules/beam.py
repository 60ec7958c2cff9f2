"""Searches that extend the most promising conjunctions alone: quick, and without a proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.pricing.rules.branching import BestConjunctions, LiteralPlaces
from cgboost.pricing.rules.literals import Literals, cross

BEAM_WIDTH = 200
"""Conjunctions of each size that are extended."""

ALIKE = 1e-6
"""Numbers of rows this close, relative to the smaller, are the same: they are whole numbers below a
million, or single precision does not tell them apart."""

PAIR_BLOCK = 256
"""Conditions whose pairs are scored at once."""

ConjunctionScores = Callable[[Sequence[Vector], int], Vector]
"""Makes scores of sums over the rows of conjunctions, and of their number of conditions."""


def beam(
    literals: Literals,
    weights: Sequence[Vector],
    score: ConjunctionScores,
    candidates: BestConjunctions,
    largest: int,
    *,
    all_pairs: bool = False,
) -> int:
    """Score conjunctions, and extend those of each size that promise most.

    Parameters
    ----------
    literals : Literals
    weights : sequence of ndarray of shape (n_groups,)
        The sums of each over the rows of conjunctions are what ``score`` is given.
    score : callable
        The score of conjunctions, which decides which of them are extended, too.
    candidates : BestConjunctions
    largest : int
        Conditions of a conjunction at most.
    all_pairs : bool
        Whether all conditions are extended by a second one.

    Returns
    -------
    int
        How many conjunctions were scored.
    """
    weights = [*weights, literals.sizes]
    every = np.arange(len(literals), dtype=np.intp)
    sums = [literals.matrix.T @ own for own in weights]
    scores = score(sums[:-1], 1)
    candidates.offer(scores, (), every, None)
    evaluated, size = len(every), 1
    frontier: list[LiteralPlaces] = [(int(j),) for j in _most(scores, every, all_pairs)]
    while size < largest and frontier:
        size += 1
        offers: list[tuple[float, LiteralPlaces]] = []
        for start in range(0, len(frontier), PAIR_BLOCK):
            block = frontier[start : start + PAIR_BLOCK]
            offers += _extend(literals, weights, block, sums[-1], score, candidates)
            evaluated += len(block) * len(every)
        best = sorted(offers, key=lambda item: (-item[0], item[1]))
        frontier = list(dict.fromkeys(tuple(sorted(places)) for _, places in best))[:BEAM_WIDTH]
    return evaluated


def _most(scores: Vector, every: Indices, all_pairs: bool) -> Indices:
    if all_pairs:
        return every
    return np.argsort(-scores, kind="stable")[:BEAM_WIDTH]


def _extend(
    literals: Literals,
    weights: Sequence[Vector],
    block: Sequence[LiteralPlaces],
    sizes: Vector,
    score: ConjunctionScores,
    candidates: BestConjunctions,
) -> list[tuple[float, LiteralPlaces]]:
    """Score the extensions of some conjunctions; the best of them, with their scores."""
    size = len(block[0]) + 1
    covers = np.stack([literals.matrix[:, list(p)].all(axis=1) for p in block], axis=1)
    sums = cross(covers, weights, literals.matrix)
    inside, own = sums.pop(), covers.T @ literals.sizes
    useful = inside >= literals.min_support - 0.5
    useful &= inside < (1.0 - ALIKE) * np.minimum(own[:, None], sizes[None, :])
    if size == 2:  # the other order is the same pair
        useful &= np.array([p[0] for p in block])[:, None] < np.arange(len(literals))[None, :]
    rows, more = np.nonzero(useful)
    chosen = [values[rows, more] for values in sums]
    scores = score(chosen, size)
    best = np.argsort(-scores, kind="stable")[: max(BEAM_WIDTH, candidates.limit)].tolist()
    found = [(float(scores[k]), (*block[rows[k]], int(more[k]))) for k in best]
    candidates.found += [item for item in found if item[0] > candidates.floor]
    return found[:BEAM_WIDTH]
