"""Losses of several outputs, each with its own offset, as one loss of support-vector machines.

    F(f) = Σ_c F_c(f_c)

The rows of a master are then the pairs (output, training row), the first output first, and a free
offset asks for Σ_i r_ic = 0 of every output c.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.forks import cached_property
from cgboost.losses.dual.support_vector import SupportVectorLoss


def slices(sizes: Iterable[int]) -> list[slice]:
    """Where parts of these sizes stand, one after the other."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


@dataclass(frozen=True)
class SideBySide(SupportVectorLoss):
    """Losses of several outputs, one after the other; none chooses its own level.

    Attributes
    ----------
    sizes : tuple of int
        Rows of each output.
    """

    sizes: tuple[int, ...] = ()

    @classmethod
    def of(cls, loss: SupportVectorLoss, sizes: Sequence[int]) -> SupportVectorLoss:
        """A loss whose rows are those of outputs of these sizes; itself where there is one.

        Raises
        ------
        ValueError
            If it chooses a level, which would be one for all outputs.
        """
        if len(sizes) == 1:
            return loss
        if loss.mass is not None:
            raise ValueError("outputs side by side need a loss that chooses no level (ν)")
        names = ("target", "lower", "upper", "epsilon", "curvature", "from_lower")
        own: dict[str, Any] = {name: getattr(loss, name) for name in names}
        return cls(**own, sizes=tuple(sizes))

    @classmethod
    def joined(cls, parts: Sequence[SupportVectorLoss]) -> SupportVectorLoss:
        """Losses of one kind, one after the other."""
        if len(parts) == 1:
            return parts[0]
        curved = parts[0].curvature is not None
        loss = replace(
            parts[0],
            target=np.concatenate([part.target for part in parts]),
            lower=np.concatenate([part.lower for part in parts]),
            upper=np.concatenate([part.upper for part in parts]),
            curvature=np.concatenate([part.curvature for part in parts]) if curved else None,
        )
        return cls.of(loss, [part.n_rows for part in parts])

    @cached_property
    def parts(self) -> Sequence[SupportVectorLoss]:
        """The losses of the outputs."""
        return [
            SupportVectorLoss(
                self.target[rows],
                self.lower[rows],
                self.upper[rows],
                self.epsilon,
                None if self.curvature is None else self.curvature[rows],
                from_lower=self.from_lower,
            )
            for rows in slices(self.sizes)
        ]

    def empty(self, *, offset: bool) -> float:
        """The loss at 0; with an offset, of nearly the best constant of each output."""
        return sum(part.empty(offset=offset) for part in self.parts)

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """A pseudo-response nearby that is feasible, balanced output by output."""
        parts = zip(self.parts, slices(self.sizes), strict=True)
        own = [part.feasible(response[rows], balanced=balanced) for part, rows in parts]
        return np.concatenate(own)
