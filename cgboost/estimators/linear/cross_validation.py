"""Sparse linear models that choose their α, or C, by cross-validation along warm-started paths."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if

from cgboost.arrays import Matrix, Vector
from cgboost.estimators.common.base_ensemble import Wording
from cgboost.estimators.common.certified import RegularizationPath, model_of
from cgboost.estimators.common.parameters import TradeOff, check_choice
from cgboost.estimators.common.scoring import Rule, chosen, scorers_of
from cgboost.estimators.common.targets import ClassWeight, log_odds_of
from cgboost.estimators.linear.base_sparse_linear import PenaltyName, values_of_path
from cgboost.estimators.linear.composed import BaseLinear, LinearDecision, LinearPrediction
from cgboost.estimators.linear.linear_constraints import check_constraints, read_constraints
from cgboost.estimators.linear.sparse_linear import SparseLinearClassifier
from cgboost.losses import Loss
from cgboost.losses.registry import ClassificationLoss, RegressionLoss
from cgboost.penalties import L1, ElasticNet

FOLDS = 5
"""Folds by default, as scikit-learn's."""

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(eq=False, repr=False)
class OverFolds(BaseLinear):
    """A linear model that is also fitted without the rows of each fold."""

    penalty_weights: ArrayLike | None = field(default=None, kw_only=True)
    positive: bool = field(default=False, kw_only=True)
    standardize: bool = field(default=False, kw_only=True)
    cv: Any = field(default=None, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)
    columns_per_round: int | None = field(default=None, kw_only=True)
    max_columns: int | None = field(default=None, kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)
    time_limit: float | None = field(default=None, kw_only=True)
    verbose: int = field(default=0, kw_only=True)

    _groups: ClassVar[Any] = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model without the rows of each fold, and to all rows.

        A fit that fails changes nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            float32 and sparse matrices are kept; all other types become float64.
        y : array-like of shape (n_rows,)
            Numbers; labels of any type for classifiers.
        sample_weight : array-like of shape (n_rows,) or None
            Multiplies the loss of each row.
        groups : array-like of shape (n_rows,) or None
            The group of every row, for a ``cv`` that splits by groups, such as ``GroupKFold()``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message names the argument and its value.
        """
        self._groups = groups  # type: ignore[misc]
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._groups

    def _model(self, **own: Any) -> Any:
        """The linear model of these parameters."""
        known, mine = self._kind._get_param_names(), self.get_params(deep=False)
        shared = {name: mine[name] for name in known if name in mine and name != "scoring"}
        return self._kind(**shared | own)._speaking_as(self._wording)

    def _folds(self, y: NDArray[Any]) -> Any:
        """The splitter; its folds have no more parts than there are rows, or rows of a class."""
        stratified, cv = self._kind is SparseLinearClassifier, self.cv
        if cv is None:
            most = np.unique(y, return_counts=True)[1].max() if stratified else len(y)
            cv = max(2, min(FOLDS, int(most)))
        return check_cv(cv, y, classifier=stratified)


@dataclass(eq=False, repr=False)
class SelectsStrength(OverFolds):
    """A path in every fold, the strength with the best mean score, and a fit to all rows."""

    loss: Any = field(default=None, kw_only=True)
    penalty: PenaltyName | L1 | ElasticNet = field(default="l1", kw_only=True)
    l1_ratio: float = field(default=0.5, kw_only=True)
    constraints: Sequence[Any] | None = field(default=None, kw_only=True)
    fit_intercept: bool = field(default=True, kw_only=True)
    eps: float = field(default=1e-3, kw_only=True)
    scoring: Any = field(default=None, kw_only=True)
    rule: Rule = field(default="min", kw_only=True)
    solver: str = field(default="auto", kw_only=True)
    solver_options: Mapping[str, Any] | None = field(default=None, kw_only=True)

    _strength: ClassVar[Literal["alpha", "C"]]

    @abstractmethod
    def _grid(self) -> tuple[Any, Any]:
        """The parameters that say which values there are: given ones, and how many."""

    def _check_parameters(self) -> None:
        check_choice("rule", self.rule, ("min", "1se"))
        check_constraints(self.constraints)
        if len(scorers_of(self.scoring)) > 1:
            raise ValueError(f"scoring must be one score, by which to choose, got {self.scoring!r}")

    def _model(self, **own: Any) -> Any:
        """The sparse linear model of these parameters."""
        if self.constraints:  # read by the names of the features, which rows alone do not have
            names = getattr(self, "feature_names_in_", None)
            read = read_constraints(self.constraints, names, self.n_features_in_)
            own = {"constraints": read} | own
        return super()._model(**own)

    @property
    def _wording(self) -> Wording:
        name = self._strength
        value = getattr(self, f"{name}_", np.nan)  # chosen before the model of all rows is fitted
        remedy = f"cross-validation has chosen this of {name}s_"
        return Wording(type(self).__name__, TradeOff(f"{name}_", value), remedy)

    def _find(self, X: Matrix, y: NDArray[Any], weights: Vector) -> None:
        name = self._strength
        values = self._values(X, y, weights)
        folds = self._folds(y)
        own = Parallel(n_jobs=self.n_jobs)(
            delayed(_scores_of_fold)(self, X, y, weights, fold, values)
            for fold in folds.split(X, y, self._groups)
        )
        scores, shares = np.array([scores for scores, _ in own]).T, np.array([w for _, w in own])
        if not shares.any():
            raise ValueError(
                f"cv={self.cv!r} must have a fold with a score, but held-out rows weigh nothing or "
                "training rows have one class in every fold"
            )
        order = np.argsort(values if name == "C" else -values, kind="stable")
        number = order[chosen(scores[order], shares, self.rule)]
        setattr(self, f"{name}s_", values)
        setattr(self, f"{name}_", float(values[number]))
        self.scores_ = scores
        self._take(self._model(**{name: float(values[number])}), X, y, weights)
        self.model_.constraints = self.constraints  # as they were given, not as they were read

    @property
    def constraint_prices_(self) -> NDArray[Any]:
        """What a unit of each right-hand side changes, as of ``model_``; with constraints."""
        return self.model_.constraint_prices_

    @property
    def constraint_rows_(self) -> NDArray[Any]:
        """What the rows of the constraints are called, as of ``model_``; with constraints."""
        return self.model_.constraint_rows_

    def _values(self, X: Matrix, y: NDArray[Any], weights: Vector) -> Vector:
        """The values that are tried, the same in every fold."""
        values = values_of_path(self._strength, *self._grid(), self.eps)
        prepared = self._model()
        rows, _ = prepared._prepare(X, y, weights, None)
        if not callable(values):
            return values
        prepared._pool(rows)
        return values(prepared)

    def _scores(self, path: RegularizationPath, X: Any, y: NDArray[Any], weights: Vector) -> Vector:
        """Of held-out rows, for every model of a path; greater is better."""
        for name, scorer in scorers_of(self.scoring).items():
            try:
                return np.array([float(scorer(model, X, y)) for model in path])
            except AttributeError as error:
                raise ValueError(
                    f"scoring={name!r} asks for what a {type(self).__name__} with "
                    f"loss={self.loss!r} does not have: {error} "
                    "(of the losses, 'log_loss' and 'exponential' have probabilities)"
                ) from error
        model, (outputs, n_outputs) = model_of(path.points[0]), outputs_along(path, X)
        each = outputs.reshape(len(y), len(path), n_outputs).transpose(1, 0, 2)
        return np.array([model._score_of_outputs(own, y, weights) for own in each])


def outputs_along(path: RegularizationPath, X: Any) -> tuple[Vector, int]:
    """The outputs of all models of a path on rows of X, side by side, and how many a model has."""
    coef = np.concatenate([np.atleast_2d(point.coef_) for point in path.points])
    intercept = np.concatenate([np.atleast_1d(point.intercept_) for point in path.points])
    outputs = np.asarray(X @ coef.T, dtype=np.float64) + intercept
    return outputs, len(coef) // len(path)


def _scores_of_fold(
    self: SelectsStrength, X: Any, y: NDArray[Any], weights: Vector, fold: Fold, values: Vector
) -> tuple[Vector, float]:
    """The scores of all values on the held-out rows of a fold, and the weight of these rows."""
    train, held = fold
    held = held[weights[held] > 0]
    one_class = self._kind is SparseLinearClassifier and len(np.unique(y[train])) < 2
    if one_class or not len(held):
        return np.full(len(values), np.nan), 0.0
    path = self._model(verbose=0).path(X[train], y[train], values, sample_weight=weights[train])
    scores = self._scores(path, X[held], y[held], weights[held])
    return scores, float(weights[held].sum())


@dataclass(eq=False, repr=False)
class SparseLinearRegressorCV(LinearPrediction, SelectsStrength):
    """Sparse linear regression with α chosen by cross-validation.

    Every fold fits a path of warm-started models, one for each α. The α with the best mean score on
    held-out rows, by default the smallest mean loss, is then used for a fit to all rows. The
    objective is the objective of :class:`SparseLinearRegressor`:

        (1/W) Σ_i w_i ℓ(y_i, f(x_i)) + α Σ_j ρ v_j|β_j| + ½(1 − ρ)(v_j β_j)²

    Parameters
    ----------
    loss, quantile, epsilon, penalty, l1_ratio, penalty_weights, positive, constraints, \
