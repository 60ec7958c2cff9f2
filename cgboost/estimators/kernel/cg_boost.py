"""CG-Boost over libraries of kernels: regression and classification.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from cgboost.estimators.common.calibration import CalibratedClassification
from cgboost.estimators.common.certified import TubeRegression
from cgboost.estimators.common.objective import (
    Margins,
    Objective,
    check_loss_and_nu,
    check_trade_off,
    margin_objective,
    residual_objective,
)
from cgboost.estimators.common.parameters import check_number
from cgboost.estimators.common.targets import Link
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows
from cgboost.estimators.kernel.base_kernel_boost import BaseKernelBoost
from cgboost.losses import EpsilonInsensitive, Hinge, Loss
from cgboost.losses.registry import CLASSIFICATION, REGRESSION, ClassificationLoss, get_loss
from cgboost.masters.support_vector.support_vector_master import Offset
from cgboost.penalties import GroupNorm, get_penalty


@dataclass(eq=False, repr=False)
class CGBoostClassifier(CalibratedClassification, BaseKernelBoost):
    """Soft-margin classifier over a library of kernels, boosted by column generation.

    Minimises Ω(α) + C Σ_i w_i max(0, 1 − y_i f(x_i)) with f = Σ_p Σ_j α_j^p K_p(·, x_j) + b, and
    reports a certified lower bound on the optimum over *all* columns. More than two classes are
    handled one-vs-rest; all classes share one cache of kernel columns, and with penalty="group" the
    weights of kernels.

    With ν instead of C, the model also chooses the margin ρ. With W = Σ w_i it minimises

        Ω(α) + Σ_i w_i max(0, ρ − y_i f(x_i)) − νWρ

    where Ω(α) is ½Σα² or, for the 1-norm, the constraint Σ|α| ≤ 1.

    Parameters
    ----------
    library : KernelLibrary, dict, Kernel, callable, str or None
        Named kernels in order of priority. None means ``KernelLibrary({"linear": Linear(),
        "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True, standardize=True)``. On texts
        (sparse rows of many words), "linear" made fewer errors.
        A dict such as ``{"linear": Linear(), "rbf": RBF()}``, a single kernel or a callable
        k(X, Z) is made into a library. A string names a predefined library: "linear",
        "quadratic", "poly", "rbf", "matern", "rbfs" (:func:`~cgboost.kernels.as_library`). In a
        parameter search, ``library__rbf__gamma`` is the gamma of the kernel named "rbf".
    loss : str or Loss, default="hinge"
        Replaces max(0, 1 − y f) above: "hinge", "squared_hinge", "log_loss", "exponential", or a
        :class:`~cgboost.losses.Loss` for labels ±1, including your own. See docs/methods/losses.md.
    C : float, default=1.0
        Cost of one unit of loss. ``sample_weight`` multiplies it, row by row: with weights that
        sum to 1, C must be n_rows times as large. Not with ``nu``.
    nu : float or None
        Instead of C: at most this share of the rows (by weight) has a margin below ``margin_``,
        and at least this share has a margin of at most ``margin_``. In (0, 1]; with a free offset,
        at most twice the share of the smaller class.
    penalty : {"l1", "l2", "elasticnet", "rkhs", "group"} or Penalty, default="l1"
        "l1" is Ω(α) = Σ|α_j| (sparse). "l2" is ½Σα_j² (dense at the optimum; for a sparse model,
        stop at a gap, at ``max_columns`` or at the best validation score). "elasticnet" is
        ½Σ|α_j| + ¼Σα_j². "rkhs" and "group" are norms of the kernel parts
        f_p = Σ_j α_j^p K_p(·, x_j), each in the RKHS of its kernel. "rkhs" is ½Σ_p ‖f_p‖²: the
        support vector machine with the kernel Σ_p K_p, built column by column. With several
        kernels, each chosen row is a centre of all of them. "group" is Σ_p s_p‖f_p‖, multiple
        kernel learning: few kernels, with the weights ``kernel_weights_``. Here s_p is the standard
        deviation of the rows in the RKHS, which makes the penalty independent of the scale of a
        kernel; with ``nu``, Ω is half the square of this sum. More than two classes share the
        kernels: Ω is Σ_p s_p√(Σ_c‖f_pc‖²) in one problem for all classes, each against the rest.
        With ``nu`` or ``GroupNorm(shared=False)`` each class chooses by itself. Bounds for "rkhs"
        and "group" hold over all functions in all RKHSs, and the kernels must be positive
        semi-definite. Pass a :class:`~cgboost.penalties.Penalty` to set its parameters, such as the
        cost of the norm of a kernel: ``ElasticNet(0.9)``, ``RKHS({"linear": 0.5})``,
        ``GroupNorm({"linear": 0.5})``. See docs/methods/multiple_kernel_learning.md.
    coef : {"free", "nonneg"}, default="free"
        Sign constraint on α. "nonneg" weighs {+K, −K} unless the library has ``negation=False``.
        "rkhs" and "group" require "free".
    centers : {"rows", "free"}, default="rows"
        Centres z of the columns K(·, z): training rows, or any points ("free"). Free centres start
        as means of rows and are optimised together, in stages with more and more centres. Each
        stage is a round and replaces the one before. This needs penalty="rkhs", dense numeric rows
        and kernels with a gradient with respect to the centre (kernels of inner products or
        distances; your own kernels need a method ``centre_gradient(X, Z, weights)``). Far fewer
        columns then reach the accuracy of the support vector machine
        (docs/studies/free_centres/page.md), and the bound is still a bound on its optimum. Columns
        of a data frame that no kernel reads may contain text. With ``nu``, each stage is optimised
        at the margin of the previous stage, and the first stage is optimised twice.
        ``random_state`` determines the starting means.
    offset : {"none", "penalized", "free"}, default="free"
        The offset b: absent, penalised like a coefficient, or free.
    class_weight : dict, "balanced" or None, default=None
        Factors for the weights of the rows of each class. With more than two classes, they apply
        in the problem of every class. "balanced" means n_rows/(n_classes · rows of the class), by
        weight if rows have weights. A dict gives the weight of each label; missing labels have 1.
    probability : bool, "sigmoid" or "isotonic", default=False
        Calibrate class probabilities on held-out rows, by Platt's sigmoid (also for True) or by an
        increasing step function. Each class is calibrated against the rest and the results are
        divided by their sum. With early stopping, its validation rows are used. Otherwise the
        outputs are out-of-fold: five more fits, each on four fifths of the rows, without callbacks;
        ``random_state`` (None means 0) determines the stratified folds. The calibration uses sample
        weights but not class weights. As in scikit-learn's SVC, ``predict`` is unchanged and may
        contradict probabilities near one half. True has no effect with log loss and exponential
        loss, whose outputs are half the log-odds. ``verbose=1`` shows only the fit of the model, 2
        adds a line for each of the other fits.
    priority : {"full", "stratified", "strict"}, default="full"
        Order in which columns are scored; the optimum is the same. "full" scores all columns every
        round and adds the best ones. The others score fewer columns per round and prefer the first
        kernels of the library, rows inside the margin before all rows. "strict", the order of the
        paper, leaves a kernel when none of its columns prices out, so that a fit that is cut short
        may have columns of the first kernel alone; "stratified" leaves it when they violate less
        than half as much as those of the others. Both are slower than "full", and need more columns
        (docs/studies/mnist/page.md). With penalty="rkhs" or "group", all columns are scored.
    columns_per_round : int, "all" or None
        Maximum number of columns generated per round. None means 2 % of the training rows, at most
        400, and at least 20 without early stopping and ``max_columns``. 1 is exactly the algorithm
        of the paper, with restricted problems solved to their optimum. "all" adds every column that
        prices out, from every kernel. With penalty="l2", nearly every column has a nonzero
        coefficient at the optimum: None then means "all" for up to 3000 columns (rows × kernels),
        without early stopping or ``max_columns``, and "all" is the fastest choice for more if they
        fit into memory. With penalty="l1" it costs more than it saves. With penalty="rkhs", a hinge
        or a tube and a free offset, None means that there are no rounds, under the same conditions:
        libsvm solves the problem over all functions, and rounds follow only if its certified gap is
        above ``tol``.
    max_columns : int or None
        Maximum number of generated columns (per class, where each has a fit). The last round may
        be smaller to stay within it. Some generated columns end up with the coefficient 0, and
        ``n_columns_`` may then be smaller. With centers="free", the number of centres of the last
        stage; None means a quarter of the rows, at most 200, and ``stop_reason_`` is then
        "column_limit", as planned. With penalty="group", the number of kernels; with "rkhs", the
        number of rows, each of which is a column of every kernel.
    tol : float, default=1e-4
        Stop at this certified duality gap, relative to the objective, or, if that is larger, to
        min(1, objective of the model without columns). Gaps below 1e-10 count as 0: ``tol=0`` asks
        for the optimum up to rounding errors.
    time_limit : float or None
        Seconds for the fit. With several classes, the remaining time is shared evenly. Solvers that
        cannot be interrupted, such as PIQP, may exceed it by one solve. The first round is always
        completed; its model has no columns yet, or those that a part of the rows has led to, and
        no gap where the time is over before the first pass over the kernels is.
    solver : str, default="auto"
        "auto" or one of the names in ``solvers.available_backends()``.
    solver_options : dict or None
        Options of the named solver, under the solver's names: ``{"simplex_scale_strategy": 4}`` for
        ``solver="highs"``. They override the engine's settings. Time limits are rejected, see
        docs/user_guide/how_to_solvers.md.
    early_stopping : bool or str, default=False
        Stop when the validation score on ``eval_set`` has not improved for ``n_iter_no_change``
        rounds. The model is then the round with the best score, however the loop ends. Without an
        ``eval_set``, ``validation_fraction`` of the training rows is held out. True watches the
        first score of the first set; a string names the column of ``history_`` to watch, such as
        "validation_error" or "test_roc_auc".
    validation_fraction : float, default=0.1
        Share of the rows that early stopping holds out.
    n_iter_no_change : int, default=10
        Number of rounds without a better score after which early stopping stops.
    cache_size : float, default=1000
        Memory limit in megabytes for the kernel columns held during pricing; columns that do not
        fit are recomputed when they are scored. With penalty="group", the limit covers the kernel
        matrices, of 4·n_rows² bytes each, and the working memory of the interior point method, ten
        times that: the default holds 19 kernels of 3000 rows. If three do not fit, ``fit`` raises
        an error. The library and the rows are not counted.
    executor : Executor, concurrent.futures.Executor or None
        Where pricing passes run: a :class:`~cgboost.parallel.ThreadExecutor`, any executor of
        ``concurrent.futures``, or ``DaskExecutor(client)``. None uses as many threads as linear
        algebra may use.
    scoring : str, callable, list or dict of them, or None
        Additional scores, computed every round on every ``eval_set``: names of scikit-learn's
        scorers, such as "roc_auc", or functions ``scorer(estimator, X, y)``, greater is better.
        They precede the error rate. A scorer without a name is called "score". With one run per
        class, scorers see the labels 1 for this class and 0 for the rest.
    callbacks : list of callables or None
        Each is called with every :class:`~cgboost.generation.Round`. A true return value stops the
        fit (with more than two classes: the fit of that class).
    verbose : int, default=0
        1 shows a live line on the standard error stream or in a notebook, with the progress of the
        gap towards ``tol``, the scores and the remaining time. 2 also writes a line for every
        round, with the columns generated in it.
    random_state : int, RandomState or None
        Determines the rows that early stopping holds out (None: different rows in each fit), the
        folds of ``probability``, and the starting points of free centres.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_weight_ : ndarray of shape (n_classes,)
        The factors by which the weights of the rows of each class were multiplied.
    calibration_ : dict
        How probabilities were calibrated: method, rows (which kind), n_rows and n_fits (number of
        additional fits). Only with ``probability``.
    column_weights_, dual_coef_ : ndarray of shape (n_columns,)
        Nonzero coefficients, in the order of ``columns_``.
    centers_ : ndarray of shape (n_columns, n_features)
        The centre of each column in the units of X; nan for features that its kernel does not
        read (``On``). Only with centers="free".
    kernel_weights_ : dict of str to float, or to ndarray of shape (n_classes,)
        w_p‖f_p‖ divided by their sum, where w_p is s_p times the weight of the kernel. With these
        weights as η, the model is the support vector machine with the kernel Σ_p η_p K_p/w_p²,
        that of every class where classes share the kernels; otherwise there is a weight for each
        class. Only with penalty="group".
    library_ : KernelLibrary
        The library, with the kernel widths computed from the training rows:
        ``library_.kernels["rbf"].gamma``; ``library_.get_params()`` lists all parameters.
    margin_ : float, or ndarray of shape (n_classes,) with more than two classes
        The margin ρ chosen by the model; only with ``nu``. Outputs divided by it have the same
        scale as the outputs of models with C.
    intercept_ : float, or ndarray of shape (n_classes,) with more than two classes
    columns_ : dict of str to ndarray
        Table of the model: kernel, row (of the X given to ``fit``; −1 for a free centre),
        coefficient, round, sign (and class).
    n_columns_ : int
        Number of columns with a nonzero coefficient.
    columns_per_kernel_ : dict of str to int
    objective_, dual_bound_, gap_ : float
        Objective, certified lower bound (−inf without a certificate) and relative gap of the
        model. With a fit for each class: the sums, and the largest gap. With float32 rows, all
        three refer to columns rounded to float32, see docs/user_guide/bounds.md.
    converged_ : bool
        Whether ``gap_ ≤ tol``.
    history_ : dict of str to ndarray
        One entry per round: round, columns, active, objective, bound, gap, evaluated, stratum,
        seconds, master_seconds, pricing_seconds (and class, and the scores on each set of
        ``eval_set``: validation_error, …).
    best_round_ : int, or list of int with more than two classes
        The round used as the model: the last one, unless early stopping chose an earlier one.
    stop_reason_ : str, or list of str with more than two classes
        A value of :class:`~cgboost.generation.StopReason`.
    n_iter_ : int
        Number of rounds of all classes together.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    After Ctrl-C, the last complete round is kept and a ``ConvergenceWarning`` is issued. With more
    than two classes, those not yet reached have only their offset. After one Ctrl-C, a
    ``GridSearchCV`` or ``cross_val_score`` therefore continues with its next fit. To end the
    search, press Ctrl-C again before that fit completes its first round, or kill the process.

    A model whose library contains a lambda cannot be pickled; use a named function defined in a
    module.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from cgboost import CGBoostClassifier, KernelLibrary, Linear, RBF
    >>> X, digit = load_digits(return_X_y=True)
    >>> library = KernelLibrary({"linear": Linear(), "rbf": RBF()}, normalize=True)
    >>> model = CGBoostClassifier(library, penalty="l1").fit(X[:500] / 16, digit[:500] % 2)
    >>> model.converged_
    True
    """

    loss: ClassificationLoss | Loss = field(default="hinge", kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    offset: Offset = field(default="free", kw_only=True)
    probability: bool | Literal["sigmoid", "isotonic"] = field(default=False, kw_only=True)

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        rows, held = super()._prepare(X, y, sample_weight, eval_set)
        penalty = get_penalty(self.penalty)
        shares = isinstance(penalty, GroupNorm) and penalty.shared and self.nu is None
        # a class without a row that counts is a constant, and no part of a joint problem
        self._fitted_jointly = shares and len(np.unique(rows.y)) == len(self.classes_)
        return rows, held

    @property
    def _link(self) -> Link | None:
        """One against the rest, also where classes share their kernels."""
        link = super()._link
        return None if link is None else replace(link, joint=False)

    def _check_parameters(self) -> None:
        check_loss_and_nu(self, CLASSIFICATION, Hinge)
        check_trade_off(self)
        super()._check_parameters()

    @property
    def _objective(self) -> Objective:
        margins = Margins(
            self.C, self.nu, free_offset=self.offset == "free", loss=get_loss(self.loss)
        )
        return margin_objective(get_penalty(self.penalty), margins)

    def _master_options(self) -> dict[str, Any]:
        return super()._master_options() | {"offset": self.offset}


@dataclass(eq=False, repr=False)
class CGBoostRegressor(TubeRegression, BaseKernelBoost):
    """Support-vector regression over a library of kernels, boosted by column generation.

    Minimises Ω(α) + C Σ_i w_i max(0, |y_i − f(x_i)| − ε) ([B] eq. 13 and 14). With ν, the model
    also chooses ε, at a price of CνW with W = Σ w_i.

    Parameters
    ----------
    library : KernelLibrary, dict, Kernel, callable, str or None
        Named kernels in order of priority. None means ``KernelLibrary({"linear": Linear(),
        "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True, standardize=True)``.
        Other forms as in :class:`CGBoostClassifier`.
    loss : str or Loss, default="epsilon_insensitive"
        "epsilon_insensitive", "squared_epsilon_insensitive", "squared_error" (kernel ridge
        regression), "absolute_error", "quantile", "expectile", "huber", "poisson", or a
        :class:`~cgboost.losses.Loss` with its parameters, such as ``Quantile(0.9)``, including
        your own. See docs/methods/losses.md.
    epsilon : float, default=0.1
        Half-width of the tube inside which errors are free, for ``loss="epsilon_insensitive"``, in
        units of y. See the notes on the scale of y.
    nu : float or None
        Let the model choose ε: at most this share of the rows (by weight) lies outside the tube,
        and at least this share lies outside or on its border. In (0, 1]; ``epsilon`` is then not
        used. With penalty="group", Ω is Σ_p s_p‖f_p‖ also with ν, not its square.
    C, penalty, coef, centers, offset, priority, columns_per_round, max_columns, tol, time_limit, \
solver, solver_options, early_stopping, validation_fraction, n_iter_no_change, scoring, \
cache_size, executor, callbacks, verbose, random_state
        As in :class:`CGBoostClassifier`; early stopping watches the mean absolute error unless
        ``scoring`` is given.

    Attributes
    ----------
    epsilon_ : float
        Half-width of the tube, given or chosen by the model.
    dual_coef_, kernel_weights_, centers_, library_, intercept_, columns_, n_columns_, \
columns_per_kernel_, objective_, \
dual_bound_, gap_, converged_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`CGBoostClassifier` with two classes; the validation scores in ``history_``
        are validation_mae and validation_mse.

    Notes
    -----
    The defaults suit a y with a standard deviation of about 1: ε is in units of y, and C weighs
    errors in these units against coefficients. For other scales of y, either scale it,
    ``TransformedTargetRegressor(CGBoostRegressor(), transformer=StandardScaler())``, or choose ε
    and C in its units.

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

    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    offset: Offset = field(default="free", kw_only=True)

    def _check_parameters(self) -> None:
        check_number("epsilon", self.epsilon, at_least=0)
        check_loss_and_nu(self, REGRESSION, EpsilonInsensitive, epsilon="epsilon")
        check_trade_off(self)
        super()._check_parameters()

    @property
    def _objective(self) -> Objective:
        penalty = get_penalty(self.penalty)
        return residual_objective(penalty, C=self.C, loss=self._loss, nu=self.nu)

    def _master_options(self) -> dict[str, Any]:
        return super()._master_options() | {"offset": self.offset}
