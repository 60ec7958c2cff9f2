"""CG-Boost for regression: ε-insensitive loss.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from cgboost.estimators.base import BaseCGBoost
from cgboost.estimators.parameters import check_number
from cgboost.estimators.rows import Vector
from cgboost.losses import SupportVectorLoss, epsilon_insensitive
from cgboost.monitoring import Score, mean_absolute_error, mean_squared_error


@dataclass(eq=False, repr=False)
class CGBoostRegressor(RegressorMixin, BaseCGBoost):
    """Support-vector regression over a library of kernels, boosted by column generation.

    Minimises Ω(α) + C Σ_i w_i max(0, |y_i − f(x_i)| − ε) ([B] eq. 13 and 14).

    Parameters
    ----------
    library : KernelLibrary or None
        Named kernels in order of priority. None stands for ``KernelLibrary({"linear": Linear(),
        "quadratic": Polynomial(2), "rbf": RBF()})``; its kernels are not normalised, so scale the
        features first.
    epsilon : float, default=0.1
        Half width of the tube inside which errors are free.
    C, penalty, coef, offset, priority, columns_per_round, max_columns, tol, time_limit, solver, \
early_stopping, validation_fraction, n_iter_no_change, cache_size, callbacks, verbose, random_state
        As in :class:`CGBoostClassifier`; early stopping watches the mean absolute error.

    Attributes
    ----------
    coef_, intercept_, columns_, n_columns_, columns_per_kernel_, objective_, dual_bound_, gap_, \
converged_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier` with two classes; the validation scores in ``history_``
        are validation_mae and validation_mse.

    Notes
    -----
    Ctrl-C and pickling: as in :class:`CGBoostClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import CGBoostRegressor, KernelLibrary, RBF
    >>> x = np.linspace(-3, 3, 60)[:, None]
    >>> model = CGBoostRegressor(KernelLibrary({"rbf": RBF(1.0)}), C=10.0, tol=1e-6)
    >>> bool(np.abs(model.fit(x, np.sin(x[:, 0])).predict(x) - np.sin(x[:, 0])).max() < 0.11)
    True
    """

    epsilon: float = field(default=0.1, kw_only=True)

    _scores: ClassVar[dict[str, Score]] = {"mae": mean_absolute_error, "mse": mean_squared_error}
    _y_numeric: ClassVar[bool] = True

    def predict(self, X: ArrayLike) -> Vector:
        """Model output f, shape (n_rows,)."""
        return self._outputs(X)[:, 0]

    def staged_predict(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output after every round up to the best one; the last is that of the model."""
        return (outputs[:, 0] for outputs in self._staged_outputs(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """The same as :meth:`staged_predict`."""
        return self.staged_predict(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("epsilon", self.epsilon, at_least=0)

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _encode(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]

    def _loss(self, target: Vector, price: Vector) -> SupportVectorLoss:
        return epsilon_insensitive(target, price, self.epsilon)
