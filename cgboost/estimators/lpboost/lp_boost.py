"""LPBoost over stumps and learners.

LPBoost is totally corrective boosting over decision stumps or any weak learner.

Demiriz, Bennett, Shawe-Taylor, *Linear Programming Boosting via Column Generation*, Machine
Learning 46, 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.calibration import CalibratedClassification
from cgboost.estimators.common.certified import BoostOverCosts, CostByRows, TubeRegression
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.objective import (
    FORMULATIONS,
    PENALTIES_OF,
    ColumnFamily,
    FormulationName,
    Margins,
    Objective,
    check_loss_and_nu,
    check_trade_off,
    cost_of_labels,
    margin_objective,
    residual_objective,
)
from cgboost.estimators.common.parameters import check_choice, check_count, check_number
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.generation.protocols import Pricer
from cgboost.losses import EpsilonInsensitive, Hinge, Loss
from cgboost.losses.registry import CLASSIFICATION, REGRESSION, ClassificationLoss, get_loss
from cgboost.masters.support_vector.support_vector_master import Offset
from cgboost.pricing.learners.learners import LearnerPricer, check_learner
from cgboost.pricing.learners.sign_trees import SignTreePricer
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.univariate.stumps import StumpPool

FEWEST_STUMPS = 20
"""Stumps a round at least: they are cheap next to a round (measured on breast cancer)."""
MOST_ENTRIES_AT_ONCE = 10**7
"""A 2-norm has a weight for nearly every stump at its optimum: so many rows times stumps are best
taken at once. Breast cancer with ν has 765 rounds with 20 stumps each, and two with all of them."""
TREES_PER_ROUND = 5
"""Trees a round: with one, the greedy search ends at a worse objective (up to 30 % on Pima and
Spambase, depths 2 and 4), and ten take longer."""


@dataclass(frozen=True)
class StumpColumns(ColumnFamily):
    """All decision stumps: every threshold of every feature, and the constant."""

    to_the_end: bool = False
    """Whether no round but the last is of use."""

    def check(self) -> None:
        """There is nothing to check."""

    def pool(self, rows: TrainingRows) -> StumpPool:
        """The sorted features."""
        return StumpPool(rows.X)

    def pricer(self, pool: StumpPool, tol: float) -> Pricer:
        """A scan of all stumps."""
        return StrataPricer(pool, tol=tol)

    def columns_per_round(self, pool: StumpPool, n_rows: int) -> int:
        """A share of the rows, and some at least."""
        return max(FEWEST_STUMPS, super().columns_per_round(pool, n_rows))

    def expected_columns(self, pool: StumpPool) -> int:
        """All of them, or as many as a vertex has: at most one for each row.

        A fit that is cut off is led to better stumps by the prices of an interior point.
        """
        return min(pool.size(0), len(pool.X)) if self.to_the_end else 0

    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """Feature and threshold of each stump."""
        return {
            "feature": np.array([stump.feature for stump in functions], dtype=np.intp),
            "threshold": np.array([stump.threshold for stump in functions], dtype=float),
        }


class AllStumps(StumpColumns):
    """Stumps for a penalty that gives a weight to nearly every one of them."""

    def columns_per_round(self, pool: StumpPool, n_rows: int) -> int:
        """All of them, or as many as are quickly told apart."""
        at_once = min(pool.size(0), MOST_ENTRIES_AT_ONCE // n_rows)
        return max(at_once, super().columns_per_round(pool, n_rows))


@dataclass(frozen=True)
class LearnerColumns(ColumnFamily):
    """What a weak learner makes of the pseudo-response: found greedily, without a bound."""

    estimator: Any
    random_state: Any
    tol: float

    def check(self) -> None:
        """The learner must fit weighted rows."""
        check_learner("estimator", self.estimator)

    def pool(self, rows: TrainingRows) -> LearnerPricer:
        """The learner, with its sequence of seeds."""
        return LearnerPricer(self.estimator, rows.X, tol=self.tol, random_state=self.random_state)

    def pricer(self, pool: LearnerPricer, tol: float) -> Pricer:
        """One for all runs."""
        return pool

    def columns_per_round(self, pool: LearnerPricer, n_rows: int) -> int:
        """One: the seed alone rarely makes two learners differ."""
        return 1

    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """Number and scale of each learner."""
        return {
            "estimator": np.arange(len(functions)),
            "scale": np.array([learner.scale for learner in functions], dtype=float),
        }

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """The learners, numbered in the table."""
        learners = [h.estimator for run in runs for output in run.outputs for h in output.active]
        table["estimator"] = np.arange(len(learners))
        return {"estimators_": learners}


@dataclass(frozen=True)
class SignTreeColumns(LearnerColumns):
    """Trees of some depth that say −1 or 1, grown greedily on bins of the features."""

    max_depth: int

    def check(self) -> None:
        """There is nothing to check."""

    def pool(self, rows: TrainingRows) -> SignTreePricer:
        """The features in bins."""
        return SignTreePricer(rows.X, self.max_depth, tol=self.tol)

    def columns_per_round(self, pool: LearnerPricer, n_rows: int) -> int:
        """Several that differ."""
        return TREES_PER_ROUND


def stump_importances(table: Table, n_features: int) -> NDArray[np.float64]:
    """Share of Σ|coefficient| that the stumps on each feature have, shape (n_features,)."""
    if "feature" not in table:
        raise AttributeError("feature_importances_ exists for decision stumps only")
    places = table["feature"] >= 0
    sizes = np.bincount(
        table["feature"][places],
        weights=np.abs(table["coefficient"][places]),
        minlength=n_features,
    )
    return sizes / (sizes.sum() or 1.0)


DEFAULT_MARGIN = 0.01
"""The margin that rows should have with formulation="nm"."""


@dataclass(eq=False, repr=False)
class BaseLPBoost(CostByRows, BoostOverCosts):
    """Boosting of stumps, or of any weak learner."""

    estimator: Any = None
    max_depth: int = field(default=1, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    formulation: FormulationName = field(default="lp", kw_only=True)
    offset: Offset = field(default="none", kw_only=True)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of Σ|coefficient| that the stumps on each feature have; the constant has none.

        Shape (n_features,). All zero for a model without stumps; only for stumps
        (``estimator=None``).
        """
        check_is_fitted(self)
        return stump_importances(self.columns_, self.n_features_in_)

    @property
    def _family(self) -> StumpColumns | LearnerColumns:
        if self.estimator is None and self.max_depth > 1:
            return SignTreeColumns(None, self.random_state, self._tol, self.max_depth)
        if self.estimator is None:
            # where no round but the last is of use, None means as many as make the fit quick
            watched = self.early_stopping or self.columns_per_round is not None
            if self.formulation == "qp" and not watched and self.max_columns is None:
                return AllStumps()
            return StumpColumns(to_the_end=not watched)
        return LearnerColumns(self.estimator, self.random_state, self._tol)

    def _check_parameters(self) -> None:
        check_count("max_depth", self.max_depth)
        if self.estimator is not None and self.max_depth != 1:
            raise ValueError(
                f"max_depth={self.max_depth} is the depth of our own trees, for estimator=None; "
                f"got {self.estimator!r}, which has its own limits"
            )
        super()._check_parameters()

    def _master_options(self) -> dict[str, Any]:
        return {"offset": self.offset, "solver": self.solver}


