"""CG-Boost for regression.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.objective import (
    Objective,
    check_cost,
    check_trade_off,
    get_loss_with,
    residual_objective,
)
from cgboost.estimators.common.parameters import check_number
from cgboost.estimators.common.path import fit_path
from cgboost.estimators.common.regression import Regression
from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.rows import Rows
from cgboost.estimators.kernel.kernel_columns import DEFAULT_LIBRARY, KernelColumns
from cgboost.kernels import KernelLibrary
from cgboost.losses import EpsilonInsensitive, Loss
from cgboost.losses.registry import REGRESSION, RegressionLoss
from cgboost.masters.support_vector.master import Offset
from cgboost.penalties import Penalty, get_penalty


@dataclass(eq=False, repr=False)
class CGBoostRegressor(Regression, BaseBoost):
    """Support-vector regression over a library of kernels, boosted by column generation.

    Minimises Ω(α) + C Σ_i w_i max(0, |y_i − f(x_i)| − ε) ([B] eq. 13 and 14). With ν, ε is the
    model's own choice at a price of CνW, where W = Σ w_i.

    Parameters
    ----------
    library : KernelLibrary or None
        Named kernels in order of priority. None stands for ``KernelLibrary({"linear": Linear(),
        "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True)``.
    loss : str or Loss, default="epsilon_insensitive"
        What an error costs: "epsilon_insensitive", "squared_epsilon_insensitive",
        "squared_error" (kernel ridge regression), "absolute_error", "quantile", "huber",
        "poisson", or a :class:`~cgboost.losses.Loss` with its parameters, such as
        ``Quantile(0.9)``, yours perhaps. See docs/methods/losses.md.
    epsilon : float, default=0.1
        Half width of the tube inside which errors are free, for ``loss="epsilon_insensitive"``.
    nu : float or None
        Let the model choose ε: at most this share of the rows (by weight) lies outside the tube,
        at least this share outside or on its border. In (0, 1]; ``epsilon`` is then not used.
    C, penalty, coef, offset, priority, columns_per_round, max_columns, tol, time_limit, solver, \
early_stopping, validation_fraction, n_iter_no_change, cache_size, executor, callbacks, \
verbose, random_state
        As in :class:`CGBoostClassifier`; early stopping watches the mean absolute error.

    Attributes
    ----------
    epsilon_ : float
        Half width of the tube, given or chosen.
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

    library: KernelLibrary | None = None
    loss: RegressionLoss | Loss = field(default="epsilon_insensitive", kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    penalty: Literal["l1", "l2", "elasticnet"] | Penalty = field(default="l2", kw_only=True)
    coef: Literal["free", "nonneg"] = field(default="free", kw_only=True)
    offset: Offset = field(default="free", kw_only=True)
    priority: Literal["full", "stratified"] = field(default="full", kw_only=True)
    cache_size: float = field(default=1000.0, kw_only=True)
    executor: Any = field(default=None, kw_only=True)

    _default_library: ClassVar[KernelLibrary] = DEFAULT_LIBRARY

    path = fit_path

    def _check_parameters(self) -> None:
        check_number("epsilon", self.epsilon, at_least=0)
        check_cost(self, REGRESSION, EpsilonInsensitive, epsilon=self.epsilon)
        check_trade_off(self)
        super()._check_parameters()

    @property
    def _objective(self) -> Objective:
        penalty = get_penalty(self.penalty)
        return residual_objective(penalty, C=self.C, cost=self._cost, nu=self.nu)

    @property
    def _cost(self) -> Loss:
        return get_loss_with(self.loss, EpsilonInsensitive, epsilon=self.epsilon)

    @property
    def _known_loss(self) -> Loss:
        return self._cost

    @property
    def _family(self) -> KernelColumns:
        return KernelColumns.of(self)

    def _master_options(self) -> dict[str, Any]:
        return {"coef": self._family.sign, "offset": self.offset, "solver": self.solver}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.columns_per_kernel_ = self._family.counts(self.columns_)
