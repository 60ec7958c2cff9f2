"""CG-Boost for novelty detection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cgboost.estimators.common.novelty_loss import NoveltyDetection
from cgboost.estimators.kernel.kernel_columns import BaseCGBoost
from cgboost.kernels import RBF, KernelLibrary


@dataclass(eq=False, repr=False)
class CGBoostOutlierDetector(NoveltyDetection, BaseCGBoost):
    """One-class model over a library of kernels, boosted by column generation.

    Learns where rows lie, without labels: with W = Σ w_i it minimises

        Ω(α) + Σ_i w_i max(0, ρ − s(x_i)) − νWρ,      s(x) = Σ_p Σ_j α_j^p K_p(x, x_j),

    where Ω(α) is ½Σα², or for the 1-norm the constraint Σ|α| ≤ 1 (Schölkopf et al., Neural
    Computation 13, 2001; Rätsch et al., IEEE PAMI 24, 2002). A row is an outlier if s(x) < ρ.

    Parameters
    ----------
    library : KernelLibrary or None
        Named kernels in order of priority. None stands for ``KernelLibrary({"rbf": RBF()})``.
    nu : float, default=0.5
        At most this share of the training rows (by weight) is called outliers, at least this share
        lies on the border or outside. In (0, 1].
    penalty : {"l1", "l2"}, default="l2"
        Ω(α); "l1" gives few columns.
    coef : {"free", "nonneg"}, default="free"
        Sign rule for α; "nonneg" weighs {+K, −K} unless the library has ``negation=False``.
    early_stopping : bool, default=False
        As in :class:`CGBoostClassifier`, but only with an ``eval_set`` that has outliers.
    priority, columns_per_round, max_columns, tol, time_limit, solver, validation_fraction, \
n_iter_no_change, cache_size, executor, callbacks, verbose, random_state
        As in :class:`CGBoostClassifier`.

    Attributes
    ----------
    offset_ : float
        The level ρ; ``decision_function(X) = score_samples(X) − offset_``.
    intercept_ : float
        −ρ.
    coef_, columns_, n_columns_, columns_per_kernel_, objective_, dual_bound_, gap_, converged_, \
history_, best_round_, stop_reason_, n_iter_, n_features_in_, feature_names_in_
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

    _default_library: ClassVar[KernelLibrary] = KernelLibrary({"rbf": RBF()})
