"""CG-Boost for novelty detection."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.arrays import Matrix, Vector
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.objective import Objective, master_of
from cgboost.estimators.common.parameters import TradeOff, check_nu
from cgboost.estimators.common.plan import Plan
from cgboost.estimators.common.sklearn_bases import OutlierMixin
from cgboost.estimators.common.targets import TargetKind
from cgboost.estimators.common.training_rows import EvalSets, TrainingRows
from cgboost.estimators.kernel.base_kernel_boost import BaseKernelBoost
from cgboost.generation.callbacks import Score, error_rate
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.numeric.distances import RBF
from cgboost.losses import SupportVectorLoss, one_class
from cgboost.penalties import Penalty, get_penalty

BORDER = 1e-9
"""Outputs within this of 0, relative to the level, are those of rows on the border: they are 0."""


@dataclass(eq=False, repr=False)
class CGBoostOutlierDetector(OutlierMixin, BaseKernelBoost):
    """One-class model over a library of kernels, boosted by column generation.

    Learns where rows lie, without labels. With W = Σ w_i it minimises

        Ω(α) + Σ_i w_i max(0, ρ − s(x_i)) − νWρ,      s(x) = Σ_p Σ_j α_j^p K_p(x, x_j),

    where Ω(α) is ½Σα² or, for the 1-norm, the constraint Σ|α| ≤ 1 (Schölkopf et al., Neural
    Computation 13, 2001; Rätsch et al., IEEE PAMI 24, 2002). A row is an outlier if s(x) < ρ.

    Parameters
    ----------
    library : KernelLibrary, dict, Kernel, callable, str or None
        Named kernels in order of priority. None means ``KernelLibrary({"rbf": RBF()},
        standardize=True)``.
        Other forms as in :class:`CGBoostClassifier`.
    nu : float, default=0.5
        At most this share of the training rows (by weight) is classified as outliers, and at least
        this share lies on the border or outside. In (0, 1].
    penalty : {"l1", "l2", "elasticnet", "rkhs", "group"} or Penalty, default="l2"
        Ω(α); "l1" gives few columns. "rkhs" is ½Σ_p ‖f_p‖², where f_p is the part of s in the
        RKHS of kernel p: the one-class support vector machine with the kernel Σ_p K_p. "group" is
        ½(Σ_p w_p‖f_p‖)², with w_p as in :class:`CGBoostClassifier`: few kernels, with the weights
        ``kernel_weights_``.
    coef : {"free", "nonneg"}, default="free"
        Sign constraint on α; "nonneg" weighs {+K, −K} unless the library has ``negation=False``.
        Not with penalty="rkhs" or "group".
    centers : {"rows", "free"}, default="rows"
        With penalty="rkhs", centres may be free, as in :class:`CGBoostClassifier`.
    early_stopping : bool, default=False
        As in :class:`CGBoostClassifier`, but only with an ``eval_set`` that contains outliers.
    priority, columns_per_round, max_columns, tol, time_limit, solver, solver_options, \
validation_fraction, n_iter_no_change, scoring, cache_size, executor, callbacks, verbose, \
random_state
        As in :class:`CGBoostClassifier`.

    Attributes
    ----------
    offset_ : float
        The level ρ; ``decision_function(X) = score_samples(X) − offset_``.
    intercept_ : float
        −ρ.
    column_weights_, dual_coef_, centers_, library_, columns_, n_columns_, columns_per_kernel_, \
