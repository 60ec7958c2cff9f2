"""CG-Boost for regression.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass

from cgboost.estimators.common.tube_loss import TubeRegression
from cgboost.estimators.kernel.kernel_columns import BaseCGBoost


@dataclass(eq=False, repr=False)
class CGBoostRegressor(TubeRegression, BaseCGBoost):
    """Support-vector regression over a library of kernels, boosted by column generation.

    Minimises Ω(α) + C Σ_i w_i max(0, |y_i − f(x_i)| − ε) ([B] eq. 13 and 14). With ν, ε is the
    model's own choice at a price of CνW, where W = Σ w_i.

    Parameters
    ----------
    library : KernelLibrary or None
        Named kernels in order of priority. None stands for ``KernelLibrary({"linear": Linear(),
        "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True)``.
    epsilon : float, default=0.1
        Half width of the tube inside which errors are free.
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
