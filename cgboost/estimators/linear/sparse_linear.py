"""Sparse linear models by column generation, with a certificate: regression and classification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Vector
from cgboost.estimators.common.calibration import CalibratedClassification
from cgboost.estimators.common.certified import RegularizationPath
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.objective import Objective, check_own, check_task_and_loss, loss_of
from cgboost.estimators.common.parameters import TradeOff, check_number
from cgboost.estimators.common.plan import Plan
from cgboost.estimators.common.targets import Numbers
from cgboost.estimators.common.training_rows import EvalSets, HeldSets, TrainingRows, is_source
from cgboost.estimators.linear.base_sparse_linear import (
    BaseMeanLoss,
    BaseSparseLinear,
    PenaltyName,
    values_of_path,
)
from cgboost.exceptions import see
from cgboost.losses import Loss
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    RegressionLoss,
    get_loss,
)
from cgboost.penalties import L1, ElasticNet

OWN = {"quantile": "quantile", "epsilon": "epsilon"}
"""Parameters of a loss that a regressor has, and what losses call them."""


@dataclass(eq=False, repr=False)
class SparseLinearRegressor(BaseMeanLoss):
    """Linear regression with an ℓ1 penalty or an elastic net, certified.

    Minimises, with f(x) = Σ_j β_j x_j + b and W = Σ_i w_i,

        (1/W) Σ_i w_i ℓ(y_i, f(x_i)) + α Σ_j ρ v_j|β_j| + ½(1 − ρ)(v_j β_j)²

    by column generation, under linear ``constraints`` on β if there are any: features enter as they
    are needed, and ``dual_bound_`` is a lower bound on the optimum over all of them. With ρ = 1,
    the quantile loss gives the problem of scikit-learn's QuantileRegressor (ℓ1-norm quantile
    regression: Belloni, Chernozhukov, Annals of Statistics 39, 2011), and the squared error the
    problem of its Lasso.

    Parameters
    ----------
    loss : {"quantile", "absolute_error", "epsilon_insensitive", "squared_epsilon_insensitive", \
"huber", "squared_error", "expectile", "poisson"} or Loss, default="quantile"
        ℓ; a :class:`~cgboost.losses.Loss` has its own parameters, such as ``Huber(1.5)``.
    quantile : float, default=0.5
        For loss="quantile": the share of the rows that should lie below the model, in (0, 1).
    epsilon : float, default=0.1
        For loss="epsilon_insensitive" and its square: half-width of the tube around y in which
        errors are free.
    alpha : float or None, default=None
        α, at least 0: the penalty factor. From ``alpha_max_`` on, all coefficients are 0; with 0,
        all features are in the model, as in a regression without a penalty. None means half the
        noise level. The noise level is the median of the smallest α at which no feature would enter
        if y were independent of X (the quantile universal threshold: Giacobino, Sardy,
        Diaz-Rodriguez, Hengartner, Electronic Journal of Statistics 11, 2017), by a normal
        approximation. This is a starting value, rarely far off; to choose α, use a path or
        cross-validation.
    penalty : {"l1", "elasticnet"}, L1 or ElasticNet, default="l1"
    l1_ratio : float, default=0.5
        ρ of penalty="elasticnet", in (0, 1].
    penalty_weights : array-like of shape (n_features,) or None
        v, at least 0: the relative penalty of each feature (adaptive ℓ1: Zou, Journal of the
        American Statistical Association 101, 2006). Features of weight 0 are in the model from the
        start. None means 1 for all.
    positive : bool, default=False
        Whether coefficients must be at least 0. This needs a penalty on the coefficient, even if
        only 1e-6: columns without a penalty are solved in orthogonal directions, whose coefficients
        have no sign.
    constraints : list of str and of (A, sense, b), or None
        Linear constraints on ``coef_``, with the sense "<=", "==" or ">=": A of shape (k,
        n_features), dense or sparse, or one row, and b one number or k; or words, in which the name
        of a feature (x0, x1, … without names) stands for its coefficient and ``sum`` for the sum of
        all: ``"sum == 0"``, ``"2*age - income <= 3"``, ``"sum(a, b) <= 1"``, ``"0 <= age <= 1"``.
        Names that are no words stand in back quotes. The intercept takes no part.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is never penalised.
    standardize : bool, default=False
        Whether features are centred and divided by their (weighted) standard deviations before
        they are penalised, as by a StandardScaler before the model. X itself is not changed, and
        ``coef_`` and ``intercept_`` refer to the original X. With ``fit_intercept=False``,
        ``intercept_`` is therefore −Σ_j β_j m_j, with the means m_j of the features.
    columns_per_round : int or None
        Features that enter per round. None means 2 % of the rows, between 120 and 150; with more
        than 48000 features, 1/400 of them, at most 300. Up to 120 features are all there from the
        first round on, where rows times features are at most 22500, and nobody asks for
        ``max_columns`` or early stopping.
    max_columns : int or None
        Maximum number of generated features.
    tol : float, default=1e-6
        Stop at this certified duality gap, relative to the objective (or to a thousandth of the
        loss of the constant model, if that is larger).
    time_limit, solver, solver_options, early_stopping, validation_fraction, n_iter_no_change, \
