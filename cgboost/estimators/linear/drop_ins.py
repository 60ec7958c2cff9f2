"""Sparse linear models with the parameters of scikit-learn's estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from cgboost.arrays import Matrix, Vector
from cgboost.estimators.common.base_ensemble import Wording
from cgboost.estimators.common.objective import LARGER
from cgboost.estimators.common.parameters import (
    TradeOff,
    check_choice,
    check_count,
    check_number,
    check_random_state,
    check_verbose,
)
from cgboost.estimators.common.targets import ClassWeight
from cgboost.estimators.linear.composed import BaseLinear, LinearDecision, LinearPrediction
from cgboost.estimators.linear.sparse_linear import SparseLinearClassifier, SparseLinearRegressor
from cgboost.exceptions import warn_caller
from cgboost.generation.history import Round, StopReason

LP_SOLVERS = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex")
"""Names of ``solver`` that scikit-learn's QuantileRegressor takes."""

SMALL_GAP = 1e-9
"""Gap of a QuantileRegressor by default: on 40 random problems with 1 to 60 features coefficients
are then those of scikit-learn's to 1e-12, in 283 rounds instead of the 242 of a gap of 1e-6."""


@dataclass(eq=False, repr=False)
class QuantileRegressor(LinearPrediction):
    """Quantile regression with an ℓ1 penalty, like scikit-learn's QuantileRegressor, certified.

    Minimises, with f(x) = Σ_j β_j x_j + b and W = Σ_i w_i,

        (1/W) Σ_i w_i ρ_q(y_i − f(x_i)) + α Σ_j |β_j|    ρ_q(e) = max(q e, (q − 1) e)

    by column generation. While scikit-learn passes the linear program of all rows and features to
    SciPy, features enter here as they are needed, and ``dual_bound_`` is a lower bound on the
    optimum over all of them. To replace scikit-learn's estimator, change the import
    (Koenker, Bassett, Econometrica 46, 1978; Belloni, Chernozhukov, Annals of Statistics 39, 2011).

    Parameters
    ----------
    quantile : float, default=0.5
        q, in (0, 1).
    alpha : float, default=1.0
        α, the penalty factor; 0 for no penalty.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is never penalised.
    solver : {"highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex"}, \
default="highs"
        All names of scikit-learn are accepted and have the same effect: the master problem is
        small, and its solver is chosen by its size.
    solver_options : dict or None
        Options of SciPy's linprog. ``time_limit`` (seconds), ``maxiter`` (rounds) and ``disp`` are
        used; others apply to the full linear program, which is not built here, and are ignored.
    tol : float, default=1e-9
        Stop at this certified duality gap, relative to the objective.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        β; a CSR matrix of shape (1, n_features) after :meth:`sparsify`.
    intercept_ : float
        b.
    n_iter_ : int
        Number of rounds of column generation.
    objective_, dual_bound_, gap_ : float
        The minimum found, the lower bound on it, and their relative gap.
    converged_ : bool
        Whether the gap has reached ``tol``.
    model_ : SparseLinearRegressor
        The fitted model, with its history and its table of columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has names for all features.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost.linear import QuantileRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 1000))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).standard_t(2, size=200)
    >>> model = QuantileRegressor(quantile=0.5, alpha=0.15).fit(X, y)
    >>> np.flatnonzero(model.coef_), model.converged_
    (array([3, 7]), True)
    """

    quantile: float = field(default=0.5, kw_only=True)
    alpha: float = field(default=1.0, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    solver: str = field(default="highs", kw_only=True)
    solver_options: Mapping[str, Any] | None = field(default=None, kw_only=True)
    tol: float = field(default=SMALL_GAP, kw_only=True)

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, at_least=0)
        check_choice("solver", self.solver, LP_SOLVERS)
        if not isinstance(self.solver_options, (Mapping, type(None))):
            raise ValueError(f"solver_options must be a dict or None, got {self.solver_options!r}")
        options = self._options
        check_count("solver_options['maxiter']", options.get("maxiter"), optional=True)
        limit = options.get("time_limit")
        check_number("solver_options['time_limit']", limit, above=0, optional=True)

    @property
    def _wording(self) -> Wording:
        return Wording(type(self).__name__, time_limit="solver_options['time_limit']")

    @property
    def _options(self) -> dict[str, Any]:
        return dict(self.solver_options or {})

    def _find(self, X: Matrix, y: NDArray[Any], weights: Vector) -> None:
        rounds = self._options.get("maxiter")
        model = SparseLinearRegressor(
            loss="quantile",
            quantile=self.quantile,
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            time_limit=self._options.get("time_limit"),
            verbose=int(bool(self._options.get("disp"))),
            callbacks=None if rounds is None else [StopAfter(rounds)],
        )
        self._take(model, X, y, weights)
        if rounds is not None:
            warn_of_rounds(self, self.tol, f"solver_options['maxiter']={rounds}")


