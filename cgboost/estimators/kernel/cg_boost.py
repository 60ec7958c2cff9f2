"""CG-Boost over libraries of kernels: regression and classification.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from cgboost.estimators.common.calibration import (
    calibrate,
    calibrated,
    check_calibration,
    check_probability,
    share_of_time,
)
from cgboost.estimators.common.certified import BaseBoost, fit_path
from cgboost.estimators.common.fit_loop import FittedRun
from cgboost.estimators.common.objective import (
    Margins,
    Objective,
    check_cost,
    check_trade_off,
    get_loss_with,
    margin_objective,
    residual_objective,
)
from cgboost.estimators.common.parameters import check_number
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.estimators.common.targets import (
    Classification,
    ClassWeight,
    OnlyWithProbabilities,
    Regression,
)
from cgboost.estimators.kernel import kernel_input
from cgboost.estimators.kernel.families import family_of
from cgboost.estimators.kernel.kernel_columns import KernelColumns, coef_of_columns
from cgboost.estimators.kernel.kernel_parameters import set_params
from cgboost.kernels import AnyLibrary, KernelLibrary
from cgboost.kernels.library import DEFAULT_LIBRARY
from cgboost.losses import EpsilonInsensitive, Hinge, Loss
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    RegressionLoss,
    get_loss,
)
from cgboost.masters.support_vector.master import Offset
from cgboost.penalties import Penalty, get_penalty


@dataclass(eq=False, repr=False)
class CGBoostClassifier(Classification, BaseBoost):
    """Soft-margin classifier over a library of kernels, boosted by column generation.

    Minimises Ω(α) + C Σ_i w_i max(0, 1 − y_i f(x_i)) with f = Σ_p Σ_j α_j^p K_p(·, x_j) + b, and
    reports a certified lower bound on the optimum over *all* columns. More than two classes are
    handled one against the rest over one shared cache of kernel columns.

    With ν instead of C the margin ρ is the model's own choice: with W = Σ w_i it minimises

        Ω(α) + Σ_i w_i max(0, ρ − y_i f(x_i)) − νWρ

    where Ω(α) is ½Σα² or, for the 1-norm, the constraint Σ|α| ≤ 1.

    Parameters
    ----------
    library : KernelLibrary, dict, Kernel, callable, str or None
        Named kernels in order of priority. None stands for ``KernelLibrary({"linear": Linear(),
        "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True, standardize=True)``. For texts,
        sparse rows of many words, "linear" had fewer errors.
        A dict such as ``{"linear": Linear(), "rbf": RBF()}`` stands for the library of it, one
        kernel or callable k(X, Z) for a library of one, a word for a ready-made one: "linear",
        "quadratic", "poly", "rbf", "matern", "rbfs" (:func:`~cgboost.kernels.as_library`). In a
        search ``library__rbf__gamma`` is the gamma of the kernel that is called "rbf".
    loss : str or Loss, default="hinge"
        What an error costs: "hinge", "squared_hinge", "log_loss", "exponential", or a
        :class:`~cgboost.losses.Loss` of labels ±1, yours perhaps; it takes the place of
        max(0, 1 − y f) above. See docs/methods/losses.md.
    C : float, default=1.0
        Cost of one unit of loss.
    nu : float or None
        Instead of C: at most this share of the rows (by weight) has a margin below ``margin_``,
        and at least this share one of at most that. In (0, 1]; with a free offset at most twice
        the share of the smaller class.
    penalty : {"l1", "l2", "elasticnet", "rkhs", "group"} or Penalty, default="l1"
        Ω(α) = Σ|α_j| (sparse), ½Σα_j² (dense at its optimum: stop at a gap, at ``max_columns`` or
        at the best validation score for a sparse model), ½Σ|α_j| + ¼Σα_j²; or a norm of the part
        f_p = Σ_j α_j^p K_p(·, x_j) of each kernel in its RKHS. "rkhs" is ½Σ_p ‖f_p‖²: the
        support vector machine of the kernel Σ_p K_p, built column by column: with several kernels
        a row that is chosen is a centre of all of them. "group" is
        Σ_p s_p‖f_p‖, multiple kernel learning: few kernels, with the weights ``kernel_weights_``,
        where s_p is the standard deviation of the rows in the RKHS, so that the scale of a kernel
        does not count; with ``nu`` it is half the square of this sum. The bounds of norms are those
        of all functions of all RKHSs, so that kernels must be positive semi-definite. A
        :class:`~cgboost.penalties.Penalty` has its parameters: ``ElasticNet(0.9)``,
        ``RKHS({"linear": 0.5})``, ``GroupNorm({"linear": 0.5})``, what the norm of a kernel costs.
        See docs/methods/multiple_kernel_learning.md.
    coef : {"free", "nonneg"}, default="free"
        Sign rule for α. "nonneg" weighs {+K, −K} unless the library has ``negation=False``. A norm
        of functions ("rkhs", "group") has none: "free".
    centers : {"rows", "free"}, default="rows"
        Which K(·, z) are columns: with training rows for z, or with any z, "free". Free centres
        start as means of the rows and are optimised together, in stages of more and more centres
        that replace each other; each stage is a round. That takes penalty="rkhs", dense numeric
        rows and kernels with a gradient by their centre (of inner products and distances; a kernel
        of your own has ``centre_gradient(X, Z, weights)``). Far fewer columns then have the
        accuracy of the support vector machine (docs/studies/free_centres/page.md), and the bound
        is still that of its optimum. Columns of a data frame that no kernel reads may hold words.
        With ``nu`` each stage is optimised at the margin of the one before, the first one twice.
        ``random_state`` chooses the first means.
    offset : {"none", "penalized", "free"}, default="free"
        The offset b: absent, penalised like a coefficient, or free.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class, with more than two classes in the problem of
        every class. "balanced": n_rows/(n_classes · rows of the class), by weight where rows have
        weights; a dict: the weight of each label, 1 for those that it leaves out.
    probability : bool, "sigmoid" or "isotonic", default=False
        Calibrate probabilities on outputs for rows that were not trained on, by Platt's sigmoid
        (True too) or a rising step function: of each class against the rest, divided by their sum.
        With early stopping these rows are those that it watches. Otherwise they are out of fold:
        five more fits, each on four fifths of the rows, without callbacks; ``random_state`` (None
        stands for 0) chooses the stratified folds. Class weights do not count for the calibration,
        sample weights do. As in scikit-learn's SVC, ``predict`` is not changed, and may contradict
        probabilities near one half. True changes nothing with log loss and exponential loss, whose
        outputs are half log-odds. ``verbose=1`` shows the model's fit alone, 2 a line for each of
        the others.
    priority : {"full", "stratified"}, default="full"
        Order in which columns are scored; the optimum is the same. "full" scores all columns every
        round and takes the best; "stratified" scores fewer columns a round and takes those of the
        first kernels of the library first, as long as they violate half as much as the others do.
        It takes longer (docs/studies/mnist/page.md). With penalty="rkhs" or "group" all are scored.
    columns_per_round : int, "all" or None
        Most columns generated in a round. None: 2 % of the training rows, at most 400; 1 is the
        algorithm of the paper to the letter. "all": every column that prices out, in whichever
        kernel. With penalty="l2" nearly every column has a nonzero coefficient at the optimum, and
        this is the fastest way to it where the kernel columns fit into memory; with penalty="l1"
        it costs more than it saves.
    max_columns : int or None
        Stop at this many generated columns (per class, with more than two), never more: the last
        round takes what there is room for. Columns come ``columns_per_round`` at a time, and some
        of those generated have the coefficient 0 in the end: ``n_columns_`` may be smaller. With
        centers="free" the number of centres of the last stage; None stands for a quarter of the
        rows, at most 200, and the fit ends there as planned, ``stop_reason_`` "column_limit". With
        penalty="group" the number of kernels, with "rkhs" that of rows, each of them a column of
        every kernel.
    tol : float, default=1e-4
        Stop at this certified duality gap, relative to the objective or, where that is below 1, to
        1. Gaps below 1e-10 count as 0, so that ``tol=0`` asks for the optimum to rounding errors.
    time_limit : float or None
        Seconds for the fit; several classes share what is left evenly. Solvers that cannot be
        interrupted, such as PIQP, overrun it by the solve they are in: there it is checked between
        solves. The first round is always completed; its model has no columns yet.
    solver : str, default="auto"
        "auto" or a name of ``solvers.available_backends()``.
    solver_options : dict or None
        Options of the solver that is named, by its own names: ``{"simplex_scale_strategy": 4}`` for
        ``solver="highs"``. They win over what the engine chooses; time limits are refused, see
        docs/user_guide/how_to_solvers.md.
    early_stopping : bool or str, default=False
        Stop when the validation score of ``eval_set`` has not improved for ``n_iter_no_change``
        rounds. However the loop ends, the model is then the round with the best score. Without an
        ``eval_set``, ``validation_fraction`` of the training rows is held out. True watches the
        first score of the first set; a word is the column of ``history_`` to watch, such as
        "validation_error" or "test_roc_auc".
    validation_fraction : float, default=0.1
        Share of the rows that early stopping holds out.
    n_iter_no_change : int, default=10
        Rounds without a better score before early stopping stops.
    cache_size : float, default=1000
        Megabytes for all that pricing holds of the kernel columns; what does not fit is computed
        again when it is scored. With penalty="group" for the kernel matrices, of 4·n_rows² bytes
        each, and what the interior point method works with, ten times as much: with 3000 rows those
        of 19 kernels. It is an error if three do not fit. Library and rows are not counted.
    executor : Executor, concurrent.futures.Executor or None
        Where pricing passes run: a :class:`~cgboost.parallel.ThreadExecutor`, any executor of
        ``concurrent.futures``, ``DaskExecutor(client)``. None: on as many threads as linear algebra
        may use.
    scoring : str, callable, list or dict of them, or None
        scikit-learn's scorers, "roc_auc" say, or yours, ``scorer(estimator, X, y)``, greater is
        better: more scores of every round on every ``eval_set``, before the error rate. One that
        has no name is called "score". With a run for each class they see this class, 1, and the
        rest, 0.
    callbacks : list of callables or None
        Each is called with every :class:`~cgboost.generation.Round`; a true return value stops
        (with more than two classes: that class).
    verbose : int, default=0
        1 shows a live line on the standard error stream, or in a notebook: how far the gap has
        come on its way to ``tol``, scores, and the time that is left. 2 writes a line for every
        round as well, with the columns that it has generated.
    random_state : int, RandomState or None
        For the rows that early stopping holds out (None: different rows in each fit), the folds of
        ``probability``, and where free centres start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_weight_ : ndarray of shape (n_classes,)
        What the weights of the rows of each class were multiplied by.
    calibration_ : dict
        How probabilities were calibrated: method, rows (what they are), n_rows and n_fits (fits
        besides that of the model). Only with ``probability``.
    dual_coef_ : ndarray of shape (n_columns,)
        Nonzero coefficients, in the order of ``columns_``; ``coef_`` is its old name.
    centers_ : ndarray of shape (n_columns, n_features)
        The centre of each column in the units of X, nan in the features that its kernel does not
        read (``On``). Only with centers="free".
    kernel_weights_ : dict of str to float, or to ndarray of shape (n_classes,)
        Only with penalty="group": w_p‖f_p‖, divided by their sum, where w_p is s_p times the weight
        of the kernel. The model is the support vector machine of the kernel Σ_p η_p K_p/w_p² with
        these for η.
    library_ : KernelLibrary
        The library with the widths that its kernels took from the training rows:
        ``library_.kernels["rbf"].gamma``; ``library_.get_params()`` has them all.
    margin_ : float, or ndarray of shape (n_classes,) with more than two classes
        The margin ρ that the model has chosen; only with ``nu``. Outputs divided by it have the
        scale of outputs of models with C.
    intercept_ : float, or ndarray of shape (n_classes,) with more than two classes
    columns_ : dict of str to ndarray
        Table of the model: kernel, row (of the X given to ``fit``; −1 for a free centre),
        coefficient, round, sign (and class).
    n_columns_ : int
        Columns with a nonzero coefficient.
    columns_per_kernel_ : dict of str to int
    objective_, dual_bound_, gap_ : float
        Objective, certified lower bound (−inf without a certificate) and relative gap of the
        model. One against the rest: the sums, and the largest gap. With float32 rows all three
        are of columns that are rounded to float32, see docs/user_guide/bounds.md.
    converged_ : bool
        Whether ``gap_ ≤ tol``.
    history_ : dict of str to ndarray
        One entry a round: round, columns, active, objective, bound, gap, evaluated, stratum,
        seconds, master_seconds, pricing_seconds (and class, and for each set of ``eval_set`` its
        scores: validation_error, …).
    best_round_ : int, or list of int with more than two classes
        The round that makes the model: the last one, unless early stopping chose an earlier one.
    stop_reason_ : str, or list of str with more than two classes
        A value of :class:`~cgboost.generation.StopReason`.
    n_iter_ : int
        Rounds, of all classes together.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    After Ctrl-C the last complete round is kept, with a ``ConvergenceWarning``. With more than two
    classes, classes that were not reached are left with their offset alone. A ``GridSearchCV`` or
    ``cross_val_score`` therefore goes on with its next fit after one Ctrl-C: press it again (before
    that fit has its first round) or kill the process to end the search.

    A model whose library holds a lambda cannot be pickled; give a function that a module defines by
    name.

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

    library: AnyLibrary = None
    loss: ClassificationLoss | Loss = field(default="hinge", kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    penalty: Literal["l1", "l2", "elasticnet", "rkhs", "group"] | Penalty = field(
        default="l1", kw_only=True
    )
    coef: Literal["free", "nonneg"] = field(default="free", kw_only=True)
    centers: Literal["rows", "free"] = field(default="rows", kw_only=True)
    offset: Offset = field(default="free", kw_only=True)
    class_weight: ClassWeight = field(default=None, kw_only=True)
    probability: bool | Literal["sigmoid", "isotonic"] = field(default=False, kw_only=True)
    priority: Literal["full", "stratified"] = field(default="full", kw_only=True)
    cache_size: float = field(default=1000.0, kw_only=True)
    executor: Any = field(default=None, kw_only=True)

    _coefficients: ClassVar[str] = "dual_coef_"
    _default_library: ClassVar[KernelLibrary] = DEFAULT_LIBRARY

    path = fit_path
    set_params = set_params
    coef_ = property(coef_of_columns)
    _validated = kernel_input.validated
    _read_new = kernel_input.read_new
    _pool = kernel_input.prepared_pool
    _calibrate = calibrate
    _share_of_time = property(share_of_time)

    @OnlyWithProbabilities
    def predict_proba(self, X: ArrayLike) -> Vector:
        """Class probabilities, shape (n_rows, n_classes); log loss, exponential or ``probability``.

        With more than two classes those of each against the rest, divided by their sum. Calibrated
        ones may contradict ``predict``, which decides by the outputs.
        """
        return calibrated(self, self._outputs(X))

    def _check_parameters(self) -> None:
        check_cost(self, CLASSIFICATION, Hinge)
        check_probability("probability", self.probability)
        check_trade_off(self)
        super()._check_parameters()
        check_calibration(self)

    @property
    def _objective(self) -> Objective:
        margins = Margins(self.C, self.nu, balanced=self.offset == "free", cost=get_loss(self.loss))
        return margin_objective(get_penalty(self.penalty), margins)

    @property
    def _family(self) -> KernelColumns:
        return family_of(self)

    def _master_options(self) -> dict[str, Any]:
        return {"coef": self._family.sign, "offset": self.offset, "solver": self.solver}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.columns_per_kernel_ = self._family.counts(self.columns_)


@dataclass(eq=False, repr=False)
class CGBoostRegressor(Regression, BaseBoost):
    """Support-vector regression over a library of kernels, boosted by column generation.

    Minimises Ω(α) + C Σ_i w_i max(0, |y_i − f(x_i)| − ε) ([B] eq. 13 and 14). With ν, ε is the
    model's own choice at a price of CνW, where W = Σ w_i.

    Parameters
    ----------
    library : KernelLibrary, dict, Kernel, callable, str or None
        Named kernels in order of priority. None stands for ``KernelLibrary({"linear": Linear(),
        "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True, standardize=True)``.
        Or what stands for one, as in :class:`CGBoostClassifier`.
    loss : str or Loss, default="epsilon_insensitive"
        What an error costs: "epsilon_insensitive", "squared_epsilon_insensitive",
        "squared_error" (kernel ridge regression), "absolute_error", "quantile", "huber",
        "poisson", or a :class:`~cgboost.losses.Loss` with its parameters, such as
        ``Quantile(0.9)``, yours perhaps. See docs/methods/losses.md.
    epsilon : float, default=0.1
        Half width of the tube inside which errors are free, for ``loss="epsilon_insensitive"``, in
        units of y. See the notes on the scale of y.
    nu : float or None
        Let the model choose ε: at most this share of the rows (by weight) lies outside the tube,
        at least this share outside or on its border. In (0, 1]; ``epsilon`` is then not used. With
        penalty="group" it is Σ_p s_p‖f_p‖ with ν, too, and not its square.
    C, penalty, coef, centers, offset, priority, columns_per_round, max_columns, tol, time_limit, \
solver, solver_options, early_stopping, validation_fraction, n_iter_no_change, scoring, \
cache_size, executor, callbacks, verbose, random_state
        As in :class:`CGBoostClassifier`; early stopping watches the mean absolute error, unless
        there is ``scoring``.

    Attributes
    ----------
    epsilon_ : float
        Half width of the tube, given or chosen.
    dual_coef_, kernel_weights_, centers_, library_, intercept_, columns_, n_columns_, \
columns_per_kernel_, objective_, \
dual_bound_, gap_, converged_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`CGBoostClassifier` with two classes; the validation scores in ``history_``
        are validation_mae and validation_mse.

    Notes
    -----
    The defaults suit a y of standard deviation about 1: ε is in units of y, and C weighs errors in
    these units against coefficients. Where y is far from that, scale it,
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

    library: AnyLibrary = None
    loss: RegressionLoss | Loss = field(default="epsilon_insensitive", kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    penalty: Literal["l1", "l2", "elasticnet", "rkhs", "group"] | Penalty = field(
        default="l1", kw_only=True
    )
    coef: Literal["free", "nonneg"] = field(default="free", kw_only=True)
    centers: Literal["rows", "free"] = field(default="rows", kw_only=True)
    offset: Offset = field(default="free", kw_only=True)
    priority: Literal["full", "stratified"] = field(default="full", kw_only=True)
    cache_size: float = field(default=1000.0, kw_only=True)
    executor: Any = field(default=None, kw_only=True)

    _coefficients: ClassVar[str] = "dual_coef_"
    _default_library: ClassVar[KernelLibrary] = DEFAULT_LIBRARY

    path = fit_path
    set_params = set_params
    coef_ = property(coef_of_columns)
    _validated = kernel_input.validated
    _read_new = kernel_input.read_new
    _pool = kernel_input.prepared_pool

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
        return family_of(self)

    def _master_options(self) -> dict[str, Any]:
        return {"coef": self._family.sign, "offset": self.offset, "solver": self.solver}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.columns_per_kernel_ = self._family.counts(self.columns_)
