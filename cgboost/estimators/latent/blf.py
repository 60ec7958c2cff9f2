"""Boosted Latent Factors for regression and classification.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.arrays import Vector
from cgboost.estimators.common.input_checks import validate_data
from cgboost.estimators.common.objective import check_own, loss_of
from cgboost.estimators.common.parameters import check_choice, check_number
from cgboost.estimators.common.predictors import Classification, Regression
from cgboost.estimators.common.targets import Numbers
from cgboost.estimators.common.training_rows import FLOATS, TrainingRows
from cgboost.estimators.latent.latent_factors import BaseBLF
from cgboost.losses import Huber, LogLoss, Loss, Multinomial, Poisson
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    LossMaker,
    RegressionLoss,
    known_loss,
)
from cgboost.masters.stagewise.fully_corrective import SubgradientRule
from cgboost.masters.stagewise.shared_master import ClassScores, MultiOutputLoss

OWN = {"epsilon": "epsilon", "delta": "delta", "alpha": "quantile"}
"""Parameters of a loss that a regressor has, and what losses call them."""


@dataclass(frozen=True)
class Responses(Numbers):
    """One response, or several that share their factors.

    Attributes
    ----------
    loss, unit
        As of :class:`Numbers`.
    count : int
        Columns of y; 0 where y has one dimension.
    """

    count: int = 0

    noun: ClassVar[str] = "response"

    @property
    def names(self) -> NDArray[Any] | None:
        """Their numbers, where y has columns."""
        return np.arange(self.count) if self.count else None

    def one_or_all(self, outputs: Vector) -> Vector:
        """Outputs of the shape that y had."""
        return outputs if self.count else outputs[:, 0]


@dataclass(eq=False, repr=False)
class BLFRegressor(Regression, BaseBLF):
    """Boosted Latent Factors: partial least squares for any loss ([M] Alg. 3 and 5).

    Every round adds a linear combination of the features, t = X̃w, orthogonal to all earlier ones,
    in the direction of steepest descent: w ∝ X̃ᵀu for the pseudo-response u. Then all coefficients
    of f = μ + Tc are refitted. With the squared error this is partial least squares (PLS); with as
    many factors as the rank of X it is the full linear model. A smaller number of factors
    regularises the model.

    Features are centred; ``scale=True`` also divides them by their standard deviations.

    y may have several columns. The responses then share the factors, and each has its own
    coefficients. A factor is the direction of steepest descent for all responses together; with the
    squared error this is PLS with several responses.

    Parameters
    ----------
    n_components : int or "cv", default=2
        Maximum number of factors. With "cv", cross-validation within the training rows chooses it.
    loss : {"squared_error", "absolute_error", "quantile", "expectile", "huber", \
"epsilon_insensitive", "squared_epsilon_insensitive", "poisson"}, Loss or callable, \
default="squared_error"
        A name, a :class:`~cgboost.losses.Loss` with parameters, or a callable
        ``loss(target, weights)`` that returns a :class:`~cgboost.losses.loss.DifferentiableLoss`,
        such as :class:`~cgboost.losses.PairwiseExponential`, which only depends on the order of y.
        Piecewise linear losses are refitted by a linear program that gains one column per round
        ([M] eq. 18). With "poisson", f is the log of the mean, and the mean is predicted.
    kernel : kernel, callable or None, default=None
        A positive semi-definite kernel, such as ``RBF(0.1)`` or ``Precomputed()``, for factors in
        its feature space. None means factors of the features themselves.
    refit : bool, default=True
        Whether all coefficients and the constant are refitted with every factor. Otherwise each
        coefficient keeps its value from a line search. The constant is refitted together with each
        coefficient, except for piecewise linear losses: there it keeps its initial value, which is
        not optimal.
    deflate : bool, default=True
        Whether factors are orthogonal; otherwise each is simply the direction of steepest descent.
    newton_steps : int or None, default=None
        Newton steps of a refit, for Huber's and other losses with curvature. None: until they
        converge. (:class:`BLFClassifier` uses one damped step.)
    newton_damping : float, default=0.0
        λ in the Newton matrix (1 − λ)H + λ trace(H)/(N + 1) I ([M] eq. 42), 0 ≤ λ < 1, where the
        constant is scaled to length 1 like the factors.
    scale : bool, default=False
        Whether features are divided by their standard deviations √(Σ w(x − μ)²/Σw), as
        scikit-learn's ``PLSRegression`` does; also what several responses contribute to a common
        factor, by its length in the first round, which with the squared error is the standard
        deviation of the response. ``coef_`` stays in the units of X and y, while ``x_weights_``,
        ``x_loadings_`` and ``x_rotations_`` are those of scaled features. Without a kernel.
    l2_regularization : float, default=0.0
        λ ≥ 0 of the penalty ½λ‖c‖² on the coefficients of the factors, which have length 1; the
        constant is free. Without deflation the penalty is ½λ Σ w_i (f_i − f̄)², which is the same
        for orthonormal factors. Losses with curvature reach the optimum with ``newton_steps=None``
        and no damping; piecewise linear losses are refitted by a quadratic program.
    to_the_letter : bool, default=False
        Whether to follow the paper where this implementation differs: in [M] eq. 42 the constant
        column has entries 1, and sample weights only apply to the loss, which gives TᵀT = I. Only
        without a penalty.
    subgradient : {"dual", "sign"}, default="dual"
        The pseudo-response of a piecewise linear loss: the dual of the linear program, for which
        uᵀT = 0 ([M] Lemma 2); or the sign of the residuals, 0 if they are 0 up to rounding. With
        equal rows or targets there may be many dual solutions, and the order of the rows selects
        one; signs do not depend on the order.
    epsilon, delta, alpha : float, default=0.1, 1.0, 0.5
        Half-width of the tube; the residual at which Huber's loss becomes linear; the quantile,
        or the expectile. For losses given by name.
    max_components : int or None, default=None
        Maximum number of factors that cross-validation tries. None means 50; it never exceeds the
        number of features.
    cv : int or splitter, default=10
        (Shuffled) folds of the cross-validation. The error of N factors is averaged with the errors
        of N − 1 and N + 1 factors ([M] section 8.1). All fits share ``time_limit``.
    rule : {"min", "1se"}, default="min"
        "min" is the number of factors with the least of these errors; "1se" the smallest one within
        one standard error of it, over the folds.
    solver : str, default="auto"
        Solver of the linear programs.
    solver_options : dict or None
        As in :class:`CGBoostRegressor`.
    early_stopping, validation_fraction, n_iter_no_change, scoring, callbacks, verbose, time_limit
        As in :class:`CGBoostRegressor`.
    random_state : int, RandomState or None
        Determines the folds and the rows that early stopping holds out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        g = W(PᵀW)⁻¹c: predictions are ``X @ coef_ + intercept_``. Without a kernel.
    dual_coef_ : ndarray of shape (n_rows,)
        β: predictions are ``K(X, X_train) @ dual_coef_ + intercept_`` ([M] eq. 47). With a kernel.
    kernel_ : Kernel
        The kernel, with the width computed from the training rows. With a kernel.
    intercept_ : float
    factor_coef_, factor_intercept_ : ndarray of shape (n_components_,), float
        c and μ: predictions are ``transform(X) @ factor_coef_ + factor_intercept_``. With several
        responses, these and ``coef_``, ``dual_coef_``, ``intercept_`` have one row per response.
    n_components_ : int
        Number of factors in the model.
    x_scores_ : ndarray of shape (n_rows, n_components_)
        T, the factors on the training rows, those of weight 0 left out: TᵀΓT = I, where Γ contains
        the sample weights.
    x_weights_, x_loadings_, x_rotations_ : ndarray of shape (n_features, n_components_)
        W, with columns of length 1, P = X̃ᵀΓT, and W(PᵀW)⁻¹. Without a kernel.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Share of the variation Σ w‖x̃‖² of the features that is along each factor, ‖P_a‖²/Σ w‖x̃‖².
        Without a kernel, with ``deflate``.
    vip_ : ndarray of shape (n_features,)
        Variable importance in projection.
    cv_errors_ : ndarray
        Cross-validation error of 1, 2, … factors, with ``n_components="cv"``.
    cv_fold_errors_ : ndarray of shape (n_numbers, n_folds)
        The same in every fold; ``cv_errors_`` is their mean, weighted by the rows held out.
    stop_reason_ : str
        "max_columns"; "optimal": no further factor and no other coefficients lower the objective;
        "exhausted": the data have no further factor, and nothing is proved, as with a kernel or
        features whose units differ by more than 1e9; or as in :class:`CGBoostRegressor`.
    objective_ : float
        The training loss plus the penalty.
    columns_, history_, n_columns_, n_iter_, best_round_, n_features_in_, feature_names_in_
        As in :class:`CGBoostRegressor`; ``columns_`` lists the factors.

    Notes
    -----
    A row with a sample weight of 2 counts as two rows: weights enter the means, the angles between
    factors and the loss. (In the paper, and with ``to_the_letter=True``, they only enter the loss.)
    If the linear program of a piecewise linear loss has several optima, it may choose a different
    one for the same problem written with more rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from cgboost import BLFRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BLFRegressor(3, loss="absolute_error").fit(X, y)
    >>> model.transform(X).shape
    (442, 3)
    """

    loss: RegressionLoss | Loss | LossMaker = field(default="squared_error", kw_only=True)
    newton_steps: int | None = field(default=None, kw_only=True)
    newton_damping: float = field(default=0.0, kw_only=True)
    subgradient: SubgradientRule = field(default="dual", kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    delta: float = field(default=1.0, kw_only=True)
    alpha: float = field(default=0.5, kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = REGRESSION
    _n_responses: ClassVar[int] = 0
    """Columns of y; 0 where y has one dimension."""

    def __sklearn_tags__(self) -> Any:
        """Y may have several columns."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @property
    def _n_shared(self) -> int:
        return self._n_responses

    @property
    def _target_kind(self) -> Responses:
        return Responses(self._known_loss, count=self._n_responses)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        if (y.ndim if hasattr(y, "ndim") else np.asarray(y).ndim) < 2:
            return super()._validated(X, y)
        checked: tuple[Any, Any] = validate_data(
            self, X, y, dtype=FLOATS, multi_output=True, accept_sparse=self._accept_sparse
        )
        return checked

    def _read_new(self, X: Any, y: Any = None) -> Any:
        if y is None or not self._n_responses:
            return super()._read_new(X, y)
        own = {"reset": False, "dtype": FLOATS, "accept_sparse": self._accept_sparse}
        return validate_data(self, X, y, multi_output=True, **own)

    def _learn(self, y: NDArray[Any]) -> Vector:
        found = super()._learn(y)
        self._n_responses = found.shape[1] if found.ndim > 1 else 0  # type: ignore[misc]
        if self._n_responses and not self.refit:
            raise ValueError(
                "several responses share factors whose coefficients are refitted: refit must be "
                "True, got False"
            )
        return found

    def predict(self, X: ArrayLike) -> Vector:
        """Predictions, shape (n_rows,) or (n_rows, n_responses), as y had; e^f for Poisson loss."""
        return self._target_kind.predicted(self._target_kind.one_or_all(self._outputs(X)))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output f with 1, 2, … factors."""
        return map(self._target_kind.one_or_all, self._staged_outputs(X))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("subgradient", self.subgradient, ("dual", "sign"))
        check_number("epsilon", self.epsilon, at_least=0)
        check_number("delta", self.delta, above=0)
        check_number("alpha", self.alpha, above=0, below=1)
        check_own(self, epsilon="epsilon", delta="delta")  # alpha is set by scikit-learn's checks

    @property
    def _subgradient(self) -> SubgradientRule:  # type: ignore[override]
        return self.subgradient

    @property
    def _known_loss(self) -> Loss | None:
        return loss_of(self, **OWN) if isinstance(self.loss, str) else known_loss(self.loss)

    def _errors_of(self, output: Any, y: NDArray[Any]) -> Vector:
        """Squared errors where the loss grows like squares, else those of the loss."""
        if y.ndim > 1:
            own = [self._errors_of(f, one) for f, one in zip(output.T, y.T, strict=True)]
            return np.asarray(np.mean(own, axis=0), dtype=np.float64)
        if (counted := getattr(self.loss, "row_errors", None)) is not None:
            return np.asarray(counted(y, output), dtype=np.float64)
        loss = self._known_loss
        if isinstance(loss, Poisson):  # predictions are means, not f
            return loss.value(y, np.log(np.maximum(output, np.finfo(float).tiny)))
        if loss is not None and loss.is_score:
            return loss.value(y, output)
        squares = isinstance(loss, Huber) or (loss is not None and loss.squares_outliers)
        return (y - output) ** 2 if squares else np.abs(y - output)


@dataclass(eq=False, repr=False)
class BLFClassifier(Classification, BaseBLF):
    """Boosted Latent Factors for classification ([M] Alg. 3 and 5).

    Like :class:`BLFRegressor`, for a loss of the margins y·f with labels ±1. More than two classes
    are handled one-vs-rest, each with its own factors; with ``loss="multinomial"`` they share the
    factors.

    Parameters
    ----------
    newton_steps : int or None, default=1
        Newton steps of a refit. None: until they converge, which fits the training rows more
        closely with fewer factors, and overfits sooner.
    newton_damping : float, default=0.1
        As in :class:`BLFRegressor`.
    to_the_letter : bool, default=False
        As in :class:`BLFRegressor`; not for ``loss="multinomial"``.
    l2_regularization : float, default=0.0
        As in :class:`BLFRegressor`. With λ > 0 there is an optimum even for separable classes.
    n_components, kernel, refit, deflate, scale, max_components, cv, rule, \