fit_intercept, standardize
        As in :class:`SparseLinearRegressor`.
    alphas : sequence of float or None
        The values of α to try. None means ``n_alphas`` values from ``alpha_max_`` of all rows down
        to ``eps`` times it, evenly spaced on a logarithmic scale.
    n_alphas : int, default=100
    eps : float, default=1e-3
    cv : int, splitter, iterable or None
        As in scikit-learn's GridSearchCV, with the ``groups`` passed to ``fit``. None means five
        folds, or fewer if there are fewer rows.
    n_jobs : int or None
        Number of folds fitted in parallel, as in joblib.
    scoring : str, callable or None
        One scorer, greater is better; it sees the held-out rows without their weights. None means
        minus the mean loss.
    rule : {"min", "1se"}, default="min"
        "min" is the α with the best mean score; "1se" is the largest α whose mean score is within
        one standard error of it.
    columns_per_round, max_columns, tol, time_limit, solver, solver_options, verbose
        As in :class:`SparseLinearRegressor`, for every model; ``verbose`` only for the last.

    Attributes
    ----------
    alpha_ : float
        The chosen α.
    alphas_ : ndarray of shape (n_alphas,)
    scores_ : ndarray of shape (n_alphas, n_folds)
        Scores on the held-out rows, greater is better; nan in a fold whose held-out rows have
        weight 0 or whose training rows have only one class. Means over folds are weighted.
    coef_, intercept_, objective_, dual_bound_, gap_, converged_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`SparseLinearRegressor`, for the model fitted to all rows.
    model_ : SparseLinearRegressor
        The model fitted to all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost.linear import SparseLinearRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(200, 100))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).standard_t(2, size=200)
    >>> model = SparseLinearRegressorCV(n_alphas=20, eps=0.05, rule="1se").fit(X, y)
    >>> np.flatnonzero(model.coef_)
    array([3, 7])
    """

    loss: RegressionLoss | Loss = field(default="quantile", kw_only=True)
    quantile: float = field(default=0.5, kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    alphas: Sequence[float] | None = field(default=None, kw_only=True)
    n_alphas: int = field(default=100, kw_only=True)

    _strength: ClassVar[Literal["alpha", "C"]] = "alpha"

    def _grid(self) -> tuple[Any, Any]:
        return self.alphas, self.n_alphas


@dataclass(eq=False, repr=False)
class SparseLinearClassifierCV(LinearDecision, SelectsStrength):
    """Sparse linear classification with C chosen by cross-validation.

    Every fold fits a path of warm-started models, one for each C. The C with the best mean score on
    held-out rows, by default the smallest mean loss, is then used for a fit to all rows. The
    objective is the objective of :class:`SparseLinearClassifier`:

        Σ_j ρ v_j|β_j| + ½(1 − ρ)(v_j β_j)²  +  C Σ_i w_i ℓ(y_i, f(x_i))

    Parameters
    ----------
    loss, penalty, l1_ratio, penalty_weights, positive, constraints, fit_intercept, standardize, \
