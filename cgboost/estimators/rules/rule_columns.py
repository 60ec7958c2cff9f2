"""The family of rules, and tables of numbers and categories as they read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import Table
from cgboost.estimators.common.input_checks import is_float
from cgboost.estimators.common.objective import ColumnFamily
from cgboost.estimators.common.parameters import check_bins, check_choice, check_count, check_number
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.exceptions import DataWarning, see, warn_caller
from cgboost.generation.protocols import Pricer
from cgboost.pricing.rules import Literals, RulePricer
from cgboost.tables.frames import is_frame
from cgboost.tables.table_columns import columns_of, is_missing
from cgboost.tables.table_encoding import Schema

UNKNOWN_CATEGORY = -1.0
"""The number of a category that was not among the training rows."""

FEWEST_RULES = 20
"""Rules a round: they are cheap next to an exact search."""


@dataclass(frozen=True)
class RuleColumns(ColumnFamily):
    """Conjunctions of at most ``max_conditions`` conditions.

    A rule of k conditions costs rule_cost + condition_cost·k, or the square root of that; nothing
    only where ``may_be_free``.
    """

    max_conditions: int
    max_bins: int
    min_support: int | float
    rule_cost: float
    condition_cost: float
    pricing: str
    search_limit: float | None
    is_category: tuple[bool, ...] = ()
    roots: bool = False
    may_be_free: bool = False

    def check(self) -> None:
        """Check the parameters of rules; raise ValueError for one that is wrong."""
        check_count("max_conditions", self.max_conditions)
        check_bins(self.max_bins)
        check_support("min_support", self.min_support)
        check_number("rule_cost", self.rule_cost, at_least=0)
        check_number("condition_cost", self.condition_cost, at_least=0)
        if self.rule_cost == self.condition_cost == 0 and not self.may_be_free:
            raise ValueError(
                "rule_cost and condition_cost must not both be 0: rules would cost nothing"
            )
        check_choice("pricing", self.pricing, ("exact", "greedy"))
        check_number("search_limit", self.search_limit, above=0, optional=True)

    def pool(self, rows: TrainingRows) -> Literals:
        """All conditions that differ on the training rows."""
        least = self.min_support
        if not isinstance(least, Integral):
            least = int(np.ceil(least * len(rows.X)))
        return Literals(
            rows.X,
            self.is_category,
            max_bins=int(self.max_bins),
            min_support=int(least),
            weights=rows.weights,
        )

    def pricer(self, pool: Literals, tol: float) -> Pricer:
        """A search of all rules, or of the most promising ones."""
        limit = np.inf if self.search_limit is None else self.search_limit
        cost = self.cost(pool)
        return RulePricer(
            pool,
            np.sqrt(cost) if self.roots else cost,
            exact=self.pricing == "exact",
            search_limit=limit,
            tol=tol,
        )

    def cost(self, pool: Literals) -> Vector:
        """Costs of rules by their number of conditions; the first entry is of none."""
        longest = max(1, min(int(self.max_conditions), len(pool)))
        return self.rule_cost + self.condition_cost * np.arange(longest + 1.0)

    def columns_per_round(self, pool: Literals, n_rows: int) -> int:
        """So many, whatever the number of rows."""
        return FEWEST_RULES

    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """The number of conditions of each rule, and what one unit of its weight costs."""
        return {
            "n_conditions": np.array([len(h.conditions) for h in functions], dtype=np.intp),
            "scale": np.array([h.scale for h in functions], dtype=float),
        }

    def completed(self, table: Table) -> Table:
        """The table with the weights of rules that are 1 where they hold."""
        scale = table.pop("scale")
        return table | {"coefficient": table["coefficient"] / scale}


def cost_of(given: float | None, other: float | None, *, usual: float) -> float:
    """A cost that need not be given; 1 where the other one is 0: something has to cost."""
    if given is not None:
        return given
    return usual if other is None or other != 0 else 1.0


def check_support(name: str, value: Any) -> None:
    """``value`` must be a whole number of at least 1, or a share between 0 and 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not (float(value) >= 1 if isinstance(value, Integral) else 0 < value < 1):
        raise ValueError(
            f"{name} must be a whole number ≥ 1 of rows, or a share of them > 0 and < 1, got "
            f"{value!r}"
        )


def encoded(schema: Schema, X: Any) -> NDArray[Any]:
    """A table as numbers: nan where missing, −1 for categories that training rows had not."""
    values = schema.encode(X)
    doubtful = [
        j
        for j, known in enumerate(schema.categories)
        if known is not None and np.isnan(values[:, j]).any()
    ]
    columns = columns_of(X) if doubtful else []
    for j in doubtful:
        places = np.flatnonzero(np.isnan(values[:, j]))
        there = [not is_missing(columns[j].values[place]) for place in places]
        values[places[there], j] = UNKNOWN_CATEGORY
    return values


def check_words(X: Any) -> None:
    """Raise a ValueError for an array with words: the columns of arrays are numbers."""
    if is_frame(X) or (array := np.asarray(X)).ndim != 2 or array.dtype.kind not in "OU":
        return
    for j in range(array.shape[1]):
        for value in array[:, j].tolist():
            if isinstance(value, str) and not is_float(value):
                raise ValueError(
                    f"X is an array with words ({value!r} in column {j}); categories need a data "
                    "frame: give pandas.DataFrame(X)"
                    f"{see('input-data')}"
                )


def warn_of_numbers(called: str, schema: Schema, X: Any) -> None:
    """Warn of columns of a data frame whose categories are numbers, written as words."""
    for column, known in zip(columns_of(schema.as_features(X)), schema.categories, strict=True):
        if not known or column.is_categorical:
            continue
        if all(isinstance(value, str) and is_float(value) for value in known):
            shown = ", ".join(map(repr, list(known)[:3]))
            warn_caller(
                f"{called}: {column.called} has numbers written as words ({shown}, …), which are "
                "treated as categories: convert them to numbers (pandas.to_numeric), or give the "
                f"column the type 'category'{see('input-data')}",
                DataWarning,
            )