solver, solver_options, early_stopping, validation_fraction, n_iter_no_change, scoring, \
callbacks, verbose, time_limit, random_state
        As in :class:`BLFRegressor`; folds are stratified.
    class_weight
        As in :class:`CGBoostClassifier`.
    loss : {"log_loss", "exponential", "hinge", "squared_hinge", "squared_error", \
"multinomial"}, Loss or callable, default="log_loss"
        A name, a :class:`~cgboost.losses.Loss` or a callable, as in :class:`BLFRegressor`.
        Log-loss Σ w_i log(1 + exp(−2 y_i f_i)) ([M] eq. 33) and exponential loss
        Σ w_i exp(−y_i f_i) have no minimum for separable classes: a refit to convergence then ends
        with ``stop_reason_`` "unbounded", while single steps continue. The hinge is refitted by a
        linear program. The squared error ½ Σ w_i (y_i − f_i)² is PLS on labels ±1. "multinomial" is
        the deviance with one score per class, over shared factors; for two classes it is the
        log-loss.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
    coef_, dual_coef_, kernel_, intercept_, factor_coef_, n_components_, x_scores_, x_weights_, \
x_loadings_, x_rotations_, explained_variance_ratio_, vip_, cv_errors_, cv_fold_errors_, \
stop_reason_, objective_, columns_, history_, n_columns_, n_iter_, best_round_, n_features_in_, \
feature_names_in_
        As in :class:`BLFRegressor` with two classes. With more, coefficients have one row per
        class, and the factors of all classes are placed side by side, unless classes share them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cgboost import BLFClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), BLFClassifier(5)).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.95
    True
    """

    loss: ClassificationLoss | Literal["squared_error", "multinomial"] | Loss | LossMaker = field(
        default="log_loss", kw_only=True
    )

    _losses: ClassVar[tuple[str, ...]] = (*CLASSIFICATION, "squared_error", "multinomial")

    @property
    def _is_multinomial(self) -> bool:
        return isinstance(self.loss, str) and self.loss == Multinomial.name

    @property
    def _is_joint(self) -> bool:
        return self._is_multinomial and len(self.classes_) > 2

    @property
    def _n_shared(self) -> int:
        return len(self.classes_) if self._is_joint else 0

    @property
    def _known_loss(self) -> Loss | None:
        loss = LogLoss() if self._is_multinomial else known_loss(self.loss)
        return loss  # of two classes the multinomial deviance is the log loss

    def _check_shared(self) -> None:
        if self._is_multinomial and not self.refit:
            raise ValueError(
                "loss='multinomial' refits all coefficients: refit must be True, got False"
            )

        if self._is_multinomial and self.to_the_letter:
            raise ValueError("to_the_letter=True is for the paper's losses, not for 'multinomial'")

    def _joint_outputs(self, rows: TrainingRows) -> MultiOutputLoss:
        loss = Multinomial(len(self.classes_)).on(rows.y.astype(np.float64), rows.weights)
        return ClassScores(loss, self.l2_regularization, self.newton_steps, self.newton_damping)

    def _errors_of(self, output: Any, y: NDArray[Any]) -> Vector:
        return (output != y).astype(np.float64)

    def predict_proba(self, X: Any) -> Vector:
        """Class probabilities 1/(1 + e^{−2f}) ([M] eq. 31), shape (n_rows, n_classes).

        They are valid for losses whose minimum is at half the log-odds: "log_loss" and
        "exponential". With few factors and one damped Newton step per refit (the default), their
        means may differ from the shares of the classes by a few hundredths; with
        ``newton_steps=None``, which refits to convergence, they agree.
        """
        return self._probabilities(self._outputs(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Vector]:
        """Class probabilities with 1, 2, … factors."""
        return map(self._probabilities, self._staged_outputs(X))
