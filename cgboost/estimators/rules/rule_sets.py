"""Rule sets: few weighted conjunctions of conditions, with a bound over all conjunctions.

Dash, Günlük and Wei, *Boolean Decision Rules via Column Generation*, NeurIPS 2018, price
conjunctions by an integer program; Demiriz, Bennett and Shawe-Taylor, *Linear Programming Boosting
via Column Generation*, Machine Learning 46, 2002, is the master.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.calibration import (
    calibrate,
    calibrated,
    check_probability,
    share_of_time,
)
from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.objective import (
    Margins,
    Objective,
    check_task_and_loss,
    margin_objective,
    residual_objective,
    simplex_if_linear,
)
from cgboost.estimators.common.parameters import check_choice, check_number
from cgboost.estimators.common.plan import Subproblem
from cgboost.estimators.common.targets import (
    Classification,
    ClassWeight,
    OnlyWithProbabilities,
    Regression,
)
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows, Vector
from cgboost.estimators.rules import rule_text
from cgboost.estimators.rules.budget import (
    certified_runs,
    check_budgets,
    chosen_selection,
    is_budgeted,
    selecting,
    selecting_by_errors,
)
from cgboost.estimators.rules.rule_columns import family_of, prepare, read_new
from cgboost.losses import Loss
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    RegressionLoss,
    get_loss,
)
from cgboost.penalties import L1, L2, Penalty

SHRUNK_COST, WEIGHTED_COST = 0.1, 1.0
"""C by default: for rules chosen by the loss, and for rules chosen by the errors of equal votes, of
which smaller values would change the signs of too many outputs."""

Pricing = Literal["exact", "greedy"]

FEWER_COSTS = "a larger value may change that, or a smaller rule_cost or condition_cost"


@dataclass(eq=False, repr=False)
class RuleSetClassifier(Classification, BaseBoost):
    """A few weighted rules that classify, and a bound on all rule sets within the budget.

    A rule is a conjunction of at most ``max_conditions`` conditions: h(x) = 1 if all hold, else
    0. Conditions are thresholds of numbers in either direction, categories and their negations, and
    whether a value is missing. With the output f = Σ_j α_j h_j + b, the cost
    c = rule_cost + condition_cost·(number of conditions) of a rule, and a budget,

        min  C Σ_i w_i loss(y_i, f_i) + ½Σ α_j²    over sets of rules within the budget

    is solved one rule at a time; all weights are refitted after each. ``dual_bound_`` is a lower
    bound on the objective of *any* set of rules within the budget (:doc:`/user_guide/rule_sets`
    has the argument), and ``gap_`` is the relative distance to it. Without a budget
    (``max_total_conditions=None`` and ``max_rules=None``),

        min  C Σ_i w_i loss(y_i, f_i) + Σ_j c_j |α_j|    over all rules

    is solved to a gap of ``tol``; with ``loss="hinge"``, this is LPBoost. More than two classes are
    handled one-vs-rest, each class with its own rules and budget.

    Parameters
    ----------
    max_total_conditions : int or None, default=16
        Maximum number of conditions in all rules together.
    max_rules : int or None
        Maximum number of rules.
    max_conditions : int, default=3
        Maximum number of conditions in a rule.
    C : float or None, default=None
        Cost of one unit of loss. With a budget, a rule that holds for n rows is shrunk about as
        much as by 1/C additional uninformative rows. None means 0.1, and 1 for rules selected by
        errors. ``sample_weight`` multiplies it, row by row.
    selection : {"auto", "loss", "errors"}, default="auto"
        How rules are selected within a budget. "loss" adds one rule at a time, the one that lowers
        the objective most for its cost. "errors" selects all rules together by the errors of their
        votes on the training rows, replaces each as long as that helps, and then finds the weights;
        rules have one condition unless longer rules reduce the errors by more than a standard
        error. "auto" is "errors" for at most 5 conditions and 5000 rows, where it is more accurate
        more often.
    loss : str or Loss, default="log_loss"
        As in :class:`CGBoostClassifier`; with "log_loss", outputs are half the log-odds.
    rule_cost, condition_cost : float or None
        Costs of a rule. Without a budget, they multiply |α|; with one, gains are divided by them
        and the bound measures the budget in them. None means 0 and 1; with ``max_rules`` as the
        only budget, 1 and 0; and 1 if the other cost is given as 0.
    max_bins : int, default=20
        Thresholds of a number lie between all its values, or between this many bins of about
        equal weight.
    min_support : int or float, default=1
        Minimum number, or share, of training rows for which a rule must hold.
    pricing : {"exact", "greedy"}, default="exact"
        "greedy" searches only the most promising rules; there is then no bound.
    search_limit : float or None, default=2e11
        Maximum number of multiplications of one exact search. A longer search stops there, and the
        bound accounts for the unsearched part. None means no limit; with many conditions, a search
        may then never finish.
    categorical_features : "from_dtype" or list of str or int
        Categorical features; by default the non-numeric columns of a data frame. A category that
        does not occur in the training rows equals none of those that do. Comparisons with missing
        values (nan, None) are false.
    columns_per_round : int or None
        Rules per round when a convex problem is solved; None means 20.
    max_columns : int or None
        Maximum number of generated rules.
    tol : float, default=1e-3
        Relative gap to which convex problems are solved, including the one for the bound.
    class_weight, probability, time_limit, solver, solver_options, early_stopping, \
