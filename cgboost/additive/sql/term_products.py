"""Products of the terms of a stage: those that follow from sums by group, and those to be read.

In a group of its input a term is linear in that input and in the outputs before, as a leaf is. Its
products with 1, the response, the outputs, and with all terms of the same input follow from the
statistics (n, μ, S) of z = (x, outputs…, response) in each group:

    Σ p q = Σ_g  βᵀSγ + n (α + βᵀμ)(δ + γᵀμ)        where p = α + βᵀz and q = δ + γᵀz there.

Only products of terms of different inputs have to be read. A term that is the same function in all
groups that have rows, t = α + a·x + Σ c_k s_k, takes what is read of x alone, which never changes:
so are the features themselves, and trees that do not split.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Vector

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Part:
    """A function of one input that products are read of: a term, or the input itself.

    Attributes
    ----------
    key : hashable
        Equal for equal functions.
    feature : int
        Number of the input.
    term : Transformation or None
        None: the input as a regressor.
    origin : float
        What products are measured from.
    level : ndarray of shape (n_groups,)
    slope : ndarray of shape (n_groups, n_variables)
        Of (x, outputs…, response): the function less its origin, in each group.
    """

    key: Hashable
    feature: int
    term: Transformation | None
    origin: float
    level: Vector
    slope: Vector


class TermProducts:
    """Products of terms and the response, by the sums that they follow from.

    Parameters
    ----------
    near_means : ndarray of shape (n_terms,)
        Near the means of the terms.
    grouped : mapping of int to SplitMoments
        Statistics of (x, regressors…, response) in the groups of the inputs of all terms; of any
        input where there is no term.
    origin : ndarray of shape (n_regressors + 1,)
        Near the means of the regressors and of the response.

    Attributes
    ----------
    parts : list of Part
        What the terms are made of besides regressors.
    pairs : list of (int, int)
        Parts of different inputs: their products are to be read.
    """

    def __init__(
        self,
        terms: Sequence[Transformation],
        near_means: Vector,
        grouped: Mapping[int, SplitMoments],
        origin: Vector,
        known: Mapping[Hashable, float],
    ) -> None:
        self.near_means, self.grouped, self.origin = near_means, grouped, origin
        self.parts: list[Part] = []
        numbers: dict[Hashable, int] = {}
        n_regressors = len(origin) - 1
        self._loads = np.zeros((len(terms), n_regressors))
        self._levels = np.zeros(len(terms))
        self._along: list[tuple[int, float] | None] = []
        for k, term in enumerate(terms):
            leaf = _only_leaf(term, grouped[term.feature])
            part: Part | None
            if leaf is None:
                part, times = self._term(term, float(near_means[k]), known), 1.0
                self._levels[k] = part.origin - near_means[k]
            else:
                coef, times = term.coef[leaf], float(term.slope[leaf])
                part = self._input(term.feature, known) if times else None
                self._loads[k, : len(coef)] = coef
                self._levels[k] = term.intercept[leaf] - near_means[k] + coef @ origin[: len(coef)]
                self._levels[k] += times * part.origin if part else 0.0
            if part is None:
                self._along.append(None)
                continue
            if part.key not in numbers:
                numbers[part.key] = len(self.parts)
                self.parts.append(part)
            self._along.append((numbers[part.key], times))
        self.pairs: list[Pair] = [
            (i, j)
            for j, second in enumerate(self.parts)
            for i, first in enumerate(self.parts[:j])
            if first.feature != second.feature
        ]

    def moments(self, read: Mapping[Pair, Vector]) -> SplitMoments:
        """Statistics of the terms and the response.

        Parameters
        ----------
        read : mapping of (int, int) to ndarray of shape (2,)
            Sums of products of ``pairs`` about their origins, training and holdout.
        """
        sums = np.array(
            [
                self._sums(lambda parts: parts.training, {k: v[0] for k, v in read.items()}),
                self._sums(lambda parts: parts.holdout, {k: v[1] for k, v in read.items()}),
            ]
        )
        return SplitMoments.of(Moments.from_sums(sums, np.append(self.near_means, self.origin[-1])))

    def _sums(self, chosen: Callable[[SplitMoments], Moments], read: dict[Pair, float]) -> Vector:
        """Σ w a aᵀ with a = (1, terms less near, response less its origin), as a triangle."""
        n_regressors, n_parts = len(self.origin) - 1, len(self.parts)
        width = 2 + n_regressors + n_parts
        beside = [*range(1, 1 + n_regressors), width - 1]  # regressors and the response
        first = 1 + n_regressors  # of the parts
        square = np.zeros((width, width))
        whole = chosen(next(iter(self.grouped.values())))
        n, away = whole.count, whole.mean[:, 1:] - self.origin
        square[0, 0] = n.sum()
        square[0, beside] = square[beside, 0] = n @ away
        products = whole.scatter[:, 1:, 1:].sum(axis=0) + (away * n[:, None]).T @ away
        square[np.ix_(beside, beside)] = products
        deviations = []
        for k, part in enumerate(self.parts):
            own = chosen(self.grouped[part.feature])
            middle = part.level + np.einsum("gv,gv->g", part.slope, own.mean)
            deviations.append((middle, np.einsum("gv,gvu->gu", part.slope, own.scatter)))
            weighed, here = own.count * middle, first + k
            square[0, here] = square[here, 0] = weighed.sum()
            with_others = deviations[k][1][:, 1:].sum(axis=0)
            with_others += weighed @ (own.mean[:, 1:] - self.origin)
            square[here, beside] = square[beside, here] = with_others
            for j, other in enumerate(self.parts[: k + 1]):
                if other.feature == part.feature:
                    product = weighed @ deviations[j][0]
                    product += np.einsum("gv,gv->", deviations[k][1], other.slope)
                    square[here, first + j] = square[first + j, here] = product
        for (i, j), product in read.items():
            square[first + i, first + j] = square[first + j, first + i] = product
        made = np.zeros((2 + len(self.near_means), width))
        made[0, 0] = made[-1, -1] = 1.0
        made[1:-1, 0], made[1:-1, 1:first] = self._levels, self._loads
        for k, along in enumerate(self._along, 1):
            if along is not None:
                made[k, first + along[0]] = along[1]
        result = made @ square @ made.T
        return np.asarray(result[np.tril_indices(len(made))])

    def _term(
        self, term: Transformation, near_mean: float, known: Mapping[Hashable, float]
    ) -> Part:
        key = key_of(term)
        origin = known.get(key, near_mean)
        slope = np.zeros((len(term.leaf), 1 + len(self.origin)))
        slope[:, 0] = term.slope[term.leaf]
        slope[:, 1 : 1 + term.coef.shape[1]] = term.coef[term.leaf]
        return Part(key, term.feature, term, origin, term.intercept[term.leaf] - origin, slope)

    def _input(self, feature: int, known: Mapping[Hashable, float]) -> Part:
        """An input as a regressor."""
        key, training = ("input", feature), self.grouped[feature].training
        mean = float(training.count @ training.mean[:, 0] / max(training.count.sum(), 1.0))
        origin = known.get(key, mean)
        slope = np.zeros((len(training), 1 + len(self.origin)))
        slope[:, 0] = 1.0
        return Part(key, feature, None, origin, np.full(len(training), -origin), slope)


def key_of(term: Transformation) -> Hashable:
    """What a term is: equal terms have equal values."""
    parts = (term.leaf, term.intercept, term.slope, term.coef)
    return (term.feature, *(part.tobytes() for part in parts))


def _only_leaf(term: Transformation, parts: SplitMoments) -> int | None:
    """The leaf of all groups that have rows, if it is one."""
    there = (parts.training.count > 0) | (parts.holdout.count > 0)
    leaves = np.unique(term.leaf[there])
    return int(leaves[0]) if len(leaves) == 1 else None