scoring, callbacks, verbose, random_state
        As in :class:`CGBoostRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        β; a CSR matrix of shape (1, n_features) after :meth:`sparsify`.
    intercept_ : float
        b.
    alpha_, alpha_max_ : float
        The α used, and the smallest α at which the model without features is optimal (nan if some
        features have no penalty, or constraints ask for features; with others it is one at which
        it is).
    objective_, dual_bound_ : float
        The minimum found and the lower bound on it.
    gap_ : float
        Relative gap between the two.
    constraint_prices_ : ndarray of shape (n_constraints,)
        With ``constraints``: what one more unit of each right-hand side changes the objective by.
        At most 0 for "<=", at least 0 for ">=", of either sign for "==".
    constraint_rows_ : ndarray of str, shape (n_constraints,)
        What each row of the constraints is called.
    columns_ : dict of str to ndarray
        feature, coefficient and round of every feature in the model.
    n_columns_, n_iter_, converged_, history_, best_round_, stop_reason_, n_features_in_, \
feature_names_in_
        As in :class:`CGBoostRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import SparseLinearRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 1000))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).standard_t(2, size=200)
    >>> model = SparseLinearRegressor(loss="quantile", quantile=0.5, alpha=0.15).fit(X, y)
    >>> np.flatnonzero(model.coef_), model.converged_
    (array([3, 7]), True)
    """

    loss: RegressionLoss | Loss = field(default="quantile", kw_only=True)
    quantile: float = field(default=0.5, kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    alpha: float | None = field(default=None, kw_only=True)
    penalty: PenaltyName | L1 | ElasticNet = field(default="l1", kw_only=True)
    l1_ratio: float = field(default=0.5, kw_only=True)
    penalty_weights: ArrayLike | None = field(default=None, kw_only=True)
    positive: bool = field(default=False, kw_only=True)
    constraints: Sequence[Any] | None = field(default=None, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    standardize: bool = field(default=False, kw_only=True)
    columns_per_round: int | None = field(default=None, kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)

    _coef_by_output: ClassVar[bool] = False

    def _check_parameters(self) -> None:
        check_task_and_loss(self, REGRESSION)
        check_number("quantile", self.quantile, above=0, below=1)
        check_number("epsilon", self.epsilon, at_least=0)
        check_own(self, **OWN)
        check_number("alpha", self.alpha, at_least=0, optional=True)
        super()._check_parameters()

    @property
    def _loss(self) -> Loss:
        return loss_of(self, **OWN)

    @property
    def _known_loss(self) -> Loss:
        return self._loss

    @property
    def _objective(self) -> Objective:
        return self._objective_of_mean(self._loss)

    @property
    def _target_kind(self) -> Numbers:
        return Numbers(self._loss, self._scaling.unit)

    def _score_of_outputs(self, outputs: Vector, y: Any, weights: Vector | None) -> float:
        """−Σ_i w_i ℓ(y_i, f(x_i)) / Σ_i w_i."""
        target = np.asarray(y, dtype=np.float64)
        losses = self._loss.value(target, outputs[:, 0])
        return -float(np.average(losses, weights=weights))


@dataclass(eq=False, repr=False)
class SparseLinearClassifier(CalibratedClassification, BaseSparseLinear):
    """Linear classifier with an ℓ1 penalty or an elastic net, certified.

    Minimises, with f(x) = Σ_j β_j x_j + b and labels y_i of ±1,

        Σ_j ρ v_j|β_j| + ½(1 − ρ)(v_j β_j)²  +  C Σ_i w_i ℓ(y_i, f(x_i))

    by column generation: features enter as they are needed, and ``dual_bound_`` is a lower bound on
    the optimum over all of them. With the hinge and ρ = 1 this is the ℓ1-SVM (Bradley,
    Mangasarian, ICML 1998), which scikit-learn's LinearSVC offers only with the squared hinge. More
    than two classes are handled one-vs-rest.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "log_loss", "exponential"} or Loss, default="hinge"
        ℓ: max(0, 1 − y f), its square, log(1 + e^{−y f}), e^{−y f}. With "log_loss", outputs are
        log-odds, as in scikit-learn's LogisticRegression.
    C : float, default=1.0
        Cost of one unit of loss. Below ``C_min_`` all coefficients are 0. ``sample_weight``
        multiplies C, row by row: with weights that sum to 1, it must be n_rows times as large.
    penalty, l1_ratio, penalty_weights, positive, constraints, fit_intercept, standardize
        As in :class:`SparseLinearRegressor`; each of several classes obeys the constraints.
    class_weight, probability
        As in :class:`CGBoostClassifier`.
    columns_per_round, max_columns, tol
        As in :class:`SparseLinearRegressor`.
    time_limit, solver, solver_options, early_stopping, validation_fraction, n_iter_no_change, \