@dataclass(eq=False, repr=False)
class LADRegressor(LinearPrediction):
    """Least absolute deviations with an ℓ1 penalty, certified.

    Minimises, with f(x) = Σ_j β_j x_j + b and W = Σ_i w_i,

        (1/W) Σ_i w_i |y_i − f(x_i)| + α Σ_j v_j|β_j|

    by column generation: twice the objective of a :class:`QuantileRegressor` for the median with
    α/2 (LAD-lasso: Wang, Li, Jiang, Journal of Business & Economic Statistics 25, 2007).

    Parameters
    ----------
    alpha : float or None, default=None
        α, the penalty factor. None: half the noise level, as in :class:`SparseLinearRegressor`.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is never penalised.
    positive : bool, default=False
        Whether coefficients must be at least 0.
    penalty_weights : array-like of shape (n_features,) or None
        v, at least 0: the relative penalty of each feature. Features of weight 0 are in the model
        from the start. None means 1 for all.
    standardize : bool, default=False
        Whether features are penalised as if a StandardScaler preceded the model.
    tol : float, default=1e-6
        Stop at this certified duality gap, relative to the objective.
    time_limit : float or None
        Seconds.

    Attributes
    ----------
    alpha_, alpha_max_ : float
        The α used, and the smallest α at which all coefficients are 0.
    coef_, intercept_, n_iter_, objective_, dual_bound_, gap_, converged_, model_, \
n_features_in_, feature_names_in_
        As in :class:`QuantileRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost.linear import LADRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 1000))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).standard_t(2, size=200)
    >>> np.flatnonzero(LADRegressor(alpha=0.3).fit(X, y).coef_)
    array([3, 7])
    """

    alpha: float | None = field(default=None, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    positive: bool = field(default=False, kw_only=True)
    penalty_weights: ArrayLike | None = field(default=None, kw_only=True)
    standardize: bool = field(default=False, kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)
    time_limit: float | None = field(default=None, kw_only=True)

    penalty: ClassVar[Literal["l1"]] = "l1"
    """Why SelectFromModel keeps all features of the model: no parameter."""

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, at_least=0, optional=True)

    def _find(self, X: Matrix, y: NDArray[Any], weights: Vector) -> None:
        model: Any = SparseLinearRegressor(loss="absolute_error", **self.get_params(deep=False))
        self._take(model, X, y, weights)
        self.alpha_, self.alpha_max_ = model.alpha_, model.alpha_max_


class LikeLiblinear(BaseLinear):
    """A support vector machine with the parameters of scikit-learn's."""

    loss: str
    dual: Literal["auto"] | bool
    intercept_scaling: float
    verbose: int
    random_state: Any
    max_iter: int

    _losses: ClassVar[tuple[str, ...]]

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, self._losses)
        if not isinstance(self.dual, (bool, np.bool_)) and self.dual != "auto":
            raise ValueError(f"dual must be True, False or 'auto', got {self.dual!r}")
        check_number("intercept_scaling", self.intercept_scaling, above=0)
        check_verbose("verbose", self.verbose)
        check_random_state("random_state", self.random_state)
        check_count("max_iter", self.max_iter)


