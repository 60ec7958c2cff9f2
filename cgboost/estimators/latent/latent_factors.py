"""Boosted latent factors: what the linear and the kernel models share.

How many latent factors: by cross-validation inside the training rows.

Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006, section 8.1: the
error of N factors, averaged with its neighbours', is least.

Boosted Latent Factors: orthogonal features for a loss, and the model that is linear in them.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.parameters import (
    check_bool,
    check_choice,
    check_count,
    check_number,
    check_solver,
)
from cgboost.estimators.common.plan import Plan, Rounds, RunTask, StopRule, Watch
from cgboost.estimators.common.scoring import Rule, chosen
from cgboost.estimators.common.sklearn_bases import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from cgboost.estimators.common.stagewise import CUT_SHORT, warn_cut_short
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows
from cgboost.estimators.kernel.kernel_parameters import HasKernels
from cgboost.exceptions import see, warn_caller
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import Master
from cgboost.generation.resuming import RunRecord
from cgboost.kernels.checked_values import check_function
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.precomputed import Precomputed
from cgboost.kernels.sparse_rows import relative_weights
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.loss import DifferentiableLoss, Loss
from cgboost.losses.registry import check_known_loss, known_loss, loss_on_rows
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster, SubgradientRule
from cgboost.masters.stagewise.shared_master import MultiOutputLoss, Responses, SharedMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.optimizers.refits.refits import refit_of
from cgboost.optimizers.refits.ridged import RidgedLoss
from cgboost.optimizers.solver_options import checked_options
from cgboost.pricing.latent import GrowingMatrix, KernelFactorSpace, LinearFactorSpace
from cgboost.pricing.latent.latent_factor_pricer import LatentFactorPricer, SharedFactorPricer

Errors = Callable[[Indices, Indices], list[float]]
"""errors(train, test): the mean errors on test rows of models with 1, 2, … factors."""


def folds(cv: Any, y: NDArray[Any], random_state: Any, *, classes: bool) -> list[Any]:
    """Pairs (train, test) of row numbers.

    Parameters
    ----------
    cv : int or splitter
        A number of folds is shuffled, and for classes stratified; it is lowered to the number of
        rows, or of the smallest class, where there are not enough.
    y : ndarray of shape (n_rows,)

    Raises
    ------
    ValueError
        If there is a class of one row, or there are fewer than two rows: nothing can be held out;
        or if a splitter leaves a single class to train on.
    """
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv  # loads rich

    if not isinstance(cv, (int, np.integer)):
        pairs = list(check_cv(cv, y, classifier=classes).split(np.zeros(len(y)), y))
        single = [k for k, (train, _) in enumerate(pairs) if classes and len(set(y[train])) < 2]
        if single:
            raise ValueError(
                f"cv={cv!r} leaves a single class to train on in fold {single[0] + 1} of "
                f"{len(pairs)}: shuffle it, use a StratifiedKFold or give a number of folds"
            )
        return pairs
    most = int(np.unique(y, return_counts=True)[1].min()) if classes else len(y)
    if most < 2:
        what = "a class with 1 row" if classes else f"{len(y)} row"
        raise ValueError(
            f"n_components='cv' needs 2 rows, of each class, to hold out some; got {what}: give a "
            "number of components"
        )
    kind = StratifiedKFold if classes else KFold
    splitter = kind(min(int(cv), most), shuffle=True, random_state=random_state)
    return list(splitter.split(np.zeros(len(y)), y))


def error_curves(pairs: list[Any], errors: Errors, size: int) -> Vector:
    """Errors of 1, …, ``size`` factors in every fold, shape (size, n_folds).

    A fold that stopped earlier stays at its last.
    """
    curves = [errors(train, test)[:size] for train, test in pairs]
    return np.transpose([np.pad(own, (0, size - len(own)), mode="edge") for own in curves])


def smoothed(curves: Vector) -> Vector:
    """Every value averaged with its neighbours, as far as there are any; two stay as they are."""
    if len(curves) < 3:
        return curves
    padded = np.pad(curves, ((1, 1), *((0, 0),) * (curves.ndim - 1)))
    sums = padded[:-2] + padded[1:-1] + padded[2:]
    counts = np.full(len(curves), 3.0)
    counts[[0, -1]] = 2.0
    return np.asarray((sums.T / counts).T)


MOST_COMPONENTS = 50
"""Where cross-validation is to choose, and ``max_components`` does not say."""


@dataclass
class _Pool:
    """The space of factors, and the pricers of all runs with what they have found."""

    space: LinearFactorSpace | KernelFactorSpace
    pricers: list[LatentFactorPricer] = field(default_factory=list)


@dataclass(eq=False, repr=False)
class BaseBLF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, HasKernels, BaseEnsemble):
    """One latent factor a round, orthogonal to all before it, and a refit on all of them."""

    n_components: int | Literal["cv"] = 2
    loss: Any = field(default="", kw_only=True)
    kernel: Any = field(default=None, kw_only=True)
    refit: bool = field(default=True, kw_only=True)
    deflate: bool = field(default=True, kw_only=True)
    newton_steps: int | None = field(default=1, kw_only=True)
    newton_damping: float = field(default=0.1, kw_only=True)
    l2_regularization: float = field(default=0.0, kw_only=True)
    to_the_letter: bool = field(default=False, kw_only=True)
    scale: bool = field(default=False, kw_only=True)
    max_components: int | None = field(default=None, kw_only=True)
    cv: Any = field(default=10, kw_only=True)
    rule: Rule = field(default="min", kw_only=True)
    solver: str = field(default="auto", kw_only=True)
    solver_options: Mapping[str, Any] | None = field(default=None, kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = ()
    _subgradient: ClassVar[SubgradientRule] = "dual"

    @property
    def _known_loss(self) -> Loss | None:
        """The loss of one output; None where it is a callable ``loss(target, weights)``."""
        return known_loss(self.loss)

    @abstractmethod
    def _errors_of(self, output: Any, y: NDArray[Any]) -> Vector:
        """What cross-validation counts of predictions, row by row."""

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_components", self.n_components, words=("cv",))
        check_count("max_components", self.max_components, optional=True)
        check_count("newton_steps", self.newton_steps, optional=True)
        check_number("newton_damping", self.newton_damping, at_least=0, below=1)
        check_number("l2_regularization", self.l2_regularization, at_least=0)
        check_solver("solver", self.solver, "qp" if self.l2_regularization > 0 else "lp")
        checked_options(self.solver, self.solver_options)
        if isinstance(self.cv, Integral):
            check_number("cv", self.cv, at_least=2)
        check_bool("refit", self.refit)
        check_bool("deflate", self.deflate)
        check_bool("scale", self.scale)
        check_choice("rule", self.rule, ("min", "1se"))
        if self.scale and self.kernel is not None:
            raise ValueError(
                "scale=True is for factors of the features themselves: set kernel to None, or "
                f"scale X before, as with StandardScaler(); got kernel={self.kernel!r}"
            )
        check_bool("to_the_letter", self.to_the_letter)
        if self.to_the_letter and self.l2_regularization > 0:
            raise ValueError(
                "to_the_letter=True has no penalty: set l2_regularization to 0, got "
                f"{self.l2_regularization!r}"
            )
        check_known_loss(self.loss, self._losses)
        self._check_shared()
        if self.n_components == "cv" and self.early_stopping:
            raise ValueError(
                "n_components='cv' and early_stopping=True both choose the number of factors; set "
                "one of them to a number or to False"
            )

    @property
    def _accept_sparse(self) -> Any:
        return ("csr", "csc") if self.kernel is None else False

    @property
    def _library(self) -> KernelLibrary:
        if self.kernel is None:  # scikit-learn's view in notebooks asks for every property
            raise AttributeError("there is no kernel")
        if isinstance(self.kernel, KernelLibrary):
            return self.kernel
        if isinstance(self.kernel, (str, type)):
            raise ValueError(
                "kernel must be a kernel such as RBF(0.1) or Precomputed(), a callable k(X, Z), or "
                f"None, got {self.kernel!r}{see('kernels-and-libraries')}"
            )
        return KernelLibrary(
            {getattr(self.kernel, "__name__", type(self.kernel).__name__): self.kernel}
        )

    @property
    def _precomputed(self) -> Precomputed | None:
        """The kernel, if its values are columns of X."""
        kernels = self._library.kernels.values() if self.kernel is not None else ()
        own = (k for k in kernels if isinstance(k, Precomputed) and k.is_precomputed)
        return next(own, None)

    def _hold_out(self, rows: TrainingRows) -> tuple[TrainingRows, HeldSets]:
        if self._precomputed is not None:
            raise ValueError(
                "early_stopping=True cannot hold out rows of a Precomputed kernel: give an eval_set"
                + see("precomputed-kernels")
            )
        return super()._hold_out(rows)

    def __sklearn_tags__(self) -> Any:
        """With a precomputed kernel X is square, and cross-validation cuts both its sides."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed == Precomputed()
        tags.input_tags.sparse = self.kernel is None
        return tags

    # ------------------------------------------------------------------ the runs

    def _pool(self, rows: TrainingRows) -> _Pool:
        self.n_components_: Any = self.n_components
        self._forget("cv_errors_", "cv_fold_errors_", "kernel_")
        if self.n_components == "cv":
            self.n_components_ = self._chosen(rows)
        weights = np.ones_like(rows.weights) if self.to_the_letter else rows.weights
        if self.kernel is None:
            return _Pool(LinearFactorSpace(rows.X, weights, scale=self.scale))
        assert rows.numbers is not None
        library = self._library.of_rows(rows.numbers)
        if len(library) != 1:
            raise ValueError(
                f"kernel must be one kernel, got a library of {len(library)}: add them up, as in "
                "RBF(0.1) + Linear()"
            )
        if library.standardize:
            raise ValueError("standardize=True is not for latent factors: scale X before")
        ((name, kernel),) = library.fit(rows.X, relative_weights(weights)).items()
        check_function(name, kernel, rows.X)
        self.kernel_ = kernel.released()
        return _Pool(KernelFactorSpace(rows.X, kernel, weights, name=name))

    def _check_shared(self) -> None:
        """Raise ValueError for parameters that outputs which share their factors do not have."""

    @property
    def _n_shared(self) -> int:
        """Outputs that share one space of factors; 0 where each output has its own factors."""
        return 0

    def _joint_outputs(self, rows: TrainingRows) -> MultiOutputLoss:
        """The loss of outputs that share their factors."""
        losses = [
            self._penalised(loss_on_rows(self._known_loss or self.loss, y, rows.weights))
            for y in np.ascontiguousarray(rows.y.T)
        ]
        refits = [
            refit_of(
                loss,
                newton_steps=self.newton_steps,
                damping=self.newton_damping,
                solver=self.solver,
                solver_options=self.solver_options,
                to_the_letter=self.to_the_letter,
            )
            for loss in losses
        ]
        return Responses(losses, refits, signs=self._subgradient == "sign")

    def _penalised(self, loss: DifferentiableLoss) -> DifferentiableLoss:
        return RidgedLoss(loss, self.l2_regularization) if self.l2_regularization > 0 else loss

    def _tasks(self, pool: _Pool, rows: TrainingRows) -> Iterator[RunTask]:
        if count := self._n_shared:
            shared = SharedFactorPricer(
                pool.space, count, deflate=self.deflate, scale=self.scale and self._y_numeric
            )
            pool.pricers.append(shared)
            master = SharedMaster(self._joint_outputs(rows))
            yield RunTask(
                master, shared, n_outputs=count, columns_per_round=count, callbacks=(shared.note,)
            )
            return
        for target in self._target_kind.of_runs(rows.y):
            loss = loss_on_rows(self._known_loss or self.loss, target, rows.weights)
            pricer = LatentFactorPricer(pool.space, deflate=self.deflate)
            pool.pricers.append(pricer)
            yield RunTask(self._master(loss), pricer, callbacks=(pricer.note,))

    def _master(self, bare: DifferentiableLoss) -> Master:
        loss = self._penalised(bare)
        alike = not self.to_the_letter or np.ptp(bare.weights) == 0.0
        orthogonal = self.deflate and alike and isinstance(bare, WeightedSquaredError)
        if orthogonal or not self.refit:  # then no earlier coefficient would change
            moves = not isinstance(bare, (WeightedSquaredError, PiecewiseLinearLoss))
            return StagewiseMaster(loss, start="constant", offset="free" if moves else "fixed")
        return CorrectiveMaster(
            loss,
            offset="free",
            newton_steps=self.newton_steps,
            newton_damping=self.newton_damping,
            subgradient=self._subgradient,
            solver=self.solver,
            solver_options=self.solver_options,
            to_the_letter=self.to_the_letter,
        )

    def _plan(self, rows: TrainingRows) -> Plan:
        pool = self._pool(rows)
        stop = StopRule(max_columns=self.n_components_ * max(1, self._n_shared))
        return Rounds(self._target_kind, stop, pool, partial(self._tasks, pool, rows))

    def _solve(
        self, plan: Plan, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        runs = super()._solve(plan, watch, records)
        self._pricers = plan.pool.pricers[-len(runs) :]
        return runs

    def _chosen(self, rows: TrainingRows) -> int:
        """The number of factors by the smoothed errors of cross-validation and the rule."""
        classes = not self._y_numeric
        most = self.max_components or MOST_COMPONENTS
        pairs = folds(self.cv, rows.y, self.random_state, classes=classes)
        smallest = min(len(train) for train, _ in pairs)
        most = max(1, min(most, smallest - 1, rows.X.shape[1] if self.kernel is None else most))
        share = None if self.time_limit is None else self.time_limit / (len(pairs) + 1)
        model = clone(self).set_params(
            n_components=most, callbacks=None, verbose=0, time_limit=share
        )
        cut_short: list[str] = []

        def errors(train: NDArray[np.intp], test: NDArray[np.intp]) -> list[float]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # one for all folds, below
                fitted = clone(model).fit(
                    self._part(rows.X, train, train), rows.y[train], rows.weights[train]
                )
            cut_short.extend(set(np.atleast_1d(fitted.stop_reason_).tolist()) & set(CUT_SHORT))
            if StopReason.INTERRUPTED in np.atleast_1d(fitted.stop_reason_):
                raise KeyboardInterrupt  # there is no model yet, and this fold is half a fold
            held, weights = self._part(rows.X, test, train), rows.weights[test]
            total = float(weights.sum()) or 1.0
            return [
                float(weights @ self._errors_of(output, rows.y[test])) / total
                for output in fitted.staged_predict(held)
            ]

        curves = error_curves(pairs, errors, most)
        if cut_short:
            warn_caller(
                f"{type(self).__name__}: fits of the cross-validation stopped before {most} "
                f"factors ({', '.join(sorted(set(cut_short)))}), so that their number may be too "
                f"small{see('stopped-early')}",
                ConvergenceWarning,
            )
        shares = np.array([float(rows.weights[test].sum()) for _, test in pairs])
        self.cv_fold_errors_ = curves
        self.cv_errors_ = curves @ (shares / shares.sum())
        return 1 + chosen(-smoothed(curves), shares, self.rule)

    def _part(self, X: Any, rows: NDArray[np.intp], centres: NDArray[np.intp]) -> Any:
        """Some rows of X; of a precomputed kernel, also the columns of some centres."""
        if (kernel := self._precomputed) is None:
            return X[rows]
        first = kernel.first_column
        return X[np.ix_(rows, np.concatenate([np.arange(first), first + centres]))]

    # ------------------------------------------------------------------ fitted attributes

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        return {"factor": np.array([h.number for h in hypotheses], dtype=np.intp)}

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        several = self._target_kind.names is not None
        outputs = [output for run in runs for output in run.outputs]
        sizes = [len(run.outputs[0].coef) for run in runs]
        families = [pricer.family for pricer in self._pricers]
        self.n_components_ = sizes if len(sizes) > 1 else sizes[0]
        self.n_iter_ = max(sizes)
        self._n_features_out = sum(sizes)
        self.x_scores_ = np.hstack(
            [
                pricer.basis.factors[:, :size]
                for pricer, size in zip(self._pricers, sizes, strict=True)
            ]
        )
        del self._pricers
        coefs = [output.coef for output in outputs]
        self.factor_coef_ = np.array(coefs) if self._n_shared else np.concatenate(coefs)
        width = len(families[0].means)
        coef = np.zeros((len(outputs), width))
        rotations = np.zeros((width, sum(sizes)))
        first = place = 0
        for family, run, size in zip(families, runs, sizes, strict=True):
            if size:
                for k, output in enumerate(run.outputs):
                    coef[place + k] = family.coef(range(size), output.coef)
                rotations[:, first : first + size] = family.rotations.values[:, :size]
            first, place = first + size, place + len(run.outputs)
        intercepts = np.array([output.intercept for output in outputs])
        self.factor_intercept_ = intercepts if several else float(intercepts[0])
        intercepts = intercepts - coef @ families[0].means
        self.intercept_ = intercepts if several else float(intercepts[0])
        self._forget("explained_variance_ratio_")
        if self.kernel is None:
            self._forget("dual_coef_")
            self.coef_ = coef if several else coef[0]
            self.x_rotations_ = rotations
            self.x_weights_ = _side_by_side([f.weights for f in families], sizes, width)
            self.x_loadings_ = _side_by_side([f.loadings for f in families], sizes, width)
            if self.deflate:
                total = plan.pool.space.total_variation
                squares = (self.x_loadings_**2).sum(axis=0)
                self.explained_variance_ratio_ = squares / total if total > 0 else 0.0 * squares
        else:
            self._forget("coef_", "x_rotations_", "x_weights_", "x_loadings_")
            self.dual_coef_ = coef if several else coef[0]

    def _forget(self, *names: str) -> None:
        """Drop what an earlier fit may have left that this one does not have."""
        for name in names:
            if name in vars(self):
                delattr(self, name)

    def _warn(self, plan: Plan) -> None:
        warn_cut_short(self, self._runs, f"n_components={self.n_components!r}")

    @property
    def vip_(self) -> Vector:
        """Variable importance in projection, shape (n_features,); 1 is average.

        √(p Σ_a c_a² w_ja² / Σ_a c_a²) over the factors a, whose w have length 1. Without a kernel.
        """
        check_is_fitted(self)
        if self.kernel is not None:
            raise AttributeError("vip_ is for factors of the features themselves (kernel=None)")
        shares = np.atleast_2d(self.factor_coef_**2).sum(axis=0)
        if not shares.any():
            return np.zeros(self.n_features_in_)
        return np.sqrt(self.n_features_in_ * (self.x_weights_**2 @ shares) / shares.sum())

    # ------------------------------------------------------------------ predictions

    def transform(self, X: ArrayLike, scaled: bool = False) -> Vector:
        """The latent factors of new rows, shape (n_rows, n_factors).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        scaled : bool, default=False
            Whether each factor is multiplied by its coefficient; they then add up to f − μ_y ([M]
            eq. 7). With more than two classes, the factors of all outputs are placed side by side.
        """
        rows = self._rows(X)
        parts = [np.zeros((rows.shape[0], 0))]
        for run in self._runs:
            output = run.outputs[0]
            hypotheses = output.hypotheses[: len(output.coef)]
            if hypotheses:
                parts.append(hypotheses[0].family.outputs(rows, hypotheses))
        values = np.hstack(parts)
        if scaled and self._n_shared:
            raise ValueError(
                "scaled=True is for factors with one coefficient each; those that outputs share "
                "have one for each output: use transform(X) @ factor_coef_.T"
            )
        return values * self.factor_coef_ if scaled else values

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        """Outputs of 1, 2, … factors; without any, those of the constant."""
        check_is_fitted(self)
        stages = super()._staged_outputs(X)
        return islice(stages, 1, None) if self.n_iter_ else stages


def _side_by_side(columns: list[GrowingMatrix], sizes: list[int], height: int) -> Vector:
    chosen = [own.values[:, :size] for own, size in zip(columns, sizes, strict=True) if size]
    return np.hstack(chosen) if chosen else np.zeros((height, 0))
