"""Second-order cones of the blocks: points (head, body) with head ≥ ‖body‖, and their scaling.

The scaling of Nesterov and Todd is the symmetric W with WZ = W⁻¹S for a slack S and a multiplier
Z, both inside their cones. With s and z divided by the roots of their determinants head² − ‖body‖²,

    W = √(det S/det Z)^½ [w₀ w₁ᵀ; w₁ I + w₁w₁ᵀ/(1 + w₀)]     w = (s + Jz)/√(2 + 2 s·z)

(Nesterov, Todd, Mathematics of Operations Research 22, 1997; Vandenberghe, *The CVXOPT linear and
quadratic cone program solvers*, 2010). A body is a vector Lᵀρ of a block (:class:`BlockVectors`),
of which only products with others are known; all that is done here needs no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cgboost.arrays import Vector
from cgboost.optimizers.cones.cone_blocks import BlockStore, BlockVectors
from cgboost.tolerances import SMALLEST


class ConeVector(NamedTuple):
    """A number and a vector for every block."""

    head: Vector
    body: BlockVectors


class Cones:
    """Operations on vectors of the cones of all blocks in a store."""

    def __init__(self, store: BlockStore) -> None:
        self._store = store

    def products(self, left: ConeVector, right: ConeVector) -> Vector:
        """Inner products, block by block."""
        return left.head * right.head + self._store.products(left.body, right.body)

    def determinant(self, at: ConeVector) -> Vector:
        """head² − ‖body‖², positive inside the cone."""
        size = np.sqrt(np.maximum(self._store.products(at.body, at.body), 0.0))
        return np.maximum((at.head - size) * (at.head + size), SMALLEST)

    def combination(self, *terms: tuple[Vector | float, ConeVector]) -> ConeVector:
        """Σ factor·vector."""
        head = np.asarray(sum(factor * vector.head for factor, vector in terms))
        bodies = [(factor, vector.body) for factor, vector in terms]
        return ConeVector(head, self._store.combination(*bodies))

    def jordan(self, left: ConeVector, right: ConeVector) -> ConeVector:
        """The Jordan product (left·right, left₀right₁ + right₀left₁)."""
        body = self._store.combination((left.head, right.body), (right.head, left.body))
        return ConeVector(self.products(left, right), body)

    def divided(self, by: ConeVector, value: ConeVector) -> ConeVector:
        """The x with by ∘ x = value."""
        crossed = self._store.products(by.body, value.body)
        head = (by.head * value.head - crossed) / self.determinant(by)
        inverse = 1.0 / by.head
        body = self._store.combination((inverse, value.body), (-head * inverse, by.body))
        return ConeVector(head, body)

    def reach(self, at: ConeVector, move: ConeVector) -> float:
        """How far one may go before the first cone is left, ∞ if none is."""
        slope = at.head * move.head - self._store.products(at.body, move.body)
        bend = move.head**2 - self._store.products(move.body, move.body)
        determinant = self.determinant(at)
        # the first root of det + 2·slope·t + bend·t²
        inside = slope**2 - bend * determinant
        leaves = (inside >= 0) & ((slope < 0) | (bend < 0))
        root = np.sqrt(np.maximum(inside, 0.0)) - slope
        first = determinant[leaves] / np.maximum(root[leaves], SMALLEST)
        falls = move.head < 0
        tip = -at.head[falls] / move.head[falls]
        return float(min(first.min(initial=np.inf), tip.min(initial=np.inf)))


class NesterovToddScaling:
    """The scaling W at a slack S and a multiplier Z.

    Attributes
    ----------
    h : ndarray of shape (n_blocks,)
        √(det Z/det S). W⁻² = h(2ωωᵀ − J) with ω = (w₀, −w₁).
    head : ndarray of shape (n_blocks,)
        w₀.
    omega : BlockVectors
        −w₁.
    """

    def __init__(
        self, cones: Cones, store: BlockStore, slack: ConeVector, dual: ConeVector
    ) -> None:
        self._store = store
        of_slack, of_dual = (np.sqrt(cones.determinant(at)) for at in (slack, dual))
        product = cones.products(slack, dual) / (of_slack * of_dual)
        middle = np.sqrt(2.0 + 2.0 * np.maximum(product, 1.0))
        self.head = (slack.head / of_slack + dual.head / of_dual) / middle
        self.omega = store.combination(
            (-1.0 / (of_slack * middle), slack.body), (1.0 / (of_dual * middle), dual.body)
        )
        self.h = of_dual / of_slack
        self._size = np.sqrt(of_slack / of_dual)

    def apply(self, vector: ConeVector) -> ConeVector:
        """W·vector."""
        along = self._store.products(self.omega, vector.body)
        head = self._size * (self.head * vector.head - along)
        back = along / (1.0 + self.head) - vector.head
        return ConeVector(
            head,
            self._store.combination((self._size, vector.body), (self._size * back, self.omega)),
        )

    def undo(self, vector: ConeVector) -> ConeVector:
        """W⁻¹·vector."""
        along = self._store.products(self.omega, vector.body)
        inverse = 1.0 / self._size
        head = inverse * (self.head * vector.head + along)
        on = along / (1.0 + self.head) + vector.head
        return ConeVector(
            head, self._store.combination((inverse, vector.body), (inverse * on, self.omega))
        )