objective_, dual_bound_, gap_, converged_, history_, best_round_, stop_reason_, n_iter_, \
n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier` with two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import RBF, CGBoostOutlierDetector, KernelLibrary
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = CGBoostOutlierDetector(KernelLibrary({"rbf": RBF(0.5)}), nu=0.1).fit(X)
    >>> bool((model.predict(X) == -1).mean() <= 0.1)
    True
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    nu: float = field(default=0.5, kw_only=True)
    penalty: Literal["l1", "l2", "elasticnet", "rkhs", "group"] | Penalty = field(
        default="l2", kw_only=True
    )

    _default_library: ClassVar[KernelLibrary] = KernelLibrary({"rbf": RBF()}, standardize=True)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
        *,
        resume: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn where the rows of X lie.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,) or None
            A row of weight w counts as w rows.
        eval_set : (X, y), list of such pairs, dict of them by name, or None
            Held-out rows, with y = 1 for normal rows and −1 for outliers, scored after every round;
            required for early stopping.
        resume : str, path or None
            Continue from the file of a :class:`~cgboost.Checkpoint` with the same data and
            parameters.

        Returns
        -------
        self
        """
        return super().fit(X, None, sample_weight, eval_set, resume=resume)

    def score_samples(self, X: ArrayLike) -> Vector:
        """Σ α_j h_j(x), large for rows similar to the training rows; shape (n_rows,)."""
        return self.decision_function(X) + self.offset_

    def decision_function(self, X: ArrayLike) -> Vector:
        """Model output, negative for outliers: ``score_samples(X) − offset_``; shape (n_rows,).

        Rows on the border have exactly 0; rounding errors are removed.
        """
        return self._beside_border(self._outputs(X)[:, 0])

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """1 for normal rows, including those on the border, −1 for outliers; shape (n_rows,)."""
        return self._signs(self._outputs(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Output after every round up to the best one; the last is the output of the model."""
        return (self._beside_border(outputs[:, 0]) for outputs in self._staged_outputs(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[np.intp]]:
        """1 and −1 after every round up to the best one."""
        return map(self._signs, self._staged_outputs(X))

    def _signs(self, outputs: Vector) -> NDArray[np.intp]:
        return np.where(self._beside_border(outputs[:, 0]) >= 0, 1, -1)

    def _beside_border(self, outputs: Vector) -> Vector:
        """The outputs, 0 where they are next to it."""
        return np.where(np.abs(outputs) <= BORDER * abs(self.offset_), 0.0, outputs)

    def _validated(self, X: Any, y: Any) -> tuple[Matrix, Any]:
        return super()._validated(X, None)

    def _check_parameters(self) -> None:
        check_nu(self.nu)
        super()._check_parameters()

    def _learn(self, y: NDArray[Any] | None) -> Vector:
        return np.empty(0)

    @property
    def _target_kind(self) -> OneClass:
        return OneClass(bool(self.early_stopping))

    @property
    def _objective(self) -> Objective:
        def loss(target: Vector, weights: Vector) -> SupportVectorLoss:
            return one_class(weights, self.nu)

        penalty = get_penalty(self.penalty)
        program = "qp" if penalty.quadratic else "lp"
        return Objective(loss, partial(master_of, penalty), program, TradeOff("nu", self.nu))

    def _master_options(self) -> dict[str, Any]:
        return super()._master_options() | {"offset": "none"}

    def _hold_out(self, rows: TrainingRows) -> Any:
        raise ValueError(
            "early_stopping=True needs an eval_set with outliers: the training rows have no labels"
        )

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        self.offset_ = -runs[0].outputs[0].intercept


@dataclass(frozen=True)
class OneClass(TargetKind):
    """No y: rows like those of the training; of held-out rows 1 for normal ones, −1 for outliers.

    Attributes
    ----------
    needs_both : bool
        Whether held-out rows must be of both kinds.
    """

    needs_both: bool = False

    def encode(self, y: NDArray[Any]) -> Vector:
        """Labels ±1."""
        if self.needs_both and not (np.any(y == 1) and np.any(y == -1)):
            raise ValueError(
                "early_stopping=True needs an eval_set with both normal rows (1) and outliers (−1)"
            )
        unknown = np.setdiff1d(y, [-1, 1])
        if unknown.size:
            raise ValueError(f"the y of eval_set must be 1 or −1 (outliers), got {unknown[0]!r}")
        return y.astype(np.float64)

    def of_runs(self, encoded: NDArray[Any]) -> list[Vector]:
        """The labels; none for training rows."""
        return [encoded]

    def scores(self, run: int | None = None) -> dict[str, Score]:
        """The share of labels that are wrong."""
        return {"error": error_rate}

    def view(self, estimator: Any, target: Vector) -> NDArray[Any]:
        """The labels; the outputs of rounds have the level taken off already."""
        estimator.offset_ = 0.0
        return target