class_weight
        As in :class:`SparseLinearClassifier`.
    Cs : sequence of float or None
        The values of C to try. None means ``n_Cs`` values from ``C_min_`` of all rows up to
        1/``eps`` times it, evenly spaced on a logarithmic scale.
    n_Cs : int, default=100
    rule : {"min", "1se"}, default="min"
        "min" is the C with the best mean score; "1se" is the smallest C whose mean score is within
        one standard error of it.
    eps, cv, n_jobs, scoring
        As in :class:`SparseLinearRegressorCV`. Folds are stratified; the default is five, or the
        number of rows of the largest class if that is smaller. Without ``scoring``, the weights of
        the classes also apply to the score.
    columns_per_round, max_columns, tol, time_limit, solver, solver_options, verbose
        As in :class:`SparseLinearClassifier`, for every model; ``verbose`` only for the last.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of shape (n_Cs,)
    scores_ : ndarray of shape (n_Cs, n_folds)
        As in :class:`SparseLinearRegressorCV`; with several classes, losses are summed over them.
    coef_, intercept_, classes_, objective_, dual_bound_, gap_, converged_, n_iter_, \
n_features_in_, feature_names_in_
        As in :class:`SparseLinearClassifier`, for the model fitted to all rows.
    model_ : SparseLinearClassifier
        The model fitted to all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgboost.linear import SparseLinearClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLinearClassifierCV(n_Cs=8, eps=0.01, standardize=True).fit(X, y)
    >>> model.scores_.shape, round(model.score(X, y), 2)
    ((8, 5), 0.98)
    """

    loss: ClassificationLoss | Loss = field(default="hinge", kw_only=True)
    class_weight: ClassWeight = field(default=None, kw_only=True)
    Cs: Sequence[float] | None = field(default=None, kw_only=True)
    n_Cs: int = field(default=100, kw_only=True)  # noqa: N815 – several C

    _strength: ClassVar[Literal["alpha", "C"]] = "C"

    def _grid(self) -> tuple[Any, Any]:
        return self.Cs, self.n_Cs

    @available_if(lambda self: log_odds_of(self.loss) is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Vector:
        """Class probabilities of the chosen model, shape (n_rows, n_classes); with log-odds."""
        shares: Vector = self.model_._probabilities(self._outputs(X))
        return shares
