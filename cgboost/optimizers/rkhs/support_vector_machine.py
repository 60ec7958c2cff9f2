"""A hinge or a tube with the squared norm of a whole RKHS, solved by libsvm.

Primal   min ½‖f‖² + F(f + b)                f in the space H of a kernel K
Dual     max gain(r) − ½rᵀK r                r in its box, Σr = 0

With f = K r both are the support vector machine of K. scikit-learn's SVC and SVR solve the dual by
sequential minimal optimization (Fan, Chen, Lin, *Working set selection using second order
information for training support vector machines*, JMLR 6, 2005), which needs neither the matrix of
the kernel nor a factor of it. Objective and gap are computed here from the r that they return.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from cgboost._solvers import SolverFailure
from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.penalties.penalty import DualForm

FIRST_TOL = 1.0
"""What libsvm is asked for, relative to the gap. Its tolerance is the largest violation v by a pair
of rows: the gap is at most v·Σ|r|, where a hinge has Σ|r| ≤ twice the objective, and far less."""

STRICTER = 1e-2
"""The factor of that where the gap shows that it was not enough."""

LEAST_TOL = 1e-7
"""libsvm keeps kernel values in float32: a smaller violation it cannot see."""

INDEFINITE_SHARE = 1e-6
"""rᵀK r below 0 by this share of its terms is no rounding; columns show where it comes from."""

STEPS_A_ROW = 100
"""So many steps for each row, of two rows each, are enough or lead nowhere: rows of very different
sizes, or costs far too large, would take days."""

SECONDS_A_VALUE, SECONDS_A_FEATURE = 1e-8, 1e-9
"""About what a kernel value of a step takes, by which a time limit becomes a limit of steps."""


class KernelSums(Protocol):
    """A kernel K over the training rows, of which sums are asked for, but no matrix."""

    @property
    def machine(self) -> tuple[Mapping[str, Any], Any, float]:
        """Parameters of libsvm, the rows that it takes, and K relative to its kernel."""
        ...

    def sums(self, response: Vector) -> Vector:
        """K r on all rows."""
        ...

    def function(self, response: Vector, values: Vector, key: Hashable) -> Column:
        """K r as a column of the norm 1."""
        ...


def is_of_machine(loss: Any, form: DualForm) -> bool:
    """Whether a problem is one of libsvm: margins of one size or a tube, a free offset."""
    if type(loss) is not SupportVectorLoss or loss.mass is not None or loss.curvature is not None:
        return False
    if form.offset != "free" or form.n_free or not form.two_sided:
        return False
    if not (np.isfinite(loss.lower).all() and np.isfinite(loss.upper).all()):
        return False
    return _margin(loss) > 0 or bool((loss.lower == -loss.upper).all() and (loss.upper > 0).all())


def _margin(loss: SupportVectorLoss) -> float:
    """The margin of all rows where the loss is a hinge of both classes; 0 where it is none."""
    positive, sizes = loss.upper > 0, np.abs(loss.target)
    one_sided = np.where(positive, loss.lower, loss.upper) == 0
    if (
        not len(sizes)
        or loss.epsilon
        or not one_sided.all()
        or positive.all()
        or not positive.any()
    ):
        return 0.0
    same = sizes.min() == sizes.max() and ((loss.target > 0) == positive).all()
    return float(sizes[0]) if same and (loss.upper - loss.lower > 0).all() else 0.0


class SupportVectorMachine:
    """The problem over a whole RKHS; it has all of its columns, which is one function.

    Parameters
    ----------
    loss : SupportVectorLoss
        See :func:`is_of_machine`.
    columns : list of Column
        Those of the master; the answer appends its function.
    tol : float
        The relative gap that is wanted.
    """

    largest_entry = 0.0

    def __init__(
        self,
        loss: SupportVectorLoss,
        form: DualForm,
        columns: list[Column],
        kernel: KernelSums,
        tol: float,
    ) -> None:
        self.loss, self.form, self.columns, self.kernel = loss, form, columns, kernel
        self.tol = tol

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """The optimum, to the gap that is wanted.

        Raises
        ------
        SolverFailure
            If libsvm does not come so near to it.
        """
        tol = FIRST_TOL * self.tol
        while True:
            response, intercept = self._dual_of_libsvm(max(tol, LEAST_TOL), time_limit)
            response = self.loss.feasible(response, balanced=True)
            values = self.kernel.sums(response)
            square = float(response @ values)
            if square < -INDEFINITE_SHARE * float(np.abs(response) @ np.abs(values)):
                raise SolverFailure("the kernel is not positive semi-definite")
            square = max(0.0, square)
            output = values + intercept
            objective = 0.5 * square + self.loss.value(output)
            gap = objective - (self.loss.gain(response) - 0.5 * square)
            if gap <= self.tol * self.form.gap_scale(self.loss, objective):
                break
            if tol < LEAST_TOL or not np.isfinite(gap):
                raise SolverFailure("libsvm came no nearer to the optimum")
            tol *= STRICTER
        self.columns.append(self.kernel.function(response, values, key=("machine", 0)))
        coef = np.array([np.sqrt(square)])
        return RestrictedPoint(coef, intercept, output, response, solved=False)

    def _dual_of_libsvm(self, tol: float, time_limit: float | None) -> tuple[Vector, float]:
        """Response and intercept, up to a violation of ``tol`` by any pair of rows."""
        from sklearn.svm import SVC, SVR

        loss, margin = self.loss, _margin(self.loss)
        parameters, rows, share = self.kernel.machine
        steps = STEPS_A_ROW * loss.n_rows
        if time_limit is not None:
            width = 1 if parameters["kernel"] == "precomputed" else rows.shape[1]
            step = loss.n_rows * (SECONDS_A_VALUE + SECONDS_A_FEATURE * width)
            steps = max(1, min(steps, int(time_limit / step)))
        own: dict[str, Any] = dict(parameters) | {"max_iter": steps}
        # With r = unit·s/share the dual in s is that of libsvm's kernel K/share, targets in units
        # and costs share·C/unit; f and b are unit times its own.
        if margin:
            unit, targets = margin, np.where(loss.upper > 0, 1, -1)
            machine = SVC(C=1.0, tol=tol, **own)
        else:
            # violations are in units of y
            unit, targets = 1.0, loss.target
            spread = float(np.abs(targets - np.median(targets)).mean())
            machine = SVR(C=1.0, tol=tol * (spread or 1.0), epsilon=loss.epsilon, **own)
        costs = np.maximum(loss.upper, -loss.lower) * (share / unit)
        own_data = config_context(assume_finite=True, skip_parameter_validation=True)
        with warnings.catch_warnings(), own_data:
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                machine.fit(rows, targets, sample_weight=costs)
            except (ConvergenceWarning, ValueError) as reason:
                raise SolverFailure(f"libsvm: {reason}") from reason
        response = np.zeros(loss.n_rows)
        coef: Any = machine.dual_coef_  # sparse where the rows are
        coef = coef.toarray() if issparse(coef) else coef
        response[machine.support_] = (unit / share) * coef[0]
        return response, unit * float(machine.intercept_[0])
