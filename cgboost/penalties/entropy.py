"""The 1-norm ball with a regularised dual: what makes LPBoost ERLPBoost.

With u = |r|, the distribution over the rows, the dual objective loses (1/η) Σ u_i log(u_i/ū_i), so
that u cannot jump between rounds. The primal has Σ|α| ≤ D and a loss that is smoothed accordingly
(:mod:`cgboost.losses.dual.entropic`): Warmuth, Glocer, Vishwanathan, ALT 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any

import numpy as np

from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import EntropicLoss, SupportVectorLoss
from cgboost.penalties.l1_ball import L1Ball


@dataclass(frozen=True)
class Entropy(L1Ball):
    """Σ|α| ≤ radius, for a loss with its own margin; its dual weights are regularised.

    Parameters
    ----------
    eta : float, default=1
        η: how little the entropy counts.
    radius : float, default=1
    """

    eta: float = 1.0
    radius: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.eta, Real) and 0 < self.eta < np.inf):
            raise ValueError(f"eta must be positive and finite, got {self.eta!r}")

    def dual_loss(self, loss: Any) -> Any:
        """The entropic loss of the same set of dual points.

        Raises
        ------
        UnsupportedLossError
            If the loss has no mass (``nu_hinge`` has), or its own η that is another one.
        """
        if isinstance(loss, EntropicLoss) and loss.eta == self.eta:
            return loss
        if type(loss) is not SupportVectorLoss or not loss.chooses_margin:
            raise UnsupportedLossError(
                f"Entropy(eta={self.eta:g}) needs a loss that chooses its margin, got {loss!r}: "
                "set nu= in an estimator, give nu_hinge(…) to a master"
            )
        return EntropicLoss(**{f.name: getattr(loss, f.name) for f in fields(loss)}, eta=self.eta)