scoring, callbacks, verbose, random_state
        As in :class:`CGBoostClassifier`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) with more than two classes
        β; a CSR matrix after :meth:`sparsify`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    C_min_ : float
        Up to this C the model without features is optimal; nan if some features have no penalty.
    objective_, dual_bound_ : float
        The minimum found and the lower bound on it; sums over the classes if there are several.
    gap_ : float
        Relative gap between the two; the largest of all classes.
    constraint_prices_ : ndarray of shape (n_constraints,), or (n_classes, n_constraints)
        With ``constraints``: what one more unit of each right-hand side changes the objective by.
        At most 0 for "<=", at least 0 for ">=", of either sign for "==".
    constraint_rows_ : ndarray of str, shape (n_constraints,)
        What each row of the constraints is called.
    columns_ : dict of str to ndarray
        feature, coefficient, round (and class) of every feature in the model.
    classes_, class_weight_, calibration_, n_columns_, n_iter_, converged_, history_, best_round_, \
stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgboost import SparseLinearClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLinearClassifier(C=0.1, standardize=True).fit(X, y)
    >>> model.converged_, round(model.objective_, 3), model.n_columns_
    (True, 8.406, 9)
    """

    loss: ClassificationLoss | Loss = field(default="hinge", kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    penalty: PenaltyName | L1 | ElasticNet = field(default="l1", kw_only=True)
    l1_ratio: float = field(default=0.5, kw_only=True)
    penalty_weights: ArrayLike | None = field(default=None, kw_only=True)
    positive: bool = field(default=False, kw_only=True)
    constraints: Sequence[Any] | None = field(default=None, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    standardize: bool = field(default=False, kw_only=True)
    probability: bool | Literal["sigmoid", "isotonic"] = field(default=False, kw_only=True)
    columns_per_round: int | None = field(default=None, kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)

    _coef_by_output: ClassVar[bool] = True

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        if is_source(X):
            self._check_parameters()
            if self._needs_folds:
                raise ValueError(
                    f"probability={self.probability!r} cannot hold out rows of a source of blocks: "
                    "give early_stopping=True with an eval_set, whose rows it then uses"
                    f"{see('probabilities')}"
                )
        return super()._prepare(X, y, sample_weight, eval_set)

    @property
    def _is_watched(self) -> bool:  # calibration is that of each model, on rows of its own
        return super()._is_watched or self._calibration is not None

    @property
    def _log_odds(self) -> float:
        return super()._log_odds / self._scaling.unit

    def _check_parameters(self) -> None:
        check_task_and_loss(self, CLASSIFICATION)
        check_number("C", self.C, above=0)
        super()._check_parameters()

    @property
    def _loss(self) -> Loss:
        return get_loss(self.loss)

    @property
    def _objective(self) -> Objective:
        return self._objective_in_units(
            self._loss, per_row=False, price=float(self.C), trade_off=TradeOff("C", self.C)
        )

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        strongest = self._alpha_max * float(rows.weights.sum())
        self.C_min_ = 1.0 / strongest if strongest > 0 else np.inf
        if not vars(self).pop("_begins_trivial"):
            self.C_min_ = np.nan

    def path(
        self,
        X: Any,
        y: Any = None,
        Cs: Sequence[float] | None = None,
        *,
        n_Cs: int = 100,
        eps: float = 1e-3,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
    ) -> RegularizationPath:
        """Fit a model for every C, as :meth:`SparseLinearRegressor.path` does for every α.

        Parameters
        ----------
        X, y, eps, sample_weight, eval_set
            As in :meth:`SparseLinearRegressor.path`.
        Cs : sequence of float or None
            In any order. None means ``n_Cs`` values from ``C_min_`` up to 1/``eps`` times it,
            evenly spaced on a logarithmic scale.
        n_Cs : int, default=100

        Returns
        -------
        RegularizationPath

        Raises
        ------
        ValueError
            As :meth:`fit`; if there is no C, or a C is not positive.
        """
        values = values_of_path("C", Cs, n_Cs, eps)
        return self._fit_along(X, y, "C", values, sample_weight, eval_set)

    def _score_of_outputs(self, outputs: Vector, y: Any, weights: Vector | None) -> float:
        """Minus the mean loss, of several classes their sum, with the weights of the classes."""
        labels, classes = np.asarray(y), self.classes_
        against = classes[1:] if len(classes) == 2 else classes
        signs = np.where(labels[:, None] == against, 1.0, -1.0)
        pairs = zip(signs.T, outputs.T / self._scaling.unit, strict=True)
        losses = sum(self._loss.value(*pair) for pair in pairs)
        own = np.append(self.class_weight_, 1.0)  # of a label that the fold did not have
        places = np.where(labels[:, None] == classes, np.arange(len(classes)), len(classes))
        shares = own[places.min(axis=1)] * (1.0 if weights is None else weights)
        return -float(np.average(np.asarray(losses), weights=shares))
