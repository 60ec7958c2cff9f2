"""Linear models with their own parameters that are fitted by a sparse linear model.

::

    BaseLinear            the fit, outputs, coefficients dense and sparse
    ├── LinearPrediction  the output predicts a number
    └── LinearDecision    the output decides between labels
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray

from cgboost.arrays import Matrix, Vector
from cgboost.estimators.common.base_ensemble import Wording
from cgboost.estimators.common.fitted_runs import unchanged_on_failure, with_names
from cgboost.estimators.common.sklearn_bases import ClassifierMixin, RegressorMixin
from cgboost.estimators.common.targets import Labels
from cgboost.estimators.common.training_rows import TrainingRows, is_source
from cgboost.estimators.linear.base_sparse_linear import LinearOutputs
from cgboost.estimators.linear.sparse_linear import SparseLinearClassifier, SparseLinearRegressor


@dataclass(eq=False, repr=False)
class BaseLinear(LinearOutputs):
    """A linear model with the coefficients of a sparse linear model, ``model_``."""

    _kind: ClassVar[Any]
    """The class of the sparse linear model."""

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model. A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            float32 and sparse matrices are kept; all other types become float64. X must be in
            memory. For a source of blocks, use the class of ``model_``.
        y : array-like of shape (n_rows,)
            Numbers; labels of any type for classifiers.
        sample_weight : array-like of shape (n_rows,) or None
            Multiplies the loss of each row.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message names the argument and its value.

        Warns
        -----
        ConvergenceWarning
            If the fit ended before its gap reached ``tol``.
        TrivialModelWarning
            If all coefficients of the optimum are 0.
        DataWarning
            If X was converted from a sparse format without access to columns or rows.
        """
        if is_source(X):
            raise ValueError(
                f"{type(self).__name__} needs all rows of X at once, got a {type(X).__name__} of "
                f"blocks: {self._kind.__name__} reads a source of blocks"
            )
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = self._validated(X, y)
            self._find(X, y, TrainingRows.of(X, y, sample_weight).weights)
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check the parameters that the sparse linear model does not have."""

    @abstractmethod
    def _find(self, X: Matrix, y: NDArray[Any], weights: Vector) -> None:
        """Fit the sparse linear model, and keep what it has found."""

    @property
    def _wording(self) -> Wording:
        """The words in which the sparse linear model speaks of this estimator."""
        return Wording(type(self).__name__)

    def _take(
        self, model: Any, X: Matrix, y: NDArray[Any], weights: Vector, *, unit: float = 1.0
    ) -> None:
        """Fit a sparse linear model in the words of this estimator, and take over what it found.

        Parameters
        ----------
        X, y, weights
            The rows.
        unit : float
            What one unit of its objective is in that of this estimator.
        """
        model._speaking_as(self._wording).fit(X, y, weights)
        model._speaking_as(None)
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
            model.columns_ = with_names(model.columns_, model)
        self.model_ = model
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.objective_, self.dual_bound_ = unit * model.objective_, unit * model.dual_bound_
        self.gap_, self.converged_, self.n_iter_ = model.gap_, model.converged_, model.n_iter_

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """The rounds of the fit of all rows, as of ``model_``."""
        return self.model_.history_

    @property
    def columns_(self) -> dict[str, NDArray[Any]]:
        """The features in the model, as of ``model_``."""
        return self.model_.columns_

    @property
    def _reported(self) -> Any:
        return vars(self).get("model_")

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn: X may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False)
class LinearPrediction(RegressorMixin, BaseLinear):
    """Linear regression: the output is the prediction."""

    _kind: ClassVar[Any] = SparseLinearRegressor
    _y_numeric: ClassVar[bool] = True
    _coef_by_output: ClassVar[bool] = False

    def predict(self, X: ArrayLike) -> Vector:
        """X·coef_ + intercept_, shape (n_rows,); the exponential of this for the Poisson loss."""
        outputs = self._outputs(X)[:, 0]
        predicted: Vector = self.model_._target_kind.predicted(outputs)
        return predicted


@dataclass(eq=False, repr=False)
class LinearDecision(ClassifierMixin, BaseLinear):
    """Linear classification: by the sign of the output, or the largest of several outputs."""

    _kind: ClassVar[Any] = SparseLinearClassifier
    _y_numeric: ClassVar[bool] = False
    _coef_by_output: ClassVar[bool] = True

    def decision_function(self, X: ArrayLike) -> Vector:
        """Model output f: shape (n_rows,), or (n_rows, n_classes) with more than two classes."""
        outputs = self._outputs(X)
        return Labels(self.classes_).one_or_all(outputs)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label with the largest output, shape (n_rows,)."""
        outputs = self._outputs(X)
        return Labels(self.classes_).decided(outputs)

    def _take(
        self, model: Any, X: Matrix, y: NDArray[Any], weights: Vector, *, unit: float = 1.0
    ) -> None:
        super()._take(model, X, y, weights, unit=unit)
        self.classes_ = model.classes_
