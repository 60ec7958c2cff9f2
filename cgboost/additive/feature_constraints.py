"""Constraints on f: which features may meet in it, and along which it is monotone.

    f(x) = Σ_S f_S(x_j, j ∈ S)        over the sets S of features that may meet

A term of a stage is a function of its input and of the outputs that its leaves use. Every set that
has all of their features is one that the term may belong to, and so are those that the output of a
stage may belong to. Terms that may belong to the same sets are one part of a round's additive
model, its own stage: so no output has features that no set has together. With one set of all
features that is one stage a round.

A monotone feature is a set by itself, and no output of it is fed forward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cgboost.additive.stage import Stage
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Indices, Mask


@dataclass(frozen=True)
class Constraints:
    """Sets of features, and signs of some.

    Attributes
    ----------
    sets : tuple of frozenset of int
        Features that may meet; empty: all.
    signs : dict of int to int
        Features along which f must not fall (1) or not rise (−1). Each is its own set.
    """

    sets: tuple[frozenset[int], ...] = ()
    signs: Mapping[int, int] = field(default_factory=dict)

    def belongings(self, earlier: Sequence[Stage], n_features: int) -> Mask:
        """Which sets the inputs may belong to, shape (n_features + n_outputs, n_sets).

        Parameters
        ----------
        earlier : sequence of Stage
            Those whose outputs are there.
        """
        sets = self.sets or (frozenset(range(n_features)),)
        known: Mask = np.ones((n_features + len(earlier), len(sets)), dtype=bool)
        known[:n_features] = [[j in own for own in sets] for j in range(n_features)]
        for k, stage in enumerate(earlier, start=n_features):
            for _, term in stage.terms:
                known[k] &= of_term(term, known, n_features)
        alone = [bool(self.signs.keys() & own) for own in sets]
        known[n_features:, alone] = False
        return known

    def parts(self, stage: Stage, belongings: Mask, n_features: int) -> list[Stage]:
        """The stages that an additive model is divided into; the first has its constant."""
        if belongings.shape[1] == 1 or not stage.terms:
            return [stage]
        terms: dict[bytes, list[tuple[float, Transformation]]] = {}
        for weight, term in stage.terms:
            own = of_term(term, belongings, n_features).tobytes()
            terms.setdefault(own, []).append((weight, term))
        first, *others = terms.values()
        return [Stage(stage.intercept, first), *(Stage(0.0, part) for part in others)]

    def sign(self, feature: int) -> int:
        """1 or −1; 0 where f may rise and fall."""
        return self.signs.get(feature, 0)


def of_term(term: Transformation, belongings: Mask, n_features: int) -> Mask:
    """Which sets a term may belong to: those of its input and of all outputs that it uses."""
    used = n_features + np.flatnonzero(term.coef.any(axis=0))
    return np.asarray(belongings[[term.feature, *used]].all(axis=0))


def choices(belongings: Mask, n_features: int, n_regressors: int) -> list[tuple[Indices, Indices]]:
    """What leaves may use in the sets: (regressors, inputs that may use all of them together).

    Parameters
    ----------
    belongings : ndarray of bool, shape (n_inputs, n_sets)
    n_regressors : int
        Outputs that can be regressors: the first ones.
    """
    beside = belongings[n_features : n_features + n_regressors]
    patterns, which = np.unique(beside, axis=1, return_inverse=True)
    which = which.ravel()
    return [
        (
            np.flatnonzero(patterns[:, number]),
            np.flatnonzero(belongings[:, which == number].any(axis=1)),
        )
        for number in range(patterns.shape[1])
    ]
