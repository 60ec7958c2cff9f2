"""Rule sets: few weighted conjunctions of conditions, with a bound over all conjunctions.

Dash, Günlük and Wei, *Boolean Decision Rules via Column Generation*, NeurIPS 2018, price
conjunctions by an integer program; Demiriz, Bennett and Shawe-Taylor, *Linear Programming Boosting
via Column Generation*, Machine Learning 46, 2002, is the master.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.calibration import CalibratedClassification
from cgboost.estimators.common.certified import Certified
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.objective import (
    Margins,
    Objective,
    check_task_and_loss,
    margin_objective,
    residual_objective,
)
from cgboost.estimators.common.parameters import TradeOff, check_choice
from cgboost.estimators.common.plan import Plan, Watch
from cgboost.estimators.common.predictors import Regression
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows
from cgboost.estimators.rules.any_rule import AnyRule
from cgboost.estimators.rules.base_rule_set import SHRUNK_COST, BaseRuleSet
from cgboost.estimators.rules.budget import Budget
from cgboost.estimators.rules.rule_columns import RuleColumns
from cgboost.estimators.rules.rule_text import text_of_any
from cgboost.generation.protocols import Pricer
from cgboost.generation.resuming import RunRecord
from cgboost.losses import Loss
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    RegressionLoss,
    get_loss,
)
from cgboost.penalties import Penalty
from cgboost.pricing.rules import ErrorSelection

WEIGHTED_COST = 1.0
"""C by default for rules chosen by the errors of equal votes, of which smaller values would change
the signs of too many outputs."""

WEIGHTED_ONLY = (
    *("C", "loss", "selection", "early_stopping", "scoring", "callbacks"),
    *("columns_per_round", "max_columns", "solver", "solver_options"),
)
"""Parameters of weighted rules alone."""

RARE = (
    "every rule takes off fewer errors than it adds: a class_weight by which the class of the "
    "rules counts more, or lower costs of rules, may change that"
)

FEW_CONDITIONS, FEW_ROWS = 5, 5000
"""With so few conditions, rules chosen together by errors are right on more new rows than those
that lower the log loss one after another (by 1.0 to 1.4 points with 4 conditions, on splits of four
tables); with 6 they are not. With many rows both are alike, and the search takes long."""


@dataclass(eq=False, repr=False)
class RuleSetClassifier(CalibratedClassification, BaseRuleSet):
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

    With ``form="dnf"`` rules have no weights: a row is of a class if any of the rules for this
    class holds, and else of the other one. Of all rule sets within the budget, the one with the
    fewest errors is found and proven to be the best, where

        min  Σ_i w_i e_i    over sets of rules within the budget

    counts e_i = 1 for a row of the class that no rule holds for, and for a row of the other class
    the number of rules that hold for it: the 0–1 loss, but for rows of the other class that
    several rules hold for.

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
    form : {"weighted", "dnf"}, default="weighted"
        "dnf" is a disjunction of rules, see above, for two classes. ``C``, ``loss``, ``selection``,
        ``early_stopping``, ``scoring``, ``callbacks``, ``columns_per_round``, ``max_columns``,
        ``solver`` and ``solver_options`` are those of weighted rules, which are found in rounds,
        and must be left at their defaults. ``rule_cost`` and ``condition_cost``
        are counted in errors of rows of weight 1; within a budget they are 0 unless given.
    positive_class : class label or None, default=None
        The class that the rules of a "dnf" are for. None: the one with the better rule set.
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
        As in :class:`CGBoostClassifier`. Within a budget, early stopping ends with fewer rules; a
        "dnf" has none, and needs ``probability`` for probabilities. Without a ``time_limit``, the
        proof for a "dnf" ends after 120 seconds.

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
        Whether the gap is at most ``tol``. For weighted rules with a budget it rarely is, because
        the problem is then an integer problem and the bound comes from a convex relaxation; a "dnf"
        of few conditions mostly is proven to be optimal.
    classes_, class_weight_, calibration_, column_weights_, intercept_, n_columns_, objective_, \
history_, best_round_, stop_reason_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgboost import RuleSetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RuleSetClassifier(4, max_conditions=2, max_bins=8).fit(X, y)
    >>> model.n_conditions_, bool(model.score(X, y) > 0.93), bool(model.gap_ < 1.0)
    (4, True, True)

    A rule set without weights that no other one of four conditions beats:

    >>> best = RuleSetClassifier(4, form="dnf", max_conditions=2, max_bins=8).fit(X, y)
    >>> best.converged_, best.dual_bound_ == best.objective_
    (True, True)
    """

    selection: Literal["auto", "loss", "errors"] = field(default="auto", kw_only=True)
    form: Literal["weighted", "dnf"] = field(default="weighted", kw_only=True)
    positive_class: Any = field(default=None, kw_only=True)
    loss: ClassificationLoss | Loss = field(default="log_loss", kw_only=True)
    tol: float = field(default=1e-3, kw_only=True)
    probability: bool | Literal["sigmoid", "isotonic"] = field(default=False, kw_only=True)

    def _check_parameters(self) -> None:
        check_task_and_loss(self, CLASSIFICATION)
        check_choice("selection", self.selection, ("auto", "loss", "errors"))
        if self.selection == "errors" and not self._budget:
            raise ValueError(
                "selection='errors' needs a budget: give max_total_conditions or max_rules"
            )
        check_choice("form", self.form, ("weighted", "dnf"))
        if self.form == "dnf":
            self._check_no_weights()
        elif self.positive_class is not None:
            raise ValueError(
                f"positive_class={self.positive_class!r} is the class that rules without weights "
                "are for: give form='dnf', or leave it out"
            )
        super()._check_parameters()

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        if self.form == "dnf" and eval_set is not None:
            raise ValueError(
                "eval_set is for the scores of rounds, which form='dnf' has none of: leave it out"
            )
        return super()._prepare(X, y, sample_weight, eval_set)

    @property
    def _without_odds(self) -> str | None:
        return "form='dnf'" if self.form == "dnf" else super()._without_odds

    def to_text(self) -> str:
        """The model in words: what the rules decide, and a line for each rule.

        Returns
        -------
        str
        """
        if self.form == "dnf":
            check_is_fitted(self)
            return text_of_any(self.rules_, self.intercept_, self.classes_)
        return super().to_text()

    def __sklearn_tags__(self) -> Any:
        """Rules without weights are for two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.form != "dnf"
        return tags

    @property
    def _family(self) -> RuleColumns:
        """The rules; those without weights may cost nothing but errors."""
        family = super()._family
        if self.form != "dnf":
            return family
        costs = {name: getattr(self, name) for name in ("rule_cost", "condition_cost")}
        if self._budget:
            costs = {name: 0.0 if cost is None else cost for name, cost in costs.items()}
        given = {name: cost for name, cost in costs.items() if cost is not None}
        return replace(family, **given, may_be_free=True)

    @property
    def _objective(self) -> Objective:
        """That of weighted rules; of others, what may be done about a model without rules."""
        objective = super()._objective
        if self.form != "dnf":
            return objective
        trade_off = TradeOff("max_conditions", self.max_conditions)
        if vars(self).get("_n_literals") == 0:
            return replace(objective, trade_off=trade_off)
        return replace(objective, trade_off=trade_off, remedy=RARE, remedy_at_zero=RARE)

    def _check_no_weights(self) -> None:
        """Refuse what belongs to weighted rules."""
        for name in WEIGHTED_ONLY:
            value, usual = getattr(self, name), type(self).__dataclass_fields__[name].default
            if value != usual:
                raise ValueError(
                    f"{name}={value!r} is for weighted rules, and form='dnf' has no weights and no "
                    f"rounds: leave it at {usual!r}"
                )

    def _objective_with(self, penalty: Penalty, C: float) -> Objective:
        margins = Margins(C, None, free_offset=True, loss=get_loss(self.loss))
        return margin_objective(penalty, margins)

    def _learn_choices(self, rows: TrainingRows) -> None:
        if self.form == "dnf":
            self._check_classes()
            self.selection_, self.C_ = "errors", 1.0
            return
        budget = self._budget
        self.selection_ = self._chosen_selection(budget, len(rows.y)) if budget else "loss"
        usual = WEIGHTED_COST if self.selection_ == "errors" else SHRUNK_COST
        self.C_ = usual if self.C is None else float(self.C)

    def _check_classes(self) -> None:
        """Refuse more than two classes, and rules for none of them."""
        labels = self.classes_.tolist()
        if len(labels) != 2:
            raise ValueError(
                f"form='dnf' is for two classes, got {len(labels)}: fit one model a class to "
                "y == label, or use form='weighted'"
            )
        if self.positive_class is not None and not any(
            np.ndim(self.positive_class) == 0 and self.positive_class == label for label in labels
        ):
            raise ValueError(
                f"positive_class={self.positive_class!r} is not among the classes {labels}"
            )

    def _solve(
        self, plan: Plan, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        """The runs; of rules without weights, the one search."""
        if self.form == "weighted":
            return super()._solve(plan, watch, records)
        assert isinstance(plan, Certified)
        votes = [1.0, -1.0]
        if self.positive_class is not None:
            votes = [1.0 if self.positive_class == self.classes_[1] else -1.0]
        search = AnyRule(
            plan.pool,
            plan.y_of_runs[0],
            plan.weights,
            self._budget,
            self._family.cost(plan.pool),
            votes,
            self.classes_.tolist(),
            self.pricing == "exact",
            math.inf if self.search_limit is None else self.search_limit,
            self._tol,
        )
        return [search.run(watch, self._label(0))]

    def _chosen_selection(self, budget: Budget, n_rows: int) -> str:
        """How rules within a budget are chosen, "loss" or "errors"."""
        if self.selection != "auto":
            return self.selection
        conditions = budget.max_total_conditions
        few = conditions is not None and conditions <= FEW_CONDITIONS
        return "errors" if few and n_rows <= FEW_ROWS else "loss"

    def _selection(
        self, plan: Certified, budget: Budget, master: Any, rows: TrainingRows
    ) -> Pricer:
        """Of rules by the loss one after another, or together by their training errors."""
        if self.selection_ == "loss":
            return super()._selection(plan, budget, master, rows)
        return ErrorSelection(
            plan.pool, rows.y, rows.weights, max_conditions=self.max_conditions, **asdict(budget)
        )


@dataclass(eq=False, repr=False)
class RuleSetRegressor(Regression, BaseRuleSet):
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

    loss: RegressionLoss | Loss = field(default="squared_error", kw_only=True)
    tol: float = field(default=1e-3, kw_only=True)

    def _check_parameters(self) -> None:
        check_task_and_loss(self, REGRESSION)
        super()._check_parameters()

    def _objective_with(self, penalty: Penalty, C: float) -> Objective:
        return residual_objective(penalty, C=C, loss=get_loss(self.loss), nu=None)

    @property
    def _known_loss(self) -> Loss:
        return get_loss(self.loss)

    def _learn_choices(self, rows: TrainingRows) -> None:
        self.C_ = self._cost_in_units(rows) if self.C is None else float(self.C)

    def _cost_in_units(self, rows: TrainingRows) -> float:
        """C for a y of the standard deviation σ that is 0.1 for y/σ.

        With ℓ(σe) = κ·ℓ'(e), weights σα make κCℓ' + σ|α| of Cℓ + |α|, and σ²½α² of ½α².
        """
        mean = np.average(rows.y, weights=rows.weights)
        unit = float(np.sqrt(np.average((rows.y - mean) ** 2, weights=rows.weights)))
        known = get_loss(self.loss).in_units(unit) if unit > 0 else None
        if known is None:
            return SHRUNK_COST
        return SHRUNK_COST * (unit**2 if self._budget else unit) / known[1]
