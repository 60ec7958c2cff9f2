"""What classifier and regressor of rules share: how rows are read, and fits within a budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.certified import BaseBoost, Certified
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.objective import Objective
from cgboost.estimators.common.parameters import check_count, check_number
from cgboost.estimators.common.plan import Plan, Watch
from cgboost.estimators.common.training_rows import (
    HeldSets,
    TrainingRows,
    is_source,
    of_rows_that_count,
    rows_of,
    table_of,
)
from cgboost.estimators.rules import rule_text
from cgboost.estimators.rules.budget import Budget, BudgetRelaxation, second_derivative
from cgboost.estimators.rules.rule_columns import (
    RuleColumns,
    check_words,
    cost_of,
    encoded,
    warn_of_numbers,
)
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import Pricer
from cgboost.generation.resuming import RunRecord
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L1, L2, Penalty
from cgboost.pricing.rules import Literals, RuleSelection
from cgboost.tables.frames import is_frame
from cgboost.tables.table_encoding import Schema

SHRUNK_COST = 0.1
"""C by default, for rules chosen by the loss."""

FEWER_COSTS = "a larger value may change that, or a smaller rule_cost or condition_cost"

Pricing = Literal["exact", "greedy"]


@dataclass(eq=False, repr=False)
class BaseRuleSet(BaseBoost):
    """Weighted rules within a budget, and a bound on all rule sets that keep to it."""

    max_total_conditions: int | None = 16
    max_rules: int | None = field(default=None, kw_only=True)
    max_conditions: int = field(default=3, kw_only=True)
    C: float | None = field(default=None, kw_only=True)
    rule_cost: float | None = field(default=None, kw_only=True)
    condition_cost: float | None = field(default=None, kw_only=True)
    max_bins: int = field(default=20, kw_only=True)
    min_support: int | float = field(default=1, kw_only=True)
    pricing: Pricing = field(default="exact", kw_only=True)
    search_limit: float | None = field(default=2e11, kw_only=True)
    categorical_features: Any = field(default="from_dtype", kw_only=True)
    columns_per_round: int | None = field(default=None, kw_only=True)
    loss: Any = field(default=None, kw_only=True)

    # ------------------------------------------------------------------ the rules of a model

    def rules_table(self) -> dict[str, list[Any]]:
        """The rules as columns of a table, for ``pandas.DataFrame(model.rules_table())``.

        Returns
        -------
        dict of str to list
            rule (in words), weight, n_conditions, support; for classifiers label ("not …" if the
            rule votes against it) and precision; for regressors mean.
        """
        check_is_fitted(self)
        return rule_text.table_of(self.rules_, labelled=self._labels_of_rules is not None)

    def to_text(self) -> str:
        """The model in words: its offset, and a line for each rule.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return rule_text.text_of(self.rules_, self.intercept_, self._labels_of_rules)

    def to_sql(
        self,
        table: str | Sequence[str],
        *,
        output: str = "prediction",
        keep: str | Sequence[str] = (),
        dialect: str = "duckdb",
    ) -> str:
        """An SQL query that predicts the rows of a table; labels for classifiers.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table, or the parts of its name. Its columns must have the names in the data
            frame that the model was fitted to, or x0, x1, … if those had no names.
        output : str, default="prediction"
            Name of the column of predictions.
        keep : str or sequence of str
            Columns of the table to select before the prediction, since SQL does not guarantee the
            order of rows.
        dialect : {"duckdb", "postgresql", "sqlite", "mysql", "bigquery", "snowflake"}, \
default="duckdb"
            The database for which the query is written.

        Returns
        -------
        str

        Raises
        ------
        ImportError
            Without the package sqlglot (extra "sql").
        ValueError
            If the dialect is unknown, or names, categories or labels cannot be written in SQL.

        Notes
        -----
        The table needs all columns of the training data. Missing values are NULL or NaN. See
        :meth:`TransformRegressor.to_sql` for differences between databases in names and text.
        """
        check_is_fitted(self)
        return rule_text.statement(
            [run.outputs[0] for run in self._runs],
            self._schema,
            self._labels_of_rules,
            table,
            dialect=dialect,
            output=output,
            keep=keep,
        )

    def __str__(self) -> str:
        """What ``print`` shows: the estimator, the facts about its model, and its rules."""
        if not hasattr(self, "rules_"):
            return repr(self)
        return f"{self!r}\n{rule_text.shortened(self.to_text())}"

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of Σ|weight| that conditions on each feature have, shape (n_features,)."""
        check_is_fitted(self)
        sizes = np.zeros(self.n_features_in_)
        for rule in self.rules_:
            sizes += abs(rule.weight) * rule.conjunction.importances(self.n_features_in_)
        return sizes / (sizes.sum() or 1.0)

    @property
    def _labels_of_rules(self) -> NDArray[Any] | None:
        """The classes that rules vote for; None for numbers."""
        return getattr(self, "classes_", None)

    def _complete(self, plan: Plan, rows: TrainingRows) -> None:
        share = self._without_class_weights(rows.weights, rows.y)
        outputs, labels = [run.outputs[0] for run in self._runs], self._labels_of_rules
        found = rule_text.rules_of(outputs, rows, share / share.sum(), labels, self._schema)
        active = [rule for own in found for rule in own]
        self.rules_ = [rule for own in found for rule in sorted(own, key=lambda r: -abs(r.weight))]
        self.n_conditions_ = int(self.columns_["n_conditions"].sum())
        words = np.array([" and ".join(rule.conditions) for rule in active], dtype=str)
        name = "mean" if labels is None else "precision"
        self.columns_ = {
            "rule": words,
            **self.columns_,
            "support": np.array([rule.support for rule in active], dtype=float),
            name: np.array([getattr(rule, name) for rule in active], dtype=float),
        }

    # ------------------------------------------------------------------ the rows

    def __sklearn_tags__(self) -> Any:
        """Missing values are their own conditions."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        self._check_parameters()
        if y is None or is_source(X):
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; it "
                "searches all rows at once and does not accept blocks of rows (X is a "
                f"{type(X).__name__})"
            )
        check_words(X)
        learn = partial(of_rows_that_count, self._learn)
        self._schema, rows = rows_of(self, X, y, sample_weight, learn)
        if isinstance(self.categorical_features, str) and is_frame(X):
            warn_of_numbers(type(self).__name__, self._schema, X)
        rows = self._usable(self._weighted(rows))
        held = self._held(eval_set)
        if held is None and self.early_stopping:
            rows, held = self._hold_out(rows)
        self._learn_choices(rows)
        return rows, held

    @abstractmethod
    def _learn_choices(self, rows: TrainingRows) -> None:
        """Set C_, and what else the training rows choose where the user does not."""

    def _read_new(self, X: Any, y: Any = None) -> Any:
        check_words(X)
        X, y = table_of(self, X, y, reset=False)
        values = encoded(self._schema, X)
        return values if y is None else (values, y)

    # ------------------------------------------------------------------ the problem

    @property
    def _budget(self) -> Budget:
        return Budget(self.max_rules, self.max_total_conditions)

    @property
    def _family(self) -> RuleColumns:
        """The rules; the kinds of features are known once the estimator has read some."""
        schema: Schema | None = vars(self).get("_schema")
        kinds = () if schema is None else tuple(known is not None for known in schema.categories)
        rules_alone = self.max_total_conditions is None and self.max_rules is not None
        rule, condition = self.rule_cost, self.condition_cost
        return RuleColumns(
            self.max_conditions,
            self.max_bins,
            self.min_support,
            cost_of(rule, condition, usual=float(rules_alone)),
            cost_of(condition, rule, usual=float(not rules_alone)),
            self.pricing,
            self.search_limit,
            kinds,
        )

    @abstractmethod
    def _objective_with(self, penalty: Penalty, C: float) -> Objective:
        """The loss with a penalty."""

    @property
    def _objective(self) -> Objective:
        budget = self._budget
        objective = self._objective_with(L2() if budget else L1(), self._chosen_cost)
        if vars(self).get("_n_literals") == 0:
            advice = (
                f"no condition holds for some rows and not for others, with min_support="
                f"{self.min_support}: are all features constant?"
            )
            return replace(objective, remedy=advice, remedy_at_zero=advice)
        return objective if budget else replace(objective, remedy=FEWER_COSTS)

    @property
    def _chosen_cost(self) -> float:
        return float(getattr(self, "C_", SHRUNK_COST))

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0, optional=True)
        check_count("max_total_conditions", self.max_total_conditions, optional=True)
        check_count("max_rules", self.max_rules, optional=True)
        super()._check_parameters()

    def _master_options(self) -> dict[str, Any]:
        return {"offset": "free", "solver": self.solver}

    # ------------------------------------------------------------------ the runs

    def _selection(
        self, plan: Certified, budget: Budget, master: Any, rows: TrainingRows
    ) -> Pricer:
        """A search that keeps to the budget; the y of the rows is the target of the run."""
        assert isinstance(plan.family, RuleColumns)
        cost = plan.family.cost(plan.pool)
        return RuleSelection(plan.pool, cost, second_derivative(master), **asdict(budget))

    def _certified(self, pool: Literals, rows: TrainingRows) -> Certified:
        self._n_literals = len(pool)
        plan, budget = super()._certified(pool, rows), self._budget
        if not budget:
            return plan
        return WithinBudget.like(
            replace(plan, columns_per_round=1),
            budget=budget,
            selection=lambda master, y: self._selection(plan, budget, master, replace(rows, y=y)),
        )

    def _solve(
        self, plan: Plan, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        """The runs; within a budget with the bounds on their problems, and with why they ended."""
        runs = super()._solve(plan, watch, records)
        if not isinstance(plan, WithinBudget):
            return runs
        assert isinstance(plan.family, RuleColumns)
        runs = [plan.budget.ended(run) for run in runs]
        interrupted = any(run.stop_reason is StopReason.INTERRUPTED for run in runs)
        if self.pricing != "exact" or interrupted:
            return runs
        for k, target in enumerate(plan.y_of_runs[: len(runs)]):
            relaxation = BudgetRelaxation(
                plan.budget,
                plan.family,
                plan.pool,
                partial(self._master, target, plan.weights),
                self._chosen_cost,
                plan.stop.tol,
                self.columns_per_round,
                watch.verbose,
                watch.label(f"{self._label(k)}bound"),
            )
            runs[k] = relaxation.certified(runs[k], watch.seconds(len(runs) - k))
        return runs

    def _master(
        self, target: Vector, weights: Vector, penalty: Penalty, C: float
    ) -> SupportVectorMaster:
        """The master of the loss with a penalty, which bounds what the budget allows."""
        objective = self._objective_with(penalty, C)
        own = self._master_options() | {"solver_options": self.solver_options}
        master: SupportVectorMaster = objective.make_master(
            objective.make_loss(target, weights), **own
        )
        return master


@dataclass(frozen=True)
class WithinBudget(Certified):
    """Rules offered one a round, within a budget, by a pricer that keeps to it.

    Attributes
    ----------
    budget : Budget
    selection : callable
        ``selection(master, target)``, the pricer of a run.
    """

    budget: Budget = field(kw_only=True)
    selection: Callable[[Any, Vector], Pricer] = field(kw_only=True, repr=False)

    def _pricer(self, master: Any, y: Vector, pairs: Any) -> Pricer:
        """The search of a run."""
        return self.selection(master, y)
