"""The group norm of functions: Ω(f) = Σ_p w_p‖f_p‖ over the reproducing kernel Hilbert spaces H_p.

This is the penalty of multiple kernel learning. A whole kernel is a column: with h_p in the unit
ball of H_p and f_p = α_p h_p, the norm is the 1-norm of the α_p, and the best h_p for a
pseudo-response r is K_p r over its norm, which scores

    σ_p = √(rᵀK_p r)/w_p

Ω*(r) is 0 where no σ_p exceeds 1 and ∞ elsewhere: entry rule and bound are those of the 1-norm.
(Bach, Lanckriet, Jordan, *Multiple kernel learning, conic duality, and the SMO algorithm*,
ICML 2004.)

Several outputs, the classes of a one-vs-rest model, may share the kernels. Their functions f_pc are
then one element of a sum of spaces, and

    Ω(f) = Σ_p w_p √(Σ_c ‖f_pc‖²),      σ_p = √(Σ_c r_cᵀK_p r_c)/w_p

so that a kernel enters for all classes or for none, with one weight. (Rakotomamonjy, Bach, Canu,
Grandvalet, *SimpleMKL*, JMLR 9, 2008, section 4; Zien, Ong, *Multiclass multiple kernel learning*,
ICML 2007.)

A norm of functions depends on the scale of the kernel, which says nothing of its use: 100·K_p is
cheaper by a factor of ten than K_p. So kernels compete at unit variance: w_p contains the standard
deviation of the training rows in H_p,

    s_p² = Σ_i v_i K_p(x_i, x_i) − Σ_ij v_i v_j K_p(x_i, x_j)

with the weights v of the rows, Σv = 1,
so that neither a factor nor a constant added to a kernel changes the model (with a free offset).
(Zien, Ong, *Multiclass multiple kernel learning*, ICML 2007; Kloft, Brefeld, Sonnenburg, Zien,
JMLR 12, 2011.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Vector
from cgboost.penalties.function_norm import FunctionNorm
from cgboost.penalties.l1 import L1


@dataclass(frozen=True)
class GroupNorm(FunctionNorm, L1):
    """Σ w_p‖f_p‖: few kernels, each as a whole (multiple kernel learning).

    Parameters
    ----------
    weights : mapping of str to float, optional
        Factor of w_p by the name of a kernel; 1 for those that are not named. A kernel of a larger
        weight needs a better reason to enter.
    standardize : bool, default=True
        Whether the standard deviation s_p of the rows in H_p is a factor of w_p, which makes the
        model the same for kernels of any scale.
    shared : bool, default=True
        Whether the classes of a classifier, if there are more than two, have the same kernels with
        the same weights. False: each class against the rest chooses kernels by itself.

    Examples
    --------
    >>> from cgboost.penalties import GroupNorm
    >>> GroupNorm({"rbf": 2.0}).weight("rbf")
    2.0
    """

    standardize: bool = True
    shared: bool = True

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.standardize, self.shared))

    @property
    def any_scale(self) -> bool:
        """Whether standard deviations are factors of the weights."""
        return self.standardize

    def factors(self, names: Sequence[str], deviations: Vector) -> Vector:
        """w_p of all kernels.

        Parameters
        ----------
        names : sequence of str
        deviations : ndarray of shape (n_kernels,)
            s_p of these kernels, positive.
        """
        weights = np.array([self.weight(name) for name in names])
        return weights * deviations if self.standardize else weights