validation_fraction, n_iter_no_change, scoring, callbacks, verbose, random_state
        As in :class:`CGBoostClassifier`. Within a budget, early stopping ends with fewer rules.

    Attributes
    ----------
    rules_ : list of Rule
        Conditions in words, weight, label, support, precision; class by class, largest first.
    n_conditions_ : int
        Number of conditions in all rules together.
    columns_ : dict of str to ndarray
        rule (in words), n_conditions, coefficient, round (and class), support and precision, in
        the order of their rounds.
    C_ : float
    selection_ : {"loss", "errors"}
    dual_bound_, gap_ : float
        Lower bound on the objective of any set of such rules within the budget, and the relative
        distance to it; −inf and inf with ``pricing="greedy"``.
    converged_ : bool
        Whether the gap is at most ``tol``. It rarely is with a budget, because the problem is then
        an integer problem and the bound comes from a convex relaxation.
    classes_, class_weight_, calibration_, column_weights_, intercept_, n_columns_, objective_, \
history_, best_round_, stop_reason_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgboost import RuleSetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RuleSetClassifier(max_total_conditions=4, max_conditions=2).fit(X, y)
    >>> model.n_conditions_, bool(model.score(X, y) > 0.93), bool(model.gap_ < 1.0)
    (4, True, True)
    """

    max_total_conditions: int | None = 16
    max_rules: int | None = field(default=None, kw_only=True)
    max_conditions: int = field(default=3, kw_only=True)
    C: float | None = field(default=None, kw_only=True)
    selection: Literal["auto", "loss", "errors"] = field(default="auto", kw_only=True)
    loss: ClassificationLoss | Loss = field(default="log_loss", kw_only=True)
    rule_cost: float | None = field(default=None, kw_only=True)
    condition_cost: float | None = field(default=None, kw_only=True)
    max_bins: int = field(default=20, kw_only=True)
    min_support: int | float = field(default=1, kw_only=True)
    pricing: Pricing = field(default="exact", kw_only=True)
    search_limit: float | None = field(default=2e11, kw_only=True)
    categorical_features: Any = field(default="from_dtype", kw_only=True)
    tol: float = field(default=1e-3, kw_only=True)
    class_weight: ClassWeight = field(default=None, kw_only=True)
    probability: bool | Literal["sigmoid", "isotonic"] = field(default=False, kw_only=True)

    rules_table = rule_text.rules_table
    to_text = rule_text.to_text
    to_sql = rule_text.to_sql
    __str__ = rule_text.described
    _complete = rule_text.complete
    _read_new = read_new
    _calibrate = calibrate
    _share_of_time = property(share_of_time)
    _family = property(family_of)

    @OnlyWithProbabilities
    def predict_proba(self, X: ArrayLike) -> Vector:
        """Class probabilities, shape (n_rows, n_classes); log loss, exponential or ``probability``.

        With more than two classes, the one-vs-rest probabilities are divided by their sum.
        Calibrated probabilities may contradict ``predict``, which uses the outputs.
        """
        return calibrated(self, self._outputs(X))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of Σ|weight| that conditions on each feature have, shape (n_features,)."""
        return importances(self)

    def _check_parameters(self) -> None:
        check_task_and_loss(self, CLASSIFICATION)
        check_probability("probability", self.probability)
        check_number("C", self.C, above=0, optional=True)
        check_choice("selection", self.selection, ("auto", "loss", "errors"))
        if self.selection == "errors" and not is_budgeted(self):
            raise ValueError(
                "selection='errors' needs a budget: give max_total_conditions or max_rules"
            )
        check_budgets(self)
        super()._check_parameters()

    @property
    def _objective(self) -> Objective:
        return self._objective_with(L2() if is_budgeted(self) else L1(), self._cost)

    @property
    def _cost(self) -> float:
        return float(getattr(self, "C_", SHRUNK_COST))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, eval_set: Any) -> Any:
        rows, held = prepare(self, X, y, sample_weight, eval_set)
        self.selection_ = chosen_selection(self, rows) if is_budgeted(self) else "loss"
        usual = WEIGHTED_COST if self.selection_ == "errors" else SHRUNK_COST
        self.C_ = usual if self.C is None else float(self.C)
        return rows, held

    def _objective_with(self, penalty: Penalty, C: float) -> Objective:
        margins = Margins(C, None, balanced=True, cost=get_loss(self.loss))
        return worded(self, margin_objective(penalty, margins))

    def _master_options(self) -> dict[str, Any]:
        return {"offset": "free", "solver": simplex_if_linear(self)}

    def _tasks(self, pool: Any, rows: TrainingRows) -> Iterator[Subproblem]:
        tasks = super()._tasks(pool, rows)
        self._n_literals = len(pool)
        if self.selection_ == "errors":
            return selecting_by_errors(self, tasks, pool, rows)
        return selecting(self, tasks, pool)

    def _run_all(
        self, pool: Any, rows: TrainingRows, held: HeldSets | None, started: float
    ) -> list[FittedRun]:
        runs = super()._run_all(pool, rows, held, started)
        return certified_runs(self, runs, pool, rows, started)

    def __sklearn_tags__(self) -> Any:
        """Missing values are their own conditions."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False)
class RuleSetRegressor(Regression, BaseBoost):
    """A few weighted rules that add up to a prediction, and a bound on all sets in the budget.

    Like :class:`RuleSetClassifier`, for numeric targets:

        min  C Σ_i w_i loss(y_i, f_i) + ½Σ α_j²    over sets of rules within the budget

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        As in :class:`CGBoostRegressor`. Without a budget, "absolute_error" and
        "epsilon_insensitive" give linear programs.
    max_total_conditions, max_rules, max_conditions, rule_cost, condition_cost, max_bins, \