@dataclass(eq=False, repr=False)
class LPBoostClassifier(CalibratedClassification, BaseLPBoost):
    """Soft-margin boosting of decision stumps, certified, or of any weak learner, greedily.

    Minimises Ω(α) + C Σ_i w_i max(0, 1 − y_i f(x_i)) with f = Σ_j α_j h_j + b over *all* decision
    stumps: every threshold of every feature, in both directions, and the constant. The bound then
    holds over all stumps. Deeper trees and other weak learners are found greedily, and there is no
    bound: ``gap_`` is inf. More than two classes are handled one-vs-rest or jointly.

    With margins m_i = y_i f(x_i), the formulations are

    ========  ========================================================  ===================
    "lp"      min Σ|α| + C Σ w_i max(0, 1 − m_i)                        LPBoost, with C
    "lp", ν   min Σ w_i max(0, ρ − m_i) − νWρ,  Σ|α| ≤ 1                LPBoost, with ν
    "qp"      as "lp" with ½Σα² for Σ|α| (with ν: without Σ|α| ≤ 1)     CG-Boost
    "erlp"    as "lp", ν, the dual weights regularised by entropy       ERLPBoost
    "qrlp"    as "lp", ν, the dual weights regularised by squares       QRLP-Boost
    "md"      min Σ w_i ½(1 − m_i)²,  Σ|α| ≤ C                          MD-Boost
    "nm"      min Σ w_i (max(0, θ − m_i) + C(θ − m_i)),  Σ|α| ≤ 1       NM-Boost
    ========  ========================================================  ===================

    where ρ is the margin chosen by the model and W = Σ w_i (docs/methods/lpboost.md has the
    sources).

    The joint form has an output f_c = Σ_j α_jc h_j for each class c, and a margin
    m_ic = f_{y_i}(x_i) − f_c(x_i) for each row and each other class. All formulations apply to
    these margins, each with the weight w_i (Weston and Watkins, ESANN 1999, with the 1-norm for
    "lp"):

        min Σ|α| + C Σ_i w_i Σ_{c≠y_i} max(0, 1 − (f_{y_i}(x_i) − f_c(x_i)))

    Parameters
    ----------
    estimator : classifier, regressor or None
        None means exact decision stumps, or trees of a larger ``max_depth``. A classifier must
        accept ``sample_weight`` in its ``fit``. It is fitted to the signs of the pseudo-response,
        weighted by the absolute values, and contributes −1 or 1. A regressor is fitted to the
        pseudo-response and contributes its predictions, scaled to a maximum of 1 on the training
        rows.
    loss : str or Loss, default="hinge"
        As in :class:`CGBoostClassifier`; for ``formulation`` "lp" and "qp".
    max_depth : int, default=1
        Without an ``estimator``, the depth of the trees. Those deeper than stumps say −1 or 1, are
        grown greedily on features cut into 255 bins, five different ones a round, and there is no
        bound. Where one tree can be right on all rows, it is the whole model: take less depth.
    C : float or None, default=None
        Cost of one unit of margin error; for "md", the size of the model; for "nm", the value of a
        margin. None means 3/√(Σ w g²) for "lp", with the derivatives g of the loss at f = 0 less
        their mean: a fixed share of what noise gains, for any loss, number and weights of rows
        (:doc:`/studies/defaults/page`). For the hinge and two classes of n_1 and n_2 rows that is
        3/√(4·n_1·n_2/(n_1 + n_2)). For other formulations None means 1. For a small C the all-zero
        model is optimal, which is reported as a :class:`~cgboost.exceptions.TrivialModelWarning`.
        ``sample_weight`` multiplies C, row by row: with weights that sum to 1, a C of your own must
        be n_rows times as large. Not with ``nu``.
    nu : float or None
        Instead of C for "lp" and "qp"; required for "erlp" and "qrlp". At most this share of the
        rows has a margin below ``margin_``, and at least this share has a margin of at most
        ``margin_``. In (0, 1]. The all-zero model is optimal if no combination has a positive
        margin.
    formulation : {"lp", "qp", "erlp", "qrlp", "md", "nm"}, default="lp"
        What is minimised, see above. "lp" and "nm" are linear programs; "qp", "qrlp" and "md" are
        quadratic programs; "erlp" is solved by Newton's method, one quadratic program per step.
    eta : float or None
        For "erlp" and "qrlp": the larger, the weaker the regularisation. None means
        200·log(1/ν), which costs "erlp" at most 0.005 of the soft margin.
    margin : float or None
        For "nm": the target margin θ, for a model with Σ|α| = 1. None means 0.01.
    offset : {"none", "penalized", "free"}, default="none"
        The offset b. "none" leaves it to the weak learners: the constant is one of the stumps and
        costs as much as any other, so for stumps "penalized" gives the same model.
    multi_class : {"ovr", "joint"}, default="ovr"
        With more than two classes: one problem per class against the rest, or one problem with the
        margins of all pairs, which bounds and certifies the model as a whole. The joint problem has
        n_classes − 1 times as many rows as the training data and needs ``offset="none"``; with
        ``nu``, the shares are shares of the pairs. Two classes are always one problem.
    columns_per_round : int or None
        Columns added per round. None means 2 % of the rows (at least 20) for stumps, 5 for trees
        of a ``max_depth`` and 1 for other learners, for each class. With ``formulation="qp"``,
        which gives a weight to nearly every stump, None means all stumps (of many rows: 10 million
        values of them), if neither ``max_columns`` nor early stopping ends the fit sooner. Several
        learners per round are fitted with different seeds.
    max_columns : int or None
        Maximum number of generated columns (with one-vs-rest: per class), as in
        :class:`CGBoostClassifier`.
    tol : float, default=1e-4
        Stop at this certified relative duality gap. With a greedy learner, stop when its column
        would change the objective by less.
    class_weight, probability, time_limit, solver, solver_options, early_stopping, \
validation_fraction, n_iter_no_change, scoring, callbacks, verbose
        As in :class:`CGBoostClassifier`.
    random_state : int, RandomState or None
        Determines the rows that early stopping holds out, the folds of ``probability``, and the
        seeds of the weak learners, replacing their own ``random_state``.

    Attributes
    ----------
    C_ : float
        The C given or chosen; it has no effect with ``nu``.
    columns_ : dict of str to ndarray
        Table of the model. Stumps: feature and threshold of h(x) = 1 if x[feature] > threshold,
        else −1 (feature −1 and threshold −inf: the constant), coefficient, round (and class). Weak
        learners: estimator (its index in ``estimators_``), the scale of its predictions,
        coefficient, round (and class).
    estimators_ : list of estimator
        The fitted weak learners; not for stumps.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in Σ|coefficient|; only for stumps.
    margin_ : float, or ndarray of shape (n_classes,) with more than two classes
        The margin ρ chosen by the model; only with ``nu``. One number for joint problems.
    classes_, class_weight_, calibration_, column_weights_, intercept_, n_columns_, objective_, \
dual_bound_, gap_, converged_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`CGBoostClassifier`. With a greedy learner, dual_bound_ is −inf, gap_ is inf,
        converged_ is False, and stop_reason_ is "no_column" at best. A joint problem has one run,
        and history_, best_round_ and stop_reason_ are as with two classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgboost import LPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LPBoostClassifier(C=1.0, tol=1e-6).fit(X, y)
    >>> model.converged_, round(model.objective_, 3)
    (True, 6.996)
    """

    loss: ClassificationLoss | Loss = field(default="hinge", kw_only=True)
    eta: float | None = field(default=None, kw_only=True)
    margin: float | None = field(default=None, kw_only=True)
    multi_class: Literal["ovr", "joint"] = field(default="ovr", kw_only=True)
    probability: bool | Literal["sigmoid", "isotonic"] = field(default=False, kw_only=True)

    def _check_parameters(self) -> None:
        check_loss_and_nu(self, CLASSIFICATION, Hinge)
        check_trade_off(self, is_optional=True)
        check_choice("formulation", self.formulation, FORMULATIONS)
        check_number("eta", self.eta, above=0, optional=True)
        check_number("margin", self.margin, at_least=0, optional=True)
        check_choice("multi_class", self.multi_class, ("ovr", "joint"))
        if self.multi_class == "joint" and self.offset != "none":
            raise ValueError(
                f'multi_class="joint" needs offset="none", got {self.offset!r}: with stumps the '
                "constant is a column of every class"
            )
        if self.formulation not in ("lp", "qp") and self.loss != "hinge":
            raise ValueError(
                f"formulation={self.formulation!r} has its own loss; loss={self.loss!r} goes "
                'with "lp" and "qp"'
            )
        if self.formulation in ("erlp", "qrlp") and self.nu is None:
            raise ValueError(f"formulation={self.formulation!r} needs nu, got nu=None")
        for name, value, users in (
            ("nu", self.nu, ("lp", "qp", "erlp", "qrlp")),
            ("eta", self.eta, ("erlp", "qrlp")),
            ("margin", self.margin, ("nm",)),
        ):
            if value is not None and self.formulation not in users:
                raise ValueError(
                    f"formulation={self.formulation!r} has no use for {name}={value:g}; it belongs "
                    f"to {', '.join(users)}"
                )
        super()._check_parameters()

    def _cost_by_rows(self, rows: TrainingRows) -> float:
        if self.formulation != "lp":
            return 1.0
        return cost_of_labels(self._target_kind.of_runs(rows.y), rows.weights, get_loss(self.loss))

    @property
    def _objective(self) -> Objective:
        margins = Margins(
            self._chosen_cost,
            self.nu,
            free_offset=self.offset == "free",
            eta=self.eta,
            margin=DEFAULT_MARGIN if self.margin is None else self.margin,
            loss=get_loss(self.loss),
        )
        return margin_objective(self.formulation, margins)


