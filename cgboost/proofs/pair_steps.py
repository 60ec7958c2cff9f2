"""Better dual points of kernel machines, by steps along pairs of rows.

    max  Σ (target_i r_i − ε|r_i|) − ½ rᵀKr   over a box, with Σr given, and perhaps Σ|r|

The dual point of a machine that was stopped early may be several times as far from the optimum as
the machine itself. A step is libsvm's: of the two rows that violate their conditions most, one
takes r + t and the other r − t, with the best t (Keerthi, Shevade, Bhattacharyya, Murthy,
*Improvements to Platt's SMO algorithm for SVM classifier design*, 2001). Here only some rows
move, so that a step needs the values of the kernel between these alone.
"""

from __future__ import annotations

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.losses import SupportVectorLoss
from cgboost.tolerances import SMALLEST

PROMISED_SHARE = 0.05
"""Steps end when as many as there are rows, each of what the next pair promises, would gain this
share of what all have gained."""


def take_pair_steps(
    loss: SupportVectorLoss, block: Indices, gram: Vector, output: Vector, response: Vector
) -> Vector:
    """Responses of some rows for which the dual objective is greater.

    Parameters
    ----------
    loss : SupportVectorLoss
        Of all rows, without curvature.
    block : ndarray of shape (n_moved,)
        The rows that may move.
    gram : ndarray of shape (n_moved, n_moved)
        K of these.
    output, response : ndarray of shape (n_rows,)
        Kr and a feasible r.

    Returns
    -------
    ndarray of shape (n_moved,)
    """
    pairs = _Pairs(loss, block, gram, output, response)
    for _ in block:
        promised = pairs.step()
        if promised * len(block) <= PROMISED_SHARE * pairs.gained:
            break
    return np.array(pairs.r)


class _Pairs:
    """A point on its way.

    Where Σ|r| is given, a pair must have the same sign, so that there are two groups of rows; those
    with r = 0 are in both. While Σ|r| may still grow they are one. Each group has what a unit of
    r + t adds to the objective but for the rate target − f, and what r − t takes from it: −∞ and ∞
    where the row cannot move.
    """

    def __init__(
        self, loss: SupportVectorLoss, block: Indices, gram: Vector, output: Vector, r: Vector
    ) -> None:
        self.gram, self.rate = gram, (loss.target - output)[block]
        self.r, self.low, self.high = (x[block].tolist() for x in (r, loss.lower, loss.upper))
        self.epsilon, self.gained = loss.epsilon, 0.0
        mass = loss.mass
        self.several = mass is not None
        self.slack = mass.amount - float(np.abs(r).sum()) if mass and mass.at_most else 0.0
        self.rises, self.falls = np.empty((2, 3, len(block)))
        for k in range(len(block)):
            self._note(k)
        self.groups = list(zip(self.rises, self.falls, strict=True))

    def step(self) -> float:
        """Move the pair that gains most at first; what it would gain without ends."""
        slope, i, j = 0.0, 0, 0
        apart = self.several and not self.slack > 0
        for rises, falls in self.groups[1:] if apart else self.groups[:1]:
            up, down = self.rate + rises, self.rate + falls
            one, two = int(up.argmax()), int(down.argmin())
            if up[one] - down[two] > slope:
                slope, i, j = float(up[one] - down[two]), one, two
        if not slope > 0:
            return 0.0
        gram, x, z = self.gram, self.r[i], self.r[j]
        bend = max(float(gram[i, i] + gram[j, j] - 2.0 * gram[i, j]), SMALLEST)
        # a step ends at 0, too: there r changes its group, or the tube its side
        rise, fall = self.high[i] - x if x >= 0 else -x, z - self.low[j] if z <= 0 else z
        t = min(slope / bend, rise, fall)
        longer = (x >= 0) + (z <= 0) - 1  # Σ|r| grows by 2t, 0 or −2t
        if self.slack > 0:
            t = min(t, 0.5 * self.slack) if longer > 0 else t
            self.slack -= 2.0 * longer * t
        # to the end itself, not next to it
        self.r[i] = x + t if t < rise else self.high[i] if x >= 0 else 0.0
        self.r[j] = z - t if t < fall else self.low[j] if z <= 0 else 0.0
        self.rate -= t * (gram[i] - gram[j])
        self._note(i)
        self._note(j)
        self.gained += t * (slope - 0.5 * t * bend)
        return 0.5 * slope**2 / bend

    def _note(self, k: int) -> None:
        """Where a row can go: all together, and with those of either sign."""
        x, free = self.r[k], self.epsilon
        rise, fall = x < self.high[k], x > self.low[k]
        rises, falls = self.rises, self.falls
        rises[0, k] = (-free if x >= 0 else free) if rise else -np.inf
        falls[0, k] = (free if x <= 0 else -free) if fall else np.inf
        if self.several:
            rises[1, k], falls[1, k] = 0.0 if x >= 0 and rise else -np.inf, 0.0 if x > 0 else np.inf
            rises[2, k], falls[2, k] = 0.0 if x < 0 else -np.inf, 0.0 if x <= 0 and fall else np.inf