@dataclass(eq=False, repr=False)
class L1LinearSVC(LinearDecision, LikeLiblinear):
    """Linear support vector classification with an ℓ1 penalty and the hinge, certified.

    Minimises, with f(x) = Σ_j β_j x_j + b and labels y_i of ±1,

        Σ_j |β_j| + C Σ_i w_i max(0, 1 − y_i f(x_i))

    by column generation. scikit-learn's LinearSVC does not offer this problem: there penalty="l1"
    needs the squared hinge. More than two classes are handled one-vs-rest (Bradley, Mangasarian,
    ICML 1998; Zhu, Rosset, Hastie, Tibshirani, NIPS 2003).

    Parameters
    ----------
    penalty : {"l1"}, default="l1"
        The only penalty; for "l2", use LinearSVC.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    dual : "auto" or bool, default="auto"
        Accepted for compatibility with LinearSVC, without effect: primal and dual are solved
        together.
    tol : float, default=1e-6
        Stop at this certified duality gap, relative to the objective.
    C : float, default=1.0
        Cost of one unit of loss.
    multi_class : {"ovr"}, default="ovr"
        Several classes are handled one-vs-rest.
    fit_intercept : bool, default=True
        Whether to fit the intercept b.
    intercept_scaling : float, default=1.0
        Accepted for compatibility with LinearSVC, without effect. In LinearSVC it weakens the
        penalty on b; here b is not penalised. LinearSVC approaches this model as it grows.
    class_weight : dict, "balanced" or None
        Multiplies C for each class.
    verbose : int, default=0
        1 shows a progress line, 2 every round.
    random_state : int, RandomState or None
        Accepted for compatibility with LinearSVC, without effect: nothing is random.
    max_iter : int, default=1000
        Maximum number of rounds of column generation, for each class.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) with more than two classes
        β; a CSR matrix after :meth:`sparsify`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    classes_ : ndarray of shape (n_classes,)
    n_iter_ : int
        Number of rounds of column generation, for all classes together.
    objective_, dual_bound_ : float
        The minimum found and the lower bound on it; sums over the classes if there are several.
    gap_ : float
        Relative gap between the two; the largest of all classes.
    converged_ : bool
        Whether the gap has reached ``tol``.
    model_ : SparseLinearClassifier
        The fitted model, with its history and its table of columns.
    n_features_in_, feature_names_in_
        As in :class:`QuantileRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cgboost.linear import L1LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), L1LinearSVC(C=0.1)).fit(X, y)
    >>> int((model[-1].coef_ != 0).sum())
    9
    """

    penalty: Literal["l1"] = "l1"
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    dual: Literal["auto"] | bool = field(default="auto", kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    multi_class: Literal["ovr"] = field(default="ovr", kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    intercept_scaling: float = field(default=1.0, kw_only=True)
    class_weight: ClassWeight = field(default=None, kw_only=True)
    verbose: int = field(default=0, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)
    max_iter: int = field(default=1000, kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = ("hinge", "squared_hinge")

    def _check_parameters(self) -> None:
        check_choice("penalty", self.penalty, ("l1",))
        check_choice("multi_class", self.multi_class, ("ovr",))
        super()._check_parameters()

    def _find(self, X: Matrix, y: NDArray[Any], weights: Vector) -> None:
        model = SparseLinearClassifier(
            loss=self.loss,
            C=self.C,
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            tol=self.tol,
            verbose=self.verbose,
            callbacks=[StopAfter(self.max_iter)],
        )
        self._take(model, X, y, weights)
        warn_of_rounds(self, self.tol, f"max_iter={self.max_iter}")


@dataclass(eq=False, repr=False)
class L1LinearSVR(LinearPrediction, LikeLiblinear):
    """Linear support vector regression with an ℓ1 penalty, certified.

    Minimises, with f(x) = Σ_j β_j x_j + b,

        Σ_j |β_j| + C Σ_i w_i max(0, |y_i − f(x_i)| − ε)

    by column generation: the problem of scikit-learn's LinearSVR with another norm.

    Parameters
    ----------
    epsilon : float, default=0.0
        ε: half-width of the tube around y in which errors are free.
    tol : float, default=1e-6
        Stop at this certified duality gap, relative to the objective.
    C : float, default=1.0
        Cost of one unit of loss.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss above, or its square.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is not penalised.
    intercept_scaling, dual, verbose, random_state, max_iter
        As in :class:`L1LinearSVC`.

    Attributes
    ----------
    model_ : SparseLinearRegressor
        The fitted model, whose α is 1/(C Σ_i w_i).
    coef_, intercept_, n_iter_, objective_, dual_bound_, gap_, converged_, n_features_in_, \
feature_names_in_
        As in :class:`QuantileRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost.linear import L1LinearSVR
    >>> X = np.random.default_rng(0).normal(size=(100, 300))
    >>> y = 2 * X[:, 3] - X[:, 7]
    >>> np.flatnonzero(L1LinearSVR(epsilon=0.1, C=0.1).fit(X, y).coef_)
    array([3, 7])
    """

    epsilon: float = field(default=0.0, kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = field(
        default="epsilon_insensitive", kw_only=True
    )
    fit_intercept: bool = field(default=True, kw_only=True)
    intercept_scaling: float = field(default=1.0, kw_only=True)
    dual: Literal["auto"] | bool = field(default="auto", kw_only=True)
    verbose: int = field(default=0, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)
    max_iter: int = field(default=1000, kw_only=True)

    penalty: ClassVar[Literal["l1"]] = "l1"
    """As of :class:`LADRegressor`."""

    _losses: ClassVar[tuple[str, ...]] = ("epsilon_insensitive", "squared_epsilon_insensitive")

    @property
    def _wording(self) -> Wording:
        return Wording(type(self).__name__, TradeOff("C", self.C), LARGER)

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0)
        super()._check_parameters()

    def _find(self, X: Matrix, y: NDArray[Any], weights: Vector) -> None:
        price = self.C * float(weights.sum())  # of a mean loss, where the penalty has the price 1
        model = SparseLinearRegressor(
            loss=self.loss,
            epsilon=self.epsilon,
            alpha=1.0 / price,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            verbose=self.verbose,
            callbacks=[StopAfter(self.max_iter)],
        )
        self._take(model, X, y, weights, unit=price)
        warn_of_rounds(self, self.tol, f"max_iter={self.max_iter}")


@dataclass(frozen=True)
class StopAfter:
    """A callback that ends a run after so many rounds."""

    rounds: int

    stop_reason: ClassVar[StopReason] = StopReason.MAX_ROUNDS

    def __call__(self, current: Round) -> bool:
        """Whether that was the last; the first has the number 0."""
        return current.number + 1 >= self.rounds


def warn_of_rounds(model: BaseLinear, tol: float, limit: str) -> None:
    """Warn of a fit that ended because of its limit of rounds."""
    if not model.converged_ and StopReason.MAX_ROUNDS in model.model_.stop_reason_:
        warn_caller(
            f"{type(model).__name__} stopped at {limit} rounds with a relative gap of "
            f"{model.gap_:.1e}, above tol={tol:g}: a larger value may change that",
            ConvergenceWarning,
        )