@dataclass(eq=False, repr=False)
class LPBoostRegressor(TubeRegression, BaseLPBoost):
    """Support-vector boosting of decision stumps, certified, or of any weak learner, greedily.

    Minimises Ω(α) + C Σ_i w_i max(0, |y_i − f(x_i)| − ε) with f = Σ_j α_j h_j + b.

    Parameters
    ----------
    estimator : classifier, regressor or None
    max_depth : int, default=1
        As in :class:`LPBoostClassifier`.
    offset : {"none", "penalized", "free"}, default="free"
        The offset b; free by default because targets may have any mean.
    loss : str or Loss, default="epsilon_insensitive"
        As in :class:`CGBoostRegressor`.
    epsilon : float, default=0.1
        Half-width of the tube inside which errors are free.
    nu : float or None
        Let the model choose ε, at a cost: at most this share of the rows lies outside the tube.
        In (0, 1]; ``epsilon`` is then not used.
    C : float or None, default=None
        Cost of one unit of loss, above 0. None means 1.5/√(Σ w g²), with the derivatives g of the
        loss at the best constant: a fixed share of what noise gains, for any loss, number of rows
        and units (:doc:`/studies/defaults/page`). That is about 1.5/√Σw for absolute errors, and
        1.5/(σ√Σw) for the squared error, with the standard deviation σ of y. Weights count like
        repeated rows: scale them to mean 1. With ``formulation="qp"``, None means 1.
    formulation : {"lp", "qp"}, default="lp"
        Ω(α) = Σ|α| (a linear program, sparse) or ½Σα² (a quadratic program, dense).
    columns_per_round, max_columns, tol, time_limit, solver, solver_options, early_stopping, \
validation_fraction, n_iter_no_change, scoring, callbacks, verbose, random_state
        As in :class:`LPBoostClassifier`; early stopping watches the mean absolute error.

    Attributes
    ----------
    C_ : float
        The cost of one unit of loss, given or chosen.
    epsilon_ : float
        Half-width of the tube, given or chosen by the model.
    columns_, estimators_, feature_importances_, column_weights_, intercept_, n_columns_, \
objective_, dual_bound_, gap_, converged_, history_, best_round_, stop_reason_, n_iter_, \
n_features_in_, feature_names_in_
        As in :class:`LPBoostClassifier` with two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import LPBoostRegressor
    >>> x = np.linspace(-3, 3, 60)[:, None]
    >>> model = LPBoostRegressor(C=10.0, tol=1e-6).fit(x, np.sin(x[:, 0]))
    >>> bool(np.abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.11)
    True
    """

    formulation: Literal["lp", "qp"] = field(default="lp", kw_only=True)
    offset: Offset = field(default="free", kw_only=True)

    def _check_parameters(self) -> None:
        check_number("epsilon", self.epsilon, at_least=0)
        check_loss_and_nu(self, REGRESSION, EpsilonInsensitive, epsilon="epsilon")
        check_trade_off(self, is_optional=True)
        check_choice("formulation", self.formulation, ("lp", "qp"))
        super()._check_parameters()

    def _cost_by_rows(self, rows: TrainingRows) -> float:
        return self._family.usual_cost(rows, self._loss) if self.formulation == "lp" else 1.0

    @property
    def _objective(self) -> Objective:
        penalty, C = PENALTIES_OF[self.formulation], self._chosen_cost
        return residual_objective(penalty, C=C, loss=self._loss, nu=self.nu)
