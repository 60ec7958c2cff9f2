"""The corrective master of columns that several outputs share.

    F = e·bᵀ + TC        F (n_rows, n_outputs), T the columns, C (n_columns, n_outputs)

A round brings one column of values to every output; then all coefficients are chosen anew. Outputs
with separate losses (several responses) are refitted one by one; the scores of classes, whose
multinomial deviance ties them together, by Newton's method on all of C.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from cgboost.arrays import Vector
from cgboost.losses.loss import DifferentiableLoss
from cgboost.masters.stagewise.fully_corrective import RefittedMaster
from cgboost.optimizers.refits.refits import NewtonRefit, Refit, Refitted
from cgboost.optimizers.refits.ridged import RidgedLoss


class Responses:
    """Several responses, each with its own loss.

    Parameters
    ----------
    signs : bool, default=False
        Whether losses with kinks have the pseudo-response of the output alone, and not the one that
        the refit gives.
    """

    def __init__(
        self,
        losses: Sequence[DifferentiableLoss],
        refits: Sequence[Refit],
        *,
        signs: bool = False,
    ) -> None:
        self.losses, self._refits, self._signs = losses, refits, signs
        self.weights, self.n_outputs = losses[0].weights, len(losses)

    def value(self, output: Vector) -> float:
        """The sum over the responses."""
        return sum(loss.value(f) for loss, f in zip(self.losses, output.T, strict=True))

    def pseudo_response(self, output: Vector) -> Vector:
        """That of each."""
        found = [loss.pseudo_response(f) for loss, f in zip(self.losses, output.T, strict=True)]
        return np.column_stack(found)

    def constant(self) -> Vector:
        """That of each."""
        return np.array([loss.constant() for loss in self.losses])

    def refit(self, H: Vector, coef: Vector, time_limit: float | None) -> Refitted:
        """One by one."""
        found = [
            refit.refit(H, own, time_limit) for refit, own in zip(self._refits, coef.T, strict=True)
        ]
        after = np.column_stack([one.coef for one in found])
        response = self.pseudo_response(H @ after)
        for k, one in enumerate(found):
            if one.response is not None and not self._signs:
                response[:, k] = one.response
        return Refitted(after, response, all(one.bounded for one in found))


class ClassScores(RidgedLoss):
    """Scores of K classes with the multinomial deviance.

    Parameters
    ----------
    loss : DifferentiableLoss
        ``Multinomial(K).on(y, weights)``.
    ridge : float
        λ of ½λ Σ w (f_k − f̄_k)² for every score.
    steps : int or None
        Newton steps of a refit; None: until they converge.
    damping : float
        λ of [M] eq. 42, as in :class:`~cgboost.optimizers.refits.refits.NewtonRefit`.
    """

    def __init__(
        self, loss: DifferentiableLoss, ridge: float, steps: int | None, damping: float
    ) -> None:
        super().__init__(loss, ridge)
        self.attains_minimum = ridge > 0
        self._steps, self._damping = steps, damping

    def refit(self, H: Vector, coef: Vector, time_limit: float | None) -> Refitted:
        """Newton steps on the coefficients of all classes together."""
        return NewtonRefit(self, self._steps, self._damping).refit(H, coef, time_limit)

    def hessian(self, output: Vector, columns: Vector) -> Vector:
        """By column and class: Hᵀ diag(w p_k([k = l] − p_l)) H, and the penalty where k = l."""
        count, shares, size = self.n_outputs, softmax(output, axis=1), columns.shape[1]
        found = np.empty((size, count, size, count))
        penalty = self.bend(columns)
        for k in range(count):
            for m in range(k + 1):
                bent = self.weights * shares[:, k] * (float(k == m) - shares[:, m])
                block = (columns * bent[:, None]).T @ columns + (penalty if k == m else 0.0)
                found[:, k, :, m] = found[:, m, :, k] = block
        return found.reshape(size * count, -1)


MultiOutputLoss = Responses | ClassScores
"""The loss of several outputs, and how all coefficients of it are chosen."""


class SharedMaster(RefittedMaster):
    """Master of totally corrective boosting with columns that all outputs share.

    Columns come in groups, one for each output, with the same values.
    """

    def __init__(self, outputs: MultiOutputLoss) -> None:
        self.outputs = outputs
        super().__init__(outputs, outputs, has_offset=True)