min_support, pricing, search_limit, categorical_features, columns_per_round, max_columns, tol, \
time_limit, solver, solver_options, early_stopping, validation_fraction, n_iter_no_change, \
scoring, callbacks, verbose, random_state
        As in :class:`RuleSetClassifier`.
    C : float or None, default=None
        Cost of one unit of loss. None means 0.1 in units in which y has the standard deviation 1:
        multiples of y give the same rules. ``sample_weight`` multiplies it, row by row.

    Attributes
    ----------
    rules_ : list of Rule
        Conditions in words, weight, support, and the mean of y where the rule holds.
    columns_ : dict of str to ndarray
        As in :class:`RuleSetClassifier`, with the mean instead of the precision.
    C_ : float
    n_conditions_, dual_bound_, gap_, converged_, column_weights_, intercept_, n_columns_, \
objective_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`RuleSetClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import RuleSetRegressor
    >>> x = np.arange(100.0)[:, None]
    >>> model = RuleSetRegressor(4).fit(x, np.where((x[:, 0] > 20) & (x[:, 0] <= 60), 5.0, 1.0))
    >>> bool(model.score(x, model.predict(x)) == 1.0), model.n_conditions_ <= 4
    (True, True)
    """

    max_total_conditions: int | None = 16
    max_rules: int | None = field(default=None, kw_only=True)
    max_conditions: int = field(default=3, kw_only=True)
    C: float | None = field(default=None, kw_only=True)
    loss: RegressionLoss | Loss = field(default="squared_error", kw_only=True)
    rule_cost: float | None = field(default=None, kw_only=True)
    condition_cost: float | None = field(default=None, kw_only=True)
    max_bins: int = field(default=20, kw_only=True)
    min_support: int | float = field(default=1, kw_only=True)
    pricing: Pricing = field(default="exact", kw_only=True)
    search_limit: float | None = field(default=2e11, kw_only=True)
    categorical_features: Any = field(default="from_dtype", kw_only=True)
    tol: float = field(default=1e-3, kw_only=True)

    rules_table = rule_text.rules_table
    to_text = rule_text.to_text
    to_sql = rule_text.to_sql
    __str__ = rule_text.described
    _complete = rule_text.complete
    _read_new = read_new
    _family = property(family_of)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of Σ|weight| that conditions on each feature have, shape (n_features,)."""
        return importances(self)

    def _check_parameters(self) -> None:
        check_task_and_loss(self, REGRESSION)
        check_number("C", self.C, above=0, optional=True)
        check_budgets(self)
        super()._check_parameters()

    @property
    def _objective(self) -> Objective:
        return self._objective_with(L2() if is_budgeted(self) else L1(), self._cost)

    @property
    def _cost(self) -> float:
        return float(getattr(self, "C_", SHRUNK_COST))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, eval_set: Any) -> Any:
        rows, held = prepare(self, X, y, sample_weight, eval_set)
        self.C_ = cost_in_units(self, rows) if self.C is None else float(self.C)
        return rows, held

    def _objective_with(self, penalty: Penalty, C: float) -> Objective:
        objective = residual_objective(penalty, C=C, cost=get_loss(self.loss), nu=None)
        return worded(self, objective)

    @property
    def _known_loss(self) -> Loss:
        return get_loss(self.loss)

    def _master_options(self) -> dict[str, Any]:
        return {"offset": "free", "solver": simplex_if_linear(self)}

    def _tasks(self, pool: Any, rows: TrainingRows) -> Iterator[Subproblem]:
        self._n_literals = len(pool)
        return selecting(self, super()._tasks(pool, rows), pool)

    def _run_all(
        self, pool: Any, rows: TrainingRows, held: HeldSets | None, started: float
    ) -> list[FittedRun]:
        runs = super()._run_all(pool, rows, held, started)
        return certified_runs(self, runs, pool, rows, started)

    def __sklearn_tags__(self) -> Any:
        """Missing values are their own conditions."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def importances(self: Any) -> NDArray[np.float64]:
    """Share of Σ|weight| that conditions on each feature have, shape (n_features,)."""
    check_is_fitted(self)
    sizes = np.zeros(self.n_features_in_)
    for rule in self.rules_:
        sizes += abs(rule.weight) * rule.conjunction.importances(self.n_features_in_)
    return sizes / (sizes.sum() or 1.0)


def cost_in_units(self: Any, rows: TrainingRows) -> float:
    """C for a y of the standard deviation σ that is 0.1 for y/σ.

    With ℓ(σe) = κ·ℓ'(e), weights σα make κCℓ' + σ|α| of Cℓ + |α|, and σ²½α² of ½α².
    """
    mean = np.average(rows.y, weights=rows.weights)
    unit = float(np.sqrt(np.average((rows.y - mean) ** 2, weights=rows.weights)))
    known = get_loss(self.loss).in_units(unit) if unit > 0 else None
    if known is None:
        return SHRUNK_COST
    return SHRUNK_COST * (unit**2 if is_budgeted(self) else unit) / known[1]


def worded(self: Any, objective: Objective) -> Objective:
    """The objective, with advice for a model without rules."""
    if vars(self).get("_n_literals") == 0:
        advice = (
            f"no condition holds for some rows and not for others, with min_support="
            f"{self.min_support}: are all features constant?"
        )
        return replace(objective, remedy=advice, remedy_at_zero=advice)
    return objective if is_budgeted(self) else replace(objective, remedy=FEWER_COSTS)
